"""How things are chosen and shared out: defaults, best starts, heads and tiles."""

from dataclasses import asdict

import numpy as np
import pytest
from helpers import raises

from mha import blockwise_attention, fit_patterns, scaled_dot_product_attention
from mha.core import costs, patterns, tiles

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


def test_a_head_reads_the_keys_of_its_group():
    assert inputs_of((4,), (2,)).place((3,)) == (1,)
    assert inputs_of((2, 3, 4), (2, 3, 2)).place((1, 2, 3)) == (1, 2, 1)
    assert inputs_of((2, 4), (2, 4)).place((1, 3)) == (1, 3)


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
