"""Exact attention one tile of scores at a time, each tile small enough for a core's cache.

Most of the time goes into the two matrix products, and most of the rest into exponentials. So a
tile is passed over as seldom as can be: the scale is in the query before the product, exponentials
replace the scores in place, and their sums are a product with ones. Subtracting each row's largest
score, two passes more, is left out where it is not needed: a block of queries is first tried
without, and done again with it if a row's sum shows that something came near overflow or underflow.
The result is the softmax's either way. Nothing depends on who computes which block.
"""

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
"""A tile has so many times more keys than queries: the fewer tiles a row has, the fewer sums."""

SCORES_PER_WORKER = 2**16
"""Fewer scores than this do not pay for starting a thread."""

MODERATE = 2.0**40
"""Between this and its inverse, sums of exponentials and the size of the values go unshifted."""

NEAR = 40
"""Where one of the first keys has a score beyond this size, nothing is tried without a shift."""

SCORES_PER_TASK = 2**17
"""Heads with fewer scores than this go together, so that Python's part of the time stays small."""

SHORT = 8
"""Up to so many blocks of keys, causal attention works on half as many queries of several heads."""

SCORES_PER_TILE = 2**19
"""There heads go together until a tile would have more scores than this."""

FEWEST_TASKS = 8
"""And only so far that a few cores have something to do."""

Block = tuple[tuple[int | slice, ...], slice]
"""Some queries: what selects their head, or several short heads, and their rows."""


