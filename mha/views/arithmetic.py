"""Any number of a run, written out as the sum or quotient that gives it.

A line holds as it is printed: `mha.views.signs` says where an equals sign stands, and where ≈.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial

from mha.core.feed_forward import normal_cdf
from mha.runs.computations import Sheet
from mha.runs.operations import Operation, Origin
from mha.runs.origins import origin
from mha.runs.places import Place
from mha.runs.record import Trace
from mha.runs.rounding import PLACES, short, shown
from mha.views.signs import as_printed, by_calculator, chain

LONGEST, KEPT = 48, 8
"""Beyond how many terms a line is cut, and how many of them, the largest, it then has."""

RAISED = r"\^([^\s)]+)"
"""An exponent, without the bracket that closes behind it."""


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
        """Return the whole line: expression, terms worked out if there are several, result."""
        several = " + ".join(self.products) if len(self.products) > 1 else ""
        steps = [self.expression, "" if several == self.expression else several, self.result]
        return chain(*filter(None, steps))

    def _repr_markdown_(self) -> str:
        """Return the line with its exponents raised."""
        return re.sub(RAISED, r"{sup}`\1`", str(self))

    def _repr_html_(self) -> str:
        """Return the same for a notebook."""
        return re.sub(RAISED, r"<sup>\1</sup>", str(self))


def arithmetic(
    run: Trace | Sheet,
    stage: str,
    row: int,
    column: int = 0,
    *,
    head: int = 0,
    places: int = PLACES,
) -> Arithmetic:
    """Write out one number of a run, or of a sheet.

    Parameters
    ----------
    run : Trace or Sheet
    stage : str
        One that is computed: "query" to "output". Of a sheet, one of its tables.
    row : int
        The token that the number belongs to: the query's, from the scores on.
    column : int, default 0
        The dimension, or the key's token from the scores to the weights. A row sum has none.
    head : int, default 0
        Counted from 0. The output has none.
    places : int, default 4
        Decimals of the result. Operands are printed with more decimals where the printed result
        needs them; the calculation itself is not rounded.

    Returns
    -------
    Arithmetic
        Of more than 48 terms the 8 largest, then how many are left out and what they come to.

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
    if isinstance(run, Sheet):
        found = run.origin(stage, row, column)
    else:
        found = origin(run, Place.of(stage, head, row, column))
    return written_out(found, places)


MOST_PLACES = 15
"""The most decimals of an operand: a float64 between 1 and 10 has no more."""


def written_out(origin: Origin, places: int = PLACES) -> Arithmetic:
    """Return a line of arithmetic for a number, each step computed from the one printed before it.

    A pocket calculator reaches the printed result from the printed operands to the last digit.
    Operands have more decimals than the result where that needs them: e^4.2426407 is 69.5914, but
    e^4.2426 is 69.5885.

    Parameters
    ----------
    origin : Origin
        Of a number that is computed.
    places : int, default 4
        Decimals of the result, and the fewest of the operands.

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
    result = _LINES[origin.operation](origin, places).result  # checks the number of places
    places = int(places)
    line = cache(partial(_LINES[origin.operation], origin))

    def are_enough_for_terms(p: int) -> bool:
        return not _differ(" + ".join(line(p).products), result, places)

    terms = _fewest(places, are_enough_for_terms)
    products = line(terms).products

    def are_enough_for_factors(p: int) -> bool:
        expression = line(p).expression
        # Some lines have no products.
        pairs = zip(expression.split(" + "), products, strict=False)
        return not _differ(expression, result, places) and not any(
            _differ(factors, product, terms) for factors, product in pairs
        )

    return Arithmetic(line(_fewest(places, are_enough_for_factors)).expression, products, result)


def with_enough_decimals(
    calculation: Callable[[int], str], value: float, places: int = PLACES
) -> str:
    """Return a calculation with the fewest decimals from which its printed result follows.

    Parameters
    ----------
    calculation : callable
        Takes a number of decimals and returns the calculation as text.
    value : float
        Its exact result.
    places : int, default 4
        Decimals of the printed result, and the fewest of the calculation.

    Returns
    -------
    str

    Examples
    --------
    >>> with_enough_decimals(lambda decimals: f"{shown(1 / 3, decimals)}×2", 2 / 3)
    '0.33333×2'
    """
    result = short(value, places)
    return calculation(_fewest(places, lambda p: not _differ(calculation(p), result, places)))


def _fewest(places: int, are_enough: Callable[[int], bool]) -> int:
    """Return the smallest number of decimals, at least `places`, that is enough."""
    return next(filter(are_enough, range(places, MOST_PLACES)), max(places, MOST_PLACES))


def _differ(step: str, rounded: str, places: int) -> bool:
    """Tell whether a printed step is more than half a unit away from its printed result."""
    value, result = by_calculator(step), as_printed(rounded)
    if value is None or result is None:
        return False
    return abs(value - result) > Fraction(1, 2 * 10**places)


def factor(value: float, places: int = PLACES) -> str:
    """Return a number as part of a sum or product: in brackets where it is negative.

    Examples
    --------
    >>> factor(2.0), factor(-0.5)
    ('2', '(−0.5)')
    """
    return in_brackets(short(value, places))


def in_brackets(text: str) -> str:
    """Return a number's text as part of a calculation: in brackets where it is negative."""
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
    begun, left_out = _shortened(origin)
    worked = tuple(factor(math.prod(o.value for o in term), places) for term in begun.terms)
    several = worked if len(worked) > 1 or origin.operation != "product" else ()
    parts = products(begun, places)
    if left_out is not None:
        parts += (_told(left_out, places),)
        several += (factor(left_out.evaluate(), places),)
    return Arithmetic(" + ".join(parts), several, short(origin.number, places))


