"""Every derived number of the source documents, recomputed and judged.

Each number gets two verdicts. *End to end*: it is recomputed from the document's own inputs.
*Locally*: it is recomputed from the numbers that the document prints just before it. A number
agrees where it is within half a unit of its last printed place. The first verdict tells which
numbers to trust, the second where a slip happened.

``python -m mha.audit`` prints a summary, ``python -m mha.audit --json FILE`` writes every verdict.
"""

import argparse
import json
import math
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

from mha.examples import load_example
from mha.audit.sources import TITLES, Number, Quantity, load_source, source_names
from mha.runs.places import Place
from mha.runs.record import trace

SLACK = 1e-9
"""What agreement allows beyond half a unit of the last printed place: the noise of float64."""

SLIPS = MappingProxyType(
    {
        "damaged print": "the scan changed it; what was meant agrees",
        "copied row": "the row stands earlier in the document as another quantity",
        "last digit": "off by one in its last place, as after rounding in between",
        "product": "a product that is not that of its factors",
        "sum": "a sum that is not that of the terms before it",
        "other": "does not follow from the numbers before it",
    }
)
"""The kinds of slip that can be told from the numbers, in the order in which they are tried."""

_SUMS = ("query", "key", "value", "scores", "head_outputs", "output")


@dataclass(frozen=True)
class Judgement:
    """What the audit finds about one derived number.

    Parameters
    ----------
    number : Number
    true : float
        Recomputed from the document's own inputs.
    local : float
        Recomputed from the numbers that the document prints just before.
    agrees_end_to_end, agrees_locally : bool
        Whether the number is within half a unit of its last place of `true`, of `local`.
    slip : str
        One of `SLIPS` where the number does not agree locally, else empty.
    starts_chain : bool
        It is a slip of the document's own, not of its print, it is wrong end to end, and nothing
        that it was computed from goes back to another such number.
    """

    number: Number
    true: float
    local: float
    agrees_end_to_end: bool
    agrees_locally: bool
    slip: str
    starts_chain: bool

    @property
    def quantity(self) -> Quantity:
        """What the number claims to be."""
        assert self.number.quantity is not None
        return self.number.quantity


@dataclass(frozen=True)
class _Sizes:
    num_tokens: int
    num_heads: int
    d_model: int
    d_k: int
    d_v: int


@cache
def _sizes(name: str) -> _Sizes:
    """Return the sizes of a worked example; d_model is 0 where it starts at query, key, value."""
    example = load_example(name)
    if example.layer is not None:
        d_model, d_k = example.layer.w_q.shape[1:]
        d_v = example.layer.w_v.shape[-1]
    else:
        assert example.query is not None
        assert example.value is not None
        d_model, d_k, d_v = 0, example.query.shape[-1], example.value.shape[-1]
    return _Sizes(len(example.tokens), example.num_heads, d_model, d_k, d_v)


def _at(example: str, stage: str, *place: int, term: int | None = None) -> Quantity:
    """Return the quantity at a place: (row, column), or (head, row) or (head, row, column)."""
    whole = stage in ("embeddings", "w_o", "concat", "output")
    axes = ("row", "column") if whole else ("head", "row", "column")
    return Quantity(example, stage, tuple(zip(axes, place, strict=False)), term)


def _factors(quantity: Quantity) -> list[tuple[Quantity, Quantity]]:
    """Return the two factors of each term of a sum of products."""
    name, stage, sizes = quantity.example, quantity.stage, _sizes(quantity.example)
    *head, row, column = quantity.place
    if stage == "scores":
        return [
            (_at(name, "query", *head, row, i), _at(name, "key", *head, column, i))
            for i in range(sizes.d_k)
        ]
    if stage == "head_outputs":
        return [
            (_at(name, "weights", *head, row, i), _at(name, "value", *head, i, column))
            for i in range(sizes.num_tokens)
        ]
    if stage == "output":
        return [
            (_at(name, "concat", row, i), _at(name, "w_o", i, column))
            for i in range(sizes.num_heads * sizes.d_v)
        ]
    return [
        (_at(name, "embeddings", row, i), _at(name, f"w_{stage[0]}", *head, i, column))
        for i in range(sizes.d_model)
    ]


