"""The node of a table of numbers, or of a block of several tables.

The caption is parsed as any caption; the numbers stay data. Every label, of the block or of a part,
refers to the number of the node.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from docutils import nodes
from docutils.parsers.rst import Directive, directives

from byhand.press.drawings import tint
from byhand.press.markup import Cell
from byhand.tables.marks import without_marks


@dataclass(frozen=True)
class Part:
    """One table, as `mha.views.table.Table.as_part` returns it; texts may contain marks."""

    classes: list[str]  # CSS classes
    header: list[str]
    rows: list[list[str]]  # each begins with its label
    # the largest cells of their rows, labels not counted
    marked: list[list[int]] = field(default_factory=list)
    # row, column and the numbers that a source prints for this cell, which are below its number
    printed: list[tuple[int, int, list[str]]] = field(default_factory=list)
    title: str = ""  # above the columns of a part of a block
    name: str | None = None  # the label of a block's part
    head: int | None = None  # whose colour it has, counted from 0
    heat: bool = False  # whether its numbers tint their cells
    sums: int = 0  # how many columns at the end are sums, which tint nothing
    at: str = ""  # the run, stage and head of the numbers in the cells

    @property
    def heated(self) -> int:
        """The number of columns with weights, whose cells are tinted."""
        return len(self.header) - 1 - self.sums if self.heat else 0

    @property
    def labels(self) -> list[str]:
        """The row labels, after the title of their column."""
        return [without_marks(self.header[0]), *(without_marks(row[0]) for row in self.rows)]


class numbers(nodes.General, nodes.Element):  # noqa: N801 - as docutils names its nodes
    """A caption, the `parts`, and `columns`, the number of parts per row.

    A single table has no `columns`.
    """

    def in_rows(self) -> Iterator[list[Part]]:
        """Yield lists of the parts that are side by side on a wide screen."""
        parts, columns = self["parts"], self["columns"]
        for i in range(0, len(parts), columns):
            yield parts[i : i + columns]


def repeats(row: list[Part], i: int) -> bool:
    """Return whether a part has the same row labels as the part before it in its row."""
    return i > 0 and row[i - 1].labels == row[i].labels


def column_lengths(part: Part) -> list[int]:
    """Return the number of characters of each column's longest text.

    Examples
    --------
    >>> column_lengths(Part([], ["Query ← key", "z"], [["a", "0.25"], ["b", "1"]]))
    [5, 4]
    """
    rows = [part.header, *part.rows]
    first, *others = zip(*rows, strict=True)
    words = [
        *without_marks(first[0]).split(),
        *map(without_marks, first[1:]),
    ]  # the corner's title wraps
    return [
        max(map(len, words)),
        *(max(len(without_marks(text)) for text in column) for column in others),
    ]


def join_parts(
    parts: Sequence[Part], *, titled: bool = False
) -> tuple[list[list[Cell]], list[list[Cell]]]:
    """Return header and body of one table that joins several parts, with one column of row labels.

    The cells contain texts with marks, which paper and PowerPoint render differently.
    """
    corner = parts[0].header[0]
    names = [Cell(name) for part in parts for name in part.header[1:]]
    head = [[Cell(corner), *names]]
    if titled:
        titles = [Cell(part.title, columns=len(part.header) - 1) for part in parts]
        head = [[Cell(corner, rows=2), *titles], names]
    body = [
        [Cell(label), *(cell for part in parts for cell in _cells(part, i))]
        for i, (label, *_) in enumerate(parts[0].rows)
    ]
    return head, body


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
        """Return the node with its labels."""
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
