"""Ranges from which new operands of an exercise are drawn.

A sine is at most 1, an exponential is above 0, and the output of ReLU is not below 0. A range is a
name that the script of the page knows (`DRAWS` in `exercises.ts`).
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mha.practice.exercise import NumericExercise
from mha.runs.operations import Operand

ORDINARY = "tenths"
"""Any number with one decimal; a whole number if all operands of the exercise are whole."""

_RANGES = {
    ORDINARY: (
        "embeddings", "placed", "w_q", "w_k", "w_v", "w_o", "query", "key", "turned_query",
        "turned_key", "value", "head_outputs", "concat", "output", "running_mixtures", "stream",
        "fed", "total", "w_in", "b_in", "hidden", "w_out", "b_out", "start_means", "stream_means",
        "total_means", "start_normed", "stream_normed", "total_normed", "unembedding",
    ),
    "sines": ("positions",),
    "scores": ("scores",),
    "exponents": ("scaled_scores", "running_largest", "logits"),
    "exponents to 0": ("below the largest",),
    "positive": (
        "exponentials", "start_spreads", "stream_spreads", "total_spreads", "word_exponentials",
        "word_sums",
    ),
    "shares": ("weights", "probabilities"),
    "powers to 1": ("running_factors", "running_exponentials"),
    "from 1": ("running_sums",),
    "not negative": ("active",),
    # Constants, which keep their value. The scripts of pages know the range by this name.
    "same": ("d_k", "scale", "mask", "eps", "gain", "bias", "cos", "sin", "one"),
}  # fmt: skip

RANGES: Mapping[str, str] = MappingProxyType(
    {quantity: name for name, names in _RANGES.items() for quantity in names}
)
"""The range of each stage, constant and exponent that can be an operand."""


def operand_ranges(exercise: NumericExercise) -> list[str | list[str]]:
    """Return the range of each group of an exercise's operands.

    Parameters
    ----------
    exercise : NumericExercise

    Returns
    -------
    list of str or list of str
        A range for each group, or one for each of its numbers if they differ.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> from mha.practice.exercise import numeric_exercise
    >>> operand_ranges(numeric_exercise(trace(load_example("the-cat-sat")), "head_outputs", 0, 0))
    ['shares', 'tenths']
    """
    is_whole = all(value.is_integer() for given in exercise.givens for value in given.values)
    by_group = [[RANGES[quantity] for quantity in group] for group in operand_quantities(exercise)]
    if is_whole and "shares" not in by_group[0]:
        by_group = [["whole" if name == ORDINARY else name for name in names] for names in by_group]
    return [names[0] if len(set(names)) == 1 else names for names in by_group]


def operand_quantities(exercise: NumericExercise) -> list[list[str]]:
    """Return the quantity of each operand of an exercise, in groups.

    Parameters
    ----------
    exercise : NumericExercise

    Returns
    -------
    list of list of str
        Keys of `RANGES`.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> from mha.practice.exercise import numeric_exercise
    >>> operand_quantities(numeric_exercise(trace(load_example("cat-sat")), "scaled_scores", 0, 0))
    [['scores'], ['d_k']]
    """
    found, sizes = exercise.origin, [len(given.values) for given in exercise.givens]
    if exercise.kind == "products":
        left, *right = zip(
            *((*term, *[None] * (2 - len(term))) for term in found.terms), strict=True
        )
        return [_operand_names(left), *map(_operand_names, right)]
    if exercise.kind == "power":
        is_below = found.place.stage != "exponentials"
        return [["below the largest" if is_below else "scaled_scores"]]
    if exercise.kind == "share":
        return [["scaled_scores"] * sizes[0]]
    # The mean of a spread's numbers is not given: it follows from them.
    operands = (
        found.operands if exercise.kind != "spread" else (*found.operands[:-2], found.operands[-1])
    )
    names = iter([*_operand_names(operands), "gain", "bias"])
    return [[next(names) for _ in range(size)] for size in sizes]


def _operand_names(operands: Iterable[Operand | None]) -> list[str]:
    """Return the name of each operand: a constant's name, or the stage of a number of the run."""
    return [
        "one" if operand is None
        else operand.name or (operand.place.stage if operand.place else "")
        for operand in operands
    ]  # fmt: skip
