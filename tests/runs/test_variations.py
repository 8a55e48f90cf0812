"""A variation changes one thing; the numbers it leaves alone stay the same to the last bit."""

import numpy as np
import pytest
from helpers import HEADS, QUERIES, projected

from mha import (
    example_names,
    load_example,
    trace,
    with_swapped_tokens,
    without_head,
    without_scale,
)

SEVERAL_HEADS = [name for name in example_names() if load_example(name).num_heads > 1]


@pytest.mark.parametrize("name", example_names())
def test_without_scale_the_scaled_scores_are_the_scores(name):
    start = load_example(name)
    record, changed = trace(start), trace(without_scale(start))
    np.testing.assert_array_equal(changed.scores, record.scores)
    np.testing.assert_array_equal(changed.scaled_scores, record.scores)


@pytest.mark.parametrize("name", SEVERAL_HEADS)
def test_without_a_head_the_others_stay_and_the_output_loses_its_contribution(name):
    start = load_example(name)
    record = trace(start)
    for head in range(record.num_heads):
        changed = trace(without_head(start, head))
        kept = [i for i in range(record.num_heads) if i != head]
        assert changed.head_names == tuple(record.head_names[i] for i in kept)
        for stage in ("query", "key", "value", "scores", "weights", "head_outputs"):
            np.testing.assert_array_equal(getattr(changed, stage), getattr(record, stage)[kept])
        if record.output is None:
            assert changed.output is None
            continue
        shares = record.head_contributions
        rest = record.output - shares[head]
        np.testing.assert_allclose(changed.output, rest, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(changed.head_contributions, shares[kept], rtol=1e-13)


@pytest.mark.parametrize("shape", [(QUERIES, QUERIES), (1, QUERIES, QUERIES), (HEADS, 1, QUERIES)])
def test_a_mask_follows_the_heads_it_is_for(rng, shape):
    mask = rng.random(shape) < 0.5
    start = projected(rng, mask=mask)
    record = trace(start)
    for head in range(HEADS):
        kept = [i for i in range(HEADS) if i != head]
        changed = trace(without_head(start, head))
        np.testing.assert_array_equal(changed.weights, record.weights[kept])


@pytest.mark.parametrize("name", example_names())
def test_swapped_tokens_swap_their_outputs(name):
    start = load_example(name)
    n = len(start.tokens)
    order = [n - 1, *range(1, n - 1), 0]
    record, changed = trace(start), trace(with_swapped_tokens(start, 0, n - 1))
    assert changed.tokens == tuple(start.tokens[i] for i in order)
    wanted = {
        stage: getattr(record, stage)[:, order][..., order] for stage in ("scores", "weights")
    }
    wanted |= {"head_outputs": record.head_outputs[:, order], "concat": record.concat[order]}
    if record.output is not None:
        wanted["output"] = record.output[order]
    for stage, array in wanted.items():
        np.testing.assert_allclose(getattr(changed, stage), array, rtol=1e-12, atol=1e-14)


def test_the_focus_and_the_target_follow_their_tokens():
    start = load_example("cat-sat-on-it")
    assert start.tokens[start.focus] == "cat"
    for first, second in [(1, 4), (4, 1), (0, 2)]:
        varied = with_swapped_tokens(start, first, second)
        assert varied.tokens[varied.focus] == "cat"
        at = [varied.tokens.index(token) for token in start.tokens]
        np.testing.assert_array_equal(varied.target_weights[:, at][..., at], start.target_weights)
