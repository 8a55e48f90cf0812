"""The spread of scores by the width of queries and keys, as an instrument with a slider.

Random numbers are drawn here and rounded to tenths, so that the page has them exactly. The browser
computes scores and weights from their first components.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from mha.core.attention import attention_scores, scaled_scores
from mha.core.checks import Array
from mha.core.softmax import softmax
from mha.runs.rounding import shown
from mha.widgets.explorer_tasks import Task
from mha.widgets.instrument import Drawing, Explorer, as_json, checked_name

WIDTHS = tuple(range(4, 513, 4))
"""The widths of the slider."""

SHOWN_WIDTHS = (4, 16, 64, 256, 512)
"""The widths in the table for readers without JavaScript."""


def draw_tenths(rng: np.random.Generator, keys: int) -> Array:
    """Return a query and keys of the largest width, one per row, in whole tenths."""
    return np.rint(10 * rng.normal(size=(1 + keys, WIDTHS[-1])))


def compare_scaling(tenths: Array, width: int) -> tuple[tuple[float, Array], tuple[float, Array]]:
    """Return the spread of the scores and the weights at one width, unscaled and scaled.

    Examples
    --------
    >>> tenths = draw_tenths(np.random.default_rng(0), keys=8)
    >>> (raw, _), (scaled, _) = compare_scaling(tenths, 256)
    >>> round(raw / scaled, 10)
    16.0
    """
    query, key = tenths[:1, :width] / 10, tenths[1:, :width] / 10
    raw = attention_scores(query, key)
    scaled = scaled_scores(raw, width, 1 / np.sqrt(width))
    unscaled, by_root = ((float(scores.std()), softmax(scores)[0]) for scores in (raw, scaled))
    return unscaled, by_root


def largest_weight(says: str, *, scaled: bool, low: float = 0, high: float = 1) -> Task:
    """Return a task: find a width at which the largest weight, scaled or not, is in a range."""
    return Task(says, "width", {"column": int(scaled), "low": low, "high": high})


def _is_reached(task: Task, tenths: Array, width: int) -> bool:
    largest = compare_scaling(tenths, width)[int(task.numbers["column"])][1].max()
    return bool(task.numbers["low"] <= largest <= task.numbers["high"])


def width_explorer(
    rng: np.random.Generator,
    *,
    keys: int = 8,
    start: int = 64,
    tasks: Sequence[Task] = (),
    name: str = "width",
    figure: Drawing | None = None,
) -> Explorer:
    """Return an instrument with scaled and unscaled scores, and a slider over the width.

    Parameters
    ----------
    rng : numpy.random.Generator
    keys : int, default 8
    start : int, default 64
        The width at first, one of `WIDTHS`.
    tasks : sequence of Task
        The tasks; `largest_weight` makes them.
    name : str, default "width"
        The element's name in the page.
    figure : Drawing, optional
        Replaces the instrument in print.

    Raises
    ------
    ValueError
        If there are fewer than two keys, `start` is no width of the slider, or a task is reached
        there or at no width.

    Examples
    --------
    >>> width_explorer(np.random.default_rng(1)).title
    'Scores and weights by width'
    """
    if keys < 2:
        raise ValueError(f"keys is {keys}; two or more are wanted")
    if start not in WIDTHS:
        raise ValueError(f"start is {start}; a multiple of 4 from 4 to 512 is wanted")
    tenths = draw_tenths(rng, keys)
    for task in tasks:
        found = [width for width in WIDTHS if _is_reached(task, tenths, width)]
        if not found or start in found:
            raise ValueError(f"task {task.says!r} is reached at {found or 'no width'}")
    data = {
        "name": checked_name(name),
        "tenths": tenths.astype(int).tolist(),
        "widths": list(WIDTHS),
        "start": start,
        "tasks": [task.as_data() for task in tasks],
    }
    title = "Scores and weights by width"
    html = (
        f'<mha-explorer id="explore-{name}" class="with-width"'
        f' style="--keys: {keys}; --tasks: {len(tasks)}">'
        '<div class="face"><div class="before" tabindex="0" role="group" aria-label="Widths">'
        f"{_table(tenths, title)}</div></div>"
        f'<script type="application/json">{as_json(data)}</script></mha-explorer>'
    )
    bundles, styles = ("views",), ("explorer.css", "plane.css")
    return Explorer(html=html, title=title, figure=figure, bundles=bundles, styles=styles)


def _table(tenths: Array, title: str) -> str:
    """Return a table of the standard deviation and the largest weight at some widths."""
    heads = ("Width", "Deviation", "Largest weight", "Deviation, scaled", "Largest weight, scaled")
    lines = []
    for width in SHOWN_WIDTHS:
        found = [shown(x) for s, w in compare_scaling(tenths, width) for x in (s, float(w.max()))]
        cells = "".join(f"<td>{text}</td>" for text in found)
        lines.append(f'<tr><th scope="row">{width}</th>{cells}</tr>')
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )
