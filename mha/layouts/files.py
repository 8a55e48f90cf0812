"""Attention layers in the files of a model: safetensors, npz archives and `config.json`.

This module reads safetensors itself, since the format is small: eight bytes with the length of the
header, the header (JSON with each array's dtype, shape and byte offsets), and the bytes of the
arrays. NumPy has no dtype bfloat16; it is the upper half of a float32, and is read as one.
"""

from __future__ import annotations

import json
import math
import re
import zipfile
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from mha.core.checks import Array, as_count
from mha.core.option_checks import check_type
from mha.layouts.arrays import build_layer, find_layers, require_one_layer
from mha.layouts.latent import LatentLayer
from mha.layouts.layer import AttentionLayer
from mha.layouts.table import Layout

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}

INDEX_SUFFIX = ".safetensors.index.json"
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
OTHER_FORMATS = {
    ".gguf": "a GGUF file, whose numbers are mostly quantised",
    ".h5": "an HDF5 file",
    ".msgpack": "a file of Flax",
    ".onnx": "a graph of ONNX",
    ".tflite": "a graph of TensorFlow Lite",
}


class Arrays(Protocol):
    """Arrays by name, each read on access, and the shapes of all."""

    shapes: dict[str, tuple[int, ...]]

    def __getitem__(self, name: str) -> Array:
        """Return one array."""
        ...


class SafetensorsFile:
    """The arrays of a safetensors file.

    Parameters
    ----------
    path : Path

    Raises
    ------
    ValueError
        If the file is not a whole safetensors file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            try:
                head = json.loads(file.read(length) if length <= size else b"")
                head.pop("__metadata__", None)
                self.shapes = {name: tuple(entry["shape"]) for name, entry in head.items()}
            except (ValueError, AttributeError, TypeError, KeyError, RecursionError):
                raise ValueError(f"{self.path.name} is not a safetensors file") from None
        self._head: dict[str, Any] = head
        self._start = 8 + length
        for name, entry in head.items():
            self._check_entry(name, entry, size - self._start)

    def __getitem__(self, name: str) -> Array:
        """Return one array."""
        entry = self._head[name]
        if entry["dtype"] not in DTYPES:
            raise TypeError(f"{name} has dtype {entry['dtype']}; {', '.join(DTYPES)} are wanted")
        start, end = entry["data_offsets"]
        with self.path.open("rb") as file:
            file.seek(self._start + start)
            flat = np.frombuffer(file.read(end - start), DTYPES[entry["dtype"]])
        if entry["dtype"] == "BF16":
            flat = (flat.astype("<u4") << 16).view("<f4")
        return flat.reshape(entry["shape"])

    def _check_entry(self, name: str, entry: Mapping[str, Any], num_bytes: int) -> None:
        """Raise a ValueError if the header's entry of an array is wrong, or the file too short."""
        keys = "dtype", "shape", "data_offsets"
        dtype, shape, offsets = found = [entry.get(key, "") for key in keys]
        if (
            not isinstance(dtype, str)
            or not dtype
            or not all(_is_list_of_counts(part) for part in found[1:])
            or len(offsets) != 2
        ):
            raise ValueError(
                f"{self.path.name} is damaged: its header has {name} with dtype {dtype!r}, shape"
                f" {shape!r} and offsets {offsets!r}"
            )
        start, end = offsets
        if end > num_bytes:
            raise ValueError(f"{self.path.name} ends before {name} does; a whole file is wanted")
        itemsize = np.dtype(DTYPES[dtype]).itemsize if dtype in DTYPES else None
        if itemsize is not None and end - start != itemsize * math.prod(shape):
            raise ValueError(
                f"{self.path.name} is damaged: {name} has shape {tuple(shape)} of {dtype}, but"
                f" {end - start} bytes"
            )


def _is_list_of_counts(value: Any) -> bool:
    """Return whether a value of JSON is a list of whole numbers of at least 0."""
    return isinstance(value, list) and all(type(each) is int and each >= 0 for each in value)


