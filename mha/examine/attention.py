"""Attention of queries, keys and values: what is asked of it, and what is right."""

from typing import Any

import numpy as np

from mha.core.attention import attention_scores, masked_scores, repeat_heads, scaled_scores
from mha.core.checks import Array
from mha.core.softmax import softmax
from mha.examine.asking import Asked
from mha.examine.cases import (
    BY_NUMBERS,
    CAUSAL_AND_MASK,
    CAUSAL_AND_PADDING,
    NO_NUMBERS,
    NOTHING_BY_NUMBERS,
    NOTHING_BY_PADDING,
    NOTHING_SEEN,
    Case,
    Draw,
    Subject,
)
from mha.examine.judging import Asking
from mha.examine.report import Finding
from mha.practice.bugs import DECODING, TEMPERATURE, Bug
from mha.practice.parts import Options, Parts, attend
from mha.runs.rounding import short

ALIASES = {
    "query": ("query", "q", "queries"),
    "key": ("key", "k", "keys"),
    "value": ("value", "v", "values"),
    "mask": ("mask", "attnmask", "attentionmask", "allowed"),
    "bias": ("bias", "attnbias", "attentionbias"),
    "padding": ("keypaddingmask", "paddingmask"),
    "is_causal": ("iscausal", "causal"),
    "scale": ("scale", "scaling", "smscale", "softmaxscale"),
    "enable_gqa": ("enablegqa",),
    "softcap": ("softcap", "logitcap", "logitsoftcap"),
}

CAPPED_AND_MASK = "softcap and a mask"
TOGETHER = (CAUSAL_AND_MASK, CAUSAL_AND_PADDING)

KINDS = {
    "plain": (),
    "large scores": (),
    "a mask of True and False": ("mask",),
    "a mask for keys": ("mask",),
    "a mask for each head": ("mask",),
    NOTHING_SEEN: ("mask",),
    BY_NUMBERS: ("mask",),
    NOTHING_BY_NUMBERS: ("mask",),
    "bias": ("bias",),
    "key_padding_mask": ("padding",),
    NOTHING_BY_PADDING: ("padding",),
    "is_causal": ("is_causal",),
    CAUSAL_AND_MASK: ("is_causal", "mask"),
    CAUSAL_AND_PADDING: ("is_causal", "padding"),
    "scale": ("scale",),
    "enable_gqa": ("enable_gqa",),
    "softcap": ("softcap",),
    CAPPED_AND_MASK: ("softcap", "mask"),
}

SQUARE, EVEN, WIDE, TALL = (5, 5, 7, 7), (5, 5, 3, 2), (3, 7, 5, 2), (7, 3, 2, 5)
"""Numbers of queries and keys, the width of both, and that of values."""
SMALL = [
    (n, m, d_k, d_v)
    for n, m in ((1, 1), (1, 2), (2, 2), (2, 3), (3, 3))
    for d_k, d_v in ((1, 1), (4, 1), (2, 1), (4, 4), (2, 2))
]
FEWER = ("large scores", "a mask for keys", "a mask for each head")
"""Kinds that are asked in fewer shapes, as those in which a query sees nothing."""
HIDING = ("is_causal", *TOGETHER, CAPPED_AND_MASK, "key_padding_mask", "enable_gqa")
"""Kinds that need two keys."""


def made(draw: Draw, *sizes: int) -> dict[str, Any] | None:
    """Return what is handed in."""
    about, leading, (n, m, d_k, d_v) = draw.about, draw.leading, sizes
    is_rare = about in FEWER or "sees nothing" in about
    if (is_rare and sizes in (EVEN, TALL)) or ("numbers" in about and "bias" in draw.takes):
        return None
    if (n > m and "is_causal" in about) or (m == 1 and about in HIDING):
        return None
    if not leading and about in ("enable_gqa", NOTHING_BY_PADDING):
        return None
    if len(leading) == 1 and "padding" in about:  # the axis is that of heads, not of texts
        return None
    heads = (*leading[:-1], 3 * leading[-1]) if about == "enable_gqa" else leading
    query, key = draw.numbers(*heads, n, d_k), draw.numbers(*leading, m, d_k)
    given = {"query": query, "key": key, "value": draw.numbers(*leading, m, d_v)}
    more: dict[str, dict[str, Any]] = {
        "a mask for each head": {"mask": draw.allowed(*leading, n, m)},
        "scale": {"scale": 0.75},
        "enable_gqa": {"enable_gqa": True},
        "softcap": {"softcap": 1.5},
        CAPPED_AND_MASK: {"softcap": 1.5, "mask": draw.allowed(n, m)},
        "key_padding_mask": {"padding": draw.allowed(*leading[:1], m)},
        CAUSAL_AND_PADDING: {
            "is_causal": True,
            "padding": draw.allowed(*leading[:1], m) | (np.arange(m) == 0),
        },
        NOTHING_BY_PADDING: {"padding": np.arange(leading[0] * m).reshape(-1, m) >= m}
        if leading
        else {},
    }
    if about == "large scores":  # the first query with the first key: its exponential overflows
        key[..., 0, 0] += 3
        first = key[..., 0, :]
        query[..., 0, :] = 2000 * np.sqrt(d_k) * first / (first**2).sum(axis=-1, keepdims=True)
    return {**given, **more.get(about, draw.masks(n, m))}


def mask_of(given: Any) -> Array | None:
    """Return the mask that is handed in, or what padding comes to."""
    if given.get("padding") is not None:
        real = given["padding"]
        return real[:, None, None, :] if real.ndim > 1 else real[None, :]
    return given.get("bias", given.get("mask"))


