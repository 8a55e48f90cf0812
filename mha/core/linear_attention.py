"""Linear attention: without a softmax, one matrix summarises all earlier keys and values.

The causal output can be computed in two ways with the same result: from the products of all queries
and keys, or from a state of d_k times d_v numbers that each token updates.
"""

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import as_separate_inputs
from mha.core.checks import Array, as_finite_array, finite_product, refuse_where


def linear_attention(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, *, decay: ArrayLike | None = None
) -> Array:
    """Return causal linear attention, computed from the product of every query with every key.

    Parameters
    ----------
    query, key : array_like, shape (..., n, d_k)
    value : array_like, shape (..., n, d_v)
    decay : array_like, shape (..., n), optional
        The factor of the earlier terms at each token, above 0 and at most 1. Default: 1.

    Returns
    -------
    ndarray, shape (..., n, d_v)
        Row t is the sum over u ≤ t of (q_t · k_u) v_u, each term times the decays of tokens u + 1
        to t.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit, or a decay is not above 0 and at most 1.

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
    # Products of decays are differences of sums of logarithms: a quotient of products could
    # underflow to 0 / 0.
    logs = np.cumsum(np.log(_decays(decay, key)), axis=-1)
    log_products = np.where(np.tri(n, dtype=bool), logs[..., :, None] - logs[..., None, :], -np.inf)
    decayed = scores * np.exp(log_products).astype(scores.dtype)
    return finite_product("scores and value", decayed, value)


def linear_recurrence(
    query: ArrayLike, key: ArrayLike, value: ArrayLike, *, decay: ArrayLike | None = None
) -> tuple[Array, Array]:
    """Return the output of `linear_attention`, computed token by token, and the states.

    Each token multiplies the state by its decay and adds the outer product of its key and value;
    its output is the query times the state. This is one step of a state-space model, with the decay
    as A, the key as B and the query as C.

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
    """Return the decay of each token, in the dtype of the keys."""
    if decay is None:
        return np.ones(key.shape[:-1], key.dtype)
    found = as_finite_array("decay", decay)
    refuse_where("decay", found, (found <= 0) | (found > 1), "numbers above 0 up to 1 are wanted")
    if found.shape[-1] != key.shape[-2]:
        raise ValueError(
            f"decay has {found.shape[-1]} numbers; {key.shape[-2]} are wanted, one per token"
        )
    return np.broadcast_to(found, key.shape[:-1]).astype(key.dtype)
