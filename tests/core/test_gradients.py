"""Every gradient against central differences of the forward pass."""

import numpy as np
import pytest
from helpers import BATCH, HEADS, QUERIES, central_differences, raises

from mha import (
    MultiHeadWeights,
    multi_head_attention,
    multi_head_attention_backward,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
    softmax,
)
from mha.core.gradients import forward, matrix_gradients

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


@pytest.mark.parametrize("leading", [(), (BATCH, HEADS)])
@pytest.mark.parametrize("name", OPTIONS)
def test_attention(rng, name, leading):
    arguments, options = small_inputs(rng, *leading), OPTIONS[name]
    d_output = rng.normal(size=(*leading, N, D_V))
    gradients = scaled_dot_product_attention_backward(d_output, *arguments, **options)
    for i, part in enumerate(("query", "key", "value")):

        def loss(x, i=i):
            changed = [x if i == j else y for j, y in enumerate(arguments)]
            return (scaled_dot_product_attention(*changed, **options) * d_output).sum()

        close(getattr(gradients, part), loss, arguments[i])


def test_a_fully_masked_query_gets_and_gives_no_gradient(rng):
    query, key, value = small_inputs(rng)
    d_output = np.zeros((N, D_V))
    d_output[0] = 1
    gradients = scaled_dot_product_attention_backward(d_output, query, key, value, mask=MASK)
    for gradient in (gradients.query, gradients.key, gradients.value):
        assert (gradient == 0).all()


def test_a_key_that_no_query_sees_gets_no_gradient(rng):
    query, key, value = small_inputs(rng)
    d_output = rng.normal(size=(N, D_V))
    gradients = scaled_dot_product_attention_backward(d_output, query, key, value, is_causal=True)
    assert (gradients.key[N:] == 0).all()
    assert (gradients.value[N:] == 0).all()
    assert (gradients.value[:N] != 0).all()


def test_the_gradient_by_the_values_is_the_transposed_weights(rng):
    query, key, value = small_inputs(rng)
    d_output = rng.normal(size=(N, D_V))
    weights = softmax(query @ key.T / np.sqrt(D_K))
    gradients = scaled_dot_product_attention_backward(d_output, query, key, value)
    np.testing.assert_allclose(gradients.value, weights.T @ d_output, rtol=1e-13)


def test_moving_all_keys_alike_has_no_gradient(rng):
    query, key, value = small_inputs(rng)
    gradients = scaled_dot_product_attention_backward(rng.normal(size=(N, D_V)), query, key, value)
    np.testing.assert_allclose(gradients.key.sum(axis=0), 0, atol=1e-14)


def test_saturated_scores_have_vanishing_gradients(rng):
    query, key, value = small_inputs(rng)
    d_output = rng.normal(size=(N, D_V))
    sizes = [
        np.abs(scaled_dot_product_attention_backward(d_output, f * query, key, value).query).max()
        for f in (1, 1e2, 1e4)
    ]
    assert sizes[0] > 1e-2
    assert sizes[2] < 1e-12 < sizes[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes(rng, dtype):
    arguments = [x.astype(dtype) for x in small_inputs(rng)]
    d_output = np.ones((N, D_V), dtype)
    gradients = scaled_dot_product_attention_backward(d_output, *arguments, is_causal=True)
    for part in ("query", "key", "value"):
        assert getattr(gradients, part).dtype == dtype


def test_the_scale_is_not_rounded_to_the_narrower_argument(rng):
    query, key, value = small_inputs(rng)
    query = query.astype(np.float32)
    d_output = rng.normal(size=(N, D_V))
    mixed = scaled_dot_product_attention_backward(d_output, query, key, value, scale=0.1)
    wide = scaled_dot_product_attention_backward(
        d_output, query.astype(np.float64), key, value, scale=0.1
    )
    np.testing.assert_allclose(mixed.key, wide.key, rtol=1e-13)


def layer(rng, *, w_o=True):
    def normal(*shape):
        return rng.normal(size=shape)

    return MultiHeadWeights(
        normal(HEADS, D_MODEL, D_K),
        normal(HEADS, D_MODEL, D_K),
        normal(HEADS, D_MODEL, D_V),
        normal(HEADS * D_V, D_OUT) if w_o else None,
    )


@pytest.mark.parametrize("w_o", [False, True])
@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"mask": MASK[:, :N]}])
def test_multi_head(rng, options, cross, w_o):
    x, weights = rng.normal(size=(N, D_MODEL)), layer(rng, w_o=w_o)
    context = rng.normal(size=(M, D_MODEL)) if cross else None
    if "mask" in options:
        options = {"mask": MASK if cross else MASK[:, :N]}
    d_output = rng.normal(size=(N, D_OUT if w_o else HEADS * D_V))

    def loss(**changed):
        matrices = {name: getattr(weights, name) for name in ("w_q", "w_k", "w_v", "w_o")}
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
    for name in ("w_q", "w_k", "w_v") + ("w_o",) * w_o:
        matrix = np.array(getattr(weights, name))
        close(getattr(back.weights, name), lambda v, name=name: loss(**{name: v}), matrix)
    assert w_o or back.weights.w_o is None


