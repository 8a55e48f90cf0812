"""Masks, positions and low-precision numbers agree with definitions and exact neighbours."""

import math
from fractions import Fraction

import numpy as np
import pytest
from helpers import HEADS
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import mha
from mha.core.bfloat16 import to_bfloat16
from mha.core.int8 import EightBits
from mha.core.positions import halves_to_pairs, linear_slopes, pairs_to_halves
from mha.core.rope_scaling import yarn_speeds

# ---- Masks: True means that a query may attend ----


@pytest.mark.parametrize(("n", "m"), [(5, 7), (7, 5), (5, 5), (1, 7), (7, 1)])
def test_causal_masks_windows_and_linear_biases_entry_by_entry(n, m):
    query, key = np.indices((n, m))
    for align, first in (("top-left", 0), ("bottom-right", m - n)):
        allowed = key <= query + first
        np.testing.assert_array_equal(mha.causal_mask(n, m, align=align), allowed)
        for heads in (1, 3, 8):
            slopes = np.array(slopes_by_recursion(heads))[:, None, None]
            wanted = -slopes * abs(query + first - key)
            found = mha.linear_biases(heads, n, m, is_causal=False, align=align)
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
            found = mha.linear_biases(heads, n, m, align=align)
            np.testing.assert_allclose(found, np.where(allowed, wanted, -np.inf), rtol=1e-12)
    np.testing.assert_array_equal(mha.causal_mask(n, m), key <= query)
    for window in (1, 2, 11):
        wanted = abs(key - query) <= window
        np.testing.assert_array_equal(mha.sliding_window_mask(n, m, window), wanted)


# ---- Positions ----


@pytest.mark.parametrize("base", [10000.0, 7.5])
@pytest.mark.parametrize("width", [1, 6, 23, 512])
def test_sinusoidal_encodings_and_rotary_angles_agree_with_their_formulas(width, base):
    sines, angles = (
        mha.sinusoidal_positions(17, width, base),
        mha.rotary_angles(range(17), 46, base=base),
    )
    for position in range(17):
        for column in range(width):
            angle = position / base ** ((column - column % 2) / width)
            wanted = math.cos(angle) if column % 2 else math.sin(angle)
            assert sines[position, column] == pytest.approx(wanted, rel=1e-12, abs=1e-12)
        wanted = [position * base ** (-2 * pair / 46) for pair in range(23)]
        np.testing.assert_allclose(angles[position], wanted, rtol=1e-12)


@pytest.mark.parametrize(("dtype", "near"), [(np.float32, 3e-6), (np.float64, 1e-12)])
@given(st.data())
def test_a_rotation_is_a_product_of_complex_numbers(dtype, near, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    leading = data.draw(st.sampled_from([(), (HEADS,), (2, HEADS)]))
    n, half = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9))
    x = rng.normal(size=(*leading, n, 2 * half)).astype(dtype)
    positions = rng.uniform(-100, 100, size=n)
    powers = np.exp(1j * mha.rotary_angles(positions, 2 * half))
    turned = (x[..., ::2].astype(float) + 1j * x[..., 1::2]) * powers
    wanted = np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)
    in_halves = mha.rotate(pairs_to_halves(x), positions, layout="halves")
    for found in (mha.rotate(x, positions), halves_to_pairs(in_halves)):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, wanted, atol=near)


def slopes_by_recursion(n):
    """Return the slopes by the recursion in the code that was published with the paper."""
    if math.log2(n).is_integer():
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]
    below = 2 ** math.floor(math.log2(n))
    return slopes_by_recursion(below) + slopes_by_recursion(2 * below)[::2][: n - below]


def test_slopes_are_those_of_the_published_code():
    for heads in (*range(1, 41), 64, 71, 128):
        wanted = slopes_by_recursion(heads)
        np.testing.assert_allclose(linear_slopes(heads), wanted, rtol=1e-12)


# ---- Low-precision numbers ----


@given(arrays(float, (3, 5), elements=st.integers(-(10**6), 10**6)))
def test_int8_rounding_errors_are_at_most_half_a_step(x):
    kept = EightBits.of(x)
    assert (np.abs(kept.numbers - x) <= kept.factor * (0.5 + 1e-9)).all()
    assert kept.nbytes == 15 + 6
    assert np.abs(kept.whole).max(initial=0) <= 127


TIES = st.integers(1, 0x6000).map(lambda bits: float(np.uint32(bits << 16 | 0x8000).view("f4")))


@given(TIES | st.floats(-(2.0**100), 2.0**100, width=32))
@example(2.0**-149)
@example(-(2.0**-149))
def test_bfloat16_rounds_to_nearest_and_ties_to_even(number):
    kept = to_bfloat16(number)
    bits = int(kept.view(np.uint32))
    assert bits % 2**16 == 0
    smallest = (0x0001_0000, 0x8001_0000)  # the neighbours of zero, above and below
    around = (bits - 2**16, bits + 2**16) if kept else smallest
    below, above = (np.uint32(each).view(np.float32) for each in around)
    exact = Fraction(number)
    off, *others = (abs(Fraction(float(one)) - exact) for one in (kept, below, above))
    assert off <= min(others)
    if off == min(others) and off:
        assert (bits >> 16) % 2 == 0


def test_a_width_as_an_eight_bit_integer_gives_the_same_speeds():
    given = {"factor": 2.0, "length": 64, "fast": 5e-324, "base": 10.0}
    assert np.array_equal(yarn_speeds(np.int8(2), **given), yarn_speeds(2, **given))
