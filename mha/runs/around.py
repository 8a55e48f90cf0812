"""What a block puts around its attention layer: its normalisations and its feed-forward layer."""

from typing import Any

from mha.core.checks import Array, finite_sum
from mha.core.norm import Norm, moments, normalised
from mha.core.transformer import Block, activated, in_dtype_of

BEHIND = (
    "stream", "stream_means", "stream_spreads", "stream_normed", "hidden", "active", "fed",
    "total", "total_means", "total_spreads", "total_normed",
)  # fmt: skip
"""The stages of a block that follow its attention, in order."""


def before(block: Block | None, x: Array | None) -> dict[str, Any]:
    """Return the stages between what goes into a block and what its attention reads.

    Parameters
    ----------
    block : Block, optional
    x : ndarray, shape (n, d_model), optional

    Returns
    -------
    dict
        By the names that a Trace has; None where the block does not normalise first.

    Examples
    --------
    >>> before(None, None)["start_normed"] is None
    True
    """
    if block is None or x is None or block.norm != "before":
        return dict.fromkeys(("start_means", "start_spreads", "start_normed"))
    return _norm("start", in_dtype_of(block, x), block.first)


def behind(block: Block | None, x: Array | None, found: Array) -> dict[str, Any]:
    """Return the stages that follow the attention of a block.

    Parameters
    ----------
    block : Block, optional
    x : ndarray, shape (n, d_model), optional
        What went into the block.
    found : ndarray, shape (n, d_model)
        What its attention gives.

    Returns
    -------
    dict
        By the names that a Trace has; None where the block has no such stage.

    Examples
    --------
    >>> import numpy as np
    >>> set(behind(None, None, np.eye(2)).values())
    {None}
    """
    stages: dict[str, Any] = dict.fromkeys(BEHIND)
    if block is None or x is None:
        return stages
    stream = finite_sum("the stream and what attention found", in_dtype_of(block, x), found)
    stages |= {"stream": stream}
    if block.norm == "after":
        stages |= _norm("stream", stream, block.first)
        stream = stages["stream_normed"]
    layer = block.feed_forward
    if layer is None:
        return stages
    if block.norm == "before":
        stages |= _norm("stream", stream, block.second)
    read = stream if block.norm == "nowhere" else stages["stream_normed"]
    hidden = layer.hidden(read)
    active = activated(hidden, layer.activation)
    fed = layer.output(active)
    total = finite_sum("the stream and what the feed-forward layer gave", stream, fed)
    stages |= {"hidden": hidden, "active": active, "fed": fed, "total": total}
    return stages | (_norm("total", total, block.second) if block.norm == "after" else {})


def _norm(start: str, x: Array, norm: Norm) -> dict[str, Array]:
    """Return the stages of one normalisation."""
    means, spreads = moments(x, norm.eps)
    return {
        f"{start}_means": means,
        f"{start}_spreads": spreads,
        f"{start}_normed": normalised(x, means, spreads, norm),
    }
