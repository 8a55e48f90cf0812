"""A softmax that is read block by block equals that of whole rows, however the blocks are cut."""

import functools
import itertools

import numpy as np
import pytest
from helpers import BATCH, arrays
from hypothesis import given
from hypothesis import strategies as st

from mha import RunningSoftmax, online_softmax, softmax


def read(scores, value, cuts):
    """Read blocks between the cuts one after another."""
    kept = None
    for start, stop in itertools.pairwise([0, *cuts, scores.shape[-1]]):
        kept = online_softmax(scores[..., start:stop], value[..., start:stop, :], kept)
    return kept


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(st.data())
def test_any_cut_gives_the_softmax_of_the_whole_row(dtype, data):
    keys, d_v = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 4))
    leading = data.draw(st.sampled_from([(), (1,), (BATCH,)]))
    rows = data.draw(st.sampled_from([(), (3,)])) if not leading else (3,)
    scores = data.draw(arrays((*leading, *rows, keys), 60, dtype)).copy()
    scores[data.draw(arrays(scores.shape, 1)) < -0.5] = -np.inf
    value = data.draw(arrays((*leading, keys, d_v), 10, dtype))
    cuts = data.draw(st.sets(st.integers(1, keys - 1))) if keys > 1 else ()
    kept = read(scores, value, sorted(cuts))
    assert kept.output.dtype == kept.total.dtype == dtype
    tolerance = 2e-5 if dtype == np.float32 else 1e-12
    wanted = softmax(scores.astype(float)) @ value.astype(float)
    np.testing.assert_allclose(kept.output, wanted, rtol=tolerance, atol=tolerance)


@given(st.data())
def test_blocks_may_be_joined_in_any_order(data):
    keys = data.draw(st.integers(2, 9))
    scores, value = data.draw(arrays((3, keys), 60)), data.draw(arrays((keys, 2), 10))
    parts = [online_softmax(scores[:, [j]], value[[j]]) for j in range(keys)]
    order = data.draw(st.permutations(range(keys)))
    joined = functools.reduce(RunningSoftmax.merged, [parts[j] for j in order])
    half = keys // 2
    left, right = (functools.reduce(RunningSoftmax.merged, p) for p in (parts[:half], parts[half:]))
    for other in (left.merged(right), right.merged(left)):
        np.testing.assert_allclose(joined.output, other.output, rtol=1e-11, atol=1e-11)
        np.testing.assert_array_equal(joined.largest, other.largest)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rising", [False, True])
def test_scores_that_no_exponential_can_hold(dtype, rising):
    scores = np.array([-1e30, 0, 1e30, 1e30], dtype)[:: 1 if rising else -1]
    value = np.array([[7.0], [5.0], [3.0], [1.0]], dtype)[:: 1 if rising else -1]
    assert read(scores, value, [1, 2, 3]).output == [2]


def test_a_row_without_any_key_is_zero_until_one_comes():
    hidden = online_softmax([-np.inf, -np.inf], [[3.0], [5.0]])
    assert hidden.output == [0]
    assert hidden.total == 0
    assert hidden.merged(hidden).output == [0]
    assert online_softmax([2.0], [[7.0]], hidden).output == [7]
