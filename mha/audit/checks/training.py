"""Checks of the effects of scaling and initialisation, on random vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mha.audit.checks.finding import Check, Finding
from mha.audit.document import SLACK
from mha.core.attention import attention_weights
from mha.core.checks import Array
from mha.core.gradients import scaled_dot_product_attention_backward
from mha.runs.rounding import percent, short, shown

UNDECIDED = 0.99
"""Largest weight below which a row still passes a noticeable gradient back."""


def _initialisation(*, scheme: str, d_in: int, d_out: int) -> Finding:
    """Decide whether sqrt(2 / d_in) is the standard deviation of an initialisation scheme."""
    rules = {"He": math.sqrt(2 / d_in), "Glorot": math.sqrt(2 / (d_in + d_out))}
    used = math.sqrt(2 / d_in)
    return Finding(
        abs(used - rules[scheme]) <= SLACK,
        f"from {d_in} to {d_out}, it gives {shown(used)}, He's rule {shown(rules['He'])} and"
        f" Glorot's {shown(rules['Glorot'])}",
    )


def _spread_of_scores(*, widths: Sequence[int], scaled: bool, grows: bool, seed: int) -> Finding:
    """Decide whether the standard deviation of scores of standard normal vectors grows."""
    rng = np.random.default_rng(seed)
    spread = []
    for d_k in widths:
        query, key = rng.normal(size=(2, 2000, d_k))
        scores = (query * key).sum(axis=-1) / (math.sqrt(d_k) if scaled else 1.0)
        spread.append(float(scores.std()))
    spreads = ", ".join(f"{shown(s, 2)} at {d_k}" for s, d_k in zip(spread, widths, strict=True))
    return Finding(
        (spread[-1] > 2 * spread[0]) == grows,
        f"{'scaled' if scaled else 'unscaled'} scores of random vectors have standard deviation"
        f" {spreads}",
    )


def _root_softens(*, d_k: int, num_keys: int, seed: int) -> Finding:
    """Decide whether one key gets most of the weight without the root of d_k, but not with it."""
    query, key, _ = _random_attention(d_k, num_keys, seed)
    with_root, without = (
        float(attention_weights(query, key, scale=scale).max(axis=-1).mean())
        for scale in (None, 1.0)
    )
    return Finding(
        with_root < 0.5 < without,
        f"random vectors {d_k} wide, {num_keys} keys: the largest weight of a row is"
        f" {percent(without)} on average without the root, {percent(with_root)} with it",
    )


def _gradients_unscaled(*, effect: str, d_k: int, num_keys: int, seed: int) -> Finding:
    """Decide whether the median gradient of queries explodes, or vanishes, without the root.

    A claim that it explodes is half right if the median does not, but the mean grows.
    """
    query, key, value = _random_attention(d_k, num_keys, seed)
    d_output = np.random.default_rng(seed + 1).normal(size=value[:, :1].shape) / math.sqrt(d_k)
    typical, spread = [], []
    for scale in (None, 1.0):
        gradients = scaled_dot_product_attention_backward(d_output, query, key, value, scale=scale)
        size = np.linalg.norm(gradients.query, axis=-1)
        typical.append(float(np.median(size)))
        spread.append(float(size.mean()))
    ratio = typical[1] / typical[0]
    undecided = attention_weights(query, key, scale=1.0).max(axis=-1) < UNDECIDED
    theirs = float(size[undecided].sum() / size.sum())
    return Finding(
        ratio > 10 if effect == "explode" else ratio < 0.1,
        f"random vectors {d_k} wide, {num_keys} keys: the median length of a query's gradient goes"
        f" from {shown(typical[0])} to {shown(typical[1])} without the root (the mean from"
        f" {shown(spread[0])} to {shown(spread[1])}, and {percent(theirs)} of that comes from the"
        f" {percent(float(undecided.mean()))} of the rows in which no weight reaches"
        f" {short(UNDECIDED)})",
        half_right=effect == "explode" and ratio <= 10 and spread[1] > 2 * spread[0],
    )


def _random_attention(d_k: int, num_keys: int, seed: int) -> tuple[Array, Array, Array]:
    """Return 500 queries, each with keys and values of its own, all standard normal."""
    rng = np.random.default_rng(seed)
    query = rng.normal(size=(500, 1, d_k))
    key, value = rng.normal(size=(2, 500, num_keys, d_k))
    return query, key, value


CHECKS: dict[str, Check] = {
    "gradients_unscaled": _gradients_unscaled,
    "initialisation": _initialisation,
    "root_softens": _root_softens,
    "spread_of_scores": _spread_of_scores,
}
"""The checks of this module by name."""
