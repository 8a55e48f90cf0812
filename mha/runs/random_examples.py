"""Random worked examples for any sentence, with numbers that are easy to compute by hand.

There are three kinds of numbers. With "meanings", the components of an embedding are meanings,
such as animal or state, and each head joins two of them: queries of words with the one have large
scores with keys of words with the other. "whole" numbers and "tenths" are random for every word.

Every word, position, matrix and head has its own generator, seeded by its name, so that numbers
stay the same when a word or a head is added. A head joins other meanings only if an added or
removed word changes the meanings in the sentence. `own-draw.ts` is a port with the same vocabulary.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal

import numpy as np

from mha.core.checks import as_count, as_names
from mha.core.multihead import MultiHeadWeights
from mha.core.option_checks import as_bool
from mha.runs.random_numbers import BITS, Draws
from mha.runs.worked_example import WorkedExample

Numbers = Literal["meanings", "whole", "tenths"]
Vector = list[float]
Matrix = list[Vector]

KINDS: tuple[Numbers, ...] = ("meanings", "whole", "tenths")
MAX_WORDS, MAX_WORD_LENGTH = 12, 16
SIZES = {"d_model": (2, 6), "num_heads": (1, 4), "d_k": (1, 4)}
"""The smallest and the largest value of each size."""

MEANINGS = ("animal", "thing", "state", "doing", "person", "place")
"""The meaning of each component of an embedding; with `d_model` 4, the first four."""

_DEFAULT_WIDTH = 4

VOCABULARY = {
    "cat": "animal", "dog": "animal", "bird": "animal", "horse": "animal",
    "mat": "thing", "tea": "thing", "milk": "thing", "ball": "thing", "book": "thing",
    "apple": "thing", "football": "thing", "money": "thing", "salt": "thing", "pepper": "thing",
    "it": "animal thing",
    "tired": "state", "hungry": "state", "happy": "state", "hot": "state", "soft": "state",
    "sat": "doing", "ran": "doing", "drinks": "doing", "reads": "doing", "bites": "doing",
    "bought": "doing", "drink": "doing", "eat": "doing", "play": "doing", "saw": "doing",
    "slept": "doing state", "sleep": "doing state",
    "she": "person", "child": "person", "teacher": "person", "man": "person",
    "i": "person", "we": "person", "you": "person",
    "river": "place", "garden": "place", "bank": "thing place",
    "the": "", "a": "", "on": "", "in": "", "was": "", "to": "", "and": "",
    "because": "", "near": "", "<end>": "",
}  # fmt: skip
"""Words and their meanings, among them the words of the book's sentences. Some have no meaning."""

_TENTHS = {"w_q": 15, "w_k": 15, "w_v": 9, "w_o": 9}
"""The largest number in each matrix of "tenths", in tenths."""


def draw_example(
    words: str | Sequence[str],
    *,
    seed: int = 1,
    numbers: Numbers = "meanings",
    d_model: int | None = None,
    num_heads: int = 2,
    d_k: int = 2,
    is_causal: bool = False,
    positions: bool = False,
    output: bool = True,
) -> WorkedExample:
    """Return a random example for a sentence, with numbers that are easy to compute by hand.

    The page *Work your own* draws the same numbers for the same seed.

    Parameters
    ----------
    words : str or sequence of str
        Up to 12 words of at most 16 characters. A string is split into words at spaces and
        punctuation, which are dropped; "didn't" and "3.5" are one word each.
    seed : int, default 1
        From 0 to 4 294 967 295.
    numbers : {"meanings", "whole", "tenths"}, default "meanings"
        With "meanings", a word that is not in the vocabulary gets one meaning at random.
    d_model : int, optional
        Width of the embeddings, from 2 to 6. By default 4, or more if the meanings need more.
    num_heads : int, default 2
        From 1 to 4.
    d_k : int, default 2
        Width of queries, keys and values, from 1 to 4.
    is_causal : bool, default False
    positions : bool, default False
        Whether position vectors are added to the embeddings.
    output : bool, default True
        Whether there is an output projection.

    Returns
    -------
    WorkedExample

    Raises
    ------
    TypeError, ValueError
        If there are no words or too many, a word is too long, or a size is out of its bounds.

    Examples
    --------
    >>> example = draw_example("the tired cat drinks tea")
    >>> example.head_names
    ('Head 1: state → animal', 'Head 2: doing → thing')
    >>> example.embeddings[1]
    array([0., 0., 1., 0.])
    """
    tokens = _tokens(words)
    if numbers not in KINDS:
        raise ValueError(f"numbers is {numbers!r}; one of {', '.join(KINDS)} is wanted")
    if d_model is None:
        d_model = max(_DEFAULT_WIDTH, needed_width(tokens) if numbers == "meanings" else 0)
    sizes = {"d_model": d_model, "num_heads": num_heads, "d_k": d_k}
    for name, size in sizes.items():
        _check_size(name, size)
    Draws(seed)  # raises for an invalid seed
    embeddings = [_word_vector(seed, word, numbers, d_model) for word in tokens]
    position_vectors = [_position_vector(seed, row, numbers, d_model) for row in range(len(tokens))]
    if numbers == "meanings":
        names, matrices = _meaning_heads(
            seed, _joinable_meanings(tokens, embeddings), d_model, num_heads, d_k
        )
    else:
        names = [f"Head {head + 1}" for head in range(num_heads)]
        matrices = _random_heads(seed, numbers, d_model, num_heads, d_k)
    w_q, w_k, w_v, w_o = map(np.array, matrices)
    return WorkedExample(
        name="own",
        title=" ".join(tokens),
        tokens=tokens,
        head_names=tuple(names),
        source=f"drawn from the seed {seed}",
        embeddings=np.array(embeddings),
        layer=MultiHeadWeights(w_q, w_k, w_v, w_o if as_bool("output", output) else None),
        positions=np.array(position_vectors) if as_bool("positions", positions) else None,
        is_causal=is_causal,
    )


