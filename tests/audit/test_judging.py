"""The audit's verdicts, compared with loops over the inputs, with errors put in, as a table."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from correction_oracle import judge_corrected
from loop_oracle import number_at, stages_by_loops

from mha.audit.__main__ import main
from mha.audit.document_data import SLIP, SPOILED, document_data, verdict
from mha.audit.judging import SLIPS, Prints, judge, judgements
from mha.audit.report import verdicts
from mha.audit.sources import TITLES, Number, load_source, numbers_from, source_names
from mha.audit.summary import Tally, contradictions, row_sums, tally
from mha.runs.places import Place


def value_without_errors(number):
    """Return the value of a number if every number before it were correct."""
    return number_at(stages_by_loops(number.example), number.place)


def values_without_errors(source):
    """Return a document's numbers without errors. Numbers that are not checked are NaN."""
    return [
        n.meant if n.kind == "input" else value_without_errors(n) if n.place else np.nan
        for n in load_source(source)
    ]


# Verdicts


@pytest.mark.parametrize("source", TITLES)
def test_a_number_is_right_within_half_a_unit_of_the_value_by_loops(source):
    for j in judgements(source):
        assert j.true == pytest.approx(value_without_errors(j.number), rel=1e-12, abs=1e-12), j
        places = len(j.number.printed.partition(".")[2])
        allowed = 10.0**-places / 2 + 1e-9
        assert j.agrees_end_to_end == (abs(float(j.number.printed) - j.true) <= allowed)
        assert j.agrees_locally == (abs(float(j.number.printed) - j.local) <= allowed)
        assert bool(j.slip) != j.agrees_locally
        assert j.slip in ("", *SLIPS)
    for j in judge(load_source(source), values_without_errors(source)):
        assert j.agrees_end_to_end, j
        assert j.agrees_locally, j
        assert not j.starts_chain


@pytest.mark.slow
def test_single_changes_anywhere_are_caught(rng):
    derived = [
        (source, place)
        for source in source_names()
        for place, number in enumerate(load_source(source))
        if number.kind == "derived"
    ]
    right = {source: values_without_errors(source) for source in source_names()}
    for source, place in rng.permutation(np.array(derived, dtype=object))[:25]:
        numbers, values = load_source(source), list(right[source])
        units = rng.integers(1, 100) * rng.choice([-1, 1])
        values[place] += units * 2 * numbers[place].half_unit
        wrong = [j for j in judge(numbers, values) if not j.agrees_end_to_end or j.starts_chain]
        assert [j.number for j in wrong] == [numbers[place]], (source, place, units)
        assert wrong[0].starts_chain


def test_a_wrong_product_and_the_right_sum_of_it():
    score = Place.parse("scores.0.0.0")
    places = [*(replace(score, term=i) for i in range(4)), score]
    worked = [
        Number(200, printed, "derived", "cat-sat", place)
        for printed, place in zip(("1", "0", "9", "0", "10"), places, strict=True)
    ]
    inputs = [n for n in load_source("aiayn-part-2") if n.kind == "input"]
    judged = judge([*inputs, *worked])
    assert [j.slip for j in judged] == ["", "", "product", "", ""]
    assert [j.starts_chain for j in judged] == [False, False, True, False, False]
    assert not judged[-1].agrees_end_to_end


# Summaries of the verdicts


def test_counts_kinds_row_sums_and_contradictions():
    assert {source: tally(judgements(source)) for source in TITLES} == {
        "aiayn-part-2": Tally(derived=28, end_to_end=28, locally=28, neither=0, chains=0),
        "apple-walkthrough": Tally(629, end_to_end=80, locally=280, neither=349, chains=172),
        "attention-notes": Tally(239, end_to_end=158, locally=178, neither=57, chains=19),
        "back-to-cats-slides": Tally(133, end_to_end=84, locally=115, neither=18, chains=18),
        "mha-tutorial": Tally(derived=2, end_to_end=2, locally=2, neither=0, chains=0),
    }
    kinds = Counter(j.slip for source in TITLES for j in judgements(source) if j.slip)
    assert kinds == {
        "other": 387, "copied row": 12, "sum": 12, "last digit": 16, "damaged print": 1
    }  # fmt: skip
    rows = {source: row_sums(source) for source in TITLES}
    assert len(rows["apple-walkthrough"]) == 18  # five a head, and apple's once more
    wrong = [row for found in rows.values() for row in found if not row.sums_to_one]
    assert [r.line for r in wrong] == [203, 204, 206, 207, 404, 405, 407, 408, 601, 602, 604, 605]
    assert wrong[0].total == pytest.approx(0.888)
    assert wrong[0].printed == ("0.208", "0.204", "0.199", "0.080", "0.197")
    pairs = contradictions("apple-walkthrough")
    weights = [(a, b) for a, b in pairs if a.place.stage == "weights"]
    heads = Counter(a.place.index[:2] for a, _ in weights)
    assert heads == {(1, 2): 5, (2, 2): 5}  # apple's row in heads 2 and 3
    assert [j.number.printed for j in weights[0]] == ["0.269", "0.165"]


