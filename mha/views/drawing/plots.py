"""Plots with axes, drawn by matplotlib: curves, counts and rows of weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array
from mha.core.seeds import SeedRuns
from mha.runs.rounding import short, shown
from mha.views.colours import head_colour, head_hatch
from mha.views.drawing.axes import plot_panel
from mha.views.drawing.canvas import NARROW, WIDE, Figure, Panel, figure
from mha.views.drawing.svg import NEUTRAL, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Plot

_DASHES = ("-", (0, (4, 2)), (0, (1, 2)), (0, (5, 2, 1, 2)), (0, (6, 1.5, 1, 1, 1, 1.5)))
_MARKERS = "os^Dv"
_AXIS_HEIGHT = 240  # the height between the axes of curves
_PANEL_GAP = 20  # pixels between two panels of weights


# ---- Curves ----


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
    """Draw curves over one axis, each with its own colour and dashes, and a legend above.

    Parameters
    ----------
    x : array_like, shape (n,)
    series : mapping of str to array_like of shape (n,)
        The curves by their labels.
    xlabel, ylabel, alt : str
        Labels of the axes, and the alternative text.
    log : str, default ""
        "x", "y" or "xy": which axes are logarithmic.
    points : sequence of str, optional
        Labels of the series that are drawn as points, such as measurements, not as a line.
    xticks : sequence of float or mapping of float to str, optional
        Ticks on the horizontal axis, with their labels if it is a mapping.

    Examples
    --------
    >>> curves([1, 2], {"square": [1, 4]}, xlabel="x", ylabel="y", alt="A rising curve").alt
    'A rising curve'
    """
    across = np.asarray(x, dtype=np.float64)
    drawn = {label: np.asarray(y, dtype=np.float64) for label, y in series.items()}
    labels = xticks if isinstance(xticks, Mapping) else {tick: short(tick) for tick in xticks}

    def plot(room: float, mark: str) -> list[Panel]:
        named = _legend_rows(list(drawn), room) if len(drawn) > 1 else 0

        def draw(page: Plot) -> None:
            axes = page.add_subplot()
            _set_scales(axes, across, np.concatenate(list(drawn.values())), log)
            below = _tick_label_height(labels, room)
            axes.set_xlabel(xlabel, gid="f-soft", labelpad=21 + below if labels else 4)
            axes.set_title(ylabel, loc="left", fontsize=12, pad=9, gid="f-soft")
            lines = [
                _draw_series(axes, across, y, i, label, label in points)
                for i, (label, y) in enumerate(drawn.items())
            ]
            page.set_layout_engine("constrained", w_pad=2 / 72, h_pad=7 / 72)
            if labels:
                _label_ticks(axes, labels, room)
            for tick in axes.xaxis.get_major_ticks():
                tick.tick1line.set_gid("f-line")
            if named:
                _draw_legend(page, lines, room)

        height = _AXIS_HEIGHT + 100 + 20 * named + _tick_label_height(labels, room)
        return [plot_panel(draw, room, height, mark)]

    return figure(plot(min(WIDE, 600), ""), alt, narrow=plot(NARROW, "n"))


def of_seeds(
    x: Sequence[float],
    runs: Sequence[SeedRuns],
    *,
    xlabel: str,
    ylabel: str,
    alt: str,
    log: str = "",
) -> Figure:
    """Draw the result of each seed as a point, and a line through the medians.

    Parameters
    ----------
    x : sequence of float
        Position of each run on the horizontal axis.
    runs : sequence of SeedRuns
        Runs with one number per seed.
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


def _set_scales(axes: Axes, across: Array, values: Array, log: str) -> None:
    """Set the limits of both axes, and ticks at round numbers."""
    values = values[np.isfinite(values) & (("y" not in log) | (values > 0))]
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")
    axes.minorticks_off()
    ticks = _round_numbers(float(values.min()), float(values.max()), "y" in log)
    axes.set_ylim(ticks[0], ticks[-1])
    axes.set_yticks(ticks, [short(tick, 6) for tick in ticks])
    for tick in ticks:
        axes.axhline(tick, gid="f-rule")
    low, high = float(across.min()), float(across.max())
    axes.set_xlim(low, high)
    between = [tick for tick in _round_numbers(low, high, "x" in log) if low <= tick <= high]
    axes.set_xticks(between, [short(tick, 6) for tick in between])
    axes.spines.bottom.set_gid("f-line")


