"""Slides as a PowerPoint file: texts and tables are editable, formulas and figures are pictures.

Each part has the position that Typst gave it in the PDF. PowerPoint has the fonts that a deck
names, and LibreOffice replaces them by Liberation's with the same widths. Other programs may
replace them by wider fonts; therefore the size of each text is chosen to fit even in DejaVu's.
"""

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.oxml.ns import qn
from pptx.util import Pt

from byhand.checking.decks import Piece
from byhand.edition import edition
from byhand.press.archives import without_dates
from byhand.press.markup import Cell
from byhand.slides import widths
from byhand.slides.content import Code, Drawing, Formula, Lines, Numbers, RenderedSlide
from byhand.slides.paper import KICKERS, Placed, pictures
from byhand.slides.words import Run, plain, runs
from byhand.tables.element import Part, join_parts

WIDTH, HEIGHT = 960, 540  # points
LEFT, WIDE = 56, 848
SERIF, SANS, MONO = "Times New Roman", "Arial", "Courier New"
INK, SOFT, ACCENT = map(RGBColor.from_string, ("1C1B19", "5F5A52", "8A2F1B"))
TITLE_ONLY = 5  # of the layouts that python-pptx brings
TOP, BOTTOM = 104, 500  # between the title and the foot of a slide
MARGIN = 0.3  # on each side of a cell, as a share of the font size
BOLDER = 1.15  # the width of bold letters, relative to that of regular ones
MIN_FONT_SIZE = 9  # the smallest font size, in points
RULE = 15875  # a table's line, in EMU: 1.25 points
Room = tuple[float, float, float, float]  # left, top, width and height, in points


def file(title: str, slides: list[RenderedSlide], placed: list[Placed]) -> bytes:
    """Return a deck as a PowerPoint file, the same bytes each time."""
    deck = Presentation()
    deck.slide_width, deck.slide_height = Pt(WIDTH), Pt(HEIGHT)
    made = edition().begins.replace(tzinfo=None)
    about = deck.core_properties
    about.title, about.author = title, "Attention by Hand"
    about.created = about.modified = made
    about.last_modified_by, about.language = "", "en-GB"
    images = pictures(slides, placed)
    for n, shown in enumerate(slides, 1):
        _slide(deck, n, shown, {p.part: p for p in placed if p.n == n}, images.get(n))
    saved = io.BytesIO()
    deck.save(saved)
    return without_dates(saved.getvalue())


def _slide(
    deck: Any, n: int, shown: RenderedSlide, at: dict[str, Placed], picture: bytes | None
) -> None:
    """Add a slide."""
    slide = deck.slides.add_slide(deck.slide_layouts[TITLE_ONLY])
    is_first = n == 1
    head = slide.shapes.title
    room: Room = (LEFT, 140, WIDE, 90) if is_first else (LEFT, 44, WIDE, 60)
    head.left, head.top, head.width, head.height = map(Pt, room)
    title = _line(shown.slide.title)
    # A title of two lines may reach down to the text.
    tall = (
        room[3] if is_first else min([p.y for p in at.values() if p.part != "title"] or [TOP]) - 46
    )
    size = _fitting_size(title, 60 if is_first else 38, WIDE, tall, serif=True)
    _write(head.text_frame, title, size, SERIF)
    if is_first:
        size = _fitting_size(shown.before, 28, 720, 230)
        _write(_box(slide, LEFT, 250, 720, 230), shown.before, size, colour=SOFT)
    elif shown.slide.kind in KICKERS:
        kicker = _line(KICKERS[shown.slide.kind])
        _write(_box(slide, LEFT, 18, WIDE, 26), kicker, 20, colour=ACCENT)
    for part, pieces in (("after", shown.after), ("before", shown.before)):
        if part in at:
            lettered = shown.slide.kind == "question"
            left, top, wide, tall = _area(at, part)
            size = _fitting_size(pieces, at[part].size, wide, tall)
            end, tall = top + tall, min(tall, widths.height(pieces, size, wide))
            if part == "after" and not shown.beside:  # it is aligned with the bottom of its area
                top = end - tall
            at[part] = replace(at[part], y=top, height=tall)  # later areas depend on it
            room = (left, top, wide, tall)
            _write(_box(slide, *room), pieces, size, lettered=lettered)
    if "thing" in at:
        _thing(slide, shown.thing, at["thing"], _area(at, "thing"), picture)
    footer = _line(f"Attention by Hand · {n}")
    _write(_box(slide, LEFT, 508, WIDE, 18), footer, 12, colour=SOFT)
    notes = [f"{shown.slide.minutes} minutes."] if shown.slide.minutes else []
    for piece in shown.slide.notes:
        notes += ["• " * (piece.kind == "bullets") + plain(text) for _, text in piece.items]
    slide.notes_slide.notes_text_frame.text = "\n".join(notes)


