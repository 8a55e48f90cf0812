"""Layers, caches, positions that are wrong, in PyTorch, by someone who had not seen the table."""

import math

import torch
import torch.nn.functional as F  # noqa: N812
from unseen import FIRST, ROTARY, D, L, P, Unseen
from wrong_torch_attention import attend, causal


def split(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge(x):
    return x.transpose(-3, -2).flatten(-2)


def turn(x, angles):
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def rotary_angles(positions, d, base=10000.0):
    frequencies = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return positions.to(torch.float64)[..., None] * frequencies


def numbers(start, count):
    return torch.arange(start, start + count)


def grow(cache, key, value):
    if cache is None:
        return key, value
    return torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)


def waves(positions, x, base=10000.0):
    """Cosines and sines that broadcast against x's pairs."""
    d = x.shape[-1]
    frequencies = 1.0 / base ** (torch.arange(0, d, 2).double() / d)
    angles = positions.double()[..., None] * frequencies
    if angles.dim() > 2:
        angles = angles.unsqueeze(-3)
    return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


def distances(num_queries, num_keys):
    queries = torch.arange(num_keys - num_queries, num_keys)
    return queries[:, None] - torch.arange(num_keys)


# ---- Right ----


def layer(x, w_q, w_k, w_v, w_o, num_heads):
    *lead, n, _ = x.shape
    q = (x @ w_q).view(*lead, n, num_heads, -1).transpose(-3, -2)
    k = (x @ w_k).view(*lead, n, num_heads, -1).transpose(-3, -2)
    v = (x @ w_v).view(*lead, n, num_heads, -1).transpose(-3, -2)
    weights = F.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
    out = (weights @ v).transpose(-3, -2).reshape(*lead, n, -1)
    return out @ w_o


def fused_layer(x, w_qkv, w_o, num_heads, b_qkv=None, b_o=None):
    qkv = x @ w_qkv
    if b_qkv is not None:
        qkv = qkv + b_qkv
    q, k, v = qkv.chunk(3, dim=-1)
    q, k, v = (split(t, num_heads) for t in (q, k, v))
    out = merge(attend(q, k, v)) @ w_o
    return out if b_o is None else out + b_o


def key_value_layer(x, w_q, w_k, w_v, w_o, num_heads, key=None, value=None):
    key = x if key is None else key
    value = key if value is None else value
    q, k, v = (split(t @ w, num_heads) for t, w in ((x, w_q), (key, w_k), (value, w_v)))
    return merge(attend(q, k, v)) @ w_o


def step(query, key, value, cache=None):
    if cache is not None:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    seen = causal(query.shape[-2], key.shape[-2])
    return attend(query, key, value, seen), (key, value)


def rotary_step(query, key, value, cache=None):
    start = 0 if cache is None else cache[0].shape[-2]
    angles = rotary_angles(numbers(start, key.shape[-2]), key.shape[-1])
    query, key = turn(query, angles), turn(key, angles)
    key, value = grow(cache, key, value)
    return attend(query, key, value, causal(query.shape[-2], key.shape[-2])), (key, value)


def rotary(x, positions):
    cos, sin = waves(positions, x)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def rotary_attention(query, key, value, positions):
    return attend(rotary(query, positions), rotary(key, positions), value)


def slopes(num_heads):
    closest = 2 ** math.floor(math.log2(num_heads))
    first = [2.0 ** (-8.0 * (i + 1) / closest) for i in range(closest)]
    extra = [2.0 ** (-4.0 * (i + 1) / closest) for i in range(0, 2 * closest, 2)]
    return torch.tensor(first + extra[: num_heads - closest])


def linear_bias(num_heads, num_queries, num_keys):
    return -slopes(num_heads)[:, None, None] * distances(num_queries, num_keys)


def token_numbers(mask):
    return (mask.long().cumsum(-1) - 1).clamp(min=0)


# ---- Layers ----


def split_by_reshape(x, w_q, w_k, w_v, w_o, num_heads):
    *lead, n, _ = x.shape
    q = (x @ w_q).view(*lead, num_heads, n, -1)
    k = (x @ w_k).view(*lead, num_heads, n, -1)
    v = (x @ w_v).view(*lead, num_heads, n, -1)
    weights = F.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
    out = (weights @ v).transpose(-3, -2).reshape(*lead, n, -1)
    return out @ w_o


