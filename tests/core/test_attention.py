"""Scores, weights and outputs: closed forms, loops without NumPy and invariances."""

import numpy as np
import pytest
from helpers import (
    D_K,
    HEADS,
    KEYS,
    QUERIES,
    arrays,
    inputs,
    loop_product,
    loop_weights,
    some_mask,
)
from hypothesis import given
from hypothesis import strategies as st

from mha import (
    attention_scores,
    attention_weights,
    scaled_dot_product_attention,
    softmax,
)
from mha.core.attention import masked_scores, scaled_scores

# Closed forms


def test_two_keys_give_the_logistic_function():
    weights = attention_weights([[2.0]], [[3.0], [1.0]], scale=0.25)
    assert weights[0, 0] == pytest.approx(1 / (1 + np.exp(-0.25 * 2 * (3 - 1))), rel=1e-15)


def test_equal_keys_share_the_weight_and_the_output_is_the_mean(rng):
    query, _, value = inputs(rng)
    key = np.tile(rng.normal(size=D_K), (KEYS, 1))
    np.testing.assert_allclose(attention_weights(query, key), np.full((QUERIES, KEYS), 1 / KEYS))
    output = scaled_dot_product_attention(query, key, value)
    np.testing.assert_allclose(output, np.tile(value.mean(axis=0), (QUERIES, 1)))


def test_a_scale_of_zero_is_the_mean(rng):
    query, key, value = inputs(rng)
    output = scaled_dot_product_attention(query, key, value, scale=0)
    np.testing.assert_allclose(output, np.tile(value.mean(axis=0), (QUERIES, 1)))


def test_one_key_hands_over_its_value(rng):
    query, key, value = inputs(rng)
    output = scaled_dot_product_attention(query, key[:1], value[:1])
    np.testing.assert_array_equal(output, np.tile(value[0], (QUERIES, 1)))


def test_a_large_scale_looks_up_the_best_key(rng):
    query, key, value = inputs(rng)
    best = (query @ key.T).argmax(axis=-1)
    output = scaled_dot_product_attention(query, key, value, scale=1e6)
    np.testing.assert_array_equal(output, value[best])


def test_the_default_scale_is_one_over_the_root_of_d_k(rng):
    query, key, value = inputs(rng)
    default = scaled_dot_product_attention(query, key, value)
    given_scale = scaled_dot_product_attention(query, key, value, scale=D_K**-0.5)
    np.testing.assert_allclose(default, given_scale, rtol=1e-14)


# The same mathematics without NumPy


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_weights_and_output_against_loops(rng, masked, is_causal):
    query, key, value = inputs(rng)
    mask = some_mask(rng) if masked else np.ones((QUERIES, KEYS), bool)
    weights = loop_weights(
        query, key, D_K**-0.5, lambda i, j: mask[i, j] and (j <= i or not is_causal)
    )
    options = {"mask": mask if masked else None, "is_causal": is_causal}
    np.testing.assert_allclose(
        attention_weights(query, key, **options), weights, rtol=1e-12, atol=1e-15
    )
    np.testing.assert_allclose(
        scaled_dot_product_attention(query, key, value, **options),
        loop_product(weights, value),
        rtol=1e-12,
        atol=1e-14,
    )


# Invariances


@st.composite
def problems(draw, limit=5):
    n, m, d_k, d_v = (draw(st.integers(1, 7)) for _ in range(4))
    shapes = (n, d_k), (m, d_k), (m, d_v)
    return tuple(draw(arrays(shape, limit)) for shape in shapes)


@given(problems())
def test_rows_sum_to_one(problem):
    query, key, _ = problem
    weights = attention_weights(query, key)
    assert weights.shape == (len(query), len(key))
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-14)


@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(problem, random):
    query, key, value = problem
    order = list(range(len(key)))
    random.shuffle(order)
    np.testing.assert_allclose(
        attention_weights(query, key[order]), attention_weights(query, key)[:, order], atol=1e-13
    )
    np.testing.assert_allclose(
        scaled_dot_product_attention(query, key[order], value[order]),
        scaled_dot_product_attention(query, key, value),
        atol=1e-12,
    )


@given(problems())
def test_each_query_is_on_its_own(problem):
    query, key, value = problem
    output = scaled_dot_product_attention(query, key, value)
    for i in range(len(query)):
        alone = scaled_dot_product_attention(query[i : i + 1], key, value)
        np.testing.assert_allclose(output[i : i + 1], alone, atol=1e-12)


@given(problems(), st.data())
def test_moving_all_keys_alike_changes_nothing(problem, data):
    query, key, _ = problem
    move = data.draw(arrays(key.shape[-1:], 5))
    np.testing.assert_allclose(
        attention_weights(query, key + move), attention_weights(query, key), atol=1e-11
    )


@given(problems())
def test_output_is_linear_in_the_values(problem):
    query, key, value = problem
    np.testing.assert_allclose(
        scaled_dot_product_attention(query, key, 3 * value + 2),
        3 * scaled_dot_product_attention(query, key, value) + 2,
        atol=1e-12,
    )


# Steps


def test_the_steps_compose_to_the_whole(rng):
    query, key, value = inputs(rng, HEADS)
    mask = some_mask(rng)
    scaled = scaled_scores(attention_scores(query, key), D_K)
    weights = softmax(masked_scores(scaled, mask, True))
    np.testing.assert_array_equal(weights, attention_weights(query, key, mask=mask, is_causal=True))
    np.testing.assert_array_equal(
        weights @ value,
        scaled_dot_product_attention(query, key, value, mask=mask, is_causal=True),
    )
