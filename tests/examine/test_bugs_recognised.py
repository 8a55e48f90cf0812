"""Each bug, written by hand, is named with a smallest case that shows it, and none passes."""

import pytest
from wrong_by_hand import ATTENTION, DECODING, LAYER, POSITIONS

import mha
from mha.practice.bugs import TABLE

EXAMINED = {
    **{name: (mha.examine, function, {}) for name, function in ATTENTION.items()},
    **{name: (mha.examine_layer, function, {}) for name, function in LAYER.items()},
    **{name: (mha.examine_positions, function, {}) for name, function in POSITIONS.items()},
    **{
        name: (mha.examine_decoding, function, {"rotary": True})
        for name, function in DECODING.items()
    },
}


# What "True reversed" does is told as a convention.
BUGS = [bug.name for bug in TABLE if not bug.is_convention and bug.name != "True reversed"]


@pytest.mark.slow
@pytest.mark.parametrize("name", BUGS)
def test_a_bug_is_named(name):
    examine, function, options = EXAMINED[name]
    report = examine(function, **options)
    assert not report.ok, report
    wrong = [finding for finding in report.findings if not finding.convention]
    assert [finding.bug for finding in wrong] == [name], report
    assert wrong[0].line != wrong[0].meant
    assert name == "dropout left on" or wrong[0].case is not None
    assert not name.startswith("dropout") or wrong[0].section.endswith("#dropout-left-on")
