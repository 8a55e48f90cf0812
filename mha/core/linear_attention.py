"""Linear attention: without a softmax, all that was read fits into one matrix.

What a causal text gives is the same whether every query meets every key, or a state of d_k times
d_v numbers is carried along and updated token by token.
"""

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import as_separate_inputs
from mha.core.checks import Array, as_finite_array, finite_product, refuse_where


def linear_attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, *, decay: ArrayLike | None = None
) -> Array:
    """Return causal attention without a softmax, every query with every key.

    Parameters
    ----------
    query, key : array_like, shape (..., n, d_k)
    value : array_like, shape (..., n, d_v)
    decay : array_like, shape (..., n), optional
        Between 0 and 1: how much of what was kept is left when a token comes. By default 1.

    Returns
    -------
    ndarray, shape (..., n, d_v)
        Row t is the sum over u ≤ t of (q_t · k_u) v_u, each term times the decays after u up to t.

    Raises
    ------
    TypeError, ValueError
        If arguments do not fit, or a decay is not above 0 and at most 1.

    References
    ----------
    Katharopoulos et al. (2020), section 3.3; Dao and Gu (2024), section 4, for decays.

    Examples
    --------
    >>> linear_attention(np.ones((3, 1)), np.ones((3, 1)), np.ones((3, 1)), decay=[0.5, 0.5, 0.5])
    array([[1.  ],
           [1.5 ],
           [1.75]])
    """
    query, key, value = as_separate_inputs(query, key, value)
    scores = finite_product("query and key", query, key.swapaxes(-1, -2))
    n = key.shape[-2]
    logs = np.cumsum(np.log(_decays(decay, key)), axis=-1)
    left = np.where(np.tri(n, dtype=bool), logs[..., :, None] - logs[..., None, :], -np.inf)
    return finite_product("scores and value", scores * np.exp(left).astype(scores.dtype), value)


def linear_recurrence(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, *, decay: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Return the outputs of `linear_attention` token by token, and the states between.

    Each token first makes the state smaller by its decay, then adds the product of its key and its
    value; its query reads the state. That is a state-space step with the key as B, the query as C
    and the decay as A.

    Parameters
    ----------
    query, key, value, decay
        As in `linear_attention`.

    Returns
    -------
    outputs : ndarray, shape (..., n, d_v)
    states : ndarray, shape (..., n, d_k, d_v)
        After each token.

    Raises
    ------
    TypeError, ValueError
        As `linear_attention`.

    References
    ----------
    Katharopoulos et al. (2020), equations 16 to 20; Dao and Gu (2024), equation 2.

    Examples
    --------
    >>> outputs, states = linear_recurrence([[1.0], [1.0]], [[2.0], [3.0]], [[5.0], [7.0]])
    >>> states[:, 0, 0], outputs[:, 0]
    (array([10., 31.]), array([10., 31.]))
    """
    query, key, value = as_separate_inputs(query, key, value)
    decays = _decays(decay, key)
    state = np.zeros((*key.shape[:-2], key.shape[-1], value.shape[-1]), key.dtype)
    states, outputs = [], []
    for token in range(key.shape[-2]):
        added = key[..., token, :, None] * value[..., token, None, :]
        state = decays[..., token, None, None] * state + added
        states.append(state)
        outputs.append(finite_product("query and state", query[..., token, None, :], state))
    return np.concatenate(outputs, axis=-2), np.stack(states, axis=-3)


def _decays(decay: ArrayLike | None, key: Array) -> Array:
    """Return a decay for each token, in the dtype of the keys."""
    if decay is None:
        return np.ones(key.shape[:-1], key.dtype)
    found = as_finite_array("decay", decay)
    refuse_where("decay", found, (found <= 0) | (found > 1), "numbers above 0 up to 1 are wanted")
    if found.shape[-1] != key.shape[-2]:
        raise ValueError(
            f"decay has {found.shape[-1]} numbers; {key.shape[-2]} are wanted, one a token"
        )
    return np.broadcast_to(found, key.shape[:-1]).astype(key.dtype)
