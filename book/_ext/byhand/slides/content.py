"""The content of slides: texts with the values of their expressions, and at most one object.

A deck's cells and expressions run like those of a page, and their results are kept in the same way.
"""

import ast
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from byhand.checking.decks import TEXT_KINDS, Deck, Piece, Slide
from byhand.checking.sources import EVAL
from byhand.digests import ROOT
from byhand.mathematics.spoken import spoken
from byhand.press import drawings
from byhand.press.pdf import PressError
from byhand.reading.page_code import Step, one_line
from byhand.reading.pages import NOT_FINITE, output_faults
from byhand.reading.results import Results, compute, inputs_digest, load_valid
from byhand.tables.element import Part

GIVEN = re.compile(r"\{given\}`([^`]+)`")
ROLE = re.compile(r"\{(?!su[bp]\})[\w:]+\}`")
SPECIAL = re.compile(r"([!-/:-@\[-`{-~])")
LONG_LINE_LENGTH = 40  # characters of a line of arithmetic that may be broken
SIGN = re.compile(r" (?=[=≈] )")
PART = "\x1f"  # between the label of a line and its value

BESIDE, MAX_POINTS_PER_PIXEL = (
    (458, 410),
    2.6,
)  # points that a drawing has beside a text; of a pixel at most
WIDE, HIGH, LINE = 848, 372, 34  # points that are below the title; a line of text, with its space

Values = dict[tuple[int, str], dict[str, Any]]
"""The forms of the values of a deck's expressions, by the index of their block, which is -1 for the
title, and by their source in one line."""


@dataclass(frozen=True)
class Drawing:
    """A figure of a run as on the pages, with alternative text."""

    svg: str
    alt: str


@dataclass(frozen=True)
class Numbers:
    """A table of a run, or several side by side."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Lines:
    """Lines of arithmetic, each a label and a line; both contain marks."""

    rows: tuple[tuple[str, str], ...]

    @property
    def broken(self) -> tuple[tuple[str, str], ...]:
        """The same lines, with long ones broken before their signs.

        Examples
        --------
        >>> len(Lines((("a", "1 + 1 = 2"), ("b", "1 + 1 + " * 6 + "1 = 13"))).broken)
        3
        """
        return tuple(
            (label if i == 0 else "", step)
            for label, line in self.rows
            for i, step in enumerate(
                SIGN.split(line) if len(label + line) > LONG_LINE_LENGTH else [line]
            )
        )


@dataclass(frozen=True)
class Formula:
    """A formula in TeX."""

    tex: str

    @property
    def alt(self) -> str:
        """The words of the formula."""
        return spoken(self.tex, display=True)


@dataclass(frozen=True)
class Code:
    """A piece of code."""

    source: str


SlideObject = Drawing | Numbers | Lines | Formula | Code


@dataclass(frozen=True)
class RenderedSlide:
    """A slide ready to be set, with the layout of its object."""

    slide: Slide  # with values in its texts
    place: str  # file and line of its source
    before: tuple[Piece, ...]  # the text above and below the object
    thing: SlideObject | None
    after: tuple[Piece, ...]
    beside: bool = False  # whether the object is beside the text


def render_slides(deck: Deck, given: Values) -> list[RenderedSlide]:
    """Return a deck's slides with all values inserted.

    Raises
    ------
    PressError
        If a text has a role that slides do not have, or a value has no form on a slide.
    """
    return [_render_slide(slide, f"{deck.page.file}:{slide.line}", given) for slide in deck.slides]


def _render_slide(slide: Slide, place: str, given: Values) -> RenderedSlide:
    def valued(piece: Piece) -> Piece:
        items = (
            (n, _insert_values(text, piece.kind, slide.block, given)) for n, text in piece.items
        )
        return replace(piece, items=tuple(items))

    title = _insert_values(slide.title, "paragraph", slide.block, given)
    body, notes = (tuple(map(valued, found)) for found in (slide.body, slide.notes))
    slide = replace(slide, title=title, body=body, notes=notes)
    texts = [title, *(t for p in (*body, *notes) for _, t in p.items if p.kind in TEXT_KINDS)]
    role = next((found[0] for text in texts if (found := ROLE.search(text))), None)
    if role:
        raise PressError(f"{place}: a slide has no {role[:-1]}; only {{eval}} and {{given}}")
    object_index = next(
        (i for i, piece in enumerate(slide.body) if piece.kind not in TEXT_KINDS), None
    )
    if object_index is None:
        thing = (
            _slide_object(given[slide.block, one_line(slide.shows[0][1])], place)
            if slide.shows
            else None
        )
        if isinstance(thing, Drawing):
            svg, beside = choose_layout(thing.svg, slide.body)
            return RenderedSlide(slide, place, slide.body, replace(thing, svg=svg), (), beside)
        return RenderedSlide(slide, place, slide.body, thing, ())
    thing = _text_object(slide.body[object_index])
    return RenderedSlide(
        slide, place, slide.body[:object_index], thing, slide.body[object_index + 1 :]
    )


def _insert_values(text: str, kind: str, block: int, given: Values) -> str:
    """Return a text with its values; formulas and code are kept unchanged."""

    def values_in(text: str, *, bare: bool) -> str:
        shown = EVAL.sub(lambda m: as_text(given[block, one_line(m[1])], bare=bare), text)
        return GIVEN.sub(r"\1", shown)

    bare = kind in ("formula", "code")
    if not bare:
        text = re.sub(r"\$[^$]+\$", lambda m: values_in(m[0], bare=True), text)
    if kind == "values":
        text = text.replace("{eval}", PART + "{eval}")
    return values_in(text, bare=bare)


def as_text(data: dict[str, Any], *, bare: bool = False) -> str:
    r"""Return a value as text, with marks or `bare`.

    Examples
    --------
    >>> as_text({"text/plain": "'a_b'"}), as_text({"text/plain": "'a_b'"}, bare=True)
    ('a\\_b', 'a_b')
    """
    if "text/markdown" in data and not bare:
        return str(data["text/markdown"])
    plain = str(data["text/plain"])
    if plain[:1] in "'\"":
        plain = str(ast.literal_eval(plain))
    return plain if bare else SPECIAL.sub(r"\\\1", plain)


def _slide_object(data: dict[str, Any], place: str) -> SlideObject:
    """Return the object that a value is on a slide."""
    if svg := data.get("image/svg+xml"):
        return Drawing(svg, str(data["text/plain"]).removeprefix("Figure: "))
    markdown = data.get("text/markdown", "")
    if markdown.startswith("~~~{numbers}"):
        lines = [line for line in markdown.splitlines() if line.startswith("{")]
        return Numbers(tuple(Part(**json.loads(line)) for line in lines))
    kinds = "a figure or a table of `mha` is wanted"
    raise PressError(f"{place}: this value has no form on a slide; {kinds}")


def _text_object(piece: Piece) -> SlideObject:
    """Return the object that a piece of a slide's text is."""
    if piece.kind == "values":
        pairs = (text.split(PART) for _, text in piece.items)
        return Lines(tuple((label, line) for label, line in pairs))
    return (Formula if piece.kind == "formula" else Code)(piece.items[0][1])