def _round_numbers(low: float, high: float, log: bool) -> list[float]:
    """Return round numbers that cover an interval.

    Examples
    --------
    >>> _round_numbers(0.1, 3.9, log=False)
    [0.0, 1.0, 2.0, 3.0, 4.0]
    >>> _round_numbers(0.3, 40, log=True)
    [0.1, 1.0, 10.0, 100.0]
    >>> _round_numbers(0.15, 0.96, log=True)
    [0.1, 0.2, 0.5, 1.0]
    """
    from matplotlib.ticker import LogLocator, MaxNLocator

    high = high if high > low else low + (abs(low) or 1.0)
    few = log and high < 100 * low
    locator = (
        LogLocator(subs=(1, 2, 5) if few else (1,), numticks=8)
        if log
        else MaxNLocator(5, steps=[1, 2, 2.5, 5, 10])
    )
    beyond = 10 * high if few else high  # else the power of ten above 5 is left out
    found = [float(f"{tick:.10g}") + 0.0 for tick in locator.tick_values(low, beyond)]
    first = max(tick for tick in found if tick <= low * (1 + 1e-9) or tick == found[0])
    last = min(tick for tick in found if tick >= high * (1 - 1e-9) or tick == found[-1])
    return [tick for tick in found if first <= tick <= last]


def _label_ticks(axes: Axes, labels: Mapping[float, str], room: float) -> None:
    """Write tick labels below the axis: all words, but only the numbers that do not overlap."""
    axes.set_xticks(list(labels), [""] * len(labels))
    if _are_words(labels):
        low, high = axes.get_xlim()
        axes.set_xlim(low - 0.04 * (high - low), high + 0.04 * (high - low))
    turned, last = _are_slanted(labels, room), -np.inf
    for tick, words in labels.items():
        at = axes.transData.transform((tick, axes.get_ylim()[0]))[0]
        at = (at - axes.bbox.x0) / axes.bbox.width * (room - 60)
        half = max(map(width_of, words.split("\n"))) / 2
        if not turned and at - half <= last + 4:
            continue
        last = at + half
        for row, line in enumerate([words.replace("\n", " ")] if turned else words.split("\n")):
            axes.annotate(
                line, (tick, 0), (5 if turned else 0, -9 - 17 * row),
                xycoords=("data", "axes fraction"), textcoords="offset points",
                ha="right" if turned else "center", va="top", rotation=45 if turned else 0,
                rotation_mode="anchor",
            )  # fmt: skip


def _are_words(labels: Mapping[float, str]) -> bool:
    return any(words[:1].isalpha() for words in labels.values())


def _are_slanted(labels: Mapping[float, str], room: float) -> bool:
    """Return whether the labels are words that fit below the axis only if they are slanted."""
    lines = [line for words in labels.values() for line in words.split("\n")]
    each = (room - 60) / max(len(labels), 1)
    return _are_words(labels) and max(map(width_of, lines)) + 6 > each


def _tick_label_height(labels: Mapping[float, str], room: float) -> float:
    """Return the height of the tick labels beyond that of one line of text."""
    if _are_slanted(labels, room):
        return 0.72 * max(width_of(words) for words in labels.values()) - 10
    return 17.0 * max((words.count("\n") for words in labels.values()), default=0)


def _draw_series(
    axes: Axes, across: Array, values: Array, i: int, label: str, as_points: bool
) -> tuple[Any, str, str]:  # fmt: skip
    """Draw a series as a curve or as points; return the artist, its label and its `gid`."""
    there = np.isfinite(values)
    form: dict[str, Any] = {"linestyle": _DASHES[i % len(_DASHES)]}
    if as_points:
        form = {"linestyle": "None", "marker": _MARKERS[i % len(_MARKERS)], "markersize": 8}
    looks = f"{'f-head' if as_points else 'f-curve'} {head_colour(i)}"
    (line,) = axes.plot(across[there], values[there], linewidth=2, clip_on=False, gid=looks, **form)
    return line, label, looks


