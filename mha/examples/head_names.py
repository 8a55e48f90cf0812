"""Names for the heads of a decoder, with the rules that test them.

A name such as "the token before" is a rule, which gives the expected keys for some rows of a map of
weights. Two numbers measure the fit of a name: the share of the weight on the expected keys, and
the number of rows with the largest weight on an expected key.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array
from mha.core.distributions import entropy
from mha.core.option_checks import as_string

Cells = dict[int, list[int]]
"""The expected keys of a rule, by the row of the query."""


def _repeated(tokens: Sequence[str], step: int) -> Cells:
    """Return the keys that are a step after each earlier occurrence of the same token."""
    words = [token.strip() for token in tokens]
    found = {
        i: [j + step for j in range(i - step) if words[j] == words[i]] for i in range(len(words))
    }
    return {row: keys for row, keys in found.items() if keys}


RULES: dict[str, Callable[[Sequence[str]], Cells]] = {
    "before": lambda tokens: {i: [i - 1] for i in range(1, len(tokens))},
    "first": lambda tokens: {i: [0] for i in range(1, len(tokens))},
    "itself": lambda tokens: {i: [i] for i in range(len(tokens))},
    "same": lambda tokens: _repeated(tokens, 0),
    "induction": lambda tokens: _repeated(tokens, 1),
}
"""The rules by their names: functions from tokens to the expected keys.

A repeated token is expected to attend to its earlier occurrences in "same", and in "induction" to
the tokens that follow these.
"""

SHAPES: dict[str, Callable[[Array], Array]] = {
    "sharp": lambda weights: weights.max(axis=-1),
    "broad": lambda weights: (
        np.exp(entropy(weights / weights.sum(axis=-1, keepdims=True))) / weights.shape[-1]
    ),
}
"""Measures of the spread of a row's weights, from near 0 to 1, whatever the keys."""


@dataclass(frozen=True)
class HeadNameFit:
    """The fit of a name to one map of weights.

    Parameters
    ----------
    share : float
        Mean share of a row's weight on the expected keys; for a measure of spread, its mean.
    largest_in_rule : int
        Number of rows with the largest weight on an expected key; for a measure of spread, number
        of rows above one half.
    rows : int
        Number of rows with expected keys.
    """

    share: float
    largest_in_rule: int
    rows: int


def fit_head_name(
    name: str, tokens: Sequence[str], weights: ArrayLike, *, pair: tuple[str, str] | None = None
) -> HeadNameFit | None:
    """Return the fit of a name to a map of weights.

    Parameters
    ----------
    name : str
        One of `RULES` or `SHAPES`, or ``"pair"`` for the weight from the first occurrence of one
        word to that of another.
    tokens : sequence of str, length n
    weights : array_like, shape (n, n)
    pair : tuple of two str, optional
        For ``"pair"``, the tokens of the query and the key.

    Returns
    -------
    HeadNameFit or None
        None if the rule has no expected keys in this sentence.

    Raises
    ------
    ValueError
        If there is no such name.

    Examples
    --------
    >>> fit_head_name("before", ("a", "b", "c"), np.eye(3, k=-1))
    HeadNameFit(share=1.0, largest_in_rule=2, rows=2)
    """
    weights = np.asarray(weights, dtype=float)
    if name in SHAPES:
        measured = SHAPES[name](weights)
        return HeadNameFit(float(measured.mean()), int((measured > 0.5).sum()), len(weights))
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
    largest_in_rule = sum(int(weights[row].argmax()) in keys for row, keys in cells.items())
    return HeadNameFit(float(np.mean(shares)), largest_in_rule, len(cells))


def mean_share(found: Sequence[HeadNameFit | None]) -> float:
    """Return the mean share over several sentences, without those that have no fit.

    Examples
    --------
    >>> mean_share([HeadNameFit(0.5, 1, 2), None, HeadNameFit(1.0, 1, 1)])
    0.75
    """
    return float(np.mean([fit.share for fit in found if fit is not None]))