def test_a_gradient_of_the_wrong_shape_is_refused(rng):
    arguments = small_inputs(rng)
    with raises(ValueError, "d_output has shape (7, 3); the output's (3, 7) is wanted"):
        scaled_dot_product_attention_backward(np.ones((D_V, N)), *arguments)
    with raises(ValueError, "d_output has shape (3, 7); the output's (3, 3) is wanted"):
        multi_head_attention_backward(np.ones((N, 7)), np.ones((N, D_MODEL)), layer(rng))


def test_leading_axes_that_differ_are_refused(rng):
    query, key, value = small_inputs(rng, BATCH)
    d_output = np.ones((BATCH, N, D_V))
    with raises(ValueError, "leading axes are (2,) in query but () in key; they must match"):
        scaled_dot_product_attention_backward(d_output, query, key[0], value)
    with raises(ValueError, "leading axes are (2,) in query but (1,) in value; they must match"):
        scaled_dot_product_attention_backward(d_output, query, key, value[:1])


@pytest.mark.parametrize("name", ["d_output", "query", "key", "value"])
def test_nan_is_refused(rng, name):
    names = ("d_output", "query", "key", "value")
    arguments = dict(zip(names, (np.ones((N, D_V)), *small_inputs(rng)), strict=True))
    arguments[name][1, 1] = np.nan
    with raises(ValueError, f"{name} holds nan at index (1, 1); finite numbers are wanted"):
        scaled_dot_product_attention_backward(**arguments)


def test_too_few_axes_are_refused(rng):
    query, key, value = small_inputs(rng)
    with raises(ValueError, "query has shape (2,); at least 2 axes are wanted"):
        scaled_dot_product_attention_backward(np.ones((N, D_V)), query[0], key, value)


def test_a_gradient_that_overflows_is_refused(rng):
    query, key, value = small_inputs(rng)
    with raises(
        ValueError,
        "d_output and value overflow float64 when multiplied; smaller numbers are wanted",
    ):
        scaled_dot_product_attention_backward(np.full((N, D_V), 1e308), query, key, 1e3 * value)


LARGE = 1e200
"""Its square is too large for float64."""


@pytest.mark.parametrize(
    ("scaled", "names"),
    [
        ({"d_output": LARGE, "w_o": LARGE}, "d_output and w_o"),
        ({"d_output": LARGE, "w_v": LARGE, "w_o": 1e-200}, "the heads' outputs and d_output"),
        ({"d_output": LARGE, "x": LARGE, "w_v": 1e-10, "w_q": 1e-200}, "x and d_query"),
        ({"w_v": LARGE, "d_output": 1e150, "w_o": 1e-150}, "the heads' outputs and d_output"),
        ({"context": 1e160, "w_k": 1e-160, "w_v": 1e-160, "d_output": LARGE}, "context and d_key"),
        (
            {"context": 1e160, "w_k": 1e-160, "w_v": 1e-160, "d_output": LARGE, "w_q": 0},
            "context and d_value",
        ),
    ],
)
def test_the_product_that_overflows_is_named_and_not_an_argument(rng, scaled, names):
    weights = layer(rng)
    parts = {name: getattr(weights, name) for name in ("w_q", "w_k", "w_v", "w_o")} | {
        "x": rng.normal(size=(N, D_MODEL)),
        "context": rng.normal(size=(M, D_MODEL)),
        "d_output": rng.normal(size=(N, D_OUT)),
    }
    parts = {name: part * scaled.get(name, 1) for name, part in parts.items()}
    x, context, d_output = (parts.pop(name) for name in ("x", "context", "d_output"))
    with raises(
        ValueError, f"{names} overflow float64 when multiplied; smaller numbers are wanted"
    ):
        multi_head_attention_backward(d_output, x, MultiHeadWeights(**parts), context=context)


