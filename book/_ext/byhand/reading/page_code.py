"""The code of a page: its cells, and the expressions in its text."""

import re
from dataclasses import dataclass

from nbformat import NotebookNode

# Expressions are in ``{eval}``, in the mark of a quiz option, in the options of ``{pytorch}``, in
# the answer of ``{asked}``, and in ``{holds}``.
EXPRESSION = re.compile(
    r"(?<!\\)\{eval\}(?P<eval>`+)(?P<value>.+?)(?<!`)(?P=eval)(?!`)"
    r"|^\s*[-*+] \[[x ] ?(?P<mark>`+)(?P<claim>.+?)(?<!`)(?P=mark)(?!`)\]"
    r"|^:(?:given|prints): (?P<arrays>[^\n]+)$"
    r"|^:answer: (?P<answer>[^\n]+)$"
    r"|\{holds\}(?P<holds>`+)(?P<words>.+?)(?<!`)(?P=holds)(?!`)",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Step:
    """One cell or expression of a page."""

    kind: str  # ``cell`` or ``expression``
    index: int  # of the notebook's cell: the cell itself, or the text with the expression
    line: int  # the line of the page, counted from 1, at which the content of this cell begins
    source: str

    @property
    def without_line(self) -> tuple[str, int, str]:
        """The kind, index and source; no result depends on the line."""
        return self.kind, self.index, self.source


def steps_of(notebook: NotebookNode, text: str) -> list[Step]:
    """Return a page's cells and expressions in order.

    An expression that occurs twice between two cells is one step. The notebook is the page as
    MyST-NB reads it, with the lines of its cells.
    """
    found: dict[Step, None] = {}
    begins = [0, *(newline.end() for newline in re.finditer("\n", text))]
    lines = notebook.metadata["source_map"]
    for index, (cell, line) in enumerate(zip(notebook.cells, lines, strict=True)):
        text_of_cell = cell.source if cell.cell_type == "markdown" else _caption(cell)
        if cell.cell_type == "code" and cell.source.strip():
            place = text.find(cell.source, begins[line])  # below the cell's header, if it has one
            number = text.count("\n", 0, place) + 1 if place >= 0 else line + 1
            found[Step("cell", index, number, cell.source)] = None
        for expression in EXPRESSION.finditer(text_of_cell):
            source = _source(expression)
            # MyST-NB counts lines from 0, and begins a text one line before its first line.
            number = line + (2 if cell.cell_type == "markdown" else 1)
            found[Step("expression", index, number, one_line(source))] = None
    return list(found)


def _source(found: re.Match[str]) -> str:
    """Return the expression of a match in the text."""
    if found["claim"]:
        return f"bool({found['claim']})"
    if found["answer"]:
        return answer_expression(found["answer"])
    if found["words"]:
        return split_holds(found["words"])[1]
    return found["value"] or numbers_expression(found["arrays"])


def _caption(cell: NotebookNode) -> str:
    """Return the caption of a cell's output, which may contain expressions."""
    return str(cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", ""))


def numbers_expression(arrays: str) -> str:
    """Return an expression that gives the numbers of some arrays as text.

    Examples
    --------
    >>> numbers_expression("x, y")
    'np.hstack([*map(np.ravel, (x, y,))]).astype(float).astype(str).tolist()'
    """
    return f"np.hstack([*map(np.ravel, ({arrays.strip()},))]).astype(float).astype(str).tolist()"


def split_holds(text: str) -> tuple[str, str]:
    """Return the words of a ``{holds}``, and the expression of its comparison and its value.

    Examples
    --------
    >>> split_holds("more than half | share > 1 / 2 | percent(share)")
    ('more than half', '[bool(share > 1 / 2), percent(share)]')
    """
    words, _, rest = text.partition(" | ")
    condition, _, value = rest.partition(" | ")  # without a condition, bool() is false
    return words.strip(), f"[bool({condition.strip()}), {value.strip() or repr('')}]"


def answer_expression(answer: str) -> str:
    """Return the expression that gives the answer of an exercise."""
    return f"float({answer.strip()})"


def one_line(expression: str) -> str:
    r"""Return an expression in one line, without surrounding space.

    Examples
    --------
    >>> one_line("shown(\nx) ")
    'shown( x)'
    """
    return re.sub(r"\s*\n\s*", " ", expression).strip()
