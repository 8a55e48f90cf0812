"""Encodings of positions: rotary positions, linear biases, and numbers of padded tokens."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from mha.core.attention import scaled_dot_product_attention
from mha.core.checks import Array
from mha.core.positions import BASE, Layout, linear_biases, linear_slopes, rotate, rotate_by
from mha.examine import attention
from mha.examine.cases import Case, Draw, Subject
from mha.examine.printed_steps import ATTENTION, Arrays, Calculations, PrintedStep
from mha.examine.report import Finding
from mha.examine.report_building import Examination
from mha.examine.tested_function import FunctionUnderTest
from mha.practice.attention_parts import Options, Parts, attend
from mha.practice.bugs import ROTARY
from mha.views.arithmetic import factor

ALIASES = {
    "x": ("x", "inputs"),
    **{name: attention.ALIASES[name] for name in ("query", "key", "value")},
    "positions": ("positions", "position", "positionids", "pos"),
    "base": ("base", "theta"),
    "num_heads": ("numheads", "nheads", "heads", "h"),
    "num_queries": ("numqueries", "nqueries", "n", "seqlen", "querylength"),
    "num_keys": ("numkeys", "nkeys", "m", "keylength"),
    "real": ("real", "mask", "attentionmask", "paddingmask"),
}


# ---- Rotary positions ----


def draw_rotary_inputs(draw: Draw, *sizes: int) -> dict[str, Any]:
    """Draw the inputs of a case: n tokens of a width, from position 0 or a later one."""
    n, width = sizes
    is_later = draw.kind == "later positions"
    names = ("x",) if "x" in draw.takes else ("query", "key", "value")
    return {
        **{name: draw.numbers(*draw.leading, n, width) for name in names},
        "positions": np.arange(n) + (11 if draw.is_whole else 1001) * is_later,
        **({"base": 100.0 if is_later else BASE} if "base" in draw.takes else {}),
    }


def rotary_subject(
    layout: Layout,
    names: tuple[str, ...],
    rotated_parts: Mapping[int, tuple[int, int]] = MappingProxyType({}),
) -> Subject:
    """Return the subject of rotary positions in one layout, for attention or for one array.

    If only a part of the components is rotated, `rotated_parts` has for each width the first
    rotated component, and the one after the last.
    """

    def part_of(x: Array) -> slice:
        return slice(*rotated_parts.get(x.shape[-1], (0, x.shape[-1])))

    def expected(inputs: Any) -> Array:
        rotated = [
            rotate_part(
                inputs[name],
                inputs["positions"],
                part=part_of(inputs[name]),
                rotation=partial(rotate, base=inputs.get("base", BASE)),
                layout=layout,
            )
            for name in names[:2]
        ]
        if len(names) == 1:
            return rotated[0]
        query, key = rotated
        return scaled_dot_product_attention(query, key, inputs["value"])

    def compute(inputs: Any, parts: Parts) -> Array:
        x = inputs[names[0]]
        part = part_of(x)
        width, base = part.stop - part.start, inputs.get("base", BASE)
        angles = parts.rotary_angles(inputs["positions"], width, base)
        whole = attention.rotate_in_other_layout if layout == "halves" else rotate_by
        rotation = partial(rotate_part, part=part, rotation=whole)
        if len(names) == 1:
            return parts.turn(x, x, x, angles, rotation)[0]
        options = Options(angles=angles, rotate_by=rotation)
        return attend(x, inputs["key"], inputs["value"], parts, options)[1]

    return Subject(
        aliases={name: ALIASES[name] for name in (*names, "positions", "base")},
        first_inputs=(*names, "positions"),
        required_inputs=frozenset({*names, "positions"}),
        kinds={"positions from 0": (), "later positions": ()},
        draw_inputs=draw_rotary_inputs,
        leading=((), (3,)),
        sizes=((5, 4), (3, 6), (7, 2), (2, 8)),
        small_sizes=((1, 2), (2, 2), (1, 4), (2, 4), (3, 4)),
        expected=expected,
        compute=compute,
        parts=("turn", "rotary_angles"),
        correct_function="rotate",
        token_axis_inputs=names,
        printed_steps=(ANGLES, *ATTENTION) if len(names) > 1 else (ANGLES, ROTATED),
    )


def rotate_part(
    x: Array,
    angles: Array,
    *,
    part: slice,
    layout: Layout = "pairs",
    rotation: Callable[..., Array] = rotate_by,
) -> Array:
    """Return vectors with some of their components rotated: those of the slice `part`."""
    rotated = x.copy()
    rotated[..., part] = rotation(x[..., part], angles, layout=layout)
    return rotated


def has_tokens_first(tested: FunctionUnderTest) -> bool:
    """Return whether the axis of tokens is before that of heads: (n, num_heads, width).

    If the position of the last token changes, only its own rotated vectors change. In attention, if
    the values of one head change, only the outputs of that head change.
    """
    for is_first in (False, True):
        trial = with_tokens_first(tested) if is_first else tested
        draw = Draw("positions from 0", tested.takes, (3,), np.random.default_rng(73))
        inputs = draw_rotary_inputs(draw, 5, 4)
        changed = [inputs]
        if "x" in inputs:
            changed.append({**inputs, "positions": inputs["positions"] + (np.arange(5) == 4)})
        else:
            value = inputs["value"].copy()
            value[1] += 1
            changed.append({**inputs, "value": value})
        cases = [Case(draw.kind, each, (3,), tested.takes) for each in changed]
        output, other = (trial.run(case).value for case in cases)
        if output is None or other is None or not output.shape == other.shape == (3, 5, 4):
            continue
        differs = ~np.isclose(output, other)
        if "x" in inputs and differs.any() and not differs[:, :4].any():
            return is_first
        if "x" not in inputs and differs[1].any() and not differs[[0, 2]].any():
            return is_first
    return False


def with_tokens_first(tested: FunctionUnderTest) -> FunctionUnderTest:
    """Return the function with the axis of tokens before that of heads."""
    return tested.with_conventions(replace(tested.conventions, token_axis=-3), output_token_axis=-3)


def find_rotated_parts(tested: FunctionUnderTest) -> dict[int, tuple[int, int]]:
    """Return the rotated components of each width: the first, and the one after the last.

    A component is rotated if it depends on the position. The result is empty if all components are
    rotated in all widths, or if the rotated ones are not side by side.
    """
    rotated_parts = {}
    for _, width in tested.subject.sizes:
        draw = Draw("positions from 0", tested.takes, (3,), np.random.default_rng(79))
        inputs = draw_rotary_inputs(draw, 5, width)
        output = tested.run(Case(draw.kind, inputs, (3,), tested.takes)).value
        if output is None or output.shape != inputs["x"].shape:
            return {}
        components = np.flatnonzero(~np.isclose(output, inputs["x"], 1e-9, 1e-9).all(axis=(0, 1)))
        if not len(components) or np.ptp(components) + 1 != len(components) or len(components) % 2:
            return {}
        rotated_parts[width] = int(components[0]), int(components[-1]) + 1
    is_part = any(stop - start < width for width, (start, stop) in rotated_parts.items())
    return rotated_parts if is_part else {}


def rotated_part_note(rotated_parts: Mapping[int, tuple[int, int]]) -> Finding:
    """Return the note that a part of the components of each head is rotated."""
    parts = [f"{a} to {b - 1} of {width}" for width, (a, b) in sorted(rotated_parts.items())]
    condition = f"if rotary positions rotate components {', '.join(parts)}"
    text = f"another convention: the function is right {condition}, counted from 0."
    return Finding(text, convention=condition, section=ROTARY)


ANGLES = PrintedStep(
    "angles", "turn", 3, "positions[:, None] * base ** (-np.arange(0, d_k, 2) / d_k)"
)


def calculate_rotation(inputs: Any, steps: Arrays, at: tuple[int, ...]) -> Calculations:
    """Return the arithmetic and value of a component of a rotated vector, by the fitting layout."""
    *row, i = at
    x, half = inputs["x"][tuple(row)], inputs["x"].shape[-1] // 2
    for other, pair in ((i ^ 1, i // 2), ((i + half) % (2 * half), i % half)):
        angle = float(steps["angles"][row[-1], pair])
        number = float(x[i] * np.cos(angle) + np.sign(i - other) * x[other] * np.sin(angle))
        if np.isclose(number, steps["output"][at]):
            break

    def text(places: int) -> str:
        written_angle, sign = factor(angle, places), "−" if i < other else "+"
        left, right = factor(x[i], places), factor(x[other], places)
        return f"{left}×cos {written_angle} {sign} {right}×sin {written_angle}"

    return [text], [number]


ROTATED = PrintedStep("output", "turn", -1, calculate_rotation, 0)


# ---- Linear biases, and position numbers of padded tokens ----


def draw_bias_sizes(draw: Draw, *sizes: int) -> dict[str, Any] | None:
    """Return the inputs of a case: numbers of heads, queries and keys."""
    heads, n, m = sizes
    is_power = heads & (heads - 1) == 0
    if is_power != (draw.kind == "a power of two") or (n != m and "num_keys" not in draw.takes):
        return None
    return {"num_heads": heads, "num_queries": n, "num_keys": m}


def subtract_first_bias(_inputs: Any, biases: Array) -> Array:
    """Return the biases of earlier keys minus that of the first key, and 0 for later keys.

    This is the part of the biases that matters: a softmax ignores a number that is added to a whole
    row, and a causal mask hides later keys.
    """
    if biases.ndim < 3:
        return biases
    is_earlier = np.tri(biases.shape[-2], biases.shape[-1], dtype=bool)
    return np.where(is_earlier, biases - biases[..., :1], 0)


def _biases(inputs: Any) -> Array:
    """Return the correct linear biases."""
    sizes = (inputs[name] for name in ("num_heads", "num_queries", "num_keys"))
    return linear_biases(*sizes, is_causal=False)


def _compute_biases(inputs: Any, parts: Parts) -> Array:
    """Return the linear biases that given parts compute."""
    distance = np.arange(inputs["num_queries"])[:, None] - np.arange(inputs["num_keys"])
    return parts.distance_bias(parts.head_slopes(inputs["num_heads"]), distance)


def bias_subject(names: tuple[str, ...]) -> Subject:
    """Return the subject of linear biases, or of slopes alone."""
    has_tokens = len(names) > 1
    return Subject(
        aliases={name: ALIASES[name] for name in names},
        first_inputs=names,
        required_inputs=frozenset(names[:2]),
        kinds={"a power of two": (), "another number of heads": ()},
        draw_inputs=draw_bias_sizes,
        sizes=[(h, n, m) for h in (1, 2, 3, 4, 5, 6, 8, 12, 16) for n, m in ((5, 5), (3, 7))],
        small_sizes=[(heads, 2, 2) for heads in (1, 2, 3, 4, 5, 6, 8)],
        expected=_biases if has_tokens else lambda inputs: linear_slopes(inputs["num_heads"]),
        compute=_compute_biases
        if has_tokens
        else lambda inputs, parts: parts.head_slopes(inputs["num_heads"]),
        parts=("head_slopes", "distance_bias")[: 1 + has_tokens],
        correct_function="linear_biases" if has_tokens else "core.positions.linear_slopes",
        printed_steps=(PrintedStep("slopes", "head_slopes", -1, "one of each head"),),
        select_compared=subtract_first_bias,
    )


def position_findings(examination: Examination) -> list[Finding]:
    """Return a note if linear biases align the first query with the first key."""
    fewer = [
        outcome.value[..., 0, :].argmax(axis=-1)
        for case, outcome in zip(examination.cases, examination.outcomes, strict=True)
        if outcome.value is not None
        and outcome.value.ndim > 2
        and case.inputs.get("num_queries", 0) < case.inputs.get("num_keys", 0)
    ]
    is_first = bool(fewer) and not np.concatenate(fewer).any()
    return [attention.FIRST_POSITION_NOTE] if is_first and not examination.wrong_cases() else []


PADDINGS: Mapping[str, Sequence[int]] = {
    "no padding": (0,),
    "padding on the left": (2,),
    "padding on the right": (-2,),
    "texts padded on the left": (0, 2, 1),
}
"""For each kind of case, the padding of each sequence in tokens; on the right if negative."""


def draw_padding(draw: Draw, n: int) -> dict[str, Any]:
    """Return the inputs of a case: True for each token that is not padding."""
    position = np.arange(n)
    is_token = [
        (position >= padding) & (position < n + min(padding, 0)) for padding in PADDINGS[draw.kind]
    ]
    return {"real": np.array(is_token)}


POSITION_NUMBERS = Subject(
    aliases={"real": ALIASES["real"]},
    first_inputs=("real",),
    required_inputs=frozenset({"real"}),
    kinds=dict.fromkeys(PADDINGS, ()),
    draw_inputs=draw_padding,
    sizes=((3,), (7,)),
    small_sizes=((3,),),
    expected=lambda inputs: np.maximum(np.cumsum(inputs["real"], axis=-1) - 1, 0),
    compute=lambda inputs, parts: parts.number_positions(inputs["real"]),
    parts=("number_positions",),
    correct_function="",
    printed_steps=(),
    select_compared=lambda inputs, numbers: np.where(inputs["real"], numbers, 0),
)


def subject_of(arguments: Collection[str], layout: Layout) -> Subject:
    """Return the subject of a function by its arguments, whose names are normalised."""

    def takes(name: str) -> bool:
        return not set(arguments).isdisjoint(ALIASES[name])

    if takes("num_heads"):
        names = "num_heads", "num_queries", "num_keys"
        return bias_subject(names if takes("num_queries") else names[:1])
    if takes("positions"):
        return rotary_subject(layout, ("query", "key", "value") if takes("key") else ("x",))
    return POSITION_NUMBERS
