"""Calls of the tested function: arguments by name, and inputs and outputs by its conventions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from mha.core.checks import Array
from mha.examine.arrays import Converter, as_numpy
from mha.examine.cases import Case, Subject
from mha.examine.conventions import USUAL, Conventions
from mha.examine.report import is_large, python

OMITTED_DEFAULTS: Mapping[str, Any] = {"is_causal": False, "enable_gqa": False}
"""Values of arguments that a case does not set."""

NEUTRAL_SETTINGS: Mapping[str, Any] = {
    **dict.fromkeys(("dropout", "dropoutp", "dropoutrate", "attndropout", "pdropout"), 0.0),
    **dict.fromkeys(("training", "needweights", "returnattn", "outputattentions"), False),
    "deterministic": True,
    **dict.fromkeys(("blocksize", "blockq", "blockk", "blockm", "blockn", "chunksize"), 4),
    **dict.fromkeys(("br", "bc", "tilesize", "querychunksize", "keychunksize"), 4),
}
"""Values of required arguments that do not change the output, by their names."""


@dataclass(frozen=True)
class Outcome:
    """The output for one case; if the function returned no array, None and the fault."""

    value: Array | None
    fault: str = ""


@dataclass(frozen=True)
class FunctionUnderTest:
    """A tested function and the way to call it.

    `arguments` maps its argument names to inputs; `required` are the inputs without a default;
    `settings` are further arguments with a fixed value; `untested` are unknown arguments, which
    keep their default; `positional_only` are arguments without a keyword; `output_axes` is the
    order of axes of its output, if it is not the usual one; `padding_through` is the argument for a
    mask that takes a padding mask of (batch, m) too; `setup_code` are lines of Python before
    a printed case, and `code_name` is the name of the function in them.
    """

    function: Callable[..., Any]
    converter: Converter
    subject: Subject
    arguments: Mapping[str, str]
    required: tuple[str, ...]
    settings: Mapping[str, Any]
    untested: tuple[str, ...] = ()
    positional_only: tuple[str, ...] = ()
    conventions: Conventions = USUAL
    output_axes: str = ""
    may_be_none: frozenset[str] = frozenset()
    padding_through: str = ""
    setup_code: tuple[str, ...] = ()
    code_name: str = ""

    @property
    def takes(self) -> frozenset[str]:
        """The inputs that the function takes."""
        return frozenset(self.arguments.values()) | ({"padding"} if self.padding_through else set())

    @property
    def name(self) -> str:
        """The function's name."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def with_conventions(self, conventions: Conventions, **more: Any) -> FunctionUnderTest:
        """Return the function with other conventions."""
        return replace(self, conventions=conventions, **more)

    def kind_name(self, kind: str) -> str:
        """Return the name of a kind of case, with the function's own name for the mask."""
        own = next((own for own, name in self.arguments.items() if name == "mask"), "mask")
        return re.sub(r"\bmask\b", own, kind)

    def add_context(self, case: Case) -> Case:
        """Return a case with its own tokens as context, if the function requires a context."""
        if "context" not in self.required or "x" not in case.inputs or "context" in case.inputs:
            return case
        return replace(case, inputs={**case.inputs, "context": case.inputs["x"]})

    def can_run(self, case: Case) -> bool:
        """Return whether a case has all inputs that the function requires."""
        known = {*case.inputs, *OMITTED_DEFAULTS, *self.may_be_none, "scale"}
        if self.padding_through and "padding" in case.inputs:
            if "mask" in case.inputs or case.inputs["padding"].ndim < 2:
                return False
            known.add("mask")
        return all(name in known for name in self.required)

    def call_arguments(self, case: Case) -> dict[str, Any]:
        """Return the arguments for a case, by the function's own names and conventions."""
        inputs = {**OMITTED_DEFAULTS, **dict.fromkeys(self.may_be_none), **case.inputs}
        if "scale" in self.required and "scale" not in inputs and "query" in inputs:
            inputs["scale"] = float(inputs["query"].shape[-1] ** -0.5)
        found = {
            own: self.conventions.encode(name, self._in_order(name, inputs[name]), case)
            for own, name in self.arguments.items()
            if name in inputs
        }
        if self.padding_through and "padding" in inputs:
            rows = self.conventions.encode_values(inputs["padding"], case)
            found[self.padding_through] = rows
        for own, value in self.settings.items():
            found[own] = value(inputs) if callable(value) else value
        return found

    def _in_order(self, name: str, x: Any) -> Any:
        is_moved = self.conventions.tokens_first and name in self.subject.token_axis_inputs
        return x.swapaxes(-3, -2) if is_moved and x is not None and x.ndim > 2 else x

    def to_own_axes(self, x: Array) -> Array:
        """Convert an output to the function's order of axes."""
        if not self.output_axes or x.ndim < 3:
            return x
        x = x.swapaxes(-3, -2)
        return x.reshape(*x.shape[:-2], -1) if self.output_axes == "merged" else x

    def to_usual_axes(self, x: Array, usual: tuple[int, ...]) -> Array:
        """Convert an output of the function to the usual order of axes and the shape `usual`."""
        if not self.output_axes or len(usual) < 3:
            return x
        swapped = (*usual[:-3], usual[-2], usual[-3], usual[-1])
        if x.shape == self.to_own_axes(np.empty(usual)).shape:
            return x.reshape(swapped).swapaxes(-3, -2)
        return x.swapaxes(-3, -2) if self.output_axes == "swapped" and x.ndim == len(usual) else x

    def calls(self, case: Case) -> list[dict[str, str]]:
        """Return the arguments of each call as Python source, with arrays by name."""
        call_arguments = self.call_arguments(case)
        names = {own: own if is_large(x) else python(x) for own, x in call_arguments.items()}
        steps = [{}] if self.subject.calls is None else self.subject.calls(case.inputs)
        return [
            {
                own: step.get(self.arguments.get(own, ""), x).format(own=own)
                if step else x
                for own, x in names.items()
            }
            for step in steps
        ]  # fmt: skip

    def code(self, case: Case, name: str) -> list[str]:
        """Return the inputs of a case, and the calls of the function, as lines of Python."""
        lines = [
            f"{own} = {self._array_code(x)}"
            for own, x in self.call_arguments(case).items()
            if is_large(x)
        ]
        calls = []
        for each in self.calls(case):
            inputs = (x if own in self.positional_only else f"{own}={x}" for own, x in each.items())
            calls.append(f"{name}({', '.join(inputs)})")
        if self.subject.calls is None:
            return [*self.setup_code, *lines, *calls]
        outputs = [f"output_{i}" for i in range(1, len(calls) + 1)]
        assignments = map(", cache = ".join, zip(outputs, calls, strict=True))
        return [
            *lines,
            "cache = None",
            *assignments,
            f"np.concatenate([{', '.join(outputs)}], axis=-2)",
        ]

    def _array_code(self, x: Any) -> str:
        return self.converter.code.format(python(x)) if isinstance(x, np.ndarray) else python(x)

    def call(self, inputs: Mapping[str, Any]) -> Any:
        """Call the function; raise an UnusableError if it changes an input."""
        copies = {
            own: self.converter.convert(x.copy()) if isinstance(x, np.ndarray) else x
            for own, x in inputs.items()
        }
        arrays = [own for own, x in inputs.items() if isinstance(x, np.ndarray)]
        before = {own: as_numpy(copies[own]).copy() for own in arrays}
        positional_only = [copies.pop(own) for own in self.positional_only if own in copies]
        kept = dict(zip(self.positional_only, positional_only, strict=False)) | copies
        result = self.function(*positional_only, **copies)
        for own, x in before.items():
            if not np.array_equal(as_numpy(kept[own]), x, equal_nan=x.dtype.kind == "f"):
                raise UnusableError(f"the function changes its argument {own}")
        return result

    def _run_calls(self, case: Case) -> Any:
        """Return the outputs of all calls of a case, concatenated along the queries."""
        call_arguments, rows = self.call_arguments(case), []
        if self.subject.calls is None:
            return self.call(call_arguments)
        known = {**call_arguments, "np": np, "cache": None}
        for call in self.calls(case):
            result = self.call({own: eval(text, known) for own, text in call.items()})
            if not isinstance(result, tuple) or len(result) != 2:
                raise UnusableError("the function does not return a pair of an output and a cache")
            rows.append(as_numpy(result[0]))
            known["cache"] = result[1]
        return np.concatenate(rows, axis=-2)

    def run(self, case: Case) -> Outcome:
        """Return the output for a case, in the usual order of axes."""
        try:
            with np.errstate(all="ignore"):
                result = self._run_calls(case)
            usual = self.subject.shape(case.inputs)
            value = self.to_usual_axes(
                _array(result, self.to_own_axes(np.empty(usual)).shape), usual
            )
        except UnusableError as unusable:
            return Outcome(None, str(unusable))
        except Exception as error:
            said = " ".join(str(error).split())
            return Outcome(None, f"the function raises {type(error).__name__}: {said[:200]}")
        if value.dtype.kind not in "fiub":
            return Outcome(None, f"the function returns {value.dtype} instead of numbers")
        input_dtype = as_numpy(self.converter.convert(np.zeros(1, case.dtype))).dtype
        fault = f"the function returns {value.dtype} for input of {input_dtype}"
        is_other = bool(case.floats) and value.dtype.kind == "f" and value.dtype != input_dtype
        return Outcome(value, fault if is_other else "")


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


