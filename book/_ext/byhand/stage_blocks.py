"""Blocks: tables that share one caption and one number, side by side where they fit.

``{stage-block}`` is what `mha.views.blocks.Block` writes. Its body is a list-table a part; each
part's title becomes the head of a group of columns. The block is numbered as a table, and every
label, its own or a part's, is cited by that number and leads to the block. On paper the parts of a
row join into one table, and go below each other where the paper ends.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx.transforms.post_transforms import SphinxPostTransform

from mha.views.colours import head_property

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

CHARACTER, PADDING, GAP = 0.52, 0.64, 1.2  # of a table's text, in its own size
HEADING = 0.56  # a character of the heading above a part's columns, which is heavier
SMALLEST = 0.8  # rem: the smallest text of a block whose parts stand in a row
STEP, SMALLEST_STEP = 2, 16  # rem: the widths that the style sheet knows
TEXT_WIDTH = 42  # rem: a block that wants more at the size of the page's small text is a wide one
PAPER = 112  # characters of a printed line, about, in the smaller letters of a wide table
LONG = 26  # rows; a table of more may have to break between pages


class stage_block(nodes.General, nodes.Element):  # noqa: N801 (docutils' nodes are named so)
    """A caption and the parts; numbered as a table."""


class stage_part(nodes.General, nodes.Element):  # noqa: N801
    """One table of a block, with the head's colour."""


class heat(nodes.Inline, nodes.TextElement):  # noqa: N801
    """A number that tints its cell."""


def per_part(text: str) -> list[str]:
    """Return an option's words, one a part; the part has none where a hyphen stands."""
    return ["" if word == "-" else word for word in text.split()]


class StageBlock(Directive):
    """``{stage-block}``: list-tables under one caption."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = {  # noqa: RUF012 (docutils declares it so)
        "name": directives.unchanged,
        "labels": per_part,
        "heads": per_part,
        "heat": per_part,
        "sums": per_part,
        "columns": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        """Return the block, with the labels that lead to it."""
        block = stage_block(classes=["stage-block"])
        block.source, block.line = self.state_machine.get_source_and_line(self.lineno)
        texts, messages = self.state.inline_text(self.arguments[0], self.lineno)
        block += nodes.caption(self.arguments[0], "", *texts)
        holder = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, holder)
        tables = [child for child in holder.children if isinstance(child, nodes.table)]
        columns = self.options.get("columns", len(tables))
        for i, table in enumerate(tables):
            block += self._part(i, table, single=len(tables) == 1)
        mark_repeated_labels(block, columns)
        self._add_labels(block)
        return [block, *messages]

    def _option(self, name: str, i: int) -> str:
        words: list[str] = self.options.get(name, [])
        return words[i] if i < len(words) else ""

    def _part(self, i: int, table: nodes.table, *, single: bool) -> stage_part:
        part = stage_part(label=self._option("labels", i), sums=int(self._option("sums", i) or 0))
        if head := self._option("heads", i):
            part["head"] = int(head) - 1
        title = table.next_node(nodes.title)
        if title is not None:
            table.remove(title)
            if not single:
                group_head(table, title)
        if self._option("heat", i) == "1":
            add_heat(table, part["sums"], part.get("head", 0))
        part += table
        return part

    def _add_labels(self, block: stage_block) -> None:
        own = self.options.get("name")
        names = [own, *(part["label"] for part in block.findall(stage_part))]
        for name in dict.fromkeys(name for name in names if name):
            block["names"].append(nodes.fully_normalize_name(name))
        if block["names"]:
            self.state.document.note_explicit_target(block, block)
        for part in block.findall(stage_part):
            if part["label"] and nodes.make_id(part["label"]) != block["ids"][0]:
                part["anchor"] = nodes.make_id(part["label"])


def group_head(table: nodes.table, title: nodes.title) -> None:
    """Set a part's title above its columns; the corner's title stands beside both lines."""
    head = table.next_node(nodes.thead)
    if head is None:
        return
    (names,) = head.children
    corner, *columns = names.children
    names.remove(corner)
    corner["morerows"] = 1
    above = nodes.entry("", nodes.paragraph("", "", *title.children), classes=["group"])
    if len(columns) > 1:
        above["morecols"] = len(columns) - 1
    head.insert(0, nodes.row("", corner, above))


def add_heat(table: nodes.table, sums: int, head: int) -> None:
    """Wrap the numbers of a table's body, but for the sums at the end of each row."""
    for row in table.next_node(nodes.tbody).children:
        cells = row.children[1 : len(row.children) - sums]
        for cell in cells:
            weight, paragraph = float(own_text(cell)), cell[0]
            number = heat("", "", *paragraph.children, weight=weight, head=head)
            paragraph.clear()
            paragraph += number


