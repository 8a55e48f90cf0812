"""Lookups that several checks share: an example's matrices, and its printed numbers."""

from functools import cache

from mha.audit.judging import Judgement, judgements, run_of
from mha.audit.sources import source_names
from mha.core.multihead import MultiHeadWeights


def layer_of(example: str) -> MultiHeadWeights:
    """Return an example's projection matrices.

    Parameters
    ----------
    example : str
        One that starts from embeddings.

    Returns
    -------
    MultiHeadWeights

    Raises
    ------
    ValueError
        If the example starts at its queries.

    Examples
    --------
    >>> layer_of("apple").w_q.shape
    (3, 4, 4)
    """
    layer = run_of(example).example.layer
    if layer is None:
        raise ValueError(f"{example} starts at its queries; an example with matrices is wanted")
    return layer


@cache
def judgements_of(example: str) -> tuple[Judgement, ...]:
    """Return the judgements on all derived numbers of a worked example.

    Parameters
    ----------
    example : str

    Returns
    -------
    tuple of Judgement
        Empty where no document derives a number of it.

    Examples
    --------
    >>> len(judgements_of("cat-sat"))
    28
    """
    every = (j for source in source_names() for j in judgements(source))
    return tuple(j for j in every if j.example == example)


def printed_row(
    example: str, stage: str, head: int, row: int, *, latest: bool
) -> tuple[Judgement, ...]:
    """Return the judgements on one printed row.

    Parameters
    ----------
    example : str
    stage : str
        A stage with heads.
    head, row : int
    latest : bool
        Whether to return the last or the first of several printed versions of a number.

    Returns
    -------
    tuple of Judgement
        One for each printed column, in order.

    Examples
    --------
    >>> [j.number.printed for j in printed_row("cat-sat", "weights", 0, 1, latest=True)]
    ['0.27', '0.73']
    """
    cells: dict[int, Judgement] = {}
    for judgement in judgements_of(example):
        place = judgement.place
        if (place.stage, place.term, place.head, place.row) != (stage, None, head, row):
            continue
        column = place.index[2]
        if latest or column not in cells:
            cells[column] = judgement
    return tuple(cells[column] for column in sorted(cells))
