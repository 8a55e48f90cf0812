"""Transformer blocks: attention, feed-forward layer, residual connections and normalisation.

A block adds the output of its attention to each token's vector, then the output of its feed-forward
layer. The normalisation is before these layers, after each addition, or absent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_finite_array, finite_sum, in_one_dtype
from mha.core.feed_forward import FeedForward, activate
from mha.core.multihead import MultiHeadWeights, in_widest_dtype, multi_head_attention
from mha.core.norm import Norm, moments, normalise

NormAt: TypeAlias = Literal["before", "after", "nowhere"]
"""The normalisation of a block: of the layers' inputs, of both sums, or none."""


@dataclass(frozen=True, eq=False)
class Block:
    """One Transformer block: attention, and optionally a feed-forward layer and normalisations.

    Parameters
    ----------
    attention : MultiHeadWeights
        Its output has the width of its input, since the two are added.
    feed_forward : FeedForward, optional
        Default: the block has only its attention.
    norm : {"before", "after", "nowhere"}, default "before"
        "before": the inputs of attention and feed-forward layer are normalised. "after": each sum
        is normalised, as in Vaswani et al. (2017).
    first, second : Norm, optional
        Gain and bias of the normalisations at the attention and at the feed-forward layer.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, or the widths do not fit.

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
            raise ValueError(
                f"attention returns {found} numbers per token; d_model={width} is wanted"
            )
        if layer.d_context != width:
            raise ValueError(
                f"attention takes a context of width {layer.d_context}; d_model={width} is wanted"
            )
        if self.feed_forward is not None:
            found = len(self.feed_forward.w_in), self.feed_forward.w_out.shape[1]
            if found != (width, width):
                raise ValueError(
                    f"feed_forward takes {found[0]} numbers and returns {found[1]};"
                    f" d_model={width} is wanted for both"
                )
        for norm in (self.first, self.second):
            norm.gain_and_bias(width, np.dtype(np.float64))  # raises if the width differs

    def _check_kinds(self) -> None:
        """Raise an error unless each field has its type."""
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
        """Width of the input and the output."""
        return self.attention.d_model

    @property
    def arrays(self) -> tuple[Array, ...]:
        """All arrays of the block except the attention's matrices."""
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
    """Return the output of a stack of blocks.

    Parameters
    ----------
    x : array_like, shape (..., n, d_model)
        Embeddings, with position vectors added if the model has any.
    blocks : iterable of Block
        At least one. `mha.runs.record.trace_blocks` records every intermediate.
    context : array_like, shape (..., m, d_model), optional
        The input of the keys and values of each block, for cross-attention; it is not normalised.
        Default: self-attention.
    mask : array_like, optional
        As in `multi_head_attention`, the same in each block.
    is_causal : bool, default False
    angles : array_like, shape (n, d_k / 2), optional
        As in `multi_head_attention`, the same in each block.

    Returns
    -------
    ndarray, shape (..., n, d_model)
        The dtype follows the rule in `mha.core.checks`.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit; the message names the argument and its fault.

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
        normed = before_attention(block, x).get("start_normed", x)
        output = multi_head_attention(
            normed, block.attention, context=context, mask=mask, is_causal=is_causal, angles=angles
        )
        *_, x = after_attention(block, x, output).values()
    return x


def as_blocks(blocks: Iterable[Block], name: str = "blocks") -> tuple[Block, ...]:
    """Return an iterable of blocks as a non-empty tuple; `name` is its name in error messages.

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
            raise TypeError(f"{name} holds a {type(block).__name__}; instances of Block are wanted")
    if not found:
        raise ValueError(f"{name} is empty; at least one is wanted")
    return found


def in_dtype_of(block: Block, x: Array) -> Array:
    """Convert vectors to the widest dtype among theirs and those of a block's arrays.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> in_dtype_of(Block(MultiHeadWeights(one, one, one)), np.ones((1, 2), np.float32)).dtype
    dtype('float64')
    """
    return in_one_dtype(*in_widest_dtype(block.attention, x), *block.arrays)[0]


def before_attention(block: Block, x: Array) -> dict[str, Array]:
    """Return the intermediates between the input of a block and the input of its attention.

    Parameters
    ----------
    block : Block
    x : ndarray, shape (..., n, d_model)

    Returns
    -------
    dict
        By the names of the fields of `Trace`; empty unless the block normalises before.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> list(before_attention(Block(MultiHeadWeights(one, one, one)), np.eye(2)))
    ['start_means', 'start_spreads', 'start_normed']
    """
    if block.norm != "before":
        return {}
    return normalisation("start", in_dtype_of(block, x), block.first)


def after_attention(block: Block, x: Array, attention_output: Array) -> dict[str, Array]:
    """Return the intermediates after the attention of a block, in the order of the computation.

    Parameters
    ----------
    block : Block
    x : ndarray, shape (..., n, d_model)
        The input of the block.
    attention_output : ndarray, shape (..., n, d_model)

    Returns
    -------
    dict
        By the names of the fields of `Trace`; the last one is the output of the block.

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> after_attention(Block(MultiHeadWeights(one, one, one)), np.eye(2), np.eye(2))
    {'stream': array([[2., 0.],
           [0., 2.]])}
    """
    x = in_dtype_of(block, x)
    stream = finite_sum("the stream and the attention's output", x, attention_output)
    # The order of the entries is that of the computation: callers take the last one as the output.
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
    active = activate(hidden, layer.activation)
    fed = layer.output(active)
    total = finite_sum("the stream and the feed-forward layer's output", stream, fed)
    steps |= {"hidden": hidden, "active": active, "fed": fed, "total": total}
    return steps | (normalisation("total", total, block.second) if block.norm == "after" else {})


def normalisation(start: str, x: Array, norm: Norm) -> dict[str, Array]:
    """Return the intermediates of one normalisation, by names that begin with `start`.

    Examples
    --------
    >>> normalisation("start", np.array([[9.0, -5.0, 3.0, 1.0]]), Norm(eps=0))["start_normed"]
    array([[ 1.4, -1.4,  0.2, -0.2]])
    """
    means, spreads = moments(x, norm.eps)
    return {
        f"{start}_means": means,
        f"{start}_spreads": spreads,
        f"{start}_normed": normalise(x, means, spreads, norm),
    }
