"""Checks of array arguments; each error names the argument, the expected value and the actual one.

`as_array` implements the package's one rule for dtypes:

- float64 and float32 stay as they are; float16 is converted to float32, also in the output.
- Integers are converted to float64, which is exact up to 2**53 in size; a larger integer raises an
  error. (In a list with a fraction NumPy has already converted all numbers to float64.) Booleans
  become 0 and 1.
- All arrays of one call are converted to the widest of their dtypes before the computation: one
  float64 array among float32 ones makes everything float64. A mask takes the dtype of the scores.
  An argument that only a later stage uses (a cache, angles, a decay, the context of a decoder) does
  not widen the earlier stages.
- Other dtypes that cannot be converted without loss (longdouble, complex numbers, Python integers
  beyond 64 bits, decimals) raise an error, as does bfloat16.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Array = np.ndarray[Any, Any]

MAX_EXACT_INTEGER = 2**53
"""float64 represents every integer up to this size exactly."""


def as_array(name: str, value: ArrayLike, *, min_ndim: int = 1) -> Array:
    """Return `value` as a floating-point array without empty axes, by the rule for dtypes above.

    Parameters
    ----------
    name : str
        The argument's name, for error messages.
    value : array_like of real numbers
    min_ndim : int, default 1
        The smallest allowed number of axes.

    Returns
    -------
    ndarray of float32 or float64

    Raises
    ------
    TypeError
        If `value` does not hold real numbers.
    ValueError
        If it is ragged, has too few axes or an empty one, or an integer beyond 2**53 in size.

    Examples
    --------
    >>> as_array("query", [[1, 2]]).dtype
    dtype('float64')
    """
    array = as_ndarray(name, value)
    if array.ndim < min_ndim:
        wanted = "1 axis is" if min_ndim == 1 else f"{min_ndim} axes are"
        raise ValueError(f"{name} has shape {array.shape}; at least {wanted} wanted")
    if 0 in array.shape:
        raise ValueError(f"{name} has shape {array.shape}; no axis may be empty")
    dtype = float_dtype(name, array.dtype)
    if array.dtype.kind in "iu":
        too_large = (array > MAX_EXACT_INTEGER) | (array < -MAX_EXACT_INTEGER)
        refuse_where(name, array, too_large, "integers up to 2**53 in size are wanted")
    return array.astype(dtype, copy=False)


def as_ndarray(name: str, value: ArrayLike) -> Array:
    """Return `value` as an array of any dtype.

    Raises
    ------
    TypeError
        If it is a masked array: NumPy would compute with the masked numbers too.
    ValueError
        If it is ragged.

    Examples
    --------
    >>> as_ndarray("mask", [[True], [True, False]])
    Traceback (most recent call last):
        ...
    ValueError: mask is ragged; rows of one length are wanted
    """
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array; an array that hides no number is wanted")
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} is ragged; rows of one length are wanted") from None


def float_dtype(name: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the floating-point dtype to which an argument of `dtype` is converted.

    Raises
    ------
    TypeError
        If `dtype` is not a supported dtype.

    Examples
    --------
    >>> float_dtype("query", np.dtype(np.float16))
    dtype('float32')
    """
    dtype = dtype.newbyteorder("=")
    if dtype in (np.float32, np.float64):
        return dtype
    if dtype == np.float16:
        return np.dtype(np.float32)
    if np.issubdtype(dtype, np.integer) or dtype == np.bool_:
        return np.dtype(np.float64)
    raise TypeError(f"{name} has dtype {dtype}; float32, float64 or integers are wanted")


def as_finite_array(name: str, value: ArrayLike, *, min_ndim: int = 1) -> Array:
    """Return `as_array(name, value)`, and raise a ValueError if it holds NaN or an infinity.

    Raises
    ------
    TypeError, ValueError
        As `as_array`; ValueError also for the first NaN or infinity, with its index.

    Examples
    --------
    >>> as_finite_array("key", [1.0, float("nan")])
    Traceback (most recent call last):
        ...
    ValueError: key holds nan at index (1,); finite numbers are wanted
    """
    array = as_array(name, value, min_ndim=min_ndim)
    refuse_where(name, array, ~np.isfinite(array), "finite numbers are wanted")
    return array


def in_one_dtype(*arrays: Array) -> tuple[Array, ...]:
    """Convert arrays to the widest of their dtypes.

    Examples
    --------
    >>> [x.dtype.name for x in in_one_dtype(np.ones(2, np.float32), np.ones(3))]
    ['float64', 'float64']
    """
    dtype = np.result_type(*arrays)
    return tuple(x.astype(dtype, copy=False) for x in arrays)


