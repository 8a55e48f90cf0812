"""Numeric exercises: any number of any run, from operands as displayed; and refusals."""

import math
import re
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from answer_oracle import judge_answer
from helpers import example, example_with_stage, raises
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha import MultiHeadWeights, arithmetic, load_example, trace
from mha.practice.calculations import FORMULAS
from mha.practice.exercise import numeric_exercise
from mha.practice.exercise_wording import WORDINGS
from mha.runs.origins import is_given
from mha.runs.places import stage_places
from mha.runs.rounding import short, shown
from mha.runs.worked_example import Refinements

RUN = trace(load_example("the-cat-sat"))
STAGES = tuple(WORDINGS)
TOKENS, D_MODEL, D_K, D_V, D_OUT = 3, 2, 5, 2, 1
numbers = st.floats(-3, 3).map(lambda x: round(x, 6) + 0.0)
terms = st.one_of(numbers, st.sampled_from([0.0, -math.inf]))


def matrices(shape):
    return hnp.arrays(float, shape, elements=numbers, fill=st.nothing())


@st.composite
def runs(draw):
    """Draw a run with any number of heads, scale and mask, from embeddings or from queries."""
    heads = draw(st.integers(1, 2))
    square = (heads, TOKENS, TOKENS)
    masks = hnp.arrays(bool, square[1:]) | hnp.arrays(float, square, elements=terms)
    parts = {
        "tokens": [f"token{i}" for i in range(TOKENS)],
        "head_names": [f"Head {i + 1}" for i in range(heads)],
        "scale": draw(st.sampled_from([None, 0.5, 1.0, 7.0])),
        "is_causal": draw(st.booleans()),
        "mask": draw(st.none() | masks),
    }
    if draw(st.booleans()):
        widths = [(heads, D_MODEL, width) for width in (D_K, D_K, D_V)]
        layer = MultiHeadWeights(*draw(st.tuples(*map(matrices, [*widths, (heads * D_V, D_OUT)]))))
        start = {"embeddings": draw(matrices((TOKENS, D_MODEL))), "layer": layer}
        return trace(example(**parts | dict.fromkeys(("query", "key", "value")) | start))
    start = {name: draw(matrices((heads, TOKENS, D_K))) for name in ("query", "key")}
    return trace(example(**parts | start, value=draw(matrices((heads, TOKENS, D_V)))))


def is_hopeless(run, place):
    """Return whether the trace leaves nothing to compute by hand."""
    if place.stage not in ("scaled_scores", "exponentials", "row_sums", "weights"):
        return False
    scores = run.scaled_scores[place.head, place.row]
    masked = np.isneginf(scores if place.column is None else scores[place.column]).all()
    return bool(masked or (place.stage != "scaled_scores" and np.abs(scores.max()) > 80))


def assert_answer_is_traced(run, place, decimals=None):
    cell = place.row, place.column or 0, place.head or 0
    made = numeric_exercise(run, place.stage, *cell, places=decimals)
    assert made.place == place
    # An origin adds with one rounding at the end; the trace has NumPy's sums.
    assert made.answer == pytest.approx(place.value(run), rel=1e-12, abs=1e-13)
    line = arithmetic(run, place.stage, place.row, place.column, head=place.head or 0)
    assert str(made.worked) == str(line)
    ending = re.split(" [=≈] ", made.worked_line)[-1]
    assert ending in (short(place.value(run)), shown(place.value(run))), made
    exact = [operand.values for operand in made.givens]
    assert FORMULAS[made.kind](exact, made.column) == pytest.approx(made.answer)
    texts = [operand.numbers.strip("()").replace("−", "-").split(", ") for operand in made.givens]
    as_shown = [[float(text.replace("∞", "inf")) for text in group] for group in texts]
    answer = shown(FORMULAS[made.kind](as_shown, made.column), made.places)
    assert judge_answer(made, answer) == "right", made


