"""What a running softmax keeps while it reads the keys of a run in blocks."""

import numpy as np

from mha.core.checks import Array
from mha.core.online_softmax import RunningSoftmax, online_softmax, shifted_exponentials

RUNNING = (
    "running_largest", "running_factors", "running_exponentials", "running_sums",
    "running_mixtures", "running_outputs",
)  # fmt: skip
"""The stages of a running softmax, in order."""


def running(size: int | None, scaled: Array, value: Array) -> dict[str, Array]:
    """Return what is kept after each block of keys.

    Parameters
    ----------
    size : int, optional
        How many keys a block has; the last one may have fewer.
    scaled : ndarray, shape (num_heads, n, n)
        Scores with the mask in them.
    value : ndarray, shape (num_heads, n, d_v)

    Returns
    -------
    dict
        By the names that a Trace has; empty where keys are not read in blocks.

    Examples
    --------
    >>> scores, value = np.log([[[1.0, 2.0, 5.0]]]), np.array([[[4.0], [2.0], [8.0]]])
    >>> running(2, scores, value)["running_sums"]
    array([[[1.5, 1.6]]])
    """
    if size is None:
        return {}
    kept: list[RunningSoftmax] = []
    powers = []
    for start in range(0, scaled.shape[-1], size):
        keys = slice(start, start + size)
        before = kept[-1] if kept else None
        kept.append(online_softmax(scaled[..., keys], value[..., keys, :], before))
        powers.append(shifted_exponentials(scaled[..., keys], kept[-1].largest[..., None]))
    largest = np.stack([block.largest for block in kept], axis=-1)
    before_all = np.full_like(largest[..., :1], -np.inf)
    until = np.concatenate([before_all, largest[..., :-1]], axis=-1)
    return {
        "running_largest": largest,
        "running_factors": shifted_exponentials(until, largest),
        "running_exponentials": np.concatenate(powers, axis=-1),
        "running_sums": np.stack([block.total for block in kept], axis=-1),
        "running_mixtures": np.concatenate([block.mixture for block in kept], axis=-1),
        "running_outputs": np.concatenate([block.output for block in kept], axis=-1),
    }