def refuse_where(name: str, array: Array, bad: Array, wanted: str) -> None:
    """Raise a ValueError that names the first element of `array` at which `bad` is True.

    Examples
    --------
    >>> x = np.array([1.0, -2.0])
    >>> refuse_where("lengths", x, x < 0, "numbers from 0 up are wanted")
    Traceback (most recent call last):
        ...
    ValueError: lengths holds -2.0 at index (1,); numbers from 0 up are wanted
    """
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"{name} holds {array[index]} at index {index}; {wanted}")


def finite_product(names: str, left: Array, right: Array) -> Array:
    """Return the matrix product ``left @ right``, and raise a ValueError if it overflows.

    Parameters
    ----------
    names : str
        The names of both arguments, for error messages.
    left : ndarray, shape (..., n, k)
    right : ndarray, shape (..., k, m)

    Returns
    -------
    ndarray, shape (..., n, m)

    Raises
    ------
    ValueError
        If a sum of products is too large for its dtype.

    Examples
    --------
    >>> finite_product("query and key", np.array([[1e200]]), np.array([[1e200]]))
    Traceback (most recent call last):
        ...
    ValueError: query and key overflow float64 when multiplied; smaller numbers are wanted
    """
    # Check the result, not NumPy's floating-point flags: some BLAS libraries set them at random.
    with np.errstate(all="ignore"):
        product = left @ right
    refuse_overflow(names, product)
    return product


def finite_multiple(names: str, array: Array, factor: float) -> Array:
    """Return a finite array times a factor, and raise a ValueError if it overflows.

    Examples
    --------
    >>> finite_multiple("d_scores and scale", np.array([1e200]), 1e200)
    Traceback (most recent call last):
        ...
    ValueError: d_scores and scale overflow float64 when multiplied; smaller numbers are wanted
    """
    with np.errstate(over="ignore", invalid="ignore"):
        product = array * array.dtype.type(factor)
    refuse_overflow(names, product)
    return product


def finite_sum(names: str, first: Array, second: Array) -> Array:
    """Return the sum of two finite arrays, and raise a ValueError if it overflows.

    Examples
    --------
    >>> finite_sum("two gradients", np.array([1e308]), np.array([1e308]))
    Traceback (most recent call last):
        ...
    ValueError: two gradients overflow float64 when added; smaller numbers are wanted
    """
    with np.errstate(over="ignore"):
        total = first + second
    refuse_overflow(names, total, "added")
    return total


def refuse_overflow(names: str, result: Array, how: str = "multiplied") -> None:
    """Raise a ValueError if the result of an operation on finite arrays is not finite.

    Examples
    --------
    >>> refuse_overflow("x and w_o", np.array([np.inf]))
    Traceback (most recent call last):
        ...
    ValueError: x and w_o overflow float64 when multiplied; smaller numbers are wanted
    """
    if not np.isfinite(result).all():
        raise ValueError(f"{names} overflow {result.dtype} when {how}; smaller numbers are wanted")


def check_same_shape(first_name: str, first: Array, second_name: str, second: Array) -> None:
    """Raise a ValueError unless both arrays have the same shape.

    Examples
    --------
    >>> check_same_shape("w_q", np.ones((2, 3)), "w_k", np.ones((3, 2)))
    Traceback (most recent call last):
        ...
    ValueError: w_q has shape (2, 3) but w_k has (3, 2); they must match
    """
    if first.shape != second.shape:
        raise ValueError(
            f"{first_name} has shape {first.shape} but {second_name} has {second.shape};"
            " they must match"
        )


def check_broadcast(first_name: str, first: Array, second_name: str, second: Array) -> None:
    """Raise a ValueError unless the axes before the last two broadcast.

    Examples
    --------
    >>> check_broadcast("query", np.ones((2, 5, 3)), "key", np.ones((7, 5, 3)))
    Traceback (most recent call last):
        ...
    ValueError: leading axes are (2,) in query but (7,) in key; they must broadcast
    """
    try:
        np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    except ValueError:
        raise ValueError(
            f"leading axes are {first.shape[:-2]} in {first_name} but {second.shape[:-2]}"
            f" in {second_name}; they must broadcast"
        ) from None


