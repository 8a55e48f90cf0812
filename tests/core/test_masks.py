"""Masks against their definitions, entry by entry; True means that a query may attend."""

import numpy as np
import pytest
from helpers import KEYS, QUERIES

from mha import causal_mask, padded_places, padding_mask, sliding_window_mask

SHAPES = [(QUERIES, KEYS), (KEYS, QUERIES), (QUERIES, QUERIES), (1, KEYS), (KEYS, 1)]


@pytest.mark.parametrize("align", [None, "top-left", "bottom-right"])
@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_causal(n, m, align):
    first = m - n if align == "bottom-right" else 0
    expected = [[key <= query + first for key in range(m)] for query in range(n)]
    mask = causal_mask(n, m, **({"align": align} if align else {}))
    assert mask.dtype == np.bool_
    assert mask.shape == (n, m)
    np.testing.assert_array_equal(mask, expected)


@pytest.mark.parametrize("window", [1, 2, 11])
@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_sliding_window(n, m, window):
    expected = [[abs(key - query) <= window for key in range(m)] for query in range(n)]
    mask = sliding_window_mask(n, m, window)
    assert mask.dtype == np.bool_
    np.testing.assert_array_equal(mask, expected)


def test_padding_on_either_side_and_places_in_the_text():
    lengths = [0, 3, KEYS]
    for side, first in (("right", 0), ("left", KEYS)):
        places = padded_places(lengths, KEYS, side=side)
        for row, length in zip(places, lengths, strict=True):
            start = first - length if side == "left" else 0
            wanted = [key - start if start <= key < start + length else -1 for key in range(KEYS)]
            np.testing.assert_array_equal(row, wanted)
        real = padding_mask(lengths, KEYS, side=side)
        np.testing.assert_array_equal(real, places[:, None] >= 0)
