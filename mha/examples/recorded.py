"""Recordings of a published decoder: weights of all heads, six heads in full, and measurements.

The folder `smollm2` beside this file has the data, its licence and its origin.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np

from mha.core.checks import Array, as_count, frozen_copy
from mha.core.option_checks import as_string
from mha.core.positions import rotary_angles
from mha.runs.logit_attribution import LogitShares
from mha.runs.worked_example import WorkedExample

_MODEL = "SmolLM2-135M-Instruct"
_DATA = "smollm2"


@dataclass(frozen=True, eq=False)
class RecordedMaps:
    """The attention weights of every head of a decoder for one sentence.

    Parameters
    ----------
    tokens : tuple of str, length n
        A token that begins a word begins with a space, except at the start of a sentence.
    weights : ndarray, shape (num_layers, num_heads, n, n)
        Weights as recorded, to three decimals; read-only.

    Examples
    --------
    >>> recorded_maps("The bank near the river").tokens
    ('The', ' bank', ' near', ' the', ' river')
    """

    tokens: tuple[str, ...]
    weights: Array


@dataclass(frozen=True, eq=False)
class NextTokens:
    """The likeliest next tokens after a sentence.

    Parameters
    ----------
    tokens : tuple of str, length k
    probabilities : ndarray, shape (k,)
        Largest first; read-only.
    rest : float
        The probability of all other tokens together.
    """

    tokens: tuple[str, ...]
    probabilities: Array
    rest: float

    def probability(self, token: str) -> float:
        """Return the probability of one of the tokens.

        Raises
        ------
        ValueError
            If the token is not among them.
        """
        if as_string("token", token) not in self.tokens:
            known = ", ".join(map(repr, self.tokens))
            raise ValueError(f"token is {token!r}; one of {known} is wanted")
        return float(self.probabilities[self.tokens.index(token)])


@dataclass(frozen=True, eq=False)
class HeadScores:
    """Scores of all heads on sequences of random words, each read twice.

    Parameters
    ----------
    sequences : tuple of tuple of str
        The tokens; the second half repeats the first.
    induction : ndarray, shape (num_sequences, num_layers, num_heads)
        Mean weight, in the second half, of the token that followed the earlier occurrence.
    previous : ndarray, shape (num_sequences, num_layers, num_heads)
        Mean weight of the token before.
    first : ndarray, shape (num_sequences, num_layers, num_heads)
        Mean weight of the first token in the rows after it.
    losses : ndarray, shape (num_sequences, n - 1)
        Loss of each token but the first, in nats.
    removed : tuple of (int, int)
        The heads with the highest mean of `previous`, as layer and head, counted from 1.
    induction_without : ndarray, shape (num_removed, num_sequences, num_layers, num_heads)
        `induction` while the output of one of `removed` is set to 0.
    """

    sequences: tuple[tuple[str, ...], ...]
    induction: Array
    previous: Array
    first: Array
    losses: Array
    removed: tuple[tuple[int, int], ...]
    induction_without: Array


@dataclass(frozen=True, eq=False)
class VectorLengths:
    """Lengths on the way from the tokens' vectors to the outputs of heads.

    Parameters
    ----------
    entering : ndarray, shape (num_layers, n)
        Lengths of the vectors that enter the projections: normalised, times the gain of the norm.
    component : ndarray of int, shape (num_layers,)
        The largest component of the first token's vector in the residual stream, counted from 1.
    size : ndarray, shape (num_layers,)
        The absolute value of this component.
    gain : ndarray, shape (num_layers,)
        The absolute gain of this component in the norm.
    median_gain : ndarray, shape (num_layers,)
        The median of the absolute gains of all components.
    added : ndarray, shape (num_recorded_heads, n)
        Lengths of the values of each of `recorded_heads` times the head's output projection.
    """

    entering: Array
    component: Array
    size: Array
    gain: Array
    median_gain: Array
    added: Array


@dataclass(frozen=True, eq=False)
class KeptLayer:
    """The part of a feed-forward layer in the effect of a removed head of the same block.

    Parameters
    ----------
    sentence : str
    layer, head : int
        The removed head, counted from 1, in the last block.
    share, share_without : float
        The share of the block's feed-forward layer in the logit of the likeliest next token, with
        the head and without it, minus the mean over the vocabulary.
    probability_without : float
        The probability of this token without the head.
    probability_kept : float
        The same, while the feed-forward layer keeps the output that it has with the head.
    """

    sentence: str
    layer: int
    head: int
    share: float
    share_without: float
    probability_without: float
    probability_kept: float


@dataclass(frozen=True, eq=False)
class NounPairs:
    """The weights of two nouns in one head, for the last token of sentences with both.

    Parameters
    ----------
    layer, head : int
        Counted from 1.
    pairs : tuple of (str, str, str)
        A noun, a verb and a noun. The sentence is "The noun verb the noun" and an ending; in the
        second order the nouns are exchanged.
    endings : tuple of str
    weights : ndarray, shape (num_endings, num_pairs, 2, 2)
        By the ending, the pair, and the order of the nouns: the weights of the subject and of the
        object, in the order of the sentence.
    """

    layer: int
    head: int
    pairs: tuple[tuple[str, str, str], ...]
    endings: tuple[str, ...]
    weights: Array


def recorded_sentences() -> tuple[str, ...]:
    """Return the sentences whose attention is recorded.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> recorded_sentences()[2]
    'The capital of France is'
    """
    return tuple(entry["sentence"] for entry in _texts()["sentences"])


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
    (30, 9, 5, 5)
    """
    return _maps(_number_of(sentence))


