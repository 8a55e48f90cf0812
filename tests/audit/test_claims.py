"""Claims in words: every check can hold and can fail, and the data name lines that exist."""

from collections import Counter
from pathlib import Path

import pytest
from helpers import raises
from made_up_claims import BOTH, FINDINGS, findings

from mha.audit.checks import CHECKS
from mha.audit.claims import claims_from, load_claims
from mha.audit.sources import load_source, source_names
from mha.examples import load_example
from mha.runs.places import Place
from mha.runs.record import trace

TOKENS = Path(__file__).parent / "source_tokens"
LINES = {  # how many lines each document has
    "aiayn-part-2": 137,
    "apple-walkthrough": 676,
    "attention-notes": 618,
    "back-to-cats-slides": 212,
    "mha-tutorial": 221,
}
STARS = (185, 224, 386, 422, 592, 622)  # where the apple document marks a largest number

KNOWN = FINDINGS.read_text(encoding="utf-8").splitlines()


def claims_of(source):
    return [claim for claim in load_claims() if claim.source == source]


# Checks


def test_every_check_is_tried_both_ways():
    assert BOTH.keys() == CHECKS.keys() == {line.partition("(")[0] for line in KNOWN}


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_finds_what_it_found(check):
    assert list(findings(check)) == [line for line in KNOWN if line.startswith(f"{check}(")]


# Data


@pytest.mark.parametrize("source", source_names())
def test_every_line_exists(source):
    last_with_a_number = int(
        (TOKENS / f"{source}.txt").read_text("utf-8").splitlines()[-1].split(":")[0]
    )
    assert last_with_a_number <= LINES[source]
    assert all(claim.line <= LINES[source] for claim in claims_of(source))


def test_every_claim_says_something_of_its_own():
    said = Counter((claim.source, claim.says) for claim in load_claims())
    assert set(said.values()) == {1}


def test_every_check_decides_a_claim_of_the_documents():
    assert {claim.check for claim in load_claims()} - {""} == CHECKS.keys()


def test_every_star_is_covered():
    starred = [c for c in claims_of("apple-walkthrough") if "★" in c.says]
    assert tuple(claim.line for claim in starred) == STARS
    assert {claim.check for claim in starred} == {"largest"}
    # A star stands beside a number of the very row and key that the claim names.
    for claim in starred:
        wanted = tuple(claim.given[part] for part in ("head", "row", "column"))
        numbers = [n for n in load_source("apple-walkthrough") if n.line == claim.line]
        assert numbers[-1].place == Place.at(claim.given["stage"], *wanted)


def test_an_illustration_is_not_borne_out_by_the_example_that_follows_it():
    (claim,) = (c for c in claims_of("attention-notes") if c.line == 65)
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
