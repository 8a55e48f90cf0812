"""Exact attention in tiles of scores, each small enough for a core's cache.

The two matrix products take most of the time, and the exponentials most of the rest, so each tile
is traversed as few times as possible: the query is scaled before the product, the exponentials
replace the scores in place, and their sums are a product with a vector of ones. Subtracting each
row's largest score takes two more passes. A block of queries is first computed without it, and
again with it if the sum of a row is so large or small that an exponential may have overflowed or
underflowed. The result is the softmax in both cases, and does not depend on which thread computes a
block.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from mha.core.checks import Array, as_scale
from mha.core.threads import one_thread_of_linear_algebra, run_tasks

KEYS_PER_QUERY = 4
"""Keys per query of a tile: with fewer tiles per row there are fewer sums."""

SCORES_PER_WORKER = 2**16
"""The smallest number of scores for which a further thread saves time."""

MAX_MODERATE_SUM = 2.0**40
"""Without a shift, sums of exponentials and the values' norm must lie between this and 1/this."""

MAX_SCORE_OF_FIRST_KEYS = 40
"""If a score of the first keys is larger in size, the block is computed with a shift at once."""

SCORES_PER_TASK = 2**17
"""Short heads share a task up to this number of scores, to keep the overhead of Python small."""

MAX_KEY_BLOCKS_TO_HALVE = 8
"""Up to this number of blocks of keys, causal attention halves the blocks of queries."""

SCORES_PER_TILE = 2**19
"""With halved blocks, heads share a tile up to this number of scores."""

MIN_TASKS = 8
"""With halved blocks, heads are not combined below this number of tasks, for several cores."""

QueryBlock = tuple[tuple[int | slice, ...], slice]
"""A block of queries: the index of its head or heads, and the slice of its rows."""


