"""Layers, blocks and whole models agree with loops, with their parts, and step by step."""

import re

import numpy as np
import pytest
from helpers import D_K, D_MODEL, D_V, HEADS, KEYS, QUERIES, random_layer
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from loops import loop_layer, loop_norm

import mha
from mha.core.costs import ModelSizes, layer_sizes
from mha.core.decoding import KeyValueCache, ask_cache, decode_step
from mha.core.encoder_decoder import encoder_decoder
from mha.core.feed_forward import FeedForward
from mha.core.gradients import multi_head_attention_backward
from mha.core.latent import LatentWeights, clip_qk, latent_attention
from mha.core.masks import padded_places
from mha.core.norm import layer_norm
from mha.core.transformer import Block, transformer

# ---- Several heads ----


@given(st.data())
def test_a_layer_is_a_loop_over_its_numbers(data):
    """Shared keys or not, biases or none, a context of another width, and masks."""
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    heads, groups = data.draw(st.sampled_from([(1, 1), (3, 3), (6, 2), (6, 1)]))
    is_cross, is_causal = data.draw(st.booleans()), data.draw(st.booleans())
    n, m, width = (3, 4, 7) if is_cross else (3, 3, 5)
    shapes = {"w_q": (heads, 5, 2), "w_k": (groups, width, 2), "w_v": (groups, width, 3)}
    if data.draw(st.booleans()):
        shapes |= {"b_q": (heads, 2), "b_k": (groups, 2), "b_v": (groups, 3)}
    if data.draw(st.booleans()):
        shapes |= {"w_o": (3 * heads, 11)} | ({"b_o": (11,)} if "b_q" in shapes else {})
    layer = mha.MultiHeadWeights(**{name: rng.normal(size=shape) for name, shape in shapes.items()})
    sizes = (layer.num_heads, layer.num_groups, layer.d_model, layer.d_context)
    assert (*sizes, layer.d_k, layer.d_v) == (heads, groups, 5, width, 2, 3)
    x, context = rng.normal(size=(n, 5)), rng.normal(size=(m, width)) if is_cross else None
    mask = data.draw(st.sampled_from([None, rng.random((heads, n, m)) < 0.5]))
    align = data.draw(st.sampled_from(["top-left", "bottom-right"]))
    first = m - n if align == "bottom-right" else 0
    options = {"mask": mask, "is_causal": is_causal, "align": align}
    found = mha.multi_head_attention(x, layer, context=context, **options)
    wanted = loop_layer(
        x,
        x if context is None else context,
        layer,
        lambda head, i, j: (mask is None or mask[head, i, j]) and (j <= i + first or not is_causal),
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)


def may_mean(shape, **readings):
    """Expect a refusal with the readings that fit."""
    wanted = " or ".join(f"mask[{at}] for one mask per {each}" for each, at in readings.items())
    said = f"mask has shape {shape}, which may mean sequences or heads; {wanted} is wanted"
    return pytest.raises(ValueError, match=f"^{re.escape(said)}$")


@pytest.mark.parametrize("batched", ["x", "context", "both"])
def test_a_three_axis_mask_of_a_batch_is_refused_as_ambiguous(rng, batched):
    """With as many sequences as heads, the sizes alone do not distinguish the axes."""
    layer, mask = random_layer(rng), mha.padding_mask([2, 5, 3], KEYS)
    x = rng.normal(size=(*(HEADS,) * (batched != "context"), QUERIES, D_MODEL))
    context = rng.normal(size=(*(HEADS,) * (batched != "x"), KEYS, D_MODEL))
    with may_mean((HEADS, 1, KEYS), sequence=":, None", head="None"):
        mha.multi_head_attention(x, layer, context=context, mask=mask)
    output = mha.multi_head_attention(x, layer, context=context, mask=mask[:, None])
    for b in range(HEADS):
        own, other = (tokens[b] if tokens.ndim == 3 else tokens for tokens in (x, context))
        alone = mha.multi_head_attention(own, layer, context=other, mask=mask[b])
        np.testing.assert_allclose(output[b], alone, rtol=1e-11, atol=1e-13)


def test_an_unambiguous_mask_is_accepted(rng):
    layer, x = random_layer(rng), rng.normal(size=(QUERIES, D_MODEL))
    mask = rng.random((HEADS, QUERIES, QUERIES)) < 0.6
    alone = mha.multi_head_attention(x, layer, mask=mask)
    in_batch = mha.multi_head_attention(x[None], layer, mask=mask[None])
    np.testing.assert_allclose(in_batch, alone[None], rtol=1e-12, atol=1e-14)
    with may_mean(mask.shape, head="None"):
        multi_head_attention_backward(in_batch, x[None], layer, mask=mask)
    a_sentence = mha.padding_mask([0, 3], QUERIES)
    with may_mean(a_sentence.shape, sequence=":, None"):
        mha.multi_head_attention(np.stack([x, x]), layer, mask=a_sentence)
    assert (mha.multi_head_attention(x[None], layer, mask=a_sentence[:1]) == 0).all()


