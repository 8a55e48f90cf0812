"""Speeds of rotary pairs for longer texts, and numbers in eight bits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mha import EightBits, interpolated_speeds, rotary_speeds, wider_base, yarn_speeds


def test_the_three_ways_agree_at_their_ends():
    usual = rotary_speeds(46)
    wide = rotary_speeds(46, base=wider_base(46, 7))
    assert wide[0] == usual[0]
    assert wide[-1] == pytest.approx(usual[-1] / 7)
    np.testing.assert_allclose(interpolated_speeds(46, 7), usual / 7)
    yarn = yarn_speeds(46, 7, length=997) / usual
    turns = 997 * usual / (2 * math.pi)
    np.testing.assert_allclose(yarn[turns > 64], 1)
    np.testing.assert_allclose(yarn[turns < 0.5], 1 / 7)
    assert (np.diff(yarn) <= 1e-15).all()


def test_a_factor_of_one_changes_nothing():
    for speeds in (interpolated_speeds(10, 1), yarn_speeds(10, 1, length=512)):
        np.testing.assert_allclose(speeds, rotary_speeds(10))


@given(arrays(float, (3, 5), elements=st.integers(-(10**6), 10**6)))
def test_eight_bits_lose_at_most_half_a_step(x):
    kept = EightBits.of(x)
    assert (np.abs(kept.numbers - x) <= kept.factor * (0.5 + 1e-9)).all()
    assert kept.nbytes == 15 + 6
    assert np.abs(kept.whole).max(initial=0) <= 127
