"""Blocks of a Transformer: what stands around the attention layers, and a stack of them.

A block adds to each token's vector twice: what its attention finds, then what a feed-forward layer
makes of the sum. Where its normalisation stands is the block's own: before what reads the vectors,
after each addition, or nowhere.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import (
    Array,
    as_finite_array,
    finite_product,
    finite_sum,
    frozen,
    in_one_dtype,
)
from mha.core.multihead import MultiHeadWeights, in_widest_dtype, multi_head_attention
from mha.core.norm import Norm, moments, normalised

Activation: TypeAlias = Literal["relu", "gelu"]
"""What a feed-forward layer does to its hidden numbers: nothing below 0, or x times Φ(x)."""

NormAt: TypeAlias = Literal["before", "after", "nowhere"]
"""Where a block normalises: what attention and feed-forward layer read, or both sums."""


def normal_share(x: float) -> float:
    """Return Φ(x): how much of the standard normal distribution lies below a number.

    Examples
    --------
    >>> normal_share(0.0)
    0.5
    """
    return 0.5 * math.erfc(-x / math.sqrt(2))


_shares = np.vectorize(normal_share, otypes=[np.float64])


def activated(hidden: Array, activation: Activation) -> Array:
    """Return what a feed-forward layer makes of its hidden numbers, one by one.

    Parameters
    ----------
    hidden : ndarray
    activation : {"relu", "gelu"}

    Returns
    -------
    ndarray
        Of the same shape and dtype.

    Raises
    ------
    ValueError
        If `activation` is neither of the two.

    Examples
    --------
    >>> activated(np.array([-1.0, 2.0]), "relu")
    array([0., 2.])
    """
    if activation == "relu":
        return np.maximum(hidden, 0)
    if activation == "gelu":
        with np.errstate(under="ignore"):
            return (hidden * _shares(hidden)).astype(hidden.dtype)
    raise ValueError(f'activation is {activation!r}; "relu" or "gelu" is wanted')


@dataclass(frozen=True, eq=False)
class FeedForward:
    """The matrices of a feed-forward layer, which works on each token alone.

    Parameters
    ----------
    w_in : array_like, shape (d_model, d_ff)
    b_in : array_like, shape (d_ff,), optional
        What is added to the hidden numbers. Default: nothing.
    w_out : array_like, shape (d_ff, d_out)
    b_out : array_like, shape (d_out,), optional
    activation : {"relu", "gelu"}, default "relu"

    Raises
    ------
    TypeError, ValueError
        If the shapes do not fit together, or an array holds what is not finite.

    Notes
    -----
    The arrays are copied and read-only.

    References
    ----------
    Vaswani et al. (2017), section 3.3.

    Examples
    --------
    >>> FeedForward(np.ones((2, 8)), None, np.ones((8, 2)), None).d_ff
    8
    """

    w_in: Array
    b_in: Array | None
    w_out: Array
    b_out: Array | None
    activation: Activation = "relu"

    def __post_init__(self) -> None:
        for name in ("w_in", "w_out"):
            matrix = as_finite_array(name, getattr(self, name))
            if matrix.ndim != 2:
                raise ValueError(f"{name} has shape {matrix.shape}; two axes are wanted")
            object.__setattr__(self, name, frozen(matrix))
        if len(self.w_out) != self.d_ff:
            raise ValueError(
                f"w_in has {self.d_ff} columns but w_out has {len(self.w_out)} rows;"
                " they must match"
            )
        for name, matrix in (("b_in", self.w_in), ("b_out", self.w_out)):
            if (value := getattr(self, name)) is not None:
                row = as_finite_array(name, value)
                if row.shape != matrix.shape[1:]:
                    raise ValueError(f"{name} has shape {row.shape}; {matrix.shape[1:]} is wanted")
                object.__setattr__(self, name, frozen(row))
        if self.activation not in get_args(Activation):
            raise ValueError(f'activation is {self.activation!r}; "relu" or "gelu" is wanted')

    @property
    def d_ff(self) -> int:
        """How many hidden numbers there are for each token."""
        return int(self.w_in.shape[1])

    @property
    def arrays(self) -> tuple[Array, ...]:
        """The matrices, and the biases that there are."""
        found = (self.w_in, self.b_in, self.w_out, self.b_out)
        return tuple(array for array in found if array is not None)

    def hidden(self, x: Array) -> Array:
        """Return what reaches the activation: each row times w_in, plus b_in."""
        if x.shape[-1] != len(self.w_in):
            raise ValueError(
                f"x has width {x.shape[-1]} but w_in has {len(self.w_in)} rows; they must match"
            )
        return _affine("x and w_in", x, self.w_in, self.b_in)

    def output(self, active: Array) -> Array:
        """Return what comes of the activated numbers: times w_out, plus b_out."""
        return _affine("the active numbers and w_out", active, self.w_out, self.b_out)


def _affine(names: str, x: Array, matrix: Array, bias: Array | None) -> Array:
    """Return a product with a matrix, plus a row where there is one, in the dtype of `x`."""
    found = finite_product(names, x, matrix.astype(x.dtype, copy=False))
    if bias is None:
        return found
    return finite_sum(f"{names}, and the bias,", found, bias.astype(x.dtype, copy=False))


def feed_forward(
    x: ArrayLike,
    w_in: ArrayLike,
    b_in: ArrayLike | None,
    w_out: ArrayLike,
    b_out: ArrayLike | None,
    activation: Activation = "relu",
) -> Array:
    """Return what two matrices with an activation between them make of each token, by itself.

    Parameters
    ----------
    x : array_like, shape (..., d_model)
    w_in : array_like, shape (d_model, d_ff)
    b_in : array_like, shape (d_ff,), or None
    w_out : array_like, shape (d_ff, d_out)
    b_out : array_like, shape (d_out,), or None
    activation : {"relu", "gelu"}, default "relu"
        "relu" makes negative numbers 0; "gelu" multiplies x with Φ(x), the share of the standard
        normal distribution below x.

    Returns
    -------
    ndarray, shape (..., d_out)
        Dtype as `mha.core.checks` says.

    Raises
    ------
    TypeError, ValueError
        If the arrays do not fit or hold what is not finite, a product is too large for its dtype,
        or `activation` is neither of the two.

    References
    ----------
    Vaswani et al. (2017), section 3.3, equation 2.

    Examples
    --------
    >>> feed_forward([[3, 1], [1, 1]], [[1], [1]], [-3], [[2, 0]], None)
    array([[2., 0.],
           [0., 0.]])
    """
    # The dataclass makes arrays of what it is given.
    layer = FeedForward(w_in, b_in, w_out, b_out, activation)  # type: ignore[arg-type]
    x, *_ = in_one_dtype(as_finite_array("x", x), *layer.arrays)
    return layer.output(activated(layer.hidden(x), layer.activation))


@dataclass(frozen=True, eq=False)
class Block:
    """One block of a Transformer: an attention layer, and what stands around it.

    Parameters
    ----------
    attention : MultiHeadWeights
        Its output is as wide as its input, since the two are added.
    feed_forward : FeedForward, optional
        Without it the block adds once.
    norm : {"before", "after", "nowhere"}, default "before"
        "before": attention and feed-forward layer read normalised vectors. "after": each sum is
        normalised, as in the first Transformer.
    first, second : Norm, optional
        The normalisations' own numbers: attention's and the feed-forward layer's.

    Raises
    ------
    TypeError, ValueError
        If the parts are not of these kinds, or their widths do not fit.

    References
    ----------
    Vaswani et al. (2017), section 3.1; Xiong et al. (2020), figure 1.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> Block(MultiHeadWeights(one, one, one)).d_model
    2
    """

    attention: MultiHeadWeights
    feed_forward: FeedForward | None = None
    norm: NormAt = "before"
    first: Norm = field(default_factory=Norm)
    second: Norm = field(default_factory=Norm)

    def __post_init__(self) -> None:
        self._check_kinds()
        layer, width = self.attention, self.d_model
        found = layer.num_heads * layer.d_v if layer.w_o is None else layer.w_o.shape[1]
        if found != width:
            raise ValueError(f"attention gives {found} numbers a token; d_model={width} is wanted")
        if self.feed_forward is not None:
            found = len(self.feed_forward.w_in), self.feed_forward.w_out.shape[1]
            if found != (width, width):
                raise ValueError(
                    f"feed_forward takes {found[0]} numbers and gives {found[1]};"
                    f" d_model={width} is wanted for both"
                )
        for norm in (self.first, self.second):
            norm.rows(width, np.dtype(np.float64))

    def _check_kinds(self) -> None:
        """Raise unless each part is of its kind."""
        if not isinstance(self.attention, MultiHeadWeights):
            kind = type(self.attention).__name__
            raise TypeError(f"attention is a {kind}; MultiHeadWeights is wanted")
        if not isinstance(self.feed_forward, FeedForward | None):
            kind = type(self.feed_forward).__name__
            raise TypeError(f"feed_forward is a {kind}; FeedForward or None is wanted")
        for name in ("first", "second"):
            if not isinstance(norm := getattr(self, name), Norm):
                raise TypeError(f"{name} is a {type(norm).__name__}; Norm is wanted")
        if self.norm not in get_args(NormAt):
            raise ValueError(f'norm is {self.norm!r}; "before", "after" or "nowhere" is wanted')

    @property
    def d_model(self) -> int:
        """Width of what goes in and comes out."""
        return self.attention.d_model

    @property
    def arrays(self) -> tuple[Array, ...]:
        """What the block has beside the attention's matrices."""
        found = () if self.feed_forward is None else self.feed_forward.arrays
        if self.norm == "nowhere":
            return found
        return (*found, *self.first.dtypes(), *self.second.dtypes())


