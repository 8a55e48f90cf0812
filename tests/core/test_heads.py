"""Splitting and merging heads: which column goes where, and that one undoes the other."""

import numpy as np
from helpers import BATCH, D_K, HEADS, QUERIES
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha import merge_heads, split_heads

LEADING = hnp.array_shapes(min_dims=0, max_dims=2, max_side=3)
SIDE = st.integers(1, 7)


def counted(*shape):
    return np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape)


def test_head_i_holds_its_columns():
    x = counted(BATCH, QUERIES, HEADS * D_K)
    heads = split_heads(x, HEADS)
    assert heads.shape == (BATCH, HEADS, QUERIES, D_K)
    for i in range(HEADS):
        np.testing.assert_array_equal(heads[:, i], x[..., i * D_K : (i + 1) * D_K])


@given(LEADING, SIDE, SIDE, SIDE)
def test_each_undoes_the_other(leading, num_heads, n, d):
    x = counted(*leading, n, num_heads * d)
    np.testing.assert_array_equal(merge_heads(split_heads(x, num_heads)), x)
    heads = counted(*leading, num_heads, n, d)
    np.testing.assert_array_equal(split_heads(merge_heads(heads), num_heads), heads)
