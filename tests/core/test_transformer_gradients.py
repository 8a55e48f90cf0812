"""The gradients of a stack of blocks against central differences."""

import dataclasses

import numpy as np
import pytest
from helpers import central_differences, raises

from mha import Block, FeedForward, MultiHeadWeights, Norm, rotary_angles, transformer
from mha.core.transformer_gradients import transformer_backward

N, D_MODEL, D_FF, HEADS, D_K, D_V = 3, 5, 7, 2, 4, 3
OPTIONS = {
    "plain": {},
    "causal": {"is_causal": True},
    "masked": {"mask": np.linspace(-1, 1, N * N).reshape(N, N)},
    "turned": {"angles": rotary_angles(np.arange(N), D_K)},
}


def drawn_block(rng, norm, activation="gelu", biased=True):
    shapes = (HEADS, D_MODEL, D_K), (HEADS, D_MODEL, D_K), (HEADS, D_MODEL, D_V)
    layer = MultiHeadWeights(
        *(rng.normal(size=s) / 2 for s in shapes), rng.normal(size=(HEADS * D_V, D_MODEL))
    )
    w_in, w_out = rng.normal(size=(D_MODEL, D_FF)), rng.normal(size=(D_FF, D_MODEL))
    b_in, b_out, *rows = (rng.normal(size=s) for s in (D_FF, *[D_MODEL] * 5))
    if not biased:
        return Block(layer, FeedForward(w_in, None, w_out, None, activation), norm)
    feed = FeedForward(w_in, b_in, w_out, b_out, activation)
    return Block(layer, feed, norm, Norm(*rows[:2]), Norm(*rows[2:]))


def parts(block):
    """Return every array of a block, by the names of the way to it."""
    for name in ("attention", "feed_forward", "first", "second"):
        part = getattr(block, name)
        for field in dataclasses.fields(part):
            if isinstance(array := getattr(part, field.name), np.ndarray):
                yield name, field.name, array


@pytest.mark.parametrize(
    ("norm", "name"),
    [("before", "turned"), ("after", "causal"), ("nowhere", "masked"), ("before", "plain")],
)
def test_a_stack(rng, norm, name):
    options, x, d_output = OPTIONS[name], *rng.normal(size=(2, N, D_MODEL))
    stack = [drawn_block(rng, norm), drawn_block(rng, norm, "relu", biased=False)]
    found = transformer_backward(d_output, x, stack, **options)
    assert found.streams[2] is not d_output
    np.testing.assert_array_equal(found.streams[2], d_output)

    def close(gradient, loss, at):
        np.testing.assert_allclose(gradient, central_differences(loss, at), rtol=1e-5, atol=1e-7)

    close(found.streams[0], lambda x: (transformer(x, stack, **options) * d_output).sum(), x)
    between = transformer(x, stack[:1], **options)
    close(
        found.streams[1],
        lambda x: (transformer(x, stack[1:], **options) * d_output).sum(),
        between,
    )
    for place, block in enumerate(stack):
        for part, field, array in parts(block):

            def loss(changed, place=place, part=part, field=field, block=block):
                other = dataclasses.replace(getattr(block, part), **{field: changed})
                blocks = list(stack)
                blocks[place] = dataclasses.replace(block, **{part: other})
                return (transformer(x, blocks, **options) * d_output).sum()

            close(getattr(getattr(found.blocks[place], part), field), loss, array)


def test_texts_of_a_batch_have_gradients_of_their_own_and_add_up_in_the_arrays(rng):
    stack = [drawn_block(rng, "before"), drawn_block(rng, "after")]
    x, d_output = rng.normal(size=(2, 2, N, D_MODEL))
    both = transformer_backward(d_output, x, stack)
    each = [transformer_backward(d, one, stack) for d, one in zip(d_output, x, strict=True)]
    for found in zip(both.streams, each[0].streams, each[1].streams, strict=True):
        np.testing.assert_allclose(found[0], found[1:], rtol=1e-10)
    for i, block in enumerate(both.blocks):
        sums = zip(parts(each[0].blocks[i]), parts(each[1].blocks[i]), strict=True)
        for (*_, array), ((*_, first), (*_, second)) in zip(parts(block), sums, strict=True):
            np.testing.assert_allclose(array, first + second, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("norm", ["before", "after"])
def test_single_precision_stays_single(norm, rng):
    block = Block(MultiHeadWeights(*np.ones((3, 1, 2, 2), np.float32)), norm=norm)
    x = rng.normal(size=(N, 2)).astype(np.float32)
    found = transformer_backward(x, x, [block])
    assert {x.dtype for x in found.streams} == {np.dtype(np.float32)}


def test_a_gradient_of_another_shape_is_refused(rng):
    with raises(ValueError, "d_output has shape (3, 4); the output's (3, 5) is wanted"):
        transformer_backward(np.ones((N, 4)), np.ones((N, D_MODEL)), [drawn_block(rng, "before")])
