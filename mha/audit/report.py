"""Reports of the audit: a table as text, and all verdicts as data."""

from collections.abc import Iterator, Mapping, Sequence

from mha.audit.judging import judgements
from mha.audit.sources import TITLES
from mha.audit.summary import by_stage, tally


def report(sources: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a table for each document: counts by stage, and their sum.

    Parameters
    ----------
    sources : sequence of str

    Yields
    ------
    str

    Raises
    ------
    ValueError
        If there is no such document.

    Examples
    --------
    >>> list(report(["mha-tutorial"]))[-2].split()
    ['all', '2', '2', '2', '0', '0']
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
    """Return all judgements as plain data, as ``--json`` writes them.

    Parameters
    ----------
    sources : sequence of str

    Returns
    -------
    list of dict
        With source, line, printed, example, place, true, agrees_end_to_end and agrees_locally.

    Raises
    ------
    ValueError
        If there is no such document.

    Examples
    --------
    >>> first = verdicts(["aiayn-part-2"])[0]
    >>> first["place"], first["printed"], first["true"]
    ('scores.0.0.0', '2', 2.0)
    """
    return [
        {
            "source": source,
            "line": j.number.line,
            "printed": j.number.printed,
            "example": j.example,
            "place": str(j.place),
            "true": j.true,
            "agrees_end_to_end": j.agrees_end_to_end,
            "agrees_locally": j.agrees_locally,
        }
        for source in sources
        for j in judgements(source)
    ]