def merged_inside_out(x, w_q, w_k, w_v, w_o, num_heads):
    q, k, v = (split(x @ w, num_heads) for w in (w_q, w_k, w_v))
    out = attend(q, k, v)
    out = out.movedim(-3, -1)  # (..., n, d, heads)
    return out.flatten(-2) @ w_o


def q_and_k_exchanged(x, w_q, w_k, w_v, w_o, num_heads):
    k, q, v = (split(x @ w, num_heads) for w in (w_q, w_k, w_v))
    return merge(attend(q, k, v)) @ w_o


def heads_averaged(x, w_q, w_k, w_v, w_o, num_heads):
    q, k, v = (split(x @ w, num_heads) for w in (w_q, w_k, w_v))
    weights = (q @ k.mT * q.shape[-1] ** -0.5).softmax(-1)
    return merge(weights.mean(-3, keepdim=True) @ v) @ w_o


def matrices_transposed(x, w_q, w_k, w_v, w_o, num_heads):
    q, k, v = (split(F.linear(x, w), num_heads) for w in (w_q, w_k, w_v))
    return F.linear(merge(attend(q, k, v)), w_o)


def w_v_for_keys(x, w_q, w_k, w_v, w_o, num_heads):
    q, k, v = (split(x @ w, num_heads) for w in (w_q, w_v, w_v))
    return merge(attend(q, k, v)) @ w_o


def fused_innermost(x, w_qkv, w_o, num_heads, b_qkv=None, b_o=None):
    qkv = F.linear(x, w_qkv.T, b_qkv).unflatten(-1, (num_heads, -1, 3))
    q, k, v = (t.transpose(-3, -2) for t in qkv.unbind(-1))
    return F.linear(merge(attend(q, k, v)), w_o.T, b_o)


def fused_bias_left_out(x, w_qkv, w_o, num_heads, b_qkv=None, b_o=None):
    q, k, v = (split(t, num_heads) for t in (x @ w_qkv).chunk(3, dim=-1))
    return F.linear(merge(attend(q, k, v)), w_o.T, b_o)


def key_and_value_exchanged(x, w_q, w_k, w_v, w_o, num_heads, key=None, value=None):
    key = x if key is None else key
    value = key if value is None else value
    q, k, v = (split(t @ w, num_heads) for t, w in ((x, w_q), (value, w_k), (key, w_v)))
    return merge(attend(q, k, v)) @ w_o


def value_argument_lost(x, w_q, w_k, w_v, w_o, num_heads, key=None, value=None):
    key = x if key is None else key
    q, k, v = (split(t @ w, num_heads) for t, w in ((x, w_q), (key, w_k), (key, w_v)))
    return merge(attend(q, k, v)) @ w_o


# ---- A cache ----


def window_left_in(query, key, value, cache=None):
    window = 8
    if cache is not None:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    seen = causal(query.shape[-2], key.shape[-2])
    out = attend(query, key, value, seen)
    return out, (key[..., -window:, :], value[..., -window:, :])


def position_not_moved_on(query, key, value, cache=None):
    angles = rotary_angles(torch.arange(query.shape[-2]), key.shape[-1])
    query, key = turn(query, angles), turn(key, angles)
    key, value = grow(cache, key, value)
    return attend(query, key, value, causal(query.shape[-2], key.shape[-2])), (key, value)


# ---- Positions ----


def halves_for_pairs(x, positions):
    cos, sin = waves(positions, x)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def from_position_one(x, positions):
    cos, sin = waves(positions + 1, x)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def positions_in_bfloat(x, positions):
    cos, sin = waves(positions.to(torch.bfloat16), x)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def rotary_values_too(query, key, value, positions):
    query, key, value = (rotary(t, positions) for t in (query, key, value))
    return attend(query, key, value)


def rotary_queries_only(query, key, value, positions):
    return attend(rotary(query, positions), key, value)


def bias_top_left(num_heads, num_queries, num_keys):
    far = torch.arange(num_queries)[:, None] - torch.arange(num_keys)[None, :]
    return torch.einsum("h,qk->hqk", -slopes(num_heads), far.abs().float())


def bias_of_wrong_sign(num_heads, num_queries, num_keys):
    return slopes(num_heads)[:, None, None] * distances(num_queries, num_keys)


def slopes_without_power_rule(num_heads):
    return torch.pow(2.0, -8.0 / num_heads * torch.arange(1, num_heads + 1))


def numbers_with_padding(mask):
    return torch.arange(mask.shape[-1]).expand(mask.shape)


