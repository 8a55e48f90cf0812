"""Attention in memory that grows with the sequence, not with its square.

Keys are read in blocks. A running maximum and a running sum keep the softmax exact, so the
result equals `mha.attention.scaled_dot_product_attention` up to rounding.
"""

import numpy as np
from numpy.typing import ArrayLike

from mha.attention import attention_scores, scaled_scores
from mha.checks import Array, as_count, as_finite_array
from mha.masks import as_additive_mask


def blockwise_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    block_size: int = 128,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    scale: float | None = None,
) -> Array:
    """Return scaled dot-product attention without ever holding all its weights.

    Parameters
    ----------
    query : array_like, shape (..., num_queries, d_k)
    key : array_like, shape (..., num_keys, d_k)
    value : array_like, shape (..., num_keys, d_v)
        All three have the same leading axes.
    block_size : int, default 128
        How many queries and how many keys are worked on at a time.
    mask, is_causal, scale
        As in `mha.attention.attention_weights`.

    Returns
    -------
    ndarray, shape (..., num_queries, d_v)
        float32 if all three arrays are, else float64.

    Raises
    ------
    TypeError, ValueError
        If arguments do not fit, naming the argument, what is wanted and what came.

    References
    ----------
    Milakov and Gimelshein (2018), algorithm 3; Rabe and Staats (2021).

    Examples
    --------
    >>> query = key = [[1, 0, 1, 0], [0, 1, 0, 1]]
    >>> blockwise_attention(query, key, [[2, 3], [5, 7]], block_size=1).round(4)
    array([[2.8068, 4.0758],
           [4.1932, 5.9242]])
    """
    query = as_finite_array("query", query, min_ndim=2)
    key = as_finite_array("key", key, min_ndim=2)
    value = as_finite_array("value", value, min_ndim=2)
    block_size = as_count("block_size", block_size)
    _check_shapes(query, key, value)
    dtype = np.result_type(query, key, value)
    shape = (*query.shape[:-1], key.shape[-2])
    # The mask is checked once and whole, then read block by block through a view.
    additive = as_additive_mask(mask, False, shape, dtype)
    if additive is not None:
        additive = np.broadcast_to(additive, shape)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype)
    for start in range(0, query.shape[-2], block_size):
        rows = slice(start, start + block_size)
        output[..., rows, :] = _attend(
            query[..., rows, :],
            key,
            value,
            block_size=block_size,
            additive=None if additive is None else additive[..., rows, :],
            first_row=start if is_causal else None,
            scale=scale,
        )
    return output


def _check_shapes(query: Array, key: Array, value: Array) -> None:
    if key.shape[-2] != value.shape[-2]:
        raise ValueError(
            f"key has {key.shape[-2]} rows but value has {value.shape[-2]}; they must match"
        )
    for name, x in (("key", key), ("value", value)):
        if x.shape[:-2] != query.shape[:-2]:
            raise ValueError(
                f"query has leading axes {query.shape[:-2]} but {name} has {x.shape[:-2]};"
                " they must match"
            )


def _attend(
    query: Array,
    key: Array,
    value: Array,
    *,
    block_size: int,
    additive: Array | None,
    first_row: int | None,
    scale: float | None,
) -> Array:
    """Return the output of one block of queries, reading the keys block by block."""
    rows = query.shape[:-1]
    largest = np.full((*rows, 1), -np.inf, query.dtype)
    total = np.zeros((*rows, 1), query.dtype)
    mixed = np.zeros((*rows, value.shape[-1]), np.result_type(query, key, value))
    for start in range(0, key.shape[-2], block_size):
        columns = slice(start, start + block_size)
        scores = scaled_scores(
            attention_scores(query, key[..., columns, :]), query.shape[-1], scale
        )
        if additive is not None:
            scores = scores + additive[..., columns]
        if first_row is not None:
            later = (
                np.arange(start, start + scores.shape[-1])
                > (np.arange(first_row, first_row + rows[-1])[:, None])
            )
            scores = np.where(later, -np.inf, scores).astype(scores.dtype)
        new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
        # A row without any key so far has nothing to subtract.
        shift = np.where(np.isneginf(new_largest), 0, new_largest).astype(scores.dtype)
        with np.errstate(over="ignore", under="ignore"):
            rescale, exponentials = np.exp(largest - shift), np.exp(scores - shift)
        total = total * rescale + exponentials.sum(axis=-1, keepdims=True)
        mixed = mixed * rescale + exponentials @ value[..., columns, :]
        largest = new_largest
    return mixed / np.where(total == 0, 1, total).astype(total.dtype)
