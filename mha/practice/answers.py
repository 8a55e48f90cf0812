"""Answers of a student's function, which runs in this process or in its own.

Nothing else of `mha` is imported, so that a process that imports this module has no right answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_NUMBERS, MAX_AXES = 10_000, 8
"""The largest array that is accepted as an answer."""

MAX_TEXT_LENGTH = 300
"""The longest text of a student that is kept, in characters."""

FAULTS = {
    "stopped": "stops with an error",
    "nothing": "returns nothing",
    "missing": "is not written",
    "large": f"gives more than {MAX_NUMBERS:,} numbers",
    "no array": "gives no array of numbers",
}
"""The faults of an answer, and their descriptions."""

KINDS_OF_NUMBERS = "biufO"
"""NumPy's kinds of types that are accepted; complex numbers, text and dates are not."""


@dataclass(frozen=True)
class Remark:
    """A sentence about an answer, and separately the words of the student that it quotes."""

    sentence: str
    quoted: str = ""
    is_right: bool = False

    def __str__(self) -> str:
        return f"{self.sentence} {self.quoted}".rstrip()


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to one call: an array, or a fault and the text of the student's error.

    `given` has the arguments after the call, which the function may have changed. `fault` is a key
    of `FAULTS`, or a description of the same form as its values.
    """

    value: NDArray[np.float64] | None
    given: tuple[Any, ...] = ()
    fault: str = ""
    quoted: str = ""

    @property
    def fault_text(self) -> str:
        """The description of the fault."""
        return FAULTS.get(self.fault, self.fault)

    def as_json(self) -> dict[str, Any]:
        """Return the answer as values that can be written as JSON."""
        value = np.empty(0) if self.value is None else self.value
        array = {"shape": value.shape, "numbers": value.ravel().tolist()}
        return array | {"given": as_json(self.given), "fault": self.fault, "quoted": self.quoted}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Answer:
        """Return the answer that a student's process sent.

        Raises
        ------
        ValueError
            If the data does not have the form that `as_json` returns; a student can send anything.
        """
        try:
            fault, quoted = data["fault"], str(data["quoted"])[:MAX_TEXT_LENGTH]
            if type(fault) is str and fault in FAULTS:
                return cls(None, (), fault, quoted)
            shape, numbers = data["shape"], data["numbers"]
            is_array = fault == "" and len(shape) <= MAX_AXES and len(numbers) <= MAX_NUMBERS
            is_array &= all(type(number) in (int, float) for number in numbers)
            if is_array and all(type(size) is int and size >= 0 for size in shape):
                given = tuple(np.array(each, dtype=float) for each in data["given"])
                return cls(np.array(numbers, dtype=float).reshape(shape), given)
        except (KeyError, TypeError, ValueError, OverflowError, RecursionError):
            pass
        raise ValueError("the data is not an answer")


def as_json(given: Sequence[Any]) -> list[Any]:
    """Return arrays and numbers as values that can be written as JSON."""
    return [each.tolist() if isinstance(each, np.ndarray) else each for each in given]


def call_function(function: Callable[..., Any], given: Sequence[Any]) -> Answer:
    """Call a function with numbers and with copies of arrays, and return its answer."""
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
        if array.size > MAX_NUMBERS:
            return Answer(None, copies, "large")
        if array.dtype.kind not in KINDS_OF_NUMBERS or np.ma.is_masked(found):
            return Answer(None, copies, "no array")
        return Answer(array.astype(float), copies)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the conversion runs methods of the student's objects
        return Answer(None, copies, "no array", describe_error(error))


def describe_error(error: BaseException) -> str:
    """Return the kind and message of an error, cut to `MAX_TEXT_LENGTH`."""
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:  # the student may have written the class and its __str__
        text = "an error without a message"
    return text[:MAX_TEXT_LENGTH].removesuffix(": ")
