"""Bugs of public reports in PyTorch, JAX and Keras are named, narrowed, reported or refused.

KNOWN_GAPS lists the exceptions with reasons, and a test fails when one of them is repaired.
"""

import pytest
from bug_reports import (
    QUESTIONS,
    expect_no_false_name,
    expect_refusal,
    expect_reported,
    expect_right_twin,
    parametrized,
)
from reports_of_modules import CASES

EXAMINED = [case for case in CASES if not case.refused]
REFUSED = [case for case in CASES if case.refused]

KNOWN_GAPS: dict[str, str] = {}
"""The reason for each gap, by "case: told", "case: name", "case: twin" or "case: refusal"."""


@pytest.mark.parametrize("case", parametrized(EXAMINED, expect_reported, KNOWN_GAPS))
def test_a_mistake_of_a_public_report_is_named_narrowed_or_told(case):
    expect_reported(case)


@pytest.mark.parametrize("case", parametrized(EXAMINED, expect_no_false_name, KNOWN_GAPS))
def test_no_other_bug_is_named(case):
    expect_no_false_name(case)


@pytest.mark.parametrize("case", parametrized(EXAMINED, expect_right_twin, KNOWN_GAPS))
def test_its_right_twin_is_right(case):
    expect_right_twin(case)


@pytest.mark.parametrize("case", parametrized(REFUSED, expect_refusal, KNOWN_GAPS))
def test_a_module_that_computes_more_is_refused_with_the_names_of_it(case):
    expect_refusal(case)


def test_every_gap_is_of_a_case_and_each_case_has_a_name_of_its_own():
    named = [str(case) for case in CASES]
    assert len(named) == len(set(named))
    questions = {f"{case}: {question}" for case in named for question in QUESTIONS.values()}
    assert KNOWN_GAPS.keys() <= questions
