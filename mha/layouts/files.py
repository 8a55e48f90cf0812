"""A layer found in a file of a model's arrays, by their names.

The format is read here, for it is small: eight bytes that say how long the head is, the head, JSON
with each array's dtype, shape and place, and the arrays' bytes. What NumPy has no dtype for,
bfloat16, is read as the upper half of a float32, which it is.
"""

import json
import re
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mha.core.checks import Array, as_count
from mha.layouts.arrays import Found, found_in, made, only_one
from mha.layouts.layer import AttentionLayer

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


class Stored(Mapping[str, Array]):
    """The arrays of a file by name, each read when it is asked for.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    ValueError
        If the file is not one of safetensors.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        with self.path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            try:
                head = json.loads(file.read(min(length, self.path.stat().st_size)))
                head.pop("__metadata__", None)
                self.shapes = {name: tuple(entry["shape"]) for name, entry in head.items()}
            except (ValueError, AttributeError, TypeError, KeyError):
                raise ValueError(f"{self.path.name} is no file of safetensors") from None
        self._head: dict[str, Any] = head
        self._start = 8 + length

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
        if flat.size != np.prod(entry["shape"], dtype=int):
            raise ValueError(f"{self.path.name} ends before {name} does; a whole file is wanted")
        return flat.reshape(entry["shape"])

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._head)

    def __len__(self) -> int:
        """Return how many arrays there are."""
        return len(self._head)


def read_layer(
    path: str | PathLike[str],
    layer: int,
    *,
    num_heads: int | None = None,
    base: float | None = None,
    eps: float = 1e-6,
    is_causal: bool | None = None,
    layout: str | None = None,
    within: str = "",
) -> AttentionLayer:
    """Find an attention layer in a file of a model's arrays, by their names.

    Parameters
    ----------
    path : path-like
        A file of the format safetensors.
    layer : int
        Its number, counted from 0: the first number in its names.
    num_heads, base, eps, is_causal, layout
        As in `layer_from_arrays`; a model's settings, beside the file, have the first three.
    within : str, default ""
        A part of the names that tells one layer of several with this number, such as
        ``"decoder"`` or ``"EncDecAttention"``.

    Returns
    -------
    AttentionLayer
        `layout` and `prefix` say what was found. Where the first layer of a model has the relative
        bias of all (T5), it has that.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError, ValueError
        If the file is of another format, has no such layer or none in a layout that is known, and
        as `layer_from_arrays`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> matrix = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    >>> head = json.dumps({f"block.3.{x}.weight": matrix for x in "qkvo"}).encode()
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.safetensors"
    ...     start = len(head).to_bytes(8, "little") + head
    ...     _ = path.write_bytes(start + np.eye(2, dtype=np.float32).tobytes())
    ...     layer = read_layer(path, 3, num_heads=1)
    >>> layer.layout, layer.prefix, layer.weights.w_q.shape
    ('T5', 'block.3.', (1, 2, 2))
    """
    number, stored = as_count("layer", layer, least=0), Stored(path)
    name = stored.path.name
    every = found_in(name, stored.shapes, layout, within)
    found = [place for place in every if _number(place) == number]
    if not found:
        numbers = sorted({n for place in every if (n := _number(place)) is not None})
        said = f"layers {', '.join(map(str, numbers))}" if numbers else "layers without numbers"
        raise ValueError(f"{name} has no attention layer {number}; it has {said}")
    place = only_one(name, found, stored)
    arrays: dict[str, Array] = {own: stored[own] for own in place.names(stored).values()}
    if "relative_bias" in place.layout.parts:
        first = re.sub(r"\d+", "0", place.prefix, count=1)
        shared = first + place.layout.parts["relative_bias"][0]
        if shared in stored:
            arrays[place.prefix + place.layout.parts["relative_bias"][0]] = stored[shared]
    return made(place, arrays, num_heads=num_heads, base=base, eps=eps, is_causal=is_causal)


def _number(place: Found) -> int | None:
    """Return the first number in a layer's names, if there is one."""
    number = re.search(r"(?<![^./])\d+(?![^./])", place.prefix)
    return int(number[0]) if number else None
