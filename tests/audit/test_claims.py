"""Claims in words: every check can hold and can fail, and the data name lines that exist."""

from collections import Counter
from pathlib import Path

import pytest
from helpers import raises
from made_up_claims import BOTH

from mha.audit.checks import CHECKS
from mha.audit.checks.finding import Finding
from mha.audit.checks.sizes import PUBLISHED
from mha.audit.claims import Claim, claims_from, load_claims
from mha.audit.sources import load_source, source_names
from mha.core.costs import layer_sizes
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

# The verdicts that the chapter leans on most; computed, and written down here only to be compared.
EXPECTED = {
    ("aiayn-part-2", "Xavier's"): False,
    ("attention-notes", "gradients explode"): False,
    ("attention-notes", "three percentages of *play*"): False,
    ("attention-notes", "one kind of relationship only"): False,
    ("attention-notes", "base model has 8 heads"): True,
    ("back-to-cats-slides", "the rows listed are the values"): False,
    ("back-to-cats-slides", "attends most to itself"): True,
    ("mha-tutorial", "distinct patterns prove"): False,
    ("mha-tutorial", "diagonal pattern"): False,
    ("mha-tutorial", "GPT-3"): False,
    ("apple-walkthrough", "three specialised heads"): False,
    ("apple-walkthrough", "the quiz's premise"): False,
    ("apple-walkthrough", "exactly one, b)"): True,
}


def claims_of(source):
    return [claim for claim in load_claims() if claim.source == source]


# Checks


def test_every_check_is_tried_both_ways():
    assert BOTH.keys() == CHECKS.keys()


@pytest.mark.parametrize("check", BOTH)
def test_a_check_holds_for_what_is_so(check):
    assert CHECKS[check](**BOTH[check][0]).holds is True


@pytest.mark.parametrize("check", BOTH)
def test_a_check_fails_for_what_is_not_so(check):
    assert CHECKS[check](**BOTH[check][1]).holds is False


@pytest.mark.parametrize("check", BOTH)
def test_a_finding_is_one_sentence(check):
    for given in BOTH[check]:
        because = CHECKS[check](**given).because
        assert because[0] != " "
        assert because == because.strip().rstrip(".")
        assert "  " not in because
        assert "\n" not in because


def test_the_largest_is_named_with_its_number():
    finding = CHECKS["largest"](example="apple", stage="scores", head=2, row=2, column=4)
    assert finding == Finding(
        False,
        "for *apple* in Head 3, *bought* has the largest of the scores, 7.0268, and *eat* has"
        " 6.6192; by the numbers printed before, it is *apple*",
    )


def test_a_number_printed_twice_counts_as_last_printed_or_first():
    # Head 2's list of weights has bought on top, the table above it too; Head 3's do not agree.
    found = CHECKS["printed_maxima"](example="apple", stage="weights", head=2)
    assert "*I*, *bought*, *bought*, *to*, *bought*, the true" in found.because


def test_published_heads_are_as_wide_together_as_the_model():
    for d_model, num_heads, d_k, _ in PUBLISHED.values():
        assert layer_sizes(d_model, num_heads).d_k == d_k


def test_a_random_check_depends_on_its_seed_alone():
    given = {"d_k": 17, "num_keys": 5}
    check = CHECKS["root_softens"]
    assert check(**given, seed=2) == check(**given, seed=2)
    assert check(**given, seed=2) != check(**given, seed=3)


# Data


@pytest.mark.parametrize("source", source_names())
def test_every_line_exists(source):
    last_with_a_number = int(
        (TOKENS / f"{source}.txt").read_text("utf-8").splitlines()[-1].split(":")[0]
    )
    assert last_with_a_number <= LINES[source]
    assert all(claim.line <= LINES[source] for claim in claims_of(source))


@pytest.mark.parametrize("source", source_names())
def test_claims_stand_in_the_order_of_the_document(source):
    lines = [claim.line for claim in claims_of(source)]
    assert lines == sorted(lines)
    assert lines


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


def test_the_weight_beside_the_diagonal_is_printed():
    claim = next(c for c in load_claims() if c.check == "diagonal")
    printed = [n.value for n in load_source(claim.source) if n.line == 110]
    assert claim.given["off_diagonal"] in printed


