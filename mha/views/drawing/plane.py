"""Drawings of a query among the keys, and of its output among the values, in two dimensions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mha.core.checks import as_index
from mha.runs.record import Trace
from mha.runs.rounding import short, shown
from mha.views.colours import head_colour
from mha.views.drawing.canvas import Figure, Panel, figure
from mha.views.drawing.svg import (
    arrow,
    element,
    group,
    line,
    plain,
    polygon,
    rectangle,
    width_of,
)  # fmt: skip

_SIDE = 284.0
_TOP = 34.0


@dataclass(frozen=True)
class _Coordinates:
    """Coordinates of a panel, with equal units on both axes and the origin inside."""

    low: np.ndarray
    step: float
    height: float

    @classmethod
    def around(cls, points: np.ndarray) -> "_Coordinates":
        low = np.minimum(points.min(axis=0), 0) - 0.5
        high = np.maximum(points.max(axis=0), 0) + 0.6
        step = _SIDE / float(max(high - low))
        return cls(low, step, float(high[1] - low[1]) * step)

    def at(self, point: Sequence[float] | np.ndarray) -> tuple[float, float]:
        x, y = (np.asarray(point) - self.low) * self.step
        return float(x), _TOP + self.height - float(y)

    def axes(self) -> list[str]:
        x, y = self.at((0, 0))
        return [
            line(0, y, _SIDE, y, "f-rule"),
            line(x, _TOP, x, _TOP + self.height, "f-rule"),
        ]


def plane(run: Trace, token: int, *, head: int = 0) -> Figure:
    """Draw a query among the keys, and its output among the values.

    Left: the keys as arrows. A dotted line projects each onto the direction of the query; the
    length of the projection, times the query's length, is the score. Right: the values as points
    with their convex hull, which contains every weighted mean of them.

    Parameters
    ----------
    run : Trace
        Run whose queries, keys and values have two components.
    token : int
        Position of the query's token.
    head : int, default 0

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If there is no such token or head, or if vectors have not two components.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> plane(trace(load_example("river-bank")), 2).alt[:67]
    'The query of bank is (1.00, 0.00). Its scores are the: 0; river: 3;'
    """
    if run.query.shape[-1] != 2 or run.value.shape[-1] != 2:
        raise ValueError(
            f"queries have {run.query.shape[-1]} and values {run.value.shape[-1]} components;"
            " 2 of each are wanted"
        )
    token = as_index("token", token, len(run.tokens))
    head = as_index("head", head, run.num_heads)
    panels = [_keys(run, token, head), _values(run, token, head)]
    return figure(panels, _in_words(run, token, head), gap=(48, 24))


def _in_words(run: Trace, token: int, head: int) -> str:
    scores = "; ".join(
        f"{word}: {short(score)}"
        for word, score in zip(run.tokens, run.scores[head, token], strict=True)
    )
    shares = "; ".join(
        f"{shown(weight)} {word}"
        for word, weight in zip(run.tokens, run.weights[head, token], strict=True)
    )
    query = _point(run.score_factors[0][head, token])
    return (
        f"The query of {run.tokens[token]} is {query}. Its scores are {scores}."
        f" The output {_point(run.head_outputs[head, token])} mixes the values: {shares}."
    )


def _point(vector: np.ndarray) -> str:
    return "(" + ", ".join(shown(x, 2) for x in vector) + ")"


def _keys(run: Trace, token: int, head: int) -> Panel:
    """Return the panel of the query, the keys, and the projection of each key onto the query."""
    query, keys = run.score_factors[0][head, token], run.score_factors[1][head]
    frame = _Coordinates.around(np.vstack([keys, query]))
    ox, oy = frame.at((0, 0))
    parts = [plain(0, 16, f"the query of {run.tokens[token]}, and the keys", "f-strong")]
    parts += frame.axes()
    length = float(np.hypot(*query))
    for word, key, score in zip(run.tokens, keys, run.scores[head, token], strict=True):
        x, y = frame.at(key)
        if length > 0:
            fx, fy = frame.at(query * (float(score) / length**2))
            parts.append(line(x, y, fx, fy, "f-quiet", stroke_dasharray="3 4"))
            parts.append(element("circle", cx=fx, cy=fy, r=3, cls="f-soft"))
            parts.append(plain(fx, fy + 20, short(float(score)), "f-strong f-number", "middle"))
        parts.append(arrow(ox, oy, x, y, stroke="f-key-line", fill="f-key"))
        parts.append(_point_label(word, x, y, at_origin=math.hypot(x - ox, y - oy) < 1))
    x, y = frame.at(query)
    thick = {"stroke": "f-query-line", "fill": "f-query", "width": 4.0, "point": 13.0}
    parts.append(arrow(ox, oy, x, y, **thick))  # type: ignore[arg-type]
    parts += _word_on_background((ox + x) / 2, (oy + y) / 2 - 10, "query", "middle", "f-query")
    return Panel(_SIDE + 14, _TOP + frame.height + 4, group(*parts, colour=head_colour(head)))


def _values(run: Trace, token: int, head: int) -> Panel:
    """Return the panel of the values with their convex hull, and the output inside it."""
    values, output = run.value[head], run.head_outputs[head, token]
    frame = _Coordinates.around(values)
    parts = [plain(0, 16, f"the values, and the output for {run.tokens[token]}", "f-strong")]
    parts += frame.axes()
    parts.append(polygon([frame.at(corner) for corner in _hull(values)], "f-pale"))
    ox, oy = frame.at(output)
    for word, value, weight in zip(run.tokens, values, run.weights[head, token], strict=True):
        x, y = frame.at(value)
        parts.append(line(x, y, ox, oy, "f-stroke", stroke_width=f"{max(0.6, 9 * weight):.3g}px"))
        parts.append(element("circle", cx=x, cy=y, r=4.5, cls="f-value"))
        parts.append(_point_label(word, x, y, at_origin=not value.any()))
    parts.append(element("circle", cx=ox, cy=oy, r=7, cls="f-box"))
    inwards = values.mean(axis=0) - output
    dx, dy = inwards / max(float(np.hypot(*inwards)), 1e-9)
    anchor = "end" if dx < -0.5 else "start" if dx > 0.5 else "middle"
    parts += _word_on_background(ox + 16 * dx, oy + 5 - 22 * dy, "output", anchor, "f-head")
    return Panel(_SIDE + 14, _TOP + frame.height + 4, group(*parts, colour=head_colour(head)))


def _word_on_background(x: float, y: float, word: str, anchor: str, cls: str) -> list[str]:
    """Return a word on a rectangle in the page's colour, which covers the lines behind it."""
    width = width_of(word) + 6
    left = x - width * {"end": 1, "middle": 0.5, "start": 0}[anchor]
    return [
        rectangle(left, y - 13, width, 18, "f-paper", rx=3),
        plain(left + width / 2, y, word, f"{cls} f-strong", "middle"),
    ]


def _point_label(word: str, x: float, y: float, *, at_origin: bool) -> str:
    """Return the label of a point, on the side that is free of its arrow."""
    return plain(x - 9 if at_origin else x + 8, y - 8, word, "f-token", "end" if at_origin else "")


def _hull(points: np.ndarray) -> list[np.ndarray]:
    """Return the corners of the convex hull of points, by Andrew's monotone chain."""
    distinct = sorted({(float(x), float(y)) for x, y in points})

    def chain(row: list[tuple[float, float]]) -> list[tuple[float, float]]:
        corners: list[tuple[float, float]] = []
        for x, y in row:
            while len(corners) > 1:
                (ax, ay), (bx, by) = corners[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                    break
                corners.pop()
            corners.append((x, y))
        return corners[:-1]

    around = chain(distinct) + chain(distinct[::-1])
    return [np.array(corner) for corner in around or distinct]
