"""Attention of queries, keys and values: its test cases and their right outputs."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mha.core.attention import attention_scores, masked_scores, repeat_heads, scaled_scores
from mha.core.checks import Array
from mha.core.score_variants import softmax_with_sink
from mha.core.softmax import softmax
from mha.examine.cases import (
    BY_NUMBERS,
    CAUSAL_AND_MASK,
    CAUSAL_AND_PADDING,
    NOTHING_BY_NUMBERS,
    NOTHING_BY_PADDING,
    NOTHING_SEEN,
    OF_SEQUENCES,
    Case,
    Draw,
    Subject,
)
from mha.examine.conventions import FIRST_PLACE
from mha.examine.function_calls import Asked
from mha.examine.report import Finding
from mha.practice.attention_parts import Options, Parts, attend
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
    "padding": ("keypaddingmask", "paddingmask", "padmask", "keymask", "kvmask", "keypadding"),
    "lengths": ("validlens", "validlen", "validlengths", "lengths", "seqlens", "keylengths",
                "kvlens", "keyvalueseqlengths"),
    "is_causal": ("iscausal", "causal", "usecausalmask", "causalmask", "causalmasking"),
    "scale": ("scale", "scaling", "smscale", "softmaxscale", "scalefactor", "qkscale"),
    "enable_gqa": ("enablegqa",),
    "n_rep": ("nrep", "numkeyvaluegroups", "nkvgroups", "numqueriespergroup", "kvrepeats"),
    "softcap": ("softcap", "logitcap", "logitsoftcap", "attnlogitsoftcapping", "softcapping",
                "softclamp", "attnsoftcap"),
}  # fmt: skip

CAPPED_AND_MASK, GROUPED = "softcap with mask", "grouped heads"
LARGE, MANY, LOW = "large scores", "long sequence", "large negative scores"
LARGE_MASKED, BIAS_OF_HEADS = "boolean mask, large scores", "bias per head"
TOGETHER = (CAUSAL_AND_MASK, CAUSAL_AND_PADDING)

KINDS = {
    "plain": (),
    LARGE: (),
    LOW: (),
    MANY: (),
    "is_causal": ("is_causal",),
    "boolean mask": ("mask",),
    "mask of one row": ("mask",),
    "mask per head": ("mask",),
    LARGE_MASKED: ("mask",),
    OF_SEQUENCES: ("mask",),
    NOTHING_SEEN: ("mask",),
    BY_NUMBERS: ("mask",),
    NOTHING_BY_NUMBERS: ("mask",),
    "bias": ("bias",),
    BIAS_OF_HEADS: ("bias",),
    "key_padding_mask": ("padding",),
    NOTHING_BY_PADDING: ("padding",),
    "lengths": ("lengths",),
    CAUSAL_AND_MASK: ("is_causal", "mask"),
    CAUSAL_AND_PADDING: ("is_causal", "padding"),
    "scale": ("scale",),
    "enable_gqa": ("enable_gqa",),
    "n_rep": ("n_rep",),
    GROUPED: (),
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
FEWER = (LARGE, LOW, LARGE_MASKED, BIAS_OF_HEADS, "mask of one row", "mask per head", OF_SEQUENCES)
"""Kinds that are tested in fewer shapes, as are fully masked rows."""
IN_GROUPS = ("enable_gqa", "n_rep", GROUPED)
"""Kinds in which heads share keys and values."""
HIDING = ("is_causal", *TOGETHER, CAPPED_AND_MASK, "key_padding_mask", "lengths",
          *IN_GROUPS)  # fmt: skip
"""Kinds that need at least two keys."""
LONG = 133
"""Length of the longest case: more than a block of 128, and no multiple of a block."""


def made(draw: Draw, *sizes: int) -> dict[str, Any] | None:
    """Draw the inputs of a case."""
    about, leading, (n, m, d_k, d_v) = draw.about, draw.leading, sizes
    is_rare = about in FEWER or "fully masked" in about
    if (is_rare and sizes in (EVEN, TALL)) or ("numbers" in about and "bias" in draw.takes):
        return None
    if (n > m and "is_causal" in about) or (m == 1 and about in HIDING):
        return None
    if not leading and about in (*IN_GROUPS, NOTHING_BY_PADDING, OF_SEQUENCES, BIAS_OF_HEADS):
        return None
    if about == GROUPED and not draw.takes.isdisjoint({"enable_gqa", "n_rep"}):
        return None
    if len(leading) < 2 and about == OF_SEQUENCES:
        return None
    if not leading and about == "lengths":
        return None
    if about == MANY:
        if sizes != SQUARE and not draw.is_whole:
            return None
        n = m = LONG
    heads = (*leading[:-1], 3 * leading[-1]) if about in IN_GROUPS else leading
    query, key = draw.numbers(*heads, n, d_k), draw.numbers(*leading, m, d_k)
    given = {"query": query, "key": key, "value": draw.numbers(*leading, m, d_v)}
    more: dict[str, dict[str, Any]] = {
        "mask per head": {"mask": draw.allowed(*leading, n, m)},
        OF_SEQUENCES: {"mask": draw.allowed(*leading[:1], *[1] * len(leading[1:]), n, m)},
        LARGE_MASKED: {"mask": draw.allowed(n, m)},
        BIAS_OF_HEADS: {"bias": draw.numbers(*leading[-1:], n, m)},
        "scale": {"scale": 0.75},
        "enable_gqa": {"enable_gqa": True},
        "n_rep": {"n_rep": 3},
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
        "lengths": {"lengths": 1 + np.arange(leading[0] if leading else 1) % m},
    }
    if about == LARGE_MASKED:  # beside such scores -100 masks nothing
        query *= 100
    if about == LOW:  # all exponentials of a row underflow, unless its largest score is subtracted
        key = key[..., :1, :] + 1e-3 * key
        middle = key[..., :1, :]
        query = query * 1e-3 - 800 * np.sqrt(d_k) * middle / (middle**2).sum(axis=-1, keepdims=True)
        given |= {"query": query, "key": key}
    if about == LARGE:  # the first query with the first key: its exponential overflows
        key[..., 0, 0] += 3
        first = key[..., 0, :]
        query[..., 0, :] = 2000 * np.sqrt(d_k) * first / (first**2).sum(axis=-1, keepdims=True)
    return {**given, **more.get(about, draw.masks(n, m))}


def tokens(draw: Draw, n: int, m: int) -> dict[str, Any] | None:
    """Return plain inputs of n queries and m keys, whose values are as wide as the keys."""
    return made(draw, n, m, 4, 4)


def real_keys(given: Any) -> Array | None:
    """Return which keys are not padding; None if the case has no padding."""
    if given.get("lengths") is not None:
        return np.arange(given["key"].shape[-2]) < np.asarray(given["lengths"])[:, None]
    return given.get("padding")


def is_causal(given: Any) -> bool:
    """Return whether later keys are masked, by an argument or always."""
    return bool(given.get("is_causal") or given.get("is_always_causal"))


def added_mask(given: Any, n: int, m: int) -> Array:
    """Return all masks of a case as one additive mask."""
    mask, real = given.get("bias", given.get("mask")), real_keys(given)
    added = np.zeros((n, m))
    if mask is not None:
        added = np.where(mask, 0, -np.inf) if mask.dtype == bool else added + mask
    if real is not None:
        if real.ndim > 1:  # a row for each sequence, and an axis for its heads where there are any
            has_heads = "x" in given or given["query"].ndim > 3
            real = real[:, None, None, :] if has_heads else real[:, None, :]
        added = np.where(real, added, -np.inf)
    i, j = np.arange(n)[:, None] + (m - n) * bool(given.get("is_last")), np.arange(m)
    if is_causal(given):
        added = np.where(j <= i, added, -np.inf)
    if given.get("window") is not None:
        added = np.where(abs(i - j) < given["window"], added, -np.inf)
    return added


def blank(given: Any) -> Array:
    """Return True for each fully masked row."""
    added = added_mask(given, given["query"].shape[-2], given["key"].shape[-2])
    return (added == -np.inf).all(axis=-1)


def shaped(given: Any) -> tuple[int, ...]:
    """Return the shape of the output."""
    return (*given["query"].shape[:-1], given["value"].shape[-1])


def wanted(given: Any) -> Array:
    """Return the right output."""
    query, key, value = (given[name] for name in ("query", "key", "value"))
    if query.shape[:-2] != key.shape[:-2]:
        key, value = repeat_heads("key", key, query), repeat_heads("value", value, query)
    scale = scale_of(given, key.shape[-1])
    scores = scaled_scores(attention_scores(query, key), key.shape[-1], scale)
    if "softcap" in given:
        scores = (given["softcap"] * np.tanh(scores / given["softcap"])).astype(scores.dtype)
    added = added_mask(given, *scores.shape[-2:])
    scores = masked_scores(scores, added, False)
    if given.get("sink") is not None:
        return softmax_with_sink(scores, given["sink"]).astype(scores.dtype) @ value
    return softmax(scores) @ value


def scale_of(given: Any, d_k: int) -> float | None:
    """Return the scale of a case: the one that is given, or the function's own."""
    if given.get("scale") is None and given.get("own_scale"):
        factor, power = given["own_scale"]
        return float(factor / d_k**power)
    return given.get("scale")


