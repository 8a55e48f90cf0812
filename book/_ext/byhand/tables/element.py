"""The element that a table of numbers, or a block of them, is on a page.

Its caption is parsed as any other; its numbers stay the data that they came as. Every label, its
own or a part's, is cited by the element's number and leads to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from byhand.press.tables import tint
from byhand.tables.marks import bare


@dataclass(frozen=True)
class Part:
    """One table, as `mha.views.table.Table.as_part` hands it over; texts may hold marks."""

    classes: list[str]  # what the style sheets know it by
    header: list[str]
    rows: list[list[str]]  # each begins with its label
    # the largest cells of their rows, labels not counted
    marked: list[list[int]] = field(default_factory=list)
    # what a source prints for a cell
    beside: list[tuple[int, int, list[str]]] = field(default_factory=list)
    title: str = ""  # stands above the columns of a block's part
    name: str | None = None  # the label of a block's part
    head: int | None = None  # whose colour it has, counted from 0
    heat: bool = False  # whether its numbers tint their cells
    sums: int = 0  # how many columns at the end are sums, which tint nothing
    at: str = ""  # whose numbers the cells are: an example's, of a stage and a head

    @property
    def heated(self) -> int:
        """How many columns are weights, which tint their cells; labels are not counted."""
        return len(self.header) - 1 - self.sums if self.heat else 0

    @property
    def labels(self) -> list[str]:
        """The row labels, below the title of their column."""
        return [bare(self.header[0]), *(bare(row[0]) for row in self.rows)]


class numbers(nodes.General, nodes.Element):  # noqa: N801 - as docutils names its nodes
    """A caption, and as attributes the `parts` and how many of them stand in a row, `columns`.

    A single table has no `columns`.
    """

    def in_rows(self) -> Iterator[list[Part]]:
        """Yield the parts that stand beside each other on a wide screen."""
        parts, columns = self["parts"], self["columns"]
        for i in range(0, len(parts), columns):
            yield parts[i : i + columns]


def repeats(row: list[Part], i: int) -> bool:
    """Tell whether a part has the row labels of the part before it in its row."""
    return i > 0 and row[i - 1].labels == row[i].labels


@dataclass(frozen=True)
class Cell:
    """A cell of a table that is set: its text with marks, and how it looks."""

    text: str
    bold: bool = False
    fill: str = ""
    columns: int = 1


def joined_rows(parts: Sequence[Part]) -> Iterator[list[Cell]]:
    """Yield the rows of one table that is made of several, the row labels once.

    Examples
    --------
    >>> part = Part([], ["Token", "z"], [["a", "0.25"]], heat=True)
    >>> [[(cell.text, cell.fill) for cell in row] for row in joined_rows([part, part])]
    [[('a', ''), ('0.25', '#e2eef5'), ('0.25', '#e2eef5')]]
    """
    for i, (label, *_) in enumerate(parts[0].rows):
        yield [Cell(label), *(cell for part in parts for cell in _cells(part, i))]


def _cells(part: Part, i: int) -> Iterator[Cell]:
    for j, text in enumerate(part.rows[i][1:]):
        fill = tint(float(text), part.head or 0) if j < part.heated else ""
        yield Cell(text, bold=[i, j] in part.marked, fill=fill)


class Numbers(Directive):
    """``{numbers}``: a caption, and a line of JSON for each table."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = {  # noqa: RUF012 (docutils declares it so)
        "name": directives.unchanged,
        "columns": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        """Return the element, with the labels that lead to it."""
        parts = [Part(**json.loads(line)) for line in self.content]
        element = numbers(parts=parts)
        if "columns" in self.options:
            element["columns"] = self.options["columns"]
        element.source, element.line = self.state_machine.get_source_and_line(self.lineno)
        texts, messages = self.state.inline_text(self.arguments[0], self.lineno)
        element += nodes.caption(self.arguments[0], "", *texts)
        names = [self.options.get("name"), *(part.name for part in parts)]
        for name in dict.fromkeys(name for name in names if name):
            element["names"].append(nodes.fully_normalize_name(name))
        if element["names"]:
            self.state.document.note_explicit_target(element, element)
        return [element, *messages]
