"""A layer of each framework with random numbers: its arrays by name, and what computes its output.

Sizes are distinct where the framework lets them be. All compute in float32.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import flax.linen
import jax
import keras
import numpy as np
import torch
from flax import nnx
from flax.traverse_util import flatten_dict
from torch.nn import functional
from torch.nn.attention.flex_attention import flex_attention
from transformers import (
    BartConfig,
    BertConfig,
    GPT2Config,
    LlamaConfig,
    Qwen2Config,
    Qwen3Config,
    T5Config,
)
from transformers.models.bart.modeling_bart import BartAttention
from transformers.models.bert.modeling_bert import BertAttention
from transformers.models.gpt2.modeling_gpt2 import GPT2Attention
from transformers.models.llama.modeling_llama import LlamaAttention, LlamaRotaryEmbedding
from transformers.models.qwen2.modeling_qwen2 import Qwen2Attention, Qwen2RotaryEmbedding
from transformers.models.qwen3.modeling_qwen3 import Qwen3Attention, Qwen3RotaryEmbedding
from transformers.models.t5.modeling_t5 import T5Attention

N, BATCH = 11, 2
BASE = 500.0
EAGER = {"attn_implementation": "eager"}


@dataclass(frozen=True)
class Theirs:
    """A framework's layer.

    Parameters
    ----------
    arrays : mapping of str to ndarray
    output : callable
        Of x, shape (BATCH, N, d_model), and a mask of shape (BATCH, N, N), True where a query may
        attend: the layer's output.
    d_model : int
    layout : str
    options : mapping
        What `layer_from_arrays` is told.
    is_causal : bool
    """

    arrays: Mapping[str, np.ndarray]
    output: Callable[..., np.ndarray]
    d_model: int
    layout: str
    options: Mapping[str, Any] = field(default_factory=dict)
    is_causal: bool = False


# ---- PyTorch ----


def randomised(module):
    """Give every number of a module a random value, biases and gains too."""
    for parameter in module.parameters():
        parameter.copy_(torch.randn(parameter.shape) / 3)
    return module.eval()


def named(module):
    return {name: x.numpy() for name, x in module.state_dict().items()}


def added(mask):
    """Return a mask that is added, with an axis for heads."""
    return torch.where(torch.tensor(mask), 0.0, torch.finfo(torch.float32).min)[:, None]


def pytorch():
    layer = randomised(torch.nn.MultiheadAttention(15, 3, batch_first=True))
    for bias in (layer.in_proj_bias, layer.out_proj.bias):
        bias.copy_(torch.randn(bias.shape))

    def output(x, mask):
        x, hidden = torch.tensor(x), torch.tensor(~mask).repeat_interleave(3, dim=0)
        return layer(x, x, x, attn_mask=hidden, need_weights=False)[0].numpy()

    return Theirs(named(layer), output, 15, "PyTorch", {"num_heads": 3})


def without_bias():
    layer = randomised(torch.nn.MultiheadAttention(15, 3, batch_first=True, bias=False))

    def output(x, mask):
        x, hidden = torch.tensor(x), torch.tensor(~mask).repeat_interleave(3, dim=0)
        return layer(x, x, x, attn_mask=hidden)[0].numpy()

    return Theirs(named(layer), output, 15, "PyTorch", {"num_heads": 3})


def by_functions(attend):
    """Return a small GPT's layer: one Linear for query, key and value, then a function."""

    def made():
        c_attn, c_proj = randomised(torch.nn.Linear(15, 45)), randomised(torch.nn.Linear(15, 15))

        def output(x, mask):
            parts = c_attn(torch.tensor(x)).split(15, dim=-1)
            query, key, value = (part.unflatten(-1, (3, 5)).transpose(1, 2) for part in parts)
            return c_proj(attend(query, key, value, mask).transpose(1, 2).flatten(-2)).numpy()

        arrays = {f"h.3.attn.c_attn.{name}": x for name, x in named(c_attn).items()}
        arrays |= {f"h.3.attn.c_proj.{name}": x for name, x in named(c_proj).items()}
        options = {"num_heads": 3, "is_causal": False}
        return Theirs(arrays, output, 15, "fused Linear", options)

    return made


def functionally(query, key, value, mask):
    allowed = torch.tensor(mask)[:, None]
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=allowed)


def flexibly(query, key, value, mask):
    allowed = torch.tensor(mask)

    def score_mod(score, batch, head, i, j):
        return torch.where(allowed[batch, i, j], score, -torch.inf)

    return flex_attention(query, key, value, score_mod=score_mod)


# ---- transformers ----


def gpt2():
    config = GPT2Config(n_embd=15, n_head=3, n_positions=N, **EAGER)
    layer = randomised(GPT2Attention(config, layer_idx=0))

    def output(x, mask):
        return layer(torch.tensor(x), attention_mask=added(mask))[0].numpy()

    return Theirs(named(layer), output, 15, "GPT-2", {"num_heads": 3}, is_causal=True)


