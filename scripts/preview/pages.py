"""Sphinx kept in memory: it reads and writes a page again when the page is saved or viewed.

Other pages wait until they are viewed, since an edit may change their references, and an edit of
the package their numbers. Numbers of sections and figures run through the whole book: if an edit
changes how many there are, all pages are numbered again, and none is read.
"""

import gc
import io
import os
import pickle
import re
import shutil
import sys
import time
import traceback
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from environment import BUILD, EXTENSIONS, ROOT
from sphinx_runs import application, plain, prepare

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HTML = BUILD / "preview" / "html"
MEMORY = BUILD / "preview" / "doctrees" / "environment.pickle"  # Sphinx's file name for its state
LOG = BUILD / "preview" / "sphinx.log"
STATIC = ROOT / "book" / "_static"
EVERY_PAGE = "*"
# Sphinx's tables of numbers; reading a page removes the page from them.
COUNTS = ("toc_secnumbers", "toc_fignumbers", "titles", "longtitles", "tocs")


@dataclass
class Task:
    """A request of the preview to the process of the pages."""

    files: set[str] = field(default_factory=set)  # saved or deleted, relative to the project
    view: frozenset[str] | None = None  # the pages that browsers show now
    made: float = field(default_factory=time.monotonic)  # a clock that all processes share


@dataclass
class Report:
    """A message from the process of the pages: a page is written, or there are problems."""

    written: str = ""  # a page; "*" for files that every page loads
    seconds: float = 0.0
    problems: dict[str, list[str]] | None = None


def run(connection: Connection, view: frozenset[str]) -> None:
    """Keep Sphinx in memory and answer requests on the connection until it closes."""
    sys.path[:0] = [str(ROOT), str(EXTENSIONS)]
    prepare(os.environ)
    os.chdir(ROOT)
    with LOG.open("w", encoding="utf-8", buffering=1) as log:
        sys.stdout = sys.stderr = log
        try:
            warnings = Problems()
            app = application("html", HTML, MEMORY.parent, status=log, warning=warnings)
            Pages(app, warnings, connection, view).serve_requests()
        except (EOFError, BrokenPipeError, KeyboardInterrupt):
            return
        except BaseException as error:
            traceback.print_exc()
            connection.send(Report(problems={"": [locate_error(error)]}))


