"""Softmax at once and in blocks, its gradients, its newer variants, and its measures."""

import functools
import itertools
import math

import numpy as np
import pytest
from helpers import arrays, finite, raises
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mha
from mha.core.distributions import entropy, total_variation
from mha.core.online_softmax import RunningSoftmax, online_softmax
from mha.core.score_variants import (
    indexer_scores,
    softmax_with_sink,
    top_blocks_mask,
    top_keys_mask,
)
from mha.core.softmax import softmax_backward

SCORES = hnp.arrays(float, (3, 5), elements=finite(30) | finite(1e300) | st.just(-np.inf))
DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@given(SCORES)
def test_weights_agree_with_a_loop_and_minus_infinity_has_weight_0(scores):
    for row, weights in zip(scores.tolist(), mha.softmax(scores), strict=True):
        largest = max(row)
        powers = [0.0 if s == -np.inf else math.exp(s - largest) for s in row]
        total = math.fsum(powers) or 1.0
        np.testing.assert_allclose(weights, [power / total for power in powers], rtol=1e-13)


def test_softmax_is_along_the_given_axis(rng):
    scores = rng.normal(size=(2, 3, 5))
    scores[0, 1] = scores[:, 2, 3] = -np.inf
    for axis in range(-3, 3):
        last = np.moveaxis(mha.softmax(np.moveaxis(scores, axis, -1)), -1, axis)
        np.testing.assert_allclose(mha.softmax(scores, axis), last, rtol=1e-15)


# ---- Its gradient; test_gradients.py has it for numbers of usual size ----


@DTYPES
@given(st.data())
def test_backward_of_the_largest_floats_agrees_with_scaled_inputs(dtype, data):
    largest = np.finfo(dtype).max
    elements = st.sampled_from([float(x) for x in (-largest, -largest / 3, 0, 1, largest)])
    d_weights = data.draw(hnp.arrays(dtype, 5, elements=elements))
    weights = mha.softmax(data.draw(arrays(5, limit=4, dtype=dtype)))
    found, eighth = (
        softmax_backward(d_weights, weights),
        softmax_backward(d_weights / 8, weights),
    )
    slack = 2 * np.finfo(dtype).eps * (largest * weights)
    assert found.dtype == dtype
    assert (np.abs(found / 8 - eighth) <= slack).all()


# ---- In blocks ----


@DTYPES
@given(st.data())
def test_blockwise_softmax_in_any_order_equals_the_whole_softmax(dtype, data):
    keys = data.draw(st.integers(1, 9))
    leading = data.draw(st.sampled_from([(), (1,), (2,)]))
    rows = data.draw(st.sampled_from([(), (3,)])) if not leading else (3,)
    scores = data.draw(arrays((*leading, *rows, keys), 60, dtype)).copy()
    scores[data.draw(arrays(scores.shape, 1)) < -0.5] = -np.inf
    value = data.draw(arrays((*leading, keys, 2), 10, dtype))
    cuts = sorted(data.draw(st.sets(st.integers(1, keys - 1)))) if keys > 1 else []
    one_after_another, parts = None, []
    for start, stop in itertools.pairwise([0, *cuts, keys]):
        block = scores[..., start:stop], value[..., start:stop, :]
        one_after_another = online_softmax(*block, one_after_another)
        parts.append(online_softmax(*block))
    joined = functools.reduce(RunningSoftmax.merged, data.draw(st.permutations(parts)))
    tolerance = 2e-5 if dtype == np.float32 else 1e-12
    wanted = mha.softmax(scores.astype(float)) @ value.astype(float)
    for kept in (one_after_another, joined):
        assert kept.output.dtype == kept.total.dtype == dtype
        np.testing.assert_array_equal(kept.largest, scores.max(axis=-1))
        np.testing.assert_allclose(kept.output, wanted, rtol=tolerance, atol=tolerance)


@DTYPES
def test_blockwise_softmax_of_scores_whose_exponentials_overflow(dtype):
    scores, value = np.array([-1e30, 0, 1e30, 1e30], dtype), np.array([[7], [5], [3], [1]], dtype)
    for order in ([0, 1, 2, 3], [3, 2, 1, 0]):
        kept = None
        for i in order:
            kept = online_softmax(scores[[i]], value[[i]], kept)
        assert kept.output == [2]
    hidden = online_softmax([-np.inf], [[3.0]])
    assert (hidden.output, hidden.total, hidden.merged(hidden).output) == ([0], 0, [0])


# ---- Variants of newer layers ----


def test_a_sink_is_one_more_key_per_head_with_value_0(rng):
    scores, sink = 9 * rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 1, 1))
    scores[:, 0] = -np.inf
    with_key = np.concatenate([scores, np.broadcast_to(sink, (2, 3, 1))], axis=-1)
    np.testing.assert_array_equal(softmax_with_sink(scores, sink), mha.softmax(with_key)[..., :-1])


@given(SCORES, st.integers(1, 9))
def test_top_k_keeps_the_largest_unmasked_scores(scores, count):
    mask = top_keys_mask(scores, count)
    for row, kept in zip(scores, mask, strict=True):
        assert kept.sum() == min(count, np.isfinite(row).sum())
        assert kept.all() or row[kept].min(initial=np.inf) >= row[~kept].max()


def test_an_indexer_adds_the_positive_products_of_its_small_queries(rng):
    query, key, weights = (rng.normal(size=s) for s in ((2, 3, 5, 4), (2, 7, 4), (2, 3, 5)))
    found = indexer_scores(query, key, weights)
    for b, i, j in np.ndindex(2, 5, 7):
        products = (max(query[b, h, i] @ key[b, j], 0.0) for h in range(3))
        wanted = sum(w * p for w, p in zip(weights[b, :, i], products, strict=True))
        assert found[b, i, j] == pytest.approx(wanted)
    message = "weights has shape (5, 3); one number per small query is wanted, as in (3, 5)"
    with raises(ValueError, message):
        indexer_scores(query[0], key[0], weights[0].T)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_block_selection_is_by_mean_and_includes_the_query_s_own_block(rng, count):
    n, block = 11, 3
    query, key = rng.normal(size=(2, n, 5))
    mask = top_blocks_mask(query, key, block, count)
    for i in range(n):
        own = i // block
        means = [key[b * block : (b + 1) * block].mean(axis=0) for b in range(own)]
        best = np.argsort([-(query[i] @ mean) for mean in means], kind="stable")[: count - 1]
        wanted = [j <= i and j // block in {own, *best} for j in range(n)]
        assert mask[i].tolist() == wanted


# ---- Measures ----


def test_each_measure_agrees_with_its_definition_along_the_axis(rng):
    first, second = mha.softmax(rng.normal(size=(2, 2, 3, 5)), axis=2)
    apart = total_variation(first, second, axis=1)
    spread = entropy(first, axis=1)
    for i, j in np.ndindex(2, 5):
        weights, others = first[i, :, j], second[i, :, j]
        by_hand = math.fsum(-w * math.log(w) for w in weights)
        assert spread[i, j] == pytest.approx(by_hand, rel=1e-14)
        assert apart[i, j] == pytest.approx(math.fsum(abs(weights - others)) / 2, rel=1e-13)
    certain = entropy([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    assert certain.tolist() == [0, 0]
    assert not np.signbit(certain).any()
