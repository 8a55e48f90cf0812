"""Attention assembled from small parts, so that a bug is one part replaced by another.

A part is a function whose body is one expression. `expression_of` reads that expression from the
source, so readers see the code that runs. `mha.practice.bugs` has the wrong parts.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.random import Generator

from mha.core.checks import Array
from mha.core.masks import Align, first_query_position
from mha.core.positions import linear_slopes, rotate_by

RATE = 0.1
"""The share of weights that dropout sets to zero."""

Part = Callable[..., Any]
"""A function that computes one step of attention in one expression."""

Triple = tuple[Array, Array, Array]
Quadruple = tuple[Array, Array, Array, Array]


# ---- The inputs of one attention ----


def assign_roles(query: Array, key: Array, value: Array) -> Triple:
    """Return the arrays that are used as queries, keys and values."""
    return query, key, value


def turn(
    query: Array, key: Array, value: Array, angles: Array, rotate_by: Part = rotate_by
) -> Triple:
    """Return queries and keys rotated by their positions, and the values as they are."""
    return rotate_by(query, angles), rotate_by(key, angles), value


def repeat_groups(x: Array, times: int) -> Array:
    """Return keys or values repeated for each head of their group."""
    return np.repeat(x, times, axis=-3)


# ---- Scores ----


def score(query: Array, key: Array, d_model: int) -> Array:
    """Return the scores, divided by the root of the width; a wrong part may use `d_model`."""
    return query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])


def score_with_scale(query: Array, key: Array, scale: float) -> Array:
    """Return the scores times a given scale."""
    return query @ key.swapaxes(-1, -2) * scale


def cap_scores(scores: Array, scale: float, softcap: float) -> Array:
    """Return scores limited to the range from -softcap to softcap."""
    return softcap * np.tanh(scores / softcap)


def cap_masked_scores(scores: Array, softcap: float) -> Array:
    """Return masked scores as they are; a wrong part caps here."""
    return scores


# ---- Masks: how they are read, combined and applied to the scores ----


def read_mask(mask: Array) -> Array:
    """Return the boolean mask that was given."""
    return mask


def read_padding(real: Array) -> Array:
    """Return the padding mask that was given, True where a key is not padding."""
    return real


def repeat_masks(masks: Array, num_heads: int) -> Array:
    """Return one mask per sequence and head from one mask per sequence."""
    return np.repeat(masks, num_heads, axis=0)


def padding_as_mask(real: Array) -> Array:
    """Return a padding mask with an axis for the queries."""
    return real[..., None, :]


def read_is_causal(is_causal: bool) -> bool:
    """Return whether a causal mask is applied."""
    return is_causal


def make_causal_mask(num_queries: int, num_keys: int, diagonal: int) -> Array:
    """Return a mask that is True up to a diagonal."""
    return np.tri(num_queries, num_keys, diagonal, dtype=bool)


def combine_masks(allowed: Array, earlier: Array) -> Array:
    """Return the given mask combined with the causal mask."""
    return allowed & earlier


def forbid(scores: Array, allowed: Array) -> Array:
    """Return scores with minus infinity where a query may not attend."""
    return np.where(allowed, scores, -np.inf)


def read_bias(bias: Array, scale: float) -> Array:
    """Return the additive mask; a wrong part may scale it."""
    return bias


def weigh(scores: Array, bias: Array, allowed: Array, forbid: Part, softmax: Part) -> Array:
    """Return the weights from scores, an additive mask and a boolean mask."""
    return softmax(forbid(scores + bias, allowed))


# ---- The softmax ----


def along(scores: Array, softmax: Part) -> Array:
    """Return the softmax along the keys."""
    return softmax(scores, axis=-1)


def powers(scores: Array, axis: int) -> Array:
    """Return the exponentials, after subtracting the maximum so that none overflows."""
    return np.exp(scores - scores.max(axis=axis, keepdims=True))


def normalise(exponentials: Array, axis: int) -> Array:
    """Return exponentials divided by their sum."""
    return exponentials / exponentials.sum(axis=axis, keepdims=True)


# Named after its task. The task is left undone here: many correct programs return NaN in a fully
# masked row. The parts that replace it, such as `zero_masked_rows`, fill the row.
def fill_masked_rows(weights: Array, is_fully_masked: Array) -> Array:
    """Return weights as they are: NaN in a row where `is_fully_masked` is True."""
    return weights


def zero_masked_rows(weights: Array, is_fully_masked: Array) -> Array:
    """Return weights with zeros in a row where `is_fully_masked` is True."""
    return np.where(is_fully_masked, 0, weights)


def drop(weights: Array, kept: Array, training: bool) -> Array:
    """Return weights after dropout, which is active in training only."""
    return weights * kept / (1 - RATE) if training else weights


def mix(weights: Array, value: Array) -> Array:
    """Return the weighted sums of the values."""
    return weights @ value


# ---- A layer ----


def split_fused(w_qkv: Array, num_heads: int) -> list[Array]:
    """Return the three matrices of a fused projection."""
    return np.split(w_qkv, 3, axis=-1)


def order_matrices(w_q: Array, w_k: Array, w_v: Array, w_o: Array) -> Quadruple:
    """Return the matrices for query, key, value and output."""
    return w_q, w_k, w_v, w_o


def order_biases(b_q: Array, b_k: Array, b_v: Array, b_o: Array) -> Quadruple:
    """Return the biases for query, key, value and output."""
    return b_q, b_k, b_v, b_o


def select_inputs(x: Array, context: Array) -> Triple:
    """Return the arrays from which queries, keys and values are projected."""
    return x, context, context


def split(wide: Array, num_heads: int) -> Array:
    """Return heads on an axis of their own, from heads beside each other."""
    return wide.reshape(*wide.shape[:-1], num_heads, -1).swapaxes(-3, -2)


def merge(outputs: Array) -> Array:
    """Return heads beside each other, from heads on an axis of their own."""
    return outputs.swapaxes(-3, -2).reshape(*outputs.shape[:-3], outputs.shape[-2], -1)


def project_output(concat: Array, w_o: Array, b_o: Array) -> Array:
    """Return the output projection of the concatenated heads."""
    return concat @ w_o + b_o


# ---- A cache ----


def new_positions(start: int, stop: int) -> Array:
    """Return the positions of the tokens of one decoding step."""
    return np.arange(start, stop)


def newest(keys: Array, start: int) -> int:
    """Return the position of the newest key; `start` is that of the first key of the step."""
    return len(keys) - 1


def extend_cache(old: Array, new: Array) -> Array:
    """Return cached keys or values with new ones appended."""
    return np.concatenate([old, new], axis=-2)


def read_cache(kept: Array, count: int) -> Array:
    """Return the cached keys or values that `count` new queries attend to."""
    return kept


def causal_diagonal(num_queries: int, num_keys: int) -> int:
    """Return the diagonal of the causal mask of one decoding step."""
    return num_keys - num_queries


def read_cached_keys(keys: Array, angles: Array) -> Array:
    """Return cached keys, which are rotated already."""
    return keys


# ---- Positions ----


def rotary_angles(positions: Array, d_k: int, base: float) -> Array:
    """Return the angle of each pair of components at each position."""
    return positions[:, None] * base ** (-np.arange(0, d_k, 2) / d_k)


def head_slopes(num_heads: int) -> Array:
    """Return the slope of each head's linear bias."""
    return linear_slopes(num_heads)


