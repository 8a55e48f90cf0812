"""Arguments come out as floating-point arrays, or are refused in one exact sentence."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from helpers import raises

from mha.core import checks


@pytest.mark.parametrize(
    ("given", "computed"),
    [
        (np.float16, np.float32),
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.int8, np.float64),
        (np.uint64, np.float64),
        (np.bool_, np.float64),
        (np.dtype(">f4"), np.float32),
        (np.dtype(">f8"), np.float64),
        (np.dtype(">f2"), np.float32),
    ],
)
def test_dtypes(given, computed):
    array = checks.as_array("query", np.ones((2, 3), given))
    assert array.dtype == np.dtype(computed)
    assert array.dtype.isnative
    assert (array == 1).all()


def test_a_float_array_is_not_copied():
    array = np.ones((2, 3))
    assert checks.as_array("query", array) is array


def test_lists_of_whole_numbers():
    np.testing.assert_array_equal(checks.as_array("x", [[1, 2], [3, 4]]), [[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(["a"], "<U1"), ([1j], "complex128"), ([None], "object"), ([10**30], "object")],
)
def test_what_is_no_real_number_is_refused(value, dtype):
    with raises(TypeError, f"key has dtype {dtype}; float32, float64 or integers are wanted"):
        checks.as_array("key", value)


def test_ragged_rows_are_refused():
    with raises(ValueError, "value is ragged; rows of one length are wanted"):
        checks.as_array("value", [[1, 2], [3]])


@pytest.mark.parametrize(
    ("shape", "min_ndim", "wanted"),
    [((), 1, "at least 1 axis is"), ((3,), 2, "at least 2 axes are")],
)
def test_too_few_axes_are_refused(shape, min_ndim, wanted):
    with raises(ValueError, f"query has shape {shape}; {wanted} wanted"):
        checks.as_array("query", np.ones(shape), min_ndim=min_ndim)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,)])
def test_empty_axes_are_refused(shape):
    with raises(ValueError, f"query has shape {shape}; no axis may be empty"):
        checks.as_array("query", np.ones(shape))


@pytest.mark.parametrize(("bad", "shown"), [(np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")])
def test_the_first_number_that_is_not_finite_is_named(bad, shown):
    array = np.zeros((2, 3, 5))
    array[1, 2, 3] = array[1, 2, 4] = bad
    with raises(ValueError, f"key holds {shown} at index (1, 2, 3); finite numbers are wanted"):
        checks.as_finite_array("key", array)


def test_finite_arrays_pass():
    array = np.array([1e308, -1e308, 0.0])
    assert checks.as_finite_array("key", array) is array


def test_refuse_where_nothing_is_bad():
    assert checks.refuse_where("x", np.ones(3), np.zeros(3, bool), "anything") is None


@pytest.mark.parametrize("value", [1, 7, np.int64(7), np.uint8(7)])
def test_counts(value):
    count = checks.as_count("num_heads", value)
    assert count == value
    assert type(count) is int


@pytest.mark.parametrize("value", [0, -1, np.int64(-3)])
def test_counts_below_one_are_refused(value):
    with raises(ValueError, f"num_heads is {value}; a whole number of at least 1 is wanted"):
        checks.as_count("num_heads", value)


@pytest.mark.parametrize("value", [True, np.True_, 2.0, "2", None])
def test_what_is_no_count_is_refused(value):
    with raises(TypeError, f"num_heads is {value!r}; a whole number of at least 1 is wanted"):
        checks.as_count("num_heads", value)


@pytest.mark.parametrize(("axis", "ndim"), [(-3, 3), (2, 3), (np.int8(0), 1)])
def test_axes(axis, ndim):
    assert checks.as_axis(axis, ndim) == axis


@pytest.mark.parametrize("axis", [3, -4])
def test_an_axis_that_is_not_there_is_refused(axis):
    with raises(ValueError, f"axis is {axis}; a whole number from -3 to 2 is wanted"):
        checks.as_axis(axis, 3)


@pytest.mark.parametrize("axis", [None, 1.0, True, (0, 1)])
def test_what_is_no_axis_is_refused(axis):
    with raises(TypeError, f"axis is {axis!r}; a whole number from -3 to 2 is wanted"):
        checks.as_axis(axis, 3)


@pytest.mark.parametrize("d_k", [1, 4, 7, 64])
def test_the_scale_is_one_over_the_root_of_the_width(d_k):
    assert checks.as_scale(None, d_k) ** 2 * d_k == pytest.approx(1, rel=1e-15)


@pytest.mark.parametrize("scale", [0, -2, 0.125, np.float32(0.5), Fraction(1, 4)])
def test_a_given_scale_does_not_look_at_the_width(scale):
    assert checks.as_scale(scale, 7) == scale
    assert type(checks.as_scale(scale, 7)) is float


@pytest.mark.parametrize("scale", [np.nan, np.inf, -np.inf, np.float32(np.inf), 10**400])
def test_a_scale_beyond_all_bounds_is_refused(scale):
    with raises(ValueError, f"scale is {scale}; a finite number or None is wanted"):
        checks.as_scale(scale, 4)


@pytest.mark.parametrize("scale", ["0.5", True, np.False_, 1j, Decimal(1), np.ones(1)])
def test_what_is_no_scale_is_refused(scale):
    with raises(TypeError, f"scale is {scale!r}; a finite number or None is wanted"):
        checks.as_scale(scale, 4)


@pytest.mark.parametrize("kind", [list, tuple, np.array, iter])
def test_names(kind):
    assert checks.as_names("tokens", kind(["cat", "sat"])) == ("cat", "sat")


@pytest.mark.parametrize("names", ["cat", None, 3, ["cat", 3]])
def test_what_are_no_names_is_refused(names):
    with raises(TypeError, f"tokens is {names!r}; a sequence of strings is wanted"):
        checks.as_names("tokens", names)


def test_no_names_are_refused():
    with raises(ValueError, "tokens is empty; at least one is wanted"):
        checks.as_names("tokens", [])


def test_a_frozen_array_is_a_copy_that_cannot_be_written():
    array = np.zeros(3)
    frozen = checks.frozen(array)
    with pytest.raises(ValueError, match="read-only"):
        frozen[0] = 1
    array[0] = 1
    assert frozen[0] == 0


def test_a_product_is_the_matrix_product(rng):
    left, right = rng.normal(size=(2, 3, 5)), rng.normal(size=(2, 5, 7))
    np.testing.assert_array_equal(checks.finite_product("a and b", left, right), left @ right)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_product_that_overflows_is_refused(dtype):
    huge = np.full((1, 2), np.finfo(dtype).max)
    name = np.dtype(dtype).name
    sentence = f"a and b overflow {name} when multiplied; smaller numbers are wanted"
    with raises(ValueError, sentence):
        checks.finite_product("a and b", huge, huge.T)


def test_leading_axes_that_broadcast_pass():
    assert checks.check_broadcast("a", np.ones((2, 1, 5, 7)), "b", np.ones((3, 7, 5))) is None
