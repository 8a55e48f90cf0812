"""What is read as an answer: numbers, short calculations, and nothing else."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mha.practice.entered import LONGEST, read


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1/3.7183*2.7183", 2.7183 / 3.7183),
        ("e^1", math.e),
        ("e^-0,5", math.exp(-0.5)),
        ("exp(1)", math.e),
        ("exp(−1)/(1+exp(−1))", math.exp(-1) / (1 + math.exp(-1))),
        ("sqrt(2)", math.sqrt(2)),
        ("√2", math.sqrt(2)),
        ("2 ÷ √4", 1),
        ("2,84 / √2", 2.84 / math.sqrt(2)),
        ("1×0.2 + 0×0.4 − 3·2", -5.8),
        ("-2^2", -4),
        ("2**3", 8),
        ("2^3^2", 512),
        ("8-3-2", 3),
        ("8/2/2", 2),
        ("50 %", 0.5),
        ("1/4 %", 0.0025),
    ],
)
def test_calculations_come_to_a_number(text, number):
    assert read(text).number == pytest.approx(number, rel=1e-14)


@pytest.mark.parametrize(
    "text",
    ["1+", "(1", "1)", "()", "e2", "2e", "1 2 x", "sqrt", "sqrt(-1)", "(-8)^(1/3)", "exp(1000)",
     "1/exp(1000)", "9^9^9", "0^-1", "__import__", "1;2", "%", "5%%", "√", "()()", "+-1", "", "1e3",
     "1.2.3", "1,234.5", "--1", "3/0", "1 000 x", "٣"],
)  # fmt: skip
def test_what_comes_to_none_is_none(text):
    assert read(text) is None


def test_decimals_are_those_of_a_plain_number():
    assert [read(text).decimals for text in ("0.50", ",5", "3.", "7", "1.25*1", "-0.125 %")] == [
        *(2, 1, 0, 0, 0, 3)
    ]


@pytest.mark.parametrize("text", ["1" * 80000 + "x", "(" * 80000, "1+" * 50000 + "1", "√" * 80000])
def test_a_hostile_text_is_no_number(text):
    assert read(text) is None
    assert read(text[:LONGEST]) is None or text.startswith("1")


@given(st.text(alphabet="0123456789.,+-*/^()e√%sqrtxp ", max_size=40))
def test_any_text_is_a_finite_number_or_none(text):
    found = read(text)
    assert found is None or math.isfinite(found.number)
