"""What masks, heads and groups do to attention."""

import numpy as np
import pytest
from helpers import (
    BATCH,
    D_V,
    HEADS,
    KEYS,
    QUERIES,
    inputs,
    some_mask,
)

from mha import (
    attention_scores,
    attention_weights,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
    softmax,
)

# Masks


def test_booleans_equal_zero_and_minus_infinity(rng):
    query, key, value = inputs(rng, HEADS)
    mask = some_mask(rng)
    np.testing.assert_array_equal(
        scaled_dot_product_attention(query, key, value, mask=mask),
        scaled_dot_product_attention(query, key, value, mask=np.where(mask, 0, -np.inf)),
    )


def test_a_float_mask_is_added_to_the_scaled_scores(rng):
    query, key, _ = inputs(rng)
    bias = rng.normal(size=(QUERIES, KEYS))
    scores = attention_scores(query, key) * 0.125 + bias
    np.testing.assert_allclose(
        attention_weights(query, key, mask=bias, scale=0.125), softmax(scores), rtol=1e-13
    )


@pytest.mark.parametrize(("n", "m"), [(QUERIES, KEYS), (KEYS, QUERIES)])
def test_causal_is_aligned_at_the_top_left(rng, n, m):
    query, key, value = rng.normal(size=(n, 3)), rng.normal(size=(m, 3)), rng.normal(size=(m, 2))
    output = scaled_dot_product_attention(query, key, value, is_causal=True)
    for i in range(n):
        seen = slice(0, i + 1)
        alone = scaled_dot_product_attention(query[i : i + 1], key[seen], value[seen])
        np.testing.assert_allclose(output[i : i + 1], alone, rtol=1e-13, atol=1e-15)
    np.testing.assert_array_equal(
        output, scaled_dot_product_attention(query, key, value, mask=causal_mask(n, m))
    )


def test_with_both_a_key_must_be_allowed_by_both(rng):
    query, key, value = inputs(rng, HEADS)
    mask = some_mask(rng)
    np.testing.assert_array_equal(
        scaled_dot_product_attention(query, key, value, mask=mask, is_causal=True),
        scaled_dot_product_attention(query, key, value, mask=mask & causal_mask(QUERIES, KEYS)),
    )


def test_padding_equals_shorter_sequences(rng):
    query, key, value = inputs(rng, BATCH, HEADS)
    lengths = np.array([2, 5])
    mask = padding_mask(lengths[:, None], KEYS)
    output = scaled_dot_product_attention(query, key, value, mask=mask)
    for b, length in enumerate(lengths):
        shorter = key[b, :, :length], value[b, :, :length]
        np.testing.assert_allclose(
            output[b], scaled_dot_product_attention(query[b], *shorter), rtol=1e-12, atol=1e-14
        )


# Heads and batches


def test_leading_axes_are_separate_problems(rng):
    query, key, value = inputs(rng, BATCH, HEADS)
    output = scaled_dot_product_attention(query, key, value)
    assert output.shape == (BATCH, HEADS, QUERIES, D_V)
    for index in np.ndindex(BATCH, HEADS):
        alone = scaled_dot_product_attention(query[index], key[index], value[index])
        np.testing.assert_allclose(output[index], alone, rtol=1e-13, atol=1e-15)


def test_leading_axes_broadcast(rng):
    query, key, value = inputs(rng, BATCH, HEADS)
    output = scaled_dot_product_attention(query[:, :1], key[0], value[0, 0])
    for b, h in np.ndindex(BATCH, HEADS):
        alone = scaled_dot_product_attention(query[b, 0], key[0, h], value[0, 0])
        np.testing.assert_allclose(output[b, h], alone, rtol=1e-13, atol=1e-15)