def wrap_function(
    function: Callable[..., Any], converter: Converter, subject: Subject
) -> FunctionUnderTest:
    """Match the arguments of a function to the inputs of a subject.

    Raises
    ------
    TypeError
        If `function` is not callable, lacks an argument that the subject needs, or has an unknown
        argument without a default.
    """
    if not callable(function):
        raise TypeError(f"function is {function!r}; a callable is needed")
    by_alias = {alias: name for name, aliases in subject.aliases.items() for alias in aliases}
    arguments: dict[str, str] = {}
    required: list[str] = []
    settings: dict[str, Any] = {}
    untested: list[str] = []
    found, positional_only = read_parameters(function)
    taken = {by_alias[normalise_name(own)] for own, _ in found if normalise_name(own) in by_alias}
    first = [name for name in subject.first_inputs if name not in taken]
    masks = [normalise_name(own) for own, _ in found if by_alias.get(normalise_name(own)) == "mask"]
    if len(masks) > 1 and "mask" in masks and "padding" not in taken:
        by_alias["mask"] = "padding"  # beside an attn_mask, `mask` marks padding
    for own, is_required in found:
        name = by_alias.get(normalise_name(own), "")
        if name in arguments.values():
            name = ""
        if not name and normalise_name(own) == "module" and is_required:
            settings[own] = _attention_module
            continue
        if not name and is_required and normalise_name(own) in NEUTRAL_SETTINGS:
            settings[own] = NEUTRAL_SETTINGS[normalise_name(own)]
            continue
        if not name and is_required and first:
            name = first.pop(0)
        if not name:
            if is_required:
                raise TypeError(_unknown_argument(function, own, subject))
            if normalise_name(own) not in NEUTRAL_SETTINGS:
                untested.append(own)
            continue
        arguments[own] = name
        required += [name] if is_required else []
    if not subject.needs <= set(arguments.values()):
        missing = sorted(subject.needs - set(arguments.values()))
        raise TypeError(
            f"function takes {', '.join(arguments) or 'no argument that examine knows'}; it"
            f" also needs"
            f" {' and '.join(missing)}. Examine a function around it, such as\n"
            f"    lambda {', '.join(subject.first_inputs)}: your_function(...)"
        )
    return FunctionUnderTest(
        function,
        converter,
        subject,
        arguments,
        tuple(required),
        settings,
        tuple(untested),
        positional_only,
    )


