"""Positions: rotary ones, linear biases, and position numbers of padded tokens."""

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

    `rotated_parts` has the rotated components of the widths of which a part alone is rotated: the
    first, and the one after the last.
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
        whole = rotate_in_other_layout if layout == "halves" else rotate_by
        rotation = partial(rotate_part, part=part, rotation=whole)
        if len(names) == 1:
            return parts.turn(x, x, x, angles, rotation)[0]
        options = Options(angles=angles, rotate_by=rotation)
        return attend(x, inputs["key"], inputs["value"], parts, options)[1]

    return Subject(
        aliases={name: ALIASES[name] for name in (*names, "positions", "base")},
        first_inputs=(*names, "positions"),
        needs=frozenset({*names, "positions"}),
        kinds={"positions from 0": (), "later positions": ()},
        draw_inputs=draw_rotary_inputs,
        leading=((), (3,)),
        sizes=((5, 4), (3, 6), (7, 2), (2, 8)),
        small_sizes=((1, 2), (2, 2), (1, 4), (2, 4), (3, 4)),
        expected=expected,
        compute=compute,
        parts=("turn", "rotary_angles"),
        right="rotate",
        token_axis_inputs=names,
        steps=(ANGLES, *ATTENTION) if len(names) > 1 else (ANGLES, TURNED),
    )


def rotate_in_other_layout(x: Array, angles: Array, *, layout: Layout = "pairs") -> Array:
    """Return rotated vectors in the layout other than the given one."""
    return rotate_by(x, angles, layout="halves" if layout == "pairs" else "pairs")


def rotate_part(
    x: Array,
    angles: Array,
    *,
    part: slice,
    layout: Layout = "pairs",
    rotation: Callable[..., Array] = rotate_by,
) -> Array:
    """Return vectors of which a part of the components is rotated."""
    rotated = x.copy()
    rotated[..., part] = rotation(x[..., part], angles, layout=layout)
    return rotated


def find_tokens_first(tested: FunctionUnderTest) -> bool:
    """Return whether the axis of tokens is before that of heads: (n, num_heads, width).

    The output for one token changes with its own position, and for attention with all of them.
    """
    for first in (False, True):
        trial = tokens_first(tested) if first else tested
        draw = Draw("positions from 0", tested.takes, (3,), np.random.default_rng(73))
        inputs = draw_rotary_inputs(draw, 5, 4)
        changed = [inputs]
        if "x" in inputs:
            changed.append({**inputs, "positions": inputs["positions"] + (np.arange(5) == 4)})
        else:
            value = inputs["value"].copy()
            value[1] += 1
            changed.append({**inputs, "value": value})
        both = [trial.run(Case(draw.kind, each, (3,), tested.takes)).value for each in changed]
        usual, other = both
        if usual is None or other is None or not usual.shape == other.shape == (3, 5, 4):
            continue
        differs = ~np.isclose(usual, other)
        if "x" in inputs and differs.any() and not differs[:, :4].any():
            return first
        if "x" not in inputs and differs[1].any() and not differs[[0, 2]].any():
            return first
    return False


def tokens_first(tested: FunctionUnderTest) -> FunctionUnderTest:
    """Return the function in the layout with tokens before heads."""
    return tested.with_conventions(
        replace(tested.conventions, tokens_first=True), output_axes="swapped"
    )


def find_rotated_parts(tested: FunctionUnderTest) -> dict[int, tuple[int, int]]:
    """Return the components that depend on the position, for widths of which a part does.

    The result has the first such component, and the one after the last. It is empty if each
    component depends on the position, or if those that do are not side by side.
    """
    found = {}
    for _, width in tested.subject.sizes:
        draw = Draw("positions from 0", tested.takes, (3,), np.random.default_rng(79))
        inputs = draw_rotary_inputs(draw, 5, width)
        output = tested.run(Case(draw.kind, inputs, (3,), tested.takes)).value
        if output is None or output.shape != inputs["x"].shape:
            return {}
        places = np.flatnonzero(~np.isclose(output, inputs["x"], 1e-9, 1e-9).all(axis=(0, 1)))
        if not len(places) or np.ptp(places) + 1 != len(places) or len(places) % 2:
            return {}
        found[width] = int(places[0]), int(places[-1]) + 1
    is_part = any(stop - start < width for width, (start, stop) in found.items())
    return found if is_part else {}


def partial_note(rotated_parts: Mapping[int, tuple[int, int]]) -> Finding:
    """Return the note on the rotation of a part of each head."""
    parts = [f"{a} to {b - 1} of {width}" for width, (a, b) in sorted(rotated_parts.items())]
    condition = f"if rotary positions rotate components {', '.join(parts)}"
    said = f"another convention: the function is right {condition}, counted from 0."
    return Finding(said, convention=condition, section=ROTARY)


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
        by, sign = factor(angle, places), "−" if i < other else "+"
        return f"{factor(x[i], places)}×cos {by} {sign} {factor(x[other], places)}×sin {by}"

    return [text], [number]