def wanted(given: Any) -> Array:
    """Return the right output."""
    query, key, value = (given[name] for name in ("query", "key", "value"))
    if given.get("enable_gqa"):
        key, value = repeat_heads("key", key, query), repeat_heads("value", value, query)
    scores = scaled_scores(attention_scores(query, key), key.shape[-1], given.get("scale"))
    if "softcap" in given:
        scores = (given["softcap"] * np.tanh(scores / given["softcap"])).astype(scores.dtype)
    masked = masked_scores(scores, mask_of(given), bool(given.get("is_causal")))
    return softmax(masked) @ value


def worked(given: Any, parts: Parts) -> Array:
    """Return what attention of some parts gives, a text at a time where each has its padding."""
    if _by_texts(given):
        own = ("query", "key", "value", "padding")
        each = (
            {**given, **{name: given[name][i] for name in own}} for i in range(len(given["key"]))
        )
        return np.stack([worked(one, parts) for one in each])
    query, key, value = (given[name] for name in ("query", "key", "value"))
    d_model = query.shape[-1] * (query.shape[-3] if query.ndim > 2 else 1)
    return attend(query, key, value, parts, options(given), d_model=d_model)[1]


def _by_texts(given: Any) -> bool:
    """Return whether each text has a row of padding."""
    return "padding" in given and given["padding"].ndim > 1


def options(given: Any) -> Options:
    """Return what the parts are told beside arrays."""
    mask = given.get("bias", given.get("mask"))
    is_truth = mask is not None and mask.dtype == bool
    return Options(
        allowed=mask if is_truth else None,
        bias=0.0 if mask is None or is_truth else mask,
        real=given.get("padding"),
        is_causal=bool(given.get("is_causal")),
        scale=given.get("scale"),
        softcap=given.get("softcap"),
        angles=given.get("angles"),
    )


SUBJECT = Subject(
    aliases=ALIASES,
    first=("query", "key", "value"),
    needs=frozenset({"query", "key", "value"}),
    kinds=KINDS,
    made=made,
    leading=((), (3,), (2, 3)),
    sizes=(SQUARE, EVEN, WIDE, TALL),
    small=SMALL,
    wanted=wanted,
    worked=worked,
    right="scaled_dot_product_attention",
    call=lambda given, at: (at[0], at[1:]) if _by_texts(given) else (0, at),
    apart=(
        (BY_NUMBERS, NOTHING_BY_NUMBERS),
        (NOTHING_SEEN, NOTHING_BY_NUMBERS, NOTHING_BY_PADDING),
        FEWER[:1],
        TOGETHER,
    ),
    limits={
        **dict.fromkeys((BY_NUMBERS, NOTHING_BY_NUMBERS), NO_NUMBERS),
        **dict.fromkeys(TOGETHER, "if is_causal and a mask do not come together"),
    },
    parts=(
        *("roles", "spread", "score", "score_by", "cap", "read", "pad", "see", "past", "causal"),
        *("forbid", "ease", "weigh", "along", "powers", "divide", "blank", "mix"),
    ),
)


# ---- Conventions of a function's own ----

_CONDITION = "if the first query has the place of the first key"
FIRST_PLACE = Finding(
    f"right {_CONDITION}, as in PyTorch's scaled_dot_product_attention. This is about fewer queries"
    " than keys: with a cache the queries are the last, and each has the place of its own key.",
    convention=_CONDITION,
    section=DECODING,
)
"""What is said where fewer queries than keys begin with the first key."""


def place_of_first(asking: Asking) -> list[Finding]:
    """Return what is said of a causal mask that begins with the first key."""
    cases = enumerate(asking.cases)
    told = [i for i, x in cases if x.about == "is_causal" and len(set(_tokens(x))) > 1]
    if not told or set(told) & set(asking.off()):
        return []
    return [FIRST_PLACE]


def _tokens(case: Case) -> tuple[int, int]:
    return case.given["query"].shape[-2], case.given["key"].shape[-2]


def own_scale(asked: Asked, axes: int) -> list[Bug]:
    """Return the convention of a function that scales otherwise, by one rule for any width.

    Of two keys one has the score 1 and the other 0. What the first gives tells the scale.
    """
    found = []
    for width in (4, 9):
        query = np.eye(width)[:1]
        arrays = query, np.vstack([query, 0 * query]), np.array([[1.0], [0.0]])
        shaped = (x.reshape((1,) * (axes - 2) + x.shape) for x in arrays)
        share = asked.ask(Case("plain", dict(zip(SUBJECT.first, shaped, strict=True)))).value
        if share is None or share.size != 1 or not 0 < share.item() < 1:
            return []
        found.append(float(np.log(share.item() / (1 - share.item()))))
    rules = {0.0: "if scores are multiplied by {}", 0.5: "if the scale is {} ÷ √d_k"}
    for power, rule in rules.items():
        factor, other = found[0] * 4**power, found[1] * 9**power
        if np.isclose(factor, other, rtol=1e-6) and not np.isclose(factor, 1):
            line = f"query @ key.swapaxes(-1, -2) * ({factor} / query.shape[-1] ** {power})"
            said = rule.format(short(factor))
            usual = "PyTorch multiplies by 1 ÷ √d_k where no scale is given."
            return [Bug("own scale", "score", line, TEMPERATURE, said, (), "convention", usual)]
    return []
