"""Decoders in GGUF files, whose numbers the package `gguf` restores from their quantised form."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mha.core.checks import Array, as_count, as_number
from mha.core.decoder import Decoder, Tokenizer
from mha.core.decoder_weights import DecoderLayer, side_by_side
from mha.core.positions import rotary_angles
from mha.decoders.optional_packages import load_package
from mha.decoders.tokenizers import byte_level_tokenizer, read_vocabulary, token_id

MAGIC = b"GGUF"
"""The first bytes of the format."""

ARCHITECTURE = "llama"
"""The only architecture that is read; its queries and keys are stored in adjacent pairs."""

LAYER_PARTS = (
    "attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up",
    "ffn_down",
)  # fmt: skip
"""The arrays of a block, whose names are ``blk.LAYER.PART.weight``."""

OTHERS = ("token_embd.weight", "output_norm.weight", "output.weight", "rope_freqs.weight")
"""The arrays outside of the blocks; the last two may be missing."""


class GgufFile:
    """The settings and the arrays of a GGUF file.

    Parameters
    ----------
    path : Path

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModuleNotFoundError
        If the package `gguf` is missing.
    ValueError
        If the file is not a whole GGUF file.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ValueError(f"{path.name} is not a GGUF file")
        self.name = path.name
        self._package = load_package("gguf")
        try:
            reader = self._package.GGUFReader(path)
            self.settings = {name: field.contents() for name, field in reader.fields.items()}
        except (ValueError, IndexError, KeyError, TypeError, OverflowError, MemoryError):
            raise ValueError(f"{path.name} is damaged or not a whole GGUF file") from None
        self._arrays = {tensor.name: tensor for tensor in reader.tensors}

    def __contains__(self, name: str) -> bool:
        """Return whether the file has an array."""
        return name in self._arrays

    @property
    def names(self) -> list[str]:
        """The names of all arrays."""
        return list(self._arrays)

    def array(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return one array in float32.

        Raises
        ------
        ValueError
            If it is missing, of another shape, or of an unknown type of numbers.
        """
        if name not in self._arrays:
            raise ValueError(f"{self.name} has no array {name}, which a decoder needs")
        tensor = self._arrays[name]
        found = tuple(int(size) for size in tensor.shape[::-1])
        if found != shape:
            raise ValueError(f"{self.name} has {name} of shape {found}; {shape} is wanted")
        try:
            numbers = self._package.dequantize(tensor.data, tensor.tensor_type)
        except (NotImplementedError, ValueError):
            kind = getattr(tensor.tensor_type, "name", tensor.tensor_type)
            raise ValueError(
                f"{self.name} has {name} in the type {kind}, which the package gguf does not read"
            ) from None
        array: Array = np.asarray(numbers, np.float32).reshape(shape)
        return array

    def setting(self, name: str, default: Any = None) -> Any:
        """Return a setting of the architecture, or raise a ValueError if it has no default."""
        key = f"{ARCHITECTURE}.{name}"
        value = self.settings.get(key, default)
        if value is None:
            raise ValueError(f"{self.name} has no setting {key}, which a decoder needs")
        return value

    def count(self, name: str, default: int | None = None) -> int:
        """Return a setting that is a whole number of at least 1."""
        return as_count(f"{ARCHITECTURE}.{name} of {self.name}", self.setting(name, default))

    def number(self, name: str, default: float | None = None) -> float:
        """Return a setting that is a finite number."""
        return as_number(f"{ARCHITECTURE}.{name} of {self.name}", self.setting(name, default))


def read_gguf(path: Path) -> Decoder:
    """Read a decoder from a GGUF file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Decoder
        In float32.

    Raises
    ------
    FileNotFoundError, ModuleNotFoundError
        If the file or the package `gguf` is missing.
    ValueError
        If the file is damaged, or describes another architecture or computation.
    """
    file = GgufFile(path)
    _check_computation(file)
    num_layers = file.count("block_count")
    num_heads = file.count("attention.head_count")
    num_groups = file.count("attention.head_count_kv", num_heads)
    d_model = file.count("embedding_length")
    d_ff = file.count("feed_forward_length")
    d_k = file.count("attention.key_length", d_model // num_heads)
    _check_names(file, num_layers)
    layers = []
    for number in range(num_layers):
        sizes = {
            "attn_norm": (d_model,),
            "attn_q": (num_heads * d_k, d_model),
            "attn_k": (num_groups * d_k, d_model),
            "attn_v": (num_groups * d_k, d_model),
            "attn_output": (d_model, num_heads * d_k),
            "ffn_norm": (d_model,),
            "ffn_gate": (d_ff, d_model),
            "ffn_up": (d_ff, d_model),
            "ffn_down": (d_model, d_ff),
        }
        part = {name: file.array(_name(number, name), sizes[name]) for name in LAYER_PARTS}
        layers.append(
            DecoderLayer(
                part["attn_norm"],
                side_by_side(*(part[f"attn_{x}"] for x in "qkv")),
                side_by_side(part["attn_output"]),
                part["ffn_norm"],
                side_by_side(part["ffn_gate"], part["ffn_up"]),
                side_by_side(part["ffn_down"]),
            )
        )
    # Not the file itself, whose index takes hundreds of megabytes.
    vocabulary = {key: value for key, value in file.settings.items() if key.startswith("tokenizer")}
    tokens = vocabulary.get("tokenizer.ggml.tokens")
    size = len(tokens) if isinstance(tokens, list) and tokens else file.count("vocab_size")
    embedding = file.array("token_embd.weight", (size, d_model))
    is_tied = "output.weight" not in file
    base = file.number("rope.freq_base", 10000.0)
    end = file.settings.get("tokenizer.ggml.eos_token_id")
    return Decoder(
        embedding=embedding,
        layers=tuple(layers),
        final_gain=file.array("output_norm.weight", (d_model,)),
        unembedding=(embedding if is_tied else file.array("output.weight", (size, d_model))).T,
        num_heads=num_heads,
        num_groups=num_groups,
        base=base,
        speeds=_read_speeds(file, d_k, base),
        eps=file.number("attention.layer_norm_rms_epsilon"),
        context_length=file.count("context_length"),
        end_ids=() if end is None else (token_id(file.name, "eos_token_id", end, size),),
        read_tokenizer=partial(_read_tokenizer, file.name, vocabulary),
    )


def _read_tokenizer(file: str, metadata: Mapping[str, Any]) -> Tokenizer:
    """Return the tokenizer of a file."""
    return byte_level_tokenizer(read_vocabulary(file, metadata))


def _name(layer: int, part: str) -> str:
    """Return the name of an array of a block."""
    return f"blk.{layer}.{part}.weight"


def _check_computation(file: GgufFile) -> None:
    """Raise a ValueError if the file describes a computation other than that of `Decoder`."""
    found = file.settings.get("general.architecture")
    if found != ARCHITECTURE:
        raise ValueError(
            f"{file.name} has the architecture {found!r}, which is not supported; {ARCHITECTURE!r}"
            " is wanted"
        )
    num_files = file.settings.get("split.count", 1)
    if num_files != 1:
        raise ValueError(
            f"{file.name} is one of {num_files} files of a model; a file with the whole model is"
            " wanted"
        )
    d_k = file.count("embedding_length") // file.count("attention.head_count")
    d_k = file.count("attention.key_length", d_k)
    wanted = {
        "attention.value_length": d_k,
        "rope.dimension_count": d_k,
        "expert_count": 0,
        "attention.sliding_window": 0,
    }
    for name, value in wanted.items():
        stated = file.setting(name, value)
        if stated != value:
            raise ValueError(
                f"{file.name} has {ARCHITECTURE}.{name} {stated}; only {value} is supported"
            )
    scaling = file.setting("rope.scaling.type", "none")
    if scaling not in ("none", "linear"):
        raise ValueError(
            f"{file.name} has {ARCHITECTURE}.rope.scaling.type {scaling!r}; only none or linear is"
            " supported"
        )


def _check_names(file: GgufFile, num_layers: int) -> None:
    """Raise a ValueError if the file has an array that the computation does not use."""
    layers = range(min(num_layers, len(file.names)))  # a damaged number may be huge
    known = {_name(layer, part) for layer in layers for part in LAYER_PARTS}
    unknown = [name for name in file.names if name not in known and name not in OTHERS]
    if unknown:
        raise ValueError(f"{file.name} has the array {unknown[0]}, which is not supported")


def _read_speeds(file: GgufFile, d_k: int, base: float) -> Array | None:
    """Return the angle of each pair per position, or None for those of the base."""
    factor = 1.0
    if file.setting("rope.scaling.type", "none") == "linear":
        factor = file.number("rope.scaling.factor")
    speeds = rotary_angles(1.0, d_k, base=base) / factor
    if "rope_freqs.weight" in file:
        return speeds / file.array("rope_freqs.weight", (d_k // 2,)).astype(np.float64)
    return None if factor == 1 else speeds
