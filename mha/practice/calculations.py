"""Calculations by hand: the kind of a calculation, its operands and its hints.

They follow from the number's origin. The script of a page repeats the formulas and the numbers of
the hints for exercises that it draws itself (`exercises.ts`); the tests compare the two.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from types import MappingProxyType
from typing import Any

from mha.core.feed_forward import normal_cdf
from mha.runs.operations import Operand, Operation, Origin
from mha.runs.origins import origin
from mha.runs.record import Trace
from mha.runs.rounding import PLACES, short, shown
from mha.views.arithmetic import bracketed_if_negative, factor, write_arithmetic
from mha.views.signs import chain

Number = Any
"""A float or a Decimal; a formula returns the type of its operands."""

Formula = Callable[[Sequence[Sequence[Number]], int], Number]

DIGITS = 50
"""Significant digits of a calculation with the printed operands of a question."""

# The kinds of calculations. The scripts of pages know them by these names. Most are the names of
# operations in `mha.runs.operations`, with three exceptions: "root" divides a score by the root of
# d_k and is a "scaled" there, as is "times", which multiplies it by a scale; "power" is an
# "exponential" there.
HINTS = MappingProxyType(
    {
        "products": ("Multiply pair by pair: {expression}", "Add the products: {products}"),
        "root": ("The root: {root_line}", "Divide: {score} ÷ {root}"),
        "times": ("Scaling multiplies the score.", "Multiply: {score} × {scale}"),
        "power": (
            "The number e is about {e}, and e^0 is 1.",
            "The answer lies between {low} and {high}",
        ),
        "sum": (
            "Add one number after the other.",
            "All but the last: {partial}. Add {last}",
        ),
        "share": (
            "The exponentials are {exponentials}",
            "Their sum: {sum}. Divide {top} by it.",
        ),
        "mean": ("Add the numbers: {sum}", "Divide the sum by their count, {count}."),
        "spread": (
            "The mean is {mean}. The squared deviations: {squares}",
            "The mean of the squares{and_eps} is {square}. Take the root.",
        ),
        "normalised": (
            "Subtract the mean: {away}",
            "Divide by the standard deviation: {left} ÷ {spread}",
        ),
        "relu": ("ReLU keeps a number above zero.", "A number below zero becomes zero."),
        "largest": (
            "Which is farthest to the right on the number line?",
            "A minus sign reverses the order.",
        ),
        "quotient": ("Each part of the mixture is divided by the sum.", "Divide: {top} ÷ {bottom}"),
    }
)
"""Two hints of each kind of calculation: on the operands, and on the last step."""

HINTS_WITH_EXTRAS = MappingProxyType(
    {
        "root": (
            "The root: {root_line}. The mask's term is added after the division.",
            "Divide, then add the mask's term: {score} ÷ {root} + {mask}",
        ),
        "times": (
            "Scaling multiplies the score. The mask's term is added after that.",
            "Multiply, then add the mask's term: {score} × {scale} + {mask}",
        ),
        "normalised": (
            "Subtract the mean: {away}",
            "Divide by the standard deviation, then apply gain and bias:"
            " {left} ÷ {spread} × {gain} + {bias}",
        ),
    }
)
"""Hints of calculations that also have a mask's term, or a gain and a bias."""

NUM_BASIC_OPERANDS = MappingProxyType({"root": 2, "times": 2, "normalised": 3})
"""The number of operands of these calculations without the extra ones."""


def _total(numbers: Sequence[Number]) -> Number:
    """Return a sum; floats are added without rounding between the terms, as the book does."""
    return sum(numbers) if isinstance(numbers[0], Decimal) else math.fsum(numbers)


def _exp(number: Number) -> Number:
    return number.exp() if isinstance(number, Decimal) else math.exp(number)


def _root(number: Number) -> Number:
    return number.sqrt() if isinstance(number, Decimal) else math.sqrt(number)


