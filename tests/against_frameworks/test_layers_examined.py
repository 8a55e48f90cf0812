"""What the frameworks compute is examined without one false finding.

`examine_layer` hands a layer its matrices: each is put into the framework's own layer by
`layer_to_arrays`, so what is examined is that way too.
"""

import inspect

import flax.linen
import jax.numpy as jnp
import keras
import numpy as np
import pytest
import torch
from flax.traverse_util import unflatten_dict
from framework_layers import added, bert, called, gpt2, like_llama, t5
from torch.nn.attention.flex_attention import flex_attention
from transformers import DynamicCache, LlamaConfig, Qwen2Config
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import (
    LlamaAttention,
    LlamaRotaryEmbedding,
    apply_rotary_pos_emb,
)
from transformers.models.qwen2.modeling_qwen2 import Qwen2Attention, Qwen2RotaryEmbedding

import mha

FLOAT32 = "your function computes float64 with the digits of float32"
NOTHING = "a query that sees nothing"
"""What eager attention gives an average for, and so no false finding: it is left out."""


def right(report, *conventions):
    """Expect a report without a bug, and with these conventions."""
    assert report.ok, report
    assert [finding.convention for finding in report.findings] == list(conventions), report
    assert all(agreed == asked > 0 for agreed, asked in report.cases.values())


# ---- Functions ----


def one_batch(function):
    """Return a function of four axes as one of three or four."""

    def attention(query, key, value, scale=None, enable_gqa=False):
        four = [x if x.ndim == 4 else x[None] for x in (query, key, value)]
        return function(*four, scale=scale, enable_gqa=enable_gqa).reshape(
            *query.shape[:-1], value.shape[-1]
        )

    return attention


def test_flex_attention():
    report = mha.examine(one_batch(flex_attention), asarray=torch.tensor)
    right(report, "if arrays have 3 or 4 axes")


def in_float32(x):
    """Return an array of JAX, which has no float64 unless it is told to."""
    return jnp.asarray(x, dtype=None if x.dtype == bool else jnp.float32)


def test_flax_s_function():
    def attention(query, key, value, mask=None):
        return flax.linen.dot_product_attention(query, key, value, mask=mask)

    by_numbers = ["a mask of numbers", f"{NOTHING}, by numbers"]
    report = mha.examine(attention, asarray=in_float32, leave_out=[NOTHING, *by_numbers])
    right(report, "if axes are (..., n, num_heads, d_k)", "if arrays have 3 or 4 axes")


# ---- Layers ----


def put_into(layer, layout, weights, **more):
    """Give a layer the arrays of matrices, as a layout has them; what these have not is 0."""
    layer.eval().to(torch.tensor(weights.w_q).dtype)
    for parameter in layer.parameters():
        parameter.zero_()
    arrays = mha.layer_to_arrays(mha.AttentionLayer(weights, **more), layout)
    state = {name: torch.tensor(x) for name, x in arrays.items()}
    layer.load_state_dict(state, strict=False, assign=True)
    return layer


def unscaled(weights):
    """Return matrices whose scores are not to be divided, as T5 has them."""
    w_q = weights.w_q * weights.w_q.dtype.type(weights.d_k**-0.5)
    return mha.MultiHeadWeights(**weights.arrays | {"w_q": w_q})


def filled(kind, weights):
    """Return a layer of transformers with matrices."""
    sizes = weights.d_model, weights.num_heads
    if kind == "GPT-2":
        return put_into(gpt2(*sizes), kind, weights)
    if kind == "BERT":
        return put_into(bert(*sizes), kind, weights)
    if kind == "T5":
        return put_into(t5(*sizes, weights.d_k), kind, unscaled(weights), scale=1.0)
    pair = (LlamaConfig, LlamaAttention) if kind == "Llama" else (Qwen2Config, Qwen2Attention)
    layer = like_llama(*pair, *sizes, weights.num_groups, weights.d_k, attention_bias=False)
    return put_into(layer, "Llama", weights, base=10000.0)


def of_matrices(w_q, w_k, w_v, w_o, num_heads, biases=()):
    """Return matrices whose heads stand beside each other as weights."""
    d_k = w_q.shape[-1] // num_heads
    by_heads = [np.asarray(w).reshape(len(w), -1, d_k).swapaxes(0, 1) for w in (w_q, w_k, w_v)]
    rows = [np.asarray(b) for b in biases]
    apart = [b.reshape(-1, d_k) for b in rows[:3]]
    return mha.MultiHeadWeights(*by_heads, np.asarray(w_o), *apart, *rows[3:])


def examined(kind, x, weights, mask, turns=None):
    sequences = x if x.ndim == 3 else x[None]
    return called(filled(kind, weights), sequences, added(mask, x), turns).reshape(x.shape)


def biased(kind):
    """Return what takes four matrices and four biases."""

    def layer(x, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, num_heads, mask=None):
        weights = of_matrices(w_q, w_k, w_v, w_o, num_heads, (b_q, b_k, b_v, b_o))
        return examined(kind, x, weights, mask)

    return layer


