"""Layers of attention with their matrices: test cases and their right outputs."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mha.core.attention import scaled_dot_product_attention
from mha.core.checks import Array
from mha.core.heads import merge_heads, split_heads
from mha.core.multihead import BIASES, MATRICES, MultiHeadWeights, multi_head_attention
from mha.core.positions import rotary_angles
from mha.examine import attention
from mha.examine.cases import (
    BY_NUMBERS,
    CAUSAL_AND_MASK,
    CAUSAL_AND_PADDING,
    NOTHING_SEEN,
    OF_SEQUENCES,
    Draw,
    Subject,
)
from mha.examine.derivations import Arrays, Told, Worked, product
from mha.practice.attention_parts import Parts, layer_output
from mha.views.arithmetic import factor

ALIASES = {
    "x": ("x", "query", "hiddenstates", "inputs", "embeddings", "queries", "inputq", "inputsq",
          "tokens", "embedded", "inp", "input"),
    "context": ("context", "memory", "encoderhiddenstates", "keyvaluestates", "inputskv"),
    "key": ("key", "k", "keys"),
    "value": ("value", "v", "values"),
    "weights": ("weights", "layer"),
    **{f"w_{x}": (f"w{x}", f"{x}proj", f"{x}weight", f"{x}w") for x in "qkv"},
    "w_o": ("wo", "wout", "oproj", "outproj", "oweight", "ow", "wproj", "outweight"),
    "w_qkv": ("wqkv", "inproj", "inprojweight", "cattn", "qkvweight", "qkvproj"),
    **{f"b_{x}": (f"b{x}", f"{x}bias") for x in "qkv"},
    "b_o": ("bo", "bout", "obias", "outbias"),
    "b_qkv": ("bqkv", "inprojbias", "qkvbias"),
    "num_heads": ("numheads", "nheads", "nhead", "heads", "h", "numattentionheads"),
    "num_groups": ("numgroups", "numkvheads", "nkvheads", "numkeyvalueheads", "kvheads"),
    **{name: attention.ALIASES[name] for name in ("mask", "padding", "is_causal")},
    "angles": ("angles",),
}  # fmt: skip

OWN_VALUE = "key and value that differ"
PADDED_CONTEXT = "context with key_padding_mask"

KINDS = {
    "plain": (),
    "is_causal": ("is_causal",),
    "boolean mask": ("mask",),
    "mask of one row": ("mask",),
    OF_SEQUENCES: ("mask",),
    NOTHING_SEEN: ("mask",),
    BY_NUMBERS: ("mask",),
    "key_padding_mask": ("padding",),
    CAUSAL_AND_MASK: ("is_causal", "mask"),
    CAUSAL_AND_PADDING: ("is_causal", "padding"),
    "context": (),
    PADDED_CONTEXT: ("padding",),
    OWN_VALUE: ("key", "value"),
    "num_groups": ("num_groups",),
    "angles": ("angles",),
}


def made(draw: Draw, *sizes: int) -> dict[str, Any] | None:
    """Draw the inputs of a case: n tokens, a number of heads and their width."""
    about, takes, (n, heads, d_k) = draw.about, draw.takes, sizes
    has_context, is_padded = about in ("context", OWN_VALUE, PADDED_CONTEXT), "padding" in about
    least = {"angles": d_k, "num_groups": heads}.get(about, n if is_padded else 2)
    if least == 1 or (has_context and takes.isdisjoint({"context", "key"})):
        return None
    if about == PADDED_CONTEXT and not draw.leading:
        return None
    if takes.isdisjoint({"num_heads", "weights"}):
        heads = 1
    if about == OF_SEQUENCES and not draw.leading:
        return None
    width, groups = heads * d_k, heads // 2 if about == "num_groups" else heads
    m = n + 4 if has_context and n % 2 else n
    given = matrices(draw, width, heads, groups, d_k)
    given |= {"x": draw.numbers(*draw.leading, n, width), "num_heads": heads, "num_groups": groups}
    if has_context:
        given["context"] = draw.numbers(*draw.leading, m, width)
    if about == "angles":
        given["angles"] = rotary_angles(np.arange(n), d_k)
    given |= draw.masks(n, m)
    if about == OF_SEQUENCES:
        given["mask"] = draw.allowed(*draw.leading, 1, n, m)
    if is_padded:
        given["padding"] = draw.allowed(*draw.leading, m)
    if about == CAUSAL_AND_PADDING:
        given |= {"is_causal": True, "padding": given["padding"] | (np.arange(m) == 0)}
    if "key" in takes:
        given["key"] = given["value"] = given.get("context", given["x"])
    if about == OWN_VALUE:
        given["value"] = given["values_of"] = draw.numbers(*draw.leading, m, width)
    return given


def matrices(draw: Draw, width: int, heads: int, groups: int, d_k: int) -> dict[str, Any]:
    """Draw the matrices and biases that a function takes, separate or fused."""
    takes = draw.takes
    wide = dict(zip(MATRICES, (width, groups * d_k, groups * d_k, width), strict=True))
    given: dict[str, Any] = {name: draw.numbers(width, wide[name]) / 2 for name in MATRICES}
    if takes.isdisjoint({"w_o", "weights"}):
        del given["w_o"]
    for name, of in zip(BIASES, MATRICES, strict=True):
        if name in takes or (name != "b_o" and "b_qkv" in takes):
            given[name] = draw.numbers(wide[of])
    for fused, names in (("w_qkv", MATRICES), ("b_qkv", BIASES)):
        if fused in takes:
            given[fused] = np.concatenate([given.pop(name) for name in names[:3]], axis=-1)
    if "weights" in takes:
        given["weights"] = _weights({**given, "num_heads": heads})
    return given


def tokens(draw: Draw, n: int, _m: int) -> dict[str, Any] | None:
    """Return plain inputs of n tokens, with matrices so small that each token has an influence."""
    given = made(draw, n, 2, 4)
    if given is not None and "weights" not in given:
        given |= {name: given[name] / 2 for name in ("w_q", "w_k", "w_qkv") if name in given}
    return given


def shaped(given: Any) -> tuple[int, ...]:
    """Return the shape of the output."""
    weights = given.get("weights")
    w_o = given.get("w_o") if weights is None else weights.w_o
    width = given["x"].shape[-1]
    if w_o is not None:
        width = w_o.shape[-1]
    elif "w_v" in given:
        width = given["w_v"].shape[-1]
    return (*given["x"].shape[:-1], width)


def blank(given: Any) -> Array:
    """Return True for each token whose row is fully masked."""
    n, m = given["x"].shape[-2], given.get("context", given["x"]).shape[-2]
    found = (attention.added_mask(given, n, m) == -np.inf).all(axis=-1)
    return found[:, 0] if found.ndim > 2 else found


def matrices_of(given: Mapping[str, Any]) -> tuple[Array, ...]:
    """Return the four matrices, with the heads concatenated."""
    if "w_qkv" in given:
        parts = np.split(given["w_qkv"], 3, axis=-1)
    else:
        parts = [given[name] for name in MATRICES[:3]]
    own = np.eye(parts[0].shape[-1], dtype=parts[0].dtype)
    return (*parts, given.get("w_o", own))


def biases_of(given: Mapping[str, Any]) -> tuple[Array, ...]:
    """Return the four biases; zeros for a missing one."""
    own = {name: given[name] for name in BIASES if name in given}
    if "b_qkv" in given:
        own |= zip(BIASES, np.split(given["b_qkv"], 3), strict=False)
    named = zip(BIASES, matrices_of(given), strict=True)
    return tuple(own.get(name, np.zeros(w.shape[-1], w.dtype)) for name, w in named)


def _weights(given: Mapping[str, Any]) -> MultiHeadWeights:
    """Return matrices and biases as `MultiHeadWeights` takes them."""
    *projections, w_o = matrices_of(given)
    d_k = projections[0].shape[-1] // given["num_heads"]
    by_heads = [w.reshape(len(w), -1, d_k).swapaxes(0, 1) for w in projections]
    parts = dict(zip(MATRICES, [*by_heads, w_o], strict=True))
    if not {*BIASES, "b_qkv"}.isdisjoint(given):
        *rows, b_o = biases_of(given)
        parts |= zip(BIASES, [*(b.reshape(-1, d_k) for b in rows), b_o], strict=True)
    return MultiHeadWeights(**parts)


def wanted(given: Any) -> Array:
    """Return the right output."""
    if "values_of" in given:
        return _of_three(given)
    n, m = given["x"].shape[-2], given.get("context", given["x"]).shape[-2]
    return multi_head_attention(
        given["x"],
        given.get("weights") or _weights(given),
        context=given.get("context"),
        mask=attention.added_mask(given, n, m),
        angles=given.get("angles"),
    )


def _of_three(given: Any) -> Array:
    """Return the right output if queries, keys and values come from three arrays."""
    *projections, w_o = matrices_of(given)
    *lent, b_o = biases_of(given)
    read = (given[name] for name in ("x", "key", "value"))
    wide = (x @ w + b for x, w, b in zip(read, projections, lent, strict=True))
    query, key, value = (split_heads(each, given["num_heads"]) for each in wide)
    mask = attention.added_mask(given, query.shape[-2], key.shape[-2])
    return merge_heads(scaled_dot_product_attention(query, key, value, mask=mask)) @ w_o + b_o


def worked(given: Any, parts: Parts) -> Array:
    """Compute a layer with given parts, per sequence."""
    if given["x"].ndim > 2:
        count, num_heads = len(given["x"]), given["num_heads"]
        own = {name: given[name] for name in ("x", "context", "values_of") if name in given}
        if "padding" in given:
            own["padding"] = parts.repeat_masks(given["padding"], num_heads).reshape(
                count, num_heads, -1
            )
        mask = given.get("mask")
        if mask is not None and mask.ndim == 4:
            dealt = parts.repeat_masks(mask[:, 0], num_heads)
            own["mask"] = dealt.reshape(count, num_heads, *mask.shape[-2:])
        each = ({**given, **{name: x[i] for name, x in own.items()}} for i in range(count))
        return np.stack([worked(one, parts) for one in each])
    matrices, biases = matrices_of(given), biases_of(given)
    if "w_qkv" in given:
        matrices = given["w_qkv"], matrices[-1]
        biases = np.concatenate(biases[:3]), biases[-1]
    rest = biases, given["num_heads"], parts, attention.options(given)
    return layer_output(given["x"], matrices, *rest, given.get("context"), given.get("values_of"))


def finished(given: Any, steps: Arrays, at: tuple[int, ...]) -> Worked:
    """Compute a number of the output: the heads' outputs times a column of the last matrix."""
    concat, column = steps["concat"][at[:-1]], matrices_of(given)[-1][:, at[-1]]
    bias = float(biases_of(given)[-1][at[-1]])

    def text(places: int) -> str:
        added = f" + {factor(bias, places)}" if bias else ""
        return product(concat, column, places) + added

    return [text], [float(concat @ column) + bias]


