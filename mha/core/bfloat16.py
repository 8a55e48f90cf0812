"""Rounding to bfloat16: the upper 16 bits of a float32, with eight significant binary digits."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_finite_array, refuse_overflow


def to_bfloat16(x: ArrayLike) -> Array:
    """Round numbers to the nearest bfloat16, and ties to even.

    Parameters
    ----------
    x : array_like of any shape
        A float64 is first rounded to float32, as in PyTorch.

    Returns
    -------
    ndarray of float32, shape of `x`
        The lower 16 bits of each number are 0.

    Raises
    ------
    TypeError, ValueError
        If `x` does not hold finite numbers, or one is too large for bfloat16.

    Examples
    --------
    >>> to_bfloat16([7.03, 7.015625, 257.0]).tolist()
    [7.03125, 7.0, 256.0]
    """
    numbers = as_finite_array("x", x, min_ndim=0)
    with np.errstate(over="ignore", under="ignore"):
        bits = numbers.astype(np.float32).view(np.uint32)
    # Round half to even: add just under half a unit in the last kept place, and exactly half where
    # the last kept bit is 1, so that a tie carries only from an odd number.
    half = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    rounded = ((bits + half) & np.uint32(0xFFFF0000)).view(np.float32)
    refuse_overflow("x", rounded, "rounded")
    return rounded
