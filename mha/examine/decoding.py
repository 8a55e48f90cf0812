"""Decoding steps with a cache: their test cases, compared with the full causal pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mha.core.attention import scaled_dot_product_attention
from mha.core.checks import Array
from mha.core.heads import merge_heads
from mha.core.multihead import MultiHeadWeights
from mha.core.positions import rotary_angles, rotate_by
from mha.examine import attention
from mha.examine.cases import Case, Draw, Subject
from mha.examine.positions import rotate_in_other_layout
from mha.examine.tested_function import FunctionUnderTest
from mha.practice.attention_parts import Parts, decode

ALIASES = {
    **{name: attention.ALIASES[name] for name in ("query", "key", "value")},
    "x": ("x", "hiddenstates", "inputs", "embeddings"),
    "weights": ("weights", "layer"),
    "cache": ("cache", "kvcache", "past", "pastkeyvalue", "pastkeyvalues", "layerpast", "pastkv",
              "presentkeyvalue", "state"),
    "angles": ("angles",),
    "positions": ("positions", "positionids", "inputpos"),
    "position": ("position", "start", "offset", "startpos", "pos", "cacheposition", "curpos"),
}  # fmt: skip

POSITION_NAMES = {alias for name in ("positions", "position") for alias in ALIASES[name]}
"""Names of arguments that take positions."""

STEPS: dict[str, Callable[[int], tuple[int, ...]]] = {
    "one token at a time": lambda n: (1,) * n,
    "several first, then one by one": lambda n: (n - n // 2, *(1,) * (n // 2)),
    "several new tokens after a cache": lambda n: (n // 2, n - n // 2),
}
"""How n tokens are split among the steps."""


def draw_inputs(draw: Draw, *sizes: int) -> dict[str, Any] | None:
    """Draw the inputs of a case for all n tokens."""
    n, width = sizes
    if 0 in STEPS[draw.kind](n) or ("weights" in draw.takes and not draw.leading):
        return None
    inputs: dict[str, Any] = {"sizes": STEPS[draw.kind](n), "cache": None}
    if "weights" in draw.takes:
        w_q, w_k, w_v = (draw.numbers(draw.leading[-1], 2 * width, width) / 2 for _ in range(3))
        x, w_o = draw.numbers(n, 2 * width), draw.numbers(draw.leading[-1] * width, width)
        inputs |= {"x": x, "weights": MultiHeadWeights(w_q, w_k, w_v, w_o)}
        inputs |= {"query": x @ w_q, "key": x @ w_k, "value": x @ w_v}
    else:
        inputs |= {
            name: draw.numbers(*draw.leading, n, width) for name in ("query", "key", "value")
        }
    inputs |= {"positions": None, "position": None}
    if draw.takes & {"angles", "positions", "position", "rotary"} and "unturned" not in draw.takes:
        inputs |= {"angles": rotary_angles(np.arange(n + 1), width), "rotary": True}
        inputs["layout"] = "halves" if "halves" in draw.takes else "pairs"
    return inputs


NEW = {
    **dict.fromkeys(("query", "key", "value", "x"), "{{own}}[..., {0}:{1}, :]"),
    "angles": "{{own}}[{0}:{1}]",
    "positions": "np.arange({0}, {1})",
    "position": "{0}",
    "cache": "cache",
}
"""For each argument, the slice that belongs to the new tokens {0} to {1} - 1."""


def calls(inputs: Any) -> list[dict[str, str]]:
    """Return the arguments of each step as Python source."""
    stops = np.cumsum(inputs["sizes"])
    return [
        {name: text.format(stop - size, stop) for name, text in NEW.items()}
        for size, stop in zip(inputs["sizes"], stops, strict=True)
    ]


def call(inputs: Any, at: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Return the step that computes a row of the output, and the index in that step."""
    stops = np.cumsum(inputs["sizes"])
    step = int(np.searchsorted(stops, at[-2], side="right"))
    return step, (*at[:-2], int(at[-2] - stops[step] + inputs["sizes"][step]), at[-1])


