"""Layers trained on the toy language with thirty seeds: the data, the training, all results.

Training with all seeds takes many minutes, so its results are in `learning-runs.json`, which
`scripts/learn_over_seeds.py` writes.
"""

from __future__ import annotations

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

RUNS_FILE = Path(__file__).with_name("learning-runs.json")
WIDTH = 12
"""Width of all heads together."""
SEEDS = range(30)
PLANNED_RUNS = {150: (1, 2, 3, 4, 6, 12), 400: (1, 2, 3, 4, 6, 12), 1000: (1, 3, 12)}
"""Numbers of heads by the number of training steps, for which all seeds were trained."""


@cache
def learning_task() -> tuple[tuple[Array, Array], tuple[Array, Array], tuple[Sentence, ...]]:
    """Return 1024 sentences for training, and 256 others for evaluation.

    Returns
    -------
    learned_from, asked_about : tuple of ndarray
        Inputs and answers for training and for evaluation, as `mha.examples.free_order.as_arrays`
        returns them.
    sentences : tuple of Sentence
        The sentences for evaluation.
    """
    rng = np.random.default_rng(1)
    first = as_arrays([draw_sentence(rng) for _ in range(1024)])
    others = tuple(draw_sentence(rng) for _ in range(256))
    return first, as_arrays(others), others


def train_layers(
    rng: Generator, num_heads: int, steps: int = 150, rate: float = 0.03
) -> list[MultiHeadWeights]:
    """Train a layer; return it before the first step and after each.

    Parameters
    ----------
    rng : Generator
        Generator of the initial parameters.
    num_heads : int
        A divisor of `WIDTH`.
    steps : int, default 150
        Number of steps of Adam, with the settings of `train_layer`.
    rate : float, default 0.03
    """
    (x, answers), *_ = learning_task()
    start = draw_layer(rng, x.shape[-1], num_heads, WIDTH, len(QUESTIONS) * len(WORDS))
    after = (layer for _, layer in islice(training_steps(start, x, answers, rate=rate), steps))
    return [start, *after]


def trained_layer(rng: Generator, num_heads: int, steps: int = 150) -> MultiHeadWeights:
    """Return a trained layer, the last one of `train_layers`."""
    return train_layers(rng, num_heads, steps)[-1]


def evaluate_layer(layer: MultiHeadWeights) -> tuple[float, float]:
    """Return a layer's loss and share of right answers on the sentences for evaluation."""
    _, (x, answers), _ = learning_task()
    scores = answer_scores(x, layer, len(QUESTIONS))
    right = scores.argmax(axis=-1) == answers
    return cross_entropy(scores, answers)[0], float(right[answers >= 0].mean())


@cache
def relation_positions() -> dict[str, Array]:
    """Return the position of the right word for each relation in the sentences for evaluation.

    It is -1 for a word without the relation.

    Examples
    --------
    >>> list(relation_positions())
    ['next word', 'adjective to its noun', 'noun to the verb', 'pronoun to its noun']
    """
    _, _, sentences = learning_task()
    places = answer_places(sentences)
    stems = np.array([[token.split("-")[0] for token in s.tokens] for s in sentences])
    return {
        "next word": places[..., 0],
        "adjective to its noun": np.where(np.isin(stems, ADJECTIVES), places[..., 1], NO_ANSWER),
        "noun to the verb": np.where(np.isin(stems, NOUNS), places[..., 1], NO_ANSWER),
        "pronoun to its noun": places[..., 2],
    }


def relation_weights(layer: MultiHeadWeights) -> Array:
    """Return each head's mean weight on the right word of each relation.

    Returns
    -------
    ndarray, shape (num_heads, 4)
    """
    _, (x, _), _ = learning_task()
    x = x[:, None]
    weights, rows = attention_weights(x @ layer.w_q, x @ layer.w_k), []
    for where in relation_positions().values():
        sentence, word = np.nonzero(where != NO_ANSWER)
        rows.append(weights[sentence, :, word, where[sentence, word]].mean(axis=0))
    return np.array(rows).T


def load_seed_runs(num_heads: int, steps: int = 150) -> tuple[SeedRuns, SeedRuns]:
    """Load the losses and the shares of right answers of all seeds.

    Parameters
    ----------
    num_heads, steps : int
        A combination of `PLANNED_RUNS`.

    Examples
    --------
    >>> losses, right = load_seed_runs(3)
    >>> len(losses.values), round(float(losses.median), 2)
    (30, 0.04)
    """
    kept = json.loads(RUNS_FILE.read_text(encoding="utf-8"))[f"{steps} steps"][f"{num_heads} heads"]
    losses, right = np.transpose(kept)
    return SeedRuns(losses), SeedRuns(right)