def _dot(left: Sequence[Number], right: Sequence[Number]) -> Number:
    return _total([a * b for a, b in zip(left, right, strict=True)])


def _add_mask_term(givens: Sequence[Sequence[Number]], scaled: Number) -> Number:
    """Return a scaled score plus the mask's term, if there is a third operand."""
    return scaled + _total([term for (term,) in givens[2:]]) if givens[2:] else scaled


def _average(numbers: Sequence[Number]) -> Number:
    return _total(numbers) / len(numbers)


def _deviations(numbers: Sequence[Number]) -> list[Number]:
    """Return the deviations of numbers from their mean."""
    mean = _average(numbers)
    return [number - mean for number in numbers]


def _variance(givens: Sequence[Sequence[Number]]) -> Number:
    """Return the variance, plus eps if there is a second operand."""
    numbers, *eps = givens
    return _average([deviation**2 for deviation in _deviations(numbers)]) + sum(x for (x,) in eps)


def _normalise(givens: Sequence[Sequence[Number]]) -> Number:
    """Return a normalised number; its gain and bias are the fourth and fifth operand, if any."""
    (number,), (mean,), (spread,), *learned = givens
    gain, bias = (x for (x,) in learned) if learned else (1, 0)
    return (number - mean) / spread * gain + bias


FORMULAS: Mapping[str, Formula] = MappingProxyType(
    {
        "products": lambda givens, column: _dot(*givens),
        "root": lambda givens, column: _add_mask_term(givens, givens[0][0] / _root(givens[1][0])),
        "times": lambda givens, column: _add_mask_term(givens, givens[0][0] * givens[1][0]),
        "power": lambda givens, column: _exp(givens[0][0]),
        "sum": lambda givens, column: _total(givens[0]),
        "share": lambda givens, column: (
            _exp(givens[0][column]) / _total([_exp(exponent) for exponent in givens[0]])
        ),
        "mean": lambda givens, column: _average(givens[0]),
        "spread": lambda givens, column: _root(_variance(givens)),
        "normalised": lambda givens, column: _normalise(givens),
        "relu": lambda givens, column: max(givens[0][0], 0 * givens[0][0]),
        "largest": lambda givens, column: max(givens[0]),
        "quotient": lambda givens, column: givens[0][0] / givens[1][0],
    }
)
"""The formula of each kind of calculation: it takes the operands and the column asked for."""


def compute_printed(kind: str, givens: Sequence[Sequence[str]], column: int) -> Decimal:
    """Return the result of a calculation with printed numbers, to `DIGITS` digits.

    Parameters
    ----------
    kind : str
        A key of `FORMULAS`.
    givens : sequence of sequence of str
        The operands as a question prints them.
    column : int
        The index of the operand whose share is computed; 0 for other calculations.

    Returns
    -------
    Decimal

    Examples
    --------
    >>> compute_printed("products", [["0.5", "−1"], ["1.1", "0.3"]], 0)
    Decimal('0.25')
    """
    numbers = [
        [Decimal(text.replace("−", "-").replace("∞", "Infinity")) for text in group]
        for group in givens
    ]
    with localcontext(prec=DIGITS):
        return Decimal(FORMULAS[kind](numbers, column))


@dataclass(frozen=True)
class Calculation:
    """The calculation of one number by hand.

    Parameters
    ----------
    kind : str
        A key of `FORMULAS`.
    operands : tuple of tuple of float
        The operands, in the groups in which a question gives them.
    fields : mapping of str to str
        The texts for the fields of the hint templates.
    """

    kind: str
    operands: tuple[tuple[float, ...], ...]
    fields: Mapping[str, str]

    @property
    def hints(self) -> tuple[str, ...]:
        """The hints with their numbers."""
        return tuple(
            hint.format(**self.fields) for hint in hint_templates(self.kind, self.operands)
        )


