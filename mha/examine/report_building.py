"""The report on a function: conventions, bugs, unexplained cases, and smallest cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from mha.core.checks import Array
from mha.examine import attention, conventions
from mha.examine.arrays import as_numpy
from mha.examine.attention import DEPTH, LARGE_NEGATIVE, lower_scores
from mha.examine.bug_search import (
    MASKED_ROW_OUTPUTS,
    TOLERANCE,
    Explanation,
    Unexplained,
    agrees,
    comparable,
    compute_output,
    find_explanations,
    part_variants,
)
from mha.examine.cases import Case
from mha.examine.narrowing import describe_right_cases, find_limit
from mha.examine.printed_steps import RecordedParts, print_steps
from mha.examine.report import Finding, Report, Shown, format_value
from mha.examine.tested_function import FunctionUnderTest, Outcome
from mha.practice.attention_parts import RESULT_NAMES, RIGHT_ZERO_ROWS, Parts
from mha.practice.bugs import TABLE, Bug

LOWEST_SCORE = 9000
"""No score of a model is as low as minus this."""
LOW_SECTION = "mechanism/softmax#large-scores"
SEEN = 5e-4
"""The smallest difference that a printed case shows."""
LIKE_ROUNDING = 5e-3
"""Most errors of half precision are smaller than this."""
LARGE = 600
"""A case with this many numbers or more is not printed."""
TRIES = 400
"""The number of small cases that are tried before a tested case is printed."""
MOST_KINDS = 4
"""The number of kinds of case of which small cases are tried: usually the first one has one."""
TOLERANCE_FLOAT32, TOLERANCE_HALF = TOLERANCE["float32"], 3e-2
"""Tolerances for outputs in the precision of float32, and in half precision."""
FINER_THAN_HALF = 2e-5
"""Errors of plain outputs that are all smaller than this are not those of half precision."""
ADVICE = (
    "Print the steps of your function on the case below and compare them with those there: the"
    " wrong line is at or before the first difference. Repair it, and examine your function again."
)
"""The advice if no known bug explains the outputs."""
MASKED_ROW_SECTION = "mechanism/softmax#fully-masked-rows"
CONSEQUENCE = {
    "NaN": "returns NaN for a fully masked row. NaN spreads to every number that is computed from"
    " this row: drop the row, or replace it with zeros, before it is used",
    "average": "returns the mean of all values for a fully masked row, masked values included. The"
    " number is finite but has no meaning: ignore the row",
    "unmasked": "returns for a fully masked row the output without a mask. The number is finite but"
    " has no meaning: ignore the row",
    "": "returns for a fully masked row numbers that are neither zeros, NaN nor a mean. Ignore the"
    " row",
}
"""What follows from the output for a fully masked row, by its name in `MASKED_ROW_OUTPUTS`.

