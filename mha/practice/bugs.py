"""Twelve bugs of attention, each one line beside the right one.

Attention is put together here from small parts, so that a bug is one part exchanged for another.
In self-attention none of them stops the program; `mha.practice.properties` has what catches each.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from mha.core.checks import Array
from mha.core.positions import rotate_by

RATE = 0.1
"""The share of weights that dropout sets to zero."""

# ---- The parts: the right line, and below it each wrong one ----


def split(wide: Array, num_heads: int) -> Array:
    """Cut each token's numbers into heads: (n, h d) to (h, n, d)."""
    return wide.reshape(len(wide), num_heads, -1).swapaxes(0, 1)


def split_by_reshape(wide: Array, num_heads: int) -> Array:
    """Give each head the numbers of some tokens instead."""
    return wide.reshape(num_heads, len(wide), -1)


def turn(query: Array, key: Array, value: Array, angles: Array) -> tuple[Array, Array, Array]:
    """Turn queries and keys by their positions, in pairs."""
    return rotate_by(query, angles), rotate_by(key, angles), value


def turn_values_too(
    query: Array, key: Array, value: Array, angles: Array
) -> tuple[Array, Array, Array]:
    """Turn what is handed over as well."""
    return rotate_by(query, angles), rotate_by(key, angles), rotate_by(value, angles)


def turn_halves(query: Array, key: Array, value: Array, angles: Array) -> tuple[Array, ...]:
    """Turn each component with that half a width on, where pairs are meant."""
    return rotate_by(query, angles, layout="halves"), rotate_by(key, angles, layout="halves"), value


def score(query: Array, key: Array, d_model: int) -> Array:
    """Return the scaled scores."""
    return query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1])


def score_by_model_width(query: Array, key: Array, d_model: int) -> Array:
    """Divide by the root of the embedding's width, not of the head's."""
    return query @ key.swapaxes(-1, -2) / np.sqrt(d_model)


def powers(scores: Array, axis: int) -> Array:
    """Return exponentials of which none overflows."""
    return np.exp(scores - scores.max(axis=axis, keepdims=True))


def powers_unshifted(scores: Array, axis: int) -> Array:
    """Take the exponential of whatever comes."""
    return np.exp(scores)


def along_rows(scores: Array, softmax: "Step") -> Array:
    """Share out each query's attention among the keys."""
    return softmax(scores, axis=-1)


def along_columns(scores: Array, softmax: "Step") -> Array:
    """Share out each key among the queries."""
    return softmax(scores, axis=-2)


def forbid(scores: Array, allowed: Array) -> Array:
    """Leave the scores that are allowed."""
    return np.where(allowed, scores, -np.inf)


def forbid_what_is_allowed(scores: Array, allowed: Array) -> Array:
    """Take True for what is forbidden."""
    return np.where(allowed, -np.inf, scores)


Step: TypeAlias = Callable[..., Array]


def weigh(scores: Array, bias: Array, allowed: Array, forbid: Step, softmax: Step) -> Array:
    """Return the weights of scores with a bias and a mask."""
    return softmax(forbid(scores + bias, allowed))


def mask_late(scores: Array, bias: Array, allowed: Array, forbid: Step, softmax: Step) -> Array:
    """Strike weights out once they are shared out."""
    return softmax(scores + bias) * allowed


def bias_late(scores: Array, bias: Array, allowed: Array, forbid: Step, softmax: Step) -> Array:
    """Add the bias to weights."""
    return softmax(forbid(scores, allowed)) + bias


def drop(weights: Array, kept: Array, training: bool) -> Array:
    """Set weights to zero where they are not kept, while the model learns."""
    return weights * kept / (1 - RATE) if training else weights


def drop_always(weights: Array, kept: Array, training: bool) -> Array:
    """Do so when the model is used, too."""
    return weights * kept / (1 - RATE)


def mix(weights: Array, value: Array) -> Array:
    """Return each query's average of the values."""
    return weights @ value


def mix_columns(weights: Array, value: Array) -> Array:
    """Weigh the values with columns."""
    return weights.swapaxes(-1, -2) @ value


def newest(keys: Array) -> int:
    """Return the position of the token whose key was put last into the cache."""
    return len(keys) - 1


def newest_too_far(keys: Array) -> int:
    """Return the position of the token after it."""
    return len(keys)


# ---- Attention, put together ----


@dataclass(frozen=True)
class Parts:
    """The parts of attention; what is not named is right.

    Parameters
    ----------
    split, turn, score, powers, along, forbid, weigh, drop, mix, newest : callable
        As the functions of these names; `along` as `along_rows`.
    """

    split: Step = split
    turn: Callable[..., tuple[Array, ...]] = turn
    score: Step = score
    powers: Step = powers
    along: Step = along_rows
    forbid: Step = forbid
    weigh: Step = weigh
    drop: Step = drop
    mix: Step = mix
    newest: Callable[..., int] = newest


