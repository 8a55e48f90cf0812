"""Variants of scores and weights: soft caps, sinks, sparse masks, differences and gates."""

from __future__ import annotations

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
    """Return soft-capped scores: cap · tanh(score / cap).

    Parameters
    ----------
    scores : array_like, shape (..., num_queries, num_keys)
        Scaled and not yet masked: the cap of a masked score would be finite.
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
        found = cap * np.tanh(scores.astype(float) / cap)  # never larger in size than the scores
    return found.astype(scores.dtype)


def softmax_with_sink(scores: ArrayLike, sink: ArrayLike) -> Array:
    """Return a softmax with one more score in the denominator, which has no key and no value.

    With a sink of 0 this is "softmax off by one", whose denominator has 1 added.

    Parameters
    ----------
    scores : array_like, shape (..., num_keys)
        Minus infinity where a query may not attend.
    sink : array_like, broadcastable to (..., 1)
        One number for all rows, or one per head with shape (num_heads, 1, 1).

    Returns
    -------
    ndarray, shape of `scores`
        Each row sums to less than 1; the rest is the weight of the sink.

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
    """Return differential attention weights: ``first - share * second``.

    Parameters
    ----------
    first, second : array_like, shape (..., num_queries, num_keys)
        The attention weights of two softmaxes.
    share : float
        The factor of `second`; the paper's λ.

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


def indexer_scores(query: ArrayLike, key: ArrayLike, weights: ArrayLike) -> Array:
    """Return an indexer's score of each key for each query: a weighted sum over small queries.

    Parameters
    ----------
    query : array_like, shape (..., num_heads, num_queries, d)
        The small queries of each token.
    key : array_like, shape (..., num_keys, d)
        One small key per token, for all heads.
    weights : array_like, shape (..., num_heads, num_queries)
        The weight of each small query.

    Returns
    -------
    ndarray, shape (..., num_queries, num_keys)
        The weighted sums over heads of the positive parts of the dot products. `top_keys_mask`
        chooses the largest.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not hold finite numbers, do not fit, or a product is too large.

    References
    ----------
    DeepSeek-AI (2025), equation 1.

    Examples
    --------
    >>> indexer_scores([[[1.0, 0.0]], [[0.0, 1.0]]], [[3.0, -2.0], [1.0, 5.0]], [[1.0], [2.0]])
    array([[ 3., 11.]])
    """
    query, key, weights = in_one_dtype(
        as_finite_array("query", query, min_ndim=3),
        as_finite_array("key", key, min_ndim=2),
        as_finite_array("weights", weights, min_ndim=2),
    )
    if weights.shape[-2:] != query.shape[-3:-1]:
        raise ValueError(
            f"weights has shape {weights.shape}; one number per small query is wanted, as in"
            f" {query.shape[:-1]}"
        )
    products = finite_product("query and key", query, key[..., None, :, :].swapaxes(-1, -2))
    positive = np.maximum(products, 0)
    return finite_product(
        "weights and positive products",
        weights.swapaxes(-1, -2)[..., None, :],
        positive.swapaxes(-3, -2),
    )[..., 0, :]


def top_keys_mask(scores: ArrayLike, count: int) -> Array:
    """Return a mask of the keys with each query's largest scores.

    Parameters
    ----------
    scores : array_like, shape (..., num_queries, num_keys)
        Minus infinity where a query may not attend.
    count : int
        The number of keys per query; among equal scores the earlier keys are taken.

    Returns
    -------
    ndarray of bool, shape of `scores`
        At most `count` True per row, and none where the score is minus infinity.

    Raises
    ------
    TypeError, ValueError
        If `scores` does not hold numbers, or `count` is not a whole number of at least 1.

    References
    ----------
    DeepSeek-AI (2025), section 2.1, where a separate indexer computes the scores.

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


def top_blocks_mask(query: ArrayLike, key: ArrayLike, block_size: int, count: int) -> Array:
    """Return a causal mask of each query's own block of keys and the blocks with the best scores.

    A block's score is the query's dot product with the mean of its keys.

    Parameters
    ----------
    query : array_like, shape (..., n, d_k)
    key : array_like, shape (..., n, d_k)
    block_size : int
        The number of consecutive keys of a block; the last block may be shorter.
    count : int
        The number of blocks per query, with the query's own.

    Returns
    -------
    ndarray of bool, shape (..., n, n)

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit.

    References
    ----------
    Lu et al. (2025), section 2.2: mixture of block attention.

    Examples
    --------
    >>> top_blocks_mask(np.ones((3, 1)), [[1.0], [5.0], [2.0]], block_size=1, count=2).astype(int)
    array([[1, 0, 0],
           [1, 1, 0],
           [0, 1, 1]])
    """
    query = as_finite_array("query", query, min_ndim=2)
    key = as_finite_array("key", key, min_ndim=2)
    query, key = in_one_dtype(query, key)
    if query.shape != key.shape:
        raise ValueError(f"query has shape {query.shape} but key has {key.shape}; they must match")
    n, size = key.shape[-2], as_count("block_size", block_size)
    starts = np.arange(0, n, size)
    lengths = np.minimum(size, n - starts)
    means = np.add.reduceat(key, starts, axis=-2) / lengths[:, None].astype(key.dtype)
    scores = finite_product("query and the blocks' means", query, means.swapaxes(-1, -2))
    blocks_back = np.arange(n)[:, None] // size - np.arange(len(starts))
    # The query's own block comes first, so that it is always chosen; later blocks never are.
    scores = np.where(blocks_back == 0, np.inf, np.where(blocks_back < 0, -np.inf, scores))
    order = np.argsort(-scores, axis=-1, kind="stable")[..., : as_count("count", count)]
    chosen = np.zeros(scores.shape, bool)
    np.put_along_axis(chosen, order, True, axis=-1)
    chosen &= ~np.isneginf(scores)
    mask: Array = np.repeat(chosen, lengths, axis=-1) & np.tri(n, dtype=bool)
    return mask


def gated(output: ArrayLike, gate: ArrayLike) -> Array:
    """Return the output times the sigmoid of a gate, element by element.

    Parameters
    ----------
    output : array_like, shape (..., n, d_v)
        The output of a head, before the output projection.
    gate : array_like, broadcastable to `output`
        Usually the layer's input times a matrix.

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
    # The exponent is never positive, so the sigmoid does not overflow for large negative gates.
    sigmoid = np.where(gate < 0, np.exp(-np.abs(gate)), 1.0) / (1 + np.exp(-np.abs(gate)))
    return np.asarray(output * sigmoid, output.dtype)


def _check_fit(first_name: str, first: Array, second_name: str, second: Array) -> None:
    """Raise a ValueError unless the first array broadcasts to the shape of the second."""
    try:
        np.broadcast_to(first, second.shape)
    except ValueError as error:
        raise ValueError(
            f"{first_name} has shape {first.shape} but {second_name} has {second.shape};"
            " they must match"
        ) from error
