"""The search for known bugs that reproduce the outputs of a function.

The search goes from one kind of case to the next: the bugs that explain the plain cases are kept,
and further bugs are searched for in cases with masks. Two bugs are thus found separately, each in
the cases that show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, Protocol

import numpy as np

from mha.core.checks import Array
from mha.examine.cases import Case, Subject
from mha.practice.attention_parts import RIGHT, RIGHT_ZERO_ROWS, Part, Parts
from mha.practice.bugs import TABLE, Bug

TOLERANCE = {"float32": 3e-4, "float64": 1e-10}
"""Tolerances, relative to 1 plus the size of the number."""
BUG_COUNTS = (1, 0), (0, 1), (1, 1), (2, 0)
"""Numbers of further bugs and of further minor bugs that are tried together, in this order."""
MIN_CASES_OF_KIND = 4
"""The smallest number of cases for naming a bug that only one kind of case shows.

A bug that is not the cause may fit fewer cases by chance.
"""
MAX_EXPLANATIONS = 4
"""If more sets of bugs than this explain the cases, none of them is named.

The cases then do not tell the bugs apart, and the list would not help to find the wrong line.
"""
MAX_BUGS = 3
"""The most bugs of one explanation."""
SAME_AS_FUSED = "W_Q", "W_K", "queries and keys exchanged", "keys and values exchanged"
"""Beginnings of the names of bugs that equal another split of a fused matrix."""
MASKING_INPUTS = "mask", "padding", "lengths", "is_causal", "is_always_causal"
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


MASKED_ROW_OUTPUTS = {
    "zeros": RIGHT_ZERO_ROWS,
    "NaN": RIGHT,
    "average": RIGHT_ZERO_ROWS.with_parts({"fill_masked_rows": average_masked_rows}),
    "unmasked": RIGHT_ZERO_ROWS.with_parts({"forbid": add_large_negative}),
}
"""Outputs for a fully masked row, and the parts that compute them."""


@dataclass(frozen=True)
class Unexplained:
    """Cases of one kind that no common explanation fits, and the explanations of these alone."""

    cases: Sequence[int]
    own_explanations: Sequence[Explanation] = ()


@dataclass(frozen=True)
class Explanation:
    """Bugs that together reproduce the outputs, and the parts that contain them."""

    bugs: tuple[Bug, ...] = ()
    parts: Parts = RIGHT_ZERO_ROWS

    @property
    def level(self) -> tuple[int, int]:
        """The number of bugs that are not minor, and of minor ones."""
        minors = sum(bug.is_minor for bug in self.bugs)
        return len(self.bugs) - minors, minors


class ExaminedCases(Protocol):
    """The tested cases, as the search needs them."""

    @property
    def cases(self) -> Sequence[Case]:
        """The cases."""

    def fits(self, i: int, parts: Parts) -> bool:
        """Return whether parts reproduce the output for a case."""

    def has_output(self, i: int) -> bool:
        """Return whether the function returned an array for a case."""

    def has_numbers(self, i: int) -> bool:
        """Return whether the output for a case has a finite number."""

    def changes(self, i: int, parts: Parts, other: Parts) -> bool:
        """Return whether two sets of parts differ in a case."""


def agrees(
    subject: Subject,
    case: Case,
    found: Array | None,
    expected: Array | None,
    min_tolerance: float = 0.0,
) -> bool:
    """Return whether two outputs agree within the tolerance; None stands for a missing output.

    Fully masked rows are not compared: their content is a convention.
    """
    if found is None or expected is None:
        return found is expected
    if found.shape != expected.shape:
        return False
    precision = "float32" if found.dtype == np.float32 else case.dtype.name
    tolerance = max(min_tolerance, case.min_tolerance, TOLERANCE[precision])
    found, expected = (comparable(subject, case, x) for x in (found, expected))
    with np.errstate(all="ignore"):
        is_near = np.abs(found - expected) <= tolerance * (1 + np.abs(expected))
    if is_near.all():
        return True
    is_far = ~is_near
    return bool(((found == expected) | (np.isnan(found) & np.isnan(expected)))[is_far].all())


def comparable(subject: Subject, case: Case, x: Array) -> Array:
    """Return the compared part of an output, with zeros in fully masked rows."""
    x = np.asarray(subject.select_compared(case.inputs, x), float)
    if subject.masked_rows is not None and x.ndim > 1:
        if not case.masked_rows:
            case.masked_rows.append(subject.masked_rows(case.inputs))
        (masked,) = case.masked_rows
        # A wrong output may have other axes, to which the rows do not belong.
        if masked.any() and masked.ndim < x.ndim and masked.shape[-1] == x.shape[-2]:
            x = np.where(masked[..., None], 0, x)
    return x


def compute_output(subject: Subject, case: Case, parts: Parts) -> Array | None:
    """Return the output that parts compute for a case; None if they raise an error."""
    try:
        with np.errstate(all="ignore"):
            return subject.compute(case.inputs, parts)
    except (ValueError, IndexError, TypeError):
        return None


def find_explanations(
    subject: Subject,
    examined: ExaminedCases,
    groups: Sequence[Sequence[int]],
    among: frozenset[str] = frozenset(),
) -> tuple[list[Explanation], list[Unexplained]]:
    """Return the explanations with the fewest bugs, and the kinds that they leave unexplained.

    Each group holds the cases of one kind, the most general kind first. With `among`, a pair of
    bugs must have a bug in one of these parts.
    """
    # A mask in which True means masked is a convention, which is determined before this search.
    bugs = [bug for bug in TABLE if bug.part in subject.parts and bug.name != "True reversed"]
    if any("w_qkv" in case.inputs for case in examined.cases):
        bugs = [bug for bug in bugs if not bug.name.startswith(SAME_AS_FUSED)]
    found, unexplained, done = [Explanation()], list[Unexplained](), list[int]()
    first = groups[0][0]
    for group in groups:
        # Small cases first: the first misfit refutes an explanation, and they take the least time.
        ordered = sorted(group, key=lambda i: examined.cases[i].size)
        kept = [each for e in found if (each := _refit(e, [*ordered, *done], examined))]
        # NaN spreads from any bug. It counts as a bug of this kind only after kinds without one.
        is_first_bug = bool(done) and not found[0].bugs
        tells = examined.has_output if is_first_bug else examined.has_numbers
        if not kept and not any(tells(i) for i in group):
            unexplained.append(Unexplained(group))  # an error, or NaN alone, tells nothing
            continue
        own_inputs = examined.cases[group[0]].inputs.keys() - examined.cases[first].inputs.keys()
        # Beside plain cases that no bug explains, a bug may fit other plain cases by chance.
        may_name = bool(done or not unexplained or own_inputs)
        if not kept and may_name:
            kept = _extend(found, bugs, ordered, done, examined, not unexplained, among)
        if kept:
            found, done = kept, [*ordered, *done]
        elif not all(examined.fits(i, RIGHT_ZERO_ROWS) for i in group):
            # A line may be wrong for one kind of case alone if only this kind has its input.
            own_inputs = (
                examined.cases[group[0]].inputs.keys() - examined.cases[first].inputs.keys()
            )
            is_enough = bool(done and own_inputs) and len(group) >= MIN_CASES_OF_KIND
            alone = _extend(found, bugs, ordered, [], examined, False, among) if is_enough else []
            unexplained.append(Unexplained(group, alone if len(alone) == 1 else []))
    if (
        subject.calls is not None
        and found[0].bugs
        and any(examined.has_output(i) for each in unexplained for i in each.cases)
    ):
        # The kinds of a decoding step split the same inputs: a bug that one split refutes is not
        # the cause.
        every = [i for group in groups for i in group]
        ordered = sorted(every, key=lambda i: examined.cases[i].size)
        kept = _extend([Explanation()], bugs, ordered, [], examined, True, among)
        wrong = [
            group for group in groups if not all(examined.fits(i, RIGHT_ZERO_ROWS) for i in group)
        ]
        return (kept, []) if kept else ([Explanation()], [Unexplained(group) for group in wrong])
    return found, unexplained


def _refit(e: Explanation, cases: Sequence[int], examined: ExaminedCases) -> Explanation | None:
    """Return the explanation with a variant of its parts that fits the cases, if there is one."""
    for parts in (e.parts, *part_variants(e.bugs, _has_mask(cases, examined))):
        if all(examined.fits(i, parts) for i in cases):
            return replace(e, parts=parts)
    return None


def _has_mask(cases: Sequence[int], examined: ExaminedCases) -> bool:
    """Return whether any case has a mask."""
    return any(name in examined.cases[i].inputs for i in cases for name in MASKING_INPUTS)


def _extend(
    found: Sequence[Explanation],
    bugs: Sequence[Bug],
    group: Sequence[int],
    done: Sequence[int],
    examined: ExaminedCases,
    may_pair: bool,
    among: frozenset[str],
) -> list[Explanation]:
    """Return the explanations with the fewest further bugs that also fit a group.

    All have the same bugs so far: those of the first explanation that these further bugs extend.
    Pairs are tried only with `may_pair`, that is, if all earlier groups are explained: beside an
    unknown bug they would fit by chance.
    """
    failing = [i for i in group if not all(examined.fits(i, e.parts) for e in found)]
    if not any(examined.has_numbers(i) for i in failing):
        # NaN fits many others, and tells nothing beside outputs that no bug explains.
        bugs = [bug for bug in bugs if may_pair and bug.name == "zero times infinity"]
    ordered = [*failing, *(i for i in group if i not in set(failing)), *done]
    has_mask = _has_mask(ordered, examined)
    candidates = []
    for e in found:
        touching = [
            bug
            for bug in bugs
            if bug not in e.bugs and _may_show(bug, e, failing, examined, has_mask)
        ]
        minors = [bug for bug in touching if bug.is_minor]
        mains = [
            bug for bug in touching if not bug.is_minor and not _breaks(bug, e, done, examined)
        ]
        candidates.append((e, mains, minors))
    for count, more in BUG_COUNTS if may_pair else BUG_COUNTS[:2]:
        for e, mains, minors in candidates:
            if e.level[0] + count > MAX_BUGS:
                continue
            fitting: list[Explanation] = []
            for chosen in _bug_sets(mains, minors, count, more, e.bugs):
                every = (*e.bugs, *chosen)
                if among and len(every) > 1 and among.isdisjoint(bug.part for bug in every):
                    continue
                for parts in part_variants(every, has_mask):
                    if all(examined.fits(i, parts) for i in ordered):
                        fitting.append(Explanation(every, parts))
                        break
            if len(fitting) > MAX_EXPLANATIONS:
                return []
            if fitting:
                return fitting
    return []


def _may_show(
    bug: Bug, e: Explanation, failing: Sequence[int], examined: ExaminedCases, has_mask: bool
) -> bool:
    """Return whether a bug changes the output of a wrong case; for a minor bug, always True.

    The effect of a minor bug may show only together with another one.
    """
    if bug.is_minor:
        return True
    return any(
        examined.changes(i, parts, e.parts)
        for parts in part_variants((*e.bugs, bug), False)
        for i in failing
    )


def _breaks(bug: Bug, e: Explanation, done: Sequence[int], examined: ExaminedCases) -> bool:
    """Return whether a bug changes the smallest explained case of a kind."""
    kinds: dict[str, int] = {}
    for i in done:
        kind = examined.cases[i].kind
        if examined.has_output(i):
            kinds[kind] = min(kinds.get(kind, i), i, key=lambda j: examined.cases[j].size)
    both = (*e.bugs, bug)
    return any(
        all(examined.changes(i, parts, e.parts) for parts in part_variants(both, has_mask=False))
        for i in kinds.values()
    )


def _bug_sets(
    mains: Sequence[Bug], minors: Sequence[Bug], count: int, more: int, known: Sequence[Bug]
) -> Iterator[tuple[Bug, ...]]:
    """Yield sets of bugs that change different parts."""
    taken = [part for bug in known for part in bug.replaced]
    for chosen in product(combinations(mains, count), combinations(minors, more)):
        both = (*chosen[0], *chosen[1])
        parts = [*taken, *(part for bug in both for part in bug.replaced)]
        if len(set(parts)) == len(parts):
            yield both


def part_variants(bugs: Sequence[Bug], has_mask: bool = True) -> Iterator[Parts]:
    """Yield parts with the bugs, with and without lines that are often wrong beside them.

    A bug in a mask may mask a whole row. The output for such a row is a convention, and each
    convention is tried.
    """
    exchanged = {part: line for bug in bugs for part, line in bug.replaced.items()}
    also: dict[str, Part] = dict(each for bug in bugs for each in bug.often_with)
    also = {part: line for part, line in also.items() if part not in exchanged}
    of_mask = bool({"forbid", "weigh"} & exchanged.keys())
    row_conventions: list[Any] = [RIGHT_ZERO_ROWS]
    if has_mask and not exchanged.keys().isdisjoint(MASKING_PARTS):
        row_conventions = [
            MASKED_ROW_OUTPUTS["zeros"],
            MASKED_ROW_OUTPUTS["NaN"],
            MASKED_ROW_OUTPUTS["average"],
        ]
        if not of_mask:
            finite = {"forbid": replace_by_large_negative}
            row_conventions += [
                RIGHT_ZERO_ROWS.with_parts(finite),
                MASKED_ROW_OUTPUTS["NaN"].with_parts(finite),
                MASKED_ROW_OUTPUTS["unmasked"],
            ]
    joins = [True, False] if of_mask and has_mask else [True]
    for parts in row_conventions:
        for more, joined in product([also, {}] if also else [{}], joins):
            yield replace(parts.with_parts(exchanged | more), combines_masks=joined)


MASKING_PARTS = frozenset(
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
        "split",
        "merge",
    )
)
"""Parts whose bugs may mask a whole row, or move a fully masked row to another one."""
