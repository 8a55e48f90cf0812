"""Weights and outputs: a closed form, loops without NumPy, and axes that broadcast."""

import numpy as np
import pytest
from helpers import BATCH, HEADS, inputs, loop_product, loop_weights
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha import attention_weights, scaled_dot_product_attention


def test_two_keys_give_the_logistic_function():
    weights = attention_weights([[2.0]], [[3.0], [1.0]], scale=0.25)
    assert weights[0, 0] == pytest.approx(1 / (1 + np.exp(-0.25 * 2 * (3 - 1))), rel=1e-15)


@given(st.data())
def test_weights_and_output_against_loops(data):
    n, m, d_k, d_v = (data.draw(st.integers(1, 7)) for _ in range(4))
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    query, key, value = (3 * rng.normal(size=shape) for shape in ((n, d_k), (m, d_k), (m, d_v)))
    mask = data.draw(st.none() | hnp.arrays(bool, (n, m)))
    is_causal, scale = data.draw(st.booleans()), data.draw(st.none() | st.floats(0, 3))
    align = data.draw(st.sampled_from(["top-left", "bottom-right"]))
    options = {"mask": mask, "is_causal": is_causal, "scale": scale, "align": align}
    first = m - n if align == "bottom-right" else 0
    allowed = np.tri(n, m, first if is_causal else m, bool) & (True if mask is None else mask)
    weights = loop_weights(query, key, d_k**-0.5 if scale is None else scale,
                           lambda i, j: allowed[i, j])  # fmt: skip
    close = {"rtol": 1e-11, "atol": 1e-13}
    np.testing.assert_allclose(attention_weights(query, key, **options), weights, **close)
    output = scaled_dot_product_attention(query, key, value, **options)
    np.testing.assert_allclose(output, loop_product(weights, value), **close)


def test_leading_axes_broadcast(rng):
    query, key, value = inputs(rng, BATCH, HEADS)
    output = scaled_dot_product_attention(query[:, :1], key[0], value[0, 0])
    for b, h in np.ndindex(BATCH, HEADS):
        alone = scaled_dot_product_attention(query[b, 0], key[0, h], value[0, 0])
        np.testing.assert_allclose(output[b, h], alone, rtol=1e-13, atol=1e-15)
