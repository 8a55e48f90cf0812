"""The registry of stages fits the arrays of a trace and the matrices of a layer."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from helpers import (
    D_FF,
    D_K,
    D_MODEL,
    D_OUT,
    D_V,
    HEADS,
    QUERIES,
    example,
    raises,
    with_block,
    with_places,
)

from mha import Trace, example_names, load_example, trace
from mha.runs.running import RUNNING
from mha.runs.stages import AXES, OF_WORDS, STAGES, Stage, _norm, as_data, stage, stage_array

# What is no stage of its own: what a run starts from, and what the scaled scores are made with.
NO_STAGE = {"example", "tokens", "mask", "shifts"}
MATRICES = ["w_q", "w_k", "w_v", "w_o", "w_in", "w_out", "unembedding"]
LEARNED_ROWS = ["first_gain", "first_bias", "second_gain", "second_bias", "b_in", "b_out"]
LENGTHS = {
    "n": QUERIES,
    "num_heads": HEADS,
    "d_model": D_MODEL,
    "d_k": 2 * D_K,
    "d_k / 2": D_K,
    "d_v": D_V,
    "d_out": D_OUT,
    "d_ff": D_FF,
    "num_heads · d_v": HEADS * D_V,
    "blocks": 2,
    "blocks · d_v": 2 * D_V,
}


def test_every_array_of_a_trace_is_a_stage():
    named = {field.name for field in fields(Trace)} - NO_STAGE
    without_array = {"root", "percentages"}
    assert set(STAGES) == named | {*MATRICES, *LEARNED_ROWS} | without_array
    learned = [name for name in STAGES if STAGES[name].is_matrix]
    assert [name for name in learned if name not in LEARNED_ROWS] == MATRICES
    once = {name for name, kind in STAGES.items() if kind.rows == "once"}
    assert once == set(LEARNED_ROWS) <= set(learned)


NORMED = ("start_", "stream_", "total_", "first_", "second_")
BLOCKS = {"before": "total_", "after": "start_", "nowhere": NORMED}
"""Where a block may normalise, and the beginnings of the stages that it does not have then."""


@pytest.mark.parametrize("norm", [None, *BLOCKS])
def test_axes_and_sizes_are_those_of_the_arrays(rng, norm):
    start = with_block(rng, norm) if norm else with_places(rng)
    run = trace(replace(start, keys_at_once=4))
    lengths = LENGTHS | {"d_out": D_MODEL if norm else D_OUT}
    for name, kind in STAGES.items():
        array = kind.array(run)
        is_lacking = kind.in_block and (norm is None or name.startswith(BLOCKS[norm]))
        is_lacking |= name in OF_WORDS
        if name in ("root", "percentages") or is_lacking:
            assert array is None, name
            continue
        assert array.shape == tuple(lengths[size] for size in kind.sizes), name
        assert array.ndim == len(kind.axes), name
        assert list(kind.axes) == [axis for axis in AXES if axis in kind.axes], name
        assert kind.per_head == (array.shape[0] == HEADS), name
        assert kind.by_key == (array.ndim == 3 and array.shape[1:] == (QUERIES, QUERIES)), name


def test_an_array_is_the_trace_s_or_the_layer_s_own(rng):
    run = trace(with_block(rng))
    for name, kind in STAGES.items():
        if name in OF_WORDS:
            assert kind.array(run) is None
        elif kind.is_matrix:
            block = run.example.block
            holder = block.feed_forward if kind.in_block else block.attention
            if name.startswith(("first_", "second_")):
                holder = getattr(block, name.split("_")[0])
                name = name.split("_")[1]
            assert kind.array(run) is getattr(holder, name)
            assert holder is not block.attention or holder is run.example.layer
        elif name not in ("root", "percentages"):
            assert kind.array(run) is getattr(run, name)


@pytest.mark.parametrize("name", example_names())
def test_a_stage_that_a_run_lacks_has_no_array(name):
    run = trace(load_example(name))
    absent = {stage_name for stage_name, kind in STAGES.items() if kind.array(run) is None}
    wanted = {"root", "percentages", "positions", "placed"}
    wanted |= {"angles", "turned_query", "turned_key"}
    wanted |= {stage_name for stage_name, kind in STAGES.items() if kind.in_block}
    wanted |= {*RUNNING, *OF_WORDS}
    if run.embeddings is None:
        wanted |= {"embeddings", "w_q", "w_k", "w_v"}
    if run.output is None:
        wanted |= {"w_o", "output", "head_contributions"}
    assert absent == wanted


def test_the_order_is_that_of_the_computation():
    in_trace = [field.name for field in fields(Trace) if field.name in STAGES]
    order = [name for name in STAGES if name in in_trace]
    # The shares of the output stand before the output: it is read as their sum.
    in_trace.remove("head_contributions")
    order.remove("head_contributions")
    assert order == in_trace


def test_rows_columns_and_quotes_go_together():
    for kind in STAGES.values():
        assert isinstance(kind, Stage)
        assert kind.title
        assert kind.symbol
        assert len(kind.sizes) == len(kind.axes)
        assert (kind.columns == "") == ("column" not in kind.axes)
        assert kind.quotes in ("", *STAGES)
        assert not kind.marked or kind.by_key
        if kind.quotes:
            quoted = STAGES[kind.quotes]
            assert (kind.axes, kind.sizes, kind.columns) == (
                quoted.axes, quoted.sizes, quoted.columns
            )  # fmt: skip
        if kind.is_matrix:
            assert kind.rows in {"once", *(other.symbol for other in STAGES.values())}
            assert (kind.rows == "once") == (kind.axes == ("column",))


def test_captions_tell_stages_apart():
    captions = [kind.caption for kind in STAGES.values()]
    assert len(captions) == len(set(captions))


def test_as_data_survives_json():
    data = json.loads(json.dumps(as_data()))
    few = {name for name, kind in STAGES.items() if kind.in_block} | {*RUNNING, *OF_WORDS}
    told_of = {name: kind for name, kind in STAGES.items() if name not in few}
    assert list(data) == list(told_of)
    for name, kind in told_of.items():
        told = {k: tuple(v) if isinstance(v, list) else v for k, v in data[name].items()}
        defaults = {"columns": "dimensions", "rows": "tokens", "quotes": ""}
        assert not set(told.items()) & set(defaults.items())
        told = defaults | told
        assert told.pop("joined", None) == {"concat": "column", "w_o": "row"}.get(name)
        left_out = {field.name: getattr(kind, field.name) for field in fields(Stage)}
        left_out = {key: value for key, value in left_out.items() if key not in told}
        assert set(left_out) == {"name", "title", "sizes", "says", "marked", "in_block"}
        assert Stage(**told, **left_out) == kind


def test_what_a_block_adds_is_told_apart():
    data = as_data(in_block=True)
    assert not set(data) & set(as_data())
    assert list(data) == [name for name, kind in STAGES.items() if kind.in_block]
    assert data["b_in"]["rows"] == "once"


def test_what_a_block_makes_no_use_of_is_not_there(rng):
    start = with_block(rng)
    block = replace(start.block, feed_forward=None)
    run = trace(replace(start, layer=None, block=block))
    there = [name for name in LEARNED_ROWS if STAGES[name].array(run) is not None]
    assert there == ["first_gain", "first_bias"]


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError):
        STAGES["more"] = STAGES["scores"]


# Refusals


@pytest.mark.parametrize("ask", [stage, lambda name: stage_array(trace(example()), name)])
@pytest.mark.parametrize("name", ["", "Scores", "mask", "shifts", None])
def test_an_unknown_stage_is_refused(ask, name):
    with raises(ValueError, f"stage is {name!r}; one of {', '.join(STAGES)} is wanted"):
        ask(name)


@pytest.mark.parametrize("name", ["embeddings", "w_q", "w_o", "output", "root", "percentages"])
def test_a_stage_that_the_run_lacks_is_refused(name):
    with raises(ValueError, f"made-up has no {name}; another stage is wanted"):
        stage_array(trace(example()), name)


def test_a_stage_that_the_run_has_is_returned():
    run = trace(example())
    np.testing.assert_array_equal(stage_array(run, "row_sums"), run.row_sums)


def test_a_normalisation_has_three_stages():
    once = ("row",), ("n",), "", "tokens"
    found = _norm("stream", "stream")
    assert found == (
        Stage("stream_means", "Means of the stream", "μ", *once, in_block=True),
        Stage("stream_spreads", "Spreads of the stream", "σ", *once, in_block=True),
        Stage(
            *("stream_normed", "Normalised stream", "x", ("row", "column")),
            *(("n", "d_model"), "dimensions", "tokens"),
            in_block=True,
        ),
    )


@pytest.mark.parametrize("which", ["first", "second"])
def test_what_a_normalisation_learns_has_its_letter(which):
    assert [STAGES[f"{which}_{name}"].symbol for name in ("gain", "bias")] == ["g", "b"]
