"""Stacks of blocks against direct loops, and what is refused."""

import math

import numpy as np
import pytest
from helpers import loop_added, loop_layer, loop_norm, loop_product, raises
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
ONE = np.eye(2)[None]
LAYER = MultiHeadWeights(ONE, ONE, ONE)


# One number after the other


def loop_active(x, activation):
    return max(x, 0.0) if activation == "relu" else x * (1 + math.erf(x / math.sqrt(2))) / 2


def loop_feed_forward(x, layer):
    hidden = loop_added(loop_product(x, layer.w_in.tolist()), layer.b_in)
    active = [[loop_active(number, layer.activation) for number in row] for row in hidden]
    return loop_added(loop_product(active, layer.w_out.tolist()), layer.b_out)


def loop_norms(x, norm):
    gain, bias = norm.rows(len(x[0]), np.dtype(np.float64))
    return [loop_norm(row, gain, bias, norm.eps) for row in x]


def loop_sum(first, second):
    return [[a + b for a, b in zip(r, s, strict=True)] for r, s in zip(first, second, strict=True)]


def loop_block(x, block, is_causal):
    """Return what a block gives, by its definition."""
    norms = iter((block.first, block.second))
    for part in ("attention", "feed_forward"):
        layer, norm = getattr(block, part), next(norms)
        if layer is None:
            continue
        read = loop_norms(x, norm) if block.norm == "before" else x
        if part == "attention":
            found = loop_layer(read, read, layer, lambda _, i, j: j <= i or not is_causal)
        else:
            found = loop_feed_forward(read, layer)
        x = loop_sum(x, found)
        x = loop_norms(x, norm) if block.norm == "after" else x
    return x


# Random blocks


def drawn_layer(data, rng, d_model, dtype):
    d_ff = data.draw(st.integers(1, 5))

    def normal(*shape):
        return rng.normal(size=shape).astype(dtype)

    return FeedForward(
        normal(d_model, d_ff),
        normal(d_ff) if data.draw(st.booleans()) else None,
        normal(d_ff, d_model),
        normal(d_model) if data.draw(st.booleans()) else None,
        data.draw(st.sampled_from(["relu", "gelu"])),
    )


def drawn_block(data, rng, d_model, dtype):
    heads, d_k = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    has_w_o = data.draw(st.booleans())
    d_v = data.draw(st.integers(1, 4)) if has_w_o else d_model
    heads = heads if has_w_o else 1

    def normal(*shape):
        return rng.normal(size=shape).astype(dtype) / 2

    return Block(
        MultiHeadWeights(
            normal(heads, d_model, d_k),
            normal(heads, d_model, d_k),
            normal(heads, d_model, d_v),
            normal(heads * d_v, d_model) if has_w_o else None,
        ),
        drawn_layer(data, rng, d_model, dtype) if data.draw(st.booleans()) else None,
        data.draw(st.sampled_from(["before", "after", "nowhere"])),
        Norm(normal(d_model), normal(d_model), eps=0.1),
        Norm(normal(d_model) if data.draw(st.booleans()) else None, eps=0.1),
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


# What each part does alone


def test_a_mask_holds_in_every_block(rng):
    x = rng.normal(size=(5, 2))
    alone = transformer(x, [Block(LAYER)] * 2, mask=np.eye(5, dtype=bool))
    np.testing.assert_allclose(alone, [transformer(row[None], [Block(LAYER)] * 2)[0] for row in x])


# Refusals


WIDE = FeedForward(np.ones((3, 5)), None, np.ones((5, 3)), None)


@pytest.mark.parametrize(
    ("error", "parts", "sentence"),
    [
        (TypeError, {"attention": 1}, "attention is a int; MultiHeadWeights is wanted"),
        (TypeError, {"feed_forward": 1}, "feed_forward is a int; FeedForward or None is wanted"),
        (TypeError, {"first": None}, "first is a NoneType; Norm is wanted"),
        (
            ValueError,
            {"norm": "both"},
            'norm is \'both\'; "before", "after" or "nowhere" is wanted',
        ),
        (
            ValueError,
            {"feed_forward": WIDE},
            "feed_forward takes 3 numbers and gives 3; d_model=2 is wanted for both",
        ),
        (
            ValueError,
            {"attention": MultiHeadWeights(ONE, ONE, np.ones((1, 2, 3)))},
            "attention gives 3 numbers a token; d_model=2 is wanted",
        ),
        (
            ValueError,
            {"second": Norm([1, 2, 3])},
            "gain has 3 numbers for rows of 2; they must match",
        ),
    ],
)
def test_a_block_whose_parts_do_not_fit_is_told_in_one_sentence(error, parts, sentence):
    with raises(error, sentence):
        Block(**{"attention": LAYER} | parts)
