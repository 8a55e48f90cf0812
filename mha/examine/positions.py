"""Positions: rotary ones, linear biases, and the numbers of a padded text's tokens."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from mha.core.attention import scaled_dot_product_attention
from mha.core.checks import Array
from mha.core.positions import BASE, Layout, linear_biases, linear_slopes, rotate, rotate_by
from mha.examine import attention
from mha.examine.cases import Draw, Subject
from mha.examine.derivations import ATTENTION, Arrays, Told, Worked
from mha.examine.judging import Asking
from mha.examine.report import Finding
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


def rotary_made(draw: Draw, *sizes: int) -> dict[str, Any]:
    """Draw the inputs of a case: n tokens of a width, from position 0 or later."""
    n, width = sizes
    is_later = draw.about == "later positions"
    names = ("x",) if "x" in draw.takes else ("query", "key", "value")
    return {
        **{name: draw.numbers(*draw.leading, n, width) for name in names},
        "positions": np.arange(n) + (11 if draw.is_whole else 1001) * is_later,
        **({"base": 100.0 if is_later else BASE} if "base" in draw.takes else {}),
    }


def rotary(layout: Layout, names: tuple[str, ...]) -> Subject:
    """Return the subject of rotary positions in one layout: of attention, or of one array."""

    def wanted(given: Any) -> Array:
        turned = [
            rotate(given[name], given["positions"], base=given.get("base", BASE), layout=layout)
            for name in names[:2]
        ]
        if len(names) == 1:
            return turned[0]
        query, key = turned
        return scaled_dot_product_attention(query, key, given["value"])

    def worked(given: Any, parts: Parts) -> Array:
        x = given[names[0]]
        angles = parts.rotary_angles(given["positions"], x.shape[-1], given.get("base", BASE))
        rotation = rotate_in_other_layout if layout == "halves" else rotate_by
        if len(names) == 1:
            return parts.turn(x, x, x, angles, rotation)[0]
        options = Options(angles=angles, rotate_by=rotation)
        return attend(x, given["key"], given["value"], parts, options)[1]

    return Subject(
        aliases={name: ALIASES[name] for name in (*names, "positions", "base")},
        first=(*names, "positions"),
        needs=frozenset({*names, "positions"}),
        kinds={"positions from 0": (), "later positions": ()},
        made=rotary_made,
        leading=((), (3,)),
        sizes=((5, 4), (3, 6), (7, 2), (2, 8)),
        small=((1, 2), (2, 2), (1, 4), (2, 4), (3, 4)),
        wanted=wanted,
        worked=worked,
        parts=("turn", "rotary_angles"),
        right="rotate",
        steps=(ANGLES, *ATTENTION) if len(names) > 1 else (ANGLES, TURNED),
    )


def rotate_in_other_layout(x: Array, angles: Array, *, layout: Layout = "pairs") -> Array:
    """Return rotated vectors in the layout other than the given one."""
    return rotate_by(x, angles, layout="halves" if layout == "pairs" else "pairs")


ANGLES = Told("angles", "turn", 3, "positions[:, None] * base ** (-np.arange(0, d_k, 2) / d_k)")


def turned(given: Any, steps: Arrays, at: tuple[int, ...]) -> Worked:
    """Compute a number of a rotated vector, by the layout that gives it."""
    *row, i = at
    x, half = given["x"][tuple(row)], given["x"].shape[-1] // 2
    for other, pair in ((i ^ 1, i // 2), ((i + half) % (2 * half), i % half)):
        angle = float(steps["angles"][row[-1], pair])
        number = float(x[i] * np.cos(angle) + np.sign(i - other) * x[other] * np.sin(angle))
        if np.isclose(number, steps["output"][at]):
            break

    def text(places: int) -> str:
        by, sign = factor(angle, places), "−" if i < other else "+"
        return f"{factor(x[i], places)}×cos {by} {sign} {factor(x[other], places)}×sin {by}"

    return [text], [number]


TURNED = Told("output", "turn", -1, turned, 0)


# ---- Linear biases, and numbers of tokens ----


def linear_made(draw: Draw, *sizes: int) -> dict[str, Any] | None:
    """Return the inputs of a case: numbers of heads, queries and keys."""
    heads, n, m = sizes
    is_power = heads & (heads - 1) == 0
    if is_power != (draw.about == "a power of two") or (n != m and "num_keys" not in draw.takes):
        return None
    return {"num_heads": heads, "num_queries": n, "num_keys": m}


def earlier(_given: Any, biases: Array) -> Array:
    """Return biases of earlier keys minus that of the first; a softmax ignores the rest."""
    if biases.ndim < 3:
        return biases
    seen = np.tri(biases.shape[-2], biases.shape[-1], dtype=bool)
    return np.where(seen, biases - biases[..., :1], 0)


def _biases(given: Any) -> Array:
    sizes = (given[name] for name in ("num_heads", "num_queries", "num_keys"))
    return linear_biases(*sizes, is_causal=False)


def _falling(given: Any, parts: Parts) -> Array:
    distance = np.arange(given["num_queries"])[:, None] - np.arange(given["num_keys"])
    return parts.distance_bias(parts.head_slopes(given["num_heads"]), distance)


def linear(names: tuple[str, ...]) -> Subject:
    """Return the subject of linear biases, or of slopes alone."""
    has_tokens = len(names) > 1
    return Subject(
        aliases={name: ALIASES[name] for name in names},
        first=names,
        needs=frozenset(names[:2]),
        kinds={"a power of two": (), "another number of heads": ()},
        made=linear_made,
        sizes=[(h, n, m) for h in (1, 2, 3, 4, 5, 6, 8, 12, 16) for n, m in ((5, 5), (3, 7))],
        small=[(heads, 2, 2) for heads in (1, 2, 3, 4, 5, 6, 8)],
        wanted=_biases if has_tokens else lambda given: linear_slopes(given["num_heads"]),
        worked=_falling
        if has_tokens
        else lambda given, parts: parts.head_slopes(given["num_heads"]),
        parts=("head_slopes", "distance_bias")[: 1 + has_tokens],
        right="linear_biases" if has_tokens else "core.positions.linear_slopes",
        steps=(Told("slopes", "head_slopes", -1, "one of each head"),),
        compared=earlier,
    )


def first_place(asking: Asking) -> list[Finding]:
    """Return a note if the first query has the position of the first key."""
    fewer = [
        answer.value[..., 0, :].argmax(axis=-1)
        for case, answer in zip(asking.cases, asking.answers, strict=True)
        if answer.value is not None
        and answer.value.ndim > 2
        and case.given.get("num_queries", 0) < case.given.get("num_keys", 0)
    ]
    is_first = bool(fewer) and not np.concatenate(fewer).any()
    return [attention.FIRST] if is_first and not asking.off() else []


PADDED: Mapping[str, Sequence[int]] = {
    "no padding": (0,),
    "padding on the left": (2,),
    "padding on the right": (-2,),
    "texts padded on the left": (0, 2, 1),
}
"""Padding of each sequence in tokens; negative numbers are padding on the right."""


def numbers_made(draw: Draw, n: int) -> dict[str, Any]:
    """Draw the inputs of a case: True for each token that is not padding."""
    place = np.arange(n)
    rows = [(place >= by) & (place < n + min(by, 0)) for by in PADDED[draw.about]]
    return {"real": np.array(rows)}


NUMBERS = Subject(
    aliases={"real": ALIASES["real"]},
    first=("real",),
    needs=frozenset({"real"}),
    kinds=dict.fromkeys(PADDED, ()),
    made=numbers_made,
    sizes=((3,), (7,)),
    small=((3,),),
    wanted=lambda given: np.maximum(np.cumsum(given["real"], axis=-1) - 1, 0),
    worked=lambda given, parts: parts.number_positions(given["real"]),
    parts=("number_positions",),
    right="",
    steps=(),
    compared=lambda given, numbers: np.where(given["real"], numbers, 0),
)


def subject_of(own: Collection[str], layout: Layout) -> Subject:
    """Return the subject of a function from the plain names of its arguments."""

    def has(name: str) -> bool:
        return not set(own).isdisjoint(ALIASES[name])

    if has("num_heads"):
        names = "num_heads", "num_queries", "num_keys"
        return linear(names if has("num_queries") else names[:1])
    if has("positions"):
        return rotary(layout, ("query", "key", "value") if has("key") else ("x",))
    return NUMBERS
