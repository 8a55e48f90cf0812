"""What newer layers do to scores and weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mha import (
    capped_scores,
    differential_weights,
    gated,
    softmax,
    softmax_with_sink,
    top_blocks_mask,
    top_keys_mask,
)

ROWS = arrays(float, (3, 7), elements=st.floats(-50, 50))


@given(ROWS, st.floats(0.5, 100))
def test_a_cap_is_never_passed_and_keeps_the_order(scores, cap):
    capped = capped_scores(scores, cap)
    assert (np.abs(capped) <= cap).all()
    assert (np.diff(capped[0, np.argsort(scores[0])]) >= 0).all()


@given(ROWS, st.floats(-20, 20))
def test_a_sink_is_one_more_key_whose_value_is_nothing(scores, sink):
    weights = softmax_with_sink(scores, sink)
    with_key = softmax(np.concatenate([scores, np.full((3, 1), sink)], axis=1))
    np.testing.assert_array_equal(weights, with_key[:, :-1])
    assert (weights.sum(axis=1) <= 1 + 1e-12).all()


def test_a_sink_a_head_and_masked_rows(rng):
    scores = rng.normal(size=(2, 3, 5))
    scores[:, 0] = -np.inf
    weights = softmax_with_sink(scores, np.array([0.0, 3.0])[:, None, None])
    assert (weights[:, 0] == 0).all()
    np.testing.assert_array_equal(weights[1], softmax_with_sink(scores[1], 3.0))


@given(ROWS, st.integers(1, 9))
def test_a_choice_keeps_the_largest(scores, count):
    mask = top_keys_mask(scores, count)
    assert (mask.sum(axis=1) == min(count, 7)).all()
    for row, kept in zip(scores, mask, strict=True):
        assert kept.all() or row[kept].min() >= row[~kept].max()


def test_a_choice_brings_no_masked_key_back():
    assert top_keys_mask([[-np.inf, 1.0, -np.inf]], 2).tolist() == [[False, True, False]]


@pytest.mark.parametrize("count", [1, 2, 5])
def test_blocks_are_chosen_by_their_mean_and_ones_own_is_always_seen(rng, count):
    n, block = 11, 3
    query, key = rng.normal(size=(2, n, 5))
    mask = top_blocks_mask(query, key, block, count)
    for i in range(n):
        own = i // block
        means = [key[b * block : (b + 1) * block].mean(axis=0) for b in range(own)]
        best = np.argsort([-(query[i] @ mean) for mean in means], kind="stable")[: count - 1]
        wanted = [j <= i and j // block in {own, *best} for j in range(n)]
        assert mask[i].tolist() == wanted


def test_a_difference_and_a_gate(rng):
    first, second = softmax(rng.normal(size=(2, 3, 5)))
    weights = differential_weights(first, second, 0.25)
    np.testing.assert_allclose(weights.sum(axis=1), 0.75)
    output, gate = rng.normal(size=(2, 3, 5)) * 9
    np.testing.assert_allclose(gated(output, gate), output / (1 + np.exp(-gate)), rtol=1e-12)
    assert np.isfinite(gated([1.0, 1.0], [-1e4, 1e4])).all()
