"""A mask for heads on a batch: what its axes mean is never guessed."""

import numpy as np
import pytest
from helpers import D_MODEL, D_OUT, HEADS, KEYS, QUERIES, raises, random_layer

from mha import multi_head_attention, multi_head_attention_backward, padding_mask

LENGTHS = np.array([2, 5, 3])
"""As many sentences as heads: the sizes alone do not tell them apart."""


@pytest.fixture
def layer(rng):
    return random_layer(rng)


def tokens(rng, *leading, n=QUERIES):
    return rng.normal(size=(*leading, n, D_MODEL))


def may_mean(shape, **readings):
    """Return the whole sentence of a refusal, with the readings that fit."""
    wanted = " or ".join(f"mask[{at}] for one mask a {each}" for each, at in readings.items())
    return f"mask has shape {shape}, which may mean sentences or heads; {wanted} is wanted"


@pytest.mark.parametrize("sentences", [1, 2, HEADS, 7])
def test_three_axes_on_a_batch_are_refused_whatever_the_sizes(rng, layer, sentences):
    x = tokens(rng, sentences)
    a_head = np.ones((HEADS, QUERIES, QUERIES), bool)
    fits = {"head": "None"} if sentences != HEADS else {"sentence": ":, None", "head": "None"}
    with raises(ValueError, may_mean(a_head.shape, **fits)):
        multi_head_attention(x, layer, mask=a_head)
    a_sentence = padding_mask(np.arange(sentences) % QUERIES, QUERIES)
    if sentences == 1:  # the same for all, however it is read
        assert (multi_head_attention(x, layer, mask=a_sentence) == 0).all()
        return
    fits = {"sentence": ":, None"} | ({"head": "None"} if sentences == HEADS else {})
    with raises(ValueError, may_mean(a_sentence.shape, **fits)):
        multi_head_attention(x, layer, mask=a_sentence)


@pytest.mark.parametrize("batched", ["x", "context", "both"])
def test_a_batch_on_either_side_is_a_batch(rng, layer, batched):
    x = tokens(rng, *(HEADS,) * (batched != "context"))
    context = tokens(rng, *(HEADS,) * (batched != "x"), n=KEYS)
    mask = padding_mask(LENGTHS, KEYS)
    with raises(ValueError, may_mean((HEADS, 1, KEYS), sentence=":, None", head="None")):
        multi_head_attention(x, layer, context=context, mask=mask)
    output = multi_head_attention(x, layer, context=context, mask=mask[:, None])
    for b in range(HEADS):
        own, other = (tokens[b] if tokens.ndim == 3 else tokens for tokens in (x, context))
        alone = multi_head_attention(own, layer, context=other, mask=mask[b])
        np.testing.assert_allclose(output[b], alone, rtol=1e-11, atol=1e-13)


def test_without_a_batch_three_axes_are_heads_forward_and_backward(rng, layer):
    x, mask = tokens(rng), rng.random((HEADS, QUERIES, QUERIES)) < 0.6
    d_output = rng.normal(size=(QUERIES, D_OUT))
    output = multi_head_attention(x, layer, mask=mask)
    np.testing.assert_allclose(
        output, multi_head_attention(x[None], layer, mask=mask[None])[0], rtol=1e-12, atol=1e-14
    )
    back = multi_head_attention_backward(d_output, x, layer, mask=mask)
    float_mask = np.where(mask, 0, -np.inf)
    again = multi_head_attention_backward(d_output, x, layer, mask=float_mask)
    np.testing.assert_array_equal(back.x, again.x)
    with raises(ValueError, may_mean(mask.shape, head="None")):
        multi_head_attention_backward(d_output[None], x[None], layer, mask=mask)
