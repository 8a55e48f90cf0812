"""Rounding to bfloat16, against the exact neighbours of each number."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mha import to_bfloat16

SINGLE = st.floats(-(2.0**100), 2.0**100, width=32)


@given(SINGLE)
def test_the_nearest_of_both_neighbours_and_of_two_the_even_one(number):
    kept = to_bfloat16(number)
    bits = int(kept.view(np.uint32))
    assert bits % 2**16 == 0
    below, above = (
        np.uint32(bits + step * 2**16).view(np.float32) for step in (-1 if number else 0, 1)
    )
    exact = Fraction(number)
    off, *others = (abs(Fraction(float(one)) - exact) for one in (kept, below, above))
    assert off <= min(others)
    if off == min(others) and off:
        assert (bits >> 16) % 2 == 0


def test_shapes_stay_and_what_it_cannot_hold_is_refused():
    assert to_bfloat16(np.ones((2, 3))).shape == (2, 3)
    assert to_bfloat16(np.ones((2, 3))).dtype == np.float32
    assert to_bfloat16(1e-300) == 0
    for too_large in (3.4e38, -1e300):
        with pytest.raises(ValueError, match="x overflow"):
            to_bfloat16([1.0, too_large])
