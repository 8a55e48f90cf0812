"""Heads as parallel lanes, and strips of their concatenated outputs."""

from collections.abc import Sequence

import numpy as np

from mha.runs.record import Trace
from mha.runs.rounding import dimensions, shown
from mha.runs.stages import STAGES
from mha.views.colours import head_colour
from mha.views.drawing.canvas import Figure, Panel, figure
from mha.views.drawing.svg import (
    NEUTRAL,
    arrow,
    group,
    hatched,
    line,
    middle_of,
    plain,
    rectangle,
    text,
    width_of,
)  # fmt: skip

_LANE = 104  # three lanes fit side by side on a phone
_GAP = 9
_ROW = 58


def lanes(run: Trace) -> Figure:
    """Draw the data flow from one input through a lane per head to the common output.

    Parameters
    ----------
    run : Trace
        Run of an example with embeddings.

    Raises
    ------
    ValueError
        If the example starts at query, key and value.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> lanes(trace(load_example("the-cat-sat"))).alt[:57]
    'One input of shape (3, 4) goes into 2 lanes, one per head'
    """
    if run.embeddings is None:
        raise ValueError(f"{run.example.name} has no embeddings; an example with them is wanted")
    steps, ends = _box_labels(run), [f"concatenation {run.concat.shape}"]
    if run.output is not None:
        ends.append(f"output projection {run.output.shape}")
    width = max(_LANE * run.num_heads + _GAP * (run.num_heads - 1), width_of(ends[-1]) + 24)
    middle, first = width / 2, 62.0
    start = (width - _LANE * run.num_heads - _GAP * (run.num_heads - 1)) / 2
    last = first + 6 + _ROW * len(steps) + 20
    parts = [_common_box(middle, 0, f"embeddings {run.embeddings.shape}")]
    for head, name in enumerate(run.head_names):
        centre = start + head * (_LANE + _GAP) + _LANE / 2
        parts.append(_lane(head, name, steps, centre, first, middle, last))
    for row, words in enumerate(ends):
        y = last + 56 * row
        if row:
            parts.append(_arrow_down(middle, y - 24, middle, y))
        parts.append(_common_box(middle, y, words))
    return figure([Panel(width, last + 56 * len(ends) - 22, "".join(parts))], _lanes_in_words(run))


def _box_labels(run: Trace) -> Sequence[str]:
    """Return the labels of a lane's boxes."""
    n, d_k, d_v = len(run.tokens), run.query.shape[-1], run.value.shape[-1]
    return (
        f"Q, K ({n}, {d_k})\nV ({n}, {d_v})",
        f"scores\n({n}, {n})",
        f"weights\n({n}, {n})",
        f"output\n({n}, {d_v})",
    )


def _lane(
    head: int, name: str, steps: Sequence[str], centre: float, y: float, middle: float, last: float
) -> str:
    """Return one head's lane, with arrows from the input and to the concatenation."""
    pattern = hatched(head, centre - _LANE / 2, y, _LANE, 6)
    title = text(centre, y - 6, name.partition(":")[0], "f-strong", "middle")
    parts = [_arrow_down(middle, 32, centre, y - 20), pattern, title]
    for row, step in enumerate(steps):
        top = y + 6 + row * _ROW
        if row:
            parts.append(_arrow_down(centre, top - 14, centre, top))
        parts.append(rectangle(centre - _LANE / 2, top, _LANE, 44, "f-box"))
        parts += [
            text(centre, top + 18 + 18 * i, words, "", "middle")
            for i, words in enumerate(step.split("\n"))
        ]
    parts.append(_arrow_down(centre, y + 6 + _ROW * len(steps) - 14, middle, last))
    return group(*parts, colour=head_colour(head))


