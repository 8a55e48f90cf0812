"""Which bugs and which other conventions give exactly what came."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, product

import numpy as np

from mha.core.checks import Array
from mha.examine.cases import Case, Subject
from mha.practice.bugs import TABLE, Bug
from mha.practice.parts import SOUND, Parts

TOLERANCE = {"float32": 3e-4, "float64": 1e-10}
"""How far numbers may be apart, as a share of one more than the number."""
BESIDE = 3
"""How many conventions and slips may be there beside a bug."""


@dataclass(frozen=True)
class Explanation:
    """What gives exactly what came: bugs and other conventions, and parts with all of them."""

    rows: tuple[Bug, ...]
    parts: Parts


def agrees(
    subject: Subject, case: Case, found: Array | None, wanted: Array | None, least: float = 0.0
) -> bool:
    """Return whether what came is what is wanted, or differs less; None stands for no array."""
    if found is None or wanted is None:
        return found is wanted
    if found.shape != wanted.shape:
        return False
    tolerance = max(least, TOLERANCE["float32" if found.dtype == np.float32 else case.dtype.name])
    found, wanted = (np.asarray(subject.compared(case.given, x), float) for x in (found, wanted))
    return np.allclose(found, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


def given_by(subject: Subject, case: Case, parts: Parts) -> Array | None:
    """Return what attention of some parts makes of a case, None where that stops the program."""
    try:
        with np.errstate(all="ignore"):
            return subject.worked(case.given, parts)
    except (ValueError, IndexError, TypeError):
        return None


def explanations(
    subject: Subject,
    cases: Sequence[Case],
    fits: Callable[[int, Parts], bool],
    changed: Callable[[Case, Bug], bool],
    extra: Sequence[Bug] = (),
    shown: Sequence[Case] | None = None,
) -> list[Explanation]:
    """Return the explanations of fewest bugs, then of fewest conventions: none, or several.

    Whether parts give what came of a case, which `fits` them then, and whether a row alone has it
    `changed`, is asked of others; `extra` are rows beside those of the table. Of all rows those
    are looked at that change one of the cases `shown`, which are the same cases unless told.
    """
    off = [i for i in range(len(cases)) if not fits(i, SOUND)]
    if not off:
        return [Explanation((), SOUND)]
    ordered = [*off, *(i for i in range(len(cases)) if i not in set(off))]
    # The museum's "True reversed" is told as the convention that it may be.
    rows = [
        *extra,
        *(bug for bug in TABLE if bug.part in subject.parts and bug.name != "True reversed"),
    ]
    changes = {
        row.name: frozenset(i for i, case in enumerate(cases) if changed(case, row)) for row in rows
    }
    fused = any("w_qkv" in case.given for case in cases)
    # A slip may show beside a bug alone: NaN where a wrong mask leaves nothing.
    among = changes if shown is None else {x.name: any(changed(c, x) for c in shown) for x in rows}
    rows = [row for row in rows if among[row.name] or "slip" in row.kind]
    rows = [row for row in rows if not (fused and "W_K" in row.name)]
    found: list[Explanation] = []
    for chosen in _sets(rows):
        if found and _level(chosen) > _level(found[0].rows):
            break
        if set(off) <= set().union(*(changes[row.name] for row in chosen)):
            fitting = (x for x in variants(chosen) if all(fits(i, x) for i in ordered))
            found += [Explanation(chosen, parts) for parts in islice(fitting, 1)]
    return found


def _level(rows: tuple[Bug, ...]) -> tuple[int, int]:
    return sum(not row.is_convention for row in rows), len(rows)


def _sets(rows: Sequence[Bug]) -> Iterator[tuple[Bug, ...]]:
    """Yield sets of rows that touch different parts, those of fewest bugs first."""
    beside = [row for row in rows if row.is_beside]
    mains = [row for row in rows if not row.is_beside]
    found = [
        (*main, *more)
        for count in range(BESIDE + 1)
        for more in combinations(beside, count)
        for main in [(), *((each,) for each in mains)]
    ]
    for chosen in sorted(found, key=_level):
        parts = [part for row in chosen for part in (row.part, *dict(row.also))]
        if len(set(parts)) == len(parts):
            yield chosen


def variants(rows: tuple[Bug, ...]) -> Iterator[Parts]:
    """Yield the parts with rows among them: with what is often wrong too, and without it."""
    exchanged = {row.part: row.line for row in rows}
    also = dict(each for row in rows for each in row.also)
    of_mask = {"forbid", "weigh"} & exchanged.keys()
    for more, joined in product([also, {}] if also else [{}], [True, False] if of_mask else [True]):
        yield replace(SOUND.having(exchanged | more), joined=joined)
