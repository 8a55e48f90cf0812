"""Calls of the tested function: its arguments by name, inputs and outputs by its conventions."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.examine.arrays import Maker, as_numpy
from mha.examine.cases import Case, Subject
from mha.examine.conventions import USUAL, Conventions
from mha.examine.report import is_large, python

LEFT_OUT: Mapping[str, Any] = {"is_causal": False, "enable_gqa": False}
"""Values of arguments that a case does not set."""

SETTINGS: Mapping[str, Any] = {
    **dict.fromkeys(("dropout", "dropoutp", "dropoutrate", "attndropout", "pdropout"), 0.0),
    **dict.fromkeys(("training", "needweights", "returnattn", "outputattentions"), False),
    "deterministic": True,
    **dict.fromkeys(("blocksize", "blockq", "blockk", "blockm", "blockn", "chunksize"), 4),
    **dict.fromkeys(("br", "bc", "tilesize", "querychunksize", "keychunksize"), 4),
}
"""Values of required arguments that do not change the output, by their names."""


@dataclass(frozen=True)
class Answer:
    """The output for one case; None, with the fault, if the function returned no array."""

    value: Array | None
    fault: str = ""


@dataclass(frozen=True)
class Asked:
    """A tested function and the way to call it.

    `arguments` are its own names and the inputs that they take; `required` those inputs that have
    no default; `settings` further arguments with a fixed value; `unasked` the arguments that keep
    their default because they are not known; `by_place` those that have no name for a caller;
    `before` are lines of Python that a case begins with, `called` is its name in them.
    """

    function: Callable[..., Any]
    maker: Maker
    subject: Subject
    arguments: Mapping[str, str]
    required: tuple[str, ...]
    settings: Mapping[str, Any]
    unasked: tuple[str, ...] = ()
    by_place: tuple[str, ...] = ()
    conventions: Conventions = USUAL
    output: str = ""
    may_be_none: frozenset[str] = frozenset()
    before: tuple[str, ...] = ()
    called: str = ""

    @property
    def takes(self) -> frozenset[str]:
        """The inputs that the function takes."""
        return frozenset(self.arguments.values())

    @property
    def name(self) -> str:
        """The function's name."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def by(self, conventions: Conventions, **more: Any) -> "Asked":
        """Return the function with other conventions."""
        return replace(self, conventions=conventions, **more)

    def named(self, kind: str) -> str:
        """Return a kind of case with the function's own name for the mask."""
        own = next((own for own, name in self.arguments.items() if name == "mask"), "mask")
        return re.sub(r"\bmask\b", own, kind)

    def completed(self, case: Case) -> Case:
        """Add the context that a layer requires to a case: its own tokens."""
        if "context" not in self.required or "x" not in case.given or "context" in case.given:
            return case
        return replace(case, given={**case.given, "context": case.given["x"]})

    def can(self, case: Case) -> bool:
        """Return whether a case has all arguments that the function requires."""
        known = {*case.given, *LEFT_OUT, *self.may_be_none, "scale"}
        return all(name in known for name in self.required)

    def handed(self, case: Case) -> dict[str, Any]:
        """Return the inputs of a case, by the function's own names and conventions."""
        given = {**LEFT_OUT, **dict.fromkeys(self.may_be_none), **case.given}
        if "scale" in self.required and "scale" not in given and "query" in given:
            given["scale"] = float(given["query"].shape[-1] ** -0.5)
        found = {
            own: self.conventions.encoded(name, self._in_order(name, given[name]), case)
            for own, name in self.arguments.items()
            if name in given
        }
        for own, value in self.settings.items():
            found[own] = value(given) if callable(value) else value
        return found

    def _in_order(self, name: str, x: Any) -> Any:
        is_moved = self.conventions.tokens_first and name in self.subject.moved
        return x.swapaxes(-3, -2) if is_moved and x is not None and x.ndim > 2 else x

    def out(self, x: Array) -> Array:
        """Convert an output from the usual order of axes to that of the function."""
        if not self.output or x.ndim < 3:
            return x
        x = x.swapaxes(-3, -2)
        return x.reshape(*x.shape[:-2], -1) if self.output == "merged" else x

    def back(self, x: Array, usual: tuple[int, ...]) -> Array:
        """Convert an output of the function to the usual order of axes and this shape."""
        if not self.output or len(usual) < 3:
            return x
        swapped = (*usual[:-3], usual[-2], usual[-3], usual[-1])
        if x.shape == self.out(np.empty(usual)).shape:
            return x.reshape(swapped).swapaxes(-3, -2)
        return x.swapaxes(-3, -2) if self.output == "swapped" and x.ndim == len(usual) else x

    def calls(self, case: Case) -> list[dict[str, str]]:
        """Return the arguments of each call as Python source; arrays are given by name."""
        handed = self.handed(case)
        names = {own: own if is_large(x) else python(x) for own, x in handed.items()}
        steps = [{}] if self.subject.calls is None else self.subject.calls(case.given)
        return [
            {
                own: step.get(self.arguments.get(own, ""), x).format(own=own)
                if step else x
                for own, x in names.items()
            }
            for step in steps
        ]  # fmt: skip

    def code(self, case: Case, name: str) -> list[str]:
        """Return the inputs of a case and the calls of the function as lines of Python."""
        lines = [f"{own} = {self._made(x)}" for own, x in self.handed(case).items() if is_large(x)]
        calls = []
        for each in self.calls(case):
            inputs = (x if own in self.by_place else f"{own}={x}" for own, x in each.items())
            calls.append(f"{name}({', '.join(inputs)})")
        if self.subject.calls is None:
            return [*self.before, *lines, *calls]
        outputs = [f"output_{i}" for i in range(1, len(calls) + 1)]
        asked = map(", cache = ".join, zip(outputs, calls, strict=True))
        return [*lines, "cache = None", *asked, f"np.concatenate([{', '.join(outputs)}], axis=-2)"]

    def _made(self, x: Any) -> str:
        return self.maker.code.format(python(x)) if isinstance(x, np.ndarray) else python(x)

    def call(self, given: Mapping[str, Any]) -> Any:
        """Call the function; raise UnusableError if it changes an input."""
        copies = {
            own: self.maker.make(x.copy()) if isinstance(x, np.ndarray) else x
            for own, x in given.items()
        }
        arrays = [own for own, x in given.items() if isinstance(x, np.ndarray)]
        before = {own: as_numpy(copies[own]).copy() for own in arrays}
        by_place = [copies.pop(own) for own in self.by_place if own in copies]
        kept = dict(zip(self.by_place, by_place, strict=False)) | copies
        result = self.function(*by_place, **copies)
        for own, x in before.items():
            if not np.array_equal(as_numpy(kept[own]), x, equal_nan=x.dtype.kind == "f"):
                raise UnusableError(f"the function changes its argument {own}")
        return result

    def results(self, case: Case) -> Any:
        """Return the outputs of all calls of a case, concatenated by rows."""
        handed, rows = self.handed(case), []
        if self.subject.calls is None:
            return self.call(handed)
        known = {**handed, "np": np, "cache": None}
        for call in self.calls(case):
            result = self.call({own: eval(text, known) for own, text in call.items()})
            if not isinstance(result, tuple) or len(result) != 2:
                raise UnusableError("the function does not return a pair of an output and a cache")
            rows.append(as_numpy(result[0]))
            known["cache"] = result[1]
        return np.concatenate(rows, axis=-2)

    def ask(self, case: Case) -> Answer:
        """Return the output for a case in the usual order of axes."""
        try:
            with np.errstate(all="ignore"):
                result = self.results(case)
            usual = self.subject.shape(case.given)
            value = self.back(_array(result, self.out(np.empty(usual)).shape), usual)
        except UnusableError as unusable:
            return Answer(None, str(unusable))
        except Exception as error:
            said = " ".join(str(error).split())
            return Answer(None, f"the function raises {type(error).__name__}: {said[:200]}")
        if value.dtype.kind not in "fiub":
            return Answer(None, f"the function returns {value.dtype} instead of numbers")
        handed = as_numpy(self.maker.make(np.zeros(1, case.dtype))).dtype
        fault = f"the function returns {value.dtype} for input of {handed}"
        is_other = bool(case.floats) and value.dtype.kind == "f" and value.dtype != handed
        return Answer(value, fault if is_other else "")


