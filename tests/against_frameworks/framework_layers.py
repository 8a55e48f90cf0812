"""A layer of each framework: the names of its arrays, and its output for given arrays.

Sizes are distinct where the framework allows it.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import flax.linen
import jax
import keras
import numpy as np
import torch
import transformers
from flax import nnx
from flax.traverse_util import flatten_dict, unflatten_dict
from torch.nn import functional

BASE = 500.0


@dataclass(frozen=True)
class FrameworkLayer:
    """A framework's layer without its weights.

    Parameters
    ----------
    layout : str
    shapes : mapping of str to tuple of int
        Of its arrays, by name.
    output : callable
        Of arrays by name, of x, shape (batch, n, d_model), and of a mask that fits the scores, True
        where a query may attend: the layer's output.
    d_model : int
    d_context : int, optional
        The width of another text that keys and values are made of; `output` takes it too.
    prefix : str
        What the names begin with where the layer stands in a model.
    options : mapping
        What `layer_from_arrays` is told.
    is_causal : bool
    """

    layout: str
    shapes: Mapping[str, tuple[int, ...]]
    output: Callable[..., np.ndarray]
    d_model: int
    d_context: int | None = None
    prefix: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    is_causal: bool = False


# ---- PyTorch ----


def in_torch(layout, module, call, d_model, **more):
    """Return a layer of PyTorch. `call` takes the module, x and a mask."""
    module.eval()

    def output(arrays, x, mask=None, **own):
        state = {name: torch.tensor(array) for name, array in arrays.items()}
        module.load_state_dict(state, assign=True)
        mask = mask if mask is None else torch.as_tensor(mask)
        return call(module, torch.as_tensor(x), mask, **own).numpy()

    shapes = {name: tuple(x.shape) for name, x in module.state_dict().items()}
    return FrameworkLayer(layout, shapes, output, d_model, **more)


def pytorch(layout="PyTorch", d_context=None, **options):
    def call(layer, x, mask, context=None):
        asked = x if context is None else torch.tensor(context)
        hidden = ~mask.repeat_interleave(3, dim=1).flatten(0, 1)
        return layer(x, asked, asked, attn_mask=hidden)[0]

    layer = torch.nn.MultiheadAttention(
        15, 3, batch_first=True, kdim=d_context, vdim=d_context, **options
    )
    return in_torch(layout, layer, call, 15, d_context=d_context, options={"num_heads": 3})


def small_gpt():
    """Return a layer with one Linear for query, key and value, and PyTorch's function."""

    def call(layer, x, mask):
        parts = layer["c_attn"](x).split(15, dim=-1)
        query, key, value = (part.unflatten(-1, (3, 5)).transpose(1, 2) for part in parts)
        heads = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return layer["c_proj"](heads.transpose(1, 2).flatten(-2))

    both = {"c_attn": torch.nn.Linear(15, 45), "c_proj": torch.nn.Linear(15, 15)}
    options = {"num_heads": 3, "is_causal": False, "layout": "fused Linear"}
    return in_torch(
        "fused Linear", torch.nn.ModuleDict(both), call, 15, prefix="h.3.attn.", options=options
    )


# ---- transformers ----


def modelling(kind):
    """Return the module of transformers that defines a model's layers."""
    folder = getattr(transformers, f"{kind}Config").model_type
    return importlib.import_module(f"transformers.models.{folder}.modeling_{folder}")


def layer_of(kind, *, name="Attention", number=0, own=None, **settings):
    """Return a layer of a model of transformers."""
    config = getattr(transformers, f"{kind}Config")
    made = config(**{"attn_implementation": "eager"} | settings)
    return getattr(modelling(kind), f"{kind}{name}")(
        config=made, layer_idx=number, **own or {}
    ).eval()


def added(mask, dtype):
    """Return a boolean mask as an additive mask."""
    if mask is None or mask.dtype != torch.bool:
        return mask
    return torch.zeros(mask.shape, dtype=dtype).masked_fill(~mask, torch.finfo(dtype).min)


def called(layer, x, mask, **more):
    return layer(x, attention_mask=added(mask, x.dtype), **more)[0]


def gpt2(d_model, num_heads):
    layer = layer_of("GPT2", hidden_size=d_model, num_attention_heads=num_heads)
    options = {"num_heads": num_heads}
    return in_torch("GPT-2", layer, called, d_model, options=options, is_causal=True)


def bert(d_model, num_heads):
    """Return BERT's layer without its residual connection and norm."""

    def call(layer, x, mask):
        return layer.output.dense(called(layer.self, x, mask))

    layer = layer_of("Bert", hidden_size=d_model, num_attention_heads=num_heads)
    return in_torch("BERT", layer, call, d_model, options={"num_heads": num_heads})


