"""Blockwise attention gives the plain result for every block size, in less memory."""

import tracemalloc

import numpy as np
import pytest
from helpers import KEYS, QUERIES, inputs, raises
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha import blockwise_attention, scaled_dot_product_attention
from mha.core import blockwise, tiles

LONG = 4, 151, 173  # heads, queries and keys that take several tiles of prime sizes


def same_as_plain(*arguments):
    blockwise = blockwise_attention(*arguments, block_size=29)
    np.testing.assert_allclose(blockwise, scaled_dot_product_attention(*arguments), atol=1e-12)


@pytest.mark.parametrize("is_small", [True, False])  # what is small may be one product
@pytest.mark.parametrize(
    "causal", [{}, {"is_causal": True}, {"is_causal": True, "align": "bottom-right"}]
)
@settings(max_examples=settings().max_examples // 3)
@given(data=st.data())
def test_any_shape_in_blocks_and_in_tiles(data, is_small, causal):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    most = (7, 7, 7, 7) if is_small else (70, 90, 9, 9)
    n, m, d_k, d_v = (data.draw(st.integers(1, size)) for size in most)
    leading = data.draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=3))
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    spread = data.draw(st.sampled_from([0.01, 1, 40]))
    query, key, value = (
        (spread * rng.normal(size=(*leading, *shape))).astype(dtype)
        for shape in ((n, d_k), (m, d_k), (m, d_v))
    )
    shape = data.draw(st.sampled_from([(n, m), (m,), (), (*leading, n, m), (*leading, 1, m)]))
    allowed, added = rng.random(shape) < 0.5, 5 * rng.normal(size=shape)
    forbidden = np.where(allowed, added, data.draw(st.sampled_from([-np.inf, -3e38])))
    options = {
        **causal,
        "mask": [None, allowed, added, forbidden][data.draw(st.integers(0, 3))],
        "scale": data.draw(st.none() | st.just(0.7)),
    }
    if leading and data.draw(st.booleans()):
        query = np.repeat(query, 2, axis=-3)
        options |= {"enable_gqa": True, "mask": None}
    has_exp2 = data.draw(st.booleans())
    block_size = data.draw(st.integers(1, 9) if is_small else st.sampled_from([1, 2, 7, 31]))
    workers = data.draw(st.integers(1, 4))
    slack = spread * max(1, spread**2) * 20 * np.finfo(dtype).eps * d_k
    with pytest.MonkeyPatch.context() as monkeypatch:
        on(monkeypatch, workers)
        monkeypatch.setattr(tiles, "has_fast_exp2", lambda: has_exp2)
        monkeypatch.setattr(blockwise, "SMALL", blockwise.SMALL if is_small else 0)
        plain = scaled_dot_product_attention(query, key, value, **options)
        found = blockwise_attention(query, key, value, block_size=block_size, **options)
    assert found.dtype == plain.dtype
    np.testing.assert_allclose(found, plain, rtol=0, atol=slack)


@pytest.mark.parametrize("block_size", [1, 3])
@pytest.mark.parametrize("align", ["top-left", "bottom-right"])
@pytest.mark.parametrize("queries", [2, QUERIES, 2 * KEYS])
def test_values_so_huge_that_each_block_is_looked_at(rng, block_size, align, queries):
    _, key, value = inputs(rng, 2)
    query = rng.normal(size=(2, queries, key.shape[-1]))
    options = {"is_causal": True, "align": align}
    plain = scaled_dot_product_attention(query, key, value, **options)
    found = blockwise_attention(query, key, value * 1e200, block_size=block_size, **options)
    np.testing.assert_allclose(found / 1e200, plain, rtol=1e-12, atol=1e-12)


def on(monkeypatch, workers):
    """Have so many workers share the work, however little it is."""
    monkeypatch.setattr(blockwise, "can_limit", lambda: True)
    monkeypatch.setattr(blockwise, "usable_cores", lambda: workers)
    monkeypatch.setattr(tiles, "SCORES_PER_WORKER", 1)