def recorded_heads() -> tuple[tuple[int, int], ...]:
    """Return the heads that can be recomputed, as layer and head, counted from 1.

    Returns
    -------
    tuple of (int, int)

    Examples
    --------
    >>> recorded_heads()
    ((14, 9), (17, 1), (19, 7), (19, 9), (24, 5), (30, 2))
    """
    return tuple((layer, head) for layer, head in _texts()["heads"])


def recorded_head(layer: int, head: int, sentence: str) -> WorkedExample:
    """Return one head of the model on a sentence as a worked example.

    Its queries, keys and values are recorded in 16 bits, before rotation. The weights that a trace
    computes from them differ from the model's by at most 0.0015.

    Parameters
    ----------
    layer, head : int
        One of `recorded_heads`, counted from 1.
    sentence : str
        One of `recorded_sentences`.

    Returns
    -------
    WorkedExample
        With one head, d_k and d_v 64, a causal mask, and the angles of the rotary positions.

    Raises
    ------
    TypeError, ValueError
        If the head or the sentence is not recorded.

    Examples
    --------
    >>> from mha import trace
    >>> run = trace(recorded_head(24, 5, "The capital of France is"))
    >>> print(run.tokens[4], run.tokens[3], run.weights[0, 4, 3].round(2))
     is  France 0.9
    """
    layer, head = _known_head(layer, head)
    number = _number_of(sentence)
    tokens = _tokens(number)
    start = sum(len(_tokens(earlier)) for earlier in range(number))
    base = recorded_settings()["base"]
    query, key, value = _vectors(layer, head)[:, start : start + len(tokens)]
    return WorkedExample(
        name=f"layer-{layer}-head-{head}",
        title=f"Layer {layer}, head {head}: {sentence.strip()}",
        tokens=tokens,
        head_names=(f"Layer {layer}, head {head}",),
        source=_MODEL,
        query=query,
        key=key,
        value=value,
        angles=rotary_angles(np.arange(len(tokens)), query.shape[-1], base=base),
        is_causal=True,
    )


def recorded_next_tokens(sentence: str, without: tuple[int, int] | None = None) -> NextTokens:
    """Return the likeliest next tokens after a sentence, with all heads or without one.

    They are the 20 likeliest tokens of the whole model, and those of the model without each of
    `recorded_heads`.

    Parameters
    ----------
    sentence : str
        One of `recorded_sentences`.
    without : (int, int), optional
        One of `recorded_heads`, whose output was set to 0. Default: none.

    Returns
    -------
    NextTokens

    Raises
    ------
    TypeError, ValueError
        If the sentence or the head is not recorded.

    Examples
    --------
    >>> whole = recorded_next_tokens("The capital of France is")
    >>> less = recorded_next_tokens("The capital of France is", without=(24, 5))
    >>> print([round(found.probability(" Paris"), 3) for found in (whole, less)])
    [0.773, 0.141]
    """
    number = _number_of(sentence)
    row = 0 if without is None else 1 + _row_of(without)
    found = _numbers()[f"next{number}"][row]
    order = np.argsort(-found, kind="stable")
    tokens = _texts()["sentences"][number]["next"]
    return NextTokens(
        tokens=tuple(tokens[i] for i in order),
        probabilities=frozen_copy(found[order]),
        rest=float(1 - found.sum()),
    )


