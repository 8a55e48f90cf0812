"""Known bugs whose outputs equal those of a function.

An explanation grows from kind of case to kind of case: bugs that explain the plain cases are kept,
and what a mask adds is looked for beside them. So two bugs are found where each shows itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, Protocol

import numpy as np

from mha.core.checks import Array
from mha.examine.cases import Case, Subject
from mha.practice.attention_parts import REFERENCE, RIGHT, Part, Parts
from mha.practice.bugs import TABLE, Bug

TOLERANCE = {"float32": 3e-4, "float64": 1e-10}
"""Tolerances, relative to 1 plus the size of the number."""
SIZES = (1, 0), (0, 1), (1, 1), (2, 0)
"""Numbers of bugs and of slips that are searched for together, in this order."""
LEAST_ALONE = 4
"""The fewest cases of a kind whose bug is named though no other kind shows it."""
MOST_ALIKE = 4
"""If more sets of bugs than this explain the cases, none of them is named."""
MOST = 3
"""The most bugs of one explanation."""
SAME_AS_FUSED = "W_Q", "W_K", "queries and keys exchanged", "keys and values exchanged"
"""Beginnings of the names of bugs that equal another split of a fused matrix."""
HIDING = "mask", "padding", "lengths", "is_causal", "is_always_causal"
"""Inputs that may mask a whole row."""


def average_masked_rows(weights: Array, hidden: Array) -> Array:
    """Return weights with equal weights in a row where `hidden` is True."""
    return np.where(hidden, 1 / weights.shape[-1], weights)


def add_large_negative(scores: Array, allowed: Array) -> Array:
    """Return scores with -1e9 added where a query may not attend."""
    return scores + np.where(allowed, 0, -1e9).astype(scores.dtype)


def replace_by_large_negative(scores: Array, allowed: Array) -> Array:
    """Return scores with -1e9 where a query may not attend."""
    return np.where(allowed, scores, -1e9)


EMPTY = {
    "zeros": REFERENCE,
    "NaN": RIGHT,
    "average": REFERENCE.with_parts({"fill_masked_rows": average_masked_rows}),
    "unmasked": REFERENCE.with_parts({"forbid": add_large_negative}),
}
"""Outputs for a fully masked row, and the parts that compute them."""


@dataclass(frozen=True)
class Apart:
    """Cases of a kind that no common explanation fits, and explanations of them alone."""

    cases: Sequence[int]
    found: Sequence["Explanation"] = ()


@dataclass(frozen=True)
class Explanation:
    """Bugs that together reproduce the outputs, and the parts that contain them."""

    rows: tuple[Bug, ...] = ()
    parts: Parts = REFERENCE

    @property
    def level(self) -> tuple[int, int]:
        """The number of bugs and the number of slips."""
        slips = sum(row.is_slip for row in self.rows)
        return len(self.rows) - slips, slips


class Questions(Protocol):
    """The tested cases, as far as an explanation needs them."""

    @property
    def cases(self) -> Sequence[Case]:
        """The cases."""

    def fits(self, i: int, parts: Parts) -> bool:
        """Return whether parts reproduce the output for a case."""

    def answered(self, i: int) -> bool:
        """Return whether the function returned an array for a case."""

    def has_numbers(self, i: int) -> bool:
        """Return whether the output for a case has a finite number."""

    def changes(self, i: int, parts: Parts, other: Parts) -> bool:
        """Return whether two sets of parts differ in a case."""


def agrees(
    subject: Subject, case: Case, found: Array | None, wanted: Array | None, least: float = 0.0
) -> bool:
    """Return whether two outputs agree within the tolerance; None is the lack of an output.

    Fully masked rows are not compared: their content is a convention.
    """
    if found is None or wanted is None:
        return found is wanted
    if found.shape != wanted.shape:
        return False
    tolerance = max(least, TOLERANCE["float32" if found.dtype == np.float32 else case.dtype.name])
    found, wanted = (comparable(subject, case, x) for x in (found, wanted))
    with np.errstate(all="ignore"):
        is_near = np.abs(found - wanted) <= tolerance * (1 + np.abs(wanted))
    if is_near.all():
        return True
    off = ~is_near
    return bool(((found == wanted) | (np.isnan(found) & np.isnan(wanted)))[off].all())


def comparable(subject: Subject, case: Case, x: Array) -> Array:
    """Return the part of an output that is compared; fully masked rows become zeros."""
    x = np.asarray(subject.compared(case.given, x), float)
    if subject.blank is not None and x.ndim > 1:
        if not case.empty:
            case.empty.append(subject.blank(case.given))
        (empty,) = case.empty
        if empty.any() and empty.ndim < x.ndim and empty.shape[-1] == x.shape[-2]:
            x = np.where(empty[..., None], 0, x)
    return x


def given_by(subject: Subject, case: Case, parts: Parts) -> Array | None:
    """Return the output of given parts for a case; None if they raise an error."""
    try:
        with np.errstate(all="ignore"):
            return subject.worked(case.given, parts)
    except (ValueError, IndexError, TypeError):
        return None


def explained(
    subject: Subject,
    questions: Questions,
    groups: Sequence[Sequence[int]],
    among: frozenset[str] = frozenset(),
) -> tuple[list[Explanation], list[Apart]]:
    """Return the explanations with the fewest bugs, and the groups that they leave unexplained.

    Each group holds the cases of one kind, the most general kind first. If parts are told `among`
    which a bug has to be, two bugs at once are looked for among these alone.
    """
    rows = [bug for bug in TABLE if bug.part in subject.parts and bug.name != "True reversed"]
    if any("w_qkv" in case.given for case in questions.cases):
        rows = [row for row in rows if not row.name.startswith(SAME_AS_FUSED)]
    found, apart, done = [Explanation()], list[Apart](), list[int]()
    for group in groups:
        ordered = sorted(group, key=lambda i: questions.cases[i].size)
        kept = [each for e in found if (each := _refit(e, [*ordered, *done], questions))]
        is_first_bug = bool(done) and not found[0].rows
        tells = questions.answered if is_first_bug else questions.has_numbers
        if not kept and not any(tells(i) for i in group):
            apart.append(Apart(group))  # an error, or NaN alone, tells nothing
            continue
        if not kept:
            kept = _extended(found, rows, ordered, done, questions, not apart, among)
        if kept:
            found, done = kept, [*ordered, *done]
        elif not all(questions.fits(i, REFERENCE) for i in group):
            # A line may be wrong for one kind of input alone.
            is_enough = bool(done) and len(group) >= LEAST_ALONE
            alone = (
                _extended(found, rows, ordered, [], questions, False, among) if is_enough else []
            )
            apart.append(Apart(group, alone if len(alone) == 1 else []))
    return found, apart


def _refit(e: Explanation, cases: Sequence[int], questions: Questions) -> Explanation | None:
    """Return the explanation with a variant of its parts that fits the cases, if any."""
    for parts in (e.parts, *variants(e.rows, _is_hiding(cases, questions))):
        if all(questions.fits(i, parts) for i in cases):
            return replace(e, parts=parts)
    return None


def _is_hiding(cases: Sequence[int], questions: Questions) -> bool:
    """Return whether any case has a mask."""
    return any(name in questions.cases[i].given for i in cases for name in HIDING)


def _extended(
    found: Sequence[Explanation],
    rows: Sequence[Bug],
    group: Sequence[int],
    done: Sequence[int],
    questions: Questions,
    is_open: bool,
    among: frozenset[str],
) -> list[Explanation]:
    """Return the explanations with the fewest further bugs that also fit a group.

    Pairs are tried where everything before is explained: beside a bug that nobody knows they mean
    nothing.
    """
    off = [i for i in group if not all(questions.fits(i, e.parts) for e in found)]
    if not any(questions.has_numbers(i) for i in off):
        rows = [row for row in rows if row.name == "zero times infinity"]  # NaN fits many others
    ordered = [*off, *(i for i in group if i not in set(off)), *done]
    is_hiding = _is_hiding(ordered, questions)
    for e in found:
        touching = [
            row
            for row in rows
            if row not in e.rows and _may_show(row, e, off, questions, is_hiding)
        ]
        slips = [row for row in touching if row.is_slip]
        mains = [
            row for row in touching if not row.is_slip and not _breaks(row, e, done, questions)
        ]
        for count, more in SIZES if is_open else SIZES[:2]:
            if e.level[0] + count > MOST:
                continue
            fitting: list[Explanation] = []
            for chosen in _sets(mains, slips, count, more, e.rows):
                every = (*e.rows, *chosen)
                if among and len(every) > 1 and among.isdisjoint(row.part for row in every):
                    continue
                for parts in variants(every, is_hiding):
                    if all(questions.fits(i, parts) for i in ordered):
                        fitting.append(Explanation(every, parts))
                        break
            if len(fitting) > MOST_ALIKE:
                return []
            if fitting:
                return fitting
    return []


def _may_show(
    row: Bug, e: Explanation, off: Sequence[int], questions: Questions, is_hiding: bool
) -> bool:
    """Return whether a bug changes a wrong case; a slip may do so only beside another bug."""
    if row.is_slip:
        return True
    return any(
        questions.changes(i, parts, e.parts)
        for parts in variants((*e.rows, row), False)
        for i in off
    )


def _breaks(row: Bug, e: Explanation, done: Sequence[int], questions: Questions) -> bool:
    """Return whether a bug changes the smallest explained case of a kind."""
    kinds: dict[str, int] = {}
    for i in done:
        about = questions.cases[i].about
        if questions.answered(i):
            kinds[about] = min(kinds.get(about, i), i, key=lambda j: questions.cases[j].size)
    both = (*e.rows, row)
    return any(
        all(questions.changes(i, parts, e.parts) for parts in variants(both, is_hiding=False))
        for i in kinds.values()
    )


def _sets(
    mains: Sequence[Bug], slips: Sequence[Bug], count: int, more: int, known: Sequence[Bug]
) -> Iterator[tuple[Bug, ...]]:
    """Yield sets of bugs that change different parts."""
    taken = [part for row in known for part in row.replaced]
    for chosen in product(combinations(mains, count), combinations(slips, more)):
        both = (*chosen[0], *chosen[1])
        parts = [*taken, *(part for row in both for part in row.replaced)]
        if len(set(parts)) == len(parts):
            yield both


def variants(rows: Sequence[Bug], is_hiding: bool = True) -> Iterator[Parts]:
    """Yield parts with the bugs, with and without the lines that are often wrong beside them.

    A bug in a mask may mask a whole row. The output for such a row is a convention, and each
    one is tried.
    """
    exchanged = {part: line for row in rows for part, line in row.replaced.items()}
    also: dict[str, Part] = dict(each for row in rows for each in row.often_with)
    also = {part: line for part, line in also.items() if part not in exchanged}
    of_mask = bool({"forbid", "weigh"} & exchanged.keys())
    empty: list[Any] = [REFERENCE]
    if is_hiding and not exchanged.keys().isdisjoint(MAY_EMPTY):
        empty = [EMPTY["zeros"], EMPTY["NaN"], EMPTY["average"]]
        if not of_mask:
            finite = {"forbid": replace_by_large_negative}
            empty += [
                REFERENCE.with_parts(finite),
                EMPTY["NaN"].with_parts(finite),
                EMPTY["unmasked"],
            ]
    joins = [True, False] if of_mask and is_hiding else [True]
    for parts in empty:
        for more, joined in product([also, {}] if also else [{}], joins):
            yield replace(parts.with_parts(exchanged | more), combines_masks=joined)


MAY_EMPTY = frozenset(
    (
        "padding_as_mask",
        "make_causal_mask",
        "read_padding",
        "read_mask",
        "combine_masks",
        "repeat_masks",
        "forbid",
        "read_cache",
        "along",
        "powers",
        "weigh",
    )
)
"""Parts whose bugs may mask a whole row."""
