"""Numeric exercises: what is asked, with which numbers, hints and worked line; what is refused."""

import math
import re
from itertools import islice

import numpy as np
import pytest
from helpers import example, raises, with_every_stage

from mha import arithmetic, load_example, shown, trace
from mha.practice.calculations import FORMULAS
from mha.practice.exercise import numeric_exercise
from mha.practice.verdict import is_right
from mha.practice.wordings import WORDINGS
from mha.runs.places import places

RUN = trace(load_example("the-cat-sat"))
STAGES = tuple(WORDINGS)


# ---- What is asked ----


@pytest.mark.parametrize("stage", STAGES)
def test_every_cell_of_every_stage_is_an_exercise_with_the_trace_s_answer(rng, stage):
    run = trace(with_every_stage(rng, stage))
    for place in islice(places(run, stage), None, None, 3):  # each row and column among them
        head, row, column = place.head or 0, place.row, place.column or 0
        if stage == "running_factors" and column == 0:
            continue  # nothing was kept before
        made = numeric_exercise(run, stage, row, column, head)
        assert made.place == place
        # An origin adds without rounding in between; the trace has NumPy's sums.
        assert made.answer == pytest.approx(getattr(run, stage)[place.index], rel=1e-12, abs=1e-13)
        assert str(made.worked) == str(arithmetic(run, stage, row, column, head=head))
        assert is_right(made, shown(made.answer, made.places))
        operands = [given.values for given in made.givens]
        assert FORMULAS[made.kind](operands, made.column) == pytest.approx(made.answer)


def test_a_mask_s_term_is_given_and_named_in_each_hint():
    mask, both = np.full((2, 2), 0.5), dict.fromkeys(("query", "key", "value"), np.eye(2))
    run = trace(example(tokens=["a", "b"], mask=mask, scale=math.sqrt(0.5), **both))
    made = numeric_exercise(run, "scaled_scores", 0, 0)
    assert [given.label for given in made.givens] == ["score", "scale", "mask's term"]
    assert all("mask's term" in hint for hint in made.hints)
    assert made.worked_line == "1 × 0.7071 + 0.5 = 1.2071"


def test_the_question_names_token_head_and_component():
    made = numeric_exercise(RUN, "value", 1, 1, 1)
    assert str(made) == (
        "Compute v₂, component 2 of the value of *cat* in Head 2."
        f" Given: embedding of *cat*: (0, 1, 0, 1); column 2 of the value projection:"
        f" {made.givens[1].numbers}. Answer to 2 decimals."
    )


@pytest.mark.parametrize("stage", STAGES)
def test_hints_are_filled_and_end_before_the_result(rng, stage):
    made = numeric_exercise(trace(with_every_stage(rng, stage)), stage, 1, 2, 1)
    assert len(made.hints) == 2
    for hint in made.hints:
        assert "{" not in hint
        assert made.worked.result not in re.findall(r"[−\d.]+", hint)


@pytest.mark.parametrize(
    ("decimals", "is_percent", "wanted"),
    [
        (None, True, "Answer in percent, with a whole number."),
        (2, True, "Answer in percent, to 2 decimals."),
        (1, False, "Answer to one decimal."),
    ],
)
def test_the_rounding_is_asked_for_in_words(decimals, is_percent, wanted):
    made = numeric_exercise(RUN, "weights", 0, 0, places=decimals, percent=is_percent)
    assert made.rounding == wanted


def test_an_exact_answer_is_asked_for_with_all_its_decimals():
    made = numeric_exercise(trace(load_example("apple")), "scores", 2, 1)
    assert shown(made.answer, made.places) == "5.274"


# ---- What is refused ----


def test_scores_beyond_what_a_hand_can_take_are_refused():
    run = trace(example(scale=1.0, query=np.ones((5, 1)), key=np.full((5, 1), 81.0)))
    with pytest.raises(ValueError, match=r"^row 2 of head 0 has scores beyond 80;"):
        numeric_exercise(run, "weights", 2, 0)


@pytest.mark.parametrize("stage", ["concat", "colour"])
def test_a_stage_that_is_not_asked_for_is_refused(stage):
    with raises(ValueError, f"stage is {stage!r}; one of {', '.join(STAGES)} is wanted"):
        numeric_exercise(RUN, stage, 0, 0)