def _tokens(words: str | Sequence[str]) -> tuple[str, ...]:
    """Return the words of a sentence; raise if there are none, too many, or one is too long."""
    tokens = as_names("words", split_words(words) if isinstance(words, str) else words)
    if len(tokens) > MAX_WORDS:
        raise ValueError(f"words has {len(tokens)} words; at most {MAX_WORDS} are wanted")
    for token in tokens:
        if len(token) > MAX_WORD_LENGTH:
            raise ValueError(
                f"words has {token!r}; at most {MAX_WORD_LENGTH} characters are wanted"
            )
    return tokens


def _check_size(name: str, size: int) -> None:
    low, high = SIZES[name]
    if not low <= as_count(name, size) <= high:
        raise ValueError(f"{name} is {size}; {low} to {high} is wanted")


def split_words(text: str) -> list[str]:
    """Return the words of a text, without punctuation.

    Apostrophes and hyphens inside a word are kept, and so are points and commas inside a number.

    Examples
    --------
    >>> split_words("Who are you? It didn't cost 3.5, did it?")
    ['Who', 'are', 'you', 'It', "didn't", 'cost', '3.5', 'did', 'it']
    """
    return "".join(sign if _is_in_word(text, i) else " " for i, sign in enumerate(text)).split()


def _is_in_word(text: str, i: int) -> bool:
    """Return whether a character belongs to a word, as punctuation inside a word or number does."""
    if not _is_punctuation(text[i]):
        return True
    before, after = text[max(i - 1, 0) : i], text[i + 1 : i + 2]
    if not (before.strip() and after.strip()) or _is_punctuation(before) or _is_punctuation(after):
        return False
    is_in_number = text[i] in ".," and before in _DIGITS and after in _DIGITS
    return is_in_number or text[i] in "'’-‐‑"


_DIGITS = "0123456789"


def _is_punctuation(sign: str) -> bool:
    return unicodedata.category(sign).startswith("P")


def needed_width(words: Sequence[str]) -> int:
    """Return the smallest width that has all meanings of some words, 0 if they have none.

    Examples
    --------
    >>> needed_width(["the", "river", "bank"]), needed_width(["the", "cat", "sat"])
    (6, 4)
    """
    return max((MEANINGS.index(meaning) + 1 for word in words
                for meaning in VOCABULARY.get(bare_word(word), "").split()), default=0)  # fmt: skip


def bare_word(word: str) -> str:
    """Return a word as the vocabulary has it: in lower case, without punctuation around it.

    Examples
    --------
    >>> bare_word("Cat,"), bare_word("...")
    ('cat', '...')
    """
    small = word.lower()
    return re.sub("^[.,;:!?]+|[.,;:!?]+$", "", small) or small


def _draws_of(seed: int, *label: object) -> Draws:
    """Return the generator of one array or word: the hash of seed and label is its own seed."""
    state = 2166136261  # the offset of the FNV-1a hash, whose prime follows
    for letter in " ".join(map(str, (seed, *label))):
        state = (state ^ ord(letter)) * 16777619 % BITS
    return Draws(state)


# ---- Words and positions ----


def _word_vector(seed: int, word: str, numbers: Numbers, width: int) -> Vector:
    """Return the embedding of a word, which does not depend on its position."""
    bare = bare_word(word)
    draws = _draws_of(seed, "word", bare)
    if numbers == "tenths":
        return [draws.whole(-9, 9) / 10 for _ in range(width)]
    if numbers == "meanings":
        known = VOCABULARY.get(bare)
        meanings = MEANINGS[draws.whole(0, width - 1)] if known is None else known
        return [float(meaning in meanings.split()) for meaning in MEANINGS[:width]]
    vector = [float(draws.whole(-1, 1)) for _ in range(width)]
    if not any(vector):
        vector[draws.whole(0, width - 1)] = 1.0
    return vector