The empty name is any other output. An output of zeros is the package's own and has no consequence.
"""


@dataclass(frozen=True, eq=False)
class Examination:
    """A function, its test cases and its outputs."""

    tested: FunctionUnderTest
    cases: Sequence[Case]
    outcomes: Sequence[Outcome]
    min_tolerance: float = 0.0
    fitting: dict[tuple[int, Parts], bool] = field(default_factory=dict)

    @classmethod
    def run(cls, tested: FunctionUnderTest, leave_out: Iterable[str] = ()) -> Examination:
        """Run a function on all cases; raise a TypeError if no case has all required inputs."""
        is_wide = as_numpy(tested.converter.convert(np.zeros(1))).dtype == np.float64
        is_half = _precision_of(tested) > FINER_THAN_HALF / 2
        cases = [
            case
            for case in map(
                tested.add_context,
                tested.subject.cases(tested.takes, tested.conventions.extra_inputs),
            )
            if tested.can_run(case)
            # Without float64 in the library, the float32 cases would only repeat the others.
            and (is_wide or case.dtype == np.float64)
            and tested.conventions.allows(case)
            and tested.kind_name(case.kind) not in leave_out
            # In half precision the inputs of these kinds lose the digits that decide the output.
            and not (is_half and ("large" in case.kind or case.min_tolerance))
        ]
        if not cases:
            raise TypeError(
                f"function needs {', '.join(tested.arguments)} at once, and no case has all of"
                " them; give some of them a default"
            )
        counts = sorted({len(case.leading) for case in cases}, reverse=True)
        if tested.converter.compiles:
            # Each shape is compiled anew, which is slow. Therefore cases with masks have one number
            # of leading axes; plain ones have each, to show how many the function takes.
            plain = [case for case in cases if case.kind == cases[0].kind]
            answering = {len(x.leading) for x in plain if tested.run(x).value is not None}
            most = max(answering, default=0)
            cases = [x for x in cases if len(x.leading) == most or x.kind == cases[0].kind]
        outcomes = [tested.run(case) for case in cases]
        pairs = list(zip(cases, outcomes, strict=True))
        # A case with a row of padding per sequence is kept only with the most leading axes that the
        # function takes, since these have an axis of sequences.
        answering = {len(case.leading) for case, x in pairs if x.value is not None}
        most = next((count for count in counts if count in answering), 0)
        kept = [
            i
            for i, case in enumerate(cases)
            if len(case.leading) == most or case.inputs.keys().isdisjoint(("padding", "lengths"))
        ]
        return cls(tested, [cases[i] for i in kept], [outcomes[i] for i in kept])

    def plain_cases(self) -> list[int]:
        """Return the indices of the plain cases: those of the first kind of each subject."""
        return next(iter(self.by_kind().values()))

    def output_of(self, case: Case, parts: Parts) -> Array | None:
        """Return the cached output of some parts for a case; with `RIGHT_ZERO_ROWS`, the right."""
        if parts not in case.outputs:
            subject = self.tested.subject
            case.outputs[parts] = (
                subject.expected(case.inputs)
                if parts == RIGHT_ZERO_ROWS
                else compute_output(subject, case, parts)
            )
        return case.outputs[parts]

    def fits(self, i: int, parts: Parts) -> bool:
        """Return whether parts reproduce the function's output for a case; cached."""
        case, key = self.cases[i], (id(self.cases[i]), parts)
        if key not in self.fitting:
            computed = self.output_of(case, parts)
            self.fitting[key] = agrees(
                self.tested.subject, case, self.outcomes[i].value, computed, self.min_tolerance
            )
        return self.fitting[key]

    def has_output(self, i: int) -> bool:
        """Return whether the function returned an array for a case."""
        return self.outcomes[i].value is not None

    def has_numbers(self, i: int) -> bool:
        """Return whether the output for a case has a finite number."""
        value = self.outcomes[i].value
        return value is not None and bool(np.isfinite(value.astype(float)).any())

    def changes(self, i: int, parts: Parts, other: Parts) -> bool:
        """Return whether two sets of parts differ in a case."""
        case = self.cases[i]
        both = self.output_of(case, parts), self.output_of(case, other)
        return not agrees(self.tested.subject, case, *both)

    def subset(self, kept: Iterable[int]) -> Examination:
        """Return the examination with some of the cases."""
        kept = list(kept)
        cases, outcomes = [self.cases[i] for i in kept], [self.outcomes[i] for i in kept]
        return replace(self, cases=cases, outcomes=outcomes)

    def with_tolerance(self, min_tolerance: float) -> Examination:
        """Return the examination with a larger tolerance."""
        return replace(self, min_tolerance=min_tolerance, fitting={})

    def differing(self, parts: Parts = RIGHT_ZERO_ROWS) -> list[int]:
        """Return the indices of the cases whose outputs differ from those of some parts."""
        return [i for i in range(len(self.cases)) if not self.fits(i, parts)]

    def without_output(self) -> list[int]:
        """Return the indices of the cases without an output of the right shape."""
        subject = self.tested.subject
        return [
            i
            for i, (case, outcome) in enumerate(zip(self.cases, self.outcomes, strict=True))
            if outcome.value is None
            or (
                # Of positions: an output of another shape is wrong there, not refused.
                not case.kind.startswith("padding")
                and outcome.value.shape != subject.shape(case.inputs)
            )
        ]

    def by_kind(self) -> dict[str, list[int]]:
        """Return the indices of the cases of each kind."""
        found: dict[str, list[int]] = {}
        for i, case in enumerate(self.cases):
            found.setdefault(case.kind, []).append(i)
        return found


def fits_plain_cases(tested: FunctionUnderTest) -> bool:
    """Return whether the outputs of all plain cases are right."""
    kind = next(iter(tested.subject.kinds))
    every = tested.subject.cases(tested.takes, tested.conventions.extra_inputs)
    cases = [
        case for case in every
        if case.kind == kind and tested.can_run(case) and tested.conventions.allows(case)
    ]  # fmt: skip
    outcomes = [tested.run(case) for case in cases]
    plain, _, _ = _drop_refused_cases(Examination(tested, cases, outcomes))
    return bool(plain.cases) and not plain.with_tolerance(TOLERANCE_FLOAT32).differing()


# ---- The report ----


