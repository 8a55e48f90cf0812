"""The model that the book trained: its numbers, ten of its checkpoints, and how it came about.

The folder `names` beside this file holds what `scripts/train_model.py` wrote.
"""

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

from mha.core.checks import Array, frozen
from mha.core.language import LanguageModel, draw_model, run_model
from mha.core.language_training import ModelTraining, train_model, word_losses
from mha.core.option_checks import as_string
from mha.examples.names import WORDS, SecondSyllables, draw_stories, second_syllables

D_MODEL, NUM_BLOCKS, NUM_HEADS, BASE = 32, 2, 2, 100.0
STEPS, BATCH, LENGTH, RATE, WARM_UP = 1000, 32, 48, 0.01, 100
KEPT = (0, 100, 200, 250, 300, 350, 400, 500, 600, STEPS)
"""The steps after which the model was kept: as many as 300 kB hold where a page loads them."""


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A trained model, and what it was on the way.

    Parameters
    ----------
    model : LanguageModel
        As it was in the end.
    seed : int
        Of its first numbers and of its stories.
    steps : tuple of int
        After which steps it was kept.
    checkpoints : tuple of LanguageModel
        What it was then; the last one is `model`.
    losses : tuple of float
        Before each step, on the stories of that step; to four decimals.
    other_seeds : tuple of dict
        What training with other seeds gave: "seed", and what `measured` has on 200 stories of
        their own.
    costs : ndarray, shape (steps, 2, 2, 2, 2, 2, 2)
        What `name_costs` gives on `fresh_stories` after each step, to four decimals: five axes for
        heads 1.1, 1.2, 2.1 and 2.2 on or off and for the way from 1.1 into the keys of 2.2 whole or
        cut, and one for new and repeated names.
    """

    model: LanguageModel
    seed: int
    steps: tuple[int, ...]
    checkpoints: tuple[LanguageModel, ...]
    losses: tuple[float, ...]
    other_seeds: tuple[dict[str, Any], ...]
    costs: Array


def load_model(name: str) -> TrainedModel:
    """Return a model that was trained for the book.

    Parameters
    ----------
    name : str
        "names": the model of the stories in `mha.examples.names`.

    Returns
    -------
    TrainedModel
        In float64, of 16-bit numbers as they are kept.

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
    bare = bare_model(np.random.default_rng(0))
    models = tuple(unpacked(bare, numbers.astype(np.float64)) for numbers in kept)
    return TrainedModel(
        model=models[-1],
        seed=record["seed"],
        steps=tuple(record["steps"]),
        checkpoints=models,
        losses=tuple(record["losses"]),
        other_seeds=tuple(record["other_seeds"]),
        costs=frozen(np.reshape(record["costs"], (len(models), *[2] * 6))),
    )


def _folder() -> Traversable:
    return resources.files("mha.examples").joinpath("names")


def bare_model(rng: Generator) -> LanguageModel:
    """Return the model before its training, of random numbers."""
    return draw_model(rng, WORDS, D_MODEL, num_blocks=NUM_BLOCKS, num_heads=NUM_HEADS, base=BASE)


def packed(model: LanguageModel) -> Array:
    """Return a model's numbers in one row, in 16 bits, in the order of `LanguageModel.arrays`.

    Examples
    --------
    >>> packed(load_model("names").model).shape
    (10496,)
    """
    numbers = np.concatenate([array.ravel() for array in model.arrays.values()])
    return numbers.astype(np.float16)


def unpacked(model: LanguageModel, numbers: Array) -> LanguageModel:
    """Return a model with numbers of `packed` in the places of its own."""
    arrays, start = {}, 0
    for name, array in model.arrays.items():
        arrays[name] = numbers[start : start + array.size].reshape(array.shape)
        start += array.size
    return model.with_arrays(arrays)


def training(seed: int, steps: int = STEPS) -> Iterator[ModelTraining]:
    """Train the model anew, and yield it before the first step and after each.

    Parameters
    ----------
    seed : int
        Of its first numbers and of its stories.
    steps : int, default 1000
        Where to stop; the rates are those of a thousand steps in any case.

    Yields
    ------
    ModelTraining
        In float32. On the same machine the same each time; another machine's sums may round
        otherwise, which after some hundred steps is another training.
    """
    rng = np.random.default_rng(seed)
    model = bare_model(rng)
    model = model.with_arrays({name: x.astype(np.float32) for name, x in model.arrays.items()})
    batches = (draw_stories(rng, BATCH, LENGTH + 1) for _ in range(steps))
    first = True
    for step in train_model(model, batches, map(rate_at, range(steps))):
        if first:
            yield ModelTraining(0, model, step.loss)
        first = False
        yield step


