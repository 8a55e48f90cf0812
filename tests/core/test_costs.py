"""Parameters, operations and bytes, against counts of what the package really does."""

import numpy as np
import pytest
from helpers import D_K, D_MODEL, D_OUT, D_V, HEADS, KEYS, QUERIES, random_layer

from mha import ModelSizes, MultiHeadWeights, decode_step, layer_sizes

SIZES = layer_sizes(D_MODEL, HEADS, d_k=D_K, d_v=D_V, d_out=D_OUT)
GROUPED = [
    layer_sizes(D_MODEL, 6, d_k=D_K, d_v=D_V, d_out=D_OUT, num_groups=groups)
    for groups in (1, 2, 3, 6)
]


def product_flops(left, right):
    """Count a multiplication and an addition for each term of each entry of the product."""
    return 2 * int(np.prod(left[:-1])) * right[-1] * left[-1]


@pytest.mark.parametrize("sizes", [SIZES, *GROUPED])
def test_a_layer_costs_what_its_arrays_products_and_cache_do(rng, sizes):
    h, g, n, m = sizes.num_heads, sizes.num_groups, QUERIES, KEYS
    weights = random_layer(rng, h, g)
    assert sizes.parameters == sum(array.size for array in weights.arrays.values())
    assert sizes.flops(n, m) == {
        "query": product_flops((h, n, D_MODEL), (h, D_MODEL, D_K)),
        "key": product_flops((g, m, D_MODEL), (g, D_MODEL, D_K)),  # projected once a group
        "value": product_flops((g, m, D_MODEL), (g, D_MODEL, D_V)),
        "scores": product_flops((h, n, D_K), (h, D_K, m)),
        "weighted sum": product_flops((h, n, m), (h, m, D_V)),
        "output projection": product_flops((n, h * D_V), (h * D_V, D_OUT)),
    }
    for dtype in (np.float32, np.float64):
        matrices = [array.astype(dtype) for array in weights.arrays.values()]
        _, cache = decode_step(np.ones((m, D_MODEL), dtype), MultiHeadWeights(*matrices))
        kept = sizes.cache_bytes(m, itemsize=np.dtype(dtype).itemsize)
        assert kept == cache.key.nbytes + cache.value.nbytes


def test_a_model_costs_what_its_blocks_do():
    model = ModelSizes(7, GROUPED[1], 13, 3)
    assert model.parameters == 7 * (GROUPED[1].parameters + 3 * D_MODEL * 13)
    once = GROUPED[1].flops(1, KEYS)
    assert model.token_flops(KEYS) == 2 * model.parameters + 7 * (
        once["scores"] + once["weighted sum"]
    )
    cache = 7 * GROUPED[1].cache_bytes(KEYS, itemsize=2)
    assert model.step_bytes(KEYS, num_texts=5, itemsize=2) == 2 * model.parameters + 5 * cache
    assert model.mixing_flops(1) * model.equal_flops == pytest.approx(2 * model.parameters)
    texts = model.equal_bytes(5) * 5 * model.cache_bytes(1, itemsize=1)
    assert texts == pytest.approx(model.parameters)


def test_what_is_left_out_has_its_usual_size():
    assert layer_sizes(6, 2) == layer_sizes(6, 2, d_k=3, d_v=3, d_out=6, num_groups=2)