# ---- Norms and blocks ----


@pytest.mark.parametrize(("dtype", "near"), [(np.float32, 2e-5), (np.float64, 1e-12)])
@given(data=st.data())
def test_a_norm_is_a_loop_over_fractions(dtype, near, data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=7))
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    size, away = data.draw(st.sampled_from([(1, 0), (30, 0), (1, 3), (1e-3, 0)]))
    x = (rng.normal(size=shape) * size + away).astype(dtype)
    gain, bias = rng.normal(size=(2, shape[-1])).astype(dtype)
    eps = data.draw(st.sampled_from([1e-5, 0.25]))
    found = layer_norm(x, gain, bias, eps)
    assert found.dtype == dtype
    wanted = [loop_norm(row, gain, bias, eps) for row in x.reshape(-1, shape[-1])]
    np.testing.assert_allclose(found, np.reshape(wanted, shape), rtol=near, atol=near / 10)


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e200), (np.float32, 1e30)])
def test_a_norm_of_equal_numbers_and_of_numbers_whose_squares_overflow(dtype, size):
    found = layer_norm(np.array([9, -5, 3, 1], dtype) * dtype(size))
    np.testing.assert_allclose(found, [1.4, -1.4, 0.2, -0.2], rtol=1e-5)
    np.testing.assert_array_equal(layer_norm([[size, size]], bias=[2, 3]), [[2, 3]])


def drawn_block(rng, norm, activation=None, **parts):
    """Return a block, with a feed-forward layer if it has an activation."""
    layer = random_layer(rng, 2, d_model=6, d_k=3, d_v=5, d_out=6)
    arrays = (rng.normal(size=size) for size in ((6, 7), 7, (7, 6), 6))
    return Block(layer, FeedForward(*arrays, activation) if activation else None, norm, **parts)


def drawn_translator(rng, norm):
    """Return random words of a source and a target, an encoder and a decoder of two layers."""
    encoder = [drawn_block(rng, norm, "relu") for _ in range(2)]
    decoder = [(drawn_block(rng, norm), drawn_block(rng, norm, "gelu")) for _ in range(2)]
    return rng.normal(size=(5, 6)), rng.normal(size=(3, 6)), encoder, decoder


def test_one_layer_of_a_decoder_is_two_attentions_each_added(rng):
    source, target, (reading, _), ((own, _), _) = drawn_translator(rng, "nowhere")
    asking = drawn_block(rng, "nowhere")
    read = transformer(source, [reading])
    stream = target + mha.multi_head_attention(target, own.attention, is_causal=True)
    wanted = stream + mha.multi_head_attention(stream, asking.attention, context=read)
    found = encoder_decoder(source, target, [reading], [(own, asking)])
    np.testing.assert_allclose(found, wanted, rtol=1e-10)


@pytest.mark.parametrize("norm", ["before", "after", "nowhere"])
def test_a_word_depends_on_all_of_the_source_and_on_what_is_written(rng, norm):
    source, target, *layers = drawn_translator(rng, norm)
    before = encoder_decoder(source, target, *layers)
    for place in np.eye(5):
        other = source + np.outer(place, rng.normal(size=6))
        assert (np.abs(encoder_decoder(other, target, *layers) - before).max(axis=1) > 1e-6).all()
    for i, place in enumerate(np.eye(3)):
        other = target + np.outer(place, rng.normal(size=6))
        moved = np.abs(encoder_decoder(source, other, *layers) - before).max(axis=1)
        assert (moved[:i] == 0).all()
        assert (moved[i:] > 1e-6).all()
    batch = np.stack([source, np.vstack([source[:3], rng.normal(size=(2, 6))])])
    mask = mha.padding_mask([5, 3], 5)[:, None]
    padded = encoder_decoder(batch, np.stack([target] * 2), *layers, mask=mask)
    alone = [before, encoder_decoder(source[:3], target, *layers)]
    np.testing.assert_allclose(padded, alone, rtol=1e-9)


# ---- One token at a time ----


