"""The encoder-decoder Transformer: two stacks of blocks, joined by cross-attention."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from mha.core.checks import Array, as_finite_array
from mha.core.transformer import Block, as_blocks, transformer


def encoder_decoder(
    source: ArrayLike,
    target: ArrayLike,
    encoder: Iterable[Block],
    decoder: Iterable[tuple[Block, Block]],
    *,
    mask: ArrayLike | None = None,
) -> Array:
    """Return the decoder's output for the target, with cross-attention to the encoder's output.

    Parameters
    ----------
    source : array_like, shape (..., m, d_model)
        The encoder's input; each token attends to all of them.
    target : array_like, shape (..., n, d_model)
        The decoder's input; each token attends to itself and earlier ones, then to the source.
    encoder : iterable of Block
    decoder : iterable of (Block, Block)
        For each layer, a block with causal self-attention and one with cross-attention to the
        encoder's output; the second block has the layer's feed-forward layer.
    mask : array_like of bool or float, broadcastable to (..., num_heads, 1, m), optional
        The tokens of a padded source that may be attended to.

    Returns
    -------
    ndarray, shape (..., n, d_model)

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit; the message names the argument and its fault.

    References
    ----------
    Vaswani et al. (2017), sections 3.1 and 3.2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from mha.core.multihead import MultiHeadWeights
    >>> one = np.eye(2)[None]
    >>> block = Block(MultiHeadWeights(one, one, one), norm="nowhere")
    >>> encoder_decoder(np.eye(2), [[1.0, 0.0]], [block], [(block, block)]).round(4)
    array([[3.4946, 0.5054]])
    """
    source = as_finite_array("source", source, min_ndim=2)
    target = as_finite_array("target", target, min_ndim=2)
    encoded = transformer(source, as_blocks(encoder, "encoder"), mask=mask)
    for self_attention, cross_attention in _as_pairs(decoder):
        target = transformer(target, [self_attention], is_causal=True)
        target = transformer(target, [cross_attention], context=encoded, mask=mask)
    return target


def _as_pairs(decoder: Iterable[tuple[Block, Block]]) -> list[tuple[Block, ...]]:
    """Return the layers of a decoder as pairs of blocks."""
    layers = decoder if isinstance(decoder, Iterable) else (decoder,)
    pairs = [as_blocks(layer, "decoder") for layer in layers]
    for pair in pairs:
        if len(pair) != 2:
            raise ValueError(f"decoder has a layer of {len(pair)} blocks; two are wanted in each")
    if not pairs:
        raise ValueError("decoder is empty; at least one pair of blocks is wanted")
    return pairs
