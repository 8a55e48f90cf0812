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


def grouped(query, key, value, enable_gqa=False):
    if enable_gqa:
        copies = query.shape[-3] // key.shape[-3]
        key = key.repeat_interleave(copies, dim=-3)
        value = value.repeat_interleave(copies, dim=-3)
    return attend(query, key, value)


# ---- The scale, the softmax ----


def divided_twice_by_library(query, key, value):
    query = query / math.sqrt(query.size(-1))
    return F.scaled_dot_product_attention(query, key, value)


def never_divided(query, key, value):
    weights = torch.einsum("...qd,...kd->...qk", query, key).softmax(-1)
    return torch.einsum("...qk,...kd->...qd", weights, value)


def times_the_root(query, key, value):
    scale = math.sqrt(query.shape[-1])
    return torch.softmax(query @ key.mT * scale, dim=-1) @ value


def scale_as_divisor(query, key, value, scale=None):
    if scale is None:
        scale = math.sqrt(query.shape[-1])
    return torch.softmax(query @ key.mT / scale, dim=-1) @ value


def softmax_over_axis_one(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    return torch.matmul(F.softmax(scores, dim=1), value)


def softmax_twice(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    scores = F.softmax(scores, dim=-1)
    weights = F.softmax(scores, dim=-1)
    return torch.matmul(weights, value)


def no_shift(query, key, value):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    exps = torch.exp(scores)
    return exps @ value / exps.sum(-1, keepdim=True)


def cap_before_scale(query, key, value, scale=None, softcap=None):
    scale = query.size(-1) ** -0.5 if scale is None else scale
    scores = torch.einsum("...id,...jd->...ij", query, key)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    return (scores * scale).softmax(dim=-1) @ value


def weights_in_bfloat(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    weights = F.softmax(scores.to(torch.bfloat16), dim=-1)
    return torch.matmul(weights.to(value.dtype), value)


def dropout_in_library(query, key, value, dropout_p=0.1):
    return F.scaled_dot_product_attention(query, key, value, dropout_p=dropout_p)


# ---- Masks ----


def mask_filled_with_zero(query, key, value, attn_mask=None):
    scores = torch.einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** -0.5
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = torch.where(attn_mask, scores, 0.0)
    elif attn_mask is not None:
        scores = scores + attn_mask
    return torch.einsum("...qk,...kd->...qd", softmax(scores), value)


def mask_after_softmax(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None and mask.dtype != torch.bool:
        scores = scores + mask
    weights = softmax(scores)
    if mask is not None and mask.dtype == torch.bool:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ value


def mask_subtracted_as_ones(query, key, value, key_padding_mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if key_padding_mask is not None:
        hidden = 1.0 - padding(key_padding_mask, scores.dim()).to(scores.dtype)
        scores = scores - hidden
    return softmax(scores) @ value


def mask_inverted_where(query, key, value, attn_mask=None):
    scores = torch.einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** -0.5
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        scores = torch.where(attn_mask, torch.full_like(scores, MINUS), scores)
    elif attn_mask is not None:
        scores = scores + attn_mask
    return torch.einsum("...qk,...kd->...qd", softmax(scores), value)


def mask_turned_over(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        mask = mask.transpose(-2, -1)
        scores = scores.masked_fill(~mask, MINUS) if mask.dtype == torch.bool else scores + mask
    return softmax(scores) @ value


def padding_on_queries(query, key, value, key_padding_mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if key_padding_mask is not None:
        seen = padding(key_padding_mask, scores.dim()).transpose(-2, -1)
        scores = scores.masked_fill(~seen, MINUS)
    return softmax(scores) @ value


def empty_rows_nan(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, MINUS) if mask.dtype == torch.bool else scores + mask
    return F.softmax(scores, dim=-1) @ value


def empty_padding_average(query, key, value, key_padding_mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if key_padding_mask is not None:
        scores = scores.masked_fill(padding(key_padding_mask, scores.dim()) == 0, -1e9)
    return torch.softmax(scores, dim=-1) @ value


def causal_top_left_by_library(query, key, value, is_causal=False):
    return F.scaled_dot_product_attention(query, key, value, is_causal=is_causal)


def masks_joined_by_or(query, key, value, key_padding_mask=None, is_causal=False):
    scores = query @ key.mT / query.shape[-1] ** 0.5
    seen = None
    if is_causal:
        seen = causal(*scores.shape[-2:])
    if key_padding_mask is not None:
        real = padding(key_padding_mask, scores.dim())
        seen = real if seen is None else seen | real
    return softmax(hide(scores, seen)) @ value


# ---- Heads ----


def key_viewed(query, key, value):
    *lead, m, d = key.shape
    scores = query @ key.reshape(*lead, d, m) / math.sqrt(d)
    return scores.softmax(-1) @ value


def groups_tiled_by_query(query, key, value, enable_gqa=False):
    if not enable_gqa:
        return attend(query, key, value)
    groups = key.shape[-3]
    *lead, heads, n, d = query.shape
    query = query.reshape(*lead, heads // groups, groups, n, d)
    scores = torch.einsum("...rgqd,...gkd->...rgqk", query, key) / math.sqrt(d)
    out = torch.einsum("...rgqk,...gkv->...rgqv", scores.softmax(-1), value)
    return out.flatten(-4, -3)


# ---- Two at once ----


def undivided_over_queries(query, key, value):
    scores = torch.matmul(query, key.transpose(-2, -1))
    return torch.matmul(F.softmax(scores, dim=-2), value)


def top_left_diagonal(query, key, value, is_causal=False):
    n, m = query.shape[-2], key.shape[-2]
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if is_causal:
        future = torch.triu(torch.ones(n, m, dtype=torch.bool), diagonal=0)
        scores = scores.masked_fill(future, float("-inf"))
    return softmax(scores) @ value


def padding_ones_and_twice(query, key, value, key_padding_mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if key_padding_mask is not None:
        seen = key_padding_mask.reshape(-1, *[1] * (scores.dim() - 2), key.shape[-2])
        scores = scores + seen.to(scores.dtype)
    return torch.softmax(softmax(scores), dim=-1) @ value


def tiled_and_keys_root(query, key, value, enable_gqa=False):
    if enable_gqa:
        copies = query.shape[-3] // key.shape[-3]
        key, value = key.tile((copies, 1, 1)), value.tile((copies, 1, 1))
    scores = query @ key.mT / math.sqrt(key.shape[-2])
    return scores.softmax(-1) @ value


def cap_early_scale_ignored(query, key, value, scale=None, softcap=None):
    scores = query @ key.mT
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    return (scores * query.shape[-1] ** -0.5).softmax(-1) @ value


def viewed_and_doubled(query, key, value):
    *lead, m, d = key.shape
    scores = query * d**-0.5 @ key.reshape(*lead, d, m) / math.sqrt(d)
    return scores.softmax(-1) @ value


RIGHT = [
    Unseen(plain, A),
    Unseen(capped, A),
    Unseen(masked, A),
    Unseen(padded, A),
    Unseen(everything, A, conditions=(LAST,)),
    Unseen(grouped, A),
    Unseen(scale_as_divisor, A, "scale taken as a divisor", (DIVIDES,)),
    Unseen(mask_inverted_where, A, "mask inverted", (HIDES,)),
    Unseen(causal_top_left_by_library, A, "causal mask aligned top-left", (FIRST,)),
]
WRONG = [
    Unseen(divided_twice_by_library, A, "divided by hand and by the library"),
    Unseen(never_divided, A, "scores not divided"),
    Unseen(times_the_root, A, "scores multiplied by the root"),
    Unseen(softmax_over_axis_one, A, "softmax over axis 1"),
    Unseen(softmax_twice, A, "softmax twice"),
    Unseen(no_shift, A, "no shift by the maximum"),
    Unseen(cap_before_scale, A, "softcap before the scale"),
    Unseen(weights_in_bfloat, A, "softmax in bfloat16"),
    Unseen(dropout_in_library, A, "dropout left on in the library's call"),
    Unseen(mask_filled_with_zero, A, "hidden scores filled with zero"),
    Unseen(mask_after_softmax, A, "mask after the softmax"),
    Unseen(mask_subtracted_as_ones, A, "padding subtracted as 0 and 1"),
    Unseen(mask_turned_over, A, "mask transposed"),
    Unseen(padding_on_queries, A, "key padding mask given to the queries"),
    Unseen(empty_rows_nan, A, "rows that see nothing are NaN"),
    Unseen(empty_padding_average, A, "rows that see nothing are an average"),
    Unseen(masks_joined_by_or, A, "masks joined by or"),
    Unseen(key_viewed, A, "key viewed where its axes are to be exchanged"),
    Unseen(groups_tiled_by_query, A, "groups tiled in the query's reshape"),
]
PAIRS = [
    Unseen(undivided_over_queries, A, "not divided; softmax over the queries"),
    Unseen(top_left_diagonal, A, "aligned top-left; diagonal hidden"),
    Unseen(padding_ones_and_twice, A, "padding added as 0 and 1; softmax twice"),
    Unseen(tiled_and_keys_root, A, "groups tiled; root of the number of keys"),
    Unseen(cap_early_scale_ignored, A, "softcap before the scale; scale ignored"),
    Unseen(viewed_and_doubled, A, "key viewed; divided twice"),
]