def _draw_legend(page: Plot, named: Sequence[tuple[Any, str, str]], room: float) -> None:
    """Draw the legend above a plot, from artists, their labels and their `gid`."""
    things, labels, looks = zip(*named, strict=True)
    key = page.legend(
        things, labels, loc="outside upper left", ncols=_legend_columns(labels, room),
        frameon=False, fontsize=12, handlelength=2.3,
        borderpad=0, borderaxespad=0.35, columnspacing=1.6, labelspacing=0.45,
    )  # fmt: skip
    for sample, look in zip(key.legend_handles, looks, strict=True):
        if sample is not None:
            sample.set_gid(look)


def _legend_columns(labels: Sequence[str], room: float) -> int:
    """Return the number of columns of the legend."""
    return max(1, min(len(labels), int(room // (56 + max(map(width_of, labels))))))


def _legend_rows(labels: Sequence[str], room: float) -> int:
    return -(-len(labels) // _legend_columns(labels, room))


# ---- Counts ----


def stacked_counts(rows: Sequence[str], parts: Mapping[str, Sequence[int]]) -> Figure:
    """Draw counts as stacked horizontal bars, with one bar per row.

    Parameters
    ----------
    rows : sequence of str
        Labels, from top to bottom.
    parts : mapping of str to sequence of int, as long as `rows`
        The counts of each part in all rows, by the name of the part. A part has one colour and
        pattern.

    Raises
    ------
    ValueError
        If a part does not have a count for each row.

    Examples
    --------
    >>> stacked_counts(["a", "b"], {"right": [1, 2], "wrong": [3, 0]}).alt
    'Bars. a: right 1, wrong 3. b: right 2, wrong 0. The longest bar is a, 4.'
    """
    for part, counts in parts.items():
        if len(counts) != len(rows):
            raise ValueError(
                f"{part} has {len(counts)} counts for {len(rows)} rows; one per row is wanted"
            )
    totals = np.sum(list(parts.values()), axis=0)
    description = [
        f"{row}: " + ", ".join(f"{part} {counts[i]}" for part, counts in parts.items())
        for i, row in enumerate(rows)
    ]
    description.append(f"The longest bar is {rows[int(totals.argmax())]}, {totals.max()}")

    def plot(room: float, mark: str) -> list[Panel]:
        above = 24 * _legend_rows(list(parts), room)
        height = above + 52 * len(rows)

        def draw(page: Plot) -> None:
            axes = page.add_axes((0, 0, 1, 1 - above / height))
            axes.set(xlim=(0, totals.max() * room / (room - 50)), ylim=(len(rows), 0))
            axes.set_axis_off()
            _draw_legend(page, _draw_stack(axes, rows, parts, totals), room)

        return [plot_panel(draw, room, height, mark)]

    return figure(plot(WIDE, ""), "Bars. " + ". ".join(description) + ".", narrow=plot(NARROW, "n"))


def _draw_stack(
    axes: Axes, rows: Sequence[str], parts: Mapping[str, Sequence[int]], totals: Array
) -> list[Any]:
    """Draw bars with labels and counts; return artist, label and `gid` of each part."""
    starts, places, samples = np.zeros(len(rows)), np.arange(len(rows)) + 0.6, []
    pixel = axes.get_xlim()[1] / axes.bbox.width
    for i, (part, counts) in enumerate(parts.items()):
        bars = axes.barh(places, counts, 0.42, left=starts, label=part)
        hatch = f" hatch-{i + 1}" if head_hatch(i) else ""
        for bar, place, start, count in zip(bars, places, starts, counts, strict=True):
            bar.set_gid(f"f-part {head_colour(i)}{hatch}" if count else None)
            wanted = width_of(str(count)) + 6
            if count > (wanted + 4) * pixel:
                middle, half = start + count / 2, wanted / 2 * pixel
                axes.barh(place, 2 * half, 0.31, left=middle - half, gid="f-paper")
                axes.text(middle, place, str(count), ha="center", va="center_baseline")
        samples.append((bars, part, f"f-part {head_colour(i)}{hatch}"))
        starts = starts + counts
    for i, row in enumerate(rows):
        axes.text(0, i + 0.27, row, va="baseline")
        axes.text(
            starts[i] + 8 * pixel, places[i], str(totals[i]), va="center_baseline", gid="f-strong"
        )
    return samples


# ---- Weights ----


def softmax_bars(
    rows: ArrayLike,
    labels: Sequence[str],
    titles: Sequence[str],
    *,
    colour: str = NEUTRAL,
    places: int = 2,
) -> Figure:
    """Draw rows of weights as bars from 0 to 1, with one panel per row and one bar per key.

    Parameters
    ----------
    rows : array_like, shape (len(titles), len(labels))
        Weights from 0 to 1; those of a query sum to 1.
    labels : sequence of str
        Labels of the weights.
    titles : sequence of str
        Titles of the rows, such as a width or a temperature.
    colour : str, default neutral, as for numbers without heads
    places : int, default 2

    Raises
    ------
    ValueError
        If `rows` has not one row per title and one weight per label.

    Examples
    --------
    >>> softmax_bars([[0.5, 0.5], [0.9, 0.1]], ["cat", "sat"], ["T = 4", "T = 1"]).alt
    'Weights as bars. T = 4: largest 0.50, cat. T = 1: largest 0.90, cat.'
    """
    weights = np.asarray(rows, dtype=np.float64)
    if weights.shape != (len(titles), len(labels)):
        raise ValueError(
            f"rows has shape {weights.shape} for {len(titles)} titles and {len(labels)} labels;"
            " one row per title and one weight per label are wanted"
        )
    left = max(width_of(label, 17) for label in labels) + 8
    number = 8 + width_of(shown(1, places), 15)
    beside = min(len(titles), 4)  # panels in a row on a desk
    each = (WIDE - _PANEL_GAP * (beside - 1)) / beside
    room = max(56.0, min(each - left - number, 120.0))
    panels = [
        _weights_panel(title, row, labels, f"f-part {colour}", places, (left, room, number))
        for title, row in zip(titles, weights, strict=True)
    ]
    description = " ".join(
        f"{title}: largest {shown(float(row.max()), places)}, {labels[int(row.argmax())]}."
        for title, row in zip(titles, weights, strict=True)
    )
    return figure(panels, f"Weights as bars. {description}", gap=(_PANEL_GAP, 24))


def _weights_panel(
    title: str, row: Array, labels: Sequence[str], looks: str, places: int,
    across: tuple[float, float, float],
) -> Panel:  # fmt: skip
    """Return the panel of one row of weights, with labels at the left and numbers at the ends."""
    left, room, number = across
    width, height = max(left + room + number, left + width_of(title)), 26 + 25 * len(labels)

    def draw(page: Plot) -> None:
        axes = page.add_axes((left / width, 0, room / width, 1 - 23 / height))
        axes.set(xlim=(0, 1), ylim=(len(labels), 0))
        axes.set(xticks=[], yticks=[])
        for i, (label, weight) in enumerate(zip(labels, row, strict=True)):
            (bar,) = axes.barh(i + 0.5, weight, 0.72)
            bar.set_gid(looks if weight else None)
            at: dict[str, Any] = {
                "xycoords": "data",
                "textcoords": "offset points",
                "va": "center_baseline",
            }
            axes.annotate(label, (0, i + 0.5), (-8, 0), ha="right", gid="f-token", **at)
            words = shown(float(weight), places)
            axes.annotate(words, (float(weight), i + 0.5), (6, 0), gid="f-number", **at)
        axes.annotate(title, (0, 0), (0, 8), gid="f-strong", **at | {"va": "baseline"})
        axes.spines.left.set_gid("f-line")

    return plot_panel(draw, width, height)
