"""The mistakes that an answer can be recognised by: each is a number that a known slip leads to.

They follow from where the asked number comes from: what its own operands give when one step is
left out or done wrongly, and what stands at the places beside it. The first kind is ported to the
page's script, which draws fresh numbers; the tests compare the two. The second is computed here
alone: fresh numbers have no neighbours.
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
Found = Iterator[tuple[str, float]]

NAMES = MappingProxyType(
    {
        "percent": "in percent",
        "share": "as a share, not in percent",
        "sign": "the other sign",
        "signs": "minus signs left out",
        "one-term": "one product alone",
        "no-root": "not divided by the root",
        "no-scale": "not scaled",
        "by-width": "divided by d_k itself",
        "no-mask": "without the mask's term",
        "no-exponential": "no exponential taken",
        "not-divided": "not divided by the row's sum",
        "no-quotient": "the mixture, not divided by its sum",
        "no-square-root": "no root taken",
        "left-out": "one of the row left out",
        "not-averaged": "not divided by how many there are",
        "no-spread": "not divided by the spread",
        "not-cut": "the hidden number itself",
        "other-key": "of another key",
        "exchanged": "rows and columns exchanged",
        "other-row": "of another token",
        "other-component": "of another component",
        "other-head": "of another head",
        "last-digit": "the last digit",
    }
)
"""What each mistake is called in a key; what the page says to it stands in the page's strings."""


@dataclass(frozen=True)
class Mistake:
    """A wrong answer and what leads to it.

    Parameters
    ----------
    name : str
        A key of `NAMES`.
    value : float
        What is entered, as `NumericExercise.asked` counts it.
    unit : float, default 1
        By how much more than the answer's own its rounding may be off: 100 for a percentage where
        a share is asked for.
    """

    name: str
    value: float
    unit: float = 1.0


def mistakes(run: Trace, exercise: NumericExercise) -> tuple[Mistake, ...]:
    """Return the mistakes by which a wrong answer is recognised, the likeliest first.

    Parameters
    ----------
    run : Trace
        The exercise's.
    exercise : NumericExercise

    Returns
    -------
    tuple of Mistake
        None is as good as right, and of two that come to the same the first is listed.

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
        for name, value in elsewhere(run, exercise.origin)
        if math.isfinite(value)
    ]
    return listed(exercise, [*of_operands(exercise), *beside])


def of_operands(exercise: NumericExercise) -> list[Mistake]:
    """Return the mistakes that the exercise's own operands can lead to.

    Parameters
    ----------
    exercise : NumericExercise

    Returns
    -------
    list of Mistake
        As they come, even where one is as good as right.
    """
    givens = [given.values for given in exercise.givens]
    factor, found = (100.0 if exercise.percent else 1.0), []
    if exercise.percent:
        found.append(Mistake("share", exercise.answer, 0.01))
    elif exercise.kind == "share":
        found.append(Mistake("percent", 100 * exercise.answer, 100.0))
    found.append(Mistake("sign", -exercise.asked))
    slips = _SLIPS[exercise.kind](givens, exercise.column)
    return found + [Mistake(name, factor * value) for name, value in slips if math.isfinite(value)]


def listed(exercise: NumericExercise, found: Iterable[Mistake]) -> tuple[Mistake, ...]:
    """Return mistakes without those that are as good as right or as one before them."""
    kept: list[Mistake] = []
    slack = half_unit(exercise.places)
    for mistake in found:
        taken = [exercise.asked, *(other.value for other in kept)]
        is_new = all(abs(mistake.value - value) > slack for value in taken)
        # A percentage is compared with a hundred times the slack: a smaller one fits any answer
        # near zero, so it identifies nothing.
        is_telling = mistake.unit <= 1 or abs(mistake.value) > slack * mistake.unit
        if is_new and is_telling:
            kept.append(mistake)
    return tuple(kept)


# ---- Slips with the operands ----


def _of_products(givens: Givens, column: int) -> Found:
    products = [left * right for left, right in zip(*givens, strict=True)]
    yield "signs", math.fsum(map(abs, products))
    if len(products) > 1:
        yield from (("one-term", product) for product in products if product)


def _of_scaling(step: str) -> Callable[[Givens, int], Found]:
    """Return the slips of a scaled score; the mask's term is a third operand."""

    def slips(givens: Givens, column: int) -> Found:
        (score,), (by,), *mask = givens
        added = math.fsum(term for (term,) in mask)
        yield step, score + added
        if step == "no-root":
            yield "by-width", score / by + added
        if mask:
            yield "no-mask", FORMULAS["root" if step == "no-root" else "times"](givens[:2], 0)

    return slips


def _of_power(givens: Givens, column: int) -> Found:
    yield "no-exponential", givens[0][0]


def _of_sum(givens: Givens, column: int) -> Found:
    terms = givens[0]
    if len(terms) > 1:
        yield from (("left-out", math.fsum(terms) - term) for term in terms if term)


