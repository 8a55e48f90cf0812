"""A number is rounded once, from its exact float64 value, when it is shown."""

import re
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import numpy as np
import pytest
from helpers import finite, raises
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


@given(finite(1e6), st.integers(0, 9))
def test_shown_is_the_exact_value_rounded_half_to_even(value, places):
    exact = Decimal(value).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
    text = shown(value, places)
    assert Decimal(text.replace(MINUS, "-")) == exact
    assert "-" not in text
    assert len(text.partition(".")[2]) == places


@given(finite(1e6), st.integers(0, 9))
def test_zero_has_no_sign(value, places):
    text = shown(value, places)
    assert text.startswith(MINUS) == (Decimal(text.replace(MINUS, "-")) < 0)


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (0.125, 2, "0.12"),
        (0.375, 2, "0.38"),
        (2.675, 2, "2.67"),  # the float64 value lies below 2.675
        (-0.5, 0, "0"),
        (-1.5, 0, f"{MINUS}2"),
        (-0.0, 4, "0.0000"),
        (1e16, 1, "10000000000000000.0"),
        (1e21, 4, "1000000000000000000000.0000"),  # never an exponent
        (-1e21, 0, f"{MINUS}1000000000000000000000"),
        (1.7e308, 0, str(int(1.7e308))),
        (1e-320, 4, "0.0000"),
        (-1e-320, 4, "0.0000"),
        (5e-324, 2, "0.00"),
        (1234567.891, 4, "1234567.8910"),
        (1234567.891, 2, "1234567.89"),
        (0.5, 0, "0"),
        (1.5, 0, "2"),
        (2**53 + 2.0, 0, "9007199254740994"),
        (-np.inf, 4, f"{MINUS}{INFINITY}"),
        (np.inf, 4, "inf"),
        (np.nan, 4, "nan"),
        (-np.nan, 4, "nan"),
    ],
)
def test_shown(value, places, text):
    assert shown(value, places) == text
    assert shown(np.float64(value), places) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 9))
def test_any_number_is_written_in_full_and_short_says_the_same(value, places):
    with localcontext(prec=400):
        exact = Decimal(value).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
        for text in (shown(value, places), short(value, places), short(np.float64(value), places)):
            assert re.fullmatch(rf"{MINUS}?[0-9]+(\.[0-9]+)?", text)
            assert Decimal(text.replace(MINUS, "-")) == exact


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [(0.125, 0, "12 %"), (0.375, 1, "37.5 %"), (1, 0, "100 %"), (-0.25, 0, f"{MINUS}25 %")],
)
def test_percent(value, places, text):
    assert percent(value, places) == text.replace(" ", "\N{NO-BREAK SPACE}")
    assert percent(value, places)._repr_markdown_() == percent(value, places)


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (0.6, 4, "0.6"),
        (10.0, 4, "10"),
        (100.0, 0, "100"),
        (0.10005, 4, "0.1001"),
        (-0.00001, 4, "0.0000"),
        (-1.5, 4, f"{MINUS}1.5"),
        (1234567.891, 4, "1234567.891"),
        (1e21, 4, "1000000000000000000000"),
        (1e-320, 4, "0"),
        (0.1 + 0.2, 17, "0.30000000000000004"),
        (0.1 + 0.2, 4, "0.3"),
        (2.5e-5, 4, "0.0000"),
        (-np.inf, 4, f"{MINUS}{INFINITY}"),
        (np.inf, 4, "inf"),
        (np.nan, 4, "nan"),
    ],
)
def test_short(value, places, text):
    assert short(value, places) == text
    assert short(np.float64(value), places) == text


# ---- Bounds ----

BOUNDS = (at_least, at_most, at_least_percent, at_most_percent)


def exactly(text):
    return Decimal(text.replace(MINUS, "-").removesuffix("\N{NO-BREAK SPACE}%"))


@given(finite(1e6), st.integers(0, 9))
def test_what_a_bound_bounds_keeps_to_it_as_printed(value, places):
    unit = Decimal(1).scaleb(-places)
    spare = Decimal("1e-14") * max(1, abs(Decimal(value)))
    low, high = exactly(at_least(value, places)), exactly(at_most(value, places))
    assert low - spare <= Decimal(value) <= high + spare
    assert low <= high <= low + unit
    assert Decimal(value) - low < unit
    assert high - Decimal(value) < unit
    share = Decimal(value) * 100
    low, high = exactly(at_least_percent(value, places)), exactly(at_most_percent(value, places))
    assert low - 100 * spare <= share <= high + 100 * spare
    assert low <= high <= low + unit


@pytest.mark.parametrize(
    ("value", "places", "low", "high"),
    [
        (1.683, 1, "1.6", "1.7"),
        (6.93, 1, "6.9", "7.0"),
        (0.1 + 0.2, 1, "0.3", "0.3"),  # what float arithmetic leaves over is no reason to round up
        (-0.05, 1, f"{MINUS}0.1", "0.0"),
        (-0.0, 2, "0.00", "0.00"),
        (3.0, 0, "3", "3"),
        (1e21, 1, "1000000000000000000000.0", "1000000000000000000000.0"),
        (5e-324, 2, "0.00", "0.00"),
        (0.001, 2, "0.00", "0.01"),
        (0.3 - 0.5e-14, 1, "0.3", "0.3"),
        (0.3 - 1.5e-14, 1, "0.2", "0.3"),  # more than float arithmetic leaves over
        (1e200, 4, f"{int(1e200)}.0000", f"{int(1e200)}.0000"),
    ],
)
def test_bounds(value, places, low, high):
    assert (at_least(value, places), at_most(value, places)) == (low, high)


def test_bounds_in_percent():
    assert (at_least_percent(0.0770), at_most_percent(0.0770)) == ("7\u00a0%", "8\u00a0%")
    assert (at_least_percent(0.07), at_most_percent(0.07)) == ("7\u00a0%", "7\u00a0%")
    assert at_most_percent(0.9230, 1)._repr_markdown_() == "92.3\u00a0%"


@pytest.mark.parametrize("write", BOUNDS)
def test_what_cannot_bound_is_refused(write):
    with raises(ValueError, "places is -1; a whole number of at least 0 is wanted"):
        write(0.5, places=-1)
    for value in (np.inf, -np.inf, np.nan):
        with raises(ValueError, f"value is {value}; a finite number is wanted"):
            write(value)


def test_components_are_counted_from_one_with_lowered_digits():
    assert dimensions("q", 12)[8:] == ("q₉", "q₁₀", "q₁₁", "q₁₂")


@pytest.mark.parametrize("write", [shown, percent, short, at_least, at_most_percent])
@pytest.mark.parametrize("value", [None, "much", [1, 2]])
def test_what_is_no_number_is_refused(write, value):
    with pytest.raises(TypeError, match=r"^value is .*; a number is wanted$"):
        write(value)
