"""The small language model trained for the book: parameters, checkpoints, and its training.

The folder `names` beside this file has the results of `scripts/train_model.py`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np
from numpy.random import Generator

from mha.core.checks import Array, frozen_copy
from mha.core.language import LanguageModel, draw_model, run_model
from mha.core.language_training import ModelTraining, train_model, word_losses
from mha.core.option_checks import as_string
from mha.examples.names import WORDS, SecondSyllables, draw_stories, second_syllables

D_MODEL, NUM_BLOCKS, NUM_HEADS, BASE = 32, 2, 2, 100.0
STEPS, BATCH, LENGTH, RATE, WARM_UP = 1000, 32, 48, 0.01, 100
CHECKPOINT_STEPS = (0, 100, 200, 250, 300, 350, 400, 500, 600, STEPS)
"""The steps of the checkpoints, as many as fit into the 300 kB that a page loads."""


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A trained model with its checkpoints and the course of its training.

    Parameters
    ----------
    model : LanguageModel
        The model after the last step.
    seed : int
        Seed of the initial parameters and of the stories.
    steps : tuple of int
        Steps of the checkpoints.
    checkpoints : tuple of LanguageModel
        The model after these steps; the last one is `model`.
    losses : tuple of float
        Loss before each step, on the stories of that step, to four decimals.
    other_seeds : tuple of dict
        Results of training with other seeds: "seed", and the entries of `measure_model` on 200
        stories of that seed.
    costs : ndarray, shape (steps, 2, 2, 2, 2, 2, 2)
        Results of `name_costs` on `fresh_stories` at each checkpoint, to four decimals. Four axes
        are for heads 1.1, 1.2, 2.1 and 2.2, on or off, the next for the path from 1.1 to the keys
        of 2.2, whole or cut, and the last for new and repeated names.
    """

    model: LanguageModel
    seed: int
    steps: tuple[int, ...]
    checkpoints: tuple[LanguageModel, ...]
    losses: tuple[float, ...]
    other_seeds: tuple[dict[str, Any], ...]
    costs: Array


def load_model(name: str) -> TrainedModel:
    """Load a model that was trained for the book.

    Parameters
    ----------
    name : str
        "names", for the model of the stories in `mha.examples.names`.

    Returns
    -------
    TrainedModel
        With parameters in float64, read from 16-bit numbers.

    Raises
    ------
    TypeError, ValueError
        If there is no such model.

    Examples
    --------
    >>> trained = load_model("names")
    >>> trained.model.size, trained.steps[-1]
    (10496, 1000)
    """
    if as_string("name", name) != "names":
        raise ValueError(f'name is {name!r}; "names" is wanted')
    return _load()


@cache
def _load() -> TrainedModel:
    record = json.loads(_folder().joinpath("training.json").read_text(encoding="utf-8"))
    with resources.as_file(_folder().joinpath("checkpoints.npy")) as path:
        kept = np.load(path, allow_pickle=False)
    untrained = untrained_model(np.random.default_rng(0))
    models = tuple(unpack_parameters(untrained, numbers.astype(np.float64)) for numbers in kept)
    return TrainedModel(
        model=models[-1],
        seed=record["seed"],
        steps=tuple(record["steps"]),
        checkpoints=models,
        losses=tuple(record["losses"]),
        other_seeds=tuple(record["other_seeds"]),
        costs=frozen_copy(np.reshape(record["costs"], (len(models), *[2] * 6))),
    )


def _folder() -> Traversable:
    return resources.files("mha.examples").joinpath("names")


def untrained_model(rng: Generator) -> LanguageModel:
    """Return the model before training, with random parameters."""
    return draw_model(rng, WORDS, D_MODEL, num_blocks=NUM_BLOCKS, num_heads=NUM_HEADS, base=BASE)


def pack_parameters(model: LanguageModel) -> Array:
    """Return a model's parameters as one float16 array, in the order of `LanguageModel.arrays`.

    Examples
    --------
    >>> pack_parameters(load_model("names").model).shape
    (10496,)
    """
    numbers = np.concatenate([array.ravel() for array in model.arrays.values()])
    return numbers.astype(np.float16)


def unpack_parameters(model: LanguageModel, numbers: Array) -> LanguageModel:
    """Return a model with its parameters replaced by an array in the form of `pack_parameters`."""
    arrays, start = {}, 0
    for name, array in model.arrays.items():
        arrays[name] = numbers[start : start + array.size].reshape(array.shape)
        start += array.size
    return model.with_arrays(arrays)


def train_from_seed(seed: int, steps: int = STEPS) -> Iterator[ModelTraining]:
    """Train the model, and yield it before the first step and after each.

    Parameters
    ----------
    seed : int
        Seed of the initial parameters and of the stories.
    steps : int, default 1000
        Number of steps. The learning rates are always those of a training of 1000 steps.

    Yields
    ------
    ModelTraining
        In float32. The results are reproducible on one machine. Sums of another machine may round
        differently, and the trainings diverge after some hundred steps.
    """
    rng = np.random.default_rng(seed)
    model = untrained_model(rng)
    model = model.with_arrays({name: x.astype(np.float32) for name, x in model.arrays.items()})
    batches = (draw_stories(rng, BATCH, LENGTH + 1) for _ in range(steps))
    first = True
    for step in train_model(model, batches, map(rate_at, range(steps))):
        if first:
            yield ModelTraining(0, model, step.loss)
        first = False
        yield step


