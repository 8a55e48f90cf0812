"""The examination of a function by its cases, and the report on it.

`build_report` goes from the function's outputs to the findings: it leaves out the cases that a
correct function may refuse, searches for bugs, and finds the smallest case that shows each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from mha.core.checks import Array
from mha.examine import attention, conventions, score_limits
from mha.examine.arrays import as_numpy
from mha.examine.attention import LARGE_NEGATIVE, VERY_LOW_DEPTH, very_low_queries
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
    unexplained_kinds,
    with_nan_in_masked_rows,
)
from mha.examine.cases import Case
from mha.examine.narrowing import describe_right_cases, find_condition, rounds_scores_away
from mha.examine.printed_steps import RecordedParts, print_steps
from mha.examine.report import Finding, Report, Shown, format_value
from mha.examine.tested_function import FunctionUnderTest, Outcome
from mha.practice.attention_parts import RESULT_NAMES, RIGHT_ZERO_ROWS, Parts
from mha.practice.bugs import TABLE, Bug

MIN_SHOWN_DIFFERENCE = 5e-4
"""A printed case has a difference of at least this, since its numbers have four decimals."""
MAX_MEDIAN_ROUNDING = 5e-3
"""Rounding to half precision has a smaller median error than this."""
MAX_PRINTED_SIZE = 600
"""A case with this many numbers, or more, is not printed."""
MAX_TRIED_CASES = 400
"""The number of small cases that are tried; if none shows the bug, a tested case is printed."""
MAX_TRIED_KINDS = 4
"""The number of kinds whose small cases are tried. Usually one of the first kind shows the bug."""
TOLERANCE_FLOAT32, TOLERANCE_HALF = TOLERANCE["float32"], 3e-2
"""Tolerances for outputs in the precision of float32, and in half precision."""
FINER_THAN_HALF = 2e-5
"""Outputs in half precision have a larger error than this in a plain case."""
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
    """A tested function with its cases and its outputs for them.

    `min_tolerance` is the smallest tolerance of all comparisons. `fit_cache` has the results of
    `fits`.
    """

    tested: FunctionUnderTest
    cases: Sequence[Case]
    outcomes: Sequence[Outcome]
    min_tolerance: float = 0.0
    fit_cache: dict[tuple[int, Parts], bool] = field(default_factory=dict)

    @classmethod
    def run(cls, tested: FunctionUnderTest, leave_out: Iterable[str] = ()) -> Examination:
        """Return the examination of a function by all cases, without some kinds.

        Raises
        ------
        TypeError
            If no case has all inputs that the function requires.
        """
        is_wide = as_numpy(tested.converter.convert(np.zeros(1))).dtype == np.float64
        is_half = _has_half_precision(tested)
        cases = [
            case
            for case in map(
                tested.add_context,
                tested.subject.cases(tested.takes, tested.conventions.extra_inputs),
            )
            if tested.can_run(case)
            # Without float64 in the library, the float32 cases would only repeat the others.
            and (is_wide or case.dtype == np.float64)
            and tested.conventions.can_express(case)
            and tested.kind_name(case.kind) not in leave_out
            # In half precision the inputs of these kinds lose the digits that determine the output.
            and not (is_half and ("large" in case.kind or case.has_very_low_scores))
        ]
        if not cases:
            raise TypeError(
                f"function needs {', '.join(tested.arguments)} at once, and no case has all of"
                " them; give some of them a default"
            )
        leading_counts = sorted({len(case.leading) for case in cases}, reverse=True)
        if tested.converter.compiles:
            # Each shape is compiled anew, which is slow. Therefore only the plain cases have all
            # numbers of leading axes, to show which of them the function takes.
            plain = [case for case in cases if case.kind == cases[0].kind]
            answered_counts = {len(x.leading) for x in plain if tested.run(x).value is not None}
            num_leading = max(answered_counts, default=0)
            cases = [x for x in cases if len(x.leading) == num_leading or x.kind == cases[0].kind]
        outcomes = [tested.run(case) for case in cases]
        pairs = list(zip(cases, outcomes, strict=True))
        # A padding mask has one row for each sequence. Its cases are used only with the largest
        # number of leading axes that the function takes, so that the first axis is the batch.
        answered_counts = {len(case.leading) for case, x in pairs if x.value is not None}
        num_leading = next((count for count in leading_counts if count in answered_counts), 0)
        selected = [
            i
            for i, case in enumerate(cases)
            if len(case.leading) == num_leading
            or case.inputs.keys().isdisjoint(("padding", "lengths"))
        ]
        return cls(tested, [cases[i] for i in selected], [outcomes[i] for i in selected])

    def plain_cases(self) -> list[int]:
        """Return the indices of the plain cases, which are of the first kind."""
        return next(iter(self.indices_by_kind().values()))

    def output_of(self, case: Case, parts: Parts) -> Array | None:
        """Return the output of some parts for a case; `RIGHT_ZERO_ROWS` give the correct one.

        It is computed once, and once for all conventions on fully masked rows if no row is fully
        masked: with the parts that give NaN there, the output then has no NaN.
        """
        if parts not in case.output_cache:
            case.output_cache[parts] = self._compute_output(case, parts)
        return case.output_cache[parts]

    def _compute_output(self, case: Case, parts: Parts) -> Array | None:
        subject = self.tested.subject
        if parts == RIGHT_ZERO_ROWS:
            return subject.expected(case.inputs)
        with_nan = with_nan_in_masked_rows(parts)
        if with_nan != parts:
            output = self.output_of(case, with_nan)
            if output is None or np.isfinite(output).all():
                return output
        return compute_output(subject, case, parts)

    def fits(self, i: int, parts: Parts) -> bool:
        """Return whether parts reproduce the function's output for a case."""
        case, key = self.cases[i], (id(self.cases[i]), parts)
        if key not in self.fit_cache:
            computed = self.output_of(case, parts)
            self.fit_cache[key] = agrees(
                self.tested.subject, case, self.outcomes[i].value, computed, self.min_tolerance
            )
        return self.fit_cache[key]

    def has_output(self, i: int) -> bool:
        """Return whether the function returned an array for a case."""
        return self.outcomes[i].value is not None

    def has_numbers(self, i: int) -> bool:
        """Return whether the output for a case has a finite number that is not zero."""
        value = self.outcomes[i].value
        if value is None:
            return False
        numbers = value.astype(float)
        return bool((np.isfinite(numbers) & (numbers != 0)).any())

    def changes(self, i: int, parts: Parts, other: Parts) -> bool:
        """Return whether two sets of parts compute different outputs for a case."""
        case = self.cases[i]
        both = self.output_of(case, parts), self.output_of(case, other)
        return not agrees(self.tested.subject, case, *both)

    def subset(self, selected: Iterable[int]) -> Examination:
        """Return the examination with some of the cases, by their indices."""
        selected = list(selected)
        cases, outcomes = [self.cases[i] for i in selected], [self.outcomes[i] for i in selected]
        return replace(self, cases=cases, outcomes=outcomes)

    def with_case(self, case: Case) -> Examination:
        """Return the examination of the function by one other case alone."""
        return replace(self, cases=[case], outcomes=[self.tested.run(case)], fit_cache={})

    def with_tolerance(self, min_tolerance: float) -> Examination:
        """Return the examination with another smallest tolerance."""
        return replace(self, min_tolerance=min_tolerance, fit_cache={})

    def wrong_cases(self, parts: Parts = RIGHT_ZERO_ROWS) -> list[int]:
        """Return the indices of the cases that parts, by default the correct ones, do not fit."""
        return [i for i in range(len(self.cases)) if not self.fits(i, parts)]

    def refused_cases(self) -> list[int]:
        """Return the indices of the cases without an output of the right shape."""
        subject = self.tested.subject
        return [
            i
            for i, (case, outcome) in enumerate(zip(self.cases, self.outcomes, strict=True))
            if outcome.value is None
            or (
                # Positions of padded tokens: an output of another shape is wrong, not a refusal.
                not case.kind.startswith("padding")
                and outcome.value.shape != subject.shape(case.inputs)
            )
        ]

    def indices_by_kind(self) -> dict[str, list[int]]:
        """Return the indices of the cases of each kind."""
        groups: dict[str, list[int]] = {}
        for i, case in enumerate(self.cases):
            groups.setdefault(case.kind, []).append(i)
        return groups