@dataclass(frozen=True)
class Inputs:
    """One call's arrays, of shapes that fit, and how to read them.

    Attributes
    ----------
    query, key, value : ndarray
        As `mha.core.blockwise.blockwise_attention` takes them; leading axes match, but for groups
        of heads.
    mask : ndarray of bool or of the query's dtype, shape (..., num_queries, num_keys), or None
    first : int or None
        For causal attention, which key's place the first query has.
    scale : float
        What scores are multiplied with.
    block_size : int
        How many queries a block has.
    """

    query: Array
    key: Array
    value: Array
    mask: Array | None
    first: int | None
    scale: float | None
    block_size: int

    def blocks(self) -> list[Block]:
        """Return all blocks of queries, those with the most keys first."""
        heads, rows = self.heads(), slices(self.lengths[0], self.rows())
        if self.first is None:
            return [(head, part) for head in heads for part in rows]
        return [(head, part) for part in reversed(rows) for head in heads]

    def heads(self) -> list[tuple[int | slice, ...]]:
        """Return what selects each head, or several neighbours whose scores are few."""
        leading, together = self.query.shape[:-2], self.together()
        if together < 2 or not self.has_neighbours():
            return list(product(*map(range, leading)))
        heads = leading[-1]
        parts = slices(heads, together)
        are_few = not self.halves() and 1 < heads == math.prod(leading) <= 2 * together
        if are_few and self.scores >= 2 * SCORES_PER_WORKER:
            parts = in_two(heads)
        return [(*index, part) for index in product(*map(range, leading[:-1])) for part in parts]

    def together(self) -> int:
        """Return how many heads go together, if they can."""
        num_queries, num_keys = self.lengths
        if not self.halves():
            return SCORES_PER_TASK // (num_queries * num_keys)
        tile = self.rows() * min(num_keys, self.block_size * KEYS_PER_QUERY)
        tasks = math.prod(self.query.shape[:-2]) * len(slices(num_queries, self.rows()))
        return min(SCORES_PER_TILE // tile, tasks // FEWEST_TASKS)

    def has_neighbours(self) -> bool:
        """Return whether several heads can go together: each has keys of its own."""
        leading = self.query.shape[:-2]
        return leading == self.key.shape[:-2] and leading != ()

    def halves(self) -> bool:
        """Return whether blocks have half as many queries, of several heads.

        The fewer queries a block has, the fewer keys are multiplied with queries before them.
        """
        if self.first is None or not self.has_neighbours() or self.query.shape[-3] == 1:
            return False
        num_queries, num_keys = self.lengths
        return 2 * num_queries > self.block_size and num_keys <= SHORT * self.block_size

    def rows(self) -> int:
        """Return how many queries of a head a block has."""
        return -(-self.block_size // 2) if self.halves() else self.block_size

    @property
    def scores(self) -> int:
        """How many scores there are."""
        return math.prod(self.query.shape[:-1]) * self.key.shape[-2]

    @property
    def lengths(self) -> tuple[int, int]:
        """How many queries and how many keys a head has."""
        return self.query.shape[-2], self.key.shape[-2]

    def place(self, head: tuple[int | slice, ...]) -> tuple[int | slice, ...]:
        """Return what selects the keys and values that serve a head of queries."""
        if self.query.shape[:-2] == self.key.shape[:-2] or isinstance(head[-1], slice):
            return head
        return (*head[:-1], head[-1] // (self.query.shape[-3] // self.key.shape[-3]))

    def last_key(self, stop: int) -> int:
        """Return how many of the first keys the queries before row `stop` may see."""
        num_keys = self.lengths[1]
        return num_keys if self.first is None else max(0, min(num_keys, self.first + stop))


def are_moderate(query: Array, key: Array, value: Array, scale: float | None) -> bool:
    """Return whether no product of these arrays, and no score, can overflow.

    By the inequality of Cauchy and Schwarz no dot product exceeds that of the norms. The limit
    leaves so much room that no finite mask takes a score beyond its dtype.

    Parameters
    ----------
    query, key, value : ndarray
        With a NaN or an infinity they are not moderate.
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
    if not all(np.isfinite(sizes)) or not 1 / MODERATE < sizes[2] < MODERATE:
        return False
    return max(factor, 1.0) * max(sizes[0], 1.0) * max(sizes[1], 1.0) < limit


def attend(inputs: Inputs, output: Array, workers: int) -> bool:
    """Write the attention of inputs into `output`, and say whether they `are_moderate`.

    Parameters
    ----------
    inputs : Inputs
    output : ndarray, shape (..., num_queries, d_v)
    workers : int
        At most so many threads; small inputs take fewer. Changes no bit of the result.

    Returns
    -------
    bool
        Whether they are moderate; if not, what `output` holds means nothing.
    """
    blocks = inputs.blocks()
    workers = max(1, min(workers, len(blocks), inputs.scores // SCORES_PER_WORKER))
    # The look at the numbers waits for each worker's first block: then they lie in the caches. Of
    # short inputs there is no second block, and who ends first looks while another still works.
    tasks = [*blocks[:workers], None, *blocks[workers:]]
    try:
        with one_thread_of_linear_algebra():
            run_tasks(tasks, lambda: _Worker(inputs, output).do, workers)
    except _NotModerateError:
        return False
    return True


@lru_cache(maxsize=1)
def has_fast_exp2() -> bool:
    """Return whether NumPy computes 2**x in vectors here, which then takes half of e**x's time.

    NumPy's builds for Linux do so with AVX-512, which has had two names.
    """
    found: Any = np.show_config(mode="dicts")
    features = found.get("SIMD Extensions", {}).get("found", []) if found else []
    return sys.platform == "linux" and bool({"AVX512_SKX", "X86_V4"} & set(features))


def slices(length: int, step: int) -> list[slice]:
    """Cut a length into pieces of one size, the last of which may be shorter.

    Examples
    --------
    >>> slices(5, 3)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    return [slice(start, min(start + step, length)) for start in range(0, length, step)]


def in_two(length: int) -> list[slice]:
    """Cut a length in two, the first part the longer: the caller's thread begins while one wakes.

    Examples
    --------
    >>> in_two(8)
    [slice(0, 5, None), slice(5, 8, None)]
    """
    longer = (5 * length + 3) // 8
    return [slice(0, longer), slice(longer, length)]


class _NotModerateError(ArithmeticError):
    """Numbers are so large or small that products want care."""


class _Worker:
    """Does blocks of queries one after another, in buffers that it makes once.

    Scores lie in memory as both products like them best: each key's beside each other. Only with a
    mask it is each query's, as the mask's numbers lie.
    """

    def __init__(self, inputs: Inputs, output: Array) -> None:
        self.inputs, self.output = inputs, output
        self.factor = as_scale(inputs.scale, inputs.query.shape[-1])
        self.additive = inputs.mask is not None and inputs.mask.dtype != np.bool_
        self.columns = inputs.block_size * KEYS_PER_QUERY
        self.ones = np.ones(min(self.columns, inputs.lengths[1]), inputs.query.dtype)
        self.buffers: dict[str, Array] = {}
        self.triangle: tuple[tuple[int, ...], Array] = (), self.ones

    def do(self, task: Block | None) -> None:
        """Write the output of a block, or look at all numbers, and raise if not `are_moderate`."""
        inputs = self.inputs
        if task is not None:
            self.attend(task)
        elif not are_moderate(inputs.query, inputs.key, inputs.value, inputs.scale):
            raise _NotModerateError

    def attend(self, block: Block) -> None:
        """Write the output of one block of queries."""
        head, rows = block
        output = self.output[head][..., rows, :]
        with np.errstate(all="ignore"):
            total = self._unshifted(block, output)
            if total is None:
                total = self._shifted(block, output)
                total[total == 0] = 1
            output /= total[..., None]

    def _unshifted(self, block: Block, output: Array) -> Array | None:
        """Mix the values by exponentials, and return the rows' sums; None if one is not moderate.

        If the sum is, then no exponential was too large, and those that were too small for their
        dtype could not have changed the sum.
        """
        # An exponential of minus infinity, from a mask that is added, is slow as a power of two.
        power = np.exp2 if has_fast_exp2() and not self.additive else np.exp
        query = self._query(block, self.factor / (math.log(2) if power is np.exp2 else 1))
        has_one_tile = self.inputs.last_key(block[1].stop) <= self.columns
        total: Array | None = None
        for columns, key, value in self._tiles(block):
            scores = self._scores(query, key)
            if total is None and not (has_one_tile or _are_near(scores[..., :16])):
                return None
            self._add_mask(block, columns, scores)
            power(scores, out=scores)
            for part, allowed in self._limited(block, columns, scores):
                part *= allowed
            sums = scores @ self.ones[: scores.shape[-1]]
            total = self._mix(scores, value, output, sums, total)
        if total is None or not 1 / MODERATE < total.min() <= total.max() < MODERATE:
            return None
        return total

    def _shifted(self, block: Block, output: Array) -> Array:
        """Do the same below each row's largest score so far, which may rise from tile to tile."""
        query = self._query(block, self.factor)
        total = np.zeros(output.shape[:-1], output.dtype)
        largest = np.full_like(total, -np.inf)
        output[...] = 0
        for columns, key, value in self._tiles(block):
            scores = self._scores(query, key)
            self._add_mask(block, columns, scores)
            for part, allowed in self._limited(block, columns, scores):
                part[...] = np.where(allowed, part, -np.inf)
            new_largest = np.maximum(largest, scores.max(axis=-1))
            # A row without any key so far has nothing to subtract.
            shift = np.where(np.isneginf(new_largest), 0, new_largest).astype(total.dtype)
            scores -= shift[..., None]
            np.exp(scores, out=scores)
            shrunk = np.exp(largest - shift)
            output *= shrunk[..., None]
            sums = scores @ self.ones[: scores.shape[-1]]
            total = self._mix(scores, value, output, sums, total * shrunk)
            largest = new_largest
        return total

    def _query(self, block: Block, factor: float) -> Array:
        """Return a block of queries times a factor."""
        head, rows = block
        query = self.inputs.query[head][..., rows, :]
        return np.multiply(query, query.dtype.type(factor), out=self._buffer("query", query.shape))

    def _tiles(self, block: Block) -> Iterator[tuple[slice, Array, Array]]:
        """Yield which keys a block sees, tile by tile, and their keys and values."""
        head, rows = block
        place = self.inputs.place(head)
        key, value = self.inputs.key[place], self.inputs.value[place]
        for columns in slices(self.inputs.last_key(rows.stop), self.columns):
            yield columns, key[..., columns, :], value[..., columns, :]

    def _scores(self, query: Array, key: Array) -> Array:
        """Return the scores of a tile."""
        shape = *query.shape[:-1], key.shape[-2]
        if self.inputs.mask is None:
            turned = self._buffer("scores", (*shape[:-2], shape[-1], shape[-2]))
            return np.matmul(key, query.swapaxes(-1, -2), out=turned).swapaxes(-1, -2)
        return np.matmul(query, key.swapaxes(-1, -2), out=self._buffer("scores", shape))

    def _buffer(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return an array whose memory the next one of this name will use again."""
        size = math.prod(shape)
        if name not in self.buffers or self.buffers[name].size < size:
            self.buffers[name] = np.empty(size, self.output.dtype)
        return self.buffers[name][:size].reshape(shape)

    def _add_mask(self, block: Block, columns: slice, scores: Array) -> None:
        """Add a mask of numbers to the scores of a tile."""
        if self.additive and self.inputs.mask is not None:
            head, rows = block
            scores += self.inputs.mask[head][..., rows, columns]

    def _limited(
        self, block: Block, columns: slice, scores: Array
    ) -> Iterator[tuple[Array, Array]]:
        """Yield the parts of a tile that hold forbidden places, and where they allow."""
        head, rows = block
        if self.inputs.mask is not None and not self.additive:
            yield scores, self.inputs.mask[head][..., rows, columns]
        if self.inputs.first is not None:
            # The first query of the block sees the keys before this one, and so do all others.
            first = max(columns.start, self.inputs.last_key(rows.start + 1))
            if first < columns.stop:
                part = scores[..., first - columns.start :]
                yield part, self._triangle(self.inputs.first + rows.start - first, part.shape[-2:])

    def _triangle(self, diagonal: int, shape: tuple[int, ...]) -> Array:
        """Return where keys come no later than queries; most blocks ask for the same."""
        if self.triangle[0] != (diagonal, *shape):
            triangle = np.empty(shape, np.bool_, order="C" if self.inputs.mask is not None else "F")
            rows, columns = (np.arange(n, dtype=np.int32) for n in shape)
            np.less_equal(columns, rows[:, None] + np.int32(diagonal), out=triangle)
            self.triangle = (diagonal, *shape), triangle
        return self.triangle[1]

    def _mix(
        self, scores: Array, value: Array, output: Array, sums: Array, total: Array | None
    ) -> Array:
        """Add to the output what a tile's exponentials take of its values, and to the sums."""
        if total is None:
            np.matmul(scores, value, out=output)
            return sums
        output += np.matmul(scores, value, out=self._buffer("mixed", output.shape))
        return total + sums


def _are_near(scores: Array) -> bool:
    """Return whether some scores are so small that exponentials of all may be, too."""
    return bool(scores.max() < NEAR and scores.min() > -NEAR)
