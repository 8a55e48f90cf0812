"""The steps of attention as functions that students write, and the judge of these functions.

A student writes each step in a notebook and calls `check` on it. ``python3 scripts/build.py packs``
makes the notebook, and `mha.grade` grades the students' notebooks on numbers that no file contains.
The remark on a wrong step has a number that shows the error, and the mistake if it is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from mha.core.attention import scaled_dot_product_attention
from mha.core.checks import Array
from mha.core.softmax import softmax
from mha.practice.answers import Answer, Remark, call_function
from mha.runs.rounding import short

LEVEL = 4000.0
"""The size of a large score. Even scaled, its exponential overflows in float64."""

LARGE = 1e6
"""Larger numbers are written with a power of ten in messages."""

CLOSE = 1e-9
"""The tolerance of answers: above the effect of another order of sums, below any rounding."""


@dataclass(frozen=True)
class Case:
    """The sizes and the kind of a test case; its sizes all differ, so that a swapped axis shows.

    Parameters
    ----------
    tokens, d_model, d_k, d_v : int
    mask : {"none", "causal", "some"}
    decimals : int, optional
        The decimals of the numbers; by default, all digits are kept.
    large : {"", "rows", "keys"}
        If not empty, scores are large: of one sign in each row, or of both signs with "keys".
    """

    tokens: int
    d_model: int
    d_k: int
    d_v: int
    mask: Literal["none", "causal", "some"]
    decimals: int | None = None
    large: Literal["", "rows", "keys"] = ""

    def __str__(self) -> str:
        large = ", with large scores" if self.large else ""
        return f"for {self.tokens} tokens and d_k = {self.d_k}{large}"


CASES = (
    Case(3, 4, 2, 5, "none", decimals=1),
    Case(4, 2, 3, 5, "causal"),
    Case(2, 5, 7, 3, "causal"),
    Case(5, 3, 6, 2, "some"),
    Case(3, 5, 1, 2, "some"),
    Case(4, 5, 8, 2, "none", large="rows"),
    Case(6, 2, 5, 3, "some", large="keys"),
)
"""The test cases of each step, in this order."""


@dataclass(frozen=True, eq=False)
class StepInputs:
    """The random arrays of a test case, of one head, from which each step takes its arguments."""

    x: Array
    w: Array
    query: Array
    key: Array
    value: Array
    mask: Array

    @property
    def d_k(self) -> int:
        """The width of a key."""
        return self.key.shape[1]

    @property
    def scores(self) -> Array:
        """The scores before scaling."""
        return self.query @ self.key.T

    @property
    def scaled(self) -> Array:
        """The scaled scores."""
        return self.scores / np.sqrt(self.d_k)

    @property
    def masked(self) -> Array:
        """The masked scores, which are the input of the softmax."""
        return np.where(self.mask, self.scaled, -np.inf)


@dataclass(frozen=True)
class Step:
    """One function that students write.

    Parameters
    ----------
    name : str
        The name of the function.
    parameters : tuple of str
    result : str
        The result of the function: the object of "Return" in its docstring.
    given : callable
        Takes the arrays of a case, returns the arguments of the function.
    right : callable
        The right function.
    mistakes : mapping of str to callable
        Functions with known mistakes, by the sentence on each mistake.
    """

    name: str
    parameters: tuple[str, ...]
    result: str
    given: Callable[[StepInputs], tuple[Any, ...]]
    right: Callable[..., Array]
    mistakes: Mapping[str, Callable[..., Array]]


def _causal(n: int) -> Array:
    return np.tri(n, dtype=bool)


def _shifted_softmax(scores: Array, shift: float | Array = 0.0) -> Array:
    powers = np.exp(scores - shift)
    return powers / powers.sum(axis=1, keepdims=True)


NO_SHIFT = "Large scores overflow: subtract the largest score of each row first."
ONE_MAXIMUM = "One maximum is subtracted from all scores; subtract the maximum of each row."

STEPS = (
    Step(
        "project",
        ("x", "w"),
        "the embeddings x times the projection w: one row per token.",
        lambda case: (case.x, case.w),
        lambda x, w: x @ w,
        {"This is x times w entry by entry.": lambda x, w: x[:, : w.shape[1]] * w[: len(x)]},
    ),
    Step(
        "dot_products",
        ("query", "key"),
        "the scores: one row per query, one column per key.",
        lambda case: (case.query, case.key),
        lambda query, key: query @ key.T,
        {"Rows and columns are exchanged.": lambda query, key: key @ query.T},
    ),
    Step(
        "scale",
        ("scores", "d_k"),
        "the scores divided by the square root of d_k.",
        lambda case: (case.scores, case.d_k),
        lambda scores, d_k: scores / np.sqrt(d_k),
        {
            "This divides by d_k itself, not by its root.": lambda scores, d_k: scores / d_k,
            "This multiplies by the root.": lambda scores, d_k: scores * np.sqrt(d_k),
            "This divides by the root of another size.": lambda scores, d_k: (
                scores / np.sqrt(len(scores))
            ),
        },
    ),
    Step(
        "causal",
        ("n",),
        "the causal mask for n tokens: True where a query (row) may attend to a key (column).",
        lambda case: (len(case.query),),
        _causal,
        {
            "The mask is transposed: it hides earlier tokens.": lambda n: _causal(n).T,
            "A token attends to itself too.": lambda n: np.tri(n, k=-1),
            "The mask is True where a query may not attend.": lambda n: ~_causal(n),
        },
    ),
    Step(
        "masked",
        ("scores", "mask"),
        "the scores, with minus infinity where the mask is False.",
        lambda case: (case.scaled, case.mask),
        lambda scores, mask: np.where(mask, scores, -np.inf),
        {
            "A score of zero is not masked: minus infinity is wanted.": lambda scores, mask: (
                scores * mask
            ),
            "The mask is inverted: True is where a query may attend.": lambda scores, mask: (
                np.where(mask, -np.inf, scores)
            ),
        },
    ),
    Step(
        "weights",
        ("scores",),
        "the softmax of each row; a row may have large numbers or minus infinity.",
        lambda case: (case.masked,),
        softmax,
        {
            "This is the softmax of each column.": lambda scores: softmax(scores.T).T,
            "One sum is taken over all rows.": lambda s: np.exp(s) / np.exp(s).sum(),
            "The rows are not divided by their sums.": np.exp,
            NO_SHIFT: _shifted_softmax,
            ONE_MAXIMUM: lambda scores: _shifted_softmax(scores, scores.max()),
        },
    ),
    Step(
        "mix",
        ("weights", "value"),
        "the output: for each query the weighted sum of the values.",
        lambda case: (softmax(case.masked), case.value),
        lambda weights, value: weights @ value,
        {"The weights are transposed.": lambda w, value: w.T @ value},
    ),
    Step(
        "attention",
        ("query", "key", "value", "mask"),
        "the output of attention: scores, scale, mask, weights, output.",
        lambda case: (case.query, case.key, case.value, case.mask),
        lambda q, k, v, mask: scaled_dot_product_attention(q, k, v, mask=mask),
        {
            "The scores are not divided by the root of the width.": lambda q, k, v, mask: (
                scaled_dot_product_attention(q, k, v, mask=mask, scale=1.0)
            ),
            "The mask is ignored.": lambda q, k, v, mask: scaled_dot_product_attention(q, k, v),
            NO_SHIFT: lambda q, k, v, mask: (
                _shifted_softmax(StepInputs(q, q, q, k, v, mask).masked) @ v
            ),
        },
    ),
)
"""The functions that students write, in the order of the computation."""

STEPS_BY_NAME: Mapping[str, Step] = MappingProxyType({step.name: step for step in STEPS})


def check(function: Callable[..., Any], seed: int = 1) -> str:
    """Return a sentence on whether a student's step is right.

    Parameters
    ----------
    function : callable
        Its name is that of one of `STEPS`.
    seed : int, default 1
        The seed of the test cases.

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
    Not yet: for 3 tokens and d_k = 2, row 1, column 1 is −3.78, −5.3457 is wanted. \
