"""How a function is asked: its arguments are read by their names, and what comes is taken down."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.examine.cases import Case, Subject
from mha.examine.report import is_large, python

LEFT_OUT: Mapping[str, Any] = {"is_causal": False, "enable_gqa": False}
"""What a function is told, if it takes it, where a case says nothing."""


@dataclass(frozen=True)
class Answer:
    """What came of one case: None where no array did, and why, or what else is wrong with it."""

    value: Array | None
    fault: str = ""


@dataclass(frozen=True)
class Asked:
    """A function that can be asked, with what each argument takes and which cannot be left out.

    What is `moved` has the axis of heads behind that of tokens, and so has the output.
    """

    function: Callable[..., Any]
    asarray: Callable[[Array], Any]
    subject: Subject
    arguments: Mapping[str, str]
    required: tuple[str, ...]
    moved: tuple[str, ...] = ()

    @property
    def takes(self) -> frozenset[str]:
        """What the function takes."""
        return frozenset(self.arguments.values())

    def named(self, kind: str) -> str:
        """Return a kind of case by the function's own name of the mask, if that is no `mask`."""
        own = next((own for own, name in self.arguments.items() if name == "mask"), "mask")
        return kind if own == "mask" else kind.replace("a mask", own)

    def can(self, case: Case) -> bool:
        """Return whether a case has what the function cannot do without."""
        return all(name in case.given or name in LEFT_OUT for name in self.required)

    def handed(self, case: Case) -> dict[str, Any]:
        """Return what a case hands in, by the function's own names."""
        given = {**LEFT_OUT, **case.given}
        return {
            own: self.in_order(given[name]) if name in self.moved else given[name]
            for own, name in self.arguments.items()
            if name in given
        }

    def in_order(self, x: Array) -> Array:
        """Return an array as the function orders its axes, or one of the function's as usual."""
        return x.swapaxes(-3, -2) if self.moved and x.ndim > 2 else x

    def calls(self, case: Case) -> list[dict[str, str]]:
        """Return the arguments of each call, as Python: of arrays their names."""
        names = {own: own if is_large(x) else repr(x) for own, x in self.handed(case).items()}
        steps = [{}] if self.subject.calls is None else self.subject.calls(case.given)
        return [
            {own: step.get(self.arguments[own], x).format(own=own) for own, x in names.items()}
            for step in steps
        ]

    def code(self, case: Case, name: str) -> list[str]:
        """Return what a case hands in and the calls of the function, as lines of Python."""
        made = "{}" if self.asarray is np.asarray else "asarray({})"
        lines = [
            f"{own} = {made.format(python(x)) if isinstance(x, np.ndarray) else python(x)}"
            for own, x in self.handed(case).items()
            if is_large(x)
        ]
        calls = [f"{name}({', '.join(map('='.join, x.items()))})" for x in self.calls(case)]
        if self.subject.calls is None:
            return [*lines, *calls]
        outputs = [f"output_{i}" for i in range(1, len(calls) + 1)]
        asked = map(", cache = ".join, zip(outputs, calls, strict=True))
        return [*lines, "cache = None", *asked, f"np.concatenate([{', '.join(outputs)}], axis=-2)"]

    def call(self, given: Mapping[str, Any]) -> Any:
        """Call the function; raise where it changes what it is handed."""
        copies = {
            own: self.asarray(x.copy()) if isinstance(x, np.ndarray) else x
            for own, x in given.items()
        }
        arrays = [own for own, x in given.items() if isinstance(x, np.ndarray)]
        before = {own: np.asarray(copies[own]).copy() for own in arrays}
        result = self.function(**copies)
        for own, x in before.items():
            if not np.array_equal(np.asarray(copies[own]), x, equal_nan=x.dtype.kind == "f"):
                raise UnusableError(f"your function changes {own}, which was handed in")
        return result

    def results(self, case: Case) -> Any:
        """Return what the calls of a case give: of several the outputs, below one another."""
        known, rows = {**self.handed(case), "np": np, "cache": None}, []
        for call in self.calls(case):
            result = self.call({own: eval(text, known) for own, text in call.items()})
            if self.subject.calls is None:
                return result
            if not isinstance(result, tuple) or len(result) != 2:
                raise UnusableError("your function returns no pair of an output and a cache")
            rows.append(np.asarray(result[0]))
            known["cache"] = result[1]
        return np.concatenate(rows, axis=-2)

    def ask(self, case: Case) -> Answer:
        """Return what comes of a case."""
        try:
            with np.errstate(all="ignore"):
                result = self.results(case)
            wanted = self.in_order(self.subject.wanted(case.given))
            value = self.in_order(_array(result, wanted.shape))
        except UnusableError as unusable:
            return Answer(None, str(unusable))
        except Exception as error:
            said = " ".join(str(error).split())
            return Answer(None, f"your function raises {type(error).__name__}: {said[:200]}")
        if value.dtype.kind not in "fiub":
            return Answer(None, f"your function returns {value.dtype}, where numbers are wanted")
        handed = np.asarray(self.asarray(np.zeros(1, case.dtype))).dtype
        fault = f"your function returns {value.dtype} where {handed} is handed in"
        is_other = bool(case.floats) and value.dtype.kind == "f" and value.dtype != handed
        return Answer(value, fault if is_other else "")