def build_report(
    examination: Examination, earlier_findings: Sequence[Finding] = (), *, strict: bool = False
) -> Report:
    """Return the report on an examination, with some findings made before."""
    tested = examination.tested
    random_output = _random_output_finding(examination)
    if random_output is not None:
        return _report(examination, (random_output, *earlier_findings))
    examination, limits, untested = _drop_refused_cases(examination)
    is_half = _precision_of(tested) > FINER_THAN_HALF / 2
    half = [] if is_half else _half_precision_findings(examination)
    examination = examination.with_tolerance(TOLERANCE_HALF) if half or is_half else examination
    examination, low = _drop_very_low_scores(examination)
    limits += low
    found, unexplained = _find_explanations(examination)
    for trial in _other_conventions(examination, unexplained):
        other = _retest(examination, trial)
        if other is not None and len(other[2]) < len(unexplained):
            examination, found, unexplained = other
            tested = examination.tested
    if "mask" in tested.conventions.undetermined and _has_bug(found, "mask added as 0 and 1"):
        added = replace(tested.conventions, mask=conventions.ADDED)
        other = _retest(examination, tested.with_conventions(added))
        if other is not None and len(other[2]) <= len(unexplained):
            examination, found, unexplained = other
            tested = examination.tested
    if _has_bug(found, "mask unused") and any(
        "mask" in examination.cases[i].inputs for each in unexplained for i in each.cases
    ):  # a mask with an influence is used
        found, unexplained = (
            [Explanation()],
            [
                Unexplained(group)
                for group in examination.by_kind().values()
                if not all(examination.fits(i, RIGHT_ZERO_ROWS) for i in group)
            ],
        )
    examination, found, unexplained, precise = _refine_precision(examination, found, unexplained)
    parts = found[0].parts
    has_more = bool(unexplained)
    findings = [
        *_bug_findings(examination, found, has_more),
        *_unexplained_findings(examination, unexplained, parts),
        *half,
        *precise,
        *earlier_findings,
        *(
            _convention_finding(*each)
            for each in conventions.describe_conventions(
                tested.conventions, tested.subject.first_inputs
            )
        ),
        *limits,
        *_position_findings(examination, unexplained),
        *_dtype_findings(examination),
    ]
    if not unexplained and tested.subject.masked_rows is not None:
        findings += _masked_row_findings(examination, parts, strict)
    findings.sort(key=lambda finding: finding.convention is not None)
    return _report(examination, findings, untested)


def _report(
    examination: Examination, findings: Sequence[Finding], untested: Sequence[str] = ()
) -> Report:
    """Return the report, with the numbers of right cases and of all cases of each kind."""
    tested = examination.tested
    kinds = [tested.kind_name(case.kind) for case in examination.cases]
    total, wrong = Counter(kinds), Counter(kinds[i] for i in examination.differing())
    counts = {kind: (count - wrong[kind], count) for kind, count in total.items()}
    used = {name for case in examination.cases for name, x in case.inputs.items() if x is not None}
    ignored = [
        own for own, name in tested.arguments.items() if name not in used | CREATED_BY_DECODING
    ]
    left = [own for own in (*ignored, *tested.untested) if own not in untested]
    return Report(tested.name, counts, tuple(findings), (*left, *untested))


def _convention_finding(condition: str, more: str = "", section: str = "") -> Finding:
    """Return the finding on another convention."""
    said = f"another convention: the function is right {condition}.{' ' + more if more else ''}"
    return Finding(said, convention=condition, section=section)


# ---- Refused inputs ----