def fits_plain_cases(tested: FunctionUnderTest, bugs: Sequence[Bug] = ()) -> bool:
    """Return whether the outputs of all plain cases are right, or those of one of some bugs.

    They are compared within the precision of the arrays. For a function that requires a mask, the
    cases of the first kind with one are the plain ones.
    """
    every = tested.subject.cases(tested.takes, tested.conventions.extra_inputs)
    cases = [
        case for case in every if tested.can_run(case) and tested.conventions.can_express(case)
    ]
    cases = [case for case in cases if case.kind == cases[0].kind]
    outcomes = [tested.run(case) for case in cases]
    plain, _, _ = _drop_refused_cases(Examination(tested, cases, outcomes))
    is_half = _has_half_precision(tested)
    plain = plain.with_tolerance(TOLERANCE_HALF if is_half else TOLERANCE_FLOAT32)
    every_parts = [RIGHT_ZERO_ROWS.with_parts(bug.replaced) for bug in bugs] or [RIGHT_ZERO_ROWS]
    return bool(plain.cases) and not all(plain.wrong_cases(parts) for parts in every_parts)


# ---- The report ----


def build_report(
    examination: Examination, earlier_findings: Sequence[Finding] = (), *, strict: bool = False
) -> Report:
    """Return the report on an examination, with the findings of earlier tests.

    With `strict`, a fully masked row whose output is not zeros is an error, not a note.
    """
    tested = examination.tested
    random_output_finding = _random_output_finding(examination)
    if random_output_finding is not None:
        return _assemble_report(examination, (random_output_finding, *earlier_findings))
    examination, limit_notes, untested = _drop_refused_cases(examination)
    is_half = _has_half_precision(tested)
    half_precision_findings = [] if is_half else _half_precision_findings(examination)
    examination = (
        examination.with_tolerance(TOLERANCE_HALF)
        if half_precision_findings or is_half
        else examination
    )
    examination, low_score_notes = _drop_very_low_scores(examination)
    limit_notes += low_score_notes
    explanations, unexplained = _find_explanations(examination)
    for trial in _other_conventions(examination, unexplained):
        retested = _retest(examination, trial)
        if retested is not None and len(retested.unexplained) < len(unexplained):
            examination, explanations, unexplained = retested
            tested = examination.tested
    if "mask" in tested.conventions.undetermined and _has_bug(
        explanations, "mask added as 0 and 1"
    ):
        added = replace(tested.conventions, mask=conventions.ADDED)
        retested = _retest(examination, tested.with_conventions(added))
        if retested is not None and len(retested.unexplained) <= len(unexplained):
            examination, explanations, unexplained = retested
            tested = examination.tested
    # The mask has an influence on unexplained cases, so it is used; or scores have one.
    has_influence = _has_bug(explanations, "mask unused") and any(
        "mask" in examination.cases[i].inputs for each in unexplained for i in each.indices
    )
    has_influence |= _has_bug(explanations, "all scores 0") and rounds_scores_away(
        examination, examination.plain_cases(), explanations[0].parts
    )
    if has_influence:
        explanations = [Explanation()]
        unexplained = unexplained_kinds(examination, examination.indices_by_kind().values())
    examination, explanations, unexplained, precision_notes = _refine_precision(
        examination, explanations, unexplained
    )
    parts = explanations[0].parts
    has_unexplained = bool(unexplained)
    findings = [
        *_bug_findings(examination, explanations, has_unexplained),
        *_unexplained_findings(examination, unexplained, parts),
        *half_precision_findings,
        *precision_notes,
        *earlier_findings,
        *(
            _convention_finding(*each)
            for each in conventions.describe_conventions(
                tested.conventions, tested.subject.first_inputs
            )
        ),
        *limit_notes,
        *_position_findings(examination, unexplained),
        *_dtype_findings(examination),
    ]
    if not explanations[0].bugs and not unexplained:
        findings += score_limits.float16_findings(examination, is_half)
        findings += [] if is_half else score_limits.masked_score_findings(examination)
    if not unexplained and tested.subject.masked_rows is not None:
        findings += _masked_row_findings(examination, parts, strict)
    findings.sort(key=lambda finding: finding.convention is not None)
    return _assemble_report(examination, findings, untested)


