"""Attention of queries, keys and values: its test cases and their correct outputs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mha.core.attention import attention_scores, masked_scores, repeat_heads, scaled_scores
from mha.core.checks import Array
from mha.core.masks import first_query_position
from mha.core.positions import Layout, rotate_by
from mha.core.score_variants import softmax_with_sink
from mha.core.softmax import softmax
from mha.examine.cases import (
    ADDITIVE_MASK,
    CAUSAL_AND_MASK,
    CAUSAL_AND_PADDING,
    FULLY_MASKED,
    FULLY_MASKED_ADDITIVE,
    FULLY_MASKED_PADDING,
    MASK_PER_SEQUENCE,
    VERY_LOW,
    VERY_LOW_MASKED,
    Case,
    Draw,
    Subject,
)
from mha.examine.conventions import FIRST_POSITION
from mha.examine.report import Finding
from mha.examine.tested_function import FunctionUnderTest
from mha.practice.attention_parts import RIGHT_NAN_ROWS, Options, Part, Parts, attend
from mha.practice.bugs import DECODING

ALIASES = {
    "query": ("query", "q", "queries", "xq", "querystates", "querylayer", "qs"),
    "key": ("key", "k", "keys", "xk", "keystates", "keylayer", "ks"),
    "value": ("value", "v", "values", "xv", "valuestates", "valuelayer", "vs"),
    "mask": ("mask", "attnmask", "attentionmask", "attmask", "allowed", "srcmask", "tgtmask"),
    "bias": (
        "bias", "attnbias", "attentionbias", "attbias", "positionbias", "relposbias", "alibi",
        "alibibias", "relativepositionbias", "scoresbias",
    ),
    "padding": ("keypaddingmask", "paddingmask", "padmask", "keymask", "kvmask", "keypadding",
                "srckeypaddingmask", "memorykeypaddingmask", "tgtkeypaddingmask"),
    "lengths": ("validlens", "validlen", "validlengths", "lengths", "seqlens", "keylengths",
                "kvlens", "keyvalueseqlengths"),
    "is_causal": ("iscausal", "causal", "usecausalmask", "causalmask", "causalmasking"),
    "scale": ("scale", "scaling", "smscale", "softmaxscale", "scalefactor", "qkscale"),
    "enable_gqa": ("enablegqa",),
    "n_rep": ("nrep", "numkeyvaluegroups", "nkvgroups", "numqueriespergroup", "kvrepeats"),
    "window": ("window", "windowsize", "slidingwindow", "windowlength", "localwindow"),
    "segments": ("segmentids", "docids", "documentids", "sequenceids", "packingids"),
    "softcap": ("softcap", "logitcap", "logitsoftcap", "attnlogitsoftcapping", "softcapping",
                "softclamp", "attnsoftcap"),
}  # fmt: skip
"""Names of arguments, as in `Subject`."""

CAPPED_AND_MASK, GROUPED = "softcap with mask", "grouped heads"
LARGE, LONG_SEQUENCE, LARGE_NEGATIVE = "large scores", "long sequence", "large negative scores"
LARGE_MASKED, BIAS_OF_HEADS = "boolean mask, large scores", "bias per head"
WINDOW, SEGMENTS = "sliding window", "segment ids"
CAUSAL_AND_OTHER_MASK = (CAUSAL_AND_MASK, CAUSAL_AND_PADDING)

KINDS = {
    "plain": (),
    LARGE: (),
    LARGE_NEGATIVE: (),
    LONG_SEQUENCE: (),
    "is_causal": ("is_causal",),
    "boolean mask": ("mask",),
    "mask of one row": ("mask",),
    "mask per head": ("mask",),
    LARGE_MASKED: ("mask",),
    MASK_PER_SEQUENCE: ("mask",),
    FULLY_MASKED: ("mask",),
    ADDITIVE_MASK: ("mask",),
    FULLY_MASKED_ADDITIVE: ("mask",),
    "bias": ("bias",),
    BIAS_OF_HEADS: ("bias",),
    "key_padding_mask": ("padding",),
    FULLY_MASKED_PADDING: ("padding",),
    "lengths": ("lengths",),
    CAUSAL_AND_MASK: ("is_causal", "mask"),
    CAUSAL_AND_PADDING: ("is_causal", "padding"),
    "scale": ("scale",),
    "enable_gqa": ("enable_gqa",),
    "n_rep": ("n_rep",),
    GROUPED: (),
    "softcap": ("softcap",),
    CAPPED_AND_MASK: ("softcap", "mask"),
    WINDOW: ("window",),
    SEGMENTS: ("segments",),
    VERY_LOW: (),
    VERY_LOW_MASKED: ("mask",),
}
"""For each kind of case, the inputs that it needs."""

EQUAL_SIZES, EQUAL_COUNTS, MORE_KEYS, MORE_QUERIES = (
    (5, 5, 7, 7),
    (5, 5, 3, 2),
    (3, 7, 5, 2),
    (7, 3, 2, 5),
)
"""Numbers of queries and keys, the width of both, and that of values."""
POSITION_SIZES = ((5, 5, 8, 8), (5, 5, 4, 2), (3, 3, 6, 2), (7, 7, 2, 5))
"""The sizes for a function that applies positions itself: as many queries as keys, in pairs."""
SMALL_SIZES = [
    (n, m, d_k, d_v)
    for n, m in ((1, 1), (1, 2), (2, 2), (2, 3), (3, 3))
    for d_k, d_v in ((1, 1), (4, 1), (2, 1), (4, 4), (2, 2))
]
"""Sizes of the smallest cases. With a width of 4 the scale is exactly 1/2."""
RARE_KINDS = (
    LARGE,
    LARGE_NEGATIVE,
    LARGE_MASKED,
    BIAS_OF_HEADS,
    "mask of one row",
    "mask per head",
    MASK_PER_SEQUENCE,
    VERY_LOW,
    VERY_LOW_MASKED,
)
"""Kinds that are tested in fewer shapes, as are fully masked rows."""
GROUPED_KINDS = ("enable_gqa", "n_rep", GROUPED)
"""Kinds in which heads share keys and values."""
NEEDS_TWO_KEYS = (
    *("is_causal", *CAUSAL_AND_OTHER_MASK),
    *(CAPPED_AND_MASK, "key_padding_mask", "lengths"),
    *GROUPED_KINDS,
)
"""Kinds that need at least two keys."""
VERY_LOW_DEPTH = 2.0**17
"""The scores of the kind `VERY_LOW` are about minus this."""
WINDOW_WIDTH = 3
"""The window of the kind `WINDOW`."""
HEADS_PER_GROUP = 2
"""The number of heads that share keys and values: another one than the number of groups, 3."""
LONG_LENGTH = 133
"""The length of the longest case: more than a block of 128, and no multiple of a block."""


POSITION_PARTS = ("turn", "rotary_angles", "head_slopes", "distance_bias")
"""The parts of a function that applies positions itself."""


def draw_inputs(draw: Draw, *sizes: int) -> dict[str, Any] | None:
    """Draw the inputs of a case; return None if there is no such case."""
    kind, leading, (n, m, d_k, d_v) = draw.kind, draw.leading, sizes
    is_rare = kind in RARE_KINDS or "fully masked" in kind
    if is_rare and sizes in (EQUAL_COUNTS, MORE_QUERIES):
        return None
    if (n > m and "is_causal" in kind) or (m == 1 and kind in NEEDS_TWO_KEYS):
        return None
    if not leading and kind in (
        *GROUPED_KINDS,
        FULLY_MASKED_PADDING,
        MASK_PER_SEQUENCE,
        BIAS_OF_HEADS,
    ):
        return None
    if kind == GROUPED and not draw.takes.isdisjoint({"enable_gqa", "n_rep"}):
        return None
    if len(leading) < 2 and kind == MASK_PER_SEQUENCE:
        return None
    if not leading and kind == "lengths":
        return None
    is_low = kind in (VERY_LOW, VERY_LOW_MASKED)
    if (is_low or kind in (WINDOW, SEGMENTS)) and n != m:
        return None
    if kind == LONG_SEQUENCE:
        if sizes != EQUAL_SIZES and not draw.is_whole:
            return None
        n = m = LONG_LENGTH
    heads = (*leading[:-1], HEADS_PER_GROUP * leading[-1]) if kind in GROUPED_KINDS else leading
    query, key = draw.numbers(*heads, n, d_k), draw.numbers(*leading, m, d_k)
    inputs: dict[str, Any] = {"query": query, "key": key}
    inputs["value"] = draw.numbers(*leading, m, d_v)
    inputs_of_kinds: dict[str, dict[str, Any]] = {
        "mask per head": {"mask": draw.allowed(*leading, n, m)},
        MASK_PER_SEQUENCE: {"mask": draw.allowed(*leading[:1], *[1] * len(leading[1:]), n, m)},
        LARGE_MASKED: {"mask": draw.allowed(n, m)},
        VERY_LOW_MASKED: {"mask": draw.allowed(n, m) | (np.arange(m) == 0)},
        BIAS_OF_HEADS: {"bias": draw.numbers(*leading[-1:], n, m)},
        "scale": {"scale": 0.75},
        "enable_gqa": {"enable_gqa": True},
        "n_rep": {"n_rep": HEADS_PER_GROUP},
        "softcap": {"softcap": 1.5},
        CAPPED_AND_MASK: {"softcap": 1.5, "mask": draw.allowed(n, m)},
        "key_padding_mask": {"padding": draw.allowed(*leading[:1], m)},
        CAUSAL_AND_PADDING: {
            "is_causal": True,
            "padding": draw.allowed(*leading[:1], m) | (np.arange(m) == 0),
        },
        FULLY_MASKED_PADDING: {"padding": np.arange(leading[0] * m).reshape(-1, m) >= m}
        if leading
        else {},
        "lengths": {"lengths": 1 + np.arange(leading[0] if leading else 1) % m},
        WINDOW: {"window": WINDOW_WIDTH},
        SEGMENTS: {"segments": np.arange(n) * 2 // n},
    }
    if is_low:
        inputs |= draw_low_scores(draw, n)
    if kind == VERY_LOW and "is_causal" in draw.takes:  # some functions refuse it with a mask
        inputs["is_causal"] = True
    if kind == LARGE_MASKED:  # so that a mask of -100 is too small
        query *= 100
    if kind == LARGE_NEGATIVE:
        # All exponentials of a row underflow, unless its largest score is subtracted.
        key = key[..., :1, :] + 1e-3 * key
        middle = key[..., :1, :]
        query = query * 1e-3 - 800 * np.sqrt(d_k) * middle / (middle**2).sum(axis=-1, keepdims=True)
        inputs |= {"query": query, "key": key}
    if kind == LARGE:  # the first query with the first key: its exponential overflows
        key[..., 0, 0] += 3
        first = key[..., 0, :]
        query[..., 0, :] = 2000 * np.sqrt(d_k) * first / (first**2).sum(axis=-1, keepdims=True)
    return {**inputs, **inputs_of_kinds.get(kind, draw.masks(n, m))}


def draw_low_scores(draw: Draw, n: int) -> dict[str, Array]:
    """Draw queries, keys and values with scores of about -VERY_LOW_DEPTH, which differ by one.

    Queries and keys are multiples of 1/4 and have the width 16, so that float32 holds the scores.
    """
    shape = (*draw.leading, n, 16)
    query, key = (draw.rng.integers(-4, 5, shape) / divisor for divisor in (1.0, 4.0))
    key[..., 0] = 1
    inputs = {"query": query, "key": key, "value": draw.numbers(*shape)}
    return {**inputs, "query": very_low_queries(inputs, VERY_LOW_DEPTH)}


def very_low_queries(inputs: Any, depth: float) -> Array:
    """Return the queries of a case of very low scores, changed for scores of about -depth."""
    query: Array = inputs["query"].copy()
    query[..., 0] = -depth * np.sqrt(query.shape[-1])
    return query


def draw_plain_inputs(draw: Draw, n: int, m: int) -> dict[str, Any] | None:
    """Return plain inputs of n queries and m keys, whose values are as wide as the keys."""
    return draw_inputs(draw, n, m, 4, 4)


def real_keys(inputs: Any) -> Array | None:
    """Return True for each key that is not padding; None if the case has no padding."""
    if inputs.get("lengths") is not None:
        keys = inputs.get("context", inputs["x"]) if "x" in inputs else inputs["key"]
        return np.arange(keys.shape[-2]) < np.asarray(inputs["lengths"])[:, None]
    return inputs.get("padding")


def is_causal(inputs: Any) -> bool:
    """Return whether later keys are masked, by an argument or always."""
    return bool(inputs.get("is_causal") or inputs.get("is_always_causal"))


def added_mask(inputs: Any, n: int, m: int) -> Array:
    """Return all masks of a case as one additive mask."""
    mask, real = inputs.get("bias", inputs.get("mask")), real_keys(inputs)
    added = np.zeros((n, m))
    if mask is not None:
        added = np.where(mask, 0, -np.inf) if mask.dtype == bool else added + mask
    if real is not None:
        if real.ndim > 1:  # a row per sequence, with axes for its heads, if any, and its queries
            has_heads = "x" in inputs or inputs["query"].ndim > 3
            real = real[:, None, None, :] if has_heads else real[:, None, :]
        added = np.where(real, added, -np.inf)
    if is_causal(inputs):
        added = np.where(distance_to_keys(inputs, n, m) >= 0, added, -np.inf)
    near = nearby_keys(inputs, n, m)
    added = added if near is None else np.where(near, added, -np.inf)
    return added + linear_biases(inputs, n, m)


def linear_biases(inputs: Any, n: int, m: int, parts: Parts = RIGHT_NAN_ROWS) -> Array | float:
    """Return the linear biases that a function itself adds, by some parts; 0 without them."""
    if inputs.get("linear_biases") is None:
        return 0.0
    heads = inputs["query"].shape[-3] if inputs["query"].ndim > 2 else 1
    known = inputs["linear_biases"].slopes_of(heads)
    slopes = parts.head_slopes(heads) if known is None else np.array(known)
    biases: Array = parts.distance_bias(slopes, abs(distance_to_keys(inputs, n, m)))
    return biases if inputs["query"].ndim > 2 else biases[0]


def rotation_angles(inputs: Any, n: int, d_k: int, parts: Parts = RIGHT_NAN_ROWS) -> Array:
    """Return the angles by which a function itself rotates n queries and keys, by some parts."""
    _, base = inputs["rotation"]
    angles: Array = parts.rotary_angles(np.arange(n), d_k, base)
    return angles


def distance_to_keys(inputs: Any, n: int, m: int) -> Array:
    """Return by how many positions each key is before each query, by the alignment of a case."""
    first = first_query_position(n, m, inputs.get("align", "top-left"))
    return first + np.arange(n)[:, None] - np.arange(m)


def nearby_keys(inputs: Any, n: int, m: int) -> Array | None:
    """Return True for each key in the window and the segment of a query; None without both."""
    distance = distance_to_keys(inputs, n, m)
    first_masked: int | tuple[int, int] | None = inputs.get("first_masked_distance")
    # A window counts the query's own position, so the key at this distance is the first masked.
    near: Array | None = None
    if inputs.get("window") is not None:
        first_masked = inputs["window"] + inputs.get("window_extra", 0)
    if first_masked is not None:
        earlier, later = (
            first_masked if isinstance(first_masked, tuple) else (first_masked, first_masked)
        )
        near = (distance < earlier) & (-distance < later)
        if inputs.get("window_is_causal") and inputs.get("window") is not None:
            near &= distance >= 0
    if inputs.get("segments") is not None:
        same = inputs["segments"][:, None] == inputs["segments"]
        near = same if near is None else near & same
    return near


def masked_rows(inputs: Any) -> Array:
    """Return True for each fully masked row."""
    added = added_mask(inputs, inputs["query"].shape[-2], inputs["key"].shape[-2])
    return (added == -np.inf).all(axis=-1)


def output_shape(inputs: Any) -> tuple[int, ...]:
    """Return the shape of the output."""
    return (*inputs["query"].shape[:-1], inputs["value"].shape[-1])


def expected(inputs: Any) -> Array:
    """Return the correct output."""
    query, key, value = (inputs[name] for name in ("query", "key", "value"))
    if query.shape[:-2] != key.shape[:-2]:
        key, value = repeat_heads("key", key, query), repeat_heads("value", value, query)
    if inputs.get("rotation"):
        angles = rotation_angles(inputs, query.shape[-2], query.shape[-1])
        layout = inputs["rotation"][0]
        query, key = (rotate_by(x, angles, layout=layout) for x in (query, key))
    scale = scale_of(inputs, key.shape[-1])
    scores = scaled_scores(attention_scores(query, key), key.shape[-1], scale)
    if "softcap" in inputs:
        scores = (inputs["softcap"] * np.tanh(scores / inputs["softcap"])).astype(scores.dtype)
    added = added_mask(inputs, *scores.shape[-2:])
    scores = masked_scores(scores, added, False)
    if inputs.get("sink") is not None:
        return softmax_with_sink(scores, inputs["sink"]).astype(scores.dtype) @ value
    return softmax(scores) @ value


def scale_of(inputs: Any, d_k: int) -> float | None:
    """Return the scale of a case: its input, or the function's own; None for 1/√d_k."""
    if inputs.get("scale") is None and inputs.get("own_scale"):
        factor, power = inputs["own_scale"]
        return float(factor / d_k**power)
    return inputs.get("scale")