def numbers_by_first_text(mask):
    rows = mask.reshape(-1, mask.shape[-1])
    pads = int((~rows[0].bool()).sum())
    return (torch.arange(mask.shape[-1]) - pads).clamp(min=0).expand(mask.shape)


# ---- Two at once ----


def split_and_exchanged(x, w_q, w_k, w_v, w_o, num_heads):
    *lead, n, _ = x.shape
    k, q, v = ((x @ w).reshape(*lead, num_heads, n, -1) for w in (w_q, w_k, w_v))
    return merge(attend(q, k, v)) @ w_o


def merged_with_residual(x, w_q, w_k, w_v, w_o, num_heads):
    q, k, v = (split(x @ w, num_heads) for w in (w_q, w_k, w_v))
    out = attend(q, k, v)
    return x + out.reshape(*x.shape[:-1], -1) @ w_o


def fused_wrong_no_bias(x, w_qkv, w_o, num_heads, b_qkv=None, b_o=None):
    k, q, v = (split(t, num_heads) for t in (x @ w_qkv).chunk(3, dim=-1))
    return F.linear(merge(attend(q, k, v)), w_o.T, b_o)


def not_extended_and_future(query, key, value, cache=None):
    if cache is None:
        cache = (key, value)
    else:
        key = torch.cat([cache[0], key], dim=-2)
        value = torch.cat([cache[1], value], dim=-2)
    return attend(query, key, value), cache


def backwards_from_one(x, positions):
    cos, sin = waves(positions + 1, x)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos + odd * sin, odd * cos - even * sin], dim=-1).flatten(-2)


def wrong_sign_wrong_slopes(num_heads, num_queries, num_keys):
    falling = 2.0 ** -torch.arange(1.0, num_heads + 1)
    far = torch.arange(num_keys - num_queries, num_keys)[:, None] - torch.arange(num_keys)
    return falling[:, None, None] * far


RIGHT = [
    Unseen(layer, L),
    Unseen(fused_layer, L),
    Unseen(key_value_layer, L),
    Unseen(step, D),
    Unseen(rotary_step, D, options=ROTARY),
    Unseen(rotary, P),
    Unseen(rotary_attention, P),
    Unseen(slopes, P),
    Unseen(linear_bias, P),
    Unseen(token_numbers, P),
    Unseen(bias_top_left, P, "linear bias aligned top-left", (FIRST,)),
]
WRONG = [
    Unseen(split_by_reshape, L, "heads split by reshape alone"),
    Unseen(merged_inside_out, L, "heads merged with the head innermost"),
    Unseen(q_and_k_exchanged, L, "W_Q and W_K exchanged"),
    Unseen(heads_averaged, L, "weights averaged over heads"),
    Unseen(matrices_transposed, L, "all matrices transposed"),
    Unseen(w_v_for_keys, L, "W_V used for the keys"),
    Unseen(fused_innermost, L, "fused projection cut with q, k, v innermost"),
    Unseen(fused_bias_left_out, L, "b_qkv left out"),
    Unseen(key_and_value_exchanged, L, "key and value exchanged"),
    Unseen(value_argument_lost, L, "value argument ignored"),
    Unseen(window_left_in, D, "only the last eight tokens kept"),
    Unseen(position_not_moved_on, D, "rotary not moved on in the cache", options=ROTARY),
    Unseen(halves_for_pairs, P, "rotary in halves for pairs"),
    Unseen(from_position_one, P, "rotary from position 1"),
    Unseen(positions_in_bfloat, P, "positions in bfloat16"),
    Unseen(rotary_values_too, P, "rotary on the values too"),
    Unseen(rotary_queries_only, P, "keys not turned"),
    Unseen(bias_of_wrong_sign, P, "linear bias of the wrong sign"),
    Unseen(slopes_without_power_rule, P, "slopes of heads no power of two by one rule"),
    Unseen(numbers_with_padding, P, "tokens counted with the padding"),
    Unseen(numbers_by_first_text, P, "first text's padding taken for all"),
]
PAIRS = [
    Unseen(split_and_exchanged, L, "split by reshape; W_Q and W_K exchanged"),
    Unseen(merged_with_residual, L, "merged by reshape; residual inside"),
    Unseen(fused_wrong_no_bias, L, "fused cut as k, q, v; b_qkv left out"),
    Unseen(not_extended_and_future, D, "cache not extended; future seen"),
    Unseen(backwards_from_one, P, "turned backwards; from position 1"),
    Unseen(wrong_sign_wrong_slopes, P, "wrong sign; wrong slopes"),
]
