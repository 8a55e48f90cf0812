"""Verdicts: what counts as right, as a slip of rounding, as wrong, as no number."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mha import load_example, shown, trace
from mha.practice.exercise import numeric_exercise
from mha.practice.verdict import is_right, verdict

MADE = numeric_exercise(trace(load_example("the-cat-sat")), "weights", 0, 0)


def exercise(answer=0.0, places=2, is_percent=False):
    """Return an exercise whose answer is given, to check answers against."""
    return replace(MADE, answer=answer, places=places, percent=is_percent)


@pytest.mark.parametrize(
    ("answer", "text", "wanted"),
    [
        (0.7310585786, "0.73", "right"),
        (0.7310585786, "73 %", "right"),
        (0.7310585786, "73", "wrong"),
        (0.7310585786, "0.74", "near"),
        (0.7310585786, "0.7", "near"),
        (0.7310585786, "0.75", "near"),
        (0.7310585786, "0.76", "wrong"),
        (0.73000001, "0.74", "near"),
        (0.73, "0.74", "wrong"),
        (0.7310585786, "1", "wrong"),
        (-1.5, "-1.5", "right"),
        (-1.5, "-1.51", "wrong"),
        (3 / 7, "3/7", "right"),
        (0.125, "0.12", "right"),
        (0.125, "0.13", "right"),
        (0.125, "0.14", "near"),
        (0.0, "-0", "right"),
        (1.0, "3/0", "unreadable"),
    ],
)
def test_answers_are_checked_at_the_book_s_rounding(answer, text, wanted):
    assert verdict(exercise(answer), text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("73", "right"), ("73%", "right"), ("73,1 %", "right"), ("74", "near"), ("0.73", "wrong")],
)
def test_percentages_are_checked_in_percent(text, wanted):
    assert verdict(exercise(0.7310585786, 0, is_percent=True), text) == wanted


answers = st.floats(-1000, 1000, allow_subnormal=False)
places = st.integers(0, 6)


@given(answers, places)
def test_the_answer_as_the_book_shows_it_is_right(answer, places):
    for text in (shown(answer, places), shown(answer, places).replace(".", ","), repr(answer)):
        if "e" not in text:
            assert is_right(exercise(answer, places), text)


@given(answers, places)
def test_a_number_one_unit_off_the_rounded_answer_is_not_right_unless_it_is_a_tie(answer, places):
    rounded = round(answer, places)
    for off in (rounded - 10.0**-places, rounded + 10.0**-places):
        tie = abs(abs(off - answer) - 0.5 * 10.0**-places) < 1e-8 * 10.0**-places
        assert tie or not is_right(exercise(answer, places), f"{off:.12f}")


@given(st.text(max_size=12))
def test_any_text_gets_a_verdict(text):
    assert verdict(exercise(0.5), text) in ("right", "near", "wrong", "unreadable")
