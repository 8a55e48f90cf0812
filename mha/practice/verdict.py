"""How an entered answer stands to an exercise: right, near, wrong, or no number at all."""

import math
import re
from typing import Literal

from mha.practice.exercise import NumericExercise, half_unit

Verdict = Literal["right", "near", "wrong", "unreadable"]

NUMBER = r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)"
ANSWER = re.compile(rf"({NUMBER})(?:/({NUMBER}))?(%?)", re.ASCII)


def verdict(exercise: NumericExercise, text: str) -> Verdict:
    """Say how an entered answer stands to the exercise's.

    Parameters
    ----------
    exercise : NumericExercise
    text : str
        A number with a decimal point or comma, or a fraction, with or without a percent sign.
        Spaces do not count; a hyphen and a true minus sign are the same.

    Returns
    -------
    str
        "right": within half a unit of the last decimal asked for. "near": a slip of rounding, that
        is within two such units, or rightly rounded to fewer decimals. "wrong", or "unreadable".

    Examples
    --------
    >>> from mha import load_example, trace
    >>> from mha.practice.exercise import numeric_exercise
    >>> exercise = numeric_exercise(trace(load_example("cat-sat")), "weights", 0, 0)
    >>> [verdict(exercise, text) for text in ("0.73", "0,731", "0.74", "0.5", "x")]
    ['right', 'right', 'near', 'wrong', 'unreadable']
    """
    parsed = _parse(text, exercise.percent)
    if parsed is None:
        return "unreadable"
    number, decimals = parsed
    distance = abs(number - exercise.asked)
    unit = 10.0**-exercise.places
    if distance <= half_unit(exercise.places):
        return "right"
    needs_rounding = abs(exercise.asked - round(exercise.asked, exercise.places)) > 1e-9 * unit
    rounded_too_much = 0 < decimals < exercise.places and distance <= half_unit(decimals)
    if needs_rounding and (distance <= 2 * unit or rounded_too_much):
        return "near"
    return "wrong"


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


def _parse(text: str, percent: bool) -> tuple[float, int] | None:
    """Return the number that was entered and its decimals, or None if there is none."""
    match = ANSWER.fullmatch("".join(text.split()).replace("−", "-"))
    if match is None:
        return None
    top, bottom, sign = match.groups()
    number, divisor = (float(part.replace(",", ".")) for part in (top, bottom or "1"))
    if divisor == 0:
        return None
    # A sign says percent; where percent is asked for, a bare number is one.
    value = number / divisor / (100 if sign and not percent else 1)
    decimals = 0 if bottom else len(re.split("[.,]", top)[-1]) if re.search("[.,]", top) else 0
    return (value, decimals) if math.isfinite(value) else None
