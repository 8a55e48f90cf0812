"""Printed lines of arithmetic, with an equals sign exactly where the equality holds."""

import chains
import numpy as np
import pytest
from helpers import MASK, example

import mha
from mha import Place, load_example, origin, trace
from mha.core.feed_forward import FeedForward
from mha.core.norm import Norm
from mha.core.transformer import Block
from mha.runs.rounding import short, shown
from mha.views.arithmetic import Arithmetic, arithmetic, with_enough_decimals, write_arithmetic
from mha.views.signs import sign

# Lines; `tests/runs/test_origins.py` works out every one

NOTHING = mha.MultiHeadWeights(*np.zeros((3, 1, 2, 2)))
FEED = FeedForward([[1], [0]], None, [[1, 0]], None, "gelu")
BLOCK = Block(NOTHING, FEED, "before", second=Norm([1, 2], [0, 0.5], eps=0.25))
AT_NOTHING = dict.fromkeys(("query", "key", "value"))
AT_ONE = {"tokens": ["a"], "query": [[1.0, 0.0]], "key": [[1.0, 0.0]], "value": [[1.0]]}
RUNS = {name: trace(load_example(name)) for name in mha.example_names()} | {
    "masked": trace(example(mask=MASK)),
    "added": trace(example(**AT_ONE, mask=np.array([[0.5]]))),
    "taken away": trace(example(**AT_ONE, mask=np.array([[-0.5]]), scale=-3)),
    "block": trace(
        example(**AT_NOTHING, tokens=["a", "b"], embeddings=[[2, 1], [1, -1]], block=BLOCK)
    ),
}


@pytest.mark.parametrize(
    ("name", "where", "line"),
    [
        ("cat-sat", ("scaled_scores", 0, 0), "2 ÷ √4 = 1"),
        ("cat-sat", ("head_outputs", 0, 0), "0.73106×2 + 0.26894×5 ≈ 1.4621 + 1.3447 = 2.8068"),
        ("cat-sat-on-it", ("query", 0, 0),
         "1.1×(−1.4) + 0.5×(−0.3) + (−0.4)×1.2 = (−1.54) + (−0.15) + (−0.48) = −2.17"),
        ("the-cat-sat", ("root", 0), "√2 ≈ 1.4142"),
        ("cat-sat", ("percentages", 0, 0), "100×0.731059 = 73.1059"),
        ("masked", ("scaled_scores", 3, 1), "masked = −∞"),
        ("masked", ("exponentials", 3, 1), "e^−∞ = 0.0000"),
        ("masked", ("weights", 2, 1), "masked = 0.0000"),  # of a row that may attend to none
        ("added", ("scaled_scores", 0, 0), "1 ÷ √2 + 0.5 ≈ 1.2071"),
        ("taken away", ("scaled_scores", 0, 0), "1 × (−3) + (−0.5) = −3.5"),
        ("block", ("stream_means", 0, 0), "(2 + 1) ÷ 2 = 1.5"),
        ("block", ("stream_spreads", 0, 0),
         "√((0.5×0.5 + (−0.5)×(−0.5)) ÷ 2 + 0.25) ≈ 0.7071"),
        ("block", ("stream_normed", 0, 1), "(1 − 1.5) ÷ 0.7071 × 2 + 0.5 ≈ −0.9142"),
        ("block", ("active", 0, 0), "0.70711×0.76025 ≈ 0.5376"),
    ],
)  # fmt: skip
def test_lines(name, where, line):
    assert str(arithmetic(RUNS[name], *where)) == line


def test_a_term_has_a_line_and_exponents_are_raised_on_a_page():
    run = RUNS["the-cat-sat"]
    term = write_arithmetic(origin(run, Place("scores", 1, 2, 0, term=1)), 2)
    assert (term.products, term.result) == ((), short(run.query[1, 2, 1] * run.key[1, 0, 1], 2))
    line = Arithmetic(expression="e^−0.5", products=(), result="0.6065")
    assert line._repr_markdown_() == "e{sup}`−0.5` ≈ 0.6065"
    line = Arithmetic(expression="1 ÷ (1 + e^2)", products=(), result="0.1192")
    assert line._repr_markdown_() == "1 ÷ (1 + e{sup}`2`) ≈ 0.1192"


def test_a_printed_function_has_the_decimals_that_its_result_needs():
    for function, x in (("tanh", 0.21234), ("cos", 1.57234), ("sin", -3.14334)):
        value = 700 * getattr(np, function)(x)
        text = with_enough_decimals(lambda p: f"700×{function}({shown(x, p)})", value)  # noqa: B023
        (one,) = chains.hold(f"{text} ≈ {short(value)}")
        assert one.relations == ("≈",)
        assert [fault for c in chains.read(f"700×{function}({shown(x)}) ≈ {short(value)}")
                for fault in c.faults()]  # fmt: skip


# Signs; `tests/runs/test_origins.py` has a reader of its own that finds where they hold


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        ("3 − 1.5", "1.5", "="),
        ("√2.25", "1.5", "="),
        ("√2", "1", "≈"),
        ("e^0", "1.0000", "="),
        ("e^−∞ + 0.5", "0.5", "="),
        ("e^−30", "0.0000", "≈"),
        ("0.0001", "0.01\u00a0%", "="),
        ("0.7311", "73\u00a0%", "≈"),
        ("0 ÷ √2 + 0.5", "0.5", "="),
        ("masked", "−∞", "="),
        ("1 ÷ 0", "0", "≈"),
        ("1 +", "1", "≈"),
        ("2×tanh(0 ÷ 3) + cos 0", "1", "="),
        ("2×tanh(1 ÷ 3)", "0.6430", "≈"),
        ("x", "x", "="),
        ("2x", "2", "≈"),
    ],
)
def test_signs(left, right, wanted):
    assert sign(left, right) == wanted
