"""Numbers in Chromium are written, parsed and drawn at random as in the package."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ports import in_browser

from mha.runs.random_numbers import Draws
from mha.runs.rounding import short, shown
from mha.views.signs import chain, exact_value, sign

pytestmark = pytest.mark.browser

PLACES = range(10)
WRITE = """(x) => Array.from({ length: 10 }, (_, places) =>
  [modules.numbers.shown(Number(x), places), modules.numbers.short(Number(x), places)])"""


def ties(places):
    """Return numbers that lie exactly between two neighbours with the given number of places."""
    unit = 2.0 ** -(places + 1)
    odd = [*range(-41, 42, 2), 2**20 + 1, 2**20 + 3, 2**51 + 1, 2**51 + 3]
    return [n * unit for n in odd]


def texts_of(numbers):
    """Return numbers as texts that JavaScript's Number parses without loss."""
    names = {"inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}
    return [names.get(repr(float(x)), repr(float(x))) for x in numbers]


def same_texts(page, values):
    """Assert that the browser formats numbers as Python does, for every number of places."""
    found = in_browser(page, WRITE, texts_of(values))
    for value, texts in zip(values, found, strict=True):
        wanted = [[shown(value, places), short(value, places)] for places in PLACES]
        assert texts == wanted, value


def test_ties_go_to_the_even_digit_and_what_is_near_one_goes_where_it_goes(arithmetic_page):
    for places in PLACES:
        values = ties(places)
        assert all(shown(value, places) != shown(value, places + 1) for value in values)
        same_texts(arithmetic_page, values)
        halves = [(n + 0.5) / 10**places for n in range(12)]
        near = [float(np.nextafter(x, side)) for x in halves for side in (-1, 99)]  # by a last bit
        assert {shown(x, places) for x in near} == {shown(x, places) for x in halves}
        same_texts(arithmetic_page, near)


@settings(max_examples=60)
@given(st.lists(st.floats(), min_size=1, max_size=40))
def test_any_number_is_written_as_python_writes_it(arithmetic_page, values):
    same_texts(arithmetic_page, values)


def test_texts_are_read_as_numbers_or_not_at_all(arithmetic_page):
    good = {"0.5": 0.5, "−2": -2, "-.5": -0.5, "1e-3": 0.001, " +7. ": 7, "1e+300": 1e300}
    bad = ["", "abc", "1,5", "0x10", "Infinity", "−∞", "NaN", "1 2", "--1", "."]
    read = "(x) => modules.numbers.parsed(x)"
    assert in_browser(arithmetic_page, read, list(good)) == list(good.values())
    assert in_browser(arithmetic_page, read, bad) == [None] * len(bad)


# ---- Signs between the steps of a calculation ----

# Expressions in lines of arithmetic, and texts without a value or in another notation.
COUNTED = [
    *("√4", "√2", "√0.49", "√(1 ÷ 4)", "e^0", "e^1", "e^−0.5", "e^√4", "e^(1 − 1)"),
    *("e ^ (200 − 200.0000)", "(0.5 ÷ 2)", "√2 × 0", "50\u00a0%"),
    *("tanh(0 ÷ 2)", "tanh(1)", "cos 0", "cos (−1)", "sin 0", "sin √2"),
]
WITHOUT = [
    *("√−4", "e^−∞", "−∞", "masked", "(1 ÷ 0)", "(0 ÷ 0)", "nan", "inf", "x", "e", "tan 0"),
    *("0 × inf", "2e^0", "1 2", "(1 + 2", "", shown(1e300)),
]
RESULTS = ["1.5", "0", "1", "3", "−∞", "inf", "nan", "73\u00a0%", short(1e300)]

short_numbers = st.integers(-30, 30).map(lambda n: short(n / 10))
operands = st.one_of(
    short_numbers.map(lambda text: f"({text})" if text.startswith("−") else text),
    st.sampled_from(COUNTED),
)
calculations = st.lists(
    st.tuples(operands, st.sampled_from(["×", " ÷ ", " + ", " − "])), max_size=5
)


def same_signs(page, pairs):
    """Assert that the browser sets the same signs = and ≈ as Python."""
    code = """([left, right]) =>
      [modules.signs.sign(left, right), modules.signs.chain(left, right, left)]"""
    found = in_browser(page, code, pairs)
    assert found == [[sign(left, right), chain(left, right, left)] for left, right in pairs]
    assert {each for each, _ in found} == {"=", "≈"}


def test_expressions_without_a_value_get_python_s_sign(arithmetic_page):
    texts = [*COUNTED, *WITHOUT, *(f"1 + {text}" for text in WITHOUT)]
    same_signs(arithmetic_page, list(itertools.product(texts, RESULTS)))


@settings(max_examples=60)
@given(st.lists(st.tuples(calculations, operands, st.integers(0, 4)), min_size=5, max_size=20))
def test_any_calculation_gets_the_sign_that_python_gives_it(arithmetic_page, drawn):
    pairs = [("0.6×1.2", "0.72"), ("0.6×1.2", "0.7")]
    for parts, last, places in drawn:
        text = "".join(itertools.chain(*parts)) + last
        exact = exact_value(text)
        pairs.append((text, "1.5" if exact is None else shown(float(exact), places)))
    same_signs(arithmetic_page, pairs)


# ---- Numbers that are drawn ----

DRAWN = """([seed, low, high]) => {
  const draws = new modules.draws.Draws(seed);
  return [draws.bits(), draws.share(), draws.normal(), draws.whole(low, high), draws.normal()];
}"""


def drawn(seed, low, high):
    draws = Draws(seed)
    return [draws.bits(), draws.uniform(), draws.normal(), draws.whole(low, high), draws.normal()]


def test_the_browser_draws_the_same_numbers(arithmetic_page, rng):
    bounds = np.sort(rng.integers(-500_000, 500_000, (500, 2)), axis=1).tolist()
    seeds = [0, 1, 2**31 - 1, 2**31, 2**32 - 1, *rng.integers(0, 2**32, 495).tolist()]
    cases = [[seed, *pair] for seed, pair in zip(seeds, bounds, strict=True)]
    assert in_browser(arithmetic_page, DRAWN, cases) == [drawn(*case) for case in cases]
