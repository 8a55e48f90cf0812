"""Numbers that record the places of a run from which they are computed, and their format."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.core.softmax import softmax
from mha.runs import rounding
from mha.runs.places import cached_place
from mha.runs.record import Trace
from mha.runs.stages import STAGES

MAX_FORMULA_LENGTH, MAX_ARRAY_SIZE = 400, 4096  # characters of a formula, numbers of an array
FIXED = "own"  # the format of a text with the book's own numbers, which is marked, not rewritten
WRITERS = (
    "shown", "short", "percent", "at_least", "at_most", "at_least_percent", "at_most_percent",
)  # fmt: skip
MARK = re.compile("\ue000([^\ue001]*)\ue001([^\ue002]*)\ue001([^\ue002]*)\ue002")

TextPart = tuple[str, str, str]
"""A piece of text with the formula and the format of its number; "" twice without a number."""


class UntracedError(Exception):
    """Raised if a value is not a function of the places of one run."""


class TracedNumber:
    """A number with the formula by which it follows from a run.

    The formula is in postfix notation: ``weights.0.2.1 2 *``.
    """

    def __init__(self, value: float, formula: str) -> None:
        if len(formula) > MAX_FORMULA_LENGTH:
            raise UntracedError
        self.value, self.formula = value, formula

    def __float__(self) -> float:
        raise UntracedError  # its formula would be lost

    __int__ = __bool__ = __index__ = __str__ = __repr__ = __float__  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise UntracedError  # formulas have no equality, since numbers have rounding errors

    def __format__(self, format_spec: str) -> str:
        """Return the number's text between marks that contain its formula."""
        if not (found := re.fullmatch(r"\.(\d+)f", format_spec)):
            raise UntracedError
        return mark(format(self.value, format_spec), self, f"shown:{found[1]}")

    def exp(self) -> TracedNumber:
        """Return the exponential of this number, for `numpy.exp`."""
        return TracedNumber(math.exp(self.value), f"{self.formula} exp")

    def sqrt(self) -> TracedNumber:
        """Return the square root of this number, for `numpy.sqrt`."""
        return TracedNumber(math.sqrt(self.value), f"{self.formula} sqrt")

    def __abs__(self) -> TracedNumber:
        return TracedNumber(abs(self.value), f"{self.formula} abs")

    def __neg__(self) -> TracedNumber:
        return TracedNumber(-self.value, f"0 {self.formula} -")


def _operation(sign: str, compute: Callable[[Any, Any], Any], *, reflected: bool = False) -> Any:
    def method(self: TracedNumber, other: object) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        left, right = (other, self) if reflected else (self, other)
        value = compute(*(x.value if isinstance(x, TracedNumber) else x for x in (left, right)))
        return TracedNumber(value, f"{_formula(left)} {_formula(right)} {sign}")

    return method


for _name, _sign in {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}.items():
    setattr(TracedNumber, f"__{_name}__", _operation(_sign, getattr(operator, _name)))
    setattr(
        TracedNumber, f"__r{_name}__", _operation(_sign, getattr(operator, _name), reflected=True)
    )
for _name, _sign in {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}.items():
    setattr(TracedNumber, f"__{_name}__", _operation(_sign, getattr(operator, _name)))


def _scalar(value: Any) -> Any:
    """Return the element of an array without axes, which NumPy returns for a dot product."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _formula(value: object) -> str:
    value = _scalar(value)
    if isinstance(value, TracedNumber):
        return value.formula
    if isinstance(value, int | float | np.integer | np.floating) and math.isfinite(value):
        return f"{float(value):.17g}"
    raise UntracedError


def mark(text: str, value: TracedNumber, format_name: str) -> str:
    """Return a text with marks around it that contain the number's formula and its format."""
    return f"\ue000{value.formula}\ue001{format_name}\ue001{text}\ue002"


def _maximum(*values: Any) -> Any:
    """Return the largest of some numbers, traced or not."""
    operands = list(values[0]) if len(values) == 1 else list(values)
    if not any(isinstance(value, TracedNumber) for value in operands):
        return max(operands)
    first, *others = map(_formula, operands)
    formula = " ".join([first, *(f"{other} max" for other in others)])
    return TracedNumber(
        max(x.value if isinstance(x, TracedNumber) else x for x in operands), formula
    )


class TracedArray(np.ndarray):
    """An array of traced numbers; `max`, `min` and `sum` give formulas."""

    def max(self, axis: object = None, *_: object, **__: object) -> Any:
        """Return the largest number."""
        if axis is not None:
            raise UntracedError
        return _maximum(self.ravel())

    def min(self, axis: object = None, *_: object, **__: object) -> Any:
        """Return the smallest number."""
        return -(-self).max(axis=axis)

    def sum(self, axis: Any = None, *_: object, **__: object) -> Any:
        """Return the sum of all numbers, or of the numbers along an axis."""
        return _scalar(super().sum(axis=axis))


def stage_arrays(run: Trace) -> Iterator[tuple[str, Array]]:
    """Yield the name and the array of each of a run's stages."""
    for name, stage in STAGES.items():
        array = stage.array(run)
        if stage.axes and isinstance(array, np.ndarray) and array.dtype == float and array.size:
            yield name, array


def traced_array(array: Array, run: Trace) -> TracedArray:
    """Return an array as traced numbers; it must be a view of a stage's array."""
    for name, whole in stage_arrays(run):
        if not np.may_share_memory(array, whole):
            continue
        if array.size > MAX_ARRAY_SIZE or not whole.flags.c_contiguous:
            raise UntracedError
        found = np.empty(array.shape, dtype=object)
        begin = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        for index in np.ndindex(array.shape):
            offset = begin + sum(i * step for i, step in zip(index, array.strides, strict=True))
            index_in_stage = np.unravel_index(offset // array.itemsize, whole.shape)
            place = cached_place(name, *map(int, index_in_stage))
            found[index] = TracedNumber(float(array[index]), str(place))
        return found.view(TracedArray)
    raise UntracedError


def _softmax(scores: Any, **_: object) -> Any:
    """Return the softmax of one row of traced scores."""
    if not isinstance(scores, TracedArray):
        return softmax(scores)
    if scores.ndim != 1:
        raise UntracedError
    powers = np.exp(scores)
    return (powers / powers.sum()).view(TracedArray)


def _writer(name: str) -> Callable[..., str]:
    """Return a formatting function that marks the text of a traced number."""
    write = getattr(rounding, name)
    default = 4 if name in ("shown", "short") else 0

    def written(value: Any, places: int = default) -> str:
        value = _scalar(value)
        if not isinstance(value, TracedNumber):
            return str(write(value, places))
        return mark(str(write(value.value, places)), value, f"{name}:{places}")

    return written


def _as_integer(value: Any) -> Any:
    """Return a whole number as text; a traced one may change."""
    if not isinstance(value, TracedNumber):
        return int(value)
    return mark(str(int(value.value)), value, "short:4")


TRACED_FUNCTIONS = {name: _writer(name) for name in WRITERS} | {"softmax": _softmax}
"""Functions of `mha` that accept traced numbers, by name."""

BUILT_IN = {"max": _maximum, "int": _as_integer, "bool": lambda value: value}


def split_marked(text: str) -> list[TextPart]:
    """Return a marked text as a list of texts and numbers."""
    before, *pieces = MARK.split(text)
    parts = [(before, "", "")] if pieces else []
    for at in range(0, len(pieces), 4):
        formula, format_name, written, after = pieces[at : at + 4]
        parts += [(written, formula, format_name), (after, "", "")]
    return [part for part in parts if any(part)]
