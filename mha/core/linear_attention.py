"""Linear attention: without a softmax, one matrix summarises all earlier keys and values.

The causal output can be computed in two ways with the same result: from the products of all queries
and keys, or from a state of d_k times d_v numbers that each token updates.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import as_unbroadcast_inputs
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
    query, key, value = as_unbroadcast_inputs(query, key, value)
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
    query, key, value = as_unbroadcast_inputs(query, key, value)
    decays = _decays(decay, key)
    state = np.zeros((*key.shape[:-2], key.shape[-1], value.shape[-1]), key.dtype)
    states, outputs = [], []
    for token in range(key.shape[-2]):
        added = key[..., token, :, None] * value[..., token, None, :]
        state = decays[..., token, None, None] * state + added
        states.append(state)
        outputs.append(finite_product("query and state", query[..., token, None, :], state))
    return np.concatenate(outputs, axis=-2), np.stack(states, axis=-3)


def gated_delta_rule(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    *,
    beta: ArrayLike,
    decay: ArrayLike | None = None,
) -> tuple[Array, Array]:
    """Return the output of a recurrence whose state replaces values, and the states.

    Each token multiplies the state by its decay, reads the value that is stored under its key, and
    adds the outer product of its key and a share of the difference from its own value. With a decay
    per row this is Kimi Delta Attention, with one per token Gated DeltaNet.

    Parameters
    ----------
    query, key : array_like, shape (..., n, d_k)
        Keys of length 1, if a share of 1 is to replace a value.
    value : array_like, shape (..., n, d_v)
    beta : array_like, shape (..., n)
        The share of each token, from 0 to 1.
    decay : array_like, shape (..., n) or (..., n, d_k), optional
        The factor of the state at each token, or of each row of the state: above 0 and at most 1.
        Default: 1.

    Returns
    -------
    outputs : ndarray, shape (..., n, d_v)
        Each query times the state after its token.
    states : ndarray, shape (..., n, d_k, d_v)
        After each token.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit, a share is not from 0 to 1, or a decay not above 0 and at most
        1.

    References
    ----------
    Yang et al. (2024), equation 10; Kimi Team (2025b), equation 1, for a decay per row.

    Examples
    --------
    >>> outputs, states = gated_delta_rule(
    ...     [[1.0], [1.0]], [[1.0], [1.0]], [[2.0], [5.0]], beta=[1.0, 0.5]
    ... )
    >>> outputs[:, 0]
    array([2. , 3.5])
    """
    query, key, value = as_unbroadcast_inputs(query, key, value)
    shares = as_finite_array("beta", beta)
    refuse_where("beta", shares, (shares < 0) | (shares > 1), "numbers from 0 to 1 are wanted")
    shares = _per_token("beta", shares, key)
    if decay is not None and np.ndim(decay) == key.ndim:
        decays = _row_decays(decay, key)
    else:
        decays = _decays(decay, key)[..., None]
    state = np.zeros((*key.shape[:-2], key.shape[-1], value.shape[-1]), key.dtype)
    states, outputs = [], []
    for token in range(key.shape[-2]):
        state = decays[..., token, :, None] * state
        stored = finite_product("key and state", key[..., token, None, :], state)
        missing = shares[..., token, None, None] * (value[..., token, None, :] - stored)
        state = state + key[..., token, :, None] * missing
        states.append(state)
        outputs.append(finite_product("query and state", query[..., token, None, :], state))
    return np.concatenate(outputs, axis=-2), np.stack(states, axis=-3)


def _row_decays(decay: ArrayLike, key: Array) -> Array:
    """Return the decay of each row of the state at each token, in the dtype of the keys."""
    found = as_finite_array("decay", decay)
    refuse_where("decay", found, (found <= 0) | (found > 1), "numbers above 0 up to 1 are wanted")
    if found.shape[-2:] != key.shape[-2:]:
        raise ValueError(
            f"decay has shape {found.shape}; one number per number of the keys is wanted, as in"
            f" {key.shape}"
        )
    return np.broadcast_to(found, key.shape).astype(key.dtype)


def _per_token(name: str, found: Array, key: Array) -> Array:
    """Return one number per token, in the dtype of the keys."""
    if found.shape[-1:] != key.shape[-2:-1]:
        raise ValueError(
            f"{name} has {found.shape[-1]} numbers; {key.shape[-2]} are wanted, one per token"
        )
    return np.broadcast_to(found, key.shape[:-1]).astype(key.dtype)


def _decays(decay: ArrayLike | None, key: Array) -> Array:
    """Return the decay of each token, in the dtype of the keys."""
    if decay is None:
        return np.ones(key.shape[:-1], key.dtype)
    found = as_finite_array("decay", decay)
    refuse_where("decay", found, (found <= 0) | (found > 1), "numbers above 0 up to 1 are wanted")
    return _per_token("decay", found, key)