def test_an_illustration_is_not_borne_out_by_the_example_that_follows_it():
    (claim,) = (c for c in claims_of("attention-notes") if c.line == 65)
    assert claim.finding() is None
    assert "*football* gets the lowest score" in claim.untestable
    run = trace(load_example("play-football"))
    play, football = (run.tokens.index(word) for word in ("play", "football"))
    assert run.scores[0, play].argmin() == football


@pytest.mark.parametrize("right", ["scale", "sum", "width"])
def test_the_quiz_has_one_right_option(right):
    (claim,) = (c for c in load_claims() if c.check == "only_right_option")
    given = {**claim.given, "right": right}
    assert CHECKS["only_right_option"](**given).holds is (right == claim.given["right"])


def test_weights_change_and_a_matrix_does_not_in_grammatical_words():
    told = [CHECKS["stays_the_same"](**given).because for given in BOTH["stays_the_same"]]
    assert "`w_q` changes by up to 0.0000" in told[0]
    assert "the weights change by up to" in told[1]


@pytest.mark.parametrize(("source", "part"), EXPECTED)
def test_the_most_important_verdicts(source, part):
    (claim,) = (c for c in claims_of(source) if part in c.says)
    assert claim.finding().holds is EXPECTED[source, part]


def test_a_verdict_is_one_of_three():
    assert Finding(True, "").verdict == "holds"
    assert Finding(False, "").verdict == "does not hold"
    assert Finding(False, "", by_half=True).verdict == "half right"


def test_exploding_gradients_are_half_right_where_the_mean_grows():
    given = {"effect": "explode", "num_keys": 7, "seed": 3}
    wide, narrow = (CHECKS["gradients_unscaled"](**given, d_k=d_k) for d_k in (512, 2))
    assert (wide.verdict, narrow.verdict) == ("half right", "does not hold")
    assert not CHECKS["gradients_unscaled"](**{**given, "effect": "vanish"}, d_k=512).by_half


def test_one_claim_is_half_right():
    (claim,) = (c for c in load_claims() if (found := c.finding()) and found.by_half)
    assert (claim.source, claim.line) == ("attention-notes", 123)


def test_right_claims_are_listed_too():
    found = [claim.finding() for claim in load_claims()]
    decided = [finding.holds for finding in found if finding is not None]
    assert decided.count(True) >= 30
    assert decided.count(False) >= 20
    assert found.count(None) >= 8


# Errors


def test_a_claim_is_of_a_known_document():
    with pytest.raises(ValueError, match=r"^source is 'aiayn'; one of aiayn-part-2, "):
        Claim("aiayn", 3, "two is prime", untestable="no")


def test_a_line_counts_from_one():
    with raises(ValueError, "line is 0; a number from 1 up is wanted"):
        Claim("mha-tutorial", 0, "two is prime", untestable="no")


def test_a_claim_has_a_check_or_a_reason():
    for check, reason in (("", ""), ("largest", "no")):
        with raises(
            ValueError,
            f"'two is prime' has check {check!r} and untestable {reason!r}; exactly one of them is"
            " wanted",
        ):
            Claim("mha-tutorial", 2, "two is prime", check, untestable=reason)


def test_a_check_is_a_known_one():
    with pytest.raises(ValueError, match=r"^check is 'smallest'; one of diagonal, follows"):
        Claim("mha-tutorial", 2, "two is prime", "smallest")


def test_a_check_gets_its_parameters():
    with raises(
        ValueError,
        "'two is prime' does not fit check diagonal: missing a required argument: 'off_diagonal'",
    ):
        Claim("mha-tutorial", 2, "two is prime", "diagonal")


def test_the_first_line_counts_as_one():
    assert Claim("mha-tutorial", 1, "two is prime", untestable="no").line == 1


def test_a_list_of_claims_that_cannot_be_read_is_named():
    with raises(ValueError, "mha/audit/sources/claims.toml has no 'claims'; it is wanted"):
        claims_from("")
    with pytest.raises(ValueError, match=r"^mha/audit/sources/claims\.toml: .*'line'"):
        claims_from("[[claims]]\nsource = 'mha-tutorial'\nsays = 'two is prime'\n")


def test_a_claim_without_a_check_has_no_finding():
    assert Claim("mha-tutorial", 2, "two is prime", untestable="no").finding() is None
