"""Pages as notebooks with results, in the form that MyST-NB reads.

`_config.yml` names `nbformat.reads` as the reader of pages, since the text is already a notebook,
and switches off execution by MyST-NB.
"""

import json
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
from myst_nb.core.read import read_myst_markdown_notebook
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from byhand.checking.elements import html_faults
from byhand.checking.patterns import find_matches
from byhand.digests import digest_of
from byhand.reading.page_code import Step, steps_of
from byhand.reading.results import Results, compute, inputs_digest, load_valid
from byhand.reading.values import RESULTS
from byhand.site.policy import forbidden_content
from mha.core.threads import usable_cores

logger = logging.getLogger(__name__)

LANGUAGE = {"name": "python", "pygments_lexer": "ipython3"}
MAX_KEPT = 1_000_000  # characters of one cell's outputs as JSON
ADDRESS = re.compile(r"\bat (0x[0-9a-fA-F]{6,})")
IMAGES = ("image/png", "image/jpeg", "image/gif")
NO_NUMBER = re.compile(r"[-−]?(?:nan|inf)", re.IGNORECASE)
NOT_FINITE = "not-finite"  # the tag of a cell whose table shows such a number on purpose
MARKUP = ("text/html", "text/markdown")
RICH = (*MARKUP, "text/latex", "image/svg+xml", *IMAGES)


def notebook_of(page: Path, text: str, config: Any = None) -> NotebookNode:
    """Return a page's source as a notebook without results."""
    notebook = read_myst_markdown_notebook(text, config, add_source_map=True, path=page)
    lines, begins = text.splitlines(), notebook.metadata["source_map"]
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"  # the same each time
        if cell.cell_type == "markdown":  # MyST-NB counts one blank line before it
            while not lines[begins[number]].strip():
                begins[number] += 1
            begins[number] -= 1
    return notebook


def has_cells(page: Path) -> bool:
    """Return whether a page has cells."""
    return "\n```{code-cell}" in page.read_text(encoding="utf-8")


def pages_to_run(
    env: BuildEnvironment, names: Iterable[str], digest: str
) -> Iterator[tuple[str, Path, list[Step]]]:
    """Yield the pages without valid kept results, with their sources and steps."""
    for name in names:
        page = Path(env.doc2path(name))
        if page.is_file():
            text = page.read_text(encoding="utf-8")
            steps = steps_of(notebook_of(page, text, env.myst_config), text)  # type: ignore[attr-defined]
            if steps and load_valid(page, steps, digest) is None:
                yield name, page, steps


def source_digest(env: BuildEnvironment, name: str) -> str:
    """Return a digest of a page's source and of the files that Sphinx noted as included."""
    files = [env.doc2path(name), *(str(env.srcdir / file) for file in env.dependencies[name])]
    return digest_of(sorted(files), root=Path("/"))


def store_digests(app: Sphinx, env: BuildEnvironment) -> None:
    """Store the digest of each page that was read."""
    for name in env.found_docs:
        env.metadata[name]["sources"] = source_digest(env, name)


def changed_pages(app: Sphinx, env: BuildEnvironment, added: set[str], *_: object) -> list[str]:
    """Return the pages whose digest differs from the stored one, whatever their dates."""
    known = env.found_docs - added
    return [name for name in known if env.metadata[name].get("sources") != source_digest(env, name)]


class PageReader:
    """The reader of pages, and the pool of threads that compute results before pages are read."""

    def __init__(self) -> None:
        self.runs: dict[str, Future[Results]] = {}
        self.digest = ""  # of the inputs that all pages share

    def start_runs(self, app: Sphinx, env: BuildEnvironment, names: list[str]) -> None:
        """Start computing missing results of pages, in reading order, on all cores."""
        self.digest = inputs_digest()
        pool = ThreadPoolExecutor(usable_cores())
        for name, page, steps in pages_to_run(env, names, self.digest):
            self.runs[name] = pool.submit(compute, page, steps, self.digest)
        pool.shutdown(wait=False)

    def read(self, app: Sphinx, name: str, source: list[str]) -> None:
        """Replace the source of a page by its notebook with results."""
        page = Path(app.env.doc2path(name))
        notebook = notebook_of(page, source[0], app.env.myst_config)  # type: ignore[attr-defined]
        if steps := steps_of(notebook, source[0]):
            run = self.runs.pop(name, None)
            results = run.result() if run else load_valid(page, steps, self.digest)
            results = results or compute(page, steps, self.digest)
            app.env.temp_data[RESULTS] = results
            _add_results(results, notebook)
            for line, cause in results.faults:
                place = (name, line)
                logger.warning("this cell failed: %s", cause, location=place, type="failed_cell")
        source[0] = nbformat.writes(notebook)  # type: ignore[no-untyped-call]


