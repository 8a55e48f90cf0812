"""The audit: its counts, its verdicts, and a classifier that finds what is put in front of it."""

import json
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from conftest import SEED

from mha import load_example, softmax, trace
from mha.audit.judging import (
    SLACK,
    SLIPS,
    Prints,
    Tally,
    by_stage,
    contradictions,
    judge,
    judgements,
    main,
    recompute,
    row_sums,
    tally,
    verdicts,
)
from mha.audit.sources import TITLES, Number, load_source, parse_quantity, source_names

TALLIES = {
    "aiayn-part-2": Tally(derived=28, end_to_end=28, locally=28, neither=0, chains=0),
    "apple-walkthrough": Tally(derived=629, end_to_end=80, locally=280, neither=349, chains=172),
    "attention-notes": Tally(derived=239, end_to_end=158, locally=178, neither=57, chains=19),
    "back-to-cats-slides": Tally(derived=133, end_to_end=84, locally=115, neither=18, chains=18),
    "mha-tutorial": Tally(derived=2, end_to_end=2, locally=2, neither=0, chains=0),
}


def found(source, line, printed):
    """Return the judgements of one line's numbers that read so."""
    all_of_it = judgements(source)
    return [j for j in all_of_it if (j.number.line, j.number.printed) == (line, printed)]


def true_of_trace(quantity):
    """Return a number from the worked example's run, without the audit's own rules."""
    run, place = trace(load_example(quantity.example)), quantity.place
    if quantity.stage == "root":
        return np.sqrt(run.query.shape[-1])
    if quantity.stage == "percentages":
        target = run.example.target_weights
        return 100 * (run.weights if target is None else target)[place]
    if quantity.term is None:
        return getattr(run, quantity.stage)[place]
    head, row, column = place
    if quantity.stage == "scores":
        products = run.query[head, row] * run.key[head, column]
    elif quantity.stage == "head_outputs":
        products = run.weights[head, row] * run.value[head, :, column]
    else:
        matrix = getattr(run.example.layer, f"w_{quantity.stage[0]}")[head]
        products = run.embeddings[row] * matrix[:, column]
    return products[quantity.term]


@pytest.mark.parametrize("source", TITLES)
def test_counts_follow_from_the_data(source):
    assert tally(judgements(source)) == TALLIES[source]
    derived = [n for n in load_source(source) if n.kind == "derived"]
    assert [j.number for j in judgements(source)] == derived


@pytest.mark.parametrize("source", TITLES)
def test_true_values_are_those_of_the_run(source):
    for judgement in judgements(source):
        wanted = true_of_trace(judgement.quantity)
        assert judgement.true == pytest.approx(wanted, rel=1e-12, abs=1e-12), judgement


@pytest.mark.parametrize("source", TITLES)
def test_a_verdict_is_half_a_unit_of_the_last_place(source):
    for j in judgements(source):
        places = len(j.number.printed.partition(".")[2])
        allowed = 10.0**-places / 2 + 1e-9
        assert j.agrees_end_to_end == (abs(float(j.number.printed) - j.true) <= allowed)
        assert j.agrees_locally == (abs(float(j.number.printed) - j.local) <= allowed)
        assert bool(j.slip) != j.agrees_locally
        assert j.slip in ("", *SLIPS)


def true_values(source):
    """Return the true value of every number of a document that takes part in a calculation."""
    numbers = load_source(source)
    given = {n.quantity: n.meant for n in numbers if n.kind == "input"}

    def true(quantity):
        if quantity not in given:
            given[quantity] = recompute(quantity, true)
        return given[quantity]

    return [true(n.quantity) if n.quantity else np.nan for n in numbers]


@pytest.mark.parametrize("source", TITLES)
def test_with_true_values_everything_agrees(source):
    for judgement in judge(load_source(source), true_values(source)):
        assert judgement.agrees_end_to_end, judgement
        assert judgement.agrees_locally, judgement
        assert not judgement.starts_chain


