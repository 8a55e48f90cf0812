"""How an array is laid out, as text: a letter an axis, and in brackets what one axis is made of.

``"(p h k) m"`` is a matrix with a column for each number of a token. Its rows are those of p parts,
each of which has h heads of k rows: row ``(part * h + head) * k + i``.
"""

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
"""What each letter counts; p are the parts query, key and value of a fused array.

Both t and u count the heads of queries, keys and values in one array: t has all queries, then all
keys, then all values; u has group after group, each with its queries, its key and its value.
"""

INSTEAD = {"g": "h", "c": "m", "v": "k"}
"""What a letter stands for where a fused array has no such axis: its parts are alike."""


def axes_of(pattern: str) -> list[str]:
    """Return the letters of each axis.

    Examples
    --------
    >>> axes_of("(p h k) m")
    ['phk', 'm']
    """
    inner = pattern.replace("(", "|").replace(")", "|").split("|")
    parts = [[part.replace(" ", "")] if i % 2 else part.split() for i, part in enumerate(inner)]
    return [axis for part in parts for axis in part]


def said(pattern: str) -> str:
    """Return a pattern as the shape that it wants.

    Examples
    --------
    >>> said("(p h k) m")
    '(3 * num_heads * d_k, d_model)'
    """
    axes = [" * ".join(AXES[letter] for letter in axis) for axis in axes_of(pattern)]
    return f"({', '.join(axes)}{',' if len(axes) == 1 else ''})"


def solved(
    arrays: Mapping[str, tuple[str, tuple[int, ...]]], num_heads: int | None = None
) -> dict[str, int]:
    """Return how long each axis is that arrays tell.

    Parameters
    ----------
    arrays : mapping of str to (str, tuple of int)
        By name: how an array is laid out, and its shape.
    num_heads : int, optional

    Returns
    -------
    dict of str to int
        By letter; a letter that cannot be known is missing.

    Raises
    ------
    ValueError
        If an array does not have the shape that its layout wants.

    Examples
    --------
    >>> solved({"q": ("(h k) m", (15, 7)), "norm": ("k", (5,))})
    {'p': 3, 'm': 7, 'k': 5, 'h': 3}
    """
    sizes = {"p": 3} | ({} if num_heads is None else {"h": num_heads})
    for name, (pattern, shape) in arrays.items():
        if len(axes_of(pattern)) != len(shape):
            raise ValueError(f"{name} has shape {shape}; {said(pattern)} is wanted")
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
                        f"{name} has shape {shape}; {said(pattern)} is wanted,"
                        f" with {_named(sizes, pattern)}"
                    )
        _tell_groups(arrays, sizes)
        if sizes == known:
            return sizes


def _tell_groups(arrays: Mapping[str, tuple[str, tuple[int, ...]]], sizes: dict[str, int]) -> None:
    """Add the number of groups where one array has the heads of queries, keys and values."""
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


def _named(sizes: Mapping[str, int], pattern: str) -> str:
    """Return the lengths that are known of a pattern's axes."""
    known = (letter for letter in AXES if letter in pattern and letter in sizes and letter != "p")
    return " and ".join(f"{AXES[letter]} {sizes[letter]}" for letter in known) or "a multiple of 3"


def unpacked(array: Array, pattern: str, sizes: Mapping[str, int], order: str) -> Array:
    """Return an array with an axis for each letter of `order`.

    Examples
    --------
    >>> import numpy as np
    >>> unpacked(np.arange(6), "(h k)", {"h": 2, "k": 3}, "kh")
    array([[0, 3],
           [1, 4],
           [2, 5]])
    """
    letters = "".join(axes_of(pattern))
    apart = array.reshape([sizes[letter] for letter in letters])
    return apart.transpose([letters.index(letter) for letter in order])


def packed(array: Array, order: str, pattern: str) -> Array:
    """Return an array that has an axis for each letter of `order` as a pattern wants it.

    Examples
    --------
    >>> import numpy as np
    >>> packed(np.array([[0, 3], [1, 4], [2, 5]]), "kh", "(h k)")
    array([0, 1, 2, 3, 4, 5])
    """
    sizes = dict(zip(order, array.shape, strict=True))
    axes = axes_of(pattern)
    apart = array.transpose([order.index(letter) for letter in "".join(axes)])
    return apart.reshape([prod(sizes[letter] for letter in axis) for axis in axes])


def order_of(order: str, pattern: str) -> str:
    """Return the letters that a pattern has for the axes of `order`.

    Examples
    --------
    >>> order_of("hvo", "o (h k)")
    'hko'
    >>> order_of("phmk", "(t k) m")
    'tmk'
    """
    for letter in ("t", "u"):
        if letter in pattern:
            order = order.replace("ph", letter)
    return "".join(letter if letter in pattern else INSTEAD[letter] for letter in order)


def parts_of(array: Array, letter: str, sizes: Mapping[str, int]) -> list[Array]:
    """Return queries, keys and values of an array whose first axes are p, t or u.

    Examples
    --------
    >>> import numpy as np
    >>> [x.tolist() for x in parts_of(np.arange(8), "u", {"h": 4, "g": 2})]
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


def joined(parts: Sequence[Array], letter: str) -> Array:
    """Return queries, keys and values in one array: the inverse of `parts_of`.

    Examples
    --------
    >>> import numpy as np
    >>> joined([np.array([0, 1, 4, 5]), np.array([2, 6]), np.array([3, 7])], "u").tolist()
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