def _drop_refused_cases(examination: Examination) -> tuple[Examination, list[Finding], list[str]]:
    """Return the examination without the cases that a correct function may refuse.

    Also return the findings on these limits, and the kinds of case that are then not tested. A
    function has a limit if its outputs are right and one rule says which cases it refuses. A
    function with wrong outputs may refuse cases because of its bug, so these cases are kept.
    """
    refused = set(examination.without_output())
    limits, untested, dropped = list[Finding](), list[str](), set[int]()
    subject = examination.tested.subject
    axes = {
        count: [i for i, case in enumerate(examination.cases) if len(case.leading) == count]
        for count in sorted({len(case.leading) for case in examination.cases})
    }
    answered = [n for n, group in axes.items() if not refused.issuperset(group)]
    if answered and len(answered) < len(axes):
        dropped |= {i for n, group in axes.items() if n not in answered for i in group}
        most = " or ".join(str(n + 2) for n in answered)
        limits.append(_convention_finding(f"if arrays have {most} axes"))
    # A layer that is right for sequences in a batch, and wrong for a single sequence, takes the
    # first axis for that of the batch.
    has_both = "x" in examination.tested.takes and not dropped and set(axes) == {0, 1}
    if (
        has_both
        and examination.subset(axes[0]).differing()
        and not examination.subset(axes[1]).differing()
    ):
        dropped |= set(axes[0])
        limits.append(_convention_finding("if arrays have 3 axes"))
    for kind, group in examination.by_kind().items():
        left = [i for i in group if i not in dropped]
        gone = [i for i in left if i in refused]
        if not gone:
            continue
        if len(gone) == len(left) and kind in subject.limits:
            dropped |= set(gone)
            if subject.limits[kind]:
                limits.append(_convention_finding(subject.limits[kind]))
            else:
                untested.append(kind)
    if not refused and not dropped:
        return examination, [], []
    # PyTorch's multi-head attention is such a function: is_causal is a hint about attn_mask, and is
    # refused without it.
    alone = [i for i, case in enumerate(examination.cases) if case.kind == "is_causal"]
    if alone and refused.issuperset(alone):
        dropped |= {i for i, case in enumerate(examination.cases) if case.inputs.get("is_causal")}
        limits.append(_convention_finding("if is_causal only says that the mask is causal"))
    left = [i for i in range(len(examination.cases)) if i not in dropped]
    gone = [i for i in left if i in refused]
    outcomes = [i for i in left if i not in refused]
    if gone and outcomes:
        rule = find_limit(
            [examination.cases[i] for i in gone], [examination.cases[i] for i in outcomes]
        )
        if rule and (rule.is_size or not examination.subset(outcomes).differing()):
            dropped |= set(gone)
            limits.append(_convention_finding(rule.condition))
    return (
        examination.subset(i for i in range(len(examination.cases)) if i not in dropped),
        _unique(limits),
        untested,
    )


def _drop_very_low_scores(examination: Examination) -> tuple[Examination, list[Finding]]:
    """Return the examination without very low scores if these alone are wrong, and the limit.

    A mask of -10000, or a running maximum from -50000, is wrong below these numbers alone. A limit
    that scores of models may reach is an error, and its cases are kept.
    """
    low = [i for i, case in enumerate(examination.cases) if case.min_tolerance]
    wrong = set(examination.differing())
    right_kinds = [
        *examination.plain_cases(),
        *(i for i, x in enumerate(examination.cases) if x.kind == LARGE_NEGATIVE),
    ]
    if wrong.isdisjoint(low) or not wrong.isdisjoint(right_kinds):
        return examination, []
    tested, limit = examination.tested, DEPTH
    for i in wrong.intersection(low):
        above, below = 1.0, DEPTH
        while below / above > 1.001:
            depth = np.sqrt(above * below)
            case = examination.cases[i]
            other = replace(case, inputs={**case.inputs, "query": lower_scores(case.inputs, depth)})
            one = replace(examination, cases=[other], outcomes=[tested.run(other)], fitting={})
            above, below = (above, depth) if one.differing() else (depth, below)
        limit = min(limit, above)
    if limit < LOWEST_SCORE:
        return examination, []
    rounded = round(limit, 1 - int(np.log10(limit)))
    condition = f"if no score is below about -{rounded:.0f}"
    more = "A constant that stands for minus infinity, or underflow, takes effect below it."
    kept = [i for i in range(len(examination.cases)) if i not in low]
    return examination.subset(kept), [_convention_finding(condition, more, LOW_SECTION)]


def _unique(findings: Sequence[Finding]) -> list[Finding]:
    return list({finding.said: finding for finding in findings}.values())


def _find_explanations(
    examination: Examination, among: frozenset[str] = frozenset()
) -> tuple[list[Explanation], list[Unexplained]]:
    """Return explanations within the precision of float32, and the kinds without one."""
    # `_refine_precision` then prefers the explanations that fit the function's own precision.
    examination = examination.with_tolerance(max(examination.min_tolerance, TOLERANCE_FLOAT32))
    groups = list(examination.by_kind().values())
    return find_explanations(examination.tested.subject, examination, groups, among)


def _precision_of(tested: FunctionUnderTest) -> float:
    """Return the rounding error of the arrays that a function gets."""
    third = as_numpy(tested.converter.convert(np.array([1 / 3]))).astype(float)
    return float(abs(third[0] - 1 / 3))


def _half_precision_findings(examination: Examination) -> list[Finding]:
    """Return a finding if plain outputs are right only within half precision."""
    plain = examination.subset(examination.plain_cases()).with_tolerance(FINER_THAN_HALF)
    subject = examination.tested.subject
    if (
        subject.plain_inputs is None
        or not plain.differing()
        or plain.with_tolerance(TOLERANCE_HALF).differing()
    ):
        return []
    errors = []
    for case, outcome in zip(plain.cases, plain.outcomes, strict=True):
        expected = plain.output_of(case, RIGHT_ZERO_ROWS)
        if outcome.value is not None and expected is not None:
            errors.append((np.abs(outcome.value - expected) / (1 + np.abs(expected))).ravel())
    if np.median(np.concatenate(errors)) > LIKE_ROUNDING:
        return []
    said = (
        "half precision. The output has about three correct digits, as many as float16 and bfloat16"
        " hold: compute the scores and the softmax in float32, and convert the output"
    )
    return [Finding(f"{said}.", bug="half precision", right=subject.right)]


