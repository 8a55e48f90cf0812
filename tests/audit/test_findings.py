"""What the checks find, word for word: a sentence or a number that changes is seen."""

import pytest
from made_up_claims import FINDINGS, findings

from mha.audit.checks import CHECKS

KNOWN = FINDINGS.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_finds_what_it_found(check):
    assert list(findings(check)) == [line for line in KNOWN if line.startswith(f"{check}(")]


def test_each_line_is_of_a_check():
    assert {line.partition("(")[0] for line in KNOWN} == set(CHECKS)
