"""Bugs of public reports are named or narrowed, and no corrected function is called wrong."""

import numpy as np
import pytest
from functions_of_projects import REPORTS


@pytest.mark.slow
@pytest.mark.parametrize("reported", REPORTS, ids=str)
def test_a_bug_in_a_project_is_named_or_narrowed(reported):
    with np.errstate(all="ignore"):
        report = reported.examine_faulty()
    assert not report.ok, report
    wrong = [finding for finding in report.findings if not finding.convention]
    if reported.bug:
        assert [finding.bug for finding in wrong] == [reported.bug], report
    else:
        assert any(finding.narrowed for finding in wrong), report


@pytest.mark.parametrize("reported", REPORTS, ids=str)
def test_the_corrected_function_of_a_project_is_right(reported):
    report = reported.examine_twin()
    assert report.ok, report