def rate_at(step: int) -> float:
    """Return the learning rate of a step, counted from 0: a warm-up times a falling cosine.

    Examples
    --------
    >>> [round(rate_at(step), 4) for step in (0, 99, 500, 999)]
    [0.0001, 0.0098, 0.005, 0.0]
    """
    falling = (1 + np.cos(np.pi * step / STEPS)) / 2
    return float(RATE * min(1, (step + 1) / WARM_UP) * falling)


def fresh_stories() -> Array:
    """Return the 200 stories for evaluation, which are not in the training data.

    Examples
    --------
    >>> fresh_stories().shape
    (200, 48)
    """
    return draw_stories(np.random.default_rng(2026), 200, LENGTH)


def name_costs(
    model: LanguageModel, stories: Array, cut: tuple[int, int] | None = None
) -> tuple[float, float]:
    """Return the mean loss at the second syllables of new names, and of repeated names.

    Parameters
    ----------
    model, stories, cut
        As for `measure_model`.

    Returns
    -------
    new, repeated : float
        In nats.

    Examples
    --------
    >>> new, repeated = name_costs(load_model("names").model, fresh_stories()[:5])
    >>> repeated < 0.5 < new
    True
    """
    return _mean_losses_of_names(word_losses(model, stories, cut=cut), second_syllables(stories))


def _mean_losses_of_names(losses: Array, syllables: SecondSyllables) -> tuple[float, float]:
    return float(losses[syllables.new].mean()), float(losses[syllables.repeated].mean())


def ablated_name_costs(models: Sequence[LanguageModel], stories: Array) -> Array:
    """Return `name_costs` of models for every combination of heads off and a path cut.

    Parameters
    ----------
    models : sequence of LanguageModel
    stories : ndarray of int, shape (count, length)

    Returns
    -------
    ndarray, shape (len(models), 2, 2, 2, 2, 2, 2)
        In the order of the axes of `TrainedModel.costs`.

    Examples
    --------
    >>> found = ablated_name_costs([load_model("names").model], fresh_stories()[:2])
    >>> found.shape, bool(found[0, 0, 0, 0, 0, 0, 1] < 0.5 < found[0, 0, 0, 0, 1, 0, 1])
    ((1, 2, 2, 2, 2, 2, 2), True)
    """
    found = []
    for model in models:
        for *off, is_cut in itertools.product((False, True), repeat=5):
            heads = itertools.compress(itertools.product((0, 1), (0, 1)), off)
            found.append(name_costs(model.without(*heads), stories, (0, 1) if is_cut else None))
    return np.reshape(found, (len(models), *[2] * 6))


def measure_model(
    model: LanguageModel, stories: Array, cut: tuple[int, int] | None = None
) -> dict[str, Any]:
    """Return a model's losses on stories, and its heads' weights on earlier occurrences of names.

    Parameters
    ----------
    model : LanguageModel
    stories : ndarray of int, shape (count, length)
        As `draw_stories` returns them.
    cut : (int, int), optional
        As in `mha.core.language.run_model`.

    Returns
    -------
    dict
        "loss" is the mean loss of all words, "new" and "repeated" that of second syllables, in
        nats. The others are mean weights by block and head. "behind" and "last" are the weights of
        the first syllable of a repeated name on the words after all earlier occurrences of this
        syllable, and on the word after the last of them. "previous" is the weight of that word on
        the word before it.

    Examples
    --------
    >>> stories = draw_stories(np.random.default_rng(1), 5, 48)
    >>> found = measure_model(load_model("names").model, stories)
    >>> found["repeated"] < found["new"], np.shape(found["behind"])
    (True, (2, 2))
    """
    syllables = second_syllables(stories)
    losses = word_losses(model, stories, cut=cut)
    new, repeated = _mean_losses_of_names(losses, syllables)
    story, place = syllables.repeated
    weights = [passed.weights for passed in run_model(model, stories, cut=cut).passes]
    behind = [
        (w[story, :, place] * syllables.behind[:, None]).sum(axis=-1).mean(axis=0) for w in weights
    ]
    last = [w[story, :, place, syllables.last].mean(axis=0) for w in weights]
    previous = [w[story, :, syllables.last, syllables.last - 1].mean(axis=0) for w in weights]
    return {
        "loss": round(float(losses.mean()), 6),
        "new": round(new, 6),
        "repeated": round(repeated, 6),
        "behind": _rounded(behind),
        "last": _rounded(last),
        "previous": _rounded(previous),
    }


def _rounded(by_block: list[Array]) -> list[list[float]]:
    """Return numbers by block and head, to six decimals."""
    return [[round(float(number), 6) for number in heads] for heads in by_block]
