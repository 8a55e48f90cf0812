"""The preview's main process: it watches files, and connects the builder with the server."""

import asyncio
import fcntl
import multiprocessing
import os
import shutil
import signal
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TextIO

import bundling
from command_lines import HTML as BUILT
from environment import BUILD, ROOT, fail
from html_book import build_html, one_at_a_time
from sphinx_runs import DOCTREES, STATE
from watchfiles import DefaultFilter, awatch

from byhand.digests import files_in
from preview.pages import HTML, LOG, MEMORY, Report, Task, run
from preview.serving import Server

SETTLED = 30  # milliseconds without another change, after which a save is complete
# What every page depends on: all are read anew.
ALL_PAGES = ("book/_ext", "book/references.bib", "_config.yml", "_toc.yml")
# What the environment is made from: it cannot change under a running command.
ENVIRONMENT = ("requirements.lock", "pyproject.toml")
BUNDLES = ("mha/widgets/published/", "mha/widgets/bundles-")  # written, not edited


def watch(port: int) -> None:
    """Serve the book until Ctrl-C."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with only_one() as address:
        if not (STATE.is_dir() and BUILT.is_dir()):
            print("There is no book to begin with: building it.", flush=True)
            build_html()
        with one_at_a_time():
            copy_last_build()
        preview = Preview()
        try:
            asyncio.run(preview.run(port, address))
        except (OSError, OverflowError) as error:
            fail(f"port {port} cannot be used ({error}); name another one with --port")
        finally:
            preview.stop()
        print("\nThe preview has ended. What is published is made by: scripts/build.py")


@contextmanager
def only_one() -> Iterator[TextIO]:
    """Refuse to run beside another preview of this book; return the file for its address."""
    with (BUILD / "preview.lock").open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            fail(f"a preview of this book is running already at {file.read()}")
        file.truncate(0)
        yield file


def copy_last_build() -> None:
    """Copy the last good build's pages and Sphinx's state, if they are valid."""
    shutil.rmtree(HTML.parent, ignore_errors=True)
    shutil.copytree(BUILT, HTML)
    shutil.copytree(STATE / DOCTREES, MEMORY.parent)
    known = MEMORY.stat().st_mtime if MEMORY.is_file() else 0
    if any(path.stat().st_mtime > known for path in files_in([*ALL_PAGES, *ENVIRONMENT], ROOT)):
        MEMORY.unlink(missing_ok=True)


def has_display() -> bool:
    """Return whether this machine can open a browser."""
    is_other = sys.platform in ("darwin", "win32")
    return is_other or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


class Preview:
    """The watcher, the pages' process and the server."""

    def __init__(self) -> None:
        self.process: BaseProcess | None = None
        self.connection: Connection | None = None
        self.server = Server(self.send_view)
        self.end = asyncio.Event()

    async def run(self, port: int, note: TextIO) -> None:
        """Serve and watch until Ctrl-C."""
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self.end.set)
        self.server.listen(port)
        address = f"http://127.0.0.1:{self.server.port}/"
        note.write(address)
        note.flush()
        self.start()
        print(f"The book is at {address}; save a file to see it there, Ctrl-C ends.", flush=True)
        if not (has_display() and webbrowser.open(address)):
            print("No browser was found: open the address yourself.", flush=True)
        folders = (ROOT / "book", ROOT / "mha")
        await asyncio.gather(self.watch(*folders), self.watch(ROOT, recursive=False))

    # ---- The pages' process ----

    def start(self) -> None:
        """Start the pages' process, after ending an earlier one."""
        self.stop()
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=run, args=(theirs, self.server.view))
        self.process.start()
        theirs.close()
        self.server.problems = {}
        asyncio.get_running_loop().add_reader(self.connection.fileno(), self.receive)

    def stop(self) -> None:
        """End the pages' process and its child processes."""
        self.disconnect()
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None

    def disconnect(self) -> None:
        """Stop listening to the pages' process."""
        if self.connection is not None:
            with suppress(RuntimeError):  # at the end there is no loop any more
                asyncio.get_running_loop().remove_reader(self.connection.fileno())
            self.connection.close()
            self.connection = None

    def receive(self) -> None:
        """Handle the messages of the pages' process."""
        assert self.connection is not None
        try:
            report: Report = self.connection.recv()
        except (EOFError, OSError):
            self.disconnect()
            MEMORY.unlink(missing_ok=True)  # the next process shall not stumble over the same
            if not self.server.problems:
                where = LOG.relative_to(ROOT)
                self.server.problems = {"": [f"the preview's builder has ended; see {where}"]}
            return
        if report.problems is not None:
            before = self.server.all_problems()
            self.server.problems = report.problems
            for line in self.server.all_problems():
                if line not in before:
                    print(line, file=sys.stderr, flush=True)
        elif report.written:
            self.server.written[report.written] += 1
            if report.seconds:
                print(f"{report.written}: {report.seconds:.1f} s", flush=True)

    def send_view(self) -> None:
        """Send the viewed pages to the pages' process."""
        if self.connection is not None:
            self.connection.send(Task(view=self.server.view))

    # ---- The files ----

    async def watch(self, *folders: Path, recursive: bool = True) -> None:
        """Watch folders for changed files."""
        async for changes in awatch(
            *folders,
            recursive=recursive,
            watch_filter=Sources(),
            step=SETTLED,
            stop_event=self.end,
        ):
            self.send_changes({Path(path).relative_to(ROOT).as_posix() for _, path in changes})

    def send_changes(self, names: set[str]) -> None:
        """Send the changed files to the pages' process."""
        if found := sorted(names & set(ENVIRONMENT)):
            sentence = f"{found[0]} has changed: start the preview again"
            self.server.problems = {"": [sentence]}
            print(sentence, file=sys.stderr, flush=True)
        names = {name for name in names if not name.startswith(BUNDLES)}
        if any(name.startswith(bundling.MADE_FROM) for name in names):
            try:
                bundling.update()
            except bundling.BundlingError as error:  # the pages keep the last scripts
                self.server.problems = {"": [str(error)]}
                print(error, file=sys.stderr, flush=True)
                return
        if any(name.startswith(ALL_PAGES) for name in names):
            MEMORY.unlink(missing_ok=True)
            self.start()
        elif any(name.startswith("mha/") for name in names):
            self.start()
        elif names := {name for name in names if name.startswith("book/")}:
            if self.connection is None:  # it has ended
                self.start()
            assert self.connection is not None
            self.connection.send(Task(files=names))


class Sources(DefaultFilter):
    """A filter of the book's source files: no compiled or hidden files, no outputs."""

    ignore_entity_patterns = (*DefaultFilter.ignore_entity_patterns, r"^\.", r"\.new$", r"^4913$")
