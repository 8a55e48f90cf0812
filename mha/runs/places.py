"""Addresses of the numbers of a run."""

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Self

import numpy as np

from mha.core.option_checks import as_string, check_type
from mha.runs.record import Trace
from mha.runs.stages import AXES, Stage, stage, stage_array


@dataclass(frozen=True, order=True)
class Place:
    """The address of one number: a stage, and the indices that its array has, counted from 0.

    Parameters
    ----------
    stage : str
        One of `mha.runs.stages.STAGES`.
    head, row, column : int, optional
        An index for each axis of the stage, and for no other. A row is a token; in a matrix it is
        a component of the vector that the matrix multiplies. A column is a component of a vector;
        in the stages `scores` to `weights` it is a key's token.
    term : int, optional
        Index of a term, for the address of one term of the sum that gives the number.

    Raises
    ------
    TypeError, ValueError
        If there is no such stage, an index is missing or not of the stage, or an index is not a
        whole number of at least 0.

    Examples
    --------
    >>> str(Place("scores", head=0, row=1, column=2))
    'scores.0.1.2'
    >>> Place("output", row=1, column=2, term=5) == Place.parse("output.1.2:5")
    True
    """

    stage: str
    head: int | None = None
    row: int | None = None
    column: int | None = None
    term: int | None = None

    def __post_init__(self) -> None:
        axes = self.stage_entry.axes
        for axis in AXES:
            index = getattr(self, axis)
            if (index is None) == (axis in axes):
                wanted = ", ".join(axes) or "no index"
                fault = f"{axis} is missing" if index is None else f"no {axis} is wanted"
                raise ValueError(f"{self.stage} has {wanted}; {fault}")
        for name in (*axes, *([] if self.term is None else ["term"])):
            self._check(name)

    def _check(self, name: str) -> None:
        """Raise unless an index is a whole number of at least 0; keep it as a plain int."""
        index = getattr(self, name)
        if type(index) is int and index >= 0:
            return
        if isinstance(index, bool) or not isinstance(index, int | np.integer):
            raise TypeError(f"{name} is {index!r}; a whole number is wanted")
        if index < 0:
            raise ValueError(f"{name} is {index}; a number of at least 0 is wanted")
        object.__setattr__(self, name, int(index))

    @classmethod
    def at(cls, stage_name: str, *index: int, term: int | None = None) -> Self:
        """Return the place at these indices, exactly one for each axis that the stage has.

        Parameters
        ----------
        stage_name : str
        index : int
            In the order of the axes: head, row, column.
        term : int, optional

        Returns
        -------
        Place

        Raises
        ------
        TypeError, ValueError
            If there is no such stage, or the index does not fit it.

        Examples
        --------
        >>> Place.at("row_sums", 0, 2)
        Place(stage='row_sums', head=0, row=2, column=None, term=None)
        """
        axes = stage(stage_name).axes
        if len(index) != len(axes):
            wanted = ", ".join(axes) or "no index"
            given = "1 index is" if len(index) == 1 else f"{len(index)} indices are"
            raise ValueError(f"{stage_name} has {wanted}; {given} given")
        return cls(stage_name, **dict(zip(axes, index, strict=True)), term=term)

    @classmethod
    def of(cls, stage_name: str, head: int, row: int, column: int) -> Self:
        """Return the place at those of three indices for which the stage has an axis.

        Parameters
        ----------
        stage_name : str
        head, row, column : int
            An index for which the stage has no axis is ignored, whereas `Place.at` refuses it.

        Returns
        -------
        Place

        Raises
        ------
        TypeError, ValueError
            If there is no such stage, or an index is no whole number of at least 0.

        Examples
        --------
        >>> str(Place.of("output", 0, 1, 2)), str(Place.of("row_sums", 0, 1, 2))
        ('output.1.2', 'row_sums.0.1')
        """
        given = {"head": head, "row": row, "column": column}
        return cls(stage_name, **{axis: given[axis] for axis in stage(stage_name).axes})

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the place of an address such as ``scores.0.1.2``; the inverse of `str`.

        Parameters
        ----------
        text : str
            The stage, its indices in the order head, row, column, and after a colon the term.

        Returns
        -------
        Place

        Raises
        ------
        TypeError, ValueError
            If the text is no address.

        Examples
        --------
        >>> Place.parse("root")
        Place(stage='root', head=None, row=None, column=None, term=None)
        """
        number = r"(?:0|[1-9][0-9]*)"
        match = re.fullmatch(
            rf"([a-z_]+)((?:\.{number})*)(?::({number}))?", as_string("place", text)
        )
        if match is None:
            raise ValueError(f"place is {text!r}; an address such as scores.0.1.2 is wanted")
        name, index, term = match.groups()
        indices = map(int, index.split(".")[1:])
        return cls.at(name, *indices, term=None if term is None else int(term))

    def __str__(self) -> str:
        """Return the address, which `parse` reads."""
        term = "" if self.term is None else f":{self.term}"
        return ".".join([self.stage, *map(str, self.index)]) + term

    @property
    def stage_entry(self) -> Stage:
        """The entry of the stage in `mha.runs.stages.STAGES`."""
        return stage(self.stage)

    @property
    def kind(self) -> Stage:
        """The former name of `stage_entry`, which warns."""
        message = (
            "Place.kind is now Place.stage_entry. The next version of mha has only the new name."
        )
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.stage_entry

    @property
    def index(self) -> tuple[int, ...]:
        """The index into the stage's array."""
        return tuple(i for i in (self.head, self.row, self.column) if i is not None)

    @property
    def whole(self) -> Self:
        """The place without its term: the place of the whole sum."""
        return replace(self, term=None)

    def value(self, run: Trace) -> float:
        """Return the number of a run at this place.

        Parameters
        ----------
        run : Trace

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If the run has no such number, or does not keep it in an array: a term of a sum, a
            percentage, the root of d_k. `mha.origin` evaluates these three.

        Examples
        --------
        >>> from mha import load_example, trace
        >>> Place.parse("scores.0.1.1").value(trace(load_example("cat-sat")))
        2.0
        """
        check_type("run", run, Trace)
        if self.term is not None:
            raise ValueError(f"{self} is a term of a sum; a number that a run keeps is wanted")
        array = stage_array(run, self.stage)
        try:
            return float(array[self.index])
        except IndexError:
            raise ValueError(
                f"{self.stage} has shape {array.shape}; index {self.index} is outside it"
            ) from None


PrintedNumbers = Callable[[Place], Sequence[tuple[str, bool]]]
"""A function that takes a place and returns the numbers that a source prints for it.

Each is a pair: the number as printed, and whether it agrees with the computed one.
`mha.audit.judging.Prints` is such a function.
"""


@lru_cache(maxsize=1 << 14)
def cached_place(stage_name: str, *index: int) -> Place:
    """Return the place at these indices, from a cache, because tables and sums need many.

    Parameters
    ----------
    stage_name : str
    index : int
        As for `Place.at`, but of type int: True and 1.0 equal 1 as keys of the cache, and would get
        its place instead of an error.
    """
    return Place.at(stage_name, *index)


def stage_places(run: Trace, stage_name: str) -> Iterator[Place]:
    """Yield the place of every number of one stage of a run, row by row.

    Parameters
    ----------
    run : Trace
    stage_name : str

    Yields
    ------
    Place

    Raises
    ------
    ValueError
        If there is no such stage, or the run does not have it.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> [str(place) for place in stage_places(trace(load_example("cat-sat")), "row_sums")]
    ['row_sums.0.0', 'row_sums.0.1']
    """
    for index in np.ndindex(stage_array(run, stage_name).shape):
        yield cached_place(stage_name, *index)