@settings(max_examples=settings().max_examples // 3)
@given(runs(), st.sampled_from([None, 0, 1, 3]))
def test_every_number_of_any_run_is_an_exercise_and_is_refused_only_where_none_is_left(run, digits):
    stages = [s for s in STAGES if getattr(run, s) is not None and not is_given(run, s)]
    for place in (place for stage in stages for place in stage_places(run, stage)):
        if is_hopeless(run, place):
            cell = place.row, place.column or 0, place.head or 0
            with pytest.raises(ValueError, match=r"is masked at row \d;|has scores beyond 80;"):
                numeric_exercise(run, place.stage, *cell)
        else:
            assert_answer_is_traced(run, place, digits)


@pytest.mark.parametrize("stage", STAGES)
def test_a_number_of_every_stage_is_an_exercise_with_hints_that_end_before_it(rng, stage):
    run = trace(example_with_stage(rng, stage))
    for place in islice(stage_places(run, stage), None, None, 3):  # each row and column among them
        if stage != "running_factors" or place.column:  # nothing was kept before the first
            assert_answer_is_traced(run, place)
    made = numeric_exercise(run, stage, 1, 2, 1)
    assert len(made.hints) == 2
    for hint in made.hints:
        assert "{" not in hint
        assert made.worked.result not in re.findall(r"[−\d.]+", hint)


def test_a_mask_s_term_is_given_and_named_in_each_hint():
    mask, both = np.full((2, 2), 0.5), dict.fromkeys(("query", "key", "value"), np.eye(2))
    run = trace(example(tokens=["a", "b"], mask=mask, scale=math.sqrt(0.5), **both))
    made = numeric_exercise(run, "scaled_scores", 0, 0)
    assert [operand.label for operand in made.givens] == ["score", "scale", "mask's term"]
    assert all("mask's term" in hint for hint in made.hints)
    assert made.worked_line == "1 × 0.7071 + 0.5 = 1.2071"


def test_the_question_names_token_head_and_component_and_the_rounding():
    made = numeric_exercise(RUN, "value", 1, 1, 1)
    assert str(made) == (
        "Compute v₂, component 2 of the value of *cat* in Head 2."
        f" Given: embedding of *cat*: (0, 1, 0, 1); column 2 of the value projection:"
        f" {made.givens[1].numbers}. Answer to 2 decimals."
    )
    for decimals, percent, wanted in (
        (None, True, "Answer in percent, with a whole number."),
        (2, True, "Answer in percent, to 2 decimals."),
        (1, False, "Answer to one decimal."),
    ):
        made = numeric_exercise(RUN, "weights", 0, 0, places=decimals, percent=percent)
        assert made.rounding == wanted
    exact = numeric_exercise(trace(load_example("apple")), "scores", 2, 1)
    assert shown(exact.answer, exact.places) == "5.274"  # asked for with all its decimals


@pytest.mark.parametrize(
    ("refinements", "refused"),
    [
        (Refinements(softcap=3.0), {"scaled_scores": "a cap"}),
        (Refinements(sinks=np.array([0.5])), {"row_sums": "sinks", "weights": "sinks"}),
    ],
    ids=["cap", "sinks"],
)
def test_a_cap_and_sinks_are_no_terms_of_a_mask(refinements, refused):
    run = trace(replace(load_example("cat-sat"), refinements=refinements))
    for stage in ("scores", "scaled_scores", "exponentials", "row_sums", "weights"):
        if stage in refused:
            message = rf"^run has {refused[stage]}, with which no exercise computes {stage};"
            with pytest.raises(ValueError, match=message):
                numeric_exercise(run, stage, 1, 0)
        else:
            made = numeric_exercise(run, stage, 1, 0)
            assert "mask" not in f"{made} {made.hints}"


def test_numbers_that_are_not_exercises_are_refused():
    run = trace(example(scale=1.0, query=np.ones((5, 1)), key=np.full((5, 1), 81.0)))
    with pytest.raises(ValueError, match=r"^row 2 of head 0 has scores beyond 80;"):
        numeric_exercise(run, "weights", 2, 0)
    for stage in ("concat", "colour"):
        with raises(ValueError, f"stage is {stage!r}; one of {', '.join(STAGES)} is wanted"):
            numeric_exercise(RUN, stage, 0, 0)
