"""Tables of numbers as HTML: single tables, or blocks whose parts are side by side where they fit.

The HTML states the width that the parts need, and the style sheet provides the available width.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from docutils import nodes

from byhand.tables.element import Part, column_lengths, numbers, repeats
from byhand.tables.marks import as_html, without_marks
from mha.views.colours import head_property

if TYPE_CHECKING:
    from sphinx.writers.html5 import HTML5Translator

MIN_TEXT_SIZE = 0.8  # rem: the smallest text of a block whose parts are side by side
WIDTH_STEP, MIN_WIDTH = 2, 16  # rem: the widths that the style sheet knows
TEXT_WIDTH = 42  # rem: a block that wants more at the size of the page's small text is a wide one
LINK = "Link to this table"
CHARACTER, PADDING, GAP = 0.52, 0.64, 1.2  # of a table's text, in its own size
HEADING = 0.56  # a character of the heading above a part's columns, which is heavier


def visit(self: HTML5Translator, node: numbers) -> None:
    """Write a table or a block."""
    if "columns" in node:
        _write_block(self, node)
    else:
        _write_table(self, node)
    raise nodes.SkipNode


def _write_table(self: HTML5Translator, node: numbers) -> None:
    """Write a table with its caption inside."""
    (part,) = node["parts"]
    shell = nodes.Element(ids=node["ids"], classes=[*part.classes, "table"])
    self.body.append('<div class="pst-scrollable-table-container">')
    start = self.starttag(shell, "table", "").removesuffix(">") + stage_attribute(part)
    self.body.append(start + "><caption>")
    _write_caption(self, node)
    self.add_permalink_ref(node, LINK)
    self.body.append("</caption>\n" + table_html(part) + "</table>\n</div>\n")


def _write_block(self: HTML5Translator, node: numbers) -> None:
    """Write a block of tables as a figure."""
    ems = max(map(width, node.in_rows()))
    wide = ["full-width"] * (ems > TEXT_WIDTH)  # the theme's name: its script knows it
    shell = nodes.Element(ids=node["ids"][:1], classes=["stage-block", *wide])
    self.body.append(self.starttag(shell, "figure") + "<figcaption><p>")
    _write_caption(self, node)
    self.body.append(f"</p>\n</figcaption>\n{_row_tag(node, ems)}")
    for row in node.in_rows():
        for i, part in enumerate(row):
            self.body.append(_part_html(part, node, is_repeated=repeats(row, i)))
    self.body.append("</div>\n</figure>\n")


def _write_caption(self: HTML5Translator, node: numbers) -> None:
    """Write the number and the text of a caption."""
    self.add_fignumber(node)
    self.body.append('<span class="caption-text">')
    for child in node[0].children:
        child.walkabout(self)
    self.body.append("</span>")


def _row_tag(block: numbers, ems: float) -> str:
    """Return the opening tag of a row of parts, with the width that they need."""
    classes = f"stage-parts fits-{width_class(ems)}"
    style = f"--block-ems: {ems:.1f}; --columns: {block['columns']}"
    if pair := pair_width(block):
        classes += f" pairs-{width_class(pair)}" + " of-3" * (block["columns"] == 3)
        style += f"; --pair-ems: {pair:.1f}"
    return f'<div class="{classes}" style="{style}">\n'


def width_class(ems: float) -> int:
    """Return the smallest width in rem with a CSS class that provides `ems`.

    Examples
    --------
    >>> width_class(10), width_class(50.1)
    (16, 42)
    """
    return max(MIN_WIDTH, WIDTH_STEP * math.ceil(ems * MIN_TEXT_SIZE / WIDTH_STEP))


def _part_html(part: Part, block: numbers, *, is_repeated: bool) -> str:
    """Return the HTML of a part, in the colour of its head."""
    classes = "stage-part" + " repeats" * is_repeated + " has-sums" * bool(part.sums)
    anchor = nodes.make_id(part.name) if part.name else ""
    own = f' id="{anchor}"' if anchor and anchor != block["ids"][0] else ""
    style = f"--ems: {width([part]):.1f}"
    if part.head is not None:
        style += f"; --head: var({head_property(part.head)})"
    title = part.title if len(block["parts"]) > 1 else ""
    known = " ".join([*part.classes, "table"])
    return (
        f'<div class="{classes}"{own} style="{style}">\n'
        '<div class="pst-scrollable-table-container">'
        f'<table class="{known}"{stage_attribute(part)}>\n'
        f"{table_html(part, title)}</table>\n</div>\n</div>\n"
    )


def width(row: Sequence[Part]) -> float:
    """Return the width of parts side by side, in ems."""
    total = GAP * (len(row) - 1)
    for i, part in enumerate(row):
        labels, *others = (n * CHARACTER + PADDING for n in column_lengths(part))
        total += max(sum(others), len(without_marks(part.title)) * HEADING + PADDING)
        total += 0 if repeats(list(row), i) else labels
    return total


def pair_width(block: numbers) -> float | None:
    """Return the width of two parts of a row of three, or None if no row has three.

    Rows of three break into two and one each, so that no part joins another row's pair.
    """
    rows = list(block.in_rows())
    one_row = block["columns"] == len(block["parts"]) > 2
    if not (one_row or block["columns"] == 3):
        return None
    if not all(repeats(row, i) for row in rows for i in range(1, len(row))):
        return None
    return max(width(row[i : i + 2]) for row in rows for i in range(0, len(row), 2))


# ---- A table's inside ----


def stage_attribute(part: Part) -> str:
    """Return the attribute with the run and stage of a table whose numbers are all of one stage."""
    return f' data-at="{escape(part.at)}"' * bool(part.at)


def table_html(part: Part, title: str = "") -> str:
    """Return the header and the body of a table.

    A title stands above all columns but the first, whose own title is beside both lines.

    Examples
    --------
    >>> print(table_html(Part([], ["Token", "z"], [["*a*", "1"]])))
    <thead>
    <tr><th class="head stub">Token</th><th class="head">z</th></tr>
    </thead>
    <tbody>
    <tr><th class="stub"><em>a</em></th><td>1</td></tr>
    </tbody>
    <BLANKLINE>
    """
    corner, *columns = map(as_html, part.header)
    names = "".join(f'<th class="head">{name}</th>' for name in columns)
    head = f'<tr><th class="head stub">{corner}</th>{names}</tr>\n'
    if title:
        over = f' colspan="{len(columns)}"' * (len(columns) > 1)
        names = names.replace('class="head"', 'class="head stub"', 1)
        head = (
            f'<tr><th class="head stub" rowspan="2">{corner}</th>'
            f'<th class="head group"{over}>{as_html(title)}</th></tr>\n<tr>{names}</tr>\n'
        )
    return f"<thead>\n{head}</thead>\n<tbody>\n{''.join(_rows(part))}</tbody>\n"


def _rows(part: Part) -> Iterator[str]:
    """Yield the rows of a table's body."""
    marked = {(i, j) for i, j in part.marked}
    printed = {(i, j): texts for i, j, texts in part.printed}
    for i, (label, *texts) in enumerate(part.rows):
        cells = []
        for j, text in enumerate(texts):
            cell = as_html(text)
            if (i, j) in marked:
                cell = f'<span class="max"><strong>{cell}</strong></span>'
            cell += "".join(map(_printed_number, printed.get((i, j), ())))
            if j < part.heated:
                cell = f'<span class="heat" style="--weight: {float(text):g}">{cell}</span>'
            cells.append(f"<td>{cell}</td>")
        yield f'<tr><th class="stub">{as_html(label)}</th>{"".join(cells)}</tr>\n'


def _printed_number(text: str) -> str:
    """Return the HTML of a source's printed number; a wrong one is marked as a slip."""
    slip = " slip" * text.startswith("≠")
    return f' <span class="printed{slip}">{as_html(text)}</span>'
