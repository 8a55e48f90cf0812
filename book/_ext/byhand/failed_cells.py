"""Say where a cell failed: the page, the line, the failing statement and the error.

MyST-NB's own warning names the page alone; `_config.yml` suppresses it in favour of this one. What
is wrong with a cell that runs to its end, or never does, `byhand.kept_results` has noted.
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
    app.connect("doctree-read", report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def report(app: Sphinx, doctree: nodes.document) -> None:
    """Warn if the page's execution ended in an error, or gave what a page may not have."""
    data = NbMetadataCollector.get_exec_data(app.env, app.env.docname)
    if not data:
        return
    page = app.env.doc2path(app.env.docname)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    found = [(line_of(text, cell), message) for cell, message in data.get("faults", ())]
    if not found and not data["succeeded"]:
        found = [locate(text, data["traceback"] or data["error"])]
    for line, cause in found:
        logger.warning(
            "this cell failed: %s", cause, location=(app.env.docname, line), type="failed_cell"
        )


def line_of(page: str, cell: str) -> int | None:
    r"""Return the line of a page where a cell's code begins.

    Examples
    --------
    >>> line_of("# Page\n```{code-cell}\nx = 1\n```", "x = 1")
    3
    """
    return page[: page.index(cell)].count("\n") + 1 if cell in page else None


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
    first = line_of(page, cell.group(1)) or 1
    within = re.search(r"Cell In\[\d+\], line (\d+)", cell.group(2))
    if within is None:
        return first, error
    offset = int(within.group(1)) - 1
    statement = cell.group(1).splitlines()[offset].strip()
    return first + offset, f"{statement} raised {error}"
