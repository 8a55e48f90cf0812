"""A toy language with free word order, in which marks show the words that belong together.

A sentence has six words: two nouns, two adjectives, a verb and a pronoun. The mark S or O of a noun
shows whether it is subject or object; an adjective and the pronoun have the mark of their noun. For
each word there are up to three questions: the next word, the word that governs it, and the word
that it refers to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from mha.core.checks import Array
from mha.core.learning import NO_ANSWER

NOUNS = ("bird", "cat", "dog", "fox")
ADJECTIVES = ("old", "red", "small", "wise")
VERBS = ("hears", "likes", "sees")
MARKS = ("S", "O")
QUESTIONS = ("next word", "governor", "referent")
LENGTH = 6

WORDS = (
    *(f"{stem}-{mark}" for stem in (*NOUNS, *ADJECTIVES, "it") for mark in MARKS),
    *VERBS,
)
"""All word forms."""


@dataclass(frozen=True)
class Sentence:
    """A sentence with the positions of the answers.

    Parameters
    ----------
    tokens : tuple of str
    places : tuple of tuple of int
        For each token, the position of the answer to each of `QUESTIONS`; -1 for no answer.
    """

    tokens: tuple[str, ...]
    places: tuple[tuple[int, ...], ...]


def draw_sentence(rng: Generator) -> Sentence:
    """Return a random sentence.

    Parameters
    ----------
    rng : Generator

    Returns
    -------
    Sentence

    Examples
    --------
    >>> sentence = draw_sentence(np.random.default_rng(1))
    >>> " ".join(sentence.tokens)
    'hears it-S old-O dog-S fox-O wise-S'
    >>> sentence.places[0], sentence.places[4]
    ((1, -1, -1), (5, 0, -1))
    """
    marks = (*MARKS, *MARKS, MARKS[rng.integers(2)])
    stems = (*rng.choice(NOUNS, 2), *rng.choice(ADJECTIVES, 2), "it")
    words = [f"{stem}-{mark}" for stem, mark in zip(stems, marks, strict=True)]
    words.append(str(rng.choice(VERBS)))
    order = rng.permutation(LENGTH)
    place = np.argsort(order).tolist()  # the position of each word, in the order of `words`
    noun = {mark: place[i] for i, mark in enumerate(MARKS)}
    verb = place[5]
    governors = (verb, verb, noun["S"], noun["O"], verb, NO_ANSWER)
    referents = (NO_ANSWER,) * 4 + (noun[marks[4]], NO_ANSWER)
    places = [
        (i + 1 if i + 1 < LENGTH else NO_ANSWER, governors[w], referents[w])
        for i, w in enumerate(order)
    ]
    return Sentence(tuple(words[w] for w in order), tuple(places))


def as_arrays(sentences: Sequence[Sentence]) -> tuple[Array, Array]:
    """Return the inputs of a layer, and the answers that it is trained to give.

    Parameters
    ----------
    sentences : sequence of Sentence

    Returns
    -------
    x : ndarray, shape (num_sentences, LENGTH, len(WORDS) + LENGTH)
        For each token, the one-hot vectors of its form and of its position.
    answers : ndarray of int, shape (num_sentences, LENGTH, len(QUESTIONS))
        Indices into `WORDS`; -1 for no answer.

    Examples
    --------
    >>> x, answers = as_arrays([draw_sentence(np.random.default_rng(1))])
    >>> x.shape, WORDS[answers[0, 0, 0]]
    ((1, 6, 27), 'it-S')
    """
    forms = np.array([[WORDS.index(token) for token in s.tokens] for s in sentences])
    places = answer_places(sentences)
    own_place = np.broadcast_to(np.eye(LENGTH), (len(forms), LENGTH, LENGTH))
    x = np.concatenate([np.eye(len(WORDS))[forms], own_place], axis=-1)
    rows = np.arange(len(forms))[:, None, None]
    return x, np.where(places == NO_ANSWER, NO_ANSWER, forms[rows, places])


def answer_places(sentences: Sequence[Sentence]) -> Array:
    """Return the positions of the answers.

    Parameters
    ----------
    sentences : sequence of Sentence

    Returns
    -------
    ndarray of int, shape (num_sentences, LENGTH, len(QUESTIONS))
        -1 for no answer.
    """
    return np.array([s.places for s in sentences])


def keep_one_question(answers: Array) -> Array:
    """Keep one question per word, which depends on the form of the word alone.

    Parameters
    ----------
    answers : ndarray of int, shape (num_sentences, LENGTH, len(QUESTIONS))
        The answers that `as_arrays` returns.

    Returns
    -------
    ndarray of int, shape (num_sentences, LENGTH, len(QUESTIONS))
        The referent of a pronoun, the governor of an adjective, the next word after all others;
        -1 elsewhere.
    """
    nouns = [i for i, word in enumerate(WORDS) if word.split("-")[0] in NOUNS]
    governor = np.where(np.isin(answers[..., 1], nouns), 1, 0)
    kept = np.where(answers[..., 2] != NO_ANSWER, 2, governor)
    return np.where(np.arange(len(QUESTIONS)) == kept[..., None], answers, NO_ANSWER)
