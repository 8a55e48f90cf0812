"""Heatmaps: matrices whose cells are shaded and hold their numbers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure as Canvas
from numpy.typing import ArrayLike

from mha.runs.record import Trace
from mha.runs.rounding import dimensions, shown
from mha.runs.stages import STAGES, stage_array
from mha.views.colours import head_colour
from mha.views.drawing.canvas import INK, Figure, bare, blank, finished

_MAPPED = tuple(name for name, kind in STAGES.items() if kind.by_key and not kind.quotes)
_VALUES = "#A8A8A8"


def weight_maps(run: Trace, stage: str = "weights", *, places: int = 2) -> Figure:
    """Draw each head's weights (or scores) as a heatmap, the heads side by side on one scale.

    Parameters
    ----------
    run : Trace
    stage : str, default "weights"
        One with a column a key: "scores", "scaled_scores", "exponentials" or "weights".
    places : int, default 2
        Decimals of the number in each cell.

    Raises
    ------
    ValueError
        If `stage` is none of these.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> weight_maps(trace(load_example("cat-sat"))).alt[36:]
    ' Head 1: cat attends most to cat (0.73), sat to sat (0.73).'
    """
    if stage not in _MAPPED:
        raise ValueError(
            f"stage is {stage!r}; {', '.join(_MAPPED[:-1])} or {_MAPPED[-1]} is wanted"
        )
    arrays = stage_array(run, stage)
    return heatmaps(
        list(arrays),
        rows=run.tokens,
        columns=run.tokens,
        titles=run.head_names if run.num_heads > 1 else ("",),
        lowest=0 if stage in ("weights", "exponentials") else None,
        highest=1 if stage == "weights" else None,
        places=places,
        alt=f"{stage.replace('_', ' ').capitalize()} as a heatmap, a row a query."
        f" {_row_maxima_in_words(run, arrays, places)}",
    )


def _row_maxima_in_words(run: Trace, arrays: np.ndarray, places: int) -> str:
    heads = []
    for head, name in enumerate(run.head_names):
        tops = [
            f"{token} {'attends most ' if i == 0 else ''}to {_top(run, arrays, head, i, places)}"
            for i, token in enumerate(run.tokens)
        ]
        heads.append(f"{name}: {', '.join(tops)}.")
    return " ".join(heads)


def _top(run: Trace, arrays: np.ndarray, head: int, token: int, places: int) -> str:
    """Return the key of a row's largest entry, and the entry; none where all keys are masked."""
    if not run.weights[head, token].any():
        return "none"
    row = arrays[head, token]
    return f"{run.tokens[int(row.argmax())]} ({shown(float(row.max()), places)})"


def heatmaps(
    arrays: Sequence[ArrayLike],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    alt: str,
    titles: Sequence[str] = (),
    colours: Sequence[str] = (),
    lowest: float | None = None,
    highest: float | None = None,
    places: int = 2,
    row_label: str = "query",
    column_label: str = "key",
) -> Figure:
    """Draw matrices as heatmaps side by side on one scale, each cell with its number.

    Parameters
    ----------
    arrays : sequence of array_like, each of shape (len(rows), len(columns))
    rows, columns : sequence of str
    alt, row_label, column_label : str
    titles, colours : sequence of str, optional
        One a matrix: its title, and its darkest colour, by default that of the head.
    lowest, highest : float, optional
        Ends of the scale; by default the smallest and largest finite entry.
    places : int, default 2

    Examples
    --------
    >>> heatmaps([[[0.5]]], rows=["a"], columns=["b"], alt="One cell").alt
    'One cell'
    """
    matrices = [np.asarray(array, dtype=np.float64) for array in arrays]
    scale = _scale(matrices, lowest, highest)
    with _side_by_side(len(matrices), len(rows), len(columns), places) as (canvas, axes):
        for i, ax in enumerate(axes):
            _heatmap(ax, matrices[i], _nth(colours, i, head_colour(i)), scale, places)
            _label(ax, rows, columns, _nth(titles, i, ""))
            ax.set(xlabel=column_label, ylabel=row_label if i == 0 else "")
        return finished(canvas, alt)


@contextmanager
def _side_by_side(
    count: int, rows: int, columns: int, places: int
) -> Iterator[tuple[Canvas, Sequence[Axes]]]:
    """Give a canvas and axes for heatmaps whose cells hold numbers of so many decimals."""
    cell = 0.62 if places <= 2 else 0.78
    with blank(count * (cell * columns + 0.35) + 0.7, cell * 0.8 * rows + 1.05) as canvas:
        yield canvas, canvas.subplots(1, count, sharey=True, squeeze=False)[0]