def choose_layout(svg: str, before: tuple[Piece, ...]) -> tuple[str, bool]:
    """Return the variant of a drawing that is largest, and whether it is beside the text."""
    characters = sum(len(text) for piece in before for _, text in piece.items)
    below = (WIDE, HIGH - LINE * ceil(characters / 75) - LINE / 2 * bool(before))
    rooms = {False: below, True: BESIDE} if before else {False: (WIDE, BESIDE[1])}
    svgs = [svg for svg in (svg, drawings.narrow(svg)) if svg]
    ways = [(_factor(svg, room), svg, beside) for beside, room in rooms.items() for svg in svgs]
    best = max(factor for factor, *_ in ways)
    return next((svg, beside) for factor, svg, beside in ways if factor > 0.85 * best)


def _factor(svg: str, room: tuple[float, float]) -> float:
    width, height = drawings.size(svg)
    return min(room[0] / width, room[1] / height, MAX_POINTS_PER_PIXEL)


# ---- What cells and expressions give ----


def compute_decks(decks: list[Deck], side_by_side: int = 2) -> list[Values]:
    """Return the results of each deck.

    Raises
    ------
    PressError
        With every fault, its file and its line.
    """
    digest = inputs_digest()
    with ThreadPoolExecutor(side_by_side) as pool:
        done = list(pool.map(lambda deck: _results(deck, digest), decks))
    wrong = [
        f"{deck.page.file}:{line}: {message}"
        for deck, results in zip(decks, done, strict=True)
        for line, message in _faults(results)
    ]
    if wrong:
        raise PressError("\n".join(wrong))
    return [
        {key: outputs[-1]["data"] for key, outputs in results.expression_outputs().items()}
        for results in done
    ]


def _results(deck: Deck, digest: str) -> Results:
    page, steps = ROOT / deck.page.file, list(dict.fromkeys(steps_of(deck)))
    if not steps:
        return Results(digest, [])
    return load_valid(page, steps, digest) or compute(page, steps, digest)


def steps_of(deck: Deck) -> Iterator[Step]:
    """Yield a deck's cells and expressions in their order."""
    slides = list(deck.slides)
    for i in range(-1, len(deck.blocks)):
        if i >= 0 and deck.blocks[i].name == "code-cell":
            cell = deck.blocks[i]
            line = cell.content[0][0] if cell.content else cell.line
            yield Step("cell", i, line, cell.code)
        for slide in (slide for slide in slides if slide.block == i):
            for line, source in slide.shows:
                yield Step("expression", i, line, one_line(source))
            texts = [(slide.line, slide.title)]
            texts += [item for piece in (*slide.body, *slide.notes) for item in piece.items]
            for line, text in texts:
                for source in EVAL.findall(text):
                    yield Step("expression", i, line, one_line(source))


def _faults(results: Results) -> Iterator[tuple[int, str]]:
    yield from results.faults
    for number, message in results.errors.items():
        yield results.steps[number].line, f"{results.steps[number].source}: {message}"
    for step, outputs in zip(results.steps, results.outputs, strict=False):
        # A slide has no tags; its tables are those of pages, where the tag is needed.
        for message in output_faults(outputs, {"tags": [NOT_FINITE]}):
            yield step.line, message
        if step.kind == "expression" and not outputs and not results.errors:
            yield step.line, f"{step.source} gives nothing; a value is wanted"