def distance_bias(slopes: Array, distance: Array) -> Array:
    """Return the linear bias of each head, which decreases with distance."""
    return -slopes[:, None, None] * distance


def number_positions(real: Array) -> Array:
    """Return positions counted without padding."""
    return np.maximum(np.cumsum(real, axis=-1) - 1, 0)


PARTS: Mapping[str, Part] = {
    part.__name__: part
    for part in (
        *(assign_roles, turn, repeat_groups, score, score_with_scale, cap_scores),
        *(cap_masked_scores, read_mask, read_padding, repeat_masks, padding_as_mask),
        *(read_is_causal, make_causal_mask, combine_masks, forbid, read_bias, weigh, along, powers),
        *(normalise, fill_masked_rows, drop, mix, split_fused, order_matrices, order_biases),
        *(
            select_inputs,
            split,
            merge,
            project_output,
            new_positions,
            newest,
            extend_cache,
            read_cache,
        ),
        *(causal_diagonal, read_cached_keys, rotary_angles, head_slopes, distance_bias),
        number_positions,
    )
}
"""The right parts by name."""

RESULT_NAMES: Mapping[str, str] = {
    "read_is_causal": "is_causal", "read_padding": "real", "read_mask": "mask",
    "padding_as_mask": "allowed", "combine_masks": "allowed", "repeat_masks": "masks",
    "normalise": "weights", "along": "weights", "mix": "output",
    "order_matrices": "w_q, w_k, w_v, w_o", "order_biases": "b_q, b_k, b_v, b_o",
    "assign_roles": "query, key, value", "select_inputs": "queries_of, keys_of, values_of",
    "project_output": "output", "new_positions": "positions", "newest": "position",
    "extend_cache": "kept", "read_cache": "keys_and_values", "causal_diagonal": "diagonal",
    "read_cached_keys": "keys", "number_positions": "positions", "head_slopes": "slopes",
}  # fmt: skip
"""The name of a part's result, where it tells a reader more than the expression does."""


