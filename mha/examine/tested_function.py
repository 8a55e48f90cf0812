"""A tested function, and calls of it with the cases of `mha`.

A case has its inputs by the names and in the conventions of `mha`. A call passes them by the
function's own names and in its own conventions, and converts the output back.
"""

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
from mha.examine.conventions import MHA_CONVENTIONS, Conventions
from mha.examine.report import has_own_line, python_source

OMITTED_DEFAULTS: Mapping[str, Any] = {"is_causal": False, "enable_gqa": False}
"""Values of inputs that a case does not have."""

RETURNED_WEIGHTS = frozenset(
    ("needweights", "returnattn", "outputattentions", "returnweights", "returnattention",
     "returnattentionscores", "returnattnweights", "returnattentionweights", "returnscores",
     "returnprobs")
)  # fmt: skip
"""Names of arguments with which a function also returns its weights."""

NEUTRAL_SETTINGS: Mapping[str, Any] = {
    **dict.fromkeys(("dropout", "dropoutp", "dropoutrate", "attndropout", "pdropout"), 0.0),
    "training": False,
    **dict.fromkeys(RETURNED_WEIGHTS, False),
    "deterministic": True,
    **dict.fromkeys(("blocksize", "blockq", "blockk", "blockm", "blockn", "chunksize"), 4),
    **dict.fromkeys(("br", "bc", "tilesize", "querychunksize", "keychunksize"), 4),
}
"""Values of required arguments that do not change the output, by their names."""


SIZE_ARGUMENTS: Mapping[str, Callable[[Mapping[str, Any]], int]] = {
    **dict.fromkeys(("numheads", "nheads", "nhead", "numqheads", "numattentionheads"),
                    lambda inputs: _count_heads(inputs["query"])),
    **dict.fromkeys(("numkvheads", "nkvheads", "numkeyvalueheads", "kvheads"),
                    lambda inputs: _count_heads(inputs["key"])),
    **dict.fromkeys(("headdim", "headsize", "dimhead", "dk"),
                    lambda inputs: int(inputs["query"].shape[-1])),
}  # fmt: skip
"""Sizes of queries and keys that some functions take as arguments, by their names."""


def _count_heads(x: Array) -> int:
    """Return the number of heads of queries or keys."""
    return int(x.shape[-3]) if x.ndim > 2 else 1


@dataclass(frozen=True)
class Outcome:
    """The output for one case, and the fault of the call, if it has one.

    Without an output that can be compared, the value is None. An output of another dtype than the
    inputs is a fault too.
    """

    value: Array | None
    fault: str = ""


