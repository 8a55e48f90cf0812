"""Attention at once, in blocks and as a recurrence. test_onnx_oracle.py checks its numbers."""

import tracemalloc

import numpy as np
import pytest
from helpers import raises
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mha
from mha.core import blockwise, tiles
from mha.core.blockwise import blockwise_attention


@pytest.mark.parametrize("function", [mha.scaled_dot_product_attention, blockwise_attention])
@pytest.mark.parametrize("num_keys", [1, 3, 49])
def test_the_mean_of_the_largest_floats_is_finite_or_refused(num_keys, function):
    # Rounding may raise the mean of the largest floats above them; it must not become infinite.
    value, refusal = np.full((num_keys, 2), np.finfo(np.float64).max), None
    try:
        output = function(np.zeros((3, 5)), np.zeros((num_keys, 5)), value)
        np.testing.assert_allclose(output, np.broadcast_to(value[0], (3, 2)), rtol=1e-14)
    except ValueError as error:
        refusal = str(error)
    assert refusal is None or refusal.startswith("weights and value overflow float64 when")


# ---- In blocks and tiles: the plain result, the same bits, in less memory ----

LAID_OUT = (
    lambda x: x,
    lambda x: np.ascontiguousarray(x.T).T,
    lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    lambda x: x[..., ::-1, :].copy()[..., ::-1, :],
)
"""Memory layouts of an array with the same elements."""


def set_workers(monkeypatch, workers):
    """Have so many workers share the work, however little it is."""
    monkeypatch.setattr(blockwise, "can_limit_threads", lambda: True)
    monkeypatch.setattr(blockwise, "usable_cores", lambda: workers)
    monkeypatch.setattr(tiles, "SCORES_PER_WORKER", 1)


@pytest.mark.parametrize("is_small", [True, False])  # small inputs may be computed in one product
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
    laid_out = data.draw(st.sampled_from(LAID_OUT))
    query, key, value = (
        laid_out((spread * rng.normal(size=(*leading, *shape))).astype(dtype))
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
    size = dtype(data.draw(st.sampled_from([1, 1e-30, 1e30])))  # values of any size
    has_exp2 = data.draw(st.booleans())
    block_size = data.draw(st.integers(1, 9) if is_small else st.sampled_from([1, 2, 7, 31]))
    workers = data.draw(st.integers(1, 4))
    slack = spread * max(1, spread**2) * 20 * np.finfo(dtype).eps * d_k
    with pytest.MonkeyPatch.context() as monkeypatch:
        set_workers(monkeypatch, workers)
        monkeypatch.setattr(tiles, "has_fast_exp2", lambda: has_exp2)
        monkeypatch.setattr(
            blockwise, "MAX_UNBLOCKED_SCORES", blockwise.MAX_UNBLOCKED_SCORES if is_small else 0
        )
        plain = mha.scaled_dot_product_attention(query, key, value, **options)
        found = blockwise_attention(query, key, value * size, block_size=block_size, **options)
    assert found.dtype == plain.dtype
    np.testing.assert_allclose(found / size, plain, rtol=0, atol=slack)


def long_inputs(rng, dtype=np.float64):
    """Return inputs of prime sizes that need several tiles."""
    shapes = (2, 4, 151, 11), (2, 4, 173, 11), (2, 4, 173, 13)
    return [rng.normal(size=shape).astype(dtype) for shape in shapes]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("spread", [1, 100])
def test_every_number_of_workers_gives_the_same_bits(rng, monkeypatch, spread, dtype):
    query, *others = long_inputs(rng, dtype)
    results = set()
    for workers in (1, 1, 2, 2, 3, 3, 64, 64):
        set_workers(monkeypatch, workers)
        found = blockwise_attention(dtype(spread) * query, *others, block_size=19, is_causal=True)
        results.add(found.tobytes())
    assert len(results) == 1


def peak_memory(rng, monkeypatch, cores, n):
    """Return the peak memory in bytes of a causal call, without its output."""
    set_workers(monkeypatch, cores)
    query, key, value = (rng.normal(size=(2, n, 16)).astype(np.float32) for _ in range(3))
    tracemalloc.start()
    blockwise_attention(query, key, value, is_causal=True)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most - value.nbytes


@pytest.mark.parametrize("cores", [1, 4, 64])
def test_memory_beside_the_output_does_not_grow_with_a_long_input(rng, monkeypatch, cores):
    short = peak_memory(rng, monkeypatch, 1, 1024)
    assert short < 8 * 2**20
    assert peak_memory(rng, monkeypatch, cores, 4096) < 1.1 * cores * short


@pytest.mark.parametrize("name", ["query", "key", "value"])
def test_tiles_refuse_nonfinite_values_even_if_masked(rng, monkeypatch, name):
    set_workers(monkeypatch, 2)
    arguments = dict(zip(("query", "key", "value"), long_inputs(rng), strict=True))
    place = (1, 2, arguments[name].shape[-2] - 1, 3)
    arguments[name][place] = np.nan  # causal attention reads none of the last keys
    with raises(ValueError, f"{name} holds nan at index {place}; finite numbers are wanted"):
        blockwise_attention(**arguments, is_causal=True, block_size=19)
