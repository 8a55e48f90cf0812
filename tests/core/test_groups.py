"""Grouped queries: the same as repeated heads. Gradients, and blocks of them, are elsewhere."""

import numpy as np
import pytest
from helpers import (
    BATCH,
    D_K,
    D_MODEL,
    D_OUT,
    D_V,
    KEYS,
    QUERIES,
    inputs,
    raises,
    some_mask,
)

from mha import (
    MultiHeadWeights,
    attention_weights,
    blockwise_attention,
    multi_head_attention,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)

HEADS, GROUPS = 6, 2


def grouped_inputs(rng, groups=GROUPS, *leading):
    query, _, _ = inputs(rng, *leading, HEADS)
    _, key, value = inputs(rng, *leading, groups)
    return query, key, value


def repeated(x, groups):
    """Return a key or value with a copy of its group's for each head."""
    return x[..., [head // (HEADS // groups) for head in range(HEADS)], :, :]


def layer(rng, groups=GROUPS, *, w_o=True):
    def normal(*shape):
        return rng.normal(size=shape) / 4

    return MultiHeadWeights(
        normal(HEADS, D_MODEL, D_K),
        normal(groups, D_MODEL, D_K),
        normal(groups, D_MODEL, D_V),
        normal(HEADS * D_V, D_OUT) if w_o else None,
    )


def one_a_head(weights):
    """Return the layer without groups that says the same."""
    indices = [head // (HEADS // weights.num_groups) for head in range(HEADS)]
    return MultiHeadWeights(weights.w_q, weights.w_k[indices], weights.w_v[indices], weights.w_o)


# The forward pass


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_they_equal_repeated_heads(rng, groups):
    query, key, value = grouped_inputs(rng, groups, BATCH)
    options = {"mask": some_mask(rng), "is_causal": True}
    keys, values = repeated(key, groups), repeated(value, groups)
    np.testing.assert_array_equal(
        scaled_dot_product_attention(query, key, value, enable_gqa=True, **options),
        scaled_dot_product_attention(query, keys, values, **options),
    )
    np.testing.assert_array_equal(
        attention_weights(query, key, enable_gqa=True, **options),
        attention_weights(query, keys, **options),
    )


@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize("cross", [False, True])
def test_a_layer_equals_one_with_a_projection_a_head(rng, cross, groups):
    weights = layer(rng, groups)
    assert (weights.num_heads, weights.num_groups) == (HEADS, groups)
    assert (weights.d_model, weights.d_k, weights.d_v) == (D_MODEL, D_K, D_V)
    x = rng.normal(size=(BATCH, QUERIES, D_MODEL))
    context = rng.normal(size=(BATCH, KEYS, D_MODEL)) if cross else None
    options = {"context": context, "is_causal": True, "align": "bottom-right"}
    np.testing.assert_allclose(
        multi_head_attention(x, weights, **options),
        multi_head_attention(x, one_a_head(weights), **options),
        rtol=1e-13,
        atol=1e-14,
    )


# Refusals


def backward(query, key, value, **options):
    d_output = np.ones((*query.shape[:-1], D_V))
    return scaled_dot_product_attention_backward(d_output, query, key, value, **options)


THREE = (scaled_dot_product_attention, blockwise_attention, backward)


@pytest.mark.parametrize("function", THREE)
def test_groups_that_differ_or_do_not_divide_are_refused(rng, function):
    query, key, _ = grouped_inputs(rng)
    for groups in (1, 3, 6):
        _, _, other = grouped_inputs(rng, groups)
        sentence = f"key has 2 heads but value has {groups} heads; they must match"
        with raises(ValueError, sentence):
            function(query, key, other, enable_gqa=True)
    with raises(ValueError, "key has 4 heads; a divisor of query's 6 heads is wanted"):
        function(*grouped_inputs(rng, 4), enable_gqa=True)
