"""Decoding steps with a cache: their test cases, compared with the full causal pass."""

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
from mha.examine.function_calls import Asked
from mha.examine.positions import rotate_in_other_layout
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

PLACES = {alias for name in ("positions", "position") for alias in ALIASES[name]}
"""Names of arguments that take positions."""

STEPS: dict[str, Callable[[int], tuple[int, ...]]] = {
    "one token at a time": lambda n: (1,) * n,
    "several first, then one by one": lambda n: (n - n // 2, *(1,) * (n // 2)),
    "several new tokens after a cache": lambda n: (n // 2, n - n // 2),
}
"""How n tokens are split among the steps."""


def made(draw: Draw, *sizes: int) -> dict[str, Any] | None:
    """Draw the inputs of a case for all n tokens."""
    n, width = sizes
    if 0 in STEPS[draw.about](n) or ("weights" in draw.takes and not draw.leading):
        return None
    given: dict[str, Any] = {"sizes": STEPS[draw.about](n), "cache": None}
    if "weights" in draw.takes:
        w_q, w_k, w_v = (draw.numbers(draw.leading[-1], 2 * width, width) / 2 for _ in range(3))
        x, w_o = draw.numbers(n, 2 * width), draw.numbers(draw.leading[-1] * width, width)
        given |= {"x": x, "weights": MultiHeadWeights(w_q, w_k, w_v, w_o)}
        given |= {"query": x @ w_q, "key": x @ w_k, "value": x @ w_v}
    else:
        given |= {name: draw.numbers(*draw.leading, n, width) for name in ("query", "key", "value")}
    given |= {"positions": None, "position": None}
    if draw.takes & {"angles", "positions", "position", "rotary"} and "unturned" not in draw.takes:
        given |= {"angles": rotary_angles(np.arange(n + 1), width), "rotary": True}
        given["layout"] = "halves" if "halves" in draw.takes else "pairs"
    return given


NEW = {
    **dict.fromkeys(("query", "key", "value", "x"), "{{own}}[..., {0}:{1}, :]"),
    "angles": "{{own}}[{0}:{1}]",
    "positions": "np.arange({0}, {1})",
    "position": "{0}",
    "cache": "cache",
}
"""For each argument, the slice that belongs to the new tokens {0} to {1} - 1."""


def calls(given: Any) -> list[dict[str, str]]:
    """Return the arguments of each step as Python source."""
    stops = np.cumsum(given["sizes"])
    return [
        {name: text.format(stop - size, stop) for name, text in NEW.items()}
        for size, stop in zip(given["sizes"], stops, strict=True)
    ]


def call(given: Any, at: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Return the step that computes a row of the output, and the index in that step."""
    stops = np.cumsum(given["sizes"])
    step = int(np.searchsorted(stops, at[-2], side="right"))
    return step, (*at[:-2], int(at[-2] - stops[step] + given["sizes"][step]), at[-1])


def wanted(given: Any) -> Array:
    """Return the rows of the full causal pass."""
    query, key, value = (given[name] for name in ("query", "key", "value"))
    if "angles" in given:
        query, key = (
            rotate_by(x, given["angles"][:-1], layout=given["layout"]) for x in (query, key)
        )
    return _mixed(given, scaled_dot_product_attention(query, key, value, is_causal=True))


def _mixed(given: Any, outputs: Array) -> Array:
    return merge_heads(outputs) @ given["weights"].w_o if "weights" in given else outputs


def worked(given: Any, parts: Parts) -> Array:
    """Compute the outputs of a decoding step with given parts."""
    query, key, value = (given[name] for name in ("query", "key", "value"))
    angles = given.get("angles", np.zeros((query.shape[-2] + 1, query.shape[-1] // 2)))
    rotation = rotate_in_other_layout if given.get("layout") == "halves" else rotate_by
    outputs = decode(query, key, value, angles, parts, sizes=given["sizes"], rotate_by=rotation)
    return _mixed(given, outputs)


def turns(asked: Asked) -> bool | None:
    """Return whether a step rotates queries and keys itself; None if its output does not show it.

    Where two keys are the same, the second query's output is the average of their values, unless
    the keys are rotated by different angles.
    """
    draw = Draw("one token at a time", asked.takes, (2,), np.random.default_rng(61))
    given = made(draw, 2, 4)
    if given is None or "weights" in given or "angles" in asked.takes:
        return None
    for leading in ((2,), ()):
        arrays = {
            name: given[name] if leading else given[name][0] for name in asked.subject.first[:3]
        }
        arrays["key"] = np.repeat(arrays["key"][..., :1, :], 2, axis=-2)
        case = Case(draw.about, {**given, **arrays}, leading, asked.takes)
        output, value = asked.ask(case).value, arrays["value"]
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


def _taking(*own: str) -> Subject:
    """Return the subject with more inputs."""
    return replace(
        SUBJECT, made=lambda draw, *sizes: made(replace(draw, takes=draw.takes | {*own}), *sizes)
    )


SUBJECT = Subject(
    aliases=ALIASES,
    first=("query", "key", "value", "cache"),
    needs=frozenset({"cache"}),
    kinds=dict.fromkeys(STEPS, ()),
    made=made,
    leading=((), (3,)),
    sizes=((5, 4), (11, 2), (4, 6)),
    small=[(n, 2) for n in (1, 2, 3, 4)],
    wanted=wanted,
    worked=worked,
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

UNTURNED = _taking("unturned")
"""Steps that rotate nothing, whatever arguments they take."""
IN_HALVES = _taking("rotary", "halves")
"""Steps that rotate component i together with component i + width / 2."""
TURNING = _taking("rotary")
"""Steps that rotate queries and keys themselves."""
