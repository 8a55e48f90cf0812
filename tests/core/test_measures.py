"""Entropy and total variation by their closed forms, bounds and definitions."""

import math
from itertools import product

import numpy as np
import pytest
from helpers import arrays, raises
from hypothesis import given

from mha import entropy, softmax, total_variation
from mha.core.measures import row_sums


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_entropy_of_equal_shares_is_the_logarithm_of_their_number(n):
    assert entropy(np.full(n, 1 / n)) == pytest.approx(math.log(n), abs=1e-15)


def test_entropy_of_one_key_is_zero_without_a_sign():
    result = entropy([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(result, [0, 0])
    assert not np.signbit(result).any()


@given(arrays((3, 5), limit=30))
def test_entropy_lies_between_its_bounds(scores):
    result = entropy(softmax(scores))
    assert (result >= 0).all()
    assert (result <= math.log(5) + 1e-14).all()


def test_entropy_along_an_axis(rng):
    weights = softmax(rng.normal(size=(2, 3, 5)), axis=1)
    by_hand = [
        [math.fsum(-w * math.log(w) for w in weights[i, :, j]) for j in range(5)] for i in range(2)
    ]
    np.testing.assert_allclose(entropy(weights, axis=1), by_hand, rtol=1e-14)


def test_two_choices_in_a_row_add_their_entropies(rng):
    first, second = softmax(rng.normal(size=3)), softmax(rng.normal(size=5))
    both = np.outer(first, second).ravel()
    assert entropy(both) == pytest.approx(entropy(first) + entropy(second), rel=1e-14)


def test_total_variation_of_equal_rows_and_of_rows_that_share_no_key():
    rows = [[0.25, 0.75, 0.0], [0.5, 0.5, 0.0]]
    np.testing.assert_array_equal(total_variation(rows, rows), [0, 0])
    np.testing.assert_array_equal(total_variation(rows, [[0, 0, 1], [0, 0, 1]]), [1, 1])


@given(arrays((2, 5), limit=30))
def test_total_variation_is_the_largest_difference_over_any_set_of_keys(scores):
    first, second = softmax(scores)
    sets = np.array(list(product([0, 1], repeat=5)))
    largest = (sets @ (first - second)).max()
    assert total_variation(first, second) == pytest.approx(largest, abs=1e-14)


@given(arrays((3, 5), limit=30))
def test_total_variation_is_a_distance(scores):
    a, b, c = softmax(scores)
    assert total_variation(a, b) == total_variation(b, a)
    assert 0 <= total_variation(a, b) <= 1 + 1e-14
    assert total_variation(a, c) <= total_variation(a, b) + total_variation(b, c) + 1e-14


def test_total_variation_along_an_axis(rng):
    first, second = softmax(rng.normal(size=(2, 2, 3, 5)), axis=2)
    by_hand = [
        [math.fsum(abs(first[i, :, j] - second[i, :, j])) / 2 for j in range(5)] for i in range(2)
    ]
    np.testing.assert_allclose(total_variation(first, second, axis=1), by_hand, rtol=1e-13)


@pytest.mark.parametrize(
    ("given_dtype", "dtype"),
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (int, np.float64),
    ],
)
def test_dtypes(given_dtype, dtype):
    weights = np.array([[0, 1, 0]], given_dtype)
    assert entropy(weights).dtype == dtype
    assert total_variation(weights, weights).dtype == dtype


def itself(weights, **options):
    return total_variation(weights, weights, **options)


@pytest.mark.parametrize("function", [entropy, itself])
def test_an_axis_that_is_not_there_is_refused(function):
    with raises(ValueError, "axis is 2; a whole number from -2 to 1 is wanted"):
        function(np.ones((3, 5)), axis=2)
    with raises(TypeError, "axis is None; a whole number from -2 to 1 is wanted"):
        function(np.ones((3, 5)), axis=None)


def test_entropy_refuses_a_negative_weight():
    with raises(ValueError, "weights holds -0.5 at index (1,); numbers from 0 up are wanted"):
        entropy([1.5, -0.5])


NO_DISTRIBUTIONS = [
    ([0.5, 0.4], 0.9),
    ([0.5, 0.6], 1.1),
    ([0.5, 0.5 + 2e-5], 1.00002),
    ([1e-3, 0.0], 0.001),
    ([3.0, 4.0], 7),
    ([1, 1], 2),
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


def test_the_row_is_along_the_axis():
    columns = np.array([[0.25, 0.5], [0.75, 0.5]])
    np.testing.assert_allclose(entropy(columns, axis=0), entropy(columns.T), rtol=1e-15)
    with raises(ValueError, not_a_row("weights", 0.75)):
        entropy(columns)
    with raises(ValueError, not_a_row("first", 0.75)):
        total_variation(columns, columns)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("n", [3, 101, 4099])
def test_rounding_is_no_mistake(rng, n, dtype):
    rows = softmax(3 * rng.normal(size=(5, n))).astype(dtype)
    in_single = softmax(3 * rng.normal(size=(5, n)).astype(np.float32))
    for weights in (rows, in_single, in_single.astype(np.float64)):
        assert (entropy(weights) > 0).all()
        assert (total_variation(weights, weights[::-1])[:2] > 0).all()


def test_a_fully_masked_row_shares_no_key_with_any_other():
    rows = [[0.0, 0.0], [0.25, 0.75], [0.0, 0.0]]
    others = [[0.0, 0.0], [0.0, 0.0], [0.5, 0.5]]
    result = total_variation(rows, others)
    np.testing.assert_array_equal(result, [0, 1, 1])
    assert result.dtype == np.float64
    np.testing.assert_array_equal(total_variation(others, rows), [0, 1, 1])
    assert type(total_variation([0.0, 0.0], [0.5, 0.5])) is np.float64


@pytest.mark.parametrize("name", ["first", "second"])
@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        ([1.5, -0.5], "holds -0.5 at index (1,); numbers from 0 up are wanted"),
        ([np.nan, 1.0], "holds nan at index (0,); finite numbers are wanted"),
        (1.0, "has shape (); at least 1 axis is wanted"),
    ],
)
def test_total_variation_names_what_it_refuses(name, bad, sentence):
    with raises(ValueError, f"{name} {sentence}"):
        total_variation(**{"first": [0.5, 0.5], "second": [0.5, 0.5], name: bad})


def test_rows_of_two_shapes_are_refused():
    with raises(ValueError, "first has shape (2, 3) but second has (3,); they must match"):
        total_variation(np.ones((2, 3)), np.ones(3))


def test_sums_of_narrow_numbers_are_wide():
    sums = row_sums(np.full((2, 3), 3e38, np.float32))
    assert sums.dtype == np.float64
    np.testing.assert_allclose(sums, [9e38, 9e38])