def _add_results(results: Results, notebook: NotebookNode) -> None:
    """Add results to the cells of a notebook."""
    notebook.metadata["language_info"] = LANGUAGE
    cells = [(n, step) for n, step in enumerate(results.steps) if step.kind == "cell"]
    for count, (number, step) in enumerate(cells, 1):
        cell = notebook.cells[step.index]
        outputs, explorers, _ = results.result_of(number)
        cell["execution_count"] = count
        cell["outputs"] = [nbformat.from_dict(output) for output in outputs]  # type: ignore[no-untyped-call]
        if explorers:
            tags = [*cell.metadata.get("tags", []), *(f"of-{name}" for name in explorers.split())]
            cell.metadata["tags"] = tags  # which the cell's element has as classes
        results.faults += [
            (step.line, message) for message in output_faults(outputs, cell.metadata)
        ]


# ---- Faults of outputs: warnings, addresses of objects, scripts, too many characters ----


def output_faults(outputs: list[dict[str, Any]], metadata: dict[str, Any]) -> Iterator[str]:
    """Yield the faults of a cell's outputs, which are given in the notebook format.

    Examples
    --------
    >>> list(output_faults([{"output_type": "stream", "name": "stderr", "text": "beware"}], {}))
    ['the cell writes to stderr: beware']
    """
    size = len(json.dumps(outputs))
    if size > MAX_KEPT:
        yield f"the cell's output has {size:,} characters; at most {MAX_KEPT:,} are wanted"
        return
    alternative = metadata.get("mystnb", {}).get("image", {}).get("alt")
    for output in outputs:
        data = output.get("data", {})
        if output.get("name") == "stderr":
            lines = output["text"].strip().splitlines() or [""]
            yield f"the cell writes to stderr: {lines[-1]}"
        elif address := ADDRESS.search(_visible_text(output)):
            yield (
                f"the cell shows an object's address, {address[1]}, which differs each time;"
                " show its contents instead"
            )
        marked = "\n".join(str(data.get(kind, "")) for kind in MARKUP)
        if refused := forbidden_content(marked):
            yield f"the cell shows {refused}; scripts go into book/_static"
        for _, message in find_matches("loaded", [(0, marked)]):
            yield f"in the output of the cell, {message}"
        for _, message in html_faults([(0, str(data.get("text/html", "")))]):
            yield f"in the output of the cell, {message}"
        if (number := not_finite(marked)) and NOT_FINITE not in metadata.get("tags", []):
            yield f"a table shows {number}; finite numbers, or the tag {NOT_FINITE}, are wanted"
        if any(kind in data for kind in IMAGES) and not alternative:
            yield (
                "the cell's image has no alternative text; describe it in"
                " mystnb: image: alt: in its header"
            )


def not_finite(markdown: str) -> str:
    """Return the first cell of the tables in a cell's output that is nan or inf, or ""."""
    for line in markdown.splitlines():
        if line.startswith('{"') and '"rows"' in line:
            rows = json.loads(line).get("rows", [])
            if found := [text for row in rows for text in row[1:] if NO_NUMBER.fullmatch(text)]:
                return str(found[0])
    return ""


def _visible_text(output: dict[str, Any]) -> str:
    """Return the text of an output that a reader sees."""
    data = output.get("data", {})
    texts = [output.get("text", ""), data.get("text/html", ""), data.get("text/markdown", "")]
    if not any(kind in data for kind in RICH):
        texts.append(data.get("text/plain", ""))
    return "\n".join(map(str, texts))
