"""How a number is worked by hand: the kind of calculation, the numbers that it takes, the hints.

All of it is read from the number's origin. The page's script repeats the formulas and what the
hints are filled with, for numbers that it draws itself; the tests hold the two together.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from mha.runs.operations import Operand, Operation, Origin
from mha.runs.origins import origin
from mha.runs.record import Trace
from mha.runs.rounding import short, shown
from mha.views.arithmetic import factor, written_out
from mha.views.signs import chain

Formula = Callable[[Sequence[Sequence[float]], int], float]

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
    }
)
"""Hints of each kind of calculation: the operands first, then the last step."""

HINTS_WITH_MASK = MappingProxyType(
    {
        "root": (
            "The root: {root_line}. The mask's term is added after the division.",
            "Divide, then add the mask's term: {score} ÷ {root} + {mask}",
        ),
        "times": (
            "Scaling multiplies the score. The mask's term is added after that.",
            "Multiply, then add the mask's term: {score} × {scale} + {mask}",
        ),
    }
)
"""Hints where a mask's term is given too."""


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


def _masked(givens: Sequence[Sequence[float]], scaled: float) -> float:
    """Return a scaled score with the mask's term, where a third operand gives one."""
    return scaled + math.fsum(term for (term,) in givens[2:])


FORMULAS: Mapping[str, Formula] = MappingProxyType(
    {
        "products": lambda givens, column: _dot(*givens),
        "root": lambda givens, column: _masked(givens, givens[0][0] / math.sqrt(givens[1][0])),
        "times": lambda givens, column: _masked(givens, givens[0][0] * givens[1][0]),
        "power": lambda givens, column: math.exp(givens[0][0]),
        "sum": lambda givens, column: math.fsum(givens[0]),
        "share": lambda givens, column: (
            math.exp(givens[0][column]) / math.fsum(map(math.exp, givens[0]))
        ),
    }
)
"""How each kind of calculation combines what is given, for numbers as they are shown."""


@dataclass(frozen=True)
class Calculation:
    """How one number is worked by hand.

    Parameters
    ----------
    kind : str
        A key of `FORMULAS`.
    operands : tuple of tuple of float
        The numbers that it takes, in the groups in which a question gives them.
    fields : mapping of str to str
        What the hints are filled with.
    """

    kind: str
    operands: tuple[tuple[float, ...], ...]
    fields: Mapping[str, str]

    @property
    def hints(self) -> tuple[str, ...]:
        """The hints with their numbers."""
        return tuple(hint.format(**self.fields) for hint in templates(self.kind, self.operands))


def templates(kind: str, givens: Sequence[object]) -> tuple[str, ...]:
    """Return the hints of a calculation before their numbers are filled in.

    Parameters
    ----------
    kind : str
    givens : sequence
        A group of numbers each; a third one of a scaled score is the mask's term.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> templates("times", [[1.0], [0.5]])
    ('Scaling multiplies the score.', 'Multiply: {score} × {scale}')
    """
    has_mask = kind in HINTS_WITH_MASK and len(givens) > 2
    return (HINTS_WITH_MASK if has_mask else HINTS)[kind]


def calculation(run: Trace, found: Origin) -> Calculation:
    """Return how a number of a run is worked by hand.

    Parameters
    ----------
    run : Trace
    found : Origin
        Of a number that an exercise can ask for.

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


def exponentials(run: Trace, found: Origin) -> tuple[Origin, ...]:
    """Return the origins of the exponentials that a number takes: a row's for a sum or a share.

    Parameters
    ----------
    run : Trace
    found : Origin
        Of an exponential, a row sum or a weight.

    Returns
    -------
    tuple of Origin

    Examples
    --------
    >>> from mha import Place, load_example, trace
    >>> run = trace(load_example("cat-sat"))
    >>> [str(o.place) for o in exponentials(run, origin(run, Place.parse("weights.0.1.0")))]
    ['exponentials.0.1.0', 'exponentials.0.1.1']
    """
    if found.operation == "exponential":
        return (found,)
    if found.operation == "share":
        _, row_sum = found.operands
        return exponentials(run, _behind(run, row_sum))
    return tuple(_behind(run, operand) for operand in found.operands)


def _behind(run: Trace, operand: Operand) -> Origin:
    assert operand.place is not None
    return origin(run, operand.place)


def _values(operands: Sequence[Operand]) -> tuple[float, ...]:
    return tuple(operand.value for operand in operands)


# ---- One rule an operation ----


def _products(run: Trace, found: Origin) -> Calculation:
    line = written_out(found)
    fields = {"expression": line.expression, "products": " + ".join(line.products)}
    # A bias is a term of one factor, which is worked as if it were times 1.
    pairs = (_values(term) if len(term) > 1 else (*_values(term), 1.0) for term in found.terms)
    left, right = zip(*pairs, strict=True)
    return Calculation("products", (left, right), fields)


def _scaled(run: Trace, found: Origin) -> Calculation:
    score, by, *mask = found.operands
    kind = "root" if by.name == "d_k" else "times"
    fields = {"mask": " + ".join(factor(term.value) for term in mask)}
    if kind == "root":
        root = short(math.sqrt(by.value))
        line = chain(f"√{short(by.value)}", root)
        fields |= {"score": short(score.value), "root": root, "root_line": line}
    else:
        fields |= {"score": factor(score.value), "scale": factor(by.value)}
    return Calculation(kind, tuple((operand.value,) for operand in found.operands), fields)


def _power(run: Trace, found: Origin) -> Calculation:
    exponent = found.operands[0].value
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
    """Return numbers as they are added up; one alone, or none, as it is."""
    total = shown(math.fsum(terms))
    return chain(" + ".join(map(shown, terms)), total) if len(terms) > 1 else total


def _share(run: Trace, found: Origin) -> Calculation:
    top, row_sum = found.operands
    powers = exponentials(run, found)
    terms = " + ".join(shown(power.evaluate()) for power in powers)
    fields = {
        "exponentials": terms.replace(" + ", ", "),
        "sum": chain(terms, shown(row_sum.value)),
        "top": shown(top.value),
    }
    return Calculation("share", (tuple(power.operands[0].value for power in powers),), fields)


_CALCULATIONS: Mapping[Operation, Callable[[Trace, Origin], Calculation]] = MappingProxyType(
    {
        "products": _products,
        "mixed": _products,
        "scaled": _scaled,
        "exponential": _power,
        "sum": _sum,
        "share": _share,
    }
)
