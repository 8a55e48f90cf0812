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
from mha.practice.verdict import is_right, verdict
from mha.practice.wordings import WORDINGS
from mha.runs.places import places

RUN = trace(load_example("the-cat-sat"))
STAGES = tuple(WORDINGS)


def masked_identity(first, last=None, **parts):
    """Return a run of two tokens, scores 1 and 0, whose mask adds `first`, or `last` to one."""
    mask = np.full((2, 2), first)
    mask[0, 1] = first if last is None else last
    start = dict.fromkeys(("query", "key", "value"), np.eye(2))
    return trace(example(tokens=["a", "b"], mask=mask, **start, **parts))


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


def test_a_given_scale_multiplies():
    run = trace(example(scale=0.7))
    made = numeric_exercise(run, "scaled_scores", 1, 3)
    assert made.kind == "times"
    assert [given.label for given in made.givens] == ["score", "scale"]
    assert made.answer == pytest.approx(made.givens[0].values[0] * 0.7)


@pytest.mark.parametrize(
    ("scale", "kind", "line"),
    [
        (None, "root", "1 ÷ √2 + 0.5 ≈ 1.2071"),
        (math.sqrt(0.5), "times", "1 × 0.7071 + 0.5 = 1.2071"),
    ],
)
def test_a_mask_s_term_is_given_and_counts(scale, kind, line):
    made = numeric_exercise(masked_identity(0.5, scale=scale), "scaled_scores", 0, 0)
    assert made.kind == kind
    assert [given.label for given in made.givens][2:] == ["mask's term"]
    assert made.givens[2].values == (0.5,)
    assert all("mask's term" in hint for hint in made.hints)
    assert made.worked_line == line
    operands = [operand.values for operand in made.givens]
    assert FORMULAS[kind](operands, made.column) == pytest.approx(made.answer)
    assert verdict(made, "1.21") == "right"
    assert verdict(made, "0.71") == "wrong"


def test_weights_are_asked_for_from_scores_with_the_mask_s_terms():
    run = masked_identity(0.5, -np.inf)
    made = numeric_exercise(run, "weights", 1, 0)
    assert made.givens[0].values == pytest.approx((0.5, math.sqrt(0.5) + 0.5))
    assert made.answer == pytest.approx(1 / (1 + math.exp(math.sqrt(0.5))))
    assert numeric_exercise(run, "weights", 0, 0).givens[0].numbers == "(1.2071, −∞)"


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
        (None, False, "Answer to 2 decimals."),
        (None, True, "Answer in percent, with a whole number."),
        (1, True, "Answer in percent, to one decimal."),
        (2, True, "Answer in percent, to 2 decimals."),
        (0, False, "Answer with a whole number."),
        (1, False, "Answer to one decimal."),
    ],
)
def test_the_rounding_is_asked_for_in_words(decimals, is_percent, wanted):
    made = numeric_exercise(RUN, "weights", 0, 0, places=decimals, percent=is_percent)
    assert made.rounding == wanted


# ---- What is refused ----


def test_a_masked_cell_is_refused():
    run = trace(example(is_causal=True))
    sentence = "weights is masked at row 1; a cell that may attend is wanted"
    with raises(ValueError, sentence):
        numeric_exercise(run, "weights", 1, 2)
    assert is_right(numeric_exercise(run, "weights", 0, 0), "1")


@pytest.mark.parametrize("stage", ["concat", "embeddings", "w_q", "root", "percentages", "colour"])
def test_a_stage_that_is_not_asked_for_is_refused(stage):
    with raises(ValueError, f"stage is {stage!r}; one of {', '.join(STAGES)} is wanted"):
        numeric_exercise(RUN, stage, 0, 0)
