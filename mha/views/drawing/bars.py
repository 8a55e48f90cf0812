"""Bar charts of vectors, and of the heads' shares of an output."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array
from mha.runs.record import Trace
from mha.runs.rounding import dimensions, short, shown
from mha.runs.stages import STAGES
from mha.views.colours import head_colour
from mha.views.drawing.canvas import NARROW, WIDE, Figure, Panel, figure
from mha.views.drawing.svg import (
    NEUTRAL,
    group,
    hatched,
    line,
    plain,
    rectangle,
    text,
    width_of,
)  # fmt: skip

_BAR_HEIGHT = 92
"""Pixels between the lowest and the highest number of a panel."""


def vector_bars(
    array: ArrayLike,
    *,
    rows: Sequence[str],
    symbol: str,
    alt: str | None = None,
    colour: str = NEUTRAL,
    places: int = 2,
) -> Figure:
    """Draw vectors as bars, with one panel per vector and one bar with its number per component.

    Parameters
    ----------
    array : array_like, shape (len(rows), d)
    rows : sequence of str
        Label of each vector, such as its token.
    symbol : str
        Letter of the components, such as "x".
    alt : str, optional
        Alternative text, by default all numbers and the largest component.
    colour : str, default neutral, as for numbers without heads
    places : int, default 2

    Examples
    --------
    >>> vector_bars([[0.5, 1.0]], rows=["cat"], symbol="x").alt
    'Bars, one panel per token. cat: 0.5, 1. The longest bar is x₂ of cat, 1.'
    """
    array = np.asarray(array, dtype=np.float64)
    scale = _Scale(array)
    names = dimensions(symbol, array.shape[1])
    panels = [
        _vector(label, vector, names, scale, colour, places)
        for label, vector in zip(rows, array, strict=True)
    ]
    return figure(panels, alt or _vectors_in_words(array, rows, names, places), gap=(28, 20))


class _Scale:
    """The vertical scale of a panel, which always contains zero."""

    def __init__(self, array: Array, top: float = 18, one: float | None = None) -> None:
        self.low, self.high = min(0.0, float(array.min())), max(0.0, float(array.max()))
        self.top = top
        self.one = one or _BAR_HEIGHT / ((self.high - self.low) or 1.0)
        self.bottom = self(self.low) + (18 if self.low < 0 else 0)

    def __call__(self, value: float) -> float:
        return self.top + (self.high - value) * self.one

    def of(self, array: Array, top: float) -> _Scale:
        """Return a scale with the same unit for a panel with other numbers."""
        return _Scale(array, top, self.one)


def _bar(x: float, width: float, value: float, scale: _Scale, words: str, fill: str = "") -> str:
    """Return a bar from zero to a number, the number at its end."""
    ends = sorted((scale(0), scale(value)))
    bar = fill or rectangle(x, ends[0], width, ends[1] - ends[0], "f-part")
    y = ends[0] - 5 if value >= 0 else ends[1] + 15
    return bar + text(x + width / 2, y, words, "", "middle")


def _vector(
    label: str, vector: Array, names: Sequence[str], scale: _Scale, colour: str, places: int
) -> Panel:
    """Return the panel of one vector: a bar per component, and the label below."""
    numbers = [short(float(value), places) for value in vector]
    step = max(30.0, *(width_of(number) + 5 for number in numbers))
    lines = label.split("\n")
    width = max(step * len(vector), *(width_of(words, 17) for words in lines))
    left = (width - step * len(vector)) / 2
    parts = [
        _bar(left + (i + 0.5) * step - 11, 22, float(value), scale, numbers[i])
        for i, value in enumerate(vector)
    ]
    parts.append(line(left, scale(0), left + step * len(vector), scale(0)))
    below = scale.bottom + 17
    parts += [
        text(left + (i + 0.5) * step, below, name, "f-soft", "middle")
        for i, name in enumerate(names)
        if any(not name.isdigit() and name.strip("₀₁₂₃₄₅₆₇₈₉") for name in names)
    ]
    parts += [
        plain(width / 2, below + 24 + 19 * i, words, "f-token", "middle")
        for i, words in enumerate(lines)
    ]
    height = below + 30 + 19 * (len(lines) - 1)
    return Panel(width, height, group(*parts, colour=colour))


def _vectors_in_words(array: Array, rows: Sequence[str], names: Sequence[str], places: int) -> str:
    words = "; ".join(
        f"{label}: {', '.join(short(float(x), places) for x in vector)}"
        for label, vector in zip(rows, array, strict=True)
    )
    i, j = divmod(int(np.abs(array).argmax()), array.shape[1])
    longest = f"{names[j]} of {rows[i]}, {short(float(array[i, j]), places)}"
    return f"Bars, one panel per token. {words}. The longest bar is {longest}."


def output_shares(run: Trace, *, places: int = 2) -> Figure:
    """Draw each token's output and the heads' shares, which sum to it, as bars.

    Parameters
    ----------
    run : Trace
        Run with an output projection.
    places : int, default 2

    Raises
    ------
    ValueError
        If the example has no output projection.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> output_shares(trace(load_example("the-cat-sat"))).alt[:56]
    'Bars, one panel per token: for each output component the'
    """
    if run.output is None:
        raise ValueError(f"{run.example.name} has no w_o; an output projection is wanted")
    parts, arrays = zip(*run.output_parts, strict=True)
    shares = np.stack(arrays)
    scale = _Scale(np.concatenate([shares, run.output[None]]))
    names = [*parts, STAGES["output"].title]
    wide, narrow = [_legend(names, WIDE)], [_legend(names, NARROW)]
    for i, token in enumerate(run.tokens):
        for panels, room in ((wide, WIDE), (narrow, NARROW)):
            panels += _token_panels(token, shares[:, i], run.output[i], scale, places, room)
    alt = _shares_in_words(run.tokens[0], parts, shares[:, 0, 0], run.output[0, 0], places)
    return figure(wide, alt, narrow=narrow)


def _legend(names: Sequence[str], room: float) -> Panel:
    """Return the legend of the bars, in rows as wide as `room`; the last entry is the output."""
    parts, x, y = [], 0.0, 0.0
    for i, name in enumerate(names):
        width = 24 + width_of(name)
        if x and x + width > room:
            x, y = 0.0, y + 22
        parts.append(_legend_entry(x, y, i, name, is_last=i == len(names) - 1))
        x += width + 18
    return Panel(room, y + 20, "".join(parts), breaks=True)


def _legend_entry(x: float, y: float, i: int, name: str, is_last: bool) -> str:
    fill = rectangle(x, y + 2, 16, 14, "f-part") if is_last else hatched(i, x, y + 2, 16, 14)
    colour = NEUTRAL if is_last else head_colour(i)
    return group(fill, text(x + 23, y + 14, name), colour=colour)


def _token_panels(
    token: str, parts: Array, whole: Array, scale: _Scale, places: int, room: float
) -> list[Panel]:
    """Return one token's panels, each with as many components as fit into a row."""
    bars = np.vstack([parts, whole])
    numbers = [[short(float(x), places) for x in row] for row in bars]
    step = max(28.0, *(width_of(n) + 3 for row in numbers for n in row))
    width = step * len(bars) + 16
    rows = -(-len(whole) // max(1, int((room + 16) // width)))
    each = -(-len(whole) // rows)  # components per row, equal if there are several rows
    names = dimensions(STAGES["output"].symbol, len(whole))
    panels = []
    for start in range(0, len(whole), each):
        shapes = [plain(0, 14, token, "f-token")] if start == 0 else []
        chosen = range(start, min(start + each, len(whole)))
        here = scale.of(bars[:, chosen], 40 if start == 0 else 18)
        for place, j in enumerate(chosen):
            x = place * width
            shapes.append(text(x + (width - 16) / 2, here.bottom + 17, names[j], "", "middle"))
            shapes += [
                _output_bar(
                    i, x + (i + 0.5) * step - 11, float(value), here, numbers[i][j], len(parts)
                )
                for i, value in enumerate(bars[:, j])
            ]
        total = width * len(chosen) - 16
        shapes.append(line(0, here(0), total, here(0)))
        panels.append(Panel(total, here.bottom + 24, "".join(shapes), breaks=start == 0))
    return panels


def _output_bar(i: int, x: float, value: float, scale: _Scale, words: str, heads: int) -> str:
    """Return the bar of a head's share, or after the heads' bars that of the output."""
    ends = sorted((scale(0), scale(value)))
    box = (x, ends[0], 22, ends[1] - ends[0])
    is_whole = i == heads
    fill = rectangle(*box, "f-part") if is_whole else hatched(i, *box)
    colour = NEUTRAL if is_whole else head_colour(i)
    return group(_bar(x, 22, value, scale, words, fill), colour=colour)


def _shares_in_words(
    token: str, names: Sequence[str], shares: Array, output: float, places: int
) -> str:
    """Return the alternative text, with the numbers of the first component of the first token."""
    parts = ", ".join(
        f"{name} {shown(float(share), places)}" for name, share in zip(names, shares, strict=True)
    )
    largest = names[int(np.abs(shares).argmax())]
    return (
        "Bars, one panel per token: for each output component the heads' shares and the output they"
        f" add up to. For {token}, first component: {parts}, output"
        f" {shown(float(output), places)}; the largest share is {largest}'s."
    )