def compute(inputs: Any, parts: Parts) -> Array:
    """Return the output of attention with given parts, per sequence if each has its own mask."""
    if _has_mask_per_sequence(inputs):
        query, count = inputs["query"], len(inputs["query"])
        num_heads = query.shape[-3] if query.ndim > 3 else 1
        inputs_by_sequence = {name: inputs[name] for name in ("query", "key", "value")}
        is_token, mask = real_keys(inputs), inputs.get("mask")
        if is_token is not None:
            # A row per head: a wrong order of repetition gives a head the row of another sequence.
            repeated = parts.repeat_masks(is_token, num_heads).reshape(count, num_heads, -1)
            inputs_by_sequence["real"] = repeated if query.ndim > 3 else is_token
        if _is_mask_per_sequence(mask, query):
            masks = mask.reshape(count, *mask.shape[-2:])
            inputs_by_sequence["mask"] = parts.repeat_masks(masks, num_heads).reshape(
                count, num_heads, *mask.shape[-2:]
            )
        shared = {
            name: x
            for name, x in inputs.items()
            if name not in (*inputs_by_sequence, "lengths", "padding")
        }
        sequences = (
            {**shared, **{name: x[i] for name, x in inputs_by_sequence.items()}}
            for i in range(count)
        )
        return np.stack([compute(sequence, parts) for sequence in sequences])
    query, key, value = (inputs[name] for name in ("query", "key", "value"))
    d_model = query.shape[-1] * (query.shape[-3] if query.ndim > 2 else 1)
    return attend(
        query, key, value, parts, part_options(inputs, parts, query.shape[-1]), d_model=d_model
    )[1]