def _terms(quantity: Quantity) -> list[Quantity]:
    """Return the terms of a sum of products."""
    return [
        _at(quantity.example, quantity.stage, *quantity.place, term=i)
        for i in range(len(_factors(quantity)))
    ]


def recompute(quantity: Quantity, value: Callable[[Quantity], float]) -> float:
    """Return one number of an attention layer from the numbers that it comes from.

    Parameters
    ----------
    quantity : Quantity
    value : callable
        Takes a quantity, returns its value.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the stage is one that is given and not computed.

    References
    ----------
    Vaswani et al. (2017), section 3.2.

    Examples
    --------
    >>> from mha.audit.sources import parse_quantity
    >>> recompute(parse_quantity("cat-sat scores head=0 row=0 column=1 term=0"), lambda q: 3.0)
    9.0
    """
    name, stage, place = quantity.example, quantity.stage, quantity.place
    if quantity.term is not None:
        left, right = _factors(quantity)[quantity.term]
        return value(left) * value(right)
    if stage in _SUMS and _terms(quantity):
        return math.fsum(value(term) for term in _terms(quantity))
    if stage == "root":
        return math.sqrt(_sizes(name).d_k)
    if stage == "scaled_scores":
        return value(_at(name, "scores", *place)) / math.sqrt(_sizes(name).d_k)
    if stage == "exponentials":
        return math.exp(value(_at(name, "scaled_scores", *place)))
    if stage == "row_sums":
        keys = range(_sizes(name).num_tokens)
        return math.fsum(value(_at(name, "exponentials", *place, key)) for key in keys)
    if stage == "weights":
        return value(_at(name, "exponentials", *place)) / value(_at(name, "row_sums", *place[:2]))
    if stage == "percentages":
        return 100 * value(_at(name, "weights", *place))
    if stage == "concat":
        row, column = place
        head, component = divmod(column, _sizes(name).d_v)
        return value(_at(name, "head_outputs", head, row, component))
    raise ValueError(f"{quantity} is not printed by the document; an input cannot be computed")


class _Page:
    """The numbers of a document as a reader meets them, one after another."""

    def __init__(self, numbers: Sequence[Number], values: Sequence[float] | None) -> None:
        self.numbers = numbers
        self.printed = values or [n.value if n.quantity else math.nan for n in numbers]
        self.meant = values or [n.meant if n.quantity else math.nan for n in numbers]
        self.spots: dict[Quantity, list[int]] = defaultdict(list)
        rows: dict[tuple[int, _Row], list[float]] = defaultdict(list)
        for i, number in enumerate(numbers):
            if number.quantity:
                self.spots[number.quantity].append(i)
                rows[number.line, _row(number.quantity)].append(self.printed[i])
        self.rows = {key: tuple(row) for key, row in rows.items()}
        self.first_stood_as: dict[tuple[float, ...], _Row] = {}
        for (_, row), row_values in self.rows.items():
            self.first_stood_as.setdefault(row_values, row)

    def inputs(self) -> dict[Quantity, float]:
        """Return what the document gives."""
        return {
            n.quantity: value
            for n, value in zip(self.numbers, self.meant, strict=True)
            if n.quantity and n.kind == "input"
        }

    def latest(self, quantity: Quantity, before: int) -> int | None:
        """Return where a quantity was last printed before a place."""
        spots = self.spots.get(quantity, [])
        count = bisect_left(spots, before)
        return spots[count - 1] if count else None

    def local(self, place: int) -> tuple[float, list[int]]:
        """Recompute a number from those before it; return it and the places that it uses."""
        number, used = self.numbers[place], list[int]()
        assert number.quantity is not None

        def value(quantity: Quantity) -> float:
            spot = self.latest(quantity, place)
            if spot is None:
                return recompute(quantity, value)
            used.append(spot)
            return self.meant[spot]

        if number.kind == "copy" or number.restates:
            return value(number.quantity), used
        return recompute(number.quantity, value), used

    def within(self, place: int, wanted: float) -> bool:
        """Return whether a number, as printed, agrees with another."""
        return abs(self.printed[place] - wanted) <= self.numbers[place].half_unit + SLACK

    def slip(self, place: int, local: float, used: list[int]) -> str:
        """Return what kind of slip a number is that does not agree locally."""
        number = self.numbers[place]
        assert number.quantity is not None
        row = _row(number.quantity)
        values = self.rows[number.line, row]
        if number.intended and abs(self.meant[place] - local) <= number.half_unit + SLACK:
            return "damaged print"
        if len(values) > 2 and self.first_stood_as[values] != row:
            return "copied row"
        if abs(self.printed[place] - local) <= 3 * number.half_unit + SLACK:
            return "last digit"
        if number.quantity.term is not None:
            return "product"
        terms = {self.numbers[i].quantity for i in used}
        if number.quantity.stage in _SUMS and terms <= set(_terms(number.quantity)):
            return "sum"
        return "other"


