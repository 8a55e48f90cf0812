"""Signs between the steps of a printed calculation: = if it is exact as printed, else ≈.

The sign is = if the printed numbers, read as exact decimals, give the next step to the last digit,
and ≈ if rounding is involved. The printed text alone decides, for every line of the book; in the
browser `engine/signs.ts` decides alike.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from mha.core.checks import as_names


@lru_cache(maxsize=1 << 8)  # a step between two signs is evaluated twice
def exact_value(text: str) -> Fraction | None:
    """Return the exact value of a printed calculation, its numbers read as exact decimals.

    Parameters
    ----------
    text : str
        Numbers, brackets, the signs + − × ÷ √ e^ %, the functions cos, sin and tanh, and max(…) of
        several numbers.

    Returns
    -------
    Fraction or None
        None if the value is irrational or infinite, or if the text is no calculation.

    Examples
    --------
    >>> exact_value("0.6×1.2 + (−0.5)"), exact_value("1 ÷ √4"), exact_value("1 ÷ √2")
    (Fraction(11, 50), Fraction(1, 2), None)
    """
    return _value(text, _EXACT_FUNCTIONS)


@lru_cache(maxsize=1 << 8)
def float_value(text: str) -> Fraction | None:
    """Return the value of a printed calculation, with roots and other functions in float64.

    Parameters
    ----------
    text : str
        As for `exact_value`.

    Returns
    -------
    Fraction or None
        None if the text is not a calculation, or if one of its numbers overflows float64.

    Examples
    --------
    >>> float(float_value("1 ÷ √2")), float(float_value("e^4.2426"))
    (0.7071067811865475, 69.58854705552615)
    """
    return _value(text, _FLOAT_FUNCTIONS)


def sign(left: str, right: str) -> str:
    """Return the sign between two printed steps of a calculation.

    Parameters
    ----------
    left, right : str
        As for `exact_value`. A text without a digit is words, which are taken to equal the number.

    Returns
    -------
    str
        "=" if both have the same exact value, else "≈".

    Examples
    --------
    >>> sign("0.6×1.2", "0.72"), sign("1 ÷ √2", "0.7071"), sign("0.7071", "71 %")
    ('=', '≈', '≈')
    """
    if left == right or not re.search(r"\d", left):
        return "="
    value = exact_value(left)
    return "=" if value is not None and value == exact_value(right) else "≈"


def chain(*steps: str) -> str:
    """Return the steps of a calculation on one line, with = or ≈ between each two.

    Raises
    ------
    TypeError, ValueError
        If a step is no string, or if there are no steps.

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
    """Return a printed sum after its sign: = if its printed terms give it exactly, else ≈.

    Examples
    --------
    >>> total(["2.1162", "0.2595"], "2.3756"), total(["1.5", "−0.5"], "1.0")
    ('≈ 2.3756', '= 1.0')
    """
    added = " + ".join(f"({term})" if term.startswith("−") else term for term in terms)
    return f"{sign(added, result)} {result}"


# ---- Parser of printed calculations ----

_LARGEST = re.compile(r"max\(((?:−?[\d.]+|−∞)(?:, (?:−?[\d.]+|−∞))+)\)")

_NAMED = re.compile("cos|sin|tanh")

_TOKEN = re.compile(rf"\d+(?:\.\d+)?|e ?\^|{_NAMED.pattern}|\S")

_Functions = Mapping[str, Callable[[Fraction], Fraction | None]]
"""Functions of one number, by the first character of their symbol."""


def _value(text: str, functions: _Functions) -> Fraction | None:
    """Return the value of a printed calculation, or None if it has no value."""
    text = _LARGEST.sub(_largest, text.replace("e^−∞", "0"))
    if re.search(r"∞|[^\W\d_e]", _NAMED.sub("", text)):
        return None
    tokens = _TOKEN.findall(text)
    try:
        value = _parse_sum(tokens, functions)
    except (ArithmeticError, IndexError, ValueError):
        return None
    return None if tokens else value


def _largest(found: re.Match[str]) -> str:
    """Return the largest of some printed numbers, as printed, in brackets."""
    numbers = found[1].split(", ")
    return f"({max(numbers, key=lambda text: float(text.replace('−', '-').replace('∞', 'inf')))})"


def _parse_sum(tokens: list[str], functions: _Functions) -> Fraction | None:
    """Remove a sum from the front of the tokens; return its value, or None if irrational."""
    total = _parse_product(tokens, functions)
    while tokens and tokens[0] in "+−":
        is_plus = tokens.pop(0) == "+"
        term = _parse_product(tokens, functions)
        if total is not None and term is not None:
            total = total + term if is_plus else total - term
        else:
            total = None
    return total


def _parse_product(tokens: list[str], functions: _Functions) -> Fraction | None:
    total = _parse_factor(tokens, functions)
    while tokens and tokens[0] in "×÷":
        is_times = tokens.pop(0) == "×"
        by = _parse_factor(tokens, functions)
        total = _times(total, by) if is_times else _divided(total, by)
    return total


def _times(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    """Return a product, which is 0 if one factor is 0 and the other irrational."""
    if left == 0 or right == 0:
        return Fraction(0)
    return None if left is None or right is None else left * right


def _divided(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return _times(left, None if right is None else 1 / right)


def _parse_factor(tokens: list[str], functions: _Functions) -> Fraction | None:
    token = tokens.pop(0)
    if token[0] in functions:
        value = _parse_factor(tokens, functions)
        return None if value is None else functions[token[0]](value)
    if token == "(":
        value = _parse_sum(tokens, functions)
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
    """Return a square root that is rational, else None."""
    if value < 0:
        return None
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return root if root * root == value else None


_EXACT_FUNCTIONS: _Functions = {
    "−": lambda value: -value,
    "√": _exact_root,
    "e": lambda value: None if value else Fraction(1),
    "c": lambda value: None if value else Fraction(1),
    "s": lambda value: None if value else Fraction(0),
    "t": lambda value: None if value else Fraction(0),
}

_FLOAT_FUNCTIONS: _Functions = {
    "−": lambda value: -value,
    "√": lambda value: Fraction(math.sqrt(value)),
    "e": lambda value: Fraction(math.exp(value)),
    "c": lambda value: Fraction(math.cos(value)),
    "s": lambda value: Fraction(math.sin(value)),
    "t": lambda value: Fraction(math.tanh(value)),
}
