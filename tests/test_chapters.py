"""What a chapter begins with: a run, and its views with labels and prints filled in."""

import numpy as np
import pytest
from helpers import raises

import mha
from mha import example_names, figures, load_example, tables, trace
from mha.audit.judging import Prints
from mha.chapters import Show, open_example
from mha.runs.stages import STAGES
from mha.views import blocks

STAGES_OF_A_HEAD = ("query", "key", "value", "scores", "scaled_scores", "weights", "head_outputs")


def label(show, ending, kind="tbl"):
    return f"{kind}-{show.run.example.name}-{ending}"


@pytest.mark.parametrize("name", example_names())
def test_an_example_opens_with_its_run_and_its_prints(name):
    run, show = open_example(name)
    assert show.run is run
    wanted = trace(load_example(name))
    for field in ("query", "scores", "weights", "concat", "output"):
        np.testing.assert_array_equal(getattr(run, field), getattr(wanted, field))
    assert run.example.name == name
    wanted = blocks.stage_block(run, "weights", heads=[0], prints=Prints(name))
    assert show.stage("weights", head=0) == wanted
    assert wanted.tables[0].beside == tables.stage_table(run, "weights", prints=Prints(name)).beside


@pytest.mark.parametrize("name", example_names())
@pytest.mark.parametrize("stage", STAGES_OF_A_HEAD)
def test_a_stage_is_one_block_with_every_head_s_numbers(name, stage):
    run, show = open_example(name)
    found = show.stage(stage, name=label(show, f"{stage}-{{head}}"))
    ending = stage.replace("_", "-")
    labels = [label(show, f"{ending}-{head + 1}") for head in range(run.num_heads)]
    one_head = run.num_heads == 1
    assert found.name == (labels[0] if one_head else label(show, ending))
    assert [table.name for table in found.tables] == ([None] if one_head else labels)
    for head, table in enumerate(found.tables):
        wanted = tables.stage_table(run, stage, head=head, prints=Prints(name))
        assert (table.rows, table.beside) == (wanted.rows, wanted.beside)
        assert (table.header, table.marked) == (wanted.header, wanted.marked)


def test_several_stages_stand_together_in_each_head():
    _, show = open_example("the-cat-sat")
    found = show.stage("w_q", "w_k", name="tbl-the-cat-sat-{stage}-{head}")
    assert found.name == "tbl-the-cat-sat-w-q-w-k"
    assert found.columns == 2
    assert [table.name.removeprefix("tbl-the-cat-sat-") for table in found.tables] == [
        "w-q-1",
        "w-k-1",
        "w-q-2",
        "w-k-2",
    ]
    by_symbol = show.stage("w_q", "w_k", head=1, name="tbl-the-cat-sat-{symbol}")
    assert by_symbol.name == "tbl-the-cat-sat-q-k"
    assert [table.name for table in by_symbol.tables] == ["tbl-the-cat-sat-q", "tbl-the-cat-sat-k"]
    assert [t.rows for t in by_symbol.tables] == [t.rows for t in found.tables[2:]]


@pytest.mark.parametrize("name", ["cat-sat", "the-cat-sat", "apple"])
def test_tables_of_each_head(name):
    run, show = open_example(name)
    weighted = show.weighted_values(name=label(show, "weighted-{head}"))
    mixing = show.mixing(1, name=label(show, "mixing"))
    for head in range(run.num_heads):
        of_head = {"head": head, "prints": show.prints}
        wanted = tables.weighted_values_table(run, **of_head)
        assert (weighted.tables[head].rows, weighted.tables[head].beside) == (
            wanted.rows,
            wanted.beside,
        )
        wanted = tables.mixing_table(run, 1, **of_head)
        assert (mixing.tables[head].rows, mixing.tables[head].beside) == (
            wanted.rows,
            wanted.beside,
        )
    assert len(weighted.tables) == len(mixing.tables) == run.num_heads
    assert mixing.name == label(show, "mixing")


@pytest.mark.parametrize(
    ("method", "view"),
    [
        ("entropies", tables.entropy_table),
        ("disagreement", tables.disagreement_table),
        ("strongest", tables.strongest_table),
        ("shapes", tables.shape_table),
    ],
)
def test_tables_of_the_whole_run(method, view):
    run, show = open_example("apple")
    assert getattr(show, method)(name="tbl-apple-it") == view(run, name="tbl-apple-it")


@pytest.mark.parametrize(
    ("method", "view"),
    [
        ("maps", figures.weight_maps),
        ("lanes", figures.lanes),
        ("strips", figures.concat_strips),
        ("shares", figures.output_shares),
    ],
)
def test_figures_of_the_whole_run(method, view):
    run, show = open_example("the-cat-sat")
    assert getattr(show, method)(name="fig-the-cat-sat-it") == view(run)


def test_the_explorer_has_the_prints_and_a_figure_for_print():
    _, show = open_example("cat-sat")
    explorer = show.explorer(name="fig-cat-sat-explorer")
    assert '"weights.0.0.1":[["0.27",true]' in explorer.html
    assert explorer.figure.alt == figures.mixing_maps(show.run).alt


def test_a_box_asks_for_a_number_of_the_run():
    _, show = open_example("the-cat-sat")
    box = show.turn("scores", 0, 2, head=1, places=1)
    assert box.name == "turn-the-cat-sat-scores-2-1-3"
    assert box == mha.chapters.your_turn(show.run, "scores", 0, 2, head=1, places=1)


# Labels


TABLES = {
    "stage": lambda show, name: show.stage("scores", name=name),
    "weighted_values": lambda show, name: show.weighted_values(name=name),
    "entropies": lambda show, name: show.entropies(name=name),
    "versions": lambda show, name: show.versions(
        {"a": show.run.value[0]}, columns=["x", "y"], caption="One", name=name
    ),
}


@pytest.mark.parametrize("method", TABLES)
@pytest.mark.parametrize("name", ["tbl-apple-scores", "fig-cat-sat-scores", "", "tbl-cat-sat"])
def test_a_label_of_another_chapter_is_refused(method, name):
    _, show = open_example("cat-sat")
    with raises(ValueError, f"name is {name!r}; a label that begins with tbl-cat-sat- is wanted"):
        TABLES[method](show, name)


@pytest.mark.parametrize(("stage", "head"), [("scores", 2), ("nothing", 0), ("w_o", None)])
def test_what_a_run_does_not_have_is_refused(stage, head):
    _, show = open_example("cat-sat")
    with pytest.raises(ValueError, match=r"is wanted$"):
        show.stage(stage, head=head)


# A notebook


def test_another_run_of_the_example_is_shown_with_the_same_prints():
    run, show = open_example("cat-sat")
    other = Show(trace(run.example), show.prints)
    assert other.stage("weights") == show.stage("weights")
    assert {stage for stage in STAGES if STAGES[stage].per_head} >= set(STAGES_OF_A_HEAD)
