"""A deck to be changed: text as text, tables as tables, formulas and figures as pictures.

Everything stands where the press put it on the PDF. The fonts are those that PowerPoint has.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.oxml.ns import qn
from pptx.util import Pt

from byhand.checking.decks import Piece
from byhand.edition import edition
from byhand.press.archives import undated
from byhand.press.markup import Cell
from byhand.slides.content import Code, Drawing, Formula, Lines, Numbers, Shown
from byhand.slides.paper import KICKERS, Placed, pictures
from byhand.slides.words import Run, plain, runs
from byhand.tables.element import Part, joined

WIDTH, HEIGHT = 960, 540  # points
LEFT, WIDE = 56, 848
SERIF, SANS, MONO = "Cambria", "Calibri", "Consolas"
INK, SOFT, ACCENT = map(RGBColor.from_string, ("1C1B19", "5F5A52", "8A2F1B"))
TITLE_ONLY = 5  # of the layouts that python-pptx brings
DIGIT = 0.49  # of the letters' size: how wide one is, about
RULE = 15875  # a table's line, in EMU: 1.25 points


def file(title: str, slides: list[Shown], placed: list[Placed]) -> bytes:
    """Return a deck as a PowerPoint file, the same bytes each time."""
    deck = Presentation()
    deck.slide_width, deck.slide_height = Pt(WIDTH), Pt(HEIGHT)
    made = edition().begins.replace(tzinfo=None)
    about = deck.core_properties
    about.title, about.author = title, "Attention by Hand"
    about.created = about.modified = made
    about.last_modified_by, about.language = "", "en-GB"
    seen = pictures(slides, placed)
    for n, shown in enumerate(slides, 1):
        _slide(deck, n, shown, {p.part: p for p in placed if p.n == n}, seen.get(n))
    saved = io.BytesIO()
    deck.save(saved)
    return undated(saved.getvalue())


def _slide(deck: Any, n: int, shown: Shown, at: dict[str, Placed], picture: bytes | None) -> None:
    """Add a slide."""
    slide = deck.slides.add_slide(deck.slide_layouts[TITLE_ONLY])
    is_first = n == 1
    head = slide.shapes.title
    room = (LEFT, 140, WIDE, 90) if is_first else (LEFT, 44, WIDE, 60)
    head.left, head.top, head.width, head.height = map(Pt, room)
    _write(head.text_frame, _line(shown.slide.title), 60 if is_first else 38, SERIF)
    if is_first:
        _write(_box(slide, LEFT, 250, 720, 120), shown.before, 28, colour=SOFT)
    elif shown.slide.kind in KICKERS:
        kicker = _line(KICKERS[shown.slide.kind])
        _write(_box(slide, LEFT, 18, WIDE, 26), kicker, 20, colour=ACCENT)
    for part, pieces in (("before", shown.before), ("after", shown.after)):
        if part in at:
            lettered = shown.slide.kind == "question"
            _write(_box(slide, *_room(at[part])), pieces, at[part].size, lettered=lettered)
    if "thing" in at:
        _thing(slide, shown.thing, at["thing"], picture)
    footer = _line(f"Attention by Hand · {n}")
    _write(_box(slide, LEFT, 508, WIDE, 18), footer, 12, colour=SOFT)
    said = [f"{shown.slide.minutes} minutes."] if shown.slide.minutes else []
    for piece in shown.slide.notes:
        said += ["• " * (piece.kind == "bullets") + plain(text) for _, text in piece.items]
    slide.notes_slide.notes_text_frame.text = "\n".join(said)


def _room(at: Placed) -> tuple[float, float, float, float]:
    return at.x, at.y, at.width, at.height


def _box(slide: Any, *room: float) -> Any:
    """Return the frame of a new box of text: from the left, from above, width and height."""
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
                paragraph.space_before = Pt(size * (0.45 if i else 0.6))
            first = False
            paragraph.line_spacing = 0.95
            paragraph.alignment = PP_ALIGN.LEFT
            _mark(paragraph, piece.kind, size, lettered=lettered)
            for run in runs(text):
                _run(paragraph, run, size, font, colour)


def _mark(paragraph: Any, kind: str, size: float, *, lettered: bool) -> None:
    """Give a paragraph its bullet or its number, or none."""
    properties = paragraph._p.get_or_add_pPr()
    if kind == "bullets":
        etree.SubElement(properties, qn("a:buChar"), char="•")
    elif kind == "numbers":
        how = "alphaUcPeriod" if lettered else "arabicPeriod"
        etree.SubElement(properties, qn("a:buAutoNum"), type=how)
    else:
        etree.SubElement(properties, qn("a:buNone"))
        return
    indent = int(Pt(size * 0.95))
    properties.set("marL", str(indent))
    properties.set("indent", str(-indent))


def _run(paragraph: Any, run: Run, size: float, font: str, colour: RGBColor) -> None:
    """Add a run of letters."""
    added = paragraph.add_run()
    added.text = run.text
    style = added.font
    style.size, style.color.rgb = Pt(size), colour
    style.name = MONO if run.code else SERIF if run.italic or run.math else font
    style.bold, style.italic = run.bold, run.italic
    if run.baseline:
        added._r.get_or_add_rPr().set("baseline", str(run.baseline))


# ---- What is to be looked at ----


def _thing(slide: Any, thing: Any, at: Placed, picture: bytes | None) -> None:
    match thing:
        case Formula() | Drawing():
            assert picture is not None
            shown = slide.shapes.add_picture(io.BytesIO(picture), *map(Pt, _room(at)))
            about = shown._element.nvPicPr.cNvPr
            about.set("descr", thing.alt)
            about.set("name", "Formula" if isinstance(thing, Formula) else "Figure")
        case Code():
            frame = _box(slide, *_room(at))
            _write(frame, [], at.size)
            for i, line in enumerate(thing.source.splitlines()):
                paragraph = frame.add_paragraph() if i else frame.paragraphs[0]
                _run(paragraph, Run(line, code=True), at.size * 0.92, MONO, INK)
            frame.word_wrap = False
        case Lines():
            _lines(slide, thing, at)
        case Numbers():
            heads, rows = _rows(thing.parts)
            columns = range(1, len(rows[0]))
            is_words = "words" in thing.parts[0].classes
            _table(slide, rows, at, heads=heads, right=() if is_words else tuple(columns))


def _lines(slide: Any, thing: Lines, at: Placed) -> None:
    """Add lines of arithmetic: each label ends at a tab, and behind it begins the line."""
    rows = thing.broken if at.broken else thing.rows
    raised = replace(at, y=at.y - at.size / 2)  # in print a line is as high as its digits
    frame = _box(slide, *_room(raised))
    _write(frame, _line("") * len(rows), at.size)
    frame.word_wrap = False
    pitch = Pt((at.height + 0.75 * at.size) / len(rows))
    labels = max(len(plain(label)) for label, _ in rows) * at.size * DIGIT
    for paragraph, (label, line) in zip(frame.paragraphs, rows, strict=True):
        stops = etree.SubElement(paragraph._p.get_or_add_pPr(), qn("a:tabLst"))
        for place, how in ((labels, "r"), (labels + at.size, "l")):
            etree.SubElement(stops, qn("a:tab"), pos=str(int(Pt(place))), algn=how)
        paragraph.space_before, paragraph.line_spacing = Pt(0), pitch
        for run in runs(f"\t{label.strip()}\t"):
            _run(paragraph, run, at.size, SANS, SOFT)
        for run in runs(line):
            _run(paragraph, run, at.size, SANS, INK)


def _rows(parts: Sequence[Part]) -> tuple[int, list[list[Cell]]]:
    """Return how many rows head a table of several parts, and all rows.

    Here a cell that covers others stands before them, and none covers another row's.
    """
    head, body = joined(parts, titled=len(parts) > 1)
    if len(parts) > 1:
        (corner, *titles), names = head
        head = [[Cell(""), *titles], [replace(corner, rows=1), *names]]
    return len(head), [*(list(_spread(row)) for row in head), *body]


def _spread(row: Sequence[Cell]) -> Iterator[Cell]:
    """Yield the cells of a row, with an empty one for each that another covers."""
    for cell in row:
        yield cell
        yield from [Cell("")] * (cell.columns - 1)


def _table(
    slide: Any, rows: list[list[Cell]], at: Placed, *, heads: int, right: Sequence[int]
) -> None:
    """Add a table without colours of its own, ruled as the book's are."""
    frame = slide.shapes.add_table(len(rows), len(rows[0]), *map(Pt, _room(at)))
    table = frame.table
    style = table._tbl.tblPr
    style.set("bandRow", "0")
    style.find(qn("a:tableStyleId")).text = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}"  # no style
    longest = [max(len(plain(row[j].content)) + 2 for row in rows) for j in range(len(rows[0]))]
    for column, length in zip(table.columns, longest, strict=True):
        column.width = int(Pt(at.width) * length / sum(longest))
    for i, row in enumerate(rows):
        table.rows[i].height = int(Pt(at.height) / len(rows))
        for j, cell in enumerate(row):
            target = table.cell(i, j)
            if cell.columns > 1:
                target.merge(table.cell(i, j + cell.columns - 1))
            _fill(target, cell, at.size, align=PP_ALIGN.RIGHT if j in right else PP_ALIGN.LEFT)
            _rule(target, top=i == 0, bottom=i in (heads - 1, len(rows) - 1))


def _fill(target: Any, cell: Cell, size: float, align: PP_ALIGN) -> None:
    _write(target.text_frame, _line(cell.content), size)
    target.margin_left = target.margin_right = Pt(size * 0.3)
    target.margin_top = target.margin_bottom = 0
    target.vertical_anchor = MSO_ANCHOR.MIDDLE
    target.text_frame.word_wrap = False
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
