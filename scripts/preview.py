"""The preview: serve the book, and show an edit as soon as it is saved.

Three parts: `preview_server` serves the pages and talks with the browsers, the pages' process
(`preview_pages`, `preview_work`) keeps Sphinx in memory, and this module watches the files and
passes on who has to do what. The pages stand in a folder of their own: what is published is made by
`build.py` alone.
"""

import asyncio
import fcntl
import multiprocessing
import os
import signal
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path

from environment import BUILD, ROOT, fail
from html_book import build_html, one_at_a_time
from preview_pages import HEAVY, PREVIEW, Task, Told, begin_from, forget, run
from preview_server import Server
from sphinx_runs import STATE
from watchfiles import DefaultFilter, awatch

from byhand.contents import read_contents

SETTLED = 30  # milliseconds without another change, after which a save is complete
GRACE = 2  # seconds in which the pages' process may end by itself
WATCHED = ("book", "mha")
# What every page depends on: read anew by a new process.
ALL_PAGES = ("book/_ext/", "book/references.bib", "_config.yml", "_toc.yml")
# What the environment is made from: it cannot change under a running command.
ENVIRONMENT = ("requirements.lock", "pyproject.toml")


def watch(port: int) -> None:
    """Serve the book until Ctrl-C."""
    PREVIEW.mkdir(parents=True, exist_ok=True)
    with only_one() as note:
        if not STATE.is_dir():
            print("There is no book to begin with: building it.", flush=True)
            build_html()
        with one_at_a_time():
            begin_from(STATE)
        preview = Preview()
        try:
            asyncio.run(preview.go_on(port, note))
        except OSError as error:
            fail(f"port {port} cannot be used ({error.strerror}); name another one with --port")
        finally:
            preview.stop()
        print("\nThe preview has ended. What is published is made by: scripts/build.py")


@contextmanager
def only_one() -> Iterator[Path]:
    """Refuse to run beside another preview of this book; give the file that says where it is."""
    note = BUILD / "preview.address"
    with (BUILD / "preview.lock").open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            where = f" at {note.read_text(encoding='utf-8')}" if note.is_file() else ""
            fail(f"a preview of this book is running already{where}")
        try:
            yield note
        finally:
            note.unlink(missing_ok=True)


def has_display() -> bool:
    """Tell whether a browser can be opened where this runs."""
    is_other = sys.platform in ("darwin", "win32")
    return is_other or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def sources() -> dict[str, str]:
    """Return the pages that stand in the contents, by their files."""
    return {f"book/{page}.md": page for page in read_contents().pages}


class Preview:
    """Who watches, who builds, who looks on."""

    def __init__(self) -> None:
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(HEAVY)
        self.process: multiprocessing.process.BaseProcess | None = None
        self.connection: Connection | None = None
        self.server = Server(self.look_at)
        self.sources = sources()
        self.end = asyncio.Event()

    async def go_on(self, port: int, note: Path) -> None:
        """Serve and watch, until Ctrl-C."""
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, self.end.set)
        self.server.listen(port)
        address = f"http://127.0.0.1:{self.server.port}/"
        note.write_text(address, encoding="utf-8")
        self.start()
        print(f"The book is at {address}; save a file to see it there, Ctrl-C ends.", flush=True)
        if not has_display():
            print("No display was found: open the address yourself.", flush=True)
        elif not webbrowser.open(address):
            print("No browser was found: open the address yourself.", flush=True)
        await asyncio.gather(self.watch_folders(), self.watch_root())

    # ---- The pages' process ----

    def start(self) -> None:
        """Start the pages' process, in the place of the one before."""
        self.stop()
        ours, theirs = self.context.Pipe()
        view = self.server.in_view()
        self.process = self.context.Process(target=run, args=(theirs, view), daemon=False)
        self.process.start()
        theirs.close()
        self.connection = ours
        self.server.problems.clear()
        asyncio.get_running_loop().add_reader(ours.fileno(), self.hear)

    def stop(self) -> None:
        """End the pages' process; while a cell runs, nbclient takes its SIGTERM and goes on."""
        if self.connection is not None:
            with suppress(RuntimeError):  # at the end there is no loop any more
                asyncio.get_running_loop().remove_reader(self.connection.fileno())
            self.connection.close()
            self.connection = None
        if self.process is not None:
            self.process.terminate()
            self.process.join(GRACE)
            self.process.kill()
            assert self.process.pid is not None
            with suppress(ProcessLookupError):  # what it has started
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.join()
            self.process = None

    def hear(self) -> None:
        """Take what the pages' process tells."""
        assert self.connection is not None
        try:
            told: Told = self.connection.recv()
        except (EOFError, OSError):
            asyncio.get_running_loop().remove_reader(self.connection.fileno())
            self.connection = None
            forget()  # the next process shall not stumble over the same
            if not self.server.problems:
                log = (PREVIEW / "sphinx.log").relative_to(ROOT)
                self.server.tell_problems({"": [f"the preview's builder has ended; see {log}"]})
            return
        if told.problems is not None:
            before = self.server.what_is_wrong()["problems"]
            self.server.tell_problems(told.problems)
            for line in self.server.what_is_wrong()["problems"]:
                if line not in before:
                    print(line, file=sys.stderr, flush=True)
        if told.written:
            self.server.reload(told.written)
            if told.seconds:
                print(f"{told.written}: {told.seconds:.1f} s", flush=True)

    def ask(self, task: Task) -> None:
        """Pass a task on; a process that has ended is started again first."""
        if self.connection is None:
            self.start()
        assert self.connection is not None
        self.connection.send(task)

    def look_at(self) -> None:
        """Pass on which pages are looked at."""
        if self.connection is not None:
            self.connection.send(Task(view=self.server.in_view()))

    # ---- The files ----

    async def watch_folders(self) -> None:
        """Watch the folders of the book and the package."""
        folders = [ROOT / name for name in WATCHED]
        async for changes in awatch(
            *folders, watch_filter=Sources(), debounce=1600, step=SETTLED, stop_event=self.end
        ):
            self.changed({Path(path).relative_to(ROOT).as_posix() for _, path in changes})

    async def watch_root(self) -> None:
        """Watch the files at the project's top."""
        async for changes in awatch(ROOT, recursive=False, step=SETTLED, stop_event=self.end):
            self.changed({Path(path).relative_to(ROOT).as_posix() for _, path in changes})

    def changed(self, names: set[str]) -> None:
        """Pass on which files have changed."""
        if found := sorted(names & set(ENVIRONMENT)):
            sentence = f"{found[0]} has changed: start the preview again"
            self.server.tell_problems({"": [sentence]})
            print(sentence, file=sys.stderr, flush=True)
        if any(name.startswith(ALL_PAGES) for name in names):
            with suppress(Exception):  # what is wrong with the contents is told by Sphinx
                self.sources = sources()
            forget()
            self.start()
        elif any(name.startswith("mha/") for name in names):
            self.start()
        elif names := {name for name in names if name.startswith("book/")}:
            pages = {self.sources[name] for name in names if name in self.sources}
            self.ask(Task(pages=pages, files=names - self.sources.keys()))


class Sources(DefaultFilter):
    """What belongs to the book's sources: nothing that is compiled, hidden, or a cell's output."""

    ignore_entity_patterns = (*DefaultFilter.ignore_entity_patterns, r"^\.", r"\.new$", r"^4913$")
