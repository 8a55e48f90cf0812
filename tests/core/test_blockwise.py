"""Blockwise attention gives the plain result for every block size, in less memory."""

import tracemalloc

import numpy as np
import pytest
from helpers import BATCH, D_V, HEADS, KEYS, QUERIES, arrays, inputs, raises
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha import blockwise_attention, scaled_dot_product_attention

BLOCK_SIZES = [1, 2, 3, 4, 5, 6, 7, 11, 128]


def same_as_plain(query, key, value, block_size, rtol=1e-12, **options):
    plain = scaled_dot_product_attention(query, key, value, **options)
    blockwise = blockwise_attention(query, key, value, block_size=block_size, **options)
    assert blockwise.dtype == plain.dtype
    np.testing.assert_allclose(blockwise, plain, rtol=rtol, atol=rtol)


def masks(rng):
    mask = rng.random((QUERIES, KEYS)) < 0.4
    mask[0] = False
    mask[1] = np.arange(KEYS) == KEYS - 1
    bias = rng.normal(size=(HEADS, 1, KEYS))
    return {
        "none": None,
        "rows without any key": mask,
        "a mask a head": rng.random((HEADS, QUERIES, KEYS)) < 0.5,
        "keys": np.arange(KEYS) >= 3,
        "one for all": np.True_,
        "float": bias,
        "float with minus infinity": np.where(mask, bias, -np.inf),
    }


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("name", masks(np.random.default_rng(0)))
def test_equals_plain_attention(rng, name, is_causal, block_size):
    query, key, value = inputs(rng, BATCH, HEADS)
    mask = masks(rng)[name]
    same_as_plain(query, key, value, block_size, mask=mask, is_causal=is_causal, scale=0.7)


@pytest.mark.parametrize("block_size", BLOCK_SIZES)
def test_causal_with_more_queries_than_keys(rng, block_size):
    query, key, _ = inputs(rng)
    same_as_plain(key, query, rng.normal(size=(QUERIES, D_V)), block_size, is_causal=True)


@given(st.data(), st.integers(1, 9), hnp.array_shapes(min_dims=0, max_dims=2, max_side=3))
def test_any_shape(data, block_size, leading):
    n, m, d_k, d_v = (data.draw(st.integers(1, 7)) for _ in range(4))
    shapes = (n, d_k), (m, d_k), (m, d_v)
    query, key, value = (data.draw(arrays((*leading, *shape), 5)) for shape in shapes)
    options = {
        "is_causal": data.draw(st.booleans()),
        "align": data.draw(st.sampled_from(["top-left", "bottom-right"])),
        "mask": data.draw(st.none() | arrays((n, m), 5) | hnp.arrays(bool, (n, m))),
    }
    same_as_plain(query, key, value, block_size, **options)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, int])
def test_dtypes(rng, dtype):
    query, key, value = inputs(rng, dtype=dtype)
    for mask in (None, np.zeros((QUERIES, KEYS)), np.ones(KEYS, bool)):
        same_as_plain(query, key, value, 3, rtol=1e-5, mask=mask, is_causal=True)


def test_mixed_dtypes(rng):
    single = inputs(rng, dtype=np.float32)
    for i in range(3):
        arguments = [x.astype(np.float64) if i == j else x for j, x in enumerate(single)]
        same_as_plain(*arguments, 3, rtol=1e-6, mask=np.zeros((QUERIES, KEYS)))


def test_a_fully_masked_row_is_zero(rng):
    mask = np.ones((QUERIES, KEYS), bool)
    mask[2] = False
    output = blockwise_attention(*inputs(rng), block_size=2, mask=mask)
    assert (output[2] == 0).all()
    assert (output[[0, 1, 3, 4]] != 0).all()


@given(
    hnp.arrays(np.float64, (3, 1), elements=st.sampled_from([-1e300, -1.0, 0.0, 1.0, 1e300])),
    arrays((5, 1), 1.0),
    arrays((5, 2), 1e300),
    st.integers(1, 5),
)
def test_huge_scores_and_values(query, key, value, block_size):
    plain = scaled_dot_product_attention(query, key, value)
    blockwise = blockwise_attention(query, key, value, block_size=block_size)
    slack = np.abs(value).max() * 1e-14
    np.testing.assert_allclose(blockwise, plain, rtol=1e-13, atol=slack)


