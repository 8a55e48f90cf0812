"""Rank collapse: the distance of a layer's output rows, and a bound of this distance.

Each output of attention is an average of the same values, so the outputs are closer together than
the values. The closer the input rows are, the more similar are the weights, and the closer are the
outputs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_finite_array, as_number
from mha.core.multihead import MultiHeadWeights


def rows_apart(x: ArrayLike) -> float:
    """Return the largest Euclidean distance of two rows.

    Parameters
    ----------
    x : array_like, shape (n, d_model)

    Returns
    -------
    float
        0 if all rows are equal.

    Raises
    ------
    TypeError, ValueError
        If `x` does not hold finite numbers, or has no rows.

    Examples
    --------
    >>> rows_apart([[0, 0], [3, 4], [1, 1]])
    5.0
    """
    rows = as_finite_array("x", x, min_ndim=2)
    return float(np.linalg.norm(rows[:, None] - rows, axis=-1).max())


def composite_norm(x: ArrayLike) -> float:
    """Return the geometric mean of the largest column sum and row sum of absolute values.

    Parameters
    ----------
    x : array_like, shape (n, m)

    Returns
    -------
    float
        It is not a norm, since it does not satisfy the triangle inequality.

    Raises
    ------
    TypeError, ValueError
        If `x` does not hold finite numbers, or has no rows.

    References
    ----------
    Dong, Cordonnier and Loukas (2021), section 2.

    Examples
    --------
    >>> composite_norm([[1, -1]] * 8)
    4.0
    """
    sizes = np.abs(as_finite_array("x", x, min_ndim=2))
    return float(np.sqrt(sizes.sum(axis=-2).max() * sizes.sum(axis=-1).max()))


def apart_at_most(apart: float, layer: MultiHeadWeights) -> float:
    """Return an upper bound of the distance of a layer's output rows, from that of its input rows.

    Parameters
    ----------
    apart : float
        The distance of the input rows, as `rows_apart` returns it.
    layer : MultiHeadWeights
        Without a residual connection and without a mask.

    Returns
    -------
    float
        The sum over the heads of ``norm(w_v @ w_o) * tanh(norm(w_q @ w_k.T) * apart**2 / 4 /
        sqrt(d_k)) * apart``, with the spectral norm.

    Raises
    ------
    ValueError
        If `apart` is not a finite number.

    Examples
    --------
    Two tokens with one number each reach the bound.

    >>> from mha import multi_head_attention
    >>> one = np.ones((1, 1, 1))
    >>> layer = MultiHeadWeights(one, one, one)
    >>> apart_at_most(1.0, layer)
    0.24491866240370913
    >>> rows_apart(multi_head_attention([[0.5], [-0.5]], layer))
    0.24491866240370913
    """
    apart = as_number("apart", apart)
    query_key, output_value = circuits(layer)
    # tanh bounds the total variation distance of the weights of two queries.
    moved = np.tanh(_spectral_norms(query_key) * apart**2 / 4 / np.sqrt(layer.d_k))
    return float((_spectral_norms(output_value) * moved).sum() * apart)


def circuits(layer: MultiHeadWeights) -> tuple[Array, Array]:
    """Return each head's query-key circuit w_q w_k.T and output-value circuit w_v w_o.

    Parameters
    ----------
    layer : MultiHeadWeights

    Returns
    -------
    query_key : ndarray, shape (num_heads, d_model, d_model)
    output_value : ndarray, shape (num_heads, d_model, d_out)

    References
    ----------
    Elhage et al. (2021).

    Examples
    --------
    >>> one = np.eye(2)[None]
    >>> circuits(MultiHeadWeights(one, 3 * one, 5 * one))[0]
    array([[[3., 0.],
            [0., 3.]]])
    """
    heads, d_v = layer.num_heads, layer.d_v
    w_o = np.eye(heads * d_v) if layer.w_o is None else layer.w_o
    shared = heads // layer.num_groups
    w_k, w_v = (np.repeat(w, shared, axis=0) for w in (layer.w_k, layer.w_v))
    return layer.w_q @ w_k.mT, w_v @ w_o.reshape(heads, d_v, -1)


def _spectral_norms(matrices: Array) -> Array:
    """Return the spectral norm of each matrix: its largest singular value."""
    return np.linalg.norm(matrices, 2, axis=(-2, -1))