class UnusableError(Exception):
    """Raised where nothing that a function gives can be compared; its sentence is a report's."""


def _array(result: Any, shape: tuple[int, ...]) -> Array:
    """Return a result as an array; of several the first that has the wanted shape."""
    if isinstance(result, tuple | list) and result and hasattr(result[0], "shape"):
        fitting = [x for x in result if tuple(getattr(x, "shape", ())) == shape]
        result = (fitting or result)[0]
    if result is None:
        raise UnusableError("your function returns None, where an array is wanted")
    return np.asarray(result)


def asked(function: Callable[..., Any], asarray: Callable[..., Any], subject: Subject) -> Asked:
    """Return a function as one that can be asked.

    Raises
    ------
    TypeError
        If `function` or `asarray` cannot be called, something is missing that the subject needs, or
        an argument without a default is not known.
    """
    for name, value in (("function", function), ("asarray", asarray)):
        if not callable(value):
            raise TypeError(f"{name} is {value!r}; something that can be called is wanted")
    by_alias = {alias: name for name, aliases in subject.aliases.items() for alias in aliases}
    arguments: dict[str, str] = {}
    required: list[str] = []
    first = list(subject.first)
    for own, is_required in parameters(function):
        name = by_alias.get(plain(own)) or (first[0] if is_required and first else "")
        if not name:
            if is_required:
                raise TypeError(
                    f"function has the argument {own}, which is not known; one with a default, or"
                    f" a name among {', '.join(subject.aliases)} is wanted"
                )
            continue
        if name in first:
            first.remove(name)
        arguments[own] = name
        required += [name] if is_required else []
    if not subject.needs <= set(arguments.values()):
        raise TypeError(
            f"function takes {', '.join(arguments) or 'nothing that is known'};"
            f" it has to take {', '.join(sorted(subject.needs))}"
        )
    return Asked(function, asarray, subject, arguments, tuple(required))


def plain(own: str) -> str:
    """Return an argument's name as `Subject.aliases` has it."""
    return own.lower().replace("_", "")


def parameters(function: Callable[..., Any]) -> list[tuple[str, bool]]:
    """Return the names of a function's arguments, and whether it cannot do without."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a built-in function may tell its arguments in its first line alone
        return _told(function)
    starred = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    only = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY]
    if only:
        raise TypeError(f"function takes {only[0]} by its place alone; one by its name is wanted")
    return [(p.name, p.default is p.empty) for p in parameters if p.kind not in starred]


def _told(function: Callable[..., Any]) -> list[tuple[str, bool]]:
    """Return the arguments that the first call in a docstring names."""
    name = getattr(function, "__name__", "")
    found = re.search(rf"\b{re.escape(name)}\(([^)]*)\)", inspect.getdoc(function) or "")
    if not name or not found:
        raise TypeError(
            "function does not tell its arguments; one around it, such as"
            " lambda query, key, value: ..., is wanted"
        )
    words = [word.strip().partition("=") for word in found[1].split(",")]
    return [(own.strip(), not equals) for own, equals, _ in words if own.strip() not in ("*", "/")]
