"""Keep code out of the reading path: it folds away under its result, and in print it is left out.

Open stays the code of a cell tagged ``teaches``, up to its first assertion: nothing that checks
stands in a reader's way. Neighbouring cells share a fold where only one of them shows a result; a
row of cells without any becomes one small fold in their place. A fold is a ``<details>`` of the
page, so it opens without a script; `book/_static/code.js` adds the switch that opens all.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator

from byhand.document import Document

TEACHES = "tag_teaches"  # the class that MyST-NB gives to cells with the tag


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.add_node(code_fold, html=(visit_code_fold, depart_code_fold))
    app.add_post_transform(FoldCode)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class code_fold(nodes.General, nodes.Element):  # noqa: N801 - as docutils names its nodes
    """The code of one or several cells, folded away."""


class FoldCode(SphinxPostTransform):
    """Fold code on the screen and leave it out on paper, after MyST-NB has hidden what tags ask."""

    default_priority = 250

    def run(self, **kwargs: object) -> None:
        """Change the document in place."""
        is_screen = self.app.builder.format == "html" and Document.load().edition == "print"
        for row in list(rows_of_cells(self.document)):
            if is_screen:
                fold(row)
            else:
                leave_out(row)


# ---- Cells ----


@dataclass
class Cell:
    """A code cell of a page.

    Parameters
    ----------
    node : container
        The whole cell.
    code : container or None
        What holds its code; None where a tag has removed it.
    result : Element or None
        What holds its output, if it has any: a fold of its own for a cell tagged ``hide-output``.
    """

    node: nodes.container
    code: nodes.container | None
    result: nodes.Element | None

    @property
    def teaches(self) -> bool:
        """Whether its code stays open."""
        return TEACHES in self.node["classes"]


def rows_of_cells(document: nodes.document) -> Iterator[list[Cell]]:
    """Yield the cells of a page, together where one stands directly below the other."""
    row: list[Cell] = []
    for node in document.findall(nodes.container):
        if node.get("nb_element") != "cell_code":
            continue
        if row and not is_directly_below(node, row[-1].node):
            yield row
            row = []
        row.append(read(node))
    if row:
        yield row


def is_directly_below(node: nodes.Element, above: nodes.Element) -> bool:
    """Tell whether nothing that a reader sees stands between two nodes."""
    if node.parent is not above.parent:
        return False
    first, last = node.parent.index(above) + 1, node.parent.index(node)
    return all(isinstance(other, nodes.comment) for other in node.parent[first:last])


def read(node: nodes.container) -> Cell:
    """Return a cell with its code unwrapped from MyST-NB's own fold."""
    cell = Cell(node, None, None)
    for child in list(node.children):
        wrapped = child[0] if isinstance(child, HideCodeCellNode) else child
        if wrapped.get("nb_element") == "cell_code_source":
            child.replace_self(wrapped)
            cell.code = wrapped
        elif wrapped.get("nb_element") == "cell_code_output":
            cell.result = child
    return cell


# ---- On the screen ----


def fold(row: list[Cell]) -> None:
    """Fold the code of neighbouring cells, each under the result that it leads to."""
    waiting: list[Cell] = []  # they have no result; the next one's fold takes them
    last: code_fold | None = None
    for cell in row:
        if cell.code is None or cell.teaches:
            put(waiting, last)
            waiting, last = [], None
            rest = cell.code and split_at_first_assertion(cell.code)
            if rest:
                last = code_fold("", rest)
                cell.node += last
        elif cell.result is None:
            waiting.append(cell)
        else:
            last = code_fold("", *[take(other) for other in [*waiting, cell]])
            place = cell.result if isinstance(cell.result, HideCodeCellNode) else cell.node
            place += last
            waiting = []
    put(waiting, last)


def put(cells: list[Cell], last: code_fold | None) -> None:
    """Fold cells that no result follows: with the result before them, or in their own place."""
    if not cells:
        return
    if last is None:
        first = cells[0].node
        last = code_fold()
        first.parent.insert(first.parent.index(first), nodes.container("", last, classes=["cell"]))
    last += [take(cell) for cell in cells]


def take(cell: Cell) -> nodes.container:
    """Remove the code from a cell and return it; a cell that has nothing else goes too."""
    assert cell.code is not None
    cell.node.remove(cell.code)
    if cell.result is None:
        cell.node.parent.remove(cell.node)
    return cell.code


def split_at_first_assertion(code: nodes.container) -> nodes.container | None:
    """Cut code off before its first assertion, and return the rest, if there is any."""
    (block,) = code.findall(nodes.literal_block)
    lines = block.astext().splitlines(keepends=True)
    cut = line_of_first_assertion(block.astext())
    if cut is None:
        return None
    rest: nodes.container = code.deepcopy()
    (block_of_rest,) = rest.findall(nodes.literal_block)
    set_text(block_of_rest, "".join(lines[cut - 1 :]))
    set_text(block, "".join(lines[: cut - 1]).rstrip())
    return rest


def line_of_first_assertion(code: str) -> int | None:
    r"""Return the line, counted from 1, of the first statement that is or holds an assertion.

    Examples
    --------
    >>> line_of_first_assertion("x = 1\nfor y in (x,):\n    assert y")
    2
    """
    for statement in ast.parse(code).body:
        if any(isinstance(node, ast.Assert) for node in ast.walk(statement)):
            return statement.lineno
    return None


def set_text(block: nodes.literal_block, text: str) -> None:
    """Give a block of code another text."""
    block.rawsource = text
    block.children = []
    block += nodes.Text(text)


def visit_code_fold(self: HTML5Translator, node: code_fold) -> None:
    """Begin a fold: its summary says what is inside."""
    content = contents("\n".join(block.astext() for block in node.findall(nodes.literal_block)))
    more = f'<span class="code-fold-content">: {content}</span>' if content else ""
    self.body.append(f'<details class="code-fold"><summary>In code{more}</summary>\n')


def depart_code_fold(self: HTML5Translator, node: code_fold) -> None:
    """End a fold."""
    self.body.append("</details>\n")


def contents(code: str) -> str:
    r"""Return in a few words what code holds besides the way to its result.

    Examples
    --------
    >>> contents("from mha import softmax\nassert True\nassert softmax")
    'set-up, 2 checks'
    >>> contents("1 + 1")
    ''
    """
    try:
        parsed = ast.parse(code)
    except SyntaxError:  # a command of the notebook's, such as %time
        return ""
    words = ["set-up"] if isinstance(parsed.body[0], ast.Import | ast.ImportFrom) else []
    checks = sum(isinstance(node, ast.Assert) for node in ast.walk(parsed))
    if checks:
        words.append("1 check" if checks == 1 else f"{checks} checks")
    return ", ".join(words)


# ---- In print ----


def leave_out(row: list[Cell]) -> None:
    """Remove code that does not teach; all results stay."""
    for cell in row:
        if cell.code is None:
            continue
        if cell.teaches:
            split_at_first_assertion(cell.code)
        else:
            take(cell)
