"""Entropy and total variation of attention weights.

A row of weights is a distribution: non-negative and with the sum 1, or all 0 if it is fully masked.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from mha.core.checks import (
    Array,
    as_axis,
    as_finite_array,
    as_ndarray,
    check_same_shape,
    refuse_where,
)

TOLERANCE = 1e-5
"""The largest allowed error of a row's sum; for float16 it is the dtype's rounding error."""


def entropy(weights: ArrayLike, axis: int = -1) -> Array:
    """Return the entropy of each row of weights, in nats.

    It is 0 if one key has all the weight, and log(n) if n keys have equal weights. A weight of 0
    contributes 0, so a fully masked row has entropy 0.

    Parameters
    ----------
    weights : array_like
        Non-negative; each row along `axis` sums to 1 within 1e-5, or is all 0.
    axis : int, default -1

    Returns
    -------
    ndarray, shape of `weights` without `axis`

    Raises
    ------
    TypeError, ValueError
        If `weights` does not hold finite real numbers from 0 up, has no axis `axis`, or does not
        sum to 1 or 0 along it.

    References
    ----------
    Shannon (1948), section 6.

    Examples
    --------
    >>> entropy([0.5, 0.5]).round(4)
    np.float64(0.6931)
    """
    original = as_ndarray("weights", weights)
    weights = as_finite_array("weights", original)
    axis = as_axis(axis, weights.ndim)
    check_distributions("weights", weights, axis, original.dtype)
    logs = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    # Adding 0 turns the negative zero of a one-hot row into 0.
    return -(weights * logs).sum(axis=axis) + 0.0


def total_variation(first: ArrayLike, second: ArrayLike, axis: int = -1) -> Array:
    """Return the total variation distance of two rows of weights: half the sum of the differences.

    It is 0 for equal rows, and 1 for rows without a common key. The distance of a fully masked row
    from any other row is 1, and from another fully masked row 0.

    Parameters
    ----------
    first, second : array_like of one shape
        Non-negative; each row along `axis` sums to 1 within 1e-5, or is all 0.
    axis : int, default -1

    Returns
    -------
    ndarray, the shape of `first` without `axis`

    Raises
    ------
    TypeError, ValueError
        If the arguments do not hold finite real numbers from 0 up, their shapes differ, they have
        no axis `axis`, or do not sum to 1 or 0 along it.

    References
    ----------
    Levin and Peres (2017), section 4.1.

    Examples
    --------
    >>> total_variation([0.5, 0.5], [0.75, 0.25])
    np.float64(0.25)
    """
    originals = {"first": as_ndarray("first", first), "second": as_ndarray("second", second)}
    first, second = (as_finite_array(name, weights) for name, weights in originals.items())
    check_same_shape("first", first, "second", second)
    axis = as_axis(axis, first.ndim)
    for name, weights in (("first", first), ("second", second)):
        check_distributions(name, weights, axis, originals[name].dtype)
    one_is_masked = first.any(axis=axis) != second.any(axis=axis)
    return np.where(one_is_masked, 1, np.abs(first - second).sum(axis=axis) / 2)[()]


def check_distributions(name: str, weights: Array, axis: int, dtype: DTypeLike) -> None:
    """Raise a ValueError unless each row sums to 1 or is all 0; `dtype` is the argument's own."""
    refuse_where(name, weights, weights < 0, "numbers from 0 up are wanted")
    rounding = np.finfo(dtype).eps if np.issubdtype(dtype, np.floating) else 0.0
    sums = row_sums(weights, axis)
    bad = (np.abs(sums - 1) > max(TOLERANCE, rounding)) & weights.any(axis=axis)
    if bad.any():
        raise ValueError(
            f"{name} has a row that sums to {sums[bad][0]:.6g}; 1, or 0 for a fully masked row,"
            " is wanted"
        )


def row_sums(weights: Array, axis: int = -1) -> Array:
    """Return the sums along an axis in float64; a sum too large for it is infinite.

    Examples
    --------
    >>> row_sums(np.array([[0.25, 0.75], [1e308, 1e308]]))
    array([ 1., inf])
    """
    with np.errstate(over="ignore"):
        sums: Array = weights.sum(axis=axis, dtype=np.float64)
    return sums
