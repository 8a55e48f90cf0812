"""From answers to a report: what is a convention, which bug it is, and the smallest case."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.examine.asking import Answer, Asked
from mha.examine.cases import Case
from mha.examine.explaining import Explanation, agrees, explanations, given_by, variants
from mha.examine.report import Finding, Report, Shown, written
from mha.examine.steps import Recorded, told
from mha.practice.bugs import TABLE, Bug
from mha.practice.parts import GIVE, SOUND, Parts

SEEN = 5e-4
"""By how much numbers differ for a reader."""
TRIES = 400
"""How many small cases are tried before a case is shown as it was asked."""
MOST_APART = 2
"""How many groups of cases are set apart at once."""
ADVICE = (
    "There may be two bugs at once. Print your steps and compare them with those below: the wrong"
    " line is at or before the first difference. Repair it, and examine your function again."
)
"""What is said where no known bug explains what came."""


@dataclass(frozen=True, eq=False)
class Asking:
    """A function, what it was asked, and what came."""

    asked: Asked
    cases: Sequence[Case]
    answers: Sequence[Answer]
    fitting: dict[tuple[int, Parts], bool] = field(default_factory=dict)

    @classmethod
    def of(cls, asked: Asked, cases: Iterable[Case]) -> "Asking":
        """Ask a function, or raise a TypeError where it wants more than any case has."""
        cases = [case for case in cases if asked.can(case)]
        if not cases:
            raise TypeError(
                f"function takes {', '.join(asked.arguments)}, which no case has all of; defaults"
                " for some of them are wanted"
            )
        return cls(asked, cases, [asked.ask(case) for case in cases])

    def gives(self, case: Case, parts: Parts) -> Array | None:
        """Return what is right of a case, or what other parts give; computed once."""
        if parts not in case.gives:
            subject = self.asked.subject
            case.gives[parts] = (
                subject.wanted(case.given) if parts == SOUND else given_by(subject, case, parts)
            )
        return case.gives[parts]

    def fits(self, i: int, parts: Parts) -> bool:
        """Return whether parts give what came of a case; compared once."""
        case, key = self.cases[i], (id(self.cases[i]), parts)
        if key not in self.fitting:
            given = self.gives(case, parts)
            self.fitting[key] = agrees(self.asked.subject, case, self.answers[i].value, given)
        return self.fitting[key]

    def changed(self, case: Case, row: Bug) -> bool:
        """Return whether a row alone makes a case different, in any of its variants."""
        key = row.name, row.line
        if key not in case.changes:
            right = self.gives(case, SOUND)
            case.changes[key] = any(
                not agrees(self.asked.subject, case, self.gives(case, parts), right)
                for parts in variants((row,))
            )
        return case.changes[key]

    def only(self, kept: Iterable[int]) -> "Asking":
        """Return it with some cases only."""
        kept = list(kept)
        cases, answers = [self.cases[i] for i in kept], [self.answers[i] for i in kept]
        return replace(self, cases=cases, answers=answers)

    def limited(self) -> tuple["Asking", list[Finding]]:
        """Return it without numbers of axes that the function does not take, and what is said."""
        axes = [len(case.leading) + 2 for case in self.cases]
        shapes = [self.asked.subject.wanted(case.given).shape for case in self.cases]
        fitting = [
            answer.value is not None and answer.value.shape == shape
            for shape, answer in zip(shapes, self.answers, strict=True)
        ]
        fits = {each for each, is_fitting in zip(axes, fitting, strict=True) if is_fitting}
        # Padding that has a row a text cannot be read where there is one text alone.
        padded = [i for i, case in enumerate(self.cases) if "padding" in case.given]
        least = min((axes[i] for i in padded if fitting[i]), default=0)
        too_few = {i for i in padded if axes[i] < least}
        found = []
        if fits and fits != set(axes):
            found.append(convention(f"if arrays have {' or '.join(map(str, sorted(fits)))} axes"))
        elif too_few:
            found.append(convention(f"if arrays have {least} axes where there is padding"))
        kept = [i for i, each in enumerate(axes) if each in (fits or axes) and i not in too_few]
        return (self.only(kept) if len(kept) < len(axes) else self), found

    def narrowed(self) -> "Asking":
        """Return it with what came in float32, which is then held to the digits of that."""
        values = (answer.value for answer in self.answers)
        narrow = [x if x is None or x.dtype != np.float64 else x.astype(np.float32) for x in values]
        pairs = zip(self.answers, narrow, strict=True)
        answers = [replace(answer, value=x) for answer, x in pairs]
        return replace(self, answers=answers, fitting={})

    def off(self, parts: Parts = SOUND, least: float = 0.0) -> list[int]:
        """Return the cases of which something else came than some parts give, by so much."""
        given = [self.gives(case, parts) for case in self.cases]
        three = enumerate(zip(self.cases, self.answers, given, strict=True))
        subject = self.asked.subject
        return [i for i, (x, y, z) in three if not agrees(subject, x, y.value, z, least)]


def judged(asking: Asking, name: str, before: Sequence[Finding] = (), extra: Any = None) -> Report:
    """Return the report on what came.

    What was found before is told first; `extra` takes the function and gives rows beside those of
    the table, where nothing else explains what came.
    """
    drawn = _drawn(asking)
    if drawn is not None:
        return Report(name, _counts(asking, SOUND), (*before, drawn))
    found, apart = _set_apart(asking)
    narrow = asking if found else asking.narrowed()
    if len(narrow.off()) < len(asking.off()):
        found, apart = _set_apart(narrow)
        if found:
            said = "your function computes float64 with the digits of float32"
            asking, before = narrow, (*before, Finding(f"{said}.", convention=said))
    if not found and extra is not None:
        found, apart = _set_apart(asking, extra(asking.asked))
    if not found:
        found, apart = [Explanation((), SOUND)], [asking.off()]
    more = [_unexplained(asking, group, found[0].parts) for group in apart]
    has_more = any(not finding.convention for finding in more)
    findings = [*before, *_findings(asking, found, has_more), *more, *_dtypes(asking)]
    conventions = (row for row in found[0].rows if row.is_convention)
    findings.sort(key=lambda finding: finding.convention is not None)
    return Report(name, _counts(asking, _with(*conventions)), tuple(findings))


def _set_apart(
    asking: Asking, extra: Sequence[Bug] = ()
) -> tuple[list[Explanation], list[list[int]]]:
    """Return explanations of what came, and the fewest groups of cases that they leave out."""
    off, kinds = set(asking.off()), [case.about for case in asking.cases]
    groups = [
        [i for i, answer in enumerate(asking.answers) if answer.value is None],
        *([i for i, kind in enumerate(kinds) if kind in g] for g in asking.asked.subject.apart),
    ]
    groups = [group for group in groups if off & set(group)]

    def without(*apart: list[int]) -> tuple[int, ...]:
        return tuple(sorted(set(range(len(kinds))).difference(*apart)))

    def explained(
        left: tuple[int, ...], shown: Sequence[Case] | None = None
    ) -> list[Explanation] | None:
        kept, subject = asking.only(left), asking.asked.subject
        if all(answer.value is None for answer in kept.answers):
            return None
        return explanations(subject, kept.cases, kept.fits, asking.changed, extra, shown)

    tried: set[tuple[int, ...]] = set()
    for apart in (each for n in range(MOST_APART + 1) for each in combinations(groups, n)):
        left = without(*apart)
        if left not in tried and (found := explained(left)):
            return found, [[i for i in group if i in off] for group in apart]
        # What explains more explains the cases of no group too: if nothing does, no more is tried.
        if not tried and explained(without(*groups), asking.cases) == []:
            break
        tried.add(left)
    return [], []


def _with(*rows: Bug) -> Parts:
    return SOUND.having({row.part: row.line for row in rows})


def _counts(asking: Asking, parts: Parts) -> dict[str, tuple[int, int]]:
    """Return how many cases of each kind agree, and how many there are."""
    kinds = [asking.asked.named(case.about) for case in asking.cases]
    asked, off = Counter(kinds), Counter(kinds[i] for i in asking.off(parts))
    return {kind: (count - off[kind], count) for kind, count in asked.items()}


# ---- Findings ----


def convention(condition: str, more: str = "", section: str = "") -> Finding:
    """Return the finding on another convention."""
    return Finding(
        f"another convention, right {condition}.{more}", None, condition, "", "", section
    )


def _findings(asking: Asking, found: Sequence[Explanation], has_more: bool) -> list[Finding]:
    """Return a finding for each bug and convention; where several give the same, one for all."""
    common = [row for row in found[0].rows if all(row in each.rows for each in found)]
    others = [row for each in found for row in each.rows if row not in common]
    groups = [[row] for row in common] + ([list(dict.fromkeys(others))] if others else [])
    agreed = [row for row in common if row.is_convention]
    return [_finding(asking, group, agreed, has_more, found[0].parts) for group in groups]


def _finding(
    asking: Asking, rows: Sequence[Bug], agreed: Sequence[Bug], has_more: bool, parts: Parts
) -> Finding:
    """Return the finding on one bug or convention, or on several; all parts give what came."""
    row, names = rows[0], " or ".join(row.name for row in rows)
    if all(row.is_convention for row in rows):
        condition = ", or ".join(row.said for row in rows)
        more = f" {row.in_pytorch} These cases count as agreeing."
        return convention(condition, more, row.section)
    subject, before, after = asking.asked.subject, _with(*agreed), _with(*agreed, row)

    def shows(case: Case) -> bool:
        right, wrong = (given_by(subject, case, parts) for parts in (before, after))
        return not agrees(subject, case, right, wrong)

    but = ", but for what is told below" if has_more else ""
    said = f"{names}{but}. Your function " + ". Or it ".join(row.said for row in rows) + "."
    shown, gives = smallest(asking, shows, before, parts), GIVE.get(row.part, "")
    line, meant = (f"{gives} = {x}" if gives else x for x in (row.line, row.meant))
    return Finding(said, names, None, line, meant, row.section, subject.right, shown)


def _unexplained(asking: Asking, group: Sequence[int], parts: Parts) -> Finding:
    """Return the finding on cases of which no known bug gives what came."""
    of_group = asking.only(group)
    limits = {asking.asked.subject.limits.get(case.about, "") for case in of_group.cases}
    if len(limits) == 1 and "" not in limits and _is_limit(of_group, parts):
        return convention(*limits)
    said = "what came fits no one bug that this tool knows"
    if all(answer.value is None for answer in of_group.answers):
        said = of_group.answers[0].fault
    shown = smallest(of_group, lambda _: True, SOUND)
    advice = f" {ADVICE}" if shown is not None and shown.steps else ""
    return Finding(f"{said}.{advice}", right=asking.asked.subject.right, case=shown)


def _is_limit(asking: Asking, parts: Parts) -> bool:
    """Return whether cases are refused, or of masks each number but 0 counts as True."""
    is_refused = all(answer.value is None for answer in asking.answers)
    if is_refused or not all("mask" in case.given for case in asking.cases):
        return is_refused
    truths = [{**case.given, "mask": case.given["mask"] != 0} for case in asking.cases]
    cases = [replace(case, given=x) for case, x in zip(asking.cases, truths, strict=True)]
    return not replace(asking, cases=cases, fitting={}).off(parts)


def _dtypes(asking: Asking) -> list[Finding]:
    """Return a finding if arrays come in another dtype than what is handed in."""
    fault = next((x.fault for x in asking.answers if x.value is not None and x.fault), "")
    if "float64 where" not in fault:
        return [Finding(f"{fault}.")] if fault else []
    why = "It happens where numbers meet a float64 of NumPy's, such as np.sqrt(4)."
    return [Finding(f"{fault}. {why}", convention=fault)]


def _drawn(asking: Asking) -> Finding | None:
    """Return a finding if the same question has two answers."""
    again = [asking.asked.ask(case) for case in asking.cases[:6]]
    pairs = zip(asking.cases, asking.answers, again, strict=False)
    if all(agrees(asking.asked.subject, case, a.value, b.value) for case, a, b in pairs):
        return None
    said = "asked the same twice, your function gives two answers: something random is left on."
    bug = next(row for row in TABLE if row.part == "drop")
    if not _leaves_weights_out(asking):
        return Finding(said, section=bug.section)
    return Finding(f"{bug.name}: {said}", bug.name, None, bug.line, bug.meant, bug.section)


def _leaves_weights_out(asking: Asking) -> bool:
    """Return whether some weights are gone, and all others larger by one factor: dropout.

    Where each value is a vector of its own, an output is a row of weights.
    """
    if "value" not in asking.cases[0].given:
        return False
    for case in asking.cases[:6]:
        keys = case.given["key"].shape[-2]
        value = np.broadcast_to(np.eye(keys), (*case.given["value"].shape[:-1], keys))
        seen = Case(case.about, {**case.given, "value": value})
        found, wanted = asking.asked.ask(seen).value, asking.asked.subject.wanted(seen.given)
        if found is None or found.shape != wanted.shape:
            return False
        factors = (found / wanted)[found != 0]
        if factors.size and (factors.min() <= 1 or np.ptp(factors) > 1e-3):
            return False
    return True


# ---- The smallest case ----


def smallest(
    asking: Asking, shows: Callable[[Case], bool], right: Parts, wrong: Parts | None = None
) -> Shown | None:
    """Return the smallest case of which something else came than the `right` parts give.

    It is one that `shows` what is looked for; the `wrong` parts give what came, if any do.
    """
    asked = asking.asked
    off = [i for i in asking.off(right) if shows(asking.cases[i])]
    off.sort(key=lambda i: (asking.answers[i].value is None, asking.cases[i].size))
    kinds = {asking.cases[i].about: i for i in reversed(off)}
    rng, tries = np.random.default_rng(43), TRIES
    for i in sorted(kinds.values(), key=off.index)[:4]:
        for case in asked.subject.smaller(asking.cases[i], rng):
            tries -= 1
            if tries < 0 or not asked.can(case):
                break
            one = replace(asking, cases=[case], answers=[asked.ask(case)], fitting={})
            is_alike = (one.answers[0].value is None) == (asking.answers[i].value is None)
            if is_alike and one.off(right, SEEN) and shows(case):
                return _shown(one, right, wrong)
    return _shown(asking.only(off[:1]), right, wrong) if off else None


def _shown(asking: Asking, right: Parts, wrong: Parts | None) -> Shown:
    """Return a case, what is wanted and what came, and the steps to the first difference."""
    (case,), (answer,), asked = asking.cases, asking.answers, asking.asked
    subject, name = asked.subject, getattr(asked.function, "__name__", "")
    code = asked.code(case, name if name.isidentifier() else "function")
    wanted, came = asking.gives(case, right), answer.value

    handed = {own: x for own, x in asked.handed(case).items() if x is not None}
    shown = partial(Shown, asked.named(case.about), handed, code)
    if came is None or wanted is None:
        said = answer.fault if came is None else written(came)
        return shown("no array" if wanted is None else written(wanted), said)
    if came.shape != wanted.shape:
        shape = f"{written(came)}, of shape {came.shape} where {wanted.shape} is wanted"
        return shown(written(wanted), shape)
    is_known = wrong is not None and agrees(subject, case, came, given_by(subject, case, wrong))
    sets = (right, wrong) if wrong is not None and is_known else (right,)
    wanted, came = (subject.compared(case.given, x) for x in (wanted, came))
    off = np.argwhere(~np.isclose(wanted, came, rtol=SEEN, atol=SEEN))
    texts = written(asked.in_order(wanted)), written(asked.in_order(came))
    if not len(off):
        return shown(*texts)
    call, at = subject.call(case.given, tuple(map(int, off[0])))
    runs = [Recorded(each.exchanged, each.joined) for each in sets]
    for run in runs:
        given_by(subject, case, run)
    steps = told(case.given, subject.steps, [run.calls for run in runs], call, at)
    return shown(*texts, steps, call + 1 if subject.calls else 0)
