"""Attention recorded from a trained model: weights of all heads, and matrices of five heads.

The folder `sentence-encoder` beside this file has the data, its licence and its origin.
"""

import gzip
import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np

from mha.core.checks import Array, as_count, frozen
from mha.core.option_checks import as_word
from mha.runs.worked_example import WorkedExample

_MODEL = "all-MiniLM-L6-v2"
_DATA = "sentence-encoder"


@dataclass(frozen=True, eq=False)
class RecordedMaps:
    """The attention weights of every head of a trained model for one sentence.

    Parameters
    ----------
    tokens : tuple of str, length n
        The words, between ``[CLS]`` and ``[SEP]``, which the model adds.
    weights : ndarray, shape (num_layers, num_heads, n, n)
        Weights as recorded, to three decimals; read-only.

    Examples
    --------
    >>> recorded_maps("I play football").tokens
    ('[CLS]', 'i', 'play', 'football', '[SEP]')
    """

    tokens: tuple[str, ...]
    weights: Array


def recorded_sentences() -> tuple[str, ...]:
    """Return the sentences whose attention is recorded.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> recorded_sentences()[-1]
    'The bank near the river'
    """
    return tuple(_maps())


def recorded_maps(sentence: str) -> RecordedMaps:
    """Return the recorded attention weights of all heads for a sentence.

    Parameters
    ----------
    sentence : str
        One of `recorded_sentences`.

    Returns
    -------
    RecordedMaps

    Raises
    ------
    TypeError, ValueError
        If there is no such sentence.

    Examples
    --------
    >>> recorded_maps("The bank near the river").weights.shape
    (6, 12, 7, 7)
    """
    return _maps()[_check_sentence(sentence)]


def recorded_heads() -> tuple[tuple[int, int], ...]:
    """Return the heads that can be recomputed, as layer and head, counted from 1.

    Returns
    -------
    tuple of (int, int)

    Examples
    --------
    >>> recorded_heads()
    ((1, 3), (1, 5), (2, 9), (4, 2), (6, 12))
    """
    names = (file.name for file in _folder().iterdir())
    found = (name[1:-4].split("H") for name in names if name.endswith(".npz"))
    return tuple(sorted((int(layer), int(head)) for layer, head in found))


def recorded_head(layer: int, head: int, sentence: str) -> WorkedExample:
    """Return one head of the model on a sentence as a worked example, from the head's matrices.

    Queries, keys and values are the layer's inputs times the head's matrices, plus its biases. They
    are computed in float64 from recorded 16-bit numbers.

    Parameters
    ----------
    layer, head : int
        One of `recorded_heads`, counted from 1.
    sentence : str
        One of `recorded_sentences`.

    Returns
    -------
    WorkedExample
        With one head, d_k and d_v 32.

    Raises
    ------
    TypeError, ValueError
        If the head or the sentence is not recorded.

    Examples
    --------
    >>> from mha import trace
    >>> run = trace(recorded_head(1, 5, "The bank near the river"))
    >>> print(run.tokens[2], run.tokens[5], run.weights[0, 2, 5].round(3))
    bank river 0.72
    """
    layer, head = as_count("layer", layer), as_count("head", head)
    if (layer, head) not in recorded_heads():
        known = ", ".join(map(str, recorded_heads()))
        raise ValueError(f"layer and head are {(layer, head)}; one of {known} is wanted")
    number = recorded_sentences().index(_check_sentence(sentence))
    parts = _parts(layer, head)
    x = parts[f"x{number}"]
    return WorkedExample(
        name=f"layer-{layer}-head-{head}",
        title=f"Layer {layer}, head {head}: {sentence}",
        tokens=recorded_maps(sentence).tokens,
        head_names=(f"Layer {layer}, head {head}",),
        source=_MODEL,
        query=x @ parts["w_q"] + parts["b_q"],
        key=x @ parts["w_k"] + parts["b_k"],
        value=x @ parts["w_v"] + parts["b_v"],
    )


def _check_sentence(sentence: str) -> str:
    """Return the sentence; raise if it is not recorded."""
    if as_word("sentence", sentence) not in _maps():
        raise ValueError(f"sentence is {sentence!r}; one of {', '.join(_maps())} is wanted")
    return sentence


def _folder() -> Traversable:
    return resources.files("mha.examples").joinpath(_DATA)


@cache
def _maps() -> dict[str, RecordedMaps]:
    packed = _folder().joinpath("attention-maps.json.gz").read_bytes()
    data: dict[str, dict[str, Any]] = json.loads(gzip.decompress(packed))
    return {
        sentence: RecordedMaps(tuple(maps["tokens"]), frozen(np.asarray(maps["attn"])))
        for sentence, maps in data.items()
    }


@cache
def _parts(layer: int, head: int) -> dict[str, Array]:
    """Return the arrays of a head's file, in float64."""
    with (
        resources.as_file(_folder().joinpath(f"L{layer}H{head}.npz")) as path,
        np.load(path, allow_pickle=False) as file,
    ):
        return {name: file[name].astype(np.float64) for name in file.files}