def rotate_in_other_layout(x: Array, angles: Array, *, layout: Layout = "pairs") -> Array:
    """Return vectors rotated in the other layout than the given one."""
    return rotate_by(x, angles, layout="halves" if layout == "pairs" else "pairs")


def _is_mask_per_sequence(mask: Any, query: Array) -> bool:
    """Return whether a mask has an axis of sequences, and one of length 1 for the heads."""
    return mask is not None and query.ndim == 4 == mask.ndim and mask.shape[1] == 1 < len(mask)


def _has_mask_per_sequence(inputs: Any) -> bool:
    """Return whether each sequence has its own mask or padding, and is computed alone."""
    real = inputs.get("padding")
    is_padded = real is not None and real.ndim > 1 and inputs["query"].ndim > 2
    return (
        is_padded
        or "lengths" in inputs
        or _is_mask_per_sequence(inputs.get("mask"), inputs["query"])
    )


def part_options(inputs: Any, parts: Parts, d_k: int) -> Options:
    """Return the inputs of a case as the options that `mha.practice` gives to its parts.

    `d_k` is the width of a head.
    """
    mask = inputs.get("bias", inputs.get("mask"))
    is_boolean = mask is not None and mask.dtype == bool
    allowed = mask if is_boolean else None
    if "query" in inputs:
        near = nearby_keys(inputs, inputs["query"].shape[-2], inputs["key"].shape[-2])
        if near is not None:
            allowed = near if allowed is None else allowed & near
    bias = 0.0 if mask is None or is_boolean else mask
    if inputs.get("linear_biases") is not None:
        bias = bias + linear_biases(
            inputs, inputs["query"].shape[-2], inputs["key"].shape[-2], parts
        )
    angles: Array | None = inputs.get("angles")
    rotation: Part = rotate_by
    if inputs.get("rotation"):
        x = inputs["query"] if "query" in inputs else inputs["x"]
        angles = rotation_angles(inputs, x.shape[-2], d_k, parts)
        rotation = rotate_by if inputs["rotation"][0] == "pairs" else rotate_in_other_layout
    return Options(
        allowed=allowed,
        bias=bias,
        real=inputs.get("real", inputs.get("padding")),
        is_causal=is_causal(inputs),
        align=inputs.get("align", "top-left"),
        scale=scale_of(inputs, d_k),
        softcap=inputs.get("softcap"),
        angles=angles,
        rotate_by=rotation,
    )


