"""Projections whose attention weights equal a given pattern, in closed form or fitted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mha.core.attention import attention_weights
from mha.core.checks import (
    Array,
    as_count,
    as_finite_array,
    as_number,
    finite_product,
    refuse_where,
)
from mha.core.distributions import row_sums
from mha.core.option_checks import check_type

Projections = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class PatternFit:
    """Embeddings and projections fitted to attention patterns.

    Parameters
    ----------
    embeddings : ndarray, shape (n, d_model)
    w_q, w_k : ndarray, shape (num_heads, d_model, d_k)
    weights : ndarray, shape (num_heads, n, n)
        The attention weights of these matrices.
    divergence : ndarray, shape (num_heads,)
        Mean over a head's rows of the Kullback-Leibler divergence of the weights from the
        pattern, in nats.
    """

    embeddings: Array
    w_q: Array
    w_k: Array
    weights: Array
    divergence: Array


def centred_log(pattern: ArrayLike) -> Array:
    """Return the scaled scores whose softmax is a pattern, each row shifted to mean 0.

    Weights determine their scores up to one constant per row; the mean of 0 fixes it. The rows are
    orthogonal to the vector of ones, so the rank is at most n - 1.

    Parameters
    ----------
    pattern : array_like, shape (..., n, n)
        Positive; each row sums to 1.

    Returns
    -------
    ndarray, shape (..., n, n)

    Raises
    ------
    ValueError
        If a row does not sum to 1, or an element is 0 or below.

    Examples
    --------
    >>> centred_log([[0.5, 0.5], [0.2, 0.8]]).round(4)
    array([[ 0.    ,  0.    ],
           [-0.6931,  0.6931]])
    """
    logs = np.log(_as_pattern("pattern", pattern))
    return logs - logs.mean(axis=-1, keepdims=True)


def pattern_projections(pattern: ArrayLike, embeddings: ArrayLike, d_k: int) -> Projections:
    """Return the query and key projection of a head with the attention weights `pattern`.

    In closed form, ``w_q @ w_k.T`` is sqrt(d_k) times the centred log-pattern, multiplied on both
    sides by the inverse of the embeddings. It is exact if `d_k` is at least n - 1; otherwise a
    singular value decomposition gives the best approximation of the scores of rank `d_k`.

    Parameters
    ----------
    pattern : array_like, shape (n, n)
        Positive; each row sums to 1.
    embeddings : array_like, shape (n, n)
        Invertible.
    d_k : int

    Returns
    -------
    w_q, w_k : ndarray, shape (n, d_k)

    Raises
    ------
    TypeError, ValueError
        If the pattern or `d_k` is not as above, or the embeddings have no inverse.

    Examples
    --------
    >>> w_q, w_k = pattern_projections([[0.5, 0.5], [0.2, 0.8]], np.eye(2), d_k=1)
    >>> attention_weights(w_q, w_k).round(4)
    array([[0.5, 0.5],
           [0.2, 0.8]])
    """
    scores, d_k = centred_log(pattern), as_count("d_k", d_k)
    x = as_finite_array("embeddings", embeddings, min_ndim=2)
    if scores.ndim != 2 or x.shape != scores.shape:
        raise ValueError(
            f"embeddings has shape {x.shape} but pattern has {np.shape(pattern)};"
            " two square matrices of one size are wanted"
        )
    if np.linalg.matrix_rank(x) < len(x):
        raise ValueError(f"embeddings has rank {np.linalg.matrix_rank(x)}; {len(x)} is wanted")
    left, sizes, right = np.linalg.svd(scores * np.sqrt(d_k))
    # The signs of a pair of singular vectors are arbitrary; make the first element positive, so
    # that the result does not depend on the LAPACK library.
    sign = np.where(left[0] < 0, -1, 1)
    left, right = left * sign, right * sign[:, None]
    half = np.sqrt(np.pad(sizes, (0, d_k))[:d_k])
    query, key = (np.pad(u, ((0, 0), (0, d_k)))[:, :d_k] * half for u in (left, right.T))
    return np.linalg.solve(x, query), np.linalg.solve(x, key)


def fit_patterns(
    patterns: ArrayLike,
    d_model: int,
    d_k: int,
    rng: np.random.Generator,
    *,
    embeddings: ArrayLike | None = None,
    decay: float = 0.0,
    steps: int = 1000,
    restarts: int = 8,
) -> PatternFit:
    """Fit embeddings and heads of any width to attention patterns by gradient descent (Adam).

    The loss is the sum of the rows' Kullback-Leibler divergences.

    Parameters
    ----------
    patterns : array_like, shape (num_heads, n, n)
        Positive; each row sums to 1. One pattern per head; all heads share the embeddings.
    d_model, d_k : int
    rng : numpy.random.Generator
        Draws the initial parameters.
    embeddings : array_like, shape (n, d_model), optional
        Fixed embeddings. Default: they are fitted too.
    decay : float, default 0
        Half of this times each squared scaled score is added to the loss, to keep scores small.
    steps, restarts : int

    Returns
    -------
    PatternFit
        The best of the restarts: per head if `embeddings` are given, else by the sum over heads.

    Raises
    ------
    TypeError, ValueError
        If an argument is invalid, or so large that a step overflows.

    References
    ----------
    Kingma and Ba (2015), algorithm 1.

    Examples
    --------
    >>> fit = fit_patterns([[[0.5, 0.5], [0.2, 0.8]]], 2, 1, np.random.default_rng(0))
    >>> fit.weights.round(3)
    array([[[0.5, 0.5],
            [0.2, 0.8]]])
    """
    check_type("rng", rng, np.random.Generator)
    target = _as_pattern("patterns", patterns)
    if target.ndim != 3:
        raise ValueError(f"patterns has shape {target.shape}; (num_heads, n, n) is wanted")
    restarts, steps = as_count("restarts", restarts), as_count("steps", steps)
    x, w_q, w_k = _initial_parameters(target, d_model, d_k, rng, restarts, embeddings)
    fixed, decay = embeddings is not None, as_number("decay", decay)
    with np.errstate(over="ignore", invalid="ignore"):  # finite_product raises on an overflow
        _descend(x, w_q, w_k, target, decay=decay, steps=steps, fixed=fixed)
    weights = attention_weights(*_queries_and_keys(x, w_q, w_k))
    # In a restart that diverged a weight may underflow to 0. Its divergence is then infinite, and
    # the restart is not chosen.
    with np.errstate(divide="ignore", over="ignore"):
        divergence = (target * np.log(target / weights)).sum(axis=-1).mean(axis=-1).clip(0)
    order = divergence if fixed else divergence.sum(axis=-1, keepdims=True)
    best = np.broadcast_to(order.argmin(axis=0), len(target)), np.arange(len(target))
    return PatternFit(x[best[0][0], 0], w_q[best], w_k[best], weights[best], divergence[best])


def _initial_parameters(
    target: Array,
    d_model: int,
    d_k: int,
    rng: np.random.Generator,
    restarts: int,
    embeddings: ArrayLike | None,
) -> tuple[Array, Array, Array]:
    """Return random embeddings, w_q and w_k for each restart."""
    d_model, d_k = as_count("d_model", d_model), as_count("d_k", d_k)
    num_heads, n = target.shape[:2]
    x = rng.normal(size=(restarts, 1, n, d_model))
    if embeddings is not None:
        given = as_finite_array("embeddings", embeddings, min_ndim=2)
        if given.shape != (n, d_model):
            raise ValueError(f"embeddings has shape {given.shape}; {(n, d_model)} is wanted")
        x[:] = given
    w_q, w_k = rng.normal(size=(2, restarts, num_heads, d_model, d_k)) / np.sqrt(d_model)
    return x, w_q, w_k


def _descend(
    x: Array, w_q: Array, w_k: Array, target: Array, *, decay: float, steps: int, fixed: bool
) -> None:
    """Update the projections in place by Adam, and the embeddings unless they are fixed."""
    moving = [w_q, w_k] if fixed else [w_q, w_k, x]
    moments = [(np.zeros_like(p), np.zeros_like(p)) for p in moving]
    for step in range(1, steps + 1):
        rate = 0.1 * (1 - (step - 1) / steps)
        gradients = _gradients(x, w_q, w_k, target, decay)
        # The last gradient, that of the embeddings, is not used if they are fixed.
        for p, gradient, (mean, square) in zip(moving, gradients, moments, strict=False):
            mean += 0.1 * (gradient - mean)
            square += 0.01 * (gradient**2 - square)
            p -= rate * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)


def _gradients(
    x: Array, w_q: Array, w_k: Array, target: Array, decay: float
) -> tuple[Array, Array, Array]:
    """Return the gradient of the loss with respect to `w_q`, `w_k` and `x`."""
    (query, key), scale = _queries_and_keys(x, w_q, w_k), 1 / np.sqrt(w_q.shape[-1])
    # The gradient of the divergence with respect to the scaled scores is weights - target.
    d_scores = attention_weights(query, key) - target
    if decay:
        d_scores = d_scores + decay * scale * (query @ key.swapaxes(-1, -2))
    d_query = scale * d_scores @ key
    d_key = scale * d_scores.swapaxes(-1, -2) @ query
    d_x = d_query @ w_q.swapaxes(-1, -2) + d_key @ w_k.swapaxes(-1, -2)
    x_t = x.swapaxes(-1, -2)
    return x_t @ d_query, x_t @ d_key, d_x.sum(axis=1, keepdims=True)


def _queries_and_keys(x: Array, w_q: Array, w_k: Array) -> Projections:
    """Return the queries and keys of the embeddings."""
    names = "embeddings and projections"
    return finite_product(names, x, w_q), finite_product(names, x, w_k)


def _as_pattern(name: str, pattern: ArrayLike) -> Array:
    pattern = as_finite_array(name, pattern, min_ndim=2).astype(float)
    if pattern.shape[-1] != pattern.shape[-2]:
        raise ValueError(f"{name} has shape {pattern.shape}; square matrices are wanted")
    refuse_where(name, pattern, pattern <= 0, "positive numbers are wanted")
    sums = row_sums(pattern)
    if (abs(sums - 1) > 1e-9).any():
        worst = sums.flat[abs(sums - 1).argmax()]
        raise ValueError(f"{name} has a row that sums to {worst:.6g}; 1 is wanted")
    return pattern
