"""A document as a sheet of its derived numbers, in the order of reading, as data for a browser.

All verdicts come from Python. So that a reader can correct slips, each number has the formula by
which it follows from the numbers before it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from mha.audit.claims import load_claims
from mha.audit.judging import Judgement, judgements, run_of
from mha.audit.page import Page, claimed, origin_of, terms_of
from mha.audit.sources import TITLES, Number, load_source
from mha.runs.places import Place
from mha.runs.record import Trace

RIGHT, SLIP, SPOILED = 0, 1, 2
"""What a number is on a sheet: true; wrong by itself; wrong, and worked rightly from wrong ones."""

_SIGNS = {
    "products": "+", "mixed": "+", "sum": "+", "product": "*", "exponential": "e", "share": "/",
    "percent": "%", "root": "r", "copy": "=",
}  # fmt: skip

Cell = tuple[int, Judgement]
"""A derived number, and its spot on the sheet."""

Formula = Any
"""A spot among the sheet's numbers, a constant as text, or a list: a sign and its operands."""


def state(judgement: Judgement) -> int:
    """Return what a number is on a sheet: RIGHT, SLIP or SPOILED.

    Examples
    --------
    >>> [state(j) for j in judgements("apple-walkthrough")][:5]
    [0, 0, 0, 0, 1]
    """
    if judgement.agrees_end_to_end:
        return RIGHT
    return SLIP if judgement.slip else SPOILED


def sheet(source: str) -> dict[str, Any]:
    """Return one document's sheet.

    Parameters
    ----------
    source : str
        One of `mha.audit.sources.source_names`.

    Returns
    -------
    dict
        `numbers` are in the order of reading: of a derived one what is printed, its true value,
        how it follows from those before it, what it is, its kind of slip, and what was meant where
        the print is damaged; of a copy, which is not judged, what is printed and how it follows.
        `blocks` say how the derived ones stand on the sheet, `examples` what names them, and
        `claims` which claims in words do not hold, with the numbers that they are about.

    Raises
    ------
    ValueError
        If there is no such document.

    Examples
    --------
    >>> small = sheet("mha-tutorial")
    >>> small["numbers"]
    [['80', 80.0, ['%', '0.8'], 0], ['50', 50.0, ['%', '0.5'], 0]]
    """
    numbers = load_source(source)
    page = Page(numbers, None, run_of)
    judged = dict(
        zip(
            [i for i, n in enumerate(numbers) if n.kind == "derived"],
            judgements(source),
            strict=True,
        )
    )
    spots: dict[int, int] = {}  # of a number of the document, where it stands in the sheet
    found: list[list[Any]] = []
    for i, number in enumerate(numbers):
        if number.place is None or number.kind == "input":
            continue
        formula = _formula(page, i, spots)
        if i not in judged and (isinstance(formula, str) or not page.follows(i)):
            continue  # a copy of an input stays what it is, and so does one that differs
        spots[i] = len(found)
        found.append(_entry(number, judged.get(i), formula))
    cells = [(spots[i], judgement) for i, judgement in judged.items()]
    return {
        "name": source,
        "title": TITLES[source],
        "numbers": found,
        "blocks": list(_blocks(cells)),
        "examples": {name: _example(name) for name in dict.fromkeys(j.example for _, j in cells)},
        "claims": list(_claims(source, cells)),
    }


def _entry(number: Number, judgement: Judgement | None, formula: Formula) -> list[Any]:
    """Return one number of a sheet."""
    if judgement is None:
        return [number.intended or number.printed, None, formula]
    entry = [number.printed, float(f"{judgement.true:.12g}"), formula, state(judgement)]
    if judgement.slip:
        entry.append(judgement.slip)
    return [*entry, number.intended] if number.intended else entry


# ---- How a number follows from those before it ----


def _formula(page: Page, spot: int, spots: dict[int, int]) -> Formula:
    """Return how a number follows from those printed before it, as `Page.local` computes it."""
    number = page.numbers[spot]
    example, place = claimed(number)
    run = page.runs(example)

    def leaf(at: Place) -> Formula:
        earlier = page.latest((example, at), spot)
        if earlier is None:
            return follow(at)
        return spots.get(earlier, _constant(page.meant[earlier]))

    def follow(at: Place) -> Formula:
        origin = origin_of(run, at)
        if terms := terms_of(origin):
            return ["+", *map(leaf, terms)]
        operands = [
            _constant(o.value) if o.place is None else leaf(o.place) for o in origin.operands
        ]
        if origin.operation == "scaled":  # divided by the root of d_k, or times the scale
            return ["s" if origin.operands[1].name == "d_k" else "m", *operands]
        return [_SIGNS[origin.operation], *operands]

    return leaf(place) if number.kind == "copy" or number.restates else follow(place)


def _constant(value: float) -> str:
    return f"{value:.15g}"


# ---- How the numbers stand on the sheet ----


