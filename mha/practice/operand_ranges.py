"""From where new numbers of an exercise are drawn: what each quantity can be.

A sine is no 6.53, an exponential is above zero, and what ReLU leaves is not below it. A law is a
name that the page's script knows (`DRAWS` in exercises.js).
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mha.practice.exercise import NumericExercise
from mha.runs.operations import Operand

ORDINARY = "tenths"
"""Any short number; whole ones where all of the example's are."""

_LAWS = {
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
    "same": ("d_k", "scale", "mask", "eps", "gain", "bias", "cos", "sin", "one"),
}  # fmt: skip

LAWS: Mapping[str, str] = MappingProxyType(
    {quantity: law for law, quantities in _LAWS.items() for quantity in quantities}
)
"""The law of each stage, constant and exponent that an exercise may give."""


def draws(exercise: NumericExercise) -> list[str | list[str]]:
    """Return from where each group of an exercise's operands is drawn anew.

    Parameters
    ----------
    exercise : NumericExercise

    Returns
    -------
    list of str or list of str
        A law for each group, or one for each of its numbers where they differ.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> from mha.practice.exercise import numeric_exercise
    >>> draws(numeric_exercise(trace(load_example("the-cat-sat")), "head_outputs", 0, 0))
    ['shares', 'tenths']
    """
    is_whole = all(value.is_integer() for given in exercise.givens for value in given.values)
    by_group = [[LAWS[quantity] for quantity in group] for group in quantities(exercise)]
    if is_whole and "shares" not in by_group[0]:
        by_group = [["whole" if law == ORDINARY else law for law in laws] for laws in by_group]
    return [laws[0] if len(set(laws)) == 1 else laws for laws in by_group]


def quantities(exercise: NumericExercise) -> list[list[str]]:
    """Return what each number is that an exercise gives, in its groups.

    Parameters
    ----------
    exercise : NumericExercise

    Returns
    -------
    list of list of str
        Keys of `LAWS`.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> from mha.practice.exercise import numeric_exercise
    >>> quantities(numeric_exercise(trace(load_example("cat-sat")), "scaled_scores", 0, 0))
    [['scores'], ['d_k']]
    """
    found, sizes = exercise.origin, [len(given.values) for given in exercise.givens]
    if exercise.kind == "products":
        left, *right = zip(
            *((*term, *[None] * (2 - len(term))) for term in found.terms), strict=True
        )
        return [_names(left), *map(_names, right)]
    if exercise.kind == "power":
        is_below = found.place.stage != "exponentials"
        return [["below the largest" if is_below else "scaled_scores"]]
    if exercise.kind == "share":
        return [["scaled_scores"] * sizes[0]]
    # The mean of a spread's numbers is not given: it follows from them.
    operands = (
        found.operands if exercise.kind != "spread" else (*found.operands[:-2], found.operands[-1])
    )
    names = iter([*_names(operands), "gain", "bias"])
    return [[next(names) for _ in range(size)] for size in sizes]


def _names(operands: Iterable[Operand | None]) -> list[str]:
    """Return what operands are: a constant by its name, a number of the run by its stage."""
    return [
        "one" if operand is None
        else operand.name or (operand.place.stage if operand.place else "")
        for operand in operands
    ]  # fmt: skip