_Row = tuple[str, str, tuple[tuple[str, int], ...], int | None]


def _row(quantity: Quantity) -> _Row:
    """Return what the numbers of one row of a table have in common."""
    return quantity.example, quantity.stage, quantity.index[:-1], quantity.term


def judge(
    numbers: Sequence[Number], values: Sequence[float] | None = None
) -> tuple[Judgement, ...]:
    """Judge every derived number of one document.

    Parameters
    ----------
    numbers : sequence of Number
        All numbers of the document, in order.
    values : sequence of float, as long as `numbers`, optional
        Judge these in place of the printed numbers, at the printed precision.

    Returns
    -------
    tuple of Judgement
        One for each derived number, in order.

    Raises
    ------
    ValueError
        If a number needs an input that the document does not print.

    Examples
    --------
    >>> first = judge(load_source("apple-walkthrough"))[4]
    >>> first.number.printed, round(first.true, 4), first.slip
    ('0.81', 1.18, 'sum')
    """
    page = _Page(numbers, values)
    known = page.inputs()

    def true(quantity: Quantity) -> float:
        if quantity not in known:
            known[quantity] = recompute(quantity, true)
        return known[quantity]

    doubtful = [False] * len(numbers)  # goes back to a slip
    judgements = []
    for place, number in enumerate(numbers):
        if number.quantity is None or number.kind == "input":
            continue
        local, used = page.local(place)
        inherited = any(doubtful[i] for i in used)
        doubtful[place] = inherited
        if number.kind == "copy":
            continue
        slip = "" if page.within(place, local) else page.slip(place, local, used)
        right = page.within(place, true(number.quantity))
        own = slip not in ("", "damaged print") and not right
        doubtful[place] = inherited or own
        judgements.append(
            Judgement(
                number=number,
                true=true(number.quantity),
                local=local,
                agrees_end_to_end=right,
                agrees_locally=not slip,
                slip=slip,
                starts_chain=own and not inherited,
            )
        )
    return tuple(judgements)


@cache
def judgements(source: str) -> tuple[Judgement, ...]:
    """Return the audit of one document: a judgement for each of its derived numbers.

    Parameters
    ----------
    source : str
        One of `mha.audit.sources.source_names`.

    Returns
    -------
    tuple of Judgement

    Raises
    ------
    ValueError
        If there is no such document.

    Examples
    --------
    >>> all(j.agrees_end_to_end for j in judgements("aiayn-part-2"))
    True
    """
    return judge(load_source(source))