def test_a_sum_of_values_may_be_too_large_as_long_as_their_mean_is_not():
    value = np.full((KEYS, 2), 1e308)
    output = blockwise_attention(np.zeros((3, 2)), np.zeros((KEYS, 2)), value, block_size=2)
    np.testing.assert_allclose(output, value[:3], rtol=1e-14)


def test_scores_that_rise_and_fall_between_blocks():
    key = np.array([[-1e3], [0.0], [1e3], [0.0], [-1e3]])
    value = np.arange(5.0)[:, None]
    output = blockwise_attention([[1.0], [-1.0], [0.0]], key, value, block_size=1, scale=1)
    np.testing.assert_allclose(output, [[2], [2], [2]], rtol=1e-15)


def peak(function, *arguments, **options):
    """Return the most bytes that a call held at once."""
    tracemalloc.start()
    try:
        function(*arguments, **options)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("masked", [False, True])
def test_memory_grows_with_the_length_and_not_with_its_square(rng, masked):
    def problem(n):
        mask = np.ones((n, n), bool) if masked else None
        return [rng.normal(size=(n, 2)) for _ in range(3)], {"mask": mask}

    short, long = problem(509), problem(4 * 509)
    growth = {
        function: peak(function, *long[0], **long[1]) / peak(function, *short[0], **short[1])
        for function in (blockwise_attention, scaled_dot_product_attention)
    }
    assert growth[blockwise_attention] < 4
    assert growth[scaled_dot_product_attention] > 12


def test_leading_axes_that_differ_are_refused(rng):
    query, key, value = inputs(rng, 3)
    with raises(ValueError, "leading axes are (3,) in query but (1,) in key; they must match"):
        blockwise_attention(query, key[:1], value)
    with raises(ValueError, "leading axes are (3,) in query but () in value; they must match"):
        blockwise_attention(query, key, value[0])


@pytest.mark.parametrize("name", ["query", "key", "value"])
def test_nan_is_refused(rng, name):
    arguments = dict(zip(("query", "key", "value"), inputs(rng), strict=True))
    arguments[name][2, 1] = np.nan
    with raises(ValueError, f"{name} holds nan at index (2, 1); finite numbers are wanted"):
        blockwise_attention(**arguments)


def test_what_does_not_fit_is_refused(rng):
    query, key, value = inputs(rng)
    with raises(ValueError, "query has d_k=11 but key has d_k=10; they must match"):
        blockwise_attention(query, key[:, 1:], value)
    with raises(ValueError, "key has 7 rows but value has 6 rows; they must match"):
        blockwise_attention(query, key, value[1:])
    with raises(ValueError, "block_size is 0; a whole number of at least 1 is wanted"):
        blockwise_attention(query, key, value, block_size=0)
    with raises(
        ValueError,
        f"mask has shape {KEYS, QUERIES}; one that broadcasts to the scores' {QUERIES, KEYS}"
        " is wanted",
    ):
        blockwise_attention(query, key, value, mask=np.ones((KEYS, QUERIES), bool))
    with raises(ValueError, "scale is inf; a finite number or None is wanted"):
        blockwise_attention(query, key, value, scale=np.inf)


def test_the_place_of_a_bad_number_in_the_mask_is_that_in_the_whole_mask(rng):
    mask = np.zeros((QUERIES, KEYS))
    mask[4, 5] = np.nan
    wanted = "finite numbers or minus infinity are wanted"
    with raises(ValueError, f"mask holds nan at index (4, 5); {wanted}"):
        blockwise_attention(*inputs(rng), mask=mask, block_size=2)


def test_an_overflow_is_refused():
    huge = np.full((3, 2), np.finfo(np.float64).max)
    with raises(
        ValueError, "query and key overflow float64 when multiplied; smaller numbers are wanted"
    ):
        blockwise_attention(huge, huge, huge)
