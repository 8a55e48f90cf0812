"""The softmax of a row that is read in parts: a maximum, a sum and a mixture are all one keeps."""

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
    frozen,
    in_one_dtype,
)
from mha.core.option_checks import check_kind
from mha.core.softmax import as_scores


@dataclass(frozen=True, eq=False)
class RunningSoftmax:
    """What attention has to keep of the keys that it has read; `online_softmax` makes one.

    Parameters
    ----------
    largest : array_like, shape (...)
        The largest score so far of each row; minus infinity where no key was to be seen.
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
            object.__setattr__(self, name, frozen(array))

    @property
    def output(self) -> Array:
        """The attention over the keys so far, shape (..., d_v); zero for a row without any."""
        return self.mixture / np.where(self.total == 0, 1, self.total)[..., None]

    def merged(self, other: Self) -> Self:
        """Return what is kept of the keys of both, whichever were read first.

        Parameters
        ----------
        other : RunningSoftmax
            Of the same rows, and of other keys.

        Returns
        -------
        RunningSoftmax

        Raises
        ------
        TypeError, ValueError
            If `other` is none, is of other shapes, or the mixture becomes too large for its dtype.

        References
        ----------
        Milakov and Gimelshein (2018), section 3.1.
        """
        check_kind("other", other, RunningSoftmax)
        if other.mixture.shape != self.mixture.shape:
            raise ValueError(
                f"mixture has shape {self.mixture.shape} but other's has {other.mixture.shape};"
                " they must match"
            )
        largest = np.maximum(self.largest, other.largest)
        factors = [exponentials_below(part.largest, largest) for part in (self, other)]
        parts = list(zip(factors, (self, other), strict=True))
        totals = [factor * part.total for factor, part in parts]
        mixtures = [factor[..., None] * part.mixture for factor, part in parts]
        mixture = finite_sum("the mixtures", *mixtures)
        return type(self)(largest, finite_sum("the totals", *totals), mixture)


def online_softmax(
    scores: ArrayLike, value: ArrayLike, so_far: RunningSoftmax | None = None
) -> RunningSoftmax:
    """Read a block of keys: their scores and values, behind those that were read before.

    Parameters
    ----------
    scores : array_like, shape (..., num_keys)
        Scaled scores; minus infinity for a key that a query may not attend to.
    value : array_like, shape (..., num_keys, d_v)
        Leading axes are those of the scores without the queries' axis.
    so_far : RunningSoftmax, optional
        What is kept of the blocks before; none before the first.

    Returns
    -------
    RunningSoftmax
        After the last block, its `output` is that of the softmax of whole rows, up to rounding.

    Raises
    ------
    TypeError, ValueError
        If arguments do not fit, naming the argument, what is wanted and what came, or a mixture
        is too large for its dtype.

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
        check_kind("so_far", so_far, RunningSoftmax)
    scores, value = in_one_dtype(as_scores("scores", scores), as_array("value", value, min_ndim=2))
    value = as_finite_array("value", value)
    leading = scores.shape[: max(0, scores.ndim - 2)]
    if value.shape[:-1] != (*leading, scores.shape[-1]):
        raise ValueError(
            f"scores has shape {scores.shape} but value has {value.shape};"
            " a row of value for each key is wanted"
        )
    largest = scores.max(axis=-1)
    exponentials = exponentials_below(scores, largest[..., None])
    mixture = finite_product("the exponentials and value", exponentials, value)
    block = RunningSoftmax(largest, exponentials.sum(axis=-1), mixture)
    return block if so_far is None else so_far.merged(block)


def exponentials_below(scores: Array, largest: Array) -> Array:
    """Return exp(scores - largest), which is zero for minus infinity, also below itself.

    Examples
    --------
    >>> exponentials_below(np.array([-np.inf, 2.0]), np.array(2.0))
    array([0., 1.])
    """
    shift = np.where(np.isneginf(largest), 0, largest).astype(scores.dtype)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(scores - shift))
