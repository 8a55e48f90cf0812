"""Position encodings: sinusoidal, rotary, linear biases (ALiBi), and T5's ranges of distances."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import (
    Array,
    as_array,
    as_count,
    as_finite_array,
    as_number,
    check_broadcast,
    refuse_overflow,
)
from mha.core.masks import Align, first_query_position
from mha.core.option_checks import as_bool

Layout: TypeAlias = Literal["pairs", "halves"]
"""The components rotated together: (0, 1), (2, 3), ..., or i and i + width / 2."""

BASE = 10000.0
"""The base in Vaswani et al. (2017) and Su et al. (2024)."""


def sinusoidal_positions(num_positions: int, d_model: int, base: float = BASE) -> Array:
    """Return the sinusoidal position vectors, which are added to the embeddings.

    Parameters
    ----------
    num_positions, d_model : int
    base : float, default 10000
        The angular speed of the last pair of columns is about 1 / `base` of that of the first.

    Returns
    -------
    ndarray, shape (num_positions, d_model)
        Sines in even columns, cosines in odd ones: columns 2 i and 2 i + 1 hold those of
        position / base ** (2 i / d_model).

    Raises
    ------
    TypeError, ValueError
        If a number is not a whole number of at least 1, or `base` is not above 0.

    References
    ----------
    Vaswani et al. (2017), section 3.5.

    Examples
    --------
    >>> sinusoidal_positions(2, 4).round(4)
    array([[0.    , 1.    , 0.    , 1.    ],
           [0.8415, 0.5403, 0.01  , 1.    ]])
    """
    count, d_model = as_count("num_positions", num_positions), as_count("d_model", d_model)
    even = d_model + d_model % 2
    angles = _angles_at(np.arange(count), _speeds(even, d_model, base))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(count, even)[:, :d_model]


def rotary_angles(positions: ArrayLike, d_k: int, *, base: float = BASE) -> Array:
    """Return the rotation angle of each pair of components at each position.

    Parameters
    ----------
    positions : array_like, shape (...)
        Any real numbers; scores depend only on their differences.
    d_k : int
        The width of a query, an even number.
    base : float, default 10000
        Pair i rotates by 1 / base ** (2 i / d_k) per position.

    Returns
    -------
    ndarray, shape (..., d_k / 2)
        In radians.

    Raises
    ------
    TypeError, ValueError
        If `positions` does not hold finite numbers, `d_k` is not an even number of at least 2, or
        `base` is not above 0.

    References
    ----------
    Su et al. (2024), section 3.2.2.

    Examples
    --------
    >>> rotary_angles([0, 1, 2], 4)
    array([[0.  , 0.  ],
           [1.  , 0.01],
           [2.  , 0.02]])
    """
    positions = as_finite_array("positions", positions, min_ndim=0)
    width = _even("d_k", as_count("d_k", d_k))
    return _angles_at(positions, _speeds(width, width, base))


def rotate_by(x: ArrayLike, angles: ArrayLike, *, layout: Layout = "pairs") -> Array:
    """Rotate each pair of components by its angle.

    A pair (a, b) becomes (a cos θ - b sin θ, a sin θ + b cos θ), the product of the complex numbers
    a + b i and exp(i θ).

    Parameters
    ----------
    x : array_like, shape (..., d_k)
        Queries or keys; d_k is even.
    angles : array_like, broadcastable to (..., d_k / 2)
        In radians.
    layout : {"pairs", "halves"}, default "pairs"
        The components of pair i: 2 i and 2 i + 1, or i and i + d_k / 2.

    Returns
    -------
    ndarray, shape (..., d_k)
        In the dtype of `x`, whatever the dtype of the angles.

    Raises
    ------
    TypeError, ValueError
        If the width is odd, the arrays do not fit or hold NaN or an infinity, or `layout` is
        unknown.

    Examples
    --------
    >>> rotate_by([1.0, 0.0, 0.0, 1.0], [np.pi / 2, np.pi]).round(4) + 0.0
    array([ 0.,  1.,  0., -1.])
    """
    x = as_finite_array("x", x)
    angles = as_finite_array("angles", angles)
    _even("the width of x", x.shape[-1])
    if angles.shape[-1] not in (1, x.shape[-1] // 2):
        raise ValueError(
            f"angles has {angles.shape[-1]} columns for x of width {x.shape[-1]};"
            " one per pair is wanted"
        )
    check_broadcast("x", x[..., None, :], "angles", angles[..., None, :])
    pairs = _as_pairs(x, layout)
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    first, second = pairs[..., 0], pairs[..., 1]
    with np.errstate(over="ignore", invalid="ignore"):
        rotated = np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1)
    refuse_overflow("x and the rotation", rotated)
    return _as_row(rotated, layout)


def rotate(
    x: ArrayLike, positions: ArrayLike, *, base: float = BASE, layout: Layout = "pairs"
) -> Array:
    """Apply rotary position embeddings to queries or keys.

    Parameters
    ----------
    x : array_like, shape (..., n, d_k)
    positions : array_like, shape (n,) or broadcastable to (..., n)
        A position for each row of `x`. The score of a query and a key depends only on the
        difference of their positions.
    base : float, default 10000
        As in `rotary_angles`.
    layout : {"pairs", "halves"}, default "pairs"
        As in `rotate_by`. The projection matrices of a model are trained for one layout;
        `pairs_to_halves` and `halves_to_pairs` convert them.

    Returns
    -------
    ndarray, shape (..., n, d_k)

    Raises
    ------
    TypeError, ValueError
        As `rotary_angles` and `rotate_by`.

    References
    ----------
    Su et al. (2024), section 3.2.2.

    Examples
    --------
    >>> rotate([[1.0, 0.0], [1.0, 0.0]], [0, 1]).round(4)
    array([[1.    , 0.    ],
           [0.5403, 0.8415]])
    """
    x = as_finite_array("x", x)
    return rotate_by(x, rotary_angles(positions, x.shape[-1], base=base), layout=layout)


def pairs_to_halves(x: ArrayLike) -> Array:
    """Reorder components from the layout "pairs" to the layout "halves".

    Parameters
    ----------
    x : array_like, shape (..., d_k)
        Queries, keys, or the columns of a projection matrix; d_k is even.

    Returns
    -------
    ndarray, shape (..., d_k)
        The even components, then the odd ones. Rotation with ``layout="halves"`` then gives the
        reordered result of a rotation with ``layout="pairs"``.

    Raises
    ------
    TypeError, ValueError
        If `x` does not hold real numbers, or its width is odd.

    Examples
    --------
    >>> pairs_to_halves([1, 2, 3, 4])
    array([1., 3., 2., 4.])
    """
    x = as_array("x", x)
    _even("the width of x", x.shape[-1])
    return _as_row(_as_pairs(x, "pairs"), "halves")


def halves_to_pairs(x: ArrayLike) -> Array:
    """Reorder components from the layout "halves" to the layout "pairs".

    Parameters
    ----------
    x : array_like, shape (..., d_k)

    Returns
    -------
    ndarray, shape (..., d_k)

    Raises
    ------
    TypeError, ValueError
        If `x` does not hold real numbers, or its width is odd.

    Examples
    --------
    >>> halves_to_pairs([1, 3, 2, 4])
    array([1., 2., 3., 4.])
    """
    x = as_array("x", x)
    _even("the width of x", x.shape[-1])
    return _as_row(_as_pairs(x, "halves"), "pairs")


def linear_slopes(num_heads: int) -> Array:
    """Return each head's slope of linear biases (ALiBi): the penalty per position of distance.

    Parameters
    ----------
    num_heads : int

    Returns
    -------
    ndarray, shape (num_heads,)
        For a power of two, the powers of 2 ** (-8 / num_heads). Otherwise the slopes for the power
        of two below, then every other slope for the power of two above.

    Raises
    ------
    TypeError, ValueError
        If `num_heads` is not a whole number of at least 1.

    References
    ----------
    Press, Smith and Lewis (2022), section 3; for other numbers of heads, the authors' code.

    Examples
    --------
    >>> linear_slopes(4)
    array([0.25      , 0.0625    , 0.015625  , 0.00390625])
    """
    num_heads = as_count("num_heads", num_heads)
    power = 1 << (num_heads.bit_length() - 1)
    between = _powers(2 * power)[::2]
    return np.concatenate([_powers(power), between[: num_heads - power]])


def _powers(num_heads: int) -> Array:
    """Return the slopes for a power of two."""
    return 2.0 ** (-8 / num_heads * np.arange(1, num_heads + 1))


def linear_biases(
    num_heads: int,
    num_queries: int,
    num_keys: int,
    *,
    is_causal: bool = True,
    align: Align = "top-left",
) -> Array:
    """Return each head's linear biases (ALiBi): minus its slope times the distance of the key.

    Parameters
    ----------
    num_heads, num_queries, num_keys : int
    is_causal : bool, default True
        Mask later keys, as in the paper. If False, they have the bias of earlier keys at the same
        distance.
    align : {"top-left", "bottom-right"}, default "top-left"
        The position of the first query, as in `causal_mask`.

    Returns
    -------
    ndarray, shape (num_heads, num_queries, num_keys)
        An additive mask; the slopes are those of `linear_slopes`.

    Raises
    ------
    TypeError, ValueError
        If a number is not a whole number of at least 1, or `align` is unknown.

    References
    ----------
    Press, Smith and Lewis (2022), section 3.

    Examples
    --------
    >>> linear_biases(8, 3, 3)[0]
    array([[ 0. , -inf, -inf],
           [-0.5,  0. , -inf],
           [-1. , -0.5,  0. ]])
    """
    slopes = linear_slopes(num_heads)
    shape = as_count("num_queries", num_queries), as_count("num_keys", num_keys)
    queries = np.arange(shape[0])[:, None] + first_query_position(*shape, align)
    distance = queries - np.arange(shape[1])
    # Less than 0, not negated: the bias of a query's own position is then 0 and not -0.
    biases = 0.0 - slopes[:, None, None] * np.abs(distance)
    is_causal = as_bool("is_causal", is_causal)
    return np.where(distance < 0, -np.inf, biases) if is_causal else biases


def relative_buckets(
    num_queries: int, num_keys: int, num_buckets: int, *, is_causal: bool, max_distance: int = 128
) -> Array:
    """Return the index of the range of distances ("bucket") of each query and key, as in T5.

    Parameters
    ----------
    num_queries, num_keys, num_buckets : int
    is_causal : bool
        If False, half of the buckets are for later keys.
    max_distance : int, default 128
        All keys at this distance or farther are in one bucket.

    Returns
    -------
    ndarray of int, shape (num_queries, num_keys)
        Half of the buckets hold one distance each; the sizes of the others grow geometrically.

    Raises
    ------
    TypeError, ValueError
        If a number is not a whole number, or `num_buckets` is below 2, or below 4 if not causal.

    References
    ----------
    Raffel et al. (2020), section 2.1, and the authors' code.

    Examples
    --------
    >>> relative_buckets(3, 3, 32, is_causal=False)
    array([[ 0, 17, 18],
           [ 1,  0, 17],
           [ 2,  1,  0]])
    >>> relative_buckets(41, 1, 32, is_causal=True)[10::10, 0]
    array([10, 17, 20, 23])
    """
    ranges = as_count("num_buckets", num_buckets, least=2 if is_causal else 4)
    queries = np.arange(as_count("num_queries", num_queries))[:, None]
    later = np.arange(as_count("num_keys", num_keys)) - queries
    start = np.zeros_like(later)
    if is_causal:
        distance = np.maximum(-later, 0)
    else:
        ranges //= 2
        start, distance = np.where(later > 0, ranges, 0), np.abs(later)
    single = ranges // 2
    # In float32, as in training: the rounding decides at which distance a bucket begins.
    logarithm = np.log(np.maximum(distance, single).astype(np.float32) / np.float32(single))
    offset = logarithm / np.float32(np.log(max_distance / single)) * np.float32(ranges - single)
    wide = np.minimum(single + offset.astype(int), ranges - 1)
    return start + np.where(distance < single, distance, wide)


# ---- Helpers ----


def _speeds(even: int, width: int, base: float) -> Array:
    """Return the angle per position of each pair of `even` columns."""
    base = as_number("base", base, above=0)
    with np.errstate(over="ignore"):
        speeds: Array = base ** (-np.arange(0, even, 2) / width)
    return speeds


def _angles_at(positions: Array, speeds: Array) -> Array:
    """Return the angle of each pair at each position, in the dtype of the positions."""
    dtype = np.result_type(positions, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        angles: Array = positions[..., None] * speeds.astype(dtype)
    refuse_overflow("positions and the angles per position", angles)
    return angles


def _even(name: str, width: int) -> int:
    """Return `width`, and raise a ValueError if it is odd."""
    if width % 2:
        raise ValueError(f"{name} is {width}; an even number is wanted")
    return width


def _as_pairs(x: Array, layout: Layout) -> Array:
    """Return the components as pairs, shape (..., width / 2, 2)."""
    half = x.shape[-1] // 2
    if layout == "pairs":
        return x.reshape(*x.shape[:-1], half, 2)
    if layout == "halves":
        return np.swapaxes(x.reshape(*x.shape[:-1], 2, half), -1, -2)
    raise ValueError(f'layout is {layout!r}; "pairs" or "halves" is wanted')


def _as_row(pairs: Array, layout: Layout) -> Array:
    """Return pairs as components in a layout: the inverse of `_as_pairs`."""
    inner = pairs if layout == "pairs" else np.swapaxes(pairs, -1, -2)
    return inner.reshape(*pairs.shape[:-2], -1)
