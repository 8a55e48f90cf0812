"""A number is rounded once, for display, from the digits that float arithmetic gets right."""

import re
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import numpy as np
import pytest
from helpers import finite
from hypothesis import given
from hypothesis import strategies as st

from mha.runs.rounding import (
    at_least,
    at_least_percent,
    at_most,
    at_most_percent,
    dimensions,
    percent,
    short,
    shown,
)

MINUS = "\N{MINUS SIGN}"
INFINITY = "\N{INFINITY}"


def rounded(value, places):
    """Return a number rounded half to even, from its first fourteen digits if possible."""
    unit, dust = (Decimal(1).scaleb(-n) for n in (places, 14 - len(str(int(abs(value))))))
    with localcontext(prec=400):
        known = Decimal(value).quantize(dust) if dust < unit else Decimal(value)
        return known.quantize(unit, rounding=ROUND_HALF_EVEN)


@pytest.mark.parametrize(
    ("write", "value", "places", "text"),
    [
        (shown, 2.675, 2, "2.68"),  # the float64 value lies below 2.675
        (shown, 1.3715 - 4e-16, 3, "1.372"),
        (shown, 1.3705 + 4e-16, 3, "1.370"),
        (shown, 1.3705 + 1e-13, 3, "1.371"),
        (shown, -0.0, 4, "0.0000"),
        (shown, 1e21, 4, "1000000000000000000000.0000"),  # never an exponent
        (short, 0.10005, 4, "0.1000"),
        (short, 0.1 + 0.2, 17, "0.30000000000000004"),
        (short, 0.1 + 0.2, 4, "0.3"),
        (short, -np.inf, 4, f"{MINUS}{INFINITY}"),
        (percent, 0.375, 1, "37.5\u00a0%"),
        (at_least, 0.1 + 0.2, 1, "0.3"),
        (at_most, 0.1 + 0.2, 1, "0.3"),  # what float arithmetic leaves over does not round up
        (at_least, -0.05, 1, f"{MINUS}0.1"),
        (at_most, -0.05, 1, "0.0"),
        (at_least, 0.3 - 0.5e-14, 1, "0.3"),
        (at_least, 0.3 - 1.5e-14, 1, "0.2"),  # more than float arithmetic leaves over
    ],
)
def test_a_number_is_written(write, value, places, text):
    assert write(value, places) == write(np.float64(value), places) == text


@given(finite(1e6) | st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 9))
def test_any_number_is_written_in_full_and_rounded_half_to_even(value, places):
    assert len(shown(value, places).partition(".")[2]) == places
    for text in (shown(value, places), short(value, places), short(np.float64(value), places)):
        assert re.fullmatch(rf"{MINUS}?[0-9]+(\.[0-9]+)?", text)
        assert Decimal(text.replace(MINUS, "-")) == rounded(value, places)


@given(finite(1e6), st.integers(0, 9))
def test_a_printed_bound_holds_for_the_printed_number(value, places):
    unit = Decimal(1).scaleb(-places)
    spare = Decimal("1e-14") * max(1, abs(Decimal(value)))
    for lower, upper, times in ((at_least, at_most, 1), (at_least_percent, at_most_percent, 100)):
        exact = Decimal(value) * times
        low, high = (
            Decimal(write(value, places).replace(MINUS, "-").removesuffix("\N{NO-BREAK SPACE}%"))
            for write in (lower, upper)
        )
        assert low - times * spare <= exact <= high + times * spare
        assert low <= high <= low + unit
        assert exact - low < unit
        assert high - exact < unit


def test_components_are_counted_from_one_with_lowered_digits():
    assert dimensions("q", 12)[8:] == ("q₉", "q₁₀", "q₁₁", "q₁₂")
