"""The search for known bugs that reproduce the outputs of a function.

The search goes from one kind of case to the next. The bugs that explain the plain cases remain a
part of each explanation, and further bugs are searched for in the cases with masks. So two bugs are
found one after the other, each in the cases that show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any, Protocol

import numpy as np

from mha.core.checks import Array
from mha.examine.cases import Case, Subject
from mha.practice.attention_parts import RIGHT_NAN_ROWS, RIGHT_ZERO_ROWS, Part, Parts
from mha.practice.bugs import TABLE, Bug

TOLERANCE = {"float32": 3e-4, "float64": 1e-10}
"""For each dtype, the largest difference of equal outputs, divided by 1 plus the number's size."""
BUG_COUNTS = (1, 0), (0, 1), (1, 1), (2, 0)
"""Numbers of further main bugs and of further minor bugs that are tried together, in order."""
MIN_CASES_OF_KIND = 4
"""The fewest cases by which a bug is named that only one kind of case shows.

Fewer cases may be reproduced by chance, by a bug that the function does not have.
"""
MAX_EXPLANATIONS = 4
"""If more sets of bugs than this explain the cases, none of them is named.

The cases then do not tell the bugs apart, and the list would not help to find the wrong line.
"""
MAX_BUGS = 3
"""The most bugs of one explanation."""
SAME_AS_FUSED = "W_Q", "W_K", "queries and keys exchanged", "keys and values exchanged"
"""How the names begin of bugs with the same outputs as another split of a fused matrix."""
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
    "NaN": RIGHT_NAN_ROWS,
    "average": RIGHT_ZERO_ROWS.with_parts({"fill_masked_rows": average_masked_rows}),
    "unmasked": RIGHT_ZERO_ROWS.with_parts({"forbid": add_large_negative}),
}
"""For each usual output for a fully masked row, the parts that compute it."""


def with_nan_in_masked_rows(parts: Parts) -> Parts:
    """Return the parts without a convention on fully masked rows, which then have NaN."""
    replaced = tuple(
        (part, line)
        for part, line in parts.replaced
        if part != "fill_masked_rows"
        and line not in (add_large_negative, replace_by_large_negative)
    )
    return replace(parts, replaced=replaced)


@dataclass(frozen=True)
class Unexplained:
    """The cases of one kind that the common explanations do not fit.

    `indices` are those of the cases. `separate_explanations` have the bug that explains these cases
    alone, if one is found.
    """

    indices: Sequence[int]
    separate_explanations: Sequence[Explanation] = ()


@dataclass(frozen=True)
class Explanation:
    """Bugs that together reproduce the outputs, and the parts that contain them."""

    bugs: tuple[Bug, ...] = ()
    parts: Parts = RIGHT_ZERO_ROWS

    @property
    def bug_counts(self) -> tuple[int, int]:
        """The numbers of main bugs and of minor bugs."""
        num_minor = sum(bug.is_minor for bug in self.bugs)
        return len(self.bugs) - num_minor, num_minor


class ExaminedCases(Protocol):
    """The tested cases and the function's outputs, as the search uses them."""

    @property
    def cases(self) -> Sequence[Case]:
        """The cases."""

    def fits(self, i: int, parts: Parts) -> bool:
        """Return whether parts reproduce the output for a case."""

    def has_output(self, i: int) -> bool:
        """Return whether the function returned an array for a case."""

    def has_numbers(self, i: int) -> bool:
        """Return whether the output for a case has a finite number that is not zero."""

    def changes(self, i: int, parts: Parts, other: Parts) -> bool:
        """Return whether two sets of parts compute different outputs for a case."""


def agrees(
    subject: Subject,
    case: Case,
    actual: Array | None,
    expected: Array | None,
    min_tolerance: float = 0.0,
) -> bool:
    """Return whether two outputs agree within the tolerance; a missing output is None.

    Fully masked rows are not compared: their content is a convention.
    """
    if actual is None or expected is None:
        return actual is expected
    if actual.shape != expected.shape:
        return False
    precision = "float32" if actual.dtype == np.float32 else case.dtype.name
    tolerance = max(min_tolerance, case.min_tolerance, TOLERANCE[precision])
    actual, expected = (comparable(subject, case, x) for x in (actual, expected))
    with np.errstate(all="ignore"):
        is_near = np.abs(actual - expected) <= tolerance * (1 + np.abs(expected))
    if is_near.all():
        return True
    is_far = ~is_near
    return bool(((actual == expected) | (np.isnan(actual) & np.isnan(expected)))[is_far].all())