def _assemble_report(
    examination: Examination, findings: Sequence[Finding], untested: Sequence[str] = ()
) -> Report:
    """Return the report with given findings, counts of cases, and arguments that are not tested."""
    tested = examination.tested
    kinds = [tested.kind_name(case.kind) for case in examination.cases]
    totals = Counter(kinds)
    wrong_counts = Counter(kinds[i] for i in examination.wrong_cases())
    counts_by_kind = {kind: (total - wrong_counts[kind], total) for kind, total in totals.items()}
    used = {name for case in examination.cases for name, x in case.inputs.items() if x is not None}
    unused = [
        argument
        for argument, name in tested.arguments.items()
        if name not in used | INPUTS_OF_DECODING_CALLS
    ]
    not_tested = [argument for argument in (*unused, *tested.untested) if argument not in untested]
    return Report(tested.name, counts_by_kind, tuple(findings), (*not_tested, *untested))


def _convention_finding(condition: str, explanation: str = "", section: str = "") -> Finding:
    """Return the note that a function is right under a condition."""
    text = f"another convention: the function is right {condition}. {explanation}".rstrip()
    return Finding(text, convention=condition, section=section)


# ---- Refused inputs ----


def _drop_refused_cases(examination: Examination) -> tuple[Examination, list[Finding], list[str]]:
    """Return the examination without the cases that a correct function may refuse.

    Also return the notes on these limits of the function, and the kinds of case that are not tested
    for this reason. A function has a limit if its outputs are right and one condition separates the
    cases that it refuses. A function with wrong outputs may refuse cases because of its bug, so
    these cases remain.
    """
    refused = set(examination.refused_cases())
    limit_notes, untested, dropped = list[Finding](), list[str](), set[int]()
    subject = examination.tested.subject
    indices_by_num_leading = {
        count: [i for i, case in enumerate(examination.cases) if len(case.leading) == count]
        for count in sorted({len(case.leading) for case in examination.cases})
    }
    answered = [n for n, group in indices_by_num_leading.items() if not refused.issuperset(group)]
    if answered and len(answered) < len(indices_by_num_leading):
        dropped |= {
            i for n, group in indices_by_num_leading.items() if n not in answered for i in group
        }
        numbers = " or ".join(str(n + 2) for n in answered)
        limit_notes.append(_convention_finding(f"if arrays have {numbers} axes"))
    # A function that is right for arrays with all axes, and wrong for fewer, wants all axes: it
    # reads another axis as that of the batch.
    *fewer, most = answered or [0]
    of_fewer = {i for n in fewer for i in indices_by_num_leading[n]}
    tolerance = max(examination.min_tolerance, TOLERANCE_FLOAT32)
    wrong = set(examination.with_tolerance(tolerance).wrong_cases())
    wrong_of_fewer = of_fewer & wrong - (set() if "x" in examination.tested.takes else refused)
    if wrong_of_fewer and not wrong.intersection(indices_by_num_leading[most]) - refused:
        dropped |= of_fewer
        limit_notes = [_convention_finding(f"if arrays have {most + 2} axes")]
    for kind, group in examination.indices_by_kind().items():
        remaining = [i for i in group if i not in dropped]
        refused_of_kind = [i for i in remaining if i in refused]
        if not refused_of_kind:
            continue
        if len(refused_of_kind) == len(remaining) and kind in subject.refusable_kinds:
            dropped |= set(refused_of_kind)
            if subject.refusable_kinds[kind]:
                limit_notes.append(_convention_finding(subject.refusable_kinds[kind]))
            else:
                untested.append(kind)
    if not refused and not dropped:
        return examination, [], []
    # In PyTorch's multi-head attention is_causal is a hint about attn_mask, without which it is
    # refused.
    causal_alone = [i for i, case in enumerate(examination.cases) if case.kind == "is_causal"]
    if causal_alone and refused.issuperset(causal_alone):
        dropped |= {i for i, case in enumerate(examination.cases) if case.inputs.get("is_causal")}
        limit_notes.append(_convention_finding("if is_causal only says that the mask is causal"))
    remaining = [i for i in range(len(examination.cases)) if i not in dropped]
    refused_cases = [i for i in remaining if i in refused]
    answered_cases = [i for i in remaining if i not in refused]
    if refused_cases and answered_cases:
        condition = find_condition(
            [examination.cases[i] for i in refused_cases],
            [examination.cases[i] for i in answered_cases],
        )
        if condition and (
            condition.is_size or not examination.subset(answered_cases).wrong_cases()
        ):
            dropped |= set(refused_cases)
            limit_notes.append(_convention_finding(condition.text))
    return (
        examination.subset(i for i in range(len(examination.cases)) if i not in dropped),
        _unique(limit_notes),
        untested,
    )


