"""A layer that learns: the loss of its answers, and the steps that make it smaller."""

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
from mha.core.multihead import MultiHeadWeights, as_tokens, multi_head_attention, refuse_biases
from mha.core.option_checks import check_kind

NONE = -1
"""The answer of what is not asked."""

# Adam's: how long it remembers gradients and their squares, and what it adds to a root.
_MEAN, _SQUARE, _TINY = 0.9, 0.99, 1e-8


@dataclass(frozen=True, eq=False)
class Training:
    """What a layer has become, and its loss before each step.

    Parameters
    ----------
    layer : MultiHeadWeights
    losses : tuple of float
    """

    layer: MultiHeadWeights
    losses: tuple[float, ...]


class Adam:
    """A rule that gives each number a step size of its own, by how its gradients were so far.

    References
    ----------
    Kingma and Ba (2015), algorithm 1.

    Examples
    --------
    >>> Adam().stepped([np.array([5.0, 5.0])], [np.array([0.001, -1000.0])], rate=0.5)[0].round(3)
    array([4.5, 5.5])
    """

    def __init__(self) -> None:
        self._steps = 0
        self._means: list[Array] = []
        self._squares: list[Array] = []

    def stepped(
        self, arrays: Sequence[Array], gradients: Sequence[Array], rate: float
    ) -> list[Array]:
        """Return arrays after one more step against their gradients.

        Parameters
        ----------
        arrays, gradients : sequence of ndarray
            The same ones in each step, in the same order.
        rate : float
            About how far a number moves whose gradient keeps its sign.

        Returns
        -------
        list of ndarray
        """
        self._means = self._means or [np.zeros_like(array) for array in arrays]
        self._squares = self._squares or [np.zeros_like(array) for array in arrays]
        self._steps += 1
        found = []
        for i, (array, gradient) in enumerate(zip(arrays, gradients, strict=True)):
            self._means[i] = _MEAN * self._means[i] + (1 - _MEAN) * gradient
            self._squares[i] = _SQUARE * self._squares[i] + (1 - _SQUARE) * gradient**2
            mean = self._means[i] / (1 - _MEAN**self._steps)
            square = self._squares[i] / (1 - _SQUARE**self._steps)
            with np.errstate(over="ignore"):  # what reads the arrays refuses what is too large
                found.append(array - rate * mean / (np.sqrt(square) + _TINY))
        return found


def cross_entropy(scores: ArrayLike, answers: ArrayLike) -> tuple[float, Array]:
    """Return how surprised a softmax of scores is by the answers, and the gradient by the scores.

    Parameters
    ----------
    scores : array_like, shape (..., num_choices)
    answers : array_like of int, shape (...)
        Which choice is right; -1 where nothing is asked.

    Returns
    -------
    loss : float
        The mean of minus the logarithm of the weight of each right choice.
    d_scores : ndarray, shape of `scores`
        Each softmax's weights, less one for the right choice, divided by the number of answers.

    Raises
    ------
    TypeError
        If the scores are no real numbers, or the answers no integers.
    ValueError
        If the shapes do not fit, an answer is none of the choices, nothing is asked, or the scores
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
    if answers.min() < NONE or answers.max() >= scores.shape[-1]:
        raise ValueError(f"answers has choices outside of -1 to {scores.shape[-1] - 1}")
    asked = answers != NONE
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
    surprise = exponentials / total  # the softmax, whose exponentials the loss needs too
    surprise[right] -= 1
    d_scores = np.zeros_like(scores)
    d_scores[asked] = surprise / len(surprise)
    return float(loss), d_scores


def draw_layer(
    rng: Generator, d_model: int, num_heads: int, width: int, d_out: int
) -> MultiHeadWeights:
    """Return a layer of random numbers to begin with.

    Parameters
    ----------
    rng : Generator
    d_model : int
    num_heads : int
    width : int
        Of all heads together: `num_heads` divides it.
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
    check_kind("rng", rng, Generator)
    heads, width = as_count("num_heads", num_heads), as_count("width", width)
    if width % heads:
        raise ValueError(f"num_heads is {heads}; a divisor of width {width} is wanted")
    shape = heads, as_count("d_model", d_model), width // heads
    w_q, w_k, w_v = rng.normal(size=(3, *shape)) / np.sqrt(shape[-1])
    w_o = rng.normal(size=(width, as_count("d_out", d_out))) / np.sqrt(width)
    return MultiHeadWeights(w_q, w_k, w_v, w_o)


