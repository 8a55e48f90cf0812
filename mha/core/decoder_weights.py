"""The learned arrays of a decoder and its sizes, and the angles of its rotary positions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import (
    Array,
    as_count,
    as_finite_array,
    as_index,
    as_number,
    frozen_copy,
)
from mha.core.multihead import MultiHeadWeights
from mha.core.option_checks import check_type
from mha.core.positions import BASE, rotary_angles


@dataclass(frozen=True, eq=False)
class DecoderLayer:
    """The learned arrays of one block of a decoder.

    Parameters
    ----------
    attention_gain : array_like, shape (d_model,)
        Gain of the RMS norm before the attention.
    w_qkv : array_like, shape (d_model, (num_heads + 2 * num_groups) * d_k)
        The query projections of all heads, the key projections of all groups, and their value
        projections, side by side. Rotated columns are in adjacent pairs.
    w_o : array_like, shape (num_heads * d_k, d_model)
    feed_forward_gain : array_like, shape (d_model,)
    w_gate_up : array_like, shape (d_model, 2 * d_ff)
        The matrix of the gate and that of the gated numbers, side by side.
    w_down : array_like, shape (d_ff, d_model)

    Raises
    ------
    TypeError, ValueError
        If an array holds no finite real numbers, or the shapes do not fit together.

    Notes
    -----
    The arrays are not copied. `x @ w` is fastest if the rows of `w` are contiguous, as those
    of `side_by_side`.
    """

    attention_gain: Array
    w_qkv: Array
    w_o: Array
    feed_forward_gain: Array
    w_gate_up: Array
    w_down: Array

    def __post_init__(self) -> None:
        shapes = {}
        for name in _LAYER_ARRAYS:
            ndim = 2 if name.startswith("w_") else 1
            array = _frozen_view(name, getattr(self, name), ndim)
            object.__setattr__(self, name, array)
            shapes[name] = array.shape
        (width,) = shapes["attention_gain"]
        d_ff = shapes["w_down"][0]
        wanted = {
            "feed_forward_gain": (width,),
            "w_qkv": (width, shapes["w_qkv"][1]),
            "w_o": (shapes["w_o"][0], width),
            "w_gate_up": (width, 2 * d_ff),
            "w_down": (d_ff, width),
        }
        for name, shape in wanted.items():
            if shapes[name] != shape:
                raise ValueError(f"{name} has shape {shapes[name]}; {shape} is wanted")


_LAYER_ARRAYS = (
    "attention_gain", "w_qkv", "w_o", "feed_forward_gain", "w_gate_up", "w_down",
)  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class DecoderWeights:
    """The learned arrays and settings of a decoder, whose parameters `Decoder` describes.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, or the shapes do not fit together.
    """

    embedding: Array = field(repr=False)
    layers: tuple[DecoderLayer, ...] = field(repr=False)
    final_gain: Array = field(repr=False)
    unembedding: Array = field(repr=False)
    num_heads: int
    num_groups: int
    base: float = BASE
    speeds: Array | None = None
    eps: float = 1e-5
    context_length: int | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        if not isinstance(self.layers, Iterable):
            raise TypeError(f"layers is {self.layers!r}; a sequence of DecoderLayer is wanted")
        set_field(self, "layers", tuple(self.layers))
        if not self.layers:
            raise ValueError("layers is empty; at least one DecoderLayer is wanted")
        for layer in self.layers:
            check_type("layers", layer, DecoderLayer)
        for name in ("num_heads", "num_groups"):
            set_field(self, name, as_count(name, getattr(self, name)))
        set_field(self, "base", as_number("base", self.base, above=0))
        set_field(self, "eps", as_number("eps", self.eps, least=0))
        set_field(self, "embedding", _frozen_view("embedding", self.embedding, 2))
        set_field(self, "final_gain", _frozen_view("final_gain", self.final_gain, 1))
        set_field(self, "unembedding", _frozen_view("unembedding", self.unembedding, 2))
        if self.speeds is not None:
            set_field(self, "speeds", frozen_copy(as_finite_array("speeds", self.speeds)))
        if self.context_length is not None:
            set_field(self, "context_length", as_count("context_length", self.context_length))
        self._check_shapes()

    def _check_shapes(self) -> None:
        """Raise a ValueError unless the arrays of all layers fit the sizes of the model."""
        if self.num_heads % self.num_groups:
            raise ValueError(
                f"num_groups is {self.num_groups}; a divisor of num_heads={self.num_heads} is"
                " wanted"
            )
        heads = self.num_heads + 2 * self.num_groups
        d_k, rest = divmod(self.layers[0].w_qkv.shape[1], heads)
        if rest or d_k % 2:
            raise ValueError(
                f"w_qkv has {self.layers[0].w_qkv.shape[1]} columns; {heads} times an even number"
                " is wanted"
            )
        size, width = self.vocabulary_size, self.d_model
        found: dict[str, tuple[int, ...]] = {
            "final_gain": self.final_gain.shape,
            "unembedding": self.unembedding.shape,
        }
        wanted: dict[str, tuple[int, ...]] = {"final_gain": (width,), "unembedding": (width, size)}
        if self.speeds is not None:
            found["speeds"], wanted["speeds"] = self.speeds.shape, (d_k // 2,)
        for number, layer in enumerate(self.layers):
            sizes = (heads * d_k, self.num_heads * d_k, self.d_ff)
            arrays = (layer.w_qkv.T, layer.w_o, layer.w_down)
            for name, array, rows in zip(("w_qkv", "w_o", "w_down"), arrays, sizes, strict=True):
                found[f"{name} of layer {number}"] = array.shape
                wanted[f"{name} of layer {number}"] = (rows, width)
        for name, shape in wanted.items():
            if found[name] != shape:
                raise ValueError(f"{name} has shape {found[name]}; {shape} is wanted")
        dtypes = {str(array.dtype) for array in (*self.arrays, self.unembedding)}
        if len(dtypes) > 1:
            raise TypeError(f"the arrays are of {' and '.join(sorted(dtypes))}; one is wanted")

    @property
    def num_layers(self) -> int:
        """Number of blocks."""
        return len(self.layers)

    @property
    def vocabulary_size(self) -> int:
        """Number of tokens in the vocabulary."""
        return int(self.embedding.shape[0])

    @property
    def d_model(self) -> int:
        """Width of the residual stream."""
        return int(self.embedding.shape[1])

    @property
    def d_k(self) -> int:
        """Width of one head's queries, keys and values."""
        return int(self.layers[0].w_qkv.shape[1]) // (self.num_heads + 2 * self.num_groups)

    @property
    def d_ff(self) -> int:
        """Width of the feed-forward layers."""
        return int(self.layers[0].w_down.shape[0])

    @property
    def arrays(self) -> list[Array]:
        """The learned arrays; an unembedding that is the transposed embedding is not repeated."""
        found = [self.embedding, self.final_gain]
        found += [getattr(layer, name) for layer in self.layers for name in _LAYER_ARRAYS]
        is_tied = np.may_share_memory(self.embedding, self.unembedding)
        return found if is_tied else [*found, self.unembedding]

    @property
    def size(self) -> int:
        """Number of learned parameters."""
        return sum(array.size for array in self.arrays)

    @property
    def nbytes(self) -> int:
        """Number of bytes of the learned parameters."""
        return sum(array.nbytes for array in self.arrays)

    def angles(self, num_tokens: int) -> Array:
        """Return the rotary angles of queries and keys at the first positions.

        Parameters
        ----------
        num_tokens : int

        Returns
        -------
        ndarray, shape (num_tokens, d_k / 2)
        """
        positions = np.arange(as_count("num_tokens", num_tokens))
        if self.speeds is not None:
            return positions[:, None] * self.speeds
        return rotary_angles(positions, self.d_k, base=self.base)

    def attention(self, layer: int) -> MultiHeadWeights:
        """Return a copy of the projections of one layer's attention.

        Parameters
        ----------
        layer : int
            Counted from 0.

        Returns
        -------
        MultiHeadWeights
            With `num_groups` key and value projections.
        """
        arrays = self.layers[as_index("layer", layer, self.num_layers)]
        by_head = arrays.w_qkv.reshape(self.d_model, -1, self.d_k).swapaxes(0, 1)
        ends = self.num_heads, self.num_heads + self.num_groups
        w_q, w_k, w_v = np.split(by_head, ends)
        return MultiHeadWeights(w_q, w_k, w_v, arrays.w_o)


def side_by_side(*stored: Array) -> Array:
    """Return matrices that are stored as (d_out, d_in) as one of shape (d_in, sum of all d_out).

    Parameters
    ----------
    *stored : ndarray, shape (d_out, d_in)

    Returns
    -------
    ndarray
        With contiguous rows.

    Examples
    --------
    >>> side_by_side(np.ones((3, 2)), np.ones((5, 2))).shape
    (2, 8)
    """
    return np.concatenate([matrix.T for matrix in stored], axis=1, dtype=stored[0].dtype)


def _frozen_view(name: str, value: ArrayLike, ndim: int) -> Array:
    """Return a read-only view of finite numbers with a given number of axes."""
    array = as_finite_array(name, value)
    if array.ndim != ndim:
        raise ValueError(f"{name} has shape {array.shape}; {ndim} axes are wanted")
    return freeze(array.view())


def freeze(array: Array) -> Array:
    """Return the array itself, made read-only.

    Parameters
    ----------
    array : ndarray

    Examples
    --------
    >>> freeze(np.zeros(2)).flags.writeable
    False
    """
    array.flags.writeable = False
    return array
