"""Names for the heads of a trained model, each with its test.

A name such as "the token before" is a rule: for some rows of a map it says on which keys the
weight would lie. How much of the weight lies there, and in how many rows the largest weight does,
is what the name is worth.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array
from mha.core.distributions import entropy
from mha.core.option_checks import as_string

Cells = dict[int, list[int]]
"""By the row of each query that a rule speaks of, the keys that it names."""


def _words(tokens: Sequence[str]) -> range:
    """Return the rows of the words, without the tokens that the model adds at both ends."""
    return range(1, len(tokens) - 1)


def _same(tokens: Sequence[str]) -> Cells:
    """Return for each token that stands in a sentence again where else it does."""
    found = {i: [j for j, t in enumerate(tokens) if t == tokens[i] and j != i]
             for i in range(len(tokens))}  # fmt: skip
    return {row: keys for row, keys in found.items() if keys}


RULES: dict[str, Callable[[Sequence[str]], Cells]] = {
    "before": lambda tokens: {i: [i - 1] for i in range(1, len(tokens))},
    "next": lambda tokens: {i: [i + 1] for i in _words(tokens)[:-1]},
    "itself": lambda tokens: {i: [i] for i in range(len(tokens))},
    "same": _same,
    "first": lambda tokens: {i: [0] for i in _words(tokens)},
    "separator": lambda tokens: {i: [len(tokens) - 1] for i in _words(tokens)},
}
"""Rules by their names, for any tokens."""

SHAPES: dict[str, Callable[[Array], Array]] = {
    "sharp": lambda weights: weights.max(axis=-1),
    "broad": lambda weights: (
        np.exp(entropy(weights / weights.sum(axis=-1, keepdims=True))) / weights.shape[-1]
    ),
}
"""What says of a row how it is spread, whichever keys it falls on: from near 0 to 1."""


@dataclass(frozen=True)
class Held:
    """How far a name holds of one map.

    Parameters
    ----------
    share : float
        The mean share of a row's weight that lies where the rule says; of a shape, its mean.
    obeyed : int
        In how many rows the largest weight lies there; of a shape, those above one half.
    rows : int
        Of how many rows the rule speaks.
    """

    share: float
    obeyed: int
    rows: int


def holds(
    name: str, tokens: Sequence[str], weights: ArrayLike, *, pair: tuple[str, str] | None = None
) -> Held | None:
    """Return how far a name holds of a map.

    Parameters
    ----------
    name : str
        One of `RULES` or `SHAPES`, or ``"pair"``: from one word to another, the first of each.
    tokens : sequence of str, length n
    weights : array_like, shape (n, n)
    pair : tuple of two str, optional
        For ``"pair"``: which token asks, and which is to be heard.

    Returns
    -------
    Held or None
        None where the rule speaks of no row.

    Raises
    ------
    ValueError
        If there is no such name.

    Examples
    --------
    >>> holds("before", ("a", "b", "c"), np.eye(3, k=-1))
    Held(share=1.0, obeyed=2, rows=2)
    """
    weights = np.asarray(weights, dtype=float)
    if name in SHAPES:
        measured = SHAPES[name](weights)
        return Held(float(measured.mean()), int((measured > 0.5).sum()), len(weights))
    if name == "pair" and pair is not None:
        known = all(token in tokens for token in pair)
        cells = {tokens.index(pair[0]): [tokens.index(pair[1])]} if known else {}
    elif as_string("name", name) in RULES:
        cells = RULES[name](tokens)
    else:
        raise ValueError(f"name is {name!r}; one of {', '.join((*RULES, *SHAPES))} is wanted")
    if not cells:
        return None
    shares = [weights[row, keys].sum() for row, keys in cells.items()]
    obeyed = sum(int(weights[row].argmax()) in keys for row, keys in cells.items())
    return Held(float(np.mean(shares)), obeyed, len(cells))


def mean_share(found: Sequence[Held | None]) -> float:
    """Return the mean of the shares of several sentences, without those of which a rule is silent.

    Examples
    --------
    >>> mean_share([Held(0.5, 1, 2), None, Held(1.0, 1, 1)])
    0.75
    """
    return float(np.mean([held.share for held in found if held is not None]))
