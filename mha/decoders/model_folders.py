"""Decoders in safetensors files with a `config.json`, as `save_pretrained` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from mha.core.checks import Array, as_count, as_number
from mha.core.decoder import Decoder
from mha.core.decoder_weights import DecoderLayer, side_by_side
from mha.core.option_checks import check_type
from mha.core.positions import halves_to_pairs
from mha.decoders.tokenizers import folder_tokenizer
from mha.layouts.files import Arrays, open_arrays, read_settings
from mha.layouts.settings import Settings, check_required, read_rotation
from mha.layouts.table import LAYOUTS

MODEL_TYPE = "llama"
"""The only `model_type` that is read."""

REQUIRED = {
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
    "pretraining_tp": 1,
    "quantization_config": None,
}
"""The only supported value of each setting, which is also its default."""

PREFIX = "model."
OTHERS = {f"{PREFIX}embed_tokens.weight", f"{PREFIX}norm.weight", "lm_head.weight"}
"""The arrays outside of the blocks."""

SUFFIXES = (
    "input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
    "self_attn.o_proj", "post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj",
)  # fmt: skip
"""The arrays of a block, whose names are ``model.layers.LAYER.SUFFIX.weight``."""


def read_folder(path: str | PathLike[str]) -> Decoder:
    """Read a decoder from a folder or file of safetensors.

    Parameters
    ----------
    path : path-like
        As for `mha.read_layer`; the `config.json` is beside the arrays.

    Returns
    -------
    Decoder
        In float32.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or no `config.json` beside it.
    TypeError, ValueError
        If a file is of another format or damaged, or describes another computation.
    """
    file, stored = open_arrays(path)
    values = read_settings(file)
    if values is None:
        raise FileNotFoundError(
            f"{file.name} has no config.json beside it, which describes the computation"
        )
    found = values.get("model_type")
    if found != MODEL_TYPE:
        raise ValueError(
            f"config.json has model_type {found!r}, which is not supported; {MODEL_TYPE!r} is"
            " wanted"
        )
    settings = Settings(values, "config.json", "", None)
    check_required(settings, REQUIRED)
    num_heads = _count(settings, "num_attention_heads")
    num_groups = _count(settings, "num_key_value_heads", num_heads)
    num_layers, d_model = _count(settings, "num_hidden_layers"), _count(settings, "hidden_size")
    d_ff, size = _count(settings, "intermediate_size"), _count(settings, "vocab_size")
    d_k = _count(settings, "head_dim", d_model // num_heads)
    _check_names(file.name, stored, num_layers)
    widths = {"q": num_heads * d_k, "k": num_groups * d_k, "v": num_groups * d_k}
    layers = []
    for number in range(num_layers):
        name = partial("{}layers.{}.{}.weight".format, PREFIX, number)
        qkv = {
            letter: _array(stored, name(f"self_attn.{letter}_proj"), (width, d_model))
            for letter, width in widths.items()
        }
        for letter in "qk":
            qkv[letter] = _in_pairs(qkv[letter], d_k)
        gate_up = [_array(stored, name(f"mlp.{x}_proj"), (d_ff, d_model)) for x in ("gate", "up")]
        layers.append(
            DecoderLayer(
                _array(stored, name("input_layernorm"), (d_model,)),
                side_by_side(*qkv.values()),
                side_by_side(_array(stored, name("self_attn.o_proj"), (d_model, num_heads * d_k))),
                _array(stored, name("post_attention_layernorm"), (d_model,)),
                side_by_side(*gate_up),
                side_by_side(_array(stored, name("mlp.down_proj"), (d_model, d_ff))),
            )
        )
    rotary = LAYOUTS["Llama"].rotary
    assert rotary is not None
    rotation, sharpness = read_rotation(rotary, settings, d_k, False)
    if sharpness != 1:
        raise ValueError(
            f"config.json multiplies queries and keys by {sharpness:.4g}; speeds without such a"
            " factor are wanted"
        )
    embedding = _array(stored, f"{PREFIX}embed_tokens.weight", (size, d_model))
    # A tied model may store the matrix twice, and then the embedding is used.
    is_tied = values.get("tie_word_embeddings") or False
    check_type("tie_word_embeddings of config.json", is_tied, bool)
    unembedding = embedding if is_tied else _array(stored, "lm_head.weight", (size, d_model))
    longest = values.get("max_position_embeddings")
    return Decoder(
        embedding=embedding,
        layers=tuple(layers),
        final_gain=_array(stored, f"{PREFIX}norm.weight", (d_model,)),
        unembedding=unembedding.T,
        num_heads=num_heads,
        num_groups=num_groups,
        **rotation,
        eps=as_number("rms_norm_eps of config.json", values.get("rms_norm_eps", 1e-6), least=0),
        context_length=None if longest is None else _count(settings, "max_position_embeddings"),
        end_ids=_end_ids(values),
        read_tokenizer=partial(folder_tokenizer, file.parent),
    )


def _count(settings: Settings, name: str, default: int | None = None) -> int:
    """Return a setting that is a whole number, and raise a ValueError if it is missing."""
    _, value = settings.find(name)
    value = default if value is None else value
    if value is None:
        raise ValueError(f"config.json has no {name}, which a decoder needs")
    return as_count(f"{name} of config.json", value)


def _check_names(file: str, stored: Arrays, num_layers: int) -> None:
    """Raise a ValueError if a file has an array that the computation does not use."""
    blocks = range(min(num_layers, len(stored.shapes)))  # a damaged number may be huge
    known = {f"{PREFIX}layers.{i}.{suffix}.weight" for i in blocks for suffix in SUFFIXES}
    for name in stored.shapes:
        if name not in known and name not in OTHERS and not name.endswith("rotary_emb.inv_freq"):
            raise ValueError(f"{file} has the array {name}, which is not supported")


def _array(stored: Arrays, name: str, shape: tuple[int, ...]) -> Array:
    """Return an array in float32, and raise a ValueError if it is missing or of another shape."""
    if name not in stored.shapes:
        raise ValueError(f"the file has no array {name}, which a decoder needs")
    if stored.shapes[name] != shape:
        raise ValueError(
            f"the file has {name} of shape {stored.shapes[name]}; {shape} is wanted, as in"
            " config.json"
        )
    return np.asarray(stored[name], np.float32)


def _in_pairs(matrix: Array, d_k: int) -> Array:
    """Return the rows of each head with rotated components in adjacent pairs, not in halves."""
    by_head = matrix.reshape(-1, d_k, matrix.shape[1]).swapaxes(1, 2)
    return halves_to_pairs(by_head).swapaxes(1, 2).reshape(matrix.shape)


def _end_ids(values: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the tokens that end a text; `config.json` has none, one, or a list."""
    end = values.get("eos_token_id")
    if end is None:
        return ()
    name = "eos_token_id of config.json"
    return tuple(
        as_count(name, each, least=0) for each in (end if isinstance(end, list) else [end])
    )
