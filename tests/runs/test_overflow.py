"""Runs of numbers that are too large: the sentence names what overflows, at each stage."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import projected, raises

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
