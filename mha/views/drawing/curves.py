"""Curves over one axis."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from mha.runs.rounding import short
from mha.views.colours import head_colour
from mha.views.drawing.canvas import Figure, blank, finished

_DASHES = ("solid", "dashed", "dotted", "dashdot", (0, (5, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v")


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
    """Draw curves over one axis, each with its own colour and dash.

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
    with blank(5.6, 3.4) as canvas:
        ax = canvas.subplots()
        _scales(ax, log)
        for i, (label, y) in enumerate(series.items()):
            ax.plot(x, y, label=label, color=head_colour(i), **_style(i, label in points))
        _finish_axes(ax, xticks, xlabel, ylabel, len(series))
        return finished(canvas, alt)


def _style(i: int, as_points: bool) -> dict[str, Any]:
    """Return how a curve is drawn, so that it differs from the others without its colour."""
    if as_points:
        return {"marker": _MARKERS[i % len(_MARKERS)], "linestyle": "none"}
    return {"linestyle": _DASHES[i % len(_DASHES)], "linewidth": 1.8}


def _scales(ax: Axes, log: str) -> None:
    if "x" in log:
        ax.set_xscale("log", base=2)
    if "y" in log:
        ax.set_yscale("log")


def _finish_axes(
    ax: Axes,
    xticks: Sequence[float] | Mapping[float, str],
    xlabel: str,
    ylabel: str,
    count: int,
) -> None:
    """Put on the ticks, the labels, the grid and, for several curves, the legend."""
    if xticks:
        labels = xticks if isinstance(xticks, Mapping) else {t: short(t) for t in xticks}
        ax.set_xticks(list(labels), list(labels.values()))
        ax.minorticks_off()
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(color="#9A9A9A", linewidth=0.4, alpha=0.5)
    if count > 1:
        ax.legend()
