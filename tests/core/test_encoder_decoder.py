"""An encoder and a decoder against their parts, and what each word can depend on."""

import numpy as np
import pytest
from helpers import random_layer

from mha import (
    Block,
    FeedForward,
    KeyValueCache,
    ask_cache,
    decode_step,
    encoder_decoder,
    multi_head_attention,
)

WIDTH, SOURCE, TARGET = 6, 5, 3


def block(rng, norm, *, feeds):
    layer = random_layer(rng, 2, d_model=WIDTH, d_k=3, d_v=3, d_out=WIDTH)
    w_in, w_out = rng.normal(size=(WIDTH, 7)), rng.normal(size=(7, WIDTH))
    return Block(layer, FeedForward(w_in, None, w_out, None) if feeds else None, norm)


def stacks(rng, norm):
    encoder = [block(rng, norm, feeds=True) for _ in range(2)]
    pairs = [(block(rng, norm, feeds=False), block(rng, norm, feeds=True)) for _ in range(2)]
    return encoder, pairs


def words(rng):
    return rng.normal(size=(SOURCE, WIDTH)), rng.normal(size=(TARGET, WIDTH))


def test_one_layer_is_three_attentions_each_added(rng):
    (source, target), own, asking = words(rng), *(block(rng, "nowhere", feeds=False) for _ in "ab")
    reading = block(rng, "nowhere", feeds=False)
    read = source + multi_head_attention(source, reading.attention)
    stream = target + multi_head_attention(target, own.attention, is_causal=True)
    wanted = stream + multi_head_attention(stream, asking.attention, context=read)
    found = encoder_decoder(source, target, [reading], [(own, asking)])
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    cache, full = None, KeyValueCache.of(read, asking.attention)
    for i, token in enumerate(target):
        from_own, cache = decode_step(token[None], own.attention, cache)
        row = token + from_own
        np.testing.assert_allclose(row + ask_cache(row, asking.attention, full), wanted[[i]])


@pytest.mark.parametrize("norm", ["before", "after", "nowhere"])
def test_a_word_depends_on_all_of_the_source_and_on_what_is_written(rng, norm):
    (source, target), (encoder, decoder) = words(rng), stacks(rng, norm)
    before = encoder_decoder(source, target, encoder, decoder)
    for i in range(SOURCE):
        other = source + np.eye(SOURCE)[[i]].T * rng.normal(size=WIDTH)
        after = encoder_decoder(other, target, encoder, decoder)
        assert (np.abs(after - before).max(axis=1) > 1e-6).all()
    for i in range(TARGET):
        other = target + np.eye(TARGET)[[i]].T * rng.normal(size=WIDTH)
        moved = np.abs(encoder_decoder(source, other, encoder, decoder) - before).max(axis=1)
        assert (moved[:i] == 0).all()
        assert (moved[i:] > 1e-6).all()


def test_padding_of_the_source_is_heard_nowhere(rng):
    (source, target), (encoder, decoder) = words(rng), stacks(rng, "after")
    batch = np.stack([source, np.vstack([source[:3], rng.normal(size=(2, WIDTH))])])
    mask = np.array([[True] * 5, [True] * 3 + [False] * 2])[:, None, None]
    found = encoder_decoder(batch, np.stack([target] * 2), encoder, decoder, mask=mask)
    for i, text in enumerate((source, source[:3])):
        np.testing.assert_allclose(found[i], encoder_decoder(text, target, encoder, decoder))