def worked(given: Any, parts: Parts) -> Array:
    """Compute attention with given parts, per sequence if each has its own mask."""
    if _by_sequences(given):
        query, count = given["query"], len(given["query"])
        num_heads = query.shape[-3] if query.ndim > 3 else 1
        own = {name: given[name] for name in ("query", "key", "value")}
        real, mask = real_keys(given), given.get("mask")
        if real is not None:
            # Of each head a row: what a sequence's heads get depends on how it is repeated.
            dealt = parts.repeat_masks(real, num_heads).reshape(count, num_heads, -1)
            own["real"] = dealt if query.ndim > 3 else real
        if _has_sequences(mask, query):
            masks = mask.reshape(count, *mask.shape[-2:])
            own["mask"] = parts.repeat_masks(masks, num_heads).reshape(
                count, num_heads, *mask.shape[-2:]
            )
        rest = {name: x for name, x in given.items() if name not in (*own, "lengths", "padding")}
        each = ({**rest, **{name: x[i] for name, x in own.items()}} for i in range(count))
        return np.stack([worked(one, parts) for one in each])
    query, key, value = (given[name] for name in ("query", "key", "value"))
    d_model = query.shape[-1] * (query.shape[-3] if query.ndim > 2 else 1)
    return attend(query, key, value, parts, options(given), d_model=d_model)[1]


