"""PyTorch's own attention is examined without a false finding; what is wrong is told in full."""

import torch
from torch.nn import functional
from unseen import FIRST

import mha


def module(
    query, key, value, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, num_heads, attn_mask=None,
    key_padding_mask=None,
):  # fmt: skip
    """Put matrices, which multiply from the right, into PyTorch's module."""
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
    report = mha.examine(functional.scaled_dot_product_attention, asarray=torch.tensor)
    assert report.ok, report
    refused = "if is_causal and a mask do not come together"
    assert [finding.convention for finding in report.findings] == [FIRST, refused]
    differing = {kind for kind, (agreed, asked) in report.cases.items() if agreed < asked}
    assert differing == {"is_causal and attn_mask"}
    assert set(report.cases) >= {
        "plain", "large scores", "attn_mask of True and False", "attn_mask of numbers",
        "is_causal", "a query that sees nothing", "scale", "enable_gqa",
    }  # fmt: skip


def test_of_the_module_its_conventions_are_told_and_nan_for_a_query_that_sees_nothing():
    report = mha.examine_layer(module, asarray=torch.tensor)
    assert [(finding.bug, finding.convention) for finding in report.findings] == [
        ("NaN for nothing seen", None),
        (None, "if True hides"),
        (None, "if True is padding"),
    ]
    rest = mha.examine_layer(module, asarray=torch.tensor, leave_out=["a query that sees nothing"])
    assert rest.ok, rest


def test_a_tensor_that_tracks_gradients_is_a_line_of_the_report():
    weight = torch.nn.Parameter(torch.ones(()))

    def attention(query, key, value):
        return weight * functional.scaled_dot_product_attention(query, key, value)

    report = mha.examine(attention, asarray=torch.tensor)
    assert not report.ok
    assert "tensor.detach()" in str(report)
