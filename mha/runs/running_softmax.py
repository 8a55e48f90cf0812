"""Stages of a running softmax, which reads the keys of a run in blocks."""

from __future__ import annotations

import numpy as np

from mha.core.checks import Array
from mha.core.online_softmax import RunningSoftmax, online_softmax, shifted_exponentials

RUNNING_STAGES = (
    "running_largest", "running_factors", "running_exponentials", "running_sums",
    "running_mixtures", "running_outputs",
)  # fmt: skip
"""The stages of a running softmax, in order."""


def running_softmax_stages(size: int | None, scaled: Array, value: Array) -> dict[str, Array]:
    """Return the state of a running softmax after each block of keys.

    Parameters
    ----------
    size : int, optional
        Number of keys in a block; the last block may have fewer. None for no running softmax.
    scaled : ndarray, shape (num_heads, n, n)
        Scaled scores, to which the mask is added.
    value : ndarray, shape (num_heads, n, d_v)

    Returns
    -------
    dict
        Arrays by their names in `Trace`; empty if `size` is None.

    Examples
    --------
    >>> scores, value = np.log([[[1.0, 2.0, 5.0]]]), np.array([[[4.0], [2.0], [8.0]]])
    >>> running_softmax_stages(2, scores, value)["running_sums"]
    array([[[1.5, 1.6]]])
    """
    if size is None:
        return {}
    states: list[RunningSoftmax] = []
    exponentials = []
    for start in range(0, scaled.shape[-1], size):
        keys = slice(start, start + size)
        before = states[-1] if states else None
        states.append(online_softmax(scaled[..., keys], value[..., keys, :], before))
        exponentials.append(shifted_exponentials(scaled[..., keys], states[-1].largest[..., None]))
    largest = np.stack([state.largest for state in states], axis=-1)
    # Before the first block no score was read: the largest of none is minus infinity.
    empty = np.full_like(largest[..., :1], -np.inf)
    previous_largest = np.concatenate([empty, largest[..., :-1]], axis=-1)
    return {
        "running_largest": largest,
        "running_factors": shifted_exponentials(previous_largest, largest),
        "running_exponentials": np.concatenate(exponentials, axis=-1),
        "running_sums": np.stack([state.total for state in states], axis=-1),
        "running_mixtures": np.concatenate([state.mixture for state in states], axis=-1),
        "running_outputs": np.concatenate([state.output for state in states], axis=-1),
    }
