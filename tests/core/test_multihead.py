"""Several heads are separate attentions side by side; the output projection mixes them."""

import numpy as np
import pytest
from helpers import D_K, D_MODEL, D_OUT, D_V, HEADS, KEYS, QUERIES, loop_layer, raises
from hypothesis import given
from hypothesis import strategies as st

from mha import (
    MultiHeadWeights,
    WorkedExample,
    layer_gradients,
    multi_head_attention,
    without_head,
)


@given(st.data())
def test_a_layer_is_a_loop_over_its_numbers(data):
    """Heads that share keys or not, biases or none, another text of another width, and masks."""
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    heads, groups = data.draw(st.sampled_from([(1, 1), (3, 3), (6, 2), (6, 1)]))
    is_cross, is_causal = data.draw(st.booleans()), data.draw(st.booleans())
    n, m, width = (3, 4, 7) if is_cross else (3, 3, 5)
    shapes = {"w_q": (heads, 5, 2), "w_k": (groups, width, 2), "w_v": (groups, width, 3)}
    if data.draw(st.booleans()):
        shapes |= {"b_q": (heads, 2), "b_k": (groups, 2), "b_v": (groups, 3)}
    if data.draw(st.booleans()):
        shapes |= {"w_o": (3 * heads, 11)} | ({"b_o": (11,)} if "b_q" in shapes else {})
    layer = MultiHeadWeights(**{name: rng.normal(size=shape) for name, shape in shapes.items()})
    sizes = (layer.num_heads, layer.num_groups, layer.d_model, layer.d_context)
    assert (*sizes, layer.d_k, layer.d_v) == (heads, groups, 5, width, 2, 3)
    x, context = rng.normal(size=(n, 5)), rng.normal(size=(m, width)) if is_cross else None
    mask = data.draw(st.sampled_from([None, rng.random((heads, n, m)) < 0.5]))
    align = data.draw(st.sampled_from(["top-left", "bottom-right"]))
    first = m - n if align == "bottom-right" else 0
    options = {"mask": mask, "is_causal": is_causal, "align": align}
    found = multi_head_attention(x, layer, context=context, **options)
    wanted = loop_layer(
        x,
        x if context is None else context,
        layer,
        lambda head, i, j: (mask is None or mask[head, i, j]) and (j <= i + first or not is_causal),
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


# The weights


GOOD = {
    "w_q": np.ones((HEADS, D_MODEL, D_K)),
    "w_k": np.ones((HEADS, D_MODEL, D_K)),
    "w_v": np.ones((HEADS, D_MODEL, D_V)),
    "w_o": np.ones((HEADS * D_V, D_OUT)),
    "b_q": np.ones((HEADS, D_K)),
}


def test_a_context_of_another_width_is_wanted_where_the_weights_have_it():
    other = MultiHeadWeights(GOOD["w_q"], *np.ones((2, HEADS, 5, D_K)))
    with raises(ValueError, "x has width 17 but the weights have d_model=5; they must match"):
        multi_head_attention(np.ones((KEYS, D_MODEL)), other)


def test_what_computes_without_biases_refuses_them():
    biased, x = MultiHeadWeights(**GOOD), np.ones((QUERIES, D_MODEL))
    sentence = "layer has the bias b_q; a layer without biases is wanted here"
    with raises(ValueError, sentence):
        layer_gradients(biased, x, [[0]] * QUERIES)
    words = {"name": "w", "title": "w", "source": "w", "tokens": list("abcde")}
    start = WorkedExample(**words, head_names=list("fgh"), embeddings=x, layer=biased)
    with raises(ValueError, sentence):
        without_head(start, 0)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ({"w_q": (17, 11)}, "w_q has shape (17, 11); (num_heads, d_model, width) is wanted"),
        ({"w_q": (0, 17, 11)}, "w_q has shape (0, 17, 11); no axis may be empty"),
        ({"w_k": (3, 17, 13)},
         "w_q has shape (3, 17, 11) but w_k has (3, 17, 13); they must match"),
        ({"w_k": (2, 17, 11)}, "w_k has 2 groups; a divisor of w_q's 3 heads is wanted"),
        ({"w_v": (2, 17, 13)}, "w_v has shape (2, 17, 13); (3, 17, d_v) is wanted, as in w_k"),
        ({"w_o": (38, 19)}, "w_o has shape (38, 19); num_heads * d_v = 39 rows are wanted"),
        ({"b_q": (33,)}, "b_q has shape (33,); (3, 11) is wanted"),
        ({"b_v": (3, 11)}, "b_v has shape (3, 11); (3, 13) is wanted"),
        ({"b_o": (39,)}, "b_o has shape (39,); (19,) is wanted"),
        ({"w_o": None, "b_o": (19,)},
         "b_o is added behind w_o, which there is not; both are wanted"),
    ],
)  # fmt: skip
def test_shapes_that_do_not_fit_are_refused(parts, sentence):
    given = {name: shape if shape is None else np.ones(shape) for name, shape in parts.items()}
    with raises(ValueError, sentence):
        MultiHeadWeights(**GOOD | given)
