"""Agreement with an independent oracle: the node test cases that `onnx` publishes for Attention.

Each case brings inputs, attributes and the outputs that every implementation of the operator
must give. What the operator has and the functions here do not take (padded lengths, windows, a
causal mask that starts elsewhere than at the top left or bottom right) is put into the mask; what
no mask can say is left out, with the reason. Nothing of `mha` above `mha.core` has a part in it.
"""

from dataclasses import dataclass, field

import numpy as np
import onnx
import onnx.backend.test.case.node.attention  # importing it collects its cases
import pytest
from onnx.backend.test.case import node as node_cases

from mha.core.attention import (
    attention_scores,
    attention_weights,
    masked_scores,
    repeat_heads,
    scaled_dot_product_attention,
    scaled_scores,
)
from mha.core.blockwise import blockwise_attention
from mha.core.gradients import scaled_dot_product_attention_backward
from mha.core.heads import merge_heads, split_heads
from mha.core.masks import padding_mask

FEWEST_RUN = 77
"""How many cases run with the locked version of `onnx`; a newer one may only have more."""

KNOWN = {
    *("Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"),
    *("is_causal", "kv_num_heads", "left_window_size", "q_num_heads", "qk_matmul_output_mode"),
    *("right_window_size", "scale", "softcap", "softmax_precision"),
}
"""The operator's inputs and attributes that are understood here."""

# The published cases are float32, or float16 throughout: an intermediate result then has eleven
# bits, and a result here, computed in float32, is rounded once.
TOLERANCES = {"float32": {"rtol": 1e-5, "atol": 1e-6}, "float16": {"rtol": 1e-3, "atol": 2e-4}}


@dataclass(frozen=True)
class Case:
    """One published case: arrays by the operator's names for them."""

    name: str
    inputs: dict
    attributes: dict
    outputs: dict = field(repr=False)

    @classmethod
    def read(cls, published):
        (node,) = published.model.graph.node
        ((inputs, outputs),) = published.data_sets
        schema = onnx.defs.get_schema("Attention")

        def by_name(formal, actual, arrays):
            names = [f.name for f, a in zip(formal, actual, strict=False) if a]
            return dict(zip(names, arrays, strict=True))

        return cls(
            name=published.name,
            inputs=by_name(schema.inputs, node.input, inputs),
            attributes={a.name: onnx.helper.get_attribute_value(a) for a in node.attribute},
            outputs=by_name(schema.outputs, node.output, outputs),
        )

    def can_run(self):
        """Tell whether scores are not capped, and numbers are of a type that NumPy has."""
        return not self.attributes.get("softcap") and self.inputs["Q"].dtype.name != "bfloat16"


# Other tests may have collected other operators; a case that is more than one node repeats one.
CASES = [
    Case.read(published)
    for published in node_cases._NodeTestCases
    if published.name.startswith("test_attention_")
    and [node.op_type for node in published.model.graph.node] == ["Attention"]
]
RUN = [case for case in CASES if case.can_run()]


# From the operator's interface to ours


def arguments(case):
    """Return query, key, value and the options for `scaled_dot_product_attention`."""
    query, key, value = heads(case)
    if "past_key" in case.inputs:
        key = np.concatenate([case.inputs["past_key"], key], axis=-2)
        value = np.concatenate([case.inputs["past_value"], value], axis=-2)
    num_queries, num_keys = query.shape[-2], key.shape[-2]
    first = first_place(case, num_queries)
    is_causal, align = bool(case.attributes.get("is_causal", 0)), "top-left"
    allowed = window(case, first, num_queries, num_keys)
    if "nonpad_kv_seqlen" in case.inputs:
        allowed = allowed & padding_mask(case.inputs["nonpad_kv_seqlen"][:, None], num_keys)
    if is_causal and np.all(first == num_keys - num_queries):
        align = "bottom-right"
    elif is_causal and np.any(first):
        # A start that differs from sentence to sentence has to be part of the mask.
        allowed, is_causal = allowed & (steps_back(first, num_queries, num_keys) >= 0), False
    options = {
        "mask": joined(case.inputs.get("attn_mask"), allowed),
        "is_causal": is_causal,
        "align": align,
        "scale": case.attributes.get("scale"),
        "enable_gqa": query.shape[-3] != key.shape[-3],
    }
    return query, key, value, options


