"""What the verdicts on a document come to: counts, sums of rows, contradictions."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from mha.audit.judging import Judgement, judgements, run_of
from mha.audit.page import SLACK, Claimed, claimed
from mha.audit.sources import Number


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
    steps: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in found:
        steps[judgement.step].append(judgement)
    return {step: tuple(group) for step, group in steps.items()}


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
        if judgement.place.stage != "weights":
            continue
        example, (head, row, column) = judgement.example, judgement.place.index
        if column == 0:
            rows[example, head, row] = []
        cells = rows[example, head, row]
        cells.append(judgement.number)
        if len(cells) == run_of(example).weights.shape[-1]:
            found.append(_row_sum(cells, example, head, row))
    return tuple(found)


def _row_sum(cells: Sequence[Number], example: str, head: int, row: int) -> RowSum:
    """Return what a whole row of weights sums to."""
    total = math.fsum(number.value for number in cells)
    allowed = sum(number.half_unit for number in cells) + SLACK
    return RowSum(
        line=cells[0].line,
        example=example,
        head=head,
        row=row,
        printed=tuple(number.printed for number in cells),
        total=total,
        sums_to_one=abs(total - 1) <= allowed,
    )


def contradictions(source: str) -> tuple[tuple[Judgement, Judgement], ...]:
    """Return what a document derives twice, with results that exclude each other.

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
    first: dict[Claimed, Judgement] = {}
    found = []
    for judgement in judgements(source):
        before = first.setdefault(claimed(judgement.number), judgement)
        apart = abs(before.number.value - judgement.number.value)
        if apart > before.number.half_unit + judgement.number.half_unit + SLACK:
            found.append((before, judgement))
    return tuple(found)
