"""Lines of arithmetic: a number of a run as the calculation that gives it.

A line is true as printed. `mha.views.signs` decides between = and ≈.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial

from mha.core.feed_forward import normal_cdf
from mha.runs import origins
from mha.runs.computations import Computation
from mha.runs.operations import Operation, Origin
from mha.runs.places import Place
from mha.runs.record import Trace
from mha.runs.rounding import PLACES, short, shown
from mha.views.signs import chain, exact_value, float_value

MAX_TERMS, NUM_SHOWN_TERMS = 48, 8
"""The most terms of a line, and the number of its largest terms that a longer line is cut to."""

EXPONENT = r"\^([^\s)]+)"
"""A pattern of an exponent, without a bracket that closes after it."""


@dataclass(frozen=True)
class Arithmetic:
    """One number with the calculation that gives it.

    Parameters
    ----------
    expression : str
        The calculation, such as ``1×1 + 0×0``.
    products : tuple of str
        The values of the terms of a sum of products; empty for other calculations.
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
        """Return the whole line: expression, values of the terms if several, result."""
        several = " + ".join(self.products) if len(self.products) > 1 else ""
        steps = [self.expression, "" if several == self.expression else several, self.result]
        return chain(*filter(None, steps))

    def _repr_markdown_(self) -> str:
        """Return the line as MyST Markdown, with superscript exponents."""
        return re.sub(EXPONENT, r"{sup}`\1`", str(self))

    def _repr_html_(self) -> str:
        """Return the line as HTML, with superscript exponents."""
        return re.sub(EXPONENT, r"<sup>\1</sup>", str(self))


def arithmetic(
    run: Trace | Computation,
    stage: str,
    row: int,
    column: int = 0,
    *,
    head: int = 0,
    places: int = PLACES,
) -> Arithmetic:
    """Return the line of arithmetic of one number of a run or a computation.

    Parameters
    ----------
    run : Trace or Computation
    stage : str
        Name of a computed stage, such as "scores", or of a table of the computation.
    row : int
        Index of the token; in the stages `scores` to `head_outputs`, of the query's token.
    column : int, default 0
        Index of the component; in the stages `scores` to `weights`, of the key's token. Ignored by
        stages without columns, such as `row_sums`.
    head : int, default 0
        Index of the head. Ignored by stages without heads, such as `output`.
    places : int, default 4
        Decimals of the result. Operands are printed with more decimals if the printed result does
        not follow from fewer. No intermediate is rounded.

    Returns
    -------
    Arithmetic
        Of more than 48 terms, the 8 largest, and the number and the sum of the others.

    Raises
    ------
    ValueError
        If there is no such stage, it is not computed in this run, or an index is out of range.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> run = trace(load_example("cat-sat"))
    >>> print(arithmetic(run, "scores", 0, 1))
    1×0 + 0×1 + 1×0 + 0×1 = 0 + 0 + 0 + 0 = 0
    >>> print(arithmetic(run, "weights", 0, 0))
    2.7183 ÷ 3.7183 ≈ 0.7311
    """
    if isinstance(run, Computation):
        found = run.origin(stage, row, column)
    else:
        found = origins.origin(run, Place.of(stage, head, row, column))
    return write_arithmetic(found, places)


MAX_DECIMALS = 15
"""The most decimals of an operand: a float64 between 1 and 10 has no more."""


def write_arithmetic(origin: Origin, places: int = PLACES) -> Arithmetic:
    """Return the line of arithmetic of a number, in which each step follows from the one before.

    A pocket calculator gives the printed result for the printed operands, to the last digit.
    Operands have more decimals than the result if necessary: e^4.2426407 is 69.5914, but e^4.2426
    is 69.5885.

    Parameters
    ----------
    origin : Origin
        Origin of a computed number.
    places : int, default 4
        Decimals of the result, and the fewest decimals of the operands.

    Returns
    -------
    Arithmetic

    Raises
    ------
    ValueError
        If the number is an input.

    Examples
    --------
    >>> from mha import load_example, origin, trace
    >>> run = trace(load_example("cat-sat"))
    >>> print(write_arithmetic(origin(run, Place("exponentials", head=0, row=0, column=1))))
    e^0 = 1.0000
    """
    if origin.operation == "given":
        raise ValueError(f"{origin.place} is given; a number that is computed is wanted")
    # `shown` and `short` refuse an invalid number of decimals; a valid one may be NumPy's integer.
    result = _LINES[origin.operation](origin, places).result
    places = int(places)
    # First the values of the terms get the decimals from which the result follows, then the factors
    # those from which these values follow.
    line = cache(partial(_LINES[origin.operation], origin))

    def are_enough_for_terms(p: int) -> bool:
        return not _differ(" + ".join(line(p).products), result, places)

    terms = _fewest_decimals(places, are_enough_for_terms)
    products = line(terms).products

    def are_enough_for_factors(p: int) -> bool:
        expression = line(p).expression
        # Lines of other calculations have no products; then there are no pairs to check.
        pairs = zip(expression.split(" + "), products, strict=False)
        return not _differ(expression, result, places) and not any(
            _differ(factors, product, terms) for factors, product in pairs
        )

    return Arithmetic(
        line(_fewest_decimals(places, are_enough_for_factors)).expression, products, result
    )


