"""Properties of attention that hold for all inputs, as tests that catch bugs.

Each function tests one property of an attention assembled from `mha.practice.attention_parts`, on
random numbers, and returns whether it holds. None compares with another implementation. Pages show
the docstrings of the properties to readers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from mha.core.checks import Array
from mha.core.masks import causal_mask
from mha.practice.attention_parts import Options, Parts, attend, decode, head_outputs

Property: TypeAlias = Callable[[Parts, Generator], bool]

_TOKENS = 11
"""Enough tokens that dropout hardly ever draws the same weights twice."""


def rows_sum_to_one(parts: Parts, rng: Generator) -> bool:
    """With a mask and a bias, each row of weights sums to one, and no weight is negative."""
    weights, _ = attend(*_inputs(rng), parts, _masked_and_biased(rng))
    return bool((weights >= 0).all()) and np.allclose(weights.sum(axis=-1), 1)


def a_constant_changes_nothing(parts: Parts, rng: Generator) -> bool:
    """Scores that all grow by one number, a large one too, leave the weights as they are."""
    inputs = _inputs(rng)
    weights, _ = attend(*inputs, parts, Options(rng=rng))
    moved, _ = attend(*inputs, parts, Options(bias=1000.0, rng=rng))
    return np.allclose(moved, weights)


def later_tokens_have_no_effect(parts: Parts, rng: Generator) -> bool:
    """Under a causal mask another last token changes no output but the last."""
    query, key, value = _inputs(rng)
    causal = Options(allowed=causal_mask(_TOKENS, _TOKENS), rng=rng)
    _, output = attend(query, key, value, parts, causal)
    last = np.eye(_TOKENS)[:, -1:]
    _, other = attend(query + last, key + 2 * last, value + 3 * last, parts, causal)
    return np.allclose(other[:, :-1], output[:, :-1])


def equal_values_come_out(parts: Parts, rng: Generator) -> bool:
    """With a mask and a bias, if all values are the same vector, each output is that vector."""
    query, key, value = _inputs(rng)
    value = np.broadcast_to(value[:, :1], value.shape)
    _, output = attend(query, key, value, parts, _masked_and_biased(rng))
    return np.allclose(output, value)


def order_goes_through(parts: Parts, rng: Generator) -> bool:
    """Embeddings in another order have the same outputs, in that order."""
    x, matrices = rng.normal(size=(5, 7)), rng.normal(size=(3, 7, 12))
    order = np.roll(np.arange(5), rng.integers(1, 5))
    output = head_outputs(x, matrices, 3, parts, Options(rng=rng))
    other = head_outputs(x[order], matrices, 3, parts, Options(rng=rng))
    return np.allclose(other, output[:, order])


def zeros_change_nothing(parts: Parts, rng: Generator) -> bool:
    """Wider embeddings whose further numbers are all zero have the same outputs."""
    x, matrices = rng.normal(size=(5, 7)), rng.normal(size=(3, 7, 12))
    output = head_outputs(x, matrices, 3, parts, Options(rng=rng))
    wider = np.pad(x, [(0, 0), (0, 4)]), np.pad(matrices, [(0, 0), (0, 4), (0, 0)])
    return np.allclose(head_outputs(*wider, 3, parts, Options(rng=rng)), output)


def steps_are_rows(parts: Parts, rng: Generator) -> bool:
    """With rotary positions, one token at a time gives the rows of the full causal pass."""
    query, key, value = (x[0] for x in _inputs(rng))
    angles = np.outer(np.arange(_TOKENS + 1), [1.0, 0.3])
    causal = Options(allowed=causal_mask(_TOKENS, _TOKENS), angles=angles[:-1], rng=rng)
    _, output = attend(query, key, value, parts, causal)
    return np.allclose(decode(query, key, value, angles, parts, rng), output)


def only_differences_count(parts: Parts, rng: Generator) -> bool:
    """With rotary positions, all of them moved by the same number change no output."""
    inputs = _inputs(rng)
    output, later = (
        attend(*inputs, parts, Options(angles=np.outer(positions, [1.0, 0.3]), rng=rng))[1]
        for positions in (np.arange(_TOKENS), np.arange(17, 17 + _TOKENS))
    )
    return np.allclose(later, output)


def a_quarter_turn_is_right(parts: Parts, rng: Generator) -> bool:
    """By the convention of pairs, a quarter turn of one takes (1, 0, 0, 0) to (0, 1, 0, 0)."""
    one = np.eye(4)[:1]
    turned, *_ = parts.turn(one, one, one, np.array([[np.pi / 2, 0.0]]))
    return np.allclose(turned, np.eye(4)[1])


def twice_the_same(parts: Parts, rng: Generator) -> bool:
    """If it is used twice on the same input, a model gives the same output."""
    inputs = _inputs(rng)
    once, again = (attend(*inputs, parts, Options(rng=rng))[1] for _ in range(2))
    return np.allclose(once, again)


PROPERTIES: tuple[Property, ...] = (
    rows_sum_to_one,
    a_constant_changes_nothing,
    equal_values_come_out,
    later_tokens_have_no_effect,
    order_goes_through,
    zeros_change_nothing,
    steps_are_rows,
    only_differences_count,
    a_quarter_turn_is_right,
    twice_the_same,
)
"""The properties, in the order in which pages letter them from A."""


def failed_properties(parts: Parts, rng: Generator) -> list[bool]:
    """Return for each property whether it fails for some parts.

    Parameters
    ----------
    parts : Parts
    rng : Generator

    Returns
    -------
    list of bool
        In the order of `PROPERTIES`.

    Examples
    --------
    >>> from mha.practice.attention_parts import RIGHT_NAN_ROWS
    >>> any(failed_properties(RIGHT_NAN_ROWS, np.random.default_rng(3)))
    False
    """
    return [_fails(has_property, parts, rng) for has_property in PROPERTIES]


def _fails(has_property: Property, parts: Parts, rng: Generator) -> bool:
    """Return whether a property fails; shapes that do not fit count as a failure."""
    try:
        return not has_property(parts, rng)
    except ValueError:
        return True


def _masked_and_biased(rng: Generator) -> Options:
    allowed = causal_mask(_TOKENS, _TOKENS)
    return Options(allowed=allowed, bias=-rng.random(allowed.shape), rng=rng)


def _inputs(rng: Generator) -> tuple[Array, Array, Array]:
    """Return queries, keys and values of three heads, width four."""
    query, key, value = rng.normal(size=(3, 3, _TOKENS, 4))
    return query, key, value