def expected(inputs: Any) -> Array:
    """Return the rows of the full causal pass."""
    query, key, value = (inputs[name] for name in ("query", "key", "value"))
    if "angles" in inputs:
        query, key = (
            rotate_by(x, inputs["angles"][:-1], layout=inputs["layout"]) for x in (query, key)
        )
    return _project_output(inputs, scaled_dot_product_attention(query, key, value, is_causal=True))


def _project_output(inputs: Any, outputs: Array) -> Array:
    return merge_heads(outputs) @ inputs["weights"].w_o if "weights" in inputs else outputs


def compute(inputs: Any, parts: Parts) -> Array:
    """Compute the outputs of a decoding step with given parts."""
    query, key, value = (inputs[name] for name in ("query", "key", "value"))
    angles = inputs.get("angles", np.zeros((query.shape[-2] + 1, query.shape[-1] // 2)))
    rotation = rotate_in_other_layout if inputs.get("layout") == "halves" else rotate_by
    outputs = decode(query, key, value, angles, parts, sizes=inputs["sizes"], rotate_by=rotation)
    return _project_output(inputs, outputs)


def find_rotation(tested: FunctionUnderTest) -> bool | None:
    """Return whether a step rotates queries and keys itself; None if its output does not show it.

    Where two keys are the same, the second query's output is the average of their values, unless
    the keys are rotated by different angles.
    """
    draw = Draw("one token at a time", tested.takes, (2,), np.random.default_rng(61))
    inputs = draw_inputs(draw, 2, 4)
    if inputs is None or "weights" in inputs or "angles" in tested.takes:
        return None
    for leading in ((2,), ()):
        arrays = {
            name: inputs[name] if leading else inputs[name][0]
            for name in tested.subject.first_inputs[:3]
        }
        arrays["key"] = np.repeat(arrays["key"][..., :1, :], 2, axis=-2)
        case = Case(draw.kind, {**inputs, **arrays}, leading, tested.takes)
        output, value = tested.run(case).value, arrays["value"]
        if output is None or output.shape != value.shape:
            continue
        first, last, second = value[..., 0, :], value[..., 1, :], output[..., 1, :]
        if np.allclose(second, (first + last) / 2, rtol=1e-4, atol=1e-4):
            return False
        share = (second - last) / (first - last)
        is_between = share.min() > 1e-3 and share.max() < 1 - 1e-3
        if is_between and np.allclose(share, share[..., :1], rtol=1e-3, atol=1e-3):
            return True
    return None


def _with_inputs(*own: str) -> Subject:
    """Return the subject for functions that take further inputs."""
    return replace(
        SUBJECT,
        draw_inputs=lambda draw, *sizes: draw_inputs(
            replace(draw, takes=draw.takes | {*own}), *sizes
        ),
    )


SUBJECT = Subject(
    aliases=ALIASES,
    first_inputs=("query", "key", "value", "cache"),
    needs=frozenset({"cache"}),
    kinds=dict.fromkeys(STEPS, ()),
    draw_inputs=draw_inputs,
    leading=((), (3,)),
    sizes=((5, 4), (11, 2), (4, 6)),
    small_sizes=[(n, 2) for n in (1, 2, 3, 4)],
    expected=expected,
    compute=compute,
    right="core.decoding.decode_step",
    call=call,
    limits=dict.fromkeys(tuple(STEPS)[1:], "if tokens come one at a time"),
    parts=(
        *("assign_roles", "turn", "score", "along", "normalise", "mix"),
        *(
            "new_positions",
            "newest",
            "extend_cache",
            "read_cache",
            "causal_diagonal",
            "read_cached_keys",
        ),
    ),
    calls=calls,
)

UNROTATED = _with_inputs("unturned")
"""Steps without rotation, whatever arguments they take."""
IN_HALVES = _with_inputs("rotary", "halves")
"""Steps that rotate component i together with component i + width / 2."""
ROTATING = _with_inputs("rotary")
"""Steps that rotate queries and keys themselves."""
