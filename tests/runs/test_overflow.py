"""Runs of numbers that are too large: the sentence names what overflows, at each stage."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import example, projected, raises, with_block, with_places

from mha import trace

HUGE = 1e308


def larger(weights, name):
    """Return a layer's weights with one matrix made huge."""
    return replace(weights, **{name: np.full_like(getattr(weights, name), HUGE)})


@pytest.mark.parametrize("name", ["w_q", "w_k", "w_v"])
def test_a_projection_of_the_embeddings(rng, name):
    start = projected(rng)
    layer = larger(start.layer, name)
    with raises(
        ValueError,
        "embeddings and the weights overflow float64 when multiplied; smaller numbers are wanted",
    ):
        trace(replace(start, layer=layer))


def test_a_position_that_is_added(rng):
    start = with_places(rng)
    huge = np.full_like(start.positions, HUGE)
    still = replace(start.layer, w_q=0 * start.layer.w_q, w_k=0 * start.layer.w_k)
    still = replace(still, w_v=0 * still.w_v)
    with raises(
        ValueError,
        "embeddings and positions overflow float64 when added; smaller numbers are wanted",
    ):
        trace(replace(start, embeddings=huge, positions=huge, layer=still))


def test_queries_of_a_position(rng):
    start = with_places(rng)
    huge = np.full_like(start.positions, HUGE)
    with raises(
        ValueError,
        "embeddings and the weights overflow float64 when multiplied; smaller numbers are wanted",
    ):
        layer = larger(start.layer, "w_q")
        trace(replace(start, embeddings=0 * start.embeddings, positions=huge, layer=layer))


def test_weights_times_values():
    # Weights sum to 1 but for the last bit, which the largest number of all does not bear.
    start = example()
    value = np.full_like(start.value, np.finfo(float).max)
    wanted = "weights and value overflow float64 when multiplied; smaller numbers are wanted"
    said = set()
    for scale in np.linspace(0.1, 1, 40):
        try:
            trace(replace(start, value=value, scale=scale))
        except ValueError as error:
            said.add(str(error))
    assert said == {wanted}


def test_what_the_heads_give(rng):
    start = projected(rng)
    with raises(
        ValueError,
        "the heads' outputs and w_o overflow float64 when multiplied; smaller numbers are wanted",
    ):
        trace(replace(start, layer=larger(start.layer, "w_o")))


def of_a_block(rng, **parts):
    """Return a block's example that starts at 1e308, and whose other numbers are as given."""
    start = with_block(rng, "nowhere", positions=None, angles=None)
    numbers = dict.fromkeys(("w_q", "w_k", "w_v", "w_o"), 0) | parts
    block = replace(
        start.block,
        attention=replace(
            start.block.attention,
            **{name: np.full_like(getattr(start.block.attention, name), numbers[name])
               for name in ("w_q", "w_k", "w_v", "w_o")},
        ),
        feed_forward=replace(
            start.block.feed_forward,
            **{name: np.full_like(getattr(start.block.feed_forward, name), numbers.get(name, 0))
               for name in ("w_in", "b_in", "w_out", "b_out")},
        ),
    )  # fmt: skip
    embeddings = np.full_like(start.embeddings, HUGE)
    return replace(start, embeddings=embeddings, layer=None, block=block)


def test_the_stream_and_what_attention_found(rng):
    with raises(
        ValueError,
        "the stream and what attention found overflow float64 when added;"
        " smaller numbers are wanted",
    ):
        trace(of_a_block(rng, w_v=1e-8, w_o=1.5e5))


def test_the_stream_and_what_the_feed_forward_layer_gave(rng):
    with raises(
        ValueError,
        "the stream and what the feed-forward layer gave overflow float64 when added;"
        " smaller numbers are wanted",
    ):
        trace(of_a_block(rng, b_out=HUGE))
