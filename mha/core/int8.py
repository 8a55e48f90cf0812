"""Quantisation to int8: integers from −127 to 127, with one scale factor per row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_finite_array, frozen_copy


@dataclass(frozen=True, eq=False)
class EightBits:
    """Rows of numbers quantised to int8, from `EightBits.of`.

    Parameters
    ----------
    whole : ndarray of int8, shape (..., n, d)
    factor : ndarray, shape (..., n, 1)

    Examples
    --------
    >>> kept = EightBits.of([[1.0, -0.5, 0.1]])
    >>> kept.whole, kept.numbers.round(4)
    (array([[127, -64,  13]], dtype=int8), array([[ 1.    , -0.5039,  0.1024]]))
    """

    whole: Array
    factor: Array

    @classmethod
    def of(cls, x: ArrayLike) -> Self:
        """Quantise each row to 255 equal steps between minus and plus its largest absolute value.

        Parameters
        ----------
        x : array_like, shape (..., d)

        Raises
        ------
        TypeError, ValueError
            If `x` does not hold finite numbers.
        """
        x = as_finite_array("x", x)
        factor = np.abs(x).max(axis=-1, keepdims=True) / 127
        safe = np.where(factor == 0, 1, factor)  # a row of zeros stays zeros, without 0 / 0
        return cls(frozen_copy(np.rint(x / safe).astype(np.int8)), frozen_copy(factor))

    @property
    def numbers(self) -> Array:
        """The dequantised numbers, each within half a step of the original."""
        return self.whole * self.factor

    @property
    def nbytes(self) -> int:
        """Size in bytes, with two bytes per factor."""
        return int(self.whole.size + 2 * self.factor.size)