@dataclass(frozen=True)
class FunctionUnderTest:
    """A tested function, and the way to call it.

    Parameters
    ----------
    function : callable
    converter : Converter
        Converts arrays to those of the function's library.
    subject : Subject
        The kind of function.
    arguments : mapping of str to str
        For each of its arguments, by its own name, the input that the argument takes.
    required : tuple of str
        The inputs whose arguments have no default.
    settings : mapping
        Values of further arguments, which are the same in each call; a callable value takes the
        inputs of a case and returns the value.
    untested : tuple of str
        Unknown arguments, which keep their default.
    positional_only : tuple of str
        Arguments that cannot be passed by name.
    conventions : Conventions
    output_token_axis : int
        The axis of tokens of the output, counted from the end: -2, or as in `Conventions`.
    has_merged_heads : bool
        Whether the output has its heads concatenated. Its axis of tokens is then counted as before
        the concatenation.
    may_be_none : frozenset of str
        The required inputs for which the function takes None.
    filled_masks : frozenset of str
        The required masks, `mask` or `padding`, for which the function does not take None. A case
        without one has a mask that allows every key.
    padding_argument : str
        The argument that also takes a padding mask of (batch, m), though it is named as a mask.
    setup_code : tuple of str
        Lines of Python before a printed case.
    code_name : str
        The name of the function in a printed case; by default its own.
    """

    function: Callable[..., Any]
    converter: Converter
    subject: Subject
    arguments: Mapping[str, str]
    required: tuple[str, ...]
    settings: Mapping[str, Any]
    untested: tuple[str, ...] = ()
    positional_only: tuple[str, ...] = ()
    conventions: Conventions = MHA_CONVENTIONS
    output_token_axis: int = -2
    has_merged_heads: bool = False
    may_be_none: frozenset[str] = frozenset()
    filled_masks: frozenset[str] = frozenset()
    padding_argument: str = ""
    setup_code: tuple[str, ...] = ()
    code_name: str = ""

    @property
    def takes(self) -> frozenset[str]:
        """The inputs that the function takes, by their names in `mha`."""
        return frozenset(self.arguments.values()) | (
            {"padding"} if self.padding_argument else set()
        )

    @property
    def name(self) -> str:
        """The function's name."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def with_conventions(self, conventions: Conventions, **fields: Any) -> FunctionUnderTest:
        """Return the function with other conventions, and other values of the given fields."""
        return replace(self, conventions=conventions, **fields)

    def kind_name(self, kind: str) -> str:
        """Return the name of a kind of case, with the function's own name for the mask."""
        argument = next(
            (argument for argument, name in self.arguments.items() if name == "mask"), "mask"
        )
        return re.sub(r"\bmask\b", argument, kind)

    def add_context(self, case: Case) -> Case:
        """Return a case whose own tokens are its context, if the function requires a context."""
        if "context" not in self.required or "x" not in case.inputs or "context" in case.inputs:
            return case
        return replace(case, inputs={**case.inputs, "context": case.inputs["x"]})

    def can_run(self, case: Case) -> bool:
        """Return whether a case has all inputs that the function requires."""
        known = {*case.inputs, *OMITTED_DEFAULTS, *self.may_be_none, *self.filled_masks, "scale"}
        if self.padding_argument and "padding" in case.inputs:
            if "mask" in case.inputs or case.inputs["padding"].ndim < 2:
                return False
            known.add("mask")
        return all(name in known for name in self.required)

    def call_arguments(self, case: Case) -> dict[str, Any]:
        """Return the arguments for a case, by the function's own names and conventions."""
        inputs = {
            **OMITTED_DEFAULTS,
            **dict.fromkeys(self.may_be_none),
            **{name: _allow_every_key(name, case) for name in self.filled_masks},
            **case.inputs,
        }
        if "scale" in self.required and "scale" not in inputs and "query" in inputs:
            inputs["scale"] = float(inputs["query"].shape[-1] ** -0.5)
        arguments = {
            argument: self.conventions.encode(name, self._move_tokens(name, inputs[name]), case)
            for argument, name in self.arguments.items()
            if name in inputs
        }
        if self.padding_argument and "padding" in inputs:
            rows = self.conventions.encode_mask_values(inputs["padding"], case)
            arguments[self.padding_argument] = rows
        for argument, value in self.settings.items():
            arguments[argument] = value(inputs) if callable(value) else value
        return arguments

    def _move_tokens(self, name: str, x: Any) -> Any:
        """Return an input with its axis of tokens where the function has it."""
        axis = self.conventions.token_axis
        if name not in self.subject.token_axis_inputs or x is None or x.ndim < -axis:
            return x
        return np.moveaxis(x, -2, axis)

    def to_function_axes(self, x: Array) -> Array:
        """Return an output of `mha` in the axes of the function's outputs."""
        axis = self.output_token_axis
        if axis == -2 or x.ndim < -axis:
            return x
        x = np.moveaxis(x, -2, axis)
        return x.reshape(*x.shape[:-2], -1) if self.has_merged_heads else x

    def to_mha_axes(self, x: Array, shape: tuple[int, ...]) -> Array:
        """Return an output of the function in the axes of `mha`, where it has the given shape.

        An output of an unexpected shape is returned as it is, and reported as wrong.
        """
        axis, empty = self.output_token_axis, np.empty(shape)
        if axis == -2 or len(shape) < -axis:
            return x
        if x.shape == self.to_function_axes(empty).shape:
            return np.moveaxis(x.reshape(np.moveaxis(empty, -2, axis).shape), axis, -2)
        has_all_axes = not self.has_merged_heads and x.ndim == len(shape)
        return np.moveaxis(x, axis, -2) if has_all_axes else x

    def argument_sources(self, case: Case) -> list[dict[str, str]]:
        """Return the arguments of each call as Python source, with arrays by name."""
        call_arguments = self.call_arguments(case)
        names = {
            argument: argument if has_own_line(x) else python_source(x)
            for argument, x in call_arguments.items()
        }
        steps = (
            [{}]
            if self.subject.step_arguments is None
            else self.subject.step_arguments(case.inputs)
        )
        return [
            {
                argument: step.get(self.arguments.get(argument, ""), x).format(argument=argument)
                if step else x
                for argument, x in names.items()
            }
            for step in steps
        ]  # fmt: skip

    def source_lines(self, case: Case, name: str) -> list[str]:
        """Return the inputs of a case, and the calls of the function, as lines of Python."""
        lines = [
            f"{argument} = {self._array_code(x)}"
            for argument, x in self.call_arguments(case).items()
            if has_own_line(x)
        ]
        argument_sources = []
        for one_call in self.argument_sources(case):
            inputs = (
                x if argument in self.positional_only else f"{argument}={x}"
                for argument, x in one_call.items()
            )
            argument_sources.append(f"{name}({', '.join(inputs)})")
        if self.subject.step_arguments is None:
            return [*self.setup_code, *lines, *argument_sources]
        outputs = [f"output_{i}" for i in range(1, len(argument_sources) + 1)]
        assignments = map(", cache = ".join, zip(outputs, argument_sources, strict=True))
        return [
            *lines,
            "cache = None",
            *assignments,
            f"np.concatenate([{', '.join(outputs)}], axis=-2)",
        ]

    def _array_code(self, x: Any) -> str:
        return (
            self.converter.code.format(python_source(x))
            if isinstance(x, np.ndarray)
            else python_source(x)
        )

    def call(self, inputs: Mapping[str, Any]) -> Any:
        """Call the function; raise an UnusableError if it changes an input."""
        copies = {
            argument: self.converter.convert(x.copy()) if isinstance(x, np.ndarray) else x
            for argument, x in inputs.items()
        }
        arrays = [argument for argument, x in inputs.items() if isinstance(x, np.ndarray)]
        before = {argument: as_numpy(copies[argument]).copy() for argument in arrays}
        positional_only = [
            copies.pop(argument) for argument in self.positional_only if argument in copies
        ]
        passed = dict(zip(self.positional_only, positional_only, strict=False)) | copies
        result = self.function(*positional_only, **copies)
        for argument, x in before.items():
            if not np.array_equal(as_numpy(passed[argument]), x, equal_nan=x.dtype.kind == "f"):
                raise UnusableError(f"the function changes its argument {argument}")
        return result

    def _run_calls(self, case: Case) -> Any:
        """Return the outputs of all calls of a case, concatenated along the queries."""
        call_arguments, rows = self.call_arguments(case), []
        if self.subject.step_arguments is None:
            return self.call(call_arguments)
        known = {**call_arguments, "np": np, "cache": None}
        for call in self.argument_sources(case):
            result = self.call({argument: eval(text, known) for argument, text in call.items()})
            if not isinstance(result, tuple) or len(result) != 2:
                raise UnusableError("the function does not return a pair of an output and a cache")
            rows.append(as_numpy(result[0]))
            known["cache"] = result[1]
        return np.concatenate(rows, axis=-2)

    def run(self, case: Case) -> Outcome:
        """Return the output for a case, in the axes of `mha`."""
        try:
            with np.errstate(all="ignore"):
                result = self._run_calls(case)
            shape = self.subject.shape(case.inputs)
            value = self.to_mha_axes(
                _select_array(result, self.to_function_axes(np.empty(shape)).shape), shape
            )
        except UnusableError as unusable:
            return Outcome(None, str(unusable))
        except Exception as error:
            message = " ".join(str(error).split())
            return Outcome(None, f"the function raises {type(error).__name__}: {message[:200]}")
        if value.dtype.kind not in "fiub":
            return Outcome(None, f"the function returns {value.dtype} instead of numbers")
        input_dtype = as_numpy(self.converter.convert(np.zeros(1, case.dtype))).dtype
        fault = f"the function returns {value.dtype} for input of {input_dtype}"
        is_other = bool(case.floats) and value.dtype.kind == "f" and value.dtype != input_dtype
        return Outcome(value, fault if is_other else "")


