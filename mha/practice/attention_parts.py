"""Attention put together from small parts, so that a bug is one part exchanged for another.

A part is one line: it is shown to a reader, and it is what runs. `mha.practice.bugs` has the wrong
ones.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.random import Generator

from mha.core.checks import Array
from mha.core.positions import linear_slopes, rotate_by

RATE = 0.1
"""The share of weights that dropout sets to zero."""

LINES: Mapping[str, tuple[str, str]] = {
    # One attention: which array is which, positions, groups.
    "roles": ("query, key, value", "query, key, value"),
    "turn": (
        "query, key, value, angles", "rotate_by(query, angles), rotate_by(key, angles), value",
    ),
    "spread": ("x, times", "np.repeat(x, times, axis=-3)"),
    # Scores.
    "score": ("query, key, d_model", "query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])"),
    "score_by": ("query, key, scale", "query @ key.swapaxes(-1, -2) * scale"),
    "cap": ("scores, scale, softcap", "softcap * np.tanh(scores / softcap)"),
    "cap_late": ("scores, softcap", "scores"),
    # Masks: what is read, of padding, of the past, and what they do to scores.
    "read": ("mask", "mask"),
    "pad": ("real", "real"),
    "deal": ("masks, num_heads", "np.repeat(masks, num_heads, axis=0)"),
    "see": ("real", "real[..., None, :]"),
    "past": ("is_causal", "is_causal"),
    "causal": (
        "num_queries, num_keys, diagonal", "np.tri(num_queries, num_keys, diagonal, dtype=bool)",
    ),
    "join": ("allowed, earlier", "allowed & earlier"),
    "forbid": ("scores, allowed", "np.where(allowed, scores, -np.inf)"),
    "ease": ("bias, scale", "bias"),
    "weigh": ("scores, bias, allowed, forbid, softmax", "softmax(forbid(scores + bias, allowed))"),
    # The softmax.
    "along": ("scores, softmax", "softmax(scores, axis=-1)"),
    "powers": ("scores, axis", "np.exp(scores - scores.max(axis=axis, keepdims=True))"),
    "divide": ("shares, axis", "shares / shares.sum(axis=axis, keepdims=True)"),
    "blank": ("weights, hidden", "weights"),
    "drop": ("weights, kept, training", "weights * kept / (1 - RATE) if training else weights"),
    "mix": ("weights, value", "weights @ value"),
    # A layer.
    "cut": ("w_qkv, num_heads", "np.split(w_qkv, 3, axis=-1)"),
    "order": ("w_q, w_k, w_v, w_o", "w_q, w_k, w_v, w_o"),
    "lend": ("b_q, b_k, b_v, b_o", "b_q, b_k, b_v, b_o"),
    "sources": ("x, context", "x, context, context"),
    "split": (
        "wide, num_heads", "wide.reshape(*wide.shape[:-1], num_heads, -1).swapaxes(-3, -2)",
    ),
    "merge": (
        "outputs",
        "outputs.swapaxes(-3, -2).reshape(*outputs.shape[:-3], outputs.shape[-2], -1)",
    ),
    "finish": ("concat, w_o, b_o", "concat @ w_o + b_o"),
    # A cache.
    "places": ("start, stop", "np.arange(start, stop)"),
    "newest": ("keys", "len(keys) - 1"),
    "keep": ("old, new", "np.concatenate([old, new], axis=-2)"),
    "look": ("kept, count", "kept"),
    "first_seen": ("num_queries, num_keys", "num_keys - num_queries"),
    "again": ("keys, angles", "keys"),
    # Positions.
    "angle": ("positions, d_k, base", "positions[:, None] * base ** (-np.arange(0, d_k, 2) / d_k)"),
    "slopes": ("num_heads", "linear_slopes(num_heads)"),
    "fall": ("slopes, distance", "-slopes[:, None, None] * distance"),
    "number": ("real", "np.maximum(np.cumsum(real, axis=-1) - 1, 0)"),
}  # fmt: skip
"""The parts: what each takes, and the right line."""

GIVE: Mapping[str, str] = {
    "past": "is_causal", "pad": "real", "read": "mask", "see": "allowed", "join": "allowed",
    "deal": "masks",
    "divide": "weights", "along": "weights", "mix": "output",
    "order": "w_q, w_k, w_v, w_o", "lend": "b_q, b_k, b_v, b_o", "roles": "query, key, value",
    "sources": "queries_of, keys_of, values_of", "finish": "output",
    "places": "positions", "newest": "position", "keep": "kept", "look": "keys_and_values",
    "first_seen": "diagonal", "again": "keys", "number": "positions", "slopes": "slopes",
}  # fmt: skip
"""What a part gives, by a name that tells more than its line does."""


def two_layouts(x: Array, angles: Array) -> Array:
    """Turn with cosines in halves and partners in pairs, as no layout does."""
    wide = np.concatenate([angles, angles], axis=-1)
    partners = np.stack([-x[..., 1::2], x[..., ::2]], axis=-1).reshape(x.shape)
    return x * np.cos(wide) + partners * np.sin(wide)


def partners_in_halves(x: Array, angles: Array) -> Array:
    """Turn with cosines in pairs and partners in halves, as no layout does."""
    wide, half = np.repeat(angles, 2, axis=-1), x.shape[-1] // 2
    partners = np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    return x * np.cos(wide) + partners * np.sin(wide)


_KNOWN = {"np": np, "RATE": RATE, "rotate_by": rotate_by, "linear_slopes": linear_slopes,
          "two_layouts": two_layouts, "partners_in_halves": partners_in_halves}  # fmt: skip


@cache
def runs(part: str, line: str) -> Callable[..., Any]:
    """Return a line of a part as the function that it is.

    Examples
    --------
    >>> runs("newest", "len(keys)")([3, 5])
    2
    """
    return eval(f"lambda {LINES[part][0]}: ({line})", _KNOWN)


@dataclass(frozen=True)
class Parts:
    """The parts of attention, an attribute each; what is not exchanged is right.

    Parameters
    ----------
    exchanged : tuple of tuple of str, default ()
        Names of parts, and the lines that stand there.
    joined : bool, default True
        Whether a causal mask goes the same way as a mask that is given.

    Examples
    --------
    >>> Parts((("newest", "len(keys)"),)).newest([3, 5])
    2
    """

    exchanged: tuple[tuple[str, str], ...] = ()
    joined: bool = True

    def __getattr__(self, part: str) -> Callable[..., Any]:
        if part not in LINES:
            raise AttributeError(f"there is no part {part}")
        return runs(part, dict(self.exchanged).get(part, LINES[part][1]))

    def having(self, exchanged: Mapping[str, str]) -> "Parts":
        """Return these parts with further ones exchanged."""
        return replace(self, exchanged=tuple({**dict(self.exchanged), **exchanged}.items()))


@dataclass(frozen=True, eq=False)
class Options:
    """What attention is told beside its inputs; what is not named changes nothing.

    Parameters
    ----------
    allowed : ndarray of bool, shape (..., n, m), optional
        True where a query may attend; without it nothing is masked.
    bias : ndarray, shape (..., n, m), default 0
        Added to scaled scores.
    angles : ndarray, shape (n, d_k / 2), optional
        By which each pair is turned at each position; without them nothing is.
    draws : Generator, optional
        By which dropout draws, at each call anew, what it sets to zero; without it, nothing.
    training : bool, default False
    real : ndarray of bool, shape (..., m), optional
        True where a key is no padding.
    is_causal : bool, default False
    is_last : bool, default False
        Whether a causal mask gives the last query the position of the last key, where it gives the
        first query that of the first key otherwise.
    scale, softcap : float, optional
    """

    allowed: Array | None = None
    bias: Array | float = 0.0
    angles: Array | None = None
    draws: Generator | None = None
    training: bool = False
    real: Array | None = None
    is_causal: bool = False
    is_last: bool = False
    scale: float | None = None
    softcap: float | None = None


NOTHING = Options()
RIGHT = Parts()
"""The parts of the museum's attention, which has NaN where a query sees no key."""
SOUND = RIGHT.having({"blank": "np.where(hidden, 0, weights)"})
"""The same with zeros there, as the package has them."""


