"""Positions: what tells attention in which order its tokens stand."""

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
from mha.core.masks import Align, first_place
from mha.core.option_checks import as_switch

Layout: TypeAlias = Literal["pairs", "halves"]
"""Which components are turned together: (0, 1), (2, 3), ..., or each with that half a width on."""

BASE = 10000.0
"""The base of both papers, in which the first pair turns by 1 a position."""


def sinusoidal_positions(num_positions: int, d_model: int, base: float = BASE) -> Array:
    """Return a vector for each position, to be added to the embedding that stands there.

    Parameters
    ----------
    num_positions, d_model : int
    base : float, default 10000
        The last pair of columns turns about this many times more slowly than the first.

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
    angles = _turned_to(np.arange(count), _speeds(even, d_model, base))
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(count, even)[:, :d_model]


def rotary_angles(positions: ArrayLike, d_k: int, *, base: float = BASE) -> Array:
    """Return the angle by which each pair of components is turned at each position.

    Parameters
    ----------
    positions : array_like, shape (...)
        Any numbers; only their differences change a score.
    d_k : int
        The width of a query, an even number.
    base : float, default 10000
        Pair i turns by 1 / base ** (2 i / d_k) a position: the first by 1, the last slowest.

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
    return _turned_to(positions, _speeds(width, width, base))


def rotate_by(x: ArrayLike, angles: ArrayLike, *, layout: Layout = "pairs") -> Array:
    """Turn each pair of components by an angle of its own.

    A pair (a, b) becomes (a cos θ - b sin θ, a sin θ + b cos θ): the complex number a + b i times
    e to the power of i θ.

    Parameters
    ----------
    x : array_like, shape (..., d_k)
        Queries or keys; d_k is even.
    angles : array_like, broadcastable to (..., d_k / 2)
        In radians.
    layout : {"pairs", "halves"}, default "pairs"
        Which components form pair i: 2 i and 2 i + 1, or i and i + d_k / 2.

    Returns
    -------
    ndarray, shape (..., d_k)
        In the dtype of `x`, which angles do not widen.

    Raises
    ------
    TypeError, ValueError
        If the width is odd, the arrays do not fit or hold what is not finite, or `layout` is
        neither of the two.

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
            " one a pair is wanted"
        )
    check_broadcast("x", x[..., None, :], "angles", angles[..., None, :])
    pairs = _as_pairs(x, layout)
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    first, second = pairs[..., 0], pairs[..., 1]
    with np.errstate(over="ignore", invalid="ignore"):
        turned = np.stack([first * cos - second * sin, first * sin + second * cos], axis=-1)
    refuse_overflow("x and the turn", turned)
    return _as_row(turned, layout)


def rotate(
    x: ArrayLike, positions: ArrayLike, *, base: float = BASE, layout: Layout = "pairs"
) -> Array:
    """Turn queries or keys by their positions: rotary position embedding.

    Parameters
    ----------
    x : array_like, shape (..., n, d_k)
    positions : array_like, shape (n,) or broadcastable to (..., n)
        A position for each row of `x`. A query and a key that are both moved by the same number
        of positions keep their score.
    base : float, default 10000
        As in `rotary_angles`.
    layout : {"pairs", "halves"}, default "pairs"
        As in `rotate_by`. A model's projection matrices belong to one of the two;
        `pairs_to_halves` and `halves_to_pairs` convert.

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
    """Reorder components from the layout in pairs to that in halves.

    Parameters
    ----------
    x : array_like, shape (..., d_k)
        Queries, keys, or the columns of a projection matrix; d_k is even.

    Returns
    -------
    ndarray, shape (..., d_k)
        The even components, then the odd ones: what ``layout="halves"`` turns as
        ``layout="pairs"`` turned them before.

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
    """Reorder components from the layout in halves to that in pairs.

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
    """Return how much each head takes from a score for each position of distance.

    Parameters
    ----------
    num_heads : int

    Returns
    -------
    ndarray, shape (num_heads,)
        For a power of two, 2 ** (-8 / num_heads) and its powers. Otherwise those of the power of
        two below, and of the next one every other, as many as are missing.

    Raises
    ------
    TypeError, ValueError
        If `num_heads` is not a whole number of at least 1.

    References
    ----------
    Press, Smith and Lewis (2022), section 3; the code published with it for other numbers.

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
    """Return what each head adds to its scaled scores: less, the further a key is away.

    Parameters
    ----------
    num_heads, num_queries, num_keys : int
    is_causal : bool, default True
        Forbid later keys, as in the paper. If False, they lose as much as earlier ones at the
        same distance.
    align : {"top-left", "bottom-right"}, default "top-left"
        Which position the first query has, as in `causal_mask`.

    Returns
    -------
    ndarray, shape (num_heads, num_queries, num_keys)
        Minus the head's slope (`linear_slopes`) times the distance: a mask of numbers.

    Raises
    ------
    TypeError, ValueError
        If a number is not a whole number of at least 1, or `align` is none of the two.

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
    queries = np.arange(shape[0])[:, None] + first_place(*shape, align)
    distance = queries - np.arange(shape[1])
    biases = 0.0 - slopes[:, None, None] * np.abs(distance)
    is_causal = as_switch("is_causal", is_causal)
    return np.where(distance < 0, -np.inf, biases) if is_causal else biases


def relative_buckets(
    num_queries: int, num_keys: int, num_buckets: int, *, is_causal: bool, furthest: int = 128
) -> Array:
    """Return in which range of distances each key stands from each query, as T5 counts them.

    Parameters
    ----------
    num_queries, num_keys, num_buckets : int
    is_causal : bool
        If False, half of the ranges are those of later keys.
    furthest : int, default 128
        From this distance on all keys are in one range.

    Returns
    -------
    ndarray of int, shape (num_queries, num_keys)
        Half of the ranges hold one distance each, the others grow by a constant factor.

    Raises
    ------
    TypeError, ValueError
        If a number is not a whole number, or `num_buckets` is below 2, or below 4 if not causal.

    References
    ----------
    Raffel et al. (2020), section 2.1, and the code published with it.

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
    # In float32, as the models were trained: where a range begins is a matter of rounding.
    share = np.log(np.maximum(distance, single).astype(np.float32) / np.float32(single))
    share = share / np.float32(np.log(furthest / single)) * np.float32(ranges - single)
    wide = np.minimum(single + share.astype(int), ranges - 1)
    return start + np.where(distance < single, distance, wide)


# ---- Parts ----


def _speeds(even: int, width: int, base: float) -> Array:
    """Return by how much each pair of `even` columns turns a position."""
    base = as_number("base", base, above=0)
    with np.errstate(over="ignore"):
        speeds: Array = base ** (-np.arange(0, even, 2) / width)
    return speeds


def _turned_to(positions: Array, speeds: Array) -> Array:
    """Return the angle of each pair at each position, in the dtype of the positions."""
    dtype = np.result_type(positions, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        angles: Array = positions[..., None] * speeds.astype(dtype)
    refuse_overflow("positions and the turns that base makes", angles)
    return angles


def _even(name: str, width: int) -> int:
    """Return an even width, or raise."""
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
    """Return pairs as components beside each other: the inverse of `_as_pairs`."""
    inner = pairs if layout == "pairs" else np.swapaxes(pairs, -1, -2)
    return inner.reshape(*pairs.shape[:-2], -1)