def _refine_precision(
    examination: Examination, found: list[Explanation], unexplained: list[Unexplained]
) -> tuple[Examination, list[Explanation], list[Unexplained], list[Finding]]:
    """Return the explanations within the function's own precision, and a note on that precision.

    Explanations that fit within the tolerance of float64 are preferred. If none does, the function
    computes in float32: the examination then has that tolerance, and the note is on outputs that
    are nevertheless float64.
    """
    left = sorted(
        set(range(len(examination.cases))).difference(*(each.cases for each in unexplained))
    )
    plain = examination.plain_cases()
    plain_is_unexplained = any(each.cases == plain for each in unexplained)
    if examination.min_tolerance == TOLERANCE_HALF:
        return examination, found, unexplained, []
    exact = [e for e in found if all(examination.fits(i, e.parts) for i in left)]
    if exact:
        return examination, exact, unexplained, []
    if not plain_is_unexplained:
        values = [examination.outcomes[i].value for i in left]
        if all(x is None or x.dtype == np.float32 for x in values):
            return examination, found, unexplained, []
        said = "the function returns float64 with the precision of float32"
        return (
            examination.with_tolerance(TOLERANCE_FLOAT32),
            found,
            unexplained,
            [Finding(f"{said}.", convention=said)],
        )
    return examination, found, unexplained, []


CREATED_BY_DECODING = {"cache", "position", "positions"}
"""Inputs that the calls of a decoding case create."""
MAY_UNDO_CAUSAL = frozenset(
    (
        "forbid",
        "make_causal_mask",
        "weigh",
        "cap_masked_scores",
        "along",
        "merge",
        "split",
        "powers",
    )
)
"""Parts whose bugs may undo a causal mask."""


def _other_conventions(
    examination: Examination, unexplained: Sequence[Unexplained]
) -> list[FunctionUnderTest]:
    """Return the function with conventions that a bug may conceal."""
    tested, usual = examination.tested, examination.tested.conventions
    if not unexplained or tested.subject.plain_inputs is None:
        return []
    found = []
    plain = examination.plain_cases()
    plain_is_unexplained = any(each.cases == plain for each in unexplained)
    if plain_is_unexplained and not usual.is_always_causal and "is_causal" not in tested.takes:
        found.append(replace(usual, is_always_causal=True))
    if "mask" in usual.undetermined:
        found.append(replace(usual, mask=conventions.HIDES))
    if "padding" in usual.undetermined:
        found.append(replace(usual, padding=conventions.IS_PADDING))
    return [tested.with_conventions(each) for each in found]


def _retest(
    examination: Examination, trial: FunctionUnderTest
) -> tuple[Examination, list[Explanation], list[Unexplained]] | None:
    """Return the explanations of a function by other conventions; None if they do not fit."""
    kinds = {trial.kind_name(case.kind) for case in examination.cases}
    every = trial.subject.cases(trial.takes, trial.conventions.extra_inputs)
    other = Examination.run(trial, {trial.kind_name(case.kind) for case in every} - kinds)
    other, _, _ = _drop_refused_cases(other)
    plain = other.subset(other.plain_cases()).with_tolerance(TOLERANCE_FLOAT32)
    _, unexplained = find_explanations(
        trial.subject, plain, [range(len(plain.cases))], MAY_UNDO_CAUSAL
    )
    if unexplained and trial.conventions.is_always_causal:
        return None
    found, unexplained = _find_explanations(other, MAY_UNDO_CAUSAL)
    if unexplained and _has_bug(found, "zero times infinity"):
        return None  # NaN alone tells nothing of the convention
    return other, found, unexplained


def _has_bug(found: Sequence[Explanation], name: str) -> bool:
    return any(bug.name == name for each in found for bug in each.bugs)


# ---- Findings ----


def _bug_findings(
    examination: Examination, found: Sequence[Explanation], has_more: bool
) -> list[Finding]:
    """Return a finding per bug; bugs with equal outputs share one."""
    common = [bug for bug in found[0].bugs if all(bug in each.bugs for each in found)]
    others = [bug for each in found for bug in each.bugs if bug not in common]
    groups = [[bug] for bug in common] + ([list(dict.fromkeys(others))] if others else [])
    return [_bug_finding(examination, group, found[0], has_more) for group in groups]