def attend(
    query: Array,
    key: Array,
    value: Array,
    parts: Parts = RIGHT,
    options: Options = NOTHING,
    *,
    d_model: int | None = None,
) -> tuple[Array, Array]:
    """Return attention's weights and output.

    Parameters
    ----------
    query : ndarray, shape (..., n, d_k)
    key : ndarray, shape (..., m, d_k)
        Fewer heads than queries have, where these are in groups.
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
        query, key, value = parts.turn(query, key, value, options.angles)
    if min(query.ndim, key.ndim) > 2 and key.shape[-3] < query.shape[-3]:
        times = query.shape[-3] // key.shape[-3]
        key, value = parts.spread(key, times), parts.spread(value, times)
    query, key, value = parts.roles(query, key, value)
    width = query.shape[-1] if d_model is None else d_model
    factor = 1 / np.sqrt(query.shape[-1]) if options.scale is None else options.scale
    with np.errstate(all="ignore"):  # a wrong part may overflow, or divide by zero
        if options.scale is None:
            scores = parts.score(query, key, width)
        else:
            scores = parts.score_by(query, key, options.scale)
        if options.softcap is not None:
            scores = parts.cap(scores, factor, options.softcap)
        scores, allowed = _masked(scores, parts, options)
        weights = parts.weigh(
            scores,
            parts.ease(options.bias, factor),
            True if allowed is None else allowed,
            _as_it_is if allowed is None else parts.forbid,
            lambda scores: parts.along(
                scores if options.softcap is None else parts.cap_late(scores, options.softcap),
                lambda scores, axis: _softmax(scores, axis, parts),
            ),
        )
        weights = parts.drop(weights, _kept(weights.shape, options.draws), options.training)
        return weights, parts.mix(weights, value)


def _softmax(scores: Array, axis: int, parts: Parts) -> Array:
    weights = parts.divide(parts.powers(scores, axis), axis)
    return parts.blank(weights, (scores == -np.inf).all(axis=axis, keepdims=True))


def _masked(scores: Array, parts: Parts, options: Options) -> tuple[Array, Array | None]:
    """Return scores and what is allowed; a causal mask that goes its own way is in the scores."""
    allowed = None if options.allowed is None else parts.read(options.allowed)
    if options.real is not None:
        real = parts.see(parts.pad(options.real))
        allowed = real if allowed is None else allowed & real
    if parts.past(options.is_causal):
        n, m = scores.shape[-2:]
        earlier = parts.causal(n, m, m - n if options.is_last else 0)
        if not parts.joined:
            return np.where(earlier, scores, -np.inf), allowed
        allowed = earlier if allowed is None else parts.join(allowed, earlier)
    return scores, allowed


def heads(
    x: Array,
    matrices: Array,
    num_heads: int,
    parts: Parts = RIGHT,
    options: Options = NOTHING,
) -> Array:
    """Return the heads' outputs for tokens.

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


