"""Runs of an attention that may have a bug: the inputs, the weights and the outputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from mha.core.checks import Array
from mha.core.heads import merge_heads
from mha.core.masks import causal_mask
from mha.practice.attention_parts import Options, Parts, attend, decode
from mha.runs.record import Trace

SLOPE = 0.5
"""The slope of the linear bias: how much it subtracts for each position of distance."""


@dataclass(frozen=True, eq=False)
class RunInputs:
    """The inputs of an attention whose heads are beside each other.

    Parameters
    ----------
    query, key, value : ndarray, shape (n, num_heads * width)
        The heads are beside each other.
    num_heads : int, default 1
    d_model : int, optional
        The width of the embeddings; by default, one head's width.
    is_causal, is_biased, is_rotated : bool, default False
        Whether there is a causal mask; a linear bias with the slope `SLOPE`; rotary positions with
        a quarter turn per position.
    is_cached : bool, default False
        Whether tokens are decoded one at a time, with a cache; then bias and mask are ignored.
    """

    query: Array
    key: Array
    value: Array
    num_heads: int = 1
    d_model: int | None = None
    is_causal: bool = False
    is_biased: bool = False
    is_rotated: bool = False
    is_cached: bool = False

    @classmethod
    def from_trace(cls, run: Trace, factor: float = 1, **flags: bool) -> RunInputs:
        """Return the inputs of a run, its queries and keys times a factor.

        Examples
        --------
        >>> from mha import load_example, trace
        >>> RunInputs.from_trace(trace(load_example("the-cat-sat"))).query.shape
        (3, 4)
        """
        query, key, value = (merge_heads(x) for x in (run.query, run.key, run.value))
        width = None if run.embeddings is None else run.embeddings.shape[-1]
        return cls(factor * query, factor * key, value, run.num_heads, width, **flags)


def run_attention(
    parts: Parts, inputs: RunInputs, rng: Generator | None = None
) -> tuple[Array | None, Array]:
    """Return the weights and the output of each head.

    Parameters
    ----------
    parts : Parts
    inputs : RunInputs
    rng : Generator, optional
        Draws the weights that dropout sets to zero.

    Returns
    -------
    weights : ndarray, shape (num_heads, n, n), or None
        None if tokens are decoded one at a time.
    output : ndarray, shape (num_heads, n, d_v)

    Raises
    ------
    ValueError
        If the shapes of a wrong part do not fit.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> from mha.practice.bugs import BUGS
    >>> cat_sat = RunInputs.from_trace(trace(load_example("cat-sat")))
    >>> run_attention(BUGS["wrong axis"], cat_sat)[1].round(4)
    array([[[2.8068, 4.0758],
            [4.1932, 5.9242]]])
    """
    n = len(inputs.query)
    query, key, value = (
        parts.split(x, inputs.num_heads) for x in (inputs.query, inputs.key, inputs.value)
    )
    angles = np.pi / 2 * inputs.is_rotated * np.arange(n + 1)[:, None]
    if inputs.is_cached:
        return None, decode(query, key, value, angles, parts, rng)
    options = Options(
        allowed=causal_mask(n, n) if inputs.is_causal else None,
        bias=-SLOPE * np.abs(np.subtract.outer(range(n), range(n))) if inputs.is_biased else 0.0,
        angles=angles[:-1] if inputs.is_rotated else None,
        rng=rng,
    )
    return attend(query, key, value, parts, options, d_model=inputs.d_model)
