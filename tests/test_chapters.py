"""What a chapter begins with: a run, and its views with labels and prints filled in."""

import numpy as np
import pytest
from helpers import raises

import mha
from mha import example_names, figures, load_example, tables, trace
from mha.audit.judging import Prints
from mha.chapters import open_example
from mha.views import blocks


def label(show, ending, kind="tbl"):
    return f"{kind}-{show.run.example.name}-{ending}"


@pytest.mark.parametrize("name", example_names())
def test_an_example_opens_with_its_run_whose_stages_show_every_head_and_what_is_printed(name):
    run, show = open_example(name)
    assert show.run is run
    assert run.example.name == name
    np.testing.assert_array_equal(run.output, trace(load_example(name)).output)
    found = show.stage("weights", name=label(show, "weights-{head}"))
    labels = [label(show, f"weights-{head + 1}") for head in range(run.num_heads)]
    one_head = run.num_heads == 1
    assert found.name == (labels[0] if one_head else label(show, "weights"))
    assert [table.name for table in found.tables] == ([None] if one_head else labels)
    for head, table in enumerate(found.tables):
        wanted = tables.stage_table(run, "weights", head=head, prints=Prints(name))
        assert (table.header, table.rows, table.beside) == (
            wanted.header,
            wanted.rows,
            wanted.beside,
        )


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


@pytest.mark.parametrize(
    ("method", "arguments", "view"),
    [
        ("weighted_values", (), blocks.weighted_block),
        ("mixing", (1,), blocks.mixing_block),
    ],
)
def test_blocks_of_each_head_have_what_is_printed(method, arguments, view):
    run, show = open_example("apple")
    found = getattr(show, method)(*arguments, name="tbl-apple-it-{head}")
    wanted = view(run, *arguments, prints=Prints("apple"))
    assert [(t.rows, t.beside) for t in found.tables] == [(t.rows, t.beside) for t in wanted.tables]
    assert [t.name for t in found.tables] == [f"tbl-apple-it-{h + 1}" for h in range(run.num_heads)]


@pytest.mark.parametrize(
    ("method", "kind", "view"),
    [
        ("entropies", "tbl", tables.entropy_table),
        ("disagreement", "tbl", tables.disagreement_table),
        ("strongest", "tbl", tables.strongest_table),
        ("shapes", "tbl", tables.shape_table),
        ("maps", "fig", figures.weight_maps),
        ("lanes", "fig", figures.lanes),
        ("strips", "fig", figures.concat_strips),
        ("shares", "fig", figures.output_shares),
    ],
)
def test_a_view_of_the_whole_run(method, kind, view):
    run, show = open_example("the-cat-sat")
    named = {"name": f"{kind}-the-cat-sat-it"}
    wanted = view(run, **named) if kind == "tbl" else view(run)
    assert getattr(show, method)(**named) == wanted


def test_the_explorer_has_the_prints_and_a_figure_for_print():
    _, show = open_example("cat-sat")
    explorer = show.explorer(name="fig-cat-sat-explorer")
    assert '"weights.0.0.1":[["0.27",true]' in explorer.html
    assert explorer.figure.alt == figures.mixing_maps(show.run).alt


def test_a_box_asks_for_a_number_of_the_run():
    _, show = open_example("the-cat-sat")
    box = show.turn("scores", 0, 2, head=1, places=1)
    assert box == mha.chapters.your_turn(show.run, "scores", 0, 2, head=1, places=1)


@pytest.mark.parametrize("name", ["tbl-apple-scores", "fig-cat-sat-scores", "", "tbl-cat-sat"])
@pytest.mark.parametrize("method", ["weighted_values", "entropies"])
def test_a_label_of_another_chapter_is_refused(method, name):
    _, show = open_example("cat-sat")
    with raises(ValueError, f"name is {name!r}; a label that begins with tbl-cat-sat- is wanted"):
        getattr(show, method)(name=name)


@pytest.mark.parametrize(
    ("name", "stage", "head"),
    [
        ("cat-sat", "scores", 2),
        ("the-cat-sat", "output", 2),
        ("cat-sat", "nothing", 0),
        ("cat-sat", "w_o", None),
    ],
)
def test_what_a_run_does_not_have_is_refused(name, stage, head):
    _, show = open_example(name)
    with pytest.raises(ValueError, match=r"is wanted$"):
        show.stage(stage, head=head)
