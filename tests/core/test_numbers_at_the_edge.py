"""Numbers at the edge of a dtype, in rows of unlike size, and where a warning is an error.

Nothing of the package is called while this module is imported, so that `scripts/mutants.py` can ask
its tests about every function.
"""

import numpy as np
import pytest
from helpers import raises

from mha import (
    Norm,
    blockwise_attention,
    feed_forward,
    layer_norm,
    online_softmax,
    scaled_dot_product_attention,
    softmax,
    softmax_backward,
    softmax_jacobian,
)
from mha.core.feed_forward import activated
from mha.core.learning import cross_entropy, draw_layer, layer_gradients, train_layer
from mha.core.norm import moments

MAX = np.finfo(np.float64).max


def test_rows_of_unlike_size_do_not_meet():
    loss, d_scores = cross_entropy([[0.0, 0.0], [-2000.0, -2000.0]], [0, 1])
    assert loss == pytest.approx(np.log(2))
    np.testing.assert_array_equal(d_scores, [[-0.25, 0.25], [0.25, -0.25]])
    tiny = layer_norm([[1e-200, -1e-200], [1e200, -1e200]], eps=0)
    np.testing.assert_allclose(tiny, [[1.0, -1.0]] * 2, rtol=1e-12)
    np.testing.assert_allclose(layer_norm([[MAX, -MAX]], eps=0), [[1.0, -1.0]], rtol=1e-12)


def test_numbers_are_as_wide_as_the_widest():
    narrow, wide = np.ones((1, 2), np.float32), np.full((1, 2), 1 + 1e-9)
    assert layer_norm(narrow, gain=wide[0]).dtype == np.float64
    assert feed_forward(narrow, wide.T, None, narrow, None).dtype == np.float64
    kept = Norm(eps=np.float32(0.5)).eps
    assert type(kept) is float
    with pytest.raises(ValueError, match="read-only"):
        Norm(gain=[1.0]).gain[0] = 2


def test_a_layer_is_drawn_as_wide_as_a_head():
    layer = draw_layer(np.random.default_rng(3), 5, 2, 6, 4)
    drawn = np.random.default_rng(3).normal(size=(3, 2, 5, 3)) / np.sqrt(3)
    np.testing.assert_array_equal([layer.w_q, layer.w_k, layer.w_v], drawn)


def test_a_step_looks_at_64_sequences_and_a_tiny_gradient_moves_less():
    rng = np.random.default_rng(3)
    layer, x = draw_layer(rng, 2, 1, 2, 2), rng.normal(size=(66, 1, 2))
    answers = rng.integers(2, size=(66, 1, 1))
    losses = train_layer(layer, x, answers, steps=1, rate=0).losses
    assert losses == (layer_gradients(layer, x[:64], answers[:64])[0],)
    small = 1e-8 * x
    _, (*_, gradient) = layer_gradients(layer, small[:64], answers[:64])
    assert np.abs(gradient).max() < 1e-8
    moved = train_layer(layer, small, answers, steps=1, rate=0.25).layer.w_o - layer.w_o
    np.testing.assert_allclose(moved, -0.25 * gradient / (np.abs(gradient) + 1e-8), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nothing_is_raised_where_a_caller_makes_every_warning_an_error(dtype):
    most = np.finfo(dtype).max
    least = np.finfo(dtype).tiny
    far = np.array([[most, -most], [0, -most]], dtype)
    one = np.eye(2, dtype=dtype)
    with np.errstate(all="raise"):
        assert softmax(far).tolist() == [[1.0, 0.0]] * 2
        assert softmax(np.array([0, -200 if dtype == np.float32 else -800], dtype))[1] == 0
        assert softmax_jacobian(np.array([1.0, least, least], dtype))[1, 2] == 0
        assert cross_entropy(far, [0, 0])[0] == 0
        online = online_softmax(far, np.ones((2, 1), dtype))
        np.testing.assert_array_equal(online.output, np.ones((2, 1)))
        np.testing.assert_array_equal(activated(np.array([-least], dtype), "gelu"), [-least / 2])
        assert activated(np.array([-12.0], dtype), "gelu")[0] <= 0
        assert (layer_norm(np.array([[least, -least, 0]], dtype)) != 0).any()
        assert scaled_dot_product_attention(far, far * 0, one).dtype == dtype
        large = np.array([[most, most / 2]] * 3, dtype)
        found = blockwise_attention(one, one, large[:2], block_size=1)
        assert found.dtype == dtype
        sentence = f"the normalised numbers, gain and bias overflow {np.dtype(dtype)} when combined"
        with pytest.raises(ValueError, match=sentence):
            layer_norm(np.array([[1, -1]], dtype), gain=np.array([most, most]), bias=large[0])
        sentence = f"the numbers of a row overflow {np.dtype(dtype)} when averaged"
        with pytest.raises(ValueError, match=sentence):
            layer_norm(large)


def test_a_row_is_averaged_whatever_a_caller_makes_an_error():
    least, row_of = 5e-324, "the numbers of a row overflow"
    with np.errstate(all="raise", under="ignore"):
        assert moments(np.array([[least, -least]]), 0.0)[1] == [least]
    with np.errstate(all="raise"):
        found = layer_norm([[1.0, -1.0, 1e-200]], gain=[1.0, 1.0, 1e-200])
        assert abs(found[0, 2]) < 1e-300
        row = np.zeros(16)
        row[[0, 8]], row[[4, 12]] = MAX, -MAX  # NumPy's sum of these is infinity less infinity
        with raises(ValueError, f"{row_of} float64 when averaged; smaller numbers are wanted"):
            moments(row[None], 0.0)


def test_a_mask_that_the_scores_cannot_hold_is_refused_by_blocks_too():
    one, mask = np.eye(2, dtype=np.float32), np.array([[0.0, -1e300]] * 2)
    sentences = []
    for options in ({}, {"block_size": 1}):
        with pytest.raises(ValueError, match="mask") as caught:
            blockwise_attention(one, one, one, mask=mask, **options)
        sentences.append(str(caught.value))
    assert sentences[0] == sentences[1]


def test_a_difference_of_gradients_may_be_twice_the_largest_number():
    found = softmax_backward([MAX, -MAX], [-0.001, 1.0])
    np.testing.assert_allclose(found / MAX, [-0.002001, 0.001], rtol=1e-9)
