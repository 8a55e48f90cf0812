"""The three attentions of an encoder and a decoder, as heatmaps in one square."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array
from mha.runs.rounding import shown
from mha.views.colours import head_colour
from mha.views.drawing.canvas import Figure, Panel, figure
from mha.views.drawing.svg import (
    NEUTRAL,
    arrow,
    group,
    hatched,
    middle_of,
    plain,
    rectangle,
    text,
    width_of,
)  # fmt: skip

_ROW, _GAP, _EDGE, _TOP = 34.0, 10.0, 6.0, 46.0
_KINDS = (
    ("1 encoder self-attention", "a source word attends to", "all source words"),
    ("2 causal self-attention", "a target word attends to", "itself and earlier words"),
    ("3 cross-attention", "a target word attends to", "the encoder's outputs"),
)
_EMPTY_QUARTER = ("no weights:", "the source", "is read first")


def three_attentions(
    encoder: ArrayLike,
    causal: ArrayLike,
    cross: ArrayLike,
    *,
    source: Sequence[str],
    target: Sequence[str],
    written: Sequence[str],
    alt: str,
) -> Figure:
    """Draw the attention weights of an encoder and a decoder in one square, rows for queries.

    Parameters
    ----------
    encoder : array_like, shape (m, m)
    causal : array_like, shape (n, n)
        Weights above its diagonal are masked and stay blank.
    cross : array_like, shape (n, m)
    source, target : sequence of str
        The m words of the encoder, and the n words of the decoder.
    written : sequence of str
        The predicted word after each word of the target.
    alt : str

    Examples
    --------
    >>> one = [[1.0]]
    >>> three_attentions(one, one, one, source=["a"], target=["b"], written=["c"], alt="Three").alt
    'Three'
    """
    weights = [np.asarray(array, dtype=np.float64) for array in (encoder, causal, cross)]
    weights[1] = np.where(np.tri(len(target), dtype=bool), weights[1], np.nan)
    wide, small = (
        _square(weights, source, target, written, cell, face)
        for cell, face in ((46.0, ""), (37.0, " f-small"))
    )
    return figure([wide, _legend(_TOP)], alt, narrow=[small, _legend(0)], gap=(32, 16))


def _square(
    weights: Sequence[Array],
    source: Sequence[str],
    target: Sequence[str],
    written: Sequence[str],
    cell: float,
    face: str,
) -> Panel:
    """Return the square, with source and target as labels of rows and columns."""
    m, n = len(source), len(target)
    left = max(width_of(word, 16) for word in (*source, *target)) + 12
    right, low = left + m * cell + _GAP, _TOP + m * _ROW + _GAP
    corners = ((left, _TOP), (right, low), (left, low))
    parts = [
        plain(left, 14, "rows: queries, columns: keys", "f-soft"),
        *_columns(source, left, _TOP, cell),
        *_columns(target, right, _TOP, cell),
        *_rows(source, left, _TOP),
        *_rows(target, left, low),
    ]
    parts += [_block(kind, weights[kind], *corners[kind], cell, face) for kind in range(3)]
    end = right + n * cell
    for i, word in enumerate(written):
        y = low + (i + 0.5) * _ROW
        parts.append(arrow(end + 4, y, end + 20, y, stroke="f-quiet", fill="f-soft", point=6))
        parts.append(plain(end + 24, middle_of(y), word, "f-token"))
    middle, height = (right + end) / 2, _TOP + m * _ROW / 2
    parts += [
        text(middle, height - 14 + 18 * i, words, "f-soft f-below", "middle")
        for i, words in enumerate(_EMPTY_QUARTER)
    ]
    broad = max(width_of(word, 17) for word in written)
    return Panel(end + 24 + broad, low + n * _ROW + 1, "".join(parts))


def _columns(words: Sequence[str], left: float, top: float, cell: float) -> list[str]:
    return [
        plain(left + (i + 0.5) * cell, top - 8, word, "f-token", "middle")
        for i, word in enumerate(words)
    ]


def _rows(words: Sequence[str], left: float, top: float) -> list[str]:
    return [
        plain(left - 10, middle_of(top + (i + 0.5) * _ROW), word, "f-token", "end")
        for i, word in enumerate(words)
    ]


def _block(kind: int, weights: Array, left: float, top: float, cell: float, face: str) -> str:
    """Return one kind of attention in its colour, with its pattern along the left edge."""
    rows, columns = weights.shape
    parts = [hatched(kind, left, top, _EDGE, rows * _ROW)]
    for (i, j), weight in np.ndenumerate(weights):
        if np.isnan(weight):
            continue
        x, y = left + j * cell, top + i * _ROW
        inset = _EDGE if j == 0 else 1.0
        box = (x + inset, y + 1, cell - inset - 1, _ROW - 2)
        parts.append(rectangle(*box, "f-heat", style=f"--weight: {weight:.4g}"))
        bold = " f-strong" if weight == np.nanmax(weights[i]) else ""
        at = x + (cell + (_EDGE if j == 0 else 0)) / 2
        words = shown(float(weight), 2)
        parts.append(plain(at, middle_of(y + _ROW / 2), words, f"f-number{bold}{face}", "middle"))
    parts.append(rectangle(left, top, columns * cell, rows * _ROW, "f-stroke"))
    return group(*parts, colour=head_colour(kind))


def _legend(top: float) -> Panel:
    """Return the legend of the three kinds, with their colours and patterns."""
    parts = []
    for kind, (name, *lines) in enumerate(_KINDS):
        y = top + 66.0 * kind
        mark = group(hatched(kind, 0, y, _EDGE + 6, 52), colour=head_colour(kind))
        parts += [mark, plain(22, y + 13, name, "f-strong")]
        parts += [plain(22, y + 31 + 17 * i, line, "f-soft") for i, line in enumerate(lines)]
    width = 22 + max(width_of(line) for _, *lines in _KINDS for line in lines)
    return Panel(width, top + 2 * 66 + 54, group(*parts, colour=NEUTRAL))