def rate_at(step: int) -> float:
    """Return a step's rate, counted from 0: it rises for a hundred steps, and falls as a cosine.

    Examples
    --------
    >>> [round(rate_at(step), 4) for step in (0, 99, 500, 999)]
    [0.0001, 0.0098, 0.005, 0.0]
    """
    falling = (1 + np.cos(np.pi * step / STEPS)) / 2
    return float(RATE * min(1, (step + 1) / WARM_UP) * falling)


def fresh_stories() -> Array:
    """Return the 200 stories on which the model is measured; no training has seen them.

    Examples
    --------
    >>> fresh_stories().shape
    (200, 48)
    """
    return draw_stories(np.random.default_rng(2026), 200, LENGTH)


def name_costs(
    model: LanguageModel, stories: Array, cut: tuple[int, int] | None = None
) -> tuple[float, float]:
    """Return what the second syllables of new names cost on average, and those of repeated ones.

    Parameters
    ----------
    model, stories, cut
        As for `measured`.

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
    return _of_names(word_losses(model, stories, cut=cut), second_syllables(stories))


def _of_names(losses: Array, asked: SecondSyllables) -> tuple[float, float]:
    return float(losses[asked.new].mean()), float(losses[asked.repeated].mean())


def costs_with_parts_off(models: Sequence[LanguageModel], stories: Array) -> Array:
    """Return `name_costs` of models with heads off and the way between two cut, each with each.

    Parameters
    ----------
    models : sequence of LanguageModel
    stories : ndarray of int, shape (count, length)

    Returns
    -------
    ndarray, shape (len(models), 2, 2, 2, 2, 2, 2)
        As `TrainedModel.costs` has it.

    Examples
    --------
    >>> found = costs_with_parts_off([load_model("names").model], fresh_stories()[:2])
    >>> found.shape, bool(found[0, 0, 0, 0, 0, 0, 1] < 0.5 < found[0, 0, 0, 0, 1, 0, 1])
    ((1, 2, 2, 2, 2, 2, 2), True)
    """
    found = []
    for model in models:
        for *off, is_cut in itertools.product((False, True), repeat=5):
            heads = itertools.compress(itertools.product((0, 1), (0, 1)), off)
            found.append(name_costs(model.without(*heads), stories, (0, 1) if is_cut else None))
    return np.reshape(found, (len(models), *[2] * 6))


def measured(
    model: LanguageModel, stories: Array, cut: tuple[int, int] | None = None
) -> dict[str, Any]:
    """Return how well a model predicts stories, and where its heads look.

    Parameters
    ----------
    model : LanguageModel
    stories : ndarray of int, shape (count, length)
        Of `draw_stories`.
    cut : (int, int), optional
        As in `mha.core.language.run_model`.

    Returns
    -------
    dict
        "loss" of all words, of "new" and of "repeated" second syllables, in nats. By block and
        head, at the first syllable of a repeated name, the mean weight "behind" all earlier
        occurrences of this syllable, and behind the "last" of them; and "previous", the mean
        weight that the words behind those give to the word before.

    Examples
    --------
    >>> stories = draw_stories(np.random.default_rng(1), 5, 48)
    >>> found = measured(load_model("names").model, stories)
    >>> found["repeated"] < found["new"], np.shape(found["behind"])
    (True, (2, 2))
    """
    asked = second_syllables(stories)
    losses = word_losses(model, stories, cut=cut)
    new, repeated = _of_names(losses, asked)
    story, place = asked.repeated
    weights = [passed.weights for passed in run_model(model, stories, cut=cut).passes]
    behind = [
        (w[story, :, place] * asked.behind[:, None]).sum(axis=-1).mean(axis=0) for w in weights
    ]
    last = [w[story, :, place, asked.last].mean(axis=0) for w in weights]
    previous = [w[story, :, asked.last, asked.last - 1].mean(axis=0) for w in weights]
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
