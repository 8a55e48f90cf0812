"""Attention that is wrong, in PyTorch, by someone who had not seen the table."""

import math

import torch
import torch.nn.functional as F  # noqa: N812
from unseen import DIVIDES, FIRST, HIDES, LAST, A, Unseen

MINUS = float("-inf")


def softmax(scores):
    top = scores.amax(dim=-1, keepdim=True)
    top = torch.where(top == float("-inf"), torch.zeros_like(top), top)
    weights = torch.exp(scores - top)
    total = weights.sum(dim=-1, keepdim=True)
    return weights / torch.where(total == 0, torch.ones_like(total), total)


def causal(num_queries, num_keys):
    full = torch.ones(num_queries, num_keys, dtype=torch.bool)
    return full.tril(diagonal=num_keys - num_queries)


def hide(scores, mask):
    if mask is None:
        return scores
    if mask.dtype == torch.bool:
        return scores.masked_fill(~mask, float("-inf"))
    return scores + mask.to(scores.dtype)


def padding(key_padding_mask, num_axes):
    """(batch, m) to (batch, 1, ..., 1, m)."""
    if key_padding_mask.dim() == 1:
        return key_padding_mask
    batch, num_keys = key_padding_mask.shape
    return key_padding_mask.reshape(batch, *[1] * (num_axes - 2), num_keys)


