"""Checks of attention patterns: largest entries of rows, preferences of heads, order of weights."""

from collections.abc import Sequence

import numpy as np

from mha.audit.checks.finding import Check, Finding
from mha.audit.checks.runs import printed_row
from mha.audit.document import SLACK
from mha.audit.judging import run_of
from mha.core.distributions import total_variation
from mha.runs.record import Trace
from mha.runs.rounding import percent, shown


def _largest(*, example: str, stage: str, head: int, row: int, column: int) -> Finding:
    """Decide whether one key has the largest score or weight of a query."""
    run = run_of(example)
    true = getattr(run, stage)[head, row]
    query, key, top = run.tokens[row], run.tokens[column], int(true.argmax())
    because = f"for *{query}*{_of_head(run, head)}, *{run.tokens[top]}* has the largest of the"
    because += f" {stage}, {shown(true[top])}"
    if top != column:
        because += f", and *{key}* has {shown(true[column])}"
    printed = printed_row(example, stage, head, row, latest=True)
    if len(printed) == len(true):
        local = int(np.argmax([judgement.local for judgement in printed]))
        because += "; by the numbers printed before"
        because += ", too" if local == top else f", it is *{run.tokens[local]}*"
    return Finding(top == column, because)


def _printed_maxima(*, example: str, stage: str, head: int) -> Finding:
    """Decide whether each row of a printed table has its largest number where the true one is."""
    run = run_of(example)
    true = getattr(run, stage)[head].argmax(axis=-1)
    rows = (printed_row(example, stage, head, i, latest=False) for i in range(len(true)))
    printed = [int(np.argmax([j.number.value for j in row])) for row in rows]
    agree = sum(bool(a == b) for a, b in zip(true, printed, strict=True))
    found, wanted = (", ".join(f"*{run.tokens[i]}*" for i in places) for places in (printed, true))
    return Finding(
        agree == len(true),
        f"row by row the largest printed number is that of {found}, the true one that of {wanted}:"
        f" {agree} of {len(true)} rows agree",
    )


def _mixes_all(*, example: str, at_least: float, row: int | None = None) -> Finding:
    """Decide whether tokens take at least some share from every other token."""
    weights = run_of(example).weights if row is None else run_of(example).weights[:, [row]]
    queries = range(weights.shape[-1]) if row is None else [row]
    own = np.arange(weights.shape[-1]) == np.array(queries)[:, None]
    others = np.where(own, np.inf, weights)
    share = np.where(own, 0, weights).sum(axis=-1).mean()
    return Finding(
        bool(others.min() >= at_least),
        f"the smallest weight on another token is {shown(others.min())}; others have"
        f" {percent(float(share))} of the weight on average",
    )


def _heads_prefer_differently(*, example: str) -> Finding:
    """Decide whether heads differ in which key their queries attend to most."""
    run = run_of(example)
    best = run.weights.argmax(axis=-1)
    text = "; ".join(
        f"Head {i + 1} prefers " + _join_words([run.tokens[j] for j in dict.fromkeys(head)])
        for i, head in enumerate(best.tolist())
    )
    apart = max(total_variation(a, b).max() for a in run.weights for b in run.weights)
    return Finding(
        bool((best != best[0]).any()),
        f"over all its queries, {text}; two heads differ by at most {percent(float(apart))} of a"
        " row's weight",
    )


def _score_orders_weights(*, example: str, head: int, across_rows: bool) -> Finding:
    """Decide whether a larger score always has a larger weight."""
    run = run_of(example)
    scores, weights = run.scores[head], run.weights[head]
    higher = scores[:, :, None, None] > scores + SLACK
    lower = higher & (weights[:, :, None, None] < weights)
    i, j, k, m = np.unravel_index(int(lower.argmax()), lower.shape)
    text = "in every row the order of the weights is that of the scores"
    if lower[i, j, k, m]:
        text += (
            f"; across rows it need not be: a score of {shown(scores[i, j], 2)} has weight"
            f" {shown(weights[i, j])}, one of {shown(scores[k, m], 2)} has {shown(weights[k, m])}"
        )
    within = np.diagonal(lower, axis1=0, axis2=2).any()
    return Finding(not (lower.any() if across_rows else within), text)


def _of_head(run: Trace, head: int) -> str:
    return f" in Head {head + 1}" if run.num_heads > 1 else ""


def _join_words(words: Sequence[str]) -> str:
    return " or ".join(f"*{word}*" for word in words)


CHECKS: dict[str, Check] = {
    "heads_prefer_differently": _heads_prefer_differently,
    "largest": _largest,
    "mixes_all": _mixes_all,
    "printed_maxima": _printed_maxima,
    "score_orders_weights": _score_orders_weights,
}
"""The checks of this module by name."""