def test_each_of_200_single_changes_is_caught():
    rng = np.random.default_rng(SEED)
    derived = [
        (source, place)
        for source in source_names()
        for place, number in enumerate(load_source(source))
        if number.kind == "derived"
    ]
    right = {source: true_values(source) for source in source_names()}
    for source, place in rng.permutation(np.array(derived, dtype=object))[:200]:
        numbers, values = load_source(source), list(right[source])
        units = rng.integers(1, 100) * rng.choice([-1, 1])
        values[place] += units * 2 * numbers[place].half_unit
        changed = judge(numbers, values)
        slips = [j for j in changed if j.starts_chain]
        assert [j.number for j in slips] == [numbers[place]], (source, place, units)
        assert not slips[0].agrees_end_to_end
        others = [j for j in changed if j.number is not numbers[place]]
        assert all(j.agrees_end_to_end for j in others)


def test_half_a_unit_is_allowed_and_no_more():
    numbers, place = load_source("aiayn-part-2"), -1
    values = true_values("aiayn-part-2")
    spot = [i for i, n in enumerate(numbers) if n.kind == "derived"][place]
    half = numbers[spot].half_unit
    for share, agrees in ((1.0, True), (-1.0, True), (1.001, False), (-1.001, False)):
        shifted = list(values)
        shifted[spot] += share * half
        assert judge(numbers, shifted)[place].agrees_end_to_end is agrees
        assert judge(numbers, shifted)[place].agrees_locally is agrees
    assert SLACK == 1e-9


def test_the_first_sum_that_a_student_checks():
    (slip,) = found("apple-walkthrough", 43, "0.81")
    assert slip.true == pytest.approx(1.18)
    assert slip.local == pytest.approx(1.18)
    assert (slip.agrees_end_to_end, slip.agrees_locally) == (False, False)
    assert (slip.slip, slip.starts_chain) == ("sum", True)
    (again,) = found("apple-walkthrough", 115, "0.81")  # only repeats it: no slip of its own
    assert (again.agrees_end_to_end, again.agrees_locally) == (False, True)


@pytest.mark.parametrize(
    ("source", "line", "printed", "true", "local", "slip", "starts"),
    [
        ("apple-walkthrough", 179, "2.714", 3.7132, 2.714, "", False),
        ("apple-walkthrough", 223, "0.382", None, None, "", None),
        ("apple-walkthrough", 224, "0.382", 0.268648, 0.205615, "other", False),
        ("apple-walkthrough", 513, "1.57", 1.56, 1.56, "last digit", True),
        ("attention-notes", 157, "0.80", 0.0, 0.0, "damaged print", False),
        ("attention-notes", 183, "28.9", 27.519849, 27.52, "other", True),
        ("attention-notes", 465, "0.43", 0.345785, 0.345013, "other", True),
        ("back-to-cats-slides", 105, "0.33", 0.4, 0.4, "other", True),
        ("back-to-cats-slides", 125, "1.1", 0.93, 0.93, "copied row", True),
        ("back-to-cats-slides", 163, "0.790", 0.8385, 0.79, "", False),
        ("aiayn-part-2", 122, "4.08", 4.075766, 4.08, "", False),
    ],
)
def test_known_numbers(source, line, printed, true, local, slip, starts):
    here = found(source, line, printed)
    if true is None:
        assert not here
        return
    assert here[0].true == pytest.approx(true, abs=1e-5)
    assert here[0].local == pytest.approx(local, abs=1e-5)
    assert here[0].slip == slip
    assert here[0].starts_chain is starts


def test_kinds_of_slips():
    counts = Counter(j.slip for source in TITLES for j in judgements(source))
    assert counts == {
        "": 603,
        "other": 387,
        "copied row": 12,
        "sum": 12,
        "last digit": 16,
        "damaged print": 1,
    }


def number(line, printed, quantity, kind="derived"):
    return Number(line, printed, kind, parse_quantity(f"cat-sat {quantity}"))


def test_a_wrong_product_and_the_right_sum_of_it():
    score = "scores head=0 row=0 column=0"
    inputs = [n for n in load_source("aiayn-part-2") if n.kind == "input"]
    products = [number(200, text, f"{score} term={i}") for i, text in enumerate("1090")]
    judged = judge([*inputs, *products, number(200, "10", score)])
    assert [j.slip for j in judged] == ["", "", "product", "", ""]
    assert [j.starts_chain for j in judged] == [False, False, True, False, False]
    assert not judged[-1].agrees_end_to_end


