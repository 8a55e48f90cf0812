"""Bugs by someone who had not seen the table are told in PyTorch; their sound twins are right.

A function of each kind, and what goes wrong in PyTorch's words alone: all others are NumPy's, in
`tests/examine/test_right_functions.py`.
"""

import math

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from unseen import FIRST, HIDES, LAST, A, D, L, P, Unseen


def causal(num_queries, num_keys):
    full = torch.ones(num_queries, num_keys, dtype=torch.bool)
    return full.tril(diagonal=num_keys - num_queries)


def hide(scores, mask):
    if mask is None:
        return scores
    if mask.dtype == torch.bool:
        return scores.masked_fill(~mask, float("-inf"))
    return scores + mask.to(scores.dtype)


def attend(query, key, value, mask=None):
    scores = hide(query @ key.mT / math.sqrt(query.size(-1)), mask)
    return F.softmax(scores, dim=-1).nan_to_num() @ value


def masked(query, key, value, mask=None, is_causal=False):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    scores = hide(scores, mask)
    if is_causal:
        scores = hide(scores, causal(*scores.shape[-2:]))
    return F.softmax(scores, dim=-1).nan_to_num() @ value


def by_library(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)


def layer(x, w_q, w_k, w_v, w_o, num_heads):
    *lead, n, _ = x.shape
    q, k, v = ((x @ w).view(*lead, n, num_heads, -1).transpose(-3, -2) for w in (w_q, w_k, w_v))
    return attend(q, k, v).transpose(-3, -2).reshape(*lead, n, -1) @ w_o


def step(query, key, value, cache=None):
    if cache is not None:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    seen = causal(query.shape[-2], key.shape[-2])
    return attend(query, key, value, seen), (key, value)


def rotary(x, positions):
    d = x.shape[-1]
    frequencies = 1.0 / 10000.0 ** (torch.arange(0, d, 2).double() / d)
    angles = positions.double()[..., None] * frequencies
    angles = angles.unsqueeze(-3) if angles.dim() > 2 else angles
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def token_numbers(mask):
    return (mask.long().cumsum(-1) - 1).clamp(min=0)


MASKED, LIBRARY = Unseen(masked, A, conditions=(LAST,)), Unseen(by_library, A)
LAYER, STEP, TURN, NUMBERS = (
    Unseen(function, kind)
    for function, kind in ((layer, L), (step, D), (rotary, P), (token_numbers, P))
)
SOFT, HEADS = "F.softmax(scores, dim=-1)", "(*lead, n, num_heads, -1).transpose(-3, -2)"

RIGHT = [
    MASKED,
    LIBRARY,
    LAYER,
    STEP,
    TURN,
    NUMBERS,
    MASKED.wrong("mask inverted", "scores = hide(scores, mask)", "scores = hide(scores, ~mask if "
                 "mask is not None and mask.dtype == torch.bool else mask)",
                 conditions=(HIDES, LAST)),
    LIBRARY.wrong("causal mask aligned top-left", "value)", "value, is_causal=is_causal)",
                  "value, is_causal=is_causal):", "value, is_causal=False):", conditions=(FIRST,)),
]  # fmt: skip
WRONG = [
    LIBRARY.wrong("divided by hand and by the library",
                  "attention(query", "attention(query / math.sqrt(query.size(-1))"),
    LIBRARY.wrong("dropout left on in the library's call", "n(query, key, value)",
                  "n(query, key, value, dropout_p=0.1)"),
    MASKED.wrong("softmax in bfloat16",
                 SOFT, "F.softmax(scores.to(torch.bfloat16), dim=-1).to(value.dtype)"),
    MASKED.wrong("rows that see nothing are NaN", ".nan_to_num()", ""),
    LAYER.wrong("heads split by reshape alone", HEADS, "(*lead, num_heads, n, -1)"),
    STEP.wrong("several new tokens see each other's future", ", value, seen)", ", value)"),
    TURN.wrong("positions in bfloat16", "positions.double()", "positions.bfloat16().double()"),
    NUMBERS.wrong("tokens counted with the padding", "(mask.long().cumsum(-1) - 1).clamp(min=0)",
                  "torch.arange(mask.shape[-1]).expand(mask.shape)"),
]  # fmt: skip


@pytest.mark.parametrize("one", WRONG, ids=str)
def test_a_bug_is_told(one):
    one.expect_told(torch.tensor)


@pytest.mark.parametrize("one", RIGHT, ids=str)
def test_a_twin_or_another_convention_is_right(one):
    one.expect_right(torch.tensor)