def as_axis(axis: int, ndim: int) -> int:
    """Return `axis` as an int, checked against the number of axes.

    Raises
    ------
    TypeError
        If it is not an integer.
    ValueError
        If there is no such axis.

    Examples
    --------
    >>> as_axis(2, 2)
    Traceback (most recent call last):
        ...
    ValueError: axis is 2; a whole number from -2 to 1 is wanted
    """
    wanted = f"a whole number from {-ndim} to {ndim - 1} is wanted"
    if isinstance(axis, bool | np.bool_) or not isinstance(axis, Integral):
        raise TypeError(f"axis is {axis!r}; {wanted}")
    if not -ndim <= axis < ndim:
        raise ValueError(f"axis is {axis}; {wanted}")
    return int(axis)


def as_count(name: str, value: int, least: int = 1) -> int:
    """Return `value` as an int of at least `least`.

    Raises
    ------
    TypeError
        If `value` is not an integer (a bool is not one).
    ValueError
        If it is below `least`.

    Examples
    --------
    >>> as_count("num_heads", 0)
    Traceback (most recent call last):
        ...
    ValueError: num_heads is 0; a whole number of at least 1 is wanted
    """
    wanted = f"a whole number of at least {least} is wanted"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} is {value!r}; {wanted}")
    if value < least:
        raise ValueError(f"{name} is {value}; {wanted}")
    return int(value)


def as_number(
    name: str, value: float, *, above: float = -math.inf, least: float = -math.inf
) -> float:
    """Return `value` as a finite float, larger than `above` and at least `least`.

    Raises
    ------
    TypeError, ValueError
        As `as_finite_array`; TypeError also if it has an axis; ValueError also if it is too small.

    Examples
    --------
    >>> as_number("eps", [1, 2])
    Traceback (most recent call last):
        ...
    TypeError: eps has shape (2,); one number is wanted
    """
    number = as_finite_array(name, value, min_ndim=0)
    if number.ndim:
        raise TypeError(f"{name} has shape {number.shape}; one number is wanted")
    if number <= above:
        raise ValueError(f"{name} is {number}; a number above {above} is wanted")
    if number < least:
        raise ValueError(f"{name} is {number}; a number of at least {least} is wanted")
    return float(number)


def as_scale(scale: float | None, d_k: int) -> float:
    """Return the factor of the scores: `scale`, or 1 / sqrt(d_k) if it is None.

    Raises
    ------
    TypeError
        If `scale` is neither None nor a real number.
    ValueError
        If it is NaN or infinite.

    Examples
    --------
    >>> as_scale(None, 4)
    0.5
    """
    if scale is None:
        return float(1.0 / np.sqrt(d_k))
    if isinstance(scale, bool | np.bool_) or not isinstance(scale, Real):
        raise TypeError(f"scale is {scale!r}; a finite number or None is wanted")
    try:
        factor = float(scale)
    except OverflowError:
        factor = math.inf
    if not math.isfinite(factor):
        raise ValueError(f"scale is {scale}; a finite number or None is wanted")
    return factor


def as_names(name: str, value: Iterable[str]) -> tuple[str, ...]:
    """Return an iterable of strings as a non-empty tuple.

    Raises
    ------
    TypeError
        If `value` is one string, or holds something that is not a string.
    ValueError
        If it is empty.

    Examples
    --------
    >>> as_names("tokens", ["cat", "sat"])
    ('cat', 'sat')
    """
    names = None if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
    if names is None or not all(isinstance(item, str) for item in names):
        raise TypeError(f"{name} is {value!r}; a sequence of strings is wanted")
    if not names:
        raise ValueError(f"{name} is empty; at least one is wanted")
    return names


def frozen_copy(array: Array) -> Array:
    """Return a read-only copy of an array.

    Examples
    --------
    >>> frozen_copy(np.zeros(2)).flags.writeable
    False
    """
    copy = np.array(array)
    copy.flags.writeable = False
    return copy


def as_index(name: str, value: int, length: int) -> int:
    """Return `value` as an index from 0 to `length` - 1.

    Raises
    ------
    TypeError
        If `value` is not an integer.
    ValueError
        If it is outside the range.

    Examples
    --------
    >>> as_index("head", 2, 2)
    Traceback (most recent call last):
        ...
    ValueError: head is 2; an index from 0 to 1 is wanted
    """
    wanted = f"{name} is {value!r}; an index from 0 to {length - 1} is wanted"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(wanted)
    if not 0 <= value < length:
        raise ValueError(wanted)
    return int(value)