def rows_of(table: nodes.table) -> list[list[nodes.entry]]:
    """Return the entries of a table's body, row by row."""
    return [list(row.children) for row in table.next_node(nodes.tbody).children]


def labels_of(part: stage_part) -> list[str]:
    """Return a part's row labels, below its corner's title."""
    corner = part.next_node(nodes.entry).astext()
    return [corner, *(row[0].astext() for row in rows_of(part.next_node(nodes.table)))]


def in_rows(parts: Sequence[stage_part], columns: int) -> Iterator[list[stage_part]]:
    """Yield the parts that stand beside each other on a wide screen."""
    for i in range(0, len(parts), columns):
        yield list(parts[i : i + columns])


def mark_repeated_labels(block: stage_block, columns: int) -> None:
    """Say which parts repeat the row labels of the part before, and how wide everything is."""
    parts = list(block.findall(stage_part))
    for row in in_rows(parts, columns):
        for before, part in zip([None, *row], row, strict=False):
            part["repeats"] = before is not None and labels_of(before) == labels_of(part)
            part["ems"] = width([part])
    block["columns"] = columns
    rows = list(in_rows(parts, columns))
    block["ems"] = max(map(width, rows))
    one_row = columns == len(parts) > 2
    if (one_row or columns == 3) and all(part["repeats"] for row in rows for part in row[1:]):
        # Rows of three become two and one each, so that no part stands in another row's pair.
        pairs = [pair for row in rows for pair in in_rows(row, 2)]
        block["pair_ems"] = max(map(width, pairs))


def width(row: Sequence[stage_part]) -> float:
    """Return how wide parts are beside each other, in the size of their letters."""
    total = 0.0
    for i, part in enumerate(row):
        table = part.next_node(nodes.table)
        labels, *others = (n * CHARACTER + PADDING for n in column_lengths(table))
        total += max(sum(others), heading_length(table) * HEADING + PADDING)
        total += 0 if i and part["repeats"] else labels
    return total + GAP * (len(row) - 1)


def heading_length(table: nodes.table) -> int:
    """Return the number of characters above all columns but the first, 0 where nothing stands."""
    head = table.next_node(nodes.thead)
    if head is None or len(head.children) < 2:
        return 0
    return max(len(own_text(entry)) for entry in head.children[0].children)


def column_lengths(table: nodes.table) -> list[int]:
    """Return the number of characters of each column's longest text, printed ones not counted."""
    head = table.next_node(nodes.thead)
    rows = rows_of(table)
    if head is not None:
        names = list(head.children[-1].children)
        first = head.next_node(nodes.entry)
        rows = [names if len(names) == len(rows[0]) else [first, *names], *rows]
    labels, *others = zip(*rows, strict=True)
    corner, *tokens = (own_text(entry) for entry in labels)
    words = [*corner.split(), *tokens]  # the corner's title wraps
    return [
        max(map(len, words)),
        *(max(len(own_text(entry)) for entry in column) for column in others),
    ]


def own_text(entry: nodes.entry) -> str:
    """Return a cell's text without what a source prints beside it."""
    return "".join(
        text.astext()
        for text in entry.findall(nodes.Text)
        if "printed" not in text.parent.get("classes", [])
    ).strip()


# ---- On a page ----


def visit_block_html(self: HTML5Translator, node: stage_block) -> None:
    """Open the figure."""
    wide = ["full-width"] * (node["ems"] > TEXT_WIDTH)  # the theme's name: its script knows it
    shell = nodes.Element(ids=node["ids"][:1], classes=["stage-block", *wide])
    self.body.append(self.starttag(shell, "figure") + "<figcaption>")


def depart_block_html(self: HTML5Translator, node: stage_block) -> None:
    """Close the parts and the figure."""
    self.body.append("</div>\n</figure>\n")


def visit_part_html(self: HTML5Translator, node: stage_part) -> None:
    """Open a part, in the colour of its head.

    The first part opens the row of parts: the style sheet is told how much room they want.
    """
    if isinstance(node.parent, stage_block) and node.parent.index(node) == 1:
        block = node.parent
        classes = f"stage-parts fits-{wanted(block['ems'])}"
        style = f"--block-ems: {block['ems']:.1f}; --columns: {block['columns']}"
        if "pair_ems" in block:
            classes += f" pairs-{wanted(block['pair_ems'])}" + " of-3" * (block["columns"] == 3)
            style += f"; --pair-ems: {block['pair_ems']:.1f}"
        self.body.append(f'</figcaption>\n<div class="{classes}" style="{style}">\n')
    shell = nodes.Element(classes=["stage-part"] + ["repeats"] * node["repeats"])
    shell["classes"] += ["has-sums"] * bool(node["sums"])
    if "anchor" in node:
        shell["ids"] = [node["anchor"]]
    style = f"--ems: {node['ems']:.1f}"
    if "head" in node:
        style += f"; --head: var({head_property(node['head'])})"
    self.body.append(self.starttag(shell, "div", style=style))


