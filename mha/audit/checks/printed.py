"""Checks of printed numbers: sums of rows, and tables that follow from earlier ones."""

import math
from collections.abc import Sequence

import numpy as np

from mha.audit.checks.finding import Check, Finding
from mha.audit.checks.runs import judgements_of, printed_row
from mha.audit.document import SLACK
from mha.audit.judging import run_of
from mha.audit.sources import source_names
from mha.audit.summary import row_sums
from mha.runs.rounding import percent, shown


def _rows_sum_to_one(*, example: str, head: int) -> Finding:
    """Decide whether the printed rows of weights sum to 1, up to the rounding of their weights."""
    rows = [
        row
        for source in source_names()
        for row in row_sums(source)
        if (row.example, row.head) == (example, head)
    ]
    totals = ", ".join(shown(row.total, 3) for row in rows)
    return Finding(
        all(row.sums_to_one for row in rows),
        f"the printed rows sum to {totals}"
        + ("" if all(row.sums_to_one for row in rows) else ", more than rounding can be off"),
    )


def _percentages_sum(*, example: str, head: int, row: int) -> Finding:
    """Decide whether one row of printed percentages sums to 100."""
    numbers = [j.number for j in printed_row(example, "percentages", head, row, latest=True)]
    total = math.fsum(number.value for number in numbers)
    allowed = math.fsum(number.half_unit for number in numbers) + SLACK
    true = ", ".join(percent(float(w), 1) for w in run_of(example).weights[head, row])
    return Finding(
        abs(total - 100) <= allowed, f"the printed ones sum to {shown(total, 1)}; true are {true}"
    )


def _follows(
    *, example: str, stages: Sequence[str], head: int, lines: Sequence[int] = ()
) -> Finding:
    """Decide whether the printed numbers of some stages follow from those printed before."""
    found = [
        j
        for j in judgements_of(example)
        if j.place.stage in stages
        and j.place.term is None
        and j.place.head == head
        and (not lines or lines[0] <= j.number.line <= lines[1])
    ]
    right = sum(j.agrees_locally for j in found)
    return Finding(
        right == len(found), f"{right} of {len(found)} follow from the numbers printed before"
    )


def _scores_are_products(*, example: str, row: int, transposed: bool) -> Finding:
    """Decide whether printed scores are the query times the printed keys, transposed or not."""
    keys = range(len(run_of(example).tokens))
    query = [j.number.meant for j in printed_row(example, "query", 0, row, latest=True)]
    key = np.array(
        [[j.number.meant for j in printed_row(example, "key", 0, i, latest=True)] for i in keys]
    )
    scores = [j.number for j in printed_row(example, "scores", 0, row, latest=True)]
    products = np.array(query) @ (key.T if transposed else key)
    fits = [abs(n.value - p) <= n.half_unit + SLACK for n, p in zip(scores, products, strict=True)]
    computed = ", ".join(shown(float(p), 3) for p in products)
    way = "columns" if transposed else "rows"
    return Finding(
        all(fits),
        f"with the keys as {way} the products are {computed}, and the print has"
        f" {', '.join(n.printed for n in scores)}",
    )


CHECKS: dict[str, Check] = {
    "follows": _follows,
    "percentages_sum": _percentages_sum,
    "rows_sum_to_one": _rows_sum_to_one,
    "scores_are_products": _scores_are_products,
}
"""The checks of this module by name."""
