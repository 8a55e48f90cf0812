"""Heatmaps: matrices whose cells are shaded and hold their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from mha.runs.record import Trace
from mha.runs.rounding import dimensions, shown
from mha.runs.stages import STAGES, stage_array
from mha.views.colours import head_colour
from mha.views.drawing.canvas import GAP, WIDE, Figure, Panel, figure
from mha.views.drawing.svg import (
    NEUTRAL,
    group,
    middle_of,
    plain,
    rectangle,
    text,
    width_of,
)  # fmt: skip

_HEATMAP_STAGES = tuple(name for name, entry in STAGES.items() if entry.has_map)


@dataclass(frozen=True)
class _Sizes:
    """Sizes of a heatmap in pixels: rows, narrowest columns, letters.

    Columns of single digits may be as narrow as `digit`.
    """

    row: float = 32
    column: float = 38
    digit: float = 22
    number: float = 15
    token: float = 17
    room: float = 8
    face: str = ""


_LARGE = _Sizes()
_SMALL = _Sizes(row=29, column=33, number=13, token=15, room=5, face=" f-small")
_SMALL_GAP = 12


def weight_maps(run: Trace, stage: str = "weights", *, places: int = 2) -> Figure:
    """Draw each head's weights, or scores, as heatmaps side by side on one scale.

    Parameters
    ----------
    run : Trace
    stage : str, default "weights"
        "scores", "scaled_scores", "exponentials" or "weights".
    places : int, default 2
        Decimals of the number in each cell.

    Raises
    ------
    ValueError
        If `stage` is none of these.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> weight_maps(trace(load_example("cat-sat"))).alt[40:]
    ' Head 1: cat attends most to cat (0.73), sat to sat (0.73).'
    """
    if stage not in _HEATMAP_STAGES:
        raise ValueError(f"stage is {stage!r}; one of {', '.join(_HEATMAP_STAGES)} is wanted")
    arrays = stage_array(run, stage)
    return heatmaps(
        list(arrays),
        rows=run.tokens,
        columns=run.tokens,
        titles=run.head_names if run.num_heads > 1 else ("",),
        lowest=0 if stage in ("weights", "exponentials") else None,
        highest=1 if stage == "weights" else None,
        places=places,
        alt=f"{stage.replace('_', ' ').capitalize()} as a heatmap, one row per query."
        f" {_row_maxima_in_words(run, arrays, places)}",
    )


def _row_maxima_in_words(run: Trace, arrays: np.ndarray, places: int) -> str:
    heads = []
    for head, name in enumerate(run.head_names):
        tops = [
            f"{token} {'attends most ' if i == 0 else ''}"
            f"to {_largest_in_words(run, arrays, head, i, places)}"
            for i, token in enumerate(run.tokens)
        ]
        heads.append(f"{name}: {', '.join(tops)}.")
    return " ".join(heads)


def _largest_in_words(run: Trace, arrays: np.ndarray, head: int, token: int, places: int) -> str:
    """Return the key of a row's largest number and that number, "none" for a fully masked row."""
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

    If they fit into one row, or in pairs, only at a smaller size, the wide layout has that size;
    in a single row only the first heatmap then has row labels. The narrow layout is never smaller.

    Parameters
    ----------
    arrays : sequence of array_like, each of shape (len(rows), len(columns))
        A cell whose number is NaN stays blank.
    rows, columns : sequence of str
    alt, row_label, column_label : str
    titles, colours : sequence of str, optional
        Title of each matrix, and colour of its largest number, by default that of the head with
        the same index.
    lowest, highest : float, optional
        Ends of the scale, by default the smallest and the largest finite number.
    places : int, default 2

    Examples
    --------
    >>> heatmaps([[[0.5]]], rows=["a"], columns=["b"], alt="One cell").alt
    'One cell'
    """
    matrices = [np.asarray(array, dtype=np.float64) for array in arrays]
    low, high = scale = _scale(matrices, lowest, highest)
    corner = (row_label, column_label)
    maps = [
        partial(
            grid,
            matrix,
            rows=rows,
            columns=columns,
            title=_nth(titles, i, ""),
            colour=_nth(colours, i, head_colour(i)),
            scale=scale,
            places=places,
            corner=corner,
            bold=(low, high) == (0, 1),
        )
        for i, matrix in enumerate(matrices)
    ]
    panels = [draw() for draw in maps]
    in_one_row = [draw(sizes=_SMALL, named=i == 0) for i, draw in enumerate(maps)]
    in_pairs = [draw(sizes=_SMALL) for draw in maps]
    for small, many in ((in_one_row, len(maps)), (in_pairs, 2)):
        if _row_width(panels[:many], GAP[0]) > WIDE >= _row_width(small[:many], _SMALL_GAP):
            return figure(small, alt, narrow=panels, gap=(_SMALL_GAP, GAP[1]))
    return figure(panels, alt)


def _row_width(panels: Sequence[Panel], gap: float) -> float:
    """Return the width of panels in one row."""
    return sum(panel.width + gap for panel in panels) - gap


def _nth(texts: Sequence[str], i: int, default: str) -> str:
    return texts[i] if i < len(texts) else default


def _scale(
    matrices: Sequence[np.ndarray], lowest: float | None, highest: float | None
) -> tuple[float, float]:
    """Return the ends of the common scale of several heatmaps."""
    finite = np.concatenate([m[np.isfinite(m)] for m in matrices])
    low = float(finite.min()) if lowest is None else lowest
    return low, float(finite.max()) if highest is None else highest


def grid(
    matrix: np.ndarray,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    title: str,
    colour: str,
    scale: tuple[float, float],
    places: int,
    corner: tuple[str, str] = ("", ""),
    bold: bool = False,
    breaks: bool = False,
    sizes: _Sizes = _LARGE,
    named: bool = True,
) -> Panel:
    """Return a heatmap as a panel: cells tinted from blank to a colour, each with its number.

    Parameters
    ----------
    matrix : ndarray, shape (len(rows), len(columns))
    rows, columns : sequence of str
        Labels; numbers and symbols are set upright, words in italics.
    title, colour : str
    scale : (float, float)
        The numbers for a blank cell and for the full colour.
    places : int
    corner : (str, str)
        Names of the rows and of the columns, such as "query" and "key".
    bold : bool
        Whether each row's largest number is bold.
    breaks : bool
        As for `Panel`.
    sizes : _Sizes
    named : bool
        Whether the rows have labels.
    """
    numbers = _cell_texts(matrix, places)
    widths = _widths(numbers, columns, sizes)
    beside = max(*(width_of(name, sizes.token) for name in rows), width_of(corner[0])) + 10
    left = beside if named else 0.0
    top = 24 + 24 * bool(title) + 20 * bool(corner[1])
    edges = np.cumsum([left, *widths])
    centres = (edges[:-1] + edges[1:]) / 2
    parts = _titles_and_labels(left, top, title, corner if named else ("", corner[1]))
    for centre, name in zip(centres, columns, strict=True):
        parts.append(_named(float(centre), top - 7, name, "middle", sizes))
    for i, name in enumerate(rows):
        middle = top + (i + 0.5) * sizes.row
        if named:
            parts.append(_named(left - 10, middle_of(middle), name, "end", sizes))
        largest = np.fmax.reduce(matrix[i]) if bold else np.nan
        for j, value in enumerate(matrix[i]):
            face = "f-number f-strong" if value == largest > 0 else "f-number"
            box = (edges[j], top + i * sizes.row, widths[j], sizes.row)
            parts.append(_cell(box, value, scale))
            if numbers[i][j]:
                at = centres[j], middle_of(middle)
                parts.append(text(*at, numbers[i][j], face + sizes.face, "middle"))
    height = top + len(rows) * sizes.row + 1
    width = max(float(edges[-1]), left + width_of(title)) + 1
    return Panel(width, height, group(*parts, colour=colour), breaks)


def _cell_texts(matrix: np.ndarray, places: int) -> list[list[str]]:
    """Return the text of each cell, empty for NaN."""
    return [["" if np.isnan(x) else shown(float(x), places) for x in row] for row in matrix]


def _widths(numbers: Sequence[Sequence[str]], columns: Sequence[str], sizes: _Sizes) -> list[float]:
    """Return the width of each column, which its numbers and its label need."""
    are_digits = all(len(number) == 1 for row in numbers for number in row)
    return [
        max(
            sizes.digit if are_digits else sizes.column,
            *(width_of(row[j], sizes.number) + sizes.room for row in numbers),
            width_of(name, sizes.token - 1) + sizes.room,
        )
        for j, name in enumerate(columns)
    ]


def _titles_and_labels(left: float, top: float, title: str, corner: tuple[str, str]) -> list[str]:
    """Return the title of a heatmap and the names of its rows and columns."""
    parts = [text(left, 15, title, "f-strong")] if title else []
    if corner[1]:
        parts.append(text(left, top - 29, corner[1], "f-soft"))
    if corner[0]:
        parts.append(text(left - 10, top - 7, corner[0], "f-soft", "end"))
    return parts


def _named(x: float, y: float, name: str, anchor: str, sizes: _Sizes) -> str:
    """Return the label of a row or column: a word in italics, a number or symbol upright."""
    if name.isdigit() or not name.isascii():
        return text(x, y, name, "f-number" + sizes.face, anchor)
    return plain(x, y, name, "f-token" + sizes.face, anchor)


def _cell(box: tuple[float, float, float, float], value: float, scale: tuple[float, float]) -> str:
    """Return a tinted cell, blank if its number is not finite."""
    x, y, width, height = box
    low, high = scale
    share = (value - low) / ((high - low) or 1.0) if np.isfinite(value) else 0.0
    heat = f"--weight: {float(np.clip(share, 0, 1)):.4g}"
    return rectangle(x + 1, y + 1, width - 2, height - 2, "f-heat", style=heat)


def mixing_maps(run: Trace, *, places: int = 2) -> Figure:
    """Draw each head's weights, values and output as a product of matrices, one row per head.

    Parameters
    ----------
    run : Trace
    places : int, default 2

    Examples
    --------
    >>> from mha import load_example, trace
    >>> mixing_maps(trace(load_example("cat-sat"))).alt[:64]
    'Three matrices per head: weights times values gives the output. '
    """
    panels = [
        panel for head in range(run.num_heads) for panel in _product_panels(run, head, places)
    ]
    largest = _row_maxima_in_words(run, run.weights, places)
    words = f"Three matrices per head: weights times values gives the output. {largest}"
    return figure(panels, words, gap=(20, 24))


def _product_panels(run: Trace, head: int, places: int) -> list[Panel]:
    """Return the panels of one head's weights, values and output."""
    values = (run.value, run.head_outputs)
    # One scale for the values and outputs of all heads, so that they compare.
    scale = (float(min(0, *(x.min() for x in values))), float(max(x.max() for x in values)))
    name = f"{run.head_names[head]}: " if run.num_heads > 1 else ""
    panels = []
    for stage, title, colour, ends in (
        ("weights", f"{name}weights", head_colour(head), (0.0, 1.0)),
        ("value", "× values", NEUTRAL, scale),
        ("head_outputs", "= output", NEUTRAL, scale),
    ):
        array, entry = stage_array(run, stage)[head], STAGES[stage]
        names = run.tokens if entry.by_key else dimensions(entry.symbol, array.shape[1])
        panels.append(
            grid(
                array,
                rows=run.tokens,
                columns=names,
                title=title,
                colour=colour,
                scale=ends,
                places=places,
                bold=stage == "weights",
                breaks=stage == "weights",
            )
        )
    return panels