def _bug_finding(
    examination: Examination, bugs: Sequence[Bug], found: Explanation, has_more: bool
) -> Finding:
    """Return the finding on one bug, or on several that each reproduce the outputs."""
    first = bugs[0]
    if all(bug.kind == "note" for bug in bugs):
        said = f"{first.name}. Your function {first.effect}."
        return Finding(said, convention="if outputs of padding are ignored", section=first.section)
    names, parts = " or ".join(bug.name for bug in bugs), found.parts
    but = " (further findings below)" if has_more else ""
    said = f"{names}{but}. Your function " + ". Or it ".join(bug.effect for bug in bugs) + "."
    alone = next(iter(part_variants((first,))))
    subject = examination.tested.subject

    def shows(case: Case) -> bool:
        right, wrong = (compute_output(subject, case, each) for each in (RIGHT_ZERO_ROWS, alone))
        return not agrees(subject, case, right, wrong)

    shown, gives = find_smallest_case(examination, shows, parts), RESULT_NAMES.get(first.part, "")
    line, meant = (f"{gives} = {x}" if gives else x for x in (first.line, first.right_line))
    return Finding(said, names, None, line, meant, first.section, subject.right, shown)


def _unexplained_findings(
    examination: Examination, unexplained: Sequence[Unexplained], parts: Parts
) -> list[Finding]:
    """Return findings on unexplained cases: one for wrong numbers, one per error."""
    findings: dict[str, Finding] = {}
    for each in unexplained:
        group = each.cases
        if each.own_explanations:
            findings |= _kind_specific_findings(examination, each)
            continue
        of_group = examination.subset(group)
        wrong = of_group.subset(of_group.differing(parts))
        if not wrong.cases:  # a bug that shows in other kinds explains it
            continue
        faults = {outcome.fault for outcome in wrong.outcomes if outcome.value is None}
        is_error = all(outcome.value is None for outcome in wrong.outcomes)
        said = min(faults) if is_error else "numbers"
        kind = said.partition(":")[0]
        if kind not in findings:
            findings[kind] = _unexplained_finding(
                examination, group, parts, said if is_error else ""
            )
    return list(findings.values())


def _kind_specific_findings(
    examination: Examination, unexplained: Unexplained
) -> dict[str, Finding]:
    """Return findings on bugs that only one kind of case shows, by name."""
    of_group = examination.subset(unexplained.cases)
    kind = examination.tested.kind_name(of_group.cases[0].kind)
    found = {
        f.bug or "": f
        for f in _bug_findings(of_group, unexplained.own_explanations, has_more=False)
    }
    if not examination.tested.conventions.undetermined.isdisjoint(of_group.cases[0].inputs):
        found = {name: replace(f, case=None) for name, f in found.items()}
    return {
        name: replace(finding, said=f"{finding.said} Only one kind of case shows it: {kind}.")
        for name, finding in found.items()
    }


def _unexplained_finding(
    examination: Examination, group: Sequence[int], parts: Parts, fault: str
) -> Finding:
    """Return the finding on one kind of case that no known bug explains."""
    tested, of_group = examination.tested, examination.subset(group)
    wrong = set(of_group.differing(parts))
    kind = tested.kind_name(of_group.cases[0].kind)
    if fault:
        rest = [case for i, case in enumerate(of_group.cases) if i not in wrong]
        rule = find_limit([of_group.cases[i] for i in wrong], rest) if rest else None
        narrow = [f"It answers {rule.condition}."] if rule else []
        said = f"{fault} ({kind})"
    else:
        narrow = describe_right_cases(examination, group, parts)
        said = f"the output is wrong, and no known bug explains it ({kind})"
    undetermined = [
        x for x in sorted(tested.conventions.undetermined) if x in of_group.cases[0].inputs
    ]
    if undetermined:  # then nobody can say which output is right
        own = next(own for own, name in tested.arguments.items() if name == undetermined[0])
        narrow.append(f"The outputs do not show whether True in {own} means masked or not.")
    shown = find_smallest_case(of_group, lambda _: True)
    advice = f" {ADVICE}" if shown is not None and shown.steps else ""
    more = f" {' '.join(narrow)}" if narrow else ""
    return Finding(
        f"{said}.{more}{advice}", right=tested.subject.right, case=shown, narrowed=tuple(narrow)
    )


def _position_findings(
    examination: Examination, unexplained: Sequence[Unexplained]
) -> list[Finding]:
    left = set(range(len(examination.cases))).difference(*(each.cases for each in unexplained))
    return (
        [attention.FIRST_POSITION_NOTE]
        if attention.has_first_position(examination.cases[i] for i in left)
        else []
    )


