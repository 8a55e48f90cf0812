"""Any number of a run, written out as the sum or quotient that gives it.

A line holds as it is printed. An equals sign stands where the printed numbers, read as the exact
decimals that they are, give what stands behind it to the last digit; where rounding enters, ≈
stands. `sign` decides this from nothing but the printed text, for every line of the book; in the
browser `sign` of numbers.js does.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from mha.runs.origins import Operation, Origin, origin
from mha.runs.places import Place
from mha.runs.record import Trace
from mha.runs.rounding import PLACES, short, shown


def as_printed(text: str) -> Fraction | None:
    """Return what a printed calculation comes to, its numbers read as exact decimals.

    Parameters
    ----------
    text : str
        Numbers, brackets, and the signs + − × ÷ √ e^ %.

    Returns
    -------
    Fraction or None
        None where the value is no fraction, is infinite, or the text is no calculation.

    Examples
    --------
    >>> as_printed("0.6×1.2 + (−0.5)"), as_printed("1 ÷ √4"), as_printed("1 ÷ √2")
    (Fraction(11, 50), Fraction(1, 2), None)
    """
    text = text.replace("e^−∞", "0")
    if re.search(r"∞|[^\W\d_e]", text):
        return None
    tokens = _TOKEN.findall(text)
    try:
        value = _sum_of(tokens)
    except (IndexError, ValueError, ZeroDivisionError):
        return None
    return None if tokens else value


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

    Examples
    --------
    >>> chain("0.5×1.2 + 0.1×0.2", "0.6 + 0.02", "0.62")
    '0.5×1.2 + 0.1×0.2 = 0.6 + 0.02 = 0.62'
    >>> chain("e^1", "2.7183")
    'e^1 ≈ 2.7183'
    """
    return steps[0] + "".join(f" {sign(a, b)} {b}" for a, b in pairwise(steps))


@dataclass(frozen=True)
class Arithmetic:
    """One computed number and how it comes about.

    Parameters
    ----------
    expression : str
        The calculation with its numbers, such as ``1×1 + 0×0``.
    products : tuple of str
        The terms of a sum of products, each worked out; empty for other calculations.
    result : str

    Examples
    --------
    >>> print(Arithmetic(expression="1×2 + 3×4", products=("2", "12"), result="14"))
    1×2 + 3×4 = 2 + 12 = 14
    """

    expression: str
    products: tuple[str, ...]
    result: str

    def __str__(self) -> str:
        """Return the whole line: expression, terms worked out, result."""
        steps = [self.expression, " + ".join(self.products), self.result]
        return chain(*filter(None, steps))

    def _repr_markdown_(self) -> str:
        """Return the line with its exponents raised."""
        return re.sub(r"\^(\S+)", r"{sup}`\1`", str(self))


def arithmetic(
    run: Trace, stage: str, row: int, column: int = 0, *, head: int = 0, places: int = PLACES
) -> Arithmetic:
    """Write out one number of a run.

    Parameters
    ----------
    run : Trace
    stage : str
        One that is computed: "query" to "output".
    row : int
        The token that the number belongs to: the query's, from the scores on.
    column : int, default 0
        The dimension, or the key's token from the scores to the weights. A row sum has none.
    head : int, default 0
        Counted from 0. The output has none.
    places : int, default 4
        Decimals shown; the calculation itself is not rounded.

    Returns
    -------
    Arithmetic

    Raises
    ------
    ValueError
        If the stage is unknown, the run does not have or compute it, or an index is out of range.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> run = trace(load_example("cat-sat"))
    >>> print(arithmetic(run, "scores", 0, 1))
    1×0 + 0×1 + 1×0 + 0×1 = 0 + 0 + 0 + 0 = 0
    >>> print(arithmetic(run, "weights", 0, 0))
    2.7183 ÷ 3.7183 ≈ 0.7311
    """
    return written_out(origin(run, Place.of(stage, head, row, column)), places)


def written_out(origin: Origin, places: int = PLACES) -> Arithmetic:
    """Write out where a number comes from.

    Parameters
    ----------
    origin : Origin
        Of a number that is computed.
    places : int, default 4

    Returns
    -------
    Arithmetic

    Raises
    ------
    ValueError
        If the number is given, not computed.

    Examples
    --------
    >>> from mha import load_example, origin, trace
    >>> run = trace(load_example("cat-sat"))
    >>> print(written_out(origin(run, Place("exponentials", head=0, row=0, column=1))))
    e^0 = 1.0000
    """
    if origin.operation == "given":
        raise ValueError(f"{origin.place} is given; a number that is computed is wanted")
    return _LINES[origin.operation](origin, places)


def factor(value: float, places: int = PLACES) -> str:
    """Return a number as part of a sum or product: in brackets where it is negative.

    Examples
    --------
    >>> factor(2.0), factor(-0.5)
    ('2', '(−0.5)')
    """
    text = short(value, places)
    return f"({text})" if text.startswith("−") else text


