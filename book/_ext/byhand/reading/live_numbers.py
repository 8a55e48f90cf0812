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
    ON_TIED,
    OWN,
    Numbers,
    Part,
    Tied,
    UntiedError,
    arrays_of,
    marked,
    split,
    tied,
)
from mha import public_names
from mha.runs.origins import is_given
from mha.runs.places import Place
from mha.runs.record import Trace
from mha.runs.stages import STAGES
from mha.views.arithmetic import arithmetic
from mha.widgets.instrument import Explorer

WITHOUT = {"flow", "lanes", "readings", "shapes"}  # views that show no number of a run


# ---- What an expression sees: the objects that it names, with the tied numbers of one run ----


class Seen:
    """An object, or a list of objects, whose arrays are returned as traced numbers."""

    def __init__(self, thing: Any, view: View) -> None:
        self._thing, self._view = thing, view

    def __getattr__(self, name: str) -> Any:
        """Return an attribute; arrays of the run are traced."""
        return self._view.of(getattr(self._thing, name))

    def __getitem__(self, index: int) -> Any:
        """Return an item of a list; objects in it are wrapped."""
        return self._view.of(self._thing[index])


def is_thing(seen: object) -> bool:
    """Return whether a value is a wrapped object and not a wrapped list."""
    return isinstance(seen, Seen) and not isinstance(seen._thing, list | tuple)


class View:
    """The names of an expression, with the arrays of one run replaced by traced numbers."""

    def __init__(self, run: Trace) -> None:
        self.run = run
        self.known: dict[tuple[object, ...], Numbers] = {}  # by where it is in memory
        self.asked: set[str] = set()  # the stages whose numbers an expression makes something of

    def of(self, thing: Any) -> Any:
        """Return the wrapper of an object, or the traced numbers of an array."""
        if isinstance(thing, np.ndarray) and thing.dtype == float:
            where = (thing.__array_interface__["data"], thing.shape, thing.strides)
            if where not in self.known:
                self.known[where] = tied(thing, self.run)
            self.asked |= {one.formula.split(".")[0] for one in self.known[where].flat[:1]}
            return self.known[where]
        is_other = isinstance(thing, Trace | type) and thing is not self.run
        if (is_dataclass(thing) and not is_other) or isinstance(thing, list | tuple):
            return Seen(thing, self)
        if callable(thing) or isinstance(thing, ModuleType | int | str | slice | np.integer):
            return thing
        raise UntiedError


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
    if not isinstance(run, Seen) or not isinstance(run._thing, Trace):
        raise UntiedError
    line = arithmetic(run._thing, stage, row, column, head=head, places=places)
    place = Place.of(stage, head, row, column)
    value = Tied(math.nan, str(place))
    how = "short" if stage not in ("exponentials", "row_sums", "weights") else "shown"
    seen = _Line(marked(str(line), value, f"line:{places}"))
    seen.result = marked(line.result, value, f"{how}:{places}")
    return seen


FUNCTIONS = ON_TIED | {"arithmetic": _arithmetic}


def parts_of(expression: str, view: View, names: dict[str, Any]) -> list[Part]:
    """Return the text of an expression in parts, or none if it contains no number of the run.

    `names` are the names defined where the expression is evaluated.
    """
    view.asked = set()
    try:
        tree = ast.parse(expression, mode="eval")
        own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & names.keys()
        ours = {name for name in own if names[name] is getattr(public_names, name, None)}
        for name in own - ours:  # all that it names, whether or not one of them is another run's
            with suppress(UntiedError):
                view.of(names[name])
        seen = {name: view.of(names[name]) for name in own - ours}
        functions = {name: FUNCTIONS[name] for name in ours}
        said = eval(compile(tree, "<expression>", "eval"), seen | functions | BUILT_IN)
    except Exception:  # whatever it asks of tied numbers that they have not
        return []
    if isinstance(said, list) and isinstance(said[0], Tied):  # a claim, and what it is now
        now = split(str(said[1]))
        return [("", said[0].formula, "holds"), *now[:1]]
    parts = split(said) if isinstance(said, str) else []
    if isinstance(said, list) and is_thing(said[0]):  # a run alone stands for all it has
        view.asked = set(STAGES)
    elif parts:
        view.asked = {word.split(".")[0] for part in parts for word in part[1].split()}
    elif not isinstance(said, Tied):  # how many numbers there are does not depend on them
        view.asked = set()
    return parts


# ---- All expressions and cells of a page, and its explorers ----


