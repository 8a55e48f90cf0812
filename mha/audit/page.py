"""The numbers of a document as a reader meets them: which was printed last, what follows from it.

A number's place in a worked example says what it claims to be. Where it comes from is asked of
`mha.runs.origins` alone: here its operands get the values that the document prints.
"""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from mha.audit.sources import Number
from mha.runs.operations import Origin
from mha.runs.origins import origin
from mha.runs.places import Place
from mha.runs.record import Trace

SLACK = 1e-9
"""What agreement allows beyond half a unit of the last printed place: the noise of float64."""

Claimed = tuple[str, Place]
"""What a number claims to be: a worked example, and a place in its run."""

_Row = tuple[str, str, tuple[int, ...], int | None]


def claimed(number: Number) -> Claimed:
    """Return what a number claims to be.

    Parameters
    ----------
    number : Number
        One that takes part in a calculation.

    Returns
    -------
    tuple of (str, Place)

    Examples
    --------
    >>> claimed(Number(1, "2", "derived", "cat-sat", Place("root")))[0]
    'cat-sat'
    """
    assert number.place is not None
    return number.example, number.place


def follow(run: Trace, place: Place, value: Callable[[Place], float]) -> float:
    """Return the number at a place as it follows from the numbers that it comes from.

    Parameters
    ----------
    run : Trace
    place : Place
    value : callable
        Takes a place, returns its number. A sum of products asks for its terms, since these are
        what a document prints before it.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the run starts from that number, or has no such number.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> run = trace(load_example("cat-sat"))
    >>> follow(run, Place.parse("scores.0.0.1:0"), lambda place: 3.0)
    9.0
    >>> follow(run, Place.parse("scores.0.0.1"), lambda place: 3.0)
    12.0
    """
    found = origin_of(run, place)
    if found.operation == "given":
        raise ValueError(
            f"{run.example.name} {place} is not printed by the document; an input cannot be"
            " computed"
        )
    if found.operation in ("products", "mixed"):
        return math.fsum(value(term) for term in terms_of(found))
    return found.evaluate(value)


origin_of = lru_cache(maxsize=8192)(origin)  # every local value asks again, and runs do not change


def terms_of(found: Origin) -> list[Place]:
    """Return the places of the terms of a sum of products; none for another operation."""
    if found.operation not in ("products", "mixed"):
        return []
    return [replace(found.place, term=i) for i in range(len(found.terms))]


class Page:
    """The numbers of a document, one after another.

    Parameters
    ----------
    numbers : sequence of Number
    values : sequence of float, as long as `numbers`, optional
        To be read in place of the printed numbers.
    runs : callable
        Takes an example's name, returns its run.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> numbers = [
    ...     Number(1, "2", "input", "cat-sat", Place.parse("scores.0.0.0")),
    ...     Number(2, "0.9", "derived", "cat-sat", Place.parse("scaled_scores.0.0.0")),
    ... ]
    >>> page = Page(numbers, None, lambda name: trace(load_example(name)))
    >>> page.local(1), page.within(1, 1.0)
    ((1.0, [0]), False)
    """

    def __init__(
        self,
        numbers: Sequence[Number],
        values: Sequence[float] | None,
        runs: Callable[[str], Trace],
    ) -> None:
        self.numbers = numbers
        self.runs = runs
        self.printed = list(values or [n.value if n.place else math.nan for n in numbers])
        self.meant = list(values or [n.meant if n.place else math.nan for n in numbers])
        self.spots: dict[Claimed, list[int]] = defaultdict(list)
        rows: dict[tuple[int, _Row], list[float]] = defaultdict(list)
        for i, number in enumerate(numbers):
            if number.place:
                self.spots[claimed(number)].append(i)
                rows[number.line, _row(number)].append(self.printed[i])
        self.rows = {key: tuple(row) for key, row in rows.items()}
        self.first_stood_as: dict[tuple[float, ...], _Row] = {}
        for (_, row), row_values in self.rows.items():
            self.first_stood_as.setdefault(row_values, row)

    def true(self) -> Callable[[str, Place], float]:
        """Return a function that follows a number from the document's own inputs.

        Returns
        -------
        callable
            Takes an example's name and a place, returns the number. Raises ValueError where an
            input is needed that the document does not print.
        """
        known = {
            claimed(n): value
            for n, value in zip(self.numbers, self.meant, strict=True)
            if n.kind == "input"
        }

        def true(example: str, place: Place) -> float:
            if (example, place) not in known:
                run = self.runs(example)
                known[example, place] = follow(run, place, lambda at: true(example, at))
            return known[example, place]

        return true

    def latest(self, what: Claimed, before: int) -> int | None:
        """Return where a number was last printed before a spot.

        Parameters
        ----------
        what : tuple of (str, Place)
        before : int

        Returns
        -------
        int or None
        """
        spots = self.spots.get(what, [])
        count = bisect_left(spots, before)
        return spots[count - 1] if count else None

    def local(self, spot: int) -> tuple[float, list[int]]:
        """Follow a number from those printed before it.

        Parameters
        ----------
        spot : int
            Where it stands among the numbers.

        Returns
        -------
        tuple of (float, list of int)
            The number as it follows, and the spots of those that it follows from.

        Raises
        ------
        ValueError
            If it needs an input that is not printed before it.
        """
        number, used = self.numbers[spot], list[int]()
        example, place = claimed(number)

        def value(at: Place) -> float:
            earlier = self.latest((example, at), spot)
            if earlier is None:
                return follow(self.runs(example), at, value)
            used.append(earlier)
            return self.meant[earlier]

        if number.kind == "copy" or number.restates:
            return value(place), used
        return follow(self.runs(example), place, value), used

    def within(self, spot: int, wanted: float) -> bool:
        """Return whether a number, as printed, agrees with another.

        Parameters
        ----------
        spot : int
        wanted : float

        Returns
        -------
        bool
            Whether the two are within half a unit of the last printed place.
        """
        return abs(self.printed[spot] - wanted) <= self.numbers[spot].half_unit + SLACK

    def follows(self, spot: int) -> bool:
        """Return whether a number, as printed, agrees with those printed before it."""
        return self.within(spot, self.local(spot)[0])

    def slip(self, spot: int, local: float, used: Sequence[int]) -> str:
        """Return what kind of slip a number is that does not agree locally.

        Parameters
        ----------
        spot : int
        local : float
        used : sequence of int
            As `local` returns them.

        Returns
        -------
        str
            One of `mha.audit.judging.SLIPS`.
        """
        number = self.numbers[spot]
        example, place = claimed(number)
        row = _row(number)
        values = self.rows[number.line, row]
        if number.intended and abs(self.meant[spot] - local) <= number.half_unit + SLACK:
            return "damaged print"
        if len(values) > 2 and self.first_stood_as[values] != row:
            return "copied row"
        if abs(self.printed[spot] - local) <= 3 * number.half_unit + SLACK:
            return "last digit"
        if place.term is not None:
            return "product"
        terms = terms_of(origin_of(self.runs(example), place))
        if terms and {self.numbers[i].place for i in used} <= set(terms):
            return "sum"
        return "other"


def _row(number: Number) -> _Row:
    """Return what the numbers of one row of a table have in common."""
    example, place = claimed(number)
    return example, place.stage, place.index[:-1], place.term
