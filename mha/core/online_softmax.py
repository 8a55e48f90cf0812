"""Online softmax: a softmax over blocks of scores, with a running maximum, sum and weighted sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import (
    Array,
    as_array,
    as_finite_array,
    finite_product,
    finite_sum,
    frozen_copy,
    in_one_dtype,
)
from mha.core.option_checks import check_type
from mha.core.softmax import as_scores


@dataclass(frozen=True, eq=False)
class RunningSoftmax:
    """The state of an online softmax after some of the keys, from `online_softmax`.

    Parameters
    ----------
    largest : array_like, shape (...)
        The largest score so far of each row; minus infinity if all keys so far were masked.
    total : array_like, shape (...)
        The sum of exp(score - largest).
    mixture : array_like, shape (..., d_v)
        The sum of exp(score - largest) times value.

    Raises
    ------
    TypeError, ValueError
        If the arrays do not hold real numbers, or do not fit together.

    Examples
    --------
    >>> first = online_softmax(np.log([1.0, 2.0]), [[4.0], [2.0]])
    >>> first.total, first.mixture
    (array(1.5), array([4.]))
    """

    largest: Array
    total: Array
    mixture: Array

    def __post_init__(self) -> None:
        largest = as_scores("largest", self.largest, min_ndim=0)
        total = as_finite_array("total", self.total, min_ndim=0)
        mixture = as_finite_array("mixture", self.mixture)
        for name, shape in (("largest", largest.shape), ("total", total.shape)):
            if shape != mixture.shape[:-1]:
                raise ValueError(
                    f"{name} has shape {shape} but mixture has {mixture.shape};"
                    " a row of mixture for each is wanted"
                )
        arrays = in_one_dtype(largest, total, mixture)
        for name, array in zip(("largest", "total", "mixture"), arrays, strict=True):
            object.__setattr__(self, name, frozen_copy(array))

    @property
    def output(self) -> Array:
        """Attention over the keys so far, shape (..., d_v); 0 for a row with all keys masked."""
        return self.mixture / np.where(self.total == 0, 1, self.total)[..., None]

    def merged(self, other: Self) -> Self:
        """Return the state after the keys of both; their order does not matter.

        Parameters
        ----------
        other : RunningSoftmax
            The state of the same rows for other keys.

        Returns
        -------
        RunningSoftmax

        Raises
        ------
        TypeError, ValueError
            If `other` has another type or other shapes, or the mixture becomes too large for its
            dtype.

        References
        ----------
        Milakov and Gimelshein (2018), section 3.1.
        """
        check_type("other", other, RunningSoftmax)
        if other.mixture.shape != self.mixture.shape:
            raise ValueError(
                f"mixture has shape {self.mixture.shape} but other's has {other.mixture.shape};"
                " they must match"
            )
        largest = np.maximum(self.largest, other.largest)
        # Rescale both states to the common maximum: exp(score - old) * exp(old - new).
        factors = [shifted_exponentials(state.largest, largest) for state in (self, other)]
        scaled = list(zip(factors, (self, other), strict=True))
        totals = [factor * state.total for factor, state in scaled]
        mixtures = [factor[..., None] * state.mixture for factor, state in scaled]
        mixture = finite_sum("the mixtures", *mixtures)
        return type(self)(largest, finite_sum("the totals", *totals), mixture)


def online_softmax(
    scores: ArrayLike, value: ArrayLike, so_far: RunningSoftmax | None = None
) -> RunningSoftmax:
    """Return the state of an online softmax after one more block of keys.

    Parameters
    ----------
    scores : array_like, shape (..., num_keys)
        Scaled scores; minus infinity for a key that a query may not attend to.
    value : array_like, shape (..., num_keys, d_v)
        Leading axes are those of the scores without the queries' axis.
    so_far : RunningSoftmax, optional
        The state after the earlier blocks; None for the first block.

    Returns
    -------
    RunningSoftmax
        After the last block, its `output` equals attention with the softmax of whole rows, up to
        rounding.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit, or a mixture is too large for its dtype.

    References
    ----------
    Milakov and Gimelshein (2018), algorithm 3; Rabe and Staats (2021).

    Examples
    --------
    >>> first = online_softmax(np.log([1.0, 2.0]), [[4.0], [2.0]])
    >>> both = online_softmax(np.log([5.0]), [[8.0]], first)
    >>> first.output.round(4), both.output.round(4)
    (array([2.6667]), array([6.]))
    """
    if so_far is not None:
        check_type("so_far", so_far, RunningSoftmax)
    scores, value = in_one_dtype(as_scores("scores", scores), as_array("value", value, min_ndim=2))
    value = as_finite_array("value", value)
    leading = scores.shape[: max(0, scores.ndim - 2)]
    if value.shape[:-1] != (*leading, scores.shape[-1]):
        raise ValueError(
            f"scores has shape {scores.shape} but value has {value.shape};"
            " a row of value for each key is wanted"
        )
    largest = scores.max(axis=-1)
    exponentials = shifted_exponentials(scores, largest[..., None])
    mixture = finite_product("the exponentials and value", exponentials, value)
    block = RunningSoftmax(largest, exponentials.sum(axis=-1), mixture)
    return block if so_far is None else so_far.merged(block)


def shifted_exponentials(scores: Array, largest: Array) -> Array:
    """Return exp(scores - largest); it is 0 for a score of minus infinity, also if all are.

    Examples
    --------
    >>> shifted_exponentials(np.array([-np.inf, 2.0]), np.array(2.0))
    array([0., 1.])
    """
    # Minus infinity less minus infinity would be NaN, so a fully masked row is not shifted.
    shift = np.where(np.isneginf(largest), 0, largest).astype(scores.dtype)
    # A difference that overflows is minus infinity, and its exponential is 0, as it should be.
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(scores - shift))
