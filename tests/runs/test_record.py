"""A run has every intermediate result, equal to the plain functions, and is immutable."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from helpers import (
    D_FF,
    D_K,
    D_MODEL,
    D_V,
    HEADS,
    MASK,
    QUERIES,
    example,
    example_from_embeddings,
    example_with_block,
    example_with_positions,
    random_layer,
)
from ports import random_example

import mha
from mha.core.heads import merge_heads
from mha.core.language import draw_model
from mha.core.transformer import transformer
from mha.runs.changed_examples import with_swapped_tokens, without_head
from mha.runs.logit_attribution import logit_shares, trace_text
from mha.runs.record import continue_from, trace_blocks
from mha.runs.stages import STAGES

NORMS = ["before", "after", "nowhere"]
SAME = np.testing.assert_array_equal


# ---- Contents ----


@pytest.mark.parametrize("seed", range(12))
def test_weights_and_outputs_are_those_of_the_plain_functions_bit_for_bit(seed):
    start = random_example(np.random.default_rng(seed))
    options = {"mask": start.mask, "is_causal": start.is_causal, "scale": start.scale}
    run = mha.trace(start)
    SAME(run.weights, mha.attention_weights(run.query, run.key, **options))
    outputs = mha.scaled_dot_product_attention(run.query, run.key, run.value, **options)
    SAME(run.head_outputs, outputs)
    SAME(run.concat, merge_heads(outputs))


def test_matrices_of_several_dtypes_are_computed_in_the_widest():
    start = example_from_embeddings(np.random.default_rng(3))
    narrow = {name: getattr(start.layer, name).astype(np.float32) for name in ("w_q", "w_k")}
    layer = dataclasses.replace(start.layer, **narrow)
    x = start.embeddings.astype(np.float32)
    run = mha.trace(dataclasses.replace(start, embeddings=x, layer=layer))
    SAME(run.result, mha.multi_head_attention(x, layer))


@pytest.mark.parametrize(
    ("largest", "shift"), [(79.0, 0), (-79.0, 0), (80.0, 0), (81.0, 81), (-81.0, -81)]
)
def test_a_row_is_shifted_only_if_its_exponentials_may_overflow(largest, shift):
    query, key = [[largest], [1.0]], [[1.0], [1.0]]
    run = mha.trace(example(tokens=["a", "b"], query=query, key=key, value=[[2.0], [3.0]], scale=1))
    SAME(run.shifts, [[shift, 0]])
    SAME(run.exponentials[0, 1], np.exp([1.0, 1.0]))
    np.testing.assert_allclose(run.weights, np.full((1, 2, 2), 0.5))


@pytest.mark.parametrize("largest", [1e4, 1e300, 1.7e308])
def test_huge_scores_neither_overflow_nor_warn(largest):
    query, key = [[largest], [-largest], [1.0]], [[1.0], [-1.0], [0.5]]
    run = mha.trace(example(tokens=["a", "b", "c"], query=query, key=key, value=np.eye(3), scale=1))
    SAME(run.shifts, [[largest, largest, 0]])
    SAME(run.exponentials[0, :2], [[1, 0, 0], [0, 1, 0]])
    SAME(run.weights[0, :2], [[1, 0, 0], [0, 1, 0]])
    SAME(run.head_outputs, run.weights)


def test_nothing_can_be_changed(rng):
    query, mask = np.ones((QUERIES, D_K)), MASK.copy()
    start = example(query=query, mask=mask)
    query[:], mask[:] = 7, False
    assert (start.query == 1).all()
    SAME(start.mask, MASK)
    for kept in (start, mha.trace(example_with_block(rng, keys_at_once=2))):
        assert isinstance(kept.tokens, tuple)
        for field in dataclasses.fields(kept):
            value = getattr(kept, field.name)
            assert not (isinstance(value, np.ndarray) and value.flags.writeable)
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(kept, field.name, None)


@pytest.mark.parametrize("norm", ["before", "after"])
def test_axes_and_sizes_of_the_registry_are_those_of_the_arrays(rng, norm):
    lengths = {
        "n": QUERIES, "num_heads": HEADS, "d_model": D_MODEL, "d_out": D_MODEL, "d_k": 2 * D_K,
        "d_k / 2": D_K, "d_v": D_V, "d_ff": D_FF, "num_heads · d_v": HEADS * D_V, "blocks": 2,
        "blocks · d_v": 2 * D_V,
    }  # fmt: skip
    run = mha.trace(example_with_block(rng, norm, keys_at_once=4))
    for name, kind in STAGES.items():
        array = kind.array(run)
        if array is None:
            continue
        assert array.shape == tuple(lengths[size] for size in kind.sizes), name
        assert array.ndim == len(kind.axes), name
        assert kind.per_head == (array.shape[0] == HEADS), name
        assert kind.by_key == (array.ndim == 3 and array.shape[1:] == (QUERIES, QUERIES)), name


# ---- Blocks ----


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_stack_ends_as_the_plain_functions_do_and_goes_on_where_each_block_ends(
    rng, activation, is_causal
):
    start = example_with_positions(rng, angles=None, is_causal=is_causal)
    blocks = [example_with_block(rng, norm, activation).block for norm in NORMS]
    runs = trace_blocks(start, blocks)
    placed = start.embeddings + start.positions
    SAME(runs[-1].result, transformer(placed, blocks, is_causal=is_causal))
    assert [run.example.name for run in runs] == [f"made-up-{i}" for i in (1, 2, 3)]
    for before, after in pairwise(runs):
        SAME(after.embeddings, before.result)
        assert after.positions is None


# ---- Going on from other numbers ----


@pytest.mark.parametrize("norm", NORMS)
def test_a_block_goes_on_from_its_own_weights_and_from_others(rng, norm):
    run = mha.trace(example_with_block(rng, norm, angles=None))
    SAME(continue_from(run, weights=run.weights).result, run.result)
    even = continue_from(run, weights=np.full_like(run.weights, 1 / QUERIES))
    SAME(even.stream, run.placed + even.output)
    assert np.abs(even.result - run.result).max() > 0.01


def test_a_run_goes_on_from_the_numbers_that_it_is_given(rng):
    run = mha.trace(example_from_embeddings(rng))
    exponentials = rng.random(run.weights.shape) + 0.5
    exponentials[1, 2] = 0  # a row without exponentials has no weights
    found = continue_from(run, exponentials=exponentials)
    sums = exponentials.sum(axis=-1)
    weights = exponentials / np.maximum(sums, 1e-300)[..., None]
    np.testing.assert_allclose(found.weights, weights, rtol=1e-14)
    np.testing.assert_allclose(found.row_sums, sums, rtol=1e-14)
    np.testing.assert_allclose(found.head_outputs, weights @ run.value, rtol=1e-12)
    np.testing.assert_allclose(found.output, found.concat @ run.example.layer.w_o, rtol=1e-12)
    np.testing.assert_allclose(found.head_contributions.sum(axis=0), found.output, rtol=1e-12)
    for name in ("query", "scores", "scaled_scores", "mask"):
        SAME(getattr(found, name), getattr(run, name))


# ---- A running softmax ----


@pytest.mark.parametrize("size", [1, 2, QUERIES + 1])
@pytest.mark.parametrize("mask", [None, MASK, np.where(MASK, 0.5, -np.inf)])
def test_the_last_output_of_a_running_softmax_is_that_of_whole_rows(rng, size, mask):
    run = mha.trace(example_from_embeddings(rng, keys_at_once=size, mask=mask))
    np.testing.assert_allclose(run.running_outputs[..., -D_V:], run.head_outputs, atol=1e-13)
    assert run.running_sums.shape == (HEADS, QUERIES, -(-QUERIES // size))


# ---- A text ----


def test_a_text_has_the_model_s_logits_which_are_the_sum_of_their_shares():
    words = ("ant", "bee", "cow", "dog", "elk")
    model = draw_model(np.random.default_rng(5), words, 6, num_blocks=3, num_heads=3, base=50.0)
    runs, silent = (trace_text(used, "ant bee cow ant") for used in (model, model.without((2, 1))))
    last = runs[-1]
    np.testing.assert_allclose(last.logits, model.logits("ant bee cow ant"), atol=1e-12)
    np.testing.assert_allclose(last.probabilities, mha.softmax(last.logits), rtol=1e-12)
    assert mha.tables.stage_table(last, "probabilities").header == ("Token", *words)
    for row in range(4):
        found = logit_shares(runs, row)
        assert len(found.names) == len(found.shares) == 1 + 9
        np.testing.assert_allclose(found.shares.sum(axis=0), last.logits[row], atol=1e-12)
        off = found.names.index("block 3, head 2")
        assert not logit_shares(silent, row).shares[off].any()


# ---- Variations: the parts that a variation does not change keep the same bits ----


@pytest.mark.parametrize("shape", [(QUERIES, QUERIES), (1, QUERIES, QUERIES), (HEADS, 1, QUERIES)])
@pytest.mark.parametrize("has_output", [True, False])
def test_without_a_head_the_others_stay_and_the_output_loses_its_share(rng, shape, has_output):
    layer = random_layer(rng, w_o=has_output)
    start = example_from_embeddings(rng, mask=rng.random(shape) < 0.5, layer=layer)
    run = mha.trace(start)
    for head in range(HEADS):
        changed = mha.trace(without_head(start, head))
        kept = [i for i in range(HEADS) if i != head]
        assert changed.head_names == tuple(run.head_names[i] for i in kept)
        for stage in ("query", "key", "value", "scores", "weights", "head_outputs"):
            SAME(getattr(changed, stage), getattr(run, stage)[kept])
        if has_output:
            rest = run.output - run.head_contributions[head]
            np.testing.assert_allclose(changed.output, rest, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", mha.example_names())
def test_swapped_tokens_swap_their_outputs(name):
    start = mha.load_example(name)
    n = len(start.tokens)
    order = [n - 1, *range(1, n - 1), 0]
    run, changed = mha.trace(start), mha.trace(with_swapped_tokens(start, 0, n - 1))
    assert changed.tokens == tuple(start.tokens[i] for i in order)
    wanted = {stage: getattr(run, stage)[:, order][..., order] for stage in ("scores", "weights")}
    wanted |= {"head_outputs": run.head_outputs[:, order], "concat": run.concat[order]}
    if run.output is not None:
        wanted["output"] = run.output[order]
    for stage, array in wanted.items():
        np.testing.assert_allclose(getattr(changed, stage), array, rtol=1e-12, atol=1e-14)


def test_the_focus_and_the_target_follow_their_tokens():
    start = mha.load_example("cat-sat-on-it")
    assert start.tokens[start.focus] == "cat"
    for first, second in [(1, 4), (4, 1), (0, 2)]:
        varied = with_swapped_tokens(start, first, second)
        assert varied.tokens[varied.focus] == "cat"
        at = [varied.tokens.index(token) for token in start.tokens]
        SAME(varied.target_weights[:, at][..., at], start.target_weights)
