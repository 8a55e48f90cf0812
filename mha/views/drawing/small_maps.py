"""Small multiples: a heatmap without numbers for the weights of every head of a model."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_finite_array
from mha.runs.rounding import shown
from mha.views.colours import head_colour
from mha.views.drawing.canvas import Figure, Panel, figure
from mha.views.drawing.svg import group, number, path, rectangle, text

_SIZE = 46.0
_TOP = 17.0
_STEPS = 10
"""Number of shades of a weight's colour, enough for a map without numbers."""


def small_maps(weights: ArrayLike, *, marked: Collection[tuple[int, int]] = ()) -> Figure:
    """Draw the weights of all heads of all layers as small maps, one row of maps per layer.

    A map has a row for each query and a column for each key. The larger the weight, the fuller is
    the cell's colour; weights under a twentieth stay blank.

    Parameters
    ----------
    weights : array_like, shape (num_layers, num_heads, n, n)
    marked : collection of (int, int)
        Layer and head, counted from 1, of the maps with a frame.

    Raises
    ------
    ValueError
        If `weights` has not four axes.

    Examples
    --------
    >>> small_maps([[np.eye(3), np.full((3, 3), 1 / 3)]]).alt[71:145]
    "The mean of the rows' largest weights is highest in layer 1, head 1, 1.00;"
    """
    maps = as_finite_array("weights", weights, min_ndim=4)
    if maps.ndim != 4:
        raise ValueError(f"weights has shape {maps.shape}; (num_layers, num_heads, n, n) is wanted")
    panels = [
        _panel(maps[layer, head], layer + 1, head + 1, (layer + 1, head + 1) in marked)
        for layer in range(maps.shape[0])
        for head in range(maps.shape[1])
    ]
    return figure(panels, _in_words(maps), gap=(6, 8))


def _panel(weights: Array, layer: int, head: int, is_marked: bool) -> Panel:
    """Return the map of one head under its name, with one path for all cells of one shade."""
    cell = _SIZE / len(weights)
    grades = np.rint(weights * _STEPS).astype(int)
    parts = [text(_SIZE / 2, 12, f"L{layer} H{head}", "f-below", "middle")]
    for grade in range(1, _STEPS + 1):
        if steps := "".join(_square(j, i, cell) for i, j in np.argwhere(grades == grade)):
            parts.append(path(steps, "f-grade", style=f"--weight: {grade / _STEPS:g}"))
    parts.append(
        rectangle(0, _TOP, _SIZE, _SIZE, "f-stroke" if is_marked else "f-rule", fill="none")
    )
    return Panel(_SIZE, _TOP + _SIZE, group(*parts, colour=head_colour(0)), breaks=head == 1)


def _square(column: int, row: int, cell: float) -> str:
    x, y, side = number(column * cell), number(_TOP + row * cell), number(cell)
    return f"M{x} {y}h{side}v{side}h-{side}z"


def _in_words(maps: Array) -> str:
    decided = maps.max(axis=-1).mean(axis=-1)
    most, least = (
        np.unravel_index(at, decided.shape) for at in (decided.argmax(), decided.argmin())
    )
    return (
        f"{decided.size} small maps of weights: one row of maps per layer, one row per query."
        f" The mean of the rows' largest weights is highest in layer {most[0] + 1}, head"
        f" {most[1] + 1}, {shown(float(decided[most]), 2)}; it is lowest in layer {least[0] + 1},"
        f" head {least[1] + 1}, {shown(float(decided[least]), 2)}."
    )