STEPS = (
    Told("query", "score", 0, "x @ w_q (+ b_q), by heads"),
    Told("key", "score", 1, "x @ w_k (+ b_k), by heads"),
    Told("value", "mix", 1, "x @ w_v (+ b_v), by heads"),
    Told("scores", "along", 0, "query @ key.swapaxes(-1, -2) / np.sqrt(d_k)"),
    Told("weights", "mix", 0, "softmax(scores)"),
    Told("heads", "mix", -1, "weights @ value"),
    Told("concat", "merge", -1, "heads, side by side"),
    Told("output", "project_output", -1, finished, 0),
)
"""The printed steps of a layer, each with all heads."""


SUBJECT = Subject(
    aliases=ALIASES,
    first=("x",),
    needs=frozenset({"x"}),
    kinds=KINDS,
    made=made,
    leading=((), (2,)),
    sizes=((7, 2, 4), (5, 6, 2), (3, 4, 4), (6, 4, 2)),
    small=[(n, heads, d_k) for n in (1, 2, 3) for heads in (1, 2) for d_k in (1, 2)],
    wanted=wanted,
    worked=worked,
    right="multi_head_attention",
    steps=STEPS,
    call=lambda given, at: (at[0], at[1:]) if given["x"].ndim > 2 else (0, at),
    limits={
        **dict.fromkeys(attention.TOGETHER, "if is_causal and a mask do not come together"),
        OF_SEQUENCES: "if one mask is for all sequences",
        "mask of one row": "",
    },
    parts=(
        *(
            part
            for part in attention.SUBJECT.parts
            if part not in ("score_with_scale", "cap_scores", "cap_masked_scores")
        ),
        *(
            "turn",
            "split_fused",
            "order_matrices",
            "order_biases",
            "sources",
            "split",
            "merge",
            "project_output",
        ),
    ),
    blank=blank,
    tokens=tokens,
    moved=("x", "context", "key", "value"),
    shaped=shaped,
)
