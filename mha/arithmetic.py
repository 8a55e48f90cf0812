"""Any number of a trace, written out as the sum or quotient that gives it."""

import re
from dataclasses import dataclass

import numpy as np

from mha.rounding import PLACES, short, shown
from mha.trace import Trace

STAGES = (
    "query",
    "key",
    "value",
    "scores",
    "scaled_scores",
    "exponentials",
    "row_sums",
    "weights",
    "head_outputs",
    "head_contributions",
    "output",
)
"""The stages whose numbers can be written out, in order of the computation."""


@dataclass(frozen=True)
class Arithmetic:
    """One computed number and how it comes about.

    Parameters
    ----------
    expression : str
        The calculation with its numbers, such as ``1×1 + 0×0``.
    products : tuple of str
        The terms of a sum of products, each worked out; empty for other calculations.
    result : str

    Examples
    --------
    >>> print(Arithmetic(expression="1×2 + 3×4", products=("2", "12"), result="14"))
    1×2 + 3×4 = 2 + 12 = 14
    """

    expression: str
    products: tuple[str, ...]
    result: str

    def __str__(self) -> str:
        """Return the whole line: expression, terms worked out, result."""
        steps = [self.expression, " + ".join(self.products), self.result]
        return " = ".join(step for step in steps if step)

    def _repr_markdown_(self) -> str:
        """Return the line with its exponents raised."""
        return re.sub(r"\^(\S+)", r"{sup}`\1`", str(self))


def arithmetic(
    run: Trace, stage: str, row: int, column: int = 0, *, head: int = 0, places: int = PLACES
) -> Arithmetic:
    """Write out one number of a trace.

    Parameters
    ----------
    run : Trace
    stage : str
        One of `STAGES`.
    row : int
        The token that the number belongs to: the query's, from the scores on.
    column : int, default 0
        The dimension, or the key's token from the scores to the weights. A row sum has none.
    head : int, default 0
        Counted from 0. The output has none.
    places : int, default 4
        Decimals shown; the calculation itself is not rounded.

    Returns
    -------
    Arithmetic

    Raises
    ------
    ValueError
        If the stage is unknown, the run does not have it, or an index is out of range.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> run = trace(load_example("cat-sat"))
    >>> print(arithmetic(run, "scores", 0, 1))
    1×0 + 0×1 + 1×0 + 0×1 = 0 + 0 + 0 + 0 = 0
    >>> print(arithmetic(run, "weights", 0, 0))
    2.7183 ÷ 3.7183 = 0.7311
    """
    if stage not in STAGES:
        raise ValueError(f"stage is {stage!r}; one of {', '.join(STAGES)} is wanted")
    array = getattr(run, stage)
    if array is None:
        raise ValueError(f"{run.example.name} has no {stage}; another stage is wanted")
    index = {"row_sums": (head, row), "output": (row, column)}.get(stage, (head, row, column))
    if any(not 0 <= i < size for i, size in zip(index, array.shape, strict=True)):
        raise ValueError(f"{stage} has shape {array.shape}; index {index} is outside it")
    result = short(float(array[index]), places)
    if stage in ("query", "key", "value"):
        return _projection(run, stage, row, column, head, places, result)
    if stage == "scores":
        return _sum_of_products(run.query[head, row], run.key[head, column], places, result)
    if stage == "head_outputs":
        return _sum_of_products(run.weights[head, row], run.value[head, :, column], places, result)
    if stage in ("output", "head_contributions"):
        assert run.example.weights is not None
        assert run.example.weights.w_o is not None
        d_v, w_o = run.value.shape[-1], run.example.weights.w_o[:, column]
        block = slice(None) if stage == "output" else slice(head * d_v, (head + 1) * d_v)
        return _sum_of_products(run.concat[row, block], w_o[block], places, result)
    if stage == "row_sums":
        terms = " + ".join(shown(float(x), places) for x in run.exponentials[head, row])
        return Arithmetic(terms, (), shown(float(run.row_sums[head, row]), places))
    return _quotient(run, stage, row, column, head, places)


def _projection(
    run: Trace, stage: str, row: int, column: int, head: int, places: int, result: str
) -> Arithmetic:
    if run.embeddings is None or run.example.weights is None:
        raise ValueError(
            f"{run.example.name} starts at its {stage}; an example with embeddings is wanted"
        )
    matrices = getattr(run.example.weights, f"w_{stage[0]}")
    return _sum_of_products(run.embeddings[row], matrices[head, :, column], places, result)


def _sum_of_products(left: np.ndarray, right: np.ndarray, places: int, result: str) -> Arithmetic:
    pairs = [(float(a), float(b)) for a, b in zip(left, right, strict=True)]
    return Arithmetic(
        " + ".join(f"{_factor(a, places)}×{_factor(b, places)}" for a, b in pairs),
        tuple(_factor(a * b, places) for a, b in pairs),
        result,
    )


def _factor(value: float, places: int) -> str:
    """Return a number as part of a sum: in brackets where it is negative."""
    text = short(value, places)
    return f"({text})" if text.startswith("−") else text


def _quotient(run: Trace, stage: str, row: int, column: int, head: int, places: int) -> Arithmetic:
    """Write out a scaled score, an exponential or a weight."""
    cell = (head, row, column)
    result = shown(float(getattr(run, stage)[cell]), places)
    if stage == "scaled_scores":
        score, d_k = short(float(run.scores[cell]), places), run.query.shape[-1]
        if not np.isfinite(run.scaled_scores[cell]):
            return Arithmetic("masked", (), result)
        scaled = short(float(run.scaled_scores[cell]), places)
        if run.example.scale is None:
            return Arithmetic(f"{score} ÷ √{d_k}", (), scaled)
        return Arithmetic(f"{score} × {short(run.example.scale, places)}", (), scaled)
    if stage == "exponentials":
        shift = float(run.shifts[head, row])
        exponent = float(run.scaled_scores[cell]) - shift
        return Arithmetic(f"e^{short(exponent, places)}", (), result)
    top, bottom = float(run.exponentials[cell]), float(run.row_sums[head, row])
    if bottom == 0:
        return Arithmetic("masked", (), result)
    return Arithmetic(f"{shown(top, places)} ÷ {shown(bottom, places)}", (), result)