@cache
def expression_of(part: Part) -> str:
    """Return the source of the expression that a part computes, on one line.

    Examples
    --------
    >>> expression_of(mix)
    'weights @ value'
    """
    source = inspect.getsource(part)
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    statement = function.body[-1]
    assert isinstance(statement, ast.Return)
    assert statement.value is not None
    text = " ".join((ast.get_source_segment(source, statement.value) or "").split())
    # A formatter breaks a long call after its bracket and may end it with a comma.
    return re.sub(r",? ([)\]])", r"\1", re.sub(r"([(\[]) ", r"\1", text))


@dataclass(frozen=True)
class Parts:
    """A set of parts, each of which is an attribute.

    Parameters
    ----------
    replaced : tuple of tuple of (str, callable), default ()
        Names of parts, and the functions that replace them. The other parts are right.
    combines_masks : bool, default True
        Whether a causal mask is combined with the given mask. If not, it is applied to the scores
        before the given mask is.

    Examples
    --------
    >>> Parts((("merge", list),)).merge((3, 5))
    [3, 5]
    """

    replaced: tuple[tuple[str, Part], ...] = ()
    combines_masks: bool = True

    def __getattr__(self, name: str) -> Part:
        if name not in PARTS:
            raise AttributeError(f"there is no part {name}")
        return dict(self.replaced).get(name, PARTS[name])

    def with_parts(self, replaced: Mapping[str, Part]) -> Parts:
        """Return a copy in which further parts are replaced."""
        return replace(self, replaced=tuple({**dict(self.replaced), **replaced}.items()))


@dataclass(frozen=True, eq=False)
class Options:
    """The optional arguments of attention; the default of each changes nothing.

    Parameters
    ----------
    allowed : ndarray of bool, shape (..., n, m), optional
        True where a query may attend; by default, everywhere.
    bias : ndarray, shape (..., n, m), default 0
        Added to scaled scores.
    angles : ndarray, shape (n, d_k / 2), optional
        The rotation of each pair of components at each position; by default, there is none.
    rotate_by : callable, default `mha.rotate_by`
        Rotates an array by angles, in pairs of neighbours unless `layout` is given.
    rng : Generator, optional
        Draws the weights that dropout sets to zero, anew at each call; by default, none is.
    training : bool, default False
    real : ndarray of bool, shape (..., m), optional
        True where a key is not padding.
    is_causal : bool, default False
    align : {"top-left", "bottom-right"}, default "top-left"
        The alignment of a causal mask, as in `mha.causal_mask`.
    scale, softcap : float, optional
    """

    allowed: Array | None = None
    bias: Array | float = 0.0
    angles: Array | None = None
    rotate_by: Part = rotate_by
    rng: Generator | None = None
    training: bool = False
    real: Array | None = None
    is_causal: bool = False
    align: Align = "top-left"
    scale: float | None = None
    softcap: float | None = None


NO_OPTIONS = Options()
RIGHT_NAN_ROWS = Parts()
"""The right parts, which give NaN in a fully masked row. The museum of bugs starts from them."""
RIGHT_ZERO_ROWS = RIGHT_NAN_ROWS.with_parts({"fill_masked_rows": zero_masked_rows})
"""The right parts, but with zeros in a fully masked row, as in the package and in `mha.examine`."""


