"""Where a number comes from: the one place that knows how each stage follows from those before.

Arithmetic, exercises, worksheets and the explorer render an `Origin`; the audit evaluates the same
origin with the printed numbers put in.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from mha.runs.places import Place, place_at
from mha.runs.record import Trace
from mha.runs.stages import STAGES

Operation = Literal[
    "given", "products", "product", "mixed", "root", "scaled", "exponential", "sum", "share",
    "percent", "copy",
]  # fmt: skip
"""How a number comes about:

- given: an input.
- products, mixed: a sum of products; the second weights values.
- product: one term of such a sum.
- root: the square root of d_k.
- scaled: a score divided by the root of d_k, or times the scale, plus the mask's term.
- exponential: e to the scaled score less the row's shift.
- sum: of the row's exponentials, or of an embedding and its position.
- share: an exponential over its row sum; 0 where the row has no key left.
- percent: a weight times 100.
- copy: a number taken over.
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
        What a constant is: "d_k", "scale", "mask", "shift", "cos" or "sin".
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
        """Return the constant of a name, None where the calculation has none."""
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
    (score,), (factor,), *mask = origin.terms
    by_root = factor.name == "d_k"
    scaled = value(score) / math.sqrt(factor.value) if by_root else value(score) * factor.value
    return scaled + math.fsum(value(operand) for (operand,) in mask)


def _exponential(origin: Origin, value: Valued) -> float:
    (score,), *shift = origin.terms
    return math.exp(value(score) - math.fsum(value(operand) for (operand,) in shift))


def _share(origin: Origin, value: Valued) -> float:
    (exponential,), (row_sum,) = origin.terms
    return value(exponential) / value(row_sum) if value(row_sum) else 0.0


def _single(origin: Origin, value: Valued) -> float:
    ((operand,),) = origin.terms
    return value(operand)


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
}


def origin(run: Trace, place: Place) -> Origin:
    """Return how one number of a run comes about.

    Parameters
    ----------
    run : Trace
    place : Place
        Of any stage that the run has, or of one term of a sum of products.

    Returns
    -------
    Origin

    Raises
    ------
    ValueError
        If the run has no such number.

    References
    ----------
    Vaswani et al. (2017), section 3.2.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> run = trace(load_example("cat-sat"))
    >>> [str(o.place) for o in origin(run, Place.parse("weights.0.0.1")).operands]
    ['exponentials.0.0.1', 'row_sums.0.0']
    """
    if place.term is not None:
        return _term(run, place)
    has_array = place.kind.axes and not place.kind.quotes
    kept = place.value(run) if has_array else None
    if kept is not None and is_given(run, place.stage):
        return Origin(place, "given", ((Operand(kept),),), kept)
    operation, terms = _RULES[place.stage](run, place)
    return Origin(place, operation, tuple(terms), kept)


def is_given(run: Trace, stage: str) -> bool:
    """Tell whether a run starts from a stage instead of computing it.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> is_given(trace(load_example("cat-sat")), "query")
    True
    """
    if stage in ("query", "key", "value"):
        return run.embeddings is None
    return stage == "embeddings" or STAGES[stage].is_matrix or STAGES[stage].stays


def _term(run: Trace, place: Place) -> Origin:
    whole = origin(run, place.whole)
    assert place.term is not None
    if whole.operation not in ("products", "mixed"):
        raise ValueError(f"{place.whole} is no sum of products; it has no terms")
    if place.term >= len(whole.terms):
        raise ValueError(f"{place.whole} has {len(whole.terms)} terms; term {place.term} is none")
    return Origin(place, "product", (whole.terms[place.term],))


# ---- One rule a stage ----

Terms = Iterator[tuple[Operand, ...]]
Rule = Callable[[Trace, Place], tuple[Operation, Terms]]


def _at(run: Trace, stage: str, *index: int) -> Operand:
    place = place_at(stage, *index)
    return Operand(place.value(run), place)


def _one(*operands: Operand) -> Terms:
    """Yield each operand as a term of its own."""
    return ((operand,) for operand in operands)


