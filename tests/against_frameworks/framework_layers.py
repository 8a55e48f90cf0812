"""A layer of each framework with random numbers: its arrays by name, and what computes its output.

Sizes are distinct where the framework lets them be. All compute in float32.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
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


def pytorch(*, bias):
    def made():
        layer = randomised(torch.nn.MultiheadAttention(15, 3, batch_first=True, bias=bias))

        def output(x, mask):
            x, hidden = torch.tensor(x), torch.tensor(~mask).repeat_interleave(3, dim=0)
            return layer(x, x, x, attn_mask=hidden, need_weights=not bias)[0].numpy()

        return Theirs(named(layer), output, 15, "PyTorch", {"num_heads": 3})

    return made


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


def gpt2(d_model, num_heads):
    return GPT2Attention(GPT2Config(n_embd=d_model, n_head=num_heads, **EAGER), layer_idx=0)


def bert(d_model, num_heads):
    sizes = {"hidden_size": d_model, "num_attention_heads": num_heads}
    return BertAttention(BertConfig(**sizes, **EAGER))


def bart(d_model, num_heads):
    return BartAttention(d_model, num_heads, config=BartConfig(**EAGER))


def t5(d_model, num_heads, d_k, **more):
    sizes = {"d_model": d_model, "d_kv": d_k, "num_heads": num_heads}
    return T5Attention(T5Config(**sizes, **EAGER | more), more != {}, layer_idx=0)


def like_llama(config, attention, d_model, num_heads, num_groups, d_k, **more):
    """Return a layer with grouped heads that turns queries and keys in halves."""
    sizes = {"hidden_size": d_model, "num_attention_heads": num_heads, "head_dim": d_k}
    settings = config(**sizes, num_key_value_heads=num_groups, **EAGER | more)
    return attention(settings, layer_idx=0)


def added(mask, x):
    """Return a mask as one that is added, with an axis of heads."""
    if mask is None:
        return None
    mask = torch.as_tensor(mask)
    if mask.dtype == torch.bool:
        lowest = torch.full((), torch.finfo(x.dtype).min, dtype=x.dtype)
        mask = torch.where(mask, torch.zeros((), dtype=x.dtype), lowest)
    return mask if mask.ndim == 4 else mask.expand(1, *(1,) * (3 - mask.ndim), *mask.shape)


def called(layer, x, mask, turns=None, **more):
    """Return what a layer of transformers gives, without what is added to it and normalised."""
    if isinstance(layer, BertAttention):
        return layer.output.dense(layer.self(x, attention_mask=mask)[0])
    if isinstance(layer, T5Attention):
        return layer(x, mask=mask)[0]
    if turns is not None:
        more |= {"position_embeddings": turns}
    return layer(x, attention_mask=mask, **more)[0]


def of_transformers(make, layout, d_model, *, prefix="", is_causal=False, rotary=None, **options):
    def made():
        layer = randomised(make())
        places = torch.arange(N)[None].expand(BATCH, N)

        def output(x, mask):
            x = torch.tensor(x)
            turns = rotary and rotary(layer.config)(x, places)
            return called(layer, x, added(mask[:, None], x), turns).numpy()

        arrays = {prefix + name: x for name, x in named(layer).items()}
        return Theirs(arrays, output, d_model, layout, options, is_causal)

    return made


def of_llama(config, attention, rotary, **options):
    rope = {"rope_type": "default", "rope_theta": BASE}
    make = partial(like_llama, config, attention, 18, 6, 2, 10, rope_parameters=rope)
    options |= {"is_causal": True, "rotary": rotary, "base": BASE}
    return of_transformers(make, "Llama", 18, **options)


def of_t5(side, *, is_decoder):
    make = partial(t5, 14, 3, 5, is_decoder=is_decoder, relative_attention_num_buckets=8)
    prefix = f"{side}.block.0.layer.0.SelfAttention."
    return of_transformers(make, "T5", 14, prefix=prefix, is_causal=is_decoder)


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
    "PyTorch's module": pytorch(bias=True),
    "PyTorch's module without biases": pytorch(bias=False),
    "PyTorch's function": by_functions(functionally),
    "PyTorch's flex attention": by_functions(flexibly),
    "GPT-2": of_transformers(partial(gpt2, 15, 3), "GPT-2", 15, num_heads=3, is_causal=True),
    "BERT": of_transformers(partial(bert, 15, 3), "BERT", 15, num_heads=3),
    "BART": of_transformers(partial(bart, 15, 3), "BART", 15, num_heads=3),
    "Llama": of_llama(LlamaConfig, LlamaAttention, LlamaRotaryEmbedding, num_heads=6),
    "Qwen2": of_llama(Qwen2Config, Qwen2Attention, Qwen2RotaryEmbedding, num_heads=6),
    "Qwen3": of_llama(Qwen3Config, Qwen3Attention, Qwen3RotaryEmbedding),
    "T5's encoder": of_t5("encoder", is_decoder=False),
    "T5's decoder": of_t5("decoder", is_decoder=True),
    "Keras": keras_layer,
    "Flax, linen": linen,
    "Flax, nnx": in_nnx,
}
