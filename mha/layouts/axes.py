"""Array shapes as patterns: one letter per axis, with fused axes in brackets.

In ``"(p h k) m"``, a matrix with m columns, row ``(part * h + head) * k + i`` is component i of a
head of one of the p parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from mha.core.checks import Array

AXES = {
    "p": "3",
    "h": "num_heads",
    "g": "num_groups",
    "m": "d_model",
    "c": "d_context",
    "k": "d_k",
    "v": "d_v",
    "o": "d_out",
    "r": "num_buckets",
    "t": "(num_heads + 2 * num_groups)",
    "u": "(num_heads + 2 * num_groups)",
}
"""The length of the axis of each letter; p is the axis of query, key and value in a fused array.

Both t and u are the heads of queries, keys and values in one array. With t, all queries come first,
then all keys, then all values. With u, each group has its queries, its key and its value together.
"""

SUBSTITUTES = {"g": "h", "c": "m", "v": "k"}
"""For a fused array, whose parts have equal shapes: the letter that replaces another."""


def axes_of(pattern: str) -> list[str]:
    """Return the letters of each axis of a pattern.

    Examples
    --------
    >>> axes_of("(p h k) m")
    ['phk', 'm']
    """
    inner = pattern.replace("(", "|").replace(")", "|").split("|")
    parts = [[part.replace(" ", "")] if i % 2 else part.split() for i, part in enumerate(inner)]
    return [axis for part in parts for axis in part]


def format_shape(pattern: str) -> str:
    """Return the shape that a pattern requires, as text for messages.

    Examples
    --------
    >>> format_shape("(p h k) m")
    '(3 * num_heads * d_k, d_model)'
    """
    axes = [" * ".join(AXES[letter] for letter in axis) for axis in axes_of(pattern)]
    return f"({', '.join(axes)}{',' if len(axes) == 1 else ''})"


def infer_sizes(
    arrays: Mapping[str, tuple[str, tuple[int, ...]]], num_heads: int | None = None
) -> dict[str, int]:
    """Return the lengths of axes that follow from the shapes of arrays.

    Parameters
    ----------
    arrays : mapping of str to (str, tuple of int)
        By name: the pattern of an array, and its shape.
    num_heads : int, optional

    Returns
    -------
    dict of str to int
        By letter; a letter whose length is unknown is missing.

    Raises
    ------
    ValueError
        If a shape does not fit its pattern.

    Examples
    --------
    >>> infer_sizes({"q": ("(h k) m", (15, 7)), "norm": ("k", (5,))})
    {'p': 3, 'm': 7, 'k': 5, 'h': 3}
    """
    sizes = {"p": 3} | ({} if num_heads is None else {"h": num_heads})
    for name, (pattern, shape) in arrays.items():
        if len(axes_of(pattern)) != len(shape):
            raise ValueError(f"{name} has shape {shape}; {format_shape(pattern)} is wanted")
    # A length may follow from one that another array determines: repeat until nothing is new.
    while True:
        known = dict(sizes)
        for name, (pattern, shape) in arrays.items():
            for axis, length in zip(axes_of(pattern), shape, strict=True):
                missing = [letter for letter in axis if letter not in sizes]
                rest = prod(sizes[letter] for letter in axis if letter in sizes)
                if len(missing) == 1 and length and not length % rest:
                    sizes[missing[0]] = length // rest
                elif length % rest or (not missing and length != rest):
                    raise ValueError(
                        f"{name} has shape {shape}; {format_shape(pattern)} is wanted,"
                        f" with {_format_sizes(sizes, pattern)}"
                    )
        _infer_groups(arrays, sizes)
        if sizes == known:
            return sizes


def _infer_groups(arrays: Mapping[str, tuple[str, tuple[int, ...]]], sizes: dict[str, int]) -> None:
    """Add the number of groups, if one array has the heads of queries, keys and values."""
    for letter in sizes.keys() & {"t", "u"}:
        if "h" not in sizes:
            continue
        groups, odd = divmod(sizes[letter] - sizes["h"], 2)
        if groups < 1 or odd or sizes["h"] % groups:
            name = next(name for name, (pattern, _) in arrays.items() if letter in pattern)
            raise ValueError(
                f"{name} has {sizes[letter]} heads of queries, keys and values together; with"
                f" num_heads {sizes['h']}, that many and twice a divisor of it are wanted"
            )
        sizes["g"] = groups


def _format_sizes(sizes: Mapping[str, int], pattern: str) -> str:
    """Return the known lengths of a pattern's axes, as text for messages."""
    known = (letter for letter in AXES if letter in pattern and letter in sizes and letter != "p")
    return " and ".join(f"{AXES[letter]} {sizes[letter]}" for letter in known) or "a multiple of 3"


