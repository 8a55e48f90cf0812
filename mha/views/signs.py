"""The sign between two steps of a printed calculation: = where it holds as printed, else ≈.

An equals sign stands where the printed numbers, read as the exact decimals that they are, give what
stands behind it, to the last digit; where rounding enters, ≈ stands. This is decided from nothing
but the printed text, for every line of the book; in the browser signs.js does it.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from mha.core.checks import as_names


@lru_cache(maxsize=1 << 8)  # a step in the middle is read twice
def as_printed(text: str) -> Fraction | None:
    """Return what a printed calculation comes to, its numbers read as exact decimals.

    Parameters
    ----------
    text : str
        Numbers, brackets, the signs + − × ÷ √ e^ %, the functions cos, sin and tanh, and max(…) of
        several numbers.

    Returns
    -------
    Fraction or None
        None where the value is no fraction, is infinite, or the text is no calculation.

    Examples
    --------
    >>> as_printed("0.6×1.2 + (−0.5)"), as_printed("1 ÷ √4"), as_printed("1 ÷ √2")
    (Fraction(11, 50), Fraction(1, 2), None)
    """
    return _value(text, _EXACTLY)


@lru_cache(maxsize=1 << 8)
def by_calculator(text: str) -> Fraction | None:
    """Return the value of a printed calculation, with roots, powers of e and functions in float64.

    Parameters
    ----------
    text : str
        As for `as_printed`.

    Returns
    -------
    Fraction or None
        None if the text is not a calculation, or one of its numbers is beyond float64.

    Examples
    --------
    >>> float(by_calculator("1 ÷ √2")), float(by_calculator("e^4.2426"))
    (0.7071067811865475, 69.58854705552615)
    """
    return _value(text, _IN_FLOATS)


def sign(left: str, right: str) -> str:
    """Return the sign that stands between two printed steps of a calculation.

    Parameters
    ----------
    left, right : str
        As for `as_printed`; what has no digit is words, and those say the same as the number.

    Returns
    -------
    str
        "=" where both come to the same as they are printed, else "≈".

    Examples
    --------
    >>> sign("0.6×1.2", "0.72"), sign("1 ÷ √2", "0.7071"), sign("0.7071", "71 %")
    ('=', '≈', '≈')
    """
    if left == right or not re.search(r"\d", left):
        return "="
    value = as_printed(left)
    return "=" if value is not None and value == as_printed(right) else "≈"


def chain(*steps: str) -> str:
    """Return steps of a calculation on one line, each pair with the sign that holds.

    Raises
    ------
    TypeError, ValueError
        If a step is no string, or there is none.

    Examples
    --------
    >>> chain("0.5×1.2 + 0.1×0.2", "0.6 + 0.02", "0.62")
    '0.5×1.2 + 0.1×0.2 = 0.6 + 0.02 = 0.62'
    >>> chain("e^1", "2.7183")
    'e^1 ≈ 2.7183'
    """
    steps = as_names("steps", steps)
    return steps[0] + "".join(f" {sign(a, b)} {b}" for a, b in pairwise(steps))


def total(terms: Iterable[str], result: str) -> str:
    """Return a printed sum behind the sign that holds: = where its printed terms give it, else ≈.

    Examples
    --------
    >>> total(["2.1162", "0.2595"], "2.3756"), total(["1.5", "−0.5"], "1.0")
    ('≈ 2.3756', '= 1.0')
    """
    added = " + ".join(f"({term})" if term.startswith("−") else term for term in terms)
    return f"{sign(added, result)} {result}"


# ---- Reading a printed calculation ----

_LARGEST = re.compile(r"max\(((?:−?[\d.]+|−∞)(?:, (?:−?[\d.]+|−∞))+)\)")

_NAMED = re.compile("cos|sin|tanh")

_TOKEN = re.compile(rf"\d+(?:\.\d+)?|e ?\^|{_NAMED.pattern}|\S")

_Functions = Mapping[str, Callable[[Fraction], Fraction | None]]
"""Functions of one number, by the first character of their sign."""


def _value(text: str, functions: _Functions) -> Fraction | None:
    """Return the value of a printed calculation, or None if it has no value."""
    text = _LARGEST.sub(_largest, text.replace("e^−∞", "0"))
    if re.search(r"∞|[^\W\d_e]", _NAMED.sub("", text)):
        return None
    tokens = _TOKEN.findall(text)
    try:
        value = _sum_of(tokens, functions)
    except (ArithmeticError, IndexError, ValueError):
        return None
    return None if tokens else value


def _largest(found: re.Match[str]) -> str:
    """Return the largest of some printed numbers, in brackets, as it is printed."""
    numbers = found[1].split(", ")
    return f"({max(numbers, key=lambda text: float(text.replace('−', '-').replace('∞', 'inf')))})"


def _sum_of(tokens: list[str], functions: _Functions) -> Fraction | None:
    """Take a sum off the front of some tokens; return its value, None where it is irrational."""
    total = _product_of(tokens, functions)
    while tokens and tokens[0] in "+−":
        is_plus = tokens.pop(0) == "+"
        term = _product_of(tokens, functions)
        if total is not None and term is not None:
            total = total + term if is_plus else total - term
        else:
            total = None
    return total


def _product_of(tokens: list[str], functions: _Functions) -> Fraction | None:
    total = _factor_of(tokens, functions)
    while tokens and tokens[0] in "×÷":
        is_times = tokens.pop(0) == "×"
        by = _factor_of(tokens, functions)
        total = _times(total, by) if is_times else _divided(total, by)
    return total


def _times(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    """Return a product; nothing times an irrational number is still nothing."""
    if left == 0 or right == 0:
        return Fraction(0)
    return None if left is None or right is None else left * right


def _divided(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return _times(left, None if right is None else 1 / right)


def _factor_of(tokens: list[str], functions: _Functions) -> Fraction | None:
    token = tokens.pop(0)
    if token[0] in functions:
        value = _factor_of(tokens, functions)
        return None if value is None else functions[token[0]](value)
    if token == "(":
        value = _sum_of(tokens, functions)
        if tokens.pop(0) != ")":
            raise ValueError("a bracket is not closed")
        return value
    value = _number(token)
    if tokens and tokens[0] == "%":
        tokens.pop(0)
        value /= 100
    return value


@lru_cache(maxsize=1 << 10)
def _number(token: str) -> Fraction:
    whole, _, decimals = token.partition(".")
    return Fraction(int(whole + decimals), 10 ** len(decimals))


def _exact_root(value: Fraction) -> Fraction | None:
    """Return a square root that is a fraction, else None."""
    if value < 0:
        return None
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return root if root * root == value else None


_EXACTLY: _Functions = {
    "−": lambda value: -value,
    "√": _exact_root,
    "e": lambda value: None if value else Fraction(1),
    "c": lambda value: None if value else Fraction(1),
    "s": lambda value: None if value else Fraction(0),
    "t": lambda value: None if value else Fraction(0),
}

_IN_FLOATS: _Functions = {
    "−": lambda value: -value,
    "√": lambda value: Fraction(math.sqrt(value)),
    "e": lambda value: Fraction(math.exp(value)),
    "c": lambda value: Fraction(math.cos(value)),
    "s": lambda value: Fraction(math.sin(value)),
    "t": lambda value: Fraction(math.tanh(value)),
}
