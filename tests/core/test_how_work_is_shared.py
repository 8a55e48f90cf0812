"""How things are chosen and shared out: defaults, best starts, heads, workers and tiles.

Nothing of the package is called while this module is imported, as in `test_sentences.py`.
"""

import os
import time
from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import raises

from mha import blockwise_attention, fit_patterns, scaled_dot_product_attention
from mha.core import costs, patterns, threads, tiles

# Defaults, and what is chosen among several


def test_what_is_left_out_has_its_usual_size():
    sizes = costs.layer_sizes(6, 2)
    assert asdict(sizes) == {
        "d_model": 6, "num_heads": 2, "d_k": 3, "d_v": 3, "d_out": 6, "num_groups": 2
    }  # fmt: skip
    assert all(type(size) is int for size in asdict(sizes).values())
    other = costs.layer_sizes(7, 4, d_k=5, d_v=9, d_out=11, num_groups=2)
    assert asdict(other) == {
        "d_model": 7, "num_heads": 4, "d_k": 5, "d_v": 9, "d_out": 11, "num_groups": 2
    }  # fmt: skip
    assert sizes.cache_bytes(3) == sizes.cache_bytes(3, itemsize=4)
    with raises(ValueError, "num_heads is 4; a divisor of d_model=7 is wanted"):
        costs.layer_sizes(7, 4)
    with raises(ValueError, "num_groups is 3; a divisor of num_heads=4 is wanted"):
        costs.layer_sizes(8, 4, num_groups=3)


def test_cores_are_those_of_the_process_or_else_all(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 7}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert threads.usable_cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    assert threads.usable_cores() == 8
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert threads.usable_cores() == 1


def test_a_limit_begins_and_ends_without_users(monkeypatch):
    asked = []
    library = SimpleNamespace(num_threads=7, set_num_threads=asked.append)
    limiting = SimpleNamespace(lib_controllers=[library])
    limit = threads._Limit()
    limit.reset()
    assert (limit.users, limit.before) == (0, [])
    for controller in (limiting, None, limiting):
        monkeypatch.setattr(threads, "_controller", lambda found=controller: found)
        limit.enter()
        limit.leave()
        assert limit.before == []
    assert asked == [1, 7, 1, 7]


def test_tasks_are_done_by_one_worker_unless_more_are_asked_for():
    made = []
    # A task takes long enough for another worker to begin, if there were one.
    threads.run_tasks(range(9), lambda: made.append("worker") or (lambda task: time.sleep(0.01)))
    assert made == ["worker"]


@pytest.mark.parametrize(("fixed", "chosen"), [(True, [1, 2]), (False, [2, 2])])
def test_the_best_start_is_each_heads_or_that_of_all(monkeypatch, rng, fixed, chosen):
    pattern = np.array([[0.5, 0.5], [0.2, 0.8]])
    w_q, w_k = patterns.pattern_projections(pattern, np.eye(2), 1)
    off = np.array([[3.0, 2.0], [0.0, 2.0], [0.5, 0.0]])  # how far a head is off in each start
    starts = w_q * (1 + off[..., None, None]), np.broadcast_to(w_k, (3, 2, 2, 1)).copy()
    x = np.broadcast_to(np.eye(2), (3, 1, 2, 2)).copy()
    monkeypatch.setattr(patterns, "_starts", lambda *given: (x, *starts))
    monkeypatch.setattr(patterns, "_descend", lambda *given, **how: None)
    embeddings = np.eye(2) if fixed else None
    fit = fit_patterns([pattern] * 2, 2, 1, rng, embeddings=embeddings, restarts=3)
    for head, start in enumerate(chosen):
        np.testing.assert_array_equal(fit.w_q[head], starts[0][start, head])