class Ties:
    """The live texts of a page, and the runs that its explorers show."""

    def __init__(self) -> None:
        self.said: dict[int, list[tuple[Trace, list[Part]]]] = {}
        self.asked: dict[int, tuple[list[tuple[Trace, set[str]]], list[Part]]] = {}
        self.named: dict[int, list[Trace]] = {}
        self.explorers: dict[str, Trace] = {}
        self.views: dict[int, View] = {}  # by the identity of the run, which the view keeps

    def note(self, number: int, expression: str, names: dict[str, Any], text: str) -> None:
        """Store the parts of an expression whose traced text equals its text."""
        views = [self.views.setdefault(id(run), View(run)) for run in runs_in(names)]
        found = [(view.run, parts_of(expression, view, names)) for view in views]
        self.asked[number] = [(view.run, view.asked) for view in views], [(text, "", OWN)]
        those = [
            (run, parts) for run, parts in found
            if parts and (parts[0][2] == "holds" or "".join(part[0] for part in parts) == text)
        ]  # fmt: skip
        if those:
            self.said[number] = those

    def note_cell(self, number: int, source: str, names: dict[str, Any]) -> None:
        """Store the runs that a cell with an output names."""
        self.named[number] = runs_named(source, names)

    def show(self, explorer: Explorer) -> Any:
        """Store an explorer, and return its output for the page."""
        self.explorers = {**explorer.runs, **self.explorers}
        return explorer.on_page()

    def settled(self) -> dict[str, tuple[str, list[Part]]]:
        """Return the explorer and the parts of each text, by the number of its step.

        The explorers of a cell are those of every run that the cell names; a cell has no parts.
        """
        found: dict[str, tuple[str, list[Part]]] = {}
        for number, (asked, own) in self.asked.items():
            for name, shown in self.explorers.items():
                those = self.said.get(number, [])
                fits = (p for run, p in those if follows(run, shown) and is_of(p, shown))
                if parts := next(fits, None):
                    found[str(number)] = (name, parts)
                    break
                if any(has_some(shown, of) and starts_as(run, shown) for run, of in asked):
                    found.setdefault(str(number), (name, own))
        for number, runs in self.named.items():
            explorers = self.explorers.items()
            akin = [name for name, one in explorers if any(starts_as(run, one) for run in runs)]
            if akin:
                found[str(number)] = (" ".join(akin), [])
        return found


def runs_in(names: dict[Any, Any]) -> list[Trace]:
    """Return the runs among the values of names, also those in lists."""
    found: dict[int, Trace] = {}
    for thing in names.values():
        those: Iterable[Any] = thing if isinstance(thing, list | tuple) else (thing,)
        found |= {id(run): run for run in those if isinstance(run, Trace)}
    return list(found.values())


def follows(run: Trace, shown: Trace) -> bool:
    """Return whether a run has all numbers that an explorer computes.

    The explorer may begin later: at queries, keys and values instead of embeddings.
    """
    return run is shown or _same(run, shown, lambda name: not STAGES[name].quotes)


def starts_as(run: Trace, shown: Trace) -> bool:
    """Return whether a run has the inputs, or the layer, of an explorer.

    The scale of the scores and the mask may differ.
    """
    layer = run.example.layer
    is_of_layer = layer is not None and layer is shown.example.layer
    return is_of_layer or _same(run, shown, lambda name: is_given(shown, name))


def _same(run: Trace, shown: Trace, wanted: Callable[[str], bool]) -> bool:
    """Return whether a run has an explorer's tokens and its numbers of the wanted stages."""
    mine = dict(arrays_of(run))
    return run.tokens == shown.tokens and all(
        name in mine and np.array_equal(mine[name], array)
        for name, array in arrays_of(shown)
        if wanted(name)
    )


def runs_named(source: str, names: dict[str, Any]) -> list[Trace]:
    """Return the runs that a cell names, directly or through some of their arrays.

    `names` are the names defined after the cell.
    """
    nodes = list(ast.walk(ast.parse(source)))
    if WITHOUT & {node.attr for node in nodes if isinstance(node, ast.Attribute)}:
        return []
    known = {node.id for node in nodes if isinstance(node, ast.Name)}
    things = [names[name] for name in sorted(known & names.keys())]
    arrays = [thing for thing in things if isinstance(thing, np.ndarray)]
    runs = runs_in(dict(enumerate(getattr(thing, "run", thing) for thing in things)))
    return runs + [
        run for run in runs_in(names)
        if any(np.may_share_memory(a, b) for a in arrays for _, b in arrays_of(run))
    ]  # fmt: skip


def has_some(shown: Trace, stages: set[str]) -> bool:
    """Return whether an explorer has numbers of some of the stages; readers change no others."""
    return any(name in stages for name, _ in arrays_of(shown))


def is_of(parts: list[Part], shown: Trace) -> bool:
    """Return whether an explorer has all numbers of a text and computes its lines."""
    for _, formula, how in parts:
        for word in formula.split():
            if word[0].isalpha() and "." in word:
                place = Place.parse(word)
                if STAGES[place.stage].array(shown) is None:
                    return False
                if how.startswith("line") and is_given(shown, place.stage):
                    return False
    return True
