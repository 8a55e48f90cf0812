"""Weights and outputs: loops without NumPy, axes that broadcast, and refusals."""

import numpy as np
import pytest
from helpers import (
    BATCH,
    D_V,
    HEADS,
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
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)


@given(st.data())
def test_weights_and_output_against_loops(data):
    n, m, d_k, d_v = (data.draw(st.integers(1, 7)) for _ in range(4))
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    query, key, value = (3 * rng.normal(size=shape) for shape in ((n, d_k), (m, d_k), (m, d_v)))
    mask = data.draw(st.none() | hnp.arrays(bool, (n, m)))
    is_causal, scale = data.draw(st.booleans()), data.draw(st.none() | st.floats(0, 3))
    align = data.draw(st.sampled_from(["top-left", "bottom-right"]))
    options = {"mask": mask, "is_causal": is_causal, "scale": scale, "align": align}
    first = m - n if align == "bottom-right" else 0
    allowed = np.tri(n, m, first if is_causal else m, bool) & (True if mask is None else mask)
    weights = loop_weights(query, key, d_k**-0.5 if scale is None else scale,
                           lambda i, j: allowed[i, j])  # fmt: skip
    close = {"rtol": 1e-11, "atol": 1e-13}
    np.testing.assert_allclose(attention_weights(query, key, **options), weights, **close)
    output = scaled_dot_product_attention(query, key, value, **options)
    np.testing.assert_allclose(output, loop_product(weights, value), **close)


def test_leading_axes_broadcast(rng):
    query, key, value = inputs(rng, BATCH, HEADS)
    output = scaled_dot_product_attention(query[:, :1], key[0], value[0, 0])
    for b, h in np.ndindex(BATCH, HEADS):
        alone = scaled_dot_product_attention(query[b, 0], key[0, h], value[0, 0])
        np.testing.assert_allclose(output[b, h], alone, rtol=1e-13, atol=1e-15)


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


def test_a_product_of_query_and_key_that_overflows_is_refused():
    huge = np.full((2, 3), np.finfo(np.float32).max)
    sentence = "query and key overflow float32 when multiplied; smaller numbers are wanted"
    for function, num in ((attention_scores, 2), (attention_weights, 2), (blockwise_attention, 3)):
        with raises(ValueError, sentence):
            function(*[huge] * num)


@pytest.mark.parametrize("function", [scaled_dot_product_attention, blockwise_attention])
@pytest.mark.parametrize("num_keys", [1, 3, 49])
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
def test_widths_and_rows_that_differ_are_refused(rng, function):
    query, key, *value = inputs(rng)[: 2 if function is attention_weights else 3]
    with raises(ValueError, "query has d_k=11 but key has d_k=10; they must match"):
        function(query, key[:, 1:], *value)
    for x in value:
        with raises(ValueError, "key has 7 rows but value has 6 rows; they must match"):
            function(query, key, x[1:])


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
