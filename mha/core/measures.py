"""Measures of attention weights: how spread out a row is, how far apart two rows are."""

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_axis, as_finite_array, refuse_where


def entropy(weights: ArrayLike, axis: int = -1) -> Array:
    """Return how spread out weights are, in nats.

    0 when one key has all the weight, log(n) when n keys share it equally.

    Parameters
    ----------
    weights : array_like
        Non-negative; a weight of 0 adds nothing.
    axis : int, default -1

    Returns
    -------
    ndarray, shape of `weights` without `axis`

    Raises
    ------
    TypeError, ValueError
        If `weights` does not hold finite real numbers from 0 up, or has no axis `axis`.

    References
    ----------
    Shannon (1948), section 6.

    Examples
    --------
    >>> entropy([0.5, 0.5]).round(4)
    np.float64(0.6931)
    """
    weights = as_finite_array("weights", weights)
    refuse_where("weights", weights, weights < 0, "numbers from 0 up are wanted")
    axis = as_axis(axis, weights.ndim)
    logs = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    # Adding 0 turns the negative zero of a one-hot row into 0.
    return -(weights * logs).sum(axis=axis) + 0.0


def total_variation(first: ArrayLike, second: ArrayLike, axis: int = -1) -> Array:
    """Return how far apart two rows of weights are: the share that would have to move.

    0 for equal rows, 1 for rows that share no key.

    Parameters
    ----------
    first, second : array_like of one shape
        Non-negative; each sums to 1 along `axis`.
    axis : int, default -1

    Returns
    -------
    ndarray, the shape of `first` without `axis`

    Raises
    ------
    TypeError, ValueError
        If the arguments do not hold finite real numbers from 0 up, their shapes differ, or they
        have no axis `axis`.

    References
    ----------
    Levin, Peres and Wilmer (2009), section 4.1.

    Examples
    --------
    >>> total_variation([0.5, 0.5], [0.75, 0.25])
    np.float64(0.25)
    """
    first, second = as_finite_array("first", first), as_finite_array("second", second)
    for name, weights in (("first", first), ("second", second)):
        refuse_where(name, weights, weights < 0, "numbers from 0 up are wanted")
    if first.shape != second.shape:
        raise ValueError(
            f"first has shape {first.shape} but second has {second.shape}; they must match"
        )
    return np.abs(first - second).sum(axis=as_axis(axis, first.ndim)) / 2
