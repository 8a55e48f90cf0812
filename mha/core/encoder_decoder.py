"""An encoder that reads, and a decoder that writes: two stacks of blocks, and what joins them."""

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
    """Return what a decoder makes of the tokens written so far, with an encoder's reading.

    Parameters
    ----------
    source : array_like, shape (..., m, d_model)
        The tokens that are read: each attends to all of them.
    target : array_like, shape (..., n, d_model)
        The tokens that are written: each attends to itself and those before it, then to the source.
    encoder : iterable of Block
    decoder : iterable of (Block, Block)
        Of each layer the block of the causal self-attention, and that of the cross-attention,
        which asks what the encoder gives; the feed-forward layer belongs to the second.
    mask : array_like of bool or float, broadcastable to (..., num_heads, 1, m), optional
        Which tokens of the source may be attended to, where it is padded.

    Returns
    -------
    ndarray, shape (..., n, d_model)

    Raises
    ------
    TypeError, ValueError
        If arguments do not fit, naming the argument, what is wanted and what came.

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
    read = transformer(source, as_blocks(encoder, "encoder"), mask=mask)
    for own, asking in _as_pairs(decoder):
        target = transformer(target, [own], is_causal=True)
        target = transformer(target, [asking], context=read, mask=mask)
    return target


def _as_pairs(decoder: Iterable[tuple[Block, Block]]) -> list[tuple[Block, ...]]:
    """Return the layers of a decoder, each a pair of blocks, or raise."""
    layers = decoder if isinstance(decoder, Iterable) else (decoder,)
    pairs = [as_blocks(layer, "decoder") for layer in layers]
    for pair in pairs:
        if len(pair) != 2:
            raise ValueError(f"decoder has a layer of {len(pair)} blocks; two are wanted in each")
    if not pairs:
        raise ValueError("decoder is empty; at least one pair of blocks is wanted")
    return pairs
