"""The rounding rule in the browser, in a real Chromium, against mha.runs.rounding."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ports import in_browser, texts_of

from mha.runs.rounding import short, shown
from mha.views.signs import as_printed, chain, sign

pytestmark = pytest.mark.browser

PLACES = range(10)
WRITE = """(x) => Array.from({ length: 10 }, (_, places) =>
  [mhaNumbers.shown(Number(x), places), mhaNumbers.short(Number(x), places)])"""


def ties(places):
    """Return numbers that lie exactly between two neighbours with so many places."""
    unit = 2.0 ** -(places + 1)
    odd = [*range(-41, 42, 2), 2**20 + 1, 2**20 + 3, 2**51 + 1, 2**51 + 3]
    return [n * unit for n in odd]


def same_texts(page, values):
    """Assert that the browser writes numbers as Python does, at every number of places."""
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
    read = "(x) => mhaNumbers.parsed(x)"
    assert in_browser(arithmetic_page, read, list(good)) == list(good.values())
    assert in_browser(arithmetic_page, read, bad) == [None] * len(bad)
    typed = {"0,5": 0.5, "−2,25": -2.25, ",5": 0.5, "1.5": 1.5, "1,": None, "1,000.5": None}
    found = in_browser(arithmetic_page, "(x) => mhaNumbers.typed(x)", list(typed))
    assert found == list(typed.values())


# ---- Signs between the steps of a calculation ----

PAIRS = [
    ("0.6×1.2", "0.72"), ("0.6×1.2", "0.7"), ("2 ÷ √4", "1"), ("2 ÷ √2", "1.4142"),
    ("√0.25", "0.5"),
    ("√2", "1.4142"), ("√−4", "2"), ("e^0", "1.0000"), ("e^−∞", "0.0000"), ("e^1", "2.7183"),
    ("e ^ (200 − 200.0000)", "1.0000"), ("(−0.5)×(−2) + 1", "2"), ("1 ÷ 3 + 2 ÷ 3", "1"),
    ("0.7311", "73\u00a0%"), ("0.73", "73\u00a0%"), ("0 ÷ √2 + (−0.25)", "−0.25"), ("√2 × 0", "0"),
    ("1 ÷ 0", "inf"), ("0 ÷ 0", "0"), ("masked", "−∞"), ("−∞", "−∞"), ("1 + −∞", "−∞"),
    ("1 +", "1"),
    ("(1 + 2", "3"), ("1 2", "3"), ("", "0"), ("2 × (0.5 ÷ 0.5)", "2"), ("nan", "nan"),
    ("0 × inf", "0"),
    (shown(1e300), short(1e300)), ("100×0.7311", "73.1059"), ("− 3", "−3"), ("√(1 ÷ 4)", "0.5"),
    ("1 × e^√4", "7.3891"), ("e^(1 − 1) × 3", "3"), ("x + 1", "2"), ("2e^0", "2"), ("e", "1"),
]  # fmt: skip

short_numbers = st.integers(-30, 30).map(lambda n: short(n / 10))
operands = st.one_of(
    short_numbers.map(lambda text: f"({text})" if text.startswith("−") else text),
    st.sampled_from(["√4", "√2", "√0.49", "e^0", "e^1", "e^−0.5", "(0.5 ÷ 2)", "50\u00a0%"]),
)
calculations = st.lists(
    st.tuples(operands, st.sampled_from(["×", " ÷ ", " + ", " − "])), max_size=5
)


def same_signs(page, pairs):
    """Assert that the browser sets the sign that Python sets."""
    code = "([left, right]) => [mhaNumbers.sign(left, right), mhaNumbers.chain(left, right, left)]"
    found = in_browser(page, code, pairs)
    assert found == [[sign(left, right), chain(left, right, left)] for left, right in pairs]
    return [pair[0] for pair in found]


def test_signs_are_those_of_python(arithmetic_page):
    assert set(same_signs(arithmetic_page, PAIRS)) == {"=", "≈"}


@settings(max_examples=60)
@given(st.lists(st.tuples(calculations, operands), min_size=1, max_size=20))
def test_any_calculation_gets_the_sign_that_python_gives_it(arithmetic_page, drawn):
    texts = ["".join(itertools.chain(*parts)) + last for parts, last in drawn]
    exact = [as_printed(text) for text in texts]
    results = [shown(float(x), 4) if x is not None else "1.5" for x in exact]
    same_signs(arithmetic_page, list(zip(texts, results, strict=True)))
