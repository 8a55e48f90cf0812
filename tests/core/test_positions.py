"""Positions against formulas and complex numbers."""

import math

import numpy as np
import pytest
from helpers import HEADS
from hypothesis import example, given
from hypothesis import strategies as st

from mha.core.masks import causal_mask
from mha.core.positions import (
    halves_to_pairs,
    linear_biases,
    linear_slopes,
    pairs_to_halves,
    rotary_angles,
    rotate,
    sinusoidal_positions,
)

# Sinusoidal positions


@given(st.integers(1, 17), st.integers(1, 23), st.sampled_from([10000.0, 100, 7.5]))
@example(3, 512, 10000.0)
def test_each_number_is_that_of_the_formula(count, width, base):
    found = sinusoidal_positions(count, width, base)
    assert found.shape == (count, width)
    for position in range(count):
        for column in range(width):
            angle = position / base ** ((column - column % 2) / width)
            wanted = math.cos(angle) if column % 2 else math.sin(angle)
            assert found[position, column] == pytest.approx(wanted, rel=1e-12, abs=1e-12)


# Rotary positions


def complex_turn(x, angles):
    """Return pairs as complex numbers times e to the power of i times the angle."""
    turned = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data(), layout=st.sampled_from(["pairs", "halves"]))
def test_a_turn_is_a_product_of_complex_numbers(dtype, data, layout):
    seed = data.draw(st.integers(0, 9999))
    leading = data.draw(st.sampled_from([(), (HEADS,), (2, HEADS)]))
    n, half = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(*leading, n, 2 * half)).astype(dtype)
    positions = rng.uniform(-100, 100, size=n)
    angles = rotary_angles(positions, 2 * half)
    found = rotate(x if layout == "pairs" else pairs_to_halves(x), positions, layout=layout)
    assert found.dtype == dtype
    wanted = complex_turn(x.astype(np.float64), angles)
    pairs = found if layout == "pairs" else halves_to_pairs(found)
    np.testing.assert_allclose(pairs, wanted, atol=3e-6 if dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("base", [10000.0, 10.0])
def test_each_angle_is_that_of_the_formula(base):
    found = rotary_angles(range(29), 6, base=base)
    wanted = [[position * base ** (-2 * pair / 6) for pair in range(3)] for position in range(29)]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


# Linear biases


def slopes_by_recursion(n):
    """Return the slopes as the code published with the paper makes them, by another formula."""
    if math.log2(n).is_integer():
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]
    below = 2 ** math.floor(math.log2(n))
    return slopes_by_recursion(below) + slopes_by_recursion(2 * below)[::2][: n - below]


@pytest.mark.parametrize("num_heads", [*range(1, 41), 64, 71, 128])
def test_slopes_are_those_of_the_published_code(num_heads):
    wanted = slopes_by_recursion(num_heads)
    np.testing.assert_allclose(linear_slopes(num_heads), wanted, rtol=1e-12)


@pytest.mark.parametrize("align", ["top-left", "bottom-right"])
@pytest.mark.parametrize("is_causal", [True, False])
@given(heads=st.integers(1, 9), num_queries=st.integers(1, 7), num_keys=st.integers(1, 7))
def test_each_bias_is_minus_the_slope_times_the_distance(
    heads, num_queries, num_keys, align, is_causal
):
    found = linear_biases(heads, num_queries, num_keys, is_causal=is_causal, align=align)
    assert found.shape == (heads, num_queries, num_keys)
    first = num_keys - num_queries if align == "bottom-right" else 0
    for head, slope in enumerate(slopes_by_recursion(heads)):
        for i in range(num_queries):
            for j in range(num_keys):
                later = j > i + first
                wanted = -math.inf if later and is_causal else -slope * abs(i + first - j)
                assert found[head, i, j] == pytest.approx(wanted)
    if is_causal:
        allowed = causal_mask(num_queries, num_keys, align=align)
        np.testing.assert_array_equal(np.isfinite(found[0]), allowed)