def _blocks(cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Yield blocks of rows: what one stage of one head prints together."""
    block: list[list[Cell]] = []
    for row in _rows(cells):
        if block and not _stands_below(block[-1], row):
            yield _block(block)
            block = []
        block.append(row)
    yield _block(block)


def _stands_below(above: Sequence[Cell], row: Sequence[Cell]) -> bool:
    """Tell whether a row goes on with the block of the row above it."""
    a, b = above[0][1], row[0][1]
    return _kind(above) == _kind(row) and (a.place.row or 0) <= (b.place.row or 0)


def _kind(row: Sequence[Cell]) -> tuple[Any, ...]:
    """Return what the rows of a block have in common."""
    first = row[0][1]
    is_vector = _is_sum(row) or first.place.term is None
    return first.example, first.place.head, first.place.stage, _is_worked(row), is_vector


def _block(rows: Sequence[Sequence[Cell]]) -> dict[str, Any]:
    """Return one block: what it is of, and its rows."""
    first = rows[0][0][1]
    run, head = run_of(first.example), first.place.head
    return {
        "example": first.example,
        "head": -1 if head is None or run.num_heads == 1 else head,
        "stage": first.place.stage,
        "how": "worked" if _is_worked(rows[0]) else "" if first.place.term is None else "terms",
        "rows": [_row(run, row) for row in rows],
    }


def _rows(cells: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Yield rows: a vector or a part of one, or the terms of a sum with what they add up to."""
    row: list[Cell] = []
    for cell in cells:
        if row and not _stands_beside(row, cell[1]):
            yield row
            row = []
        row.append(cell)
    yield row


def _stands_beside(row: Sequence[Cell], new: Judgement) -> bool:
    """Tell whether a number stands in the row of those before it."""
    (_, first), (_, last) = row[0], row[-1]
    a, b = last.place, new.place
    if (last.example, a.stage, a.head, a.row) != (new.example, b.stage, b.head, b.row):
        return False
    if a.whole == b.whole:  # a sum is written out
        is_sum = a.term is not None and (len(row) == 1 or first.place.whole == a.whole)
        return is_sum and (b.term is None or b.term > (a.term or 0))
    is_next = a.column is not None and b.column is not None and b.column > a.column
    is_written_out = len(row) > 1 and first.place.whole == a.whole
    # A vector may have a line for each of its numbers; what is printed again begins a row.
    one_line = new.number.line - last.number.line <= (1 if len(row) == 1 or _by_lines(row) else 0)
    return is_next and a.term == b.term and not is_written_out and one_line


def _by_lines(row: Sequence[Cell]) -> bool:
    """Tell whether each number of a row has a line of its own."""
    lines = [judgement.number.line for _, judgement in row]
    return len(set(lines)) == len(lines)


def _example(name: str) -> dict[str, Any]:
    """Return what names the numbers of an example."""
    run = run_of(name)
    heads = [f"Head {head + 1}" for head in range(run.num_heads)]
    return {"title": run.example.title, "tokens": run.tokens, "heads": heads}


def _is_sum(row: Sequence[Cell]) -> bool:
    """Tell whether a row has terms that add up."""
    return len(row) > 1 and row[0][1].place.whole == row[1][1].place.whole


def _is_worked(row: Sequence[Cell]) -> bool:
    """Tell whether a row has terms, and what they add up to."""
    return _is_sum(row) and row[-1][1].place.term is None


def _row(run: Trace, row: Sequence[Cell]) -> dict[str, Any]:
    """Return one row: its line, whose it is, its numbers and what each is called."""
    places = [judgement.place for _, judgement in row]
    token = places[0].row
    if places[0].term is not None and not _is_sum(row):
        token = places[0].term  # a key's value, times its weight
    lines = [judgement.number.line for _, judgement in row]
    said: dict[str, Any] = {
        "line": lines[0],
        "of": "" if token is None else run.tokens[token],
        "at": [spot for spot, _ in row],
        "places": [str(place) for place in places],
    }
    if lines[-1] != lines[0]:
        said["lines"] = lines
    if _is_sum(row):
        said["sum"] = 2 if _is_worked(row) else 1
    return said


# ---- What falls with them ----


_STAGE = {"rows_sum_to_one": "weights", "percentages_sum": "percentages"}
"""What claims are about that name no stage, by their check."""


def _claims(source: str, cells: Sequence[Cell]) -> Iterator[dict[str, Any]]:
    """Yield the claims about rows of numbers that do not hold."""
    for claim in load_claims():
        given = claim.given
        stages = given.get("stages", [given.get("stage", _STAGE.get(claim.check))])
        if claim.source != source or stages == [None]:
            continue
        finding = claim.finding()
        if finding is None or finding.holds:
            continue
        about = [
            spot
            for spot, judgement in cells
            if judgement.example == given["example"]
            and judgement.place.stage in stages
            and judgement.place.term is None
            and judgement.place.head == given["head"]
            and judgement.place.row == given.get("row", judgement.place.row)
        ]
        yield {"line": claim.line, "says": claim.says, "why": finding.because, "about": about}