def attend(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
    return softmax(hide(scores, mask)) @ value


# ---- Right ----


def plain(query, key, value):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    return torch.matmul(F.softmax(scores, dim=-1), value)


def capped(query, key, value, scale=None, softcap=None):
    scale = query.size(-1) ** -0.5 if scale is None else scale
    scores = torch.einsum("...id,...jd->...ij", query, key) * scale
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    return scores.softmax(dim=-1) @ value


def masked(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, MINUS) if mask.dtype == torch.bool else scores + mask
    return softmax(scores) @ value


def padded(query, key, value, key_padding_mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if key_padding_mask is not None:
        scores = scores.masked_fill(~padding(key_padding_mask, scores.dim()), MINUS)
    return softmax(scores) @ value


def everything(query, key, value, mask=None, key_padding_mask=None, is_causal=False):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    scores = hide(scores, mask)
    if key_padding_mask is not None:
        scores = hide(scores, padding(key_padding_mask, scores.dim()))
    if is_causal:
        scores = hide(scores, causal(*scores.shape[-2:]))
    return softmax(scores) @ value


def causally(query, key, value, is_causal=False):
    n, m = query.shape[-2], key.shape[-2]
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if is_causal:
        future = torch.triu(torch.ones(n, m, dtype=torch.bool), diagonal=m - n + 1)
        scores = scores.masked_fill(future, MINUS)
    return softmax(scores) @ value


def grouped(query, key, value, enable_gqa=False):
    if enable_gqa:
        copies = query.shape[-3] // key.shape[-3]
        key = key.repeat_interleave(copies, dim=-3)
        value = value.repeat_interleave(copies, dim=-3)
    return attend(query, key, value)


def by_library(query, key, value):
    return F.scaled_dot_product_attention(query, key, value)


PLAIN, LIBRARY, CAPPED, MASKED, PADDED = (
    Unseen(function, A) for function in (plain, by_library, capped, masked, padded)
)
ALL, CAUSAL = Unseen(everything, A, conditions=(LAST,)), Unseen(causally, A, conditions=(LAST,))
GROUPED = Unseen(grouped, A)
ROOT, SOFT = "math.sqrt(d_k)", "F.softmax(scores, dim=-1)"
FILLED, REAL = "scores.masked_fill(~mask, MINUS)", "~padding(key_padding_mask, scores.dim())"
FILL_REAL = f"scores.masked_fill({REAL}, MINUS)"
KEYS, VIEWED = "key.transpose(-2, -1)", "key.reshape(*key.shape[:-2], d_k, -1)"
TILED = "key.repeat_interleave(copies, dim=-3)", "key.tile((copies, 1, 1))"
BOTH_TILED = *TILED, "value.repeat_interleave(copies, dim=-3)", "value.tile((copies, 1, 1))"

RIGHT = [
    PLAIN,
    LIBRARY,
    CAPPED,
    MASKED,
    PADDED,
    ALL,
    CAUSAL,
    GROUPED,
    CAPPED.wrong("scale taken as a divisor",
                 "** -0.5", "** 0.5", "* scale", "/ scale", conditions=(DIVIDES,)),
    MASKED.wrong("mask inverted", "~mask", "mask", conditions=(HIDES,)),
    LIBRARY.wrong("causal mask aligned top-left", "value)", "value, is_causal=is_causal)",
                  "value, is_causal=is_causal):", "value, is_causal=False):", conditions=(FIRST,)),
]  # fmt: skip
WRONG = [
    LIBRARY.wrong("divided by hand and by the library",
                  "attention(query", "attention(query / math.sqrt(query.size(-1))"),
    PLAIN.wrong("scores not divided", f" / {ROOT}", ""),
    PLAIN.wrong("scores multiplied by the root", f"/ {ROOT}", f"* {ROOT}"),
    PLAIN.wrong("divided by the root of d_model",
                ROOT, "math.sqrt(d_k * (query.shape[-3] if query.dim() > 2 else 1))"),
    PLAIN.wrong("softmax over axis 1", "dim=-1", "dim=1"),
    PLAIN.wrong("softmax twice", SOFT, "F.softmax(F.softmax(scores, dim=-1), dim=-1)"),
    PLAIN.wrong("no shift by the maximum",
                SOFT, "torch.exp(scores) / torch.exp(scores).sum(-1, keepdim=True)"),
    CAPPED.wrong("softcap before the scale",
                 " * scale", "", "scores.softmax", "(scores * scale).softmax"),
    PLAIN.wrong("softmax in bfloat16",
                SOFT, "F.softmax(scores.to(torch.bfloat16), dim=-1).to(value.dtype)"),
    LIBRARY.wrong("dropout left on in the library's call", "n(query, key, value)",
                  "n(query, key, value, dropout_p=0.1)"),
    MASKED.wrong("hidden scores filled with zero", FILLED, "torch.where(mask, scores, 0.0)"),
    MASKED.wrong("boolean mask added as 0 and 1", FILLED, "scores + mask.to(scores.dtype)"),
    MASKED.wrong("-1e-9 for -1e9", "MINUS", "-1e-9"),
    MASKED.wrong("mask after the softmax", FILLED, "scores", "softmax(scores)", "softmax(scores)"
                 " * (mask if mask is not None and mask.dtype == torch.bool else 1)"),
    PADDED.wrong("padding subtracted as 0 and 1", FILL_REAL, f"scores - ({REAL}).to(scores.dtype)"),
    MASKED.wrong("mask transposed", "is not None:\n", "is not None:\n        mask = mask.mT\n"),
    PADDED.wrong("key padding mask given to the queries",
                 "scores.dim())", "scores.dim()).transpose(-2, -1)"),
    MASKED.wrong("rows that see nothing are NaN", "softmax(scores)", SOFT),
    PADDED.wrong("rows that see nothing are an average", "MINUS", "-1e9", "softmax(scores)", SOFT),
    ALL.wrong("masks joined by or", "    if is_causal:", "    if is_causal and"
              " key_padding_mask is None:", "padding(key_padding_mask, scores.dim())",
              "padding(key_padding_mask, scores.dim()) | (causal(*scores.shape[-2:]) & is_causal)"),
    CAUSAL.wrong("diagonal hidden", "m - n + 1", "m - n"),
    PLAIN.wrong("key viewed where its axes are to be exchanged", KEYS, VIEWED),
    GROUPED.wrong("groups tiled", *BOTH_TILED),
]  # fmt: skip
PAIRS = [
    PLAIN.wrong("not divided; softmax over the queries", f" / {ROOT}", "", "dim=-1", "dim=-2"),
    CAUSAL.wrong("aligned top-left; diagonal hidden", "m - n + 1", "0"),
    PADDED.wrong("padding added as 0 and 1; softmax twice",
                 FILL_REAL, f"scores + (~{REAL}).to(scores.dtype)",
                 "softmax(scores)", "F.softmax(softmax(scores), dim=-1)"),
    GROUPED.wrong("groups tiled; root of the number of keys", *BOTH_TILED, "attend(query,",
                  "attend(query * (query.shape[-1] / key.shape[-2]) ** 0.5,"),
    CAPPED.wrong("softcap before the scale; scale ignored",
                 " * scale", "", "scores.softmax", "(scores * query.size(-1) ** -0.5).softmax"),
    PLAIN.wrong("key viewed; divided twice", KEYS, VIEWED, ROOT, "d_k"),
]  # fmt: skip