def attend(
    query: Array,
    key: Array,
    value: Array,
    parts: Parts = RIGHT_NAN_ROWS,
    options: Options = NO_OPTIONS,
    *,
    d_model: int | None = None,
) -> tuple[Array, Array]:
    """Return the weights and the output of attention.

    Parameters
    ----------
    query : ndarray, shape (..., n, d_k)
    key : ndarray, shape (..., m, d_k)
        May have fewer heads than `query`; then each is shared by a group of heads.
    value : ndarray, shape (..., m, d_v)
    parts : Parts
    options : Options
    d_model : int, default d_k

    Returns
    -------
    weights : ndarray, shape (..., n, m)
    output : ndarray, shape (..., n, d_v)

    Examples
    --------
    >>> from mha.practice.bugs import BUGS
    >>> one = np.eye(2)
    >>> attend(2 * one, one, one, BUGS["wrong root"], d_model=4)[0].round(4)
    array([[0.7311, 0.2689],
           [0.2689, 0.7311]])
    """
    if options.angles is not None:
        query, key, value = parts.turn(query, key, value, options.angles, options.rotate_by)
    if min(query.ndim, key.ndim) > 2 and key.shape[-3] < query.shape[-3]:
        times = query.shape[-3] // key.shape[-3]
        key, value = parts.repeat_groups(key, times), parts.repeat_groups(value, times)
    query, key, value = parts.assign_roles(query, key, value)
    width = query.shape[-1] if d_model is None else d_model
    factor = 1 / np.sqrt(query.shape[-1]) if options.scale is None else options.scale
    with np.errstate(all="ignore"):  # wrong parts may overflow or divide by zero
        if options.scale is None:
            scores = parts.score(query, key, width)
        else:
            scores = parts.score_with_scale(query, key, options.scale)
        if options.softcap is not None:
            scores = parts.cap_scores(scores, factor, options.softcap)
        scores, allowed = _apply_masks(scores, parts, options)
        weights = parts.weigh(
            scores,
            parts.read_bias(options.bias, factor),
            True if allowed is None else allowed,
            _unmasked if allowed is None else parts.forbid,
            lambda scores: parts.along(
                scores
                if options.softcap is None
                else parts.cap_masked_scores(scores, options.softcap),
                lambda scores, axis: _softmax(scores, axis, parts),
            ),
        )
        weights = parts.drop(weights, _draw_kept(weights.shape, options.rng), options.training)
        return weights, parts.mix(weights, value)


def _softmax(scores: Array, axis: int, parts: Parts) -> Array:
    weights = parts.normalise(parts.powers(scores, axis), axis)
    return parts.fill_masked_rows(weights, (scores == -np.inf).all(axis=axis, keepdims=True))


def _apply_masks(scores: Array, parts: Parts, options: Options) -> tuple[Array, Array | None]:
    """Return the scores, with a causal mask that is not combined, and the boolean mask."""
    allowed = None if options.allowed is None else parts.read_mask(options.allowed)
    if options.real is not None:
        real = parts.padding_as_mask(parts.read_padding(options.real))
        allowed = real if allowed is None else allowed & real
    if parts.read_is_causal(options.is_causal):
        n, m = scores.shape[-2:]
        earlier = parts.make_causal_mask(n, m, first_query_position(n, m, options.align))
        if not parts.combines_masks:
            return np.where(earlier, scores, -np.inf), allowed
        allowed = earlier if allowed is None else parts.combine_masks(allowed, earlier)
    return scores, allowed


def head_outputs(
    x: Array,
    matrices: Array,
    num_heads: int,
    parts: Parts = RIGHT_NAN_ROWS,
    options: Options = NO_OPTIONS,
) -> Array:
    """Return the outputs of the heads for a sequence of tokens.

    Parameters
    ----------
    x : ndarray, shape (n, d_model)
    matrices : ndarray, shape (3, d_model, num_heads * d_k)
        For query, key and value, the heads beside each other.
    num_heads : int
    parts : Parts
    options : Options

    Returns
    -------
    ndarray, shape (num_heads, n, d_k)
    """
    query, key, value = (parts.split(x @ wide, num_heads) for wide in matrices)
    return attend(query, key, value, parts, options, d_model=x.shape[-1])[1]


