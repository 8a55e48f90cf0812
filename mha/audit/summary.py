"""Summaries of the verdicts on a document: counts, sums of rows, contradictions."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from mha.audit.document import SLACK, Address, address_of
from mha.audit.judging import Judgement, judgements, run_of
from mha.audit.sources import Number


@dataclass(frozen=True)
class Tally:
    """Counts of derived numbers by their verdicts.

    Parameters
    ----------
    derived : int
    end_to_end : int
        Numbers that agree end to end.
    locally : int
        Numbers that agree locally.
    neither : int
    chains : int
        Numbers with `Judgement.starts_chain`.

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
    """Count judgements by their verdicts.

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
    """Group judgements by `Judgement.quantity`, in the order of the document.

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
    groups: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in found:
        groups[judgement.quantity].append(judgement)
    return {quantity: tuple(group) for quantity, group in groups.items()}


@dataclass(frozen=True)
class RowSum:
    """A row of printed weights and its sum.

    Parameters
    ----------
    line : int
    example : str
    head, row : int
    printed : tuple of str
    total : float
    sums_to_one : bool
        Whether the sum differs from 1 by at most half a unit of the last digit per weight.
    """

    line: int
    example: str
    head: int
    row: int
    printed: tuple[str, ...]
    total: float
    sums_to_one: bool


def row_sums(source: str) -> tuple[RowSum, ...]:
    """Return every complete row of weights that a document derives, with its sum.

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
    """Return a complete row of weights with its sum."""
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
    """Return the numbers that a document prints twice with incompatible values.

    Parameters
    ----------
    source : str

    Returns
    -------
    tuple of (Judgement, Judgement)
        The first printed number, and a later one that differs by more than both half units.

    Examples
    --------
    >>> contradictions("aiayn-part-2")
    ()
    """
    first: dict[Address, Judgement] = {}
    found = []
    for judgement in judgements(source):
        before = first.setdefault(address_of(judgement.number), judgement)
        apart = abs(before.number.value - judgement.number.value)
        if apart > before.number.half_unit + judgement.number.half_unit + SLACK:
            found.append((before, judgement))
    return tuple(found)
