"""Runs of blocks: every intermediate equals the plain functions; a stack goes on where one ends."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from helpers import QUERIES, with_block, with_places

from mha import (
    Block,
    FeedForward,
    MultiHeadWeights,
    Norm,
    arithmetic,
    load_example,
    multi_head_attention,
    trace,
    trace_blocks,
    transformer,
)
from mha.runs.record import continued

NORMS = ["before", "after", "nowhere"]


def alone(rng, norm, activation="relu"):
    """Return an example of a block, without the angles that a stack of blocks does not have."""
    return with_block(rng, norm, activation, angles=None)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_run_ends_as_the_plain_functions_do(rng, norm, activation):
    start = alone(rng, norm, activation)
    run = trace(start)
    np.testing.assert_array_equal(run.result, transformer(run.placed, [start.block]))
    read = run.start_normed if norm == "before" else run.placed
    np.testing.assert_array_equal(run.output, multi_head_attention(read, start.layer))


def around(embeddings, block):
    """Return the run of a block on two tokens."""
    parts = dict.fromkeys(("query", "key", "value")) | {"embeddings": embeddings, "block": block}
    return trace(replace(load_example("cat-sat"), **parts))


def test_numbers_of_a_row_by_hand():
    nothing = MultiHeadWeights(*np.zeros((3, 1, 4, 4)))
    feed = FeedForward([[1], [0], [0], [-1]], [-2], [[0, 3, 0, 0]], [1, 0, 0, 0])
    block = Block(nothing, feed, "before", second=Norm([1, 1, 2, 1], [0, 0, 0, 0.5], eps=0))
    run = around([[9, -5, 3, 1], [3, 3, 1, 1]], block)
    lines = {
        ("stream_means", 0): "(9 + (−5) + 3 + 1) ÷ 4 = 2",
        ("stream_spreads", 0): "√((7×7 + (−7)×(−7) + 1×1 + (−1)×(−1)) ÷ 4) = 5",
        ("stream_normed", 2): "(3 − 2) ÷ 5 × 2 = 0.4",
        ("stream_normed", 3): "(1 − 2) ÷ 5 + 0.5 = 0.3",
        ("hidden", 0): (
            "1.4×1 + (−1.4)×0 + 0.4×0 + 0.3×(−1) + (−2) = 1.4 + 0 + 0 + (−0.3) + (−2) = −0.9"
        ),
        ("active", 0): "max(0, −0.9) = 0",
        ("total", 0): "9.0000 + 1.0000 = 10.0000",
    }
    for (stage, column), line in lines.items():
        assert str(arithmetic(run, stage, 0, column)) == line


def test_an_eps_that_can_be_seen_and_a_gelu_are_written_out():
    nothing = MultiHeadWeights(*np.zeros((3, 1, 2, 2)))
    feed = FeedForward([[1], [0]], None, [[1, 0]], None, "gelu")
    block = Block(nothing, feed, "after", Norm(eps=0.25))
    run = around([[2, 1], [1, -1]], block)
    assert str(arithmetic(run, "stream_spreads", 0)) == (
        "√((0.5×0.5 + (−0.5)×(−0.5)) ÷ 2 + 0.25) ≈ 0.7071"
    )
    assert str(arithmetic(run, "active", 0)) == "0.7071×0.7602 ≈ 0.5376"


@pytest.mark.parametrize("is_causal", [False, True])
def test_a_stack_goes_on_where_each_block_ends(rng, is_causal):
    start = with_places(rng, angles=None, is_causal=is_causal)
    blocks = [with_block(rng, norm).block for norm in NORMS]
    runs = trace_blocks(start, blocks)
    placed = start.embeddings + start.positions
    wanted = transformer(placed, blocks, is_causal=is_causal)
    np.testing.assert_array_equal(runs[-1].result, wanted)
    assert [run.example.name for run in runs] == [f"made-up-{i}" for i in (1, 2, 3)]
    for before, after in pairwise(runs):
        np.testing.assert_array_equal(after.embeddings, before.result)
        assert after.positions is None


@pytest.mark.parametrize("norm", NORMS)
def test_a_run_that_goes_on_from_other_weights_goes_through_the_block(rng, norm):
    run = trace(alone(rng, norm))
    same = continued(run, weights=run.weights)
    np.testing.assert_array_equal(same.result, run.result)
    even = continued(run, weights=np.full_like(run.weights, 1 / QUERIES))
    np.testing.assert_array_equal(even.stream, run.placed + even.output)
    assert np.abs(even.result - run.result).max() > 0.01