class NpzFile:
    """The arrays of a `numpy.savez` archive; pickled objects raise an error.

    Parameters
    ----------
    path : Path

    Raises
    ------
    ValueError
        If the file is not such an archive.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.shapes: dict[str, tuple[int, ...]] = {}
        try:
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    with archive.open(member) as file:
                        version = np.lib.format.read_magic(file)
                        read = {
                            (1, 0): np.lib.format.read_array_header_1_0,
                            (2, 0): np.lib.format.read_array_header_2_0,
                        }[version]
                        self.shapes[member.removesuffix(".npy")] = read(file)[0]
        except (zipfile.BadZipFile, ValueError, KeyError):
            raise ValueError(f"{path.name} is not an archive of NumPy arrays") from None

    def __getitem__(self, name: str) -> Array:
        """Return one array."""
        with np.load(self.path, allow_pickle=False) as archive:
            try:
                array: Array = archive[name]
            except ValueError:
                raise TypeError(
                    f"{name} of {self.path.name} holds objects, which are pickled; numbers are"
                    " wanted"
                ) from None
        return array


class ShardedSafetensors:
    """The arrays of several safetensors files, with an index of the file of each array.

    Parameters
    ----------
    path : Path
        The index.

    Raises
    ------
    ValueError
        If the file is not an index, or names a file outside its folder.
    FileNotFoundError
        If a file that the index names is missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file_of: dict[str, str] = dict(json.loads(path.read_text())["weight_map"])
        except (ValueError, TypeError, KeyError, RecursionError):
            raise ValueError(f"{path.name} is not an index of safetensors shards") from None
        self._files: dict[str, SafetensorsFile] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        for name, file in self._file_of.items():
            if not isinstance(file, str) or Path(file).name != file:
                raise ValueError(
                    f"{path.name} has {name} in {file!r}; a file beside the index is wanted"
                )
            if file not in self._files:
                if not (path.parent / file).is_file():
                    raise FileNotFoundError(f"{path.name} names {file}, which is missing")
                self._files[file] = SafetensorsFile(path.parent / file)
            if name not in self._files[file].shapes:
                raise ValueError(f"{path.name} has {name} in {file}, which does not have it")
            self.shapes[name] = self._files[file].shapes[name]

    def __getitem__(self, name: str) -> Array:
        """Return one array."""
        return self._files[self._file_of[name]][name]


def open_arrays(path: str | PathLike[str]) -> tuple[Path, Arrays]:
    """Open the arrays of a file, or of the only such file in a folder.

    Parameters
    ----------
    path : path-like
        A safetensors file, an index of several, an archive of `numpy.savez`, or a folder with one.

    Returns
    -------
    Path
        The file, or the index of its shards.
    Arrays

    Raises
    ------
    FileNotFoundError
        If there is no such file, or none in the folder.
    ValueError
        If the file is of another format, or a folder has several.
    """
    file = Path(path)
    if file.is_dir():
        file = _find_file(file)
    kind = file.suffix.lower()
    if kind in PICKLES:
        raise ValueError(
            f"{file.name} is a pickle, which may run any program when it is opened; a"
            " safetensors file is wanted, which safetensors.torch.save_file writes"
        )
    if kind in OTHER_FORMATS:
        raise ValueError(
            f"{file.name} is {OTHER_FORMATS[kind]}; a safetensors file or an archive of numpy.savez"
            " is wanted"
        )
    if file.name.endswith(INDEX_SUFFIX):
        return file, ShardedSafetensors(file)
    if kind == ".npz":
        return file, NpzFile(file)
    index = _find_index(file)
    return (file, SafetensorsFile(file)) if index is None else (index, ShardedSafetensors(index))


def _find_file(folder: Path) -> Path:
    """Return the file with a model's arrays in a folder."""
    for ending in (INDEX_SUFFIX, ".safetensors", ".npz", *PICKLES, *OTHER_FORMATS):
        files = sorted(file for file in folder.iterdir() if file.name.endswith(ending))
        if len(files) > 1:
            names = ", ".join(file.name for file in files[:6])
            raise ValueError(f"{folder.name} has {names}; the path of one of them is wanted")
        if files:
            return files[0]
    raise FileNotFoundError(
        f"{folder.name or folder} has no safetensors file, and no index of such files"
    )


