"""Linear attention: at once and as a recurrence the same, which fractions confirm."""

from fractions import Fraction

import numpy as np
import pytest

from mha import linear_attention, linear_recurrence


@pytest.mark.parametrize("has_decay", [False, True])
def test_both_ways_give_the_same(rng, has_decay):
    query, key = rng.normal(size=(2, 3, 7, 5))
    value = rng.normal(size=(3, 7, 2))
    decay = rng.uniform(0.1, 1, size=(3, 7)) if has_decay else None
    outputs, states = linear_recurrence(query, key, value, decay=decay)
    np.testing.assert_allclose(
        outputs, linear_attention(query, key, value, decay=decay), rtol=1e-9, atol=1e-12
    )
    assert states.shape == (3, 7, 5, 2)


def test_exact_numbers():
    query, key, value = [[1, 2], [3, 1], [2, 2]], [[1, 0], [2, 1], [0, 3]], [[5], [7], [2]]
    decay = [Fraction(1), Fraction(1, 2), Fraction(1, 4)]
    state, wanted = [Fraction(0)] * 2, []
    for q, k, (v,), d in zip(query, key, value, decay, strict=True):
        state = [d * s + x * v for s, x in zip(state, k, strict=True)]
        wanted.append(sum(a * b for a, b in zip(q, state, strict=True)))
    found = linear_attention(*np.array([query, key], float), value, decay=[1, 0.5, 0.25])
    np.testing.assert_allclose(found[:, 0], np.array(wanted, float), rtol=1e-14)
