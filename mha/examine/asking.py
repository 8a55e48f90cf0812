"""How a function is asked: its arguments are read by their names, and what comes is taken down."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.examine.cases import Case, Subject

LEFT_OUT: Mapping[str, Any] = {"is_causal": False, "enable_gqa": False}
"""What a function is told, if it takes it, where a case says nothing."""


@dataclass(frozen=True)
class Answer:
    """What came of one case: None where no array did, and why, or what else is wrong with it."""

    value: Array | None
    fault: str = ""


@dataclass(frozen=True)
class Asked:
    """A function that can be asked.

    Parameters
    ----------
    function : callable
    asarray : callable
    subject : Subject
    arguments : mapping of str to str
        What each argument takes, by the names of the subject.
    required : tuple of str
        What the function cannot do without.
    """

    function: Callable[..., Any]
    asarray: Callable[[Array], Any]
    subject: Subject
    arguments: Mapping[str, str]
    required: tuple[str, ...]

    @property
    def takes(self) -> frozenset[str]:
        """What the function takes."""
        return frozenset(self.arguments.values())

    def can(self, case: Case) -> bool:
        """Return whether a case has what the function cannot do without."""
        return all(name in case.given or name in LEFT_OUT for name in self.required)

    def handed(self, case: Case) -> dict[str, Any]:
        """Return what a case hands in, by the function's own names."""
        given = {**LEFT_OUT, **case.given}
        return {own: given[name] for own, name in self.arguments.items() if name in given}

    def call(self, given: Mapping[str, Any]) -> Any:
        """Call the function; raise where it changes what it is handed."""
        copies = {
            own: self.asarray(x.copy()) if isinstance(x, np.ndarray) else x
            for own, x in given.items()
        }
        arrays = [own for own, x in given.items() if isinstance(x, np.ndarray)]
        before = [np.asarray(copies[own]).copy() for own in arrays]
        result = self.function(**copies)
        for own, x in zip(arrays, before, strict=True):
            if not np.array_equal(np.asarray(copies[own]), x, equal_nan=x.dtype.kind == "f"):
                raise UnusableError(f"it changes {own}, which was handed in")
        return result

    def ask(self, case: Case) -> Answer:
        """Return what comes of a case."""
        try:
            with np.errstate(all="ignore"):
                result = (
                    self.call(self.handed(case))
                    if self.subject.asked is None
                    else self.subject.asked(self, case)
                )
            value = _array(result, self.subject.wanted(case.given).shape)
        except UnusableError as unusable:
            return Answer(None, str(unusable))
        except Exception as error:
            said = " ".join(str(error).split())
            return Answer(None, f"it raises {type(error).__name__}: {said[:200]}")
        if value.dtype.kind not in "fiub":
            return Answer(None, f"it returns {value.dtype}, where numbers are wanted")
        handed = np.asarray(self.asarray(np.zeros(1, case.dtype))).dtype
        fault = (
            "" if value.dtype == handed else f"it returns {value.dtype} where {handed} is handed in"
        )
        return Answer(value, fault if value.dtype.kind == "f" else "")


class UnusableError(Exception):
    """Raised where nothing that a function gives can be compared; its sentence is a report's."""


def _array(result: Any, shape: tuple[int, ...]) -> Array:
    """Return a result as an array; of several the first that has the wanted shape."""
    if isinstance(result, tuple | list) and result and hasattr(result[0], "shape"):
        fitting = [x for x in result if tuple(getattr(x, "shape", ())) == shape]
        result = (fitting or result)[0]
    if result is None:
        raise UnusableError("it returns None, where an array is wanted")
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
