"""Attention in memory that grows with the sequence, not with its square.

Keys are read in blocks, and a running sum keeps the softmax exact, so the result equals
`mha.core.attention.scaled_dot_product_attention` up to rounding. There are three ways to it:

- A few scores go the plain way: blocks would only be work.
- `mha.core.tiles` is as fast as the machine's matrix products allow. It is for numbers of which
  one look at the inputs, beside the first products, shows that none of them can overflow.
- Numbers beyond that are multiplied with care here, and an overflow is refused as everywhere.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import (
    as_separate_inputs,
    attention_scores,
    fold_heads,
    masked_scores,
    scaled_dot_product_attention,
    scaled_scores,
)
from mha.core.checks import Array, as_count, finite_product, refuse_overflow
from mha.core.masks import Align, as_mask, first_place
from mha.core.option_checks import as_switch
from mha.core.threads import can_limit, usable_cores
from mha.core.tiles import Inputs, attend

SMALL = 2**14
"""So many scores fit in a core's cache at once, and blocks would be work for nothing."""


def blockwise_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    block_size: int = 256,
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
    block_size : int, default 256
        How many queries are worked on at a time, with at most four times as many keys. Causal
        attention of up to eight blocks of keys works on half as many queries, of several heads.
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

    Notes
    -----
    All cores that the process may use take part if ``threadpoolctl`` is installed; without it one
    does (see `mha.core.threads`). The result is the same, bit by bit, on one core and on many.

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
    query, key, value = as_separate_inputs(query, key, value, enable_gqa, finite=False)
    block_size, is_causal = as_count("block_size", block_size), as_switch("is_causal", is_causal)
    num_queries, num_keys = query.shape[-2], key.shape[-2]
    first = first_place(num_queries, num_keys, align)
    if math.prod(query.shape[:-1]) * num_keys <= SMALL and max(num_queries, num_keys) <= block_size:
        return scaled_dot_product_attention(
            query, key, value, mask=mask, is_causal=is_causal, align=align, scale=scale,
            enable_gqa=enable_gqa,
        )  # fmt: skip
    if mask is not None:
        # The mask is checked once and whole, then read block by block through a view.
        shape = (*query.shape[:-1], num_keys)
        mask = np.broadcast_to(as_mask(mask, shape, query.dtype), shape)
    key, value = _rows_together(key), _rows_together(value)
    inputs = Inputs(query, key, value, mask, first if is_causal else None, scale, block_size)
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    if not attend(inputs, output, usable_cores() if can_limit() else 1):
        as_separate_inputs(query, key, value, enable_gqa)  # refuses what is not finite
        _attend_with_care(inputs, output)
    return output


def _rows_together(array: Array) -> Array:
    """Return an array whose rows matrix products can read without a copy each time."""
    return array if array.strides[-1] == array.itemsize else np.ascontiguousarray(array)


def _attend_with_care(inputs: Inputs, output: Array) -> None:
    """Write the output for numbers so large that products may overflow, looking at each."""
    for start in range(0, output.shape[-2], inputs.block_size):
        rows = slice(start, start + inputs.block_size)
        output[..., rows, :] = _attend(
            inputs.query[..., rows, :],
            inputs.key,
            inputs.value,
            block_size=inputs.block_size,
            mask=None if inputs.mask is None else inputs.mask[..., rows, :],
            first_row=None if inputs.first is None else inputs.first + start,
            scale=inputs.scale,
        )


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
