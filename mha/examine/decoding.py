"""Decoding steps with a cache: their outputs must be the rows of the full causal pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from mha.core.attention import scaled_dot_product_attention
from mha.core.checks import Array
from mha.core.heads import merge_heads
from mha.core.multihead import MultiHeadWeights
from mha.core.positions import Layout, linear_slopes, rotary_angles, rotate_by
from mha.examine import attention
from mha.examine.cases import Case, Draw, Subject
from mha.examine.conventions import SINCE_2023
from mha.examine.positions import rotate_part, rotated_part_note
from mha.examine.report import Finding, format_value
from mha.examine.tested_function import FunctionUnderTest
from mha.practice.attention_parts import Parts, decode
from mha.practice.bugs import LINEAR, ROTARY

ALIASES = {
    **{name: attention.ALIASES[name] for name in ("query", "key", "value")},
    "x": ("x", "hiddenstates", "inputs", "embeddings"),
    "weights": ("weights", "layer"),
    "cache": ("cache", "kvcache", "past", "pastkeyvalue", "pastkeyvalues", "layerpast", "pastkv",
              "presentkeyvalue", "state"),
    "window": attention.ALIASES["window"],
    "angles": ("angles",),
    "positions": ("positions", "positionids", "inputpos"),
    "position": ("position", "start", "offset", "startpos", "pos", "cacheposition", "curpos"),
}  # fmt: skip

POSITION_NAMES = {alias for name in ("positions", "position") for alias in ALIASES[name]}
"""Names of arguments that take positions."""

STEP_SIZES: dict[str, Callable[[int], tuple[int, ...]]] = {
    "one token at a time": lambda n: (1,) * n,
    "several first, then one by one": lambda n: (n - n // 2, *(1,) * (n // 2)),
    "several new tokens after a cache": lambda n: (n // 2, n - n // 2),
    attention.WINDOW: lambda n: (1,) * n,
    attention.LARGE: lambda n: (1,) * n,
}
"""For each kind of case, the number of new tokens of each step, for n tokens in all."""


def draw_inputs(draw: Draw, *sizes: int) -> dict[str, Any] | None:
    """Draw the inputs of a case for all n tokens; each step takes some of them."""
    n, width = sizes
    is_large = draw.kind == attention.LARGE
    if 0 in STEP_SIZES[draw.kind](n) or (
        "weights" in draw.takes and (is_large or not draw.leading)
    ):
        return None
    inputs: dict[str, Any] = {"sizes": STEP_SIZES[draw.kind](n), "cache": None}
    if "weights" in draw.takes:
        w_q, w_k, w_v = (draw.numbers(draw.leading[-1], 2 * width, width) / 2 for _ in range(3))
        x, w_o = draw.numbers(n, 2 * width), draw.numbers(draw.leading[-1] * width, width)
        inputs |= {"x": x, "weights": MultiHeadWeights(w_q, w_k, w_v, w_o)}
        inputs |= {"query": x @ w_q, "key": x @ w_k, "value": x @ w_v}
    else:
        inputs |= {
            name: draw.numbers(*draw.leading, n, width) for name in ("query", "key", "value")
        }
    if draw.kind == attention.LARGE:  # the last query with the first key: its exponential overflows
        first = inputs["key"][..., 0, :] + 3
        inputs["key"][..., 0, :] = first
        inputs["query"][..., -1, :] = 2000 * np.sqrt(width) * first / (first**2).sum(-1)[..., None]
    inputs |= {"positions": None, "position": None}
    if "window" in draw.takes:
        is_narrow = draw.kind == attention.WINDOW
        inputs["window"] = attention.WINDOW_WIDTH if is_narrow else 16 * attention.WINDOW_WIDTH
    return inputs


@dataclass(frozen=True)
class PositionUse:
    """How a decoding step itself applies positions: by a rotation, linear biases and a window.

    Parameters
    ----------
    rotates : bool, optional
        Whether it rotates queries and keys; None if its outputs do not show it.
    layout : {"pairs", "halves"}
    rotated : mapping of int to tuple of (int, int)
        For each width of partly rotated heads, the index of the first rotated component and the
        index after the last.
    slopes : mapping of int to ndarray
        For each number of heads, the slopes of linear biases; without heads, the number is 0.
    window_extra : int
        As in `Conventions`.
    """

    rotates: bool | None = None
    layout: Layout = "pairs"
    rotated: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    slopes: Mapping[int, Array] = field(default_factory=dict)
    window_extra: int = 0

    def add_inputs(self, draw: Draw, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the inputs of a case, with those of the positions that the step applies."""
        query = inputs["query"]
        width, heads = query.shape[-1], query.shape[-3] if query.ndim > 2 else 0
        takes_angles = not draw.takes.isdisjoint({"angles", "positions", "position"})
        if self.rotates or (self.rotates is None and takes_angles):
            start, stop = self.rotated.get(width, (0, width))
            inputs["angles"] = rotary_angles(np.arange(query.shape[-2] + 1), stop - start)
            inputs |= {"layout": self.layout, "rotated": (start, stop)}
        if heads in self.slopes:
            inputs["slopes"] = self.slopes[heads]
        return inputs | ({"window_extra": self.window_extra} if "window" in inputs else {})

    @property
    def notes(self) -> tuple[Finding, ...]:
        """The notes on positions that a step of `mha` does not apply."""
        notes = []
        if self.rotates and self.layout == "halves":
            notes.append(HALVES)
        if self.rotated:
            notes.append(rotated_part_note(self.rotated))
        for heads, slopes in self.slopes.items():
            if heads:
                condition = (
                    f"if linear biases of {heads} heads have the slopes {format_value(slopes)}"
                )
                slopes_of_alibi = format_value(linear_slopes(heads))
                notes.append(_note(condition, f"Those of ALiBi are {slopes_of_alibi}.", LINEAR))
        if self.window_extra:
            notes.append(_note("if a window of w has w + 1 positions, the query's own included",
                               "In transformers and in Mistral it has w.", SINCE_2023))  # fmt: skip
        return tuple(notes)


