"""How a language model learns: the gradients of its loss by hand, and the steps of its training."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array
from mha.core.gradients import backward
from mha.core.language import LanguageModel, as_indices, run_model
from mha.core.learning import Adam, cross_entropy
from mha.core.multihead import MATRICES
from mha.core.norm import normalised_backward


def word_losses(model: LanguageModel, indices: ArrayLike, **cut: tuple[int, int] | None) -> Array:
    """Return how surprised a model is by each next word, in nats.

    Parameters
    ----------
    model : LanguageModel
    indices : array_like of int, shape (..., n)
    cut : (int, int), optional
        As in `run_model`.

    Returns
    -------
    ndarray, shape (..., n - 1)
        Minus the logarithm of the probability of the word that comes, for each word but the first.

    Examples
    --------
    >>> from mha.core.language import draw_model
    >>> model = draw_model(np.random.default_rng(3), ["a", "b"], 4)
    >>> word_losses(model, [0, 1, 1]).shape
    (2,)
    """
    indices = as_indices(indices, len(model.words))
    logits = run_model(model, indices[..., :-1], **cut).logits
    right = np.take_along_axis(logits, indices[..., 1:, None], axis=-1)
    largest = logits.max(axis=-1, keepdims=True)
    total: Array = np.log(np.exp(logits - largest).sum(axis=-1)) + (largest - right)[..., 0]
    return total


def model_gradients(model: LanguageModel, indices: ArrayLike) -> tuple[float, dict[str, Array]]:
    """Return a model's loss on texts, and its gradient by each array.

    Parameters
    ----------
    model : LanguageModel
    indices : array_like of int, shape (..., n)
        Each word but the first is to be predicted from those before it.

    Returns
    -------
    loss : float
        The mean of minus the logarithm of each right word's probability: cross-entropy, in nats.
    gradients : dict of str to ndarray
        By the names that `LanguageModel.arrays` has.

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
    d_x = normalised_backward(d_logits @ model.unembedding.T, run.normed, run.spreads[-1])
    for number in range(len(model.blocks), 0, -1):
        block, passed = model.blocks[number - 1], run.passes[number - 1]
        back = backward(d_x, passed, block.attention, is_cross=False)
        d_x = d_x + normalised_backward(back.x, passed.x, run.spreads[number - 1])
        gradients |= {f"{name}{number}": getattr(back.weights, name) for name in MATRICES}
    d_embedding = np.zeros_like(model.embedding)
    np.add.at(d_embedding, indices[..., :-1], d_x)  # a word's rows add up
    return loss, gradients | {"embedding": d_embedding}


def _rows(x: Array) -> Array:
    """Put the rows of all texts below one another."""
    return x.reshape(-1, x.shape[-1])


@dataclass(frozen=True, eq=False)
class ModelTraining:
    """A model after a number of steps, and its loss before the last of them.

    Parameters
    ----------
    step : int
        How many steps were taken.
    model : LanguageModel
    loss : float
        On the texts of the last step, before it was taken.
    """

    step: int
    model: LanguageModel
    loss: float


def train_model(
    model: LanguageModel, batches: Iterable[ArrayLike], rates: Iterable[float]
) -> Iterator[ModelTraining]:
    """Make a model's loss smaller by Adam, and yield it after each step.

    Parameters
    ----------
    model : LanguageModel
        To begin with.
    batches : iterable of array_like of int, shape (batch, n)
        The texts of each step.
    rates : iterable of float
        The rate of each step; with the shorter of the two the training ends.

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
        stepped = adam.stepped([*arrays.values()], [gradients[name] for name in arrays], rate)
        model = model.with_arrays(dict(zip(arrays, stepped, strict=True)))
        yield ModelTraining(step, model, loss)
