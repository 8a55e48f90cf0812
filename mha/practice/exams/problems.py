"""The kinds of calculations of an exam, and the chapters that have them.

Each function of `PROBLEMS` draws the numbers of one kind. The steps are the same for every draw;
only numbers and words differ. No result lies halfway between two roundings, and every listed
mistake changes the last result.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from mha.practice.exams import layers, rows
from mha.practice.exams.problem import Problem

MAX_TRIES = 500
"""How many draws of numbers are tried before giving up."""

Draw = Callable[[np.random.Generator], Problem]


def draw_problem(kind: str, rng: np.random.Generator) -> Problem:
    """Return a problem with fresh numbers.

    Parameters
    ----------
    kind : str
        A key of `PROBLEMS`.
    rng : numpy.random.Generator

    Returns
    -------
    Problem

    Raises
    ------
    ValueError
        If no fair numbers are found.

    Examples
    --------
    >>> drawn = draw_problem("masked row", np.random.default_rng(3))
    >>> len(drawn.parts), drawn.is_fair
    (3, True)
    """
    for _ in range(MAX_TRIES):
        problem = PROBLEMS[kind](rng)
        if problem.is_fair:
            return problem
    raise ValueError(f"no fair numbers were found for {kind!r}; another seed is wanted")


PROBLEMS: Mapping[str, Draw] = MappingProxyType(
    {
        "first output": rows.first_output,
        "attention row": rows.attention_row,
        "projected score": rows.projected_score,
        "scale or not": rows.scale_or_not,
        "masked row": rows.masked_row,
        "temperature row": rows.temperature_row,
        "two heads": rows.two_heads,
        "rotated score": layers.rotated_score,
        "cached step": rows.cached_step,
        "layer norm": layers.layer_norm,
        "score gradient": layers.score_gradient,
        "next word": layers.next_word,
        "online softmax": layers.online_softmax,
        "sink row": rows.sink_row,
    }
)
"""The kinds of calculations."""

KINDS_BY_CHAPTER: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mechanism/what-attention-does": ("first output",),
        "mechanism/self-attention": ("attention row", "projected score"),
        "mechanism/scaling": ("scale or not", "attention row"),
        "mechanism/softmax": ("masked row", "temperature row"),
        "mechanism/multi-head-attention": ("two heads", "attention row"),
        "examples/cat-sat": ("attention row",),
        "examples/cat-sat-on-it": ("attention row",),
        "examples/apple": ("attention row", "projected score"),
        "examples/play-football": ("projected score", "attention row"),
        "examples/the-cat-sat": ("two heads", "attention row"),
        "examples/the-cat-sat-end": ("attention row",),
        "transformer/order": ("rotated score",),
        "transformer/decoding": ("cached step", "masked row"),
        "transformer/depth": ("layer norm",),
        "transformer/cost": ("online softmax", "cached step"),
        "transformer/learning": ("score gradient",),
        "transformer/small-model": ("next word",),
        "transformer/real-heads": ("attention row",),
        "transformer/bugs": ("attention row", "masked row"),
        "transformer/your-own-attention": ("attention row", "masked row"),
        "transformer/since-2023": ("sink row", "cached step"),
        "sources/what-the-sources-print": ("attention row", "projected score"),
    }
)
"""The kinds of each chapter, the most typical first."""

KINDS_WITH_MISTAKES = (
    *("attention row", "first output", "masked row", "two heads", "rotated score", "sink row"),
)
"""The kinds whose solutions are shown with a mistake to be found."""
