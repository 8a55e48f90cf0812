"""How far rounding on the way can move the answers of a worksheet.

Who writes every number down rounded, and goes on with what is written down, arrives near the
answer, not always at its last digit. The bounds here hold for every such pupil: each number may be
off by what the roundings before it, and its own, come to.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from mha.core.checks import Array
from mha.runs.record import Trace


def tolerances(run: Trace, stages: Sequence[str], places: int) -> dict[str, int]:
    """Return how far a pupil's answers may be from the key's, in units of the last decimal.

    Parameters
    ----------
    run : Trace
        Its numbers before the exponentials are exact; so is what it is given in a stage's place.
    stages : sequence of str
        Those that are worked, in the order of the computation.
    places : int
        Decimals that are written down from the exponentials on.

    Returns
    -------
    dict of str to int
        By stage, the largest distance of two answers that are each rounded to `places` decimals.
        An exponential's is that of its row sum. Stages whose answers cannot differ are left out.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> tolerances(trace(load_example("cat-sat")), ["exponentials", "weights", "head_outputs"], 3)
    {'exponentials': 1, 'weights': 1, 'head_outputs': 9}
    """
    unit = 10.0**-places
    largest = {stage: float(off.max()) for stage, off in _slips(run, stages, unit / 2)}
    largest |= {s: max(off, _on_tie(getattr(run, s) / unit) * unit) for s, off in largest.items()}
    # Two numbers that are off by so much are rounded each: strictly less than a unit is added.
    units = {stage: math.floor(off / unit + 1 - 1e-9) for stage, off in largest.items()}
    return {stage: count for stage, count in units.items() if count}


def _on_tie(numbers: Array) -> float:
    """Return a little where a number lies exactly between two that it may be rounded to, else 0."""
    from_tie = np.abs(np.abs(numbers) % 1 - 0.5)
    return 1e-6 if (from_tie < 1e-6).any() else 0.0


def _slips(run: Trace, stages: Sequence[str], half: float) -> Iterator[tuple[str, Array]]:
    """Yield by stage how far its numbers may be off before they are rounded themselves."""
    is_rough = "exponentials" in stages
    if is_rough:
        yield "exponentials", np.full_like(run.row_sums, half * run.weights.shape[-1])
    if "weights" not in stages:
        return
    off = _of_weights(run, half if is_rough else 0.0)
    yield "weights", off
    if "head_outputs" not in stages:
        return
    off = (off + half) @ np.abs(run.value)
    yield "head_outputs", off
    if "output" in stages and run.example.layer is not None:
        w_o = run.example.layer.w_o
        assert w_o is not None
        yield "output", np.concatenate(list(off + half), axis=-1) @ np.abs(w_o)


def _of_weights(run: Trace, half: float) -> Array:
    """Return how far each weight may be off whose exponentials are off by `half`.

    Their sum is off by so much a key, and once more where it is rounded itself.
    """
    sums = run.row_sums[..., None]
    off_sum = (run.weights.shape[-1] + 1) * half
    highest = (run.exponentials + half) / np.maximum(sums - off_sum, math.ulp(1.0))
    lowest = np.maximum(run.exponentials - half, 0) / (sums + off_sum)
    return np.minimum(np.maximum(highest - run.weights, run.weights - lowest), 1)