def recorded_logit_shares(sentence: str) -> tuple[tuple[str, ...], LogitShares]:
    """Return each part's share in the logits of the two likeliest next tokens after a sentence.

    A share is that of `logit_shares` minus its mean over the vocabulary, because a number that is
    added to all logits changes no probability.

    Parameters
    ----------
    sentence : str
        One of `recorded_sentences`.

    Returns
    -------
    tokens : tuple of str
        The two likeliest next tokens.
    shares : LogitShares
        With a column for each of the tokens.

    Raises
    ------
    TypeError, ValueError
        If there is no such sentence.

    Examples
    --------
    >>> tokens, found = recorded_logit_shares("The capital of France is")
    >>> largest = found.shares[:, 0].argmax()
    >>> print(tokens[0], found.names[largest], found.shares[largest, 0].round(1))
     Paris block 24, head 5 2.9
    """
    number, settings = _number_of(sentence), recorded_settings()
    num_layers, num_heads = (int(settings[name]) for name in ("num_layers", "num_heads"))
    names = ["embedding"]
    for block in range(1, num_layers + 1):
        names += [f"block {block}, head {head}" for head in range(1, num_heads + 1)]
        names.append(f"block {block}, feed-forward")
    shares = LogitShares(tuple(names), _numbers()[f"shares{number}"].T)
    return tuple(_texts()["sentences"][number]["words"]), shares


def recorded_stream_norms(sentence: str) -> Array:
    """Return the lengths of the residual stream's vectors before each layer and after the last.

    Parameters
    ----------
    sentence : str
        One of `recorded_sentences`.

    Returns
    -------
    ndarray, shape (num_layers + 1, n)

    Raises
    ------
    TypeError, ValueError
        If there is no such sentence.

    Examples
    --------
    >>> recorded_stream_norms("The capital of France is").shape
    (31, 5)
    """
    return _numbers()[f"norms{_number_of(sentence)}"]


def recorded_vector_lengths(sentence: str) -> VectorLengths:
    """Return lengths on the way from a sentence's vectors to the outputs of heads.

    Parameters
    ----------
    sentence : str
        One of `recorded_sentences`.

    Returns
    -------
    VectorLengths

    Raises
    ------
    TypeError, ValueError
        If there is no such sentence.

    Examples
    --------
    >>> found = recorded_vector_lengths("The capital of France is")
    >>> print(found.component[14], found.gain[14] < found.median_gain[14])
    508 True
    """
    number, numbers = _number_of(sentence), _numbers()
    component, size, gain, median_gain = numbers[f"largest{number}"].T
    return VectorLengths(
        entering=numbers[f"normed{number}"],
        component=frozen_copy(component.astype(int)),
        size=size,
        gain=gain,
        median_gain=median_gain,
        added=numbers[f"added{number}"],
    )


def recorded_kept_layer() -> KeptLayer:
    """Return a head's effect on a next token with and without that of its feed-forward layer.

    Returns
    -------
    KeptLayer

    Examples
    --------
    >>> found = recorded_kept_layer()
    >>> print(found.layer, found.head, found.probability_kept < found.probability_without)
    30 2 True
    """
    sentence, (layer, head) = _texts()["kept_layer"]
    return KeptLayer(sentence, layer, head, *map(float, _numbers()["kept_layer"]))


def recorded_without_each(sentence: str) -> Array:
    """Return the probability of a sentence's likeliest next token without each single head.

    Parameters
    ----------
    sentence : str
        "The capital of France is", or the eight words that are read twice.

    Returns
    -------
    ndarray, shape (num_layers, num_heads)

    Raises
    ------
    TypeError, ValueError
        If the model was not run on the sentence without each head.

    Examples
    --------
    >>> probabilities = recorded_without_each("The capital of France is")
    >>> layer, head = np.unravel_index(probabilities.argmin(), probabilities.shape)
    >>> print(layer + 1, head + 1)
    24 5
    """
    known = _texts()["alone"]
    if as_string("sentence", sentence) not in known:
        raise ValueError(f"sentence is {sentence!r}; one of {', '.join(known)} is wanted")
    return _numbers()["alone"][known.index(sentence)]


