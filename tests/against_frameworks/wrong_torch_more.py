"""More attention that is wrong, in PyTorch, by someone who had not seen the table."""

import math

import torch
import torch.nn.functional as F  # noqa: N812
from unseen import A, D, L, Unseen
from wrong_torch_attention import MINUS, attend, causal, softmax
from wrong_torch_layers import merge, split


def empty_buffers(key, value, length):
    return (
        key.new_zeros(*key.shape[:-2], length, key.shape[-1]),
        value.new_zeros(*value.shape[:-2], length, value.shape[-1]),
    )


def root_of_model(query, key, value):
    d_model = query.shape[-1] * (query.shape[-3] if query.dim() > 2 else 1)
    query = query * d_model**-0.5
    weights = torch.einsum("...qd,...kd->...qk", query, key).softmax(-1)
    return torch.einsum("...qk,...kd->...qd", weights, value)


def mask_added_as_ones(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask.to(scores.dtype)
    return softmax(scores) @ value


def tiny_for_huge(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        if mask.dtype == torch.bool:
            scores = scores.masked_fill(mask == 0, -1e-9)
        else:
            scores = scores + mask
    return softmax(scores) @ value


def diagonal_hidden(query, key, value, is_causal=False):
    n, m = query.shape[-2], key.shape[-2]
    scores = query @ key.mT / query.shape[-1] ** 0.5
    if is_causal:
        future = torch.triu(torch.ones(n, m, dtype=torch.bool), diagonal=m - n)
        scores = scores.masked_fill(future, MINUS)
    return softmax(scores) @ value


def merged_by_reshape(x, w_q, w_k, w_v, w_o, num_heads):
    *lead, n, _ = x.shape
    q = (x @ w_q).view(*lead, n, num_heads, -1).transpose(-3, -2)
    k = (x @ w_k).view(*lead, n, num_heads, -1).transpose(-3, -2)
    v = (x @ w_v).view(*lead, n, num_heads, -1).transpose(-3, -2)
    weights = F.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
    out = (weights @ v).contiguous().view(*lead, n, -1)
    return out @ w_o


def query_and_context_exchanged(x, w_q, w_k, w_v, w_o, num_heads, context=None):
    context = x if context is None else context
    q = split(context @ w_q, num_heads)
    k, v = split(x @ w_k, num_heads), split(x @ w_v, num_heads)
    return merge(attend(q, k, v)) @ w_o


def only_new_returned(query, key, value, cache=None):
    keys, values = key, value
    if cache is not None:
        keys = torch.cat([cache[0], key], dim=-2)
        values = torch.cat([cache[1], value], dim=-2)
    seen = causal(query.shape[-2], keys.shape[-2])
    return attend(query, keys, values, seen), (key, value)


def appended_in_front(query, key, value, cache=None):
    if cache is not None:
        key = torch.cat([key, cache[0]], dim=-2)
        value = torch.cat([value, cache[1]], dim=-2)
    seen = causal(query.shape[-2], key.shape[-2])
    return attend(query, key, value, seen), (key, value)


def own_key_left_out(query, key, value, cache=None):
    if cache is None:
        seen = causal(query.shape[-2], key.shape[-2])
        return attend(query, key, value, seen), (key, value)
    keys, values = cache
    new = (torch.cat([keys, key], dim=-2), torch.cat([values, value], dim=-2))
    return attend(query, keys, values), new


def last_token_overwritten(query, key, value, cache=None):
    n = query.shape[-2]
    if cache is None:
        keys, values = empty_buffers(key, value, 1024)
        start = 0
    else:
        keys, values, last = cache
        start = last
    keys, values = keys.clone(), values.clone()
    keys[..., start : start + n, :] = key
    values[..., start : start + n, :] = value
    used = start + n
    seen = torch.arange(used) <= torch.arange(used - n, used)[:, None]
    scores = query @ keys[..., :used, :].mT / math.sqrt(query.shape[-1])
    out = softmax(scores.masked_fill(~seen, float("-inf"))) @ values[..., :used, :]
    return out, (keys, values, used - 1)


def future_seen(query, key, value, cache=None):
    if cache is not None:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    return scores.softmax(-1) @ value, (key, value)


RIGHT: list[Unseen] = []
WRONG = [
    Unseen(root_of_model, A, "divided by the root of d_model"),
    Unseen(mask_added_as_ones, A, "boolean mask added as 0 and 1"),
    Unseen(tiny_for_huge, A, "-1e-9 for -1e9"),
    Unseen(diagonal_hidden, A, "diagonal hidden"),
    Unseen(merged_by_reshape, L, "heads merged by reshape alone"),
    Unseen(query_and_context_exchanged, L, "query and context exchanged"),
    Unseen(only_new_returned, D, "cache overwritten by the new tokens"),
    Unseen(appended_in_front, D, "new tokens appended in front"),
    Unseen(own_key_left_out, D, "own key left out"),
    Unseen(last_token_overwritten, D, "off by one: last token overwritten"),
    Unseen(future_seen, D, "several new tokens see each other's future"),
]
PAIRS: list[Unseen] = []
