"""From answers to a report: what is a convention, which bug it is, and the smallest case."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.examine.asking import Answer, Asked
from mha.examine.cases import Case
from mha.examine.explaining import Explanation, agrees, explanations, given_by, variants
from mha.examine.report import Finding, Report, Shown, written
from mha.practice.bugs import TABLE, Bug
from mha.practice.parts import GIVE, SOUND, Parts

TRIES = 400
"""How many small cases are tried before a case is shown as it was asked."""
ADVICE = (
    "Let your function print its steps on the case below: where they leave those worked there is"
    " the line that is wrong."
)
"""What is said where no known bug explains what came."""


@dataclass(frozen=True, eq=False)
class Asking:
    """A function, what it was asked, and what came."""

    asked: Asked
    cases: Sequence[Case]
    answers: Sequence[Answer]
    given: dict[tuple[int, Parts], Array | None] = field(default_factory=dict)
    differing: dict[tuple[int, str], bool] = field(default_factory=dict)

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
        if (id(case), parts) not in self.given:
            subject = self.asked.subject
            self.given[id(case), parts] = (
                subject.wanted(case.given) if parts == SOUND else given_by(subject, case, parts)
            )
        return self.given[id(case), parts]

    def changed(self, case: Case, row: Bug) -> bool:
        """Return whether a row alone makes a case different, in any of its variants."""
        key = (id(case), row.name)
        if key not in self.differing:
            right = self.gives(case, SOUND)
            self.differing[key] = any(
                not agrees(self.asked.subject, case, self.gives(case, parts), right)
                for parts in variants((row,))
            )
        return self.differing[key]

    def only(self, kept: Iterable[int]) -> "Asking":
        """Return it with some cases only."""
        kept = list(kept)
        cases, answers = [self.cases[i] for i in kept], [self.answers[i] for i in kept]
        return replace(self, cases=cases, answers=answers)

    def limited(self) -> tuple["Asking", list[Finding]]:
        """Return it without numbers of axes that the function does not take, and what is said."""
        axes = [len(case.leading) + 2 for case in self.cases]
        fits = {
            axes[i]
            for i, (case, answer) in enumerate(zip(self.cases, self.answers, strict=True))
            if answer.value is not None
            and answer.value.shape == self.asked.subject.wanted(case.given).shape
        }
        if not fits or fits == set(axes):
            return self, []
        condition = f"if arrays have {' or '.join(map(str, sorted(fits)))} axes"
        kept = self.only([i for i, each in enumerate(axes) if each in fits])
        return kept, [Finding(f"another convention, right {condition}.", convention=condition)]

    def narrowed(self) -> "Asking":
        """Return it with what came in float32, which is then held to the digits of that."""
        values = (answer.value for answer in self.answers)
        narrow = [x if x is None or x.dtype != np.float64 else x.astype(np.float32) for x in values]
        pairs = zip(self.answers, narrow, strict=True)
        return replace(self, answers=[replace(answer, value=x) for answer, x in pairs])

    def explained(self, extra: Sequence[Bug] = ()) -> list[Explanation]:
        """Return what gives exactly what came."""
        return explanations(
            self.asked.subject, self.cases, self.answers, self.gives, self.changed, extra
        )

    def off(self, parts: Parts = SOUND) -> list[int]:
        """Return the cases of which something else came than some parts give."""
        return [
            i
            for i, (case, answer) in enumerate(zip(self.cases, self.answers, strict=True))
            if not agrees(self.asked.subject, case, answer.value, self.gives(case, parts))
        ]


def judged(asking: Asking, name: str, before: Sequence[Finding] = (), extra: Any = None) -> Report:
    """Return the report on what came.

    Parameters
    ----------
    asking : Asking
    name : str
        The function's.
    before : sequence of Finding
        What was found before.
    extra : callable, optional
        Takes the function and gives rows beside those of the table: called where nothing else
        explains what came.

    Returns
    -------
    Report
    """
    drawn = _drawn(asking)
    if drawn is not None:
        return Report(name, _counts(asking, SOUND), (*before, drawn))
    found, apart = _set_apart(asking)
    narrow = asking if found else asking.narrowed()
    if len(narrow.off()) < len(asking.off()):
        found, apart = _set_apart(narrow)
        if found:
            said = "it computes float64 with the digits of float32"
            asking, before = narrow, (*before, Finding(f"{said}.", convention=said))
    if not found and extra is not None:
        found, apart = _set_apart(asking, extra(asking.asked))
    if not found:
        found, apart = [Explanation((), SOUND)], [asking.off()]
    more = [_unexplained(asking, group, found[0].parts) for group in apart]
    has_more = any(not finding.convention for finding in more)
    findings = [*before, *_findings(asking, found, has_more), *more, *_dtypes(asking)]
    conventions = (row for row in found[0].rows if row.is_convention)
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
    tried: set[tuple[int, ...]] = {()}
    for apart in (each for n in range(len(groups) + 1) for each in combinations(groups, n)):
        left = tuple(i for i in range(len(kinds)) if i not in set().union(*apart))
        came = any(asking.answers[i].value is not None for i in left)
        found = asking.only(left).explained(extra) if came and left not in tried else []
        if found:
            return found, [[i for i in group if i in off] for group in apart]
        tried.add(left)
    return [], []


def _with(*rows: Bug) -> Parts:
    return SOUND.having({row.part: row.line for row in rows})


def _counts(asking: Asking, parts: Parts) -> dict[str, tuple[int, int]]:
    """Return how many cases of each kind agree, and how many there are."""
    off = set(asking.off(parts))
    counts: dict[str, tuple[int, int]] = {}
    for i, case in enumerate(asking.cases):
        agreed, total = counts.get(case.about, (0, 0))
        counts[case.about] = agreed + (i not in off), total + 1
    return counts


# ---- Findings ----


def _findings(asking: Asking, found: Sequence[Explanation], has_more: bool) -> list[Finding]:
    """Return a finding for each bug and convention; where several give the same, one for all."""
    common = [row for row in found[0].rows if all(row in each.rows for each in found)]
    others = [row for each in found for row in each.rows if row not in common]
    groups = [[row] for row in common] + ([list(dict.fromkeys(others))] if others else [])
    agreed = [row for row in common if row.is_convention]
    return [_finding(asking, group, agreed, has_more) for group in groups]


def _finding(asking: Asking, rows: Sequence[Bug], agreed: Sequence[Bug], has_more: bool) -> Finding:
    """Return the finding on one bug or convention, or on several that give the same."""
    row, names = rows[0], " or ".join(row.name for row in rows)
    if all(row.is_convention for row in rows):
        condition = ", or ".join(row.said for row in rows)
        return Finding(
            f"another convention, right {condition}.", convention=condition, section=row.section
        )
    subject, before, after = asking.asked.subject, _with(*agreed), _with(*agreed, row)

    def shows(case: Case) -> bool:
        right, wrong = (given_by(subject, case, parts) for parts in (before, after))
        return not agrees(subject, case, right, wrong)

    but = ", but for what is told below" if has_more else ""
    said = f"{names}{but}. It " + ". Or it ".join(row.said for row in rows) + "."
    shown, gives = smallest(asking, shows, before), GIVE.get(row.part, "")
    line, meant = (f"{gives} = {x}" if gives else x for x in (row.line, row.meant))
    return Finding(said, names, None, line, meant, row.section, shown)


def _unexplained(asking: Asking, group: Sequence[int], parts: Parts) -> Finding:
    """Return the finding on cases of which no known bug gives what came."""
    of_group = asking.only(group)
    first, *others = dict.fromkeys(case.about for case in of_group.cases)
    faults = list(dict.fromkeys(answer.fault for answer in of_group.answers))
    if _is_limit(of_group, parts):
        condition = asking.asked.subject.limit
        return Finding(f"another convention, right {condition}.", convention=condition)
    is_fault = all(answer.value is None for answer in of_group.answers)
    said = faults[0] if is_fault else "no bug that is known here gives what came"
    shown = smallest(of_group, lambda _: True, SOUND)
    advice = f" {ADVICE}" if shown is not None and shown.lines else ""
    more = f" and {len(others)} other kind{'s'[: len(others) - 1]}" if others else ""
    return Finding(f"{said} (asked: {first}{more}).{advice}", case=shown)


def _is_limit(asking: Asking, parts: Parts) -> bool:
    """Return whether the first group is refused, or of masks each number but 0 counts as True."""
    if not all(case.about in asking.asked.subject.apart[0] for case in asking.cases):
        return False
    if all(answer.value is None for answer in asking.answers):
        return True
    if not all("mask" in case.given for case in asking.cases):
        return False
    truths = [{**case.given, "mask": case.given["mask"] != 0} for case in asking.cases]
    cases = [replace(case, given=x) for case, x in zip(asking.cases, truths, strict=True)]
    return not replace(asking, cases=cases, given={}, differing={}).off(parts)


def _dtypes(asking: Asking) -> list[Finding]:
    """Return a finding if arrays come in another dtype than what is handed in."""
    faults = [answer.fault for answer in asking.answers if answer.value is not None]
    fault = next(filter(None, faults), "")
    if not fault:
        return []
    widens = fault.startswith("it returns float64")
    return [Finding(f"{fault}.", convention=fault if widens else None)]


def _drawn(asking: Asking) -> Finding | None:
    """Return a finding if the same question has two answers; dropout is known by its gaps.

    Where each value is a vector of its own, an output is a row of weights. Dropout leaves some of
    them out and makes all others larger by one factor.
    """
    again = [asking.asked.ask(case) for case in asking.cases[:6]]
    pairs = zip(asking.cases, asking.answers, again, strict=False)
    if all(agrees(asking.asked.subject, case, a.value, b.value) for case, a, b in pairs):
        return None
    said = "asked the same twice, it gives two answers: something random is left on."
    bug = next(row for row in TABLE if row.part == "drop")
    if not _leaves_weights_out(asking):
        return Finding(said, section=bug.section)
    return Finding(f"{bug.name}: {said}", bug.name, None, bug.line, bug.meant, bug.section)


def _leaves_weights_out(asking: Asking) -> bool:
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


def smallest(asking: Asking, shows: Callable[[Case], bool], right: Parts) -> Shown | None:
    """Return the smallest case of which something else came than some parts give.

    Parameters
    ----------
    asking : Asking
    shows : callable
        Takes a case and says whether it can show what is looked for.
    right : Parts
        Sound ones, with the conventions that were found.

    Returns
    -------
    Shown or None
        None if no case does.
    """
    asked, subject = asking.asked, asking.asked.subject
    off = sorted(
        (i for i in asking.off(right) if shows(asking.cases[i])),
        key=lambda i: (asking.answers[i].value is None, asking.cases[i].size),
    )
    kinds: dict[str, int] = {}
    for i in off:
        kinds.setdefault(asking.cases[i].about, i)
    rng, tries = np.random.default_rng(43), TRIES
    for i in list(kinds.values())[:4]:
        for case in subject.smaller(asking.cases[i], rng):
            tries -= 1
            if tries < 0 or not asked.can(case):
                break
            one = replace(asking, cases=[case], answers=[asked.ask(case)], given={})
            is_alike = (one.answers[0].value is None) == (asking.answers[i].value is None)
            if is_alike and one.off(right) and shows(case):
                return _shown(one, right)
    return _shown(asking.only(off[:1]), right) if off else None


def _shown(asking: Asking, right: Parts) -> Shown:
    """Return a case, what is wanted and what came; as arithmetic, where no convention counts."""
    (case,), (answer,), subject = asking.cases, asking.answers, asking.asked.subject
    handed = {own: x for own, x in asking.asked.handed(case).items() if x is not None}
    if "sizes" in case.given:
        handed["tokens that come at each step"] = case.given["sizes"]
    wanted, came = asking.gives(case, right), answer.value
    if came is None or wanted is None:
        said = answer.fault if came is None else written(came)
        return Shown(handed, "no array" if wanted is None else written(wanted), said)
    if came.shape != wanted.shape:
        shape = f"{written(came)}, of shape {came.shape} where {wanted.shape} is wanted"
        return Shown(handed, written(wanted), shape)
    is_usual = agrees(subject, case, wanted, asking.gives(case, SOUND))
    wanted, came = (subject.compared(case.given, x) for x in (wanted, came))
    off = np.argwhere(~np.isclose(wanted, came, rtol=1e-3, atol=1e-4))
    index = [int(i) for i in off[0]] if len(off) and is_usual else None
    lines = subject.lines(case.given, tuple(index)) if index else []
    if lines:
        lines = [f"wanted{index}, by hand:", *(f"  {line}" for line in lines)]
    return Shown(handed, written(wanted), written(came), tuple(lines))
