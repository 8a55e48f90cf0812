"""Attention masks: True where a query may attend to a key."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from mha.core.checks import Array, as_count, as_ndarray, float_dtype, refuse_where
from mha.core.option_checks import as_bool

Align: TypeAlias = Literal["top-left", "bottom-right"]
"""The corner that the diagonal of a causal mask touches, if the mask is not square."""

Side: TypeAlias = Literal["right", "left"]
"""The side of a sequence with the padding."""


def causal_mask(num_queries: int, num_keys: int, *, align: Align = "top-left") -> Array:
    """Return a mask in which each query may attend to the keys at its own position and before.

    Parameters
    ----------
    num_queries, num_keys : int
    align : {"top-left", "bottom-right"}, default "top-left"
        "top-left": query i has the position of key i, as in PyTorch's `is_causal`. "bottom-right":
        the last query has the position of the last key, so query i may attend to the keys up to
        i + num_keys - num_queries. This is for decoding, where the queries are the newest tokens
        and the keys of earlier tokens are cached. With more queries than keys, the first queries
        are fully masked.

    Returns
    -------
    ndarray of bool, shape (num_queries, num_keys)

    Raises
    ------
    TypeError, ValueError
        If a length is not a whole number of at least 1, or `align` is unknown.

    References
    ----------
    Vaswani et al. (2017), section 3.2.3.

    Examples
    --------
    >>> causal_mask(2, 3)
    array([[ True, False, False],
           [ True,  True, False]])
    >>> causal_mask(2, 3, align="bottom-right")
    array([[ True,  True, False],
           [ True,  True,  True]])
    """
    shape = as_count("num_queries", num_queries), as_count("num_keys", num_keys)
    return np.tril(np.ones(shape, dtype=bool), first_query_position(*shape, align))


def first_query_position(num_queries: int, num_keys: int, align: Align) -> int:
    """Return the index of the key at the first query's position; it may be negative.

    Raises
    ------
    TypeError, ValueError
        If `align` is neither "top-left" nor "bottom-right".

    Examples
    --------
    >>> first_query_position(2, 5, "bottom-right")
    3
    """
    wanted = f'align is {align!r}; "top-left" or "bottom-right" is wanted'
    if not isinstance(align, str):
        raise TypeError(wanted)
    if align not in ("top-left", "bottom-right"):
        raise ValueError(wanted)
    return num_keys - num_queries if align == "bottom-right" else 0


def padding_mask(lengths: ArrayLike, num_keys: int, *, side: Side = "right") -> Array:
    """Return a mask in which queries may attend to the real tokens of their sequence.

    Parameters
    ----------
    lengths : array_like of int, shape (...)
        The number of real tokens of each sequence, from 0 to `num_keys`.
    num_keys : int
        The padded length.
    side : {"right", "left"}, default "right"
        The side of the padding: the first `lengths` keys are real, or the last.

    Returns
    -------
    ndarray of bool, shape (..., 1, num_keys)
        It broadcasts over queries, and has no axis of heads. For scores of shape (batch, num_heads,
        num_queries, num_keys) add one: ``padding_mask(lengths, num_keys)[:, None]``. Otherwise the
        batch would be read as heads, and `multi_head_attention` raises an error.

    Raises
    ------
    TypeError
        If `lengths` does not hold integers, or `num_keys` is not one.
    ValueError
        If a length is below 0 or above `num_keys`, `num_keys` is below 1, or `side` is unknown.

    Examples
    --------
    >>> padding_mask([1, 3], 3)
    array([[[ True, False, False]],
    <BLANKLINE>
           [[ True,  True,  True]]])
    >>> padding_mask(1, 3, side="left")
    array([[False, False,  True]])
    """
    return padded_places(lengths, num_keys, side=side)[..., None, :] >= 0


def padded_places(lengths: ArrayLike, num_keys: int, *, side: Side = "right") -> Array:
    """Return each token's position in its own sequence, and -1 for padding.

    With padding on the left, the first real token has position 0 too. Position embeddings are
    indexed with these numbers.

    Parameters
    ----------
    lengths, num_keys, side
        As in `padding_mask`.

    Returns
    -------
    ndarray of int, shape (..., num_keys)

    Raises
    ------
    TypeError, ValueError
        As `padding_mask`.

    Examples
    --------
    >>> padded_places([2, 4], 4, side="left")
    array([[-1, -1,  0,  1],
           [ 0,  1,  2,  3]])
    """
    num_keys = as_count("num_keys", num_keys)
    lengths = as_ndarray("lengths", lengths)
    if not np.issubdtype(lengths.dtype, np.integer):
        raise TypeError(f"lengths has dtype {lengths.dtype}; integers are wanted")
    bad = (lengths < 0) | (lengths > num_keys)
    refuse_where("lengths", lengths, bad, f"numbers from 0 to num_keys={num_keys} are wanted")
    wanted = f'side is {side!r}; "right" or "left" is wanted'
    if not isinstance(side, str):
        raise TypeError(wanted)
    if side not in ("right", "left"):
        raise ValueError(wanted)
    lengths = lengths.astype(np.int64)[..., None]
    positions = np.arange(num_keys) - (num_keys - lengths if side == "left" else 0)
    return np.where((positions >= 0) & (positions < lengths), positions, -1)


def sliding_window_mask(num_queries: int, num_keys: int, window: int) -> Array:
    """Return a mask in which query i may attend to the keys at most `window` positions away.

    Parameters
    ----------
    num_queries, num_keys : int
    window : int
        At least 1: each query may attend to itself and to `window` neighbours on each side.

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
    # There is no `align`: the window is for self-attention, where query i and key i are one token.
    queries = np.arange(as_count("num_queries", num_queries))[:, None]
    keys = np.arange(as_count("num_keys", num_keys))
    return np.abs(queries - keys) <= as_count("window", window)


