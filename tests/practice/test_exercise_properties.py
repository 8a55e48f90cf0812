"""Exercises of random runs: the trace's number, the worked line and the operands say the same."""

import math
import re

import numpy as np
import pytest
from helpers import example
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha import MultiHeadWeights, short, shown, trace
from mha.practice.calculations import FORMULAS
from mha.practice.exercise import numeric_exercise
from mha.practice.verdict import is_right
from mha.practice.wordings import WORDINGS
from mha.runs.origins import is_given
from mha.runs.places import places

TOKENS, D_MODEL, D_K, D_V, D_OUT = 3, 2, 5, 2, 1
numbers = st.floats(-3, 3).map(lambda x: round(x, 6) + 0.0)
terms = st.one_of(numbers, st.sampled_from([0.0, -math.inf]))


def matrices(*shape):
    return hnp.arrays(float, shape, elements=numbers, fill=st.nothing())


@st.composite
def runs(draw):
    """Draw a run with any number of heads, scale and mask, from embeddings or from queries."""
    heads = draw(st.integers(1, 2))
    masks = st.one_of(
        st.none(),
        hnp.arrays(bool, (TOKENS, TOKENS)),
        hnp.arrays(float, (heads, TOKENS, TOKENS), elements=terms),
    )
    parts = {
        "tokens": [f"token{i}" for i in range(TOKENS)],
        "head_names": [f"Head {i + 1}" for i in range(heads)],
        "scale": draw(st.sampled_from([None, 0.5, 1.0, 7.0])),
        "is_causal": draw(st.booleans()),
        "mask": draw(masks),
    }
    if draw(st.booleans()):
        w_q, w_k = (draw(matrices(heads, D_MODEL, D_K)) for _ in range(2))
        w_v, w_o = draw(matrices(heads, D_MODEL, D_V)), draw(matrices(heads * D_V, D_OUT))
        parts |= dict.fromkeys(("query", "key", "value"))
        parts |= {"embeddings": draw(matrices(TOKENS, D_MODEL))}
        parts |= {"layer": MultiHeadWeights(w_q, w_k, w_v, w_o)}
    else:
        parts |= {name: draw(matrices(heads, TOKENS, D_K)) for name in ("query", "key")}
        parts |= {"value": draw(matrices(heads, TOKENS, D_V))}
    return trace(example(**parts))


def cells(run):
    """Yield every place that can be asked for, with the arguments that ask for it."""
    for stage in WORDINGS:
        if getattr(run, stage) is not None and not is_given(run, stage):
            for place in places(run, stage):
                yield place, (stage, place.row, place.column or 0, place.head or 0)


def is_hopeless(run, place):
    """Tell from the trace's arrays whether nothing is left to compute by hand."""
    if place.stage not in ("scaled_scores", "exponentials", "row_sums", "weights"):
        return False
    scores = run.scaled_scores[place.head, place.row]
    masked = np.isneginf(scores if place.column is None else scores[place.column]).all()
    return bool(masked or (place.stage != "scaled_scores" and np.abs(scores.max()) > 80))


@settings(max_examples=settings().max_examples // 3)
@given(runs())
def test_every_exercise_has_the_trace_s_number_and_is_refused_only_where_none_is_left(run):
    for place, cell in cells(run):
        if is_hopeless(run, place):
            with pytest.raises(ValueError, match=r"is masked at row \d;|has scores beyond 80;"):
                numeric_exercise(run, *cell)
            continue
        made = numeric_exercise(run, *cell)
        assert made.place == place
        assert made.answer == pytest.approx(place.value(run), rel=1e-12, abs=1e-12)
        ending = re.split(" [=≈] ", made.worked_line)[-1]
        kept = place.value(run)
        assert ending in (short(kept), shown(kept)), made


@settings(max_examples=settings().max_examples // 3)
@given(runs(), st.sampled_from([None, 0, 1, 3]))
def test_who_computes_with_the_operands_as_they_are_shown_is_right(run, decimals):
    for place, cell in cells(run):
        if is_hopeless(run, place):
            continue
        made = numeric_exercise(run, *cell, places=decimals)
        texts = [given.numbers.strip("()").replace("−", "-").split(", ") for given in made.givens]
        operands = [[float(text.replace("∞", "inf")) for text in group] for group in texts]
        reached = FORMULAS[made.kind](operands, made.column)
        assert is_right(made, shown(reached, made.places)), made