class UnusableError(Exception):
    """Raised if an output cannot be compared; the message is printed in the report."""


def _array(result: Any, shape: tuple[int, ...]) -> Array:
    """Return a result as an array; from a tuple, the first element of the expected shape."""
    if isinstance(result, tuple | list) and result and hasattr(result[0], "shape"):
        fitting = [x for x in result if tuple(getattr(x, "shape", ())) == shape]
        result = (fitting or result)[0]
    if result is None:
        raise UnusableError("the function returns None instead of an array")
    return as_numpy(result)


def asked(function: Callable[..., Any], maker: Maker, subject: Subject) -> Asked:
    """Wrap a function for testing.

    Raises
    ------
    TypeError
        If `function` cannot be called, lacks an argument that the subject needs, or has one without
        a default that is not known.
    """
    if not callable(function):
        raise TypeError(f"function is {function!r}; a callable is needed")
    by_alias = {alias: name for name, aliases in subject.aliases.items() for alias in aliases}
    arguments: dict[str, str] = {}
    required: list[str] = []
    settings: dict[str, Any] = {}
    unasked: list[str] = []
    found, by_place = parameters(function)
    taken = {by_alias[plain(own)] for own, _ in found if plain(own) in by_alias}
    first = [name for name in subject.first if name not in taken]
    masks = [plain(own) for own, _ in found if by_alias.get(plain(own)) == "mask"]
    if len(masks) > 1 and "mask" in masks and "padding" not in taken:
        by_alias["mask"] = "padding"  # beside an attn_mask, `mask` marks padding
    for own, is_required in found:
        name = by_alias.get(plain(own), "")
        if name in arguments.values():
            name = ""
        if not name and plain(own) == "module" and is_required:
            settings[own] = _module
            continue
        if not name and is_required and plain(own) in SETTINGS:
            settings[own] = SETTINGS[plain(own)]
            continue
        if not name and is_required and first:
            name = first.pop(0)
        if not name:
            if is_required:
                raise TypeError(_unknown(function, own, subject))
            if plain(own) not in SETTINGS:
                unasked.append(own)
            continue
        arguments[own] = name
        required += [name] if is_required else []
    if not subject.needs <= set(arguments.values()):
        missing = sorted(subject.needs - set(arguments.values()))
        raise TypeError(
            f"function takes {', '.join(arguments) or 'no argument that examine knows'}; it"
            f" also needs"
            f" {' and '.join(missing)}. Examine a function around it, such as\n"
            f"    lambda {', '.join(subject.first)}: your_function(...)"
        )
    return Asked(
        function, maker, subject, arguments, tuple(required), settings, tuple(unasked), by_place
    )


