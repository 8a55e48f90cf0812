"""Sheets of the documents' numbers, and what the audit says when slips are corrected."""

import pytest

from mha.audit.judging import judge_corrected, judgements
from mha.audit.sheet import SLIP, SPOILED, sheet, state
from mha.audit.sources import TITLES, load_source


def slips_of(source):
    """Return the numbers of a document that are slips, by where they stand in it."""
    derived = [i for i, n in enumerate(load_source(source)) if n.kind == "derived"]
    found = zip(derived, judgements(source), strict=True)
    return [i for i, judgement in found if state(judgement) == SLIP]


@pytest.mark.parametrize("source", TITLES)
def test_a_sheet_has_every_derived_number_once_in_order_with_its_judgement(source):
    found = sheet(source)
    spots = [spot for block in found["blocks"] for row in block["rows"] for spot in row["at"]]
    assert spots == sorted(set(spots))
    judged = [found["numbers"][spot] for spot in spots]
    wanted = [
        (j.number.printed, pytest.approx(j.true, rel=1e-11, abs=1e-11), state(j), j.slip)
        for j in judgements(source)
    ]
    assert [(n[0], n[1], n[3], n[4] if len(n) > 4 else "") for n in judged] == wanted
    places = [p for block in found["blocks"] for row in block["rows"] for p in row["places"]]
    assert places == [str(j.place) for j in judgements(source)]
    assert sum(entry[1] is None for entry in found["numbers"]) == len(found["numbers"]) - len(spots)


@pytest.mark.parametrize(("source", "rounded"), list(zip(TITLES, [0, 0, 2, 3, 0], strict=True)))
def test_all_slips_corrected_leaves_nothing_wrong_but_what_was_rounded_on_the_way(source, rounded):
    assert judge_corrected(load_source(source), ()) == judgements(source)
    left = judge_corrected(load_source(source), set(slips_of(source)))
    wrong = [j for j in left if not j.agrees_end_to_end]
    assert [state(j) for j in wrong] == [SPOILED] * rounded
    for j in wrong:
        assert abs(j.local - j.true) < 3e-3


def test_one_slip_corrected_frees_what_follows_from_it_alone():
    numbers = load_source("apple-walkthrough")
    slip = next(i for i, n in enumerate(numbers) if (n.line, n.printed) == (110, "0.81"))
    before = judgements("apple-walkthrough")
    after = judge_corrected(numbers, {slip})
    moved = [
        (a.number.line, str(a.place))
        for a, b in zip(before, after, strict=True)
        if state(a) != state(b)
    ]
    assert moved == [(110, "query.0.2.0"), (115, "query.0.2.0"), (122, "query.0.2.0")]
    assert [round(j.local, 3) for j in after if str(j.place) == "scores.0.2.0:0"] == [1.44]


def test_a_claim_is_tied_to_the_numbers_that_it_is_about():
    found = sheet("apple-walkthrough")
    star = next(claim for claim in found["claims"] if claim["line"] == 224)
    assert "*bought* has the largest" in star["why"]
    printed = [found["numbers"][spot][0] for spot in star["about"]]
    assert printed == ["0.151", "0.184", "0.162", "0.121", "0.382"] * 2
