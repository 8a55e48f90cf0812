"""Numbers of a page's text that are numbers of a run, and how they follow from it.

An expression such as ``percent(run.weights[0, 2, 1])`` is worked out a second time with numbers
that know their place: what it says is then a text with marked numbers, each with a formula of
places and a way of writing it. A text that comes out otherwise than the first time is not tied, nor
one that depends on anything but one run, whole numbers and what stands in the expression.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from types import ModuleType
from typing import Any

import numpy as np

import mha
from mha.core.checks import Array
from mha.runs.places import Place, place_at
from mha.runs.record import Trace
from mha.runs.stages import STAGES

LONGEST, LARGEST = 400, 4096  # characters of a formula, numbers of an array
OWN = "own"  # how what does not follow is written: as it stands
WRITERS = (
    "shown", "short", "percent", "at_least", "at_most", "at_least_percent", "at_most_percent",
)  # fmt: skip
MARK = re.compile("\ue000([^\ue001]*)\ue001([^\ue002]*)\ue001([^\ue002]*)\ue002")

Part = tuple[str, str, str]
"""A piece of a text; the formula of a number, and how it is written, else both empty."""


class UntiedError(Exception):
    """What an expression gives is not told by places of one run."""


class Tied:
    """A number that knows how it follows from a run.

    Its formula is in the order in which a stack works it out: ``weights.0.2.1 2 *``.
    """

    def __init__(self, value: float, formula: str) -> None:
        if len(formula) > LONGEST:
            raise UntiedError
        self.value, self.formula = value, formula

    def __float__(self) -> float:
        raise UntiedError  # its formula would be lost

    __int__ = __bool__ = __index__ = __str__ = __repr__ = __float__  # type: ignore[assignment]

    def __format__(self, how: str) -> str:
        """Return the number as a marked text."""
        if not (found := re.fullmatch(r"\.(\d+)f", how)):
            raise UntiedError
        return _marked(format(self.value, how), self, f"shown:{found[1]}")

    def exp(self) -> Tied:
        """Return e to this number, for `numpy.exp`."""
        return Tied(math.exp(self.value), f"{self.formula} exp")

    def sqrt(self) -> Tied:
        """Return the root of this number, for `numpy.sqrt`."""
        return Tied(math.sqrt(self.value), f"{self.formula} sqrt")

    def __abs__(self) -> Tied:
        return Tied(abs(self.value), f"{self.formula} abs")

    def __neg__(self) -> Tied:
        return Tied(-self.value, f"0 {self.formula} -")


def _operation(sign: str, act: Callable[[Any, Any], Any], *, turned: bool = False) -> Any:
    def method(self: Tied, other: object) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        left, right = (other, self) if turned else (self, other)
        value = act(*(x.value if isinstance(x, Tied) else x for x in (left, right)))
        return Tied(value, f"{_formula(left)} {_formula(right)} {sign}")

    return method


for _name, _sign in {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}.items():
    setattr(Tied, f"__{_name}__", _operation(_sign, getattr(operator, _name)))
    setattr(Tied, f"__r{_name}__", _operation(_sign, getattr(operator, _name), turned=True))
for _name, _sign in {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}.items():
    setattr(Tied, f"__{_name}__", _operation(_sign, getattr(operator, _name)))


def _one(value: Any) -> Any:
    """Return the number of an array without axes: NumPy gives one for a dot product."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def _formula(value: object) -> str:
    value = _one(value)
    if isinstance(value, Tied):
        return value.formula
    if isinstance(value, int | float | np.integer | np.floating) and math.isfinite(value):
        return f"{float(value):.17g}"
    raise UntiedError


def _marked(text: str, value: Tied, how: str) -> str:
    return f"\ue000{value.formula}\ue001{how}\ue001{text}\ue002"


def _largest(*values: Any) -> Any:
    """Return the largest of some numbers, tied or not."""
    those = list(values[0]) if len(values) == 1 else list(values)
    if not any(isinstance(value, Tied) for value in those):
        return max(those)
    first, *others = map(_formula, those)
    formula = " ".join([first, *(f"{other} max" for other in others)])
    return Tied(max(x.value if isinstance(x, Tied) else x for x in those), formula)


class Numbers(np.ndarray):
    """An array of tied numbers: what would choose among them by their values does so by formula."""

    def max(self, axis: object = None, *_: object, **__: object) -> Any:
        """Return the largest number of all."""
        if axis is not None:
            raise UntiedError
        return _largest(self.ravel())

    def min(self, axis: object = None, *_: object, **__: object) -> Any:
        """Return the smallest number of all."""
        return -(-self).max(axis=axis)

    def sum(self, axis: Any = None, *_: object, **__: object) -> Any:
        """Return the sum of all numbers, or of those along an axis."""
        return _one(super().sum(axis=axis))


def _softmax(scores: Any, **_: object) -> Any:
    """Return the shares of one row of tied scores."""
    if not isinstance(scores, Numbers):
        return mha.softmax(scores)
    if scores.ndim != 1:
        raise UntiedError
    powers = np.exp(scores)
    return (powers / powers.sum()).view(Numbers)


# ---- What an expression sees: the objects that it names, with the tied numbers of one run ----


def arrays_of(run: Trace) -> Iterator[tuple[str, Array]]:
    """Yield the names of a run's stages, each with its numbers."""
    for name, stage in STAGES.items():
        array = stage.array(run)
        if stage.axes and isinstance(array, np.ndarray) and array.dtype == float and array.size:
            yield name, array


