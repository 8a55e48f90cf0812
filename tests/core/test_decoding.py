"""One token at a time equals the causal pass over all of them."""

import numpy as np
import pytest
from helpers import BATCH, D_K, D_MODEL, D_V, QUERIES, random_layer
from hypothesis import given
from hypothesis import strategies as st

from mha.core.decoding import KeyValueCache, ask_cache, decode_step
from mha.core.masks import padded_places, padding_mask
from mha.core.multihead import MultiHeadWeights, multi_head_attention


def decoded(x, weights, sizes):
    """Return the outputs of steps of these sizes, below each other, and the last cache."""
    cache, rows, start = None, [], 0
    for size in sizes:
        row, cache = decode_step(x[..., start : start + size, :], weights, cache)
        rows.append(row)
        start += size
    return np.concatenate(rows, axis=-2), cache


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_steps_of_any_size_equal_the_full_causal_pass(dtype, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    groups = data.draw(st.sampled_from([1, 2, 3, 6]))
    leading = data.draw(st.sampled_from([(), (BATCH,)]))
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    has_output = data.draw(st.booleans())
    drawn = random_layer(rng, 6, groups, w_o=has_output, biases=has_output)
    weights = MultiHeadWeights(**{name: x.astype(dtype) for name, x in drawn.arrays.items()})
    x = rng.normal(size=(*leading, sum(sizes), D_MODEL)).astype(dtype)
    found, cache = decoded(x, weights, sizes)
    wanted = multi_head_attention(x, weights, is_causal=True)
    assert found.dtype == wanted.dtype == dtype
    tolerance = 2e-4 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(found, wanted, atol=tolerance, rtol=tolerance)
    assert len(cache) == sum(sizes)
    assert cache.key.shape == (*leading, groups, sum(sizes), D_K)
    assert cache.size == np.prod(leading, dtype=int) * groups * sum(sizes) * (D_K + D_V)


def test_a_cache_of_another_text_is_asked_as_by_cross_attention(rng):
    weights = random_layer(rng, 6, 2, biases=True)
    x, context = rng.normal(size=(QUERIES, D_MODEL)), rng.normal(size=(3, D_MODEL))
    cache = KeyValueCache.of(context, weights)
    mask = np.array([True, False, True])
    for allowed in (None, mask):
        wanted = multi_head_attention(x, weights, context=context, mask=allowed)
        found = [ask_cache(row[None], weights, cache, mask=allowed)[0] for row in x]
        np.testing.assert_allclose(found, wanted, rtol=1e-11)


@pytest.mark.parametrize("side", ["left", "right"])
def test_texts_of_a_padded_batch_are_written_as_each_alone(rng, side):
    weights, lengths, width = random_layer(rng, 6, 2, biases=True), np.array([2, 5, 3]), 5
    texts = [rng.normal(size=(n, D_MODEL)) for n in lengths]
    newest = rng.normal(size=(len(lengths), 1, D_MODEL))
    places = padded_places(lengths, width, side=side)
    batch = rng.normal(size=(len(lengths), width, D_MODEL))  # the padding is anything
    for row, at, text in zip(batch, places, texts, strict=True):
        row[at >= 0] = text
    real = padding_mask(lengths, width, side=side)[:, None]
    read, cache = decode_step(batch, weights, mask=real)
    longer = np.concatenate([real, np.ones((len(lengths), 1, 1, 1), bool)], axis=-1)
    step, _ = decode_step(newest, weights, cache, mask=longer)
    for i, text in enumerate(texts):
        alone, kept = decode_step(text, weights)
        np.testing.assert_allclose(read[i][places[i] >= 0], alone, rtol=1e-11)
        np.testing.assert_allclose(step[i], decode_step(newest[i], weights, kept)[0], rtol=1e-11)
