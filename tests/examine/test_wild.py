"""Bugs of public reports are named or narrowed, and none passes; their correct twins pass."""

import pytest
from wild import TWINS, faulty


@pytest.mark.slow
@pytest.mark.parametrize(("name", "one"), faulty(), ids=str)
def test_a_bug_of_a_public_report_is_named_or_narrowed(name, one):
    report = one.examined(None)
    assert not report.ok, report
    wrong = [finding for finding in report.findings if not finding.convention]
    if name:
        assert name in [finding.bug for finding in wrong], report
    else:
        assert any(finding.narrowed for finding in wrong), report


@pytest.mark.parametrize("twin", TWINS, ids=str)
def test_its_right_twin_is_right(twin):
    report = twin.examined(None)
    assert report.ok, report