def _attention_module(inputs: Mapping[str, Any]) -> Any:
    """Return a substitute for the module argument of attention functions in transformers."""
    query, key = inputs["query"], inputs["key"]
    groups = query.shape[-3] // key.shape[-3] if query.ndim > 2 else 1
    scaling = float(query.shape[-1] ** -0.5)
    return SimpleNamespace(
        num_key_value_groups=groups, training=False, is_causal=False, scaling=scaling,
        scale=scaling, head_dim=query.shape[-1], layer_idx=0, dropout=0.0, attention_dropout=0.0,
    )  # fmt: skip


def _unknown_argument(function: Any, own: str, subject: Subject) -> str:
    name = str(getattr(function, "__name__", "function"))
    name = name if name.isidentifier() else "function"
    inputs = ", ".join(subject.first_inputs)
    return (
        f"function has the argument {own}, whose name examine does not know. Give {own} a default,"
        f" or examine a function around it:\n    lambda {inputs}: {name}({inputs}, {own}=...)"
    )


def normalise_name(own: str) -> str:
    """Return an argument's name in lower case without underscores, as in `Subject.aliases`."""
    return own.lower().replace("_", "")


def read_parameters(function: Callable[..., Any]) -> tuple[list[tuple[str, bool]], tuple[str, ...]]:
    """Return the parameters, whether each is required, and the positional-only names."""
    if not isinstance(function, type):  # a module tells its arguments where it computes
        for name in ("call", "forward"):  # a layer of Keras may have both
            own = getattr(function, name, None)
            if callable(own) and not inspect.isfunction(function):
                function = own
                break
    try:
        found = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # a built-in function may tell its arguments in its docstring
        return _read_docstring_parameters(function), ()
    starred = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    positional_only = tuple(p.name for p in found if p.kind is p.POSITIONAL_ONLY)
    return [(p.name, p.default is p.empty) for p in found if p.kind not in starred], positional_only


def _read_docstring_parameters(function: Callable[..., Any]) -> list[tuple[str, bool]]:
    """Return the parameters of the first call in the docstring, and whether each is required."""
    name = getattr(function, "__name__", "")
    found = re.search(rf"\b{re.escape(name)}\(([^)]*)\)", inspect.getdoc(function) or "")
    if not name or not found:
        raise TypeError(
            "the arguments of function cannot be read. Examine a function around it, such as\n"
            "    lambda query, key, value: your_function(query, key, value)"
        )
    words = [word.strip().partition("=") for word in found[1].split(",")]
    return [(own.strip(), not equals) for own, equals, _ in words if own.strip() not in ("*", "/")]
