"""A toy language that needs attention to earlier words: stories of people with random names.

A story has two or three people. The name of each has two syllables, drawn at random for this story
alone, all of them different. So the second syllable of a name can be predicted only if the name
occurred before. A story is a sequence of sentences of four kinds, cut off at a length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from mha.core.checks import Array, as_count
from mha.core.option_checks import check_type

SYLLABLES = (
    "ba", "ke", "mo", "nu", "ri", "ta", "lo", "si", "du", "fe", "ga", "hi", "po", "vu", "ze", "wi",
)  # fmt: skip
NOUNS = ("lamp", "book", "bell", "cup", "rope")
VERBS = ("saw", "met", "helped", "called", "thanked")
MOODS = ("tired", "happy")
WORDS = (
    *SYLLABLES, *NOUNS, *VERBS, *MOODS, "gave", "the", "to", "and", "walked", "home", "was", ".",
)  # fmt: skip
"""The vocabulary."""

SHARES = (0.35, 0.35, 0.15, 0.15)
"""Probabilities of "A saw B", "A gave the lamp to B", "A and B walked home", "A was tired"."""


def draw_story(rng: Generator, length: int) -> tuple[str, ...]:
    """Return a random story with a given number of words.

    Parameters
    ----------
    rng : Generator
    length : int

    Returns
    -------
    tuple of str

    Raises
    ------
    TypeError, ValueError
        If `length` is no whole number of at least 1.

    Examples
    --------
    >>> " ".join(draw_story(np.random.default_rng(2), 13))
    'mo hi gave the lamp to lo wi . si ga gave the'
    """
    check_type("rng", rng, Generator)
    length = as_count("length", length)
    count = 2 * int(rng.integers(2, 4))
    syllables = [SYLLABLES[i] for i in rng.permutation(len(SYLLABLES))[:count]]
    people = list(zip(syllables[::2], syllables[1::2], strict=True))
    story: list[str] = []
    while len(story) < length:
        story += _sentence(rng, people)
    return tuple(story[:length])


def _sentence(rng: Generator, people: Sequence[tuple[str, str]]) -> list[str]:
    """Return a sentence about one or two of the people."""
    first, second, *_ = (people[i] for i in rng.permutation(len(people)))
    kind = np.searchsorted(np.cumsum(SHARES)[:-1], rng.random(), side="right")
    if kind == 0:
        return [*first, _one_of(rng, VERBS), *second, "."]
    if kind == 1:
        return [*first, "gave", "the", _one_of(rng, NOUNS), "to", *second, "."]
    if kind == 2:
        return [*first, "and", *second, "walked", "home", "."]
    return [*first, "was", _one_of(rng, MOODS), "."]


def _one_of(rng: Generator, words: Sequence[str]) -> str:
    return words[int(rng.integers(len(words)))]


def draw_stories(rng: Generator, count: int, length: int) -> Array:
    """Return several random stories as indices into `WORDS`.

    Parameters
    ----------
    rng : Generator
    count, length : int

    Returns
    -------
    ndarray of int, shape (count, length)

    Examples
    --------
    >>> draw_stories(np.random.default_rng(2), 3, 48).shape
    (3, 48)
    """
    place = {word: i for i, word in enumerate(WORDS)}
    stories = [draw_story(rng, length) for _ in range(as_count("count", count))]
    return np.array([[place[word] for word in story] for story in stories])


@dataclass(frozen=True, eq=False)
class SecondSyllables:
    """The positions in stories at which the second syllable of a name is next.

    Parameters
    ----------
    new : tuple of ndarray of int
        Story and position of each first syllable of a name that is new in the story.
    repeated : tuple of ndarray of int
        The same for names that occurred before.
    last : ndarray of int
        For each repeated name, the position after the last earlier occurrence of its first
        syllable, at which its second syllable is.
    behind : ndarray of bool, shape (len(last), length)
        True at the position after each earlier occurrence of the first syllable.
    """

    new: tuple[Array, Array]
    repeated: tuple[Array, Array]
    last: Array
    behind: Array


def second_syllables(stories: Array) -> SecondSyllables:
    """Find the positions at which the second syllable of a name is next, and its occurrences.

    Parameters
    ----------
    stories : ndarray of int, shape (count, length)
        As `draw_stories` returns them. The last word of a story, which has no next one, is ignored.

    Returns
    -------
    SecondSyllables

    Examples
    --------
    >>> words = "ba ke saw mo nu . ba ke was tired ."
    >>> asked = second_syllables(np.array([[WORDS.index(word) for word in words.split()]]))
    >>> asked.new[1], asked.repeated[1], asked.last
    (array([0, 3]), array([6]), array([1]))
    """
    new, repeated, behind = [], [], []
    for number, story in enumerate(stories):
        seen: dict[int, list[int]] = {}
        is_second = False
        for place, word in enumerate(story[:-1]):
            is_first = word < len(SYLLABLES) and not is_second
            if is_first and word in seen:
                repeated.append((number, place, seen[word][-1]))
                behind.append(np.isin(np.arange(len(story)), seen[word]))
            elif is_first:
                new.append((number, place))
            if is_first:
                seen.setdefault(word, []).append(place + 1)
            is_second = is_first
    story_of, place_of, last = np.array(repeated, dtype=int).reshape(-1, 3).T
    at_new = np.array(new, dtype=int).reshape(-1, 2)
    shape = len(last), stories.shape[1]
    return SecondSyllables(
        (at_new[:, 0], at_new[:, 1]), (story_of, place_of), last, np.reshape(behind, shape)
    )
