"""Attention in memory that grows with the sequence, not with its square.

Keys are read in blocks. A running maximum and a running sum keep the softmax exact, so the
result equals `mha.core.attention.scaled_dot_product_attention` up to rounding.
"""

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import (
    as_separate_inputs,
    attention_scores,
    fold_heads,
    masked_scores,
    scaled_scores,
)
from mha.core.checks import Array, as_count, finite_product, refuse_overflow
from mha.core.masks import Align, as_mask, first_place


def blockwise_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    block_size: int = 128,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    align: Align = "top-left",
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Array:
    """Return scaled dot-product attention without ever holding all its weights.

    Parameters
    ----------
    query : array_like, shape (..., num_queries, d_k)
    key : array_like, shape (..., num_keys, d_k)
    value : array_like, shape (..., num_keys, d_v)
        All three have the same leading axes; with `enable_gqa`, key and value may have fewer
        heads than query, and no block of them is repeated.
    block_size : int, default 128
        How many queries and how many keys are worked on at a time.
    mask, is_causal, align, scale, enable_gqa
        As in `mha.core.attention.attention_weights`.

    Returns
    -------
    ndarray, shape (..., num_queries, d_v)
        Dtype as `mha.core.checks` says.

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
    query, key, value = as_separate_inputs(query, key, value, enable_gqa)
    block_size = as_count("block_size", block_size)
    num_queries, num_keys = query.shape[-2], key.shape[-2]
    first = first_place(num_queries, num_keys, align)
    if mask is not None:
        # The mask is checked once and whole, then read block by block through a view.
        shape = (*query.shape[:-1], num_keys)
        mask = np.broadcast_to(as_mask(mask, shape, query.dtype), shape)
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    for start in range(0, num_queries, block_size):
        rows = slice(start, start + block_size)
        output[..., rows, :] = _attend(
            query[..., rows, :],
            key,
            value,
            block_size=block_size,
            mask=None if mask is None else mask[..., rows, :],
            first_row=first + start if is_causal else None,
            scale=scale,
        )
    return output


def _attend(
    query: Array,
    key: Array,
    value: Array,
    *,
    block_size: int,
    mask: Array | None,
    first_row: int | None,
    scale: float | None,
) -> Array:
    """Return the output of one block of queries, reading the keys block by block."""
    rows = query.shape[:-1]
    largest = np.full((*rows, 1), -np.inf, query.dtype)
    total = np.zeros_like(largest)
    output = np.zeros((*rows, value.shape[-1]), query.dtype)
    folded = fold_heads(query, key)
    for start in range(0, key.shape[-2], block_size):
        if first_row is not None and start >= first_row + rows[-1]:
            break  # every key from here on comes after every query of the block
        columns = slice(start, start + block_size)
        scores = attention_scores(folded, key[..., columns, :]).reshape(*rows, -1)
        scores = scaled_scores(scores, query.shape[-1], scale)
        scores = masked_scores(scores, None if mask is None else mask[..., columns], False)
        if first_row is not None:
            scores = np.where(_later(scores.shape, first_row, start), -np.inf, scores)
        exponentials, shrunk, largest = _exponentials(scores, largest)
        kept = total * shrunk
        total = kept + exponentials.sum(axis=-1, keepdims=True)
        # The output so far is kept divided by its sum: it never grows beyond the values.
        divisor = np.where(total == 0, 1, total)
        weights = fold_heads(exponentials / divisor, key)
        mixed = finite_product("weights and value", weights, value[..., columns, :])
        with np.errstate(over="ignore", invalid="ignore"):
            output = output * (kept / divisor) + mixed.reshape(output.shape)
    refuse_overflow("weights and value", output)
    return output


def _exponentials(scores: Array, largest: Array) -> tuple[Array, Array, Array]:
    """Return a block's exponentials, the factor for those of earlier blocks, and the maximum."""
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    # A row without any key so far has nothing to subtract.
    shift = np.where(np.isneginf(new_largest), 0, new_largest)
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(scores - shift), np.exp(largest - shift), new_largest


def _later(shape: tuple[int, ...], first_row: int, first_column: int) -> Array:
    """Return where, in a block of scores, the key comes after the query."""
    queries, keys = np.indices(shape[-2:], sparse=True)
    return first_column + keys > first_row + queries