def _tied(array: Array, run: Trace) -> Numbers | None:
    """Return an array's numbers with their places, if its memory is that of a stage of the run."""
    for name, whole in arrays_of(run):
        if not np.may_share_memory(array, whole):
            continue
        if array.size > LARGEST or not whole.flags.c_contiguous:
            raise UntiedError
        found = np.empty(array.shape, dtype=object)
        begin = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        for index in np.ndindex(array.shape):
            offset = begin + sum(i * step for i, step in zip(index, array.strides, strict=True))
            where = np.unravel_index(offset // array.itemsize, whole.shape)
            place = place_at(name, *map(int, where))
            found[index] = Tied(float(array[index]), str(place))
        return found.view(Numbers)
    return None


class Seen:
    """An object, or a list of them, whose arrays are seen with their places."""

    def __init__(self, thing: Any, view: View) -> None:
        self._thing, self._view = thing, view

    def __getattr__(self, name: str) -> Any:
        """Return what the object has under a name, as it is seen."""
        return self._view.of(getattr(self._thing, name))

    def __getitem__(self, index: int) -> Any:
        """Return an item of the list, as it is seen."""
        return self._view.of(self._thing[index])


class View:
    """How an expression sees what it names: the numbers of the run know their places."""

    def __init__(self, run: Trace) -> None:
        self.run = run
        self.known: dict[tuple[object, ...], Numbers] = {}  # by where it is in memory
        self.asked: set[str] = set()  # the stages whose numbers an expression makes something of

    def of(self, thing: Any) -> Any:
        """Return what stands for an object."""
        if isinstance(thing, np.ndarray) and thing.dtype == float:
            where = (thing.__array_interface__["data"], thing.shape, thing.strides)
            if (tied := self.known.get(where)) is None and (tied := _tied(thing, self.run)) is None:
                raise UntiedError
            self.asked |= {one.formula.split(".")[0] for one in tied.flat[:1]}
            return self.known.setdefault(where, tied)
        is_other = isinstance(thing, Trace | type) and thing is not self.run
        if (is_dataclass(thing) and not is_other) or isinstance(thing, list | tuple):
            return Seen(thing, self)
        if callable(thing) or isinstance(thing, ModuleType | int | str | slice | np.integer):
            return thing
        raise UntiedError


# ---- The expression, worked out with these ----


def _writer(name: str) -> Callable[..., str]:
    """Return a function of `mha` that writes a number, and marks the text of a tied one."""
    write = getattr(mha, name)
    default = 4 if name in ("shown", "short") else 0

    def written(value: Any, places: int = default) -> str:
        value = _one(value)
        if not isinstance(value, Tied):
            return str(write(value, places))
        return _marked(str(write(value.value, places)), value, f"{name}:{places}")

    return written


def _whole(value: Any) -> Any:
    """Return a whole number, written; a tied one may become another."""
    if not isinstance(value, Tied):
        return int(value)
    return _marked(str(int(value.value)), value, "short:4")


class _Line(str):
    """A line of arithmetic, seen."""

    result: str


def _arithmetic(
    run: Any, stage: str, row: Any, column: int = 0, *, head: int = 0, places: int = 4
) -> _Line:
    """Return a line that is tied as a whole: to the number that it works out."""
    if not isinstance(run, Seen) or not isinstance(run._thing, Trace):
        raise UntiedError
    line = mha.arithmetic(run._thing, stage, row, column, head=head, places=places)
    place = Place.of(stage, head, row, column)
    value = Tied(math.nan, str(place))
    how = "short" if stage not in ("exponentials", "row_sums", "weights") else "shown"
    seen = _Line(_marked(str(line), value, f"line:{places}"))
    seen.result = _marked(line.result, value, f"{how}:{places}")
    return seen


SEEN = {name: _writer(name) for name in WRITERS} | {
    "arithmetic": _arithmetic, "softmax": _softmax,
}  # fmt: skip


def parts_of(expression: str, view: View, names: dict[str, Any]) -> list[Part]:
    """Return what an expression says, in parts; none where no number of it is the run's.

    `names` has what is defined where it stands.

    Examples
    --------
    >>> run = mha.trace(mha.load_example("cat-sat"))
    >>> parts_of("shown(run.weights[0, 0, 1])", View(run), {"run": run, "shown": mha.shown})
    [('0.2689', 'weights.0.0.1', 'shown:4')]
    """
    view.asked = set()
    try:
        tree = ast.parse(expression, mode="eval")
        own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        seen = {
            name: SEEN[name] if names[name] is getattr(mha, name, None) else view.of(names[name])
            for name in own & names.keys()
        }
        seen |= {"max": _largest, "int": _whole, "bool": lambda value: value}
        said = eval(compile(tree, "<expression>", "eval"), seen)
    except Exception:  # whatever it asks of tied numbers that they have not
        return []
    if isinstance(said, list) and isinstance(said[0], Tied):  # a claim, and what it is now
        now = _split(str(said[1]))
        return [("", said[0].formula, "holds"), *now[:1]]
    parts = _split(said) if isinstance(said, str) else []
    if isinstance(said, list) and isinstance(said[0], Seen):  # a run alone stands for all it has
        view.asked = set(STAGES)
    elif parts:
        view.asked = {word.split(".")[0] for part in parts for word in part[1].split()}
    elif not isinstance(said, Tied):  # how many numbers there are does not depend on them
        view.asked = set()
    return parts


def _split(text: str) -> list[Part]:
    """Return a marked text in parts."""
    parts: list[Part] = []
    end = 0
    for found in MARK.finditer(text):
        parts += [(text[end : found.start()], "", "")] * (found.start() > end)
        parts.append((found[3], found[1], found[2]))
        end = found.end()
    return [*parts, *[(text[end:], "", "")] * (end < len(text))] if parts else []
