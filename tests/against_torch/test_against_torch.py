"""The mathematics of `mha` agrees with PyTorch, wherever PyTorch has the same operation."""

import math

import numpy as np
import pytest
import torch
from drawn_for_torch import causal_mask, decoder, encoder, stack_heads, tensors
from names_by_torch import read
from torch.nn import functional
from trained_by_torch import training_steps

from mha import (
    MultiHeadWeights,
    attention_scores,
    attention_weights,
    linear_biases,
    multi_head_attention,
    padding_mask,
    scaled_dot_product_attention,
)
from mha.core.bfloat16 import to_bfloat16
from mha.core.blockwise import blockwise_attention
from mha.core.encoder_decoder import encoder_decoder
from mha.core.feed_forward import FeedForward
from mha.core.gradients import scaled_dot_product_attention_backward
from mha.core.heads import merge_heads
from mha.core.language import run_model
from mha.core.language_training import model_gradients
from mha.core.learning import draw_layer, train_layer
from mha.core.norm import Norm
from mha.core.score_variants import softmax_with_sink
from mha.core.transformer import Block, transformer
from mha.core.transformer_gradients import transformer_backward
from mha.examples.names import draw_stories
from mha.examples.trained import load_model


def test_rounding_to_bfloat16_of_any_size(draw):
    bits = draw.rng.integers(0, 2**32, size=20_000, dtype=np.uint32)
    halfway = bits & np.uint32(0xFFFF0000) | np.uint32(0x8000)
    numbers = np.concatenate([bits, halfway]).view(np.float32)
    numbers = numbers[np.abs(numbers) < 3e38]
    wanted = torch.tensor(numbers).bfloat16().float().numpy()
    np.testing.assert_array_equal(to_bfloat16(numbers), wanted)


@pytest.mark.parametrize("mask", ["none", "causal", "some", "biases"])
def test_attention_with_groups_and_in_blocks(draw, agree, mask):
    groups, n, m, width = draw.size(3), draw.size(), draw.size(), draw.size()
    heads = groups * draw.size(3)
    query, key = draw.normal(2, heads, n, width), draw.normal(2, groups, m, width)
    value = draw.normal(2, groups, m, draw.size())
    d_output = draw.normal(2, heads, n, value.shape[-1])
    some = draw.rng.random((n, m)) < 0.6
    some[:, 0] = True
    biases = linear_biases(heads, n, m, is_causal=False).astype(draw.dtype)
    own, other = {
        "none": ({}, {}),
        "causal": ({"is_causal": True}, {"is_causal": True}),
        "some": ({"mask": some}, {"attn_mask": torch.tensor(some)}),
        "biases": ({"mask": biases}, {"attn_mask": torch.tensor(biases)}),
    }[mask]
    arrays, own = (query, key, value), {**own, "enable_gqa": True}
    inputs = tensors(*arrays, grad=True)
    wanted = functional.scaled_dot_product_attention(*inputs, enable_gqa=True, **other)
    agree(scaled_dot_product_attention(*arrays, **own), wanted)
    agree(blockwise_attention(*arrays, block_size=2, **own), wanted)
    wanted.backward(torch.tensor(d_output))
    gradients = scaled_dot_product_attention_backward(d_output, *arrays, **own)
    for name, tensor in zip(("query", "key", "value"), inputs, strict=True):
        agree(getattr(gradients, name), tensor.grad)


def test_multi_head_and_cross_attention(draw, agree):
    weights, module, d_model = draw.layer()
    x, context = draw.normal(2, draw.size(), d_model), draw.normal(2, draw.size(), d_model)
    tx, tc = tensors(x, context)
    agree(multi_head_attention(x, weights), module(tx, tx, tx)[0])
    wanted, shares = module(tx, tc, tc, average_attn_weights=False)
    agree(multi_head_attention(x, weights, context=context), wanted)
    query, key = x[:, None] @ weights.w_q, context[:, None] @ weights.w_k
    agree(attention_weights(query, key), shares)


def test_add_zero_attn_is_a_sink_with_score_0(draw, agree):
    """The claim of the chapter on decoding about PyTorch's `add_zero_attn`."""
    weights, module, d_model = draw.layer()
    module.add_zero_attn = True
    x = draw.normal(2, draw.size(), d_model)
    (tx,) = tensors(x)
    query, key, value = (x[:, None] @ w for w in (weights.w_q, weights.w_k, weights.w_v))
    scores = attention_scores(query, key) / math.sqrt(weights.d_k)
    shares = softmax_with_sink(scores, np.zeros((), draw.dtype))
    agree(merge_heads(shares @ value) @ weights.w_o, module(tx, tx, tx)[0])


def drawn_block(draw, heads, d_model, norm, activation):
    """Return a block with a feed-forward layer, and norms with numbers of their own."""
    first, second = (Norm(*draw.normal(2, d_model)) for _ in range(2))
    d_ff = draw.size(9)
    feed = FeedForward(
        draw.normal(d_model, d_ff), draw.normal(d_ff), draw.normal(d_ff, d_model),
        draw.normal(d_model), activation,
    )  # fmt: skip
    return Block(draw.weights(heads, d_model), feed, norm, first, second)


