"""Measurements over random seeds: all values, their median, and its confidence interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_count, as_finite_array
from mha.core.option_checks import check_type

CONFIDENCE = 0.95
"""The confidence level of the interval of `SeedRuns`."""


@dataclass(frozen=True, eq=False)
class SeedRuns:
    """The values that were measured with each seed.

    Parameters
    ----------
    values : array_like, shape (num_seeds, ...)
        One value per seed.
    """

    values: Array

    def __post_init__(self) -> None:
        """Raise an error unless all values are finite numbers."""
        object.__setattr__(self, "values", as_finite_array("values", self.values, min_ndim=1))

    @property
    def median(self) -> Array:
        """The median over the seeds."""
        return np.median(self.values, axis=0)

    @property
    def interval(self) -> tuple[Array, Array]:
        """The confidence interval of the median over all seeds, between two of the measured values.

        The confidence level is at least 95 %, for any distribution of the values: the number of
        values below the median has a binomial distribution. With five seeds or fewer the interval
        goes from the smallest to the largest value, and its level is lower.
        """
        ordered, below = np.sort(self.values, axis=0), interval_rank(len(self.values))
        return ordered[below], ordered[-1 - below]

    def share(self, holds: Callable[[Array], ArrayLike]) -> str:
        """Return the text of the number of seeds for which a condition holds, such as "12 of 30".

        Parameters
        ----------
        holds : callable
            Takes the values of all seeds and returns a boolean for each.

        Returns
        -------
        str

        Raises
        ------
        TypeError, ValueError
            If `holds` is not callable, or does not return a boolean for each seed.
        """
        check_type("holds", holds, Callable)  # type: ignore[arg-type]
        found = np.asarray(holds(self.values))
        if found.dtype != bool or found.shape != self.values.shape[:1]:
            raise ValueError(
                f"holds returned {found.dtype} of shape {found.shape}; a boolean for each of "
                f"{len(self.values)} seeds is wanted"
            )
        return f"{int(found.sum())} of {len(found)}"


def over_seeds(
    measure: Callable[[Generator], ArrayLike], seeds: Iterable[int] = range(30)
) -> SeedRuns:
    """Call a function once per seed, and collect the values.

    Parameters
    ----------
    measure : callable
        Takes a Generator and returns a number or an array, always of the same shape.
    seeds : iterable of int, default 0 to 29
        To be chosen before the first run; no value is dropped.

    Returns
    -------
    SeedRuns

    Raises
    ------
    TypeError, ValueError
        If `measure` is not callable, there is no seed or a repeated one, the shapes differ, or a
        value is not finite.

    Examples
    --------
    >>> runs = over_seeds(lambda rng: rng.normal(size=100).mean())
    >>> runs.values.shape, runs.share(lambda means: np.abs(means) < 0.2)
    ((30,), '28 of 30')
    """
    check_type("measure", measure, Callable)  # type: ignore[arg-type]
    check_type("seeds", seeds, Iterable)
    numbers = [as_count("seed", seed, least=0) for seed in seeds]
    if len(set(numbers)) < len(numbers):
        raise ValueError("seeds has a seed twice; each counts once")
    found = [np.asarray(measure(np.random.default_rng(seed))) for seed in numbers]
    if len({value.shape for value in found}) > 1:
        raise ValueError("measure returned arrays of different shapes; one shape is wanted")
    return SeedRuns(np.array(found))


def interval_rank(num_seeds: int) -> int:
    """Return the number of values below the confidence interval, which is that above it too.

    Examples
    --------
    >>> [interval_rank(n) for n in (1, 6, 10, 30)]
    [0, 0, 1, 9]
    """
    # The probability that the median is below all values, or above all.
    outside, rank = 2 * 0.5**num_seeds, 0
    while True:
        outside += 2 * math.comb(num_seeds, rank + 1) * 0.5**num_seeds
        if outside > 1 - CONFIDENCE:
            return rank
        rank += 1
