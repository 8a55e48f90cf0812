"""Verdicts on the derived numbers of the source documents.

Each number gets two verdicts. *End to end*: it is recomputed from the document's own inputs.
*Locally*: it is recomputed from the numbers that the document prints just before it. A number
agrees if it is within half a unit of its last printed digit. The first verdict tells which numbers
are right, the second where a slip happened.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from mha.audit.document import SLACK, Document, address_of
from mha.audit.sources import Number, load_source, source_names
from mha.examples import load_example
from mha.runs.places import Place
from mha.runs.record import Trace, trace

SLIPS = MappingProxyType(
    {
        "damaged print": "the scan changed it; the intended number agrees",
        "copied row": "the document prints the row earlier, as another quantity",
        "last digit": "off by one in its last digit, as after rounding of an intermediate",
        "product": "not the product of its factors",
        "sum": "not the sum of the terms before it",
        "other": "does not follow from the numbers before it",
    }
)
"""The kinds of slip with their meaning, in the order in which they are tested."""


@dataclass(frozen=True)
class Judgement:
    """The verdicts on one derived number.

    Parameters
    ----------
    number : Number
    true : float
        The number recomputed from the document's own inputs.
    local : float
        The number recomputed from the numbers that the document prints just before it.
    agrees_end_to_end, agrees_locally : bool
        Whether the printed number is within half a unit of its last digit of `true`, and of
        `local`.
    slip : str
        One of `SLIPS` if the number does not agree locally, else empty.
    starts_chain : bool
        Whether the number is a slip other than a damaged print, is wrong end to end, and follows
        from no earlier number of this kind.

    Examples
    --------
    >>> first = judgements("apple-walkthrough")[0]
    >>> str(first.place), first.quantity, first.agrees_locally
    ('query.0.2.0:0', 'products', True)
    """

    number: Number
    true: float
    local: float
    agrees_end_to_end: bool
    agrees_locally: bool
    slip: str
    starts_chain: bool

    @property
    def example(self) -> str:
        """Name of the worked example that the number belongs to."""
        return self.number.example

    @property
    def place(self) -> Place:
        """The place of the number in the run of that example."""
        return address_of(self.number)[1]

    @property
    def quantity(self) -> str:
        """As `Number.quantity`."""
        return self.number.quantity


@cache
def run_of(example: str) -> Trace:
    """Return the run of one of the book's worked examples.

    Parameters
    ----------
    example : str
        One of `mha.example_names`.

    Returns
    -------
    Trace

    Raises
    ------
    ValueError
        If there is no such example.

    Examples
    --------
    >>> run_of("cat-sat").tokens
    ('cat', 'sat')
    """
    return trace(load_example(example))


def judge(
    numbers: Sequence[Number],
    values: Sequence[float] | None = None,
    *,
    runs: Callable[[str], Trace] = run_of,
) -> tuple[Judgement, ...]:
    """Return the judgements on the derived numbers of one document.

    Parameters
    ----------
    numbers : sequence of Number
        All numbers of the document, in order.
    values : sequence of float, as long as `numbers`, optional
        Values to judge in place of the printed numbers, at the printed precision.
    runs : callable, default `run_of`
        A function from the name of an example to its run, of which scale and mask are used.

    Returns
    -------
    tuple of Judgement
        One for each derived number, in order.

    Raises
    ------
    ValueError
        If a number follows from an input that the document does not print.

    Examples
    --------
    >>> first = judge(load_source("apple-walkthrough"))[4]
    >>> first.number.printed, round(first.true, 4), first.slip
    ('0.81', 1.18, 'sum')
    """
    return tuple(_judge_all(Document(numbers, values, runs)))


def _judge_all(document: Document) -> Iterator[Judgement]:
    """Yield a judgement on each derived number of a document."""
    true_of = document.true_values()
    doubtful = [False] * len(document.numbers)  # whether it follows from a slip
    for index, number in enumerate(document.numbers):
        if number.place is None or number.kind == "input":
            continue
        local, used = document.recompute(index)
        inherited = any(doubtful[i] for i in used)
        doubtful[index] = inherited
        if number.kind == "copy":
            continue
        true = true_of(*address_of(number))
        agrees = document.agrees_with(index, local)
        slip = "" if agrees else document.kind_of_slip(index, local, used)
        right = document.agrees_with(index, true)
        own = slip not in ("", "damaged print") and not right
        doubtful[index] = inherited or own
        yield Judgement(
            number=number,
            true=true,
            local=local,
            agrees_end_to_end=right,
            agrees_locally=not slip,
            slip=slip,
            starts_chain=own and not inherited,
        )


@cache
def judgements(source: str) -> tuple[Judgement, ...]:
    """Return the judgements on the derived numbers of one document, in order.

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


class Prints:
    """The numbers that the documents print for one worked example, by their places.

    Parameters
    ----------
    example : str
        One of `mha.example_names`.

    Raises
    ------
    ValueError
        If there is no such example.

    Examples
    --------
    >>> prints = Prints("cat-sat")
    >>> prints(Place("weights", head=0, row=0, column=1))
    (('0.27', True),)
    """

    def __init__(self, example: str) -> None:
        self._found: dict[Place, dict[float, tuple[str, bool]]] = defaultdict(dict)
        for number, agrees in (*_derived_numbers(example), *_drawn_weights(example)):
            prints = self._found[address_of(number)[1]]
            prints.setdefault(number.value, (number.printed, agrees))

    def __call__(self, place: Place) -> tuple[tuple[str, bool], ...]:
        """Return the different printed versions of a number, each with whether it is right.

        Parameters
        ----------
        place : Place

        Returns
        -------
        tuple of (str, bool)
            Empty if no document prints the number.
        """
        return tuple(self._found.get(place, {}).values())


def _derived_numbers(example: str) -> Iterator[tuple[Number, bool]]:
    """Yield an example's derived numbers, each with whether it agrees end to end."""
    for source in source_names():
        for judgement in judgements(source):
            if judgement.example == example:
                yield judgement.number, judgement.agrees_end_to_end


def _drawn_weights(example: str) -> Iterator[tuple[Number, bool]]:
    """Yield the weights that a source draws, each with whether it agrees with the run."""
    run = run_of(example)
    for source in source_names():
        for number in load_source(source):
            if number.example != example or number.kind != "input":
                continue
            if number.place is not None and number.place.stage == "weights":
                off = abs(number.value - number.place.value(run))
                yield number, off <= number.half_unit + SLACK
