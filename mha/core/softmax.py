"""The softmax and its derivative."""

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
    """Turn scores into weights that are positive and sum to 1 along `axis`.

    The largest score of each row is subtracted first, which changes no weight and keeps
    every exponential at 1 or below, so that large scores do not overflow.

    Parameters
    ----------
    scores : array_like, at least one axis
        Minus infinity marks a place that gets no weight.
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
    # A row of minus infinity alone stays as it is: its exponentials are 0.
    shift = np.where(largest == -np.inf, 0, largest)
    # A difference that overflows is minus infinity: its exponential is 0.
    with np.errstate(over="ignore", under="ignore"):
        exponentials = np.exp(scores - shift)
        total = exponentials.sum(axis=axis, keepdims=True)
        return exponentials / np.where(total == 0, 1, total)


def as_scores(name: str, value: ArrayLike, *, min_ndim: int = 1) -> Array:
    """Return scores as an array of finite numbers and minus infinities, or raise.

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
    """Return the derivative of each weight by each score.

    Entry (i, j) is the derivative of weight i by score j: ``w_i (1 - w_i)`` on the diagonal
    and ``-w_i w_j`` off it.

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
    """Carry a gradient from a softmax's output back to its scores.

    The product with the Jacobian, without building it. A difference of gradients may be too large
    for its dtype, as long as its product with a weight is not.

    Parameters
    ----------
    d_weights : array_like, shape (..., n)
        The loss's gradient by the weights.
    weights : array_like, shape (..., n)
        The softmax's output along the last axis.

    Returns
    -------
    ndarray, shape (..., n)
        The loss's gradient by the scores.

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
    power = _excess(d_weights, weights) if _may_overflow(d_weights, weights) else None
    if power is not None:
        d_weights = np.ldexp(d_weights, -power)
    with np.errstate(over="ignore", invalid="ignore"):
        d_scores = weights * (d_weights - (d_weights * weights).sum(axis=-1, keepdims=True))
        if power is not None:
            d_scores = np.ldexp(d_scores, power)
    refuse_overflow("d_weights and weights", d_scores)
    return d_scores


def _may_overflow(d_weights: Array, weights: Array) -> bool:
    """Tell whether a difference of gradients may be too large, by the largest numbers alone."""
    largest, heaviest = (float(np.abs(x).max()) for x in (d_weights, weights))
    bound = largest * (1 + weights.shape[-1] * heaviest)
    return bound > float(np.finfo(weights.dtype).max) / 8


def _excess(d_weights: Array, weights: Array) -> Array:
    """Return by which power of two to divide each row so that no difference in it overflows."""
    with np.errstate(over="ignore"):
        factors = 1 + np.abs(weights).sum(axis=-1, keepdims=True)
    exponents = [np.frexp(x)[1] for x in (np.abs(d_weights).max(axis=-1, keepdims=True), factors)]
    return np.maximum(sum(exponents) - np.finfo(weights.dtype).maxexp + 1, 0)