def split_axes(array: Array, pattern: str, sizes: Mapping[str, int], order: str) -> Array:
    """Split the fused axes of an array, and transpose it to the order of letters.

    Examples
    --------
    >>> import numpy as np
    >>> split_axes(np.arange(6), "(h k)", {"h": 2, "k": 3}, "kh")
    array([[0, 3],
           [1, 4],
           [2, 5]])
    """
    letters = "".join(axes_of(pattern))
    split = array.reshape([sizes[letter] for letter in letters])
    return split.transpose([letters.index(letter) for letter in order])


def fuse_axes(array: Array, order: str, pattern: str) -> Array:
    """Transpose and reshape an array to a pattern: the inverse of `split_axes`.

    Examples
    --------
    >>> import numpy as np
    >>> fuse_axes(np.array([[0, 3], [1, 4], [2, 5]]), "kh", "(h k)")
    array([0, 1, 2, 3, 4, 5])
    """
    sizes = dict(zip(order, array.shape, strict=True))
    axes = axes_of(pattern)
    split = array.transpose([order.index(letter) for letter in "".join(axes)])
    return split.reshape([prod(sizes[letter] for letter in axis) for axis in axes])


def pattern_order(order: str, pattern: str) -> str:
    """Return `order` in the letters of a pattern.

    Examples
    --------
    >>> pattern_order("hvo", "o (h k)")
    'hko'
    >>> pattern_order("phmk", "(t k) m")
    'tmk'
    """
    for letter in ("t", "u"):
        if letter in pattern:
            order = order.replace("ph", letter)
    return "".join(letter if letter in pattern else SUBSTITUTES[letter] for letter in order)


def split_fused(array: Array, letter: str, sizes: Mapping[str, int]) -> list[Array]:
    """Split a fused array, whose first axis is p, t or u, into queries, keys and values.

    Examples
    --------
    >>> import numpy as np
    >>> [x.tolist() for x in split_fused(np.arange(8), "u", {"h": 4, "g": 2})]
    [[0, 1, 4, 5], [2, 6], [3, 7]]
    """
    if letter == "p":
        return list(array)
    heads, groups = sizes["h"], sizes["g"]
    if letter == "t":
        return [array[:heads], array[heads : heads + groups], array[heads + groups :]]
    grouped = array.reshape(groups, -1, *array.shape[1:])
    queries = grouped[:, :-2].reshape(heads, *array.shape[1:])
    return [queries, grouped[:, -2], grouped[:, -1]]


def fuse_parts(parts: Sequence[Array], letter: str) -> Array:
    """Combine queries, keys and values to one array: the inverse of `split_fused`.

    Examples
    --------
    >>> import numpy as np
    >>> fuse_parts([np.array([0, 1, 4, 5]), np.array([2, 6]), np.array([3, 7])], "u").tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    if letter == "p":
        return np.stack(parts)
    if letter == "t":
        return np.concatenate(parts)
    query, key, value = parts
    queries = query.reshape(len(key), -1, *query.shape[1:])
    grouped = np.concatenate([queries, key[:, None], value[:, None]], axis=1)
    return grouped.reshape(-1, *query.shape[1:])
