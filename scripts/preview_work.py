"""The pages that wait to be read and written, and the order in which they are.

Whoever saves a page wants to see it at once; what follows from the edit on other pages may come
behind. So there is one queue, and between two of its steps new edits are looked for: pages that are
looked at, or were saved just now, come first. To read or write another takes up to a second or two,
which the next save would wait for; their cells run in a process beside this one, and would take a
part of the machine from it. So others wait until nobody has saved or opened a page for a while.
"""

import gc
import logging
import re
import shutil
import time
from collections.abc import Callable, Set
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from docutils import nodes
from environment import ROOT
from preview_kernel import Spare, hand_out
from preview_memory import keep_pieces
from preview_pages import (
    HTML,
    STATIC,
    Problems,
    Task,
    Told,
    flattened,
    save_memory,
    where_it_failed,
)
from preview_runner import Runner
from sphinx.application import Sphinx
from sphinx.util.build_phase import BuildPhase
from sphinx.util.logging import NAMESPACE, WarningLogRecordTranslator, WarningSuppressor

from byhand.checking import check_sources
from byhand.contents import read_contents
from byhand.kept_results import computes, is_kept, made_from
from byhand.page_assets import remove_parts, write_assets
from byhand.quick_walks import of_new_elements
from byhand.section_search import sections, write_index

Step = Callable[[], None]
EVERY_PAGE = "*"
# Seconds since somebody saved or opened a page, after which others are run, read and written.
PAUSE = 10
# Seconds without a task, after which this process writes down what it knows, and a save would wait
# for it: a pause as few make between two saves, or a short one where many pages were read since.
QUIET, SHORT_QUIET, MANY = 30, 2, 20
# Where Sphinx keeps what it has counted on each page; reading a page takes the page out of them.
COUNTS = ("toc_secnumbers", "toc_fignumbers", "tocs", "titles", "longtitles")


