"""Several heads are separate attentions side by side; the output projection mixes them."""

from itertools import chain

import numpy as np
import pytest
from helpers import (
    BATCH,
    D_K,
    D_MODEL,
    D_OUT,
    D_V,
    HEADS,
    KEYS,
    QUERIES,
    loop_product,
    loop_weights,
    raises,
)

from mha import (
    MultiHeadWeights,
    WorkedExample,
    causal_mask,
    layer_gradients,
    multi_head_attention,
    without_head,
)


def layer(rng, num_heads=HEADS, *, w_o=True, dtype=np.float64):
    """Return random weights; small enough that no softmax saturates."""

    def normal(*shape):
        return (rng.normal(size=shape) / 4).astype(dtype)

    return MultiHeadWeights(
        normal(num_heads, D_MODEL, D_K),
        normal(num_heads, D_MODEL, D_K),
        normal(num_heads, D_MODEL, D_V),
        normal(num_heads * D_V, D_OUT) if w_o else None,
    )


def tokens(rng, *leading, n=QUERIES, dtype=np.float64):
    return rng.normal(size=(*leading, n, D_MODEL)).astype(dtype)


def one_head(weights, i):
    return MultiHeadWeights(weights.w_q[i : i + 1], weights.w_k[i : i + 1], weights.w_v[i : i + 1])


def test_against_loops(rng):
    x, context, weights = tokens(rng), tokens(rng, n=KEYS), layer(rng)
    heads = []
    for i in range(HEADS):
        query = loop_product(x, weights.w_q[i])
        key, value = loop_product(context, weights.w_k[i]), loop_product(context, weights.w_v[i])
        heads.append(loop_product(loop_weights(query, key, D_K**-0.5, lambda i, j: True), value))
    concat = [list(chain.from_iterable(head[n] for head in heads)) for n in range(QUERIES)]
    np.testing.assert_allclose(
        multi_head_attention(x, weights, context=context),
        loop_product(concat, weights.w_o),
        rtol=1e-11,
        atol=1e-12,
    )


def test_causal_output_does_not_see_what_comes_later(rng):
    x, weights = tokens(rng), layer(rng)
    output = multi_head_attention(x, weights, is_causal=True)
    np.testing.assert_array_equal(
        output, multi_head_attention(x, weights, mask=causal_mask(QUERIES, QUERIES))
    )
    changed = x.copy()
    changed[3:] += 1
    np.testing.assert_array_equal(
        multi_head_attention(changed, weights, is_causal=True)[:3], output[:3]
    )


def test_a_mask_a_head(rng):
    x, weights = tokens(rng), layer(rng, w_o=False)
    mask = rng.random((HEADS, QUERIES, QUERIES)) < 0.5
    mask[1, 2] = False
    output = multi_head_attention(x, weights, mask=mask)
    for i in range(HEADS):
        alone = multi_head_attention(x, one_head(weights, i), mask=mask[i])
        np.testing.assert_allclose(output[:, i * D_V : (i + 1) * D_V], alone, rtol=1e-11)
    assert (output[2, D_V : 2 * D_V] == 0).all()


# Biases, and a context of another width


@pytest.mark.parametrize("groups", [HEADS, 1])
def test_biases_are_one_more_row_of_each_matrix_for_tokens_with_a_one_behind(rng, groups):
    shapes = (HEADS, D_K), (groups, D_K), (groups, D_V), (D_OUT,)
    b_q, b_k, b_v, b_o = (rng.normal(size=shape) for shape in shapes)
    bare = layer(rng)
    matrices = bare.w_q, bare.w_k[:groups], bare.w_v[:groups]
    biased = MultiHeadWeights(*matrices, bare.w_o, b_q, b_k, b_v, b_o)
    longer = MultiHeadWeights(
        *(
            np.concatenate([matrix, bias[:, None]], axis=1)
            for matrix, bias in zip(matrices, (b_q, b_k, b_v), strict=True)
        ),
        bare.w_o,
    )
    x, context = tokens(rng, BATCH), tokens(rng, BATCH, n=KEYS)
    with_one = [np.concatenate([y, np.ones((*y.shape[:-1], 1))], axis=-1) for y in (x, context)]
    wanted = multi_head_attention(with_one[0], longer, context=with_one[1]) + b_o
    found = multi_head_attention(x, biased, context=context)
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


