"""How wide and how high a text is, in the widest fonts that a program may set it in.

A deck names fonts that PowerPoint has. A program without them takes others: Liberation's, which are
as wide, or DejaVu's, which are a sixth wider. What fits in DejaVu's fits in all of them. matplotlib
brings these fonts, so that no font of the system decides how large the letters of a deck are.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import matplotlib
from fontTools.ttLib import TTFont

from byhand.checking.decks import Piece
from byhand.slides.words import Run, runs

FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
RAISED = 0.67  # of the letters' size: how large an index or an exponent is
LINE = 1.2  # of the letters' size: how high a line is in DejaVu's fonts, with some slack
SLACK = 1.03  # programs round how wide a letter is, each in its way
SPACING = 0.95  # of that, as decks set their lines
INDENT = 1.3  # of the letters' size: how far a list stands from the margin
BETWEEN, BETWEEN_ITEMS = 0.6, 0.45  # of the letters' size: between paragraphs, and items of a list


class _Font(NamedTuple):
    advances: dict[int, int]
    units: int


@cache
def _font(name: str) -> _Font:
    """Return how far each letter of a font advances, by its code."""
    with TTFont(FONTS / f"{name}.ttf") as font:
        table, names = font["hmtx"], font.getBestCmap()
        advances = {code: table[glyph][0] for code, glyph in names.items()}
        return _Font(advances, font["head"].unitsPerEm)


def width(text: str, size: float, *, serif: bool = False, mono: bool = False, bold: bool = False
) -> float:  # fmt: skip
    """Return how wide a text is in one line, in points.

    Examples
    --------
    >>> width("mm", 10, mono=True)
    12.40...
    >>> width("Wide", 20) > width("Wide", 10) > width("il", 10)
    True
    """
    family = "DejaVuSansMono" if mono else "DejaVuSerif" if serif else "DejaVuSans"
    font = _font(family + "-Bold" * bold)
    # Where a font lacks a letter, another font's is no wider than this.
    return (
        sum(font.advances.get(ord(letter), font.units) for letter in text)
        * size
        * SLACK
        / font.units
    )


def _of_run(run: Run, text: str, size: float, *, serif: bool) -> float:
    """Return how wide a part of a run is."""
    is_serif = serif or run.italic or run.math
    scale = RAISED if run.baseline else 1
    return width(text, size * scale, serif=is_serif, mono=run.code, bold=run.bold)


def of_line(text: str, size: float, *, serif: bool = False) -> float:
    """Return how wide a text with marks is in one line."""
    return sum(_of_run(run, run.text, size, serif=serif) for run in runs(text))


def lines(text: str, size: float, room: float, *, serif: bool = False) -> int:
    """Return how many lines a text with marks takes in a room of some width.

    Examples
    --------
    >>> lines("one two three", 20, 1000), lines("one two three", 20, 80)
    (1, 3)
    """
    count, used = 1, 0.0
    word = 0.0  # what has come since the last space
    for run in runs(text):
        for i, part in enumerate(run.text.split(" ")):
            if i:
                space = _of_run(run, " ", size, serif=serif)
                used, word = used + word + space, 0.0
            word += _of_run(run, part, size, serif=serif)
            if used and used + word > room:
                count, used = count + 1, 0.0
    return count


def height(pieces: Sequence[Piece], size: float, room: float, *, serif: bool = False) -> float:
    """Return how high pieces of text are in a room of some width."""
    high, is_first = 0.0, True
    for piece in pieces:
        indent = 0.0 if piece.kind == "paragraph" else INDENT * size
        for i, (_, text) in enumerate(piece.items):
            if not is_first:
                high += size * (BETWEEN_ITEMS if i else BETWEEN)
            is_first = False
            high += lines(text, size, room - indent, serif=serif) * size * LINE * SPACING
    return high


def is_whole(text: str, size: float, room: float, *, serif: bool = False) -> bool:
    """Tell whether no word of a text is wider than the room."""
    return all(of_line(word, size, serif=serif) <= room for word in words(text))


def words(text: str) -> Iterable[str]:
    """Yield the words of a text, as the letters that are seen."""
    yield from "".join(run.text for run in runs(text)).split()