@dataclass(frozen=True)
class Tally:
    """How many derived numbers there are, and how many agree.

    Parameters
    ----------
    derived : int
    end_to_end : int
        Right from the inputs on.
    locally : int
        Follow from the numbers just before.
    neither : int
    chains : int
        Slips that start a chain.

    Examples
    --------
    >>> tally(judgements("aiayn-part-2"))
    Tally(derived=28, end_to_end=28, locally=28, neither=0, chains=0)
    """

    derived: int
    end_to_end: int
    locally: int
    neither: int
    chains: int


def tally(found: Sequence[Judgement]) -> Tally:
    """Count judgements.

    Parameters
    ----------
    found : sequence of Judgement

    Returns
    -------
    Tally
    """
    return Tally(
        derived=len(found),
        end_to_end=sum(j.agrees_end_to_end for j in found),
        locally=sum(j.agrees_locally for j in found),
        neither=sum(not j.agrees_end_to_end and not j.agrees_locally for j in found),
        chains=sum(j.starts_chain for j in found),
    )


def by_stage(found: Sequence[Judgement]) -> dict[str, tuple[Judgement, ...]]:
    """Return judgements by what they claim to be, in the order in which a document comes to them.

    Parameters
    ----------
    found : sequence of Judgement

    Returns
    -------
    dict of str to tuple of Judgement

    Examples
    --------
    >>> list(by_stage(judgements("aiayn-part-2")))[:2]
    ['scores', 'root']
    """
    stages: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in found:
        stages[judgement.quantity.kind].append(judgement)
    return {stage: tuple(group) for stage, group in stages.items()}


@dataclass(frozen=True)
class RowSum:
    """A row of printed weights, and what it sums to.

    Parameters
    ----------
    line : int
    example : str
    head, row : int
    printed : tuple of str
    total : float
    sums_to_one : bool
        Within half a unit of the last place for each weight of the row.
    """

    line: int
    example: str
    head: int
    row: int
    printed: tuple[str, ...]
    total: float
    sums_to_one: bool


def row_sums(source: str) -> tuple[RowSum, ...]:
    """Return every whole row of weights that a document derives, and what it sums to.

    Parameters
    ----------
    source : str

    Returns
    -------
    tuple of RowSum

    Examples
    --------
    >>> row_sums("aiayn-part-2")[0].total
    1.0
    """
    rows: dict[tuple[str, int, int], list[Number]] = {}
    found = []
    for judgement in judgements(source):
        quantity = judgement.quantity
        if quantity.stage != "weights":
            continue
        head, row, column = quantity.place
        if column == 0:
            rows[quantity.example, head, row] = []
        cells = rows[quantity.example, head, row]
        cells.append(judgement.number)
        if len(cells) == _sizes(quantity.example).num_tokens:
            total = math.fsum(n.value for n in cells)
            allowed = sum(n.half_unit for n in cells) + SLACK
            found.append(
                RowSum(
                    line=cells[0].line,
                    example=quantity.example,
                    head=head,
                    row=row,
                    printed=tuple(n.printed for n in cells),
                    total=total,
                    sums_to_one=abs(total - 1) <= allowed,
                )
            )
    return tuple(found)


def contradictions(source: str) -> tuple[tuple[Judgement, Judgement], ...]:
    """Return the quantities that a document derives twice, with results that exclude each other.

    Parameters
    ----------
    source : str

    Returns
    -------
    tuple of (Judgement, Judgement)
        The first print, and the next one that is further from it than both precisions allow.

    Examples
    --------
    >>> contradictions("aiayn-part-2")
    ()
    """
    first: dict[Quantity, Judgement] = {}
    found = []
    for judgement in judgements(source):
        before = first.setdefault(judgement.quantity, judgement)
        apart = abs(before.number.value - judgement.number.value)
        if apart > before.number.half_unit + judgement.number.half_unit + SLACK:
            found.append((before, judgement))
    return tuple(found)