def _masked_row_findings(examination: Examination, parts: Parts, strict: bool) -> list[Finding]:
    """Return a note on the output for fully masked rows, unless it is zero."""
    subject = examination.tested.subject
    found, shown = set[str](), None
    for case, outcome in zip(examination.cases, examination.outcomes, strict=True):
        masked = subject.masked_rows(case.inputs) if subject.masked_rows else np.zeros(1, bool)
        if not masked.any() or outcome.value is None:
            continue
        masked = np.broadcast_to(masked, outcome.value.shape[:-1])
        actual = outcome.value[masked]
        name = "NaN" if np.isnan(actual).all() else ""
        for kind, each in MASKED_ROW_OUTPUTS.items():
            computed = compute_output(
                subject, case, each.with_parts(dict(parts.replaced) | dict(each.replaced))
            )
            tolerance = max(TOLERANCE_FLOAT32, examination.min_tolerance)
            if computed is not None and np.allclose(
                computed[masked], actual, tolerance, tolerance, equal_nan=True
            ):
                name = kind
                break
        if name != "zeros":
            found.add(name)
            shown = shown or case
    names = sorted(found, key=list(CONSEQUENCE).index)
    if not names or shown is None:
        return []
    said = ". Or it ".join(CONSEQUENCE[name] for name in names)
    called = {
        "NaN": "fully masked row returns NaN",
        "average": "fully masked row returns the mean of the values",
    }
    name = called.get(names[0], "fully masked row returns other numbers")
    if strict:
        return [Finding(f"{name}. Your function {said}.", bug=name, section=MASKED_ROW_SECTION,
                        right=subject.right)]  # fmt: skip
    condition = "if no query is fully masked, or its row is ignored"
    return [
        Finding(f"{name}. Your function {said}.", convention=condition, section=MASKED_ROW_SECTION)
    ]


def _dtype_findings(examination: Examination) -> list[Finding]:
    """Return a finding if the dtype of outputs differs from that of inputs."""
    fault = next((x.fault for x in examination.outcomes if x.value is not None and x.fault), "")
    if not fault:
        return []
    why = "The precision beyond float32 is lost."
    if "float64 for" in fault:
        why = "A float64 scalar of NumPy, such as np.sqrt(4), is the usual cause."
    return [Finding(f"{fault}. {why}", convention=fault)]


def _random_output_finding(examination: Examination) -> Finding | None:
    """Return a finding if two calls with the same input give different outputs."""
    again = [examination.tested.run(case) for case in examination.cases[:6]]
    pairs = zip(examination.cases, examination.outcomes, again, strict=False)
    if all(agrees(examination.tested.subject, case, a.value, b.value) for case, a, b in pairs):
        return None
    said = "two calls with the same input give different outputs: something random is left on."
    bug = next(bug for bug in TABLE if bug.part == "drop")
    if not _has_dropout(examination):
        return Finding(said, section=bug.section)
    return Finding(f"{bug.name}: {said}", bug.name, None, bug.line, bug.right_line, bug.section)


def _has_dropout(examination: Examination) -> bool:
    """Return whether some weights are zero and all others larger by one factor: dropout.

    With the unit vectors as values, an output is a row of weights.
    """
    has_zero = False
    if "value" not in examination.cases[0].inputs:
        return False
    for case in examination.cases[:6]:
        keys = case.inputs["key"].shape[-2]
        value = np.broadcast_to(np.eye(keys), (*case.inputs["value"].shape[:-1], keys))
        one = replace(case, inputs={**case.inputs, "value": value})
        found, expected = (
            examination.tested.run(one).value,
            examination.tested.subject.expected(one.inputs),
        )
        if found is None or found.shape != expected.shape:
            continue
        is_dropped = (found == 0) & (expected != 0)
        has_zero |= bool(is_dropped.any())
        factors = (found / expected)[found != 0]
        if factors.size and (factors.min() <= 1 or np.ptp(factors) > 1e-3):
            return False
    return has_zero


# ---- The smallest case ----


