"""The backward pass of a stack of blocks: a gradient at each place of the stream, by each array.

Where a block adds what a layer found to what it read, the gradient of the sum goes to both.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import (
    Array,
    as_finite_array,
    finite_product,
    finite_sum,
    in_one_dtype,
    refuse_overflow,
)
from mha.core.feed_forward import FeedForward, activated_backward
from mha.core.gradients import (
    ForwardPass,
    Masks,
    added_up,
    as_gradient,
    as_rows,
    backward,
    forward,
)
from mha.core.multihead import as_tokens
from mha.core.norm import Norm, normalised, normalised_backward
from mha.core.transformer import (
    Block,
    as_blocks,
    before_attention,
    behind_attention,
    in_dtype_of,
)

_PLAIN = Norm()
_BOTH = "the gradients of the stream and of what read it"


@dataclass(frozen=True, eq=False)
class TransformerGradients:
    """A loss's gradient along a stack of blocks.

    Parameters
    ----------
    streams : tuple of ndarray, shape (..., n, d_model)
        By what each block reads, from the first block on, and by what the last one gives.
    blocks : tuple of Block
        By each array of each block, in its place; those of a batch's sequences add up.
    """

    streams: tuple[Array, ...]
    blocks: tuple[Block, ...]


def transformer_backward(
    d_output: ArrayLike,
    x: ArrayLike,
    blocks: Iterable[Block],
    *,
    mask: ArrayLike | None = None,
    is_causal: bool = False,
    angles: ArrayLike | None = None,
) -> TransformerGradients:
    """Carry a gradient from what a stack of blocks gives back to its inputs and matrices.

    Parameters
    ----------
    d_output : array_like, shape (..., n, d_model)
        The loss's gradient by what the last block gives.
    x : array_like, shape (..., n, d_model)
    blocks : iterable of Block
    mask, is_causal, angles
        As for `transformer`.

    Returns
    -------
    TransformerGradients
        Dtype as `mha.core.checks` says.

    Raises
    ------
    TypeError, ValueError
        As the forward pass; also if `d_output` does not have the output's shape, or a gradient is
        too large for its dtype.

    Examples
    --------
    >>> from mha import MultiHeadWeights
    >>> one = np.eye(2)[None]
    >>> block = Block(MultiHeadWeights(one, one, 0 * one), norm="nowhere")
    >>> transformer_backward([[1.0, 2.0]], [[3.0, 4.0]], [block] * 9).streams[0]
    array([[1., 2.]])
    """
    x, d_output = in_one_dtype(
        as_finite_array("x", x, min_ndim=2), as_finite_array("d_output", d_output)
    )
    blocks = as_blocks(blocks)
    for block in blocks:
        x = in_dtype_of(block, x)
    if angles is not None:
        angles = as_finite_array("angles", angles)
    runs = []
    for block in blocks:
        runs.append(_forward(block, x, mask=mask, is_causal=is_causal, angles=angles))
        *_, x = runs[-1][0].values()
    streams = [as_gradient("d_output", d_output, x.shape).astype(x.dtype)]
    found: list[Block] = []
    for block, (steps, passed) in zip(blocks[::-1], runs[::-1], strict=True):
        d_x, by_array = _backward(streams[-1], block, steps, passed)
        streams.append(d_x)
        found.append(by_array)
    return TransformerGradients(tuple(streams[::-1]), tuple(found[::-1]))


def _forward(
    block: Block, x: Array, *, angles: Array | None, **masks: Unpack[Masks]
) -> tuple[dict[str, Array], ForwardPass]:
    """Return the steps of a block, in order, and what its attention has computed."""
    steps = {"x": x} | before_attention(block, x)
    read, *_ = as_tokens(steps.get("start_normed", x), block.attention, mask=masks["mask"])
    passed = forward(read, read, block.attention, angles=angles, **masks)
    return steps | behind_attention(block, x, passed.output), passed


def _backward(
    d_output: Array, block: Block, steps: dict[str, Array], passed: ForwardPass
) -> tuple[Array, Block]:
    """Carry a gradient back through a block, to what it read and to its arrays."""
    found: dict[str, Any] = {"first": _nothing(block.first), "second": _nothing(block.second)}
    back = d_output
    if block.feed_forward is not None:
        if block.norm == "after":
            back, found["second"] = _through_norm(back, "total", steps, block.second)
        d_read, found["feed_forward"] = _through_feed_forward(back, block.feed_forward, steps)
        if block.norm == "before":
            d_read, found["second"] = _through_norm(d_read, "stream", steps, block.second)
        back = finite_sum(_BOTH, back, d_read)
    if block.norm == "after":
        back, found["first"] = _through_norm(back, "stream", steps, block.first)
    layer = backward(back, passed, block.attention, is_cross=False)
    d_read = layer.x
    if block.norm == "before":
        d_read, found["first"] = _through_norm(d_read, "start", steps, block.first)
    back = finite_sum(_BOTH, back, d_read)
    return back, replace(block, attention=layer.weights, **found)


def _through_norm(
    gradient: Array, name: str, steps: dict[str, Array], norm: Norm
) -> tuple[Array, Norm]:
    """Carry a gradient back through a normalisation, to what it read and to gain and bias."""
    spreads = steps[f"{name}_spreads"]
    read = steps["x" if name == "start" else name]
    plain = normalised(read, steps[f"{name}_means"], spreads, _PLAIN)
    gain, _ = norm.rows(read.shape[-1], read.dtype)
    with np.errstate(over="ignore"):
        by_plain, by_gain = gradient * gain, gradient * plain
    refuse_overflow("the gradient and the gain", by_plain)
    refuse_overflow("the gradient and the normalised numbers", by_gain)
    d_gain = None if norm.gain is None else added_up("the gradients by gain", as_rows(by_gain))
    d_bias = None if norm.bias is None else added_up("the gradients by bias", as_rows(gradient))
    return normalised_backward(by_plain, plain, spreads), Norm(d_gain, d_bias, norm.eps)


def _through_feed_forward(
    gradient: Array, layer: FeedForward, steps: dict[str, Array]
) -> tuple[Array, FeedForward]:
    """Carry a gradient back through a feed-forward layer, to what it read and to its arrays."""
    read = steps.get("stream_normed", steps["stream"])
    w_in, w_out = (w.astype(read.dtype, copy=False) for w in (layer.w_in, layer.w_out))
    d_active = finite_product("d_fed and w_out", gradient, w_out.T)
    d_hidden = activated_backward(d_active, steps["hidden"], layer.activation)
    rows, d_rows = as_rows(gradient), as_rows(d_hidden)
    by_array = FeedForward(
        w_in=finite_product("what was read and d_hidden", as_rows(read).T, d_rows),
        b_in=None if layer.b_in is None else added_up("the gradients by b_in", d_rows),
        w_out=finite_product("active and d_fed", as_rows(steps["active"]).T, rows),
        b_out=None if layer.b_out is None else added_up("the gradients by b_out", rows),
        activation=layer.activation,
    )
    return finite_product("d_hidden and w_in", d_hidden, w_in.T), by_array


def _nothing(norm: Norm) -> Norm:
    """Return the gradient of a normalisation that a block does not take."""
    gain, bias = (None if row is None else np.zeros_like(row) for row in (norm.gain, norm.bias))
    return Norm(gain, bias, norm.eps)
