"""How a number comes about: its operands, and the operation that combines them.

Arithmetic, exercises, worksheets and the explorer render an `Origin`; the audit evaluates the same
origin with the printed numbers put in. Which operands a number has is for `mha.runs.origins`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from mha.core.feed_forward import normal_cdf
from mha.runs.places import Place

Operation = Literal[
    "given", "products", "product", "mixed", "root", "scaled", "exponential", "sum", "share",
    "percent", "copy", "mean", "spread", "normalised", "relu", "gelu", "largest", "quotient",
    "masked", "capped", "sigmoid", "largest size", "rounded",
]  # fmt: skip
"""How a number comes about:

- given: an input.
- products, mixed: a sum of products; the second weights values. A bias is a term of one factor.
- product: one term of such a sum.
- root: the square root of d_k.
- scaled: a score divided by the root of d_k, or times the scale; capped where there is a cap; plus
  the mask's term.
- exponential: e to the scaled score less the row's shift, or less the largest score so far.
- sum: of the row's exponentials and its sink's, of an embedding and its position, or of the stream
  and what a layer adds to it.
- share: an exponential over its row sum; 0 where the row has no key left.
- percent: a weight times 100.
- copy: a number taken over.
- mean, spread: of a token's numbers; the spread is the root of their variance plus eps.
- normalised: a number less the mean, over the spread, times the gain, plus the bias.
- relu, gelu: what an activation makes of a hidden number.
- largest: of some scores, and of the largest before them.
- quotient: a mixture so far over the sum so far; 0 where no key was to be seen yet.
- masked: minus infinity, whatever the score. This and what follows stand on sheets alone.
- capped: cap · tanh(score / cap).
- sigmoid: 1 / (1 + e to minus the number).
- largest size: the largest of some numbers without their signs.
- rounded: to the next whole number.
"""


@dataclass(frozen=True)
class Operand:
    """A number that another is computed from: one with a place, or a constant with a name.

    Parameters
    ----------
    value : float
    place : Place, optional
        None for a constant.
    name : str, default ""
        What a constant is: "d_k", "scale", "cap", "mask", "shift", "sink", "cos", "sin", "eps",
        "zero", in place of a mean, or "nothing", the minus infinity before any score was read;
        "gain" and "bias", most of which have a place too.
    """

    value: float
    place: Place | None = None
    name: str = ""


Valued = Callable[[Operand], float]


def _own(operand: Operand) -> float:
    return operand.value


@dataclass(frozen=True)
class Origin:
    """How one number comes about.

    Parameters
    ----------
    place : Place
        The number's own.
    operation : str
        One of `Operation`.
    terms : tuple of tuple of Operand
        What is combined: for sums of products the factors of each term, for other operations one
        operand a term.
    kept : float, optional
        The number as the run keeps it; `evaluate` may differ from it in the last bits. None where
        no array of the run holds it: for a term, a percentage, the root of d_k.

    Examples
    --------
    >>> from mha import load_example, origin, trace
    >>> found = origin(trace(load_example("cat-sat")), Place.parse("scaled_scores.0.0.0"))
    >>> found.operation, [operand.value for operand in found.operands]
    ('scaled', [2.0, 4.0])
    >>> found.evaluate()
    1.0
    """

    place: Place
    operation: Operation
    terms: tuple[tuple[Operand, ...], ...]
    kept: float | None = None

    @property
    def number(self) -> float:
        """The number itself: as the run keeps it, or evaluated where it keeps none."""
        return self.evaluate() if self.kept is None else self.kept

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Every operand, in the order of the calculation."""
        return tuple(operand for term in self.terms for operand in term)

    def constant(self, name: str) -> float | None:
        """Return the operand of a name, None where the calculation has none."""
        return next((o.value for o in self.operands if o.name == name), None)

    def evaluate(self, value: Callable[[Place], float] | None = None) -> float:
        """Return the number that the operation gives.

        Parameters
        ----------
        value : callable, optional
            Takes the place of an operand, returns the number to put in there. By default each
            operand's own.

        Returns
        -------
        float

        Examples
        --------
        >>> from mha import load_example, origin, trace
        >>> run = trace(load_example("cat-sat"))
        >>> origin(run, Place.parse("scores.0.0.1:0")).evaluate(lambda place: 3.0)
        9.0
        """
        if value is None:
            return _RESULTS[self.operation](self, _own)

        def put_in(operand: Operand) -> float:
            return operand.value if operand.place is None else value(operand.place)

        return _RESULTS[self.operation](self, put_in)


def _products(origin: Origin, value: Valued) -> float:
    return math.fsum(math.prod(map(value, term)) for term in origin.terms)


def _scaled(origin: Origin, value: Valued) -> float:
    (score,), (factor,), *_ = origin.terms
    by_root = factor.name == "d_k"
    scaled = value(score) / math.sqrt(factor.value) if by_root else value(score) * factor.value
    if (cap := origin.constant("cap")) is not None:
        scaled = cap * math.tanh(scaled / cap)
    return scaled + (origin.constant("mask") or 0.0)


def _exponential(origin: Origin, value: Valued) -> float:
    (score,), *shift = origin.terms
    return math.exp(value(score) - math.fsum(value(operand) for (operand,) in shift))


def _share(origin: Origin, value: Valued) -> float:
    (exponential,), (row_sum,) = origin.terms
    return value(exponential) / value(row_sum) if value(row_sum) else 0.0


def _single(origin: Origin, value: Valued) -> float:
    ((operand,),) = origin.terms
    return value(operand)


def _mean(origin: Origin, value: Valued) -> float:
    return _products(origin, value) / len(origin.terms)


def _spread(origin: Origin, value: Valued) -> float:
    *numbers, mean, eps = (value(operand) for operand in origin.operands)
    squares = math.fsum((number - mean) ** 2 for number in numbers)
    return math.sqrt(squares / len(numbers) + eps)


def _normalised(origin: Origin, value: Valued) -> float:
    number, mean, spread, *_ = (value(operand) for operand in origin.operands)
    learned = {operand.name: value(operand) for operand in origin.operands if operand.name}
    return (number - mean) / spread * learned.get("gain", 1.0) + learned.get("bias", 0.0)


def _capped(origin: Origin, value: Valued) -> float:
    score, cap = (value(operand) for operand in origin.operands)
    return cap * math.tanh(score / cap)


def _gelu(origin: Origin, value: Valued) -> float:
    hidden = _single(origin, value)
    return hidden * normal_cdf(hidden)


_RESULTS: dict[Operation, Callable[[Origin, Valued], float]] = {
    "given": _single,
    "copy": _single,
    "products": _products,
    "product": _products,
    "mixed": _products,
    "sum": _products,
    "root": lambda origin, value: math.sqrt(_single(origin, value)),
    "percent": lambda origin, value: 100 * _single(origin, value),
    "scaled": _scaled,
    "exponential": _exponential,
    "share": _share,
    "quotient": _share,
    "largest": lambda origin, value: max(map(value, origin.operands)),
    "mean": _mean,
    "spread": _spread,
    "normalised": _normalised,
    "masked": lambda origin, value: -math.inf,
    "capped": _capped,
    "sigmoid": lambda origin, value: 1 / (1 + math.exp(-_single(origin, value))),
    "largest size": lambda origin, value: max(abs(value(o)) for o in origin.operands),
    "rounded": lambda origin, value: float(round(_single(origin, value))),
    "relu": lambda origin, value: max(_single(origin, value), 0.0),
    "gelu": _gelu,
}
