"""Training of one attention layer: its cross-entropy loss, gradients and steps of Adam."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from mha.core.checks import (
    Array,
    as_count,
    as_finite_array,
    as_ndarray,
    as_number,
    refuse_overflow,
)
from mha.core.gradients import forward, matrix_gradients
from mha.core.multihead import (
    MultiHeadWeights,
    as_layer_inputs,
    multi_head_attention,
    refuse_biases,
)
from mha.core.option_checks import check_type

NO_ANSWER = -1
"""The mark of a question that is not asked, in place of its answer: the question has no loss."""

# β₁, β₂ and ε of the paper, whose default for β₂ is 0.999: a smaller one adapts in fewer steps.
_MEAN_DECAY, _SQUARE_DECAY, _EPSILON = 0.9, 0.99, 1e-8


@dataclass(frozen=True, eq=False)
class Training:
    """A trained layer, and its loss before each step.

    Parameters
    ----------
    layer : MultiHeadWeights
    losses : tuple of float
    """

    layer: MultiHeadWeights
    losses: tuple[float, ...]


class Adam:
    """The Adam optimiser.

    References
    ----------
    Kingma and Ba (2015), algorithm 1.

    Examples
    --------
    >>> Adam().step([np.array([5.0, 5.0])], [np.array([0.001, -1000.0])], rate=0.5)[0].round(3)
    array([4.5, 5.5])
    """

    def __init__(self) -> None:
        self._steps = 0
        self._means: list[Array] = []
        self._squares: list[Array] = []

    def step(self, arrays: Sequence[Array], gradients: Sequence[Array], rate: float) -> list[Array]:
        """Return the arrays after one more step of gradient descent.

        Parameters
        ----------
        arrays, gradients : sequence of ndarray
            The same arrays in the same order in each step.
        rate : float
            The learning rate: about the change of a number whose gradient keeps its sign.

        Returns
        -------
        list of ndarray
        """
        self._means = self._means or [np.zeros_like(array) for array in arrays]
        self._squares = self._squares or [np.zeros_like(array) for array in arrays]
        self._steps += 1
        found = []
        for i, (array, gradient) in enumerate(zip(arrays, gradients, strict=True)):
            self._means[i] = _MEAN_DECAY * self._means[i] + (1 - _MEAN_DECAY) * gradient
            self._squares[i] = _SQUARE_DECAY * self._squares[i] + (1 - _SQUARE_DECAY) * gradient**2
            # Both averages start at 0; dividing by 1 - β**t removes that bias.
            mean = self._means[i] / (1 - _MEAN_DECAY**self._steps)
            square = self._squares[i] / (1 - _SQUARE_DECAY**self._steps)
            with np.errstate(over="ignore"):  # the next forward pass raises if a number overflowed
                found.append(array - rate * mean / (np.sqrt(square) + _EPSILON))
        return found


def cross_entropy(scores: ArrayLike, answers: ArrayLike) -> tuple[float, Array]:
    """Return the mean cross-entropy of the answers, and its gradient with respect to the scores.

    Parameters
    ----------
    scores : array_like, shape (..., num_choices)
    answers : array_like of int, shape (...)
        The index of the right choice; -1 for a row without a loss.

    Returns
    -------
    loss : float
        The mean of minus the logarithm of the softmax of each right choice, in nats.
    d_scores : ndarray, shape of `scores`
        The softmax of each row, minus 1 at the right choice, divided by the number of answers.

    Raises
    ------
    TypeError
        If the scores are not real numbers, or the answers are not integers.
    ValueError
        If the shapes do not fit, an answer is not a valid choice, all answers are -1, or the scores
        are too far apart for their dtype.

    Examples
    --------
    >>> loss, d_scores = cross_entropy([[0.0, 0.0], [0.0, 0.0]], [1, -1])
    >>> round(loss, 4), d_scores.tolist()
    (0.6931, [[0.5, -0.5], [0.0, 0.0]])
    """
    scores, answers = as_finite_array("scores", scores), as_ndarray("answers", answers)
    if not np.issubdtype(answers.dtype, np.integer):
        raise TypeError(f"answers has dtype {answers.dtype}; integers are wanted")
    if answers.shape != scores.shape[:-1]:
        raise ValueError(f"answers has shape {answers.shape}; {scores.shape[:-1]} is wanted")
    if answers.min() < NO_ANSWER or answers.max() >= scores.shape[-1]:
        raise ValueError(f"answers has choices outside of -1 to {scores.shape[-1] - 1}")
    asked = answers != NO_ANSWER
    if not asked.any():
        raise ValueError("answers is -1 everywhere; at least one answer is wanted")
    chosen_from = scores[asked]
    right = np.arange(len(chosen_from)), answers[asked]
    largest = chosen_from.max(axis=-1, keepdims=True)
    with np.errstate(over="ignore", under="ignore"):
        exponentials = np.exp(chosen_from - largest)
        total = exponentials.sum(axis=-1, keepdims=True)
        loss = ((largest + np.log(total))[:, 0] - chosen_from[right]).mean()
    refuse_overflow("scores", loss, "compared")
    difference = exponentials / total  # the softmax; the loss needs its exponentials too
    difference[right] -= 1
    d_scores = np.zeros_like(scores)
    d_scores[asked] = difference / len(difference)
    return float(loss), d_scores


def draw_layer(
    rng: Generator, d_model: int, num_heads: int, width: int, d_out: int
) -> MultiHeadWeights:
    """Return a layer with random matrices.

    Parameters
    ----------
    rng : Generator
    d_model : int
    num_heads : int
    width : int
        The sum of the heads' widths, a multiple of `num_heads`.
    d_out : int

    Returns
    -------
    MultiHeadWeights

    Raises
    ------
    TypeError, ValueError
        If a number is not a whole number of at least 1, or `num_heads` does not divide `width`.

    Examples
    --------
    >>> draw_layer(np.random.default_rng(3), 7, 2, 6, 5).w_q.shape
    (2, 7, 3)
    """
    check_type("rng", rng, Generator)
    heads, width = as_count("num_heads", num_heads), as_count("width", width)
    if width % heads:
        raise ValueError(f"num_heads is {heads}; a divisor of width {width} is wanted")
    shape = heads, as_count("d_model", d_model), width // heads
    w_q, w_k, w_v = rng.normal(size=(3, *shape)) / np.sqrt(shape[-1])
    w_o = rng.normal(size=(width, as_count("d_out", d_out))) / np.sqrt(width)
    return MultiHeadWeights(w_q, w_k, w_v, w_o)


def answer_scores(x: ArrayLike, layer: MultiHeadWeights, num_questions: int) -> Array:
    """Return a layer's scores for the choices of each question at each token.

    Parameters
    ----------
    x : array_like, shape (..., n, d_model)
    layer : MultiHeadWeights
        Its output is the concatenation of the scores of all questions.
    num_questions : int

    Returns
    -------
    ndarray, shape (..., n, num_questions, num_choices)

    Raises
    ------
    TypeError, ValueError
        As `multi_head_attention`; also if `num_questions` does not divide the output's width.

    Examples
    --------
    >>> layer = draw_layer(np.random.default_rng(3), 7, 2, 6, 10)
    >>> answer_scores(np.ones((4, 7)), layer, 2).shape
    (4, 2, 5)
    """
    check_type("layer", layer, MultiHeadWeights)
    return _split_by_question(multi_head_attention(x, layer), num_questions)


def _split_by_question(output: Array, num_questions: int) -> Array:
    """Split a layer's output into the scores of each question."""
    questions = as_count("num_questions", num_questions)
    if output.shape[-1] % questions:
        raise ValueError(
            f"num_questions is {questions}; a divisor of the output's width {output.shape[-1]}"
            " is wanted"
        )
    return output.reshape(*output.shape[:-1], questions, -1)