def _allow_every_key(name: str, case: Case) -> Array:
    """Return a mask or a padding mask of a case in which every key is allowed."""
    inputs = case.inputs
    queries = inputs["x"] if "x" in inputs else inputs["query"]
    keys = inputs.get("context", inputs["x"]) if "x" in inputs else inputs["key"]
    axes = (queries.shape[-2],) if name == "mask" else case.leading[:1]
    return np.ones((*axes, keys.shape[-2]), bool)


class UnusableError(Exception):
    """Raised if an output cannot be compared; the message is printed in the report."""


def _select_array(result: Any, shape: tuple[int, ...]) -> Array:
    """Return the output in a result: from a tuple, the first element of the expected shape."""
    if isinstance(result, tuple | list) and result and hasattr(result[0], "shape"):
        fitting = [x for x in result if tuple(getattr(x, "shape", ())) == shape]
        result = (fitting or result)[0]
    if result is None:
        raise UnusableError("the function returns None instead of an array")
    return as_numpy(result)


def wrap_function(
    function: Callable[..., Any], converter: Converter, subject: Subject
) -> FunctionUnderTest:
    """Return a function with its arguments matched to the inputs of a subject.

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
    parameters, positional_only = read_parameters(function)
    claimed = {
        by_alias[normalise_name(argument)]
        for argument, _ in parameters
        if normalise_name(argument) in by_alias
    }
    unclaimed = [name for name in subject.first_inputs if name not in claimed]
    mask_arguments = [
        normalise_name(argument)
        for argument, _ in parameters
        if by_alias.get(normalise_name(argument)) == "mask"
    ]
    if len(mask_arguments) > 1 and "mask" in mask_arguments and "padding" not in claimed:
        by_alias["mask"] = "padding"  # next to an attn_mask, an argument `mask` is of padding
    for argument, is_required in parameters:
        name = by_alias.get(normalise_name(argument), "")
        if name in arguments.values():
            name = ""
        if not name and normalise_name(argument) == "module" and is_required:
            settings[argument] = _attention_module
            continue
        if not name and "query" in subject.aliases and normalise_name(argument) in SIZE_ARGUMENTS:
            settings[argument] = SIZE_ARGUMENTS[normalise_name(argument)]
            continue
        if not name and is_required and normalise_name(argument) in NEUTRAL_SETTINGS:
            settings[argument] = NEUTRAL_SETTINGS[normalise_name(argument)]
            continue
        if not name and is_required and unclaimed:
            name = unclaimed.pop(0)
        if not name:
            if is_required:
                raise TypeError(_unknown_argument_message(function, argument, subject))
            if normalise_name(argument) not in NEUTRAL_SETTINGS:
                untested.append(argument)
            continue
        arguments[argument] = name
        required += [name] if is_required else []
    if not subject.required_inputs <= set(arguments.values()):
        missing = sorted(subject.required_inputs - set(arguments.values()))
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
    """Return a substitute for the module that attention functions of transformers take."""
    query, key = inputs["query"], inputs["key"]
    groups = query.shape[-3] // key.shape[-3] if query.ndim > 2 else 1
    scaling = float(query.shape[-1] ** -0.5)
    return SimpleNamespace(
        num_key_value_groups=groups, training=False, is_causal=False, scaling=scaling,
        scale=scaling, head_dim=query.shape[-1], layer_idx=0, dropout=0.0, attention_dropout=0.0,
    )  # fmt: skip


def _unknown_argument_message(function: Any, argument: str, subject: Subject) -> str:
    name = str(getattr(function, "__name__", "function"))
    name = name if name.isidentifier() else "function"
    inputs = ", ".join(subject.first_inputs)
    return (
        f"function has the argument {argument}, whose name examine does not know. Give {argument}"
        f" a default, or examine a function around it:\n"
        f"    lambda {inputs}: {name}({inputs}, {argument}=...)"
    )


def normalise_name(argument: str) -> str:
    """Return an argument's name in lower case without underscores, as in `Subject.aliases`."""
    return argument.lower().replace("_", "")