def heads(case):
    """Return the inputs with an axis of heads, which those with three axes have to be given."""
    inputs = [case.inputs[name] for name in "QKV"]
    if inputs[0].ndim == 4:
        return inputs
    counts = [case.attributes[f"{side}_num_heads"] for side in ("q", "kv", "kv")]
    return [split_heads(x, count) for x, count in zip(inputs, counts, strict=True)]


def first_place(case, num_queries):
    """Return how many keys come before the first query, shape () or (batch, 1, 1, 1)."""
    if "past_key" in case.inputs:
        return case.inputs["past_key"].shape[-2]
    if "nonpad_kv_seqlen" in case.inputs:
        return case.inputs["nonpad_kv_seqlen"][:, None, None, None] - num_queries
    return 0


def steps_back(first, num_queries, num_keys):
    """Return how far each key lies before each query: below 0 if it comes later."""
    return first + np.arange(num_queries)[:, None] - np.arange(num_keys)


def window(case, first, num_queries, num_keys):
    """Return which keys are near enough to each query."""
    back = steps_back(first, num_queries, num_keys)
    left = case.attributes.get("left_window_size", -1)
    right = case.attributes.get("right_window_size", -1)
    return ((left < 0) | (back <= left)) & ((right < 0) | (-back <= right))


def joined(mask, allowed):
    """Return a mask that lets a query attend where both do; a short one ends in forbidden keys."""
    if mask is None:
        return None if allowed.all() else allowed
    missing = allowed.shape[-1] - mask.shape[-1]
    forbidden = False if mask.dtype == np.bool_ else -np.inf
    widths = [(0, 0)] * (mask.ndim - 1) + [(0, missing)]
    mask = np.pad(mask, widths, constant_values=forbidden)
    return mask & allowed if mask.dtype == np.bool_ else np.where(allowed, mask, -np.inf)


def qk_matmul_output(case, query, key, options):
    """Return the stage of the computation that the case's mode asks for."""
    mode = case.attributes.get("qk_matmul_output_mode", 0)
    if mode == 3:
        return attention_weights(query, key, **options)
    if options["enable_gqa"]:
        key = repeat_heads("key", key, query)
    scaled = scaled_scores(attention_scores(query, key), query.shape[-1], options["scale"])
    # Mode 1 is after the soft cap, and there is none.
    masks = options["mask"], options["is_causal"], options["align"]
    return masked_scores(scaled, *masks) if mode == 2 else scaled


def agree(computed, published):
    """Compare in the published dtype, minus infinities by place and the rest by value."""
    tolerance = TOLERANCES[published.dtype.name]
    assert computed.dtype == np.float32
    np.testing.assert_allclose(computed.astype(published.dtype), published, **tolerance)


# The tests


@pytest.mark.parametrize("case", RUN, ids=lambda case: case.name)
def test_published_case(case, rng):
    query, key, value, options = arguments(case)
    plain = scaled_dot_product_attention(query, key, value, **options)
    in_blocks = blockwise_attention(query, key, value, block_size=3, **options)
    for output in (plain, in_blocks):
        agree(merge_heads(output) if case.inputs["Q"].ndim == 3 else output, case.outputs["Y"])
    if "qk_matmul_output" in case.outputs:
        agree(qk_matmul_output(case, query, key, options), case.outputs["qk_matmul_output"])
    check_gradients([x.astype(np.float64) for x in (query, key, value)], options, rng)


def check_gradients(given, options, rng):
    """Compare with central differences along one direction of all inputs, in float64."""
    d_output = rng.normal(size=scaled_dot_product_attention(*given, **options).shape)
    directions = [rng.normal(size=x.shape) for x in given]

    def loss(step):
        moved = [x + step * direction for x, direction in zip(given, directions, strict=True)]
        return (scaled_dot_product_attention(*moved, **options) * d_output).sum()

    back = scaled_dot_product_attention_backward(d_output, *given, **options)
    parts = zip((back.query, back.key, back.value), directions, strict=True)
    slope = sum((gradient * direction).sum() for gradient, direction in parts)
    step = 1e-6
    assert slope == pytest.approx((loss(step) - loss(-step)) / (2 * step), rel=1e-6, abs=1e-7)


def test_no_case_is_lost_and_none_has_what_is_not_understood():
    assert len(RUN) >= FEWEST_RUN
    assert {name for case in CASES for name in (*case.inputs, *case.attributes)} <= KNOWN