def transformer(
    x: ArrayLike, blocks: Iterable[Block], *, mask: ArrayLike | None = None, is_causal: bool = False
) -> Array:
    """Return what a stack of blocks makes of tokens, each block reading what the last one gave.

    Parameters
    ----------
    x : array_like, shape (..., n, d_model)
        Embeddings, with their positions where they have any.
    blocks : iterable of Block
        At least one. `mha.trace_blocks` keeps every intermediate of them.
    mask : array_like, optional
        As for `multi_head_attention`, the same in each block.
    is_causal : bool, default False

    Returns
    -------
    ndarray, shape (..., n, d_model)
        Dtype as `mha.core.checks` says.

    Raises
    ------
    TypeError, ValueError
        If arguments do not fit, naming the argument, what is wanted and what came.

    References
    ----------
    Vaswani et al. (2017), section 3.1.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> block = Block(MultiHeadWeights(one, one, one), norm="nowhere")
    >>> transformer([[1.0, 0.0], [0.0, 1.0]], [block, block]).round(4)
    array([[3.0455, 0.9545],
           [0.9545, 3.0455]])
    """
    x = as_finite_array("x", x, min_ndim=2)
    blocks = as_blocks(blocks)
    for block in blocks:
        x = in_dtype_of(block, x)
        start = x if block.norm != "before" else normed(x, block.first)
        found = multi_head_attention(start, block.attention, mask=mask, is_causal=is_causal)
        x = _behind(block, x, found)
    return x