def _module(given: Mapping[str, Any]) -> Any:
    """Return a stand-in for the module that attention functions of transformers take."""
    query, key = given["query"], given["key"]
    groups = query.shape[-3] // key.shape[-3] if query.ndim > 2 else 1
    scaling = float(query.shape[-1] ** -0.5)
    return SimpleNamespace(
        num_key_value_groups=groups, training=False, is_causal=False, scaling=scaling,
        scale=scaling, head_dim=query.shape[-1], layer_idx=0, dropout=0.0, attention_dropout=0.0,
    )  # fmt: skip


def _unknown(function: Any, own: str, subject: Subject) -> str:
    name = str(getattr(function, "__name__", "function"))
    name = name if name.isidentifier() else "function"
    inputs = ", ".join(subject.first)
    return (
        f"function has the argument {own}, whose name examine does not know. Give {own} a default,"
        f" or examine a function around it:\n    lambda {inputs}: {name}({inputs}, {own}=...)"
    )


def plain(own: str) -> str:
    """Return an argument's name in lower case without underscores, as in `Subject.aliases`."""
    return own.lower().replace("_", "")


def parameters(function: Callable[..., Any]) -> tuple[list[tuple[str, bool]], tuple[str, ...]]:
    """Return the arguments, whether each is required, and the positional-only ones."""
    if not isinstance(function, type):  # a module tells its arguments where it computes
        for name in ("call", "forward"):  # a layer of Keras may have both
            own = getattr(function, name, None)
            if callable(own) and not inspect.isfunction(function):
                function = own
                break
    try:
        found = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # a built-in function may tell its arguments in its docstring
        return _told(function), ()
    starred = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    by_place = tuple(p.name for p in found if p.kind is p.POSITIONAL_ONLY)
    return [(p.name, p.default is p.empty) for p in found if p.kind not in starred], by_place


def _told(function: Callable[..., Any]) -> list[tuple[str, bool]]:
    """Return the arguments named by the first call in a docstring."""
    name = getattr(function, "__name__", "")
    found = re.search(rf"\b{re.escape(name)}\(([^)]*)\)", inspect.getdoc(function) or "")
    if not name or not found:
        raise TypeError(
            "the arguments of function cannot be read. Examine a function around it, such as\n"
            "    lambda query, key, value: your_function(query, key, value)"
        )
    words = [word.strip().partition("=") for word in found[1].split(",")]
    return [(own.strip(), not equals) for own, equals, _ in words if own.strip() not in ("*", "/")]