def answer_scores(x: ArrayLike, layer: MultiHeadWeights, num_questions: int) -> Array:
    """Return a layer's scores for the choices of each question that each token asks.

    Parameters
    ----------
    x : array_like, shape (..., n, d_model)
    layer : MultiHeadWeights
        Its output is the scores of all questions beside one another.
    num_questions : int

    Returns
    -------
    ndarray, shape (..., n, num_questions, num_choices)

    Raises
    ------
    TypeError, ValueError
        As `multi_head_attention`; also if the output cannot be cut into so many parts.

    Examples
    --------
    >>> layer = draw_layer(np.random.default_rng(3), 7, 2, 6, 10)
    >>> answer_scores(np.ones((4, 7)), layer, 2).shape
    (4, 2, 5)
    """
    check_kind("layer", layer, MultiHeadWeights)
    return _by_question(multi_head_attention(x, layer), num_questions)


def _by_question(output: Array, num_questions: int) -> Array:
    """Cut a layer's output into the scores of each question."""
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
    """Make a layer's loss smaller, step by step, by Adam.

    Parameters
    ----------
    layer : MultiHeadWeights
        To begin with; with an output projection.
    x : array_like, shape (num_sequences, n, d_model)
    answers : array_like of int, shape (num_sequences, n, num_questions)
        As in `cross_entropy`.
    steps : int
    batch_size : int, default 64
        How many sequences a step looks at, one batch after another, and again from the first.
    rate : float, default 0.03

    Returns
    -------
    Training
        The same for the same arguments: nothing is drawn here.

    Raises
    ------
    TypeError, ValueError
        If arguments do not fit.

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
    """Make a layer's loss smaller as `train_layer` does, without end, and give it after each step.

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
    x, answers = _task(x, answers, min_ndim=3)
    w_o, rate = _projection(layer), as_number("rate", rate)
    matrices, adam = [layer.w_q, layer.w_k, layer.w_v, w_o], Adam()
    size = min(as_count("batch_size", batch_size), len(x))
    for step in count():
        rows = np.arange(step * size, (step + 1) * size) % len(x)
        loss, gradients = layer_gradients(MultiHeadWeights(*matrices), x[rows], answers[rows])
        matrices = adam.stepped(matrices, gradients, rate)
        yield loss, MultiHeadWeights(*matrices)


def layer_gradients(
    layer: MultiHeadWeights, x: ArrayLike, answers: ArrayLike
) -> tuple[float, Sequence[Array]]:
    """Return the loss of a layer's answers, and its gradient by each of the four matrices.

    Parameters
    ----------
    layer : MultiHeadWeights
        With an output projection.
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
        If arguments do not fit.

    Examples
    --------
    >>> layer = draw_layer(np.random.default_rng(3), 4, 2, 4, 4)
    >>> [g.shape for g in layer_gradients(layer, np.eye(4), [[1], [2], [3], [0]])[1]]
    [(2, 4, 2), (2, 4, 2), (2, 4, 2), (4, 4)]
    """
    x, answers = _task(x, answers, min_ndim=2)
    _projection(layer)
    x, *_ = as_tokens(x, layer)
    passed = forward(x, x, layer)
    loss, d_scores = cross_entropy(_by_question(passed.output, answers.shape[-1]), answers)
    back = matrix_gradients(d_scores.reshape(passed.output.shape), passed, layer)
    assert back.w_o is not None
    return loss, (back.w_q, back.w_k, back.w_v, back.w_o)


def _task(x: ArrayLike, answers: ArrayLike, min_ndim: int) -> tuple[Array, Array]:
    """Return tokens, and the answers to their questions, as arrays that fit together."""
    x, answers = as_finite_array("x", x, min_ndim=min_ndim), as_ndarray("answers", answers)
    if answers.shape[:-1] != x.shape[:-1]:
        raise ValueError(
            f"answers has shape {answers.shape}; {x.shape[:-1]} and questions are wanted"
        )
    return x, answers


def _projection(layer: MultiHeadWeights) -> Array:
    """Return a layer's output projection, or raise where it has none."""
    if not isinstance(layer, MultiHeadWeights):
        raise TypeError(f"layer is a {type(layer).__name__}; MultiHeadWeights is wanted")
    refuse_biases("layer", layer)
    if layer.w_o is None:
        raise ValueError("layer has no w_o; one that makes scores of the heads' outputs is wanted")
    return layer.w_o