SUBJECT = Subject(
    aliases=ALIASES,
    first_inputs=("query", "key", "value"),
    required_inputs=frozenset({"query", "key", "value"}),
    kinds=KINDS,
    draw_inputs=draw_inputs,
    leading=((), (3,), (2, 3)),
    sizes=(EQUAL_SIZES, EQUAL_COUNTS, MORE_KEYS, MORE_QUERIES),
    small_sizes=SMALL_SIZES,
    expected=expected,
    compute=compute,
    correct_function="scaled_dot_product_attention",
    locate_call=lambda inputs, at: (at[0], at[1:]) if _has_mask_per_sequence(inputs) else (0, at),
    refusable_kinds={
        **dict.fromkeys(CAUSAL_AND_OTHER_MASK, "if is_causal and a mask do not come together"),
        **dict.fromkeys((GROUPED, BIAS_OF_HEADS, WINDOW, SEGMENTS), ""),
        **dict.fromkeys(
            (FULLY_MASKED, FULLY_MASKED_ADDITIVE, FULLY_MASKED_PADDING),
            "if no query is fully masked",
        ),
    },
    parts=(
        *(
            "assign_roles",
            "repeat_groups",
            "score",
            "score_with_scale",
            "cap_scores",
            "cap_masked_scores",
            "read_mask",
            "read_padding",
            "repeat_masks",
            "padding_as_mask",
        ),
        *(
            "read_is_causal",
            "make_causal_mask",
            "combine_masks",
            "forbid",
            "read_bias",
            "weigh",
            "along",
            "powers",
            "normalise",
            "mix",
        ),
    ),
    masked_rows=masked_rows,
    draw_plain_inputs=draw_plain_inputs,
    token_axis_inputs=("query", "key", "value"),
    output_shape=output_shape,
    has_heads=True,
)