@dataclass(frozen=True)
class Inputs:
    """The arrays and options of one call, and their division into blocks.

    Attributes
    ----------
    query, key, value : ndarray
        As in `mha.core.blockwise.blockwise_attention`; the leading axes are equal, apart from
        groups of heads.
    mask : ndarray of bool or of the query's dtype, shape (..., num_queries, num_keys), or None
    first_position : int or None
        For causal attention, the position of the first query among the keys.
    scale : float or None
        Factor of the scores; None is 1 / sqrt(d_k).
    block_size : int
        Number of queries of a block.
    """

    query: Array
    key: Array
    value: Array
    mask: Array | None
    first_position: int | None
    scale: float | None
    block_size: int

    def blocks(self) -> list[QueryBlock]:
        """Return all blocks of queries, those with the most keys first.

        The threads then end at about the same time: the shortest tasks come last.
        """
        heads = self.head_indices()
        rows = split_evenly(self.num_queries, self.queries_per_block())
        if self.first_position is None:
            return [(head, part) for head in heads for part in rows]
        return [(head, part) for part in reversed(rows) for head in heads]

    def head_indices(self) -> list[tuple[int | slice, ...]]:
        """Return the index of each head, or of several adjacent heads with few scores."""
        leading, count = self.query.shape[:-2], self.heads_per_block()
        if count < 2 or not self.can_combine_heads():
            return list(product(*map(range, leading)))
        heads = leading[-1]
        parts = split_evenly(heads, count)
        fits_two_threads = (
            not self.halves_blocks()
            and 1 < heads == math.prod(leading) <= 2 * count
            and self.num_scores >= 2 * SCORES_PER_WORKER
        )
        if fits_two_threads:
            parts = split_in_two(heads)
        return [(*index, part) for index in product(*map(range, leading[:-1])) for part in parts]

    def heads_per_block(self) -> int:
        """Return the number of heads of a block, if heads can be combined."""
        if not self.halves_blocks():
            return SCORES_PER_TASK // (self.num_queries * self.num_keys)
        rows = self.queries_per_block()
        tile = rows * min(self.num_keys, self.block_size * KEYS_PER_QUERY)
        tasks = math.prod(self.query.shape[:-2]) * len(split_evenly(self.num_queries, rows))
        return min(SCORES_PER_TILE // tile, tasks // MIN_TASKS)

    def can_combine_heads(self) -> bool:
        """Return whether a block can have several heads: each head has its own keys."""
        leading = self.query.shape[:-2]
        return leading == self.key.shape[:-2] and leading != ()

    def halves_blocks(self) -> bool:
        """Return whether a block has half as many queries, but of several heads.

        With fewer queries per block, causal attention computes fewer scores of masked keys.
        """
        if self.first_position is None or not self.can_combine_heads() or self.query.shape[-3] == 1:
            return False
        has_few_keys = self.num_keys <= MAX_KEY_BLOCKS_TO_HALVE * self.block_size
        return has_few_keys and 2 * self.num_queries > self.block_size

    def queries_per_block(self) -> int:
        """Return the number of queries of a block, per head."""
        return -(-self.block_size // 2) if self.halves_blocks() else self.block_size

    @property
    def num_scores(self) -> int:
        """Number of scores of all heads."""
        return math.prod(self.query.shape[:-1]) * self.key.shape[-2]

    @property
    def num_queries(self) -> int:
        """Number of queries of a head."""
        return self.query.shape[-2]

    @property
    def num_keys(self) -> int:
        """Number of keys of a head."""
        return self.key.shape[-2]

    def key_head(self, head: tuple[int | slice, ...]) -> tuple[int | slice, ...]:
        """Return the index of the key head of a query head."""
        if self.query.shape[:-2] == self.key.shape[:-2] or isinstance(head[-1], slice):
            return head
        return (*head[:-1], head[-1] // (self.query.shape[-3] // self.key.shape[-3]))

    def num_allowed_keys(self, stop: int) -> int:
        """Return the number of first keys that the queries before row `stop` may attend to."""
        if self.first_position is None:
            return self.num_keys
        return max(0, min(self.num_keys, self.first_position + stop))


def are_moderate(query: Array, key: Array, value: Array, scale: float | None) -> bool:
    """Return whether no product of these arrays, and no score, can overflow.

    By the Cauchy-Schwarz inequality no dot product exceeds the product of the norms. The limit
    leaves enough room for adding any finite mask.

    Parameters
    ----------
    query, key, value : ndarray
        The result is False if one holds NaN or an infinity.
    scale : float or None
        As in `mha.core.attention.attention_weights`.

    Examples
    --------
    >>> are_moderate(np.ones((2, 3)), np.ones((2, 3)), np.ones((2, 3)), None)
    True
    >>> are_moderate(np.full((2, 3), 1e300), np.ones((2, 3)), np.ones((2, 3)), None)
    False
    """
    limits = np.finfo(query.dtype)
    limit = float(limits.max) * float(limits.eps) / 4
    factor = abs(as_scale(scale, query.shape[-1]))
    with np.errstate(all="ignore"):
        sizes = [float(np.linalg.norm(x)) for x in (query, key, value)]
    if not all(np.isfinite(sizes)) or not 1 / MAX_MODERATE_SUM < sizes[2] < MAX_MODERATE_SUM:
        return False
    return max(factor, 1.0) * max(sizes[0], 1.0) * max(sizes[1], 1.0) < limit


def attend(inputs: Inputs, output: Array, workers: int) -> bool:
    """Write the attention output of the inputs into `output`, and return whether it is valid.

    Parameters
    ----------
    inputs : Inputs
    output : ndarray, shape (..., num_queries, d_v)
    workers : int
        The largest number of threads; small inputs use fewer. The result does not depend on it.

    Returns
    -------
    bool
        Whether the inputs `are_moderate`; if not, the content of `output` is meaningless.
    """
    blocks = inputs.blocks()
    workers = max(1, min(workers, len(blocks), inputs.num_scores // SCORES_PER_WORKER))
    # The check of all numbers, None, comes after the first block of each worker: the inputs are
    # then in the caches. If there is no second block, the first free worker does the check.
    tasks = [*blocks[:workers], None, *blocks[workers:]]
    try:
        with one_thread_of_linear_algebra():
            run_tasks(tasks, lambda: _Worker(inputs, output).run, workers)
    except _NotModerateError:
        return False
    return True


@lru_cache(maxsize=1)
def has_fast_exp2() -> bool:
    """Return whether NumPy computes 2**x with vector instructions, in half the time of e**x.

    NumPy's builds for Linux do so with AVX-512, which has two names in NumPy's versions.
    """
    found: Any = np.show_config(mode="dicts")
    features = found.get("SIMD Extensions", {}).get("found", []) if found else []
    return sys.platform == "linux" and bool({"AVX512_SKX", "X86_V4"} & set(features))


def split_evenly(length: int, size: int) -> list[slice]:
    """Return consecutive slices of one size; the last may be shorter.

    Examples
    --------
    >>> split_evenly(5, 3)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    return [slice(start, min(start + size, length)) for start in range(0, length, size)]


def split_in_two(length: int) -> list[slice]:
    """Return two slices, the first one longer: its thread starts while the other still wakes.

    Examples
    --------
    >>> split_in_two(8)
    [slice(0, 5, None), slice(5, 8, None)]
    """
    longer = (5 * length + 3) // 8
    return [slice(0, longer), slice(longer, length)]


class _NotModerateError(ArithmeticError):
    """The inputs are so large or small that products have to be checked."""


class _Worker:
    """Computes blocks of queries one after another, in buffers that it reuses.

    The scores of one key are contiguous in memory, which is the fastest order for both products.
    With a mask the scores of one query are, as in the mask.
    """

    def __init__(self, inputs: Inputs, output: Array) -> None:
        self.inputs, self.output = inputs, output
        self.factor = as_scale(inputs.scale, inputs.query.shape[-1])
        self.additive = inputs.mask is not None and inputs.mask.dtype != np.bool_
        self.columns = inputs.block_size * KEYS_PER_QUERY
        self.ones = np.ones(min(self.columns, inputs.num_keys), inputs.query.dtype)
        self.buffers: dict[str, Array] = {}
        self.triangle: tuple[tuple[int, ...], Array] = (), self.ones

    def run(self, task: QueryBlock | None) -> None:
        """Write the output of a block; for None, raise unless the inputs `are_moderate`."""
        inputs = self.inputs
        if task is not None:
            self.attend(task)
        elif not are_moderate(inputs.query, inputs.key, inputs.value, inputs.scale):
            raise _NotModerateError

    def attend(self, block: QueryBlock) -> None:
        """Write the output of one block of queries."""
        head, rows = block
        output = self.output[head][..., rows, :]
        with np.errstate(all="ignore"):
            total = self._unshifted(block, output)
            if total is None:
                total = self._shifted(block, output)
                total[total == 0] = 1
            output /= total[..., None]

    def _unshifted(self, block: QueryBlock, output: Array) -> Array | None:
        """Sum the values times exponentials; return the rows' sums, or None if one is not moderate.

        With a moderate sum no exponential overflowed, and those that underflowed are too small to
        change the sum.
        """
        # exp2 is slow for minus infinity, which an additive mask may hold.
        power = np.exp2 if has_fast_exp2() and not self.additive else np.exp
        query = self._query(block, self.factor / (math.log(2) if power is np.exp2 else 1))
        has_one_tile = self.inputs.num_allowed_keys(block[1].stop) <= self.columns
        total: Array | None = None
        for columns, key, value in self._tiles(block):
            scores = self._scores(query, key)
            # Of several tiles, look at the first keys: most large scores show there, before the
            # work on the other tiles.
            if total is None and not (has_one_tile or _are_small(scores[..., :16])):
                return None
            self._add_mask(block, columns, scores)
            power(scores, out=scores)
            for part, allowed in self._masked_parts(block, columns, scores):
                part *= allowed
            sums = scores @ self.ones[: scores.shape[-1]]
            total = self._add_tile(scores, value, output, sums, total)
        if (
            total is None
            or not 1 / MAX_MODERATE_SUM < total.min() <= total.max() < MAX_MODERATE_SUM
        ):
            return None
        return total

    def _shifted(self, block: QueryBlock, output: Array) -> Array:
        """Do the same with each row's largest score so far subtracted, rescaling when it grows."""
        query = self._query(block, self.factor)
        total = np.zeros(output.shape[:-1], output.dtype)
        largest = np.full_like(total, -np.inf)
        output[...] = 0
        for columns, key, value in self._tiles(block):
            scores = self._scores(query, key)
            self._add_mask(block, columns, scores)
            for part, allowed in self._masked_parts(block, columns, scores):
                part[...] = np.where(allowed, part, -np.inf)
            new_largest = np.maximum(largest, scores.max(axis=-1))
            # All scores of a row so far may be minus infinity; subtracting that would give NaN.
            shift = np.where(np.isneginf(new_largest), 0, new_largest).astype(total.dtype)
            scores -= shift[..., None]
            np.exp(scores, out=scores)
            rescaling = np.exp(largest - shift)
            output *= rescaling[..., None]
            sums = scores @ self.ones[: scores.shape[-1]]
            total = self._add_tile(scores, value, output, sums, total * rescaling)
            largest = new_largest
        return total

    def _query(self, block: QueryBlock, factor: float) -> Array:
        """Return a block of queries times a factor."""
        head, rows = block
        query = self.inputs.query[head][..., rows, :]
        return np.multiply(query, query.dtype.type(factor), out=self._buffer("query", query.shape))

    def _tiles(self, block: QueryBlock) -> Iterator[tuple[slice, Array, Array]]:
        """Yield the slice, keys and values of each tile that a block may attend to."""
        head, rows = block
        index = self.inputs.key_head(head)
        key, value = self.inputs.key[index], self.inputs.value[index]
        for columns in split_evenly(self.inputs.num_allowed_keys(rows.stop), self.columns):
            yield columns, key[..., columns, :], value[..., columns, :]

    def _scores(self, query: Array, key: Array) -> Array:
        """Return the scores of a tile."""
        shape = *query.shape[:-1], key.shape[-2]
        if self.inputs.mask is None:
            transposed = self._buffer("scores", (*shape[:-2], shape[-1], shape[-2]))
            return np.matmul(key, query.swapaxes(-1, -2), out=transposed).swapaxes(-1, -2)
        return np.matmul(query, key.swapaxes(-1, -2), out=self._buffer("scores", shape))

    def _buffer(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return an uninitialised array in the memory that arrays of this name share."""
        size = math.prod(shape)
        if name not in self.buffers or self.buffers[name].size < size:
            self.buffers[name] = np.empty(size, self.output.dtype)
        return self.buffers[name][:size].reshape(shape)

    def _add_mask(self, block: QueryBlock, columns: slice, scores: Array) -> None:
        """Add an additive mask to the scores of a tile."""
        if self.additive and self.inputs.mask is not None:
            head, rows = block
            scores += self.inputs.mask[head][..., rows, columns]

    def _masked_parts(
        self, block: QueryBlock, columns: slice, scores: Array
    ) -> Iterator[tuple[Array, Array]]:
        """Yield the parts of a tile with masked keys, and True where they are allowed."""
        head, rows = block
        if self.inputs.mask is not None and not self.additive:
            yield scores, self.inputs.mask[head][..., rows, columns]
        if self.inputs.first_position is not None:
            # All queries of the block may attend to the keys before this one, as the first query
            # does.
            first = max(columns.start, self.inputs.num_allowed_keys(rows.start + 1))
            if first < columns.stop:
                part = scores[..., first - columns.start :]
                diagonal = self.inputs.first_position + rows.start - first
                yield part, self._triangle(diagonal, part.shape[-2:])

    def _triangle(self, diagonal: int, shape: tuple[int, ...]) -> Array:
        """Return True where a key is not later than a query; the last result is cached."""
        if self.triangle[0] != (diagonal, *shape):
            triangle = np.empty(shape, np.bool_, order="C" if self.inputs.mask is not None else "F")
            rows, columns = (np.arange(n, dtype=np.int32) for n in shape)
            np.less_equal(columns, rows[:, None] + np.int32(diagonal), out=triangle)
            self.triangle = (diagonal, *shape), triangle
        return self.triangle[1]

    def _add_tile(
        self, scores: Array, value: Array, output: Array, sums: Array, total: Array | None
    ) -> Array:
        """Add a tile's weighted sum of values to the output; return the sums of exponentials."""
        if total is None:
            np.matmul(scores, value, out=output)
            return sums
        output += np.matmul(scores, value, out=self._buffer("mixed", output.shape))
        return total + sums


def _are_small(scores: Array) -> bool:
    """Return whether all scores are smaller in size than `MAX_SCORE_OF_FIRST_KEYS`."""
    return bool(scores.max() < MAX_SCORE_OF_FIRST_KEYS and scores.min() > -MAX_SCORE_OF_FIRST_KEYS)
