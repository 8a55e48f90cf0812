"""Checks of the computation: inputs of the outputs, mixing of heads, effects of the softmax."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mha.audit.checks.finding import Check, Finding
from mha.audit.checks.runs import layer_of
from mha.audit.document import SLACK
from mha.audit.judging import run_of
from mha.core.softmax import softmax
from mha.runs.record import trace
from mha.runs.rounding import shown


def _mixture_of(*, example: str, array: str) -> Finding:
    """Decide whether the outputs of Head 1 are the weights times the rows of some array."""
    run = run_of(example)
    rows = run.embeddings if array == "embeddings" else run.value[0]
    assert rows is not None
    mixed, output = run.weights[0] @ rows, run.head_outputs[0]
    same = mixed.shape == output.shape and bool(np.allclose(mixed, output))
    words = {"value": "values"}.get(array, array)
    because = f"the weights times the {words} give rows {mixed.shape[1]} wide, and the output is"
    because += f" {output.shape[1]} wide"
    if mixed.shape == output.shape:
        because += f"; they differ by at most {shown(float(np.abs(mixed - output).max()))}"
    return Finding(same, because)


def _heads_meet(*, example: str, array: str, meet: bool) -> Finding:
    """Decide whether every component of an array depends on more than one head."""
    run, layer = run_of(example), layer_of(example)
    before = getattr(run, array)
    changed = []
    for head in range(run.num_heads):
        factor = np.where(np.arange(run.num_heads) == head, 2.0, 1.0)[:, None, None]
        doubled = replace(layer, w_v=layer.w_v * factor)
        after = getattr(trace(replace(run.example, layer=doubled)), array)
        changed.append((np.abs(after - before) > SLACK).any(axis=0))
    moves = [str(int(c.sum())) for c in changed]
    return Finding(
        bool(np.all(np.sum(changed, axis=0) > 1)) == meet,
        f"of {before.shape[1]} components, doubling the values of one head changes"
        f" {' or '.join(dict.fromkeys(moves))}",
    )


def _stays_the_same(*, example: str, array: str) -> Finding:
    """Decide whether an array is the same for another input, as a parameter is."""
    run = run_of(example)
    assert run.embeddings is not None
    other = trace(replace(run.example, embeddings=run.embeddings[[1, *range(1, len(run.tokens))]]))
    holders = [r.example.layer if array.startswith("w_") else r for r in (run, other)]
    before, after = (getattr(holder, array) for holder in holders)
    moved = float(np.abs(after - before).max())
    change = "the weights change" if array == "weights" else f"`{array}` changes"
    return Finding(
        moved == 0,
        f"with all matrices as they are, and the vector of *{run.tokens[0]}* replaced by that of"
        f" *{run.tokens[1]}*, {change} by up to {shown(moved)}",
    )


def _softmax_ensures(*, effect: str, example: str, head: int, row: int) -> Finding:
    """Decide whether the softmax alone gives a sum of 1, scaled scores or a fixed width."""
    run = run_of(example)
    scores, weights = run.scores[head, row], run.weights[head, row]
    unscaled = softmax(scores)
    if effect == "sum":
        total = float(unscaled.sum())
        return Finding(abs(total - 1) <= SLACK, f"the softmax of a row sums to {shown(total)}")
    if effect == "width":
        shorter = softmax(scores[:-1])
        return Finding(
            shorter.size == unscaled.size,
            f"of {scores.size} scores the softmax makes {unscaled.size} weights, and of"
            f" {scores.size - 1} it makes {shorter.size}",
        )
    apart = float(np.abs(unscaled - weights).max())
    return Finding(
        apart <= SLACK,
        "the softmax of scores that were not scaled before differs from the weights by up to"
        f" {shown(apart)}",
    )


def _only_right_option(
    *, right: str, options: Sequence[str], example: str, head: int, row: int
) -> Finding:
    """Decide whether exactly one option of a question is an effect of the softmax."""
    found = {o: _softmax_ensures(effect=o, example=example, head=head, row=row) for o in options}
    return Finding(
        [option for option, finding in found.items() if finding.holds] == [right],
        "; ".join(finding.because for finding in found.values()),
    )


CHECKS: dict[str, Check] = {
    "heads_meet": _heads_meet,
    "mixture_of": _mixture_of,
    "only_right_option": _only_right_option,
    "softmax_ensures": _softmax_ensures,
    "stays_the_same": _stays_the_same,
}
"""The checks of this module by name."""