def _of_share(givens: Givens, column: int) -> Found:
    exponents = givens[0]
    finite = [x for x in exponents if math.isfinite(x)]
    if abs(math.fsum(finite)) > 1e-9:
        yield "no-exponential", exponents[column] / math.fsum(finite)
    yield "no-exponential", exponents[column]
    yield "not-divided", math.exp(exponents[column])
    for key in range(len(exponents)):
        if key != column and len(exponents) > 1:
            yield "other-key", FORMULAS["share"](givens, key)


def _of_mean(givens: Givens, column: int) -> Found:
    yield "not-averaged", math.fsum(givens[0])


def _of_spread(givens: Givens, column: int) -> Found:
    yield "no-square-root", FORMULAS["spread"](givens, 0) ** 2


def _of_norm(givens: Givens, column: int) -> Found:
    number, mean, _, *learned = givens
    yield "no-spread", FORMULAS["normalised"]((number, mean, (1.0,), *learned), 0)


def _of_relu(givens: Givens, column: int) -> Found:
    yield "not-cut", givens[0][0]


def _of_largest(givens: Givens, column: int) -> Found:
    return iter(())


def _of_quotient(givens: Givens, column: int) -> Found:
    yield "no-quotient", givens[0][0]


_SLIPS: Mapping[str, Callable[[Givens, int], Found]] = MappingProxyType(
    {
        "products": _of_products,
        "root": _of_scaling("no-root"),
        "times": _of_scaling("no-scale"),
        "power": _of_power,
        "sum": _of_sum,
        "share": _of_share,
        "mean": _of_mean,
        "spread": _of_spread,
        "normalised": _of_norm,
        "relu": _of_relu,
        "largest": _of_largest,
        "quotient": _of_quotient,
    }
)
"""What the operands of each kind of calculation lead to when a step is wrong."""


# ---- What stands beside ----


def elsewhere(run: Trace, found: Origin) -> Found:
    """Yield what a number comes to with rows and columns exchanged, and its neighbours.

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
    if place.stage == "weights":
        yield from _of_unscaled(run, place)
    yield from _neighbours(run, place, "column", "other-key" if place.kind.by_key else "")
    yield from _exchanged(run, found)
    yield from _neighbours(run, place, "row", "other-row")
    yield from _neighbours(run, place, "column", "" if place.kind.by_key else "other-component")
    yield from _neighbours(run, place, "head", "other-head")


def _neighbours(run: Trace, place: Place, axis: str, name: str) -> Found:
    """Yield the numbers of the same stage that differ in one axis alone."""
    at = getattr(place, axis)
    if not name or at is None:
        return
    array = np.asarray(getattr(run, place.stage))
    axes = [a for a in ("head", "row", "column") if getattr(place, a) is not None]
    line = np.take(array, range(array.shape[axes.index(axis)]), axis=axes.index(axis))
    index = tuple(slice(None) if a == axis else getattr(place, a) for a in axes)
    for i, value in enumerate(line[index]):
        if i != at:
            yield name, float(value)


def _of_unscaled(run: Trace, place: Place) -> Found:
    """Yield the weight whose scores were not divided by the root, or by d_k itself."""
    mask = run.mask[place.head, place.row]
    scores = run.scores[place.head, place.row]
    for name, by in (("no-root", 1.0), ("by-width", float(run.query.shape[-1]))):
        powers = np.exp(scores / by + mask - (scores / by + mask).max())
        yield name, float(powers[place.column] / powers.sum())


_NO_MATRIX = ("turned_query", "turned_key", "running_sums", "running_mixtures")
"""Sums of products with no matrix in them: a pair times cosine and sine, what a softmax keeps."""


def _exchanged(run: Trace, found: Origin) -> Found:
    """Yield the number whose matrix was read by rows where its columns are meant."""
    place = found.place
    try:
        if place.kind.by_key:
            yield "exchanged", _turned(run, place)
        elif found.operation == "mixed":
            yield "exchanged", math.fsum(_turned(run, a.place) * v.value for a, v in found.terms)
        elif found.operation == "products" and found.place.stage not in _NO_MATRIX:
            yield "exchanged", math.fsum(_exchanged_term(run, term) for term in found.terms)
    except ValueError:
        return  # the matrix is not square


def _exchanged_term(run: Trace, term: tuple[Operand, ...]) -> float:
    """Return a term whose matrix was read by rows; a bias has none."""
    number, *matrix = term
    return number.value * math.prod(_turned(run, factor.place) for factor in matrix)


def _turned(run: Trace, place: Place | None) -> float:
    """Return the number whose row and column are those of a place, exchanged."""
    assert place is not None
    assert place.row is not None
    assert place.column is not None
    return Place.of(place.stage, place.head or 0, place.column, place.row).value(run)
