"""Every gradient against central differences of the forward pass."""

import numpy as np
import pytest
from helpers import BATCH, HEADS, central_differences, raises, random_layer

from mha import (
    MultiHeadWeights,
    multi_head_attention,
    multi_head_attention_backward,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)

# Smaller than elsewhere, and still distinct: each entry costs two forward passes.
N, M, D_K, D_V, D_MODEL, D_OUT = 3, 5, 2, 7, 5, 3
MASK = np.array([[False] * M, [True, False, True, False, True], [True] * M])
OPTIONS = {
    "plain": {},
    "scaled": {"scale": 0.3},
    "causal": {"is_causal": True},
    "masked": {"mask": MASK},
    "masked and causal": {"mask": MASK, "is_causal": True},
    "biased": {"mask": np.linspace(-1, 1, N * M).reshape(N, M)},
}


def small_inputs(rng, *leading):
    shapes = (N, D_K), (M, D_K), (M, D_V)
    return [rng.normal(size=(*leading, *shape)) for shape in shapes]


def close(gradient, loss, x):
    assert gradient.shape == x.shape
    np.testing.assert_allclose(gradient, central_differences(loss, x), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", OPTIONS)
def test_attention(rng, name):
    arguments, options = small_inputs(rng, HEADS), OPTIONS[name]
    d_output = rng.normal(size=(HEADS, N, D_V))
    gradients = scaled_dot_product_attention_backward(d_output, *arguments, **options)
    for i, part in enumerate(("query", "key", "value")):

        def loss(x, i=i):
            changed = [x if i == j else y for j, y in enumerate(arguments)]
            return (scaled_dot_product_attention(*changed, **options) * d_output).sum()

        close(getattr(gradients, part), loss, arguments[i])


SIZES = {"d_model": D_MODEL, "d_k": D_K, "d_v": D_V, "d_out": D_OUT}


@pytest.mark.parametrize(
    ("biases", "options", "cross", "w_o", "groups"),
    [
        (False, {}, False, False, HEADS),
        (True, {"is_causal": True}, False, True, HEADS),
        (True, {"mask": MASK[:, :N]}, True, False, HEADS),
        (True, {}, True, True, 1),
        (False, {"mask": MASK[:, :N], "is_causal": True}, False, True, HEADS),
        (False, {"is_causal": True}, False, True, 1),
    ],
)
def test_multi_head(rng, biases, options, cross, w_o, groups):
    x = rng.normal(size=(N, D_MODEL))
    weights = random_layer(rng, HEADS, groups, w_o=w_o, biases=biases, **SIZES)
    context = rng.normal(size=(M, D_MODEL)) if cross else None
    if "mask" in options:
        options = options | {"mask": MASK if cross else MASK[:, :N]}
    d_output = rng.normal(size=(N, D_OUT if w_o else HEADS * D_V))

    def loss(**changed):
        matrices = weights.arrays
        matrices |= {name: changed.pop(name) for name in matrices if name in changed}
        arguments = {"x": x, "context": context} | options | changed
        return (
            multi_head_attention(weights=MultiHeadWeights(**matrices), **arguments) * d_output
        ).sum()

    back = multi_head_attention_backward(d_output, x, weights, context=context, **options)
    close(back.x, lambda v: loss(x=v), x)
    if cross:
        close(back.context, lambda v: loss(context=v), context)
    else:
        assert back.context is None
    assert set(back.weights.arrays) == set(weights.arrays)
    for name, array in weights.arrays.items():
        close(getattr(back.weights, name), lambda v, name=name: loss(**{name: v}), np.array(array))


def test_a_gradient_that_overflows_is_refused(rng):
    query, key, value = small_inputs(rng)
    with raises(
        ValueError,
        "d_output and value overflow float64 when multiplied; smaller numbers are wanted",
    ):
        scaled_dot_product_attention_backward(np.full((N, D_V), 1e308), query, key, 1e3 * value)


@pytest.mark.parametrize(
    ("leading", "cross", "w_o", "dtype"),
    [((BATCH,), False, False, np.float32), ((BATCH, HEADS), True, True, np.float64)],
)
def test_a_batch_is_its_sequences_and_the_matrices_gradients_add_up(
    rng, leading, cross, w_o, dtype
):
    def drawn(*shape):
        return (rng.normal(size=shape) / 4).astype(dtype)

    matrices = random_layer(rng, w_o=w_o, **SIZES).arrays.items()
    weights = MultiHeadWeights(**{name: matrix.astype(dtype) for name, matrix in matrices})
    x = drawn(*leading, N, D_MODEL)
    context = drawn(*leading, M, D_MODEL) if cross else None
    d_output = drawn(*leading, N, D_OUT if w_o else HEADS * D_V)
    mask = rng.random((*leading, 1, N, M if cross else N)) < 0.7
    near = 1e-5 if dtype == np.float32 else 1e-13
    back = multi_head_attention_backward(d_output, x, weights, context=context, mask=mask)
    total = dict.fromkeys(("w_q", "w_k", "w_v") + ("w_o",) * w_o, 0.0)
    for place in np.ndindex(leading):
        one = multi_head_attention_backward(
            d_output[place], x[place], weights,
            context=context[place] if cross else None, mask=mask[place],
        )  # fmt: skip
        np.testing.assert_allclose(back.x[place], one.x, atol=near)
        if cross:
            np.testing.assert_allclose(back.context[place], one.context, atol=near)
        total = {name: sum_ + getattr(one.weights, name) for name, sum_ in total.items()}
    for name, wanted in total.items():
        assert getattr(back.weights, name).dtype == dtype
        np.testing.assert_allclose(getattr(back.weights, name), wanted, atol=near)
