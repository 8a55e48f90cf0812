"""A small attention that may have a bug, tried on an example: what goes in, and what comes out."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from mha.core.checks import Array
from mha.core.heads import merge_heads
from mha.core.masks import causal_mask
from mha.practice.attention_parts import Options, Parts, attend, write
from mha.runs.record import Trace

SLOPE = 0.5
"""What a bias takes away for each token of distance."""


@dataclass(frozen=True, eq=False)
class Tried:
    """What an attention is given.

    Parameters
    ----------
    query, key, value : ndarray, shape (n, num_heads * width)
        The heads beside each other.
    num_heads : int, default 1
    d_model : int, optional
        The width of the embeddings, where there are any.
    is_causal, is_biased, is_turned : bool, default False
        Whether a causal mask goes in; half a point less for each token of distance; a quarter turn
        for each position.
    in_steps : bool, default False
        Whether tokens come one at a time, with a cache; then there is neither bias nor mask.
    """

    query: Array
    key: Array
    value: Array
    num_heads: int = 1
    d_model: int | None = None
    is_causal: bool = False
    is_biased: bool = False
    is_turned: bool = False
    in_steps: bool = False

    @classmethod
    def of_run(cls, run: Trace, times: float = 1, **told: bool) -> "Tried":
        """Return what goes in of a run, its queries and keys so many times as large.

        Examples
        --------
        >>> from mha import load_example, trace
        >>> Tried.of_run(trace(load_example("the-cat-sat"))).query.shape
        (3, 4)
        """
        query, key, value = (merge_heads(x) for x in (run.query, run.key, run.value))
        width = None if run.embeddings is None else run.embeddings.shape[-1]
        return cls(times * query, times * key, value, run.num_heads, width, **told)


def tried(parts: Parts, given: Tried, draws: Generator | None = None) -> tuple[Array | None, Array]:
    """Return the weights, none where tokens come one at a time, and the output of each head.

    Parameters
    ----------
    parts : Parts
    given : Tried
    draws : Generator, optional
        Of dropout, where it is on.

    Returns
    -------
    weights : ndarray, shape (num_heads, n, n), optional
    output : ndarray, shape (num_heads, n, d_v)

    Raises
    ------
    ValueError
        Where the shapes of a wrong line do not fit.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> from mha.practice.bugs import BUGS
    >>> cat_sat = Tried.of_run(trace(load_example("cat-sat")))
    >>> tried(BUGS["wrong axis"], cat_sat)[1].round(4)
    array([[[2.8068, 4.0758],
            [4.1932, 5.9242]]])
    """
    n = len(given.query)
    query, key, value = (
        parts.split(x, given.num_heads) for x in (given.query, given.key, given.value)
    )
    turns = np.pi / 2 * given.is_turned * np.arange(n + 1)[:, None]
    if given.in_steps:
        return None, write(query, key, value, turns, parts, draws)
    options = Options(
        allowed=causal_mask(n, n) if given.is_causal else None,
        bias=-SLOPE * np.abs(np.subtract.outer(range(n), range(n))) if given.is_biased else 0.0,
        angles=turns[:-1] if given.is_turned else None,
        draws=draws,
    )
    return attend(query, key, value, parts, options, d_model=given.d_model)
