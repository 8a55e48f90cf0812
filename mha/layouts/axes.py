"""How an array is laid out, as text: a letter an axis, and in brackets what one axis is made of.

``"(p h k) m"`` is a matrix with a column for each number of a token. Its rows are those of p parts,
each of which has h heads of k rows: row ``(part * h + head) * k + i``.
"""

from collections.abc import Mapping
from math import prod

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
}
"""What each letter counts; p are the parts query, key and value of a fused array."""

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
        if sizes == known:
            return sizes


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
    """
    return "".join(letter if letter in pattern else INSTEAD[letter] for letter in order)
