"""How fast attention alone draws rows together: the bound against random layers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mha import MultiHeadWeights, multi_head_attention
from mha.core.collapse import apart_at_most, circuits, rows_apart


@given(
    st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(1, 4), st.sampled_from([0.01, 0.3, 3])
)
def test_no_layer_leaves_rows_farther_apart_than_the_bound(seed, n, d_k, size):
    rng = np.random.default_rng(seed)
    shapes = (4, 3, d_k), (2, 3, d_k), (2, 3, 2), (8, 3)
    layer = MultiHeadWeights(*(rng.normal(size=s) for s in shapes))
    x = 5 * rng.normal(size=3) + size * rng.normal(size=(n, 3))
    apart = rows_apart(multi_head_attention(x, layer))
    assert apart <= apart_at_most(rows_apart(x), layer) * (1 + 1e-9) + 1e-13


def test_two_tokens_of_one_number_reach_the_bound():
    layer = MultiHeadWeights(*np.ones((3, 1, 1, 1)))
    for apart in (0.1, 1.0, 3.0):
        found = rows_apart(multi_head_attention([[apart / 2], [-apart / 2]], layer))
        assert found == pytest.approx(apart_at_most(apart, layer), rel=1e-12)


def test_the_circuits_give_scores_and_contributions(rng):
    layer = MultiHeadWeights(
        *(rng.normal(size=s) for s in ((4, 5, 2), (2, 5, 2), (2, 5, 3), (12, 7)))
    )
    asks, hands_on = circuits(layer)
    x = rng.normal(size=(3, 5))
    scores = np.einsum("id,hde,je->hij", x, asks, x) / np.sqrt(2)
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    found = np.einsum("hij,jd,hde->ie", weights, x, hands_on)
    np.testing.assert_allclose(found, multi_head_attention(x, layer), rtol=1e-10)
    assert circuits(MultiHeadWeights(*np.ones((3, 2, 5, 4))))[1].shape == (2, 5, 8)
