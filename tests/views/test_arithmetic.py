"""Each printed line of arithmetic is worked out again, from nothing but what it prints."""

import chains
import numpy as np
import pytest
from helpers import MASK, QUERIES, example, raises

from mha import (
    Place,
    example_names,
    load_example,
    origin,
    short,
    trace,
    without_scale,
)
from mha.runs.stages import STAGES
from mha.views.arithmetic import Arithmetic, arithmetic, written_out
from mha.views.signs import sign

MASKED = example(mask=MASK)


def check(line, value, places=4):
    """Check a line: the result is the value rounded, and each sign before it is the right one."""
    if np.isneginf(value):
        assert (line.expression, line.products, line.result) == ("masked", (), "−∞")
        return
    result = float(line.result.replace("−", "-"))
    assert abs(result - value) <= 0.5 * 10.0**-places + 1e-12 * abs(value)
    if line.expression == "masked":
        assert value == 0
        return
    (read,) = chains.read(str(line))
    assert (len(read.steps), read.faults()) == (2 + (len(line.products) > 1), [])
    if line.products:
        for term, product in zip(line.expression.split(" + "), line.products, strict=True):
            (read,) = chains.read(f"{term} {sign(term, product)} {product}")
            assert read.faults() == []


def cells(run, stage):
    """Return the arguments that name each number of a stage, with the number."""
    array = STAGES[stage].array(run)
    for index in np.ndindex(array.shape):
        yield dict(zip(STAGES[stage].axes, index, strict=True)), array[index]


def stages_of(run):
    """Return the stages that a run computes."""
    given = {"embeddings"} | ({"query", "key", "value"} if run.embeddings is None else set())
    kinds = [kind for kind in STAGES.values() if kind.array(run) is not None]
    return [kind.name for kind in kinds if not kind.is_matrix and kind.name not in given]


@pytest.mark.parametrize("name", example_names())
def test_every_number_of_every_example(name):
    run = trace(load_example(name))
    assert len(stages_of(run)) >= 6
    for stage in stages_of(run):
        for where, value in cells(run, stage):
            check(arithmetic(run, stage, **where), value)


@pytest.mark.parametrize(
    "start",
    [
        MASKED,
        example(mask=np.where(MASK, 0.5, -np.inf)),
        example(mask=np.linspace(-1, 1, QUERIES), is_causal=True, scale=-0.3),
        example(scale=0.3),
        example(scale=-2, query=np.ones((QUERIES, 1)) * 50, key=np.ones((QUERIES, 1))),
        without_scale(load_example("play-football")),
    ],
)
def test_masks_scales_and_shifts(start):
    run = trace(start)
    for stage in stages_of(run):
        for where, value in cells(run, stage):
            check(arithmetic(run, stage, **where), value)


LINES = [
    ("cat-sat", ("scaled_scores", 0, 0), "2 ÷ √4 = 1"),
    ("cat-sat", ("exponentials", 0, 0), "e^1 ≈ 2.7183"),
    ("cat-sat", ("head_outputs", 0, 0), "0.7311×2 + 0.2689×5 ≈ 1.4621 + 1.3447 = 2.8068"),
    (
        "cat-sat-on-it",
        ("query", 0, 0),
        "1.1×(−1.4) + 0.5×(−0.3) + (−0.4)×1.2 = (−1.54) + (−0.15) + (−0.48) = −2.17",
    ),
]


@pytest.mark.parametrize(("name", "where", "line"), LINES)
def test_lines(name, where, line):
    assert str(arithmetic(trace(load_example(name)), *where)) == line


def test_masked_lines():
    run = trace(MASKED)
    assert str(arithmetic(run, "scaled_scores", 3, 1)) == "masked = −∞"
    assert str(arithmetic(run, "exponentials", 3, 1)) == "e^−∞ = 0.0000"
    assert arithmetic(run, "weights", 3, 1).expression.startswith("0.0000 ÷ ")
    # Nothing is divided by zero in a row that may attend to none.
    assert str(arithmetic(run, "weights", 2, 1)) == "masked = 0.0000"


def test_lines_beyond_the_arrays_of_a_run():
    run = trace(load_example("the-cat-sat"))
    assert str(arithmetic(run, "percentages", 0, 0)).startswith("100×0.")
    assert str(arithmetic(run, "root", 0)) == "√2 ≈ 1.4142"
    term = written_out(origin(run, Place("scores", 1, 2, 0, term=1)), 2)
    assert term.products == ()
    check(term, float(run.query[1, 2, 1] * run.key[1, 0, 1]), 2)
    assert str(arithmetic(run, "concat", 2, 3)) == f"{term_of(run)} = {term_of(run)}"


def term_of(run):
    """Return how the last component of the last token's last head is written."""
    return short(run.head_outputs[1, 2, 1])


def test_exponents_are_raised_on_a_page():
    line = Arithmetic(expression="e^−0.5", products=(), result="0.6065")
    assert line._repr_markdown_() == "e{sup}`−0.5` ≈ 0.6065"
    line = Arithmetic(expression="1 ÷ (1 + e^2)", products=(), result="0.1192")
    assert line._repr_markdown_() == "1 ÷ (1 + e{sup}`2`) ≈ 0.1192"


def test_an_index_below_zero_is_refused():
    with raises(ValueError, "column is -1; a number of at least 0 is wanted"):
        arithmetic(trace(load_example("the-cat-sat")), "scores", 3, -1)
