"""Every gradient against central differences of what it is the gradient of.

Texts of a batch share the arrays: their gradients by these add up, as the differences do.
"""

import numpy as np
import pytest
from helpers import HEADS, central_differences, random_layer

import mha
from mha.core.language import draw_model
from mha.core.language_training import model_gradients, word_losses
from mha.core.learning import answer_scores, cross_entropy, draw_layer, layer_gradients
from mha.core.patterns import _gradients
from mha.core.transformer_gradients import transformer_backward

# Smaller than elsewhere, and still distinct: each entry costs two forward passes.
N, M, D_K, D_V, D_MODEL, D_OUT = 3, 5, 2, 7, 5, 3
MASK = np.array([[False] * M, [True, False, True, False, True], [True] * M])
SIZES = {"d_model": D_MODEL, "d_k": D_K, "d_v": D_V}


def close(gradients, loss, arrays, rtol=1e-6, atol=1e-8):
    """Hold the gradient by each array against the differences that its numbers make."""
    assert gradients.keys() == arrays.keys()
    for name, array in arrays.items():
        assert gradients[name].shape == array.shape
        slope = central_differences(
            lambda changed, name=name: loss(**arrays | {name: changed}), np.array(array)
        )
        np.testing.assert_allclose(gradients[name], slope, rtol=rtol, atol=atol, err_msg=name)


@pytest.mark.parametrize(
    ("layer", "leading", "cross", "options"),
    [
        ({"w_o": False}, (2,), False, {}),
        ({"biases": True, "w_o": False}, (2, 1), True, {"mask": MASK}),
        ({"biases": True, "groups": 1}, (), True, {}),
        ({}, (), False, {"mask": MASK[:, :N], "is_causal": True}),
        ({}, (), True, {"mask": np.linspace(-1, 1, N * M).reshape(N, M)}),
    ],
)
def test_of_a_layer_by_its_inputs_and_arrays(rng, layer, leading, cross, options):
    weights = random_layer(rng, HEADS, **layer, **SIZES, d_out=D_OUT)
    inputs = {"x": rng.normal(size=(*leading, N, D_MODEL))}
    if cross:
        inputs["context"] = rng.normal(size=(*leading, M, D_MODEL))
    d_output = rng.normal(size=(*leading, N, HEADS * D_V if weights.w_o is None else D_OUT))

    def loss(x, context=None, **matrices):
        layer = mha.MultiHeadWeights(**matrices)
        return (mha.multi_head_attention(x, layer, context=context, **options) * d_output).sum()

    back = mha.multi_head_attention_backward(d_output, weights=weights, **inputs, **options)
    found = {name: getattr(back, name) for name in inputs}
    assert cross or back.context is None
    close(found | back.weights.arrays, loss, inputs | weights.arrays)


def test_of_attention_alone_by_queries_keys_and_values(rng):
    options = {"mask": MASK, "is_causal": True, "align": "bottom-right", "scale": 0.7}
    options["enable_gqa"] = True
    shapes = {"query": (2, 4, N, D_K), "key": (2, 2, M, D_K), "value": (2, 2, M, D_V)}
    arrays = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    d_output = rng.normal(size=(2, 4, N, D_V))

    def loss(**arrays):
        return (mha.scaled_dot_product_attention(**arrays, **options) * d_output).sum()

    back = mha.scaled_dot_product_attention_backward(d_output, **arrays, **options)
    close({name: getattr(back, name) for name in arrays}, loss, arrays)


# Blocks

BLOCK = {
    **{"w_q": (2, 5, 2), "w_k": (2, 5, 2), "w_v": (2, 5, 1), "w_o": (2, 5)},
    **{"w_in": (5, 2), "b_in": 2, "w_out": (2, 5), "b_out": 5},
    **{"gain": 5, "bias": 5, "second_gain": 5, "second_bias": 5},
}
"""The arrays of a block, and their shapes."""


def block_of(norm, activation, arrays):
    """Return the block that has these arrays, and of the others none."""
    w_q, w_k, w_v, w_o, *feed = (arrays.get(name) for name in list(BLOCK)[:8])
    first = mha.Norm(arrays.get("gain"), arrays.get("bias"))
    second = mha.Norm(arrays.get("second_gain"), arrays.get("second_bias"))
    layer = mha.MultiHeadWeights(w_q, w_k, w_v, w_o)
    return mha.Block(layer, mha.FeedForward(*feed, activation), norm, first, second)


def arrays_of(block):
    """Return the arrays of a block by name."""
    feed, first, second = block.feed_forward, block.first, block.second
    named = block.attention.arrays | {name: getattr(feed, name) for name in list(BLOCK)[4:8]}
    named |= {"gain": first.gain, "bias": first.bias}
    named |= {"second_gain": second.gain, "second_bias": second.bias}
    return {name: array for name, array in named.items() if array is not None}


