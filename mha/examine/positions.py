"""Positions: rotary ones, linear biases, and position numbers of padded tokens."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from mha.core.attention import scaled_dot_product_attention
from mha.core.checks import Array
from mha.core.positions import BASE, Layout, linear_biases, linear_slopes, rotate, rotate_by
from mha.examine import attention
from mha.examine.cases import Draw, Subject
from mha.examine.printed_steps import ATTENTION, Arrays, Calculations, PrintedStep
from mha.examine.report import Finding
from mha.examine.report_building import Examination
from mha.practice.attention_parts import Options, Parts, attend
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


def rotary_subject(layout: Layout, names: tuple[str, ...]) -> Subject:
    """Return the subject of rotary positions in one layout, for attention or for one array."""

    def expected(inputs: Any) -> Array:
        rotated = [
            rotate(inputs[name], inputs["positions"], base=inputs.get("base", BASE), layout=layout)
            for name in names[:2]
        ]
        if len(names) == 1:
            return rotated[0]
        query, key = rotated
        return scaled_dot_product_attention(query, key, inputs["value"])

    def compute(inputs: Any, parts: Parts) -> Array:
        x = inputs[names[0]]
        angles = parts.rotary_angles(inputs["positions"], x.shape[-1], inputs.get("base", BASE))
        rotation = rotate_in_other_layout if layout == "halves" else rotate_by
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
        steps=(ANGLES, *ATTENTION) if len(names) > 1 else (ANGLES, TURNED),
    )


def rotate_in_other_layout(x: Array, angles: Array, *, layout: Layout = "pairs") -> Array:
    """Return rotated vectors in the layout other than the given one."""
    return rotate_by(x, angles, layout="halves" if layout == "pairs" else "pairs")


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