TURNED = PrintedStep("output", "turn", -1, calculate_rotation, 0)


# ---- Linear biases, and numbers of tokens ----


def draw_bias_sizes(draw: Draw, *sizes: int) -> dict[str, Any] | None:
    """Return the inputs of a case: numbers of heads, queries and keys."""
    heads, n, m = sizes
    is_power = heads & (heads - 1) == 0
    if is_power != (draw.kind == "a power of two") or (n != m and "num_keys" not in draw.takes):
        return None
    return {"num_heads": heads, "num_queries": n, "num_keys": m}


def relative_to_first_key(_inputs: Any, biases: Array) -> Array:
    """Return the biases of earlier keys minus that of the first; a softmax ignores the rest."""
    if biases.ndim < 3:
        return biases
    is_earlier = np.tri(biases.shape[-2], biases.shape[-1], dtype=bool)
    return np.where(is_earlier, biases - biases[..., :1], 0)


def _biases(inputs: Any) -> Array:
    sizes = (inputs[name] for name in ("num_heads", "num_queries", "num_keys"))
    return linear_biases(*sizes, is_causal=False)


def _compute_biases(inputs: Any, parts: Parts) -> Array:
    distance = np.arange(inputs["num_queries"])[:, None] - np.arange(inputs["num_keys"])
    return parts.distance_bias(parts.head_slopes(inputs["num_heads"]), distance)


def bias_subject(names: tuple[str, ...]) -> Subject:
    """Return the subject of linear biases, or of slopes alone."""
    has_tokens = len(names) > 1
    return Subject(
        aliases={name: ALIASES[name] for name in names},
        first_inputs=names,
        needs=frozenset(names[:2]),
        kinds={"a power of two": (), "another number of heads": ()},
        draw_inputs=draw_bias_sizes,
        sizes=[(h, n, m) for h in (1, 2, 3, 4, 5, 6, 8, 12, 16) for n, m in ((5, 5), (3, 7))],
        small_sizes=[(heads, 2, 2) for heads in (1, 2, 3, 4, 5, 6, 8)],
        expected=_biases if has_tokens else lambda inputs: linear_slopes(inputs["num_heads"]),
        compute=_compute_biases
        if has_tokens
        else lambda inputs, parts: parts.head_slopes(inputs["num_heads"]),
        parts=("head_slopes", "distance_bias")[: 1 + has_tokens],
        right="linear_biases" if has_tokens else "core.positions.linear_slopes",
        steps=(PrintedStep("slopes", "head_slopes", -1, "one of each head"),),
        select_compared=relative_to_first_key,
    )


def position_findings(examination: Examination) -> list[Finding]:
    """Return a note if the first query has the position of the first key."""
    fewer = [
        outcome.value[..., 0, :].argmax(axis=-1)
        for case, outcome in zip(examination.cases, examination.outcomes, strict=True)
        if outcome.value is not None
        and outcome.value.ndim > 2
        and case.inputs.get("num_queries", 0) < case.inputs.get("num_keys", 0)
    ]
    is_first = bool(fewer) and not np.concatenate(fewer).any()
    return [attention.FIRST_POSITION_NOTE] if is_first and not examination.differing() else []


PADDINGS: Mapping[str, Sequence[int]] = {
    "no padding": (0,),
    "padding on the left": (2,),
    "padding on the right": (-2,),
    "texts padded on the left": (0, 2, 1),
}
"""Padding of each sequence in tokens; negative numbers are padding on the right."""


def draw_padding(draw: Draw, n: int) -> dict[str, Any]:
    """Draw the inputs of a case: True for each token that is not padding."""
    place = np.arange(n)
    rows = [(place >= by) & (place < n + min(by, 0)) for by in PADDINGS[draw.kind]]
    return {"real": np.array(rows)}


NUMBERS = Subject(
    aliases={"real": ALIASES["real"]},
    first_inputs=("real",),
    needs=frozenset({"real"}),
    kinds=dict.fromkeys(PADDINGS, ()),
    draw_inputs=draw_padding,
    sizes=((3,), (7,)),
    small_sizes=((3,),),
    expected=lambda inputs: np.maximum(np.cumsum(inputs["real"], axis=-1) - 1, 0),
    compute=lambda inputs, parts: parts.number_positions(inputs["real"]),
    parts=("number_positions",),
    right="",
    steps=(),
    select_compared=lambda inputs, numbers: np.where(inputs["real"], numbers, 0),
)


def subject_of(own: Collection[str], layout: Layout) -> Subject:
    """Return the subject of a function, from the normalised names of its arguments."""

    def has(name: str) -> bool:
        return not set(own).isdisjoint(ALIASES[name])

    if has("num_heads"):
        names = "num_heads", "num_queries", "num_keys"
        return bias_subject(names if has("num_queries") else names[:1])
    if has("positions"):
        return rotary_subject(layout, ("query", "key", "value") if has("key") else ("x",))
    return NUMBERS
