"""`examine` reports no false finding for the frameworks' layers and functions.

`examine_layer` passes weights to a layer. `layer_to_arrays` puts them into the framework's own
layer, so that this conversion is tested too.
"""

import importlib
from dataclasses import replace

import flax.linen
import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest
import torch
from flax import nnx
from framework_layers import bert, called, gpt2, in_keras, in_linen, in_torch, like_llama, t5, turns
from independent_cases import EMPTY, NO_NUMBERS
from torch.nn.attention.flex_attention import flex_attention
from transformers import DynamicCache
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

import mha
from mha.layouts import layer_to_arrays

NARROW = "the function returns float32 for input of float64"
FLOAT32 = "the function returns float64 with the precision of float32"
NUMBERS = "additive mask"


SUPPOSED = EMPTY, NO_NUMBERS, "if a mask is added to the scores"
"""Conventions of eager attention, which a report may or may not name."""


def expect_right(report, *conventions):
    """Expect a report without a bug, with these conventions and those of eager attention."""
    assert report.ok, report
    told = {finding.convention for finding in report.findings} - {*SUPPOSED}
    assert told - {NARROW} == set(conventions) - {NARROW}, report
    assert all(agreed == asked > 0 for agreed, asked in report.cases.values())


def in_float32(x):
    """Return a JAX array in float32. JAX has float64 only if it is enabled."""
    return jnp.asarray(x, dtype=None if x.dtype == bool else jnp.float32)


# ---- Layers ----


def framework_output(theirs, layer, x, mask, **more):
    """Return the output of a framework's layer with our layer's arrays. Other arrays are 0."""
    dtype = layer.weights.w_q.dtype
    arrays = {name: np.zeros(shape, dtype) for name, shape in theirs.shapes.items()}
    arrays |= layer_to_arrays(layer, theirs.layout)
    sequences = x if x.ndim == 3 else x[None]
    return theirs.output(arrays, sequences, mask, **more).reshape(*x.shape[:-1], -1)


def with_biases(make):
    """Return a layer function that takes the weights and four bias arguments."""

    def layer(x, weights, b_q, b_k, b_v, b_o, mask=None):
        sizes = weights.d_model, weights.num_heads, weights.d_k
        return framework_output(make(*sizes), mha.AttentionLayer(weights), x, mask)

    return layer


def of_t5(x, weights, mask=None):
    """Return the output of T5's layer. T5 does not scale scores, so its w_q is scaled."""
    unscaled = replace(weights, w_q=weights.w_q * weights.d_k**-0.5)
    theirs = t5(weights.d_model, weights.num_heads, weights.d_k)
    return framework_output(theirs, mha.AttentionLayer(unscaled, scale=1.0), x, mask)


def grouped(kind, weights, **more):
    sizes = weights.d_model, weights.num_heads, weights.num_groups, weights.d_k
    return like_llama(kind, *sizes, **more)