def hint_templates(kind: str, givens: Sequence[object]) -> tuple[str, ...]:
    """Return the hints of a calculation as templates, with fields for the numbers.

    Parameters
    ----------
    kind : str
    givens : sequence
        The groups of operands. The third of a scaled score is the mask's term; the fourth and
        fifth of a normalised number are its gain and bias.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> hint_templates("times", [[1.0], [0.5]])
    ('Scaling multiplies the score.', 'Multiply: {score} × {scale}')
    """
    has_extras = kind in NUM_BASIC_OPERANDS and len(givens) > NUM_BASIC_OPERANDS[kind]
    return (HINTS_WITH_EXTRAS if has_extras else HINTS)[kind]


def calculation(run: Trace, found: Origin) -> Calculation:
    """Return the calculation by hand of a number of a run.

    Parameters
    ----------
    run : Trace
    found : Origin
        The origin of a number that an exercise can ask for.

    Returns
    -------
    Calculation

    Examples
    --------
    >>> from mha import Place, load_example, trace
    >>> run = trace(load_example("cat-sat"))
    >>> calculation(run, origin(run, Place.parse("scaled_scores.0.0.0"))).operands
    ((2.0,), (4.0,))
    """
    return _CALCULATIONS[found.operation](run, found)


def exponential_origins(run: Trace, found: Origin) -> tuple[Origin, ...]:
    """Return the origins of the exponentials behind an exponential, a row sum or a weight.

    Parameters
    ----------
    run : Trace
    found : Origin
        The origin of an exponential, a row sum or a weight.

    Returns
    -------
    tuple of Origin

    Examples
    --------
    >>> from mha import Place, load_example, trace
    >>> run = trace(load_example("cat-sat"))
    >>> [str(o.place) for o in exponential_origins(run, origin(run, Place.parse("weights.0.1.0")))]
    ['exponentials.0.1.0', 'exponentials.0.1.1']
    """
    if found.operation == "exponential":
        return (found,)
    if found.operation == "share":
        _, row_sum = found.operands
        return exponential_origins(run, _operand_origin(run, row_sum))
    return tuple(_operand_origin(run, operand) for operand in found.operands)


def _operand_origin(run: Trace, operand: Operand) -> Origin:
    assert operand.place is not None
    return origin(run, operand.place)


def _values(operands: Sequence[Operand]) -> tuple[float, ...]:
    return tuple(operand.value for operand in operands)


# ---- One function per operation ----


def _products(run: Trace, found: Origin) -> Calculation:
    line = write_arithmetic(found)
    fields = {"expression": line.expression, "products": " + ".join(line.products)}
    # A bias is a term of one factor; times 1 it has the form of the other terms.
    pairs = (_values(term) if len(term) > 1 else (*_values(term), 1.0) for term in found.terms)
    left, right = zip(*pairs, strict=True)
    return Calculation("products", (left, right), fields)


def _scaled(run: Trace, found: Origin) -> Calculation:
    score, scale, *mask = found.operands
    kind = "root" if scale.name == "d_k" else "times"
    fields = {"mask": " + ".join(factor(term.value) for term in mask)}
    if kind == "root":
        root = short(math.sqrt(scale.value))
        line = chain(f"√{short(scale.value)}", root)
        fields |= {"score": short(score.value), "root": root, "root_line": line}
    else:
        fields |= {"score": factor(score.value), "scale": factor(scale.value)}
    return Calculation(kind, tuple((operand.value,) for operand in found.operands), fields)


def _power(run: Trace, found: Origin) -> Calculation:
    score, *shift = _values(found.operands)
    exponent = score - math.fsum(shift)
    low = math.floor(exponent)
    fields = {
        "e": shown(math.e),
        "low": _power_line(low),
        "high": _power_line(low + 1),
    }
    return Calculation("power", ((exponent,),), fields)


def _power_line(exponent: int) -> str:
    return chain(f"e^{short(exponent)}", short(math.exp(exponent)))