def _has_sequences(mask: Any, query: Array) -> bool:
    """Return whether a mask differs from sequence to sequence, and not from head to head."""
    return mask is not None and query.ndim == 4 == mask.ndim and mask.shape[1] == 1 < len(mask)


def _by_sequences(given: Any) -> bool:
    """Return whether each sequence has a mask, or a row of padding."""
    real = given.get("padding")
    is_padded = real is not None and real.ndim > 1 and given["query"].ndim > 2
    return is_padded or "lengths" in given or _has_sequences(given.get("mask"), given["query"])


def options(given: Any) -> Options:
    """Return the options of the parts."""
    mask = given.get("bias", given.get("mask"))
    is_truth = mask is not None and mask.dtype == bool
    allowed = mask if is_truth else None
    width = given["query"].shape[-1] if "query" in given else 1
    return Options(
        allowed=allowed,
        bias=0.0 if mask is None or is_truth else mask,
        real=given.get("real", given.get("padding")),
        is_causal=is_causal(given),
        is_last=bool(given.get("is_last")),
        scale=scale_of(given, width),
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
    call=lambda given, at: (at[0], at[1:]) if _by_sequences(given) else (0, at),
    limits={
        **dict.fromkeys(TOGETHER, "if is_causal and a mask do not come together"),
        GROUPED: "",
        BIAS_OF_HEADS: "",
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
    blank=blank,
    tokens=tokens,
    moved=("query", "key", "value"),
    shaped=shaped,
    has_heads=True,
)


# ---- Conventions that numbers tell ----


FIRST = Finding(
    f"right {FIRST_PLACE}, as in PyTorch's scaled_dot_product_attention. This is about fewer"
    " queries than keys: with a cache the queries are the last, and each has the position of its"
    " own key.",
    convention=FIRST_PLACE,
    section=DECODING,
)
"""The note for a causal mask that aligns the first query with the first key."""


def has_first_place(cases: Iterable[Case]) -> bool:
    """Return whether the first query has the position of the first key in a case."""
    return any(
        is_causal(x.given)
        and not x.given.get("is_last")
        and "query" in x.given
        and x.given["query"].shape[-2] < x.given["key"].shape[-2]
        for x in cases
    )


def own_scale(asked: Asked) -> tuple[float, float] | None:
    """Return a function's own scale as a factor and a power of d_k; None if it has none.

    Of two keys one has the score 1 and the other 0: the weight of the first tells the scale.
    """
    found = []
    axes = max(asked.subject.leading, key=len)
    for width in (4, 9):
        query = np.eye(width)[:1]
        arrays = np.vstack([query, query]), np.vstack([query, 0 * query]), np.eye(2, width)
        for count in range(len(axes), -1, -1):
            shaped = (x.reshape((1,) * count + x.shape) for x in arrays)
            given = {
                **dict(zip(SUBJECT.first, shaped, strict=True)),
                **dict(asked.conventions.facts),
            }
            share = asked.ask(Case("plain", given, (1,) * count, asked.takes)).value
            if share is not None and share.shape == SUBJECT.shape(given):
                break
        else:
            return None
        share = share.reshape(-1, share.shape[-1])[-1, 0]
        if not 0 < share < 1:
            return None
        found.append(float(np.log(share / (1 - share))))
    for power in (0.0, 0.5):
        factor, other = found[0] * 4**power, found[1] * 9**power
        is_same = np.isclose(factor, other, rtol=1e-4, atol=1e-6)
        is_usual = power == 0.5 and np.isclose(factor, 1, rtol=1e-4)
        if is_same and factor > 1e-6 and not is_usual:
            return float(np.round(factor, 12)), power
    return None
