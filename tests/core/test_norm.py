"""Layer normalisation against a loop over fractions."""

import numpy as np
import pytest
from helpers import loop_norm
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha.core.norm import layer_norm

TOLERANCES = {
    np.float32: {"rtol": 2e-5, "atol": 2e-6},
    np.float64: {"rtol": 1e-12, "atol": 1e-13},
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_each_number_is_that_of_a_loop(dtype, data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=7))
    rng = np.random.default_rng(data.draw(st.integers(0, 9999)))
    size, away = data.draw(st.sampled_from([(1, 0), (30, 0), (1, 3), (1e-3, 0)]))
    x = (rng.normal(size=shape) * size + away).astype(dtype)
    gain, bias = rng.normal(size=(2, shape[-1])).astype(dtype)
    eps = data.draw(st.sampled_from([1e-5, 0.25]))
    found = layer_norm(x, gain, bias, eps)
    assert found.dtype == dtype
    assert found.shape == shape
    wanted = [loop_norm(row, gain, bias, eps) for row in x.reshape(-1, shape[-1])]
    np.testing.assert_allclose(found, np.reshape(wanted, shape), **TOLERANCES[dtype])


@pytest.mark.parametrize(("dtype", "size"), [(np.float64, 1e200), (np.float32, 1e30)])
def test_numbers_whose_squares_leave_the_range_are_normalised(dtype, size):
    found = layer_norm(np.array([9, -5, 3, 1], dtype) * dtype(size))
    np.testing.assert_allclose(found, [1.4, -1.4, 0.2, -0.2], rtol=1e-5)


def test_equal_numbers_become_zeros():
    np.testing.assert_array_equal(layer_norm(np.full((2, 3), 7.0)), np.zeros((2, 3)))
    np.testing.assert_array_equal(layer_norm([[5.0]], bias=[2]), [[2.0]])