def _nth(texts: Sequence[str], i: int, default: str) -> str:
    return texts[i] if i < len(texts) else default


def _scale(
    matrices: Sequence[np.ndarray], lowest: float | None, highest: float | None
) -> tuple[float, float]:
    """Return the ends of the scale of several heatmaps."""
    finite = np.concatenate([m[np.isfinite(m)] for m in matrices])
    low = float(finite.min()) if lowest is None else lowest
    return low, float(finite.max()) if highest is None else highest


def _label(ax: Axes, rows: Sequence[str], columns: Sequence[str], title: str) -> None:
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    if title:
        ax.set_title(title, color=INK, loc="left", fontweight="bold")


def _heatmap(
    ax: Axes, matrix: np.ndarray, colour: str, scale: tuple[float, float], places: int
) -> None:
    """Draw one heatmap: cells from white to `colour`, each with its number in black or white."""
    ramp = LinearSegmentedColormap.from_list("ramp", ["#FFFFFF", colour])
    low, high = scale
    span = (high - low) or 1.0
    for (i, j), value in np.ndenumerate(matrix):
        shade = ramp(float(np.clip((value - low) / span, 0, 1)) if np.isfinite(value) else 0.0)
        ax.fill_between(
            [j - 0.5, j + 0.5], i - 0.5, i + 0.5, color=shade, linewidth=0.8, edgecolor="#9A9A9A"
        )
        # Black and white contrast equally with a luminance of 0.179.
        ink = "#000000" if _luminance(shade) > 0.179 else "#FFFFFF"
        ax.text(j, i, shown(float(value), places), ha="center", va="center", color=ink)
    ax.set(xlim=(-0.5, matrix.shape[1] - 0.5), ylim=(matrix.shape[0] - 0.5, -0.5))
    bare(ax)


def _luminance(colour: Any) -> float:
    """Return a colour's relative luminance, from 0 for black to 1 for white (WCAG 2)."""
    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return float(np.dot(channels, (0.2126, 0.7152, 0.0722)))


def mixing_maps(run: Trace, *, places: int = 2) -> Figure:
    """Draw each head's weights, values and output as a product of matrices, a row a head.

    Parameters
    ----------
    run : Trace
    places : int, default 2

    Examples
    --------
    >>> from mha import load_example, trace
    >>> mixing_maps(trace(load_example("cat-sat"))).alt[:62]
    'Three matrices a head: weights times values gives the output. '
    """
    n, d_v = run.value.shape[1:]
    cell = 0.5
    width, height = cell * (n + 2 * d_v) + 2.4, run.num_heads * (cell * 0.8 * n + 0.75)
    with blank(width, height) as canvas:
        axes = canvas.subplots(
            run.num_heads, 3, squeeze=False, gridspec_kw={"width_ratios": [n, d_v, d_v]}
        )
        for head, row in enumerate(axes):
            _product(row, run, head, places)
        told = _row_maxima_in_words(run, run.weights, places)
        words = f"Three matrices a head: weights times values gives the output. {told}"
        return finished(canvas, words)


def _product(axes: Sequence[Axes], run: Trace, head: int, places: int) -> None:
    """Draw one head's weights, values and output side by side."""
    values = (run.value, run.head_outputs)
    # One scale for the values and outputs of all heads, so that they compare.
    scale = (float(min(0, *(x.min() for x in values))), float(max(x.max() for x in values)))
    for ax, stage, title, colour, ends in (
        (axes[0], "weights", "weights", head_colour(head), (0.0, 1.0)),
        (axes[1], "value", "× values", _VALUES, scale),
        (axes[2], "head_outputs", "= output", _VALUES, scale),
    ):
        array, kind = stage_array(run, stage)[head], STAGES[stage]
        _heatmap(ax, array, colour, ends, places)
        ax.set_title(title, color=INK, loc="left")
        ax.set_yticks(range(len(array)), run.tokens)
        names = run.tokens if kind.by_key else dimensions(kind.symbol, array.shape[1])
        ax.set_xticks(range(array.shape[1]), names)
    if run.num_heads > 1:
        axes[0].set_ylabel(run.head_names[head], fontweight="bold")
