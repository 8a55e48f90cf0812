"""Claims in words: what every check finds, and which numbers a claim stands beside."""

import pytest
from helpers import raises
from made_up_claims import FINDINGS, findings

from mha.audit.checks import CHECKS
from mha.audit.claims import claims_from, load_claims
from mha.audit.sources import load_source
from mha.examples import load_example
from mha.runs.places import Place
from mha.runs.record import trace

STARS = (185, 224, 386, 422, 592, 622)  # where the apple document marks a largest number

KNOWN = FINDINGS.read_text(encoding="utf-8").splitlines()


# Checks


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_finds_what_it_found(check):
    found = list(findings(check))
    assert found == [line for line in KNOWN if line.startswith(f"{check}(")]
    assert {") holds: " in line for line in found} == {True, False}, "it comes out one way only"


# Data


def test_every_star_is_covered():
    starred = [claim for claim in load_claims() if "★" in claim.says]
    assert tuple(claim.line for claim in starred) == STARS
    assert {claim.check for claim in starred} == {"largest"}
    # A star stands beside a number of the very row and key that the claim names.
    for claim in starred:
        wanted = tuple(claim.given[part] for part in ("head", "row", "column"))
        numbers = [n for n in load_source("apple-walkthrough") if n.line == claim.line]
        assert numbers[-1].place == Place.at(claim.given["stage"], *wanted)


def test_an_illustration_is_not_borne_out_by_the_example_that_follows_it():
    (claim,) = (c for c in load_claims() if (c.source, c.line) == ("attention-notes", 65))
    assert claim.finding() is None
    assert "*football* gets the lowest score" in claim.untestable
    run = trace(load_example("play-football"))
    play, football = (run.tokens.index(word) for word in ("play", "football"))
    assert run.scores[0, play].argmin() == football


# Errors


def test_a_list_of_claims_that_cannot_be_read_is_named():
    with raises(ValueError, "mha/audit/sources/claims.toml has no 'claims'; it is wanted"):
        claims_from("")
    with pytest.raises(ValueError, match=r"^mha/audit/sources/claims\.toml: .*'line'"):
        claims_from("[[claims]]\nsource = 'mha-tutorial'\nsays = 'two is prime'\n")
