"""Stacks of blocks against direct loops."""

import math

import numpy as np
import pytest
from helpers import loop_added, loop_layer, loop_norm, loop_product
from hypothesis import given
from hypothesis import strategies as st

from mha.core.feed_forward import FeedForward
from mha.core.multihead import MultiHeadWeights
from mha.core.norm import Norm
from mha.core.transformer import Block, transformer

TOLERANCES = {
    np.float32: {"rtol": 1e-4, "atol": 1e-5},
    np.float64: {"rtol": 1e-12, "atol": 1e-13},
}


def loop_active(x, activation):
    return max(x, 0.0) if activation == "relu" else x * (1 + math.erf(x / math.sqrt(2))) / 2


def loop_feed_forward(x, layer):
    hidden = loop_added(loop_product(x, layer.w_in.tolist()), layer.b_in)
    active = [[loop_active(number, layer.activation) for number in row] for row in hidden]
    return loop_added(loop_product(active, layer.w_out.tolist()), layer.b_out)


def loop_norms(x, norm):
    gain, bias = norm.rows(len(x[0]), np.dtype(np.float64))
    return [loop_norm(row, gain, bias, norm.eps) for row in x]


def loop_block(x, block, is_causal):
    """Return what a block gives, by its definition."""
    for layer, norm in ((block.attention, block.first), (block.feed_forward, block.second)):
        if layer is None:
            continue
        read = loop_norms(x, norm) if block.norm == "before" else x
        if layer is block.attention:
            found = loop_layer(read, read, layer, lambda _, i, j: j <= i or not is_causal)
        else:
            found = loop_feed_forward(read, layer)
        x = [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(x, found, strict=True)]
        x = loop_norms(x, norm) if block.norm == "after" else x
    return x


def drawn_block(data, rng, d_model, dtype):
    """Draw a block of random numbers; without an output projection it has one head as wide."""
    has_w_o, has_feed, *has_row = (data.draw(st.booleans()) for _ in range(5))
    heads, d_k, d_v, d_ff = (data.draw(st.integers(1, 4)) for _ in range(4))
    heads, d_v = (heads, d_v) if has_w_o else (1, d_model)

    def normal(*shape):
        return rng.normal(size=shape).astype(dtype) / 2

    def row_or_none(size):
        return normal(size) if has_row.pop() else None

    layer = MultiHeadWeights(
        *normal(2, heads, d_model, d_k),
        normal(heads, d_model, d_v),
        normal(heads * d_v, d_model) if has_w_o else None,
    )
    feed = FeedForward(
        *(normal(d_model, d_ff), row_or_none(d_ff), normal(d_ff, d_model), row_or_none(d_model)),
        data.draw(st.sampled_from(["relu", "gelu"])),
    )
    return Block(
        layer,
        feed if has_feed else None,
        data.draw(st.sampled_from(["before", "after", "nowhere"])),
        Norm(normal(d_model), normal(d_model), eps=0.1),
        Norm(row_or_none(d_model), eps=0.1),
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_a_stack_of_blocks_is_a_loop_over_its_numbers(dtype, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    n, d_model = data.draw(st.integers(1, 5)), data.draw(st.integers(2, 6))
    is_causal = data.draw(st.booleans())
    blocks = [drawn_block(data, rng, d_model, dtype) for _ in range(data.draw(st.integers(1, 2)))]
    x = rng.normal(size=(n, d_model)).astype(dtype)
    found = transformer(x, blocks, is_causal=is_causal)
    assert found.dtype == dtype
    wanted = x.astype(float).tolist()
    for block in blocks:
        wanted = loop_block(wanted, block, is_causal)
    np.testing.assert_allclose(found, wanted, **TOLERANCES[dtype])


def test_a_mask_holds_in_every_block(rng):
    x, blocks = rng.normal(size=(5, 2)), [Block(MultiHeadWeights(*[np.eye(2)[None]] * 3))] * 2
    alone = transformer(x, blocks, mask=np.eye(5, dtype=bool))
    np.testing.assert_allclose(alone, [transformer(row[None], blocks)[0] for row in x])
