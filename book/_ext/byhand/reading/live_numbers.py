"""Numbers of a page's text that follow a run shown by an interactive figure of the page.

An expression such as ``percent(run.weights[0, 2, 1])`` is evaluated a second time with the
`traced_numbers` of each run of the page, which gives a text with marked numbers. A number stays
fixed if this text differs from that of the first evaluation, or if the expression depends on
anything but one run, whole numbers and its own constants.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import is_dataclass
from types import ModuleType
from typing import Any

import numpy as np

from byhand.reading.traced_numbers import (
    BUILT_IN,
    FIXED,
    TRACED_FUNCTIONS,
    TextPart,
    TracedArray,
    TracedNumber,
    UntracedError,
    mark,
    split_marked,
    stage_arrays,
    traced_array,
)
from mha import public_names
from mha.runs.origins import is_given
from mha.runs.places import Place
from mha.runs.record import Trace
from mha.runs.stages import STAGES
from mha.views.arithmetic import arithmetic
from mha.widgets.instrument import Explorer

VIEWS_WITHOUT_NUMBERS = {
    "flow",
    "lanes",
    "readings",
    "shapes",
}  # views that show no number of a run


# ---- The names of an expression, with the traced numbers of one run ----


class TracedObject:
    """An object, or a list of objects, whose arrays are returned as traced numbers."""

    def __init__(self, wrapped: Any, names: TracedNames) -> None:
        self._wrapped, self._names = wrapped, names

    def __getattr__(self, name: str) -> Any:
        """Return an attribute; arrays of the run are traced."""
        return self._names.wrap(getattr(self._wrapped, name))

    def __getitem__(self, index: int) -> Any:
        """Return an item of a list; objects in it are wrapped."""
        return self._names.wrap(self._wrapped[index])


def is_traced_object(value: object) -> bool:
    """Return whether a value is a wrapped object and not a wrapped list."""
    return isinstance(value, TracedObject) and not isinstance(value._wrapped, list | tuple)


class TracedNames:
    """The names of an expression, with the arrays of one run replaced by traced numbers."""

    def __init__(self, run: Trace) -> None:
        self.run = run
        self.arrays: dict[tuple[object, ...], TracedArray] = {}  # by position in memory, and shape
        self.stages: set[str] = set()  # the stages whose numbers the last expression used

    def wrap(self, value: Any) -> Any:
        """Return the wrapper of an object, or the traced numbers of an array."""
        if isinstance(value, np.ndarray) and value.dtype == float:
            where = (value.__array_interface__["data"], value.shape, value.strides)
            if where not in self.arrays:
                self.arrays[where] = traced_array(value, self.run)
            self.stages |= {one.formula.split(".")[0] for one in self.arrays[where].flat[:1]}
            return self.arrays[where]
        is_excluded = isinstance(value, Trace | type) and value is not self.run
        if (is_dataclass(value) and not is_excluded) or isinstance(value, list | tuple):
            return TracedObject(value, self)
        if callable(value) or isinstance(value, ModuleType | int | str | slice | np.integer):
            return value
        raise UntracedError


class _Line(str):
    """A line of arithmetic that follows a run."""

    result: str


def _arithmetic(
    run: Any,
    stage: str,
    row: Any,
    column: int = 0,
    *,
    head: int = 0,
    places: int = 4,
) -> _Line:
    """Return a line of arithmetic with the place of its result."""
    if not isinstance(run, TracedObject) or not isinstance(run._wrapped, Trace):
        raise UntracedError
    line = arithmetic(run._wrapped, stage, row, column, head=head, places=places)
    place = Place.of(stage, head, row, column)
    value = TracedNumber(math.nan, str(place))
    format_name = "short" if stage not in ("exponentials", "row_sums", "weights") else "shown"
    traced = _Line(mark(str(line), value, f"line:{places}"))
    traced.result = mark(line.result, value, f"{format_name}:{places}")
    return traced


FUNCTIONS = TRACED_FUNCTIONS | {"arithmetic": _arithmetic}


def traced_parts(expression: str, traced: TracedNames, names: dict[str, Any]) -> list[TextPart]:
    """Return the text of an expression in parts, or none if it contains no number of the run.

    `names` are the names defined where the expression is evaluated.
    """
    traced.stages = set()
    try:
        tree = ast.parse(expression, mode="eval")
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & names.keys()
        of_mha = {name for name in used if names[name] is getattr(public_names, name, None)}
        for name in used - of_mha:  # note the stages of all, even if one belongs to another run
            with suppress(UntracedError):
                traced.wrap(names[name])
        variables = {name: traced.wrap(names[name]) for name in used - of_mha}
        functions = {name: FUNCTIONS[name] for name in of_mha}
        result = eval(compile(tree, "<expression>", "eval"), variables | functions | BUILT_IN)
    except Exception:  # traced numbers lack most methods, so any error may occur
        return []
    if isinstance(result, list) and isinstance(result[0], TracedNumber):  # {holds}, and its value
        now = split_marked(str(result[1]))
        return [("", result[0].formula, "holds"), *now[:1]]
    parts = split_marked(result) if isinstance(result, str) else []
    if isinstance(result, list) and is_traced_object(result[0]):  # {holds} of the whole run
        traced.stages = set(STAGES)
    elif parts:
        traced.stages = {word.split(".")[0] for part in parts for word in part[1].split()}
    elif not isinstance(result, TracedNumber):  # such as a length, which no change affects
        traced.stages = set()
    return parts


# ---- All expressions and cells of a page, and its explorers ----

UsedStages = tuple[Trace, set[str]]
"""A run, and the names of those of its stages whose numbers an expression used."""


class LiveNumbers:
    """The live texts of a page, and the runs that its explorers show."""

    def __init__(self) -> None:
        # by the number of the expression: for each run, the parts of its text
        self.parts: dict[int, list[tuple[Trace, list[TextPart]]]] = {}
        # by the number of the expression: the stages used of each run, and the text as a fixed part
        self.used_stages_and_text: dict[int, tuple[list[UsedStages], list[TextPart]]] = {}
        self.cells: dict[int, list[Trace]] = {}  # by the number of the cell, the runs it names
        self.explorers: dict[str, Trace] = {}  # the runs of the explorers, by name
        self.traced: dict[int, TracedNames] = {}  # by id(run); TracedNames keeps the run alive

    def record_expression(
        self, number: int, expression: str, names: dict[str, Any], text: str
    ) -> None:
        """Store the parts of an expression whose traced text equals its text."""
        all_traced = [self.traced.setdefault(id(run), TracedNames(run)) for run in runs_in(names)]
        found = [(traced.run, traced_parts(expression, traced, names)) for traced in all_traced]
        stages = [(traced.run, traced.stages) for traced in all_traced]
        self.used_stages_and_text[number] = stages, [(text, "", FIXED)]
        equal = [
            (run, parts) for run, parts in found
            if parts and (parts[0][2] == "holds" or "".join(part[0] for part in parts) == text)
        ]  # fmt: skip
        if equal:
            self.parts[number] = equal

    def record_cell(self, number: int, source: str, names: dict[str, Any]) -> None:
        """Store the runs that a cell with an output names."""
        self.cells[number] = runs_named(source, names)

    def record_explorer(self, explorer: Explorer) -> Any:
        """Store an explorer, and return its output for the page."""
        self.explorers = {**explorer.runs, **self.explorers}
        return explorer.on_page()

    def resolve(self) -> dict[str, tuple[str, list[TextPart]]]:
        """Return the explorer and the parts of each text, by the number of its step.

        The explorers of a cell are those of every run that the cell names; a cell has no parts.
        """
        found: dict[str, tuple[str, list[TextPart]]] = {}
        for number, (stages, fixed) in self.used_stages_and_text.items():
            for name, shown in self.explorers.items():
                parts_of_runs = self.parts.get(number, [])
                fits = (
                    p for run, p in parts_of_runs
                    if has_same_numbers(run, shown) and covers(p, shown)
                )  # fmt: skip
                if parts := next(fits, None):
                    found[str(number)] = (name, parts)
                    break
                if any(
                    has_stages(shown, names) and has_same_inputs(run, shown)
                    for run, names in stages
                ):
                    found.setdefault(str(number), (name, fixed))
        for number, runs in self.cells.items():
            explorers = self.explorers.items()
            related = [
                name
                for name, shown in explorers
                if any(has_same_inputs(run, shown) for run in runs)
            ]
            if related:
                found[str(number)] = (" ".join(related), [])
        return found


def runs_in(names: dict[Any, Any]) -> list[Trace]:
    """Return the runs among the values of names, also those in lists."""
    found: dict[int, Trace] = {}
    for value in names.values():
        items: Iterable[Any] = value if isinstance(value, list | tuple) else (value,)
        found |= {id(run): run for run in items if isinstance(run, Trace)}
    return list(found.values())


def has_same_numbers(run: Trace, shown: Trace) -> bool:
    """Return whether a run has all numbers that an explorer computes.

    The explorer may begin later: at queries, keys and values instead of embeddings.
    """
    return run is shown or _agrees(run, shown, lambda name: not STAGES[name].converted_from)


def has_same_inputs(run: Trace, shown: Trace) -> bool:
    """Return whether a run has the inputs, or the layer, of an explorer.

    The scale of the scores and the mask may differ.
    """
    layer = run.example.layer
    is_of_layer = layer is not None and layer is shown.example.layer
    return is_of_layer or _agrees(run, shown, lambda name: is_given(shown, name))


def _agrees(run: Trace, shown: Trace, wanted: Callable[[str], bool]) -> bool:
    """Return whether a run has an explorer's tokens and its numbers of the wanted stages."""
    mine = dict(stage_arrays(run))
    return run.tokens == shown.tokens and all(
        name in mine and np.array_equal(mine[name], array)
        for name, array in stage_arrays(shown)
        if wanted(name)
    )