# ---- Conventions that only correct numbers show ----


FIRST_POSITION_NOTE = Finding(
    f"right {FIRST_POSITION}, as in PyTorch's scaled_dot_product_attention. This is about fewer"
    " queries than keys: with a cache the queries are the last, and each has the position of its"
    " own key.",
    convention=FIRST_POSITION,
    section=DECODING,
)
"""The note for a causal mask that aligns the first query with the first key."""


def has_first_position(cases: Iterable[Case]) -> bool:
    """Return whether a case with a causal mask shows that the first query is at the first key."""
    return any(
        is_causal(case.inputs)
        and case.inputs.get("align", "top-left") == "top-left"
        and "query" in case.inputs
        and case.inputs["query"].shape[-2] < case.inputs["key"].shape[-2]
        for case in cases
    )


def find_scale(tested: FunctionUnderTest) -> tuple[float, float] | None:
    """Return a function's own scale as a factor and a power of d_k; None if it has none.

    One key has the product 1 with the query and the other 0, so the weights show the scale: it is
    the logarithm of their ratio.
    """
    log_odds = []
    axes = max(tested.subject.leading, key=len)
    for width in (4, 9):
        query = np.eye(width)[:1]
        arrays = np.vstack([query, query]), np.vstack([query, 0 * query]), np.eye(2, width)
        for count in range(len(axes), -1, -1):
            shaped = (x.reshape((1,) * count + x.shape) for x in arrays)
            inputs = {
                **dict(zip(SUBJECT.first_inputs, shaped, strict=True)),
                **dict(tested.conventions.extra_inputs),
            }
            output = tested.run(Case("plain", inputs, (1,) * count, tested.takes)).value
            if output is not None and output.shape == SUBJECT.shape(inputs):
                break
        else:
            return None
        output = output.reshape(-1, output.shape[-1])[-1, 0]
        if not 0 < output < 1:
            return None
        log_odds.append(float(np.log(output / (1 - output))))
    for power in (0.0, 0.5):
        factor, other_factor = log_odds[0] * 4**power, log_odds[1] * 9**power
        is_equal = np.isclose(factor, other_factor, rtol=1e-4, atol=1e-6)
        is_default = power == 0.5 and np.isclose(factor, 1, rtol=1e-4)
        if is_equal and factor > 1e-6 and not is_default:
            return float(np.round(factor, 12)), power
    return None
