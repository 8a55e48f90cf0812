"""Every gradient agrees with central differences.

Texts of a batch share the arrays: their gradients by these add up, as the differences do.
"""

import numpy as np
import pytest
from helpers import HEADS, central_differences, random_layer
from nested import arrays_of, changed_at

import mha
from mha.core.feed_forward import FeedForward
from mha.core.gradients import multi_head_attention_backward, scaled_dot_product_attention_backward
from mha.core.language import draw_model
from mha.core.language_training import model_gradients, word_losses
from mha.core.learning import answer_scores, cross_entropy, draw_layer, layer_gradients
from mha.core.norm import Norm
from mha.core.pattern_fitting import _gradients
from mha.core.softmax import softmax_backward, softmax_jacobian
from mha.core.transformer import Block, transformer
from mha.core.transformer_gradients import transformer_backward

# Small but distinct sizes, because each entry costs two forward passes.
N, M, D_K, D_V, D_MODEL, D_OUT = 3, 5, 2, 7, 5, 3
MASK = np.array([[False] * M, [True, False, True, False, True], [True] * M])
ROWS = {"b_in": 2, **dict.fromkeys(("b_out", "gain", "bias", "second_gain", "second_bias"), 5)}
SIZES = {"d_model": D_MODEL, "d_k": D_K, "d_v": D_V}


def assert_gradients(gradients, loss, value, rtol=1e-6, atol=1e-8):
    """Assert that the gradients by the arrays of a value agree with central differences."""
    pairs = zip(arrays_of(gradients), arrays_of(value), strict=True)
    for index, (gradient, array) in enumerate(pairs):
        slope = central_differences(
            lambda moved, index=index: loss(*changed_at(index, value, lambda _: moved)),
            array.astype(float),
        )
        assert gradient.shape == array.shape
        np.testing.assert_allclose(gradient, slope, rtol=rtol, atol=atol, err_msg=f"of {index}")


# ---- Attention, with its softmax, and layers ----


def test_gradient_of_softmax_by_scores_and_as_a_matrix(rng):
    scores, d_weights = rng.normal(size=(2, 3, 5))
    weights = mha.softmax(scores)
    found = softmax_backward(d_weights, weights)
    assert_gradients([found], lambda scores: (mha.softmax(scores) * d_weights).sum(), [scores])
    by_weight = softmax_backward(np.tile(np.eye(5), (3, 1, 1)), weights[:, None].repeat(5, 1))
    np.testing.assert_allclose(softmax_jacobian(weights), by_weight, atol=1e-13)


def test_gradients_of_attention_by_queries_keys_and_values(rng):
    options = {"mask": MASK, "is_causal": True, "align": "bottom-right", "scale": 0.7}
    options["enable_gqa"] = True
    shapes = (2, 4, N, D_K), (2, 2, M, D_K), (2, 2, M, D_V)
    arrays = [rng.normal(size=shape) for shape in shapes]
    d_output = rng.normal(size=(2, 4, N, D_V))

    def loss(*arrays):
        return (mha.scaled_dot_product_attention(*arrays, **options) * d_output).sum()

    assert_gradients(
        scaled_dot_product_attention_backward(d_output, *arrays, **options), loss, arrays
    )


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
def test_gradients_of_a_layer_by_its_inputs_and_arrays(rng, layer, leading, cross, options):
    weights = random_layer(rng, HEADS, **layer, **SIZES, d_out=D_OUT)
    x = rng.normal(size=(*leading, N, D_MODEL))
    context = rng.normal(size=(*leading, M, D_MODEL)) if cross else None
    d_output = rng.normal(size=(*leading, N, HEADS * D_V if weights.w_o is None else D_OUT))

    def loss(x, context, layer):
        return (mha.multi_head_attention(x, layer, context=context, **options) * d_output).sum()

    found = multi_head_attention_backward(d_output, x, weights, context=context, **options)
    assert_gradients([found.x, found.context, found.weights], loss, [x, context, weights])


# ---- Blocks ----


