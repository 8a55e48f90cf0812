"""Publish each page that computes as a notebook, beside the page, with a link at the page's foot.

A notebook is the page's source, cell by cell, without results: to be run, not to be read.
"""

from pathlib import Path
from typing import Any

import nbformat
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
from nbformat import NotebookNode, from_dict
from sphinx.application import Sphinx

from byhand.document import Document

BOOK = Document().title
ABOUT = """\
This notebook is the source of the page “{title}” of *{book}*. Its cells need the book's package:
`pip install .` in the book's folder installs `mha`. What stands between the cells is written for
the book; signs such as `{{eval}}` have no meaning here."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("html-page-context", name_the_notebook)
    app.connect("build-finished", write_notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def name_the_notebook(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Tell the template of the page's foot what the notebook is called, if there is one."""
    if pagename in app.env.all_docs and computes(Path(app.env.doc2path(pagename))):
        context["page_notebook"] = f"{pagename.rpartition('/')[2]}.ipynb"


def computes(source: Path) -> bool:
    """Tell whether a page has cells."""
    text = source.read_text(encoding="utf-8")
    return is_myst_markdown_notebook(text) and "{code-cell}" in text


def write_notebooks(app: Sphinx, exception: Exception | None) -> None:
    """Write a notebook beside each page that has cells."""
    if exception or app.builder.format != "html" or Document.load().edition != "print":
        return
    for name in app.env.all_docs:
        source = Path(app.env.doc2path(name))
        if computes(source):
            title = app.env.titles[name].astext()
            made = notebook(source.read_text(encoding="utf-8"), title)
            target = Path(app.outdir) / f"{name}.ipynb"
            target.write_text(nbformat.writes(made) + "\n", encoding="utf-8")  # type: ignore[no-untyped-call]


def notebook(source: str, title: str) -> NotebookNode:
    """Return a page's source as a notebook whose code cells stand alone.

    Parameters
    ----------
    source : str
        A page in MyST's Markdown.
    title : str
        The page's title.
    """
    made = read_myst_markdown_notebook(source)
    about = nbformat.v4.new_markdown_cell(ABOUT.format(title=title, book=BOOK))  # type: ignore[no-untyped-call]
    made.cells.insert(0, about)
    for number, cell in enumerate(made.cells):
        cell["id"] = f"cell-{number}"  # the same at each build
    made.nbformat, made.nbformat_minor = 4, 5
    made.metadata = from_dict({"kernelspec": made.metadata["kernelspec"]})  # type: ignore[no-untyped-call]
    return made
