"""Learning: the loss against logarithms, its gradients against finite differences, and training."""

import math

import numpy as np
import pytest
from helpers import BATCH, D_MODEL, HEADS, QUERIES, central_differences, raises

from mha.core.learning import (
    answer_scores,
    cross_entropy,
    draw_layer,
    layer_gradients,
    train_layer,
)
from mha.core.multihead import MultiHeadWeights

QUESTIONS, CHOICES = 2, 3
NAMES = ("w_q", "w_k", "w_v", "w_o")


def some_layer(seed=3, num_heads=HEADS, dtype=np.float64):
    drawn = draw_layer(
        np.random.default_rng(seed), D_MODEL, num_heads, 2 * num_heads, QUESTIONS * CHOICES
    )
    return MultiHeadWeights(*(getattr(drawn, name).astype(dtype) for name in NAMES))


def some_task(rng, dtype=np.float64):
    """Return sequences and answers, some of which are not asked for."""
    x = rng.normal(size=(BATCH, QUERIES, D_MODEL)).astype(dtype)
    return x, rng.integers(-1, CHOICES, size=(BATCH, QUERIES, QUESTIONS))


# ---- The loss ----


def test_the_loss_is_the_mean_surprise_at_the_answers():
    scores = np.log([[1.0, 3.0], [2.0, 2.0], [5.0, 1.0]])
    loss, _ = cross_entropy(scores, [1, -1, 1])
    assert math.isclose(loss, (-math.log(3 / 4) - math.log(1 / 6)) / 2, rel_tol=1e-12)


def test_far_scores_neither_overflow_nor_are_lost():
    loss, d_scores = cross_entropy([[1e5, 0.0], [1e5, 0.0]], [0, 1])
    assert loss == 5e4
    np.testing.assert_array_equal(d_scores, [[0, 0], [0.5, -0.5]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gradient_by_the_scores_is_that_of_finite_differences(rng, dtype):
    scores, answers = rng.normal(size=(5, CHOICES)), np.array([2, 0, -1, 1, 2])
    _, d_scores = cross_entropy(scores.astype(dtype), answers)
    assert d_scores.dtype == dtype
    slope = central_differences(lambda x: cross_entropy(x, answers)[0], scores, step=1e-5)
    np.testing.assert_allclose(d_scores, slope, rtol=0, atol=1e-6 if dtype == np.float32 else 1e-9)


@pytest.mark.parametrize(
    ("answers", "error", "sentence"),
    [
        ([0.0, 1.0], TypeError, "answers has dtype float64; integers are wanted"),
        ([0], ValueError, "answers has shape (1,); (2,) is wanted"),
        ([0, 2], ValueError, "answers has choices outside of -1 to 1"),
        ([-2, 0], ValueError, "answers has choices outside of -1 to 1"),
        ([-1, -1], ValueError, "answers is -1 everywhere; at least one answer is wanted"),
    ],
)
def test_answers_that_cannot_be(answers, error, sentence):
    with raises(error, sentence):
        cross_entropy(np.zeros((2, 2)), answers)


# ---- The layer ----


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("num_heads", "dtype"), [(1, np.float32), (HEADS, np.float64)])
def test_a_matrix_s_gradient_is_that_of_finite_differences(rng, name, num_heads, dtype):
    layer, (x, answers) = some_layer(num_heads=num_heads), some_task(rng)
    narrow = MultiHeadWeights(*(getattr(layer, n).astype(dtype) for n in NAMES))
    loss, gradients = layer_gradients(narrow, x.astype(dtype), answers)
    assert math.isclose(
        loss, cross_entropy(answer_scores(x, layer, QUESTIONS), answers)[0], rel_tol=1e-5
    )
    gradient = dict(zip(NAMES, gradients, strict=True))[name]
    matrix = np.array(getattr(layer, name))
    assert gradient.shape == matrix.shape
    assert gradient.dtype == dtype
    for flat in rng.choice(matrix.size, 12, replace=False):
        nudge = np.zeros(matrix.size)
        nudge[flat] = 1e-5
        moved = [
            layer_gradients(
                MultiHeadWeights(**{**vars(layer), name: matrix + nudge.reshape(matrix.shape) * s}),
                x,
                answers,
            )[0]
            for s in (1, -1)
        ]
        slope = (moved[0] - moved[1]) / 2e-5
        tolerance = 2e-5 if dtype == np.float32 else 1e-8
        assert math.isclose(gradient.flat[flat], slope, abs_tol=tolerance)


# ---- Training ----


def test_training_learns_answers_by_heart(rng):
    x, answers = some_task(rng)
    done, again = (train_layer(some_layer(), x, answers, steps=150) for _ in range(2))
    assert done.losses == again.losses
    assert len(done.losses) == 150
    assert done.losses[-1] < 0.05 < 0.5 < done.losses[0]


def test_the_first_step_of_adam_moves_each_number_by_the_rate(rng):
    layer, (x, answers) = some_layer(), some_task(rng)
    _, gradients = layer_gradients(layer, x, answers)
    moved = train_layer(layer, x, answers, steps=1, rate=0.25).layer
    for name, gradient in zip(NAMES, gradients, strict=True):
        step = getattr(moved, name) - getattr(layer, name)
        np.testing.assert_allclose(step, -0.25 * np.sign(gradient), atol=1e-4)