def _position_vector(seed: int, row: int, numbers: Numbers, width: int) -> Vector:
    """Return the position vector of a row."""
    draws = _draws_of(seed, "place", row)
    if numbers == "whole":
        return [float(draws.whole(-1, 1)) for _ in range(width)]
    return [draws.whole(-3, 3) / 10 for _ in range(width)]


# ---- Matrices: three per head, then the output projection ----


def _joinable_meanings(tokens: Sequence[str], embeddings: Matrix) -> list[int]:
    """Return the components that heads may join: at least two meanings of the sentence's words.

    Random meanings, of words that are not in the vocabulary, count only if the others are too few.
    """
    known = [row for word, row in zip(tokens, embeddings, strict=True)
             if bare_word(word) in VOCABULARY]  # fmt: skip
    every = list(range(len(embeddings[0])))
    for rows in (known, embeddings):
        has = [i for i in every if any(row[i] for row in rows)]
        if len(has) > 1:
            return has
    return every


def _meaning_heads(
    seed: int, joinable: list[int], width: int, num_heads: int, d_k: int
) -> tuple[list[str], tuple[list[Matrix], list[Matrix], list[Matrix], Matrix]]:
    """Return the names and the matrices of heads that join meanings of the sentence.

    The first component of a query is the amount of the head's query meaning in its word, that of a
    key the amount of its key meaning. In each other component, words of one and the same meaning
    have a positive product. Values copy meanings, the key meaning first. Each head draws until the
    sentence has both meanings, so that it changes only when one of these disappears, or when a new
    meaning makes an earlier draw valid.
    """
    pairs, last = len(joinable) * (len(joinable) - 1), len(MEANINGS) - 1
    taken: list[tuple[int, int]] = []
    names = []
    w_q, w_k, w_v = ([_zeros(width, d_k) for _ in range(num_heads)] for _ in range(3))
    w_o = _zeros(num_heads * d_k, width)
    for head in range(num_heads):
        # The label is part of the seed: another one would change every example.
        draws = _draws_of(seed, "what sense asks", head)
        if len(taken) == pairs:
            taken = []
        query_meaning = key_meaning = 0
        while (
            query_meaning == key_meaning
            or (query_meaning, key_meaning) in taken
            or not {query_meaning, key_meaning} <= {*joinable}
        ):
            query_meaning, key_meaning = draws.whole(0, last), draws.whole(0, last)
        taken.append((query_meaning, key_meaning))
        names.append(f"Head {head + 1}: {MEANINGS[query_meaning]} → {MEANINGS[key_meaning]}")
        w_q[head][query_meaning][0] = 2.0
        w_k[head][key_meaning][0] = 2.0 if d_k > 1 else 1.0
        for i in range(d_k):
            copied = (key_meaning + i) % width
            w_v[head][copied][i] = w_o[head * d_k + i][copied] = 1.0
            if i:
                alike = -1
                while alike not in joinable:
                    alike = draws.whole(0, last)
                w_q[head][alike][i] = w_k[head][alike][i] = 1.0
    return names, (w_q, w_k, w_v, w_o)


def _random_heads(
    seed: int, numbers: Numbers, width: int, num_heads: int, d_k: int
) -> tuple[list[Matrix], list[Matrix], list[Matrix], Matrix]:
    """Return the matrices of all heads and the output projection, with random entries."""
    w_q, w_k, w_v = (
        [_random_matrix(seed, numbers, f"{name} {head}", width, d_k) for head in range(num_heads)]
        for name in ("w_q", "w_k", "w_v")
    )
    return w_q, w_k, w_v, _random_matrix(seed, numbers, "w_o", num_heads * d_k, width)


def _random_matrix(seed: int, numbers: Numbers, label: str, rows: int, columns: int) -> Matrix:
    """Return a random matrix; one of whole numbers has at most two non-zeros in a column."""
    draws, matrix = _draws_of(seed, label), _zeros(rows, columns)
    for column in range(columns):
        if numbers == "tenths":
            size = _TENTHS[label[:3]]
            for row in range(rows):
                matrix[row][column] = draws.whole(-size, size) / 10
        else:
            sign, row = 2 * draws.whole(0, 1) - 1, draws.whole(0, rows - 1)
            other, number = draws.whole(0, rows - 1), draws.whole(-1, 1)
            matrix[other][column] = float(number)
            matrix[row][column] = float(sign)
    return matrix


def _zeros(rows: int, columns: int) -> Matrix:
    return [[0.0] * columns for _ in range(rows)]
