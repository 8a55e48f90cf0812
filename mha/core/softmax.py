"""The softmax, its Jacobian and its backward pass."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import (
    Array,
    as_array,
    as_axis,
    as_finite_array,
    check_same_shape,
    in_one_dtype,
    refuse_overflow,
    refuse_where,
)


def softmax(scores: ArrayLike, axis: int = -1) -> Array:
    """Return the softmax of the scores: positive weights that sum to 1 along `axis`.

    The largest score of each row is subtracted before the exponential. This changes no weight, and
    no exponential exceeds 1, so large scores do not overflow.

    Parameters
    ----------
    scores : array_like, at least one axis
        A score of minus infinity has weight 0.
    axis : int, default -1

    Returns
    -------
    ndarray, shape of `scores`
        Sums to 1 along `axis`, or to 0 where every score is minus infinity.

    Raises
    ------
    TypeError
        If `scores` does not hold real numbers, or `axis` is not an integer.
    ValueError
        If `scores` holds NaN or plus infinity, has an empty axis, or has no axis `axis`.

    References
    ----------
    Bridle (1990), for the name.

    Examples
    --------
    >>> softmax([1.0, 0.0]).round(4)
    array([0.7311, 0.2689])
    >>> softmax([1000.0, 1000.0])
    array([0.5, 0.5])
    >>> softmax([-np.inf, -np.inf])
    array([0., 0.])
    """
    scores = as_scores("scores", scores)
    axis = as_axis(axis, scores.ndim)
    largest = scores.max(axis=axis, keepdims=True)
    # In a fully masked row all scores are minus infinity; subtracting that would give NaN.
    shift = np.where(largest == -np.inf, 0, largest)
    # A difference that overflows becomes minus infinity, and its exponential is 0, as it should be.
    with np.errstate(over="ignore", under="ignore"):
        exponentials = np.exp(scores - shift)
        total = exponentials.sum(axis=axis, keepdims=True)
        return exponentials / np.where(total == 0, 1, total)


def as_scores(name: str, value: ArrayLike, *, min_ndim: int = 1) -> Array:
    """Return scores as an array, and raise a ValueError for NaN or plus infinity.

    Raises
    ------
    TypeError, ValueError
        As `mha.core.checks.as_array`; ValueError also for the first NaN or plus infinity.

    Examples
    --------
    >>> as_scores("scores", [0.0, np.inf])
    Traceback (most recent call last):
        ...
    ValueError: scores holds inf at index (1,); finite numbers or minus infinity are wanted
    """
    scores = as_array(name, value, min_ndim=min_ndim)
    bad = ~(scores < np.inf)  # NaN is neither below nor above
    refuse_where(name, scores, bad, "finite numbers or minus infinity are wanted")
    return scores


def softmax_jacobian(weights: ArrayLike) -> Array:
    """Return the Jacobian of the softmax: the derivative of each weight with respect to each score.

    Entry (i, j) is the derivative of weight i with respect to score j: ``w_i (1 - w_i)`` on the
    diagonal and ``-w_i w_j`` elsewhere.

    Parameters
    ----------
    weights : array_like, shape (..., n)
        A softmax's output.

    Returns
    -------
    ndarray, shape (..., n, n)
        Symmetric; each row sums to 0.

    Raises
    ------
    TypeError, ValueError
        If `weights` does not hold finite real numbers, has an empty axis, or a product of two of
        them is too large for its dtype.

    Examples
    --------
    >>> softmax_jacobian([0.5, 0.5])
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    weights = as_finite_array("weights", weights)
    diagonal = weights[..., None] * np.eye(weights.shape[-1], dtype=weights.dtype)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        jacobian: Array = diagonal - weights[..., :, None] * weights[..., None, :]
    refuse_overflow("weights", jacobian)
    return jacobian


def softmax_backward(d_weights: ArrayLike, weights: ArrayLike) -> Array:
    """Return the gradient of the scores, from the gradient of the softmax's output.

    This is the product with the Jacobian, without building it. An intermediate difference of
    gradients may exceed the range of the dtype, if its product with a weight does not.

    Parameters
    ----------
    d_weights : array_like, shape (..., n)
        Gradient of the loss with respect to the weights.
    weights : array_like, shape (..., n)
        The softmax's output along the last axis.

    Returns
    -------
    ndarray, shape (..., n)
        Gradient of the loss with respect to the scores.

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold finite real numbers, the shapes differ, or an element of the
        result is too large for its dtype.

    Examples
    --------
    >>> softmax_backward([1.0, 0.0], [0.5, 0.5])
    array([ 0.25, -0.25])
    """
    d_weights = as_finite_array("d_weights", d_weights)
    weights = as_finite_array("weights", weights)
    check_same_shape("d_weights", d_weights, "weights", weights)
    d_weights, weights = in_one_dtype(d_weights, weights)
    power = _overflow_exponents(d_weights, weights) if _may_overflow(d_weights, weights) else None
    if power is not None:
        d_weights = np.ldexp(d_weights, -power)
    with np.errstate(over="ignore", invalid="ignore"):
        d_scores = weights * (d_weights - (d_weights * weights).sum(axis=-1, keepdims=True))
        if power is not None:
            d_scores = np.ldexp(d_scores, power)
    refuse_overflow("d_weights and weights", d_scores)
    return d_scores


def _may_overflow(d_weights: Array, weights: Array) -> bool:
    """Return whether a difference of gradients may overflow, by a bound of the largest numbers."""
    largest, heaviest = (float(np.abs(x).max()) for x in (d_weights, weights))
    bound = largest * (1 + weights.shape[-1] * heaviest)
    return bound > float(np.finfo(weights.dtype).max) / 8


def _overflow_exponents(d_weights: Array, weights: Array) -> Array:
    """Return for each row the power of two to divide by, so that no difference overflows."""
    with np.errstate(over="ignore"):
        factors = 1 + np.abs(weights).sum(axis=-1, keepdims=True)
    exponents = [np.frexp(x)[1] for x in (np.abs(d_weights).max(axis=-1, keepdims=True), factors)]
    return np.maximum(sum(exponents) - np.finfo(weights.dtype).maxexp + 1, 0)
