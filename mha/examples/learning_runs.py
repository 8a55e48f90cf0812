"""Layers that learned the toy language, with thirty seeds: the task, one run, and all kept runs.

The runs take many minutes, so what they gave stands in `learning-runs.json`, which
`scripts/learn_over_seeds.py` writes.
"""

import json
from functools import cache
from pathlib import Path

import numpy as np
from numpy.random import Generator

from mha.core.checks import Array
from mha.core.learning import answer_scores, cross_entropy, draw_layer, train_layer
from mha.core.multihead import MultiHeadWeights
from mha.core.seeds import SeedRuns
from mha.examples.free_order import QUESTIONS, WORDS, Sentence, as_arrays, draw_sentence

KEPT = Path(__file__).with_name("learning-runs.json")
WIDTH = 12
"""Of all heads together."""
SEEDS = range(30)
PLANNED = {150: (1, 2, 3, 4, 6, 12), 400: (1, 2, 3, 4, 6, 12), 1000: (1, 3, 12)}
"""For how many steps, and with how many heads, layers were trained: with all seeds each."""


@cache
def task() -> tuple[tuple[Array, Array], tuple[Array, Array], tuple[Sentence, ...]]:
    """Return 1024 sentences to learn from, and 256 others to be asked about.

    Returns
    -------
    learned_from, asked_about : tuple of ndarray
        Each what `mha.examples.free_order.as_arrays` gives.
    sentences : tuple of Sentence
        Those that are asked about.
    """
    rng = np.random.default_rng(1)
    first = as_arrays([draw_sentence(rng) for _ in range(1024)])
    others = tuple(draw_sentence(rng) for _ in range(256))
    return first, as_arrays(others), others


def learned(rng: Generator, num_heads: int, steps: int = 150) -> MultiHeadWeights:
    """Return a layer that has learned the task, by Adam with the settings of `train_layer`.

    Parameters
    ----------
    rng : Generator
        Draws the numbers to begin with, and nothing else.
    num_heads : int
        A divisor of `WIDTH`.
    steps : int, default 150
    """
    (x, answers), *_ = task()
    start = draw_layer(rng, x.shape[-1], num_heads, WIDTH, len(QUESTIONS) * len(WORDS))
    return train_layer(start, x, answers, steps=steps).layer


def examined(layer: MultiHeadWeights) -> tuple[float, float]:
    """Return a layer's loss on the other sentences, and the share of questions answered right."""
    _, (x, answers), _ = task()
    scores = answer_scores(x, layer, len(QUESTIONS))
    right = scores.argmax(axis=-1) == answers
    return cross_entropy(scores, answers)[0], float(right[answers >= 0].mean())


def kept_runs(num_heads: int, steps: int = 150) -> tuple[SeedRuns, SeedRuns]:
    """Return the kept losses, and the shares of right answers, of all seeds.

    Parameters
    ----------
    num_heads, steps : int
        Of `PLANNED`.

    Examples
    --------
    >>> losses, right = kept_runs(3)
    >>> len(losses.values), round(float(losses.median), 2)
    (30, 0.04)
    """
    kept = json.loads(KEPT.read_text(encoding="utf-8"))[f"{steps} steps"][f"{num_heads} heads"]
    losses, right = np.transpose(kept)
    return SeedRuns(losses), SeedRuns(right)
