"""The printed numbers of a document in order, and the numbers that follow from them.

The place of a number in the run of a worked example gives its meaning. `mha.runs.origins` gives its
operands; here these get the values that the document prints.
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
"""Tolerance beyond half a unit of the last printed digit, for the noise of float64."""

Address = tuple[str, Place]
"""The address of a number: the name of a worked example, and a place in its run."""

_RowKey = tuple[str, str, tuple[int, ...], int | None]


def address_of(number: Number) -> Address:
    """Return the address of a number: its worked example and its place.

    Parameters
    ----------
    number : Number
        One that takes part in a calculation.

    Returns
    -------
    tuple of (str, Place)

    Examples
    --------
    >>> address_of(Number(1, "2", "derived", "cat-sat", Place("root")))[0]
    'cat-sat'
    """
    assert number.place is not None
    return number.example, number.place


def compute_at(run: Trace, place: Place, value: Callable[[Place], float]) -> float:
    """Compute the number at a place from given values of its operands.

    Parameters
    ----------
    run : Trace
    place : Place
    value : callable
        A function from a place to its number. A sum of products is computed from its terms, not
        from their factors, because a document prints the terms before it.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the number is an input of the run, or the run has no such number.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> run = trace(load_example("cat-sat"))
    >>> compute_at(run, Place.parse("scores.0.0.1:0"), lambda place: 3.0)
    9.0
    >>> compute_at(run, Place.parse("scores.0.0.1"), lambda place: 3.0)
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


# Every local value needs origins again, and runs do not change.
origin_of = lru_cache(maxsize=8192)(origin)


def terms_of(found: Origin) -> list[Place]:
    """Return the places of the terms of a sum of products; none for another operation."""
    if found.operation not in ("products", "mixed"):
        return []
    return [replace(found.place, term=i) for i in range(len(found.terms))]


class Document:
    """The printed numbers of a document, in order.

    Parameters
    ----------
    numbers : sequence of Number
    values : sequence of float, as long as `numbers`, optional
        Values to use in place of the printed numbers.
    runs : callable
        A function from the name of an example to its run.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> numbers = [
    ...     Number(1, "2", "input", "cat-sat", Place.parse("scores.0.0.0")),
    ...     Number(2, "0.9", "derived", "cat-sat", Place.parse("scaled_scores.0.0.0")),
    ... ]
    >>> document = Document(numbers, None, lambda name: trace(load_example(name)))
    >>> document.recompute(1), document.agrees_with(1, 1.0)
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
        self.indices: dict[Address, list[int]] = defaultdict(list)
        rows: dict[tuple[int, _RowKey], list[float]] = defaultdict(list)
        for i, number in enumerate(numbers):
            if number.place:
                self.indices[address_of(number)].append(i)
                rows[number.line, _row_key(number)].append(self.printed[i])
        self.rows = {key: tuple(row) for key, row in rows.items()}
        self.first_row_key: dict[tuple[float, ...], _RowKey] = {}
        for (_, row), row_values in self.rows.items():
            self.first_row_key.setdefault(row_values, row)

    def true_values(self) -> Callable[[str, Place], float]:
        """Return a function that computes any number from the document's own inputs.

        Returns
        -------
        callable
            A function from the name of an example and a place to the number. It raises a
            ValueError if the number follows from an input that the document does not print.
        """
        known = {
            address_of(n): value
            for n, value in zip(self.numbers, self.meant, strict=True)
            if n.kind == "input"
        }

        def true(example: str, place: Place) -> float:
            if (example, place) not in known:
                run = self.runs(example)
                known[example, place] = compute_at(run, place, lambda at: true(example, at))
            return known[example, place]

        return true

    def latest(self, address: Address, before: int) -> int | None:
        """Return the index of the last printed number with an address before an index, or None.

        Parameters
        ----------
        address : tuple of (str, Place)
        before : int

        Returns
        -------
        int or None
        """
        indices = self.indices.get(address, [])
        count = bisect_left(indices, before)
        return indices[count - 1] if count else None

    def recompute(self, index: int) -> tuple[float, list[int]]:
        """Compute a number from the numbers printed before it.

        Parameters
        ----------
        index : int
            Index of the number in the document.

        Returns
        -------
        tuple of (float, list of int)
            The computed number, and the indices of the printed numbers that it follows from.

        Raises
        ------
        ValueError
            If it follows from an input that is not printed before it.
        """
        number, used = self.numbers[index], list[int]()
        example, place = address_of(number)

        def value(at: Place) -> float:
            earlier = self.latest((example, at), index)
            if earlier is None:
                return compute_at(self.runs(example), at, value)
            used.append(earlier)
            return self.meant[earlier]

        # A copy has the value of the earlier number; a derived number that of its operands.
        if number.kind == "copy" or number.restates:
            return value(place), used
        return compute_at(self.runs(example), place, value), used

    def agrees_with(self, index: int, value: float) -> bool:
        """Return whether a printed number agrees with a value.

        Parameters
        ----------
        index : int
        value : float

        Returns
        -------
        bool
            Whether they differ by at most half a unit of the last printed digit.
        """
        return abs(self.printed[index] - value) <= self.numbers[index].half_unit + SLACK

    def agrees_locally(self, index: int) -> bool:
        """Return whether a printed number agrees with the one computed from those before it."""
        return self.agrees_with(index, self.recompute(index)[0])

    def kind_of_slip(self, index: int, local: float, used: Sequence[int]) -> str:
        """Return the kind of slip of a number that does not agree locally.

        Parameters
        ----------
        index : int
        local : float
        used : sequence of int
            As `recompute` returns them.

        Returns
        -------
        str
            One of `mha.audit.judging.SLIPS`.
        """
        number = self.numbers[index]
        example, place = address_of(number)
        row = _row_key(number)
        values = self.rows[number.line, row]
        if number.intended and abs(self.meant[index] - local) <= number.half_unit + SLACK:
            return "damaged print"
        if len(values) > 2 and self.first_row_key[values] != row:
            return "copied row"
        if abs(self.printed[index] - local) <= 3 * number.half_unit + SLACK:
            return "last digit"
        if place.term is not None:
            return "product"
        terms = terms_of(origin_of(self.runs(example), place))
        if terms and {self.numbers[i].place for i in used} <= set(terms):
            return "sum"
        return "other"


def _row_key(number: Number) -> _RowKey:
    """Return the part of an address that all numbers of one row of a table share."""
    example, place = address_of(number)
    return example, place.stage, place.index[:-1], place.term
