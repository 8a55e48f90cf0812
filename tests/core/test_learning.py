"""Learning: the loss against logarithms, and training; test_gradients.py has the gradients."""

import math

import numpy as np
import pytest

from mha import cross_entropy, draw_layer, layer_gradients, train_layer


def some_task(rng):
    """Return a layer, sequences, and answers to two questions, some of which are not asked."""
    layer = draw_layer(np.random.default_rng(3), 17, 3, 6, 6)
    return layer, rng.normal(size=(2, 5, 17)), rng.integers(-1, 3, size=(2, 5, 2))


def test_the_loss_is_the_mean_surprise_at_the_answers():
    scores = np.log([[1.0, 3.0], [2.0, 2.0], [5.0, 1.0]])
    loss, _ = cross_entropy(scores, [1, -1, 1])
    assert loss == pytest.approx((-math.log(3 / 4) - math.log(1 / 6)) / 2, rel=1e-12)


def test_far_scores_neither_overflow_nor_are_lost():
    loss, d_scores = cross_entropy([[1e5, 0.0], [1e5, 0.0]], [0, 1])
    assert loss == 5e4
    np.testing.assert_array_equal(d_scores, [[0, 0], [0.5, -0.5]])


def test_training_learns_answers_by_heart(rng):
    task = some_task(rng)
    done, again = (train_layer(*task, steps=150) for _ in range(2))
    assert done.losses == again.losses
    assert len(done.losses) == 150
    assert done.losses[-1] < 0.05 < 0.5 < done.losses[0]


def test_the_first_step_of_adam_moves_each_number_by_the_rate(rng):
    layer, *task = some_task(rng)
    _, gradients = layer_gradients(layer, *task)
    moved = train_layer(layer, *task, steps=1, rate=0.25).layer.arrays
    for (name, array), gradient in zip(layer.arrays.items(), gradients, strict=True):
        np.testing.assert_allclose(moved[name] - array, -0.25 * np.sign(gradient), atol=1e-4)
