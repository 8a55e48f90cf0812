"""Test cases, and subjects: the kinds of functions that can be examined.

A subject draws the cases for one kind of function, and computes their correct outputs and their
outputs with a bug.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.random import Generator

from mha.core.checks import Array
from mha.examine.printed_steps import ATTENTION, PrintedStep
from mha.practice.attention_parts import Parts

FULLY_MASKED = "fully masked row"
ADDITIVE_MASK = "additive mask"
FULLY_MASKED_ADDITIVE = "fully masked row, additive mask"
FULLY_MASKED_PADDING = "fully masked row, padding"
CAUSAL_AND_MASK, CAUSAL_AND_PADDING = "is_causal with mask", "is_causal with key_padding_mask"
MASK_PER_SEQUENCE = "mask per sequence"
VERY_LOW, VERY_LOW_MASKED = "very low scores", "boolean mask, very low scores"
LOW_SCORE_TOLERANCE = 3e-2
"""The tolerance of cases with very low scores, which float32 rounds to multiples of 1/64."""


@dataclass(frozen=True, eq=False)
class Case:
    """One test case: its kind, such as "boolean mask", and its inputs by the names of `mha`.

    `leading` are the lengths of the axes before those of tokens and components, and `takes` are the
    inputs of the function that the case was drawn for. The outputs of the case, correct or with a
    bug, do not depend on the tested function: `output_cache` has them by the parts that compute
    them.
    """

    kind: str
    inputs: Mapping[str, Any]
    leading: tuple[int, ...] = ()
    takes: frozenset[str] = frozenset()
    output_cache: dict[Parts, Array | None] = field(default_factory=dict, init=False, repr=False)
    masked_rows_cache: list[Array] = field(default_factory=list, init=False, repr=False)
    """The fully masked rows, once they are computed; else empty."""

    @property
    def floats(self) -> list[np.dtype[Any]]:
        """The dtypes of its inputs of floating-point numbers."""
        arrays = (x for x in self.inputs.values() if isinstance(x, np.ndarray))
        return [x.dtype for x in arrays if x.dtype.kind == "f"]

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The common floating dtype of its inputs; float64 if it has none."""
        return np.result_type(*self.floats or [np.dtype(np.float64)])

    @property
    def has_very_low_scores(self) -> bool:
        """Whether the scores are so low that float32 rounds them coarsely."""
        return self.kind in (VERY_LOW, VERY_LOW_MASKED)

    @property
    def min_tolerance(self) -> float:
        """The smallest tolerance with which outputs of the case are compared."""
        return LOW_SCORE_TOLERANCE if self.has_very_low_scores else 0.0

    @cached_property
    def size(self) -> int:
        """The number of elements of all inputs."""
        return sum(int(np.size(x)) for x in self.inputs.values())

    def in_float32(self) -> Case:
        """Return the case with float32 inputs."""
        cast = {
            name: x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x
            for name, x in self.inputs.items()
        }
        return replace(self, inputs=cast)


