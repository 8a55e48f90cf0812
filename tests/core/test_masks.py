"""Masks against their definitions, entry by entry; True means that a query may attend."""

import numpy as np
import pytest
from helpers import KEYS, QUERIES, raises

from mha import causal_mask, padded_places, padding_mask, sliding_window_mask
from mha.core.masks import as_additive_mask, as_mask

INF = np.inf
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
    with raises(ValueError, 'side is \'top\'; "right" or "left" is wanted'):
        padding_mask(2, 3, side="top")


def test_true_adds_nothing_and_false_adds_minus_infinity():
    additive = as_additive_mask([[True, False, True]], False, (2, 3))
    np.testing.assert_array_equal(additive, [[0, -INF, 0]])


def test_causal_alone_and_with_a_mask():
    causal = [[0, -INF, -INF], [0, 0, -INF]]
    np.testing.assert_array_equal(as_additive_mask(None, True, (2, 3)), causal)
    both = as_additive_mask([[False, True, True]], True, (2, 3))
    np.testing.assert_array_equal(both, [[-INF, -INF, -INF], [-INF, 0, -INF]])
    added = as_additive_mask([[1.0, 2.0, 3.0]], True, (2, 3))
    np.testing.assert_array_equal(added, [[1, -INF, -INF], [1, 2, -INF]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("mask", [np.ones((2, 3), bool), np.ones((2, 3)), np.ones(3, np.float16)])
def test_the_dtype_is_that_of_the_scores(mask, is_causal, dtype):
    assert as_additive_mask(mask, is_causal, (2, 3), dtype).dtype == dtype


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (1, 3), (2, 1), (5, 1, 3), (5, 2, 3)])
def test_shapes_that_broadcast(shape):
    assert as_mask(np.ones(shape, bool), (5, 2, 3)).shape == shape


@pytest.mark.parametrize("shape", [(3, 2), (2, 2), (7, 2, 3), (1, 5, 2, 3), (7, 5, 2, 3)])
def test_a_mask_of_the_wrong_shape_is_refused(shape):
    with raises(
        ValueError,
        f"mask has shape {shape}; one that broadcasts to the scores' (5, 2, 3) is wanted",
    ):
        as_mask(np.ones(shape, bool), (5, 2, 3))


@pytest.mark.parametrize(("bad", "text"), [(np.nan, "nan"), (INF, "inf")])
def test_nan_and_plus_infinity_are_refused(bad, text):
    wanted = "finite numbers or minus infinity are wanted"
    with raises(ValueError, f"mask holds {text} at index (0, 1); {wanted}"):
        as_mask([[0.0, bad]], (2, 2))