def bert():
    config = BertConfig(hidden_size=15, num_attention_heads=3, **EAGER)
    layer = randomised(BertAttention(config))

    def output(x, mask):
        found = layer.self(torch.tensor(x), attention_mask=added(mask))[0]
        return layer.output.dense(found).numpy()  # without what is added to it and normalised

    return Theirs(named(layer), output, 15, "BERT", {"num_heads": 3})


def bart():
    layer = randomised(BartAttention(15, 3, config=BartConfig(**EAGER)))

    def output(x, mask):
        return layer(torch.tensor(x), attention_mask=added(mask))[0].numpy()

    return Theirs(named(layer), output, 15, "BART", {"num_heads": 3})


def like_llama(config, attention, rotary, **more):
    """Return a layer with grouped heads that turns queries and keys in halves."""

    def made():
        sizes = {"hidden_size": 18, "num_attention_heads": 6, "num_key_value_heads": 2}
        rope = {"rope_type": "default", "rope_theta": BASE}
        settings = config(**sizes, head_dim=10, rope_parameters=rope, **EAGER, **more)
        layer = randomised(attention(settings, layer_idx=0))
        places = torch.arange(N)[None].expand(BATCH, N)

        def output(x, mask):
            x = torch.tensor(x)
            turns = rotary(settings)(x, places)
            return layer(x, position_embeddings=turns, attention_mask=added(mask))[0].numpy()

        knows_heads = attention is Qwen3Attention
        options = {"base": BASE} | ({} if knows_heads else {"num_heads": 6})
        return Theirs(named(layer), output, 18, "Llama", options, is_causal=True)

    return made


def t5(*, is_decoder):
    def made():
        sizes = {"d_model": 14, "d_kv": 5, "num_heads": 3, "relative_attention_num_buckets": 8}
        config = T5Config(**sizes, is_decoder=is_decoder, **EAGER)
        layer = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
        layer = randomised(layer)

        def output(x, mask):
            return layer(torch.tensor(x), mask=added(mask))[0].numpy()

        side = "decoder" if is_decoder else "encoder"
        prefix = f"{side}.block.0.layer.0.SelfAttention."
        arrays = {prefix + name: x for name, x in named(layer).items()}
        return Theirs(arrays, output, 14, "T5", is_causal=is_decoder)

    return made


# ---- Keras and Flax ----


def keras_layer():
    layer = keras.layers.MultiHeadAttention(3, 5, value_dim=7)
    layer(np.zeros((BATCH, N, 14), "float32"), np.zeros((BATCH, N, 14), "float32"))
    rng = np.random.default_rng(3)
    layer.set_weights([rng.normal(size=x.shape) / 3 for x in layer.weights])

    def output(x, mask):
        return keras.ops.convert_to_numpy(layer(x, x, attention_mask=mask))

    arrays = {x.path: keras.ops.convert_to_numpy(x) for x in layer.weights}
    return Theirs(arrays, output, 14, "Keras")


def linen():
    layer = flax.linen.MultiHeadDotProductAttention(3, qkv_features=15, out_features=13)
    rng = np.random.default_rng(3)
    start = layer.init(jax.random.key(0), np.zeros((BATCH, N, 14), "float32"))
    numbers = jax.tree.map(lambda x: rng.normal(size=x.shape).astype("float32") / 3, start)

    def output(x, mask):
        return np.asarray(layer.apply(numbers, x, mask=mask[:, None]))

    return Theirs(flatten_dict(numbers["params"], sep="."), output, 14, "Flax")


def in_nnx():
    layer = nnx.MultiHeadAttention(
        6, 14, qkv_features=30, out_features=13, num_kv_heads=2, decode=False, rngs=nnx.Rngs(3)
    )
    rng = np.random.default_rng(3)
    state = jax.tree.map(
        lambda x: rng.normal(size=x.shape).astype("float32") / 3, nnx.state(layer, nnx.Param)
    )
    nnx.update(layer, state)

    def output(x, mask):
        return np.asarray(layer(x, mask=mask[:, None]))

    flat = flatten_dict(nnx.to_pure_dict(nnx.state(layer, nnx.Param)), sep=".")
    return Theirs({name: np.asarray(x) for name, x in flat.items()}, output, 14, "Flax")


LAYERS = {
    "PyTorch's module": pytorch,
    "PyTorch's module without biases": without_bias,
    "PyTorch's function": by_functions(functionally),
    "PyTorch's flex attention": by_functions(flexibly),
    "GPT-2": gpt2,
    "BERT": bert,
    "BART": bart,
    "Llama": like_llama(LlamaConfig, LlamaAttention, LlamaRotaryEmbedding),
    "Qwen2": like_llama(Qwen2Config, Qwen2Attention, Qwen2RotaryEmbedding),
    "Qwen3": like_llama(Qwen3Config, Qwen3Attention, Qwen3RotaryEmbedding),
    "T5's encoder": t5(is_decoder=False),
    "T5's decoder": t5(is_decoder=True),
    "Keras": keras_layer,
    "Flax, linen": linen,
    "Flax, nnx": in_nnx,
}