def drawn_block(rng, norm, activation, *without):
    """Return a block of random numbers, without the rows that are named."""
    row = {name: None if name in without else rng.normal(size=size) for name, size in ROWS.items()}
    w_q, w_k = rng.normal(size=(2, 2, 5, 2))
    return Block(
        mha.MultiHeadWeights(w_q, w_k, rng.normal(size=(2, 5, 1)), rng.normal(size=(2, 5))),
        FeedForward(
            rng.normal(size=(5, 2)), row["b_in"], rng.normal(size=(2, 5)), row["b_out"], activation
        ),
        norm,
        Norm(row["gain"], row["bias"]),
        Norm(row["second_gain"], row["second_bias"]),
    )


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
def test_gradients_of_blocks_by_the_stream_and_their_arrays(rng, norm, leading, options):
    first = drawn_block(rng, norm, "gelu")
    second = drawn_block(rng, norm, "relu", "b_in", "bias", "second_gain")
    x, d_output = rng.normal(size=(2, *leading, N, D_MODEL))

    def loss(x, *blocks):
        return (transformer(x, blocks, **options) * d_output).sum()

    found = transformer_backward(d_output, x, [first, second], **options)
    slack = {"rtol": 1e-5, "atol": 1e-7}
    assert_gradients([found.streams[0], found.blocks], loss, [x, first, second], **slack)
    between = transformer(x, [first], **options)
    alone = transformer_backward(d_output, between, [second], **options)
    np.testing.assert_allclose(found.streams[1], alone.streams[0], rtol=1e-9)
    assert found.streams[2] is not d_output
    np.testing.assert_array_equal(found.streams[2], d_output)


def test_gradients_of_a_language_model(rng):
    model = draw_model(rng, list("abc"), 4, num_blocks=2, num_heads=2, base=50.0)
    texts = rng.integers(3, size=(3, 7))
    loss, gradients = model_gradients(model, texts)
    assert loss == pytest.approx(word_losses(model, texts).mean(), rel=1e-12)
    assert gradients.keys() == model.arrays.keys()

    def of(*arrays):
        moved = model.with_arrays(dict(zip(model.arrays, arrays, strict=True)))
        return word_losses(moved, texts).mean()

    assert_gradients([gradients[name] for name in model.arrays], of, [*model.arrays.values()])


# ---- Answers, and patterns ----


@pytest.mark.parametrize(("dtype", "near"), [(np.float32, 2e-5), (np.float64, 1e-8)])
def test_gradients_of_answers_by_scores_and_by_a_layer(rng, dtype, near):
    x, answers = rng.normal(size=(2, N, D_MODEL)), rng.integers(-1, 3, size=(2, N, 2))
    scores = rng.normal(size=(*answers.shape, 3))
    _, d_scores = cross_entropy(scores.astype(dtype), answers)
    assert_gradients(
        [d_scores], lambda scores: cross_entropy(scores, answers)[0], [scores], atol=near
    )
    arrays = [*draw_layer(rng, D_MODEL, 2, 4, 6).arrays.values()]
    narrow = mha.MultiHeadWeights(*(array.astype(dtype) for array in arrays))
    loss, gradients = layer_gradients(narrow, x.astype(dtype), answers)
    assert {array.dtype for array in (d_scores, *gradients)} == {np.dtype(dtype)}

    def exact(*arrays):
        return cross_entropy(answer_scores(x, mha.MultiHeadWeights(*arrays), 2), answers)[0]

    assert loss == pytest.approx(exact(*arrays), rel=1e-5)
    assert_gradients(gradients, exact, arrays, atol=near)


def test_gradients_of_patterns_by_embeddings_and_projections(rng):
    arrays = [rng.normal(size=shape) for shape in ((1, 1, 5, 3), (1, 2, 3, 7), (1, 2, 3, 7))]
    target = mha.softmax(rng.normal(size=(2, 5, 5)))

    def loss(w_q, w_k, x):
        scaled = (x @ w_q) @ (x @ w_k).mT / np.sqrt(7)
        divergence = (target * np.log(target / mha.softmax(scaled))).sum()
        return divergence + 0.15 * (scaled**2).sum()

    x, *projections = arrays
    found = _gradients(x, *projections, target, decay=0.3)
    assert_gradients(found, loss, [*projections, x], atol=1e-7)
