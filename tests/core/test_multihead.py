"""Several heads are separate attentions side by side; the output projection mixes them."""

import numpy as np
from helpers import loop_layer
from hypothesis import given
from hypothesis import strategies as st

from mha import (
    MultiHeadWeights,
    multi_head_attention,
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