def _room(at: Placed) -> Room:
    return at.x, at.y, at.width, at.height


def _area(at: dict[str, Placed], part: str) -> Room:
    """Return the free area of a part between the others; a text keeps its left and top edge."""
    own = at[part]
    left, top, right, bottom = map(float, (LEFT, TOP, LEFT + WIDE, BOTTOM))
    for other in at.values():
        if other.part in (part, "title"):
            continue
        if other.x >= own.x + own.width:
            right = min(right, other.x - 16)
        elif other.x + other.width <= own.x:
            left = max(left, other.x + other.width + 16)
        elif other.y > own.y:
            bottom = min(bottom, other.y - 4)
        else:
            top = max(top, other.y + other.height + 4)
    if part != "thing":
        left, right = own.x, own.x + own.width
    if part == "before" or (part == "after" and top == TOP):
        top = own.y
    return left, top, right - left, bottom - top


def _fitting_size(
    pieces: Sequence[Piece], size: float, wide: float, tall: float, *, serif: bool = False
) -> float:
    """Return the largest font size, at most `size`, at which pieces of text fit into an area."""

    def fits(size: float) -> bool:
        words = (word for piece in pieces for _, text in piece.items for word in widths.words(text))
        is_wide = all(widths.width(word, size, serif=serif) <= wide for word in words)
        return is_wide and widths.height(pieces, size, wide, serif=serif) <= tall

    return _largest_size(size, fits)


def _largest_size(size: float, fits: Callable[[float], bool]) -> float:
    """Return the largest font size that fits, in steps of half a point down from `size`."""
    while size > MIN_FONT_SIZE and not fits(size):
        size -= 0.5
    return size


def _centred(area: Room, wide: float, tall: float) -> Room:
    """Return a rectangle of given width and height in the middle of an area."""
    left, top, width, height = area
    return left + (width - wide) / 2, top + (height - tall) / 2, wide, tall


def _box(slide: Any, *room: float) -> Any:
    """Return the text frame of a new box."""
    return slide.shapes.add_textbox(*map(Pt, room)).text_frame


def _line(text: str) -> list[Piece]:
    return [Piece("paragraph", ((0, text),))]


# ---- Text ----


def _write(
    frame: Any, pieces: Sequence[Piece], size: float, font: str = SANS, *,
    colour: RGBColor = INK, lettered: bool = False,
) -> None:  # fmt: skip
    """Write pieces of text into a frame without margins."""
    frame.word_wrap = True
    frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = 0
    frame.vertical_anchor = MSO_ANCHOR.TOP
    first = True
    for piece in pieces:
        for i, (_, text) in enumerate(piece.items):
            paragraph = frame.paragraphs[0] if first else frame.add_paragraph()
            if not first:
                share = widths.BETWEEN_ITEMS if i else widths.BETWEEN
                paragraph.space_before = Pt(size * share)
            first = False
            paragraph.line_spacing = widths.SPACING
            paragraph.alignment = PP_ALIGN.LEFT
            _mark(paragraph, piece.kind, size, lettered=lettered)
            for run in runs(text):
                _run(paragraph, run, size, font, colour)


def _mark(paragraph: Any, kind: str, size: float, *, lettered: bool) -> None:
    """Give a paragraph its bullet or number, or neither."""
    properties = paragraph._p.get_or_add_pPr()
    if kind == "bullets":
        etree.SubElement(properties, qn("a:buChar"), char="•")
    elif kind == "numbers":
        numbering = "alphaUcPeriod" if lettered else "arabicPeriod"
        etree.SubElement(properties, qn("a:buAutoNum"), type=numbering)
    else:
        etree.SubElement(properties, qn("a:buNone"))
        return
    indent = int(Pt(size * widths.INDENT))
    properties.set("marL", str(indent))
    properties.set("indent", str(-indent))


def _run(paragraph: Any, run: Run, size: float, font: str, colour: RGBColor) -> None:
    """Add a run of letters with the same style."""
    added = paragraph.add_run()
    added.text = run.text
    style = added.font
    style.size, style.color.rgb = Pt(size), colour
    style.name = MONO if run.code else SERIF if run.italic or run.math else font
    style.bold, style.italic = run.bold, run.italic
    if run.baseline:
        added._r.get_or_add_rPr().set("baseline", str(run.baseline))


