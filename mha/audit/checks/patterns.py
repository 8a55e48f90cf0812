"""Checks of drawn attention patterns, and of the matrices that give them."""

from collections.abc import Sequence

import numpy as np

from mha.audit.checks.finding import Check, Finding
from mha.audit.judging import run_of
from mha.core.attention import attention_weights
from mha.core.pattern_fitting import pattern_projections
from mha.runs.rounding import percent, short, shown


def _one_head_cannot(*, num_tokens: int, pairs: Sequence[Sequence[int]], d_k: int) -> Finding:
    """Decide whether no head can give nine tenths of each pair's query row to the pair's key."""
    if len({query for query, _ in pairs}) < len(pairs):
        return Finding(
            True,
            "a token has one row of weights in a head, and here the same one would give nine"
            " tenths to each of two keys",
        )
    pattern = np.full((num_tokens, num_tokens), 1 / num_tokens)
    for query, key in pairs:
        pattern[query] = 0.1 / (num_tokens - 1)
        pattern[query, key] = 0.9
    weights = attention_weights(*pattern_projections(pattern, np.eye(num_tokens), d_k))
    least = min(float(weights[query, key]) for query, key in pairs)
    return Finding(
        least < 0.8,
        f"one head of width {d_k} draws all {len(pairs)} at once, none with less than"
        f" {percent(least)} of its row",
    )


def _diagonal(*, off_diagonal: float) -> Finding:
    """Decide whether a row with that weight off the diagonal can be largest on the diagonal."""
    left = 1 - off_diagonal
    return Finding(
        left > off_diagonal,
        f"a row with {short(off_diagonal)} on another token leaves at most {short(left)} for the"
        " diagonal",
    )


def _needs_training(*, example: str, d_k: int) -> Finding:
    """Decide whether no untrained matrices, given by a formula, draw an example's patterns."""
    inputs = run_of(example).example
    assert inputs.target_weights is not None
    assert inputs.embeddings is not None
    apart = 0.0
    for pattern in inputs.target_weights:
        w_q, w_k = pattern_projections(pattern, inputs.embeddings, d_k)
        weights = attention_weights(inputs.embeddings @ w_q, inputs.embeddings @ w_k)
        apart = max(apart, float(np.abs(weights - pattern).max()))
    return Finding(
        apart > 0.01,
        f"made-up patterns with these cells are drawn by matrices from a formula, width {d_k} and"
        f" nothing learned, with an error of at most {shown(apart)}",
    )


CHECKS: dict[str, Check] = {
    "diagonal": _diagonal,
    "needs_training": _needs_training,
    "one_head_cannot": _one_head_cannot,
}
"""The checks of this module by name."""