def test_one_wide_bias_widens_the_output(rng):
    narrow = layer(rng, dtype=np.float32)
    wide = MultiHeadWeights(*narrow.arrays.values(), b_o=np.zeros(D_OUT))
    x = tokens(rng, dtype=np.float32)
    assert multi_head_attention(x, narrow).dtype == np.float32
    assert multi_head_attention(x, wide).dtype == np.float64


def test_a_context_may_have_another_width(rng):
    bare, context = layer(rng), rng.normal(size=(KEYS, 5))
    into = rng.normal(size=(5, D_MODEL))
    other = MultiHeadWeights(bare.w_q, into @ bare.w_k, into @ bare.w_v, bare.w_o)
    x = tokens(rng)
    np.testing.assert_allclose(
        multi_head_attention(x, other, context=context),
        multi_head_attention(x, bare, context=context @ into),
        rtol=1e-10,
    )
    assert (other.d_model, other.d_context) == (D_MODEL, 5)
    with raises(ValueError, "x has width 17 but the weights have d_model=5; they must match"):
        multi_head_attention(x, other)


def test_what_computes_without_biases_refuses_them(rng):
    biased = MultiHeadWeights(**GOOD)
    x = tokens(rng)
    sentence = "layer has the bias b_q; a layer without biases is wanted here"
    with raises(ValueError, sentence):
        layer_gradients(biased, x, [[0]] * QUERIES)
    words = {"name": "w", "title": "w", "source": "w", "tokens": list("abcde")}
    start = WorkedExample(**words, head_names=list("fgh"), embeddings=x, layer=biased)
    with raises(ValueError, sentence):
        without_head(start, 0)


def test_a_bias_behind_no_matrix_is_refused():
    sentence = "b_o is added behind w_o, which there is not; both are wanted"
    with raises(ValueError, sentence):
        MultiHeadWeights(GOOD["w_q"], GOOD["w_k"], GOOD["w_v"], b_o=np.ones(D_OUT))


# The weights


GOOD = {
    "w_q": np.ones((HEADS, D_MODEL, D_K)),
    "w_k": np.ones((HEADS, D_MODEL, D_K)),
    "w_v": np.ones((HEADS, D_MODEL, D_V)),
    "w_o": np.ones((HEADS * D_V, D_OUT)),
    "b_q": np.ones((HEADS, D_K)),
}


@pytest.mark.parametrize(
    ("name", "shape", "sentence"),
    [
        ("w_q", (17, 11), "w_q has shape (17, 11); (num_heads, d_model, width) is wanted"),
        (
            "w_v",
            (1, 3, 17, 2),
            "w_v has shape (1, 3, 17, 2); (num_heads, d_model, width) is wanted",
        ),
        ("w_q", (0, 17, 11), "w_q has shape (0, 17, 11); no axis may be empty"),
        (
            "w_k",
            (3, 17, 13),
            "w_q has shape (3, 17, 11) but w_k has (3, 17, 13); they must match",
        ),
        (
            "w_k",
            (3, 19, 11),
            "w_q has shape (3, 17, 11) but w_k has (3, 19, 11); they must match",
        ),
        ("w_k", (2, 17, 11), "w_k has 2 groups; a divisor of w_q's 3 heads is wanted"),
        ("w_v", (2, 17, 13), "w_v has shape (2, 17, 13); (3, 17, d_v) is wanted, as in w_k"),
        ("w_v", (3, 19, 13), "w_v has shape (3, 19, 13); (3, 17, d_v) is wanted, as in w_k"),
        ("w_o", (38, 19), "w_o has shape (38, 19); num_heads * d_v = 39 rows are wanted"),
        ("w_o", (39,), "w_o has shape (39,); num_heads * d_v = 39 rows are wanted"),
        ("w_o", (3, 13, 19), "w_o has shape (3, 13, 19); num_heads * d_v = 39 rows are wanted"),
        ("b_q", (33,), "b_q has shape (33,); (3, 11) is wanted"),
        ("b_v", (3, 11), "b_v has shape (3, 11); (3, 13) is wanted"),
        ("b_o", (39,), "b_o has shape (39,); (19,) is wanted"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(name, shape, sentence):
    with raises(ValueError, sentence):
        MultiHeadWeights(**GOOD | {name: np.ones(shape)})