def unbiased(kind):
    """Return what takes four matrices."""

    def layer(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        return examined(kind, x, of_matrices(w_q, w_k, w_v, w_o, num_heads), mask)

    return layer


def turned(kind):
    """Return what takes four matrices, of grouped heads too, and angles."""

    def layer(x, w_q, w_k, w_v, w_o, num_heads, num_groups, mask=None, angles=None):
        weights = of_matrices(w_q, w_k, w_v, w_o, num_heads)
        if angles is None:
            angles = torch.zeros(x.shape[-2], weights.d_k // 2)
        both = torch.cat([angles, angles], dim=-1)[None].to(x.dtype)
        return examined(kind, x, weights, mask, (both.cos(), both.sin()))

    return layer


TRANSFORMERS = {
    "GPT-2": (biased, []), "BERT": (biased, []), "T5": (unbiased, []),
    "Llama": (turned, [FLOAT32]), "Qwen2": (turned, [FLOAT32]),
}  # fmt: skip
"""Of each kind what it takes, and its conventions."""


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_a_layer_of_transformers(name):
    takes, conventions = TRANSFORMERS[name]
    layer = takes(name)
    report = mha.examine_layer(layer, asarray=torch.tensor, leave_out=[NOTHING])
    right(report, *conventions)
    assert set(report.cases) >= {"plain", "a mask of True and False", "a mask of numbers"}
    if "angles" in inspect.signature(layer).parameters:
        assert set(report.cases) >= {"num_groups", "angles"}


def test_keras_s_layer():
    def layer(
        x, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, num_heads, mask=None, is_causal=False
    ):  # fmt: skip
        weights = of_matrices(w_q, w_k, w_v, w_o, num_heads, (b_q, b_k, b_v, b_o))
        own = keras.layers.MultiHeadAttention(num_heads, weights.d_k, dtype=str(weights.w_q.dtype))
        sequences = torch.tensor(x if x.ndim == 3 else x[None])
        own(sequences, sequences)
        arrays = mha.layer_to_arrays(mha.AttentionLayer(weights), "Keras")
        own.set_weights([arrays[v.path.split("/", 1)[1]] for v in own.weights])
        mask = mask if mask is None else np.broadcast_to(mask, (len(sequences), *mask.shape[-2:]))
        found = own(sequences, sequences, attention_mask=mask, use_causal_mask=is_causal)
        return keras.ops.convert_to_numpy(found).reshape(x.shape)

    report = mha.examine_layer(layer, leave_out=[NOTHING, "a mask of numbers"])
    right(report, FLOAT32)


def test_flax_s_layer():
    def layer(x, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, num_heads, mask=None):
        weights = of_matrices(w_q, w_k, w_v, w_o, num_heads, (b_q, b_k, b_v, b_o))
        arrays = mha.layer_to_arrays(mha.AttentionLayer(weights), "Flax")
        own = flax.linen.MultiHeadDotProductAttention(num_heads)
        return own.apply({"params": unflatten_dict(arrays, sep=".")}, x, mask=mask)

    report = mha.examine_layer(layer, asarray=in_float32, leave_out=[NOTHING, "a mask of numbers"])
    right(report)


# ---- Positions, and a cache ----


def test_the_turns_of_llama_are_those_in_halves():
    def turn(x, positions):
        angles = LlamaRotaryEmbedding(LlamaConfig(head_dim=x.shape[-1]))
        cos, sin = angles(x, positions[None])
        return apply_rotary_pos_emb(x[None], x[None], cos, sin)[0].reshape(x.shape)

    report = mha.examine_positions(turn, layout="halves", asarray=torch.tensor)
    right(report, FLOAT32)
    other = mha.examine_positions(turn, asarray=torch.tensor)
    assert [finding.bug for finding in other.findings] == ["halves for pairs", None]


def test_the_linear_biases_of_bloom():
    def biases(num_heads, num_queries):
        real = torch.ones(1, num_queries, dtype=torch.int64)
        by_key = build_alibi_tensor(real, num_heads, torch.float64)  # less what each query's own is
        return by_key.expand(num_heads, num_queries, num_queries)

    right(mha.examine_positions(biases), FLOAT32)


def test_qwen2_with_its_cache():
    def step(x, weights, cache, positions):
        sizes = x.shape[-1], weights.num_heads, weights.num_groups, weights.d_k
        layer = like_llama(Qwen2Config, Qwen2Attention, *sizes, attn_implementation="sdpa")
        layer.o_proj = torch.nn.Linear(*weights.w_o.shape, bias=False)
        put_into(layer, "Llama", weights, base=10000.0)
        cache = DynamicCache() if cache is None else cache
        turns = Qwen2RotaryEmbedding(layer.config)(x, torch.as_tensor(positions)[None])
        n, before = x.shape[-2], cache.get_seq_length()
        allowed = torch.ones(n, before + n, dtype=torch.bool).tril(before)[None, None]
        return called(layer, x[None], allowed, turns, cache=cache)[0], cache

    report = mha.examine_decoding(step, asarray=torch.tensor)
    right(report, FLOAT32)
