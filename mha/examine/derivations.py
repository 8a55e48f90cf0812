"""The steps from inputs to one number of an output, right and with a bug."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.examine.report import written
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
Worked = tuple[list[Calculation], list[float]]
"""Calculations and their results."""


@dataclass(frozen=True)
class Recorded(Parts):
    """Parts that record their arguments and results."""

    calls: list[Call] = field(default_factory=list, compare=False)

    def __getattr__(self, part: str) -> Callable[..., Any]:
        line = super().__getattr__(part)

        def run(*handed: Any) -> Any:
            found = line(*handed)
            self.calls.append((part, (*handed, found)))
            return found

        return run


@dataclass(frozen=True)
class Told:
    """A printed step: an argument of a part, or its result if `which` is -1.

    How it comes of the steps before is said in words; or a function takes what is handed in, all
    steps and an index of the output, and works it. So many `axes` of that index are left out, all
    of them without a number. An output in which the heads are merged has an index of no head: a
    step with one is then told whole.
    """

    name: str
    parts: str
    which: int
    how: str | Callable[[Any, Arrays, Index], Worked]
    axes: int | None = None

    def taken(self, calls: Sequence[Call], call: int) -> Array | None:
        """Return the recorded array of one call; None if there is none."""
        found = [arrays[self.which] for part, arrays in calls if part in self.parts.split()]
        one = found[min(call, len(found) - 1)] if found else None
        return one[0] if isinstance(one, tuple) else one

    def written(self, given: Any, steps: Arrays, at: Index, like: Array) -> str:
        """Return its name and value, with the arithmetic if that gives the value."""
        found = steps[self.name]
        in_heads = found.ndim > len(at)
        is_whole = self.axes is None or found.shape != like.shape or in_heads
        index = () if is_whole else at[: len(at) - (self.axes or 0)]
        name = f"{self.name}{list(index) or ''}"
        if isinstance(self.how, str):
            return f"{name} ({self.how}) = {written(found[index])}"
        try:
            texts, numbers = ([], []) if in_heads else self.how(given, steps, at)
        except (ValueError, IndexError):
            texts, numbers = [], []
        if not texts or not np.allclose(numbers, found[index], rtol=1e-5):
            return f"{name} = {written(found[index])}"
        lines = [
            chain(with_enough_decimals(text, x), short(x))
            for text, x in zip(texts, numbers, strict=True)
        ]
        return f"{name} = " + (f"[{', '.join(lines)}]" if np.ndim(found[index]) else lines[0])


def told(
    given: Any, steps: Sequence[Told], runs: Sequence[Sequence[Call]], call: int, at: Index
) -> list[tuple[str, ...]]:
    """Return the steps to a number of the output, as recorded in each run.

    What is handed in by the name of a step is no step.
    """
    taken = [{step.name: step.taken(calls, call) for step in steps} for calls in runs]
    found = [{name: x for name, x in each.items() if x is not None} for each in taken]
    return [
        tuple(step.written(given, one, at, found[0][step.name]) for one in found)
        for step in steps
        if all(step.name in one for one in found)
        and not all(np.array_equal(one[step.name], given.get(step.name, np.nan)) for one in found)
    ]


def product(left: Array, right: Array, places: int) -> str:
    """Return a sum of products, as 1×3 + 2×(−1)."""
    pairs = zip(left, right, strict=True)
    return " + ".join(f"{factor(a, places)}×{factor(b, places)}" for a, b in pairs)


def hidden(_places: int) -> str:
    """Return the word for a score that a mask hides."""
    return "hidden"


def scores(given: Any, steps: Arrays, at: Index) -> Worked:
    """Compute the scores of a query."""
    query, mask = steps["query"][at[:-1]], given.get("bias", given.get("mask"))
    scale, cap = given.get("scale"), given.get("softcap")

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


def weights(_given: Any, steps: Arrays, at: Index) -> Worked:
    """Compute the weights of a query."""
    own = steps["scores"][at[:-1]]
    top = own.max() if np.isfinite(own.max()) else 0.0
    shares = np.exp(own - top)
    total = float(shares.sum())

    def share(score: float, places: int) -> str:
        largest = factor(float(top), places)
        return f"e^({short(score, places)} − {largest}) ÷ {short(total, places)}"

    texts: list[Calculation] = [hidden if np.isneginf(x) else partial(share, float(x)) for x in own]
    return texts, [float(x) / (total or 1) for x in shares]


def mixed(_given: Any, steps: Arrays, at: Index) -> Worked:
    """Compute a number of the output: the values multiplied by their weights, and added."""
    own, value = steps["weights"][at[:-1]], steps["value"][at[:-2]][:, at[-1]]
    return [partial(product, own, value)], [float(own @ value)]


ATTENTION = (
    Told("query", "score score_with_scale", 0, "as it meets the keys"),
    Told("key", "score score_with_scale", 1, "as it meets the queries"),
    Told("scores", "along", 0, scores, 1),
    Told("weights", "mix", 0, weights, 1),
    Told("value", "mix", 1, "as it is mixed"),
    Told("output", "mix", -1, mixed, 0),
)
"""The steps of attention."""
