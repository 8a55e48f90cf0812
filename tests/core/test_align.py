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
    central_differences,
    inputs,
    loop_product,
    loop_weights,
)

from mha import (
    attention_weights,
    blockwise_attention,
    causal_mask,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
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


@pytest.mark.parametrize("block_size", [1, 2, 3, 5, 128])
@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_block_by_block(rng, n, m, block_size):
    arguments = problem(rng, n, m)
    plain = scaled_dot_product_attention(*arguments, **BOTTOM_RIGHT)
    blocks = blockwise_attention(*arguments, block_size=block_size, **BOTTOM_RIGHT)
    np.testing.assert_allclose(blocks, plain, rtol=1e-12, atol=1e-14)
    assert (blocks[: max(n - m, 0)] == 0).all()


@pytest.mark.parametrize("new", [1, 2, 3])
def test_decoding_repeats_the_last_rows_of_the_whole(rng, new):
    query, key, value = inputs(rng, BATCH, HEADS)
    query = np.concatenate([query, query[..., :2, :]], axis=-2)
    whole = scaled_dot_product_attention(query, key, value, is_causal=True)
    for function in (scaled_dot_product_attention, blockwise_attention):
        step = function(query[..., -new:, :], key, value, **BOTTOM_RIGHT)
        np.testing.assert_allclose(step, whole[..., -new:, :], rtol=1e-12, atol=1e-14)


def test_a_mask_and_the_alignment_must_both_allow(rng):
    query, key, value = inputs(rng, HEADS)
    mask = rng.random((QUERIES, KEYS)) < 0.5
    both = mask & causal_mask(QUERIES, KEYS, align="bottom-right")
    np.testing.assert_array_equal(
        scaled_dot_product_attention(query, key, value, mask=mask, **BOTTOM_RIGHT),
        scaled_dot_product_attention(query, key, value, mask=both),
    )


@pytest.mark.parametrize("part", ["query", "key", "value"])
@pytest.mark.parametrize(("n", "m"), [(3, 5), (5, 3)])
def test_gradients_against_differences(rng, n, m, part):
    arguments = dict(zip(("query", "key", "value"), problem(rng, n, m), strict=True))
    d_output = rng.normal(size=(n, D_V))

    def loss(x):
        changed = arguments | {part: x}
        return (scaled_dot_product_attention(**changed, **BOTTOM_RIGHT) * d_output).sum()

    back = scaled_dot_product_attention_backward(d_output, **arguments, **BOTTOM_RIGHT)
    difference = central_differences(loss, arguments[part])
    np.testing.assert_allclose(getattr(back, part), difference, rtol=1e-6, atol=1e-8)
