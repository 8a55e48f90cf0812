"""Rules of origins one by one, on made-up runs, and what only a look at the edges shows.

Nothing of the package is called while this module is imported, so that `scripts/mutants.py` can ask
its tests about every function.
"""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import raises

from mha import Block, MultiHeadWeights, Place, WorkedExample, trace, trace_blocks
from mha.runs import operations, origins, record, rounding, stages

MAX = np.finfo(np.float64).max


@pytest.fixture
def names(monkeypatch):
    """Let operands be the name of their stage and their index."""
    monkeypatch.setattr(origins, "_at", lambda run, name, *index: (name, *index))
    monkeypatch.setattr(origins, "_row", lambda run, name, *index: [(name, *index)])


def at(*index):
    return SimpleNamespace(index=index)


def test_a_score_is_scaled_by_root_or_by_a_factor_and_masked():
    score, mask = SimpleNamespace(value=6.0), SimpleNamespace(value=-5.0)
    for name, number, found in (("d_k", 4.0, 3.0), ("scale", 0.25, 1.5)):
        factor = SimpleNamespace(name=name, value=number)
        for masks in ((), ((mask,),)):
            origin = SimpleNamespace(terms=[(score,), (factor,), *masks])
            scaled = operations._scaled(origin, lambda operand: operand.value)
            assert scaled == found - 5 * len(masks)


@pytest.mark.usefixtures("names")
def test_a_projection_reads_what_is_normalised_or_else_the_start():
    run = SimpleNamespace(embeddings=np.ones((2, 2)), placed=None, start_normed=None)
    for read, normed in (("embeddings", None), ("start_normed", "some")):
        run.start_normed = normed
        name, terms = origins._projected("w_q", run, at(1, 0, 2))
        assert name == "products"
        assert list(terms) == [((read, 0, i), ("w_q", 1, i, 2)) for i in range(2)]


@pytest.mark.usefixtures("names")
def test_an_output_reads_as_many_rows_as_heads_are_wide():
    run = SimpleNamespace(value=np.ones((2, 4, 3)), concat=np.ones((4, 6)))
    _, terms = origins._contribution(run, at(1, 2, 5))
    assert list(terms) == [(("head_outputs", 1, 2, i), ("w_o", 3 + i, 5)) for i in range(3)]
    _, terms = origins._output(run, at(2, 5))
    assert list(terms) == [(("concat", 2, i), ("w_o", i, 5)) for i in range(6)]


def test_what_shrinks_begins_with_nothing(monkeypatch):
    for largest, below in ((-math.inf, 0), (math.inf, 1), (2.0, 1)):
        operand = SimpleNamespace(value=largest)
        monkeypatch.setattr(origins, "_at", lambda run, *place, found=operand: found)
        assert len(origins._below(None, 0, 0, 0)) == below
        (before,), *_ = origins._shrinking(None, at(0, 0, 0))[1]
        assert (before.name, before.value) == ("nothing", -math.inf)


@pytest.mark.usefixtures("names")
def test_a_normalisation_reads_what_the_run_has():
    norm = SimpleNamespace(eps=0.5, gain=None, bias=None)
    block = SimpleNamespace(norm="before", feed_forward=None, first=norm)
    run = SimpleNamespace(reads="stream", example=SimpleNamespace(block=block, layer=None))

    def read(run):
        return run.reads

    assert origins._mean_of(read)(run, at(1))[0] == "mean"
    spread, _ = origins._spread_of(read, "means", lambda run: "first")(run, at(1))
    normed, _ = origins._normed_of(read, "stream", lambda run: "first")(run, at(1, 2))
    assert (spread, normed) == ("spread", "normalised")


@pytest.mark.usefixtures("names")
def test_a_bias_stands_where_it_adds_something():
    layer = SimpleNamespace(b_in=np.array([0.0, 2.0]))
    block = SimpleNamespace(feed_forward=layer)
    run = SimpleNamespace(example=SimpleNamespace(block=block, layer=None))
    rule = origins._affine(lambda run: "stream", "w_in", "b_in")
    (alone,), (_, (bias,)) = (tuple(rule(run, at(0, column))[1]) for column in (0, 1))
    assert alone == (("stream", 0), ("w_in", 0, 0))
    assert bias == operations.Operand(2.0, Place.at("b_in", 1), "bias")


def made_up(**parts):
    one = np.eye(2)[None]
    given = {
        "name": "made-up",
        "title": "Made up",
        "tokens": ["a", "b"],
        "head_names": ["only"],
        "source": "this test",
        "embeddings": np.eye(2),
        "layer": MultiHeadWeights(one, one, one),
    }
    return WorkedExample(**given | parts)


def test_an_example_names_what_does_not_fit():
    with raises(ValueError, "embeddings has shape (2,); at least 2 axes are wanted"):
        made_up(embeddings=[1.0, 2.0])
    with raises(ValueError, "keys_at_once is 0; a whole number of at least 1 is wanted"):
        made_up(keys_at_once=0)
    large = 1e200 * np.ones((2, 2))
    example = made_up(layer=MultiHeadWeights(large[None], *[np.eye(2)[None]] * 2), positions=large)
    sentence = "overflow float64 when multiplied; smaller numbers are wanted"
    with raises(ValueError, f"embeddings and the weights {sentence}"):
        trace(example)
    with raises(ValueError, f"weights and value {sentence}"):
        record._outputs(example, np.array([[[0.75, 0.75]]]), np.full((1, 2, 1), MAX))


def test_the_heads_of_blocks_are_counted_from_one():
    heads = MultiHeadWeights(*[np.ones((2, 2, 1))] * 3)
    (run,) = trace_blocks(made_up(), [Block(heads)])
    assert run.example.head_names == ("Head 1", "Head 2")


def test_an_index_of_numpy_may_be_the_first():
    place = Place.at("weights", np.int64(0), np.int64(0), np.int64(1))
    assert [type(index) for index in place.index] == [int] * 3


def test_a_number_is_exact_up_to_its_size_but_at_least_one():
    assert rounding.short(1e6 + 1e-9) == "1000000"
    assert rounding.short(0.5 + 1.5e-14) == "0.5000"


def test_a_stage_tells_its_rows_and_what_it_is_joined_from():
    assert stages._in_block("w_in", "Matrix", "h", ("d_model", "d_ff"), "x").rows == "x"
    joined = [stage["joined"] for stage in stages.as_data().values() if "joined" in stage]
    assert joined
    assert all(joined)
