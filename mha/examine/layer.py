"""A whole layer with its matrices: what is asked of it, and what is right."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mha.core.attention import scaled_dot_product_attention
from mha.core.checks import Array
from mha.core.heads import merge_heads, split_heads
from mha.core.multihead import BIASES, MATRICES, MultiHeadWeights, multi_head_attention
from mha.core.positions import rotary_angles
from mha.examine import attention
from mha.examine.cases import BY_NUMBERS, NOTHING_SEEN, Draw, Subject
from mha.examine.steps import Arrays, Told, Worked, product
from mha.practice.parts import Parts, layer
from mha.views.arithmetic import factor

ALIASES = {
    "x": ("x", "query", "hiddenstates", "inputs", "embeddings"),
    "context": ("context", "memory", "encoderhiddenstates"),
    "key": ("key", "k"),
    "value": ("value", "v"),
    "weights": ("weights", "layer"),
    **{f"w_{x}": (f"w{x}", f"{x}proj", f"{x}weight") for x in "qkv"},
    "w_o": ("wo", "wout", "oproj", "outproj", "oweight"),
    "w_qkv": ("wqkv", "inproj", "inprojweight", "cattn"),
    **{f"b_{x}": (f"b{x}", f"{x}bias") for x in "qkv"},
    "b_o": ("bo", "bout", "obias", "outbias"),
    "b_qkv": ("bqkv", "inprojbias"),
    "num_heads": ("numheads", "nheads", "nhead", "heads", "h"),
    "num_groups": ("numgroups", "numkvheads", "nkvheads", "numkeyvalueheads"),
    **{name: attention.ALIASES[name] for name in ("mask", "padding", "is_causal")},
    "angles": ("angles",),
}

OWN_VALUE = "key and value that differ"

KINDS = {
    "plain": (),
    "a mask of True and False": ("mask",),
    NOTHING_SEEN: ("mask",),
    BY_NUMBERS: ("mask",),
    "is_causal": ("is_causal",),
    "key_padding_mask": ("padding",),
    "context": (),
    OWN_VALUE: ("key", "value"),
    "num_groups": ("num_groups",),
    "angles": ("angles",),
}


def made(draw: Draw, *sizes: int) -> dict[str, Any] | None:
    """Return what is handed in: n tokens, a number of heads and their width."""
    about, takes, (n, heads, d_k) = draw.about, draw.takes, sizes
    least = {"angles": d_k, "num_groups": heads, "key_padding_mask": n}.get(about, 2)
    if least == 1 or (about in ("context", OWN_VALUE) and takes.isdisjoint({"context", "key"})):
        return None
    width, groups = heads * d_k, heads // 2 if about == "num_groups" else heads
    m = n + 4 if about in ("context", OWN_VALUE) and n % 2 else n
    wide = dict(zip(MATRICES, (width, groups * d_k, groups * d_k, width), strict=True))
    given: dict[str, Any] = {name: draw.numbers(width, wide[name]) / 2 for name in MATRICES}
    if takes.isdisjoint({"w_o", "weights"}):
        del given["w_o"]
    for name, of in zip(BIASES, MATRICES, strict=True):
        if name in takes or (name != "b_o" and "b_qkv" in takes):
            given[name] = draw.numbers(wide[of])
    given |= {"x": draw.numbers(*draw.leading, n, width), "num_heads": heads, "num_groups": groups}
    if about in ("context", OWN_VALUE):
        given["context"] = draw.numbers(*draw.leading, m, width)
    if about == "angles":
        given["angles"] = rotary_angles(np.arange(n), d_k)
    given |= draw.masks(n, m)
    if about == "key_padding_mask":
        given["padding"] = draw.allowed(*draw.leading, m)
    for fused, names in (("w_qkv", MATRICES), ("b_qkv", BIASES)):
        if fused in takes:
            given[fused] = np.concatenate([given.pop(name) for name in names[:3]], axis=-1)
    if "weights" in takes:
        given["weights"] = _weights(given)
    if "key" in takes:
        given["key"] = given["value"] = given.get("context", given["x"])
    if about == OWN_VALUE:
        given["value"] = given["values_of"] = draw.numbers(*draw.leading, m, width)
    return given


def matrices_of(given: Mapping[str, Any]) -> tuple[Array, ...]:
    """Return the four matrices, each with the heads beside each other."""
    if "w_qkv" in given:
        parts = np.split(given["w_qkv"], 3, axis=-1)
    else:
        parts = [given[name] for name in MATRICES[:3]]
    own = np.eye(parts[0].shape[-1], dtype=parts[0].dtype)
    return (*parts, given.get("w_o", own))


def biases_of(given: Mapping[str, Any]) -> tuple[Array, ...]:
    """Return the four biases; zeros where there is none."""
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
    padding = given.get("padding")
    return multi_head_attention(
        given["x"],
        given.get("weights") or _weights(given),
        context=given.get("context"),
        mask=given.get("mask") if padding is None else padding[..., None, None, :],
        is_causal=bool(given.get("is_causal")),
        angles=given.get("angles"),
    )


def _of_three(given: Any) -> Array:
    """Return the output where queries, keys and values come from three arrays."""
    *projections, w_o = matrices_of(given)
    *lent, b_o = biases_of(given)
    read = (given[name] for name in ("x", "key", "value"))
    wide = (x @ w + b for x, w, b in zip(read, projections, lent, strict=True))
    query, key, value = (split_heads(each, given["num_heads"]) for each in wide)
    return merge_heads(scaled_dot_product_attention(query, key, value)) @ w_o + b_o


def worked(given: Any, parts: Parts) -> Array:
    """Return what a layer of some parts gives, a sequence at a time."""
    if given["x"].ndim > 2:
        own = [name for name in ("x", "context", "values_of", "padding") if name in given]
        each = ({**given, **{name: given[name][i] for name in own}} for i in range(len(given["x"])))
        return np.stack([worked(one, parts) for one in each])
    matrices = matrices_of(given)
    if "w_qkv" in given:
        matrices = given["w_qkv"], matrices[-1]
    rest = biases_of(given), given["num_heads"], parts, attention.options(given)
    return layer(given["x"], matrices, *rest, given.get("context"), given.get("values_of"))


def finished(given: Any, steps: Arrays, at: tuple[int, ...]) -> Worked:
    """Work a number of the output: the heads' outputs by a column of the last matrix."""
    concat, column = steps["concat"][at[:-1]], matrices_of(given)[-1][:, at[-1]]
    bias = float(biases_of(given)[-1][at[-1]])
    text = product(concat, column) + (f" + {factor(bias)}" if bias else "")
    return [text], [float(concat @ column) + bias]


STEPS = (
    Told("query", "score", 0, "x @ w_q (+ b_q), by heads"),
    Told("key", "score", 1, "x @ w_k (+ b_k), by heads"),
    Told("value", "mix", 1, "x @ w_v (+ b_v), by heads"),
    Told("scores", "along", 0, "query @ key.swapaxes(-1, -2) / np.sqrt(d_k)"),
    Told("weights", "mix", 0, "softmax(scores)"),
    Told("heads", "mix", -1, "weights @ value"),
    Told("concat", "merge", -1, "heads, side by side"),
    Told("output", "finish", -1, finished, 0),
)
"""What is told of a layer, each step with all of its heads."""


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
    parts=(
        *(part for part in attention.SUBJECT.parts if part not in ("score_by", "cap", "roles")),
        *("turn", "cut", "order", "lend", "sources", "split", "merge", "finish"),
    ),
)