def long_inputs(rng, dtype=np.float64, spread=1.0):
    heads, n, m = LONG
    shapes = (2, heads, n, 11), (2, heads, m, 11), (2, heads, m, 13)
    query, key, value = (rng.normal(size=shape).astype(dtype) for shape in shapes)
    return spread * query, key, value


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("spread", [1.0, 100.0])
def test_every_number_of_workers_gives_the_same_bits(rng, monkeypatch, spread, dtype):
    inputs = long_inputs(rng, dtype, spread=dtype(spread))
    results = []
    for workers in (1, 2, 3, 64):
        on(monkeypatch, workers)
        for _ in range(2):
            results.append(blockwise_attention(*inputs, block_size=19, is_causal=True).tobytes())
    assert len(set(results)) == 1


def test_memory_may_lie_in_any_order(rng):
    query, key, value = (np.ascontiguousarray(x.T).T for x in long_inputs(rng))
    same_as_plain(query[..., ::-1], key[..., ::-1], value[..., ::-2])
    same_as_plain(*(x.swapaxes(0, 1) for x in long_inputs(rng)))


def test_scores_that_overflow_in_a_later_tile_only(rng):
    query, key, value = long_inputs(rng, np.float32)
    query, key = np.abs(query), np.abs(key)
    key[..., -1, :] = 200  # exp(600) is beyond float32
    output = blockwise_attention(query, key, value, block_size=16)
    np.testing.assert_allclose(output, np.broadcast_to(value[..., -1:, :], output.shape), rtol=1e-5)


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_values_of_any_size(rng, size):
    query, key, value = long_inputs(rng, np.float32, spread=np.float32(3))
    value = value * np.float32(size)
    exact = scaled_dot_product_attention(*(x.astype(np.float64) for x in (query, key, value)))
    output = blockwise_attention(query, key, value, block_size=31)
    np.testing.assert_allclose(output / size, exact / size, atol=2e-5)


def peak(function, *arguments, **options):
    """Return the most bytes that a call held at once."""
    tracemalloc.start()
    try:
        function(*arguments, **options)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("cores", [1, 4, 64])
def test_memory_beside_the_output_does_not_grow_with_a_long_input(rng, monkeypatch, cores):
    on(monkeypatch, cores)

    def beside(n):
        arrays = [rng.normal(size=(2, n, 16)).astype(np.float32) for _ in range(3)]
        return peak(blockwise_attention, *arrays, is_causal=True) - arrays[0].nbytes

    assert beside(4096) < 1.1 * cores * beside_of_one(monkeypatch, beside)


def beside_of_one(monkeypatch, beside):
    """Return what one worker takes beside the output of a shorter input."""
    with monkeypatch.context() as alone:
        on(alone, 1)
        found = beside(1024)
    assert found < 8 * 2**20
    return found


def test_leading_axes_that_differ_are_refused(rng):
    query, key, value = inputs(rng, 3)
    with raises(ValueError, "leading axes are (3,) in query but (1,) in key; they must match"):
        blockwise_attention(query, key[:1], value)
    with raises(ValueError, "leading axes are (3,) in query but () in value; they must match"):
        blockwise_attention(query, key, value[0])


@pytest.mark.parametrize("name", ["query", "key", "value"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_tiles_refuse_what_is_not_finite_even_where_nobody_looks_at_it(rng, monkeypatch, name, bad):
    on(monkeypatch, 2)
    arguments = dict(zip(("query", "key", "value"), long_inputs(rng), strict=True))
    arguments[name][1, 2, -1, 3] = bad  # causal attention reads none of the last keys
    place = (1, 2, arguments[name].shape[-2] - 1, 3)
    with raises(ValueError, f"{name} holds {bad} at index {place}; finite numbers are wanted"):
        blockwise_attention(**arguments, is_causal=True, block_size=19)
