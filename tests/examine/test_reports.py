"""Bugs of public reports are named, narrowed or reported; their correct twins are right.

KNOWN_GAPS lists the exceptions with reasons, and a test fails when one of them is repaired.
"""

import pytest
from bug_reports import (
    NARROWED,
    QUESTIONS,
    expect_no_false_name,
    expect_reported,
    expect_right_twin,
    parametrized,
)
from reports_of_language_models import CASES as LANGUAGE
from reports_of_libraries import CASES as LIBRARIES
from reports_of_other_models import CASES as OTHER

from mha.practice.bugs import TABLE

CASES = [*LANGUAGE, *OTHER, *LIBRARIES]

KNOWN_GAPS: dict[str, str] = {}
"""The reason for each gap, by "case: told", "case: name" or "case: twin"."""


@pytest.mark.slow
@pytest.mark.parametrize("case", parametrized(CASES, expect_reported, KNOWN_GAPS))
def test_a_mistake_of_a_public_report_is_named_narrowed_or_told(case):
    expect_reported(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", parametrized(CASES, expect_no_false_name, KNOWN_GAPS))
def test_no_other_bug_is_named(case):
    expect_no_false_name(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", parametrized(CASES, expect_right_twin, KNOWN_GAPS))
def test_its_right_twin_is_right(case):
    expect_right_twin(case)


def test_each_case_has_a_known_expectation():
    known = {bug.name for bug in TABLE} | {NARROWED, "half precision"}
    unknown = {case.expected for case in CASES} - known
    assert all(expected.startswith("if ") for expected in unknown), unknown


def test_every_gap_is_of_a_case_and_each_case_has_a_name_of_its_own():
    named = [str(case) for case in CASES]
    assert len(named) == len(set(named))
    questions = {f"{case}: {question}" for case in named for question in QUESTIONS.values()}
    assert KNOWN_GAPS.keys() <= questions