@pytest.mark.parametrize("fixed", [True, False])
def test_each_step_moves_less_and_a_tiny_gradient_moves_less(monkeypatch, fixed):
    gradients = [np.full((1, 1, 1, 1), size) for size in (3.0, 1e-8, -2e-8)]
    monkeypatch.setattr(patterns, "_gradients", lambda *given: gradients)
    w_q, w_k, x = moved = [np.zeros((1, 1, 1, 1)) for _ in range(3)]
    patterns._descend(x, w_q, w_k, None, decay=0.0, steps=4, fixed=fixed)
    rates = 0.1 * (1 + 3 / 4 + 2 / 4 + 1 / 4)
    wanted = [-rates * float(g.item() / (abs(g.item()) + 1e-8)) for g in gradients]
    wanted[2] *= not fixed
    np.testing.assert_allclose([array.item() for array in moved], wanted, rtol=1e-9)


def test_patterns_at_the_edges():
    rng = np.random.default_rng(3)
    even = np.full((1, 2, 2), 0.5)
    zeros = np.zeros((2, 2))
    still = {"embeddings": zeros, "steps": 1, "restarts": 1}
    assert fit_patterns(even - 1e-10, 2, 1, rng, **still).divergence == [0.0]
    with np.errstate(all="raise", under="ignore"):
        astray = fit_patterns(
            [[[0.5, 0.5], [0.2, 0.8]]], 2, 1, np.random.default_rng(0),
            **still | {"embeddings": 1e4 * np.eye(2)},
        )  # fmt: skip
    assert astray.divergence == [np.inf]
    default = fit_patterns(even, 2, 1, np.random.default_rng(3))
    said = fit_patterns(even, 2, 1, np.random.default_rng(3), steps=1000, restarts=8)
    np.testing.assert_array_equal(default.w_q, said.w_q)
    with raises(ValueError, "embeddings has rank 0; 2 is wanted"):
        patterns.pattern_projections(even[0], zeros, 1)
    with raises(ValueError, "embeddings has shape (2,); at least 2 axes are wanted"):
        patterns.pattern_projections(even[0], [1.0, 2.0], 1)
    with raises(ValueError, "patterns has shape (1, 2, 3); square matrices are wanted"):
        fit_patterns(np.full((1, 2, 3), 1 / 3), 2, 1, rng)
    with raises(ValueError, "pattern has a row that sums to 0.5; 1 is wanted"):
        patterns.centred_log([[0.25, 0.25], [0.55, 0.55]])


# Which heads and how many workers


def inputs_of(leading, groups, num_queries=2, num_keys=2, first=None, dtype=np.float64):
    query, key = np.ones((*leading, num_queries, 2), dtype), np.ones((*groups, num_keys, 2), dtype)
    return tiles.Inputs(query, key, key, None, first, None, 2)


def test_heads_go_together_while_their_scores_are_few():
    pairs = {"num_queries": 256, "num_keys": 256}  # two such heads have the scores of a task
    assert inputs_of((5,), (5,), **pairs).heads() == [
        (slice(0, 2),),
        (slice(2, 4),),
        (slice(4, 5),),
    ]
    deep = inputs_of((2, 3, 5), (2, 3, 5)).heads()
    assert deep == [(i, j, slice(0, 5)) for i in range(2) for j in range(3)]
    assert inputs_of((4,), (2,)).heads() == [(i,) for i in range(4)]


def test_what_would_be_one_or_two_tasks_is_two_and_the_callers_the_longer():
    for heads, longer in [(8, 5), (4, 2), (3, 2), (2, 1)]:
        length = {8: 128, 4: 256, 3: 256, 2: 256}[heads]
        found = inputs_of((heads,), (heads,), length, length).heads()
        assert found == [(slice(0, longer),), (slice(longer, heads),)], heads
    # There is nothing to share where one worker does everything, or a head is a task.
    assert inputs_of((8,), (8,), 127, 128).heads() == [(slice(0, 8),)]
    assert inputs_of((2, 1), (2, 1), 256, 256).heads() == [(0, slice(0, 1)), (1, slice(0, 1))]
    assert inputs_of((2, 8), (2, 8), 128, 128).heads() == [(0, slice(0, 8)), (1, slice(0, 8))]


def test_a_head_reads_the_keys_of_its_group():
    assert inputs_of((4,), (2,)).place((3,)) == (1,)
    assert inputs_of((2, 3, 4), (2, 3, 2)).place((1, 2, 3)) == (1, 2, 1)
    assert inputs_of((2, 4), (2, 4)).place((1, 3)) == (1, 3)


