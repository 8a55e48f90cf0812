"""Checks and sums on made-up prints and runs: what lies just at a bound, and which print counts."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers import raises

from mha import MultiHeadWeights, WorkedExample, trace
from mha.audit import page, summary
from mha.audit.checks import attending, computing, learned, patterns, printed, training
from mha.audit.checks import runs as checked_runs
from mha.practice.verdict import verdict


def number(text, meant=None):
    decimals = len(text.partition(".")[2])
    value = float(text)
    return SimpleNamespace(
        printed=text,
        value=value,
        meant=value if meant is None else meant,
        half_unit=0.5 * 10**-decimals,
        line=1,
    )


def of_row(**texts):
    """Return a `printed_row` that knows the prints of some stages: the last ones or the first."""

    def row(example, stage, head, row, *, latest):
        found = texts[stage] if latest else ["7"] * len(texts[stage])
        return [SimpleNamespace(number=number(text), local=float(text)) for text in found]

    return row


def test_a_row_is_whole_with_a_weight_for_each_key(monkeypatch):
    cells = [
        SimpleNamespace(
            number=number(text), example="made up", place=SimpleNamespace(stage=stage, index=index)
        )
        for stage, index, text in (
            ("weights", (1, 2, 0), "0.4"),
            ("scores", (1, 2, 0), "8"),
            ("weights", (1, 2, 1), "0.5"),
            ("weights", (1, 3, 0), "0.4"),
        )
    ]
    for line, cell in enumerate(cells, 31):
        cell.number.line = line
    monkeypatch.setattr(summary, "judgements", lambda source: cells)
    run = SimpleNamespace(weights=np.zeros((3, 5, 2)))
    monkeypatch.setattr(summary, "run_of", lambda example: run)
    (row,) = summary.row_sums("made up")
    assert (row.line, row.head, row.row, row.printed) == (31, 1, 2, ("0.4", "0.5"))
    assert row.total == 0.9
    assert row.sums_to_one  # each may be off by 0.05


@pytest.mark.parametrize(("again", "excluded"), [("0.5", 0), ("0.6", 1)])
def test_prints_exclude_each_other_beyond_both_precisions(monkeypatch, again, excluded):
    found = [SimpleNamespace(number=number(text)) for text in ("0.4", again)]
    monkeypatch.setattr(summary, "judgements", lambda source: found)
    monkeypatch.setattr(summary, "claimed", lambda number: "the same")
    assert len(summary.contradictions("made up")) == excluded


def test_the_last_prints_of_percentages_count(monkeypatch):
    run = SimpleNamespace(weights=np.array([[[0.5, 0.5]]]))
    monkeypatch.setattr(printed, "run_of", lambda example: run)
    claim = {"example": "made up", "head": 0, "row": 0}
    for texts, holds in ((["50", "49"], True), (["50", "48"], False)):
        monkeypatch.setattr(printed, "printed_row", of_row(percentages=texts))
        assert printed.CHECKS["percentages_sum"](**claim).holds is holds


def test_the_last_prints_of_query_keys_and_scores_count(monkeypatch):
    monkeypatch.setattr(printed, "run_of", lambda example: SimpleNamespace(tokens="ab"))
    rows = of_row(query=["1", "2"], key=["3", "4"], scores=["11", "11"])
    monkeypatch.setattr(printed, "printed_row", rows)
    check = printed.CHECKS["scores_are_products"]
    found = check(example="made up", row=0, transposed=True)
    assert found.holds
    assert found.because.endswith("the products are 11.000, 11.000, and the print has 11, 11")
    assert not check(example="made up", row=0, transposed=False).holds


def made_up_run(num_heads=2, w_o=None):
    """Return the run of heads alike, which draw even weights."""
    zero, one = np.zeros((num_heads, 2, 1)), np.ones((num_heads, 2, 1))
    w_o = np.eye(num_heads) if w_o is None else w_o
    layer = MultiHeadWeights(zero, zero, one, w_o)
    example = WorkedExample(
        name="made-up",
        title="Made up",
        tokens=("a", "b"),
        head_names=tuple(f"Head {head + 1}" for head in range(num_heads)),
        source="this test",
        embeddings=np.eye(2),
        layer=layer,
    )
    return trace(example)


def test_the_largest_is_told_with_its_head_and_the_last_prints(monkeypatch):
    monkeypatch.setattr(attending, "run_of", lambda example: made_up_run())
    monkeypatch.setattr(attending, "printed_row", of_row(weights=["0.4", "0.6"]))
    claim = {"example": "made up", "stage": "weights", "head": 1, "row": 0, "column": 0}
    assert attending.CHECKS["largest"](**claim).because == (
        "for *a* in Head 2, *a* has the largest of the weights, 0.5000; by the numbers printed"
        " before, it is *b*"
    )


def test_even_weights_are_at_least_a_half_and_one_head_prefers_as_itself(monkeypatch):
    monkeypatch.setattr(attending, "run_of", lambda example: made_up_run(1))
    assert attending.CHECKS["mixes_all"](example="made up", at_least=0.5).holds
    assert not attending.CHECKS["mixes_all"](example="made up", at_least=0.51).holds
    assert not attending.CHECKS["heads_prefer_differently"](example="made up").holds
    run = SimpleNamespace(tokens="ab", weights=np.array([[[0.9, 0.1], [0.2, 0.8]]]))
    monkeypatch.setattr(attending, "run_of", lambda example: run)
    found = attending.CHECKS["heads_prefer_differently"](example="made up")
    assert found.because.startswith("over all its queries, Head 1 prefers *a* or *b*; two heads")


@pytest.mark.parametrize(
    ("scores", "weights", "within", "across"),
    [
        ([[1, 0], [1, 1]], [[0.7, 0.3], [0.5, 0.5]], True, True),  # equal scores say nothing
        ([[2, 0], [1, 0]], [[1, 0], [1, 0]], True, True),  # nor do equal weights
        ([[2, 1], [0, 0]], [[0.7, 0.3], [0.5, 0.5]], True, False),
        ([[1, 0], [0, 0]], [[0.3, 0.7], [0.5, 0.5]], False, False),
    ],
)
def test_a_larger_score_has_a_larger_weight(monkeypatch, scores, weights, within, across):
    run = SimpleNamespace(scores=np.array([scores], float), weights=np.array([weights], float))
    monkeypatch.setattr(attending, "run_of", lambda example: run)
    check = attending.CHECKS["score_orders_weights"]
    assert check(example="made up", head=0, across_rows=False).holds is within
    assert check(example="made up", head=0, across_rows=True).holds is across


def test_what_the_heads_change_is_counted(monkeypatch):
    w_o = np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    run = made_up_run(3, w_o)
    monkeypatch.setattr(computing, "run_of", lambda example: run)
    monkeypatch.setattr(computing, "layer_of", lambda example: run.example.layer)
    check = computing.CHECKS["heads_meet"]
    apart = check(example="made up", array="concat", meet=False)
    assert apart.holds
    assert apart.because == "of 3 components, doubling the values of one head changes 1"
    assert check(example="made up", array="output", meet=True).because.endswith("changes 3 or 1")


def test_an_example_without_matrices_has_no_layer(monkeypatch):
    run = SimpleNamespace(example=SimpleNamespace(layer=None))
    monkeypatch.setattr(checked_runs, "run_of", lambda example: run)
    sentence = "made-up starts at its queries; an example with matrices is wanted"
    with raises(ValueError, sentence):
        checked_runs.layer_of("made-up")


@pytest.mark.parametrize(
    ("intended", "local", "values", "kind"),
    [
        (True, 0.30, (0.7,), "damaged print"),
        (True, 0.35, (0.7,), "damaged print"),
        (True, 0.9, (0.7,), "other"),
        (False, 0.3, (0.7,), "other"),
        (False, 0.71, (0.7, 0.8), "last digit"),
        (False, 0.71, (0.7, 0.8, 0.9), "copied row"),
    ],
)
def test_a_slip_has_one_kind(monkeypatch, intended, local, values, kind):
    place = SimpleNamespace(stage="weights", index=(0, 0, 0), term=None)
    monkeypatch.setattr(page, "claimed", lambda number: ("made up", place))
    monkeypatch.setattr(page, "_origin", lambda run, place: None)
    monkeypatch.setattr(page, "_terms", lambda origin: ())
    row = page._row(None)
    looked_at = SimpleNamespace(
        numbers=[SimpleNamespace(intended=intended, half_unit=0.05, line=1)],
        meant=[0.3],
        printed=[0.7],
        rows={(1, row): values},
        first_stood_as={values: "another row"},
        runs=lambda example: None,
    )
    assert page.Page.slip(looked_at, 0, local, ()) == kind


def test_a_softmax_ensures_no_width(monkeypatch):
    monkeypatch.setattr(computing, "run_of", lambda example: made_up_run())
    claim = {"effect": "width", "example": "made up", "head": 0, "row": 0}
    assert computing.CHECKS["softmax_ensures"](**claim).holds is False


@pytest.mark.parametrize(("many", "holds"), [(0, True), (1, True), (2, False), (3, False)])
def test_one_relation_is_learned_where_no_second_is(monkeypatch, many, holds):
    right = [0.999] * many + [0.1] * (3 - many)
    monkeypatch.setattr(learned, "_answered", lambda *given: tuple(right))
    found = learned.CHECKS["learns_one_relation"](width=1, steps=1, seed=1)
    assert found.holds is holds


def test_a_half_elsewhere_leaves_nothing_larger_for_the_diagonal():
    assert not patterns.CHECKS["diagonal"](off_diagonal=0.5).holds
    assert patterns.CHECKS["diagonal"](off_diagonal=0.49).holds


@pytest.mark.parametrize(
    ("widths", "grows"), [([2, 3, 64], True), ([2, 13], True), ([2, 4], False), ([64, 3, 2], False)]
)
def test_scores_grow_where_the_last_spread_is_twice_the_first(widths, grows):
    claim = {"widths": widths, "scaled": False, "seed": 7}
    assert training.CHECKS["spread_of_scores"](**claim, grows=grows).holds


@pytest.mark.parametrize("seed", [3, 4, 5])
@pytest.mark.parametrize("effect", ["explode", "vanish"])
def test_the_root_of_one_changes_no_gradient(effect, seed):
    claim = {"d_k": 1, "num_keys": 64, "seed": seed}
    found = training.CHECKS["gradients_unscaled"](effect=effect, **claim)
    assert (found.holds, found.by_half) == (False, False)


def test_two_units_off_is_still_near():
    exercise = SimpleNamespace(percent=False, asked=0.5, places=0)
    assert [verdict(exercise, text) for text in ("2.5", "2.6")] == ["near", "wrong"]
