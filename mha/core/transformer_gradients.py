"""The backward pass of a stack of Transformer blocks.

At a residual connection the gradient of the sum is the gradient of both terms.
"""

from __future__ import annotations

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
from mha.core.feed_forward import FeedForward, activate_backward
from mha.core.gradients import (
    ForwardPass,
    MaskOptions,
    as_gradient,
    backward,
    flatten_sequences,
    forward,
    sum_rows,
)
from mha.core.multihead import as_layer_inputs
from mha.core.norm import Norm, normalise, normalise_backward
from mha.core.transformer import (
    Block,
    after_attention,
    as_blocks,
    before_attention,
    in_dtype_of,
)

_PLAIN = Norm()
_RESIDUAL = "the gradients of the stream and of the layer's input"


@dataclass(frozen=True, eq=False)
class TransformerGradients:
    """Gradients of the loss with respect to the residual stream and to the arrays of all blocks.

    Parameters
    ----------
    streams : tuple of ndarray, shape (..., n, d_model)
        The gradients of each block's input, from the first block on, and of the last one's output.
    blocks : tuple of Block
        The gradients of each block's arrays, summed over the sequences of a batch.
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
    """Return the gradients of a stack of blocks, from the gradient of its output.

    Parameters
    ----------
    d_output : array_like, shape (..., n, d_model)
        Gradient of the loss with respect to the output of the last block.
    x : array_like, shape (..., n, d_model)
    blocks : iterable of Block
    mask, is_causal, angles
        As in `transformer`.

    Returns
    -------
    TransformerGradients
        The dtype follows the rule in `mha.core.checks`.

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
    for block, (steps, forward_pass) in zip(blocks[::-1], runs[::-1], strict=True):
        d_x, by_array = _backward(streams[-1], block, steps, forward_pass)
        streams.append(d_x)
        found.append(by_array)
    return TransformerGradients(tuple(streams[::-1]), tuple(found[::-1]))


def _forward(
    block: Block, x: Array, *, angles: Array | None, **masks: Unpack[MaskOptions]
) -> tuple[dict[str, Array], ForwardPass]:
    """Return the intermediates of a block, in order, and the forward pass of its attention."""
    steps = {"x": x} | before_attention(block, x)
    normed, *_ = as_layer_inputs(steps.get("start_normed", x), block.attention, mask=masks["mask"])
    forward_pass = forward(normed, normed, block.attention, angles=angles, **masks)
    return steps | after_attention(block, x, forward_pass.output), forward_pass


def _backward(
    d_output: Array, block: Block, steps: dict[str, Array], forward_pass: ForwardPass
) -> tuple[Array, Block]:
    """Return the gradient of a block's input, and those of its arrays."""
    found: dict[str, Any] = {
        "first": _zero_gradient(block.first),
        "second": _zero_gradient(block.second),
    }
    back = d_output
    if block.feed_forward is not None:
        if block.norm == "after":
            back, found["second"] = _norm_backward(back, "total", steps, block.second)
        d_read, found["feed_forward"] = _feed_forward_backward(back, block.feed_forward, steps)
        if block.norm == "before":
            d_read, found["second"] = _norm_backward(d_read, "stream", steps, block.second)
        back = finite_sum(_RESIDUAL, back, d_read)
    if block.norm == "after":
        back, found["first"] = _norm_backward(back, "stream", steps, block.first)
    layer = backward(back, forward_pass, block.attention, is_cross=False)
    d_read = layer.x
    if block.norm == "before":
        d_read, found["first"] = _norm_backward(d_read, "start", steps, block.first)
    back = finite_sum(_RESIDUAL, back, d_read)
    return back, replace(block, attention=layer.weights, **found)


def _norm_backward(
    gradient: Array, name: str, steps: dict[str, Array], norm: Norm
) -> tuple[Array, Norm]:
    """Return the gradient of a normalisation's input, and those of gain and bias."""
    spreads = steps[f"{name}_spreads"]
    read = steps["x" if name == "start" else name]
    plain = normalise(read, steps[f"{name}_means"], spreads, _PLAIN)
    gain, _ = norm.gain_and_bias(read.shape[-1], read.dtype)
    with np.errstate(over="ignore"):
        by_plain, by_gain = gradient * gain, gradient * plain
    refuse_overflow("the gradient and the gain", by_plain)
    refuse_overflow("the gradient and the normalised numbers", by_gain)
    d_gain = (
        None if norm.gain is None else sum_rows("the gradients by gain", flatten_sequences(by_gain))
    )
    d_bias = (
        None
        if norm.bias is None
        else sum_rows("the gradients by bias", flatten_sequences(gradient))
    )
    return normalise_backward(by_plain, plain, spreads), Norm(d_gain, d_bias, norm.eps)


def _feed_forward_backward(
    gradient: Array, layer: FeedForward, steps: dict[str, Array]
) -> tuple[Array, FeedForward]:
    """Return the gradient of a feed-forward layer's input, and those of its arrays."""
    read = steps.get("stream_normed", steps["stream"])
    w_in, w_out = (w.astype(read.dtype, copy=False) for w in (layer.w_in, layer.w_out))
    d_active = finite_product("d_fed and w_out", gradient, w_out.T)
    d_hidden = activate_backward(d_active, steps["hidden"], layer.activation)
    rows, d_rows = flatten_sequences(gradient), flatten_sequences(d_hidden)
    by_array = FeedForward(
        w_in=finite_product("the layer's input and d_hidden", flatten_sequences(read).T, d_rows),
        b_in=None if layer.b_in is None else sum_rows("the gradients by b_in", d_rows),
        w_out=finite_product("active and d_fed", flatten_sequences(steps["active"]).T, rows),
        b_out=None if layer.b_out is None else sum_rows("the gradients by b_out", rows),
        activation=layer.activation,
    )
    return finite_product("d_hidden and w_in", d_hidden, w_in.T), by_array


def _zero_gradient(norm: Norm) -> Norm:
    """Return zeros as the gradient of a normalisation that the block does not use."""
    gain, bias = (None if row is None else np.zeros_like(row) for row in (norm.gain, norm.bias))
    return Norm(gain, bias, norm.eps)
