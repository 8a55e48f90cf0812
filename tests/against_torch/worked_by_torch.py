"""Runs of the book's examples in PyTorch: each stage of attention, from the inputs alone."""

import math
import tomllib
from pathlib import Path

import torch
from torch.nn import functional

EXAMPLES = Path(__file__).parents[2] / "mha" / "examples"

STAGES = {
    "query": lambda s: s.embeddings @ s.w_q,
    "key": lambda s: s.embeddings @ s.w_k,
    "value": lambda s: s.embeddings @ s.w_v,
    "turned_query": lambda s: rotated(s.query, s.angles),
    "turned_key": lambda s: rotated(s.key, s.angles),
    "scores": lambda s: s.turned_query @ s.turned_key.mT,
    "scaled_scores": lambda s: s.scores * (s.scale or s.query.shape[-1] ** -0.5) + s.mask,
    "exponentials": lambda s: s.scaled_scores.exp(),
    "row_sums": lambda s: s.exponentials.sum(-1),
    "weights": lambda s: s.scaled_scores.softmax(-1),
    "head_outputs": lambda s: s.weights @ s.value,
    "concat": lambda s: s.head_outputs.transpose(-3, -2).flatten(-2),
    "output": lambda s: s.concat @ s.w_o,
    "w_o_of_heads": lambda s: s.w_o.unflatten(-2, (s.value.shape[-3], -1)),
    "head_contributions": lambda s: s.head_outputs @ s.w_o_of_heads,
    "stream": lambda s: s.embeddings + s.output,
    "stream_means": lambda s: s.stream.mean(-1),
    "stream_spreads": lambda s: standard_deviations(s.stream),
    "stream_normed": lambda s: normalised(s.stream),
    "hidden": lambda s: s.stream_normed @ s.w_in + s.b_in,
    "active": lambda s: s.hidden.relu(),
    "fed": lambda s: s.active @ s.w_out,
    "total": lambda s: s.stream_normed + s.fed,
    "total_means": lambda s: s.total.mean(-1),
    "total_spreads": lambda s: standard_deviations(s.total),
    "total_normed": lambda s: normalised(s.total),
}
"""The computation of each stage. A stage with heads has the shape (..., num_heads, n, ...)."""


class Run:
    """A run of attention, whose stages are computed on first access.

    Parameters
    ----------
    given : dict of tensor
        What the run starts from, such as an `example`.
    mask : tensor, default 0
        Added to the scaled scores.
    angles : tensor, shape (n, d_k / 2), optional
        By which queries and keys are turned.
    scale : float, default 1 / sqrt(d_k)
    """

    def __init__(self, given, mask=0.0, angles=None, scale=None):
        vars(self).update(given, mask=torch.as_tensor(mask), angles=angles, scale=scale)

    def __getattr__(self, stage):
        if stage not in STAGES:
            raise AttributeError(stage)
        vars(self)[stage] = STAGES[stage](self)
        return vars(self)[stage]


def tensor(numbers):
    """Return numbers in double precision."""
    return torch.tensor(numbers, dtype=torch.float64)


def example(name):
    """Return an example's inputs: its embeddings and heads, or its queries, keys and values."""
    given = tomllib.loads((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8"))
    if "heads" not in given:
        return {k: tensor(given[k])[None] for k in ("query", "key", "value")}
    heads = {k: tensor([head[k] for head in given["heads"]]) for k in ("w_q", "w_k", "w_v")}
    return heads | {k: tensor(given[k]) for k in ("embeddings", "w_o") if k in given}


def causal(n):
    """Return the additive causal mask."""
    return torch.full((n, n), -math.inf).triu(1)


def rotation_angles(n, width, base=10000.0):
    """Return the rotation angles of all positions, slower from pair to pair."""
    speeds = base ** (-torch.arange(0, width, 2).double() / width)
    return torch.arange(n)[:, None] * speeds


def sinusoidal_positions(n, width):
    """Return the sinusoidal positional encodings."""
    angles = rotation_angles(n, width)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def rotated(x, angles):
    """Return pairs of components rotated by angles, as complex numbers."""
    if angles is None:
        return x
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    turns = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(pairs * turns.to(pairs.dtype)).flatten(-2)


def standard_deviations(x):
    """Return the standard deviations by which a layer norm divides rows."""
    return x.var(-1, correction=0).add(1e-5).sqrt()


def normalised(x):
    """Return rows normalised to mean 0 and standard deviation 1."""
    return functional.layer_norm(x, x.shape[-1:], eps=1e-5)
