"""The run and the views at the start of a chapter, with labels and printed numbers."""

import numpy as np
import pytest
from helpers import raises

import mha
from mha import chapters, example_names, figures, load_example, tables, trace
from mha.audit.judging import Prints
from mha.chapters import open_example
from mha.views import blocks


def contents(block):
    return [(table.header, table.rows, table.printed) for table in block.tables]


def names(block, start):
    return [table.name.removeprefix(start) for table in block.tables]


@pytest.mark.parametrize("name", example_names())
def test_an_example_opens_with_its_run_whose_stages_show_every_head_and_what_is_printed(name):
    run, show = open_example(name)
    assert (show.run, run.example.name) == (run, name)
    np.testing.assert_array_equal(run.output, trace(load_example(name)).output)
    found = show.stage("weights", name=f"tbl-{name}-weights-{{head}}")
    labels = [f"tbl-{name}-weights-{head + 1}" for head in range(run.num_heads)]
    if run.num_heads == 1:
        assert (found.name, found.tables[0].name) == (labels[0], None)
    else:
        assert (found.name, names(found, "")) == (f"tbl-{name}-weights", labels)
    for head, table in enumerate(found.tables):
        wanted = tables.stage_table(run, "weights", head=head, prints=Prints(name))
        assert (table.rows, table.printed) == (wanted.rows, wanted.printed)


def test_several_stages_are_grouped_by_head():
    _, show = open_example("the-cat-sat")
    start = "tbl-the-cat-sat-"
    found = show.stage("w_q", "w_k", name=f"{start}{{stage}}-{{head}}")
    assert (found.name, found.columns) == (f"{start}w-q-w-k", 2)
    assert names(found, start) == ["w-q-1", "w-k-1", "w-q-2", "w-k-2"]
    by_symbol = show.stage("w_q", "w_k", head=1, name=f"{start}{{symbol}}")
    assert (by_symbol.name, names(by_symbol, start)) == (f"{start}q-k", ["q", "k"])
    assert contents(by_symbol) == contents(found)[2:]


def test_views_are_those_of_the_run_with_what_is_printed_and_a_label():
    run, show = open_example("apple")
    prints = Prints("apple")
    for found, wanted in (
        (
            show.weighted_values(name="tbl-apple-it-{head}"),
            blocks.weighted_block(run, prints=prints),
        ),
        (show.mixing(1, name="tbl-apple-it-{head}"), blocks.mixing_block(run, 1, prints=prints)),
    ):
        assert contents(found) == contents(wanted)
        assert names(found, "tbl-apple-it-") == [str(h + 1) for h in range(run.num_heads)]
    run, show = open_example("the-cat-sat")
    for method, view in {
        "entropies": tables.entropy_table,
        "disagreement": tables.disagreement_table,
        "strongest": tables.strongest_table,
        "shapes": tables.shape_table,
    }.items():
        named = {"name": "tbl-the-cat-sat-it"}
        assert getattr(show, method)(**named) == view(run, **named)
    for method, view in {
        "maps": figures.weight_maps,
        "lanes": figures.lanes,
        "strips": figures.concat_strips,
        "shares": figures.output_shares,
    }.items():
        assert getattr(show, method)(name="fig-the-cat-sat-it") == view(run)
    box = show.turn("scores", 0, 2, head=1, places=1)
    assert box == mha.chapters.your_turn(run, "scores", 0, 2, head=1, places=1)


def test_the_explorer_has_the_prints_and_a_figure_for_print():
    _, show = open_example("cat-sat")
    explorer = show.explorer(name="fig-cat-sat-explorer")
    assert '"weights.0.0.1":[["0.27",true]' in explorer.html
    assert explorer.figure.alt == figures.mixing_maps(show.run).alt


def test_labels_of_another_chapter_and_what_a_run_does_not_have_are_refused():
    _, show = open_example("cat-sat")
    for name in ("tbl-apple-scores", "fig-cat-sat-scores", "", "tbl-cat-sat"):
        wanted = f"name is {name!r}; a label that begins with tbl-cat-sat- is wanted"
        for method in (show.weighted_values, show.entropies):
            with raises(ValueError, wanted):
                method(name=name)
    for stage, head in (("scores", 2), ("nothing", 0), ("w_o", None)):
        with pytest.raises(ValueError, match=r"is wanted$"):
            show.stage(stage, head=head)


@pytest.mark.parametrize(
    ("former", "new"),
    [
        ("Sheet", "Computation"),
        ("carried_out", "evaluate_plan"),
        ("latent_sheet", "latent_computation"),
        ("linear_sheet", "linear_computation"),
    ],
)
def test_a_former_name_works_with_a_warning_that_gives_the_new_one(former, new):
    with pytest.warns(DeprecationWarning, match=rf"{former} is now mha\.chapters\.{new}\."):
        assert getattr(chapters, former) is getattr(chapters, new)
