"""The output being built: weight times value, part by part."""

import numpy as np

from mha.core.checks import Array, as_index
from mha.runs.record import Trace
from mha.runs.rounding import dimensions, shown
from mha.runs.stages import STAGES
from mha.views.colours import head_colour
from mha.views.drawing.canvas import Figure, Panel, figure
from mha.views.drawing.svg import (
    arrow,
    element,
    group,
    line,
    middle_of,
    plain,
    rectangle,
    text,
    width_of,
)

_SIDE = 236.0
_BAR = 120.0
_ROW = 30.0


def weighted_sum(run: Trace, token: int, *, head: int = 0) -> Figure:
    """Draw how one output is built from the values, each times its weight.

    Values of two components give a path of arrows, laid end to end from the origin to the output;
    others a panel a component, in which each bar begins where the one above it ends.

    Parameters
    ----------
    run : Trace
    token : int
        The place of the token that asks.
    head : int, default 0

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If there is no such token or head.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> weighted_sum(trace(load_example("cat-sat")), 0).alt[-57:]
    'The end is (2.81, 4.08); the longest part is that of cat.'
    """
    token = as_index("token", token, len(run.tokens))
    head = as_index("head", head, run.num_heads)
    parts = run.weights[head, token, :, None] * run.value[head]
    end = run.head_outputs[head, token]
    alt = _in_words(run, token, parts, end)
    if parts.shape[1] == 2:
        return figure([_path(run, parts, end, head)], alt)
    names = dimensions(STAGES["head_outputs"].symbol, parts.shape[1])
    scale = _reach(parts, end)
    panels = [
        _column(run, parts[:, j], float(end[j]), name, scale, head) for j, name in enumerate(names)
    ]
    return figure(panels, alt)


def _point(vector: Array) -> str:
    return "(" + ", ".join(shown(float(x), 2) for x in vector) + ")"


def _in_words(run: Trace, token: int, parts: Array, end: Array) -> str:
    told = ", ".join(f"{t} {_point(part)}" for t, part in zip(run.tokens, parts, strict=True))
    longest = run.tokens[int(np.linalg.norm(parts, axis=1).argmax())]
    return (
        f"The output for {run.tokens[token]}, weight times value added up: {told}. The end is"
        f" {_point(end)}; the longest part is that of {longest}."
    )


# ---- A path, in two dimensions ----


def _path(run: Trace, parts: Array, end: Array, head: int) -> Panel:
    """Return the parts as arrows end to end, the values as points, and the output at the end."""
    corners = np.vstack([np.zeros(2), np.cumsum(parts, axis=0)])
    every = np.vstack([corners, run.value[head]])
    low, high = every.min(axis=0), every.max(axis=0)
    step = _SIDE / (float((high - low).max()) or 1.0)
    left = 14.0 + max(width_of(token, 17) for token in run.tokens) / 2
    top = 26.0

    def at(point: Array) -> tuple[float, float]:
        return left + float(point[0] - low[0]) * step, top + float(high[1] - point[1]) * step

    width, height = left + (high - low)[0] * step + 62, top + (high - low)[1] * step + 30
    x, y = at(np.zeros(2))
    drawn = [line(left - 8, y, width - 40, y, "f-rule"), line(x, top - 8, x, height - 22, "f-rule")]
    for token, value in zip(run.tokens, run.value[head], strict=True):
        drawn += _value(*at(value), token)
    for token, start, stop in zip(run.tokens, corners, corners[1:], strict=False):
        drawn += _step(*at(start), *at(stop), token)
    x, y = at(end)
    drawn.append(element("circle", cx=x, cy=y, r=6, cls="f-box"))
    drawn.append(text(x + 10, y + 18, "output", "f-strong"))
    return Panel(float(width), float(height), group(*drawn, colour=head_colour(head)))


def _value(x: float, y: float, token: str) -> list[str]:
    """Return a value as a quiet point with its token beside it."""
    point = element("circle", cx=x, cy=y, r=3.5, cls="f-soft")
    return [point, plain(x - 8, y - 7, token, "f-token f-soft", "end")]


def _step(x1: float, y1: float, x2: float, y2: float, token: str) -> list[str]:
    """Return one part as an arrow, with its token beside the middle where there is room."""
    drawn = [arrow(x1, y1, x2, y2, stroke="f-stroke", fill="f-head", width=2.5, point=10)]
    if np.hypot(x2 - x1, y2 - y1) > 26:
        drawn.append(plain((x1 + x2) / 2 + 9, (y1 + y2) / 2 + 14, token, "f-token"))
    return drawn


# ---- A bar after the other, for each component ----


def _reach(parts: Array, end: Array) -> tuple[float, float]:
    """Return the lowest and the highest number that the bars come to."""
    sums = np.vstack([np.zeros(len(end)), np.cumsum(parts, axis=0)])
    return float(sums.min()), float(sums.max())


def _column(
    run: Trace, parts: Array, end: float, name: str, scale: tuple[float, float], head: int
) -> Panel:
    """Return one component's bars, each from where the last one ended, and the output below."""
    left = max(width_of("output"), *(width_of(token, 17) for token in run.tokens)) + 10
    step = _BAR / ((scale[1] - scale[0]) or 1.0)
    zero = left - scale[0] * step
    right = left + _BAR + 10
    drawn, total = [text(left, 15, name, "f-symbol")], 0.0
    for i, (token, part) in enumerate(zip(run.tokens, parts, strict=True)):
        y = 24 + i * _ROW
        ends = sorted((total, total + float(part)))
        drawn.append(plain(left - 10, middle_of(y + 15, 16), token, "f-token", "end"))
        drawn.append(
            rectangle(zero + ends[0] * step, y + 5, (ends[1] - ends[0]) * step, 20, "f-part")
        )
        total += float(part)
        x = zero + total * step
        drawn.append(line(x, y + 5, x, y + _ROW + 5, "f-quiet"))
        drawn.append(text(right, middle_of(y + 15), shown(float(part)), "f-number"))
    y = 24 + len(parts) * _ROW
    ends = sorted((0.0, end))
    drawn.append(text(left - 10, middle_of(y + 15, 14), "output", "f-strong", "end"))
    drawn.append(rectangle(zero + ends[0] * step, y + 5, (ends[1] - ends[0]) * step, 20, "f-head"))
    drawn.append(text(right, middle_of(y + 15), shown(end), "f-number f-strong"))
    drawn.append(line(zero, 24, zero, y + _ROW))
    width = right + width_of("−0.0000", 15)
    return Panel(width, y + _ROW + 2, group(*drawn, colour=head_colour(head)))