def _drop_very_low_scores(examination: Examination) -> tuple[Examination, list[Finding]]:
    """Return the examination without very low scores if these alone are wrong, and the limit.

    A mask of -10000, or a running maximum that starts at -50000, is wrong only for scores below
    these numbers. If the scores of models may be so low, the function is wrong, and the cases
    remain.
    """
    low = [i for i, case in enumerate(examination.cases) if case.has_very_low_scores]
    wrong = set(examination.wrong_cases())
    right_kinds = [
        *examination.plain_cases(),
        *(i for i, x in enumerate(examination.cases) if x.kind == LARGE_NEGATIVE),
    ]
    if wrong.isdisjoint(low) or not wrong.isdisjoint(right_kinds):
        return examination, []
    limit = VERY_LOW_DEPTH
    for i in wrong.intersection(low):
        shallowest, deepest = 1.0, VERY_LOW_DEPTH
        while deepest / shallowest > 1.001:
            depth = np.sqrt(shallowest * deepest)
            case = examination.cases[i]
            other = replace(
                case, inputs={**case.inputs, "query": very_low_queries(case.inputs, depth)}
            )
            examined = examination.with_case(other)
            shallowest, deepest = (
                (shallowest, depth) if examined.wrong_cases() else (depth, deepest)
            )
        limit = min(limit, shallowest)
    if limit < score_limits.MODEL_SCORE_DEPTH:
        return examination, []
    rounded = round(limit, 1 - int(np.log10(limit)))
    condition = f"if no score is below about -{rounded:.0f}"
    explanation = "A constant that stands for minus infinity, or underflow, takes effect below it."
    others = [i for i in range(len(examination.cases)) if i not in low]
    return examination.subset(others), [
        _convention_finding(condition, explanation, score_limits.SECTION)
    ]


def _unique(findings: Sequence[Finding]) -> list[Finding]:
    return list({finding.said: finding for finding in findings}.values())


def _find_explanations(
    examination: Examination, required_parts: frozenset[str] = frozenset()
) -> tuple[list[Explanation], list[Unexplained]]:
    """Return the explanations within the precision of float32, and the kinds without one.

    `_refine_precision` then prefers the explanations that fit the function's own precision.
    """
    examination = examination.with_tolerance(max(examination.min_tolerance, TOLERANCE_FLOAT32))
    groups = list(examination.indices_by_kind().values())
    return find_explanations(examination.tested.subject, examination, groups, required_parts)


