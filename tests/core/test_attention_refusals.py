"""Attention's dtypes, extreme numbers and refusals."""

import numpy as np
import pytest
from helpers import (
    HEADS,
    KEYS,
    QUERIES,
    arrays,
    inputs,
    raises,
    some_mask,
)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha import (
    attention_scores,
    attention_weights,
    blockwise_attention,
    scaled_dot_product_attention,
)

DTYPES = [
    (np.float16, np.float32),
    (np.float32, np.float32),
    (np.float64, np.float64),
    (int, np.float64),
]


# Types


@pytest.mark.parametrize(("given_dtype", "dtype"), DTYPES)
def test_dtypes(rng, given_dtype, dtype):
    query, key, value = inputs(rng, HEADS, dtype=given_dtype)
    for options in (
        {},
        {"mask": np.zeros((QUERIES, KEYS))},
        {"mask": some_mask(rng), "is_causal": True, "scale": 0.3},
        {"enable_gqa": True},
    ):
        assert attention_weights(query, key, **options).dtype == dtype
        assert scaled_dot_product_attention(query, key, value, **options).dtype == dtype
    assert attention_scores(query, key).dtype == dtype


def test_one_float64_argument_makes_the_output_float64(rng):
    single = inputs(rng, dtype=np.float32)
    for i in range(3):
        arguments = [x.astype(np.float64) if i == j else x for j, x in enumerate(single)]
        assert scaled_dot_product_attention(*arguments).dtype == np.float64


def test_float32_agrees_with_float64(rng):
    arguments = inputs(rng, HEADS)
    single = scaled_dot_product_attention(*(x.astype(np.float32) for x in arguments))
    np.testing.assert_allclose(
        single, scaled_dot_product_attention(*arguments), rtol=1e-4, atol=1e-6
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
    for function in (attention_scores, attention_weights):
        with raises(ValueError, sentence):
            function(huge, huge)


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


@pytest.mark.parametrize(
    ("dtype", "scale"), [(np.float32, 1e300), (np.float32, 3e38), (np.float64, -1e308)]
)
def test_a_scale_that_overflows_is_refused(dtype, scale):
    key = np.array([[0.0, 7.0], [11.0, 13.0]], dtype)
    with raises(ValueError, f"scale is {scale}; one that leaves the scores finite is wanted"):
        attention_weights(np.eye(2, dtype=dtype), key, scale=scale)


def test_a_mask_that_overflows_is_refused():
    largest = float(np.finfo(np.float64).max)
    wanted = "one that leaves the scores finite is wanted"
    with raises(ValueError, f"mask holds {largest} at index (0, 1); {wanted}"):
        attention_weights([[1.0]], [[1.0], [1e300]], mask=[[0.0, largest]], scale=1)
    with raises(ValueError, f"mask holds {-largest} at index (0, 0); {wanted}"):
        attention_weights([[-1e300]], [[1.0], [1.0]], mask=[[-largest]], scale=1)


def test_a_very_negative_mask_is_not_a_forbidden_key():
    # Adding -1e300 everywhere is a shift: the softmax does not see it.
    weights = attention_weights([[0.0]], [[1.0], [2.0]], mask=[[-1e300, -1e300]])
    np.testing.assert_array_equal(weights, [[0.5, 0.5]])


# Refusals


FUNCTIONS = {
    "query": lambda x, rest: attention_scores(x, rest),
    "key": lambda x, rest: attention_scores(rest, x),
    "value": lambda x, rest: scaled_dot_product_attention(rest, rest, x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("bad", "error", "sentence"),
    [
        ([[1.0, np.nan]], ValueError, "holds nan at index (0, 1); finite numbers are wanted"),
        ([[np.inf, 1.0]], ValueError, "holds inf at index (0, 0); finite numbers are wanted"),
        ([[-np.inf, 1.0]], ValueError, "holds -inf at index (0, 0); finite numbers are wanted"),
        ([1.0, 2.0], ValueError, "has shape (2,); at least 2 axes are wanted"),
        (3.0, ValueError, "has shape (); at least 2 axes are wanted"),
        (np.ones((0, 2)), ValueError, "has shape (0, 2); no axis may be empty"),
        (np.ones((2, 0)), ValueError, "has shape (2, 0); no axis may be empty"),
        ([[1.0], [1.0, 2.0]], ValueError, "is ragged; rows of one length are wanted"),
        ([["a"]], TypeError, "has dtype <U1; float32, float64 or integers are wanted"),
        ([[1j]], TypeError, "has dtype complex128; float32, float64 or integers are wanted"),
    ],
)
def test_a_bad_array_is_refused_by_name(name, bad, error, sentence):
    with raises(error, f"{name} {sentence}"):
        FUNCTIONS[name](bad, np.ones((1, 2)))


def test_a_ragged_key_is_refused_in_every_function():
    for call in (
        lambda key: attention_weights(np.ones((1, 2)), key),
        lambda key: attention_weights(np.ones((1, 1, 2)), key, enable_gqa=True),
        lambda key: scaled_dot_product_attention(np.ones((1, 2)), key, np.ones((2, 3))),
    ):
        with raises(ValueError, "key is ragged; rows of one length are wanted"):
            call([[1.0], [1.0, 2.0]])


def test_widths_that_differ_are_refused(rng):
    query, key, value = inputs(rng)
    with raises(ValueError, "query has d_k=11 but key has d_k=10; they must match"):
        scaled_dot_product_attention(query, key[:, 1:], value)


def test_rows_that_differ_are_refused(rng):
    query, key, value = inputs(rng)
    with raises(ValueError, "key has 7 rows but value has 6 rows; they must match"):
        scaled_dot_product_attention(query, key, value[1:])


def test_leading_axes_that_do_not_broadcast_are_refused(rng):
    query, key, value = inputs(rng, 5)
    with raises(ValueError, "leading axes are (5,) in query but (2,) in key; they must broadcast"):
        attention_scores(query, key[:2])
    with raises(
        ValueError, "leading axes are (5,) in query and key but (2,) in value; they must broadcast"
    ):
        scaled_dot_product_attention(query, key, value[:2])


@pytest.mark.parametrize("function", [attention_weights, scaled_dot_product_attention])
def test_masks_and_scales_that_do_not_fit_are_refused(rng, function):
    arguments = inputs(rng)[: 2 if function is attention_weights else 3]
    shape = f"one that broadcasts to the scores' {QUERIES, KEYS} is wanted"
    with raises(ValueError, f"mask has shape {KEYS, QUERIES}; {shape}"):
        function(*arguments, mask=np.ones((KEYS, QUERIES), bool))
    with raises(
        TypeError, "mask has dtype int64; booleans (True = may attend) or floats are wanted"
    ):
        function(*arguments, mask=np.ones((QUERIES, KEYS), np.int64))
    with raises(
        ValueError,
        "mask holds nan at index (0, 0); finite numbers or minus infinity are wanted",
    ):
        function(*arguments, mask=np.full((QUERIES, KEYS), np.nan))
    with raises(ValueError, "scale is nan; a finite number or None is wanted"):
        function(*arguments, scale=np.nan)
    with raises(TypeError, "scale is '1'; a finite number or None is wanted"):
        function(*arguments, scale="1")