def products(origin: Origin, places: int = PLACES) -> tuple[str, ...]:
    """Return the terms of a sum of products as they are worked out: ``1×2``.

    Examples
    --------
    >>> from mha import load_example, origin, trace
    >>> run = trace(load_example("cat-sat"))
    >>> products(origin(run, Place("scores", head=0, row=0, column=1)))
    ('1×0', '0×1', '1×0', '0×1')
    """
    return tuple("×".join(factor(o.value, places) for o in term) for term in origin.terms)


def _sum_of_products(origin: Origin, places: int) -> Arithmetic:
    worked = tuple(factor(math.prod(o.value for o in term), places) for term in origin.terms)
    several = worked if len(worked) > 1 or origin.operation != "product" else ()
    expression = " + ".join(products(origin, places))
    return Arithmetic(expression, several, short(origin.number, places))


def _scaled(origin: Origin, places: int) -> Arithmetic:
    (score,), (by,), *mask = origin.terms
    result = origin.number
    if not math.isfinite(result):
        return Arithmetic("masked", (), shown(result, places))
    number = factor(by.value, places)
    scaling = f"÷ √{number}" if by.name == "d_k" else f"× {number}"
    added = "".join(f" + {factor(operand.value, places)}" for (operand,) in mask)
    expression = f"{short(score.value, places)} {scaling}{added}"
    return Arithmetic(expression, (), short(result, places))


def _exponential(origin: Origin, places: int) -> Arithmetic:
    (score,), *shift = origin.terms
    exponent = score.value - math.fsum(operand.value for (operand,) in shift)
    return Arithmetic(f"e^{short(exponent, places)}", (), shown(origin.number, places))


def _sum(origin: Origin, places: int) -> Arithmetic:
    terms = " + ".join(shown(operand.value, places) for operand in origin.operands)
    return Arithmetic(terms, (), shown(origin.number, places))


def _share(origin: Origin, places: int) -> Arithmetic:
    top, bottom = origin.operands
    result = shown(origin.number, places)
    if bottom.value == 0:
        return Arithmetic("masked", (), result)
    return Arithmetic(f"{shown(top.value, places)} ÷ {shown(bottom.value, places)}", (), result)


def _copy(origin: Origin, places: int) -> Arithmetic:
    (operand,) = origin.operands
    return Arithmetic(short(operand.value, places), (), short(origin.number, places))


def _root(origin: Origin, places: int) -> Arithmetic:
    (d_k,) = origin.operands
    return Arithmetic(f"√{short(d_k.value, places)}", (), short(origin.number, places))


def _percent(origin: Origin, places: int) -> Arithmetic:
    (weight,) = origin.operands
    return Arithmetic(f"100×{shown(weight.value, places)}", (), shown(origin.number, places))


_LINES: dict[Operation, Callable[[Origin, int], Arithmetic]] = {
    "products": _sum_of_products,
    "product": _sum_of_products,
    "mixed": _sum_of_products,
    "scaled": _scaled,
    "exponential": _exponential,
    "sum": _sum,
    "share": _share,
    "copy": _copy,
    "root": _root,
    "percent": _percent,
}


# ---- Reading a printed calculation ----

_TOKEN = re.compile(r"\d+(?:\.\d+)?|e ?\^|\S")


def _sum_of(tokens: list[str]) -> Fraction | None:
    """Take a sum off the front of some tokens; return its value, None where it is irrational."""
    total = _product_of(tokens)
    while tokens and tokens[0] in "+−":
        is_plus = tokens.pop(0) == "+"
        term = _product_of(tokens)
        if total is not None and term is not None:
            total = total + term if is_plus else total - term
        else:
            total = None
    return total


def _product_of(tokens: list[str]) -> Fraction | None:
    total = _factor_of(tokens)
    while tokens and tokens[0] in "×÷":
        is_times = tokens.pop(0) == "×"
        by = _factor_of(tokens)
        total = _times(total, by) if is_times else _divided(total, by)
    return total


def _times(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    """Return a product; nothing times an irrational number is still nothing."""
    if left == 0 or right == 0:
        return Fraction(0)
    return None if left is None or right is None else left * right


def _divided(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    return _times(left, None if right is None else 1 / right)


def _factor_of(tokens: list[str]) -> Fraction | None:
    token = tokens.pop(0)
    if token in ("−", "√") or token.startswith("e"):
        value = _factor_of(tokens)
        return None if value is None else _APPLIED[token[0]](value)
    if token == "(":
        value = _sum_of(tokens)
        if tokens.pop(0) != ")":
            raise ValueError("a bracket is not closed")
        return value
    whole, _, decimals = token.partition(".")
    value = Fraction(int(whole + decimals), 10 ** len(decimals))
    if tokens and tokens[0] == "%":
        tokens.pop(0)
        value /= 100
    return value


def _exact_root(value: Fraction) -> Fraction | None:
    """Return a square root that is a fraction, else None."""
    if value < 0:
        return None
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return root if root * root == value else None


_APPLIED: dict[str, Callable[[Fraction], Fraction | None]] = {
    "−": lambda value: -value,
    "√": _exact_root,
    "e": lambda value: None if value else Fraction(1),
}