def _find_index(file: Path) -> Path | None:
    """Return the index beside a shard, or None for any other file."""
    shard = re.fullmatch(r"(.+)-\d+-of-\d+\.safetensors", file.name)
    index = file.with_name(f"{shard[1]}{INDEX_SUFFIX}") if shard else None
    return index if index is not None and index.exists() else None


def read_settings(file: Path) -> Mapping[str, Any] | None:
    """Return the contents of the `config.json` beside a file, or None.

    Parameters
    ----------
    file : Path

    Raises
    ------
    TypeError, ValueError
        If that file does not hold a JSON object.
    """
    config = file.with_name("config.json")
    if not config.exists():
        return None
    try:
        settings = json.loads(config.read_text())
    except (ValueError, RecursionError):
        raise ValueError(f"{config.name} beside {file.name} is not JSON") from None
    check_type("config.json", settings, dict)
    return dict(settings)


def read_layer(
    path: str | PathLike[str],
    layer: int,
    *,
    settings: Mapping[str, Any] | None = None,
    num_heads: int | None = None,
    base: float | None = None,
    eps: float | None = None,
    is_causal: bool | None = None,
    layout: str | None = None,
    within: str = "",
) -> AttentionLayer | LatentLayer:
    """Read an attention layer from the files of a model, with the computation of that model.

    The `config.json` beside the arrays determines the computation. An unknown `model_type` raises
    an error, since the names and shapes of arrays do not distinguish one model from another.

    Parameters
    ----------
    path : path-like
        A folder as `save_pretrained` writes it, a safetensors file, an index of several such files
        or one of them, or an archive of `numpy.savez`. Pickles (`.bin`, `.pt`) raise an error.
    layer : int
        Its number, counted from 0: the first number in its names.
    settings : mapping, optional
        Replaces the `config.json` beside the file; an empty mapping means no settings.
    num_heads, base, eps, is_causal, layout
        As in `layer_from_arrays`.
    within : str, default ""
        A part of the names that tells one layer of several with this number, such as
        ``"decoder"`` or ``"EncDecAttention"``.

    Returns
    -------
    AttentionLayer or LatentLayer
        Its `layout` and `prefix` describe the arrays that were found; `assumed` lists the
        properties that no file states. In T5 the relative bias of the first layer is used in all
        layers.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError, ValueError
        If the file is of another format, or has no such layer, or none in a known layout; also as
        `layer_from_arrays`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> arrays = {f"h.3.attn.{name}.weight": np.eye(2) for name in ("q_proj", "k_proj", "v_proj")}
    >>> arrays["h.3.attn.out_proj.weight"] = np.eye(2)
    >>> config = {"model_type": "gptj", "n_head": 1, "rotary_dim": 2}
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/model.npz", **arrays)
    ...     _ = Path(folder, "config.json").write_text(json.dumps(config))
    ...     layer = read_layer(folder, 3)
    >>> layer.layout, layer.prefix, layer.is_causal, layer.weights.w_q.shape
    ('GPT-J', 'h.3.attn.', True, (1, 2, 2))
    """
    number = as_count("layer", layer, least=0)
    file, stored = open_arrays(path)
    where = "settings"
    if settings is None:
        settings, where = read_settings(file), "config.json"
    check_type("settings", settings or {}, Mapping)
    every = find_layers(file.name, stored.shapes, settings, layout, within, where)
    matches = [match for match in every if match.number == number]
    if not matches:
        numbers = sorted({match.number for match in every if match.number is not None})
        listed = f"layers {', '.join(map(str, numbers))}" if numbers else "layers without numbers"
        raise ValueError(f"{file.name} has no attention layer {number}; it has {listed}")
    match = require_one_layer(file.name, matches, stored.shapes, where)
    arrays: dict[str, Array] = {own: stored[own] for own in match.names(stored.shapes).values()}
    if isinstance(match.layout, Layout) and "relative_bias" in match.layout.parts:
        # T5 stores the bias in the first layer alone, and all others use it.
        bias = match.layout.parts["relative_bias"][0]
        shared = re.sub(r"\d+", "0", match.prefix, count=1) + bias
        if shared in stored.shapes:
            arrays[match.prefix + bias] = stored[shared]
    return build_layer(
        match, arrays, where, num_heads=num_heads, base=base, eps=eps, is_causal=is_causal
    )
