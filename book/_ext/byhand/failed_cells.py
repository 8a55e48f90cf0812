"""Say where a cell failed: the page, the line, the failing statement and the error.

MyST-NB's own warning names the page alone; `_config.yml` suppresses it in favour of this one.
Tags that leave a cell out are refused: an assertion that does not run proves nothing.
"""

import re

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

CELL = re.compile(r"executing the following cell:\n-{18}\n(.*?)\n-{18}\n(.*)", re.DOTALL)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("source-read", refuse_cells_that_do_not_run)
    app.connect("doctree-read", report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def refuse_cells_that_do_not_run(app: Sphinx, docname: str, source: list[str]) -> None:
    """Warn for each cell whose tags keep MyST-NB from running it."""
    for line, text in enumerate(source[0].splitlines(), 1):
        tag = re.match(r":?tags:.*\b(remove-cell|remove_cell|skip-execution)\b", text)
        if tag:
            logger.warning(
                "a cell tagged %s may not run; tag it remove-input and remove-output",
                tag.group(1),
                location=(docname, line),
                type="failed_cell",
            )


def report(app: Sphinx, doctree: nodes.document) -> None:
    """Warn if the page's execution ended in an error."""
    data = NbMetadataCollector.get_exec_data(app.env, app.env.docname)
    if not data or data["succeeded"]:
        return
    page = app.env.doc2path(app.env.docname)
    with open(page, encoding="utf-8") as file:
        line, cause = locate(file.read(), data["traceback"] or data["error"])
    logger.warning(
        "this cell failed: %s", cause, location=(app.env.docname, line), type="failed_cell"
    )


def locate(page: str, traceback: str) -> tuple[int | None, str]:
    r"""Return the line of a page where a cell failed, and its statement with the error.

    Examples
    --------
    >>> traceback = "\n".join([
    ...     "An error occurred while executing the following cell:", "-" * 18, "x = 1",
    ...     "assert x == 2", "-" * 18, "", "Cell In[1], line 2", "----> 2 assert x == 2", "",
    ...     "AssertionError: "])
    >>> locate("# Page\n```{code-cell}\nx = 1\nassert x == 2\n```", traceback)
    (4, 'assert x == 2 raised AssertionError')
    """
    text = re.sub(r"\x1b\[[0-9;]*m", "", traceback).rstrip().rstrip(":")
    error = text.splitlines()[-1]
    cell = CELL.search(text)
    if cell is None or cell.group(1) not in page:
        return None, error
    first = page[: page.index(cell.group(1))].count("\n") + 1
    within = re.search(r"Cell In\[\d+\], line (\d+)", cell.group(2))
    if within is None:
        return first, error
    offset = int(within.group(1)) - 1
    statement = cell.group(1).splitlines()[offset].strip()
    return first + offset, f"{statement} raised {error}"