def wanted(ems: float) -> int:
    """Return the least width in rem, of those that the style sheet knows, that has room.

    Examples
    --------
    >>> wanted(10), wanted(50.1)
    (16, 42)
    """
    return max(SMALLEST_STEP, STEP * math.ceil(ems * SMALLEST / STEP))


def depart_part_html(self: HTML5Translator, node: stage_part) -> None:
    """Close a part."""
    self.body.append("</div>\n")


def visit_heat_html(self: HTML5Translator, node: heat) -> None:
    """Open a number that fills its cell."""
    self.body.append(f'<span class="heat" style="--weight: {node["weight"]:g}">')


def depart_heat_html(self: HTML5Translator, node: heat) -> None:
    """Close it."""
    self.body.append("</span>")


# ---- On paper ----


class JoinParts(SphinxPostTransform):
    """Outside HTML, join the parts into tables as wide as the paper."""

    default_priority = 390  # before the printed numbers are taken out, which count no room

    def run(self, **kwargs: Any) -> None:
        """Replace every block by tables; the first has the caption and the labels."""
        if self.app.builder.format == "html":
            return
        for block in list(self.document.findall(stage_block)):
            parts = list(block.findall(stage_part))
            title = nodes.title(block[0].rawsource, "", *block[0].children)
            if max(len(labels_of(part)) for part in parts) > LONG:
                printed = below_each_other(parts, title)
            else:
                rows = in_rows(parts, block["columns"])
                printed = [joined(group) for row in rows for group in groups_that_fit(row)]
            printed[0].insert(0, title)
            printed[0]["ids"], printed[0]["names"] = block["ids"], block["names"]
            block.replace_self(printed)


def below_each_other(parts: Sequence[stage_part], title: nodes.title) -> list[nodes.Element]:
    """Return the parts as tables that may break between pages, where a head may span no columns.

    The first part's title goes to the end of the caption, the others' stand above their tables.
    """
    printed: list[nodes.Element] = []
    for part in parts:
        table = part.next_node(nodes.table)
        head = table.next_node(nodes.thead)
        if len(head.children) > 1:
            first, names = head.children
            corner, above = first.children
            first.clear()
            head.remove(first)
            del corner["morerows"]
            names.insert(0, corner)
            texts = above[0].children
            if printed:
                printed.append(nodes.paragraph("", "", nodes.strong("", "", *texts)))
            else:
                title += [nodes.Text(", "), *texts]
        printed.append(table)
    return printed


def groups_that_fit(row: Sequence[stage_part]) -> list[list[stage_part]]:
    """Return the parts of a row in groups, each as wide as the paper allows."""
    groups: list[list[stage_part]] = []
    for part in row:
        if groups and part["repeats"] and characters([*groups[-1], part]) <= PAPER:
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups


def characters(group: Sequence[stage_part]) -> int:
    """Return about how many characters wide the parts are beside each other."""
    first, *others = (column_lengths(part.next_node(nodes.table)) for part in group)
    return sum(length + 2 for columns in [first, *(o[1:] for o in others)] for length in columns)


def joined(group: Sequence[stage_part]) -> nodes.table:
    """Return one table of several parts, the row labels once."""
    first, *others = (part.next_node(nodes.table) for part in group)
    for table in others:
        for kind in (nodes.thead, nodes.tbody):
            sections = (first.next_node(kind), table.next_node(kind))
            for i, (row, more) in enumerate(zip(*(s.children for s in sections), strict=True)):
                labelled = kind is nodes.tbody or i == 0
                row += more.children[1:] if labelled else more.children
        specs = list(table.findall(nodes.colspec))[1:]
        first.next_node(nodes.tgroup).insert(len(list(first.findall(nodes.colspec))), specs)
    group_node = first.next_node(nodes.tgroup)
    group_node["cols"] = len(list(group_node.findall(nodes.colspec)))
    return first


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.add_enumerable_node(stage_block, "table", html=(visit_block_html, depart_block_html))
    app.add_node(stage_part, html=(visit_part_html, depart_part_html))
    app.add_node(heat, html=(visit_heat_html, depart_heat_html))
    app.add_directive("stage-block", StageBlock)
    app.add_post_transform(JoinParts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