def layer_output(
    x: Array,
    matrices: tuple[Array, ...],
    biases: tuple[Array, ...],
    num_heads: int,
    parts: Parts = RIGHT_NAN_ROWS,
    options: Options = NO_OPTIONS,
    context: Array | None = None,
    value: Array | None = None,
) -> Array:
    """Return the output of a multi-head layer for one sequence.

    Parameters
    ----------
    x : ndarray, shape (n, d_model)
    matrices : tuple of ndarray
        For query, key, value and output, the heads beside each other; or one fused matrix, of
        shape (d_model, 3 * num_heads * d_k), and the matrix for the output.
    biases : tuple of ndarray
        For query, key, value and output; fused like the matrices.
    num_heads : int
        The number of query heads. Narrower matrices for keys and values have fewer heads.
    parts : Parts
    options : Options
    context : ndarray, shape (m, d_model), optional
    value : ndarray, shape (m, d_model), default `context`

    Returns
    -------
    ndarray, shape (n, d_out)
    """
    if len(matrices) == 2:
        matrices = (*parts.split_fused(matrices[0], num_heads), matrices[1])
        biases = (*(b[0] for b in parts.split_fused(biases[0][None], num_heads)), biases[1])
    d_k = matrices[0].shape[-1] // num_heads
    *projections, w_o = parts.order_matrices(*matrices)
    *b_qkv, b_o = parts.order_biases(*biases)
    inputs = parts.select_inputs(x, x if context is None else context)
    if value is not None:
        inputs = (*inputs[:2], value)
    wide = [x @ w + b for x, w, b in zip(inputs, projections, b_qkv, strict=True)]
    query, key, value = (parts.split(each, each.shape[-1] // d_k) for each in wide)
    _, outputs = attend(query, key, value, parts, options, d_model=x.shape[-1])
    return parts.project_output(parts.merge(outputs), w_o, b_o)


def decode(
    query: Array,
    key: Array,
    value: Array,
    angles: Array,
    parts: Parts = RIGHT_NAN_ROWS,
    rng: Generator | None = None,
    sizes: tuple[int, ...] | None = None,
    rotate_by: Part = rotate_by,
    bias: Part | None = None,
) -> Array:
    """Return the outputs of heads that decode a sequence step by step, with a cache.

    Parameters
    ----------
    query, key, value : ndarray, shape (..., n, d_k)
    angles : ndarray, shape (n + 1, d_k / 2)
        For each position of the sequence, and for the next one, which a wrong part may use.
    parts : Parts
    rng : Generator, optional
        As in `Options`.
    sizes : tuple of int, default one token per step
        The number of tokens of each step.
    rotate_by : callable, default `mha.rotate_by`
        As in `Options`.
    bias : callable, optional
        Takes the numbers of new queries and of keys, and returns numbers that are added to the
        scores, such as linear biases. By default, nothing is added.

    Returns
    -------
    ndarray, shape (..., n, d_k)
    """
    keys, values, start = key[..., :0, :], value[..., :0, :], 0
    rows: list[Array] = []
    for size in (1,) * query.shape[-2] if sizes is None else sizes:
        new = (..., slice(start, start + size), slice(None))
        step = query[new], key[new], value[new]
        positions = parts.new_positions(start, start + size)
        _, new_key, new_value = parts.turn(*step, angles[positions], rotate_by)
        keys = parts.extend_cache(keys, new_key)
        values = parts.extend_cache(values, new_value)
        count = keys.shape[-2]
        # The right part gives the position of the last cached key, and `excess` is 0. A wrong part
        # gives another position, by which the query is rotated.
        newest_position = parts.newest(keys.swapaxes(0, -2), start)
        excess = newest_position - (count - 1)
        rotated_query, *_ = parts.turn(*step, angles[positions + excess], rotate_by)
        cached_keys = parts.read_cache(parts.read_cached_keys(keys, angles), size)
        cached_values = parts.read_cache(values, size)
        allowed = np.tri(
            size, cached_keys.shape[-2], parts.causal_diagonal(size, count), dtype=bool
        )
        added = 0.0 if bias is None else bias(size, count)[..., : cached_keys.shape[-2]]
        options = Options(rng=rng, allowed=None if allowed.all() else allowed, bias=added)
        rows.append(attend(rotated_query, cached_keys, cached_values, parts, options)[1])
        start += size
    return np.concatenate(rows, axis=-2)


def _draw_kept(shape: tuple[int, ...], rng: Generator | None) -> Array | bool:
    """Return which weights dropout keeps, drawn anew."""
    return True if rng is None else rng.random(shape) >= RATE


def _unmasked(scores: Array, _allowed: Array) -> Array:
    return scores
