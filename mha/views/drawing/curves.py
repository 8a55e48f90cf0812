"""Curves over one axis."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array
from mha.core.seeds import SeedRuns
from mha.runs.rounding import short
from mha.views.colours import head_colour
from mha.views.drawing.canvas import NARROW, WIDE, Figure, Panel, figure
from mha.views.drawing.svg import element, group, line, number, path, polygon, text, width_of

_DASHES = ("", "8 4", "2 4", "10 4 2 4", "12 3 2 3 2 3")
_HIGH = 240
_GAP = 26  # between the samples of the key


def curves(
    x: ArrayLike,
    series: Mapping[str, ArrayLike],
    *,
    xlabel: str,
    ylabel: str,
    alt: str,
    log: str = "",
    points: Sequence[str] = (),
    xticks: Sequence[float] | Mapping[float, str] = (),
) -> Figure:
    """Draw curves over one axis, each with its own colour and dash, each named above.

    Parameters
    ----------
    x : array_like, shape (n,)
    series : mapping of str to array_like of shape (n,)
        The curves by their labels.
    xlabel, ylabel, alt : str
        What the axes are, and what is to be seen.
    log : str, default ""
        "x", "y" or "xy": which axes are logarithmic.
    points : sequence of str, optional
        Labels of the series drawn as points rather than as a line: what was measured.
    xticks : sequence of float or mapping of float to str, optional
        Where to put ticks on the horizontal axis, and what to write there.

    Examples
    --------
    >>> curves([1, 2], {"square": [1, 4]}, xlabel="x", ylabel="y", alt="A rising curve").alt
    'A rising curve'
    """
    drawn = {label: np.asarray(y, dtype=np.float64) for label, y in series.items()}
    labels = xticks if isinstance(xticks, Mapping) else {t: short(t) for t in xticks}
    across = np.asarray(x, dtype=np.float64)
    plots = []
    for room in (min(WIDE, 600), NARROW):
        plot = _Plot.of(across, drawn, log, room, labels)
        parts = [*plot.axes(labels, xlabel, ylabel)]
        for i, (label, y) in enumerate(drawn.items()):
            curve = plot.series(across, y, i, label in points)
            parts.append(group(curve, colour=head_colour(i)))
        height = plot.bottom + plot.below + (24 if xlabel else 0)
        key = [_key(list(series), points, room)] if len(series) > 1 else []
        plots.append([*key, Panel(room, height, "".join(parts))])
    return figure(plots[0], alt, narrow=plots[1], gap=(999, 8))


def of_seeds(
    x: Sequence[float],
    runs: Sequence[SeedRuns],
    *,
    xlabel: str,
    ylabel: str,
    alt: str,
    log: str = "",
) -> Figure:
    """Draw what each seed gave as a point, and a line through the medians.

    Parameters
    ----------
    x : sequence of float
        Where the runs stand on the horizontal axis.
    runs : sequence of SeedRuns
        With a number for each seed.
    xlabel, ylabel, alt, log : str
        As in `curves`.

    Examples
    --------
    >>> runs = [SeedRuns(np.array([1.0, 2.0])), SeedRuns(np.array([2.0, 4.0]))]
    >>> of_seeds([1, 2], runs, xlabel="x", ylabel="y", alt="Two medians rise").alt
    'Two medians rise'
    """
    across = np.concatenate([np.full(len(run.values), at) for at, run in zip(x, runs, strict=True)])
    medians = [float(run.median) for run in runs]
    none = np.full(len(across), np.nan)
    series = {
        "each seed": np.concatenate([*(run.values for run in runs), none[: len(runs)]]),
        "median": np.concatenate([none, medians]),
    }
    return curves(
        np.concatenate([across, x]), series, xlabel=xlabel, ylabel=ylabel, alt=alt, log=log,
        points=("each seed",), xticks=x,
    )  # fmt: skip


def _key(labels: Sequence[str], points: Sequence[str], room: float) -> Panel:
    """Return what the curves are: a piece of each with its label, in rows."""
    parts, x, y = [], 0.0, 0.0
    for i, label in enumerate(labels):
        width = 36 + width_of(label)
        if x and x + width > room:
            x, y = 0.0, y + 22
        sample = _marker(i, x + 14, y + 9) if label in points else _sample(i, x, y + 9)
        parts.append(group(sample, text(x + 35, y + 14, label), colour=head_colour(i)))
        x += width + _GAP
    return Panel(room, y + 20, "".join(parts))


def _sample(i: int, x: float, y: float) -> str:
    return line(x, y, x + 28, y, "f-curve", stroke_dasharray=_DASHES[i % len(_DASHES)])


def _marker(i: int, x: float, y: float) -> str:
    """Return the mark of a measured point; its form tells the series apart without colour."""
    form = i % 5
    if form == 0:
        return element("circle", cx=x, cy=y, r=4, cls="f-head")
    sides = {1: 4, 2: 3, 3: 4, 4: 3}[form]
    start = {1: math.pi / 4, 2: -math.pi / 2, 3: 0.0, 4: math.pi / 2}[form]
    angles = [start + 2 * math.pi * k / sides for k in range(sides)]
    return polygon([(x + 5.4 * math.cos(a), y + 5.4 * math.sin(a)) for a in angles], "f-head")


@dataclass(frozen=True)
class _Plot:
    """Where numbers stand between the axes."""

    xs: tuple[float, float]
    ys: tuple[float, float]
    log: str
    left: float
    right: float
    turned: bool
    longest: float
    lines: int
    yticks: tuple[float, ...]

    top = 34.0  # the name of the vertical axis stands above it

    @property
    def bottom(self) -> float:
        """The height of the horizontal axis."""
        return self.top + _HIGH

    @property
    def below(self) -> float:
        """How high the labels of its ticks are."""
        return 14 + self.longest * 0.72 if self.turned else 24 + 17 * (self.lines - 1)

    @classmethod
    def of(
        cls, x: Array, series: Mapping[str, Array], log: str, room: float,
        labels: Mapping[float, str],
    ) -> "_Plot":  # fmt: skip
        """Return the axes that hold all numbers."""
        every = np.concatenate(list(series.values()))
        every = every[np.isfinite(every) & (("y" not in log) | (every > 0))]
        yticks = tuple(ticks(float(every.min()), float(every.max()), "y" in log))
        left = max(width_of(_written(t)) for t in yticks) + 12
        # Words are all shown, numbers as far as there is room.
        words = any(words[:1].isalpha() for words in labels.values())
        lines = [line for words in labels.values() for line in words.split("\n")]
        longest = max(map(width_of, lines), default=0.0)
        turned = words and longest + 6 > (room - left - 16) / max(len(labels), 1)
        if turned:  # a label is one line then
            longest = max(width_of(words) for words in labels.values())
        high = 1 + max((words.count("\n") for words in labels.values()), default=0)
        pad = 0.04 if words else 0.0
        low, span = float(x.min()), float(np.ptp(x))
        ends = (low - pad * span, low + span + pad * span)
        return cls(
            ends, (yticks[0], yticks[-1]), log, left, room - 16, turned, longest, high, yticks
        )  # fmt: skip

    def x(self, value: float) -> float:
        """Return how far right a number stands."""
        return self.left + _share(value, self.xs, "x" in self.log) * (self.right - self.left)

    def y(self, value: float) -> float:
        """Return how far down a number stands."""
        return self.bottom - _share(value, self.ys, "y" in self.log) * _HIGH

    def axes(self, labels: Mapping[float, str], xlabel: str, ylabel: str) -> list[str]:
        """Return the lines, ticks and labels."""
        parts = []
        for tick in self.yticks:
            y = self.y(tick)
            parts.append(line(self.left, y, self.right, y, "f-rule"))
            parts.append(text(self.left - 8, y + 5, _written(tick), "", "end"))
        parts.append(line(self.left, self.bottom, self.right, self.bottom))
        parts += self._xticks(labels or {t: _written(t) for t in self._own_xticks()})
        if xlabel:
            middle = (self.left + self.right) / 2
            y = self.bottom + self.below + 17
            parts.append(text(middle, y, xlabel, "f-soft", "middle"))
        parts.append(text(0, 14, ylabel, "f-soft"))
        return parts

    def _own_xticks(self) -> list[float]:
        low, high = self.xs
        return [t for t in ticks(low, high, "x" in self.log) if low <= t <= high]

    def _xticks(self, labels: Mapping[float, str]) -> list[str]:
        parts, last = [], -math.inf
        for tick, words in labels.items():
            x = self.x(tick)
            parts.append(line(x, self.bottom, x, self.bottom + 5))
            half = max(map(width_of, words.split("\n"))) / 2
            if self.turned:
                turn = f"rotate(-45 {number(x + 5)} {number(self.bottom + 18)})"
                words_at = text(x + 5, self.bottom + 18, words.replace("\n", " "), "", "end")
                parts.append(words_at.replace("<text", f'<text transform="{turn}"', 1))
            elif x - half > last + 4:
                parts += [
                    text(x, self.bottom + 20 + 17 * i, part, "", "middle")
                    for i, part in enumerate(words.split("\n"))
                ]
                last = x + half
        return parts

    def series(self, across: Array, values: Array, i: int, as_points: bool) -> str:
        """Return one curve, or its points."""
        shown = [
            (self.x(x), self.y(y))
            for x, y in zip(across, values, strict=True)
            if np.isfinite(y) and ("y" not in self.log or y > 0)
        ]
        if as_points:
            return "".join(_marker(i, x, y) for x, y in shown)
        steps = "L".join(f"{number(x)} {number(y)}" for x, y in shown)
        return path(f"M{steps}", "f-curve", stroke_dasharray=_DASHES[i % len(_DASHES)])


def _share(value: float, ends: tuple[float, float], log: bool) -> float:
    low, high = ends
    if log:
        value, low, high = math.log(value), math.log(low), math.log(high)
    return (value - low) / ((high - low) or 1.0)


def _written(tick: float) -> str:
    return short(tick, 6)


def ticks(low: float, high: float, log: bool) -> list[float]:
    """Return round numbers that hold two numbers between them.

    Examples
    --------
    >>> ticks(0.1, 3.9, log=False)
    [0.0, 1.0, 2.0, 3.0, 4.0]
    >>> ticks(0.3, 40, log=True)
    [0.1, 1.0, 10.0, 100.0]
    """
    if log:
        first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
        if last - first < 2:
            steps = [float(f"{m}e{e}") for e in range(first, last + 1) for m in (1, 2, 5)]
            below = [s for s in steps if s <= low * 1.0001]
            above = [s for s in steps if s >= high * 0.9999]
            return [s for s in steps if below[-1] <= s <= above[0]]
        every = max(1, math.ceil((last - first) / 6))
        return [float(f"1e{e}") for e in range(first, last + every, every)]
    span = (high - low) or abs(high) or 1.0
    size = 10 ** math.floor(math.log10(span / 4))
    step = next(size * m for m in (1, 2, 2.5, 5, 10) if span / (size * m) <= 5)
    start, stop = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 10) for k in range(start, stop + 1)]
