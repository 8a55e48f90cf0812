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
    "no array": "gives no array of numbers",
}
"""The faults of an answer, and the words for each."""

KINDS_OF_NUMBERS = "biufO"
"""The kinds of NumPy's types that can be answers: complex numbers, text and dates cannot."""


@dataclass(frozen=True)
class Remark:
    """A sentence of ours, and apart from it the words of a student that belong to it."""

    said: str
    quoted: str = ""
    is_right: bool = False

    def __str__(self) -> str:
        return f"{self.said} {self.quoted}".rstrip()


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to one call: an array, or a fault with the student's words for it.

    `given` are the arguments after the call, which the function may have changed. A fault is a key
    of `FAULTS`, or words like those.
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
        value = np.empty(0) if self.value is None else self.value
        array = {"shape": value.shape, "numbers": value.ravel().tolist()}
        return array | {"given": as_json(self.given), "fault": self.fault, "quoted": self.quoted}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Answer":
        """Return the answer that a student's process sent.

        Raises
        ------
        ValueError
            If the data has another form than `as_json` gives; a student can send anything.
        """
        try:
            fault, quoted = data["fault"], str(data["quoted"])[:MOST_LETTERS]
            if type(fault) is str and fault in FAULTS:
                return cls(None, (), fault, quoted)
            shape, numbers = data["shape"], data["numbers"]
            is_array = fault == "" and len(shape) <= MOST_AXES and len(numbers) <= MOST_NUMBERS
            is_array &= all(type(number) in (int, float) for number in numbers)
            if is_array and all(type(size) is int and size >= 0 for size in shape):
                given = tuple(np.array(each, dtype=float) for each in data["given"])
                return cls(np.array(numbers, dtype=float).reshape(shape), given)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
            pass
        raise ValueError("the data is not an answer")


def as_json(given: Sequence[Any]) -> list[Any]:
    """Return arrays and numbers as values that JSON has."""
    return [each.tolist() if isinstance(each, np.ndarray) else each for each in given]


def call_function(function: Callable[..., Any], given: Sequence[Any]) -> Answer:
    """Return the answer of a function to arrays, of which it gets copies, and numbers."""
    copies = tuple(np.copy(each) if isinstance(each, np.ndarray) else each for each in given)
    try:
        with np.errstate(all="ignore"):
            found = function(*copies)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return Answer(None, copies, "stopped", describe_error(error))
    if found is None:
        return Answer(None, copies, "nothing")
    try:
        array = np.asarray(found)
        if array.size > MOST_NUMBERS:
            return Answer(None, copies, "large")
        if array.dtype.kind not in KINDS_OF_NUMBERS or np.ma.is_masked(found):
            return Answer(None, copies, "no array")
        return Answer(array.astype(float), copies)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the conversion runs methods of the student's objects
        return Answer(None, copies, "no array", describe_error(error))


def describe_error(error: BaseException) -> str:
    """Return the kind and message of an error, cut to `MOST_LETTERS`."""
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:  # the class is the student's, and so is its __str__
        text = "an error without a message"
    return text[:MOST_LETTERS].removesuffix(": ")