class Pages:
    """The pages and the Sphinx that builds them."""

    def __init__(
        self, app: "Sphinx", warnings: "Problems", connection: Connection, view: frozenset[str]
    ) -> None:
        self.app, self.env, self.builder = app, app.env, app.builder
        self.warnings, self.connection, self.view = warnings, connection, view
        self.saved: dict[str, float] = {}  # when pages were saved that are not written yet
        self.to_read: set[str] = set()
        self.to_write: set[str] = set()
        self.failed: set[str] = set()  # pages that could not be read: their last good ones stay
        self.good: dict[str, Any] = {}  # the numbers of their last good ones
        self.problems: dict[str, list[str]] = {}

    def serve_requests(self) -> None:
        """Do the next step that is waited for, and receive requests between steps."""
        self.read_outdated()
        gc.collect()
        gc.freeze()  # exempt the state from garbage collection, which would delay a save
        while True:
            waiting = [n for n in [*self.saved, *self.view] if n in self.to_read | self.to_write]
            if self.connection.poll(0 if waiting else None):
                self.add_request(self.connection.recv())
            elif waiting[0] in self.to_read:
                self.read(waiting[0])
            else:
                self.write(waiting[0])

    def read_outdated(self) -> None:
        """Read the pages that changed since the state was written, and number them."""
        from sphinx.environment import CONFIG_OK

        from byhand.reading.pages import pages_to_run
        from byhand.reading.results import inputs_digest

        self.env.find_files(self.app.config, self.builder)
        outdated = self.env.get_outdated_files(self.env.config_status != CONFIG_OK)
        added, changed, removed = outdated
        for name in removed:
            self.clear(name)
        for more in self.app.emit("env-get-outdated", self.env, added, changed, removed):
            changed |= set(more) & self.env.found_docs
        self.app.emit("env-before-read-docs", self.env, sorted(added | changed))
        for name in sorted(added | changed):
            self.read(name, is_first=True)
        self.number_pages()
        for name in pages_in_contents() - self.env.found_docs:
            self.read(name)
        if added or changed:
            self.save_state()
        self.to_write = set(self.env.found_docs) - self.failed
        stale = pages_to_run(self.env, self.env.found_docs, inputs_digest())
        self.to_read |= {name for name, *_ in stale}
        self.builder.prepare_writing(set(self.env.found_docs))
        self.builder.events.emit("write-started", self.builder)
        # The problems of an earlier process are obsolete, even if no page changes.
        self.connection.send(Report(problems=dict(self.problems)))

    # ---- Requests ----

    def add_request(self, task: Task) -> None:
        """Add the changes of a request."""
        if task.view is not None:
            self.view = task.view
        for name in task.files:
            page = name.removeprefix("book/").removesuffix(".md")
            if page in pages_in_contents():
                self.env.find_files(self.app.config, self.builder)  # a deleted one may be back
                self.to_read.add(page)
                self.saved[page] = task.made
            else:
                self.add_changed_file(name)

    def add_changed_file(self, name: str) -> None:
        """Mark the pages that depend on a changed file that is no page."""
        if name.startswith("book/_static/"):
            from byhand.site.assets import write_assets

            shutil.copytree(STATIC, HTML / "_static", dirs_exist_ok=True)
            write_assets(self.app)
            self.connection.send(Report(written=EVERY_PAGE))
        elif name.startswith("book/_templates/"):
            self.to_write |= self.env.found_docs
        else:
            path = ROOT / name
            for page, needed in self.env.dependencies.items():
                if any((ROOT / "book" / file).resolve() == path for file in needed):
                    self.to_read.add(page)

    # ---- One step ----

    def read(self, name: str, *, is_first: bool = False) -> None:
        """Read a page; if its numbering changes, number all pages again."""
        from sphinx.util.build_phase import BuildPhase

        self.to_read.discard(name)
        if not Path(self.env.doc2path(name)).is_file():
            problem = f"book/{name}.md was deleted, and _toc.yml still names it"
            self.keep_last_version(name, [problem])
            return
        known, before = self.good.get(name) or self.numbers(name)
        self.app.phase = BuildPhase.READING
        try:
            self.clear(name)
            self.builder.read_doc(name)
        except Exception as error:
            self.warnings.write(f"book/{name}.md: {locate_error(error)}\n")
            self.env.temp_data.clear()
            self.env.ref_context.clear()
        found = self.warnings.take()
        has_other_numbers = (
            not found and not is_first and before != numbered_elements(self.env, name)
        )
        if not has_other_numbers and not is_first:
            for table, value in known.items():
                getattr(self.env, table)[name] = value
        if found:
            self.good[name] = known, before
            self.keep_last_version(name, found)
            return
        self.good.pop(name, None)
        self.failed.discard(name)
        self.store_problems(name, [])
        self.app.emit("env-updated", self.env)
        self.to_write = set(self.env.found_docs) - self.failed
        if has_other_numbers:
            self.number_pages()
            # The last good version of a page that cannot be read has moved with the others.
            self.good = {page: (self.numbers(page)[0], was) for page, (_, was) in self.good.items()}

    def number_pages(self) -> None:
        """Assign the numbers of sections and numbered elements of all pages."""
        from sphinx_external_toc.collectors import TocTreeCollectorWithStyles

        uncounted = vars(TocTreeCollectorWithStyles())  # type: ignore[no-untyped-call]
        for listener in self.app.events.listeners["env-get-updated"]:
            collector = getattr(listener.handler, "__self__", None)
            if isinstance(collector, TocTreeCollectorWithStyles):
                # It would continue from the chapter at which it ended the last time.
                vars(collector).update(uncounted)
        set(self.env.check_dependents(self.app, set()))  # consuming the iterator numbers the pages

    def numbers(self, name: str) -> tuple[dict[str, Any], tuple[Any, ...]]:
        """Return the numbered elements of a page and their numbers."""
        tables = {table: getattr(self.env, table) for table in COUNTS}
        known = {table: found[name] for table, found in tables.items() if name in found}
        return known, numbered_elements(self.env, name)

    def clear(self, name: str) -> None:
        """Remove a page from Sphinx's state."""
        self.app.emit("env-purge-doc", self.env, name)
        self.env.clear_doc(name)
        self.env._pickled_doctree_cache.pop(name, None)

    def save_state(self) -> None:
        """Write the state, from which the next process begins."""
        for name in self.failed:
            self.clear(name)
        waiting = MEMORY.with_suffix(".new")
        with waiting.open("wb") as file:
            pickle.dump(self.env, file, pickle.HIGHEST_PROTOCOL)
        waiting.replace(MEMORY)

    def keep_last_version(self, name: str, found: list[str]) -> None:
        """Keep the last good version of an unreadable page, and report its problems."""
        self.saved.pop(name, None)
        self.to_write.discard(name)
        self.failed.add(name)
        self.store_problems(name, found)

    def write(self, name: str) -> None:
        """Write a page, and report it if it has changed."""
        from sphinx.util.build_phase import BuildPhase

        self.to_write.discard(name)
        file = Path(self.builder.get_outfilename(name))  # type: ignore[attr-defined]
        before = file.read_bytes() if file.is_file() else b""
        self.app.phase = BuildPhase.RESOLVING
        try:
            doctree = self.env.get_and_resolve_doctree(name, self.builder)
            found = self.warnings.take()
            if not found:
                self.app.phase = BuildPhase.WRITING
                self.builder.write_doc_serialized(name, doctree)
                self.builder.write_doc(name, doctree)
                self.builder.copy_image_files()  # type: ignore[attr-defined]
                found = self.warnings.take()
        except Exception as error:
            found = [*self.warnings.take(), f"book/{name}.md: {locate_error(error)}"]
        since = self.saved.pop(name, None)
        if not found and file.read_bytes() != before:
            seconds = time.monotonic() - since if since else 0.0
            self.connection.send(Report(written=name, seconds=seconds))
        self.store_problems(name, found or faults_of(name))

    def store_problems(self, name: str, found: list[str]) -> None:
        """Store the problems of a page, and report them if they have changed."""
        if found != self.problems.get(name, []):
            self.problems[name] = found
            self.problems = {key: lines for key, lines in self.problems.items() if lines}
            self.connection.send(Report(problems=dict(self.problems)))


