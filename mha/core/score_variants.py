"""What newer layers do to scores and weights: a cap, a sink, a choice, a difference, a gate."""

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import (
    Array,
    as_count,
    as_finite_array,
    as_number,
    finite_product,
    in_one_dtype,
    refuse_overflow,
)
from mha.core.softmax import as_scores, softmax


def capped_scores(scores: ArrayLike, cap: float) -> Array:
    """Return scores bent so that none goes beyond the cap: cap · tanh(score / cap).

    Parameters
    ----------
    scores : array_like, shape (..., num_queries, num_keys)
        Scaled, and not masked yet: a cap after the mask would let every key in again.
    cap : float
        Above 0.

    Returns
    -------
    ndarray, shape of `scores`

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold finite numbers, or `cap` is not above 0.

    References
    ----------
    Gemma Team (2024), section 2, "Logit soft-capping".

    Examples
    --------
    >>> capped_scores([1.0, 100.0], 50).round(4)
    array([ 0.9999, 48.2014])
    """
    scores = as_finite_array("scores", scores)
    cap = as_number("cap", cap, above=0)
    with np.errstate(over="ignore", under="ignore"):
        found = cap * np.tanh(scores.astype(float) / cap)  # at most as large as the scores
    return found.astype(scores.dtype)


def softmax_with_sink(scores: ArrayLike, sink: ArrayLike) -> Array:
    """Return a softmax with one more score that takes its share and hands nothing over.

    With a sink of 0 this is the softmax off by one, whose denominator has 1 added.

    Parameters
    ----------
    scores : array_like, shape (..., num_keys)
        Minus infinity where a query may not attend.
    sink : array_like, broadcastable to (..., 1)
        One number for all rows, or one a head with shape (num_heads, 1, 1).

    Returns
    -------
    ndarray, shape of `scores`
        Each row sums to less than 1; what is missing is the sink's.

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold numbers, or they do not fit.

    References
    ----------
    Xiao et al. (2024), equation 2, for a sink of 0; OpenAI (2025), section 2.2, for a learned one.

    Examples
    --------
    >>> softmax_with_sink([0.0, 0.0, 0.0], 0.0)
    array([0.25, 0.25, 0.25])
    """
    scores = as_scores("scores", scores)
    sink = as_finite_array("sink", sink, min_ndim=0)
    scores, sink = in_one_dtype(scores, sink)
    wanted = (*scores.shape[:-1], 1)
    try:
        column = np.broadcast_to(sink, wanted)
    except ValueError as error:
        raise ValueError(
            f"sink has shape {sink.shape}; one that broadcasts to {wanted} is wanted"
        ) from error
    return softmax(np.concatenate([scores, column], axis=-1))[..., :-1]


def differential_weights(first: ArrayLike, second: ArrayLike, share: float) -> Array:
    """Return one map of weights less a share of another: what both give alike falls away.

    Parameters
    ----------
    first, second : array_like, shape (..., num_queries, num_keys)
        Weights of two softmaxes.
    share : float
        The paper's λ.

    Returns
    -------
    ndarray, shape of `first`
        Rows sum to 1 − share; single weights may be below 0.

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold finite numbers, or they do not fit.

    References
    ----------
    Ye et al. (2025), equation 1.

    Examples
    --------
    >>> differential_weights([0.75, 0.25], [0.5, 0.5], 0.5)
    array([0.5, 0. ])
    """
    first, second = as_finite_array("first", first), as_finite_array("second", second)
    first, second = in_one_dtype(first, second)
    _check_fit("first", first, "second", second)
    with np.errstate(over="ignore", invalid="ignore"):
        found = first - first.dtype.type(as_number("share", share)) * second
    refuse_overflow("share and second", found)
    return np.asarray(found, first.dtype)