# ---- Objects ----


def _thing(slide: Any, thing: Any, at: Placed, area: Room, picture: bytes | None) -> None:
    match thing:
        case Formula() | Drawing():
            assert picture is not None
            shown = slide.shapes.add_picture(io.BytesIO(picture), *map(Pt, _room(at)))
            about = shown._element.nvPicPr.cNvPr
            about.set("descr", thing.alt)
            about.set("name", "Formula" if isinstance(thing, Formula) else "Figure")
        case Code():
            lines = thing.source.splitlines()

            def need(size: float) -> tuple[float, float]:
                wide = max(widths.width(line, size, mono=True) for line in lines)
                return wide, len(lines) * size * widths.LINE

            size = _largest_size(at.size * 0.92, lambda size: _fits_into(need(size), area))
            frame = _box(slide, *_centred(area, *need(size)))
            _write(frame, [], size)
            for i, line in enumerate(lines):
                paragraph = frame.add_paragraph() if i else frame.paragraphs[0]
                _run(paragraph, Run(line, code=True), size, MONO, INK)
            frame.word_wrap = False
        case Lines():
            _lines(slide, thing, at, area)
        case Numbers():
            heads, rows = _rows(thing.parts)
            is_words = "words" in thing.parts[0].classes
            _table(slide, _size_table(rows, at, area, wraps=is_words), heads=heads, wraps=is_words)


def _fits_into(need: tuple[float, float], area: Room) -> bool:
    """Return whether a width and a height fit into an area."""
    return need[0] <= area[2] and need[1] <= area[3]


def _lines(slide: Any, thing: Lines, at: Placed, area: Room) -> None:
    """Add lines of arithmetic: each line begins at a tab after its label."""
    rows = thing.broken if at.broken else thing.rows
    share = (at.height + 0.75 * at.size) / len(rows) / at.size  # line height per font size

    def labels(size: float) -> float:
        return max(widths.line_width(label.strip(), size) for label, _ in rows)

    def need(size: float) -> tuple[float, float]:
        longest = max(widths.line_width(line, size) for _, line in rows)
        return labels(size) + size + longest, len(rows) * share * size

    size = _largest_size(at.size, lambda size: _fits_into(need(size), area))
    frame = _box(slide, *_centred(area, *need(size)))
    _write(frame, _line("") * len(rows), size)
    frame.word_wrap = False
    for paragraph, (label, line) in zip(frame.paragraphs, rows, strict=True):
        stops = etree.SubElement(paragraph._p.get_or_add_pPr(), qn("a:tabLst"))
        for place, alignment in ((labels(size), "r"), (labels(size) + size, "l")):
            etree.SubElement(stops, qn("a:tab"), pos=str(int(Pt(place))), algn=alignment)
        paragraph.space_before, paragraph.line_spacing = Pt(0), Pt(share * size)
        for run in runs(f"\t{label.strip()}\t"):
            _run(paragraph, run, size, SANS, SOFT)
        for run in runs(line):
            _run(paragraph, run, size, SANS, INK)


def _rows(parts: Sequence[Part]) -> tuple[int, list[list[Cell]]]:
    """Return the number of header rows of a table of several parts, and all rows.

    A spanning cell comes before the cells that it covers, and spans only columns.
    """
    head, body = join_parts(parts, titled=len(parts) > 1)
    if len(parts) > 1:
        (corner, *titles), names = head
        head = [[Cell(""), *titles], [replace(corner, rows=1), *names]]
    return len(head), [*(list(_spread(row)) for row in head), *body]


def _spread(row: Sequence[Cell]) -> Iterator[Cell]:
    """Yield the cells of a row, with an empty one for each covered cell."""
    for cell in row:
        yield cell
        yield from [Cell("")] * (cell.columns - 1)


@dataclass(frozen=True)
class _SizedTable:
    """A table with its font size, column widths and row heights."""

    rows: list[list[Cell]]
    size: float
    columns: list[float]
    heights: list[float]
    area: Room