def pages_in_contents() -> set[str]:
    """Return the pages that `_toc.yml` names."""
    from byhand.contents import read_contents

    return set(read_contents().pages)


def faults_of(name: str) -> list[str]:
    """Return the findings that the build would refuse in a page's source."""
    from byhand.checking import check_sources

    with suppress(OSError, ValueError):  # deleted meanwhile: the next request reports it
        return list(map(str, check_sources(ROOT, [name], draft=True)))
    return []


def numbered_elements(env: Any, name: str) -> tuple[Any, ...]:
    """Return the sections and numbered elements of a page in order."""
    from docutils import nodes

    try:
        doctree = env.get_doctree(name)
    except OSError:  # it has never been read
        return ()
    found = []
    for node in doctree.findall(nodes.Element):
        for domain in env.domains.values():
            kind = domain.get_enumerable_node_type(node) if node.get("ids") else None
            if kind:
                found.append((kind, node["ids"][0]))
    contents = re.sub(r' secnumber="[^"]*"', "", str(env.tocs.get(name)))
    return (contents, *found)


# ---- Problems ----


def locate_error(error: BaseException) -> str:
    """Return file, line and cause of an error; the file is the last one of the project."""
    cause = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        return f"{plain(error.filename)}:{error.lineno}: {type(error).__name__}: {error.msg}"
    sources = tuple(f"{ROOT / folder}{os.sep}" for folder in ("mha", "book"))
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(sources)]
    return f"{plain(ours[-1].filename)}:{ours[-1].lineno}: {cause}" if ours else cause


class Problems(io.StringIO):
    """Sphinx's warnings as lines of file, line and cause."""

    def take(self) -> list[str]:
        """Return the new warnings; if cells failed, only theirs."""
        lines = plain(self.getvalue()).replace(" WARNING:", "").replace(" ERROR:", "").splitlines()
        self.seek(0)
        self.truncate()
        return [line for line in lines if "this cell failed" in line] or list(dict.fromkeys(lines))