def top_keys_mask(scores: ArrayLike, count: int) -> Array:
    """Return a mask that leaves each query the keys with its largest scores.

    Parameters
    ----------
    scores : array_like, shape (..., num_queries, num_keys)
        Minus infinity where a query may not attend anyway.
    count : int
        How many keys are left; of equal scores the earlier keys are.

    Returns
    -------
    ndarray of bool, shape of `scores`
        True where a query may attend: at most `count` in a row, none with minus infinity.

    Raises
    ------
    TypeError, ValueError
        If `scores` does not hold numbers, or `count` is not a whole number of at least 1.

    References
    ----------
    DeepSeek-AI (2025), section 2.1, for a choice by an indexer of its own.

    Examples
    --------
    >>> top_keys_mask([[3.0, 1.0, 2.0]], 2)
    array([[ True, False,  True]])
    """
    scores = as_scores("scores", scores)
    order = np.argsort(-scores, axis=-1, kind="stable")[..., : as_count("count", count)]
    mask = np.zeros(scores.shape, bool)
    np.put_along_axis(mask, order, True, axis=-1)
    return mask & ~np.isneginf(scores)


def top_blocks_mask(query: ArrayLike, key: ArrayLike, block: int, count: int) -> Array:
    """Return a causal mask that leaves each query its own block of keys and those that fit best.

    A block's score is the query's dot product with the mean of its keys.

    Parameters
    ----------
    query : array_like, shape (..., n, d_k)
    key : array_like, shape (..., n, d_k)
    block : int
        How many neighbouring keys make a block; the last may be shorter.
    count : int
        How many blocks are left, the query's own among them.

    Returns
    -------
    ndarray of bool, shape (..., n, n)

    Raises
    ------
    TypeError, ValueError
        If an argument does not fit.

    References
    ----------
    Lu et al. (2025), section 2.2: mixture of block attention.

    Examples
    --------
    >>> top_blocks_mask(np.ones((3, 1)), [[1.0], [5.0], [2.0]], block=1, count=2).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """
    query = as_finite_array("query", query, min_ndim=2)
    key = as_finite_array("key", key, min_ndim=2)
    query, key = in_one_dtype(query, key)
    if query.shape != key.shape:
        raise ValueError(f"query has shape {query.shape} but key has {key.shape}; they must match")
    n, size = key.shape[-2], as_count("block", block)
    starts = np.arange(0, n, size)
    lengths = np.minimum(size, n - starts)
    means = np.add.reduceat(key, starts, axis=-2) / lengths[:, None].astype(key.dtype)
    scores = finite_product("query and the blocks' means", query, means.swapaxes(-1, -2))
    own = np.arange(n)[:, None] // size - np.arange(len(starts))
    scores = np.where(own == 0, np.inf, np.where(own < 0, -np.inf, scores))
    order = np.argsort(-scores, axis=-1, kind="stable")[..., : as_count("count", count)]
    chosen = np.zeros(scores.shape, bool)
    np.put_along_axis(chosen, order, True, axis=-1)
    chosen &= ~np.isneginf(scores)
    mask: Array = np.repeat(chosen, lengths, axis=-1) & np.tri(n, dtype=bool)
    return mask


def gated(output: ArrayLike, gate: ArrayLike) -> Array:
    """Return an output times the sigmoid of a gate, number by number.

    Parameters
    ----------
    output : array_like, shape (..., n, d_v)
        Of a head, before the output projection.
    gate : array_like, broadcastable to `output`
        As a rule the input times a matrix of its own.

    Returns
    -------
    ndarray, shape of `output`

    Raises
    ------
    TypeError, ValueError
        If an argument does not hold finite numbers, or they do not fit.

    References
    ----------
    Qiu et al. (2025), equation 5 and section 2.2.

    Examples
    --------
    >>> gated([4.0, 4.0], [0.0, -100.0]).round(4)
    array([2., 0.])
    """
    output, gate = as_finite_array("output", output), as_finite_array("gate", gate)
    output, gate = in_one_dtype(output, gate)
    _check_fit("gate", gate, "output", output)
    share = np.where(gate < 0, np.exp(-np.abs(gate)), 1.0) / (1 + np.exp(-np.abs(gate)))
    return np.asarray(output * share, output.dtype)


def _check_fit(first_name: str, first: Array, second_name: str, second: Array) -> None:
    """Raise a ValueError unless the first array broadcasts to the second."""
    try:
        np.broadcast_to(first, second.shape)
    except ValueError as error:
        raise ValueError(
            f"{first_name} has shape {first.shape} but {second_name} has {second.shape};"
            " they must match"
        ) from error
