"""Exact attention in memory that grows linearly with the number of keys.

The keys are read block by block, and a running maximum and sum keep the softmax exact, so the
result equals `mha.core.attention.scaled_dot_product_attention` up to rounding. There are three
implementations:

- Small inputs use `scaled_dot_product_attention` itself, since blocks would only cost time.
- `mha.core.tiles` is the fast one, for inputs whose norms show that no product can overflow.
- The functions of this module handle all other inputs: they check each product, and raise an error
  if it overflows.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import (
    as_unbroadcast_inputs,
    attention_scores,
    fold_heads,
    masked_scores,
    scaled_dot_product_attention,
    scaled_scores,
)
from mha.core.checks import Array, as_count, finite_product, refuse_overflow
from mha.core.masks import Align, as_mask, first_query_position
from mha.core.option_checks import as_bool
from mha.core.threads import can_limit_threads, usable_cores
from mha.core.tiles import Inputs, attend

MAX_UNBLOCKED_SCORES = 2**14
"""Up to this number all scores fit in a core's cache, and blocks save nothing."""


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
    """Return scaled dot-product attention without storing all its weights at once.

    Parameters
    ----------
    query : array_like, shape (..., num_queries, d_k)
    key : array_like, shape (..., num_keys, d_k)
    value : array_like, shape (..., num_keys, d_v)
        All three have the same leading axes; with `enable_gqa`, key and value may have fewer
        heads than query, and no copy of them is made.
    block_size : int, default 256
        Number of queries per block; a block of keys has at most four times as many. Causal
        attention over at most eight blocks of keys uses blocks of half as many queries, which may
        join several heads.
    mask, is_causal, align, scale, enable_gqa
        As in `mha.core.attention.attention_weights`.

    Returns
    -------
    ndarray, shape (..., num_queries, d_v)
        The dtype follows the rule in `mha.core.checks`.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit; the message names the argument and its fault.

    Notes
    -----
    With ``threadpoolctl`` installed, the computation uses all cores that the process may use;
    otherwise one (see `mha.core.threads`). The result does not depend on the number of cores.

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
    query, key, value = as_unbroadcast_inputs(query, key, value, enable_gqa, finite=False)
    block_size, is_causal = as_count("block_size", block_size), as_bool("is_causal", is_causal)
    num_queries, num_keys = query.shape[-2], key.shape[-2]
    first_position = first_query_position(num_queries, num_keys, align)
    if (
        math.prod(query.shape[:-1]) * num_keys <= MAX_UNBLOCKED_SCORES
        and max(num_queries, num_keys) <= block_size
    ):
        return scaled_dot_product_attention(
            query, key, value, mask=mask, is_causal=is_causal, align=align, scale=scale,
            enable_gqa=enable_gqa,
        )  # fmt: skip
    if mask is not None:
        # Check the whole mask once; the blocks then read it through a view.
        shape = (*query.shape[:-1], num_keys)
        mask = np.broadcast_to(as_mask(mask, shape, query.dtype), shape)
    key, value = _with_contiguous_rows(key), _with_contiguous_rows(value)
    inputs = Inputs(
        query, key, value, mask, first_position if is_causal else None, scale, block_size
    )
    output = np.empty((*query.shape[:-1], value.shape[-1]), query.dtype)
    if not attend(inputs, output, usable_cores() if can_limit_threads() else 1):
        as_unbroadcast_inputs(query, key, value, enable_gqa)  # raises if an input is not finite
        _attend_checking_overflow(inputs, output)
    return output


def _with_contiguous_rows(array: Array) -> Array:
    """Return the array, copied unless its rows are contiguous: else each product would copy it."""
    return array if array.strides[-1] == array.itemsize else np.ascontiguousarray(array)


def _attend_checking_overflow(inputs: Inputs, output: Array) -> None:
    """Write the output, and raise a ValueError if a product overflows."""
    for start in range(0, output.shape[-2], inputs.block_size):
        rows = slice(start, start + inputs.block_size)
        output[..., rows, :] = _attend(
            inputs.query[..., rows, :],
            inputs.key,
            inputs.value,
            block_size=inputs.block_size,
            mask=None if inputs.mask is None else inputs.mask[..., rows, :],
            first_position=None if inputs.first_position is None else inputs.first_position + start,
            scale=inputs.scale,
        )


def _attend(
    query: Array,
    key: Array,
    value: Array,
    *,
    block_size: int,
    mask: Array | None,
    first_position: int | None,
    scale: float | None,
) -> Array:
    """Return the output of one block of queries, with a running softmax over blocks of keys."""
    rows = query.shape[:-1]
    largest = np.full((*rows, 1), -np.inf, query.dtype)
    total = np.zeros_like(largest)
    output = np.zeros((*rows, value.shape[-1]), query.dtype)
    folded = fold_heads(query, key)
    for start in range(0, key.shape[-2], block_size):
        if first_position is not None and start >= first_position + rows[-1]:
            break  # causal: all further keys come after all queries of this block
        columns = slice(start, start + block_size)
        scores = attention_scores(folded, key[..., columns, :]).reshape(*rows, -1)
        scores = scaled_scores(scores, query.shape[-1], scale)
        scores = masked_scores(scores, None if mask is None else mask[..., columns], False)
        if first_position is not None:
            scores = np.where(_is_later_key(scores.shape, first_position, start), -np.inf, scores)
        exponentials, rescaling, largest = _exponentials(scores, largest)
        kept = total * rescaling
        total = kept + exponentials.sum(axis=-1, keepdims=True)
        # Divide in each block, not once at the end: the output then never exceeds the values, and
        # cannot overflow before the division.
        divisor = np.where(total == 0, 1, total)
        weights = fold_heads(exponentials / divisor, key)
        mixed = finite_product("weights and value", weights, value[..., columns, :])
        with np.errstate(over="ignore", invalid="ignore"):
            output = output * (kept / divisor) + mixed.reshape(output.shape)
    refuse_overflow("weights and value", output)
    return output


def _exponentials(scores: Array, largest: Array) -> tuple[Array, Array, Array]:
    """Return a block's exponentials, the factor that rescales earlier ones, and the new maximum."""
    new_largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
    # All scores of a row so far may be minus infinity; subtracting that would give NaN.
    shift = np.where(np.isneginf(new_largest), 0, new_largest)
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(scores - shift), np.exp(largest - shift), new_largest


def _is_later_key(shape: tuple[int, ...], first_position: int, first_column: int) -> Array:
    """Return True where the key of a block's score comes after its query."""
    queries, keys = np.indices(shape[-2:], sparse=True)
    return first_column + keys > first_position + queries
