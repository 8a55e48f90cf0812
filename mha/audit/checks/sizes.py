"""Checks of shapes and sizes, of an example's arrays and matrices and of published models."""

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np

from mha.audit.checks.finding import Check, Finding
from mha.audit.checks.runs import layer_of
from mha.audit.judging import run_of
from mha.core.costs import layer_sizes
from mha.runs.rounding import short, shown

PUBLISHED = MappingProxyType(
    {
        "the base Transformer": (512, 8, 64, "Vaswani et al. (2017), table 3"),
        "the big Transformer": (1024, 16, 64, "Vaswani et al. (2017), table 3"),
        "GPT-3 175B": (12288, 96, 128, "Brown et al. (2020), table 2.1"),
    }
)
"""Published models: d_model, number of heads, width of a head, and the source."""


def _shape(*, example: str, array: str, wanted: Sequence[int]) -> Finding:
    """Decide whether an array, or each head's part of it, has the wanted shape."""
    run = run_of(example)
    found = getattr(run.example.layer if array.startswith("w_") else run, array)
    shape = np.shape(found)[-2:]
    return Finding(
        shape == tuple(wanted), f"computed from its inputs, `{array}` is {shape[0]} by {shape[1]}"
    )


def _published(
    *, model: str, num_heads: int, d_model: int | None = None, d_k: int | None = None
) -> Finding:
    """Decide whether sizes are those that a model was published with."""
    *sizes, where = PUBLISHED[model]
    claimed = (d_model, num_heads, d_k)
    agree = all(c in (None, size) for c, size in zip(claimed, sizes, strict=True))
    width, heads, of_head = sizes
    return Finding(
        agree, f"{model} has d_model {width} and {heads} heads of width {of_head} ({where})"
    )


def _head_width(*, d_model: int, num_heads: int, d_k: int) -> Finding:
    """Decide whether heads of that width are together as wide as the input."""
    found = layer_sizes(d_model, num_heads).d_k
    return Finding(found == d_k, f"{d_model} / {num_heads} = {found}")


def _matrices_differ(*, example: str, matrices: Sequence[str]) -> Finding:
    """Decide whether no two of an example's matrices are equal."""
    arrays = [getattr(layer_of(example), name) for name in matrices]
    apart = min(float(np.abs(a - b).max()) for i, a in enumerate(arrays) for b in arrays[:i])
    return Finding(
        apart > 0, f"any two of them have an entry that differs by at least {shown(apart, 1)}"
    )


def _is_row(
    *, example: str, matrix: str, head: int, index: int, entries: Sequence[float]
) -> Finding:
    """Decide whether numbers are a row of a matrix."""
    whole = getattr(layer_of(example), matrix)[head]
    row, column = (", ".join(short(x) for x in line) for line in (whole[index], whole[:, index]))
    return Finding(
        bool(np.array_equal(whole[index], entries)),
        f"row {index} is {row}, and column {index} is {column}",
    )


CHECKS: dict[str, Check] = {
    "head_width": _head_width,
    "is_row": _is_row,
    "matrices_differ": _matrices_differ,
    "published": _published,
    "shape": _shape,
}
"""The checks of this module by name."""