def as_additive_mask(
    mask: ArrayLike | None,
    is_causal: bool,
    shape: tuple[int, ...],
    dtype: DTypeLike = np.float64,
    align: Align = "top-left",
) -> Array | None:
    """Return the numbers to add to the scores: those of a float mask, 0 or minus infinity.

    Parameters
    ----------
    mask : array_like of bool or float, broadcastable to `shape`, optional
        A boolean mask is True where a query may attend: 0 is added there, and minus infinity
        elsewhere. A float mask is added as it is.
    is_causal, align
        Also mask the keys that `causal_mask` masks. Both masks must allow a key.
    shape : tuple of int, (..., num_queries, num_keys)
        The shape of the scores.
    dtype : dtype, default float64
        The dtype of the scores.

    Returns
    -------
    ndarray of `dtype`, broadcastable to `shape`, or None without a mask and `is_causal`
        A mask that is True everywhere gives zeros.

    Raises
    ------
    TypeError, ValueError
        As `as_mask` and `causal_mask`.

    Examples
    --------
    >>> as_additive_mask([[True, False]], False, (1, 2))
    array([[  0., -inf]])
    """
    num_queries, num_keys = shape[-2:]
    # An invalid alignment raises even if is_causal is False.
    first_query_position(num_queries, num_keys, align)
    is_causal = as_bool("is_causal", is_causal)
    causal = causal_mask(num_queries, num_keys, align=align) if is_causal else None
    if mask is None:
        return None if causal is None else _as_additive(causal, dtype)
    mask = as_mask(mask, shape, dtype)
    additive = _as_additive(mask, dtype) if mask.dtype == np.bool_ else mask
    return additive if causal is None else additive + _as_additive(causal, dtype)


def _as_additive(allowed: Array, dtype: DTypeLike) -> Array:
    return np.where(allowed, 0, -np.inf).astype(dtype)