def as_blocks(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """Return blocks as a tuple of at least one.

    Examples
    --------
    >>> as_blocks([])
    Traceback (most recent call last):
        ...
    ValueError: blocks is empty; at least one is wanted
    """
    found = tuple(blocks) if isinstance(blocks, Iterable) else (blocks,)
    for block in found:
        if not isinstance(block, Block):
            raise TypeError(f"blocks holds a {type(block).__name__}; blocks are wanted")
    if not found:
        raise ValueError("blocks is empty; at least one is wanted")
    return found


def in_dtype_of(block: Block, x: Array) -> Array:
    """Return vectors in the widest dtype among theirs and those of a block's arrays.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> in_dtype_of(Block(MultiHeadWeights(one, one, one)), np.ones((1, 2), np.float32)).dtype
    dtype('float64')
    """
    return in_one_dtype(*in_widest_dtype(block.attention, x), *block.arrays)[0]


def normed(x: Array, norm: Norm) -> Array:
    """Return the rows normalised.

    Examples
    --------
    >>> normed(np.array([[9.0, 1.0]]), Norm(eps=0))
    array([[ 1., -1.]])
    """
    return normalised(x, *moments(x, norm.eps), norm)


def _behind(block: Block, x: Array, found: Array) -> Array:
    """Return what a block makes of its input and of what its attention found."""
    stream = finite_sum("the stream and what attention found", x, found)
    if block.norm == "after":
        stream = normed(stream, block.first)
    layer = block.feed_forward
    if layer is None:
        return stream
    read = normed(stream, block.second) if block.norm == "before" else stream
    fed = layer.output(activated(layer.hidden(read), layer.activation))
    total = finite_sum("the stream and what the feed-forward layer gave", stream, fed)
    return normed(total, block.second) if block.norm == "after" else total
