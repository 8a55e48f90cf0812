"""Judging: verdicts against loops over the inputs, and a classifier that finds what it is given."""

from collections import Counter

import numpy as np
import pytest
from by_loops import number_at, stages_by_loops
from seeds import SEED

from mha.audit.judging import SLIPS, Prints, judge, judgements
from mha.audit.sources import TITLES, Number, load_source, source_names
from mha.runs.places import Place


def found(source, line, printed):
    """Return the judgements of one line's numbers that read so."""
    all_of_it = judgements(source)
    return [j for j in all_of_it if (j.number.line, j.number.printed) == (line, printed)]


def true_value(number):
    """Return what a number would be, had every number before it been right."""
    return number_at(stages_by_loops(number.example), number.place)


@pytest.mark.parametrize("source", TITLES)
def test_a_verdict_is_half_a_unit_of_the_last_place_from_what_loops_over_the_inputs_give(source):
    for j in judgements(source):
        assert j.true == pytest.approx(true_value(j.number), rel=1e-12, abs=1e-12), j
        places = len(j.number.printed.partition(".")[2])
        allowed = 10.0**-places / 2 + 1e-9
        assert j.agrees_end_to_end == (abs(float(j.number.printed) - j.true) <= allowed)
        assert j.agrees_locally == (abs(float(j.number.printed) - j.local) <= allowed)
        assert bool(j.slip) != j.agrees_locally
        assert j.slip in ("", *SLIPS)


def true_values(source):
    """Return a document's numbers as they would be without a slip; nan counts for nothing."""
    return [
        n.meant if n.kind == "input" else true_value(n) if n.place else np.nan
        for n in load_source(source)
    ]


@pytest.mark.parametrize("source", TITLES)
def test_with_true_values_everything_agrees(source):
    for judgement in judge(load_source(source), true_values(source)):
        assert judgement.agrees_end_to_end, judgement
        assert judgement.agrees_locally, judgement
        assert not judgement.starts_chain


@pytest.mark.slow
def test_single_changes_anywhere_are_caught():
    rng = np.random.default_rng(SEED)
    derived = [
        (source, place)
        for source in source_names()
        for place, number in enumerate(load_source(source))
        if number.kind == "derived"
    ]
    right = {source: true_values(source) for source in source_names()}
    for source, place in rng.permutation(np.array(derived, dtype=object))[:25]:
        numbers, values = load_source(source), list(right[source])
        units = rng.integers(1, 100) * rng.choice([-1, 1])
        values[place] += units * 2 * numbers[place].half_unit
        changed = judge(numbers, values)
        slips = [j for j in changed if j.starts_chain]
        assert [j.number for j in slips] == [numbers[place]], (source, place, units)
        assert not slips[0].agrees_end_to_end
        others = [j for j in changed if j.number is not numbers[place]]
        assert all(j.agrees_end_to_end for j in others)


@pytest.mark.parametrize(
    ("source", "line", "printed", "true", "local", "slip", "starts"),
    [
        ("apple-walkthrough", 179, "2.714", 3.7132, 2.714, "", False),
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
    here = found(source, line, printed)[0]
    assert here.true == pytest.approx(true, abs=1e-5)
    assert here.local == pytest.approx(local, abs=1e-5)
    assert (here.slip, here.starts_chain) == (slip, starts)


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


def number(line, printed, place, of="cat-sat"):
    return Number(line, printed, "derived", of, Place.parse(place))


def test_a_wrong_product_and_the_right_sum_of_it():
    score = "scores.0.0.0"
    inputs = [n for n in load_source("aiayn-part-2") if n.kind == "input"]
    products = [number(200, text, f"{score}:{i}") for i, text in enumerate("1090")]
    judged = judge([*inputs, *products, number(200, "10", score)])
    assert [j.slip for j in judged] == ["", "", "product", "", ""]
    assert [j.starts_chain for j in judged] == [False, False, True, False, False]
    assert not judged[-1].agrees_end_to_end


def test_a_row_of_three_numbers_that_stood_elsewhere_is_copied():
    name = "the-cat-sat"
    numbers = [n for n in load_source("attention-notes") if n.example == name]
    inputs = [n for n in numbers if n.kind == "input"]
    rows = [
        number(900 + row, text, f"scaled_scores.0.{row}.{column}", of=name)
        for row in (1, 2)
        for column, text in enumerate(("0.1", "0.2", "0.3"))
    ]
    slips = [judgement.slip for judgement in judge([*inputs, *rows])]
    assert "copied row" not in slips[:3]
    assert slips[3:] == ["copied row"] * 3


def test_what_a_table_shows_beside_its_numbers():
    prints = Prints("apple")
    assert prints(Place.parse("query.0.2.0")) == (("0.81", False),)
    assert prints(Place.parse("query.1.2.0")) == (("1.34", True),)
    assert prints(Place.parse("weights.1.2.0")) == (("0.269", False), ("0.165", False))
    assert prints(Place.parse("head_outputs.0.2.0:4")) == (("0.225", False),)
    assert prints(Place.parse("embeddings.0.0")) == ()
    drawn = Place.parse("weights.0.0.1")
    assert Prints("cat-sat-on-it")(drawn) == (("0.80", True),)
    assert Prints("cat-sat-on-it-wide")(drawn) == ()
