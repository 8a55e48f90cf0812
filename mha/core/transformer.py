"""Blocks of a Transformer: what stands around the attention layers, and a stack of them.

A block adds to each token's vector twice: what its attention finds, then what a feed-forward layer
makes of the sum. Where its normalisation stands is the block's own: before what reads the vectors,
after each addition, or nowhere.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_finite_array, finite_sum, in_one_dtype
from mha.core.feed_forward import FeedForward, activated
from mha.core.multihead import MultiHeadWeights, in_widest_dtype, multi_head_attention
from mha.core.norm import Norm, moments, normalised

NormAt: TypeAlias = Literal["before", "after", "nowhere"]
"""Where a block normalises: what attention and feed-forward layer read, or both sums."""


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
        if layer.d_context != width:
            raise ValueError(
                f"attention reads {layer.d_context} numbers; d_model={width} is wanted"
            )
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
        return (*found, *self.first.arrays, *self.second.arrays)


def transformer(
    x: ArrayLike,
    blocks: Iterable[Block],
    *,
    context: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    angles: ArrayLike | None = None,
) -> Array:
    """Return what a stack of blocks makes of tokens, each block reading what the last one gave.

    Parameters
    ----------
    x : array_like, shape (..., n, d_model)
        Embeddings, with their positions where they have any.
    blocks : iterable of Block
        At least one. `mha.runs.record.trace_blocks` keeps every intermediate of them.
    context : array_like, shape (..., m, d_model), optional
        What the attention of each block asks, as for `multi_head_attention`; no block normalises
        it. Default: what the block's own tokens are.
    mask : array_like, optional
        As for `multi_head_attention`, the same in each block.
    is_causal : bool, default False
    angles : array_like, shape (n, d_k / 2), optional
        As for `multi_head_attention`, the same in each block.

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
        read = before_attention(block, x).get("start_normed", x)
        found = multi_head_attention(
            read, block.attention, context=context, mask=mask, is_causal=is_causal, angles=angles
        )
        *_, x = behind_attention(block, x, found).values()
    return x


def as_blocks(blocks: Iterable[Block], name: str = "blocks") -> tuple[Block, ...]:
    """Return blocks as a tuple of at least one; `name` is what an error calls them.

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
            raise TypeError(f"{name} holds a {type(block).__name__}; blocks are wanted")
    if not found:
        raise ValueError(f"{name} is empty; at least one is wanted")
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


def before_attention(block: Block, x: Array) -> dict[str, Array]:
    """Return the steps between what goes into a block and what its attention reads.

    Parameters
    ----------
    block : Block
    x : ndarray, shape (..., n, d_model)

    Returns
    -------
    dict
        By the names that a Trace has; empty where the block does not normalise first.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> list(before_attention(Block(MultiHeadWeights(one, one, one)), np.eye(2)))
    ['start_means', 'start_spreads', 'start_normed']
    """
    if block.norm != "before":
        return {}
    return normalisation("start", in_dtype_of(block, x), block.first)


def behind_attention(block: Block, x: Array, found: Array) -> dict[str, Array]:
    """Return the steps that follow the attention of a block, in order.

    Parameters
    ----------
    block : Block
    x : ndarray, shape (..., n, d_model)
        What went into the block.
    found : ndarray, shape (..., n, d_model)
        What its attention gives.

    Returns
    -------
    dict
        By the names that a Trace has, those steps alone that the block takes; the last is what it
        gives.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> behind_attention(Block(MultiHeadWeights(one, one, one)), np.eye(2), np.eye(2))
    {'stream': array([[2., 0.],
           [0., 2.]])}
    """
    x = in_dtype_of(block, x)
    stream = finite_sum("the stream and what attention found", x, found)
    steps = {"stream": stream}
    if block.norm == "after":
        steps |= normalisation("stream", stream, block.first)
        stream = steps["stream_normed"]
    layer = block.feed_forward
    if layer is None:
        return steps
    if block.norm == "before":
        steps |= normalisation("stream", stream, block.second)
    hidden = layer.hidden(steps.get("stream_normed", stream))
    active = activated(hidden, layer.activation)
    fed = layer.output(active)
    total = finite_sum("the stream and what the feed-forward layer gave", stream, fed)
    steps |= {"hidden": hidden, "active": active, "fed": fed, "total": total}
    return steps | (normalisation("total", total, block.second) if block.norm == "after" else {})


def normalisation(start: str, x: Array, norm: Norm) -> dict[str, Array]:
    """Return the steps of one normalisation, by names that begin with `start`.

    Examples
    --------
    >>> normalisation("start", np.array([[9.0, -5.0, 3.0, 1.0]]), Norm(eps=0))["start_normed"]
    array([[ 1.4, -1.4,  0.2, -0.2]])
    """
    means, spreads = moments(x, norm.eps)
    return {
        f"{start}_means": means,
        f"{start}_spreads": spreads,
        f"{start}_normed": normalised(x, means, spreads, norm),
    }