def _shortened(origin: Origin) -> tuple[Origin, Origin | None]:
    """Return a sum that a line has room for, and what is left out: all but the largest terms."""
    if len(origin.terms) <= LONGEST:
        return origin, None
    sizes = [-abs(math.prod(operand.value for operand in term)) for term in origin.terms]
    largest = set(sorted(range(len(sizes)), key=sizes.__getitem__)[:KEPT])
    kept, rest = (
        tuple(term for i, term in enumerate(origin.terms) if (i in largest) == is_kept)
        for is_kept in (True, False)
    )
    return replace(origin, terms=kept), replace(origin, terms=rest)


def _told(left_out: Origin, places: int) -> str:
    """Return how many terms are left out of a line, and what they come to."""
    return f"({len(left_out.terms)} more, together {short(left_out.evaluate(), places)})"


def _scaled(origin: Origin, places: int) -> Arithmetic:
    (score,), (by,), *others = origin.terms
    mask = [term for term in others if term[0].name == "mask"]
    result = origin.number
    if not math.isfinite(result):
        return Arithmetic("masked", (), shown(result, places))
    number = factor(by.value, places)
    scaling = f"÷ √{number}" if by.name == "d_k" else f"× {number}"
    added = "".join(f" + {factor(operand.value, places)}" for (operand,) in mask)
    expression = f"{short(score.value, places)} {scaling}"
    if (cap := origin.constant("cap")) is not None:
        limit = short(cap, places)
        expression = f"{limit} × tanh({expression} ÷ {limit})"
    return Arithmetic(f"{expression}{added}", (), short(result, places))


def _exponential(origin: Origin, places: int) -> Arithmetic:
    (score,), *shift = origin.terms
    exponent = score.value - math.fsum(operand.value for (operand,) in shift)
    return Arithmetic(f"e^{short(exponent, places)}", (), shown(origin.number, places))


def _sum(origin: Origin, places: int) -> Arithmetic:
    begun, left_out = _shortened(origin)
    terms = [in_brackets(shown(operand.value, places)) for operand in begun.operands]
    terms += [] if left_out is None else [_told(left_out, places)]
    return Arithmetic(" + ".join(terms), (), shown(origin.number, places))


def _share(origin: Origin, places: int) -> Arithmetic:
    top, bottom = origin.operands
    result = shown(origin.number, places)
    if bottom.value == 0:
        return Arithmetic("masked", (), result)
    return Arithmetic(f"{shown(top.value, places)} ÷ {shown(bottom.value, places)}", (), result)