def recorded_scores() -> HeadScores:
    """Return the scores of all heads on repeated sequences of random words.

    Returns
    -------
    HeadScores

    Examples
    --------
    >>> mean = recorded_scores().induction.mean(axis=0)
    >>> layer, head = np.unravel_index(mean.argmax(), mean.shape)
    >>> print(layer + 1, head + 1)
    19 7
    """
    numbers = _numbers()
    return HeadScores(
        sequences=tuple(map(tuple, _texts()["repeated"])),
        induction=numbers["after"],
        previous=numbers["before"],
        first=numbers["first"],
        losses=numbers["losses"],
        removed=tuple((layer, head) for layer, head in _texts()["removed"]),
        induction_without=numbers["after_without"],
    )


def recorded_pairs() -> NounPairs:
    """Return the weights of two nouns in one head, for sentences with both.

    Returns
    -------
    NounPairs

    Examples
    --------
    >>> found = recorded_pairs()
    >>> print(found.layer, found.head, found.endings[0], found.pairs[0])
    14 9  because it ('animal', "didn't cross", 'street')
    """
    texts = _texts()
    layer, head = texts["asking"]
    pairs = tuple((first, verb, second) for first, verb, second in texts["pairs"])
    return NounPairs(layer, head, pairs, tuple(texts["endings"]), _numbers()["pairs"])


def recorded_settings() -> dict[str, float]:
    """Return the sizes of the recorded model, and the base of its rotary positions.

    Returns
    -------
    dict of str to number
        Attributes of `mha.core.decoder.Decoder` by their names. ``size`` is the number of
        parameters.

    Examples
    --------
    >>> settings = recorded_settings()
    >>> settings["num_layers"], settings["num_heads"], settings["num_groups"], settings["base"]
    (30, 9, 3, 100000.0)
    """
    return dict(_texts()["settings"])


def _number_of(sentence: str) -> int:
    """Return the index of a sentence; raise if it is not recorded."""
    known = recorded_sentences()
    if as_string("sentence", sentence) not in known:
        raise ValueError(f"sentence is {sentence!r}; one of {', '.join(known)} is wanted")
    return known.index(sentence)


def _known_head(layer: int, head: int) -> tuple[int, int]:
    """Return layer and head; raise if the head's vectors are not recorded."""
    layer, head = as_count("layer", layer), as_count("head", head)
    if (layer, head) not in recorded_heads():
        known = ", ".join(map(str, recorded_heads()))
        raise ValueError(f"layer and head are {(layer, head)}; one of {known} is wanted")
    return layer, head


def _row_of(without: tuple[int, int]) -> int:
    """Return the index of a head among `recorded_heads`."""
    if not isinstance(without, tuple | list) or len(without) != 2:
        raise TypeError(f"without is {without!r}; a pair of a layer and a head is wanted")
    return recorded_heads().index(_known_head(*without))


def _folder() -> Traversable:
    return resources.files("mha.examples").joinpath(_DATA)


@cache
def _texts() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(_folder().joinpath("texts.json").read_text("utf-8"))
    return data


def _tokens(number: int) -> tuple[str, ...]:
    return tuple(_texts()["sentences"][number]["tokens"])


@cache
def _numbers() -> dict[str, Array]:
    """Return all recorded arrays but those of the heads, in float64."""
    return _read("numbers.npz")


@cache
def _vectors(layer: int, head: int) -> Array:
    """Return queries, keys and values of a head for all sentences in turn."""
    return _read(f"L{layer}H{head}.npz")["qkv"]


@cache
def _maps(number: int) -> RecordedMaps:
    """Return maps from their recorded lower triangles, in thousandths."""
    tokens, lower = _tokens(number), _numbers()[f"maps{number}"]
    n = len(tokens)
    weights = np.zeros((*lower.shape[:-1], n, n))
    weights[..., *np.tril_indices(n)] = lower / 1000
    return RecordedMaps(tokens, frozen_copy(weights))


def _read(name: str) -> dict[str, Array]:
    with (
        resources.as_file(_folder().joinpath(name)) as path,
        np.load(path, allow_pickle=False) as file,
    ):
        return {part: frozen_copy(file[part].astype(np.float64)) for part in file.files}