def _projected(matrix: str, run: Trace, at: Place) -> tuple[Operation, Terms]:
    """Return the origin of a query, key or value: an embedding times a matrix."""
    assert run.embeddings is not None
    head, row, column = at.index
    start = "embeddings" if run.placed is None else "placed"
    return "products", (
        (_at(run, start, row, i), _at(run, matrix, head, i, column))
        for i in range(run.embeddings.shape[1])
    )


def _placed(run: Trace, at: Place) -> tuple[Operation, Terms]:
    return "sum", _one(*(_at(run, stage, *at.index) for stage in ("embeddings", "positions")))


def _turned(stage: str, run: Trace, at: Place) -> tuple[Operation, Terms]:
    """Return the origin of a turned query or key: both of a pair, times cosine and sine."""
    head, row, column = at.index
    pair, is_second = divmod(column, 2)
    angle = place_at("angles", row, pair).value(run)
    cos, sin = Operand(math.cos(angle), name="cos"), Operand(math.sin(angle), name="sin")
    by = (sin, cos) if is_second else (cos, Operand(-sin.value, name="sin"))
    return "products", ((_at(run, stage, head, row, 2 * pair + i), by[i]) for i in range(2))


def _scores(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, column = at.index
    query, key = ("query", "key") if run.angles is None else ("turned_query", "turned_key")
    return "products", (
        (_at(run, query, head, row, i), _at(run, key, head, column, i))
        for i in range(run.query.shape[-1])
    )


def _scaling(run: Trace, at: Place) -> tuple[Operation, Terms]:
    scale = run.example.scale
    d_k = float(run.query.shape[-1])
    factor = Operand(d_k, name="d_k") if scale is None else Operand(float(scale), name="scale")
    mask = run.mask[at.index]
    masked = () if mask == 0 else (Operand(float(mask), name="mask"),)
    return "scaled", _one(_at(run, "scores", *at.index), factor, *masked)


def _root(run: Trace, at: Place) -> tuple[Operation, Terms]:
    return "root", _one(Operand(float(run.query.shape[-1]), name="d_k"))


def _power(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, _ = at.index
    shift = float(run.shifts[head, row])
    shifted = () if shift == 0 else (Operand(shift, name="shift"),)
    return "exponential", _one(_at(run, "scaled_scores", *at.index), *shifted)


def _row_sum(run: Trace, at: Place) -> tuple[Operation, Terms]:
    keys = range(run.exponentials.shape[-1])
    return "sum", _one(*(_at(run, "exponentials", *at.index, key) for key in keys))


def _weight(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, _ = at.index
    return "share", _one(_at(run, "exponentials", *at.index), _at(run, "row_sums", head, row))


def _percentage(run: Trace, at: Place) -> tuple[Operation, Terms]:
    return "percent", _one(_at(run, "weights", *at.index))


def _mixture(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, column = at.index
    return "mixed", (
        (_at(run, "weights", head, row, key), _at(run, "value", head, key, column))
        for key in range(run.weights.shape[-1])
    )


def _beside(run: Trace, at: Place) -> tuple[Operation, Terms]:
    row, column = at.index
    head, component = divmod(column, run.value.shape[-1])
    return "copy", _one(_at(run, "head_outputs", head, row, component))


def _contribution(run: Trace, at: Place) -> tuple[Operation, Terms]:
    head, row, column = at.index
    d_v = run.value.shape[-1]
    return "products", (
        (_at(run, "head_outputs", head, row, i), _at(run, "w_o", head * d_v + i, column))
        for i in range(d_v)
    )


def _output(run: Trace, at: Place) -> tuple[Operation, Terms]:
    row, column = at.index
    return "products", (
        (_at(run, "concat", row, i), _at(run, "w_o", i, column))
        for i in range(run.concat.shape[-1])
    )


_RULES: dict[str, Rule] = {
    "placed": _placed,
    "turned_query": partial(_turned, "query"),
    "turned_key": partial(_turned, "key"),
    "query": partial(_projected, "w_q"),
    "key": partial(_projected, "w_k"),
    "value": partial(_projected, "w_v"),
    "scores": _scores,
    "root": _root,
    "scaled_scores": _scaling,
    "exponentials": _power,
    "row_sums": _row_sum,
    "weights": _weight,
    "percentages": _percentage,
    "head_outputs": _mixture,
    "concat": _beside,
    "head_contributions": _contribution,
    "output": _output,
}
