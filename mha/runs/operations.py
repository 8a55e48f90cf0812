"""Origins of numbers: the operands of a number, and the operation that combines them.

Arithmetic, exercises, worksheets and the explorer render an `Origin`. The audit evaluates the same
origin with the numbers that a source prints. `mha.runs.origins` finds the operands of a number.
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
"""The operation that gives a number:

- given: an input.
- products: a sum of products, such as a dot product. A bias is a term of one factor.
- mixed: a sum of values, each times its weight.
- product: one term of such a sum.
- root: the square root of d_k.
- scaled: a score divided by the root of d_k, or times the scale; then capped, if there is a cap;
  then plus the number of the mask.
- exponential: e to the scaled score minus the row's shift, or minus the largest score so far.
- sum: of the row's exponentials and its sink's, of an embedding and its position, or of the
  residual stream and the output of a layer.
- share: an exponential divided by its row sum; 0 in a fully masked row.
- percent: a weight times 100.
- copy: the operand itself.
- mean, spread: of a token's numbers; the spread is the square root of their variance plus eps.
- normalised: (number - mean) / spread, times the gain, plus the bias.
- relu, gelu: the activation of a pre-activation.
- largest: the largest of some scores and of the largest score before them.
- quotient: the mixture so far divided by the sum so far; 0 while every key was masked. In a
  `mha.runs.computations.Computation`, any number divided by another, such as by a norm or a step.
- masked: minus infinity, whatever the score. This and the following operations occur in a
  `mha.runs.computations.Computation` alone.
- capped: cap · tanh(score / cap).
- sigmoid: 1 / (1 + e to minus the number).
- largest size: the largest absolute value of some numbers.
- rounded: the nearest whole number.
"""


@dataclass(frozen=True)
class Operand:
    """A number from which another is computed: one of the run, or a named constant.

    Parameters
    ----------
    value : float
    place : Place, optional
        The address of the number, or None for a constant.
    name : str, default ""
        Name of a constant: "d_k", "scale", "cap", "mask", "shift", "sink", "cos", "sin", "eps",
        "zero" (in place of a mean), or "nothing" (the minus infinity before the first score).
        Gains and biases have a name, "gain" or "bias", and most of them a place too. A
        `mha.runs.computations.Computation` also has "factor"; "share" (minus the factor of a
        difference); "mean", the mean of 0 of a root mean square; and for products of decays "one"
        and "zero", the numbers 1 and 0.
    """

    value: float
    place: Place | None = None
    name: str = ""


OperandValue = Callable[[Operand], float]


def _value_of(operand: Operand) -> float:
    return operand.value


@dataclass(frozen=True)
class Origin:
    """One number with the operation and the operands that give it.

    Parameters
    ----------
    place : Place
        The address of the number.
    operation : str
        One of `Operation`.
    terms : tuple of tuple of Operand
        For sums of products, the factors of each term; for other operations, one operand per term.
    kept : float, optional
        The number in the run's array, from which `evaluate` may differ in the last bits. None for
        a number that is in no array: a term, a percentage, the root of d_k.

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
        """The number: `kept`, or evaluated if `kept` is None."""
        return self.evaluate() if self.kept is None else self.kept

    @property
    def operands(self) -> tuple[Operand, ...]:
        """Every operand, in the order of the calculation."""
        return tuple(operand for term in self.terms for operand in term)

    def constant(self, name: str) -> float | None:
        """Return the value of the operand with that name, or None."""
        return next((o.value for o in self.operands if o.name == name), None)

    def evaluate(self, value: Callable[[Place], float] | None = None) -> float:
        """Return the number that the operation gives for its operands.

        Parameters
        ----------
        value : callable, optional
            Takes the place of an operand and returns the number to use for it. By default the
            operands have their own values. Constants always have.

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
            return _RESULTS[self.operation](self, _value_of)

        def replaced(operand: Operand) -> float:
            return operand.value if operand.place is None else value(operand.place)

        return _RESULTS[self.operation](self, replaced)


def _products(origin: Origin, value: OperandValue) -> float:
    # fsum rounds once, so that the result does not depend on the order of the terms.
    return math.fsum(math.prod(map(value, term)) for term in origin.terms)


def _scaled(origin: Origin, value: OperandValue) -> float:
    (score,), (factor,), *_ = origin.terms
    by_root = factor.name == "d_k"
    scaled = value(score) / math.sqrt(factor.value) if by_root else value(score) * factor.value
    if (cap := origin.constant("cap")) is not None:
        scaled = cap * math.tanh(scaled / cap)
    return scaled + (origin.constant("mask") or 0.0)


def _exponential(origin: Origin, value: OperandValue) -> float:
    (score,), *shift = origin.terms
    return math.exp(value(score) - math.fsum(value(operand) for (operand,) in shift))


def _share(origin: Origin, value: OperandValue) -> float:
    (exponential,), (row_sum,) = origin.terms
    return value(exponential) / value(row_sum) if value(row_sum) else 0.0


def _single(origin: Origin, value: OperandValue) -> float:
    ((operand,),) = origin.terms
    return value(operand)


def _mean(origin: Origin, value: OperandValue) -> float:
    return _products(origin, value) / len(origin.terms)


def _spread(origin: Origin, value: OperandValue) -> float:
    *numbers, mean, eps = (value(operand) for operand in origin.operands)
    squares = math.fsum((number - mean) ** 2 for number in numbers)
    return math.sqrt(squares / len(numbers) + eps)


def _normalised(origin: Origin, value: OperandValue) -> float:
    number, mean, spread, *_ = (value(operand) for operand in origin.operands)
    learned = {operand.name: value(operand) for operand in origin.operands if operand.name}
    return (number - mean) / spread * learned.get("gain", 1.0) + learned.get("bias", 0.0)


def _capped(origin: Origin, value: OperandValue) -> float:
    score, cap = (value(operand) for operand in origin.operands)
    return cap * math.tanh(score / cap)


def _gelu(origin: Origin, value: OperandValue) -> float:
    hidden = _single(origin, value)
    return hidden * normal_cdf(hidden)


_RESULTS: dict[Operation, Callable[[Origin, OperandValue], float]] = {
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