def test_what_a_table_shows_beside_its_numbers():
    prints = Prints("apple")
    assert prints(Place.parse("query.1.2.0")) == (("1.34", True),)
    assert prints(Place.parse("weights.1.2.0")) == (("0.269", False), ("0.165", False))
    assert prints(Place.parse("embeddings.0.0")) == ()
    drawn = Place.parse("weights.0.0.1")
    assert Prints("cat-sat-on-it")(drawn) == (("0.80", True),)
    assert Prints("cat-sat-on-it-wide")(drawn) == ()


# Sheets, and slips corrected


@pytest.mark.parametrize("source", TITLES)
def test_a_sheet_has_every_derived_number_once_in_order_with_its_judgement(source):
    found = document_data(source)
    rows = [row for block in found["blocks"] for row in block["rows"]]
    spots = [spot for row in rows for spot in row["at"]]
    assert spots == sorted(set(spots))
    assert [place for row in rows for place in row["places"]] == [
        str(j.place) for j in judgements(source)
    ]
    for spot, j in zip(spots, judgements(source), strict=True):
        printed, true, _, judged, *slip = found["numbers"][spot]
        assert (printed, judged) == (j.number.printed, verdict(j))
        assert slip[:1] == ([j.slip] if j.slip else [])
        assert true == pytest.approx(j.true, rel=1e-11, abs=1e-11)
    assert sum(entry[1] is None for entry in found["numbers"]) == len(found["numbers"]) - len(spots)


@pytest.mark.parametrize(("source", "rounded"), list(zip(TITLES, [0, 0, 2, 3, 0], strict=True)))
def test_with_all_slips_corrected_only_rounding_differences_remain(source, rounded):
    numbers, judged = load_source(source), judgements(source)
    assert judge_corrected(numbers, ()) == judged
    derived = [i for i, n in enumerate(numbers) if n.kind == "derived"]
    slips = {i for i, j in zip(derived, judged, strict=True) if verdict(j) == SLIP}
    wrong = [j for j in judge_corrected(numbers, slips) if not j.agrees_end_to_end]
    assert [verdict(j) for j in wrong] == [SPOILED] * rounded
    assert all(abs(j.local - j.true) < 3e-3 for j in wrong)


def test_a_claim_is_tied_to_the_numbers_that_it_is_about():
    found = document_data("apple-walkthrough")
    star = next(claim for claim in found["claims"] if claim["line"] == 224)
    assert "*bought* has the largest" in star["why"]
    printed = [found["numbers"][spot][0] for spot in star["about"]]
    assert printed == ["0.151", "0.184", "0.162", "0.121", "0.382"] * 2


# The command


def test_the_command_prints_a_table_and_writes_every_verdict(tmp_path, capsys):
    file = tmp_path / "audit.json"
    main(["back-to-cats-slides", "--json", str(file)])
    out = capsys.readouterr().out
    assert out.startswith("Back to Cats (lecture slides)\n")
    (last,) = (line.split() for line in out.splitlines() if line.startswith("  all"))
    assert last == ["all", "133", "84", "115", "18", "18"]
    assert json.loads(file.read_text(encoding="utf-8")) == verdicts(["back-to-cats-slides"])


def test_bad_arguments_get_one_sentence(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for arguments, sentence in (
        (["nope"], f"source is 'nope'; one of {', '.join(TITLES)} is wanted"),
        (["--json", "none/a.json"],
         "none/a.json cannot be written (No such file or directory); a file is wanted"),
    ):  # fmt: skip
        with pytest.raises(SystemExit, match=r"^2$"):
            main(arguments)
        assert capsys.readouterr() == ("", f"python -m mha.audit: {sentence}\n")


@pytest.mark.parametrize("text", ["[", "[1]", '[{"line": 3}]'])
def test_a_corrupt_transcript_is_one_sentence(text, monkeypatch, capsys):
    read = lambda sources: numbers_from(*sources, text)  # noqa: E731
    monkeypatch.setattr("mha.audit.__main__.report", read)
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["mha-tutorial"])
    said = capsys.readouterr().err
    assert said.startswith("python -m mha.audit: mha/audit/sources/mha-tutorial")
    assert said.count("\n") == 1