def _sum(run: Trace, found: Origin) -> Calculation:
    *first, last = terms = _values(found.operands)
    fields = {"partial": _sum_line(first), "last": shown(last)}
    return Calculation("sum", (terms,), fields)


def _sum_line(terms: Sequence[float]) -> str:
    """Return a line that adds numbers up; of one number or none, the sum alone."""
    total = shown(math.fsum(terms))
    added = " + ".join(bracketed_if_negative(shown(term)) for term in terms)
    return chain(added, total) if len(terms) > 1 else total


def _share(run: Trace, found: Origin) -> Calculation:
    top, row_sum = found.operands
    powers = exponential_origins(run, found)
    terms = " + ".join(shown(power.evaluate()) for power in powers)
    fields = {
        "exponentials": terms.replace(" + ", ", "),
        "sum": chain(terms, shown(row_sum.value)),
        "top": shown(top.value),
    }
    return Calculation("share", (tuple(power.operands[0].value for power in powers),), fields)


def _mean(run: Trace, found: Origin) -> Calculation:
    numbers = _values(found.operands)
    fields = {"sum": " + ".join(map(factor, numbers)), "count": str(len(numbers))}
    return Calculation("mean", (numbers,), fields)


def _spread(run: Trace, found: Origin) -> Calculation:
    *numbers, _, eps = _values(found.operands)
    operands: tuple[tuple[float, ...], ...] = (tuple(numbers),)
    plain = math.sqrt(_variance(operands))
    if round(eps, PLACES) or shown(plain) != shown(found.evaluate()):  # eps changes a printed digit
        operands = (*operands, (eps,))
    fields = {
        "mean": short(_average(numbers)),
        "squares": ", ".join(f"{factor(x)}×{factor(x)}" for x in _deviations(numbers)),
        "and_eps": ", and eps," if len(operands) > 1 else "",
        "square": short(_variance(operands)),
    }
    return Calculation("spread", operands, fields)


def _normalised(run: Trace, found: Origin) -> Calculation:
    number, mean, spread, *_ = _values(found.operands)
    gain, bias = (found.constant(name) for name in ("gain", "bias"))
    learned = (1.0 if gain is None else gain, 0.0 if bias is None else bias)
    fields = {
        "away": f"{short(number)} − {factor(mean)}",
        "left": short(number - mean),
        "spread": factor(spread),
        "gain": factor(learned[0]),
        "bias": factor(learned[1]),
    }
    operands = (number, mean, spread, *(learned if learned != (1.0, 0.0) else ()))
    return Calculation("normalised", tuple((x,) for x in operands), fields)


def _relu(run: Trace, found: Origin) -> Calculation:
    return Calculation("relu", (_values(found.operands),), {})


def _gelu(run: Trace, found: Origin) -> Calculation:
    """Return the product with the normal distribution function, which readers find in a table."""
    (hidden,) = _values(found.operands)
    share = normal_cdf(hidden)
    text = f"{factor(hidden)}×{factor(share)}"
    fields = {"expression": text, "products": text}
    return Calculation("products", ((hidden,), (share,)), fields)


def _largest(run: Trace, found: Origin) -> Calculation:
    return Calculation("largest", (_values(found.operands),), {})


def _quotient(run: Trace, found: Origin) -> Calculation:
    top, bottom = _values(found.operands)
    return Calculation(
        "quotient", ((top,), (bottom,)), {"top": factor(top), "bottom": factor(bottom)}
    )


_CALCULATIONS: Mapping[Operation, Callable[[Trace, Origin], Calculation]] = MappingProxyType(
    {
        "products": _products,
        "mixed": _products,
        "scaled": _scaled,
        "exponential": _power,
        "sum": _sum,
        "share": _share,
        "mean": _mean,
        "spread": _spread,
        "normalised": _normalised,
        "relu": _relu,
        "gelu": _gelu,
        "largest": _largest,
        "quotient": _quotient,
    }
)
