"""Blocks of numbers so large that each is looked at: masks, causality and what overflows."""

import numpy as np
import pytest
from helpers import KEYS, QUERIES, inputs, raises

from mha import (
    attention_scores,
    blockwise_attention,
    layer_norm,
    scaled_dot_product_attention,
    softmax_jacobian,
)

HUGE = 1e200  # of values, so that nothing is taken for moderate


@pytest.mark.parametrize("block_size", [1, 2, 3, 7])
@pytest.mark.parametrize("align", ["top-left", "bottom-right"])
@pytest.mark.parametrize("queries", [2, QUERIES, 2 * KEYS])
def test_causal(rng, block_size, align, queries):
    _, key, value = inputs(rng, 2)
    query = rng.normal(size=(2, queries, key.shape[-1]))
    options = {"is_causal": True, "align": align}
    plain = scaled_dot_product_attention(query, key, value, **options)
    found = blockwise_attention(query, key, value * HUGE, block_size=block_size, **options)
    np.testing.assert_allclose(found / HUGE, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("block_size", [1, 3])
def test_masked(rng, block_size):
    query, key, value = inputs(rng)
    mask = rng.random((QUERIES, KEYS)) < 0.5
    plain = scaled_dot_product_attention(query, key, value, mask=mask)
    found = blockwise_attention(query, key, value * HUGE, block_size=block_size, mask=mask)
    np.testing.assert_allclose(found / HUGE, plain, rtol=1e-12, atol=1e-12)


def test_the_dtype_stays(rng):
    query, key, value = inputs(rng, dtype=np.float32)
    found = blockwise_attention(query, key, value * np.float32(1e30), block_size=2)
    assert found.dtype == np.float32


def test_the_sentence_has_both_widths(rng):
    for query, key in (((2, 3, 5), (2, 7, 4)), ((3, 5), (7, 4))):
        with raises(ValueError, "query has d_k=5 but key has d_k=4; they must match"):
            attention_scores(np.ones(query), np.ones(key))


def test_underflow_is_no_fault_where_a_caller_makes_it_one():
    with np.errstate(under="raise"):
        tiny = np.array([[1e-200, -1e-200]])
        np.testing.assert_allclose(layer_norm(tiny, eps=1e-5), tiny / np.sqrt(1e-5), rtol=1e-9)
        jacobian = softmax_jacobian(np.array([1.0, 1e-200, 1e-200]))
        assert jacobian[1, 2] == 0


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_shared_heads_and_a_scale(rng, groups, scale):
    query, key = rng.normal(size=(4, 3, 2)), rng.normal(size=(groups, 5, 2))
    value = HUGE * rng.normal(size=(groups, 5, 2))
    options = {"scale": scale, "enable_gqa": True}
    plain = scaled_dot_product_attention(query, key, value, **options)
    found = blockwise_attention(query, key, value, block_size=2, **options)
    np.testing.assert_allclose(found / HUGE, plain / HUGE, rtol=1e-12, atol=1e-12)


def test_causal_without_heads(rng):
    x = rng.normal(size=(5, 2))
    plain = scaled_dot_product_attention(x, x, x, is_causal=True)
    found = blockwise_attention(x, x, HUGE * x, block_size=2, is_causal=True)
    np.testing.assert_allclose(found / HUGE, plain, rtol=1e-12, atol=1e-12)


def test_a_scale_that_is_too_large_is_refused():
    thousand = np.full((2, 1), 1e3)
    sentence = "scale is 1e+304; one that leaves the scores finite is wanted"
    with raises(ValueError, sentence):
        blockwise_attention(thousand, thousand, np.ones((2, 1)), block_size=1, scale=1e304)


@pytest.mark.parametrize(("num_keys", "block_size"), [(3, 1), (5, 8), (6, 2)])
@pytest.mark.parametrize("last", [0.0, 200.0])
def test_a_mean_of_the_largest_numbers_is_theirs_or_refused(num_keys, block_size, last):
    most, refused = np.finfo(np.float32).max, {}
    sentence = "weights and value overflow float32 when multiplied; smaller numbers are wanted"
    value = np.full((num_keys, 1), most)
    for seed in range(60):
        key = np.random.default_rng(seed).normal(size=(num_keys, 1)).astype(np.float32)
        key[-1] += np.float32(last)
        for i, attend in enumerate(
            [
                scaled_dot_product_attention,
                lambda *arrays: blockwise_attention(*arrays, block_size=block_size),
            ]
        ):
            try:
                with np.errstate(all="raise", under="ignore"):
                    mean = attend(np.ones((1, 1), np.float32), key, value)
            except ValueError as error:
                refused[i] = str(error)
            else:
                np.testing.assert_allclose(mean, most, rtol=1e-5)
    assert set(refused.values()) <= {sentence}
    assert last or len(refused) == 2


def test_scores_may_lie_as_far_apart_as_their_dtype():
    most = np.finfo(np.float64).max
    with np.errstate(all="raise"):
        for first, second, found in ((most, -most, HUGE), (0, -720, HUGE), (-most, most, 1)):
            arrays = [[1.0]], [[first], [second]], [[HUGE], [1.0]]
            assert blockwise_attention(*arrays, block_size=1, scale=1) == [[found]]