@pytest.mark.parametrize("norm", ["before", "after"])
def test_blocks_of_a_transformer(draw, agree, norm):
    heads = draw.size(3)
    d_model = heads * draw.size(4, 2)
    blocks = [drawn_block(draw, heads, d_model, norm, which) for which in ("relu", "gelu")]
    modules = [encoder(block, heads) for block in blocks]
    x = draw.normal(2, draw.size(), d_model)
    d_output = draw.normal(*x.shape) / 50  # norms of narrow rows cost gradients a digit or two
    for is_causal in (False, True):
        (start,) = tensors(x, grad=True)
        wanted = start
        for module in modules:
            module.zero_grad()
            wanted = module(wanted, src_mask=causal_mask(x.shape[1]) if is_causal else None)
        agree(transformer(x, blocks, is_causal=is_causal), wanted)
        wanted.backward(torch.tensor(d_output))
        own = transformer_backward(d_output, x, blocks, is_causal=is_causal)
        agree(own.streams[0], start.grad)
        for block, module in zip(own.blocks, modules, strict=True):
            projections = (getattr(block.attention, name) for name in ("w_q", "w_k", "w_v"))
            agree(stack_heads(*projections), module.self_attn.in_proj_weight.grad)
            agree(block.attention.w_o.T, module.self_attn.out_proj.weight.grad)
            agree(block.feed_forward.w_in.T, module.linear1.weight.grad)
            agree(block.feed_forward.b_out, module.linear2.bias.grad)
            agree(block.first.gain, module.norm1.weight.grad)
            agree(block.second.bias, module.norm2.bias.grad)


@pytest.mark.parametrize("norm", ["before", "after"])
def test_decoding_with_an_encoder(draw, agree, norm):
    """Two sequences in a batch, the second one padded."""
    heads = draw.size(3)
    d_model, m, n = heads * draw.size(4, 2), draw.size(6, 2), draw.size()
    whole = [drawn_block(draw, heads, d_model, norm, "relu") for _ in range(3)]
    own = [Block(block.attention, None, norm, block.first) for block in whole[1:]]
    asking = [drawn_block(draw, heads, d_model, norm, "gelu") for _ in range(2)]
    source, target = draw.normal(2, m, d_model), draw.normal(2, n, d_model)
    seen = padding_mask([m, draw.size(m)], m)
    hidden = torch.tensor(~seen[:, 0])
    read, wanted = tensors(source, target)
    read = encoder(whole[0], heads)(read, src_key_padding_mask=hidden)
    for pair in zip(own, asking, strict=True):
        layer = decoder(*pair, heads)
        wanted = layer(wanted, read, tgt_mask=causal_mask(n), memory_key_padding_mask=hidden)
    found = encoder_decoder(
        source, target, whole[:1], zip(own, asking, strict=True), mask=seen[:, None]
    )
    agree(found, wanted)


def test_training_by_adam(draw, agree):
    d_model, choices, n = draw.size(6, 2), draw.size(5, 2), draw.size(5, 2)
    drawn = draw_layer(draw.rng, d_model, 2, 4, choices)
    drawn = [w.astype(draw.dtype) for w in (drawn.w_q, drawn.w_k, drawn.w_v, drawn.w_o)]
    x, answers = draw.normal(6, n, d_model), draw.rng.integers(-1, choices, size=(6, n, 1))
    answers[:, 0] = 0  # of each text something is asked
    own = train_layer(MultiHeadWeights(*drawn), x, answers, steps=5, batch_size=4)
    layers = [tensor[None] for tensor in tensors(*drawn)]
    for loss, step in zip(
        own.losses, training_steps(layers, *tensors(x, answers), batch=4), strict=False
    ):
        agree(loss, step[0][0])
    w = own.layer
    for array, tensor in zip((w.w_q, w.w_k, w.w_v, w.w_o), step[1], strict=True):
        agree(array, tensor[0])


def test_the_model_of_names(draw, agree):
    """Embedding, blocks, norms and unembedding, by PyTorch's own operations."""
    trained = load_model("names")
    model = draw.rng.choice(np.array(trained.checkpoints, dtype=object))
    arrays = {name: array.astype(draw.dtype) for name, array in model.arrays.items()}
    own = model.with_arrays(arrays)
    stories = draw_stories(draw.rng, 2, 2 + draw.size(20))
    run = run_model(own, stories[:, :-1])
    turned = {name: torch.tensor(array, requires_grad=True) for name, array in arrays.items()}
    blocks, _, logits = read(turned, torch.tensor(stories[:, :-1]))
    agree(run.logits, logits)
    for passed, block in zip(run.passes, blocks, strict=True):
        agree(passed.weights, block.weights)
    loss = functional.cross_entropy(logits.flatten(0, 1), torch.tensor(stories[:, 1:]).flatten())
    loss.backward()
    own_loss, gradients = model_gradients(own, stories)
    agree(own_loss, loss)
    for name, gradient in gradients.items():
        agree(gradient, turned[name].grad)