@pytest.mark.parametrize(("dtype", "near"), [(np.float32, 2e-4), (np.float64, 1e-11)])
@given(data=st.data())
def test_steps_of_any_size_equal_the_full_causal_pass(dtype, near, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    groups = data.draw(st.sampled_from([1, 2, 3, 6]))
    leading = data.draw(st.sampled_from([(), (2,)]))
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    has_output = data.draw(st.booleans())
    drawn = random_layer(rng, 6, groups, w_o=has_output, biases=has_output)
    weights = mha.MultiHeadWeights(**{name: x.astype(dtype) for name, x in drawn.arrays.items()})
    x = rng.normal(size=(*leading, sum(sizes), D_MODEL)).astype(dtype)
    cache, rows = None, []
    for part in np.split(x, np.cumsum(sizes)[:-1], axis=-2):
        row, cache = decode_step(part, weights, cache)
        rows.append(row)
    wanted = mha.multi_head_attention(x, weights, is_causal=True)
    assert row.dtype == wanted.dtype == dtype
    np.testing.assert_allclose(np.concatenate(rows, axis=-2), wanted, atol=near, rtol=near)
    assert cache.key.shape == (*leading, groups, sum(sizes), D_K)
    assert cache.size == cache.key.size // D_K * (D_K + D_V)


def test_a_cache_of_another_sequence_gives_cross_attention(rng):
    weights = random_layer(rng, 6, 2, biases=True)
    x, context = rng.normal(size=(QUERIES, D_MODEL)), rng.normal(size=(3, D_MODEL))
    cache = KeyValueCache.of(context, weights)
    for mask in (None, np.array([True, False, True])):
        wanted = mha.multi_head_attention(x, weights, context=context, mask=mask)
        found = [ask_cache(row[None], weights, cache, mask=mask)[0] for row in x]
        np.testing.assert_allclose(found, wanted, rtol=1e-11)


@pytest.mark.parametrize("side", ["left", "right"])
def test_sequences_of_a_padded_batch_decode_as_each_alone(rng, side):
    weights, lengths, width = random_layer(rng, 6, 2, biases=True), np.array([2, 5, 3]), 5
    batch, newest = rng.normal(size=(3, width, D_MODEL)), rng.normal(size=(3, 1, D_MODEL))
    is_real = padded_places(lengths, width, side=side) >= 0
    mask = is_real[:, None, None]
    read, cache = decode_step(batch, weights, mask=mask)
    longer = np.concatenate([mask, np.ones((3, 1, 1, 1), bool)], axis=-1)
    step, _ = decode_step(newest, weights, cache, mask=longer)
    for i, real in enumerate(is_real):
        alone, kept = decode_step(batch[i, real], weights)
        np.testing.assert_allclose(read[i, real], alone, rtol=1e-11)
        np.testing.assert_allclose(step[i], decode_step(newest[i], weights, kept)[0], rtol=1e-11)


def random_latent_weights(rng, *, has_norms=False, d_r=4):
    """Return matrices of three heads for rows of 11 numbers, with a latent vector of queries."""
    heads, d_model, d_c, d_k, d_v, d_q = 3, 11, 5, 7, 2, 13
    shapes = {
        **{"w_dkv": (d_model, d_c), "w_uk": (heads, d_c, d_k), "w_uv": (heads, d_c, d_v)},
        **{"w_kr": (d_model, d_r), "w_uq": (heads, d_q, d_k), "w_qr": (heads, d_q, d_r)},
        **{"w_o": (heads * d_v, 17), "w_dq": (d_model, d_q)},
        **({"gain": d_c, "query_gain": d_q} if has_norms else {}),
    }
    return LatentWeights(**{name: rng.normal(size=shape) for name, shape in shapes.items()})


@pytest.mark.parametrize("has_norms", [False, True])
@pytest.mark.parametrize("is_causal", [False, True])
def test_latent_attention_agrees_absorbed_and_expanded_into_heads(rng, has_norms, is_causal):
    heads, d_c, d_r, n = 3, 5, 4, 6
    weights = random_latent_weights(rng, has_norms=has_norms)
    x, angles = rng.normal(size=(n, 11)), mha.rotary_angles(np.arange(n), d_r)
    plain, absorbed = (
        latent_attention(x, weights, angles=angles, is_causal=is_causal, absorbed=form)
        for form in (False, True)
    )
    np.testing.assert_allclose(absorbed.output, plain.output, rtol=1e-9)
    assert absorbed.key is absorbed.value is plain.mixed is None
    assert weights.cache_bytes(n, itemsize=2) == 2 * n * (d_c + d_r)
    turned_key = np.broadcast_to(plain.turned_key, (heads, n, d_r))
    alone = mha.scaled_dot_product_attention(
        np.concatenate([plain.query, plain.turned_query], axis=-1),
        np.concatenate([plain.key, turned_key], axis=-1),
        plain.value,
        is_causal=is_causal,
    )
    np.testing.assert_allclose(plain.head_outputs, alone, rtol=1e-12)


@pytest.mark.parametrize("has_norms", [False, True])
def test_clipped_matrices_multiply_the_scores_of_a_head_that_exceed_a_threshold(rng, has_norms):
    weights = random_latent_weights(rng, has_norms=has_norms)
    texts = rng.normal(size=(2, 6, 11))
    options = {"angles": mha.rotary_angles(np.arange(6), 4), "is_causal": False}
    scores = np.stack([latent_attention(x, weights, **options).scores for x in texts])
    largest = scores.max(axis=(0, 2, 3))
    threshold = np.sort(largest)[:2].mean()  # two of three heads exceed it
    clipped = clip_qk(weights, scores, threshold)
    after = np.stack([latent_attention(x, clipped, **options).scores for x in texts])
    factor = np.minimum(1, threshold / largest)
    assert (factor < 1).sum() == 2
    np.testing.assert_allclose(after, factor[:, None, None] * scores, rtol=1e-9)
    assert after.max() <= threshold * (1 + 1e-12)
    for name in ("w_dkv", "w_kr", "w_uv", "w_o", "w_dq"):
        np.testing.assert_array_equal(getattr(clipped, name), getattr(weights, name))
    calm = factor == 1
    for name in ("w_uq", "w_uk", "w_qr"):
        np.testing.assert_array_equal(getattr(clipped, name)[calm], getattr(weights, name)[calm])


def test_masked_and_negative_scores_clip_nothing(rng):
    weights = random_latent_weights(rng)
    scores = np.where(np.tri(6, dtype=bool), -200.0, -np.inf) * np.ones((3, 1, 1))
    np.testing.assert_array_equal(clip_qk(weights, scores, 1.0).w_qr, weights.w_qr)


# ---- Parameters, operations and bytes, against counts of the package's actual operations ----


def product_flops(left, right):
    """Count one multiplication and one addition per term of each entry of the product."""
    return 2 * int(np.prod(left[:-1])) * right[-1] * left[-1]


@pytest.mark.parametrize(("h", "g"), [(3, 3), (6, 1), (6, 2)])
def test_a_layer_costs_what_its_arrays_products_and_cache_do(rng, h, g):
    weights, n, m = random_layer(rng, h, g), QUERIES, KEYS
    d_out = weights.w_o.shape[1]
    sizes = layer_sizes(D_MODEL, h, d_k=D_K, d_v=D_V, d_out=d_out, num_groups=g)
    assert sizes.parameters == sum(array.size for array in weights.arrays.values())
    assert sizes.flops(n, m) == {
        "query": product_flops((h, n, D_MODEL), (h, D_MODEL, D_K)),
        "key": product_flops((g, m, D_MODEL), (g, D_MODEL, D_K)),  # projected once a group
        "value": product_flops((g, m, D_MODEL), (g, D_MODEL, D_V)),
        "scores": product_flops((h, n, D_K), (h, D_K, m)),
        "weighted sum": product_flops((h, n, m), (h, m, D_V)),
        "output projection": product_flops((n, h * D_V), (h * D_V, d_out)),
    }
    _, cache = decode_step(np.ones((m, D_MODEL)), weights)
    assert sizes.cache_bytes(m, itemsize=8) == cache.key.nbytes + cache.value.nbytes


def test_a_model_costs_what_its_blocks_do():
    layer = layer_sizes(D_MODEL, 6, d_k=D_K, d_v=D_V, d_out=11, num_groups=2)
    model = ModelSizes(7, layer, 13, 3)
    assert model.parameters == 7 * (layer.parameters + 3 * D_MODEL * 13)
    once = layer.flops(1, KEYS)
    mixing = 7 * (once["scores"] + once["weighted sum"])
    assert model.token_flops(KEYS) == 2 * model.parameters + mixing
    cache = 7 * layer.cache_bytes(KEYS, itemsize=2)
    assert model.step_bytes(KEYS, num_texts=5, itemsize=2) == 2 * model.parameters + 5 * cache
    assert model.mixing_flops(1) * model.equal_flops == pytest.approx(2 * model.parameters)
    texts = model.equal_bytes(5) * 5 * model.cache_bytes(1, itemsize=1)
    assert texts == pytest.approx(model.parameters)
    assert layer_sizes(6, 2) == layer_sizes(6, 2, d_k=3, d_v=3, d_out=6, num_groups=2)