def _lanes_in_words(run: Trace) -> str:
    assert run.embeddings is not None
    end = f" and an output of shape {run.output.shape}." if run.output is not None else "."
    return (
        f"One input of shape {run.embeddings.shape} goes into {run.num_heads} lanes, one per"
        f" head. Each lane computes queries, keys and values, scores, weights and an output of"
        f" shape {run.head_outputs.shape[1:]}; the lanes meet in a concatenation of shape"
        f" {run.concat.shape}{end}"
    )


def _common_box(x: float, y: float, words: str) -> str:
    """Return a box for a step that all heads share, centred at x."""
    width = width_of(words) + 24
    box = rectangle(x - width / 2, y, width, 32, "f-box")
    return group(box, text(x, y + 21, words, "", "middle"), colour=NEUTRAL)


def _arrow_down(x1: float, y1: float, x2: float, y2: float) -> str:
    return arrow(x1, y1, x2, y2 - 1, stroke="f-quiet", fill="f-soft", width=1, point=7)


def concat_strips(run: Trace, *, places: int = 2) -> Figure:
    """Draw the concatenation as one strip per token, with cells in the colours of the heads.

    Parameters
    ----------
    run : Trace
    places : int, default 2

    Examples
    --------
    >>> from mha import load_example, trace
    >>> concat_strips(trace(load_example("the-cat-sat"))).alt[:60]
    'A strip of 4 cells per token: columns 1 to 2 from Head 1, co'
    """
    width = run.concat.shape[1]
    d_v = width // run.num_heads
    columns = ", ".join(
        f"columns {h * d_v + 1} to {(h + 1) * d_v} from {name}"
        for h, name in enumerate(run.head_names)
    )
    i, j = divmod(int(np.abs(run.concat).argmax()), width)
    largest = f"{shown(float(run.concat[i, j]), places)}, column {j + 1} of {run.tokens[i]}"
    alt = f"A strip of {width} cells per token: {columns}. The largest number is {largest}."
    whole = [_strip(run, places, range(run.num_heads))]
    narrow = [_strip(run, places, [head]) for head in range(run.num_heads)]
    return figure(whole, alt, narrow=narrow if run.num_heads > 1 else whole)


def _strip(run: Trace, places: int, heads: Sequence[int]) -> Panel:
    """Return the columns of some heads, one strip per token."""
    d_v = run.concat.shape[1] // run.num_heads
    names = dimensions(STAGES["concat"].symbol, run.concat.shape[1])
    cell = max(46.0, max(width_of(shown(float(x), places), 15) for x in run.concat.ravel()) + 10)
    left = max(width_of(token, 17) for token in run.tokens) + 12
    parts = [
        plain(left - 12, middle_of(64 + 36 * i, 16), token, "f-token", "end")
        for i, token in enumerate(run.tokens)
    ]
    for place, head in enumerate(heads):
        x = left + place * (d_v * cell + 8)
        strip = [hatched(head, x, 20, d_v * cell - 2, 6)]
        title = run.head_names[head] if d_v * cell > width_of(run.head_names[head]) else ""
        strip.append(text(x, 14, title or f"Head {head + 1}", "f-strong"))
        for k, column in enumerate(range(head * d_v, (head + 1) * d_v)):
            strip.append(text(x + (k + 0.5) * cell - 1, 42, names[column], "f-soft", "middle"))
            strip += [
                _cell(
                    x + k * cell, 49 + 36 * i, cell - 2, shown(float(run.concat[i, column]), places)
                )
                for i in range(len(run.tokens))
            ]
        parts.append(group(*strip, colour=head_colour(head)))
    width = left + len(heads) * (d_v * cell + 8) - 8
    parts.append(line(left, 46, width, 46, "f-rule"))
    return Panel(width, 49 + 36 * len(run.tokens), "".join(parts))


def _cell(x: float, y: float, width: float, words: str) -> str:
    """Return one cell of a strip with its number."""
    box = rectangle(x, y, width, 30, "f-pale")
    return box + text(x + width / 2, middle_of(y + 15), words, "f-number", "middle")
