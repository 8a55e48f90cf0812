"""The heads as lanes, and their outputs side by side in strips."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from mha.runs.record import Trace
from mha.runs.rounding import dimensions, shown
from mha.runs.stages import STAGES
from mha.views.colours import head_colour
from mha.views.drawing.canvas import GREY, INK, Figure, bare, blank, finished, lighter


def lanes(run: Trace) -> Figure:
    """Draw one input going into a lane for each head, down to the lanes' common end.

    Parameters
    ----------
    run : Trace
        Of an example with embeddings.

    Raises
    ------
    ValueError
        If the example starts at query, key and value.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> lanes(trace(load_example("the-cat-sat"))).alt[:55]
    'One input of shape (3, 4) goes into 2 lanes, one a head'
    """
    if run.embeddings is None:
        raise ValueError(f"{run.example.name} has no embeddings; an example with them is wanted")
    steps, ends = _steps(run), [f"concatenation {run.concat.shape}"]
    if run.output is not None:
        ends.append(f"output projection\n{run.output.shape}")
    with blank(max(3.2, 1.75 * run.num_heads), 0.75 * (2 + len(steps) + len(ends))) as canvas:
        ax = canvas.subplots()
        middle, last = (run.num_heads - 1) / 2, len(steps) + 1
        _box(ax, middle, 0, f"embeddings {run.embeddings.shape}", GREY)
        for head, name in enumerate(run.head_names):
            _lane(ax, head, name, steps, middle)
        for row, text in enumerate(ends, last):
            if row > last:
                _arrow(ax, (middle, row - 1), (middle, row))
            _box(ax, middle, row, text, GREY)
        ax.set(xlim=(-0.6, run.num_heads - 0.4), ylim=(last + len(ends) - 0.5, -0.5))
        ax.axis("off")
        return finished(canvas, _lanes_in_words(run))


def _steps(run: Trace) -> Sequence[str]:
    """Return what a lane's boxes say."""
    n, d_k, d_v = len(run.tokens), run.query.shape[-1], run.value.shape[-1]
    return (
        f"Q, K ({n}, {d_k})\nV ({n}, {d_v})",
        f"scores ({n}, {n})",
        f"weights ({n}, {n})",
        f"output ({n}, {d_v})",
    )


def _lane(ax: Axes, head: int, name: str, steps: Sequence[str], middle: float) -> None:
    """Draw one head's lane, from the boxes' common beginning to their common end."""
    previous = (middle, 0.0)
    title = name.replace(": ", "\n")
    for row, step in enumerate(steps, 1):
        _arrow(ax, previous, (head, row))
        _box(ax, head, row, f"{title}\n{step}" if row == 1 else step, head_colour(head))
        previous = (head, float(row))
    _arrow(ax, previous, (middle, len(steps) + 1))


def _lanes_in_words(run: Trace) -> str:
    assert run.embeddings is not None
    end = f" and an output of shape {run.output.shape}." if run.output is not None else "."
    return (
        f"One input of shape {run.embeddings.shape} goes into {run.num_heads} lanes, one a"
        f" head. Each lane makes queries, keys and values, scores, weights and an output of"
        f" shape {run.head_outputs.shape[1:]}; the lanes meet in a concatenation of shape"
        f" {run.concat.shape}{end}"
    )


def _box(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    """Write a step of a lane in a box of its head's colour."""
    ax.text(
        x,
        y,
        text,
        ha="center",
        va="center",
        fontsize=8,
        color="#000000",
        bbox={"boxstyle": "round,pad=0.4", "facecolor": lighter(colour), "edgecolor": colour},
        zorder=3,
    )


def _arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw an arrow between two boxes; the boxes cover its ends."""
    ax.annotate(
        "",
        xy=(end[0], end[1] - (0.4 if end[1] == 1 else 0.22)),
        xytext=start,
        arrowprops={"arrowstyle": "->", "color": INK, "shrinkA": 0, "shrinkB": 0},
        zorder=1,
    )


def concat_strips(run: Trace, *, places: int = 2) -> Figure:
    """Draw the concatenation: a strip a token, its cells coloured by the head they come from.

    Parameters
    ----------
    run : Trace
    places : int, default 2

    Examples
    --------
    >>> from mha import load_example, trace
    >>> concat_strips(trace(load_example("the-cat-sat"))).alt[:60]
    'A strip of 4 cells a token: columns 1 to 2 from Head 1, colu'
    """
    n, width = run.concat.shape
    d_v = width // run.num_heads
    with blank(0.62 * width + 1.2, 0.46 * n + 0.8) as canvas:
        ax = canvas.subplots()
        for (i, j), value in np.ndenumerate(run.concat):
            _cell(ax, i, j, shown(float(value), places), head_colour(j // d_v))
        for head, name in enumerate(run.head_names):
            ax.text((head + 0.5) * d_v - 0.5, -0.7, name, ha="center", fontweight="bold")
            if head:
                ax.axvline(head * d_v - 0.5, color=INK, linewidth=1.2)
        ax.set_yticks(range(n), run.tokens)
        ax.set_xticks(range(width), dimensions(STAGES["concat"].symbol, width))
        ax.set(xlim=(-0.6, width - 0.4), ylim=(n - 0.45, -1.0))
        bare(ax)
        columns = ", ".join(
            f"columns {h * d_v + 1} to {(h + 1) * d_v} from {name}"
            for h, name in enumerate(run.head_names)
        )
        return finished(canvas, f"A strip of {width} cells a token: {columns}.")


def _cell(ax: Axes, row: int, column: int, text: str, colour: str) -> None:
    """Draw one cell of a strip in its head's colour, with its number."""
    ax.barh(row, 0.96, left=column - 0.48, height=0.8, facecolor=lighter(colour), edgecolor=colour)
    ax.text(column, row, text, ha="center", va="center", color="#000000")