def with_enough_decimals(
    calculation: Callable[[int], str], value: float, places: int = PLACES
) -> str:
    """Return a calculation with the fewest decimals for which its printed result follows.

    Parameters
    ----------
    calculation : callable
        A function from a number of decimals to the calculation as text.
    value : float
        Its exact result.
    places : int, default 4
        Decimals of the printed result, and the fewest decimals of the calculation.

    Returns
    -------
    str

    Examples
    --------
    >>> with_enough_decimals(lambda decimals: f"{shown(1 / 3, decimals)}×2", 2 / 3)
    '0.33333×2'
    """
    result = short(value, places)
    return calculation(
        _fewest_decimals(places, lambda p: not _differ(calculation(p), result, places))
    )


def _fewest_decimals(places: int, are_enough: Callable[[int], bool]) -> int:
    """Return the smallest sufficient number of decimals that is at least `places`."""
    return next(filter(are_enough, range(places, MAX_DECIMALS)), max(places, MAX_DECIMALS))


def _differ(step: str, rounded: str, places: int) -> bool:
    """Return whether a printed step differs from its printed result by more than half a unit."""
    value, result = float_value(step), exact_value(rounded)
    if value is None or result is None:
        return False
    return abs(value - result) > Fraction(1, 2 * 10**places)


def factor(value: float, places: int = PLACES) -> str:
    """Return a number as an operand, in brackets if it is negative.

    Examples
    --------
    >>> factor(2.0), factor(-0.5)
    ('2', '(−0.5)')
    """
    return bracketed_if_negative(short(value, places))


def bracketed_if_negative(text: str) -> str:
    """Return a printed number as an operand, in brackets if it is negative."""
    return f"({text})" if text.startswith("−") else text


def written_terms(origin: Origin, places: int = PLACES) -> tuple[str, ...]:
    """Return the terms of a sum of products as text, such as ``1×2``.

    Examples
    --------
    >>> from mha import load_example, origin, trace
    >>> run = trace(load_example("cat-sat"))
    >>> written_terms(origin(run, Place("scores", head=0, row=0, column=1)))
    ('1×0', '0×1', '1×0', '0×1')
    """
    return tuple("×".join(factor(o.value, places) for o in term) for term in origin.terms)


def _sum_of_products(origin: Origin, places: int) -> Arithmetic:
    written, omitted = _split_off_small_terms(origin)
    worked = tuple(factor(math.prod(o.value for o in term), places) for term in written.terms)
    several = worked if len(worked) > 1 or origin.operation != "product" else ()
    parts = written_terms(written, places)
    if omitted is not None:
        parts += (_omitted_in_words(omitted, places),)
        several += (factor(omitted.evaluate(), places),)
    return Arithmetic(" + ".join(parts), several, short(origin.number, places))


def _split_off_small_terms(origin: Origin) -> tuple[Origin, Origin | None]:
    """Return the terms that a line has room for, and the omitted ones, or None if all fit."""
    if len(origin.terms) <= MAX_TERMS:
        return origin, None
    sizes = [-abs(math.prod(operand.value for operand in term)) for term in origin.terms]
    largest = set(sorted(range(len(sizes)), key=sizes.__getitem__)[:NUM_SHOWN_TERMS])
    kept, rest = (
        tuple(term for i, term in enumerate(origin.terms) if (i in largest) == is_kept)
        for is_kept in (True, False)
    )
    return replace(origin, terms=kept), replace(origin, terms=rest)


def _omitted_in_words(omitted: Origin, places: int) -> str:
    """Return the number of omitted terms and their sum as text."""
    return f"({len(omitted.terms)} more, together {short(omitted.evaluate(), places)})"


def _scaled(origin: Origin, places: int) -> Arithmetic:
    (score,), (scale,), *others = origin.terms
    mask = [term for term in others if term[0].name == "mask"]
    result = origin.number
    if not math.isfinite(result):
        return Arithmetic("masked", (), shown(result, places))
    number = factor(scale.value, places)
    scaling = f"÷ √{number}" if scale.name == "d_k" else f"× {number}"
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
    written, omitted = _split_off_small_terms(origin)
    terms = [bracketed_if_negative(shown(operand.value, places)) for operand in written.operands]
    terms += [] if omitted is None else [_omitted_in_words(omitted, places)]
    return Arithmetic(" + ".join(terms), (), shown(origin.number, places))


def _share(origin: Origin, places: int) -> Arithmetic:
    # With `shown`: exponentials, their sums and weights are seldom exact, and are printed with a
    # fixed number of decimals.
    top, bottom = origin.operands
    result = shown(origin.number, places)
    if bottom.value == 0:  # the row is fully masked
        return Arithmetic("masked", (), result)
    return Arithmetic(f"{shown(top.value, places)} ÷ {shown(bottom.value, places)}", (), result)


def _quotient(origin: Origin, places: int) -> Arithmetic:
    # With `short`: an output is printed without trailing zeros.
    top, bottom = origin.operands
    result = short(origin.number, places)
    if bottom.value == 0:  # all keys so far are masked
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
    added = short(eps, places) if round(eps, places) else ""  # omitted if it would be printed as 0
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
    """Write cap · tanh(score / cap) with an exponential, for calculators without tanh."""
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
