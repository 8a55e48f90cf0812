"""Mistakes: their results, the listed ones, and recognition of a wrong answer."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from answer_oracle import LAST_DIGIT_UNITS, ParsedAnswer, parse_answer, recognise_mistake
from helpers import example_with_block
from hypothesis import given
from hypothesis import strategies as st

from mha import load_example, softmax, trace
from mha.practice.exercise import half_unit, numeric_exercise
from mha.practice.exercise_wording import WORDINGS
from mha.practice.mistakes import NAMES, distinct_mistakes, mistakes, operand_mistakes
from mha.runs.origins import is_given
from mha.runs.rounding import shown

CAT = trace(load_example("the-cat-sat"))
FIRST = trace(load_example("cat-sat"))


def name_of(run, cell, text, **options):
    made = numeric_exercise(run, *cell, **options)
    return recognise_mistake(made, parse_answer(text, percent=made.percent), mistakes(run, made))


SCALED = CAT.scores[0, 1, 2] / np.array([1, math.sqrt(2), 2])
OF_SCORES = CAT.scaled_scores[0, 1]


@pytest.mark.parametrize(
    ("cell", "options", "number", "name"),
    [
        (("scaled_scores", 1, 2), {}, SCALED[0], "no-root"),
        (("scaled_scores", 1, 2), {}, SCALED[2], "by-width"),
        (("scaled_scores", 1, 2), {}, -SCALED[1], "sign"),
        (("scores", 1, 2), {}, CAT.scores[0, 2, 1], "exchanged"),
        (("scores", 1, 2), {}, CAT.scores[0, 0, 2], "other-row"),
        (("scores", 1, 2), {}, CAT.scores[1, 1, 2], "other-head"),
        (("scores", 1, 2), {}, 1.4, "one-term"),
        (("exponentials", 1, 2), {}, CAT.scaled_scores[0, 1, 2], "no-exponential"),
        (("row_sums", 1), {}, CAT.exponentials[0, 1, :2].sum(), "left-out"),
        (("weights", 1, 2), {}, CAT.weights[0, 1, 0], "other-key"),
        (("weights", 1, 2), {}, np.rint(100 * CAT.weights[0, 1, 2]), "percent"),
        (("weights", 1, 2), {"percent": True}, CAT.weights[0, 1, 2], "share"),
        (("weights", 1, 2), {}, CAT.exponentials[0, 1, 2], "not-divided"),
        (("weights", 1, 2), {}, OF_SCORES[2] / OF_SCORES.sum(), "no-exponential"),
        (("head_outputs", 1, 0), {}, 7.77, None),
    ],
)
def test_a_mistake_is_recognised(cell, options, number, name):
    assert name_of(CAT, cell, f"{number:.4f}", **options) == name


def test_scores_that_were_not_scaled_are_recognised_and_of_two_mistakes_the_first_is_named():
    for by, name in ((1, "no-root"), (4, "by-width")):
        number = softmax(FIRST.scores[0, 0] / by)[0]
        assert name_of(FIRST, ("weights", 0, 0), f"{number:.3f}") == name
    made = numeric_exercise(FIRST, "scaled_scores", 0, 0)
    assert [m.value for m in mistakes(FIRST, made)].count(0.0) == 1
    assert name_of(FIRST, ("scaled_scores", 0, 0), "0") == "other-key"


def every_exercise():
    turned = trace(replace(FIRST.example, angles=[[0.0, 0.0], [0.5, 1.0]]))
    positions = np.arange(20).reshape(5, 4) / 7
    placed = trace(replace(load_example("apple"), positions=positions))
    rng = np.random.default_rng(59)
    blocks = [
        trace(example_with_block(rng, norm, "gelu", keys_at_once=3)) for norm in ("before", "after")
    ]
    for run in (CAT, FIRST, trace(load_example("apple")), turned, placed, *blocks):
        for stage in sorted({*WORDINGS} - {"running_factors"}):  # nothing was kept before the first
            for percent in (False, True) if stage == "weights" else (False,):
                if getattr(run, stage) is not None and not is_given(run, stage):
                    yield run, numeric_exercise(run, stage, 1, 0, percent=percent)


def test_no_mistake_gives_the_right_answer_and_no_two_give_the_same():
    seen = set()
    for run, made in every_exercise():
        known = mistakes(run, made)
        seen |= {mistake.name for mistake in known}
        slack = half_unit(made.places)
        values = sorted([made.expected, *(mistake.value for mistake in known)])
        assert all(high - low > slack for low, high in pairwise(values)), str(made)
        for mistake in known:
            assert recognise_mistake(made, ParsedAnswer(mistake.value, None), known) == mistake.name
    assert seen <= set(NAMES)
    assert {"percent", "share", "sign", "one-term", "no-root", "by-width", "exchanged"} <= seen


@given(st.floats(-9, 9), st.integers(0, 4), st.integers(-9_999, 9_999), st.integers(0, 5))
def test_only_a_close_answer_with_all_digits_is_told_that_its_last_digit_is_off(
    answer, places, number, decimals
):
    made = replace(numeric_exercise(CAT, "scores", 1, 2), answer=answer, places=places)
    text = f"{number / 10**decimals:.{decimals}f}"
    name = recognise_mistake(made, parse_answer(text), ())
    distance = abs(float(text) - answer)
    if name is None:
        assert (
            decimals != places or not places or shown(float(text), places) != shown(answer, places)
        )
    else:
        assert name == "last-digit"
        assert decimals == places
        assert distance <= LAST_DIGIT_UNITS * 10.0**-places
        assert shown(float(text), places)[:-1] == shown(answer, places)[:-1]


@pytest.mark.parametrize(
    ("answer", "places", "text", "name"),
    [
        (0.27, 2, "0.2", None),  # one decimal where two are asked for
        (0.27, 2, "0.21", None),  # six units off
        (0.27, 2, "0.24", "last-digit"),
        (-0.27, 2, "−0.25", "last-digit"),
        (0.27, 2, "0.270", None),
        (0.27, 2, "1/4", None),
        (0.30, 2, "0.29", None),  # two digits differ
        (7.0, 0, "5", None),
    ],
)
def test_the_last_digit_alone_is_off(answer, places, text, name):
    made = replace(numeric_exercise(CAT, "scores", 1, 2), answer=answer, places=places)
    assert recognise_mistake(made, parse_answer(text), ()) == name


def test_a_percentage_below_its_own_rounding_is_recognised_by_no_number():
    made = replace(numeric_exercise(CAT, "weights", 1, 2), answer=0.004, places=2)
    assert "percent" not in [
        mistake.name for mistake in distinct_mistakes(made, operand_mistakes(made))
    ]
