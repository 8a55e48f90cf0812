"""Speculative decoding: a draft model proposes words, and a target model accepts or replaces them.

The words that are written have the target's probabilities, whatever the draft is. The draft only
decides how many of its words are accepted.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_count, as_finite_array, as_ndarray, as_number, in_one_dtype
from mha.core.distributions import check_distributions
from mha.core.option_checks import check_type


def acceptance_probabilities(target: ArrayLike, draft: ArrayLike) -> Array:
    """Return the probability with which each word is accepted if the draft proposes it.

    It is the smaller of 1 and the ratio of the two probabilities of the word, and 1 for a word that
    the draft never proposes.

    Parameters
    ----------
    target : array_like, shape (..., num_words)
        The target model's probabilities of the next word.
    draft : array_like of the same shape
        The draft model's probabilities.

    Returns
    -------
    ndarray of the same shape

    Raises
    ------
    TypeError, ValueError
        If the arguments do not hold finite numbers from 0 up whose rows sum to 1 within 1e-5, or
        their shapes differ.

    References
    ----------
    Leviathan et al. (2023), section 2.3.

    Examples
    --------
    >>> acceptance_probabilities([0.25, 0.5, 0.25], [0.5, 0.25, 0.25])
    array([0.5, 1. , 1. ])
    """
    target, draft = _as_distributions(target, draft)
    proposed = draft > 0
    # The minimum first: a ratio of a large to a tiny probability would overflow.
    return np.divide(np.minimum(target, draft), draft, out=np.ones_like(draft), where=proposed)


def residual_distribution(target: ArrayLike, draft: ArrayLike) -> Array:
    """Return the probabilities from which a word is drawn after the draft's word was rejected.

    They are the positive parts of target minus draft, divided by their sum. If the two are equal,
    no word is ever rejected, and the target's probabilities are returned.

    Parameters
    ----------
    target, draft : array_like of one shape (..., num_words)
        As in `acceptance_probabilities`.

    Returns
    -------
    ndarray of the same shape

    Raises
    ------
    TypeError, ValueError
        As for `acceptance_probabilities`.

    References
    ----------
    Leviathan et al. (2023), section 2.3.

    Examples
    --------
    >>> residual_distribution([0.25, 0.5, 0.25], [0.5, 0.25, 0.25])
    array([0., 1., 0.])
    """
    target, draft = _as_distributions(target, draft)
    excess = np.maximum(target - draft, 0)
    total = excess.sum(axis=-1, keepdims=True)
    return np.divide(excess, total, out=target.copy(), where=total > 0)


def accept_drafts(
    drafted: ArrayLike,
    target: ArrayLike,
    draft: ArrayLike,
    rng: Generator,
) -> Array:
    """Return the words that one pass of the target model writes: accepted ones, and one more.

    The words are read in order, and each is accepted with its acceptance probability. The first one
    that is rejected is replaced by a word drawn from the residual distribution, and the words after
    it are dropped. If all are accepted, one more word is drawn from the target's last row.

    Parameters
    ----------
    drafted : array_like of int, shape (num_drafted,)
        The proposed words, as indices. Each was drawn from its row of `draft`.
    target : array_like, shape (num_drafted + 1, num_words)
        The target's probabilities of the next word, before each proposed word and after the last.
    draft : array_like, shape (num_drafted, num_words)
        The draft's probabilities, before each proposed word.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (num_written,)
        From 1 to num_drafted + 1 words.

    Raises
    ------
    TypeError, ValueError
        If the rows of `target` and `draft` are no distributions, the shapes do not fit together,
        or `drafted` has a word whose probability in `draft` is 0.

    References
    ----------
    Leviathan et al. (2023), Algorithm 1.

    Examples
    --------
    >>> accept_drafts([1], [[0, 1], [1, 0]], [[0.5, 0.5]], np.random.default_rng(3))
    array([1, 0])
    >>> accept_drafts([0], [[0, 1], [1, 0]], [[0.5, 0.5]], np.random.default_rng(3))
    array([1])
    """
    check_type("rng", rng, Generator)
    words = as_ndarray("drafted", drafted)
    if words.ndim != 1 or not words.size or not np.issubdtype(words.dtype, np.integer):
        raise TypeError(
            f"drafted has dtype {words.dtype} and shape {words.shape}; a list of integers is wanted"
        )
    target, draft = (_as_rows(n, a) for n, a in (("target", target), ("draft", draft)))
    num_words = draft.shape[-1]
    for name, rows, length in (("target", target, len(words) + 1), ("draft", draft, len(words))):
        if rows.shape != (length, num_words):
            raise ValueError(f"{name} has shape {rows.shape}; {(length, num_words)} is wanted")
    if words.min() < 0 or words.max() >= num_words:
        raise ValueError(f"drafted has numbers outside of 0 to {num_words - 1}")
    accepted = acceptance_probabilities(target[:-1], draft)
    for i, word in enumerate(words):
        if draft[i, word] == 0:
            raise ValueError(
                f"drafted has the word {word} at position {i}, to which draft gives the probability"
                " 0; a word that was drawn from draft is wanted"
            )
        if rng.random() >= accepted[i, word]:
            return np.append(words[:i], _draw(rng, residual_distribution(target[i], draft[i])))
    return np.append(words, _draw(rng, target[-1]))


def words_per_pass(acceptance_rate: float, num_drafted: int) -> float:
    """Return the mean number of words that one pass of the target model writes.

    Every proposed word is assumed to be accepted with the same probability, independently of the
    others. The last word of a pass is the target's own, so the result is at least 1.

    Parameters
    ----------
    acceptance_rate : float
        From 0 to 1.
    num_drafted : int
        Number of words that the draft proposes for each pass.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If the rate is not between 0 and 1, or the number is not a whole number of at least 1.

    References
    ----------
    Leviathan et al. (2023), equation 1.

    Examples
    --------
    >>> words_per_pass(0.5, 2)
    1.75
    """
    rate = as_number("acceptance_rate", acceptance_rate)
    if not 0 <= rate <= 1:
        raise ValueError(f"acceptance_rate is {rate:g}; a number from 0 to 1 is wanted")
    return float(sum(rate**i for i in range(as_count("num_drafted", num_drafted) + 1)))


def _as_distributions(target: ArrayLike, draft: ArrayLike) -> tuple[Array, ...]:
    """Return two arrays of distributions of one shape and dtype."""
    arrays = [_as_rows(name, a) for name, a in (("target", target), ("draft", draft))]
    if arrays[0].shape != arrays[1].shape:
        raise ValueError(
            f"target has shape {arrays[0].shape} but draft has {arrays[1].shape}; they must match"
        )
    return in_one_dtype(*arrays)


def _as_rows(name: str, value: ArrayLike) -> Array:
    original = as_ndarray(name, value)
    rows = as_finite_array(name, original)
    check_distributions(name, rows, -1, original.dtype)
    if not rows.any(axis=-1).all():
        raise ValueError(f"{name} has a row of zeros; rows that sum to 1 are wanted")
    return rows


def _draw(rng: Generator, probabilities: Array) -> int:
    """Return a word that is drawn by its probability."""
    exact = probabilities.astype(np.float64)
    return int(rng.choice(len(exact), p=exact / exact.sum()))
