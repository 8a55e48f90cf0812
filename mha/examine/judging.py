"""Reports from outputs: conventions, bugs, unexplained cases, and smallest cases."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from mha.core.checks import Array
from mha.examine import attention, conventions
from mha.examine.arrays import as_numpy
from mha.examine.cases import Case
from mha.examine.derivations import Recorded, told
from mha.examine.explaining import (
    EMPTY,
    Apart,
    Explanation,
    agrees,
    comparable,
    explained,
    given_by,
    variants,
)
from mha.examine.function_calls import Answer, Asked
from mha.examine.narrowing import limit, narrowed
from mha.examine.report import Finding, Report, Shown, written
from mha.practice.attention_parts import REFERENCE, RESULT_NAMES, Parts
from mha.practice.bugs import TABLE, Bug

SEEN = 5e-4
"""The smallest difference that a printed case shows."""
LIKE_ROUNDING = 5e-3
"""Most errors of half precision are smaller than this."""
LARGE = 600
"""A case with this many numbers is not printed."""
TRIES = 400
"""The number of small cases that are tried before a tested case is printed."""
FINE, NARROW, HALF = 2e-5, 3e-4, 3e-2
"""Tolerances: finer than half precision, of float32, and of half precision."""
ADVICE = (
    "Print the steps of your function on the case below and compare them with those there: the"
    " wrong line is at or before the first difference. Repair it, and examine your function again."
)
"""The advice if no known bug explains the outputs."""
NOTHING_SEEN = "mechanism/softmax#fully-masked-rows"
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
"""The output of a function for a fully masked row, and its consequence."""


@dataclass(frozen=True, eq=False)
class Asking:
    """A function, its test cases and its outputs."""

    asked: Asked
    cases: Sequence[Case]
    answers: Sequence[Answer]
    least: float = 0.0
    fitting: dict[tuple[int, Parts], bool] = field(default_factory=dict)

    @classmethod
    def of(cls, asked: Asked, leave_out: Iterable[str] = ()) -> "Asking":
        """Call a function with all cases; raise TypeError if no case has all that it requires."""
        is_wide = as_numpy(asked.maker.make(np.zeros(1))).dtype == np.float64
        is_half = _precision_of(asked) > FINE / 2
        cases = [
            case
            for case in map(
                asked.completed, asked.subject.cases(asked.takes, asked.conventions.facts)
            )
            if asked.can(case)
            and (is_wide or case.dtype == np.float64)  # both would be asked in float32
            and asked.conventions.allows(case)
            and asked.named(case.about) not in leave_out
            and not (is_half and "large" in case.about)  # whose inputs would be rounded too far
        ]
        if not cases:
            raise TypeError(
                f"function needs {', '.join(asked.arguments)} at once, and no case has all of them;"
                " give some of them a default"
            )
        counts = sorted({len(case.leading) for case in cases}, reverse=True)
        if asked.maker.compiles:
            plain = [case for case in cases if case.about == cases[0].about]
            answering = {len(x.leading) for x in plain if asked.ask(x).value is not None}
            most = max(answering, default=0)
            cases = [x for x in cases if len(x.leading) == most or x.about == cases[0].about]
        answers = [asked.ask(case) for case in cases]
        pairs = list(zip(cases, answers, strict=True))
        # A row of padding for each sequence is asked only where there is an axis of sequences.
        answering = {len(case.leading) for case, x in pairs if x.value is not None}
        most = next((count for count in counts if count in answering), 0)
        kept = [
            i
            for i, case in enumerate(cases)
            if len(case.leading) == most or case.given.keys().isdisjoint(("padding", "lengths"))
        ]
        return cls(asked, [cases[i] for i in kept], [answers[i] for i in kept])

    def gives(self, case: Case, parts: Parts) -> Array | None:
        """Return the right output for a case, or that of other parts; computed once."""
        if parts not in case.gives:
            subject = self.asked.subject
            case.gives[parts] = (
                subject.wanted(case.given) if parts == REFERENCE else given_by(subject, case, parts)
            )
        return case.gives[parts]

    def fits(self, i: int, parts: Parts) -> bool:
        """Return whether parts reproduce the output for a case; compared once."""
        case, key = self.cases[i], (id(self.cases[i]), parts)
        if key not in self.fitting:
            given = self.gives(case, parts)
            self.fitting[key] = agrees(
                self.asked.subject, case, self.answers[i].value, given, self.least
            )
        return self.fitting[key]

    def answered(self, i: int) -> bool:
        """Return whether the function returned an array for a case."""
        return self.answers[i].value is not None

    def has_numbers(self, i: int) -> bool:
        """Return whether the output for a case has a finite number."""
        value = self.answers[i].value
        return value is not None and bool(np.isfinite(value.astype(float)).any())

    def changes(self, i: int, parts: Parts, other: Parts) -> bool:
        """Return whether two sets of parts differ in a case."""
        case = self.cases[i]
        given = self.gives(case, parts), self.gives(case, other)
        return not agrees(self.asked.subject, case, *given)

    def only(self, kept: Iterable[int]) -> "Asking":
        """Return it with some cases only."""
        kept = list(kept)
        cases, answers = [self.cases[i] for i in kept], [self.answers[i] for i in kept]
        return replace(self, cases=cases, answers=answers)

    def within(self, least: float) -> "Asking":
        """Return it with a larger tolerance."""
        return replace(self, least=least, fitting={})

    def off(self, parts: Parts = REFERENCE) -> list[int]:
        """Return the indices of the cases whose outputs differ from those of some parts."""
        return [i for i in range(len(self.cases)) if not self.fits(i, parts)]

    def refused(self) -> list[int]:
        """Return the indices of the cases without an output of the right shape."""
        subject = self.asked.subject
        return [
            i
            for i, (case, answer) in enumerate(zip(self.cases, self.answers, strict=True))
            if answer.value is None
            or (
                not case.about.startswith("padding")
                and answer.value.shape != subject.shape(case.given)
            )
        ]

    def kinds(self) -> dict[str, list[int]]:
        """Return the cases of each kind."""
        found: dict[str, list[int]] = {}
        for i, case in enumerate(self.cases):
            found.setdefault(case.about, []).append(i)
        return found


# ---- The report ----


def judged(asking: Asking, before: Sequence[Finding] = (), *, strict: bool = False) -> Report:
    """Return the report on the outputs, with the findings made before."""
    asked = asking.asked
    drawn = _drawn(asking)
    if drawn is not None:
        return _report(asking, REFERENCE, (drawn, *before))
    asking, limits, unasked = _in_domain(asking)
    is_half = _precision_of(asked) > FINE / 2
    half = [] if is_half else _in_half(asking)
    asking = asking.within(HALF) if half or is_half else asking
    found, apart = _explained(asking)
    for trial in _other_conventions(asking, apart):
        other = _asked_again(asking, trial)
        if other is not None and len(other[2]) < len(apart):
            asking, found, apart = other
            asked = asking.asked
    asking, found, apart, precise = _precise(asking, found, apart)
    parts = found[0].parts
    has_more = bool(apart)
    findings = [
        *_bugs(asking, found, has_more),
        *_unexplained(asking, apart, parts),
        *half,
        *precise,
        *before,
        *(_convention(*each) for each in conventions.told(asked.conventions, asked.subject.first)),
        *limits,
        *_first_place(asking, apart),
        *_dtypes(asking),
    ]
    if not apart and asked.subject.blank is not None:
        findings += _nothing_seen(asking, parts, strict)
    findings.sort(key=lambda finding: finding.convention is not None)
    return _report(asking, REFERENCE, findings, unasked)


def _report(
    asking: Asking, parts: Parts, findings: Sequence[Finding], unasked: Sequence[str] = ()
) -> Report:
    asked = asking.asked
    kinds = [asked.named(case.about) for case in asking.cases]
    total, off = Counter(kinds), Counter(kinds[i] for i in asking.off(parts))
    counts = {kind: (count - off[kind], count) for kind, count in total.items()}
    given = {name for case in asking.cases for name, x in case.given.items() if x is not None}
    ignored = [own for own, name in asked.arguments.items() if name not in given | IMPLIED]
    left = [own for own in (*ignored, *asked.unasked) if own not in unasked]
    return Report(asked.name, counts, tuple(findings), (*left, *unasked))


def _convention(condition: str, more: str = "", section: str = "") -> Finding:
    """Return the finding on another convention."""
    said = f"another convention: the function is right {condition}.{' ' + more if more else ''}"
    return Finding(said, convention=condition, section=section)


# ---- What a function does not take ----


def _in_domain(asking: Asking) -> tuple[Asking, list[Finding], list[str]]:
    """Return the test without cases that a right function refuses, the notes, and skipped kinds.

    A function that is right where it answers, and refuses the rest by one rule, has a limit. A
    refusal beside a wrong answer may come of the bug, and stays.
    """
    refused = set(asking.refused())
    limits, unasked, dropped = list[Finding](), list[str](), set[int]()
    subject = asking.asked.subject
    axes = {
        count: [i for i, case in enumerate(asking.cases) if len(case.leading) == count]
        for count in sorted({len(case.leading) for case in asking.cases})
    }
    answered = [n for n, group in axes.items() if not refused.issuperset(group)]
    if answered and len(answered) < len(axes):
        dropped |= {i for n, group in axes.items() if n not in answered for i in group}
        most = " or ".join(str(n + 2) for n in answered)
        limits.append(_convention(f"if arrays have {most} axes"))
    has_both = "x" in asking.asked.takes and not dropped and set(axes) == {0, 1}
    if has_both and asking.only(axes[0]).off() and not asking.only(axes[1]).off():
        dropped |= set(axes[0])
        limits.append(_convention("if arrays have 3 axes"))
    for kind, group in asking.kinds().items():
        left = [i for i in group if i not in dropped]
        gone = [i for i in left if i in refused]
        if not gone:
            continue
        if len(gone) == len(left) and kind in subject.limits:
            dropped |= set(gone)
            if subject.limits[kind]:
                limits.append(_convention(subject.limits[kind]))
            else:
                unasked.append(kind)
    if not refused and not dropped:
        return asking, [], []
    alone = [i for i, case in enumerate(asking.cases) if case.about == "is_causal"]
    if alone and refused.issuperset(alone):
        dropped |= {i for i, case in enumerate(asking.cases) if case.given.get("is_causal")}
        limits.append(_convention("if is_causal only says that the mask is causal"))
    left = [i for i in range(len(asking.cases)) if i not in dropped]
    gone = [i for i in left if i in refused]
    answers = [i for i in left if i not in refused]
    if gone and answers:
        rule = limit([asking.cases[i] for i in gone], [asking.cases[i] for i in answers])
        if rule and (rule.is_size or not asking.only(answers).off()):
            dropped |= set(gone)
            limits.append(_convention(rule.condition))
    return (
        asking.only(i for i in range(len(asking.cases)) if i not in dropped),
        _once(limits),
        unasked,
    )


def _once(findings: Sequence[Finding]) -> list[Finding]:
    return list({finding.said: finding for finding in findings}.values())


def _explained(
    asking: Asking, among: frozenset[str] = frozenset()
) -> tuple[list[Explanation], list[Apart]]:
    """Return explanations within the precision of float32, and the kinds without one."""
    wide = asking.within(max(asking.least, NARROW))
    return explained(asking.asked.subject, wide, list(wide.kinds().values()), among)


def _precision_of(asked: Asked) -> float:
    """Return the rounding error of the arrays that a function gets."""
    third = as_numpy(asked.maker.make(np.array([1 / 3]))).astype(float)
    return float(abs(third[0] - 1 / 3))


def _in_half(asking: Asking) -> list[Finding]:
    """Return a finding if plain outputs are right only within half precision."""
    plain = asking.only(next(iter(asking.kinds().values()))).within(FINE)
    subject = asking.asked.subject
    if subject.tokens is None or not plain.off() or plain.within(HALF).off():
        return []
    errors = []
    for case, answer in zip(plain.cases, plain.answers, strict=True):
        wanted = plain.gives(case, REFERENCE)
        if answer.value is not None and wanted is not None:
            errors.append((np.abs(answer.value - wanted) / (1 + np.abs(wanted))).ravel())
    if np.median(np.concatenate(errors)) > LIKE_ROUNDING:
        return []
    said = (
        "half precision. The output has about three correct digits, as many as float16 and bfloat16"
        " hold: compute the scores and the softmax in float32, and convert the output"
    )
    return [Finding(f"{said}.", bug="half precision", right=subject.right)]


def _precise(
    asking: Asking, found: list[Explanation], apart: list[Apart]
) -> tuple[Asking, list[Explanation], list[Apart], list[Finding]]:
    """Return explanations within the precision of the function, and a note on that precision.

    Explanations that fit to ten digits are preferred; if there is none, the function computes with
    those of float32.
    """
    left = sorted(set(range(len(asking.cases))).difference(*(each.cases for each in apart)))
    first = next(iter(asking.kinds().values()))
    is_off = any(each.cases == first for each in apart)
    if asking.least == HALF:
        return asking, found, apart, []
    exact = [e for e in found if all(asking.fits(i, e.parts) for i in left)]
    if exact:
        return asking, exact, apart, []
    if not is_off:
        values = [asking.answers[i].value for i in left]
        if all(x is None or x.dtype == np.float32 for x in values):
            return asking, found, apart, []
        said = "the function returns float64 with the precision of float32"
        return asking.within(NARROW), found, apart, [Finding(f"{said}.", convention=said)]
    return asking, found, apart, []


IMPLIED = {"cache", "position", "positions"}
"""Inputs that the calls of a decoding case create."""
UNSEEN = frozenset(
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


def _other_conventions(asking: Asking, apart: Sequence[Apart]) -> list[Asked]:
    """Return the function with conventions that a bug may conceal."""
    asked, usual = asking.asked, asking.asked.conventions
    if not apart or asked.subject.tokens is None:
        return []
    found = []
    first = next(iter(asking.kinds().values()))
    is_off = any(each.cases == first for each in apart)
    if is_off and not usual.is_always_causal and "is_causal" not in asked.takes:
        found.append(replace(usual, is_always_causal=True))
    if "mask" in usual.untold:
        found.append(replace(usual, mask=conventions.HIDES))
    if "padding" in usual.untold:
        found.append(replace(usual, padding=conventions.IS_PADDING))
    return [asked.by(each) for each in found]


def _asked_again(
    asking: Asking, trial: Asked
) -> tuple[Asking, list[Explanation], list[Apart]] | None:
    """Return explanations of a function by other conventions; None if there are none."""
    kinds = {trial.named(case.about) for case in asking.cases}
    every = trial.subject.cases(trial.takes, trial.conventions.facts)
    other = Asking.of(trial, {trial.named(case.about) for case in every} - kinds)
    other, _, _ = _in_domain(other)
    first = next(iter(other.kinds().values()))
    alike = len(
        explained(trial.subject, other.only(first).within(NARROW), [range(len(first))], UNSEEN)[1]
    )
    if alike and trial.conventions.is_always_causal:
        return None
    return other, *_explained(other, UNSEEN)


# ---- Findings ----


def _bugs(asking: Asking, found: Sequence[Explanation], has_more: bool) -> list[Finding]:
    """Return a finding per bug; bugs with equal outputs share one."""
    common = [row for row in found[0].rows if all(row in each.rows for each in found)]
    others = [row for each in found for row in each.rows if row not in common]
    groups = [[row] for row in common] + ([list(dict.fromkeys(others))] if others else [])
    return [_finding(asking, group, found[0], has_more) for group in groups]


def _finding(asking: Asking, rows: Sequence[Bug], found: Explanation, has_more: bool) -> Finding:
    """Return the finding on one bug, or on several that each reproduce the outputs."""
    if all(row.kind == "note" for row in rows):
        said = f"{rows[0].name}. Your function {rows[0].effect}."
        return Finding(
            said, convention="if outputs of padding are ignored", section=rows[0].section
        )
    row, names, parts = rows[0], " or ".join(row.name for row in rows), found.parts
    but = " (further findings below)" if has_more else ""
    said = f"{names}{but}. Your function " + ". Or it ".join(row.effect for row in rows) + "."
    alone = next(iter(variants((row,))))
    subject = asking.asked.subject

    def shows(case: Case) -> bool:
        right, wrong = (given_by(subject, case, each) for each in (REFERENCE, alone))
        return not agrees(subject, case, right, wrong)

    shown, gives = smallest(asking, shows, parts), RESULT_NAMES.get(row.part, "")
    line, meant = (f"{gives} = {x}" if gives else x for x in (row.line, row.right_line))
    return Finding(said, names, None, line, meant, row.section, subject.right, shown)


def _unexplained(asking: Asking, apart: Sequence[Apart], parts: Parts) -> list[Finding]:
    """Return findings on unexplained cases: one for wrong numbers, one per error."""
    findings: dict[str, Finding] = {}
    for each in apart:
        group = each.cases
        if each.found:
            findings |= _alone(asking, each)
            continue
        of_group = asking.only(group)
        of_off = of_group.only(of_group.off(parts))
        if not of_off.cases:  # a bug that shows in other kinds explains it
            continue
        faults = {answer.fault for answer in of_off.answers if answer.value is None}
        is_error = all(answer.value is None for answer in of_off.answers)
        said = min(faults) if is_error else "numbers"
        kind = said.partition(":")[0]
        if kind not in findings:
            findings[kind] = _of_group(asking, group, parts, said if is_error else "")
    return list(findings.values())


def _alone(asking: Asking, apart: Apart) -> dict[str, Finding]:
    """Return findings on bugs that only one kind of case shows, by name."""
    of_group = asking.only(apart.cases)
    kind = asking.asked.named(of_group.cases[0].about)
    found = {f.bug or "": f for f in _bugs(of_group, apart.found, has_more=False)}
    if not asking.asked.conventions.untold.isdisjoint(of_group.cases[0].given):
        found = {name: replace(f, case=None) for name, f in found.items()}
    return {
        name: replace(finding, said=f"{finding.said} Only one kind of case shows it: {kind}.")
        for name, finding in found.items()
    }


def _of_group(asking: Asking, group: Sequence[int], parts: Parts, fault: str) -> Finding:
    """Return the finding on one kind of case that no known bug explains."""
    asked, of_group = asking.asked, asking.only(group)
    off = set(of_group.off(parts))
    kind = asked.named(of_group.cases[0].about)
    if fault:
        rest = [case for i, case in enumerate(of_group.cases) if i not in off]
        rule = limit([of_group.cases[i] for i in off], rest) if rest else None
        narrow = [f"It answers {rule.condition}."] if rule else []
        said = f"{fault} ({kind})"
    else:
        narrow = narrowed(asking, group, parts)
        said = f"the output is wrong, and no known bug explains it ({kind})"
    untold = [x for x in sorted(asked.conventions.untold) if x in of_group.cases[0].given]
    if untold:  # then nobody can say which output is right
        own = next(own for own, name in asked.arguments.items() if name == untold[0])
        narrow.append(f"The outputs do not show whether True in {own} means masked or not.")
    shown = smallest(of_group, lambda _: True)
    advice = f" {ADVICE}" if shown is not None and shown.steps else ""
    more = f" {' '.join(narrow)}" if narrow else ""
    return Finding(
        f"{said}.{more}{advice}", right=asked.subject.right, case=shown, narrowed=tuple(narrow)
    )


def _first_place(asking: Asking, apart: Sequence[Apart]) -> list[Finding]:
    left = set(range(len(asking.cases))).difference(*(each.cases for each in apart))
    return [attention.FIRST] if attention.has_first_place(asking.cases[i] for i in left) else []


def _nothing_seen(asking: Asking, parts: Parts, strict: bool) -> list[Finding]:
    """Return a note on the output for fully masked rows, unless it is zero."""
    subject = asking.asked.subject
    found, shown = set[str](), None
    for case, answer in zip(asking.cases, asking.answers, strict=True):
        empty = subject.blank(case.given) if subject.blank else np.zeros(1, bool)
        if not empty.any() or answer.value is None:
            continue
        empty = np.broadcast_to(empty, answer.value.shape[:-1])
        came = answer.value[empty]
        name = "NaN" if np.isnan(came).all() else ""
        for kind, each in EMPTY.items():
            given = given_by(
                subject, case, each.with_parts(dict(parts.replaced) | dict(each.replaced))
            )
            tolerance = max(3e-4, asking.least)
            if given is not None and np.allclose(
                given[empty], came, tolerance, tolerance, equal_nan=True
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
        return [Finding(f"{name}. Your function {said}.", bug=name, section=NOTHING_SEEN,
                        right=subject.right)]  # fmt: skip
    condition = "if no query is fully masked, or its row is ignored"
    return [Finding(f"{name}. Your function {said}.", convention=condition, section=NOTHING_SEEN)]


def _dtypes(asking: Asking) -> list[Finding]:
    """Return a finding if the dtype of outputs differs from that of inputs."""
    fault = next((x.fault for x in asking.answers if x.value is not None and x.fault), "")
    if not fault:
        return []
    why = "The precision beyond float32 is lost."
    if "float64 for" in fault:
        why = "A float64 scalar of NumPy, such as np.sqrt(4), is the usual cause."
    return [Finding(f"{fault}. {why}", convention=fault)]


def _drawn(asking: Asking) -> Finding | None:
    """Return a finding if two calls with the same input give different outputs."""
    again = [asking.asked.ask(case) for case in asking.cases[:6]]
    pairs = zip(asking.cases, asking.answers, again, strict=False)
    if all(agrees(asking.asked.subject, case, a.value, b.value) for case, a, b in pairs):
        return None
    said = "two calls with the same input give different outputs: something random is left on."
    bug = next(row for row in TABLE if row.part == "drop")
    if not _leaves_weights_out(asking):
        return Finding(said, section=bug.section)
    return Finding(f"{bug.name}: {said}", bug.name, None, bug.line, bug.right_line, bug.section)


def _leaves_weights_out(asking: Asking) -> bool:
    """Return whether some weights are zero and all others larger by one factor: dropout.

    Where each value is a vector of its own, an output is a row of weights.
    """
    if "value" not in asking.cases[0].given:
        return False
    for case in asking.cases[:6]:
        keys = case.given["key"].shape[-2]
        value = np.broadcast_to(np.eye(keys), (*case.given["value"].shape[:-1], keys))
        one = replace(case, given={**case.given, "value": value})
        found, wanted = asking.asked.ask(one).value, asking.asked.subject.wanted(one.given)
        if found is None or found.shape != wanted.shape:
            continue
        factors = (found / wanted)[found != 0]
        if factors.size and (factors.min() <= 1 or np.ptp(factors) > 1e-3):
            return False
    return True


# ---- The smallest case ----


def smallest(
    asking: Asking, shows: Callable[[Case], bool], wrong: Parts | None = None
) -> Shown | None:
    """Return the smallest case with a wrong output.

    It is one that `shows` what is looked for; the `wrong` parts give what came, if any do.
    """
    asked = asking.asked
    subject = asked.subject

    def is_plain(case: Case) -> bool:  # what a fully masked row holds is a convention
        return subject.blank is None or not subject.blank(case.given).any()

    def is_told(of: Asking, i: int) -> bool:  # what True says, if no output but a bug's tells it
        is_open = not asked.conventions.untold.isdisjoint(of.cases[i].given)
        return not is_open or (wrong is not None and of.fits(i, wrong))

    off = [i for i in asking.off() if is_plain(asking.cases[i]) and is_told(asking, i)]
    off = [i for i in off if shows(asking.cases[i])] or off
    off.sort(key=lambda i: (asking.answers[i].value is None, asking.cases[i].size))
    kinds = {asking.cases[i].about: i for i in reversed(off)}
    rng, tries = np.random.default_rng(43), TRIES
    facts = asked.conventions.facts
    least = max(SEEN, asking.least)
    for i in sorted(kinds.values(), key=off.index)[:4]:
        for case in map(asked.completed, asked.subject.smaller(asking.cases[i], facts, rng)):
            tries -= 1
            if tries < 0 or not asked.can(case) or not asked.conventions.allows(case):
                break
            one = replace(asking, cases=[case], answers=[asked.ask(case)], fitting={}, least=least)
            is_alike = (one.answers[0].value is None) == (asking.answers[i].value is None)
            if is_alike and is_plain(case) and one.off() and shows(case) and is_told(one, 0):
                return _shown(one, wrong)
    if not off:
        return None
    if asking.answers[off[0]].value is None:
        return _error(asking.only(off[:1]))
    return _shown(asking.only(off[:1]), wrong) if asking.cases[off[0]].size < LARGE else None


def _error(asking: Asking) -> Shown | None:
    """Return a case that raises an error, with ones as inputs if they raise it too."""
    (case,), (answer,), asked = asking.cases, asking.answers, asking.asked
    ones = {
        name: np.ones_like(x) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x
        for name, x in case.given.items()
    }
    one = replace(case, given=ones)
    if asked.ask(one).fault == answer.fault:
        return _shown(replace(asking, cases=[one], fitting={}), None)
    return _shown(asking, None) if case.size < LARGE else None


def _shown(asking: Asking, wrong: Parts | None) -> Shown:
    """Return a case with its right and its actual output, and the steps to a difference."""
    (case,), (answer,), asked = asking.cases, asking.answers, asking.asked
    subject, name = asked.subject, getattr(asked.function, "__name__", "")
    code = asked.code(case, asked.called or (name if name.isidentifier() else "function"))
    wanted, came = asking.gives(case, REFERENCE), answer.value

    handed = {own: x for own, x in asked.handed(case).items() if x is not None}
    shown = partial(Shown, asked.named(case.about), handed, code)
    if came is None or wanted is None:
        said = answer.fault if came is None else written(came)
        return shown("no array" if wanted is None else written(asked.out(wanted)), said)
    if came.shape != wanted.shape:
        shape = f"{written(asked.out(came))}, of shape {came.shape} instead of {wanted.shape}"
        return shown(written(asked.out(wanted)), shape)
    is_known = wrong is not None and agrees(
        subject, case, came, given_by(subject, case, wrong), asking.least
    )
    sets = (REFERENCE, wrong) if wrong is not None and is_known else (REFERENCE,)
    texts = written(asked.out(wanted)), written(asked.out(came))
    wanted, came = (comparable(subject, case, x) for x in (wanted, came))
    off = np.argwhere(~np.isclose(wanted, came, rtol=SEEN, atol=SEEN))
    if not len(off):
        return shown(*texts)
    call, at = subject.call(case.given, tuple(map(int, off[0])))
    runs = [Recorded(each.replaced, each.combines_masks) for each in sets]
    for run in runs:
        given_by(subject, case, run)
    steps = told(case.given, subject.steps, [run.calls for run in runs], call, at)
    return shown(*texts, steps, call + 1 if subject.calls else 0)
