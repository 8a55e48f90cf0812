"""`examine` reports no false finding for PyTorch's own attention, and reports each real one."""

import pytest
import torch
from independent_cases import EMPTY, FIRST
from torch.nn import functional

import mha


def module(
    query, key, value, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, num_heads, attn_mask=None,
    key_padding_mask=None,
):  # fmt: skip
    """Load matrices, which multiply from the right, into PyTorch's module."""
    layer = torch.nn.MultiheadAttention(
        query.shape[-1], num_heads, batch_first=True, dtype=query.dtype
    )
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.cat([w_q.T, w_k.T, w_v.T]))
        layer.in_proj_bias.copy_(torch.cat([b_q, b_k, b_v]))
        layer.out_proj.weight.copy_(w_o.T)
        layer.out_proj.bias.copy_(b_o)
        return layer(query, key, value, key_padding_mask=key_padding_mask, attn_mask=attn_mask)


def test_the_function_is_right_with_all_that_it_takes():
    report = mha.examine(functional.scaled_dot_product_attention)
    assert report.ok, report
    refused = "if is_causal and a mask do not come together"
    assert [finding.convention for finding in report.findings] == [refused, FIRST]
    assert all(agreed == asked for agreed, asked in report.cases.values())
    assert set(report.cases) >= {
        "plain", "large scores", "boolean attn_mask", "additive attn_mask",
        "is_causal", "fully masked row", "scale", "enable_gqa",
    }  # fmt: skip


def test_of_the_module_its_conventions_are_told_and_nan_for_a_query_that_sees_nothing():
    report = mha.examine_layer(module, asarray=torch.tensor)
    assert report.ok, report
    conventions = [finding.convention for finding in report.findings]
    assert {"if True in a mask means masked", "if True marks padding", EMPTY} <= set(conventions)
    strict = mha.examine_layer(module, asarray=torch.tensor, strict=True)
    wrong = [finding.bug for finding in strict.findings if not finding.convention]
    assert wrong == ["fully masked row returns NaN"]


@pytest.mark.parametrize("batch_first", [True, False])
def test_the_module_itself_is_examined(batch_first):
    report = mha.examine(torch.nn.MultiheadAttention(12, 3, batch_first=batch_first))
    assert report.ok, report
    conventions = [finding.convention for finding in report.findings]
    assert ("if axes are (n, batch, d_model)" in conventions) is not batch_first
    assert "average_attn_weights" in report.not_tested


def test_a_tensor_that_tracks_gradients_is_detached():
    weight = torch.nn.Parameter(torch.ones(()))

    def attention(query, key, value):
        return weight * functional.scaled_dot_product_attention(query, key, value)

    assert mha.examine(attention).ok
