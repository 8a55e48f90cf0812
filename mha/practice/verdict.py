"""How an entered answer stands to an exercise: right, near, wrong, or no number at all."""

from typing import Literal

from mha.practice.answer_parser import read
from mha.practice.exercise import NumericExercise, half_unit
from mha.runs.rounding import rounded

Verdict = Literal["right", "near", "wrong", "unreadable"]

NEAR_UNITS = 2
"""The largest error, in units of the last decimal asked for, that is taken for early rounding."""


def verdict(exercise: NumericExercise, text: str) -> Verdict:
    """Say how an entered answer stands to the exercise's.

    Parameters
    ----------
    exercise : NumericExercise
    text : str
        A number or a short calculation, as `mha.practice.answer_parser.read` takes it.

    Returns
    -------
    str
        "right": within half a unit of the last decimal asked for. "near": a slip of rounding with
        the right sign: within two such units and written with all decimals, or rounded correctly to
        fewer decimals. "wrong", or "unreadable".

    Examples
    --------
    >>> from mha import load_example, trace
    >>> from mha.practice.exercise import numeric_exercise
    >>> exercise = numeric_exercise(trace(load_example("cat-sat")), "weights", 0, 0)
    >>> [verdict(exercise, text) for text in ("0.73", "0,731", "0.74", "0.5", "x")]
    ['right', 'right', 'near', 'wrong', 'unreadable']
    """
    entered = read(text, percent=exercise.percent)
    if entered is None:
        return "unreadable"
    distance = abs(entered.number - exercise.asked)
    unit = 10.0**-exercise.places
    dust = abs(exercise.asked) * 1e-13  # digits that `shown` does not trust
    if distance <= half_unit(exercise.places) + dust:
        return "right"
    needs_rounding = abs(exercise.asked - rounded(exercise.asked, exercise.places)) > 1e-9 * unit
    if not needs_rounding or entered.number * exercise.asked < 0:
        return "wrong"
    decimals = entered.decimals
    if decimals is None or decimals >= exercise.places:
        return "near" if distance <= NEAR_UNITS * unit else "wrong"
    return "near" if decimals > 0 and distance <= half_unit(decimals) else "wrong"


def is_right(exercise: NumericExercise, text: str) -> bool:
    """Tell whether an entered answer is within half a unit of the last decimal asked for.

    Parameters
    ----------
    exercise : NumericExercise
    text : str
        As for `verdict`.

    Returns
    -------
    bool

    Examples
    --------
    >>> from mha import load_example, trace
    >>> from mha.practice.exercise import numeric_exercise
    >>> exercise = numeric_exercise(trace(load_example("cat-sat")), "scores", 0, 0)
    >>> is_right(exercise, " 2 "), is_right(exercise, "4/2"), is_right(exercise, "1,9")
    (True, True, False)
    """
    return verdict(exercise, text) == "right"