def train_layer(
    layer: MultiHeadWeights,
    x: ArrayLike,
    answers: ArrayLike,
    *,
    steps: int,
    batch_size: int = 64,
    rate: float = 0.03,
) -> Training:
    """Train a layer with Adam for a number of steps.

    Parameters
    ----------
    layer : MultiHeadWeights
        The initial layer, with an output projection and without biases.
    x : array_like, shape (num_sequences, n, d_model)
    answers : array_like of int, shape (num_sequences, n, num_questions)
        As in `cross_entropy`.
    steps : int
    batch_size : int, default 64
        Number of sequences per step. The batches follow each other, and start again at the end.
    rate : float, default 0.03
        The learning rate.

    Returns
    -------
    Training
        Deterministic: the training draws no random numbers.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit.

    References
    ----------
    Kingma and Ba (2015), algorithm 1.

    Examples
    --------
    >>> layer = draw_layer(np.random.default_rng(3), 4, 2, 4, 4)
    >>> done = train_layer(layer, np.eye(4)[None], np.array([[[1], [2], [3], [0]]]), steps=40)
    >>> done.losses[0] > 1, done.losses[-1] < 0.2
    (True, True)
    """
    run = training_steps(layer, x, answers, batch_size=batch_size, rate=rate)
    losses, layers = zip(*islice(run, as_count("steps", steps)), strict=True)
    return Training(layers[-1], losses)


