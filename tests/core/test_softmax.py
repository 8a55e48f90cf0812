"""Softmax by closed forms and loops; Jacobian by differences, backward pass by fractions."""

import math
from fractions import Fraction

import numpy as np
import pytest
from helpers import arrays, central_differences, finite, raises
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha import softmax, softmax_backward, softmax_jacobian


@given(hnp.arrays(np.float64, (3, 5), elements=finite(300) | st.just(-np.inf)))
def test_each_weight_is_that_of_a_loop_and_minus_infinity_has_none(scores):
    for row, weights in zip(scores.tolist(), softmax(scores), strict=True):
        largest = max(row)
        powers = [0.0 if s == -np.inf else math.exp(s - largest) for s in row]
        total = math.fsum(powers) or 1.0
        np.testing.assert_allclose(weights, [power / total for power in powers], rtol=1e-13)


def test_axis_is_the_axis_it_says(rng):
    scores = rng.normal(size=(2, 3, 5))
    scores[0, 1] = scores[:, 2, 3] = -np.inf
    for axis in range(-3, 3):
        last = np.moveaxis(softmax(np.moveaxis(scores, axis, -1)), -1, axis)
        np.testing.assert_allclose(softmax(scores, axis), last, rtol=1e-15)


@given(hnp.arrays(np.float64, (3, 5), elements=finite(1e300)))
def test_huge_scores_neither_overflow_nor_warn(scores):
    weights = softmax(scores)
    assert np.isfinite(weights).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-14)
    assert (weights[np.arange(3), scores.argmax(axis=-1)] >= 1 / 5).all()


def test_jacobian_against_differences(rng):
    scores = rng.normal(size=(3, 5))
    jacobian = softmax_jacobian(softmax(scores))
    assert jacobian.shape == (3, 5, 5)
    for row in range(3):
        for i in range(5):
            slope = central_differences(lambda s, i=i: softmax(s)[i], scores[row])
            np.testing.assert_allclose(jacobian[row, i], slope, atol=1e-9)


@given(arrays((3, 5), limit=30), arrays((3, 5)))
def test_backward_is_the_product_with_the_jacobian(scores, d_weights):
    weights = softmax(scores)
    expected = np.einsum("ri,rij->rj", d_weights, softmax_jacobian(weights))
    np.testing.assert_allclose(softmax_backward(d_weights, weights), expected, atol=1e-13)


def exact_backward(d_weights, weights):
    """Return the gradient of one row in exact arithmetic."""
    d_weights, weights = ([Fraction(float(x)) for x in row] for row in (d_weights, weights))
    average = sum(w * d for w, d in zip(weights, d_weights, strict=True))
    return [w * (d - average) for w, d in zip(weights, d_weights, strict=True)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(st.data())
def test_backward_of_the_largest_numbers_is_exact_or_one_sentence(dtype, data):
    largest = float(np.finfo(dtype).max)
    elements = st.sampled_from([-largest, -largest / 3, -1.0, 0.0, 1.0, largest / 7, largest])
    d_weights = data.draw(hnp.arrays(dtype, 5, elements=elements))
    weights = softmax(data.draw(arrays(5, limit=4, dtype=dtype)))
    exact = exact_backward(d_weights, weights)
    slack = 8 * float(np.finfo(dtype).eps) * largest
    assert max(map(abs, exact)) < largest / 1.5  # a weight times twice the largest, and less
    found = softmax_backward(d_weights, weights)
    assert found.dtype == dtype
    for got, want, weight in zip(found.tolist(), exact, weights.tolist(), strict=True):
        assert abs(Fraction(got) - want) <= slack * weight


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weight", [4.0, 1e30, "largest"])
def test_backward_refuses_what_is_too_large_for_its_dtype(dtype, weight):
    largest = np.finfo(dtype).max
    weight = largest if weight == "largest" else weight
    name = np.dtype(dtype).name
    sentence = f"d_weights and weights overflow {name} when multiplied; smaller numbers are wanted"
    with raises(ValueError, sentence):
        softmax_backward(np.array([largest, -largest]), np.array([weight, weight], dtype))
