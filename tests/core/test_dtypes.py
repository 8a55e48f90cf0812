"""The one rule for what numbers are computed in, in every function that takes arrays."""

import numpy as np
import pytest
from helpers import D_K, D_MODEL, D_OUT, D_V, HEADS, KEYS, QUERIES, inputs

from mha import (
    MultiHeadWeights,
    blockwise_attention,
    merge_heads,
    multi_head_attention,
    multi_head_attention_backward,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
    softmax,
    softmax_jacobian,
)

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


def gradients(back):
    return back.query, back.key, back.value


def layer_gradients(back):
    w = back.weights
    return back.x, back.context, w.w_q, w.w_k, w.w_v, w.w_o


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


@pytest.mark.parametrize("wide", ["x", "context", "w_q", "w_v", "w_o", "b_q", "b_o", "d_output"])
def test_one_float64_widens_every_step_of_a_layer(rng, wide):
    shapes = {
        "w_q": (HEADS, D_MODEL, D_K),
        "w_k": (HEADS, D_MODEL, D_K),
        "w_v": (HEADS, D_MODEL, D_V),
        "w_o": (HEADS * D_V, D_OUT),
        "b_q": (HEADS, D_K),
        "b_o": (D_OUT,),
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
