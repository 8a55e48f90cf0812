"""Masks: which key each query may attend to. True means that it may."""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from mha.core.checks import Array, as_count, as_ndarray, float_dtype, refuse_where
from mha.core.option_checks import as_switch

Align: TypeAlias = Literal["top-left", "bottom-right"]
"""Where a causal mask's diagonal lies when there are more keys than queries, or fewer."""

Side: TypeAlias = Literal["right", "left"]
"""On which side of a text its padding stands."""


def causal_mask(num_queries: int, num_keys: int, *, align: Align = "top-left") -> Array:
    """Let each query attend to the key at its own place and to those before it.

    Parameters
    ----------
    num_queries, num_keys : int
    align : {"top-left", "bottom-right"}, default "top-left"
        At the top left query i has the place of key i, as in PyTorch's `is_causal`. At the bottom
        right the last query has the place of the last key: query i sees the keys up to
        i + num_keys - num_queries. This is for decoding, where the newest tokens ask and the keys
        of earlier ones are kept; with more queries than keys, the first queries see none.

    Returns
    -------
    ndarray of bool, shape (num_queries, num_keys)

    Raises
    ------
    TypeError, ValueError
        If a length is not a whole number of at least 1, or `align` is none of the two.

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
    return np.tril(np.ones(shape, dtype=bool), first_place(*shape, align))


def first_place(num_queries: int, num_keys: int, align: Align) -> int:
    """Return which key's place the first query has; below 0 if it is before all keys.

    Raises
    ------
    TypeError, ValueError
        If `align` is neither "top-left" nor "bottom-right".

    Examples
    --------
    >>> first_place(2, 5, "bottom-right")
    3
    """
    wanted = f'align is {align!r}; "top-left" or "bottom-right" is wanted'
    if not isinstance(align, str):
        raise TypeError(wanted)
    if align not in ("top-left", "bottom-right"):
        raise ValueError(wanted)
    return num_keys - num_queries if align == "bottom-right" else 0


def padding_mask(lengths: ArrayLike, num_keys: int, *, side: Side = "right") -> Array:
    """Let every query attend to the real keys of its sequence alone, not to the padding.

    Parameters
    ----------
    lengths : array_like of int, shape (...)
        How many real tokens each sequence has, from 0 to `num_keys`.
    num_keys : int
        The padded length.
    side : {"right", "left"}, default "right"
        Where the padding stands: the first `lengths` keys are real, or the last.

    Returns
    -------
    ndarray of bool, shape (..., 1, num_keys)
        Broadcasts over queries, and has no axis of heads. For scores of shape (batch, num_heads,
        num_queries, num_keys) give it one, ``padding_mask(lengths, num_keys)[:, None]``: without
        it the sentences would be taken for heads, which `multi_head_attention` refuses.

    Raises
    ------
    TypeError
        If `lengths` does not hold integers, or `num_keys` is not one.
    ValueError
        If a length is below 0 or above `num_keys`, `num_keys` is below 1, or `side` is none of
        the two.

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
    """Return each token's place within its own text, and -1 for padding.

    With the padding on the left a text's first token does not stand at the front, and still has
    place 0: positions are looked up by these places.

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
    places = np.arange(num_keys) - (num_keys - lengths if side == "left" else 0)
    return np.where((places >= 0) & (places < lengths), places, -1)


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
    align: Align = "top-left",
) -> Array | None:
    """Return what is added to scores of `shape`: 0 where a query may attend, else minus infinity.

    Parameters
    ----------
    mask : array_like of bool or float, broadcastable to `shape`, optional
        A boolean mask is True where a query may attend; a float mask is added as it is.
    is_causal, align
        Also forbid keys as `causal_mask` does. Both given means that both must allow.
    shape : tuple of int, (..., num_queries, num_keys)
    dtype : dtype, default float64, the scores'

    Returns
    -------
    ndarray of `dtype`, broadcastable to `shape`, or None if nothing is masked

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
    first_place(num_queries, num_keys, align)  # a bad alignment is refused even if it is not used
    is_causal = as_switch("is_causal", is_causal)
    causal = causal_mask(num_queries, num_keys, align=align) if is_causal else None
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
    TypeError
        If `mask` holds neither booleans nor floats of up to 64 bits.
    ValueError
        If it does not broadcast to `shape`, holds NaN or plus infinity, or holds a number that
        `dtype` cannot.

    Examples
    --------
    >>> as_mask([[True, False]], (1, 2))
    array([[ True, False]])
    """
    mask = as_ndarray("mask", mask)
    if not _fits(mask.shape, shape):
        raise ValueError(
            f"mask has shape {mask.shape}; one that broadcasts to the scores' {shape} is wanted"
        )
    return mask if mask.dtype == np.bool_ else _as_float_mask(mask, np.dtype(dtype))


def _as_float_mask(mask: Array, dtype: np.dtype[Any]) -> Array:
    """Return a mask that is added, in the scores' dtype."""
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
    """Raise if a mask for heads may be read in two ways: its axes sentences, or its axes heads.

    A mask's axes are matched from the right: one a sentence without an axis of heads would be taken
    for one a head wherever the numbers agree. With an axis of sentences in the scores, a mask with
    an axis before its last two is to have them all, whatever its size; an axis of length 1 can be
    left out, since it reads the same both ways.

    Parameters
    ----------
    mask : array_like
    shape : tuple of int
        The scores' (..., num_heads, num_queries, num_keys).

    Raises
    ------
    ValueError
        Saying how to write each of the two that fits. A mask that fits neither way passes: its
        shape is refused where it is used.

    Examples
    --------
    >>> check_mask_axes(np.ones((3, 1, 7), bool), (3, 3, 5, 7))  # doctest: +NORMALIZE_WHITESPACE
    Traceback (most recent call last):
        ...
    ValueError: mask has shape (3, 1, 7), which may mean sentences or heads;
        mask[:, None] for one mask a sentence or mask[None] for one mask a head is wanted
    """
    mask = as_ndarray("mask", mask)
    leading, sentences = mask.ndim - 2, len(shape) - 3
    if not 0 < leading <= sentences or all(n == 1 for n in mask.shape[:leading]):
        return
    fitting = _readings(mask.shape, shape)
    if fitting:
        raise ValueError(
            f"mask has shape {mask.shape}, which may mean sentences or heads;"
            f" {' or '.join(fitting)} is wanted"
        )


def _readings(mask: tuple[int, ...], shape: tuple[int, ...]) -> list[str]:
    """Return how to write a mask that is one a sentence, and one a head, where it then fits."""
    leading, sentences = len(mask) - 2, len(shape) - 3
    by_sentence = ["None"] * (sentences - leading) + [":"] * leading + ["None"]
    by_head = ["None"] * (sentences + 1 - leading)
    readings = ("sentence", by_sentence, (*mask[:-2], 1, *mask[-2:])), ("head", by_head, mask)
    return [
        f"mask[{', '.join(axes)}] for one mask a {each}"
        for each, axes, means in readings
        if _fits(means, shape)
    ]


def _fits(mask: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Return whether a mask of one shape broadcasts to scores of another."""
    try:
        return np.broadcast_shapes(mask, shape) == shape
    except ValueError:
        return False