def read_parameters(function: Callable[..., Any]) -> tuple[list[tuple[str, bool]], tuple[str, ...]]:
    """Return the parameters, each with whether it is required, and the positional-only names."""
    if not isinstance(function, type):  # a module has its arguments at the method that computes
        for name in ("call", "forward"):  # a layer of Keras may have both
            method = getattr(function, name, None)
            if callable(method) and not inspect.isfunction(function):
                function = method
                break
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # a built-in function may have its arguments in its docstring
        return _read_docstring_parameters(function), ()
    starred = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    positional_only = tuple(p.name for p in parameters if p.kind is p.POSITIONAL_ONLY)
    return [
        (p.name, p.default is p.empty) for p in parameters if p.kind not in starred
    ], positional_only


def read_defaults(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the defaults of a function's arguments, by names as in `Subject.aliases`."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return {}
    return {normalise_name(p.name): p.default for p in parameters if p.default is not p.empty}


def _read_docstring_parameters(function: Callable[..., Any]) -> list[tuple[str, bool]]:
    """Return the arguments of the first call in the docstring, and whether each is required."""
    name = getattr(function, "__name__", "")
    call = re.search(rf"\b{re.escape(name)}\(([^)]*)\)", inspect.getdoc(function) or "")
    if not name or not call:
        raise TypeError(
            "the arguments of function cannot be read. Examine a function around it, such as\n"
            "    lambda query, key, value: your_function(query, key, value)"
        )
    pieces = [word.strip().partition("=") for word in call[1].split(",")]
    return [
        (argument.strip(), not equals)
        for argument, equals, _ in pieces
        if argument.strip() not in ("*", "/")
    ]