def _precision_of(tested: FunctionUnderTest) -> float:
    """Return the rounding error of 1/3 in the arrays that a function takes."""
    third = as_numpy(tested.converter.convert(np.array([1 / 3]))).astype(float)
    return float(abs(third[0] - 1 / 3))


def _has_half_precision(tested: FunctionUnderTest) -> bool:
    """Return whether a function takes arrays of half precision, or returns them in any case."""
    if _precision_of(tested) > FINER_THAN_HALF / 2:
        return True
    every = tested.subject.cases(tested.takes, tested.conventions.extra_inputs)
    cases = {len(case.leading): case for case in every if tested.can_run(case) and case.floats}
    values = [tested.run(case).value for case in cases.values()]
    return any(value is not None and value.dtype == np.float16 for value in values)


def _half_precision_findings(examination: Examination) -> list[Finding]:
    """Return a finding if the plain outputs are right, but only within half precision."""
    plain = examination.subset(examination.plain_cases()).with_tolerance(FINER_THAN_HALF)
    subject = examination.tested.subject
    if (
        subject.draw_plain_inputs is None
        or not plain.wrong_cases()
        or plain.with_tolerance(TOLERANCE_HALF).wrong_cases()
    ):
        return []
    errors = []
    for case, outcome in zip(plain.cases, plain.outcomes, strict=True):
        expected = plain.output_of(case, RIGHT_ZERO_ROWS)
        if outcome.value is not None and expected is not None:
            errors.append((np.abs(outcome.value - expected) / (1 + np.abs(expected))).ravel())
    if np.median(np.concatenate(errors)) > MAX_MEDIAN_ROUNDING:
        return []
    text = (
        "half precision. The output has about three correct digits, as many as float16 and bfloat16"
        " hold: compute the scores and the softmax in float32, and convert the output"
    )
    return [Finding(f"{text}.", bug="half precision", right=subject.correct_function)]


def _refine_precision(
    examination: Examination, explanations: list[Explanation], unexplained: list[Unexplained]
) -> tuple[Examination, list[Explanation], list[Unexplained], list[Finding]]:
    """Return the explanations within the function's own precision, and a note on that precision.

    Explanations that fit within the tolerance of float64 are preferred. If none fits, the function
    computes in float32: the examination then has the tolerance of float32. A note says so if the
    outputs have the dtype float64.
    """
    explained = sorted(
        set(range(len(examination.cases))).difference(*(each.indices for each in unexplained))
    )
    plain = examination.plain_cases()
    plain_is_unexplained = any(each.indices == plain for each in unexplained)
    if examination.min_tolerance == TOLERANCE_HALF:
        return examination, explanations, unexplained, []
    # A bug that shows in one kind of case alone may not fit the right outputs of other kinds.
    wrong = [i for i in explained if not examination.fits(i, RIGHT_ZERO_ROWS)]
    for indices in (explained, wrong):
        exact = [
            explanation
            for explanation in explanations
            if all(examination.fits(i, explanation.parts) for i in indices)
        ]
        if exact:
            return examination, exact, unexplained, []
    if not plain_is_unexplained:
        values = [examination.outcomes[i].value for i in explained]
        if all(x is None or x.dtype == np.float32 for x in values):
            return examination, explanations, unexplained, []
        text = "the function returns float64 with the precision of float32"
        return (
            examination.with_tolerance(TOLERANCE_FLOAT32),
            explanations,
            unexplained,
            [Finding(f"{text}.", convention=text)],
        )
    return examination, explanations, unexplained, []