def runs_named(source: str, names: dict[str, Any]) -> list[Trace]:
    """Return the runs that a cell names, directly or through some of their arrays.

    `names` are the names defined after the cell.
    """
    nodes = list(ast.walk(ast.parse(source)))
    if VIEWS_WITHOUT_NUMBERS & {node.attr for node in nodes if isinstance(node, ast.Attribute)}:
        return []
    known = {node.id for node in nodes if isinstance(node, ast.Name)}
    values = [names[name] for name in sorted(known & names.keys())]
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    runs = runs_in(dict(enumerate(getattr(value, "run", value) for value in values)))
    return runs + [
        run for run in runs_in(names)
        if any(np.may_share_memory(a, b) for a in arrays for _, b in stage_arrays(run))
    ]  # fmt: skip


def has_stages(shown: Trace, stages: set[str]) -> bool:
    """Return whether an explorer has numbers of some of the stages; readers change no others."""
    return any(name in stages for name, _ in stage_arrays(shown))


def covers(parts: list[TextPart], shown: Trace) -> bool:
    """Return whether an explorer has all numbers of a text and computes its lines."""
    for _, formula, format_name in parts:
        for word in formula.split():
            if word[0].isalpha() and "." in word:
                place = Place.parse(word)
                if STAGES[place.stage].array(shown) is None:
                    return False
                if format_name.startswith("line") and is_given(shown, place.stage):
                    return False
    return True
