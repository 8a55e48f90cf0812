"""Every gradient against central differences of what it is the gradient of.

Texts of a batch share the arrays: their gradients by these add up, as the differences do.
"""

from dataclasses import fields, replace

import numpy as np
import pytest
from helpers import HEADS, central_differences, random_layer

from mha import (
    Block,
    FeedForward,
    MultiHeadWeights,
    Norm,
    multi_head_attention,
    multi_head_attention_backward,
    rotary_angles,
    softmax,
    transformer,
)
from mha.core.language import draw_model
from mha.core.language_training import model_gradients, word_losses
from mha.core.learning import answer_scores, cross_entropy, draw_layer, layer_gradients
from mha.core.patterns import _gradients
from mha.core.transformer_gradients import transformer_backward

# Smaller than elsewhere, and still distinct: each entry costs two forward passes.
N, M, D_K, D_V, D_MODEL, D_OUT, D_FF = 3, 5, 2, 7, 5, 3, 2
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
        ({"biases": True}, (), False, {"is_causal": True}),
        ({"biases": True, "w_o": False}, (2, 1), True, {"mask": MASK}),
        ({"biases": True, "groups": 1}, (), True, {}),
        ({}, (), False, {"mask": MASK[:, :N], "is_causal": True}),
        ({"groups": 1}, (2,), False, {"is_causal": True}),
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
        layer = MultiHeadWeights(**matrices)
        return (multi_head_attention(x, layer, context=context, **options) * d_output).sum()

    back = multi_head_attention_backward(d_output, weights=weights, **inputs, **options)
    found = {name: getattr(back, name) for name in inputs}
    assert cross or back.context is None
    close(found | back.weights.arrays, loss, inputs | weights.arrays)


# Blocks


def drawn_block(rng, norm, activation, *, biased):
    """Draw a block with every row that it may have, or with one of each pair."""
    layer = random_layer(rng, 2, d_model=D_MODEL, d_k=2, d_v=1, d_out=D_MODEL)
    w_in, w_out = rng.normal(size=(D_MODEL, D_FF)), rng.normal(size=(D_FF, D_MODEL))
    gain, bias, b_out = rng.normal(size=(3, D_MODEL))
    if not biased:
        feed = FeedForward(w_in, None, w_out, b_out, activation)
        return Block(layer, feed, norm, Norm(gain), Norm(bias=bias))
    feed = FeedForward(w_in, rng.normal(size=D_FF), w_out, b_out, activation)
    return Block(layer, feed, norm, Norm(gain, bias), Norm(bias, gain))


def arrays_of(blocks):
    """Return every array of some blocks, by the way to it."""
    return {
        f"{i} {part} {field.name}": array
        for i, block in enumerate(blocks)
        for part in ("attention", "feed_forward", "first", "second")
        for field in fields(getattr(block, part))
        if isinstance(array := getattr(getattr(block, part), field.name), np.ndarray)
    }


def with_arrays(blocks, arrays):
    """Return the blocks with other arrays."""
    blocks = list(blocks)
    for way, array in arrays.items():
        i, part, name = way.split()
        changed = replace(getattr(blocks[int(i)], part), **{name: array})
        blocks[int(i)] = replace(blocks[int(i)], **{part: changed})
    return blocks


@pytest.mark.parametrize(
    ("norm", "leading", "options"),
    [
        ("before", (), {"angles": rotary_angles(np.arange(N), 2)}),
        ("after", (), {"is_causal": True}),
        ("nowhere", (), {"mask": np.linspace(-1, 1, N * N).reshape(N, N)}),
        ("before", (2,), {}),
        ("after", (2,), {}),
    ],
)
def test_of_blocks_by_the_stream_and_their_arrays(rng, norm, leading, options):
    blocks = [
        drawn_block(rng, norm, "gelu", biased=True),
        drawn_block(rng, norm, "relu", biased=False),
    ]
    x, d_output = rng.normal(size=(2, *leading, N, D_MODEL))

    def loss(x, of=blocks, **arrays):
        return (transformer(x, with_arrays(of, arrays), **options) * d_output).sum()

    found = transformer_backward(d_output, x, blocks, **options)
    slack = {"rtol": 1e-5, "atol": 1e-7}
    gradients = {"x": found.streams[0]} | arrays_of(found.blocks)
    close(gradients, loss, {"x": x} | arrays_of(blocks), **slack)
    between = {"x": transformer(x, blocks[:1], **options)}
    close({"x": found.streams[1]}, lambda x: loss(x, blocks[1:]), between, **slack)
    assert found.streams[2] is not d_output
    np.testing.assert_array_equal(found.streams[2], d_output)


@pytest.mark.parametrize("norm", ["before", "after"])
def test_of_blocks_in_single_precision(norm, rng):
    block = Block(MultiHeadWeights(*np.ones((3, 1, 2, 2), np.float32)), norm=norm)
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
    narrow = MultiHeadWeights(**{name: array.astype(dtype) for name, array in arrays.items()})
    loss, gradients = layer_gradients(narrow, x.astype(dtype), answers)
    assert {array.dtype for array in (d_scores, *gradients)} == {np.dtype(dtype)}

    def exact(**arrays):
        return cross_entropy(answer_scores(x, MultiHeadWeights(**arrays), 2), answers)[0]

    assert loss == pytest.approx(exact(**arrays), rel=1e-5)
    close(dict(zip(arrays, gradients, strict=True)), exact, arrays, atol=near)


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_of_patterns_by_embeddings_and_projections(rng, decay):
    shapes = {"w_q": (1, 2, 3, 7), "w_k": (1, 2, 3, 7), "x": (1, 1, 5, 3)}
    parts = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    target = softmax(rng.normal(size=(2, 5, 5)))

    def loss(x, w_q, w_k):
        scaled = (x @ w_q) @ (x @ w_k).mT / np.sqrt(7)
        divergence = (target * np.log(target / softmax(scaled))).sum()
        return divergence + decay / 2 * (scaled**2).sum()

    found = _gradients(**parts, target=target, decay=decay)
    close(dict(zip(parts, found, strict=True)), loss, parts, atol=1e-7)
