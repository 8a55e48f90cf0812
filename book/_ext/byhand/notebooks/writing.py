"""Writing of the notebooks beside the pages that compute, and of the links to them.

A notebook has the page's cells with their results, and its text as plain Markdown. It runs where
`mha` is installed.
"""

import ast
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from docutils import nodes
from myst_nb.core.read import read_myst_markdown_notebook
from nbformat import NotebookNode, from_dict
from pybtex.database import parse_file
from sphinx.application import Sphinx
from sphinx.util.nodes import split_explicit_title

from byhand.bibliography import authors_and_year
from byhand.digests import ROOT
from byhand.document import BOOK
from byhand.notebooks.text import plain
from byhand.reading.page_code import EXPRESSION, one_line
from byhand.reading.pages import has_cells
from byhand.reading.results import Results, load_last
from mha.views.figures import Figure
from mha.widgets.own import WHEEL

ABOUT = """\
*This notebook is the page “{title}” of {book}. Its cells need the book's package:
{installation}.
An explorer comes to life when its cell is run; the answers to questions are on the page alone.*"""
BY_HAND = '`pip install ".[plots]"` in the book\'s folder installs it, with NumPy and what plots'
BY_CELL = "the next cell installs it, with NumPy and what plots"
FORMS = ("text/html", "image/svg+xml", "text/plain")  # others are for the book
SOLUTION = re.compile(r"^((`{3,})\{solution(?:-start|-end)?\}.*?^\2$)", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^(`{3,})[^`\n]*\n.*?^\1$|(?:^(?!```)[^\n]+\n?)+", re.MULTILINE | re.DOTALL)


def setup(app: Sphinx) -> None:
    """Connect to Sphinx."""
    app.connect("html-page-context", write_notebook)


def write_notebook(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Write the notebook of a page with cells, and give its name to the page's template."""
    source = Path(app.env.doc2path(pagename))
    target = Path(app.outdir) / f"{pagename}.ipynb"
    if doctree is None or not has_cells(source):
        target.unlink(missing_ok=True)  # of a page that had cells
        return
    texts = RoleTexts(doctree, load_last(source))
    title = app.env.titles[pagename].astext()
    made = notebook(source, title, texts, package_address(app.config))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(nbformat.writes(made) + "\n", encoding="utf-8")  # type: ignore[no-untyped-call]
    context["page_notebook"] = target.name


def package_address(config: Any) -> str:
    """Return where pip finds the package: on the published site, in the repository, or nowhere."""
    if config.html_baseurl:
        return f"{config.html_baseurl}downloads/{WHEEL}"
    repository = config.html_theme_options.get("repository_url")
    return f"git+{repository}" if repository else ""


class RoleTexts:
    """The texts of a page's roles: references from the built page, values from the results."""

    def __init__(self, page: nodes.document, results: Results | None) -> None:
        steps = zip(results.steps, results.outputs, strict=True) if results else ()
        self.cells = {step.index: outputs for step, outputs in steps if step.kind == "cell"}
        values = results.expression_outputs() if results else {}
        self.values = {key: _value(outputs) for key, outputs in values.items()}
        self.links: dict[str, str] = {}
        for link in page.findall(nodes.reference):
            if link.get("internal"):
                address = link.get("refid") or link["refuri"]
                target = address.rpartition("#")[2] or address
                self.links.setdefault(_folded(target), " ".join(link.astext().split()))

    def with_values(self, text: str, index: int) -> str:
        """Return the text of a notebook's cell with the values of its expressions."""
        return EXPRESSION.sub(
            lambda found: self.values.get((index, one_line(found["value"] or "")), found[0]), text
        )

    def text_of_role(self, role: str, text: str) -> str:
        """Return the text of a role on the page."""
        if role in ("cite:t", "cite:p", "cite"):
            both = [cited_works()[key.strip()] for key in text.split(",")]
            if role == "cite:t":
                return " and ".join(f"{authors} ({year})" for authors, year in both)
            return "(" + "; ".join(f"{authors}, {year}" for authors, year in both) + ")"
        if role == "claim":  # a mark of the page
            return ""
        if role == "holds":
            return text.partition(" | ")[0]
        if role == "on-sheet":
            return text.partition(" ")[0]
        if role in ("ref", "numref", "eq", "doc", "py:func", "func"):
            has_title, title, label = split_explicit_title(text)
            return title if has_title else self.links.get(_folded(label)) or label
        return text


@cache
def cited_works() -> dict[str, tuple[str, str]]:
    """Return authors and year of each bibliography entry, by its key.

    Examples
    --------
    >>> cited_works()["vaswani2017"]
    ('Vaswani et al.', '2017')
    """
    works = parse_file(str(ROOT / "book" / "references.bib")).entries
    return {key: authors_and_year(work) for key, work in works.items()}


def _folded(label: str) -> str:
    """Return a label in the form of ids: with hyphens, an equation's with its kind."""
    return re.sub(r"[^a-z0-9]+", "-", label.lower().removeprefix("equation-")).strip("-")


def _value(outputs: list[dict[str, Any]]) -> str:
    """Return the text of an expression's value."""
    if not outputs:
        return ""
    data = outputs[0].get("data", {})
    if "text/markdown" in data:
        return re.sub(r"\{(su[bp])\}`([^`]*)`", r"<\1>\2</\1>", data["text/markdown"]).strip()
    text = data.get("text/plain", "")
    if re.match(r"""^(['"]).*\1$""", text, re.DOTALL):
        return str(ast.literal_eval(text))
    return str(text)


def notebook(source: Path, title: str, words: RoleTexts, package: str = "") -> NotebookNode:
    """Return a page as a notebook with results, whose code runs without the book.

    If there is an address of the package, the first cell with code installs it from there.
    """
    made = read_myst_markdown_notebook(source.read_text(encoding="utf-8"))
    count = 0
    for index, cell in enumerate(made.cells):
        if cell.cell_type == "markdown":
            cell["source"] = words.with_values(cell.source, index)
        elif index in words.cells:
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = [_clean(output) for output in words.cells[index]]
    made.cells = _solutions_last(made.cells)
    _fold_revealed_blocks(made.cells)
    for cell in made.cells:
        if cell.cell_type == "markdown":
            cell["source"] = plain(cell.source, words.text_of_role, source.parent)
            cell["metadata"] = from_dict({})  # type: ignore[no-untyped-call]
    made.cells = [cell for cell in made.cells if cell.source.strip()]
    introduction = ABOUT.format(
        title=title, book=BOOK, installation=BY_CELL if package else BY_HAND
    )
    first = [nbformat.v4.new_markdown_cell(introduction)]  # type: ignore[no-untyped-call]
    if package:
        installs = f'%pip install -q "mha[plots] @ {package}"'
        first.append(nbformat.v4.new_code_cell(installs))  # type: ignore[no-untyped-call]
    made.cells[:0] = first
    for number, cell in enumerate(made.cells):
        cell["id"] = f"cell-{number}"  # the same at each build
    made.nbformat, made.nbformat_minor = 4, 5
    made.metadata = from_dict({"kernelspec": made.metadata["kernelspec"]})  # type: ignore[no-untyped-call]
    return made


def _solutions_last(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Return the cells with all solutions moved to the end."""
    text: list[NotebookNode] = []
    solutions: list[NotebookNode] = []
    inside = False
    for cell in cells:
        if cell.cell_type != "markdown":
            (solutions if inside else text).append(cell)
            continue
        for piece in SOLUTION.sub("\0\\1\0", cell.source).split("\0"):
            inside = inside or piece.startswith(("```{solution", "````{solution"))
            if piece.strip():
                made = nbformat.v4.new_markdown_cell(piece)  # type: ignore[no-untyped-call]
                (solutions if inside else text).append(made)
            if piece.startswith(("```{solution}", "````{solution}", "```{solution-end")):
                inside = False
    if solutions:
        text.append(nbformat.v4.new_markdown_cell("## Solutions"))  # type: ignore[no-untyped-call]
    return text + solutions


def _fold_revealed_blocks(cells: list[NotebookNode]) -> None:
    """Fold the blocks and cells that a prediction hides."""
    num_hidden = 0  # the number of further blocks or cells that the last prediction hides
    for cell in cells:
        if cell.cell_type != "markdown":
            num_hidden = max(0, num_hidden - 1)
            continue
        blocks = [match[0].strip("\n") for match in BLOCK.finditer(cell.source)]
        for place, block in enumerate(blocks):
            if num_hidden:
                blocks[place] = f"<details><summary>Answer</summary>\n\n{block}\n\n</details>"
                num_hidden -= 1
            if block.startswith("```{predict}"):
                num_hidden = int((re.search(r"^:reveals: (\d+)", block, re.MULTILINE) or "01")[1])
        cell["source"] = "\n\n".join(blocks)


def _clean(output: dict[str, Any]) -> NotebookNode:
    """Return an output in Jupyter's formats, without those that only the book uses."""
    output = json.loads(json.dumps(output))
    if "data" in output:
        forms = {kind: output["data"][kind] for kind in FORMS if kind in output["data"]}
        if "image/svg+xml" in forms and "text/html" not in forms:
            alt = output["metadata"]["image/svg+xml"]["alt"]
            forms["text/html"] = Figure(forms.pop("image/svg+xml"), alt)._repr_html_()
        output |= {"data": forms, "metadata": {}}
    return from_dict(output)  # type: ignore[no-untyped-call]
