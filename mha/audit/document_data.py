"""The derived numbers of a document as data for the browser, where a reader corrects slips.

Verdicts are computed in Python. Each number comes with a formula of the numbers before it, from
which the browser recomputes it after a correction.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from mha.audit.claims import load_claims
from mha.audit.document import Document, address_of, origin_of, terms_of
from mha.audit.judging import Judgement, judgements, run_of
from mha.audit.sources import TITLES, Number, load_source
from mha.runs.places import Place
from mha.runs.record import Trace

RIGHT, SLIP, SPOILED = 0, 1, 2
"""Verdicts: right; a slip; wrong, because it follows from wrong numbers."""

_SIGNS = {
    "products": "+", "mixed": "+", "sum": "+", "product": "*", "scaled": "s", "exponential": "e",
    "share": "/", "percent": "%", "root": "r", "copy": "=",
}  # fmt: skip
"""A sign for each operation, because a document has thousands; a mixture is a sum of products."""

IndexedJudgement = tuple[int, Judgement]
"""A judgement with the index of its number in the data's list of numbers."""

Formula = Any
"""The index of a number, a constant with its name as text, or a list of sign and operands."""


def verdict(judgement: Judgement) -> int:
    """Return the verdict on a number: RIGHT, SLIP or SPOILED.

    Examples
    --------
    >>> [verdict(j) for j in judgements("apple-walkthrough")][:5]
    [0, 0, 0, 0, 1]
    """
    if judgement.agrees_end_to_end:
        return RIGHT
    return SLIP if judgement.slip else SPOILED


def document_data(source: str) -> dict[str, Any]:
    """Return one document as data for the browser.

    Parameters
    ----------
    source : str
        One of `mha.audit.sources.source_names`.

    Returns
    -------
    dict
        `numbers` lists the derived numbers and the copies in order. A derived number is a list of
        its printed form, true value, formula, verdict, kind of slip, and intended form; the last
        two only if there are any. A copy, which has no verdict, has None as its true value and
        ends there after the formula. `operations` has the operation of each sign in formulas,
        `blocks` the layout of the derived numbers in rows, `examples` the names of tokens and
        heads, and `claims` the claims in words that do not hold, with the indices of their numbers.

    Raises
    ------
    ValueError
        If there is no such document.

    Examples
    --------
    >>> small = document_data("mha-tutorial")
    >>> small["numbers"]
    [['80', 80.0, ['%', '0.8'], 0], ['50', 50.0, ['%', '0.5'], 0]]
    """
    numbers = load_source(source)
    document = Document(numbers, None, run_of)
    judged = dict(
        zip(
            [i for i, n in enumerate(numbers) if n.kind == "derived"],
            judgements(source),
            strict=True,
        )
    )
    indices: dict[int, int] = {}  # from the document's index of a number to that in the data
    found: list[list[Any]] = []
    for i, number in enumerate(numbers):
        if number.place is None or number.kind == "input":
            continue
        formula = _formula(document, i, indices)
        if i not in judged and (isinstance(formula, str) or not document.agrees_locally(i)):
            continue  # no correction changes a copy of an input, or one that differs
        indices[i] = len(found)
        found.append(_entry(number, judged.get(i), formula))
    cells = [(indices[i], judgement) for i, judgement in judged.items()]
    return {
        "name": source,
        "title": TITLES[source],
        "operations": {sign: operation for operation, sign in reversed(_SIGNS.items())},
        "numbers": found,
        "blocks": list(_blocks(cells)),
        "examples": {name: _example(name) for name in dict.fromkeys(j.example for _, j in cells)},
        "claims": list(_claims(source, cells)),
    }


def _entry(number: Number, judgement: Judgement | None, formula: Formula) -> list[Any]:
    """Return the entry of one number in the data."""
    if judgement is None:
        return [number.intended or number.printed, None, formula]
    entry = [number.printed, float(f"{judgement.true:.12g}"), formula, verdict(judgement)]
    if judgement.slip:
        entry.append(judgement.slip)
    return [*entry, number.intended] if number.intended else entry


# ---- Formulas ----


def _formula(document: Document, index: int, indices: dict[int, int]) -> Formula:
    """Return the formula by which `Document.recompute` computes a number."""
    number = document.numbers[index]
    example, place = address_of(number)
    run = document.runs(example)

    def operand(at: Place) -> Formula:
        earlier = document.latest((example, at), index)
        if earlier is None:
            return operation(at)
        return indices.get(earlier, _constant(document.meant[earlier]))

    def operation(at: Place) -> Formula:
        origin = origin_of(run, at)
        if terms := terms_of(origin):
            return ["+", *map(operand, terms)]
        operands = [
            _constant(o.value, o.name) if o.place is None else operand(o.place)
            for o in origin.operands
        ]
        return [_SIGNS[origin.operation], *operands]

    return operand(place) if number.kind == "copy" or number.restates else operation(place)


def _constant(value: float, name: str = "") -> str:
    return f"{value:.15g} {name}".rstrip()


# ---- Layout ----


