"""Entropy and total variation by their definitions."""

import math
from itertools import product

import numpy as np
import pytest
from helpers import arrays, raises
from hypothesis import given

from mha import entropy, softmax, total_variation


def test_entropy_of_one_key_is_zero_without_a_sign():
    result = entropy([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(result, [0, 0])
    assert not np.signbit(result).any()


def test_each_is_its_definition_along_the_axis_it_is_told(rng):
    first, second = softmax(rng.normal(size=(2, 2, 3, 5)), axis=2)
    apart = total_variation(first, second, axis=1)
    spread = entropy(first, axis=1)
    for i, j in np.ndindex(2, 5):
        weights, others = first[i, :, j], second[i, :, j]
        by_hand = math.fsum(-w * math.log(w) for w in weights)
        assert spread[i, j] == pytest.approx(by_hand, rel=1e-14)
        assert apart[i, j] == pytest.approx(math.fsum(abs(weights - others)) / 2, rel=1e-13)


@given(arrays((2, 5), limit=30))
def test_total_variation_is_the_largest_difference_over_any_set_of_keys(scores):
    first, second = softmax(scores)
    sets = np.array(list(product([0, 1], repeat=5)))
    largest = (sets @ (first - second)).max()
    assert total_variation(first, second) == pytest.approx(largest, abs=1e-14)


NO_DISTRIBUTIONS = [
    ([0.5, 0.5 + 2e-5], 1.00002),
    (np.array([0.5, 0.501], np.float32), 1.001),
    (np.array([0.5, 0.51], np.float16), 1.00977),
    ([[0.5, 0.5], [0.25, 0.25]], 0.5),
]


def not_a_row(name, total):
    return f"{name} has a row that sums to {total}; 1, or 0 for a fully masked row, is wanted"


@pytest.mark.parametrize(("bad", "total"), NO_DISTRIBUTIONS)
def test_a_row_that_is_no_distribution_is_refused(bad, total):
    with raises(ValueError, not_a_row("weights", total)):
        entropy(bad)
    good = np.full(np.shape(bad), 0.5)
    with raises(ValueError, not_a_row("first", total)):
        total_variation(bad, good)
    with raises(ValueError, not_a_row("second", total)):
        total_variation(good, bad)