def find_smallest_case(
    examination: Examination, shows: Callable[[Case], bool], wrong: Parts | None = None
) -> Shown | None:
    """Return the smallest case with a wrong output.

    `shows` selects the cases that show a finding; `wrong` are parts that reproduce the output, if
    known.
    """
    tested = examination.tested
    subject = tested.subject

    def has_no_masked_row(case: Case) -> bool:  # the output for such a row is a convention
        return subject.masked_rows is None or not subject.masked_rows(case.inputs).any()

    def is_determined(of: Examination, i: int) -> bool:
        """Return whether the meaning of True in the masks of a case is known."""
        is_undetermined = not tested.conventions.undetermined.isdisjoint(of.cases[i].inputs)
        # If the parts with the known bug give the output, they read the mask as the function does.
        return not is_undetermined or (wrong is not None and of.fits(i, wrong))

    failing = [
        i
        for i in examination.differing()
        if has_no_masked_row(examination.cases[i]) and is_determined(examination, i)
    ]
    failing = [i for i in failing if shows(examination.cases[i])] or failing
    # Wrong numbers before errors, and the smallest case of each kind.
    failing.sort(key=lambda i: (examination.outcomes[i].value is None, examination.cases[i].size))
    kinds = {examination.cases[i].kind: i for i in reversed(failing)}
    rng, tries = np.random.default_rng(43), TRIES  # a fixed seed, so that reports are the same
    extra_inputs = tested.conventions.extra_inputs
    min_tolerance = max(SEEN, examination.min_tolerance)
    for i in sorted(kinds.values(), key=failing.index)[:MOST_KINDS]:
        for case in map(
            tested.add_context, tested.subject.small_cases(examination.cases[i], extra_inputs, rng)
        ):
            tries -= 1
            if tries < 0:
                break
            if not tested.can_run(case) or not tested.conventions.allows(case):
                continue
            one = replace(
                examination,
                cases=[case],
                outcomes=[tested.run(case)],
                fitting={},
                min_tolerance=min_tolerance,
            )
            is_alike = (one.outcomes[0].value is None) == (examination.outcomes[i].value is None)
            if (
                is_alike
                and has_no_masked_row(case)
                and one.differing()
                and shows(case)
                and is_determined(one, 0)
            ):
                return _show_case(one, wrong)
    if not failing:
        return None
    if examination.outcomes[failing[0]].value is None:
        return _show_error(examination.subset(failing[:1]))
    return (
        _show_case(examination.subset(failing[:1]), wrong)
        if examination.cases[failing[0]].size < LARGE
        else None
    )


def _show_error(examination: Examination) -> Shown | None:
    """Return a case that raises an error, with ones as inputs if these raise it too."""
    (case,), (outcome,), tested = examination.cases, examination.outcomes, examination.tested
    ones = {
        name: np.ones_like(x) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x
        for name, x in case.inputs.items()
    }
    one = replace(case, inputs=ones)
    if tested.run(one).fault == outcome.fault:
        return _show_case(replace(examination, cases=[one], fitting={}), None)
    return _show_case(examination, None) if case.size < LARGE else None


def _show_case(examination: Examination, wrong: Parts | None) -> Shown:
    """Return a case with its correct and actual outputs, and the steps to the first difference."""
    (case,), (outcome,), tested = examination.cases, examination.outcomes, examination.tested
    subject, name = tested.subject, getattr(tested.function, "__name__", "")
    code = tested.code(case, tested.code_name or (name if name.isidentifier() else "function"))
    expected, actual = examination.output_of(case, RIGHT_ZERO_ROWS), outcome.value

    call_arguments = {own: x for own, x in tested.call_arguments(case).items() if x is not None}
    shown = partial(Shown, tested.kind_name(case.kind), call_arguments, code)
    if actual is None or expected is None:
        said = outcome.fault if actual is None else format_value(actual)
        return shown(
            "no array" if expected is None else format_value(tested.to_own_axes(expected)), said
        )
    if actual.shape != expected.shape:
        text = format_value(tested.to_own_axes(actual))
        shapes = f"of shape {actual.shape} instead of {expected.shape}"
        return shown(format_value(tested.to_own_axes(expected)), f"{text}, {shapes}")
    is_known = wrong is not None and agrees(
        subject, case, actual, compute_output(subject, case, wrong), examination.min_tolerance
    )
    sets = (RIGHT_ZERO_ROWS, wrong) if wrong is not None and is_known else (RIGHT_ZERO_ROWS,)
    texts = format_value(tested.to_own_axes(expected)), format_value(tested.to_own_axes(actual))
    expected, actual = (comparable(subject, case, x) for x in (expected, actual))
    differing = np.argwhere(~np.isclose(expected, actual, rtol=SEEN, atol=SEEN))
    if not len(differing):
        return shown(*texts)
    call, at = subject.call(case.inputs, tuple(map(int, differing[0])))
    runs = [RecordedParts(each.replaced, each.combines_masks) for each in sets]
    for run in runs:
        compute_output(subject, case, run)
    steps = print_steps(case.inputs, subject.steps, [run.calls for run in runs], call, at)
    return shown(*texts, steps, call + 1 if subject.calls else 0)
