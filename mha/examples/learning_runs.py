"""Layers that learned the toy language, with thirty seeds: the task, one run, and all kept runs.

The runs take many minutes, so what they gave stands in `learning-runs.json`, which
`scripts/learn_over_seeds.py` writes.
"""

import json
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.random import Generator

from mha.core.attention import attention_weights
from mha.core.checks import Array
from mha.core.learning import NO_ANSWER, answer_scores, cross_entropy, draw_layer, training_steps
from mha.core.multihead import MultiHeadWeights
from mha.core.seeds import SeedRuns
from mha.examples.free_order import (
    ADJECTIVES,
    NOUNS,
    QUESTIONS,
    WORDS,
    Sentence,
    answer_places,
    as_arrays,
    draw_sentence,
)

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


def layers_of(
    rng: Generator, num_heads: int, steps: int = 150, rate: float = 0.03
) -> list[MultiHeadWeights]:
    """Return a layer that learns the task, before the first step and after each.

    Parameters
    ----------
    rng : Generator
        Draws the numbers to begin with, and nothing else.
    num_heads : int
        A divisor of `WIDTH`.
    steps : int, default 150
        By Adam, with the settings of `train_layer`.
    rate : float, default 0.03
    """
    (x, answers), *_ = task()
    start = draw_layer(rng, x.shape[-1], num_heads, WIDTH, len(QUESTIONS) * len(WORDS))
    after = (layer for _, layer in islice(training_steps(start, x, answers, rate=rate), steps))
    return [start, *after]


def learned(rng: Generator, num_heads: int, steps: int = 150) -> MultiHeadWeights:
    """Return the last of `layers_of`."""
    return layers_of(rng, num_heads, steps)[-1]


def examined(layer: MultiHeadWeights) -> tuple[float, float]:
    """Return a layer's loss on the other sentences, and the share of questions answered right."""
    _, (x, answers), _ = task()
    scores = answer_scores(x, layer, len(QUESTIONS))
    right = scores.argmax(axis=-1) == answers
    return cross_entropy(scores, answers)[0], float(right[answers >= 0].mean())


@cache
def relations() -> dict[str, Array]:
    """Return where the right word of each relation stands in the other sentences, -1 for none.

    Examples
    --------
    >>> list(relations())
    ['next word', 'adjective to its noun', 'noun to the verb', 'pronoun to its noun']
    """
    _, _, sentences = task()
    places = answer_places(sentences)
    stems = np.array([[token.split("-")[0] for token in s.tokens] for s in sentences])
    return {
        "next word": places[..., 0],
        "adjective to its noun": np.where(np.isin(stems, ADJECTIVES), places[..., 1], NO_ANSWER),
        "noun to the verb": np.where(np.isin(stems, NOUNS), places[..., 1], NO_ANSWER),
        "pronoun to its noun": places[..., 2],
    }


def attends(layer: MultiHeadWeights) -> Array:
    """Return the average weight that each head gives to the right word of each relation.

    Returns
    -------
    ndarray, shape (num_heads, 4)
    """
    _, (x, _), _ = task()
    x = x[:, None]
    weights, rows = attention_weights(x @ layer.w_q, x @ layer.w_k), []
    for where in relations().values():
        sentence, word = np.nonzero(where != NO_ANSWER)
        rows.append(weights[sentence, :, word, where[sentence, word]].mean(axis=0))
    return np.array(rows).T


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