@dataclass(frozen=True)
class Draw:
    """A random generator of the inputs of one case.

    `kind` is the kind of case, `takes` are the inputs of the function, and `leading` are the
    lengths of the leading axes. With `is_whole` all numbers are small integers.
    """

    kind: str
    takes: frozenset[str]
    leading: tuple[int, ...]
    rng: Generator
    is_whole: bool = False

    def numbers(self, *shape: int) -> Array:
        """Draw normal numbers, or small integers.

        The integers have no zero and few equal rows, since these hide bugs.
        """
        if not self.is_whole:
            return self.rng.normal(size=shape)
        return self.rng.permuted(np.resize(self.rng.permutation([-1.0, 1.0, 2.0, 3.0]), shape))

    def allowed(self, *shape: int) -> Array:
        """Draw a boolean mask in which each row has a True, and a False if it has two columns."""
        mask = self.rng.random(shape) < 0.6
        order = np.argsort(self.rng.random(shape), axis=-1)
        np.put_along_axis(mask, order[..., :1], True, axis=-1)
        if shape[-1] > 1:
            np.put_along_axis(mask, order[..., 1:2], False, axis=-1)
        return mask

    def masks(self, n: int, m: int) -> dict[str, Any]:
        """Draw the masks of a kind of case that all functions with masks share, if it has any."""
        allowed = self.allowed(n, m)
        if "fully masked" in self.kind:
            # One query is fully masked, whether True means allowed or masked.
            allowed[0], allowed[1:2] = False, True
        if self.kind in ("boolean mask", "mask of one row") and n == 3 and not self.is_whole:
            allowed[:] = True  # a function that multiplies 0 by -inf returns NaN here too
        if self.kind == CAUSAL_AND_MASK:  # so that no query is fully masked
            allowed[:, 0] = True
        added = np.where(allowed, self.numbers(n, m) * (self.rng.random((n, m)) < 0.5), -np.inf)
        masks_of_kinds: dict[str, dict[str, Any]] = {
            "boolean mask": {"mask": allowed},
            "mask of one row": {"mask": allowed[:1]},
            FULLY_MASKED: {"mask": allowed},
            ADDITIVE_MASK: {"mask": added},
            FULLY_MASKED_ADDITIVE: {"mask": added},
            "bias": {"bias": added},
            "key_padding_mask": {"padding": allowed[0]},
            "is_causal": {"is_causal": True},
            CAUSAL_AND_MASK: {"is_causal": True, "mask": allowed},
        }
        return masks_of_kinds.get(self.kind, {})


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A kind of function that can be examined: attention, a layer, a decoding step, or positions.

    Parameters
    ----------
    aliases : mapping of str to tuple of str
        For each input, by its name in `mha`, the names that functions give to its argument, in
        lower case and without underscores.
    first_inputs : tuple of str
        The inputs that required arguments with unknown names take, in this order.
    required_inputs : frozenset of str
        The inputs that a function must take.
    kinds : mapping of str to tuple of str
        For each kind of case, the inputs that it needs. The first kind is the plain one.
    draw_inputs : callable
        Takes a `Draw` and sizes, and returns the inputs of a case; None if there is no such case.
    sizes, small_sizes : sequence of tuple of int
        The sizes of the tested cases, and those of the smallest cases in ascending order.
    expected : callable
        Takes inputs and returns the correct output.
    compute : callable
        Takes inputs and parts of attention, and returns the output that these parts compute.
    parts : tuple of str
        The parts of attention that such a function has.
    correct_function : str
        The name of the package's function of this kind; empty if it has none.
    leading : sequence of tuple of int
        The lengths of the leading axes of the tested cases.
    printed_steps : tuple of PrintedStep
        The steps to a number of the output, which is the last one.
    locate_call : callable
        `compute` may call the parts once per sequence or per decoding step. Takes inputs and an
        index of the output, and returns the index of the call that computes this number, and the
        number's index in the result of that call.
    refusable_kinds : mapping of str to str
        For each kind of case that a correct function may refuse, the condition under which the
        function is then said to be right; if it is empty, the report lists the kind as not tested.
    select_compared : callable
        Takes inputs and an output, and returns the part of the output that is compared.
    step_arguments : callable, optional
        For functions with a cache: takes inputs, and returns the arguments of each call as Python
        source, in which {argument} is its name.
    masked_rows : callable, optional
        Takes inputs, and returns True for each row of the output whose query is fully masked.
    draw_plain_inputs : callable, optional
        Takes a `Draw` and numbers of queries and keys, and returns inputs without a mask, for the
        search for conventions. Without it, the conventions of a function are not searched for.
    token_axis_inputs : tuple of str
        The inputs whose axis of tokens may be before that of heads, or of sequences.
    output_shape : callable, optional
        Takes inputs and returns the shape of the correct output. Default: that of `expected`.
    has_heads : bool
        Whether inputs have an axis of heads.
    has_float32 : bool
        Whether there are cases in float32 too.
    """

    aliases: Mapping[str, tuple[str, ...]]
    first_inputs: tuple[str, ...]
    required_inputs: frozenset[str]
    kinds: Mapping[str, tuple[str, ...]]
    draw_inputs: Callable[..., dict[str, Any] | None]
    sizes: Sequence[tuple[Any, ...]]
    small_sizes: Sequence[tuple[Any, ...]]
    expected: Callable[[Any], Array]
    compute: Callable[[Any, Parts], Array]
    parts: tuple[str, ...]
    correct_function: str
    leading: Sequence[tuple[int, ...]] = ((),)
    printed_steps: tuple[PrintedStep, ...] = ATTENTION
    locate_call: Callable[[Any, tuple[int, ...]], tuple[int, tuple[int, ...]]] = (
        lambda _inputs, index: (0, index)
    )
    refusable_kinds: Mapping[str, str] = field(default_factory=dict)
    select_compared: Callable[[Any, Array], Array] = lambda _inputs, x: x
    step_arguments: Callable[[Any], list[dict[str, str]]] | None = None
    masked_rows: Callable[[Any], Array] | None = None
    draw_plain_inputs: Callable[[Draw, int, int], dict[str, Any] | None] | None = None
    token_axis_inputs: tuple[str, ...] = ()
    output_shape: Callable[[Any], tuple[int, ...]] | None = None
    has_heads: bool = False
    has_float32: bool = True
    drawn_cases: dict[Any, list[Case]] = field(default_factory=dict, init=False, repr=False)

    def shape(self, inputs: Any) -> tuple[int, ...]:
        """Return the shape of the correct output."""
        return (
            self.expected(inputs).shape if self.output_shape is None else self.output_shape(inputs)
        )

    def cases(self, takes: frozenset[str], extra_inputs: frozenset[tuple[str, Any]]) -> list[Case]:
        """Return the cases for a function that takes some inputs, the same each time.

        `extra_inputs`, which the conventions of the function have, are added to every case.
        """
        if (takes, extra_inputs) not in self.drawn_cases:
            self.drawn_cases[takes, extra_inputs] = self._draw_cases(takes, extra_inputs)
        return self.drawn_cases[takes, extra_inputs]

    def _draw_cases(
        self, takes: frozenset[str], extra_inputs: frozenset[tuple[str, Any]]
    ) -> list[Case]:
        """Draw all cases, and every third one in float32 too."""
        rng = np.random.default_rng(41)
        kinds = [kind for kind, names in self.kinds.items() if takes.issuperset(names)]
        cases = [
            Case(kind, {**inputs, **dict(extra_inputs)}, leading, takes)
            for kind, leading, size in product(kinds, self.leading, self.sizes)
            if (inputs := self.draw_inputs(Draw(kind, takes, leading, rng), *size))
        ]
        if not self.has_float32:
            return cases
        excluded = ("fully masked", "large negative")  # float32 has too few digits for the latter
        in_both = [
            case
            for case in cases[::3]
            if not case.kind.startswith(excluded) and "weights" not in case.inputs
        ]
        return cases + [case.in_float32() for case in in_both]

    def small_cases(
        self, like: Case, extra_inputs: frozenset[tuple[str, Any]], rng: Generator
    ) -> Iterator[Case]:
        """Yield cases of the kind of a given one with small integers, the smallest first."""
        count = len(like.leading)
        for size, leading in product(
            self.small_sizes, ((1,) * count, (2,) * count)[: 1 + bool(count)]
        ):
            for _ in range(6):
                draw = Draw(like.kind, like.takes, leading, rng, is_whole=True)
                inputs = self.draw_inputs(draw, *size)
                if inputs:
                    yield Case(like.kind, {**inputs, **dict(extra_inputs)}, leading, like.takes)