def test_rows_of_weights_that_do_not_sum_to_one():
    rows = row_sums("apple-walkthrough")
    assert len(rows) == 18  # five a head, and apple's once more
    wrong = [r for r in rows if not r.sums_to_one]
    assert [r.line for r in wrong] == [203, 204, 206, 207, 404, 405, 407, 408, 601, 602, 604, 605]
    assert wrong[0].total == pytest.approx(0.888)
    assert wrong[0].printed == ("0.208", "0.204", "0.199", "0.080", "0.197")
    for source in set(TITLES) - {"apple-walkthrough"}:
        assert all(r.sums_to_one for r in row_sums(source))
    assert len(row_sums("attention-notes")) == 9


def test_tables_that_contradict_each_other():
    pairs = contradictions("apple-walkthrough")
    weights = [(a, b) for a, b in pairs if a.quantity.stage == "weights"]
    heads = Counter(a.quantity.place[:2] for a, _ in weights)
    assert heads == {(1, 2): 5, (2, 2): 5}  # apple's row in heads 2 and 3
    assert (weights[0][0].number.printed, weights[0][1].number.printed) == ("0.269", "0.165")
    values = contradictions("back-to-cats-slides")
    assert {a.quantity.stage for a, _ in values} == {"value"}
    assert not contradictions("aiayn-part-2")


def test_judgements_fall_into_stages():
    stages = by_stage(judgements("apple-walkthrough"))
    assert sum(map(len, stages.values())) == TALLIES["apple-walkthrough"].derived
    assert list(stages)[:3] == ["products", "query", "key"]
    assert len(stages["weighted values"]) == 60


def test_what_a_table_shows_beside_its_numbers():
    prints = Prints("apple")
    assert prints("query", 0, 2, 0) == (("0.81", False),)
    assert prints("query", 1, 2, 0) == (("1.34", True),)
    assert prints("weights", 1, 2, 0) == (("0.269", False), ("0.165", False))
    assert prints("head_outputs", 0, 2, 0, term=4) == (("0.225", False),)
    assert prints("embeddings", 0, 0) == ()
    assert Prints("cat-sat-on-it")("weights", 0, 0, 1) == (("0.80", True),)
    assert Prints("cat-sat-on-it-wide")("weights", 0, 0, 1) == ()


def test_no_wrong_row_of_weights_comes_from_scores_that_were_not_divided():
    for source in TITLES:
        for row in row_sums(source):
            weights = np.array(row.printed, dtype=float)
            scores = trace(load_example(row.example)).scores[row.head, row.row]
            assert np.abs(softmax(scores) - weights).max() > 0.004


def test_an_input_that_the_document_does_not_print():
    inputs = [n for n in load_source("aiayn-part-2") if n.kind == "input"]
    score = number(200, "2", "scores head=0 row=0 column=0")
    with pytest.raises(ValueError, match="is not printed by the document"):
        judge([*inputs[1:], score])


def test_json_lists_every_verdict(tmp_path):
    file = tmp_path / "audit.json"
    main(["--json", str(file)])
    rows = json.loads(file.read_text(encoding="utf-8"))
    assert rows == verdicts(source_names())
    assert len(rows) == sum(t.derived for t in TALLIES.values())
    assert list(rows[0]) == [
        "source",
        "line",
        "printed",
        "quantity",
        "true",
        "agrees_end_to_end",
        "agrees_locally",
    ]
    assert {row["source"] for row in rows} == set(TITLES)


def test_the_table_on_the_command_line(capsys):
    main(["back-to-cats-slides"])
    out = capsys.readouterr().out
    assert out.startswith("Back to Cats (lecture slides)\n")
    assert out.count("\n") == 16
    last = [line for line in out.splitlines() if line.startswith("  all")]
    assert last[0].split() == ["all", "133", "84", "115", "18", "18"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nope"], f"source is 'nope'; one of {', '.join(TITLES)} is wanted"),
        (["--json"], "argument --json: expected one argument"),
        (["--jsno", "x"], "unrecognized arguments: --jsno"),
    ],
)
def test_bad_arguments_get_one_sentence(arguments, sentence):
    done = subprocess.run(
        [sys.executable, "-m", "mha.audit", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == f"python -m mha.audit: {sentence}\n"
    assert done.stdout == ""


def test_a_file_that_cannot_be_written(tmp_path):
    target = tmp_path / "missing" / "audit.json"
    with pytest.raises(SystemExit) as stopped:
        main(["--json", str(target)])
    assert str(stopped.value) == (
        f"python -m mha.audit: {target} cannot be written (No such file or directory);"
        " a file is wanted"
    )