def _size_table(rows: list[list[Cell]], at: Placed, area: Room, *, wraps: bool) -> _SizedTable:
    """Return a table with the largest font size that fits, at most that of the PDF."""

    def sized_table(size: float) -> _SizedTable:
        columns = _columns(rows, size)
        if wraps and sum(columns) > area[2]:
            columns = _narrowed(rows, size, columns, area[2])
        pad = 2 * MARGIN * size
        counts = [
            max(
                widths.count_lines(cell.content, size, wide - pad)
                for cell, wide in zip(row, columns, strict=True)
            )
            if wraps
            else 1
            for row in rows
        ]
        spread = (at.height / len(rows) - at.size) / at.size if not wraps else 0.5
        heights = [size * (n * widths.LINE + max(0.25, spread - 0.2)) for n in counts]
        return _SizedTable(rows, size, columns, heights, area)

    def fits(size: float) -> bool:
        made = sized_table(size)
        return _fits_into((sum(made.columns), sum(made.heights)), area)

    return sized_table(_largest_size(at.size, fits))


def _columns(rows: list[list[Cell]], size: float) -> list[float]:
    """Return the widths of columns for one-line cells; wide spanning cells widen theirs."""
    pad = 2 * MARGIN * size
    found = [
        max(
            (_width(row[j], size) + pad for row in rows if row[j].columns == 1),
            default=pad,
        )
        for j in range(len(rows[0]))
    ]
    for row in rows:
        for j, cell in enumerate(row):
            missing = _width(cell, size) + pad - sum(found[j : j + cell.columns])
            if cell.columns > 1 and missing > 0:
                for i in range(j, j + cell.columns):
                    found[i] += missing / cell.columns
    return found


def _width(cell: Cell, size: float) -> float:
    """Return the width of a cell's content on one line."""
    scale = BOLDER if cell.bold else 1
    return scale * widths.line_width(cell.content, size)


def _narrowed(
    rows: list[list[Cell]], size: float, columns: list[float], wide: float
) -> list[float]:
    """Return narrower column widths for cells that wrap, each at least its longest word's."""
    pad = 2 * MARGIN * size
    least = [
        max(
            widths.width(word, size)
            for row in rows
            for word in [*widths.words(row[j].content), "m"]
        )
        + pad
        for j in range(len(columns))
    ]
    spare = wide - sum(least)
    excess = sum(columns) - sum(least)
    if spare <= 0 or excess <= 0:
        return least
    return [low + (high - low) * spare / excess for low, high in zip(least, columns, strict=True)]


def _table(slide: Any, made: _SizedTable, *, heads: int, wraps: bool) -> None:
    """Add a table without background colours, with the book's rules."""
    rows = made.rows
    room = _centred(made.area, sum(made.columns), sum(made.heights))
    frame = slide.shapes.add_table(len(rows), len(rows[0]), *map(Pt, room))
    table = frame.table
    style = table._tbl.tblPr
    style.set("bandRow", "0")
    style.find(qn("a:tableStyleId")).text = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}"  # no style
    for column, wide in zip(table.columns, made.columns, strict=True):
        column.width = int(Pt(wide))
    for i, row in enumerate(rows):
        table.rows[i].height = int(Pt(made.heights[i]))
        for j, cell in enumerate(row):
            target = table.cell(i, j)
            if cell.columns > 1:
                target.merge(table.cell(i, j + cell.columns - 1))
            is_number = j > 0 and not wraps
            _fill(target, cell, made.size, PP_ALIGN.RIGHT if is_number else PP_ALIGN.LEFT)
            target.text_frame.word_wrap = wraps
            _rule(target, top=i == 0, bottom=i in (heads - 1, len(rows) - 1))


def _fill(target: Any, cell: Cell, size: float, align: PP_ALIGN) -> None:
    _write(target.text_frame, _line(cell.content), size)
    target.margin_left = target.margin_right = Pt(size * MARGIN)
    target.margin_top = target.margin_bottom = 0
    target.vertical_anchor = MSO_ANCHOR.MIDDLE
    paragraph = target.text_frame.paragraphs[0]
    paragraph.alignment = PP_ALIGN.CENTER if cell.columns > 1 else align
    for run in paragraph.runs:
        run.font.bold = run.font.bold or cell.bold
    if cell.fill:
        target.fill.solid()
        colour = RGBColor.from_string(cell.fill[1:])  # type: ignore[no-untyped-call]
        target.fill.fore_color.rgb = colour


def _rule(target: Any, *, top: bool, bottom: bool) -> None:
    properties = target._tc.get_or_add_tcPr()
    for name, there in (("a:lnT", top), ("a:lnB", bottom)):
        if there:
            line = etree.Element(qn(name), w=str(RULE))
            fill = etree.SubElement(line, qn("a:solidFill"))
            etree.SubElement(fill, qn("a:srgbClr"), val=str(INK))
            properties.insert(0 if name == "a:lnT" else len(properties.findall(qn("a:lnT"))), line)