@pytest.mark.parametrize(
    ("norm", "leading", "options"),
    [
        ("before", (), {"angles": mha.rotary_angles(np.arange(N), 2)}),
        ("after", (), {"is_causal": True}),
        ("nowhere", (), {"mask": np.linspace(-1, 1, N * N).reshape(N, N)}),
        ("before", (2,), {}),
        ("after", (2,), {}),
    ],
)
def test_of_blocks_by_the_stream_and_their_arrays(rng, norm, leading, options):
    whole = {name: rng.normal(size=shape) for name, shape in BLOCK.items()}
    some = {name: rng.normal(size=BLOCK[name]) for name in BLOCK}
    for left_out in ("b_in", "bias", "second_gain"):
        del some[left_out]
    x, d_output = rng.normal(size=(2, *leading, N, D_MODEL))

    def blocks_of(first, second):
        return [block_of(norm, "gelu", first), block_of(norm, "relu", second)]

    def loss(x, first, second):
        return (mha.transformer(x, blocks_of(first, second), **options) * d_output).sum()

    found = transformer_backward(d_output, x, blocks_of(whole, some), **options)
    slack = {"rtol": 1e-5, "atol": 1e-7}
    close({"x": found.streams[0]}, lambda x: loss(x, whole, some), {"x": x}, **slack)
    close(arrays_of(found.blocks[0]), lambda **first: loss(x, first, some), whole, **slack)
    close(arrays_of(found.blocks[1]), lambda **second: loss(x, whole, second), some, **slack)
    second = block_of(norm, "relu", some)
    between = {"x": mha.transformer(x, [block_of(norm, "gelu", whole)], **options)}
    alone = transformer_backward(d_output, between["x"], [second], **options)
    np.testing.assert_allclose(found.streams[1], alone.streams[0], rtol=1e-9)
    assert found.streams[2] is not d_output
    np.testing.assert_array_equal(found.streams[2], d_output)


@pytest.mark.parametrize("norm", ["before", "after"])
def test_of_blocks_in_single_precision(norm, rng):
    block = mha.Block(mha.MultiHeadWeights(*np.ones((3, 1, 2, 2), np.float32)), norm=norm)
    x = rng.normal(size=(N, 2)).astype(np.float32)
    assert {x.dtype for x in transformer_backward(x, x, [block]).streams} == {np.dtype(np.float32)}


def test_of_a_model_that_writes(rng):
    model = draw_model(rng, list("abc"), 4, num_blocks=2, num_heads=2, base=50.0)
    texts = rng.integers(3, size=(3, 7))
    loss, gradients = model_gradients(model, texts)
    assert loss == pytest.approx(word_losses(model, texts).mean(), rel=1e-12)
    close(
        gradients,
        lambda **arrays: word_losses(model.with_arrays(arrays), texts).mean(),
        model.arrays,
    )


# Answers, and patterns


@pytest.mark.parametrize(("dtype", "near"), [(np.float32, 2e-5), (np.float64, 1e-8)])
def test_of_answers_by_scores_and_by_a_layer(rng, dtype, near):
    x, answers = rng.normal(size=(2, N, D_MODEL)), rng.integers(-1, 3, size=(2, N, 2))
    scores = rng.normal(size=(*answers.shape, 3))
    _, d_scores = cross_entropy(scores.astype(dtype), answers)
    close({"scores": d_scores}, lambda scores: cross_entropy(scores, answers)[0],
          {"scores": scores}, atol=near)  # fmt: skip
    arrays = draw_layer(rng, D_MODEL, 2, 4, 6).arrays
    narrow = mha.MultiHeadWeights(**{name: array.astype(dtype) for name, array in arrays.items()})
    loss, gradients = layer_gradients(narrow, x.astype(dtype), answers)
    assert {array.dtype for array in (d_scores, *gradients)} == {np.dtype(dtype)}

    def exact(**arrays):
        return cross_entropy(answer_scores(x, mha.MultiHeadWeights(**arrays), 2), answers)[0]

    assert loss == pytest.approx(exact(**arrays), rel=1e-5)
    close(dict(zip(arrays, gradients, strict=True)), exact, arrays, atol=near)


def test_of_patterns_by_embeddings_and_projections(rng):
    shapes = {"w_q": (1, 2, 3, 7), "w_k": (1, 2, 3, 7), "x": (1, 1, 5, 3)}
    parts = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    target = mha.softmax(rng.normal(size=(2, 5, 5)))

    def loss(x, w_q, w_k):
        scaled = (x @ w_q) @ (x @ w_k).mT / np.sqrt(7)
        divergence = (target * np.log(target / mha.softmax(scaled))).sum()
        return divergence + 0.15 * (scaled**2).sum()

    found = _gradients(**parts, target=target, decay=0.3)
    close(dict(zip(parts, found, strict=True)), loss, parts, atol=1e-7)
