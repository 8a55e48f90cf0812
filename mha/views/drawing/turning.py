"""Drawings of keys as arrows, before and after rotation by their positions."""

import math
from collections.abc import Mapping

import numpy as np

from mha.core.checks import as_index
from mha.runs.record import Trace
from mha.runs.rounding import short, shown
from mha.runs.stages import stage_array
from mha.views.colours import head_colour
from mha.views.drawing.canvas import Figure, Panel, figure
from mha.views.drawing.svg import arrow, element, group, line, number, path, plain, width_of

_RADIUS, _ROOM, _TOP = 46.0, 120.0, 58.0


def turned(runs: Mapping[str, Trace], *, pair: int = 0, head: int = 0) -> Figure:
    """Draw one pair of each key's components before and after rotation, with one panel per run.

    Parameters
    ----------
    runs : mapping of str to Trace
        Runs with angles, by their titles.
    pair : int, default 0
        Index of the pair: 0 for the first two components.
    head : int, default 0

    Returns
    -------
    Figure

    Raises
    ------
    ValueError
        If a run has no angles, or there is no such pair.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from mha import load_example, trace
    >>> quarter = np.pi / 2 * np.arange(2)[:, None] * [1, 1]
    >>> run = trace(replace(load_example("cat-sat"), angles=quarter))
    >>> turned({"cat sat": run}).alt
    'cat sat: cat is rotated by 0°, to (1.00, 0.00); sat is rotated by 90°, to (−1.00, 0.00).'
    """
    panels, words = [], []
    for name, run in runs.items():
        pair = as_index("pair", pair, stage_array(run, "angles").shape[1])
        panels.append(_panel(name, run, pair, head))
        words.append(_in_words(name, run, pair, head))
    return figure(panels, " ".join(words))


def _pairs(run: Trace, pair: int, head: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the pairs of a head's keys before and after rotation, and the angles in degrees."""
    columns = slice(2 * pair, 2 * pair + 2)
    angles = np.degrees(stage_array(run, "angles")[:, pair])
    return run.key[head, :, columns], run.score_factors[1][head, :, columns], angles


def _panel(name: str, run: Trace, pair: int, head: int) -> Panel:
    """Return the panel of one run: one circle per token, with the arrows before and after."""
    before, after, angles = _pairs(run, pair, head)
    longest = float(np.hypot(*before.T).max()) or 1.0
    parts = [plain(0, 16, name, "f-token")]
    for i, word in enumerate(run.tokens):
        x, y = _RADIUS + 2 + _ROOM * i, _TOP + _RADIUS
        starts = (before[i] / longest, after[i] / longest)
        parts += _circle_with_arrows(x, y, *starts, math.radians(angles[i]))
        parts.append(plain(x, y + _RADIUS + 24, word, "f-token", "middle"))
        parts.append(plain(x, y + _RADIUS + 44, f"{short(angles[i], 1)}°", "f-soft", "middle"))
    width = max(_ROOM * len(run.tokens) - _ROOM + 2 * _RADIUS + 4, width_of(name, 17))
    return Panel(width, _TOP + 2 * _RADIUS + 52, group(*parts, colour=head_colour(head)))


def _circle_with_arrows(
    x: float, y: float, before: np.ndarray, after: np.ndarray, angle: float
) -> list[str]:
    """Return a circle with the arrow before (dashed), the arc of rotation, and the arrow after."""
    tips = [(x + _RADIUS * float(v[0]), y - _RADIUS * float(v[1])) for v in (before, after)]
    (x1, y1), (x2, y2) = tips
    parts = [element("circle", cx=x, cy=y, r=_RADIUS, cls="f-rule")]
    if angle % math.tau > 1e-9:
        parts.append(line(x, y, x1, y1, "f-quiet", stroke_dasharray="4 4"))
        parts.append(_rotation_arc(x, y, math.atan2(before[1], before[0]), angle % math.tau))
    thick = {"stroke": "f-key-line", "fill": "f-key", "width": 3.0, "point": 12.0}
    return [*parts, arrow(x, y, x2, y2, **thick)]  # type: ignore[arg-type]


def _rotation_arc(x: float, y: float, start: float, angle: float) -> str:
    """Return the arc of an anticlockwise rotation."""
    radius = 0.45 * _RADIUS
    ends = [
        f"{number(x + radius * math.cos(a))} {number(y - radius * math.sin(a))}"
        for a in (start, start + angle)
    ]
    large = int(angle > math.pi)
    r = number(radius)
    return path(f"M{ends[0]}A{r} {r} 0 {large} 0 {ends[1]}", "f-quiet")


def _in_words(name: str, run: Trace, pair: int, head: int) -> str:
    _, after, angles = _pairs(run, pair, head)
    keys = [
        f"{word} is rotated by {short(angle, 1)}°, to ({shown(x, 2)}, {shown(y, 2)})"
        for word, angle, (x, y) in zip(run.tokens, angles, after, strict=True)
    ]
    return f"{name}: {'; '.join(keys)}."
