"""Layers of attention with their matrices: their test cases and correct outputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mha.core.attention import repeat_heads, scaled_dot_product_attention
from mha.core.checks import Array
from mha.core.heads import merge_heads, split_heads
from mha.core.multihead import BIASES, MATRICES, MultiHeadWeights, multi_head_attention
from mha.core.positions import rotary_angles, rotate_by
from mha.examine import attention
from mha.examine.cases import (
    ADDITIVE_MASK,
    CAUSAL_AND_MASK,
    CAUSAL_AND_PADDING,
    FULLY_MASKED,
    MASK_PER_SEQUENCE,
    Draw,
    Subject,
)
from mha.examine.printed_steps import Arrays, Calculations, PrintedStep, product
from mha.practice.attention_parts import Parts, layer_output
from mha.views.arithmetic import factor

ALIASES = {
    "x": ("x", "query", "hiddenstates", "inputs", "embeddings", "queries", "inputq", "inputsq",
          "tokens", "embedded", "inp", "input"),
    "context": ("context", "memory", "encoderhiddenstates", "keyvaluestates", "inputskv"),
    "key": ("key", "k", "keys"),
    "value": ("value", "v", "values"),
    "weights": ("weights", "layer"),
    **{
        f"w_{word[0]}": (f"w{word[0]}", f"{word[0]}proj", f"{word[0]}weight", f"{word[0]}w",
                         f"w{word}", f"{word}weight", f"{word}proj")
        for word in ("query", "key", "value")
    },
    "w_o": ("wo", "wout", "oproj", "outproj", "oweight", "ow", "wproj", "outweight"),
    "w_qkv": ("wqkv", "inproj", "inprojweight", "cattn", "qkvweight", "qkvproj"),
    **{f"b_{x}": (f"b{x}", f"{x}bias") for x in "qkv"},
    "b_o": ("bo", "bout", "obias", "outbias"),
    "b_qkv": ("bqkv", "inprojbias", "qkvbias"),
    "num_heads": ("numheads", "nheads", "nhead", "heads", "h", "numattentionheads"),
    "num_groups": ("numgroups", "numkvheads", "nkvheads", "numkeyvalueheads", "kvheads"),
    **{name: attention.ALIASES[name] for name in ("mask", "lengths", "is_causal")},
    "padding": (*attention.ALIASES["padding"], "encoderattentionmask", "contextmask",
                "memorymask", "srcpaddingmask", "paddingattentionmask"),
    "angles": ("angles",),
}  # fmt: skip

OWN_VALUE = "key and value that differ"
PADDED_CONTEXT = "context with key_padding_mask"

KINDS = {
    "plain": (),
    "is_causal": ("is_causal",),
    "boolean mask": ("mask",),
    "mask of one row": ("mask",),
    MASK_PER_SEQUENCE: ("mask",),
    FULLY_MASKED: ("mask",),
    ADDITIVE_MASK: ("mask",),
    "key_padding_mask": ("padding",),
    "lengths": ("lengths",),
    CAUSAL_AND_MASK: ("is_causal", "mask"),
    CAUSAL_AND_PADDING: ("is_causal", "padding"),
    "context": (),
    PADDED_CONTEXT: ("padding",),
    OWN_VALUE: ("key", "value"),
    "num_groups": ("num_groups",),
    "angles": ("angles",),
}


def draw_inputs(draw: Draw, *sizes: int) -> dict[str, Any] | None:
    """Draw the inputs of a case: n tokens, a number of heads and their width."""
    kind, takes, (n, heads, d_k) = draw.kind, draw.takes, sizes
    has_context, is_padded = kind in ("context", OWN_VALUE, PADDED_CONTEXT), "padding" in kind
    smallest_size = {"angles": d_k, "num_groups": heads}.get(kind, n if is_padded else 2)
    if smallest_size == 1 or (has_context and takes.isdisjoint({"context", "key"})):
        return None
    if kind in (PADDED_CONTEXT, "lengths") and not draw.leading:
        return None
    if takes.isdisjoint({"num_heads", "weights"}):
        heads = 1
    if kind == MASK_PER_SEQUENCE and not draw.leading:
        return None
    width, groups = heads * d_k, heads // 2 if kind == "num_groups" else heads
    m = n + 4 if has_context and n % 2 else n
    inputs = draw_matrices(draw, width, heads, groups, d_k)
    inputs |= {"x": draw.numbers(*draw.leading, n, width), "num_heads": heads, "num_groups": groups}
    if has_context:
        inputs["context"] = draw.numbers(*draw.leading, m, width)
    if kind == "angles":
        inputs["angles"] = rotary_angles(np.arange(n), d_k)
    inputs |= draw.masks(n, m)
    if kind == MASK_PER_SEQUENCE:
        inputs["mask"] = draw.allowed(*draw.leading, 1, n, m)
    if is_padded:
        inputs["padding"] = draw.allowed(*draw.leading, m)
    if kind == "lengths":
        inputs["lengths"] = 1 + np.arange(draw.leading[0]) % m
    if kind == CAUSAL_AND_PADDING:
        inputs |= {"is_causal": True, "padding": inputs["padding"] | (np.arange(m) == 0)}
    if "key" in takes:
        inputs["key"] = inputs["value"] = inputs.get("context", inputs["x"])
    if kind == OWN_VALUE:
        inputs["value"] = inputs["values_of"] = draw.numbers(*draw.leading, m, width)
    return inputs


def draw_matrices(draw: Draw, width: int, heads: int, groups: int, d_k: int) -> dict[str, Any]:
    """Draw the matrices and biases that a function takes, separately, fused or as one object."""
    takes = draw.takes
    wide = dict(zip(MATRICES, (width, groups * d_k, groups * d_k, width), strict=True))
    inputs: dict[str, Any] = {name: draw.numbers(width, wide[name]) / 2 for name in MATRICES}
    if takes.isdisjoint({"w_o", "weights"}):
        del inputs["w_o"]
    for name, matrix_name in zip(BIASES, MATRICES, strict=True):
        if name in takes or (name != "b_o" and "b_qkv" in takes):
            inputs[name] = draw.numbers(wide[matrix_name])
    for fused, names in (("w_qkv", MATRICES), ("b_qkv", BIASES)):
        if fused in takes:
            inputs[fused] = np.concatenate([inputs.pop(name) for name in names[:3]], axis=-1)
    if "weights" in takes:
        inputs["weights"] = _weights({**inputs, "num_heads": heads})
    return inputs


def draw_plain_inputs(draw: Draw, n: int, _m: int) -> dict[str, Any] | None:
    """Draw plain inputs of n tokens, with small matrices, so that each token has an influence."""
    inputs = draw_inputs(draw, n, 2, 4)
    if inputs is not None and "weights" not in inputs:
        inputs |= {name: inputs[name] / 2 for name in ("w_q", "w_k", "w_qkv") if name in inputs}
    return inputs


def output_shape(inputs: Any) -> tuple[int, ...]:
    """Return the shape of the output."""
    weights = inputs.get("weights")
    w_o = inputs.get("w_o") if weights is None else weights.w_o
    width = inputs["x"].shape[-1]
    if w_o is not None:
        width = w_o.shape[-1]
    elif "w_v" in inputs:
        width = inputs["w_v"].shape[-1]
    return (*inputs["x"].shape[:-1], width)


def masked_rows(inputs: Any) -> Array:
    """Return True for each token whose row is fully masked."""
    n, m = inputs["x"].shape[-2], inputs.get("context", inputs["x"]).shape[-2]
    is_masked = (attention.added_mask(inputs, n, m) == -np.inf).all(axis=-1)
    return is_masked[:, 0] if is_masked.ndim > 2 else is_masked


def matrices_of(inputs: Mapping[str, Any]) -> tuple[Array, ...]:
    """Return the four matrices, with the heads concatenated."""
    if "w_qkv" in inputs:
        parts = np.split(inputs["w_qkv"], 3, axis=-1)
    else:
        parts = [inputs[name] for name in MATRICES[:3]]
    identity = np.eye(parts[0].shape[-1], dtype=parts[0].dtype)
    return (*parts, inputs.get("w_o", identity))


def head_width(inputs: Mapping[str, Any]) -> int:
    """Return the width of one head's queries."""
    if inputs.get("weights") is not None:
        return int(inputs["weights"].w_q.shape[-1])
    width = matrices_of(inputs)[0].shape[-1]
    return int(width // inputs["num_heads"])


def biases_of(inputs: Mapping[str, Any]) -> tuple[Array, ...]:
    """Return the four biases; zeros for a missing one."""
    biases = {name: inputs[name] for name in BIASES if name in inputs}
    if "b_qkv" in inputs:
        biases |= zip(BIASES, np.split(inputs["b_qkv"], 3), strict=False)
    named = zip(BIASES, matrices_of(inputs), strict=True)
    return tuple(biases.get(name, np.zeros(w.shape[-1], w.dtype)) for name, w in named)


def _weights(inputs: Mapping[str, Any]) -> MultiHeadWeights:
    """Return matrices and biases as `MultiHeadWeights` takes them."""
    *projections, w_o = matrices_of(inputs)
    d_k = projections[0].shape[-1] // inputs["num_heads"]
    by_heads = [w.reshape(len(w), -1, d_k).swapaxes(0, 1) for w in projections]
    parts = dict(zip(MATRICES, [*by_heads, w_o], strict=True))
    if not {*BIASES, "b_qkv"}.isdisjoint(inputs):
        *rows, b_o = biases_of(inputs)
        parts |= zip(BIASES, [*(b.reshape(-1, d_k) for b in rows), b_o], strict=True)
    return MultiHeadWeights(**parts)


def expected(inputs: Any) -> Array:
    """Return the correct output."""
    if "values_of" in inputs or inputs.get("rotation"):
        return _expected_of_three_arrays(inputs)
    n, m = inputs["x"].shape[-2], inputs.get("context", inputs["x"]).shape[-2]
    return multi_head_attention(
        inputs["x"],
        inputs.get("weights") or _weights(inputs),
        context=inputs.get("context"),
        mask=attention.added_mask(inputs, n, m),
        angles=inputs.get("angles"),
    )


def _expected_of_three_arrays(inputs: Any) -> Array:
    """Return the correct output if queries, keys and values come from three arrays.

    Without own arrays, keys and values come from the context or from the tokens.
    """
    context = inputs.get("context", inputs["x"])
    *projections, w_o = matrices_of(inputs)
    *biases, b_o = biases_of(inputs)
    read = (inputs["x"], inputs.get("key", context), inputs.get("value", context))
    wide = (x @ w + b for x, w, b in zip(read, projections, biases, strict=True))
    d_k = head_width(inputs)
    query, key, value = (split_heads(each, each.shape[-1] // d_k) for each in wide)
    if inputs.get("rotation"):
        angles = attention.rotation_angles(inputs, query.shape[-2], d_k)
        layout = inputs["rotation"][0]
        query, key = (rotate_by(x, angles, layout=layout) for x in (query, key))
    if key.shape[-3] < query.shape[-3]:
        key, value = repeat_heads("key", key, query), repeat_heads("value", value, query)
    mask = attention.added_mask(inputs, query.shape[-2], key.shape[-2])
    return merge_heads(scaled_dot_product_attention(query, key, value, mask=mask)) @ w_o + b_o


def compute(inputs: Any, parts: Parts) -> Array:
    """Return the output of a layer with given parts, which compute one sequence at a time."""
    if inputs["x"].ndim > 2:
        count, num_heads = len(inputs["x"]), inputs["num_heads"]
        inputs_by_sequence = {
            name: inputs[name] for name in ("x", "context", "values_of") if name in inputs
        }
        is_token = attention.real_keys(inputs)
        if is_token is not None:
            inputs_by_sequence["padding"] = parts.repeat_masks(is_token, num_heads).reshape(
                count, num_heads, -1
            )
        mask = inputs.get("mask")
        if mask is not None and mask.ndim == 4:
            repeated = parts.repeat_masks(mask[:, 0], num_heads)
            inputs_by_sequence["mask"] = repeated.reshape(count, num_heads, *mask.shape[-2:])
        shared = {name: x for name, x in inputs.items() if name != "lengths"}
        sequences = (
            {**shared, **{name: x[i] for name, x in inputs_by_sequence.items()}}
            for i in range(count)
        )
        return np.stack([compute(sequence, parts) for sequence in sequences])
    matrices, biases = matrices_of(inputs), biases_of(inputs)
    if "w_qkv" in inputs:
        matrices = inputs["w_qkv"], matrices[-1]
        biases = np.concatenate(biases[:3]), biases[-1]
    return layer_output(
        inputs["x"],
        matrices,
        biases,
        inputs["num_heads"],
        parts,
        attention.part_options(inputs, parts, head_width(inputs)),
        inputs.get("context"),
        inputs.get("values_of"),
    )


def calculate_projection(inputs: Any, steps: Arrays, at: tuple[int, ...]) -> Calculations:
    """Return the arithmetic and value of a number of the output: a row of heads times a column."""
    concat, column = steps["concat"][at[:-1]], matrices_of(inputs)[-1][:, at[-1]]
    bias = float(biases_of(inputs)[-1][at[-1]])

    def text(places: int) -> str:
        added = f" + {factor(bias, places)}" if bias else ""
        return product(concat, column, places) + added

    return [text], [float(concat @ column) + bias]


STEPS = (
    PrintedStep("query", "score", 0, "x @ w_q (+ b_q), by heads"),
    PrintedStep("key", "score", 1, "x @ w_k (+ b_k), by heads"),
    PrintedStep("value", "mix", 1, "x @ w_v (+ b_v), by heads"),
    PrintedStep("scores", "along", 0, "query @ key.swapaxes(-1, -2) / np.sqrt(d_k)"),
    PrintedStep("weights", "mix", 0, "softmax(scores)"),
    PrintedStep("heads", "mix", -1, "weights @ value"),
    PrintedStep("concat", "merge", -1, "heads, side by side"),
    PrintedStep("output", "project_output", -1, calculate_projection, 0),
)
"""The printed steps of a layer, each with all heads."""


SUBJECT = Subject(
    aliases=ALIASES,
    first_inputs=("x",),
    required_inputs=frozenset({"x"}),
    kinds=KINDS,
    draw_inputs=draw_inputs,
    leading=((), (2,)),
    sizes=((7, 2, 4), (5, 6, 2), (3, 4, 4), (6, 4, 2)),
    small_sizes=[(n, heads, d_k) for n in (1, 2, 3) for heads in (1, 2) for d_k in (1, 2)],
    expected=expected,
    compute=compute,
    correct_function="multi_head_attention",
    printed_steps=STEPS,
    locate_call=lambda inputs, at: (at[0], at[1:]) if inputs["x"].ndim > 2 else (0, at),
    refusable_kinds={
        **dict.fromkeys(
            attention.CAUSAL_AND_OTHER_MASK, "if is_causal and a mask do not come together"
        ),
        MASK_PER_SEQUENCE: "if one mask is for all sequences",
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
            "select_inputs",
            "split",
            "merge",
            "project_output",
        ),
    ),
    masked_rows=masked_rows,
    draw_plain_inputs=draw_plain_inputs,
    token_axis_inputs=("x", "context", "key", "value"),
    output_shape=output_shape,
)
