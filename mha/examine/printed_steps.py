"""The printed steps from the inputs to one number of an output, correct and with a bug."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.examine.report import format_value
from mha.practice.attention_parts import Parts
from mha.runs.rounding import short
from mha.views.arithmetic import factor, with_enough_decimals
from mha.views.signs import chain

Arrays = Mapping[str, Array]
Call = tuple[str, tuple[Any, ...]]
"""A part, its arguments, and its result as the last of them."""
Index = tuple[int, ...]
Calculation = Callable[[int], str]
"""Writes a calculation with a given number of decimals."""
Calculations = tuple[list[Calculation], list[float]]
"""Calculations and their results."""


@dataclass(frozen=True)
class RecordedParts(Parts):
    """Parts of attention that record their arguments and results."""

    calls: list[Call] = field(default_factory=list, compare=False)

    def __getattr__(self, part: str) -> Callable[..., Any]:
        line = super().__getattr__(part)

        def run(*args: Any) -> Any:
            found = line(*args)
            self.calls.append((part, (*args, found)))
            return found

        return run


@dataclass(frozen=True)
class PrintedStep:
    """A printed step: an argument of a part, or its result if `argument` is -1.

    `parts` are the names of the parts whose calls have the array. `calculation` is a phrase, or a
    function of the inputs, the arrays of all steps and an index of the output, which returns the
    arithmetic. The last `num_dropped_axes` axes of that index are dropped. With None the whole
    array is printed, and so is one with an axis of heads if the output has its heads merged.
    """

    name: str
    parts: str
    argument: int
    calculation: str | Callable[[Any, Arrays, Index], Calculations]
    num_dropped_axes: int | None = None

    def select_array(self, calls: Sequence[Call], call: int) -> Array | None:
        """Return the array of the step in one recorded call; None if there is none."""
        found = [arrays[self.argument] for part, arrays in calls if part in self.parts.split()]
        one = found[min(call, len(found) - 1)] if found else None
        return one[0] if isinstance(one, tuple) else one

    def format_step(self, inputs: Any, steps: Arrays, at: Index, like: Array) -> str:
        """Return the name and value of the step, with the arithmetic if it gives the value."""
        found = steps[self.name]
        in_heads = found.ndim > len(at)
        is_whole = self.num_dropped_axes is None or found.shape != like.shape or in_heads
        index = () if is_whole else at[: len(at) - (self.num_dropped_axes or 0)]
        name = f"{self.name}{list(index) or ''}"
        if isinstance(self.calculation, str):
            return f"{name} ({self.calculation}) = {format_value(found[index])}"
        try:
            texts, numbers = ([], []) if in_heads else self.calculation(inputs, steps, at)
        except (ValueError, IndexError):
            texts, numbers = [], []
        if not texts or not np.allclose(numbers, found[index], rtol=1e-5):
            return f"{name} = {format_value(found[index])}"
        lines = [
            chain(with_enough_decimals(text, x), short(x))
            for text, x in zip(texts, numbers, strict=True)
        ]
        return f"{name} = " + (f"[{', '.join(lines)}]" if np.ndim(found[index]) else lines[0])


def print_steps(
    inputs: Any, steps: Sequence[PrintedStep], runs: Sequence[Sequence[Call]], call: int, at: Index
) -> list[tuple[str, ...]]:
    """Return the steps to a number of the output, as recorded in each run.

    An array that equals the input of the same name is not a step.
    """
    select_array = [{step.name: step.select_array(calls, call) for step in steps} for calls in runs]
    found = [{name: x for name, x in each.items() if x is not None} for each in select_array]
    return [
        tuple(step.format_step(inputs, one, at, found[0][step.name]) for one in found)
        for step in steps
        if all(step.name in one for one in found)
        and not all(np.array_equal(one[step.name], inputs.get(step.name, np.nan)) for one in found)
    ]


def product(left: Array, right: Array, places: int) -> str:
    """Return a sum of products as text, such as 1×3 + 2×(−1)."""
    pairs = zip(left, right, strict=True)
    return " + ".join(f"{factor(a, places)}×{factor(b, places)}" for a, b in pairs)


def hidden(_places: int) -> str:
    """Return the text of a masked score."""
    return "hidden"


def calculate_scores(inputs: Any, steps: Arrays, at: Index) -> Calculations:
    """Return the arithmetic and values of a query's scores."""
    query, mask = steps["query"][at[:-1]], inputs.get("bias", inputs.get("mask"))
    scale, cap = inputs.get("scale"), inputs.get("softcap")

    def written_score(key: Array, added: float, places: int) -> str:
        by = f"÷ √{len(query)}" if scale is None else f"× {factor(scale, places)}"
        text = f"({product(query, key, places)}) {by}"
        if cap is not None:
            text = f"{short(cap, places)}×tanh({text} ÷ {short(cap, places)})"
        return f"{text} + {factor(added, places)}" if added else text

    texts: list[Calculation] = []
    numbers = []
    for key, result in zip(steps["key"][at[:-2]], steps["scores"][at[:-1]], strict=True):
        number = float(key @ query) * (len(query) ** -0.5 if scale is None else scale)
        if cap is not None:
            number = cap * np.tanh(number / cap)
        if np.isneginf(result):
            texts.append(hidden)
            numbers.append(float(result))
            continue
        is_added = mask is not None and mask.dtype != bool
        added = float(result - number) if is_added else 0.0
        texts.append(partial(written_score, key, added))
        numbers.append(number + added)
    return texts, numbers


def calculate_weights(_inputs: Any, steps: Arrays, at: Index) -> Calculations:
    """Return the arithmetic and values of a query's weights."""
    own = steps["scores"][at[:-1]]
    top = own.max() if np.isfinite(own.max()) else 0.0
    shares = np.exp(own - top)
    total = float(shares.sum())

    def share(score: float, places: int) -> str:
        largest = factor(float(top), places)
        return f"e^({short(score, places)} − {largest}) ÷ {short(total, places)}"

    texts: list[Calculation] = [hidden if np.isneginf(x) else partial(share, float(x)) for x in own]
    return texts, [float(x) / (total or 1) for x in shares]


def calculate_output(_inputs: Any, steps: Arrays, at: Index) -> Calculations:
    """Return the arithmetic and value of one number of the output."""
    own, value = steps["weights"][at[:-1]], steps["value"][at[:-2]][:, at[-1]]
    return [partial(product, own, value)], [float(own @ value)]


ATTENTION = (
    PrintedStep("query", "score score_with_scale", 0, "as it meets the keys"),
    PrintedStep("key", "score score_with_scale", 1, "as it meets the queries"),
    PrintedStep("scores", "along", 0, calculate_scores, 1),
    PrintedStep("weights", "mix", 0, calculate_weights, 1),
    PrintedStep("value", "mix", 1, "as it is mixed"),
    PrintedStep("output", "mix", -1, calculate_output, 0),
)
"""The steps of attention."""
