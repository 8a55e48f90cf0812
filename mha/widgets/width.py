"""How scores spread as queries and keys grow wider: a slider over the width, drawn once.

The numbers are drawn here, from a generator that the caller seeds, and rounded to tenths, so that
the page holds them exactly; the browser computes scores and weights of their first components.
"""

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
"""The widths that the slider has."""

SHOWN_WIDTHS = (4, 16, 64, 256, 512)
"""The widths in the table that stands there without JavaScript."""


def drawn(rng: np.random.Generator, keys: int) -> Array:
    """Return a query and keys of the largest width in tenths, each a row of whole numbers."""
    return np.rint(10 * rng.normal(size=(1 + keys, WIDTHS[-1])))


def at_width(tenths: Array, width: int) -> tuple[tuple[float, Array], tuple[float, Array]]:
    """Return the spread of the scores and the weights, unscaled and scaled, at one width.

    Examples
    --------
    >>> tenths = drawn(np.random.default_rng(0), keys=8)
    >>> (raw, _), (scaled, _) = at_width(tenths, 256)
    >>> round(raw / scaled, 10)
    16.0
    """
    query, key = tenths[:1, :width] / 10, tenths[1:, :width] / 10
    raw = attention_scores(query, key)
    scaled = scaled_scores(raw, width, 1 / np.sqrt(width))
    unscaled, by_root = ((float(scores.std()), softmax(scores)[0]) for scores in (raw, scaled))
    return unscaled, by_root


def largest_weight(says: str, *, scaled: bool, low: float = 0, high: float = 1) -> Task:
    """Return a task: a width where the largest weight, with or without the root, is in a range."""
    return Task(says, "width", {"column": int(scaled), "low": low, "high": high})


def _is_reached(task: Task, tenths: Array, width: int) -> bool:
    largest = at_width(tenths, width)[int(task.numbers["column"])][1].max()
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
    """Return a slider over the width of a query and keys, with scores scaled and unscaled.

    Parameters
    ----------
    rng : numpy.random.Generator
    keys : int, default 8
    start : int, default 64
        The width at first, one of `WIDTHS`.
    tasks : sequence of Task
        What a reader is asked to find; `largest_weight` makes them.
    name : str, default "width"
        The element's name in the page.
    figure : Drawing, optional
        What stands in its place in print.

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
    tenths = drawn(rng, keys)
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
    late, styles = ("views",), ("explorer.css", "plane.css")
    return Explorer(html=html, title=title, figure=figure, late=late, styles=styles)


def _table(tenths: Array, title: str) -> str:
    """Return the spread and the largest weight at some widths as a table."""
    heads = ("Width", "Spread", "Largest weight", "Spread, scaled", "Largest weight, scaled")
    lines = []
    for width in SHOWN_WIDTHS:
        found = [shown(x) for s, w in at_width(tenths, width) for x in (s, float(w.max()))]
        cells = "".join(f"<td>{text}</td>" for text in found)
        lines.append(f'<tr><th scope="row">{width}</th>{cells}</tr>')
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )
