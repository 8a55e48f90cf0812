"""Where an equals sign stands: exactly where the printed numbers give what is printed."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mha import shown
from mha.views.signs import as_printed, chain, sign

tenths = st.integers(-99, 99).map(lambda n: Decimal(n) / 10)


def text_of(number):
    text = str(number).replace("-", "−")
    return f"({text})" if number < 0 else text


@given(st.lists(st.tuples(tenths, tenths), min_size=1, max_size=5), st.integers(-2, 2))
def test_a_sum_of_products_equals_its_sum_and_nothing_beside_it(pairs, off):
    line = " + ".join(f"{text_of(a)}×{text_of(b)}" for a, b in pairs)
    total = sum(a * b for a, b in pairs)
    assert as_printed(line) == Fraction(total)
    assert sign(line, text_of(total + Decimal(off) / 100)) == ("≈" if off else "=")


@given(st.integers(0, 200), st.integers(1, 200))
def test_quotients_and_roots_are_equal_only_where_they_end(top, bottom):
    for decimals in (1, 4):
        text = shown(top / bottom, decimals)
        holds = Fraction(text) * bottom == top
        assert sign(f"{top} ÷ {bottom}", text) == ("=" if holds else "≈")
        text = shown(top**0.5, decimals)
        assert sign(f"√{top}", text) == ("=" if Fraction(text) ** 2 == top else "≈")


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [
        ("e^0", "1.0000", "="),
        ("e^−∞ + 0.5", "0.5", "="),
        ("e^−30", "0.0000", "≈"),
        ("0.0001", "0.01\u00a0%", "="),
        ("0.7311", "73\u00a0%", "≈"),
        ("0 ÷ √2 + 0.5", "0.5", "="),
        ("masked", "−∞", "="),
        ("1 ÷ 0", "0", "≈"),
        ("1 +", "1", "≈"),
        ("x", "x", "="),
        ("2x", "2", "≈"),
    ],
)
def test_signs(left, right, wanted):
    assert sign(left, right) == wanted


def test_each_pair_of_steps_has_its_own_sign():
    assert chain("0.7311×2 + 0.2689×5", "1.4621 + 1.3447", "2.8068") == (
        "0.7311×2 + 0.2689×5 ≈ 1.4621 + 1.3447 = 2.8068"
    )
    assert chain("2") == "2"
