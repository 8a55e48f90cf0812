"""Bounds on the rounding error of worksheet answers.

A student who rounds every intermediate number, and continues with the rounded ones, may miss the
last digit of an answer. The bounds add up the largest rounding errors of all earlier numbers and of
the answer itself, so they hold for every student.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from mha.core.checks import Array
from mha.runs.record import Trace


def tolerances(run: Trace, stages: Sequence[str], places: int) -> dict[str, int]:
    """Return the largest difference of answers from the key's, in units of the last decimal.

    Parameters
    ----------
    run : Trace
        Its numbers before the exponentials are exact, and so are stages that are given.
    stages : sequence of str
        The stages that the student computes, in the order of the computation.
    places : int
        The decimals of the student's numbers, from the exponentials on.

    Returns
    -------
    dict of str to int
        By stage, the largest difference of two answers that are both rounded to `places` decimals,
        in units of the last one. The difference of the exponentials is that of their row sums.
        Stages whose answers cannot differ are omitted.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> tolerances(trace(load_example("cat-sat")), ["exponentials", "weights", "head_outputs"], 3)
    {'exponentials': 1, 'weights': 1, 'head_outputs': 9}
    """
    unit = 10.0**-places
    largest = {stage: float(error.max()) for stage, error in _error_bounds(run, stages, unit / 2)}
    largest |= {
        stage: max(error, _tie_margin(getattr(run, stage) / unit) * unit)
        for stage, error in largest.items()
    }
    # Rounding both numbers adds strictly less than one unit to their difference.
    units = {stage: math.floor(error / unit + 1 - 1e-9) for stage, error in largest.items()}
    return {stage: count for stage, count in units.items() if count}


def _tie_margin(numbers: Array) -> float:
    """Return a small margin if a number is a tie, which may be rounded either way, else 0."""
    from_tie = np.abs(np.abs(numbers) % 1 - 0.5)
    return 1e-6 if (from_tie < 1e-6).any() else 0.0


def _error_bounds(run: Trace, stages: Sequence[str], half: float) -> Iterator[tuple[str, Array]]:
    """Yield each stage and the largest errors of its numbers before they are rounded."""
    is_rounded = "exponentials" in stages
    if is_rounded:
        yield "exponentials", np.full_like(run.row_sums, half * run.weights.shape[-1])
    if "weights" not in stages:
        return
    error = _weight_error(run, half if is_rounded else 0.0)
    yield "weights", error
    if "head_outputs" not in stages:
        return
    error = (error + half) @ np.abs(run.value)
    yield "head_outputs", error
    if "output" in stages and run.example.layer is not None:
        w_o = run.example.layer.w_o
        assert w_o is not None
        yield "output", np.concatenate(list(error + half), axis=-1) @ np.abs(w_o)


def _weight_error(run: Trace, half: float) -> Array:
    """Return the largest error of each weight if each exponential has an error of `half`.

    The sum has that error once per key, and once more because it is rounded too.
    """
    sums = run.row_sums[..., None]
    sum_error = (run.weights.shape[-1] + 1) * half
    highest = (run.exponentials + half) / np.maximum(sums - sum_error, math.ulp(1.0))
    lowest = np.maximum(run.exponentials - half, 0) / (sums + sum_error)
    return np.minimum(np.maximum(highest - run.weights, run.weights - lowest), 1)