INPUTS_OF_DECODING_CALLS = {"cache", "position", "positions"}
"""Inputs that the calls of a decoding case have, and the case itself does not."""
MAY_UNDO_CAUSAL_MASK = frozenset(
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
    """Return the function with each convention that a bug may have concealed."""
    tested, current = examination.tested, examination.tested.conventions
    if not unexplained or tested.subject.draw_plain_inputs is None:
        return []
    trials = []
    plain = examination.plain_cases()
    plain_is_unexplained = any(each.indices == plain for each in unexplained)
    # A function that requires a context has no causal mask among its own tokens alone.
    may_be_causal = "is_causal" not in tested.takes and "context" not in tested.required
    if plain_is_unexplained and not current.is_always_causal and may_be_causal:
        trials.append(replace(current, is_always_causal=True))
    if "mask" in current.undetermined:
        trials.append(replace(current, mask=conventions.TRUE_MASKS))
    if "padding" in current.undetermined:
        trials.append(replace(current, padding=conventions.TRUE_IS_PADDING))
    return [tested.with_conventions(each) for each in trials]


class Retest(NamedTuple):
    """An examination by other conventions, with its explanations and unexplained kinds."""

    examination: Examination
    explanations: list[Explanation]
    unexplained: list[Unexplained]


def _retest(examination: Examination, trial: FunctionUnderTest) -> Retest | None:
    """Return the examination by the conventions of `trial`; None if these do not fit."""
    kinds = {trial.kind_name(case.kind) for case in examination.cases}
    every = trial.subject.cases(trial.takes, trial.conventions.extra_inputs)
    other = Examination.run(trial, {trial.kind_name(case.kind) for case in every} - kinds)
    other, _, _ = _drop_refused_cases(other)
    plain = other.subset(other.plain_cases()).with_tolerance(TOLERANCE_FLOAT32)
    _, unexplained = find_explanations(
        trial.subject, plain, [range(len(plain.cases))], MAY_UNDO_CAUSAL_MASK
    )
    if unexplained and trial.conventions.is_always_causal:
        return None
    explanations, unexplained = _find_explanations(other, MAY_UNDO_CAUSAL_MASK)
    if unexplained and _has_bug(explanations, "zero times infinity"):
        return None  # NaN alone does not show a convention
    return Retest(other, explanations, unexplained)


def _has_bug(explanations: Sequence[Explanation], name: str) -> bool:
    """Return whether an explanation has the bug of this name."""
    return any(bug.name == name for each in explanations for bug in each.bugs)


# ---- Findings ----


def _bug_findings(
    examination: Examination, explanations: Sequence[Explanation], has_unexplained: bool
) -> list[Finding]:
    """Return one finding per bug; bugs that each explain the outputs alone share one."""
    common = [bug for bug in explanations[0].bugs if all(bug in each.bugs for each in explanations)]
    others = [bug for each in explanations for bug in each.bugs if bug not in common]
    groups = [[bug] for bug in common] + ([list(dict.fromkeys(others))] if others else [])
    return [_bug_finding(examination, group, explanations[0], has_unexplained) for group in groups]


def _bug_finding(
    examination: Examination, bugs: Sequence[Bug], explanation: Explanation, has_unexplained: bool
) -> Finding:
    """Return the finding on one bug, or on several that each reproduce the outputs alone."""
    first = bugs[0]
    if all(bug.kind == "note" for bug in bugs):
        text = f"{first.name}. Your function {first.effect}."
        return Finding(text, convention="if outputs of padding are ignored", section=first.section)
    names, parts = " or ".join(bug.name for bug in bugs), explanation.parts
    reference = " (further findings below)" if has_unexplained else ""
    text = f"{names}{reference}. Your function " + ". Or it ".join(bug.effect for bug in bugs) + "."
    only_first = next(iter(part_variants((first,))))
    subject = examination.tested.subject

    def shows(case: Case) -> bool:
        right, wrong = (
            compute_output(subject, case, each) for each in (RIGHT_ZERO_ROWS, only_first)
        )
        return not agrees(subject, case, right, wrong)

    smallest_case = find_smallest_case(examination, shows, parts)
    result_name = RESULT_NAMES.get(first.part, "")
    line, meant = (
        f"{result_name} = {x}" if result_name else x for x in (first.line, first.right_line)
    )
    return Finding(
        text, names, None, line, meant, first.section, subject.correct_function, smallest_case
    )


def _unexplained_findings(
    examination: Examination, unexplained: Sequence[Unexplained], parts: Parts
) -> list[Finding]:
    """Return findings on unexplained cases: one for wrong numbers, one per error."""
    findings: dict[str, Finding] = {}
    for each in unexplained:
        group = each.indices
        if each.separate_explanations:
            findings |= _kind_specific_findings(examination, each)
            continue
        kind_examination = examination.subset(group)
        wrong = kind_examination.subset(kind_examination.wrong_cases(parts))
        if not wrong.cases:  # the bugs of other kinds explain this one too
            continue
        faults = {outcome.fault for outcome in wrong.outcomes if outcome.value is None}
        is_error = all(outcome.value is None for outcome in wrong.outcomes)
        text = min(faults) if is_error else "numbers"
        kind = text.partition(":")[0]
        if kind not in findings:
            findings[kind] = _unexplained_finding(
                examination, group, parts, text if is_error else ""
            )
    return list(findings.values())


def _kind_specific_findings(
    examination: Examination, unexplained: Unexplained
) -> dict[str, Finding]:
    """Return the findings on bugs that only one kind of case shows, by the bug's name."""
    kind_examination = examination.subset(unexplained.indices)
    kind = examination.tested.kind_name(kind_examination.cases[0].kind)
    findings = {
        f.bug or "": f
        for f in _bug_findings(
            kind_examination, unexplained.separate_explanations, has_unexplained=False
        )
    }
    if not examination.tested.conventions.undetermined.isdisjoint(kind_examination.cases[0].inputs):
        findings = {name: replace(f, case=None) for name, f in findings.items()}
    return {
        name: replace(finding, said=f"{finding.said} Only one kind of case shows it: {kind}.")
        for name, finding in findings.items()
    }


def _unexplained_finding(
    examination: Examination, group: Sequence[int], parts: Parts, fault: str
) -> Finding:
    """Return the finding on one kind of case that no known bug explains."""
    tested, kind_examination = examination.tested, examination.subset(group)
    wrong = set(kind_examination.wrong_cases(parts))
    kind = tested.kind_name(kind_examination.cases[0].kind)
    if fault:
        rest = [case for i, case in enumerate(kind_examination.cases) if i not in wrong]
        condition = (
            find_condition([kind_examination.cases[i] for i in wrong], rest) if rest else None
        )
        narrowed = [f"It answers {condition.text}."] if condition else []
        text = f"{fault} ({kind})"
    else:
        narrowed = describe_right_cases(examination, group, parts)
        text = f"the output is wrong, and no known bug explains it ({kind})"
    undetermined = [
        x for x in sorted(tested.conventions.undetermined) if x in kind_examination.cases[0].inputs
    ]
    if undetermined:  # then the correct output is unknown
        argument = next(
            argument for argument, name in tested.arguments.items() if name == undetermined[0]
        )
        narrowed.append(f"The outputs do not show whether True in {argument} means masked or not.")
    smallest_case = find_smallest_case(kind_examination, lambda _: True)
    advice = [ADVICE] if smallest_case is not None and smallest_case.steps else []
    return Finding(
        " ".join([f"{text}.", *narrowed, *advice]),
        right=tested.subject.correct_function,
        case=smallest_case,
        narrowed=tuple(narrowed),
    )


def _position_findings(
    examination: Examination, unexplained: Sequence[Unexplained]
) -> list[Finding]:
    """Return a note if a causal mask aligns the first query with the first key."""
    explained = set(range(len(examination.cases))).difference(
        *(each.indices for each in unexplained)
    )
    return (
        [attention.FIRST_POSITION_NOTE]
        if attention.has_first_position(examination.cases[i] for i in explained)
        else []
    )


def _masked_row_findings(examination: Examination, parts: Parts, strict: bool) -> list[Finding]:
    """Return a note on the output for fully masked rows, unless it is zeros."""
    subject = examination.tested.subject
    names_found, shown_case = set[str](), None
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
            names_found.add(name)
            shown_case = shown_case or case
    names = sorted(names_found, key=list(CONSEQUENCE).index)
    if not names or shown_case is None:
        return []
    text = ". Or it ".join(CONSEQUENCE[name] for name in names)
    titles = {
        "NaN": "fully masked row returns NaN",
        "average": "fully masked row returns the mean of the values",
    }
    name = titles.get(names[0], "fully masked row returns other numbers")
    if strict:
        return [Finding(f"{name}. Your function {text}.", bug=name, section=MASKED_ROW_SECTION,
                        right=subject.correct_function)]  # fmt: skip
    condition = "if no query is fully masked, or its row is ignored"
    return [
        Finding(f"{name}. Your function {text}.", convention=condition, section=MASKED_ROW_SECTION)
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
    text = "two calls with the same input give different outputs: something random is left on."
    bug = next(bug for bug in TABLE if bug.part == "drop")
    if not _has_dropout(examination):
        return Finding(text, section=bug.section, narrowed=(f"{text[0].upper()}{text[1:]}",))
    return Finding(f"{bug.name}: {text}", bug.name, None, bug.line, bug.right_line, bug.section)


def _has_dropout(examination: Examination) -> bool:
    """Return whether some weights are zero and all others larger by one factor, as with dropout.

    With the unit vectors as values, a row of the output is a row of weights.
    """
    has_zero = False
    if "value" not in examination.cases[0].inputs:
        return False
    for case in examination.cases[:6]:
        keys = case.inputs["key"].shape[-2]
        value = np.broadcast_to(np.eye(keys), (*case.inputs["value"].shape[:-1], keys))
        with_unit_values = replace(case, inputs={**case.inputs, "value": value})
        actual, expected = (
            examination.tested.run(with_unit_values).value,
            examination.tested.subject.expected(with_unit_values.inputs),
        )
        if actual is None or actual.shape != expected.shape:
            continue
        is_dropped = (actual == 0) & (expected != 0)
        has_zero |= bool(is_dropped.any())
        factors = (actual / expected)[actual != 0]
        if factors.size and (factors.min() <= 1 or np.ptp(factors) > 1e-3):
            return False
    return has_zero


# ---- The smallest case ----


def find_smallest_case(
    examination: Examination, shows: Callable[[Case], bool], bug_parts: Parts | None = None
) -> Shown | None:
    """Return the smallest case with a wrong output, as it is printed; None if all are too large.

    `shows` returns whether a case shows a finding; `bug_parts` reproduce the output,
    if known.
    """
    tested = examination.tested
    subject = tested.subject

    def has_no_masked_row(case: Case) -> bool:  # the output for such a row is a convention
        return subject.masked_rows is None or not subject.masked_rows(case.inputs).any()

    def is_determined(examined: Examination, i: int) -> bool:
        """Return whether the meaning of True in the masks of a case is known."""
        is_undetermined = not tested.conventions.undetermined.isdisjoint(examined.cases[i].inputs)
        # Parts with a bug that reproduce the output show how the function reads the mask.
        return not is_undetermined or (bug_parts is not None and examined.fits(i, bug_parts))

    failing = [
        i
        for i in examination.wrong_cases()
        if has_no_masked_row(examination.cases[i]) and is_determined(examination, i)
    ]
    failing = [i for i in failing if shows(examination.cases[i])] or failing
    # Wrong numbers before errors, and the smallest case of each kind.
    failing.sort(key=lambda i: (examination.outcomes[i].value is None, examination.cases[i].size))
    kinds = {examination.cases[i].kind: i for i in reversed(failing)}
    rng = np.random.default_rng(43)  # a fixed seed, so that reports are the same
    num_tries_left = MAX_TRIED_CASES
    extra_inputs = tested.conventions.extra_inputs
    min_tolerance = max(MIN_SHOWN_DIFFERENCE, examination.min_tolerance)
    for i in sorted(kinds.values(), key=failing.index)[:MAX_TRIED_KINDS]:
        for case in map(
            tested.add_context, tested.subject.small_cases(examination.cases[i], extra_inputs, rng)
        ):
            num_tries_left -= 1
            if num_tries_left < 0:
                break
            if not tested.can_run(case) or not tested.conventions.can_express(case):
                continue
            examined = examination.with_tolerance(min_tolerance).with_case(case)
            is_alike = (examined.outcomes[0].value is None) == (
                examination.outcomes[i].value is None
            )
            if (
                is_alike
                and has_no_masked_row(case)
                and examined.wrong_cases()
                and shows(case)
                and is_determined(examined, 0)
            ):
                return _show_case(examined, bug_parts)
    if not failing:
        return None
    if examination.outcomes[failing[0]].value is None:
        return _show_error(examination.subset(failing[:1]))
    return (
        _show_case(examination.subset(failing[:1]), bug_parts)
        if examination.cases[failing[0]].size < MAX_PRINTED_SIZE
        else None
    )


def _show_error(examination: Examination) -> Shown | None:
    """Return a case that raises an error, with all numbers 1 if these raise it too."""
    (case,), (outcome,), tested = examination.cases, examination.outcomes, examination.tested
    ones = {
        name: np.ones_like(x) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x
        for name, x in case.inputs.items()
    }
    with_ones = replace(case, inputs=ones)
    if tested.run(with_ones).fault == outcome.fault:
        return _show_case(replace(examination, cases=[with_ones], fit_cache={}), None)
    return _show_case(examination, None) if case.size < MAX_PRINTED_SIZE else None


def _show_case(examination: Examination, bug_parts: Parts | None) -> Shown:
    """Return a case with its correct and actual outputs, and the steps to the first difference."""
    (case,), (outcome,), tested = examination.cases, examination.outcomes, examination.tested
    subject, name = tested.subject, getattr(tested.function, "__name__", "")
    code_name = tested.code_name or (name if name.isidentifier() else "function")
    code = tested.source_lines(case, code_name)
    expected, actual = examination.output_of(case, RIGHT_ZERO_ROWS), outcome.value

    call_arguments = {
        argument: x for argument, x in tested.call_arguments(case).items() if x is not None
    }
    make_shown = partial(Shown, tested.kind_name(case.kind), call_arguments, code)
    if actual is None or expected is None:
        text = outcome.fault if actual is None else format_value(actual)
        return make_shown(
            "no array" if expected is None else format_value(tested.to_function_axes(expected)),
            text,
        )
    if actual.shape != expected.shape:
        text = format_value(tested.to_function_axes(actual))
        shapes = f"of shape {actual.shape} instead of {expected.shape}"
        return make_shown(format_value(tested.to_function_axes(expected)), f"{text}, {shapes}")
    parts_to_print = [RIGHT_ZERO_ROWS]
    if bug_parts is not None and agrees(
        subject, case, actual, compute_output(subject, case, bug_parts), examination.min_tolerance
    ):
        parts_to_print.append(bug_parts)
    texts = (
        format_value(tested.to_function_axes(expected)),
        format_value(tested.to_function_axes(actual)),
    )
    expected, actual = (comparable(subject, case, x) for x in (expected, actual))
    differing = np.argwhere(
        ~np.isclose(expected, actual, rtol=MIN_SHOWN_DIFFERENCE, atol=MIN_SHOWN_DIFFERENCE)
    )
    if not len(differing):
        return make_shown(*texts)
    call_index, at = subject.locate_call(case.inputs, tuple(map(int, differing[0])))
    runs = [RecordedParts(each.replaced, each.combines_masks) for each in parts_to_print]
    for run in runs:
        compute_output(subject, case, run)
    steps = print_steps(
        case.inputs, subject.printed_steps, [run.calls for run in runs], call_index, at
    )
    return make_shown(*texts, steps, call_index + 1 if subject.step_arguments else 0)
