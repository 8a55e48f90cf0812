"""Bugs by an author who had not seen the table are reported in PyTorch; sound twins are right.

These bugs occur in PyTorch's API alone. All others are in NumPy, in `tests/examine`.
"""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from independent_cases import LAST, A, Case, P

import mha


def hide(scores, mask):
    if mask is None:
        return scores
    if mask.dtype == torch.bool:
        return scores.masked_fill(~mask, float("-inf"))
    return scores + mask.to(scores.dtype)


def masked(query, key, value, mask=None, is_causal=False):
    scores = hide(query @ key.mT / query.shape[-1] ** 0.5, mask)
    if is_causal:
        n, m = scores.shape[-2:]
        scores = hide(scores, torch.ones(n, m, dtype=torch.bool).tril(diagonal=m - n))
    return F.softmax(scores, dim=-1).nan_to_num() @ value


def by_library(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)


def rotary(x, positions):
    d = x.shape[-1]
    angles = positions.double()[..., None] / 10000.0 ** (torch.arange(0, d, 2).double() / d)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def token_numbers(mask):
    return (mask.long().cumsum(-1) - 1).clamp(min=0)


MASKED, LIBRARY = Case(masked, A, conditions=(LAST,)), Case(by_library, A)
TURN, NUMBERS = Case(rotary, P), Case(token_numbers, P)
WRONG = [
    LIBRARY.wrong("divided by hand and by the library",
                  "attention(query", "attention(query / query.size(-1) ** 0.5"),
    LIBRARY.wrong("dropout left on in the library's call", "n(query, key, value)",
                  "n(query, key, value, dropout_p=0.1)"),
    MASKED.wrong("softmax in bfloat16", "F.softmax(scores, dim=-1)",
                 "F.softmax(scores.to(torch.bfloat16), dim=-1).to(value.dtype)"),
    TURN.wrong("positions in bfloat16", "positions.double()", "positions.bfloat16().double()"),
    NUMBERS.wrong("tokens counted with the padding", "(mask.long().cumsum(-1) - 1).clamp(min=0)",
                  "torch.arange(mask.shape[-1]).expand(mask.shape)"),
]  # fmt: skip


@pytest.mark.parametrize("one", WRONG, ids=str)
def test_a_bug_is_told(one):
    one.expect_reported(torch.tensor)


def test_nan_in_a_fully_masked_row_is_a_note_unless_strict():
    one = MASKED.wrong("fully masked rows are NaN", ".nan_to_num()", "")
    report = one.examined(torch.tensor)
    assert report.ok, report
    assert "if no query is fully masked, or its row is ignored" in [
        finding.convention for finding in report.findings
    ]
    assert not mha.examine(one.function, asarray=torch.tensor, strict=True).ok


@pytest.mark.parametrize("one", [MASKED, LIBRARY, TURN, NUMBERS], ids=str)
def test_its_sound_twin_is_right(one):
    one.expect_right(torch.tensor)
