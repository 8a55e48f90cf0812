"""Answers of a student's function, wherever it runs: here, or in a process of its own.

Nothing else of `mha` is imported, so that a process with this module holds no right answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_NUMBERS, MOST_AXES = 10_000, 8
"""The size of the largest array that is an answer."""

MOST_LETTERS = 300
"""The length of the longest text of a student that is kept."""

FAULTS = {
    "stopped": "stops with an error",
    "nothing": "returns nothing",
    "missing": "is not written",
    "large": f"gives more than {MOST_NUMBERS:,} numbers",
    "no array": "gives no array",
}
"""The faults of an answer, and the words for each."""


@dataclass(frozen=True)
class Remark:
    """A sentence on a student's program, and the student's own words apart from it.

    Parameters
    ----------
    said : str
    quoted : str, default ""
        An error's message, or the name of a file: any text, which no one may take for `said`.
    is_right : bool, default False
        Whether the sentence says that a step is right.

    Examples
    --------
    >>> print(Remark("The function stops with an error.", "ValueError: axis 2"))
    The function stops with an error. ValueError: axis 2
    """

    said: str
    quoted: str = ""
    is_right: bool = False

    def __str__(self) -> str:
        return f"{self.said} {self.quoted}".rstrip()


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to one call of a function: an array or a fault.

    Parameters
    ----------
    value : ndarray or None
        None if there is a fault.
    given : tuple
        The arguments after the call, which the function may have changed.
    fault : str, default ""
        A key of `FAULTS`, or words like those.
    quoted : str, default ""
        The student's own words: the kind and message of an error.
    """

    value: NDArray[np.float64] | None
    given: tuple[Any, ...] = ()
    fault: str = ""
    quoted: str = ""

    @property
    def said(self) -> str:
        """The words for the fault."""
        return FAULTS.get(self.fault, self.fault)

    def as_json(self) -> dict[str, Any]:
        """Return the answer as values that JSON has."""
        value = self.value
        return {
            "shape": None if value is None else value.shape,
            "numbers": None if value is None else value.ravel().tolist(),
            "given": as_json(self.given),
            "fault": self.fault,
            "quoted": self.quoted,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Answer":
        """Return the answer that a student's process sent, which may be anything."""
        try:
            if fault := data["fault"]:
                is_known = type(fault) is str and fault in FAULTS
                quoted = str(data["quoted"])[:MOST_LETTERS]
                return cls(None, (), fault if is_known else "no array", quoted)
            shape, numbers = data["shape"], data["numbers"]
            if len(shape) > MOST_AXES or len(numbers) > MOST_NUMBERS:
                raise ValueError
            if not all(type(number) in (int, float) for number in numbers):
                raise TypeError
            if not all(type(size) is int and size >= 0 for size in shape):
                raise TypeError
            given = tuple(np.array(each, dtype=float) for each in data["given"])
            return cls(np.array(numbers, dtype=float).reshape(shape), given)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
            return cls(None, (), "no array")


def as_json(given: Sequence[Any]) -> list[Any]:
    """Return arrays and numbers as values that JSON has."""
    return [each.tolist() if isinstance(each, np.ndarray) else each for each in given]


def call_function(function: Callable[..., Any], given: Sequence[Any]) -> Answer:
    """Return the answer of a function to arrays, of which it gets copies.

    Parameters
    ----------
    function : callable
    given : sequence of ndarray and int

    Returns
    -------
    Answer
    """
    copies = tuple(np.copy(each) if isinstance(each, np.ndarray) else each for each in given)
    try:
        with np.errstate(all="ignore"):
            found = function(*copies)
        if found is None:
            return Answer(None, copies, "nothing")
        value = np.array(found, dtype=float)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Answer(None, copies, "stopped", describe_error(error))
    if value.size > MOST_NUMBERS:
        return Answer(None, copies, "large")
    return Answer(value, copies)


def describe_error(error: BaseException) -> str:
    """Return the kind and message of an error, cut to `MOST_LETTERS`."""
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:  # the class is the student's, and so is its __str__
        text = "an error without a message"
    return text[:MOST_LETTERS].removesuffix(": ")
