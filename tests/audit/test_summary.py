"""What the verdicts come to: counts, sums of rows, contradictions."""

from collections import Counter

import pytest

from mha.audit.judging import judgements
from mha.audit.sources import TITLES
from mha.audit.summary import Tally, contradictions, row_sums, tally

TALLIES = {
    "aiayn-part-2": Tally(derived=28, end_to_end=28, locally=28, neither=0, chains=0),
    "apple-walkthrough": Tally(derived=629, end_to_end=80, locally=280, neither=349, chains=172),
    "attention-notes": Tally(derived=239, end_to_end=158, locally=178, neither=57, chains=19),
    "back-to-cats-slides": Tally(derived=133, end_to_end=84, locally=115, neither=18, chains=18),
    "mha-tutorial": Tally(derived=2, end_to_end=2, locally=2, neither=0, chains=0),
}


@pytest.mark.parametrize("source", TITLES)
def test_counts_follow_from_the_data(source):
    assert tally(judgements(source)) == TALLIES[source]


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
    weights = [(a, b) for a, b in pairs if a.place.stage == "weights"]
    heads = Counter(a.place.index[:2] for a, _ in weights)
    assert heads == {(1, 2): 5, (2, 2): 5}  # apple's row in heads 2 and 3
    assert (weights[0][0].number.printed, weights[0][1].number.printed) == ("0.269", "0.165")
    values = contradictions("back-to-cats-slides")
    assert {a.place.stage for a, _ in values} == {"value"}
    assert not contradictions("aiayn-part-2")
