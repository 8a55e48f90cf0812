"""The one rule for what numbers are computed in, in every function that takes arrays."""

import numpy as np
import pytest

import mha
from mha.core.checks import as_array


@pytest.mark.parametrize(
    ("given", "computed"),
    [
        *((dtype, np.float32) for dtype in ("f2", "f4", ">f2", ">f4")),
        *((dtype, np.float64) for dtype in ("f8", ">f8", "i1", "u8", "?")),
    ],
)
def test_each_dtype(given, computed):
    array = as_array("query", np.ones((2, 3), given))
    assert array.dtype == computed
    assert array.dtype.isnative
    assert (array == 1).all()
    assert as_array("query", [2**53, -(2**53)]).tolist() == [2**53, -(2**53)]


def attention(query, key, value, d_output):
    """Return what the functions of attention give, and all gradients."""
    arrays = query, key, value
    back = mha.scaled_dot_product_attention_backward(d_output, *arrays)
    outputs = [mha.scaled_dot_product_attention(*arrays), mha.blockwise_attention(*arrays)]
    return outputs, [back.query, back.key, back.value]


def layer(x, context, d_output, **arrays):
    """Return what a layer gives, and all gradients."""
    weights = mha.MultiHeadWeights(**arrays)
    back = mha.multi_head_attention_backward(d_output, x, weights, context=context)
    gradients = [back.x, back.context, *back.weights.arrays.values()]
    return [mha.multi_head_attention(x, weights, context=context)], gradients


SHAPES = {
    attention: {"query": (5, 3), "key": (7, 3), "value": (7, 2), "d_output": (5, 2)},
    layer: {
        **{"x": (5, 6), "context": (7, 6), "d_output": (5, 11)},
        **{"w_q": (3, 6, 2), "w_k": (3, 6, 2), "w_v": (3, 6, 4), "w_o": (12, 11)},
        **{"b_q": (3, 2), "b_k": (3, 2), "b_v": (3, 4), "b_o": (11,)},
    },
}


def drawn(rng, function):
    """Return arrays of float32 for a function."""
    return {name: rng.normal(size=n).astype(np.float32) for name, n in SHAPES[function].items()}


def same(found, wanted, dtype):
    """Hold results against others to the last bit: nothing was computed in less on the way."""
    for got, want in zip(found, wanted, strict=True):
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("function", SHAPES)
def test_one_float64_widens_every_step(rng, function):
    single = drawn(rng, function)
    double = {name: array.astype(float) for name, array in single.items()}
    outputs, gradients = function(**double)
    for name in single:
        found = function(**single | {name: double[name]})
        same(found[1], gradients, np.float64)
        if name != "d_output":  # the forward pass does not see that one
            same(found[0], outputs, np.float64)


@pytest.mark.parametrize("function", SHAPES)
def test_float16_is_computed_in_float32(rng, function):
    half = {name: array.astype(np.float16) for name, array in drawn(rng, function).items()}
    single = {name: array.astype(np.float32) for name, array in half.items()}
    for found, wanted in zip(function(**half), function(**single), strict=True):
        same(found, wanted, np.float32)