def comparable(subject: Subject, case: Case, x: Array) -> Array:
    """Return the compared part of an output, with zeros in fully masked rows."""
    x = np.asarray(subject.select_compared(case.inputs, x), float)
    if subject.masked_rows is not None and x.ndim > 1:
        if not case.masked_rows_cache:
            case.masked_rows_cache.append(subject.masked_rows(case.inputs))
        (masked,) = case.masked_rows_cache
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
    required_parts: frozenset[str] = frozenset(),
) -> tuple[list[Explanation], list[Unexplained]]:
    """Return the explanations with the fewest bugs, and the kinds that they leave unexplained.

    All explanations reproduce the same cases: the outputs do not tell them apart. Each group has
    the indices of the cases of one kind, the plain kind first. With `required_parts`, several bugs
    are an explanation only if one of them replaces one of these parts.
    """
    # Whether True in a mask means allowed or masked is a convention, found before this search.
    bugs = [bug for bug in TABLE if bug.part in subject.parts and bug.name != "True reversed"]
    if any("w_qkv" in case.inputs for case in examined.cases):
        bugs = [bug for bug in bugs if not bug.name.startswith(SAME_AS_FUSED)]
    explanations, unexplained, explained = [Explanation()], list[Unexplained](), list[int]()
    first = groups[0][0]
    for group in groups:
        # Small cases first: they take the least time, and one misfit refutes an explanation.
        ordered = sorted(group, key=lambda i: examined.cases[i].size)
        fitting = [
            each
            for explanation in explanations
            if (each := _refit_explanation(explanation, [*ordered, *explained], examined))
        ]
        # Many bugs give NaN alone. Such an output tells bugs apart only if it is the function's
        # first error: few bugs give NaN here and right numbers in all earlier kinds.
        would_be_first_bug = bool(explained) and not explanations[0].bugs
        is_informative = examined.has_output if would_be_first_bug else examined.has_numbers
        if not fitting and not any(is_informative(i) for i in group):
            unexplained.append(Unexplained(group))  # an error, or NaN alone, refutes no bug
            continue
        own_inputs = examined.cases[group[0]].inputs.keys() - examined.cases[first].inputs.keys()
        # Beside unexplained plain cases, a bug fits other cases of the same inputs by chance.
        may_name = bool(explained or not unexplained or own_inputs)
        if not fitting and may_name:
            fitting = extend_explanations(
                explanations, bugs, ordered, explained, examined, not unexplained, required_parts
            )
        if fitting:
            explanations, explained = fitting, [*ordered, *explained]
        elif not all(examined.fits(i, RIGHT_ZERO_ROWS) for i in group):
            # A line may be wrong for one kind of case alone if only this kind has its input.
            is_enough = bool(explained and own_inputs) and len(group) >= MIN_CASES_OF_KIND
            separate = (
                extend_explanations(
                    explanations, bugs, ordered, [], examined, False, required_parts
                )
                if is_enough
                else []
            )
            unexplained.append(Unexplained(group, separate if len(separate) == 1 else []))
    if (
        subject.step_arguments is not None
        and explanations[0].bugs
        and any(examined.has_output(i) for each in unexplained for i in each.indices)
    ):
        # The kinds of a decoding step differ only in the sizes of the steps. Therefore a bug has to
        # explain all kinds.
        all_cases = [i for group in groups for i in group]
        ordered = sorted(all_cases, key=lambda i: examined.cases[i].size)
        fitting = extend_explanations(
            [Explanation()], bugs, ordered, [], examined, True, required_parts
        )
        if fitting:
            return fitting, []
        return [Explanation()], unexplained_kinds(examined, groups)
    return explanations, unexplained


def unexplained_kinds(
    examined: ExaminedCases, groups: Iterable[Sequence[int]]
) -> list[Unexplained]:
    """Return the kinds with a wrong output, as unexplained; each group has the indices of one."""
    return [
        Unexplained(group)
        for group in groups
        if not all(examined.fits(i, RIGHT_ZERO_ROWS) for i in group)
    ]


def _refit_explanation(
    explanation: Explanation, cases: Sequence[int], examined: ExaminedCases
) -> Explanation | None:
    """Return the explanation with a variant of its parts that fits the cases, or None."""
    for parts in (explanation.parts, *part_variants(explanation.bugs, _has_mask(cases, examined))):
        if all(examined.fits(i, parts) for i in cases):
            return replace(explanation, parts=parts)
    return None


def _has_mask(cases: Sequence[int], examined: ExaminedCases) -> bool:
    """Return whether any case has a mask."""
    return any(name in examined.cases[i].inputs for i in cases for name in MASKING_INPUTS)


