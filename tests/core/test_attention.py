"""Scores, weights and outputs: closed forms, loops without NumPy, invariances and refusals."""

from fractions import Fraction

import numpy as np
import pytest
from helpers import (
    BATCH,
    D_K,
    D_V,
    HEADS,
    KEYS,
    QUERIES,
    arrays,
    inputs,
    loop_product,
    loop_weights,
    raises,
)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha import (
    attention_scores,
    attention_weights,
    blockwise_attention,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
    softmax,
)
from mha.core.attention import masked_scores, repeat_heads, scaled_scores

GROUPS = 2
DTYPES = [
    (np.float16, np.float32),
    (np.float32, np.float32),
    (np.float64, np.float64),
    (int, np.float64),
]


def some_mask(rng, *leading):
    """Return a boolean mask whose first row has no key left, and whose second has one."""
    mask = rng.random((*leading, QUERIES, KEYS)) < 0.5
    mask[..., 0, :] = False
    mask[..., 1, :] = np.arange(KEYS) == 3
    return mask


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


def test_scores_of_whole_numbers_are_exact(rng):
    query, key = rng.integers(-99, 99, (QUERIES, D_K)), rng.integers(-99, 99, (KEYS, D_K))
    exact = [[sum(int(a) * int(b) for a, b in zip(q, k, strict=True)) for k in key] for q in query]
    np.testing.assert_array_equal(attention_scores(query, key), exact)


def test_scores_against_rational_numbers(rng):
    query, key, _ = inputs(rng)
    exact = [
        [float(sum(Fraction(a) * Fraction(b) for a, b in zip(q, k, strict=True))) for k in key]
        for q in query.tolist()
    ]
    np.testing.assert_allclose(attention_scores(query, key), exact, rtol=1e-13, atol=1e-14)


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


@given(problems())
def test_outputs_lie_between_the_smallest_and_the_largest_value(problem):
    output = scaled_dot_product_attention(*problem)
    value = problem[2]
    assert output.shape == (len(problem[0]), value.shape[-1])
    assert (output >= value.min(axis=0) - 1e-13).all()
    assert (output <= value.max(axis=0) + 1e-13).all()


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


def test_the_inputs_are_left_alone(rng):
    arguments = inputs(rng)
    copies = [x.copy() for x in arguments]
    scaled_dot_product_attention(*arguments, mask=some_mask(rng), is_causal=True)
    for x, copy in zip(arguments, copies, strict=True):
        np.testing.assert_array_equal(x, copy)


# Masks


def test_a_fully_masked_row_has_zero_weights_and_zero_output(rng):
    query, key, value = inputs(rng, BATCH, HEADS)
    mask = some_mask(rng, BATCH, HEADS)
    weights = attention_weights(query, key, mask=mask)
    output = scaled_dot_product_attention(query, key, value, mask=mask)
    assert (weights[..., 0, :] == 0).all()
    assert (output[..., 0, :] == 0).all()
    np.testing.assert_array_equal(weights[~mask], 0)
    rows = mask.any(axis=-1)
    np.testing.assert_allclose(weights.sum(axis=-1), rows, rtol=1e-14)
    np.testing.assert_allclose(output[..., 1, :], value[..., 3, :], rtol=1e-15)


def test_a_masked_key_might_as_well_not_be_there(rng):
    query, key, value = inputs(rng)
    kept = np.arange(KEYS) % 2 == 0
    np.testing.assert_allclose(
        scaled_dot_product_attention(query, key, value, mask=kept),
        scaled_dot_product_attention(query, key[kept], value[kept]),
        rtol=1e-13,
    )


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


@pytest.mark.parametrize("groups", [1, GROUPS, 3, 6])
def test_grouped_queries_equal_repeated_heads(rng, groups):
    query, _, _ = inputs(rng, BATCH, 6)
    _, key, value = inputs(rng, BATCH, groups)
    options = {"mask": some_mask(rng), "is_causal": True}
    grouped = scaled_dot_product_attention(query, key, value, enable_gqa=True, **options)
    served_by = [head // (6 // groups) for head in range(6)]
    repeated = scaled_dot_product_attention(
        query, key[:, served_by], value[:, served_by], **options
    )
    np.testing.assert_array_equal(grouped, repeated)
    np.testing.assert_array_equal(
        attention_weights(query, key, enable_gqa=True, **options),
        attention_weights(query, key[:, served_by], **options),
    )


def test_heads_are_not_repeated_unless_asked_for(rng):
    query, _, _ = inputs(rng, 6)
    _, key, value = inputs(rng, GROUPS)
    with raises(ValueError, "leading axes are (6,) in query but (2,) in key; they must broadcast"):
        scaled_dot_product_attention(query, key, value)


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


def test_groups_that_do_not_divide_are_refused(rng):
    query, _, _ = inputs(rng, 6)
    _, key, value = inputs(rng, 4)
    with raises(ValueError, "key has 4 heads; a divisor of query's 6 heads is wanted"):
        scaled_dot_product_attention(query, key, value, enable_gqa=True)
    with raises(ValueError, "value has 4 heads; a divisor of query's 6 heads is wanted"):
        scaled_dot_product_attention(query, key[:2], value, enable_gqa=True)


def test_groups_without_an_axis_of_heads_are_refused(rng):
    query, key, value = inputs(rng)
    with raises(ValueError, f"query has shape {query.shape}; at least 3 axes are wanted"):
        scaled_dot_product_attention(query, key, value, enable_gqa=True)
    with raises(ValueError, f"key has shape {key.shape}; at least 3 axes are wanted"):
        repeat_heads("key", key, query[None])


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


def test_masked_scores_are_minus_infinity_and_the_others_untouched(rng):
    scores, mask = rng.normal(size=(QUERIES, KEYS)), some_mask(rng)
    masked = masked_scores(scores, mask, False)
    assert np.isneginf(masked[~mask]).all()
    np.testing.assert_array_equal(masked[mask], scores[mask])
