"""Public bug reports, and the verdict of `mha.examine` on each bug and on its correct twin.

`examine/test_reports.py` asks it of functions in NumPy, and
`against_frameworks/test_reports_in_frameworks.py` of functions and modules of the frameworks.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from independent_cases import EXAMINE

from mha.examine import Report

NARROWED = "narrowed"  # the report names inputs for which the outputs agree, or influences
MASKED_ROWS = "fully masked row"  # how a note on such rows begins

Make = Callable[[bool], Any]


@dataclass(frozen=True)
class Reported:
    """A public bug report.

    `make(True)` returns the function or module with the mistake, `make(False)` its twin without.
    `expected` is the bug's name in the table of `mha.practice.bugs`, or NARROWED, or a condition
    ("if ...") where the mistake is right by another convention, or the note on fully masked rows
    where only these show it. `refused` are the names
    that the refusal of both has to give; with a condition, of the twin alone, since the mistake is
    then that the module leaves out what is refused.
    """

    origin: str
    expected: str
    make: Make
    examine: Callable[[Any], Report]
    refused: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.make.__name__


class Reports(list[Reported]):
    """The reports of one file. A decorator registers each."""

    def __init__(self, kind: str, **options: Any) -> None:
        super().__init__()
        self.kind, self.options = kind, options

    def add(
        self,
        origin: str,
        expected: str,
        kind: str = "",
        refused: tuple[str, ...] = (),
        **options: Any,
    ) -> Callable[[Make], Make]:
        chosen, examine = {**self.options, **options}, EXAMINE[kind or self.kind]

        def decorator(make: Make) -> Make:
            self.append(
                Reported(origin, expected, make, lambda made: examine(made, **chosen), refused)
            )
            return make

        return decorator


@cache
def examine_case(case: Reported, faulty: bool) -> Report:
    return case.examine(case.make(faulty))


def conditions(report: Report) -> list[str]:
    return [finding.convention for finding in report.findings if finding.convention]


def names(report: Report) -> list[list[str]]:
    """Return the bug names of each finding: several if these bugs give the same outputs."""
    wrong = [finding for finding in report.findings if not finding.convention]
    return [finding.bug.split(" or ") for finding in wrong if finding.bug]


def expect_reported(case: Reported) -> None:
    """Expect that the bug is named, narrowed or reported as the case expects."""
    report = examine_case(case, True)
    if case.expected.startswith("if "):
        assert case.expected in conditions(report), report
        assert case.expected not in conditions(examine_case(case, False)), report
        return
    if case.expected.startswith(MASKED_ROWS):
        assert any(finding.said.startswith(case.expected) for finding in report.findings), report
        return
    assert not report.ok, report
    if case.expected == NARROWED:
        assert any(finding.narrowed for finding in report.findings), report
    else:
        assert any(case.expected in alternatives for alternatives in names(report)), report


def expect_no_false_name(case: Reported) -> None:
    """Expect that no finding names a different bug alone."""
    report = examine_case(case, True)
    for alternatives in names(report):
        assert case.expected in alternatives, report


def expect_right_twin(case: Reported) -> None:
    report = examine_case(case, False)
    assert report.ok, report


def expect_refusal(case: Reported) -> None:
    """Expect a refusal of both with the case's names, or a bug with the case's condition."""
    if case.expected:
        assert case.expected in conditions(examine_case(case, True))
    for faulty in (False,) if case.expected else (True, False):
        with pytest.raises(TypeError) as refusal:
            examine_case(case, faulty)
        for name in case.refused:
            assert name in str(refusal.value)


def parametrized(
    cases: Iterable[Reported], expect: Callable[[Reported], None], gaps: Mapping[str, str]
) -> list[Any]:
    """Return the cases as pytest parameters. Those with a known gap are expected to fail."""

    def marks(case: Reported) -> tuple[pytest.MarkDecorator, ...]:
        reason = gaps.get(f"{case}: {QUESTIONS[expect]}")
        if reason is None:
            return ()
        return (pytest.mark.xfail(reason=reason, strict=True, raises=RAISED),)

    return [pytest.param(case, id=str(case), marks=marks(case)) for case in cases]


RAISED = (AssertionError, TypeError, pytest.fail.Exception)
QUESTIONS = {
    expect_reported: "told",
    expect_no_false_name: "name",
    expect_right_twin: "twin",
    expect_refusal: "refusal",
}
"""The word in a list of known gaps for each expectation."""