def _quotient(origin: Origin, places: int) -> Arithmetic:
    top, bottom = origin.operands
    result = short(origin.number, places)
    if bottom.value == 0:
        return Arithmetic("masked", (), result)
    return Arithmetic(f"{short(top.value, places)} ÷ {short(bottom.value, places)}", (), result)


def _largest(origin: Origin, places: int) -> Arithmetic:
    result = short(origin.number, places)
    if not math.isfinite(origin.number):
        return Arithmetic("masked", (), result)
    numbers = [short(operand.value, places) for operand in origin.operands]
    expression = f"max({', '.join(numbers)})" if len(numbers) > 1 else numbers[0]
    return Arithmetic(expression, (), result)


def _mean(origin: Origin, places: int) -> Arithmetic:
    numbers = " + ".join(factor(operand.value, places) for operand in origin.operands)
    return Arithmetic(f"({numbers}) ÷ {len(origin.terms)}", (), short(origin.number, places))


def _spread(origin: Origin, places: int) -> Arithmetic:
    *numbers, mean, eps = (operand.value for operand in origin.operands)
    away = [factor(number - mean, places) for number in numbers]
    squares = " + ".join(f"{number}×{number}" for number in away)
    added = short(eps, places) if round(eps, places) else ""  # so few places may not show it
    expression = f"√(({squares}) ÷ {len(numbers)}{added and f' + {added}'})"
    return Arithmetic(expression, (), short(origin.number, places))


def _normalised(origin: Origin, places: int) -> Arithmetic:
    number, mean, spread, *_ = (operand.value for operand in origin.operands)
    above = f"({short(number, places)} − {factor(mean, places)})"
    if origin.operands[1].name == "zero":
        above = short(number, places)
    away = f"{above} ÷ {factor(spread, places)}"
    gain, bias = (origin.constant(name) for name in ("gain", "bias"))
    times = "" if gain is None else f" × {factor(gain, places)}"
    plus = "" if bias is None else f" + {factor(bias, places)}"
    return Arithmetic(f"{away}{times}{plus}", (), short(origin.number, places))


def _relu(origin: Origin, places: int) -> Arithmetic:
    (hidden,) = origin.operands
    expression = f"max(0, {short(hidden.value, places)})"
    return Arithmetic(expression, (), short(origin.number, places))


def _gelu(origin: Origin, places: int) -> Arithmetic:
    (hidden,) = origin.operands
    expression = "×".join(factor(x, places) for x in (hidden.value, normal_cdf(hidden.value)))
    return Arithmetic(expression, (), short(origin.number, places))


def _capped(origin: Origin, places: int) -> Arithmetic:
    """Write cap · tanh(score / cap) by an exponential, as one can work it."""
    score, cap = (operand.value for operand in origin.operands)
    power = f"e^{short(2 * score / cap, places)}"
    expression = f"{short(cap, places)} × (1 − 2 ÷ ({power} + 1))"
    return Arithmetic(expression, (), short(origin.number, places))


def _sigmoid(origin: Origin, places: int) -> Arithmetic:
    (number,) = origin.operands
    expression = f"1 ÷ (1 + e^{short(-number.value, places)})"
    return Arithmetic(expression, (), short(origin.number, places))


def _largest_size(origin: Origin, places: int) -> Arithmetic:
    sizes = ", ".join(short(abs(operand.value), places) for operand in origin.operands)
    return Arithmetic(f"max({sizes})", (), short(origin.number, places))


def _rounded(origin: Origin, places: int) -> Arithmetic:
    (number,) = origin.operands
    return Arithmetic(f"round({short(number.value, places)})", (), short(origin.number, places))


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
    "quotient": _quotient,
    "largest": _largest,
    "copy": _copy,
    "root": _root,
    "percent": _percent,
    "mean": _mean,
    "spread": _spread,
    "normalised": _normalised,
    "masked": lambda origin, places: Arithmetic("masked", (), shown(origin.number, places)),
    "capped": _capped,
    "sigmoid": _sigmoid,
    "largest size": _largest_size,
    "rounded": _rounded,
    "relu": _relu,
    "gelu": _gelu,
}
