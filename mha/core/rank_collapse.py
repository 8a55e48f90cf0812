"""Rank collapse: how far rows are from being one row, and how fast attention alone gets there.

Attention averages. What comes out of it lies closer together than what went in, and the closer the
rows lie, the more alike are the averages.
"""

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_finite_array, as_number
from mha.core.multihead import MultiHeadWeights


def rows_apart(x: ArrayLike) -> float:
    """Return the distance of the two rows that lie farthest apart.

    Parameters
    ----------
    x : array_like, shape (n, d_model)

    Returns
    -------
    float
        0 where all rows are one.

    Raises
    ------
    TypeError, ValueError
        If `x` holds anything but finite numbers, or has no rows.

    Examples
    --------
    >>> rows_apart([[0, 0], [3, 4], [1, 1]])
    5.0
    """
    rows = as_finite_array("x", x, min_ndim=2)
    return float(np.linalg.norm(rows[:, None] - rows, axis=-1).max())


def composite_norm(x: ArrayLike) -> float:
    """Return the root of the largest column sum times the largest row sum, of absolute values.

    Parameters
    ----------
    x : array_like, shape (n, m)

    Returns
    -------
    float
        It measures size, but is no norm: that of a sum may exceed the sum of two.

    Raises
    ------
    TypeError, ValueError
        If `x` holds anything but finite numbers, or has no rows.

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
    """Return how far apart the rows are at most that a layer gives for rows so far apart.

    Parameters
    ----------
    apart : float
        What `rows_apart` gives for the rows that the layer reads.
    layer : MultiHeadWeights
        Nothing is added to what it finds, and no mask stands in it.

    Returns
    -------
    float
        The sum over the heads of ``size(w_v @ w_o) * tanh(size(w_q @ w_k.T) * apart**2 / 4 /
        sqrt(d_k)) * apart``; the size of a matrix is the most by which it lengthens a vector.

    Raises
    ------
    ValueError
        If `apart` is no finite number.

    Examples
    --------
    Two tokens of one number each reach it.

    >>> from mha import multi_head_attention
    >>> one = np.ones((1, 1, 1))
    >>> layer = MultiHeadWeights(one, one, one)
    >>> apart_at_most(1.0, layer)
    0.24491866240370913
    >>> rows_apart(multi_head_attention([[0.5], [-0.5]], layer))
    0.24491866240370913
    """
    apart = as_number("apart", apart)
    asks, hands_on = circuits(layer)
    moved = np.tanh(_sizes(asks) * apart**2 / 4 / np.sqrt(layer.d_k))
    return float((_sizes(hands_on) * moved).sum() * apart)


def circuits(layer: MultiHeadWeights) -> tuple[Array, Array]:
    """Return the two circuits of each head: which token is heard, and what is handed on.

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


def _sizes(matrices: Array) -> Array:
    """Return by how much each matrix lengthens a vector at most: its largest singular value."""
    return np.linalg.norm(matrices, 2, axis=(-2, -1))
