"""Arguments come out as floating-point arrays, or are refused in one exact sentence."""

import numpy as np
import pytest
from helpers import raises

from mha.core import checks

LIMIT = 2**53


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


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(["a"], "<U1"), ([1j], "complex128"), ([None], "object"), ([10**30], "object")],
)
def test_what_is_no_real_number_is_refused(value, dtype):
    with raises(TypeError, f"key has dtype {dtype}; float32, float64 or integers are wanted"):
        checks.as_array("key", value)


def test_the_first_number_that_is_not_finite_is_named():
    array = np.zeros((2, 3, 5))
    array[1, 2, 3] = array[1, 2, 4] = -np.inf
    with raises(ValueError, "key holds -inf at index (1, 2, 3); finite numbers are wanted"):
        checks.as_finite_array("key", array)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_are_exact_or_refused(dtype):
    for sign in (1, -1) if dtype == np.int64 else (1,):
        given = sign * np.array([0, 1, LIMIT - 1, LIMIT], dtype)
        assert [int(x) for x in checks.as_array("x", given)] == given.tolist()
        with raises(ValueError, f"x holds {sign * (LIMIT + 1)} at index (0, 1);"
                    " integers up to 2**53 in size are wanted"):  # fmt: skip
            checks.as_array("x", np.array([[0, sign * (LIMIT + 1)]], dtype))


def test_longdouble_is_refused():
    dtype = np.dtype(np.longdouble)
    if dtype == np.float64:  # some machines have no other: then it is float64 under a second name
        assert checks.as_array("x", np.array([1.0], dtype)).dtype == np.float64
        return
    with raises(TypeError, f"x has dtype {dtype}; float32, float64 or integers are wanted"):
        checks.as_array("x", np.array([1.0], dtype))