def training_steps(
    layer: MultiHeadWeights,
    x: ArrayLike,
    answers: ArrayLike,
    *,
    batch_size: int = 64,
    rate: float = 0.03,
) -> Iterator[tuple[float, MultiHeadWeights]]:
    """Train a layer as `train_layer` does, without end, and yield it after each step.

    Parameters
    ----------
    layer, x, answers, batch_size, rate
        As in `train_layer`.

    Yields
    ------
    loss : float
        Before the step.
    layer : MultiHeadWeights
        After it.

    Examples
    --------
    >>> layer = draw_layer(np.random.default_rng(3), 4, 2, 4, 4)
    >>> steps = training_steps(layer, np.eye(4)[None], np.array([[[1], [2], [3], [0]]]))
    >>> next(steps)[0] > next(steps)[0]
    True
    """
    x, answers = _as_task(x, answers, min_ndim=3)
    w_o, rate = _output_projection(layer), as_number("rate", rate)
    matrices, adam = [layer.w_q, layer.w_k, layer.w_v, w_o], Adam()
    size = min(as_count("batch_size", batch_size), len(x))
    for step in count():
        rows = np.arange(step * size, (step + 1) * size) % len(x)
        loss, gradients = layer_gradients(MultiHeadWeights(*matrices), x[rows], answers[rows])
        matrices = adam.step(matrices, gradients, rate)
        yield loss, MultiHeadWeights(*matrices)


def layer_gradients(
    layer: MultiHeadWeights, x: ArrayLike, answers: ArrayLike
) -> tuple[float, Sequence[Array]]:
    """Return the loss of a layer's answers, and its gradient with respect to the four matrices.

    Parameters
    ----------
    layer : MultiHeadWeights
        With an output projection and without biases.
    x : array_like, shape (..., n, d_model)
    answers : array_like of int, shape (..., n, num_questions)
        As in `cross_entropy`.

    Returns
    -------
    loss : float
    gradients : sequence of ndarray
        By `w_q`, `w_k`, `w_v` and `w_o`.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit.

    Examples
    --------
    >>> layer = draw_layer(np.random.default_rng(3), 4, 2, 4, 4)
    >>> [g.shape for g in layer_gradients(layer, np.eye(4), [[1], [2], [3], [0]])[1]]
    [(2, 4, 2), (2, 4, 2), (2, 4, 2), (4, 4)]
    """
    x, answers = _as_task(x, answers, min_ndim=2)
    _output_projection(layer)
    x, *_ = as_layer_inputs(x, layer)
    forward_pass = forward(x, x, layer)
    output = forward_pass.output
    loss, d_scores = cross_entropy(_split_by_question(output, answers.shape[-1]), answers)
    found = matrix_gradients(d_scores.reshape(output.shape), forward_pass, layer)
    assert found.w_o is not None
    return loss, (found.w_q, found.w_k, found.w_v, found.w_o)


def _as_task(x: ArrayLike, answers: ArrayLike, min_ndim: int) -> tuple[Array, Array]:
    """Return tokens and answers as arrays of matching shapes."""
    x, answers = as_finite_array("x", x, min_ndim=min_ndim), as_ndarray("answers", answers)
    if answers.shape[:-1] != x.shape[:-1]:
        raise ValueError(
            f"answers has shape {answers.shape}; {x.shape[:-1]} and questions are wanted"
        )
    return x, answers


def _output_projection(layer: MultiHeadWeights) -> Array:
    """Return a layer's output projection, and raise a ValueError if it has none."""
    if not isinstance(layer, MultiHeadWeights):
        raise TypeError(f"layer is a {type(layer).__name__}; MultiHeadWeights is wanted")
    refuse_biases("layer", layer)
    if layer.w_o is None:
        raise ValueError("layer has no w_o; one that makes scores of the heads' outputs is wanted")
    return layer.w_o
