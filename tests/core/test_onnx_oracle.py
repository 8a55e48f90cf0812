"""Agreement with an independent oracle: the node test cases that `onnx` publishes for Attention.

Each case brings inputs, attributes and the output that every implementation of the operator must
give. Left out is what the functions here do not take: capped scores, windows, lengths that differ
from sentence to sentence, a causal past of another text, and bfloat16. Nothing of `mha` above
`mha.core` has a part in it.
"""

import numpy as np
import onnx
import onnx.backend.test.case.node.attention  # importing it collects its cases
import pytest
from onnx.backend.test.case import node as node_cases

from mha.core.attention import scaled_dot_product_attention
from mha.core.blockwise import blockwise_attention
from mha.core.heads import merge_heads, split_heads

TAKEN = {
    *("Q", "K", "V", "attn_mask", "past_key", "past_value", "is_causal", "scale"),
    *("q_num_heads", "kv_num_heads", "softmax_precision", "qk_matmul_output_mode"),
}
"""The operator's inputs and attributes that are understood here, or change no output `Y`."""

# The published cases are float32, or float16 throughout: an intermediate result then has eleven
# bits, and a result here, computed in float32, is rounded once.
TOLERANCES = {"float32": {"rtol": 1e-5, "atol": 1e-6}, "float16": {"rtol": 1e-3, "atol": 2e-4}}


def read(published):
    """Return the inputs of a published case by the operator's names, and its expected output."""
    (node,) = published.model.graph.node
    ((arrays, outputs),) = published.data_sets
    formal = onnx.defs.get_schema("Attention").inputs
    names = [each.name for each, actual in zip(formal, node.input, strict=False) if actual]
    given = dict(zip(names, arrays, strict=True))
    given |= {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    if given.get("softcap") == 0:
        del given["softcap"]
    return given, outputs[0]


# Other tests may have collected other operators; a case that is more than one node repeats one.
CASES = {
    published.name: read(published)
    for published in node_cases._NodeTestCases
    if published.name.startswith("test_attention_")
    and [node.op_type for node in published.model.graph.node] == ["Attention"]
}
RUN = {
    name: (given, wanted)
    for name, (given, wanted) in CASES.items()
    if given.keys() <= TAKEN and wanted.dtype.name in TOLERANCES
    if not (given.get("is_causal") and "past_key" in given) or given["K"].shape == given["Q"].shape
}


def in_our_terms(given):
    """Return query, key, value and the options for `scaled_dot_product_attention`."""
    arrays = [given[name] for name in "QKV"]
    if arrays[0].ndim == 3:
        counts = [given[f"{side}_num_heads"] for side in ("q", "kv", "kv")]
        arrays = [split_heads(x, count) for x, count in zip(arrays, counts, strict=True)]
    query, key, value = arrays
    if "past_key" in given:
        key = np.concatenate([given["past_key"], key], axis=-2)
        value = np.concatenate([given["past_value"], value], axis=-2)
    return (query, key, value), {
        "mask": given.get("attn_mask"),
        "is_causal": bool(given.get("is_causal", 0)),
        "align": "bottom-right" if "past_key" in given else "top-left",
        "scale": given.get("scale"),
        "enable_gqa": query.shape[-3] != key.shape[-3],
    }


@pytest.mark.parametrize("name", RUN)
def test_published_case(name):
    given, wanted = RUN[name]
    arrays, options = in_our_terms(given)
    plain = scaled_dot_product_attention(*arrays, **options)
    in_blocks = blockwise_attention(*arrays, block_size=3, **options)
    for output in (plain, in_blocks):
        assert output.dtype == np.float32
        found = (output if wanted.ndim == 4 else merge_heads(output)).astype(wanted.dtype)
        np.testing.assert_allclose(found, wanted, **TOLERANCES[wanted.dtype.name])


def test_no_case_is_lost():
    assert len(RUN) >= 58
