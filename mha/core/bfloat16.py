"""Numbers in bfloat16: the upper half of a float32, which keeps eight binary digits."""

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_finite_array, refuse_overflow


def to_bfloat16(x: ArrayLike) -> Array:
    """Round numbers to bfloat16: to the next one, and a tie to the one whose last digit is 0.

    Parameters
    ----------
    x : array_like of any shape
        Of float64 the nearest float32 is rounded, as in PyTorch.

    Returns
    -------
    ndarray of float32, shape of `x`
        Each is a number of bfloat16: the lower half of its bits is 0.

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
    # Just below half a step is added, just half a step where the last digit that stays is 1.
    half = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    rounded = ((bits + half) & np.uint32(0xFFFF0000)).view(np.float32)
    refuse_overflow("x", rounded, "rounded")
    return rounded
