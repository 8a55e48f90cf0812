"""Blocks of numbers so large that each is looked at: masks, causality and what overflows."""

import numpy as np
import pytest
from helpers import KEYS, QUERIES, inputs

from mha import (
    blockwise_attention,
    scaled_dot_product_attention,
)

HUGE = 1e200  # of values, so that nothing is taken for moderate


@pytest.mark.parametrize("block_size", [1, 2, 3, 7])
@pytest.mark.parametrize("align", ["top-left", "bottom-right"])
@pytest.mark.parametrize("queries", [2, QUERIES, 2 * KEYS])
def test_causal(rng, block_size, align, queries):
    _, key, value = inputs(rng, 2)
    query = rng.normal(size=(2, queries, key.shape[-1]))
    options = {"is_causal": True, "align": align}
    plain = scaled_dot_product_attention(query, key, value, **options)
    found = blockwise_attention(query, key, value * HUGE, block_size=block_size, **options)
    np.testing.assert_allclose(found / HUGE, plain, rtol=1e-12, atol=1e-12)
