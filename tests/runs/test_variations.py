"""A variation changes one thing; the numbers it leaves alone stay the same to the last bit."""

import numpy as np
import pytest
from helpers import HEADS, QUERIES, projected, random_layer

import mha


@pytest.mark.parametrize("shape", [(QUERIES, QUERIES), (1, QUERIES, QUERIES), (HEADS, 1, QUERIES)])
@pytest.mark.parametrize("has_output", [True, False])
def test_without_a_head_the_others_stay_and_the_output_loses_its_share(rng, shape, has_output):
    layer = random_layer(rng, w_o=has_output)
    start = projected(rng, mask=rng.random(shape) < 0.5, layer=layer)
    run = mha.trace(start)
    for head in range(HEADS):
        changed = mha.trace(mha.without_head(start, head))
        kept = [i for i in range(HEADS) if i != head]
        assert changed.head_names == tuple(run.head_names[i] for i in kept)
        for stage in ("query", "key", "value", "scores", "weights", "head_outputs"):
            np.testing.assert_array_equal(getattr(changed, stage), getattr(run, stage)[kept])
        if has_output:
            rest = run.output - run.head_contributions[head]
            np.testing.assert_allclose(changed.output, rest, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", mha.example_names())
def test_swapped_tokens_swap_their_outputs(name):
    start = mha.load_example(name)
    n = len(start.tokens)
    order = [n - 1, *range(1, n - 1), 0]
    run, changed = mha.trace(start), mha.trace(mha.with_swapped_tokens(start, 0, n - 1))
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
        varied = mha.with_swapped_tokens(start, first, second)
        assert varied.tokens[varied.focus] == "cat"
        at = [varied.tokens.index(token) for token in start.tokens]
        np.testing.assert_array_equal(varied.target_weights[:, at][..., at], start.target_weights)
