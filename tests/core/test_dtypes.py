"""The one rule for what numbers are computed in, in every function that takes arrays."""

import numpy as np
import pytest
from helpers import D_V, HEADS, KEYS, QUERIES, inputs, random_layer

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
from mha.core.checks import as_array

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


@pytest.mark.parametrize(
    ("given", "computed"),
    [
        *((dtype, SINGLE) for dtype in ("f2", "f4", ">f2", ">f4")),
        *((dtype, DOUBLE) for dtype in ("f8", ">f8", "i1", "u8", "?")),
    ],
)
def test_each_dtype(given, computed):
    array = as_array("query", np.ones((2, 3), given))
    assert array.dtype == computed
    assert array.dtype.isnative
    assert (array == 1).all()


def test_integers_are_exact_and_a_longer_float_is_refused():
    for largest, dtype in ((2**53, np.int64), (-(2**53), np.int64), (2**53, np.uint64)):
        assert int(as_array("x", np.array([largest], dtype))[0]) == largest
    longer = np.array([1.0], np.longdouble)
    if (
        longer.dtype == DOUBLE
    ):  # some machines have no other: then it is float64 under a second name
        assert as_array("x", longer).dtype == DOUBLE
        return
    with pytest.raises(
        TypeError, match=f"^x has dtype {longer.dtype}; float32, float64 or integers"
    ):
        as_array("x", longer)


def gradients(query, key, value, d_output):
    back = scaled_dot_product_attention_backward(d_output, query, key, value)
    return back.query, back.key, back.value


def same(found, wanted, dtype):
    """Hold results against others to the last bit: nothing was computed in less on the way."""
    for got, want in zip(found, wanted, strict=True):
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("wide", range(4))
def test_one_float64_widens_every_step_of_attention(rng, wide):
    single = [x.astype(SINGLE) for x in (*inputs(rng), rng.normal(size=(QUERIES, D_V)))]
    double = [x.astype(DOUBLE) for x in single]
    mixed = [double[i] if i == wide else x for i, x in enumerate(single)]
    same(gradients(*mixed), gradients(*double), DOUBLE)
    for function in (scaled_dot_product_attention, blockwise_attention) if wide < 3 else ():
        same([function(*mixed[:3])], [function(*double[:3])], DOUBLE)


def test_one_float64_widens_every_step_of_a_layer(rng):
    layer = random_layer(rng, biases=True)
    single = layer.arrays | {
        "x": rng.normal(size=(QUERIES, layer.d_model)),
        "context": rng.normal(size=(KEYS, layer.d_model)),
        "d_output": rng.normal(size=(QUERIES, layer.w_o.shape[1])),
    }
    single = {name: array.astype(SINGLE) for name, array in single.items()}

    def run(*wide):
        parts = {name: x.astype(DOUBLE if name in wide else SINGLE) for name, x in single.items()}
        x, context, d_output = (parts.pop(name) for name in ("x", "context", "d_output"))
        weights = MultiHeadWeights(**parts)
        back = multi_head_attention_backward(d_output, x, weights, context=context)
        output = multi_head_attention(x, weights, context=context)
        return output, back.x, back.context, *back.weights.arrays.values()

    double = run(*single)
    for name in single:
        first = 1 if name == "d_output" else 0  # the forward pass does not see that one
        same(run(name)[first:], double[first:], DOUBLE)
    assert {array.dtype for array in run()} == {SINGLE}


def test_float16_is_computed_in_float32(rng):
    def results(query, key, value, d_output):
        for function in (scaled_dot_product_attention, blockwise_attention):
            yield function(query, key, value)
        yield from gradients(query, key, value, d_output)
        for function in (softmax, softmax_jacobian, merge_heads):
            yield function(query)

    half = [x.astype(np.float16) for x in inputs(rng, HEADS)]
    half.append(np.ones((HEADS, QUERIES, D_V), np.float16))
    same(results(*half), results(*(x.astype(SINGLE) for x in half)), SINGLE)
