"""Parameters, operations and bytes, against counts of what the package really does."""

import numpy as np
import pytest
from helpers import D_K, D_MODEL, D_OUT, D_V, HEADS, KEYS, QUERIES, raises

from mha import ModelSizes, MultiHeadWeights, decode_step, layer_sizes

SIZES = layer_sizes(D_MODEL, HEADS, d_k=D_K, d_v=D_V, d_out=D_OUT)
GROUPED = [
    layer_sizes(D_MODEL, 6, d_k=D_K, d_v=D_V, d_out=D_OUT, num_groups=groups)
    for groups in (1, 2, 3, 6)
]


def real_weights(sizes):
    def ones(heads, width):
        return np.ones((heads, sizes.d_model, width))

    w_o = np.ones((sizes.num_heads * sizes.d_v, sizes.d_out))
    groups = sizes.num_groups
    return MultiHeadWeights(
        ones(sizes.num_heads, sizes.d_k), ones(groups, sizes.d_k), ones(groups, sizes.d_v), w_o
    )


def product_flops(left, right):
    """Count a multiplication and an addition for each term of each entry of the product."""
    return 2 * int(np.prod(left[:-1])) * right[-1] * left[-1]


@pytest.mark.parametrize("sizes", [SIZES, *GROUPED])
def test_parameters_are_the_entries_of_the_matrices(sizes):
    weights = real_weights(sizes)
    matrices = (weights.w_q, weights.w_k, weights.w_v, weights.w_o)
    assert sizes.parameters == sum(matrix.size for matrix in matrices)


@pytest.mark.parametrize("sizes", [SIZES, *GROUPED])
def test_flops_are_those_of_the_products_and_keys_are_projected_once_a_group(sizes):
    h, g, n, m = sizes.num_heads, sizes.num_groups, QUERIES, KEYS
    wanted = {
        "query": product_flops((h, n, D_MODEL), (h, D_MODEL, D_K)),
        "key": product_flops((g, m, D_MODEL), (g, D_MODEL, D_K)),
        "value": product_flops((g, m, D_MODEL), (g, D_MODEL, D_V)),
        "scores": product_flops((h, n, D_K), (h, D_K, m)),
        "weighted sum": product_flops((h, n, m), (h, m, D_V)),
        "output projection": product_flops((n, h * D_V), (h * D_V, D_OUT)),
    }
    assert list(sizes.flops(n, m).items()) == list(wanted.items())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", [SIZES, *GROUPED])
def test_cache_bytes_are_those_of_a_cache(sizes, dtype):
    weights = real_weights(sizes)
    matrices = [getattr(weights, name).astype(dtype) for name in ("w_q", "w_k", "w_v")]
    x = np.ones((KEYS, D_MODEL), dtype)
    _, cache = decode_step(x, MultiHeadWeights(*matrices))
    measured = cache.key.nbytes + cache.value.nbytes
    assert sizes.cache_bytes(KEYS, itemsize=np.dtype(dtype).itemsize) == measured


def test_groups_that_do_not_divide_the_heads_are_refused():
    with raises(ValueError, "num_groups is 4; a divisor of num_heads=6 is wanted"):
        layer_sizes(12, 6, num_groups=4)


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
    with raises(ValueError, "num_heads is 4; a divisor of d_model=7 is wanted"):
        layer_sizes(7, 4)