def _blocks(cells: Sequence[IndexedJudgement]) -> Iterator[dict[str, Any]]:
    """Yield blocks of rows: consecutive rows of one stage and one head."""
    block: list[list[IndexedJudgement]] = []
    for row in _rows(cells):
        if block and not _continues_block(block[-1], row):
            yield _block(block)
            block = []
        block.append(row)
    yield _block(block)


def _continues_block(above: Sequence[IndexedJudgement], row: Sequence[IndexedJudgement]) -> bool:
    """Return whether a row belongs to the block of the row above it."""
    a, b = above[0][1], row[0][1]
    # A source that returns to an earlier row begins the stage again.
    return _block_key(above) == _block_key(row) and (a.place.row or 0) <= (b.place.row or 0)


def _block_key(row: Sequence[IndexedJudgement]) -> tuple[Any, ...]:
    """Return the properties that all rows of a block share."""
    first = row[0][1]
    is_vector = _is_sum(row) or first.place.term is None
    return first.example, first.place.head, first.place.stage, _has_result(row), is_vector


def _block(rows: Sequence[Sequence[IndexedJudgement]]) -> dict[str, Any]:
    """Return one block: its example, head and stage, and its rows."""
    first = rows[0][0][1]
    run, head = run_of(first.example), first.place.head
    return {
        "example": first.example,
        "head": -1 if head is None or run.num_heads == 1 else head,
        "stage": first.place.stage,
        "how": "worked" if _has_result(rows[0]) else "" if first.place.term is None else "terms",
        "rows": [_row(run, row) for row in rows],
    }


def _rows(cells: Sequence[IndexedJudgement]) -> Iterator[list[IndexedJudgement]]:
    """Yield rows: a vector or a part of one, or the terms of a sum with their result."""
    row: list[IndexedJudgement] = []
    for cell in cells:
        if row and not _continues_row(row, cell[1]):
            yield row
            row = []
        row.append(cell)
    yield row


def _continues_row(row: Sequence[IndexedJudgement], new: Judgement) -> bool:
    """Return whether a number belongs to the row of the numbers before it."""
    (_, first), (_, last) = row[0], row[-1]
    a, b = last.place, new.place
    if (last.example, a.stage, a.head, a.row) != (new.example, b.stage, b.head, b.row):
        return False
    if a.whole == b.whole:  # terms of one sum, or its result
        is_sum = a.term is not None and (len(row) == 1 or first.place.whole == a.whole)
        return is_sum and (b.term is None or b.term > (a.term or 0))
    is_next = a.column is not None and b.column is not None and b.column > a.column
    is_written_out = len(row) > 1 and first.place.whole == a.whole
    # A vector may have a line for each of its numbers; a repeated number begins a new row.
    one_line = new.number.line - last.number.line <= (
        1 if len(row) == 1 or _has_line_per_number(row) else 0
    )
    return is_next and a.term == b.term and not is_written_out and one_line


def _has_line_per_number(row: Sequence[IndexedJudgement]) -> bool:
    """Return whether each number of a row has its own line."""
    lines = [judgement.number.line for _, judgement in row]
    return len(set(lines)) == len(lines)


def _example(name: str) -> dict[str, Any]:
    """Return the title of an example and the names of its tokens and heads."""
    run = run_of(name)
    heads = [f"Head {head + 1}" for head in range(run.num_heads)]
    return {"title": run.example.title, "tokens": run.tokens, "heads": heads}


def _is_sum(row: Sequence[IndexedJudgement]) -> bool:
    """Return whether a row has terms of a sum."""
    return len(row) > 1 and row[0][1].place.whole == row[1][1].place.whole


def _has_result(row: Sequence[IndexedJudgement]) -> bool:
    """Return whether a row has terms of a sum and their result."""
    return _is_sum(row) and row[-1][1].place.term is None


def _row(run: Trace, row: Sequence[IndexedJudgement]) -> dict[str, Any]:
    """Return one row: its lines, its token, and the indices and places of its numbers."""
    places = [judgement.place for _, judgement in row]
    token = places[0].row
    if places[0].term is not None and not _is_sum(row):
        token = places[0].term  # a key's value, times its weight
    lines = [judgement.number.line for _, judgement in row]
    data: dict[str, Any] = {
        "line": lines[0],
        "of": "" if token is None else run.tokens[token],
        "at": [index for index, _ in row],
        "places": [str(place) for place in places],
    }
    if lines[-1] != lines[0]:
        data["lines"] = lines
    if _is_sum(row):
        data["sum"] = 2 if _has_result(row) else 1
    return data


# ---- Claims in words ----


_STAGE = {"rows_sum_to_one": "weights", "percentages_sum": "percentages"}
"""The stage of claims that name none, by their check."""


def _claims(source: str, cells: Sequence[IndexedJudgement]) -> Iterator[dict[str, Any]]:
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
            index
            for index, judgement in cells
            if judgement.example == given["example"]
            and judgement.place.stage in stages
            and judgement.place.term is None
            and judgement.place.head == given["head"]
            and judgement.place.row == given.get("row", judgement.place.row)
        ]
        yield {"line": claim.line, "says": claim.says, "why": finding.because, "about": about}
