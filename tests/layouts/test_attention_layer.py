"""What a layer does besides its weights: norms, turns, relative biases, its own scale and mask."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import BATCH, D_MODEL, HEADS, KEYS, QUERIES, random_layer

import mha
from mha import AttentionLayer, MultiHeadWeights, rotary_angles
from mha.core.norm import rms_norm

D_K, BUCKETS = 6, 8


def weights(rng, groups=HEADS):
    sizes = {"d_k": D_K, "d_v": D_K, "d_out": D_MODEL}
    return random_layer(rng, groups=groups, biases=True, **sizes)


def test_a_bare_layer_is_multi_head_attention(rng):
    own, x = weights(rng), rng.normal(size=(BATCH, QUERIES, D_MODEL))
    context, mask = rng.normal(size=(BATCH, KEYS, D_MODEL)), rng.random((QUERIES, KEYS)) < 0.7
    layer = AttentionLayer(own)
    for options in ({}, {"context": context, "mask": mask}, {"is_causal": True}):
        wanted = mha.multi_head_attention(x, own, **options)
        np.testing.assert_array_equal(layer(x, **options), wanted)
    np.testing.assert_array_equal(replace(layer, is_causal=True)(x), wanted)
    np.testing.assert_array_equal(
        replace(layer, is_causal=True)(x, is_causal=False), mha.multi_head_attention(x, own)
    )


def test_norms_and_turns_one_query_at_a_time(rng):
    own, x = weights(rng, groups=1), rng.normal(size=(QUERIES, D_MODEL))
    gains = rng.normal(size=(2, D_K))
    layer = AttentionLayer(own, query_norm=gains[0], key_norm=gains[1], eps=0.5, base=9.0)
    concat = np.zeros((QUERIES, HEADS * D_K))
    for head in range(HEADS):
        made = []
        for matrix, bias, gain in ((own.w_q[head], own.b_q[head], gains[0]),
                                   (own.w_k[0], own.b_k[0], gains[1])):  # fmt: skip
            rows = x @ matrix + bias
            rows = rows / np.sqrt((rows**2).mean(axis=-1, keepdims=True) + 0.5) * gain
            made.append(mha.rotate(rows, np.arange(QUERIES), base=9.0))
        value = x @ own.w_v[0] + own.b_v[0]
        found = mha.scaled_dot_product_attention(*made, value)
        concat[:, head * D_K : (head + 1) * D_K] = found
    np.testing.assert_allclose(layer(x), concat @ own.w_o + own.b_o, rtol=1e-10)
    later = rotary_angles(np.arange(QUERIES) + 40, D_K, base=9.0)
    np.testing.assert_allclose(layer(x, angles=later), layer(x), rtol=1e-9)
    assert not np.allclose(layer(x, angles=0 * later), layer(x))


@pytest.mark.parametrize("is_causal", [False, True])
def test_relative_biases_are_a_mask_of_numbers(rng, is_causal):
    own, x = weights(rng), rng.normal(size=(BATCH, QUERIES, D_MODEL))
    table = rng.normal(size=(BUCKETS, HEADS))
    layer = AttentionLayer(own, relative_bias=table, is_causal=is_causal)
    bias = layer.position_bias(QUERIES, QUERIES)
    for i, j in np.ndindex(QUERIES, QUERIES):
        # Of four ranges, or of eight, half have one distance each; a wider one begins behind them.
        each, start = (4, 0) if is_causal else (2, 4 * (j > i))
        distance = max(i - j, 0) if is_causal else abs(i - j)
        np.testing.assert_array_equal(bias[:, i, j], table[start + min(distance, each)])
    wanted = mha.multi_head_attention(x, own, mask=bias[None], is_causal=is_causal)
    np.testing.assert_allclose(layer(x), wanted, rtol=1e-10)
    padding = mha.padding_mask([3, QUERIES], QUERIES)[:, None]
    both = np.where(padding, bias, -np.inf)
    wanted = mha.multi_head_attention(x, own, mask=both, is_causal=is_causal)
    np.testing.assert_allclose(layer(x, mask=padding), wanted, rtol=1e-10)


def test_a_scale_of_its_own_is_in_place_of_the_root(rng):
    own, x = weights(rng), rng.normal(size=(QUERIES, D_MODEL))
    by_root = AttentionLayer(own, scale=D_K**-0.5)
    np.testing.assert_allclose(by_root(x), AttentionLayer(own)(x), rtol=1e-12)
    assert not np.allclose(AttentionLayer(own, scale=1.0)(x), by_root(x))


def test_numbers_stay_narrow_and_an_overflow_is_refused(rng):
    narrow = MultiHeadWeights(*(x.astype(np.float32) for x in weights(rng).arrays.values()))
    gain = np.ones(D_K, np.float32)
    layer = AttentionLayer(narrow, query_norm=gain, key_norm=gain, base=9.0)
    assert layer(np.ones((QUERIES, D_MODEL), np.float32)).dtype == np.float32
    with pytest.raises(ValueError, match=r"^a row's numbers, .* overflow float64"):
        rms_norm(np.array([[1e200, 0.0]]), np.array([np.inf, 1.0]), 0.0)


@pytest.mark.parametrize(
    ("part", "cause"),
    [
        ({"query_norm": np.ones(5)}, "query_norm has shape .5,.; .* a column of a head, 6, is"),
        ({"key_norm": np.ones((1, 6))}, "key_norm has shape .1, 6.; .* a column of a head, 6, is"),
        ({"relative_bias": np.ones((3, 5))}, "relative_bias has shape .3, 5.; a column a head, 3"),
        ({"eps": -1.0}, "eps is -1.0; a number of at least 0 is wanted"),
        ({"base": 0.0}, "base is 0.0; a number above 0 is wanted"),
    ],
)
def test_parts_that_do_not_fit_are_refused(rng, part, cause):
    with pytest.raises(ValueError, match=f"^{cause}"):
        AttentionLayer(weights(rng), **part)


def test_turned_tokens_ask_no_context(rng):
    layer, x = AttentionLayer(weights(rng), base=9.0), np.ones((QUERIES, D_MODEL))
    with pytest.raises(ValueError, match=r"^angles .*; no context is wanted"):
        layer(x, context=x)
