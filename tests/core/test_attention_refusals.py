"""Attention's extreme numbers and refusals."""

import numpy as np
import pytest
from helpers import D_V, KEYS, QUERIES, arrays, inputs, raises
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha import (
    attention_scores,
    attention_weights,
    blockwise_attention,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)

# Extremes


@given(
    hnp.arrays(np.float64, (3, 1), elements=st.sampled_from([-1e300, -1.0, 0.0, 1.0, 1e300])),
    arrays((5, 1), 1.0),
    arrays((5, 2), 1e300),
)
def test_scores_up_to_1e300(query, key, value):
    weights = attention_weights(query, key)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-14)
    output = scaled_dot_product_attention(query, key, value)
    slack = np.abs(value).max(axis=0) * 1e-14
    assert (output >= value.min(axis=0) - slack).all()
    assert (output <= value.max(axis=0) + slack).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_product_of_query_and_key_that_overflows_is_refused(dtype):
    huge = np.full((2, 3), np.finfo(dtype).max)
    name = np.dtype(dtype).name
    sentence = f"query and key overflow {name} when multiplied; smaller numbers are wanted"
    for function, num in ((attention_scores, 2), (attention_weights, 2), (blockwise_attention, 3)):
        with raises(ValueError, sentence):
            function(*[huge] * num)


@pytest.mark.parametrize("function", [scaled_dot_product_attention, blockwise_attention])
@pytest.mark.parametrize("num_keys", [1, 2, 3, 7, 49, 101])
def test_the_largest_values_give_their_mean_or_a_refusal(num_keys, function):
    # Rounding may lift the mean of largest numbers beyond the largest; it must not be infinite.
    largest = np.finfo(np.float64).max
    value = np.full((num_keys, 2), largest)
    refusal = None
    try:
        output = function(np.zeros((3, 5)), np.zeros((num_keys, 5)), value)
    except ValueError as error:
        refusal = str(error)
    if refusal is None:
        np.testing.assert_allclose(output, np.full((3, 2), largest), rtol=1e-14)
    else:
        wanted = "smaller numbers are wanted"
        assert refusal == f"weights and value overflow float64 when multiplied; {wanted}"


def test_a_very_negative_mask_is_not_a_forbidden_key():
    # Adding -1e300 everywhere is a shift: the softmax does not see it.
    weights = attention_weights([[0.0]], [[1.0], [2.0]], mask=[[-1e300, -1e300]])
    np.testing.assert_array_equal(weights, [[0.5, 0.5]])


# Refusals


@pytest.mark.parametrize(
    "function", [attention_weights, scaled_dot_product_attention, blockwise_attention]
)
def test_what_does_not_fit_is_refused(rng, function):
    arrays = inputs(rng)[: 2 if function is attention_weights else 3]
    with raises(ValueError, "query has d_k=11 but key has d_k=10; they must match"):
        function(arrays[0], arrays[1][:, 1:], *arrays[2:])
    nan = np.zeros((QUERIES, KEYS))
    nan[4, 5] = np.nan
    fits = f"one that broadcasts to the scores' {QUERIES, KEYS} is wanted"
    for mask, error, sentence in (
        (np.ones((KEYS, QUERIES), bool), ValueError, f"has shape {KEYS, QUERIES}; {fits}"),
        (np.ones((QUERIES, KEYS), int), TypeError,
         "has dtype int64; booleans (True = may attend) or floats are wanted"),
        (nan, ValueError,
         "holds nan at index (4, 5); finite numbers or minus infinity are wanted"),
    ):  # fmt: skip
        with raises(error, f"mask {sentence}"):
            function(*arrays, mask=mask)
    for scale, error in ((np.inf, ValueError), ("1", TypeError)):
        with raises(error, f"scale is {scale!r}; a finite number or None is wanted"):
            function(*arrays, scale=scale)
    if function is not attention_weights:
        with raises(ValueError, "key has 7 rows but value has 6 rows; they must match"):
            function(*arrays[:2], arrays[2][1:])


def backward(query, key, value, **options):
    d_output = np.ones((*query.shape[:-1], D_V))
    return scaled_dot_product_attention_backward(d_output, query, key, value, **options)


@pytest.mark.parametrize("function", [scaled_dot_product_attention, blockwise_attention, backward])
def test_groups_that_differ_or_do_not_divide_are_refused(rng, function):
    query, key, _ = inputs(rng, 6)
    for groups in (1, 3, 6):
        with raises(ValueError, f"key has 2 heads but value has {groups} heads; they must match"):
            function(query, key[:2], inputs(rng, groups)[2], enable_gqa=True)
    with raises(ValueError, "key has 4 heads; a divisor of query's 6 heads is wanted"):
        function(query, *inputs(rng, 4)[1:], enable_gqa=True)