def of_llama(x, weights, num_groups, mask=None, angles=None):
    angles = torch.zeros(x.shape[-2], weights.d_k // 2) if angles is None else angles
    both = torch.cat([angles, angles], dim=-1)[None].to(x.dtype)
    theirs = in_torch("Llama", grouped("Llama", weights), called, weights.d_model)
    turned = both.cos(), both.sin()
    own = mha.AttentionLayer(weights, base=10000.0)
    return framework_output(theirs, own, x, mask, position_embeddings=turned)


LAYERS = {
    "GPT-2": (with_biases(lambda d_model, heads, _: gpt2(d_model, heads)), torch.tensor, []),
    "BERT": (with_biases(lambda d_model, heads, _: bert(d_model, heads)), torch.tensor, []),
    "T5": (of_t5, torch.tensor, []),
    "Llama": (of_llama, torch.tensor, [FLOAT32]),
    "Keras": (
        with_biases(lambda *sizes: in_keras(*sizes, sizes[-1], "float64")), np.asarray, [FLOAT32],
    ),
    "Flax": (with_biases(lambda *sizes: in_linen(*sizes, sizes[0])), in_float32, []),
}  # fmt: skip
"""For each framework: the examined function, its array type, and the reported conventions."""


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer(name):
    layer, asarray, conventions = LAYERS[name]
    report = mha.examine_layer(layer, asarray=asarray)
    expect_right(report, *conventions)
    assert {"plain", "boolean mask"} <= set(report.cases)
    assert (NUMBERS in report.cases) is (name not in ("Keras", "Flax"))
    assert ({"num_groups", "angles"} <= set(report.cases)) is (name == "Llama")


# ---- Functions ----


def test_flex_attention():
    def attention(query, key, value, scale=None, enable_gqa=False):
        four = [x if x.ndim == 4 else x[None] for x in (query, key, value)]
        found = flex_attention(*four, scale=scale, enable_gqa=enable_gqa)
        return found.reshape(*query.shape[:-1], value.shape[-1])

    report = mha.examine(attention, asarray=torch.tensor)
    expect_right(report, "if arrays have 3 or 4 axes")


def test_flax_s_function():
    def attention(query, key, value, mask=None):
        return flax.linen.dot_product_attention(query, key, value, mask=mask)

    expect_right(mha.examine(attention, asarray=in_float32), "if axes are (..., n, num_heads, d_k)")


@pytest.mark.parametrize(
    "family", ["llama", "gpt2", "bert", "bart", "qwen2", "gemma2", "mistral", "opt", "vit", "phi3"]
)
def test_the_eager_functions_of_transformers_as_they_are(family):
    module = importlib.import_module(f"transformers.models.{family}.modeling_{family}")
    report = mha.examine(module.eager_attention_forward)
    assert report.ok, report
    assert "if a mask is added to the scores" in {f.convention for f in report.findings}


@pytest.mark.parametrize("function", [
    jax.nn.dot_product_attention, flax.linen.dot_product_attention, nnx.dot_product_attention,
    keras.ops.dot_product_attention,
], ids=["jax", "linen", "nnx", "keras"])  # fmt: skip
def test_functions_of_jax_flax_and_keras_as_they_are(function):
    report = mha.examine(function)
    assert report.ok, report
    assert "if axes are (..., n, num_heads, d_k)" in {f.convention for f in report.findings}


def built_keras():
    layer = keras.layers.MultiHeadAttention(3, 4)
    layer.build((1, 1, 12), (1, 1, 12))
    return layer


def bound_linen():
    layer = flax.linen.MultiHeadDotProductAttention(3, qkv_features=12)
    return layer.bind(layer.init(jax.random.key(0), np.zeros((1, 4, 12), np.float32)))


@pytest.mark.parametrize("make", [
    built_keras, bound_linen,
    lambda: nnx.MultiHeadAttention(3, 12, decode=False, rngs=nnx.Rngs(3)),
], ids=["keras", "linen", "nnx"])  # fmt: skip
def test_layers_as_they_are(make):
    report = mha.examine(make())
    assert report.ok, report


# ---- Positions, and a cache ----


def test_llama_rotates_halves():
    def turn(x, positions):
        layer = like_llama("Llama", 2 * x.shape[-1], 2, 2, x.shape[-1])
        cos, sin = turns("Llama", layer, x, positions)
        return apply_rotary_pos_emb(x[None], x[None], cos, sin)[0].reshape(x.shape)

    report = mha.examine_positions(turn, layout="halves", asarray=torch.tensor)
    expect_right(report, FLOAT32)
    other = mha.examine_positions(turn, asarray=torch.tensor)
    assert [finding.bug for finding in other.findings] == ["halves for pairs", None]


def test_the_linear_biases_of_bloom():
    def biases(num_heads, num_queries):
        real = torch.ones(1, num_queries, dtype=torch.int64)
        by_key = build_alibi_tensor(real, num_heads, torch.float64)  # less what each query's own is
        return by_key.expand(num_heads, num_queries, num_queries)

    expect_right(mha.examine_positions(biases), FLOAT32)


@pytest.mark.parametrize("ahead", [0, 9])
def test_qwen2_with_its_cache_is_right_unless_it_sees_what_is_later(ahead):
    def step(x, weights, cache, positions):
        layer = grouped("Qwen2", weights, attn_implementation="sdpa")
        layer.o_proj = torch.nn.Linear(*weights.w_o.shape, bias=False)
        theirs = in_torch("Llama", layer, called, weights.d_model)
        cache = DynamicCache() if cache is None else cache
        n, before = x.shape[-2], cache.get_seq_length()
        allowed = torch.ones(n, before + n, dtype=torch.bool).tril(before + ahead)
        turned = turns("Qwen2", layer, x, torch.as_tensor(positions))
        own = mha.AttentionLayer(weights, base=10000.0)
        found = framework_output(
            theirs, own, x, allowed, position_embeddings=turned, past_key_values=cache
        )
        return found, cache

    report = mha.examine_decoding(step, asarray=torch.tensor)
    if ahead:
        assert report.findings[0].bug == "later tokens of a step visible"
    else:
        expect_right(report, FLOAT32)
