"""Known mistakes of an exercise: the wrong answers that follow from one error.

One kind follows from the exercise's own operands, with one step omitted or done wrongly. The script
of a page computes it too (`answers.ts`), because it draws new numbers; the tests compare the two.
The other kind are the neighbouring numbers of the run, which only this module knows: new numbers
have no neighbours.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from mha.practice.calculations import FORMULAS
from mha.practice.exercise import NumericExercise, half_unit
from mha.runs.operations import Operand, Origin
from mha.runs.places import Place
from mha.runs.record import Trace

Givens = Sequence[Sequence[float]]
NamedValues = Iterator[tuple[str, float]]

NAMES = MappingProxyType(
    {
        "percent": "in percent",
        "share": "as a share, not in percent",
        "sign": "the other sign",
        "signs": "minus signs omitted",
        "one-term": "only one product",
        "no-root": "not divided by the root",
        "no-scale": "not scaled",
        "by-width": "divided by d_k itself",
        "no-mask": "without the mask's term",
        "no-exponential": "no exponential taken",
        "not-divided": "not divided by the row's sum",
        "no-quotient": "the mixture, not divided by its sum",
        "no-square-root": "no root taken",
        "left-out": "one number of the row omitted",
        "not-averaged": "not divided by the count",
        "no-spread": "not divided by the standard deviation",
        "not-cut": "the pre-activation itself",
        "other-key": "of another key",
        "exchanged": "rows and columns exchanged",
        "other-row": "of another token",
        "other-component": "of another component",
        "other-head": "of another head",
        "last-digit": "the last digit",
    }
)
"""Descriptions of the mistakes for a key; the sentences of pages are in `strings/your-turn.ts`."""


@dataclass(frozen=True)
class Mistake:
    """A wrong answer and the name of the mistake that leads to it.

    Parameters
    ----------
    name : str
        A key of `NAMES`.
    value : float
        The wrong answer, in the unit of `NumericExercise.expected`.
    tolerance_factor : float, default 1
        The factor by which its rounding error may be larger than the answer's: 100 for a percentage
        if a share is asked for.
    """

    name: str
    value: float
    tolerance_factor: float = 1.0


def mistakes(run: Trace, exercise: NumericExercise) -> tuple[Mistake, ...]:
    """Return the known mistakes of an exercise, the likeliest first.

    Parameters
    ----------
    run : Trace
        The run of the exercise.
    exercise : NumericExercise

    Returns
    -------
    tuple of Mistake
        None rounds to the right answer, and of two with equal values only the first is kept.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> from mha.practice.exercise import numeric_exercise
    >>> run = trace(load_example("cat-sat"))
    >>> asked = numeric_exercise(run, "scaled_scores", 0, 0)
    >>> [(m.name, m.value) for m in mistakes(run, asked)]
    [('sign', -1.0), ('no-root', 2.0), ('by-width', 0.5), ('other-key', 0.0)]
    """
    factor = 100.0 if exercise.percent else 1.0
    beside = [
        Mistake(name, factor * value)
        for name, value in neighbouring_values(run, exercise.origin)
        if math.isfinite(value)
    ]
    return distinct_mistakes(exercise, [*operand_mistakes(exercise), *beside])


def operand_mistakes(exercise: NumericExercise) -> list[Mistake]:
    """Return the mistakes that follow from the exercise's own operands.

    Parameters
    ----------
    exercise : NumericExercise

    Returns
    -------
    list of Mistake
        In their order, including those that round to the right answer.
    """
    givens = [given.values for given in exercise.givens]
    factor, found = (100.0 if exercise.percent else 1.0), []
    if exercise.percent:
        found.append(Mistake("share", exercise.answer, 0.01))
    elif exercise.kind == "share":
        found.append(Mistake("percent", 100 * exercise.answer, 100.0))
    found.append(Mistake("sign", -exercise.expected))
    wrong_results = _WRONG_RESULTS[exercise.kind](givens, exercise.column)
    return found + [
        Mistake(name, factor * value) for name, value in wrong_results if math.isfinite(value)
    ]


def distinct_mistakes(exercise: NumericExercise, found: Iterable[Mistake]) -> tuple[Mistake, ...]:
    """Return mistakes without those that round to the right answer or to an earlier mistake."""
    kept: list[Mistake] = []
    slack = half_unit(exercise.places)
    for mistake in found:
        taken = [exercise.expected, *(other.value for other in kept)]
        is_new = all(abs(mistake.value - value) > slack for value in taken)
        # A percentage is compared with a hundred times the slack: a smaller one fits any answer
        # near zero, so it identifies nothing.
        factor = mistake.tolerance_factor
        is_telling = factor <= 1 or abs(mistake.value) > slack * factor
        if is_new and is_telling:
            kept.append(mistake)
    return tuple(kept)


# ---- Errors with the operands ----


def _wrong_product(givens: Givens, column: int) -> NamedValues:
    products = [left * right for left, right in zip(*givens, strict=True)]
    yield "signs", math.fsum(map(abs, products))
    if len(products) > 1:
        yield from (("one-term", product) for product in products if product)


def _wrong_scaling(step: str) -> Callable[[Givens, int], NamedValues]:
    """Return a function that yields the wrong results of a scaled score, with one step omitted."""

    def wrong_results(givens: Givens, column: int) -> NamedValues:
        (score,), (scale,), *mask = givens
        added = math.fsum(term for (term,) in mask)
        yield step, score + added
        if step == "no-root":
            yield "by-width", score / scale + added
        if mask:
            yield "no-mask", FORMULAS["root" if step == "no-root" else "times"](givens[:2], 0)

    return wrong_results


def _wrong_power(givens: Givens, column: int) -> NamedValues:
    yield "no-exponential", givens[0][0]


def _wrong_sum(givens: Givens, column: int) -> NamedValues:
    terms = givens[0]
    if len(terms) > 1:
        yield from (("left-out", math.fsum(terms) - term) for term in terms if term)


def _wrong_share(givens: Givens, column: int) -> NamedValues:
    exponents = givens[0]
    finite = [x for x in exponents if math.isfinite(x)]
    if abs(math.fsum(finite)) > 1e-9:
        yield "no-exponential", exponents[column] / math.fsum(finite)
    yield "no-exponential", exponents[column]
    yield "not-divided", math.exp(exponents[column])
    for key in range(len(exponents)):
        if key != column and len(exponents) > 1:
            yield "other-key", FORMULAS["share"](givens, key)


def _wrong_mean(givens: Givens, column: int) -> NamedValues:
    yield "not-averaged", math.fsum(givens[0])


def _wrong_spread(givens: Givens, column: int) -> NamedValues:
    yield "no-square-root", FORMULAS["spread"](givens, 0) ** 2


def _wrong_norm(givens: Givens, column: int) -> NamedValues:
    number, mean, _, *learned = givens
    yield "no-spread", FORMULAS["normalised"]((number, mean, (1.0,), *learned), 0)


def _wrong_relu(givens: Givens, column: int) -> NamedValues:
    yield "not-cut", givens[0][0]


def _wrong_largest(givens: Givens, column: int) -> NamedValues:
    return iter(())


def _wrong_quotient(givens: Givens, column: int) -> NamedValues:
    yield "no-quotient", givens[0][0]


_WRONG_RESULTS: Mapping[str, Callable[[Givens, int], NamedValues]] = MappingProxyType(
    {
        "products": _wrong_product,
        "root": _wrong_scaling("no-root"),
        "times": _wrong_scaling("no-scale"),
        "power": _wrong_power,
        "sum": _wrong_sum,
        "share": _wrong_share,
        "mean": _wrong_mean,
        "spread": _wrong_spread,
        "normalised": _wrong_norm,
        "relu": _wrong_relu,
        "largest": _wrong_largest,
        "quotient": _wrong_quotient,
    }
)
"""The function that yields the wrong results of each kind of calculation."""


# ---- Neighbouring numbers ----


def neighbouring_values(run: Trace, found: Origin) -> NamedValues:
    """Yield the values of a number's neighbours, and its value with a matrix transposed.

    Parameters
    ----------
    run : Trace
    found : Origin

    Yields
    ------
    tuple of str and float
        The mistake's name and the number.
    """
    place = found.place
    by_key = place.stage_entry.by_key
    if place.stage == "weights":
        yield from _unscaled_weights(run, place)
    if by_key:
        yield from _neighbours(run, place, "column", "other-key")
    yield from _transposed_values(run, found)
    yield from _neighbours(run, place, "row", "other-row")
    if not by_key:
        yield from _neighbours(run, place, "column", "other-component")
    yield from _neighbours(run, place, "head", "other-head")


def _neighbours(run: Trace, place: Place, axis: str, name: str) -> NamedValues:
    """Yield the numbers of the same stage whose place differs in one axis only."""
    own_index = getattr(place, axis)
    if own_index is None:
        return
    array = np.asarray(getattr(run, place.stage))
    axes = [a for a in ("head", "row", "column") if getattr(place, a) is not None]
    line = np.take(array, range(array.shape[axes.index(axis)]), axis=axes.index(axis))
    index = tuple(slice(None) if a == axis else getattr(place, a) for a in axes)
    for i, value in enumerate(line[index]):
        if i != own_index:
            yield name, float(value)


def _unscaled_weights(run: Trace, place: Place) -> NamedValues:
    """Yield the weight from scores that are not divided, or divided by d_k instead of its root."""
    mask = run.mask[place.head, place.row]
    scores = run.scores[place.head, place.row]
    for name, divisor in (("no-root", 1.0), ("by-width", float(run.query.shape[-1]))):
        powers = np.exp(scores / divisor + mask - (scores / divisor + mask).max())
        yield name, float(powers[place.column] / powers.sum())


_NO_MATRIX = ("turned_query", "turned_key", "running_sums", "running_mixtures")
"""Stages whose products contain no matrix: rotations and running softmax sums."""


def _transposed_values(run: Trace, found: Origin) -> NamedValues:
    """Yield the value with the matrix transposed."""
    place = found.place
    try:
        if place.stage_entry.by_key:
            yield "exchanged", _transposed_value(run, place)
        elif found.operation == "mixed":
            yield (
                "exchanged",
                math.fsum(_transposed_value(run, a.place) * v.value for a, v in found.terms),
            )
        elif found.operation == "products" and found.place.stage not in _NO_MATRIX:
            yield "exchanged", math.fsum(_transposed_term(run, term) for term in found.terms)
    except ValueError:
        return  # the matrix is not square


def _transposed_term(run: Trace, term: tuple[Operand, ...]) -> float:
    """Return a term with its matrix transposed; a bias has no matrix."""
    number, *matrix = term
    return number.value * math.prod(_transposed_value(run, factor.place) for factor in matrix)


def _transposed_value(run: Trace, place: Place | None) -> float:
    """Return the number at a place with row and column exchanged."""
    assert place is not None
    assert place.row is not None
    assert place.column is not None
    return Place.of(place.stage, place.head or 0, place.column, place.row).value(run)
