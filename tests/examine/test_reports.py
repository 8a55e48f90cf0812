"""Bugs of public reports are named, narrowed or reported; their correct twins are right.

KNOWN_GAPS lists the exceptions with reasons, and a test fails when one of them is repaired.
"""

import pytest
from bug_reports import (
    NARROWED,
    QUESTIONS,
    TOLD,
    expect_no_false_name,
    expect_reported,
    expect_right_twin,
    parametrized,
)
from reports_of_language_models import CASES as LANGUAGE
from reports_of_other_models import CASES as OTHER

from mha.practice.bugs import TABLE

CASES = [*LANGUAGE, *OTHER]

KNOWN_GAPS = {
    # Not noticed
    "masked_bias_1e4: told": "no case has scores below -10000",
    "running_maximum_from_a_floor: told": "no case has scores below -50000",
    "block_mask_loses_causal: told": "doc_ids are not tested, as the report says",
    "lengths_tiled: told": "valid_lens of a layer are not tested, as the report says",
    "rotating_cache_never_evicts: told": "a step without a window is what is expected of a step",
    # Named after another bug
    "window_at_one_position: told": "the pairs are halves, which hides the position",
    "window_at_one_position: name": "halves for pairs, though halves are right in the twin",
    "merge_without_permute: name": "no shift or one maximum for all rows, after NaN of masked rows",
    "query_offset_before_concat: name": "only keys rotated, though queries are, from position 0",
    "running_maximum_from_zero: name": "sigmoid for softmax, as both give 0 for low scores",
    # The right twin is called wrong
    "rotating_cache_never_evicts: twin": "the window of a step is not known as a convention",
    "partial_rotary_head_width: twin": "a rotation of a part of each head is not known",
    "alibi_over_query_length: twin": "linear biases in a step are not known",
    "rotary_over_heads_last: twin": "rotary positions are tested with tokens second to last only",
}
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
    known = {bug.name for bug in TABLE} | {NARROWED, TOLD, "half precision"}
    unknown = {case.expected for case in CASES} - known
    assert all(expected.startswith("if ") for expected in unknown), unknown


def test_every_gap_is_of_a_case_and_each_case_has_a_name_of_its_own():
    named = [str(case) for case in CASES]
    assert len(named) == len(set(named))
    questions = {f"{case}: {question}" for case in named for question in QUESTIONS.values()}
    assert KNOWN_GAPS.keys() <= questions
