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
