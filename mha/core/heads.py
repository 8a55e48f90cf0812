"""Splitting of the last axis into heads, and the inverse."""

from __future__ import annotations

from numpy.typing import ArrayLike

from mha.core.checks import Array, as_array, as_count


def split_heads(x: ArrayLike, num_heads: int) -> Array:
    """Split the last axis into `num_heads` equal parts.

    Parameters
    ----------
    x : array_like, shape (..., n, num_heads * d)
    num_heads : int

    Returns
    -------
    ndarray, shape (..., num_heads, n, d)
        Head i holds columns i * d to (i + 1) * d - 1. NaN and infinities are kept.

    Raises
    ------
    TypeError, ValueError
        If `x` has fewer than two axes or an empty one, or `num_heads` does not divide its width.

    Examples
    --------
    >>> split_heads([[1.0, 2.0, 3.0, 4.0]], 2)
    array([[[1., 2.]],
    <BLANKLINE>
           [[3., 4.]]])
    """
    x = as_array("x", x, min_ndim=2)
    num_heads = as_count("num_heads", num_heads)
    *leading, n, width = x.shape
    if width % num_heads:
        raise ValueError(f"num_heads is {num_heads}; a divisor of x's width {width} is wanted")
    return x.reshape(*leading, n, num_heads, width // num_heads).swapaxes(-3, -2)


def merge_heads(x: ArrayLike) -> Array:
    """Concatenate the heads along the last axis: the inverse of `split_heads`.

    Parameters
    ----------
    x : array_like, shape (..., num_heads, n, d)

    Returns
    -------
    ndarray, shape (..., n, num_heads * d)
        NaN and infinities are kept.

    Raises
    ------
    TypeError, ValueError
        If `x` has fewer than three axes, or an empty one.

    Examples
    --------
    >>> merge_heads([[[1.0, 2.0]], [[3.0, 4.0]]])
    array([[1., 2., 3., 4.]])
    """
    x = as_array("x", x, min_ndim=3)
    *leading, num_heads, n, d = x.shape
    return x.swapaxes(-3, -2).reshape(*leading, n, num_heads * d)
