"""Recurrences with a state, compared with products of matrices and exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from helpers import raises

from mha.core.linear_attention import gated_delta_rule, linear_recurrence

N, D_K, D_V = 5, 3, 2


@pytest.fixture
def tokens(rng):
    """Return queries, keys, values, shares and decays per row, all fractions of small numbers."""
    drawn = rng.integers(-4, 5, size=(N, 2 * D_K + D_V))
    query, key, value = np.split(drawn / 4, [D_K, 2 * D_K], axis=1)
    return query, key, value, rng.integers(0, 5, N) / 4, rng.integers(1, 5, (N, D_K)) / 4


def exact_states(key, value, beta, decay):
    """Return the states as fractions: (I − β k kᵀ) Diag(decay) times the last one, plus β k vᵀ."""
    state = [[Fraction(0)] * D_V for _ in range(D_K)]
    for t in range(N):
        k, v, d = ([Fraction(float(x)) for x in row] for row in (key[t], value[t], decay[t]))
        share = Fraction(float(beta[t]))
        erased = [[(i == j) - share * k[i] * k[j] for j in range(D_K)] for i in range(D_K)]
        state = [
            [
                sum(erased[i][j] * d[j] * state[j][c] for j in range(D_K)) + share * k[i] * v[c]
                for c in range(D_V)
            ]
            for i in range(D_K)
        ]
        yield state


def test_the_gated_delta_rule_is_exactly_a_product_of_matrices(tokens):
    query, key, value, beta, decay = tokens
    outputs, states = gated_delta_rule(query, key, value, beta=beta, decay=decay)
    for t, exact in enumerate(exact_states(key, value, beta, decay)):
        np.testing.assert_allclose(states[t], np.array(exact, float), rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(outputs[t], query[t] @ states[t], rtol=1e-13, atol=1e-15)


def test_a_decay_per_token_is_one_decay_for_all_rows_and_leading_axes_are_separate(tokens):
    query, key, value, beta, decay = tokens
    one = decay[:, 0]
    found = gated_delta_rule(query, key, value, beta=beta, decay=one)[1]
    same = gated_delta_rule(
        query, key, value, beta=beta, decay=np.repeat(one[:, None], D_K, axis=1)
    )[1]
    np.testing.assert_array_equal(found, same)
    both = gated_delta_rule(*(np.stack([x, -x]) for x in (query, key, value)), beta=beta)[1]
    np.testing.assert_array_equal(both[0], gated_delta_rule(query, key, value, beta=beta)[1])


def test_orthogonal_keys_of_length_1_need_no_correction():
    key, value = np.eye(4), np.arange(8.0).reshape(4, 2)
    found = gated_delta_rule(key, key, value, beta=np.ones(4))
    for ours, plain in zip(found, linear_recurrence(key, key, value), strict=True):
        np.testing.assert_array_equal(ours, plain)


def test_a_share_of_1_replaces_the_value_of_a_key_and_leaves_other_keys():
    key = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    _, states = gated_delta_rule(key, key, [[2.0], [3.0], [5.0]], beta=[1, 1, 1])
    np.testing.assert_array_equal(states[-1], [[5.0], [3.0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"beta": [0.5, 2.0]}, "beta holds 2.0 at index (1,); numbers from 0 to 1 are wanted"),
        ({"beta": [0.5]}, "beta has 1 numbers; 2 are wanted, one per token"),
        (
            {"beta": [0.5, 0.5], "decay": [[0.5, 0.0], [1, 1]]},
            "decay holds 0.0 at index (0, 1); numbers above 0 up to 1 are wanted",
        ),
        (
            {"beta": [0.5, 0.5], "decay": [[0.5], [1]]},
            "decay has shape (2, 1); one number per number of the keys is wanted, as in (2, 2)",
        ),
    ],
)
def test_shares_and_decays_outside_their_range_are_refused(arguments, message):
    with raises(ValueError, message):
        gated_delta_rule(np.eye(2), np.eye(2), np.eye(2), **arguments)
