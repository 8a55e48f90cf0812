"""Where a causal mask's diagonal lies: at the top left, or at the bottom right for decoding."""

import numpy as np
import pytest
from helpers import (
    BATCH,
    D_K,
    D_V,
    HEADS,
    KEYS,
    QUERIES,
    inputs,
    loop_product,
    loop_weights,
)

from mha import (
    attention_weights,
    blockwise_attention,
    causal_mask,
    scaled_dot_product_attention,
)

BOTTOM_RIGHT = {"is_causal": True, "align": "bottom-right"}
SHAPES = [(QUERIES, KEYS), (KEYS, QUERIES), (QUERIES, QUERIES), (1, KEYS), (KEYS, 1)]


def problem(rng, n, m):
    return rng.normal(size=(n, D_K)), rng.normal(size=(m, D_K)), rng.normal(size=(m, D_V))


@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_the_mask_by_its_definition(n, m):
    at_the_right = [[key <= query + m - n for key in range(m)] for query in range(n)]
    np.testing.assert_array_equal(causal_mask(n, m, align="bottom-right"), at_the_right)
    assert causal_mask(n, m, align="bottom-right")[-1].all()
    np.testing.assert_array_equal(causal_mask(n, m, align="top-left"), causal_mask(n, m))


@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_weights_and_outputs_against_loops(rng, n, m):
    query, key, value = problem(rng, n, m)
    empty = max(n - m, 0)  # the queries before all keys
    seeing = loop_weights(query[empty:], key, D_K**-0.5, lambda i, j: j <= i + max(m - n, 0))
    weights = [[0.0] * m] * empty + seeing
    close = {"rtol": 1e-12, "atol": 1e-14}
    found = attention_weights(query, key, **BOTTOM_RIGHT)
    np.testing.assert_allclose(found, weights, **close)
    output = scaled_dot_product_attention(query, key, value, **BOTTOM_RIGHT)
    np.testing.assert_allclose(output, loop_product(weights, value), **close)


@pytest.mark.parametrize("new", [1, 2, 3])
def test_decoding_repeats_the_last_rows_of_the_whole(rng, new):
    query, key, value = inputs(rng, BATCH, HEADS)
    query = np.concatenate([query, query[..., :2, :]], axis=-2)
    whole = scaled_dot_product_attention(query, key, value, is_causal=True)
    for function in (scaled_dot_product_attention, blockwise_attention):
        step = function(query[..., -new:, :], key, value, **BOTTOM_RIGHT)
        np.testing.assert_allclose(step, whole[..., -new:, :], rtol=1e-12, atol=1e-14)
