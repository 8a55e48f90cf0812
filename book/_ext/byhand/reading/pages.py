"""Pages as MyST-NB reads them: notebooks that have their results.

`_config.yml` names `nbformat.reads` as the reader of pages, for what it is handed is a notebook
already, and lets MyST-NB execute nothing.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from myst_nb.core.read import read_myst_markdown_notebook
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from byhand.digests import digest_of
from byhand.reading.cell_outputs import faults
from byhand.reading.results import Results, compute, kept, made_from
from byhand.reading.steps import Step, steps_of
from byhand.reading.values import RESULTS
from mha.core.threads import usable_cores

logger = logging.getLogger(__name__)

LANGUAGE = {"name": "python", "pygments_lexer": "ipython3"}


def notebook_of(page: Path, text: str, config: Any = None) -> NotebookNode:
    """Return a page's source as a notebook, not run yet."""
    notebook = read_myst_markdown_notebook(text, config, add_source_map=True, path=page)
    lines, begins = text.splitlines(), notebook.metadata["source_map"]
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"  # the same each time
        if cell.cell_type == "markdown":  # MyST-NB counts as if one blank line stood before it
            while not lines[begins[number]].strip():
                begins[number] += 1
            begins[number] -= 1
    return notebook


def computes(page: Path) -> bool:
    """Tell whether a page has cells."""
    return "\n```{code-cell}" in page.read_text(encoding="utf-8")


def without_results(
    env: BuildEnvironment, names: Iterable[str], now: str
) -> Iterator[tuple[str, Path, list[Step]]]:
    """Yield the pages whose results would not be the kept ones, with their sources and steps."""
    for name in names:
        page = Path(env.doc2path(name))
        if page.is_file():
            text = page.read_text(encoding="utf-8")
            steps = steps_of(notebook_of(page, text, env.myst_config), text)  # type: ignore[attr-defined]
            if steps and kept(page, steps, now) is None:
                yield name, page, steps


def sources_of(env: BuildEnvironment, name: str) -> str:
    """Return a digest of a page's source, and of all that it had to say when it was read."""
    files = [env.doc2path(name), *(str(env.srcdir / file) for file in env.dependencies[name])]
    return digest_of(sorted(files), root=Path("/"))


def note_sources(app: Sphinx, env: BuildEnvironment) -> None:
    """Remember what each page was read from."""
    for name in env.found_docs:
        env.metadata[name]["sources"] = sources_of(env, name)


def changed(app: Sphinx, env: BuildEnvironment, added: set[str], *_: object) -> list[str]:
    """Return the pages whose sources are others than were read, whatever their dates say."""
    known = env.found_docs - added
    return [name for name in known if env.metadata[name].get("sources") != sources_of(env, name)]


class Reader:
    """What reads pages: those that have no results yet run ahead of it."""

    def __init__(self) -> None:
        self.ahead: dict[str, Future[Results]] = {}
        self.now = ""

    def run_ahead(self, app: Sphinx, env: BuildEnvironment, names: list[str]) -> None:
        """Begin to run the pages whose results are not kept, as they will be read, on all cores."""
        self.now, seconds = made_from(), app.config.nb_execution_timeout
        pool = ThreadPoolExecutor(usable_cores())
        for name, page, steps in without_results(env, names, self.now):
            self.ahead[name] = pool.submit(compute, page, steps, self.now, seconds)
        pool.shutdown(wait=False)

    def read(self, app: Sphinx, name: str, source: list[str]) -> None:
        """Put the page as a notebook with its results in the place of its source."""
        page = Path(app.env.doc2path(name))
        notebook = notebook_of(page, source[0], app.env.myst_config)  # type: ignore[attr-defined]
        if steps := steps_of(notebook, source[0]):
            ran = self.ahead.pop(name, None)
            results = ran.result() if ran else self._current(page, steps, app)
            app.env.temp_data[RESULTS] = results
            _put(results, notebook)
        source[0] = nbformat.writes(notebook)  # type: ignore[no-untyped-call]

    def _current(self, page: Path, steps: list[Step], app: Sphinx) -> Results:
        """Return a page's results: the kept ones, or new ones."""
        found = kept(page, steps, self.now)
        return found or compute(page, steps, self.now, app.config.nb_execution_timeout)


def _put(results: Results, notebook: NotebookNode) -> None:
    """Give cells their results."""
    notebook.metadata["language_info"] = LANGUAGE
    count = 0
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code" and cell.source.strip():
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = [nbformat.from_dict(o) for o in results.of_cell(index)]  # type: ignore[no-untyped-call]
            if those := results.explorers_of(index):
                tags = [*cell.metadata.get("tags", []), *(f"of-{name}" for name in those)]
                cell.metadata["tags"] = tags  # which the cell's element has as classes
            results.faults += [
                (_line(results, index), said) for said in faults(cell["outputs"], cell.metadata)
            ]


def _line(results: Results, index: int) -> int:
    return next(step.line for step in results.steps if step.index == index)


def report(app: Sphinx, doctree: nodes.document) -> None:
    """Warn of what is wrong with the page's cells."""
    results: Results | None = app.env.temp_data.get(RESULTS)
    for line, cause in results.faults if results else ():
        place = (app.env.docname, line)
        logger.warning("this cell failed: %s", cause, location=place, type="failed_cell")
