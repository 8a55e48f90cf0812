"""Parsing and grading of answers: numbers and short calculations, nothing else."""

import math
from dataclasses import replace

import numpy as np
import pytest
from answer_oracle import LONGEST, judge_answer, parse_answer
from helpers import example
from hypothesis import given
from hypothesis import strategies as st

from mha import load_example, trace
from mha.practice.exercise import numeric_exercise
from mha.runs.rounding import shown
from mha.widgets.boxes import your_turn

MADE = numeric_exercise(trace(load_example("the-cat-sat")), "weights", 0, 0)
WEIGHT = 0.7310585786


def judged(answer, text, places=2, *, percent=False):
    return judge_answer(replace(MADE, answer=answer, places=places, percent=percent), text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1/3.7183*2.7183", 2.7183 / 3.7183),
        ("e^-0,5", math.exp(-0.5)),
        ("exp(−1)/(1+exp(−1))", math.exp(-1) / (1 + math.exp(-1))),
        ("2,84 / sqrt(2)", 2.84 / math.sqrt(2)),
        ("2 ÷ √4", 1),
        ("1×0.2 + 0×0.4 − 3·2", -5.8),
        ("-2^2", -4),
        ("2**3^2", 512),
        ("8-3-2", 3),
        ("8/2/2", 2),
        ("1/4 %", 0.0025),
        ("1e3", 1000),
        ("2*1E-1", 0.2),
        ("3 000,5", 3000.5),
        ("1\u202f234\u00a0567", 1234567),
        ("１．５", 1.5),
        ("\u20105", -5),
        (" - 5 ", -5),
    ],
)
def test_calculations_are_evaluated(text, number):
    assert parse_answer(text).number == pytest.approx(number, rel=1e-14)


@pytest.mark.parametrize(
    "text",
    ["1+", "(1", "1)", "()", "e2", "2e", "1 2 x", "sqrt", "sqrt(-1)", "(-8)^(1/3)", "exp(1000)",
     "1/exp(1000)", "9^9^9", "0^-1", "__import__", "%", "5%%", "√", "+-1", "", "1e400", "1.2.3",
     "1 2", "3 00", "0.5 000", "5²", "½", "NaN", "Infinity", "--2", "- -2",
     "1,234.5", "٣", "1" * 80000 + "x", "(" * 80000, "√" * LONGEST],
)  # fmt: skip
def test_a_calculation_without_a_value_is_unreadable(text):
    assert parse_answer(text) is None
    assert judged(1.0, text) == "unreadable"


@given(st.text(alphabet="0123456789.,+-*/^()e√%sqrtxp ", max_size=40) | st.text(max_size=12))
def test_any_text_is_a_finite_number_or_none(text):
    found = parse_answer(text)
    assert found is None or math.isfinite(found.number)


@pytest.mark.parametrize(
    ("answer", "text", "wanted"),
    [
        (WEIGHT, "73 %", "right"),
        (WEIGHT, "73", "wrong"),
        (WEIGHT, "0.7", "near"),  # rightly rounded to fewer decimals
        (WEIGHT, "0.75", "near"),  # within two units
        (WEIGHT, "0.76", "wrong"),
        (WEIGHT, "1", "wrong"),
        (0.73000001, "0.74", "near"),
        (0.73, "0.74", "wrong"),  # nothing was to be rounded
        (0.0183, "0", "wrong"),  # two units off, but not a number with two decimals
        (0.0049, "-0.01", "wrong"),  # two units off, but of the other sign
        (0.0183, "0.01", "near"),
        (WEIGHT, "3/4", "near"),
        (WEIGHT, "70 %", "wrong"),
        (3 / 7, "3/7", "right"),
        (0.125, "0.12", "right"),  # a tie may go either way
        (0.125, "0.13", "right"),
        (0.0, "-0", "right"),
    ],
)
def test_answers_are_checked_at_the_book_s_rounding(answer, text, wanted):
    assert judged(answer, text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("73", "right"), ("73,1 %", "right"), ("74", "near"), ("0.73", "wrong")],
)
def test_percentages_are_checked_in_percent(text, wanted):
    assert judged(WEIGHT, text, 0, percent=True) == wanted


@given(st.floats(-1000, 1000, allow_subnormal=False), st.integers(0, 6))
def test_the_answer_as_the_book_shows_it_is_right_and_one_unit_off_is_not(answer, places):
    unit, as_shown = 10.0**-places, shown(answer, places)
    for text in (as_shown, as_shown.replace(".", ","), repr(answer)):
        assert "e" in text or judged(answer, text, places) == "right"
    for off in (round(answer, places) - unit, round(answer, places) + unit):
        tie = abs(abs(off - answer) - 0.5 * unit) < 1e-8 * unit
        assert tie or judged(answer, f"{off:.12f}", places) != "right"


def tokens(count, **numbers):
    """Return the run of an example with `count` tokens and heads of width one."""
    names = [f"token{i}" for i in range(count)]
    columns = {name: np.full((count, 1), x) for name, x in numbers.items()}
    return trace(example(tokens=names, scale=1.0, value=np.ones((count, 1)), **columns))


def test_both_roundings_of_a_tie_are_right_and_no_box_of_a_page_has_one():
    halves = tokens(2, query=0.5, key=0.25)
    tie = numeric_exercise(halves, "scores", 0, 0, places=2)
    assert [judge_answer(tie, text) for text in ("0.12", "0.13", "0.14")] == [
        "right",
        "right",
        "near",
    ]
    with pytest.raises(ValueError, match=r"^the answer, 0\.125, lies halfway between two numbers"):
        your_turn(halves, "scores", 0, 0, places=2)
    assert numeric_exercise(halves, "scores", 0, 0).places == 3


def test_a_percentage_is_asked_for_with_the_decimals_that_make_it_no_tie():
    made = numeric_exercise(tokens(8, query=0.0, key=0.0), "weights", 0, 0, percent=True)
    assert (made.expected, made.places) == (12.5, 1)
