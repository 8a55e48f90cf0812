"""The one rule for what numbers are computed in, in every function that takes arrays."""

import numpy as np
import pytest
from helpers import D_K, D_MODEL, D_OUT, D_V, HEADS, KEYS, QUERIES, inputs, raises

from mha import (
    MultiHeadWeights,
    attention_scores,
    attention_weights,
    blockwise_attention,
    entropy,
    feed_forward,
    merge_heads,
    multi_head_attention,
    multi_head_attention_backward,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
    softmax,
    softmax_backward,
    softmax_jacobian,
    split_heads,
    total_variation,
)
from mha.core import checks

LIMIT = 2**53
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
ONE = {
    "scores": softmax,
    "weights": entropy,
    "first": lambda x: total_variation(x, x),
    "d_weights": lambda x: softmax_backward(x, x),
    "query": lambda x: attention_scores(x, np.ones((1, 2))),
    "key": lambda x: attention_weights(np.ones((1, 2)), x),
    "value": lambda x: scaled_dot_product_attention(np.ones((1, 2)), np.ones((1, 2)), x),
    "x": lambda x: split_heads(x, 2),
    "w_in": lambda x: feed_forward(np.ones((1, 1)), x, None, np.ones((2, 1)), None),
    "w_q": lambda x: MultiHeadWeights(x[None], x[None], x[None]),
}
"""A function for each argument's name, called with an array of shape (1, 2)."""


def gradients(back):
    return back.query, back.key, back.value


def layer_gradients(back):
    w = back.weights
    return back.x, back.context, w.w_q, w.w_k, w.w_v, w.w_o


# Integers


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_an_integer_that_float64_may_not_hold_is_refused(name, dtype):
    with raises(
        ValueError,
        f"{name} holds {LIMIT + 1} at index {(0, 0, 1) if name == 'w_q' else (0, 1)};"
        " integers up to 2**53 in size are wanted",
    ):
        ONE[name](np.array([[0, LIMIT + 1]], dtype))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_up_to_there_are_exact(dtype):
    given = np.array([0, 1, LIMIT - 1, LIMIT], dtype)
    array = checks.as_array("x", given)
    assert array.dtype == DOUBLE
    assert [int(x) for x in array] == given.tolist()
    if dtype == np.int64:
        assert [int(x) for x in checks.as_array("x", -given)] == (-given).tolist()


# What float64 cannot hold


@pytest.mark.parametrize("name", ONE)
def test_longdouble_is_refused(name):
    dtype = np.dtype(np.longdouble)
    if dtype == DOUBLE:  # some machines have no other: then it is float64 under a second name
        assert ONE[name](np.array([[0.0, 1.0]], dtype)) is not None
        return
    with raises(TypeError, f"{name} has dtype {dtype}; float32, float64 or integers are wanted"):
        ONE[name](np.array([[0.0, 1.0]], dtype))


# Several arrays


@pytest.mark.parametrize("wide", range(4))
def test_one_float64_widens_every_step_of_attention(rng, wide):
    query, key, value = (x.astype(SINGLE) for x in inputs(rng))
    d_output = rng.normal(size=(QUERIES, D_V)).astype(SINGLE)
    single = [query, key, value, d_output]
    mixed = [x.astype(DOUBLE) if i == wide else x for i, x in enumerate(single)]
    double = [x.astype(DOUBLE) for x in single]
    # Equal to the last bit: nothing was computed in float32 on the way.
    for got, want in zip(
        gradients(scaled_dot_product_attention_backward(mixed[3], *mixed[:3], scale=0.1)),
        gradients(scaled_dot_product_attention_backward(double[3], *double[:3], scale=0.1)),
        strict=True,
    ):
        assert got.dtype == DOUBLE
        np.testing.assert_array_equal(got, want)
    if wide < 3:
        for function in (scaled_dot_product_attention, blockwise_attention):
            output = function(*mixed[:3], scale=0.1)
            assert output.dtype == DOUBLE
            np.testing.assert_array_equal(output, function(*double[:3], scale=0.1))


@pytest.mark.parametrize("wide", ["x", "context", "w_q", "w_k", "w_v", "w_o", "d_output"])
def test_one_float64_widens_every_step_of_a_layer(rng, wide):
    shapes = {
        "w_q": (HEADS, D_MODEL, D_K),
        "w_k": (HEADS, D_MODEL, D_K),
        "w_v": (HEADS, D_MODEL, D_V),
        "w_o": (HEADS * D_V, D_OUT),
        "x": (QUERIES, D_MODEL),
        "context": (KEYS, D_MODEL),
        "d_output": (QUERIES, D_OUT),
    }
    single = {name: (rng.normal(size=s) / 4).astype(SINGLE) for name, s in shapes.items()}

    def run(dtypes):
        parts = {name: x.astype(dtypes.get(name, SINGLE)) for name, x in single.items()}
        x, context, d_output = (parts.pop(name) for name in ("x", "context", "d_output"))
        weights = MultiHeadWeights(**parts)
        back = multi_head_attention_backward(d_output, x, weights, context=context)
        return multi_head_attention(x, weights, context=context), *layer_gradients(back)

    mixed, double = run({wide: DOUBLE}), run(dict.fromkeys(single, DOUBLE))
    first = 1 if wide == "d_output" else 0  # the forward pass does not see that one
    for got, want in zip(mixed[first:], double[first:], strict=True):
        assert got.dtype == DOUBLE
        np.testing.assert_array_equal(got, want)
    assert all(x.dtype == SINGLE for x in run({}))


def test_float16_is_computed_in_float32(rng):
    half = [x.astype(np.float16) for x in inputs(rng, HEADS)]
    single = [x.astype(SINGLE) for x in half]
    d_output = np.ones((HEADS, QUERIES, D_V), np.float16)
    results = [
        (
            scaled_dot_product_attention(*arrays),
            blockwise_attention(*arrays),
            *gradients(scaled_dot_product_attention_backward(d_output, *arrays)),
            softmax(arrays[0]),
            softmax_jacobian(arrays[0]),
            merge_heads(arrays[0]),
        )
        for arrays in (half, single)
    ]
    for got, want in zip(*results, strict=True):
        assert got.dtype == SINGLE
        np.testing.assert_array_equal(got, want)