class Work:
    """What is to be done, and the Sphinx that does it."""

    def __init__(self, app: Sphinx, connection: Connection, view: frozenset[str]) -> None:
        self.app, self.env, self.builder = app, app.env, app.builder
        self.connection, self.view = connection, view
        self.saved: set[str] = set()  # pages that were saved, until they are written
        self.since: dict[str, float] = {}
        self.to_read: set[str] = set()
        self.to_run: set[str] = set()  # of these, pages whose cells must run before
        self.to_write: set[str] = set()
        self.to_check: set[str] = set()
        self.to_search: set[str] = set()  # pages whose sections are not known
        self.failed: set[str] = set()  # pages that could not be read: their last good ones stay
        self.is_known: set[str] = set()  # pages that this process has read
        self.problems: dict[str, list[str]] = {}
        self.is_counted = True  # whether the numbers of sections and figures are up to date
        self.is_kept = True  # whether what Sphinx knows is on the disk
        self.read_since = 0  # how many pages were read since it was
        self.asked_at = time.monotonic()  # when the last task came, or this process began
        self.numbers = self._numbers()
        added = app.registry.css_files, app.registry.js_files
        own = self.builder._css_files, self.builder._js_files  # type: ignore[attr-defined]
        self.loaded = [(files, list(files)) for files in (*added, *own)]
        self.log = self._listen()
        self.runner = Runner(app, connection)
        self.spare = Spare()

    def _listen(self) -> Problems:
        log = Problems()
        log.addFilter(WarningSuppressor(self.app))
        log.addFilter(WarningLogRecordTranslator(self.app))
        logging.getLogger(NAMESPACE).addHandler(log)
        return log

    def go_on(self) -> None:
        """Do what waits, the most urgent first, and take what comes between two steps."""
        keep_pieces()
        hand_out(self.spare)
        if self._runs_next():
            self.spare.begin()
        self._find_outdated()
        self.builder.events.emit("write-started", self.builder)
        gc.disable()  # looking for lost objects among all pages takes a third of the time
        gc.freeze()  # and what stands from the beginning is not looked through at all
        while True:
            step = self._urgent() or self._behind()
            running = [self.runner.connection] if self.to_run else []
            heard = wait([self.connection, *running], 0 if step else self._patience())
            if self.connection in heard:
                self._take(self.connection.recv())
            elif heard:
                self._has_run()
            elif step:
                step()

    def _patience(self) -> float | None:
        """Return for how many seconds to wait where there is no step; None: until one comes."""
        if self._next_of(self._others()) or self._next_to_run():
            return max(0, self.asked_at + PAUSE - time.monotonic())
        if self._has_unwritten():
            return max(0, self._keep_at() - time.monotonic())
        return None

    def _others(self) -> set[str]:
        """Return the pages that can be read or written now, their cells having run."""
        return (self.to_read | self.to_write) - self.to_run

    def _has_unwritten(self) -> bool:
        """Tell whether pages are done, and what is known of them is not yet on the disk."""
        return not (self.is_kept or self.to_read or self.to_write)

    def _keep_at(self) -> float:
        """Return when to write down what is known, if no task comes before."""
        return self.asked_at + (QUIET if self.read_since < MANY else SHORT_QUIET)

    # ---- What is to be done ----

    def _find_outdated(self) -> None:
        """Find the pages that are not what their sources and the package would give."""
        self.env.find_files(self.app.config, self.builder)
        is_other = self.env.config_status != 1  # Sphinx's number for: as it was
        added, changed, removed = self.env.get_outdated_files(is_other)
        for more in self.app.emit("env-get-outdated", self.env, added, changed, removed):
            changed |= set(more) & self.env.found_docs
        for name in removed:
            self._clear(name)
        self.env.config_status = 1
        deleted = set(read_contents().pages) - self.env.found_docs
        self.to_read = added | changed | deleted
        self._add_without_results()
        self.to_search = set(self.env.found_docs)
        self.is_kept = not self.to_read and not removed

    def _add_without_results(self) -> None:
        """Add the pages with cells whose results would not be the kept ones."""
        now = made_from()
        self.to_run |= {
            name
            for name in self.env.found_docs
            if (source := self._source(name)).is_file()
            and computes(source)
            and not is_kept(source, now)
        }
        self.to_read |= self.to_run

    def _take(self, task: Task) -> None:
        """Add what a task asks for."""
        self.asked_at = time.monotonic()
        if task.view is not None:
            self.view = task.view
        if task.pages - self.env.found_docs:  # one that was deleted may have come back
            self.env.find_files(self.app.config, self.builder)
        self.saved |= task.pages
        self.to_read |= task.pages
        self.since.update(dict.fromkeys(task.pages, time.monotonic()))
        for name in task.files:
            self._take_file(name)

    def _take_file(self, name: str) -> None:
        """Find out whom a file that is no page concerns."""
        if name.startswith("book/_static/"):
            shutil.copytree(STATIC, HTML / "_static", dirs_exist_ok=True)
            write_assets(self.app)
            remove_parts(self.app, None)
            self._tell(Told(written=EVERY_PAGE))
        elif name.startswith("book/_templates/"):
            self.to_write |= self.env.found_docs
        else:
            path = (ROOT / name).as_posix()
            for page, needed in self.env.dependencies.items():
                if any((ROOT / "book" / file).resolve().as_posix() == path for file in needed):
                    self.to_read.add(page)
            self._add_without_results()

    # ---- One step ----

    def _urgent(self) -> Step | None:
        """Return what somebody waits for."""
        return self._next_of(self.view | self.saved)

    def _next_of(self, pages: Set[str]) -> Step | None:
        """Return what is to be done of some pages; none is written before all were read once."""
        if reading := self.to_read & pages:
            return partial(self._read, min(reading, key=self._rank))
        if (writing := self.to_write & pages) and not self._is_first():
            return partial(self._write, min(writing, key=self._rank))
        return None

    def _next_to_run(self) -> Step | None:
        """Return the run of a page's cells beside this process, where that is free."""
        if self.to_run and self.runner.is_free:
            return partial(self.runner.begin, min(self.to_run))
        return None

    def _is_first(self) -> bool:
        """Tell whether some pages have never been read."""
        return bool(self.to_read - self.env.all_docs.keys())

    def _behind(self) -> Step | None:
        """Return what may come behind, if it is time.

        A page that is looked at may be saved next: it is read once before, so that what it needs is
        in memory then, and a kernel starts.
        """
        if self.to_check:
            return self._check
        if unread := self.view & self.env.found_docs - self.is_known:
            return partial(self.to_read.update, unread)
        if self._runs_next() and not self.spare.is_begun:
            return self.spare.begin
        if self._is_time() and (step := self._next_to_run() or self._next_of(self._others())):
            return step
        if self.to_search:
            return self._search
        if not self.spare.is_settled:
            return self.spare.settle
        if self._has_unwritten() and time.monotonic() >= self._keep_at():
            return self._keep
        return None

    def _is_time(self) -> bool:
        """Tell whether it is time for pages that nobody looks at."""
        return self._is_first() or time.monotonic() >= self.asked_at + PAUSE

    def _rank(self, name: str) -> tuple[bool, bool, str]:
        return name not in self.view, name not in self.saved, name

    def _has_run(self) -> None:
        """Take from the process beside this one that it has run a page."""
        try:
            self.to_run.discard(self.runner.take())
        except EOFError:  # it was ended: pages run where they are read
            self.to_run.clear()

    def _read(self, name: str) -> None:
        self.to_read.discard(name)
        self.to_run.discard(name)
        self.is_known.add(name)
        if not self._source(name).is_file():
            self._fail(name, [f"book/{name}.md was deleted, and _toc.yml still names it"])
            return
        before = self._seen_by_others(name)
        known = {table: getattr(self.env, table).get(name) for table in COUNTS}
        counted = self._counted(name, known["toc_fignumbers"])
        self.app.phase = BuildPhase.READING
        self.is_kept = False
        self.read_since += 1
        try:
            self._clear(name)
            with of_new_elements():
                self.builder.read_doc(name)
        except Exception as error:
            self.log.found.append(f"book/{name}.md: {where_it_failed(error)}")
            self.env.temp_data.clear()
            self.env.ref_context.clear()
        if self._counted(name, None) == counted and None not in known.values():
            for table, value in known.items():
                getattr(self.env, table)[name] = value
        else:
            self.is_counted = False
        if found := self.log.take():
            self._fail(name, found)
            return
        self.failed.discard(name)
        self.to_write |= flattened(self.app.emit("env-updated", self.env)) & self.env.found_docs
        self.to_write.add(name)
        if self._seen_by_others(name) != before:
            self.to_write |= self.env.found_docs

    def _fail(self, name: str, found: list[str]) -> None:
        """Keep the last good page of what cannot be read, and tell what is wrong with it."""
        self.saved.discard(name)
        self.failed.add(name)
        self._note(name, found)

    def _clear(self, name: str) -> None:
        self.app.emit("env-purge-doc", self.env, name)
        self.env.clear_doc(name)
        self.env._pickled_doctree_cache.pop(name, None)

    def _seen_by_others(self, name: str) -> str:
        """Return what other pages may show of a page: its title, labels, numbered things."""
        standard, mathematics = (self.env.domaindata[domain] for domain in ("std", "math"))
        exercises = getattr(self.env, "sphinx_exercise_registry", {})
        seen: list[Any] = [self.env.titles.get(name, "")]
        for table in (standard["labels"], standard["anonlabels"], mathematics["objects"]):
            seen.append([(label, to) for label, to in sorted(table.items()) if to[0] == name])
        seen.append([label for label, to in exercises.items() if to.get("docname") == name])
        return repr(list(map(str, seen)))

    def _counted(self, name: str, numbers: dict[str, dict[str, Any]] | None) -> str:
        """Return what is counted on a page: its sections, and its figures of each kind in order.

        Parameters
        ----------
        name : str
        numbers : dict, optional
            What Sphinx has counted on the page; without it, the page as it was read now.
        """
        found: dict[str, list[str]] = {}
        if numbers is not None:
            found = {kind: list(names) for kind, names in numbers.items()}
        elif name in self.env._write_doc_doctree_cache:
            for node in self.env._write_doc_doctree_cache[name].findall(nodes.Element):
                if node["ids"] and (kind := self._kind(node)):
                    found.setdefault(kind, []).append(node["ids"][0])
        sections = re.sub(r' secnumber="[^"]*"', "", str(self.env.tocs.get(name)))
        return repr((sections, sorted(found.items())))

    def _kind(self, node: nodes.Element) -> str | None:
        """Return as what an element is counted, in Sphinx's own way."""
        for domain in self.env.domains.values():
            kind = domain.get_enumerable_node_type(node)
            if domain.name == "std" and not domain.get_numfig_title(node):  # type: ignore[attr-defined]
                continue
            if kind and not isinstance(node, nodes.section):
                return kind
        return None

    def _count(self) -> None:
        """Count sections and figures anew; where a number has changed, any page may cite it.

        Sphinx goes through all pages for this, which takes seconds.
        """
        for listener in self.app.events.listeners["env-get-updated"]:
            collector = getattr(listener.handler, "__self__", None)
            # sphinx_external_toc counts on from where its last count ended.
            for count in [key for key in getattr(collector, "__dict__", {}) if "_count" in key]:
                setattr(collector, count, 0)
        changed = set(self.env.check_dependents(self.app, set())) & self.env.found_docs
        before, self.numbers = self.numbers, self._numbers()
        self.is_counted = True
        self.to_write |= changed if self.numbers == before else self.env.found_docs

    def _numbers(self) -> str:
        return repr((self.env.toc_secnumbers, sorted(self.env.toc_fignumbers.items())))

    def _write(self, name: str) -> None:
        self.to_write.discard(name)
        if name in self.failed:
            return
        if not self.is_counted:
            self._count()
        file = self._written(name)
        before = file.read_bytes() if file.is_file() else b""
        try:
            self._prepare(name)
            self.app.phase = BuildPhase.RESOLVING
            doctree = self.env.get_and_resolve_doctree(name, self.builder)
            found = self.log.take()
            if not found:
                self.app.phase = BuildPhase.WRITING
                self.builder.write_doc_serialized(name, doctree)
                self.builder.write_doc(name, doctree)
                self.builder.copy_image_files()  # type: ignore[attr-defined]
                found = self.log.take()
        except Exception as error:
            found = [*self.log.take(), f"book/{name}.md: {where_it_failed(error)}"]
        if name in self.saved:
            self.to_check.add(name)
        self.saved.discard(name)
        self._note(name, found)
        self.to_search.add(name)
        if not found and file.read_bytes() != before:
            since = self.since.pop(name, None)
            self._tell(Told(written=name, seconds=time.monotonic() - since if since else 0.0))

    def _prepare(self, name: str) -> None:
        """Begin to write a page, without what others have added for themselves alone."""
        for files, before in self.loaded:
            files[:] = before
        self.builder.prepare_writing({name})

    def _check(self) -> None:
        """Tell what is wrong with the source of a page that was saved."""
        name = self.to_check.pop()
        with suppress(OSError, ValueError):  # deleted just now: the next task tells so
            self._note(f"check {name}", list(map(str, check_sources(ROOT, [name]))))

    def _search(self) -> None:
        """Find the sections of a page in which a search looks."""
        with suppress(OSError):
            sections.read_sections(self._written(self.to_search.pop()).read_text("utf-8"))

    def _keep(self) -> None:
        """Write down what is known."""
        write_index(self.app, None)
        save_memory(self.env)
        self.is_kept, self.read_since = True, 0
        gc.collect()  # each reading of a page has left tens of megabytes

    def _runs_next(self) -> bool:
        """Tell whether a page with cells is looked at."""
        sources = map(self._source, self.view & self.env.all_docs.keys())
        return any(source.is_file() and computes(source) for source in sources)

    # ---- What is told ----

    def _note(self, name: str, found: list[str]) -> None:
        """Keep what is wrong with a page, and tell it if it is news."""
        if found != self.problems.get(name, []):
            self.problems[name] = found
            self.problems = {key: lines for key, lines in self.problems.items() if lines}
            self._tell(Told(problems=dict(self.problems)))

    def _tell(self, told: Told) -> None:
        self.connection.send(told)

    def _written(self, name: str) -> Path:
        return Path(self.builder.get_outfilename(name))  # type: ignore[attr-defined]

    def _source(self, name: str) -> Path:
        return Path(self.env.doc2path(name))