def bart():
    layer = layer_of("Bart", own={"embed_dim": 15, "num_heads": 3})
    return in_torch("BART", layer, called, 15, options={"num_heads": 3, "layout": "BART"})


def t5(d_model, num_heads, d_k, side=None):
    """Return T5's layer, with relative biases if it is in the encoder or the decoder."""

    def call(layer, x, mask):
        return layer(x, mask=added(mask, x.dtype))[0]

    layer = layer_of(
        "T5", hidden_size=d_model, num_attention_heads=num_heads, head_dim=d_k,
        relative_attention_num_buckets=8, is_decoder=side == "decoder",
        own={"has_relative_attention_bias": side is not None},
    )  # fmt: skip
    prefix = f"{side}.block.0.layer.0.SelfAttention."
    return in_torch("T5", layer, call, d_model, prefix=prefix, is_causal=side == "decoder")


def like_llama(kind, d_model, num_heads, num_groups, d_k, base=10000.0, **more):
    """Return a layer with grouped heads that rotates the halves of queries and keys."""
    return layer_of(
        kind, hidden_size=d_model, num_attention_heads=num_heads, num_key_value_heads=num_groups,
        head_dim=d_k, rope_parameters={"rope_type": "default", "rope_theta": base}, **more,
    )  # fmt: skip


def turns(kind, layer, x, positions):
    """Return the cosines and sines by which a layer rotates queries and keys."""
    return getattr(modelling(kind), f"{kind}RotaryEmbedding")(layer.config)(x, positions[None])


def of_llama(kind, **options):
    def call(layer, x, mask):
        turned = turns(kind, layer, x, torch.arange(x.shape[1]))
        return called(layer, x, mask, position_embeddings=turned)

    layer = like_llama(kind, 18, 6, 2, 10, BASE)
    layout = "Qwen3" if kind == "Qwen3" else "Llama"
    options = options | {"base": BASE, "layout": layout}
    return in_torch(layout, layer, call, 18, options=options, is_causal=True)


# ---- Keras and Flax ----


def in_keras(d_model, num_heads, d_k, d_v, dtype="float32"):
    layer = keras.layers.MultiHeadAttention(num_heads, d_k, value_dim=d_v, dtype=dtype)
    layer.build((1, 1, d_model), (1, 1, d_model))
    shapes = {x.path.partition("/")[2]: tuple(x.shape) for x in layer.weights}

    def output(arrays, x, mask=None):
        layer.set_weights([arrays[name] for name in shapes])
        x = torch.as_tensor(x)
        return keras.ops.convert_to_numpy(layer(x, x, attention_mask=mask))

    return FrameworkLayer("Keras", shapes, output, d_model, prefix="multi_head_attention_3/")


def shapes_of(numbers):
    return {name: x.shape for name, x in flatten_dict(numbers, sep=".").items()}


def in_linen(d_model, num_heads, d_k, d_out):
    layer = flax.linen.MultiHeadDotProductAttention(
        num_heads, qkv_features=num_heads * d_k, out_features=d_out
    )
    start = layer.init(jax.random.key(0), np.zeros((1, 1, d_model), np.float32))

    def output(arrays, x, mask=None):
        return np.asarray(layer.apply({"params": unflatten_dict(arrays, sep=".")}, x, mask=mask))

    return FrameworkLayer("Flax", shapes_of(start["params"]), output, d_model)


def in_nnx():
    layer = nnx.MultiHeadAttention(
        6, 14, qkv_features=30, out_features=13, num_kv_heads=2, decode=False, rngs=nnx.Rngs(3)
    )

    def output(arrays, x, mask):
        nnx.update(layer, unflatten_dict(arrays, sep="."))
        return np.asarray(layer(x, mask=mask))

    start = nnx.to_pure_dict(nnx.state(layer, nnx.Param))
    return FrameworkLayer("Flax", shapes_of(start), output, 14)


LAYERS = {
    "PyTorch's module": pytorch,
    "PyTorch's module without biases": partial(pytorch, bias=False),
    "PyTorch's module with keys of another width": partial(pytorch, "PyTorch, separate", 7),
    "PyTorch's function": small_gpt,
    "GPT-2": partial(gpt2, 15, 3),
    "BERT": partial(bert, 15, 3),
    "BART": bart,
    "Llama": partial(of_llama, "Llama", num_heads=6),
    "Qwen2": partial(of_llama, "Qwen2", num_heads=6),
    "Qwen3": partial(of_llama, "Qwen3"),
    "T5's encoder": partial(t5, 14, 3, 5, "encoder"),
    "T5's decoder": partial(t5, 14, 3, 5, "decoder"),
    "Keras": partial(in_keras, 14, 3, 5, 7),
    "Flax, linen": partial(in_linen, 14, 3, 5, 13),
    "Flax, nnx": in_nnx,
}