def extend_explanations(
    explanations: Sequence[Explanation],
    bugs: Sequence[Bug],
    group: Sequence[int],
    explained: Sequence[int],
    examined: ExaminedCases,
    may_pair: bool,
    required_parts: frozenset[str],
) -> list[Explanation]:
    """Return the explanations with the fewest further bugs that also fit a group of cases.

    All extend the same explanation: the first that this number of further bugs completes. Pairs
    of further bugs are tried only with `may_pair`, that is, if all earlier groups are explained:
    beside an unknown bug they would fit by chance.
    """
    failing = [
        i
        for i in group
        if not all(examined.fits(i, explanation.parts) for explanation in explanations)
    ]
    if not any(examined.has_numbers(i) for i in failing):
        # Many bugs reproduce NaN alone. Only the one that makes it from a mask is tried.
        bugs = [bug for bug in bugs if may_pair and bug.name == "zero times infinity"]
    ordered = [*failing, *(i for i in group if i not in set(failing)), *explained]
    has_mask = _has_mask(ordered, examined)
    candidates = []
    for explanation in explanations:
        relevant = [
            bug
            for bug in bugs
            if bug not in explanation.bugs
            and _may_affect(bug, explanation, failing, examined, has_mask)
        ]
        minor_bugs = [bug for bug in relevant if bug.is_minor]
        main_bugs = [
            bug
            for bug in relevant
            if not bug.is_minor
            and not _breaks_explained_case(bug, explanation, explained, examined)
        ]
        candidates.append((explanation, main_bugs, minor_bugs))
    for num_main, num_minor in BUG_COUNTS if may_pair else BUG_COUNTS[:2]:
        for explanation, main_bugs, minor_bugs in candidates:
            if explanation.bug_counts[0] + num_main > MAX_BUGS:
                continue
            new_explanations: list[Explanation] = []
            for further in _bug_sets(main_bugs, minor_bugs, num_main, num_minor, explanation.bugs):
                all_bugs = (*explanation.bugs, *further)
                if (
                    required_parts
                    and len(all_bugs) > 1
                    and required_parts.isdisjoint(bug.part for bug in all_bugs)
                ):
                    continue
                for parts in part_variants(all_bugs, has_mask):
                    if all(examined.fits(i, parts) for i in ordered):
                        new_explanations.append(Explanation(all_bugs, parts))
                        break
            if len(new_explanations) > MAX_EXPLANATIONS:
                return []
            if new_explanations:
                return new_explanations
    return []


def _may_affect(
    bug: Bug,
    explanation: Explanation,
    failing: Sequence[int],
    examined: ExaminedCases,
    has_mask: bool,
) -> bool:
    """Return whether a bug changes the output of a failing case; for a minor bug, always True.

    A minor bug may have an effect only together with another bug.
    """
    if bug.is_minor:
        return True
    return any(
        examined.changes(i, parts, explanation.parts)
        for parts in part_variants((*explanation.bugs, bug), False)
        for i in failing
    )


def _breaks_explained_case(
    bug: Bug, explanation: Explanation, explained: Sequence[int], examined: ExaminedCases
) -> bool:
    """Return whether a bug certainly changes an explained case: the smallest one of a kind."""
    smallest_of_kind: dict[str, int] = {}
    for i in explained:
        kind = examined.cases[i].kind
        if examined.has_output(i):
            smallest_of_kind[kind] = min(
                smallest_of_kind.get(kind, i), i, key=lambda j: examined.cases[j].size
            )
    bugs = (*explanation.bugs, bug)
    return any(
        all(
            examined.changes(i, parts, explanation.parts)
            for parts in part_variants(bugs, has_mask=False)
        )
        for i in smallest_of_kind.values()
    )


def _bug_sets(
    main_bugs: Sequence[Bug],
    minor_bugs: Sequence[Bug],
    num_main: int,
    num_minor: int,
    known: Sequence[Bug],
) -> Iterator[tuple[Bug, ...]]:
    """Yield sets of further bugs; no two bugs of a set and of the known ones replace one part."""
    taken = [part for bug in known for part in bug.replaced]
    for chosen in product(combinations(main_bugs, num_main), combinations(minor_bugs, num_minor)):
        further = (*chosen[0], *chosen[1])
        parts = [*taken, *(part for bug in further for part in bug.replaced)]
        if len(set(parts)) == len(parts):
            yield further


def part_variants(bugs: Sequence[Bug], has_mask: bool = True) -> Iterator[Parts]:
    """Yield the parts with some bugs in all their variants.

    A variant has also the lines that are often wrong together with a bug, or not. A bug in a mask
    may mask a whole row: the output for such a row is a convention, and each convention is a
    variant.
    """
    replaced = {part: line for bug in bugs for part, line in bug.replaced.items()}
    accompanying: dict[str, Part] = dict(each for bug in bugs for each in bug.often_with)
    accompanying = {part: line for part, line in accompanying.items() if part not in replaced}
    replaces_masking = bool({"forbid", "weigh"} & replaced.keys())
    row_conventions: list[Any] = [RIGHT_ZERO_ROWS]
    if has_mask and not replaced.keys().isdisjoint(MASKING_PARTS):
        row_conventions = [
            MASKED_ROW_OUTPUTS["zeros"],
            MASKED_ROW_OUTPUTS["NaN"],
            MASKED_ROW_OUTPUTS["average"],
        ]
        if not replaces_masking:
            with_finite_masks = {"forbid": replace_by_large_negative}
            row_conventions += [
                RIGHT_ZERO_ROWS.with_parts(with_finite_masks),
                MASKED_ROW_OUTPUTS["NaN"].with_parts(with_finite_masks),
                MASKED_ROW_OUTPUTS["unmasked"],
            ]
    combinations_of_masks = [True, False] if replaces_masking and has_mask else [True]
    for parts in row_conventions:
        for added, combines_masks in product(
            [accompanying, {}] if accompanying else [{}], combinations_of_masks
        ):
            yield replace(parts.with_parts(replaced | added), combines_masks=combines_masks)


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
