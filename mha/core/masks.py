"""Masks: which key each query may attend to. True means that it may."""

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from mha.core.checks import Array, as_count, as_ndarray, refuse_where


def causal_mask(num_queries: int, num_keys: int) -> Array:
    """Let query i attend to keys 0 to i: itself and what came before.

    Parameters
    ----------
    num_queries, num_keys : int
        When they differ, the mask is aligned at the top left, as in PyTorch.

    Returns
    -------
    ndarray of bool, shape (num_queries, num_keys)

    Raises
    ------
    TypeError, ValueError
        If a length is not a whole number of at least 1.

    References
    ----------
    Vaswani et al. (2017), section 3.2.3.

    Examples
    --------
    >>> causal_mask(2, 3)
    array([[ True, False, False],
           [ True,  True, False]])
    """
    shape = as_count("num_queries", num_queries), as_count("num_keys", num_keys)
    return np.tril(np.ones(shape, dtype=bool))


def padding_mask(lengths: ArrayLike, num_keys: int) -> Array:
    """Let every query attend to the first `lengths` keys of its sequence alone.

    Parameters
    ----------
    lengths : array_like of int, shape (...)
        How many real tokens each sequence has, from 0 to `num_keys`.
    num_keys : int
        The padded length.

    Returns
    -------
    ndarray of bool, shape (..., 1, num_keys)
        Broadcasts over queries. For several heads, give `lengths` an axis for them:
        ``padding_mask(lengths[:, None], num_keys)``.

    Raises
    ------
    TypeError
        If `lengths` does not hold integers, or `num_keys` is not one.
    ValueError
        If a length is below 0 or above `num_keys`, or `num_keys` is below 1.

    Examples
    --------
    >>> padding_mask([1, 3], 3)
    array([[[ True, False, False]],
    <BLANKLINE>
           [[ True,  True,  True]]])
    """
    num_keys = as_count("num_keys", num_keys)
    lengths = as_ndarray("lengths", lengths)
    if not np.issubdtype(lengths.dtype, np.integer):
        raise TypeError(f"lengths has dtype {lengths.dtype}; integers are wanted")
    bad = (lengths < 0) | (lengths > num_keys)
    refuse_where("lengths", lengths, bad, f"numbers from 0 to num_keys={num_keys} are wanted")
    return np.arange(num_keys) < lengths[..., None, None]


def sliding_window_mask(num_queries: int, num_keys: int, window: int) -> Array:
    """Let query i attend to the keys at most `window` places away from it.

    Parameters
    ----------
    num_queries, num_keys : int
    window : int
        At least 1: each query then sees itself and `window` neighbours on each side.

    Returns
    -------
    ndarray of bool, shape (num_queries, num_keys)

    Raises
    ------
    TypeError, ValueError
        If an argument is not a whole number of at least 1.

    References
    ----------
    Beltagy, Peters and Cohan (2020), section 3.1.

    Examples
    --------
    >>> sliding_window_mask(3, 3, window=1)
    array([[ True,  True, False],
           [ True,  True,  True],
           [False,  True,  True]])
    """
    queries = np.arange(as_count("num_queries", num_queries))[:, None]
    keys = np.arange(as_count("num_keys", num_keys))
    return np.abs(queries - keys) <= as_count("window", window)


def as_additive_mask(
    mask: ArrayLike | None,
    is_causal: bool,
    shape: tuple[int, ...],
    dtype: DTypeLike = np.float64,
) -> Array | None:
    """Return what is added to scores of `shape`: 0 where a query may attend, else minus infinity.

    Parameters
    ----------
    mask : array_like of bool or float, broadcastable to `shape`, optional
        A boolean mask is True where a query may attend; a float mask is added as it is.
    is_causal : bool
        Also forbid later keys. Both given means that both must allow.
    shape : tuple of int
        (..., num_queries, num_keys)
    dtype : dtype, default float64
        The scores' dtype.

    Returns
    -------
    ndarray of `dtype`, broadcastable to `shape`, or None if nothing is masked

    Raises
    ------
    TypeError
        If `mask` holds neither booleans nor floats.
    ValueError
        If it does not broadcast to `shape`, holds NaN or plus infinity, or holds a number
        that `dtype` cannot.

    Examples
    --------
    >>> as_additive_mask([[True, False]], False, (1, 2))
    array([[  0., -inf]])
    """
    causal = causal_mask(*shape[-2:]) if is_causal else None
    if mask is None:
        return None if causal is None else _additive(causal, dtype)
    mask = as_mask(mask, shape, dtype)
    additive = _additive(mask, dtype) if mask.dtype == np.bool_ else mask
    return additive if causal is None else additive + _additive(causal, dtype)


def _additive(allowed: Array, dtype: DTypeLike) -> Array:
    return np.where(allowed, 0, -np.inf).astype(dtype)


def as_mask(mask: ArrayLike, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> Array:
    """Return a mask for scores of `shape`: booleans as they are, floats as `dtype`.

    Parameters
    ----------
    mask, shape, dtype
        As in `as_additive_mask`.

    Returns
    -------
    ndarray of bool or `dtype`, broadcastable to `shape`

    Raises
    ------
    TypeError, ValueError
        As `as_additive_mask`.

    Examples
    --------
    >>> as_mask([[True, False]], (1, 2))
    array([[ True, False]])
    """
    mask = as_ndarray("mask", mask)
    try:
        fits = np.broadcast_shapes(mask.shape, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(
            f"mask has shape {mask.shape}; one that broadcasts to the scores' {shape} is wanted"
        )
    if mask.dtype == np.bool_:
        return mask
    if not np.issubdtype(mask.dtype, np.floating):
        raise TypeError(
            f"mask has dtype {mask.dtype}; booleans (True = may attend) or floats are wanted"
        )
    wanted = "finite numbers or minus infinity are wanted"
    refuse_where("mask", mask, np.isnan(mask) | np.isposinf(mask), wanted)
    with np.errstate(over="ignore"):
        cast = mask.astype(dtype, copy=False)
    refuse_where(
        "mask", mask, np.isinf(cast) & np.isfinite(mask), f"{np.dtype(dtype)} cannot hold it"
    )
    return cast
