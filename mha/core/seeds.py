"""What is measured over seeds: all runs, their median, and between which bounds it lies."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from mha.core.checks import Array, as_count, as_finite_array
from mha.core.option_checks import check_kind

SURE = 0.95
"""How often the interval of `SeedRuns` holds the median, at least."""


@dataclass(frozen=True, eq=False)
class SeedRuns:
    """What was measured with each seed.

    Parameters
    ----------
    values : array_like, shape (num_seeds, ...)
        What each seed gave.
    """

    values: Array

    def __post_init__(self) -> None:
        """Refuse values that are no finite numbers."""
        object.__setattr__(self, "values", as_finite_array("values", self.values, min_ndim=1))

    @property
    def median(self) -> Array:
        """The median over the seeds."""
        return np.median(self.values, axis=0)

    @property
    def interval(self) -> tuple[Array, Array]:
        """Two of the measured values between which the median of all seeds lies, 19 times in 20.

        Nothing is assumed of how the values are spread: the number of values below the median is
        that of heads among tosses of a coin. With five seeds or fewer the two are the lowest and
        the highest, and less sure.
        """
        ordered, below = np.sort(self.values, axis=0), interval_rank(len(self.values))
        return ordered[below], ordered[-1 - below]

    def share(self, holds: Callable[[Array], ArrayLike]) -> str:
        """Return of how many seeds something holds, such as "12 of 30".

        Parameters
        ----------
        holds : callable
            Given the values of all seeds, returns a boolean for each.

        Returns
        -------
        str

        Raises
        ------
        TypeError, ValueError
            If `holds` cannot be called, or gives anything but a boolean for each seed.
        """
        check_kind("holds", holds, Callable)  # type: ignore[arg-type]
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
    """Measure with each seed.

    Parameters
    ----------
    measure : callable
        Given a Generator, returns a number or an array, of the same shape each time.
    seeds : iterable of int, default 0 to 29
        Chosen before the first run; all of them are kept.

    Returns
    -------
    SeedRuns

    Raises
    ------
    TypeError, ValueError
        If `measure` cannot be called, there is no seed or one twice, or shapes or values do not do.

    Examples
    --------
    >>> runs = over_seeds(lambda rng: rng.normal(size=100).mean())
    >>> runs.values.shape, runs.share(lambda means: np.abs(means) < 0.2)
    ((30,), '28 of 30')
    """
    check_kind("measure", measure, Callable)  # type: ignore[arg-type]
    check_kind("seeds", seeds, Iterable)
    numbers = [as_count("seed", seed, least=0) for seed in seeds]
    if len(set(numbers)) < len(numbers):
        raise ValueError("seeds has a seed twice; each counts once")
    found = [np.asarray(measure(np.random.default_rng(seed))) for seed in numbers]
    if len({value.shape for value in found}) > 1:
        raise ValueError("measure returned arrays of different shapes; one shape is wanted")
    return SeedRuns(np.array(found))


def interval_rank(num_seeds: int) -> int:
    """Return how many of the lowest values, and of the highest, lie outside the interval.

    Examples
    --------
    >>> [interval_rank(n) for n in (1, 6, 10, 30)]
    [0, 0, 1, 9]
    """
    outside, rank = 2 * 0.5**num_seeds, 0
    while True:
        outside += 2 * math.comb(num_seeds, rank + 1) * 0.5**num_seeds
        if outside > 1 - SURE:
            return rank
        rank += 1
