"""Lines of arithmetic as they are printed; `tests/runs/put_together.py` works out every one."""

import pytest
from helpers import MASK, example

from mha import (
    Place,
    load_example,
    origin,
    short,
    trace,
)
from mha.views.arithmetic import Arithmetic, arithmetic, written_out

MASKED = example(mask=MASK)


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
    assert (term.products, term.result) == ((), short(run.query[1, 2, 1] * run.key[1, 0, 1], 2))
    assert str(arithmetic(run, "concat", 2, 3)) == f"{term_of(run)} = {term_of(run)}"


def term_of(run):
    """Return how the last component of the last token's last head is written."""
    return short(run.head_outputs[1, 2, 1])


def test_exponents_are_raised_on_a_page():
    line = Arithmetic(expression="e^−0.5", products=(), result="0.6065")
    assert line._repr_markdown_() == "e{sup}`−0.5` ≈ 0.6065"
    line = Arithmetic(expression="1 ÷ (1 + e^2)", products=(), result="0.1192")
    assert line._repr_markdown_() == "1 ÷ (1 + e{sup}`2`) ≈ 0.1192"