def test_the_forward_pass_names_what_it_refuses():
    x, one = np.ones((1, 1)), np.ones((1, 1, 1))
    with raises(ValueError, "x holds nan at index (0, 0); finite numbers are wanted"):
        forward(x, np.nan * x, MultiHeadWeights(one, one, one))
    largest = MultiHeadWeights(0 * one, 0 * one, np.finfo(np.float64).max * one)
    refusals = set()
    for n in range(2, 101):  # rounding lifts the mean of some numbers beyond the largest
        try:
            forward(np.ones((n, 1)), np.ones((n, 1)), largest)
        except ValueError as error:
            refusals.add(str(error))
    assert refusals == {
        "weights and value overflow float64 when multiplied; smaller numbers are wanted"
    }


def test_the_gradients_of_the_matrices_alone_name_what_overflows():
    x, one = np.array([[1e160], [-1e160]]), np.ones((1, 1, 1))
    layer = MultiHeadWeights(1e-160 * one, 0 * one, 1e-160 * one)
    with raises(
        ValueError, "x and d_key overflow float64 when multiplied; smaller numbers are wanted"
    ):
        matrix_gradients(LARGE * np.eye(2)[:, :1], forward(x, x, layer), layer)


def test_gradients_that_overflow_when_they_meet_are_named():
    one = np.ones((1, 1, 1))
    weights = MultiHeadWeights(one, one, 1e154 * one)
    x = np.array([[1.0], [1.0]])
    back = multi_head_attention_backward(np.full((2, 1), 1e154), x, weights)
    np.testing.assert_allclose(back.x, [[1e308], [1e308]], rtol=1e-12)
    # Each gradient by a head alone is 1e308; two heads are too much.
    two = np.concatenate([one, one])
    weights = MultiHeadWeights(two, two, 1e154 * two)
    with raises(
        ValueError, "d_value and w_v overflow float64 when multiplied; smaller numbers are wanted"
    ):
        multi_head_attention_backward(np.full((2, 2), 1e154), x, weights)


@pytest.mark.parametrize(
    ("size", "context", "names"),
    [
        # By value the first token gets 0.88, by key 0.21, by query 0.42 of this size.
        (1.7e154, [[1.0], [-1.0]], "the gradients by key and value"),
        (1.3e154, None, "the gradients by query, key and value"),
    ],
)
def test_paths_to_a_token_that_overflow_together_are_named(size, context, names):
    one = np.ones((1, 1, 1))
    weights, x = MultiHeadWeights(one, one, 1e154 * one), np.array([[1.0], [-1.0]])
    d_output = np.array([[size], [0.0]])
    with raises(ValueError, f"{names} overflow float64 when added; smaller numbers are wanted"):
        multi_head_attention_backward(d_output, x, weights, context=context)
    assert np.isfinite(multi_head_attention_backward(d_output / 2, x, weights).x).all()


@pytest.mark.parametrize("scale", [1e200, -1e200])
def test_a_scale_that_makes_a_gradient_overflow_is_named(scale):
    query, key = np.zeros((1, 1)), np.array([[1.0], [2.0]])
    value = np.array([[1e150], [-1e150]])
    with raises(
        ValueError,
        "d_scores and scale overflow float64 when multiplied; smaller numbers are wanted",
    ):
        scaled_dot_product_attention_backward([[1.0]], query, key, value, scale=scale)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("w_o", [False, True])
@pytest.mark.parametrize("cross", [False, True])
@pytest.mark.parametrize("leading", [(BATCH,), (BATCH, HEADS)])
def test_a_batch_is_its_sequences_and_the_matrices_gradients_add_up(
    rng, leading, cross, w_o, dtype
):
    def drawn(*shape):
        return (rng.normal(size=shape) / 4).astype(dtype)

    matrices = vars(layer(rng, w_o=w_o)).values()
    weights = MultiHeadWeights(*(None if m is None else (m / 4).astype(dtype) for m in matrices))
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


@pytest.mark.parametrize("name", ["x", "context"])
def test_a_context_with_other_leading_axes_is_refused(rng, name):
    arguments = {"x": np.ones((N, D_MODEL)), "context": np.ones((M, D_MODEL))}
    arguments[name] = np.ones((BATCH, QUERIES, D_MODEL))
    axes = {"x": (), "context": ()} | {name: (2,)}
    sentence = (
        f"leading axes are {axes['x']} in x but {axes['context']} in context; they must match"
    )
    with raises(ValueError, sentence):
        multi_head_attention_backward(np.ones((N, D_OUT)), weights=layer(rng), **arguments)


def test_weights_of_another_type_are_refused():
    with raises(TypeError, "weights is a str; MultiHeadWeights is wanted"):
        multi_head_attention_backward(np.ones((N, D_OUT)), np.ones((N, D_MODEL)), "w")