def test_blocks_with_the_most_keys_come_first():
    first, last = slice(0, 2), slice(2, 3)
    sizes = {"num_queries": 3, "num_keys": 2**15}
    apart = [((0,), first), ((0,), last), ((1,), first), ((1,), last)]
    assert inputs_of((2,), (2,), **sizes).blocks() == apart
    causal = [((0,), last), ((1,), last), ((0,), first), ((1,), first)]
    assert inputs_of((2,), (2,), **sizes, first=0).blocks() == causal


def causal(heads, num_queries, num_keys=None, groups=None, block_size=256):
    query = np.ones((*heads, num_queries, 2), np.float32)
    key = np.ones((*(groups or heads), num_keys or num_queries, 2), np.float32)
    return tiles.Inputs(query, key, key, None, 0, None, block_size)


def test_short_causal_attention_works_on_half_as_many_queries_of_several_heads():
    short = causal((8,), 1024)
    assert short.halves()
    assert (short.rows(), short.together()) == (128, 4)
    assert short.blocks()[:2] == [
        ((slice(0, 4),), slice(896, 1024)),
        ((slice(4, 8),), slice(896, 1024)),
    ]
    assert (causal((8,), 2048).rows(), causal((8,), 2048).together()) == (128, 4)
    assert (causal((8,), 2049).rows(), causal((8,), 2049).together()) == (256, 0)
    # A few cores want something to do: eight tasks at least.
    for num_queries, together in [(512, 4), (256, 2)]:
        found = causal((8,), num_queries)
        assert (found.together(), len(found.blocks())) == (together, 8), num_queries
    # One head alone, and heads that share keys, have nobody to go with.
    for alone in (causal((1,), 1024), causal((), 1024), causal((4,), 1024, groups=(2,))):
        assert alone.rows() == 256
    assert not causal((8,), 128).halves()
    assert causal((8,), 129).halves()
    assert causal((4,), 3, block_size=1).rows() == 1
    assert causal((4,), 3, block_size=5).rows() == 3
    assert not inputs_of((8,), (8,), 1024, 1024).halves()


@pytest.mark.parametrize(
    ("shape", "allowed", "workers"),
    [((10, 2**14), 8, 2), ((10, 2**14), 1, 1), ((2, 2**18), 8, 1), ((3, 4), 8, 1)],
)
def test_workers_are_no_more_than_pay(monkeypatch, shape, allowed, workers):
    found = []
    monkeypatch.setattr(tiles, "run_tasks", lambda blocks, make, workers: found.append(workers))
    tiles.attend(inputs_of((), (), *shape), np.ones((shape[0], 2)), allowed)
    assert found == [workers]


def test_sums_have_the_dtype_of_the_scores():
    inputs, output = inputs_of((), (), dtype=np.float32), np.ones((2, 2), np.float32)
    worker, block = tiles._Worker(inputs, output), ((), slice(0, 2))
    for sums in (worker._unshifted, worker._shifted):
        total = sums(block, output)
        assert total.dtype == np.float32
        assert (total > 0).all()


def test_a_late_score_may_be_too_large_for_an_exponential():
    key = np.array([[0.0]] * 16 + [[1000.0]])
    value = np.arange(17.0)[:, None] + 1
    with np.errstate(all="raise"):
        found = blockwise_attention([[1.0]], key, value, block_size=5, scale=1)
    assert found == [[17.0]]


def test_later_tiles_forbid_what_comes_later():
    x = np.random.default_rng(3).normal(size=(15, 2))
    found = blockwise_attention(x, x, x, block_size=3, is_causal=True)
    plain = scaled_dot_product_attention(x, x, x, is_causal=True)
    np.testing.assert_allclose(found, plain, rtol=1e-12, atol=1e-12)


def test_query_and_key_together_are_moderate_or_not():
    one = np.ones((2, 3))
    assert tiles.are_moderate(one, one, one, None)
    assert not tiles.are_moderate(1e150 * one, 1e145 * one, one, None)
    assert not tiles.are_moderate(1e145 * one, 1e150 * one, one, None)