@dataclass(frozen=True, eq=False)
class Options:
    """What attention is told beside its inputs; what is not named changes nothing.

    Parameters
    ----------
    allowed : ndarray of bool, shape (..., n, n), optional
        True where a query may attend; without it nothing is masked.
    bias : ndarray, shape (..., n, n), default 0
        Added to scaled scores.
    angles : ndarray, shape (n, d_k / 2), default 0
        By which each pair is turned at each position.
    draws : Generator, optional
        By which dropout draws, at each call anew, what it sets to zero; without it, nothing.
    training : bool, default False
    """

    allowed: Array | None = None
    bias: Array | float = 0.0
    angles: Array | tuple[float] = (0.0,)
    draws: Generator | None = None
    training: bool = False


NOTHING = Options()
RIGHT = Parts()


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
    query, key, value : ndarray, shape (..., n, d_k)
    parts : Parts
    options : Options
    d_model : int, default d_k

    Returns
    -------
    weights : ndarray, shape (..., n, n)
    output : ndarray, shape (..., n, d_k)

    Examples
    --------
    >>> one = np.eye(2)
    >>> attend(2 * one, one, one, Parts(score=score_by_model_width), d_model=4)[0].round(4)
    array([[0.7311, 0.2689],
           [0.2689, 0.7311]])
    """

    def softmax(scores: Array, axis: int) -> Array:
        shares = parts.powers(scores, axis)
        return shares / shares.sum(axis=axis, keepdims=True)

    query, key, value = parts.turn(query, key, value, options.angles)
    width = query.shape[-1] if d_model is None else d_model
    with np.errstate(all="ignore"):  # a wrong part may overflow, or divide by zero
        weights = parts.weigh(
            parts.score(query, key, width),
            options.bias,
            True if options.allowed is None else options.allowed,
            _as_it_is if options.allowed is None else parts.forbid,
            lambda scores: parts.along(scores, softmax),
        )
        weights = parts.drop(weights, _kept(weights.shape, options.draws), options.training)
        return weights, parts.mix(weights, value)


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


def write(
    query: Array,
    key: Array,
    value: Array,
    angles: Array,
    parts: Parts = RIGHT,
    draws: Generator | None = None,
) -> Array:
    """Return the outputs of one head that meets its tokens one at a time, with a cache.

    Parameters
    ----------
    query, key, value : ndarray, shape (n, d_k)
    angles : ndarray, shape (n + 1, d_k / 2)
        For each position, and one more.
    parts : Parts
    draws : Generator, optional
        As in `Options`.

    Returns
    -------
    ndarray, shape (n, d_k)
    """
    keys, values, rows = key[:0], value[:0], []
    for t in range(len(query)):
        turned = parts.turn(query[t : t + 1], key[t : t + 1], value[t : t + 1], angles[t])
        keys, values = np.vstack([keys, turned[1]]), np.vstack([values, turned[2]])
        asking = parts.turn(query[t : t + 1], key[:1], value[:1], angles[parts.newest(keys)])[0]
        unturned = replace(parts, turn=_as_they_are)
        rows.append(attend(asking, keys, values, unturned, Options(draws=draws))[1])
    return np.vstack(rows)


def _kept(shape: tuple[int, ...], draws: Generator | None) -> Array | bool:
    """Return which weights dropout leaves."""
    return True if draws is None else draws.random(shape) >= RATE


def _as_it_is(scores: Array, _allowed: Array) -> Array:
    return scores


def _as_they_are(query: Array, key: Array, value: Array, _angles: Array) -> tuple[Array, ...]:
    return query, key, value


# ---- The bugs ----


BUGS = {
    "wrong axis": Parts(along=along_columns),
    "no shift": Parts(powers=powers_unshifted),
    "wrong root": Parts(score=score_by_model_width),
    "late bias": Parts(weigh=bias_late),
    "late mask": Parts(weigh=mask_late),
    "True reversed": Parts(forbid=forbid_what_is_allowed),
    "reshape": Parts(split=split_by_reshape),
    "columns mixed": Parts(mix=mix_columns),
    "off by one": Parts(newest=newest_too_far),
    "values turned": Parts(turn=turn_values_too),
    "halves for pairs": Parts(turn=turn_halves),
    "dropout left on": Parts(drop=drop_always),
}
"""Each bug's name, and the parts with it among them."""


def lines(bug: str) -> tuple[str, str]:
    """Return what a bug's code says, and what was meant: what the two functions return.

    Parameters
    ----------
    bug : str
        One of `BUGS`.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> lines("columns mixed")
    ('weights.swapaxes(-1, -2) @ value', 'weights @ value')
    """
    wrong = BUGS[bug]
    (part,) = (name for name in vars(RIGHT) if getattr(wrong, name) != getattr(RIGHT, name))
    return _returned(getattr(wrong, part)), _returned(getattr(RIGHT, part))


def _returned(function: Callable[..., object]) -> str:
    return inspect.getsource(function).split("return ", maxsplit=1)[1].strip()
