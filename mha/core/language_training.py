"""Training of a language model: gradients derived by hand, and steps of Adam."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array
from mha.core.gradients import backward
from mha.core.language import LanguageModel, as_indices, run_model
from mha.core.learning import Adam, cross_entropy
from mha.core.multihead import MATRICES
from mha.core.norm import normalise_backward


def word_losses(model: LanguageModel, indices: ArrayLike, **cut: tuple[int, int] | None) -> Array:
    """Return the cross-entropy of each next word, in nats.

    Parameters
    ----------
    model : LanguageModel
    indices : array_like of int, shape (..., n)
    cut : (int, int), optional
        As in `run_model`.

    Returns
    -------
    ndarray, shape (..., n - 1)
        Minus the logarithm of each word's predicted probability, for all words but the first.

    Examples
    --------
    >>> from mha.core.language import draw_model
    >>> model = draw_model(np.random.default_rng(3), ["a", "b"], 4)
    >>> word_losses(model, [0, 1, 1]).shape
    (2,)
    """
    indices = as_indices(indices, len(model.words))
    logits = run_model(model, indices[..., :-1], **cut).logits
    target = np.take_along_axis(logits, indices[..., 1:, None], axis=-1)
    largest = logits.max(axis=-1, keepdims=True)  # subtracted, so that no exponential overflows
    losses: Array = np.log(np.exp(logits - largest).sum(axis=-1)) + (largest - target)[..., 0]
    return losses


def model_gradients(model: LanguageModel, indices: ArrayLike) -> tuple[float, dict[str, Array]]:
    """Return a model's mean cross-entropy loss, and its gradient with respect to each array.

    Parameters
    ----------
    model : LanguageModel
    indices : array_like of int, shape (..., n)
        Each word but the first is a target, predicted from the words before it.

    Returns
    -------
    loss : float
        The mean over all targets, in nats.
    gradients : dict of str to ndarray
        By the names of `LanguageModel.arrays`.

    Examples
    --------
    >>> from mha.core.language import draw_model
    >>> model = draw_model(np.random.default_rng(3), ["a", "b", "c"], 4)
    >>> loss, gradients = model_gradients(model, [[0, 1, 2, 0]])
    >>> gradients["w_k2"].shape
    (2, 4, 2)
    """
    indices = as_indices(indices, len(model.words))
    run = run_model(model, indices[..., :-1])
    loss, d_logits = cross_entropy(run.logits, indices[..., 1:])
    gradients = {"unembedding": _rows(run.normed).T @ _rows(d_logits)}
    d_x = normalise_backward(d_logits @ model.unembedding.T, run.normed, run.spreads[-1])
    for number in range(len(model.blocks), 0, -1):
        block, forward_pass = model.blocks[number - 1], run.passes[number - 1]
        layer = backward(d_x, forward_pass, block.attention, is_cross=False)
        # The residual connection passes the gradient on unchanged, beside that of the attention.
        d_x = d_x + normalise_backward(layer.x, forward_pass.x, run.spreads[number - 1])
        gradients |= {f"{name}{number}": getattr(layer.weights, name) for name in MATRICES}
    d_embedding = np.zeros_like(model.embedding)
    # add.at, not +=: a word that occurs twice has the sum of both gradients.
    np.add.at(d_embedding, indices[..., :-1], d_x)
    return loss, gradients | {"embedding": d_embedding}


def _rows(x: Array) -> Array:
    """Reshape to a matrix with one row per word of all sequences."""
    return x.reshape(-1, x.shape[-1])


@dataclass(frozen=True, eq=False)
class ModelTraining:
    """A model after a number of training steps, and its loss before the last of them.

    Parameters
    ----------
    step : int
        The number of steps so far.
    model : LanguageModel
    loss : float
        The loss on the batch of the last step, before that step.
    """

    step: int
    model: LanguageModel
    loss: float


def train_model(
    model: LanguageModel, batches: Iterable[ArrayLike], rates: Iterable[float]
) -> Iterator[ModelTraining]:
    """Train a model with Adam, and yield it after each step.

    Parameters
    ----------
    model : LanguageModel
        The initial model.
    batches : iterable of array_like of int, shape (batch, n)
        The sequences of each step.
    rates : iterable of float
        The learning rate of each step. The shorter of the two iterables ends the training.

    Yields
    ------
    ModelTraining

    References
    ----------
    Kingma and Ba (2015), algorithm 1.

    Examples
    --------
    >>> from mha.core.language import draw_model
    >>> model = draw_model(np.random.default_rng(3), ["a", "b"], 4)
    >>> steps = train_model(model, [[[0, 1, 0, 1]]] * 30, [0.03] * 30)
    >>> [step.loss < 0.1 for step in steps][::29]
    [False, True]
    """
    adam = Adam()
    for step, (batch, rate) in enumerate(zip(batches, rates, strict=False), 1):
        loss, gradients = model_gradients(model, batch)
        arrays = model.arrays
        new_arrays = adam.step([*arrays.values()], [gradients[name] for name in arrays], rate)
        model = model.with_arrays(dict(zip(arrays, new_arrays, strict=True)))
        yield ModelTraining(step, model, loss)
