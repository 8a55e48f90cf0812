"""Every derived number of the source documents, recomputed and judged.

Each number gets two verdicts. *End to end*: it is recomputed from the document's own inputs.
*Locally*: it is recomputed from the numbers that the document prints just before it. A number
agrees where it is within half a unit of its last printed place. The first verdict tells which
numbers to trust, the second where a slip happened.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from mha.audit.page import SLACK, Page, claimed
from mha.audit.sources import Number, load_source, source_names
from mha.examples import load_example
from mha.runs.places import Place
from mha.runs.record import Trace, trace

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

    Examples
    --------
    >>> first = judgements("apple-walkthrough")[0]
    >>> str(first.place), first.step, first.agrees_locally
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
        """The worked example that the number belongs to."""
        return self.number.example

    @property
    def place(self) -> Place:
        """What the number claims to be, in that example's run."""
        return claimed(self.number)[1]

    @property
    def step(self) -> str:
        """The stage, or what its terms are called: products, weighted values."""
        return self.number.step


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
    """Judge every derived number of one document.

    Parameters
    ----------
    numbers : sequence of Number
        All numbers of the document, in order.
    values : sequence of float, as long as `numbers`, optional
        Judge these in place of the printed numbers, at the printed precision.
    runs : callable, default `run_of`
        Takes an example's name, returns its run: its scale and its mask count.

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
    return tuple(_judged(Page(numbers, values, runs)))


def _judged(page: Page) -> Iterator[Judgement]:
    """Yield a judgement on each derived number of a page."""
    true_of = page.true()
    doubtful = [False] * len(page.numbers)  # goes back to a slip
    for spot, number in enumerate(page.numbers):
        if number.place is None or number.kind == "input":
            continue
        local, used = page.local(spot)
        inherited = any(doubtful[i] for i in used)
        doubtful[spot] = inherited
        if number.kind == "copy":
            continue
        true = true_of(*claimed(number))
        slip = "" if page.within(spot, local) else page.slip(spot, local, used)
        right = page.within(spot, true)
        own = slip not in ("", "damaged print") and not right
        doubtful[spot] = inherited or own
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


class Prints:
    """What the documents print for the numbers of one worked example.

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
        for number, agrees in (*_agreeing(example), *_drawn(example)):
            prints = self._found[claimed(number)[1]]
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
        return tuple(self._found.get(place, {}).values())


def _agreeing(example: str) -> Iterator[tuple[Number, bool]]:
    """Yield an example's derived numbers, each with whether it agrees end to end."""
    for source in source_names():
        for judgement in judgements(source):
            if judgement.example == example:
                yield judgement.number, judgement.agrees_end_to_end


def _drawn(example: str) -> Iterator[tuple[Number, bool]]:
    """Yield the weights that a source draws, each with whether the example's run meets it."""
    run = run_of(example)
    for source in source_names():
        for number in load_source(source):
            if number.example != example or number.kind != "input":
                continue
            if number.place is not None and number.place.stage == "weights":
                off = abs(number.value - number.place.value(run))
                yield number, off <= number.half_unit + SLACK
