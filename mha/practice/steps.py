"""The steps of attention as functions to be written, and what tells whether one is right.

A student writes each step in a notebook and calls `check` on it; `python3 scripts/build.py packs`
makes the notebook and what grades it. A wrong step is told with the numbers that show it, and by
the mistake where it is a known one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from mha.core.attention import attention_scores
from mha.core.checks import Array
from mha.core.softmax import softmax
from mha.practice.drawing import LEVELS, draw_example
from mha.runs.record import Trace, trace
from mha.runs.rounding import short

TRIES = 6
"""How many runs a step is tried on."""

Given = Callable[[Trace], tuple[Any, ...]]


@dataclass(frozen=True)
class Step:
    """One function to be written.

    Parameters
    ----------
    name : str
        Of the function.
    parameters : tuple of str
    does : str
        What it returns, after "Return".
    given : callable
        What it is called with, of a run: matrices of one head.
    right : callable
    mistakes : mapping of str to callable
        What known mistakes return, by what is said of them.
    """

    name: str
    parameters: tuple[str, ...]
    does: str
    given: Given
    right: Callable[..., Array]
    mistakes: Mapping[str, Callable[..., Array]]


def _masked(scores: Array) -> Array:
    return np.where(np.tri(len(scores), dtype=bool), scores, -np.inf)


def _attention(query: Array, key: Array, value: Array) -> Array:
    return softmax(attention_scores(query, key) / np.sqrt(key.shape[1])) @ value


def _numbers(run: Trace, name: str) -> Array:
    array: Array = getattr(run, name)[0]
    return array


def _layer(run: Trace) -> tuple[Array, Array]:
    assert run.embeddings is not None
    assert run.example.layer is not None
    return run.embeddings, run.example.layer.w_q[0]


STEPS = (
    Step(
        "project",
        ("x", "w"),
        "the embeddings x times the projection w: a row a token.",
        _layer,
        lambda x, w: x @ w,
        {"This is x times w entry by entry.": lambda x, w: x[:, : w.shape[1]] * w[: len(x)]},
    ),
    Step(
        "dot_products",
        ("query", "key"),
        "the scores: a row a query, a column a key.",
        lambda run: (_numbers(run, "query"), _numbers(run, "key")),
        lambda query, key: query @ key.T,
        {"Rows and columns are exchanged.": lambda query, key: key @ query.T},
    ),
    Step(
        "scale",
        ("scores", "d_k"),
        "the scores divided by the square root of d_k.",
        lambda run: (_numbers(run, "scores"), run.key.shape[-1]),
        lambda scores, d_k: scores / np.sqrt(d_k),
        {
            "This divides by d_k itself, not by its root.": lambda scores, d_k: scores / d_k,
            "This multiplies by the root.": lambda scores, d_k: scores * np.sqrt(d_k),
        },
    ),
    Step(
        "causal",
        ("scores",),
        "the scores, with minus infinity where a key comes after its query.",
        lambda run: (_numbers(run, "scaled_scores"),),
        _masked,
        {
            "Zero is a score as any other: minus infinity is wanted.": np.tril,
            "The mask is turned over: it hides what came before.": lambda s: _masked(s.T).T,
        },
    ),
    Step(
        "weights",
        ("scores",),
        "the softmax of each row.",
        lambda run: (_numbers(run, "scaled_scores"),),
        softmax,
        {
            "This is the softmax of each column.": lambda scores: softmax(scores.T).T,
            "One sum is taken over all rows.": lambda s: np.exp(s) / np.exp(s).sum(),
            "The rows are not divided by their sums.": np.exp,
        },
    ),
    Step(
        "mix",
        ("weights", "value"),
        "the output: for each query the values, weighted and added.",
        lambda run: (_numbers(run, "weights"), _numbers(run, "value")),
        lambda weights, value: weights @ value,
        {"Weights of a column are taken for those of a row.": lambda w, value: w.T @ value},
    ),
    Step(
        "attention",
        ("query", "key", "value"),
        "all of it: scores, scale, weights, output, without a mask.",
        lambda run: tuple(_numbers(run, name) for name in ("query", "key", "value")),
        _attention,
        {
            "The scores are not divided by the root of the width.": lambda q, k, v: (
                softmax(q @ k.T) @ v
            ),
        },
    ),
)
"""The functions to be written, in the order of the computation."""

BY_NAME: Mapping[str, Step] = MappingProxyType({step.name: step for step in STEPS})


def check(function: Callable[..., Any], seed: int = 1) -> str:
    """Say whether a step is right.

    Parameters
    ----------
    function : callable
        By its name one of `STEPS`.
    seed : int, default 1
        What the numbers are drawn from that it is tried on.

    Returns
    -------
    str
        It begins with "Right" or with "Not yet".

    Raises
    ------
    ValueError
        If there is no such step.

    Examples
    --------
    >>> def scale(scores, d_k):
    ...     return scores / d_k
    >>> print(check(scale))
    Not yet: row 1, column 1 is −0.465, −0.93 is wanted. This divides by d_k itself, not by its \
root.
    """
    name = getattr(function, "__name__", repr(function))
    if name not in BY_NAME:
        raise ValueError(f"function is {name}; one of {', '.join(BY_NAME)} is wanted")
    step = BY_NAME[name]
    for number in range(TRIES):
        given = step.given(_run(seed, number))
        fault = _fault(step, function, given)
        if fault:
            return f"Not yet: {fault}"
    return f"Right: {name} gives what is wanted on {TRIES} sets of numbers."


def _run(seed: int, number: int) -> Trace:
    """Return a run with sizes that differ, so that a swapped axis shows."""
    rng = np.random.default_rng([seed, number])
    difficulty = list(LEVELS)[(number + 1) % len(LEVELS)]
    return trace(draw_example(rng, num_tokens=3 + number % 3, d_v=2, difficulty=difficulty))


def _fault(step: Step, function: Callable[..., Any], given: tuple[Any, ...]) -> str:
    """Return what is wrong with a function, empty where nothing is."""
    wanted = step.right(*given)
    try:
        found = np.asarray(function(*(np.copy(x) for x in given)), dtype=float)
    except Exception as error:
        return f"{step.name} stops with {type(error).__name__}: {error}"
    if found.shape != wanted.shape:
        return f"the shape is {found.shape}, {wanted.shape} is wanted."
    off = ~np.isclose(found, wanted, rtol=1e-9, atol=1e-9)
    if not off.any():
        return ""
    row, column = (int(i) for i in np.argwhere(off)[0])
    said = f"row {row + 1}, column {column + 1} is {_short(found[row, column])}, "
    return f"{said}{_short(wanted[row, column])} is wanted.{_known(step, given, found)}"


def _known(step: Step, given: tuple[Any, ...], found: Array) -> str:
    """Return what is said of a known mistake, after a space."""
    for said, mistaken in step.mistakes.items():
        try:
            other = mistaken(*given)
        except ValueError:  # the mistake cannot be made with these shapes
            continue
        if other.shape == found.shape and np.allclose(other, found):
            return f" {said}"
    return ""


def _short(value: float) -> str:
    return short(float(value), 4)
