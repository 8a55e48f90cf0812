"""The widths and heights of texts in the widest fonts with which a program may show a deck.

A deck names fonts that PowerPoint has. A program without them uses others: Liberation's, which have
the same widths, or DejaVu's, which are a sixth wider. A text that fits in DejaVu's fits in all of
them. These fonts come with matplotlib, so the result does not depend on the fonts of the system.
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
# As shares of the font size:
RAISED = 0.67  # the size of an index or an exponent
LINE = 1.2  # the height of a line in DejaVu's fonts, with some slack
INDENT = 1.3  # the indent of a list
BETWEEN, BETWEEN_ITEMS = 0.6, 0.45  # the space between paragraphs, and between items of a list

SLACK = 1.03  # a factor for widths of letters, which programs round differently
SPACING = 0.95  # the line spacing of decks, as a share of LINE


class _Font(NamedTuple):
    advances: dict[int, int]
    units: int


@cache
def _font(name: str) -> _Font:
    """Return the advance widths of a font's characters by their codes, and its units per em."""
    with TTFont(FONTS / f"{name}.ttf") as font:
        table, names = font["hmtx"], font.getBestCmap()
        advances = {code: table[glyph][0] for code, glyph in names.items()}
        return _Font(advances, font["head"].unitsPerEm)


def width(text: str, size: float, *, serif: bool = False, mono: bool = False, bold: bool = False
) -> float:  # fmt: skip
    """Return the width of a text on one line, in points.

    Examples
    --------
    >>> width("mm", 10, mono=True)
    12.40...
    >>> width("Wide", 20) > width("Wide", 10) > width("il", 10)
    True
    """
    family = "DejaVuSansMono" if mono else "DejaVuSerif" if serif else "DejaVuSans"
    font = _font(family + "-Bold" * bold)
    # A character that the font lacks is taken from another font, and is at most one em wide.
    return (
        sum(font.advances.get(ord(letter), font.units) for letter in text)
        * size
        * SLACK
        / font.units
    )


def _of_run(run: Run, text: str, size: float, *, serif: bool) -> float:
    """Return the width of a part of a run on one line."""
    is_serif = serif or run.italic or run.math
    scale = RAISED if run.baseline else 1
    return width(text, size * scale, serif=is_serif, mono=run.code, bold=run.bold)


def line_width(text: str, size: float, *, serif: bool = False) -> float:
    """Return the width of a text with Markdown marks on one line."""
    return sum(_of_run(run, run.text, size, serif=serif) for run in runs(text))


def count_lines(text: str, size: float, room: float, *, serif: bool = False) -> int:
    """Return the number of lines of a text with Markdown marks in a width of `room`.

    Examples
    --------
    >>> count_lines("one two three", 20, 1000), count_lines("one two three", 20, 80)
    (1, 3)
    """
    count, used = 1, 0.0
    word = 0.0  # the width since the last space
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
    """Return the height of pieces of text in a width of `room`."""
    high, is_first = 0.0, True
    for piece in pieces:
        indent = 0.0 if piece.kind == "paragraph" else INDENT * size
        for i, (_, text) in enumerate(piece.items):
            if not is_first:
                high += size * (BETWEEN_ITEMS if i else BETWEEN)
            is_first = False
            high += count_lines(text, size, room - indent, serif=serif) * size * LINE * SPACING
    return high


def words(text: str) -> Iterable[str]:
    """Yield the words of a text without its Markdown marks."""
    yield from "".join(run.text for run in runs(text)).split()