def _note(condition: str, explanation: str, section: str) -> Finding:
    text = f"another convention: the function is right {condition}. {explanation}"
    return Finding(text, convention=condition, section=section)


HALVES = _note(
    "if rotary positions are by halves",
    "Component i is rotated together with the one half a width on, as in Llama of transformers;"
    " mha.core.decoding.decode_step rotates neighbours.",
    ROTARY,
)


STEP_SLICES = {
    **dict.fromkeys(("query", "key", "value", "x"), "{{argument}}[..., {0}:{1}, :]"),
    "angles": "{{argument}}[{0}:{1}]",
    "positions": "np.arange({0}, {1})",
    "position": "{0}",
    "cache": "cache",
}
"""For each argument, the slice that belongs to the new tokens {0} to {1} - 1."""


def step_arguments(inputs: Any) -> list[dict[str, str]]:
    """Return the arguments of each step as Python source, as `Subject` describes."""
    stops = np.cumsum(inputs["sizes"])
    return [
        {name: text.format(stop - size, stop) for name, text in STEP_SLICES.items()}
        for size, stop in zip(inputs["sizes"], stops, strict=True)
    ]


def locate_call(inputs: Any, at: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """Return the step that computes a row of the output, and the index in that step."""
    stops = np.cumsum(inputs["sizes"])
    step = int(np.searchsorted(stops, at[-2], side="right"))
    return step, (*at[:-2], int(at[-2] - stops[step] + inputs["sizes"][step]), at[-1])


def expected(inputs: Any) -> Array:
    """Return the rows of the full causal pass."""
    query, key, value = (inputs[name] for name in ("query", "key", "value"))
    if "angles" in inputs:
        rotate = _rotation(inputs)
        query, key = (
            rotate(x, inputs["angles"][:-1], layout=inputs["layout"]) for x in (query, key)
        )
    n = query.shape[-2]
    added = np.where(np.tri(n, dtype=bool), 0.0, -np.inf) + added_scores(inputs, n, n)
    output = scaled_dot_product_attention(query, key, value, mask=added.astype(query.dtype))
    return _project_output(inputs, output)


def added_scores(inputs: Any, num_queries: int, num_keys: int) -> Array:
    """Return the numbers that a window and linear biases add to the last queries' scores."""
    distance = np.arange(num_queries)[:, None] + num_keys - num_queries - np.arange(num_keys)
    added = np.zeros(distance.shape)
    if inputs.get("window") is not None:
        is_near = distance < inputs["window"] + inputs["window_extra"]
        added = np.where(is_near, added, -np.inf)
    if inputs.get("slopes") is not None:
        added = added - inputs["slopes"][..., None, None] * distance
    return added


def _rotation(inputs: Any) -> Callable[..., Array]:
    """Return a function that rotates the components of a case that the step rotates."""
    return partial(rotate_part, part=slice(*inputs["rotated"]))


def _project_output(inputs: Any, outputs: Array) -> Array:
    """Return the outputs of a layer with its output projection, or those of attention alone."""
    return merge_heads(outputs) @ inputs["weights"].w_o if "weights" in inputs else outputs


def compute(inputs: Any, parts: Parts) -> Array:
    """Return the outputs of all decoding steps, with given parts."""
    query, key, value = (inputs[name] for name in ("query", "key", "value"))
    angles = inputs.get("angles", np.zeros((query.shape[-2] + 1, query.shape[-1] // 2)))
    rotation = attention.rotate_in_other_layout if inputs.get("layout") == "halves" else rotate_by
    if "rotated" in inputs:
        rotation = partial(rotate_part, part=slice(*inputs["rotated"]), rotation=rotation)
    has_bias = inputs.get("window") is not None or inputs.get("slopes") is not None
    bias = partial(added_scores, inputs) if has_bias else None
    sizes = inputs["sizes"]
    outputs = decode(query, key, value, angles, parts, None, sizes, rotation, bias)
    return _project_output(inputs, outputs)


# ---- The positions that a step applies ----


def find_position_uses(tested: FunctionUnderTest, takes: Collection[str]) -> list[PositionUse]:
    """Return the ways in which a step may apply positions, the likeliest first.

    The test has two tokens with the same key. The output of the second is then the average of the
    two values, unless the keys are rotated by different angles, or linear biases are added. Biases
    do not depend on the query, which tells the two apart.
    """
    extras = (0, 1) if "window" in tested.takes else (0,)
    odds = [_log_odds(tested, (3,), seed) for seed in (61, 67)]
    if odds[0] is None:
        odds = [_log_odds(tested, (), seed) for seed in (61, 67)]
    first, second = odds
    if first is None or second is None or "angles" in tested.takes:
        uses = [PositionUse()]
        # A step may take positions as indices in its cache alone, and rotate nothing.
        uses += [] if POSITION_NAMES.isdisjoint(takes) else [PositionUse(False)]
    elif not np.abs(np.concatenate([first, second])).max() > SMALL_ODDS:
        # A step may also rotate all tokens by position 0, by mistake.
        uses = [PositionUse(False), PositionUse(True)]
    elif np.allclose(first, second, rtol=1e-3, atol=SMALL_ODDS):
        slopes = {3: first} if len(first) == 3 else {}
        without_heads = _log_odds(tested, (), 61)
        slopes |= {} if without_heads is None else {0: without_heads[0]}
        uses = [PositionUse(False, slopes=slopes)]
    else:
        rotated = {width: x for width in (4, 8) if (x := _rotated_components(tested, width))}
        uses = [PositionUse(True)]
        if any(stop - start < width for width, (start, stop) in rotated.items()):
            uses = [PositionUse(True, layout, rotated) for layout in ("pairs", "halves")] + uses
    return [replace(use, window_extra=extra) for use in uses for extra in extras]


SMALL_ODDS = 1e-4
"""A logarithm of odds that is smaller than this is a rounding error."""


def _log_odds(
    tested: FunctionUnderTest, leading: tuple[int, ...], seed: int, query: Array | None = None
) -> Array | None:
    """Return the logarithm of the ratio of two equal keys' weights, the later by the earlier.

    The result has one number for each head; None if the output is no weighted average of the two
    values. Both tokens are given in one step, and then in two steps, since a bug may leave
    positions unused in one of these ways.
    """
    log_odds = [
        _log_odds_for_sizes(tested, leading, seed, query, sizes) for sizes in ((2,), (1, 1))
    ]
    answers = [x for x in log_odds if x is not None]
    return max(answers, key=lambda x: np.abs(x).max() > SMALL_ODDS) if answers else None


def _log_odds_for_sizes(
    tested: FunctionUnderTest,
    leading: tuple[int, ...],
    seed: int,
    query: Array | None,
    sizes: tuple[int, ...],
) -> Array | None:
    """Return `_log_odds` for steps of given sizes, and by default a random query."""
    width = 4 if query is None else len(query)
    draw = Draw("one token at a time", tested.takes, leading, np.random.default_rng(seed))
    inputs = draw_inputs(draw, 2, width)
    if inputs is None or "weights" in inputs:
        return None
    inputs["sizes"] = sizes
    inputs["key"] = np.repeat(inputs["key"][..., :1, :], 2, axis=-2)
    if query is not None:
        inputs["query"] = np.broadcast_to(query, inputs["query"].shape).copy()
    output = tested.run(Case(draw.kind, inputs, leading, tested.takes)).value
    value = inputs["value"]
    if output is None or output.shape != value.shape:
        return None
    first, last = value[..., 0, :], value[..., 1, :]
    share = ((output[..., 1, :] - first) / (last - first)).astype(float)
    if not (share.min() > 1e-6 and share.max() < 1 - 1e-6 and np.ptp(share, axis=-1).max() < 1e-3):
        return None
    weight = np.median(share, axis=-1)
    return np.atleast_1d(np.log(weight / (1 - weight)))


def _rotated_components(tested: FunctionUnderTest, width: int) -> tuple[int, int] | None:
    """Return the first rotated component and the one after the last; None if none is rotated."""
    is_rotated = []
    for query in 4 * np.eye(width):
        log_odds = _log_odds(tested, (3,), 71, query)
        log_odds = _log_odds(tested, (), 71, query) if log_odds is None else log_odds
        is_rotated.append(log_odds is not None and np.abs(log_odds).max() > SMALL_ODDS / 10)
    components = np.flatnonzero(is_rotated)
    return (int(components[0]), int(components[-1]) + 1) if len(components) else None


def subject_of(use: PositionUse) -> Subject:
    """Return the subject of decoding steps that apply positions in a given way."""

    def draw_with_positions(draw: Draw, *sizes: int) -> dict[str, Any] | None:
        inputs = draw_inputs(draw, *sizes)
        return None if inputs is None else use.add_inputs(draw, inputs)

    subject = replace(SUBJECT, draw_inputs=draw_with_positions)
    if use.rotated:  # the rotated part is known for these widths alone
        widths = tuple(use.rotated)
        sizes = tuple((n, widths[i % len(widths)]) for i, n in enumerate((5, 11, 4)))
        small = [(n, widths[0]) for n in (1, 2, 3, 4)]
        subject = replace(subject, sizes=sizes, small_sizes=small)
    return subject


SUBJECT = Subject(
    aliases=ALIASES,
    first_inputs=("query", "key", "value", "cache"),
    required_inputs=frozenset({"cache"}),
    kinds={kind: ("window",) if kind == attention.WINDOW else () for kind in STEP_SIZES},
    draw_inputs=draw_inputs,
    leading=((), (3,)),
    sizes=((5, 4), (11, 2), (4, 6)),
    small_sizes=[(n, 2) for n in (1, 2, 3, 4)],
    expected=expected,
    compute=compute,
    correct_function="core.decoding.decode_step",
    locate_call=locate_call,
    refusable_kinds={
        **dict.fromkeys(tuple(STEP_SIZES)[1:3], "if tokens come one at a time"),
        attention.WINDOW: "",
    },
    parts=(
        *("assign_roles", "turn", "score", "along", "powers", "normalise", "mix"),
        *(
            "new_positions",
            "newest",
            "extend_cache",
            "read_cache",
            "causal_diagonal",
            "read_cached_keys",
        ),
    ),
    step_arguments=step_arguments,
)
