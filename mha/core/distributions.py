"""Measures of attention weights: how spread out a row is, how far apart two rows are.

A row is a distribution: no weight below 0 and the sum 1, or all weights 0 where no key is allowed.
"""

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
"""How far from 1 a row may sum; more for float16, which rounds more coarsely than that."""


def entropy(weights: ArrayLike, axis: int = -1) -> Array:
    """Return how spread out weights are, in nats.

    0 when one key has all the weight, log(n) when n keys share it equally. A weight of 0 adds
    nothing, and so a fully masked row has entropy 0: it has nothing to spread.

    Parameters
    ----------
    weights : array_like
        Non-negative; sums to 1 along `axis` within 1e-5, or is 0 throughout it.
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
    given = as_ndarray("weights", weights)
    weights = as_finite_array("weights", given)
    axis = as_axis(axis, weights.ndim)
    _refuse_unless_distributions("weights", weights, axis, given.dtype)
    logs = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    # Adding 0 turns the negative zero of a one-hot row into 0.
    return -(weights * logs).sum(axis=axis) + 0.0


def total_variation(first: ArrayLike, second: ArrayLike, axis: int = -1) -> Array:
    """Return how far apart two rows of weights are: the share that would have to move.

    0 for equal rows, 1 for rows that share no key. A fully masked row shares no key with any
    other: 1, and 0 from another fully masked row.

    Parameters
    ----------
    first, second : array_like of one shape
        Non-negative; each sums to 1 along `axis` within 1e-5, or is 0 throughout it.
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
    given = {"first": as_ndarray("first", first), "second": as_ndarray("second", second)}
    first, second = (as_finite_array(name, weights) for name, weights in given.items())
    check_same_shape("first", first, "second", second)
    axis = as_axis(axis, first.ndim)
    for name, weights in (("first", first), ("second", second)):
        _refuse_unless_distributions(name, weights, axis, given[name].dtype)
    one_is_empty = first.any(axis=axis) != second.any(axis=axis)
    return np.where(one_is_empty, 1, np.abs(first - second).sum(axis=axis) / 2)[()]


def _refuse_unless_distributions(name: str, weights: Array, axis: int, given: DTypeLike) -> None:
    """Raise unless each row of weights, given in a dtype, is a distribution or 0 throughout."""
    refuse_where(name, weights, weights < 0, "numbers from 0 up are wanted")
    rounding = np.finfo(given).eps if np.issubdtype(given, np.floating) else 0.0
    sums = row_sums(weights, axis)
    bad = (np.abs(sums - 1) > max(TOLERANCE, rounding)) & weights.any(axis=axis)
    if bad.any():
        raise ValueError(
            f"{name} has a row that sums to {sums[bad][0]:.6g}; 1, or 0 for a fully masked row,"
            " is wanted"
        )


def row_sums(weights: Array, axis: int = -1) -> Array:
    """Return sums along an axis in float64; one too large for it is infinite, to be refused.

    Examples
    --------
    >>> row_sums(np.array([[0.25, 0.75], [1e308, 1e308]]))
    array([ 1., inf])
    """
    with np.errstate(over="ignore"):
        sums: Array = weights.sum(axis=axis, dtype=np.float64)
    return sums