def layer(
    x: Array,
    matrices: tuple[Array, ...],
    biases: tuple[Array, ...],
    num_heads: int,
    parts: Parts = RIGHT,
    options: Options = NOTHING,
    context: Array | None = None,
    value: Array | None = None,
) -> Array:
    """Return the output of a whole layer for one sequence.

    Parameters
    ----------
    x : ndarray, shape (n, d_model)
    matrices : tuple of ndarray
        For query, key, value and output, the heads beside each other; or one fused, shape
        (d_model, 3 * num_heads * d_k), and that of the output.
    biases : tuple of ndarray
        For query, key, value and output; fused as the matrices are.
    num_heads : int
        Keys and values have fewer where their matrices are narrower.
    parts : Parts
    options : Options
    context : ndarray, shape (m, d_model), optional
    value : ndarray, shape (m, d_model), default `context`

    Returns
    -------
    ndarray, shape (n, d_out)
    """
    if len(matrices) == 2:
        matrices = (*parts.cut(matrices[0], num_heads), matrices[1])
        biases = (*(b[0] for b in parts.cut(biases[0][None], num_heads)), biases[1])
    d_k = matrices[0].shape[-1] // num_heads
    *projections, w_o = parts.order(*matrices)
    *lent, b_o = parts.lend(*biases)
    read = parts.sources(x, x if context is None else context)
    if value is not None:
        read = (*read[:2], value)
    wide = [x @ w + b for x, w, b in zip(read, projections, lent, strict=True)]
    query, key, value = (parts.split(each, each.shape[-1] // d_k) for each in wide)
    _, outputs = attend(query, key, value, parts, options, d_model=x.shape[-1])
    return parts.finish(parts.merge(outputs), w_o, b_o)


def write(
    query: Array,
    key: Array,
    value: Array,
    angles: Array,
    parts: Parts = RIGHT,
    draws: Generator | None = None,
    sizes: tuple[int, ...] | None = None,
) -> Array:
    """Return the outputs of heads that meet their tokens one after the other, with a cache.

    Parameters
    ----------
    query, key, value : ndarray, shape (..., n, d_k)
    angles : ndarray, shape (n + 1, d_k / 2)
        For each position, and one more.
    parts : Parts
    draws : Generator, optional
        As in `Options`.
    sizes : tuple of int, default one token at a time
        How many tokens come at each step.

    Returns
    -------
    ndarray, shape (..., n, d_k)
    """
    keys, values, start = key[..., :0, :], value[..., :0, :], 0
    rows: list[Array] = []
    for size in (1,) * query.shape[-2] if sizes is None else sizes:
        new = (..., slice(start, start + size), slice(None))
        stand = parts.places(start, start + size)
        _, *turned = parts.turn(query[new], key[new], value[new], angles[stand])
        keys, values = (parts.keep(*each) for each in zip((keys, values), turned, strict=True))
        count = keys.shape[-2]
        too_far = parts.newest(keys.swapaxes(0, -2)) - (count - 1)
        asking, *_ = parts.turn(query[new], key[new], value[new], angles[stand + too_far])
        seen = parts.look(parts.again(keys, angles), size), parts.look(values, size)
        allowed = np.tri(size, seen[0].shape[-2], parts.first_seen(size, count), dtype=bool)
        options = Options(draws=draws, allowed=None if allowed.all() else allowed)
        rows.append(attend(asking, seen[0], seen[1], parts, options)[1])
        start += size
    return np.concatenate(rows, axis=-2)


def _kept(shape: tuple[int, ...], draws: Generator | None) -> Array | bool:
    """Return which weights dropout leaves."""
    return True if draws is None else draws.random(shape) >= RATE


def _as_it_is(scores: Array, _allowed: Array) -> Array:
    return scores