This divides by d_k itself, not by its root.
    """
    name = getattr(function, "__name__", repr(function))
    if name not in STEPS_BY_NAME:
        raise ValueError(f"function is {name}; one of {', '.join(STEPS_BY_NAME)} is wanted")
    return str(
        judge_step(STEPS_BY_NAME[name], lambda given: call_function(function, given), [seed])
    )


def judge_step(step: Step, ask: Callable[[tuple[Any, ...]], Answer], seed: Sequence[int]) -> Remark:
    """Return a remark on whether a step is right, with the fault if it is wrong.

    Parameters
    ----------
    step : Step
    ask : callable
        Calls the step with some arguments, here or in another process, and returns its answer.
    seed : sequence of int
        The seed of the arguments.

    Returns
    -------
    Remark
        Its sentence begins with "Right" or with "Not yet".
    """
    for number, case in enumerate(CASES):
        # Each step has its own numbers. With the same, a step could return an argument of another.
        rng = np.random.default_rng([*seed, STEPS.index(step), number])
        given = step.given(draw_inputs(rng, case))
        answer = ask(given)
        fault = _describe_fault(step, given, answer)
        if fault:
            depends_on_case = answer.value is not None or answer.fault == "stopped"
            return Remark(f"Not yet: {f'{case}, ' * depends_on_case}{fault}", answer.quoted)
    sentence = f"Right: {step.name} gives the right result on {len(CASES)} sets of numbers."
    return Remark(sentence, is_right=True)


def draw_inputs(rng: np.random.Generator, case: Case) -> StepInputs:
    """Return the random arrays of a case.

    Parameters
    ----------
    rng : numpy.random.Generator
    case : Case

    Returns
    -------
    StepInputs
    """
    n, wide = case.tokens, (case.tokens, case.d_k)
    shapes = ((n, case.d_model), (case.d_model, case.d_k), wide, wide, (n, case.d_v))
    x, w, query, key, value = (rng.normal(size=shape) for shape in shapes)
    if case.decimals is not None:
        x, w, query, key, value = (np.round(a, case.decimals) for a in (x, w, query, key, value))
    signs = np.where(np.arange(n) % 2, -1.0, 1.0)
    if case.large:
        query[:, 0] = LEVEL * signs
        key[:, 0] = 1.0 if case.large == "rows" else signs
    masks = {
        "none": np.ones((n, n), dtype=bool),
        "causal": _causal(n),
        "some": (rng.random((n, n)) < 0.6) | np.eye(n, dtype=bool),
    }
    return StepInputs(x, w, query, key, value, masks[case.mask])


def _describe_fault(step: Step, given: tuple[Any, ...], answer: Answer) -> str:
    """Return the fault of an answer, or an empty text if it is right."""
    wanted = np.asarray(step.right(*given), dtype=float)
    found = answer.value
    if found is None:
        return f"{step.name} {answer.fault_text}{':' if answer.quoted else '.'}"
    if found.shape != wanted.shape:
        return f"the shape is {found.shape}, {wanted.shape} is wanted."
    with np.errstate(all="ignore"):
        differs = ~np.isclose(found, wanted, rtol=CLOSE, atol=CLOSE)
    if differs.any():
        row, column = (int(i) for i in np.argwhere(differs)[0])
        found_text, wanted_text = _format_apart(found[row, column], wanted[row, column])
        fault = f"row {row + 1}, column {column + 1} is {found_text}, {wanted_text} is wanted."
        return fault + _describe_mistake(step, given, found, wanted)
    for name, before, after in zip(step.parameters, given, answer.given, strict=False):
        if not np.array_equal(before, after):
            return f"{step.name} changes its argument {name}: work on a copy."
    return ""


def _describe_mistake(step: Step, given: tuple[Any, ...], found: Array, wanted: Array) -> str:
    """Return a space and the sentence on the mistake that gives these numbers, or nothing."""
    for sentence, mistaken in step.mistakes.items():
        with np.errstate(all="ignore"):
            try:
                other = mistaken(*given)
            except ValueError:  # the mistake cannot be made with these shapes
                continue
            if other.shape != found.shape or np.allclose(other, wanted):
                continue  # the mistake has no effect on these numbers
            if np.allclose(other, found, equal_nan=True):
                return f" {sentence}"
    with np.errstate(all="ignore"):
        is_near = np.allclose(found, wanted, rtol=1e-2, atol=1e-2)
    return " Is an intermediate result rounded? Keep all digits." if is_near else ""


def _format_apart(found: float, wanted: float) -> tuple[str, str]:
    """Return two numbers as text, with at least four decimals and enough to differ."""
    for places in range(4, 16):
        texts = _format(float(found), places), _format(float(wanted), places)
        if texts[0] != texts[1]:
            return texts
    return repr(float(found)), repr(float(wanted))


def _format(number: float, places: int) -> str:
    """Return a number with some decimals; a large number with a power of ten."""
    is_large = LARGE < abs(number) < math.inf
    return f"{number:.{places}e}".replace("-", "−") if is_large else short(number, places)