def as_mask(mask: ArrayLike, shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> Array:
    """Return a mask for scores of `shape`: booleans unchanged, floats as `dtype`.

    Parameters
    ----------
    mask, shape, dtype
        As in `as_additive_mask`.

    Returns
    -------
    ndarray of bool or `dtype`, broadcastable to `shape`

    Raises
    ------
    TypeError
        If `mask` holds neither booleans nor floats of up to 64 bits.
    ValueError
        If it does not broadcast to `shape`, holds NaN or plus infinity, or holds a number too large
        for `dtype`.

    Examples
    --------
    >>> as_mask([[True, False]], (1, 2))
    array([[ True, False]])
    """
    mask = as_ndarray("mask", mask)
    if not _broadcasts_to(mask.shape, shape):
        raise ValueError(
            f"mask has shape {mask.shape}; one that broadcasts to the scores' {shape} is wanted"
        )
    return mask if mask.dtype == np.bool_ else _as_float_mask(mask, np.dtype(dtype))


def _as_float_mask(mask: Array, dtype: np.dtype[Any]) -> Array:
    """Return an additive mask in the dtype of the scores."""
    if not np.issubdtype(mask.dtype, np.floating):
        raise TypeError(
            f"mask has dtype {mask.dtype}; booleans (True = may attend) or floats are wanted"
        )
    float_dtype("mask", mask.dtype)
    wanted = "finite numbers or minus infinity are wanted"
    refuse_where("mask", mask, np.isnan(mask) | np.isposinf(mask), wanted)
    with np.errstate(over="ignore"):
        cast = mask.astype(dtype, copy=False)
    refuse_where("mask", mask, np.isinf(cast) & np.isfinite(mask), f"{dtype} cannot hold it")
    return cast


def check_mask_axes(mask: ArrayLike, shape: tuple[int, ...]) -> None:
    """Raise a ValueError if the first axes of a mask may be either sequences or heads.

    Broadcasting aligns axes from the right, so a mask of shape (batch, num_queries, num_keys) would
    be applied per head wherever batch equals num_heads. If the scores have leading axes, a mask
    with more than two axes must therefore have all axes of the scores. Axes of length 1 may be
    omitted, since both readings are then the same.

    Parameters
    ----------
    mask : array_like
    shape : tuple of int
        The shape of the scores, (..., num_heads, num_queries, num_keys).

    Raises
    ------
    ValueError
        With the index expression for each possible reading. A mask that fits neither passes; it
        raises an error where it is broadcast.

    Examples
    --------
    >>> check_mask_axes(np.ones((3, 1, 7), bool), (3, 3, 5, 7))  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    ValueError: mask has shape (3, 1, 7), which may mean sequences or heads;
        mask[:, None] for one mask per sequence or mask[None] for one mask per head is wanted
    """
    mask = as_ndarray("mask", mask)
    leading, batch_axes = mask.ndim - 2, len(shape) - 3
    if not 0 < leading <= batch_axes or all(n == 1 for n in mask.shape[:leading]):
        return
    fitting = _possible_readings(mask.shape, shape)
    if fitting:
        raise ValueError(
            f"mask has shape {mask.shape}, which may mean sequences or heads;"
            f" {' or '.join(fitting)} is wanted"
        )


def _possible_readings(mask: tuple[int, ...], shape: tuple[int, ...]) -> list[str]:
    """Return the index expressions that make a mask one per sequence, or one per head, and fit."""
    leading, batch_axes = len(mask) - 2, len(shape) - 3
    by_sequence = ["None"] * (batch_axes - leading) + [":"] * leading + ["None"]
    by_head = ["None"] * (batch_axes + 1 - leading)
    readings = ("sequence", by_sequence, (*mask[:-2], 1, *mask[-2:])), ("head", by_head, mask)
    return [
        f"mask[{', '.join(axes)}] for one mask per {each}"
        for each, axes, mask_shape in readings
        if _broadcasts_to(mask_shape, shape)
    ]


def _broadcasts_to(mask: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Return whether a mask of one shape broadcasts to scores of another."""
    try:
        return np.broadcast_shapes(mask, shape) == shape
    except ValueError:
        return False
