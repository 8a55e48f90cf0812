"""Slides as PDF: one page per slide, and the notes with each slide beside its text."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from byhand.checking.decks import Piece
from byhand.mathematics.paper import FormulaError, formula
from byhand.press import drawings, markup
from byhand.press.pdf import PressError, compiler, press
from byhand.slides.content import Code, Drawing, Formula, Lines, Numbers, RenderedSlide, SlideObject
from byhand.tables.paper import as_typst, joined_table

KICKERS = {"question": "Question", "answer": "Answer"}
LETTERS = re.compile(r'font-size="([\d.]+)px"')
PIXELS = 200  # an inch of a slide, in its pictures
INDEX = 12  # pixels of an index's letters, which are not measured


@dataclass(frozen=True)
class Placed:
    """The position and size of a part of a slide, in points."""

    n: int  # the slide, counted from 1
    part: str  # ``title``, ``before``, ``thing`` or ``after``
    x: float
    y: float
    width: float
    height: float
    size: float  # of its letters; of a drawing, the points of a pixel
    fault: str  # why it does not fit
    broken: bool  # whether lines of arithmetic are broken before their signs


def slides_pdf(title: str, slides: list[RenderedSlide]) -> tuple[bytes, list[Placed]]:
    """Return the PDF of a deck, and the positions of all parts.

    Raises
    ------
    PressError
        With every part that does not fit, its file and its line.
    """
    lines = (f"// at {s.place}\n#slide({_arguments(title, i, s)})" for i, s in enumerate(slides, 1))
    source = markup.document("slides", "#show: slides", *lines, title=markup.string(title))
    pdf = press(source)
    found = json.loads(compiler(source).query("<placed>", field="value"))
    placed = [Placed(**data) for data in found]
    wrong = [f"{slides[at.n - 1].place}: {at.fault}" for at in placed if at.fault]
    if wrong:
        raise PressError("\n".join(wrong))
    return pdf, placed


def notes_pdf(title: str, slides: list[RenderedSlide]) -> bytes:
    """Return the PDF of the notes: each slide small, with its minutes and notes beside it."""
    lines, clock = [], 0
    total = sum(s.slide.minutes for s in slides)
    for i, shown in enumerate(slides, 1):
        time = f"{clock} to {clock + shown.slide.minutes} minutes" if shown.slide.minutes else ""
        time = f"{total} minutes in all" if i == 1 else time
        clock += shown.slide.minutes
        notes = f"{markup.string(time)}, [{texts(shown.slide.notes)}]"
        lines.append(f"// at {shown.place}\n#noted({_arguments(title, i, shown, notes)})")
    head = markup.string(f"{title}: notes")
    return press(markup.document("slides", *lines, title=head, paper='"a4"', margin="40pt"))


def _arguments(deck: str, i: int, shown: RenderedSlide, notes: str = "") -> str:
    """Return the arguments of the template's function for a slide."""
    arguments = [markup.string(deck), str(i), f"[{as_typst(shown.slide.title)}]", notes]
    if shown.slide.kind in KICKERS:
        arguments.append(f"kicker: {markup.string(KICKERS[shown.slide.kind])}")
    try:
        for name, pieces in (("before", shown.before), ("after", shown.after)):
            arguments += [f"{name}: [{texts(pieces)}]"] * bool(pieces)
        if shown.thing is not None:
            arguments.append(f"thing: {object_code(shown.thing)}")
            arguments += ["beside: true"] * shown.beside
    except FormulaError as error:
        raise PressError(f"{shown.place}: {error}") from None
    return ", ".join(filter(None, arguments))


def texts(pieces: tuple[Piece, ...]) -> str:
    """Return pieces of text as Typst markup."""
    return "\n\n".join(map(_text, pieces))


def _text(piece: Piece) -> str:
    written = [as_typst(" ".join(text.split())) for _, text in piece.items]
    if piece.kind == "paragraph":
        return written[0]
    kind = "list" if piece.kind == "bullets" else "enum"
    return f"#{kind}({', '.join(f'[{text}]' for text in written)})"


def object_code(shown: SlideObject) -> str:
    """Return Typst code for an object: a function of the available space."""
    match shown:
        case Formula():
            return f"shown-formula({_formula(shown)})"
        case Code():
            return f"shown-code({markup.string(shown.source)})"
        case Numbers():
            return f"shown-table({joined_table(shown.parts, title=len(shown.parts) > 1)})"
        case Lines():
            return f"shown-lines({_lines(shown.rows)}, {_lines(shown.broken)})"
        case Drawing():
            code = markup.drawing(shown.svg, shown.alt).removeprefix("drawing(").removesuffix(")")
            return f"shown-drawing({code}, {smallest_letters(shown.svg):g})"


def _lines(rows: Iterable[tuple[str, str]]) -> str:
    return markup.array(
        f"([{as_typst(label.strip())}], [{as_typst(line)}])" for label, line in rows
    )


def smallest_letters(svg: str) -> float:
    """Return the size in pixels of a drawing's smallest letters, indices excepted."""
    sizes = [float(size) for size in LETTERS.findall(drawings.in_attributes(svg))]
    return min((size for size in sizes if size > INDEX), default=INDEX + 1)


def pictures(slides: list[RenderedSlide], placed: list[Placed]) -> dict[int, bytes]:
    """Return a PNG of each slide's formula or drawing, in the size that it has on the slide."""
    at = {place.n: place for place in placed if place.part == "thing"}
    wanted = [
        (i, shown.thing)
        for i, shown in enumerate(slides, 1)
        if isinstance(shown.thing, Formula | Drawing)
    ]
    if not wanted:
        return {}
    pages = [_picture(shown, at[i]) for i, shown in wanted]
    source = markup.document("slides", "#show: lettered", *pages, fill="none", margin="0pt")
    made = compiler(source).compile(format="png", ppi=PIXELS)
    found = made if isinstance(made, list) else [made]
    return {i: png for (i, _), png in zip(wanted, found, strict=True) if png is not None}


def _picture(shown: Formula | Drawing, at: Placed) -> str:
    """Return Typst source of a page with the size of a picture."""
    if isinstance(shown, Formula):
        body = f"#text(size: {at.size}pt, {_formula(shown)})"
    else:
        data = markup.string(drawings.in_attributes(shown.svg))
        body = f'#image(bytes({data}), format: "svg", alt: "", width: {at.width}pt)'
    return f"#page(width: {at.width}pt, height: {at.height}pt)[{body}]"


def _formula(shown: Formula) -> str:
    return formula(shown.tex, display=True)