class Prints:
    """What a document prints for the numbers of one worked example.

    Parameters
    ----------
    example : str
        One of `mha.example_names`.

    Examples
    --------
    >>> prints = Prints("cat-sat")
    >>> prints(Place("weights", head=0, row=0, column=1))
    (('0.27', True),)
    """

    def __init__(self, example: str) -> None:
        self.example = example
        self._found: dict[Quantity, dict[float, tuple[str, bool]]] = defaultdict(dict)
        for number, agrees in (*_judged(example), *_drawn(example)):
            assert number.quantity is not None
            prints = self._found[number.quantity]
            prints.setdefault(number.value, (number.printed, agrees))

    def __call__(self, place: Place) -> tuple[tuple[str, bool], ...]:
        """Return the different prints of a number, each with whether it agrees end to end.

        Parameters
        ----------
        place : Place

        Returns
        -------
        tuple of (str, bool)
            Empty where the document prints nothing.
        """
        at = _at(self.example, place.stage, *place.index, term=place.term)
        return tuple(self._found.get(at, {}).values())


def _judged(example: str) -> Iterator[tuple[Number, bool]]:
    """Yield an example's derived numbers, each with whether it agrees end to end."""
    for source in source_names():
        for judgement in judgements(source):
            if judgement.quantity.example == example:
                yield judgement.number, judgement.agrees_end_to_end


def _drawn(example: str) -> Iterator[tuple[Number, bool]]:
    """Yield the weights that a source draws, each with whether the example's run meets it."""
    weights = trace(load_example(example)).weights
    for source in source_names():
        for number in load_source(source):
            drawn = (
                number.kind == "input" and number.quantity and number.quantity.stage == "weights"
            )
            if drawn and number.quantity and number.quantity.example == example:
                off = abs(number.value - weights[number.quantity.place])
                yield number, bool(off <= number.half_unit + SLACK)


def report(sources: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the audit's table: a document, its stages, its sum.

    Parameters
    ----------
    sources : sequence of str

    Yields
    ------
    str
    """
    width = max(len(name) for name in (*TITLES, "weighted values"))
    columns = ("derived", "end to end", "locally", "neither", "first slips")
    for source in sources:
        found = judgements(source)
        yield TITLES[source]
        yield f"  {'':{width}}" + "".join(f"{column:>13}" for column in columns)
        for label, group in [*by_stage(found).items(), ("all", found)]:
            counts = tally(group)
            cells = (counts.derived, counts.end_to_end, counts.locally, counts.neither)
            numbers = "".join(f"{n:13}" for n in (*cells, counts.chains))
            yield f"  {label.replace('_', ' '):{width}}{numbers}"
        yield ""


def verdicts(sources: Sequence[str]) -> list[Mapping[str, object]]:
    """Return every judgement as plain data, as ``--json`` writes it.

    Parameters
    ----------
    sources : sequence of str

    Returns
    -------
    list of dict
        With source, line, printed, quantity, true, agrees_end_to_end and agrees_locally.
    """
    return [
        {
            "source": source,
            "line": j.number.line,
            "printed": j.number.printed,
            "quantity": str(j.quantity),
            "true": j.true,
            "agrees_end_to_end": j.agrees_end_to_end,
            "agrees_locally": j.agrees_locally,
        }
        for source in sources
        for j in judgements(source)
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the audit, or write it to a file.

    Parameters
    ----------
    arguments : sequence of str, default those of the command line
    """
    parser = _Parser(
        prog="python -m mha.audit",
        description="Recompute and judge every derived number of the source documents.",
    )
    parser.add_argument("source", nargs="*", help=f"any of {', '.join(TITLES)}; all by default")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every verdict to FILE")
    options = parser.parse_args(arguments)
    for source in options.source:
        if source not in TITLES:
            parser.error(f"source is {source!r}; one of {', '.join(TITLES)} is wanted")
    sources = options.source or source_names()
    if options.json:
        text = json.dumps(verdicts(sources), indent=1) + "\n"
        try:
            options.json.write_text(text, encoding="utf-8")
        except OSError as error:
            parser.error(f"{options.json} cannot be written ({error.strerror}); a file is wanted")
    print("\n".join(report(sources)))


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        sys.exit(f"{self.prog}: {message}")
