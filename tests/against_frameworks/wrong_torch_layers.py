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


def plain_layer(x, w_q, w_k, w_v, w_o, num_heads):
    q, k, v = (split(x @ w, num_heads) for w in (w_q, w_k, w_v))
    return merge(attend(q, k, v)) @ w_o


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


def cross_layer(x, w_q, w_k, w_v, w_o, num_heads, context=None):
    context = x if context is None else context
    q = split(x @ w_q, num_heads)
    k, v = split(context @ w_k, num_heads), split(context @ w_v, num_heads)
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


LAYER, PLAIN, FUSED, OF_THREE, CROSS = (
    Unseen(function, L)
    for function in (layer, plain_layer, fused_layer, key_value_layer, cross_layer)
)
STEP, TURNING = Unseen(step, D), Unseen(rotary_step, D, options=ROTARY)
TURN, TURNED = Unseen(rotary, P), Unseen(rotary_attention, P)
SLOPES, BIAS, NUMBERS = Unseen(slopes, P), Unseen(linear_bias, P), Unseen(token_numbers, P)
HEADS, SPLIT = "(*lead, n, num_heads, -1).transpose(-3, -2)", "(*lead, num_heads, n, -1)"
MERGED = "(weights @ v).transpose(-3, -2).reshape(*lead, n, -1)"
MADE, FROM = "q, k, v = (", "(w_q, w_k, w_v)"
FRONT = (
    *("[cache[0], key]", "[key, cache[0]]"),
    *("[cache[1], value]", "[value, cache[1]]"),
)
NEW = "    if cache is not None", "    new = (key, value)\n    if cache is not None"
UNMASKED = "attend(query, key, value, seen)", "attend(query, key, value)"
NUMBERED = "(mask.long().cumsum(-1) - 1).clamp(min=0)"
FIRST_PADS = "int((~mask.reshape(-1, mask.shape[-1])[0].bool()).sum())"
WAVES = "waves(positions, x)"

RIGHT = [
    LAYER,
    PLAIN,
    FUSED,
    OF_THREE,
    CROSS,
    STEP,
    TURNING,
    TURN,
    TURNED,
    SLOPES,
    BIAS,
    NUMBERS,
    BIAS.wrong("linear bias aligned top-left", "distances(num_queries, num_keys)",
               "(distances(num_queries, num_keys) - num_keys + num_queries).abs()",
               conditions=(FIRST,)),
]  # fmt: skip
WRONG = [
    LAYER.wrong("heads split by reshape alone", HEADS, SPLIT),
    LAYER.wrong("heads merged by reshape alone", MERGED, "(weights @ v).reshape(*lead, n, -1)"),
    LAYER.wrong("heads merged with the head innermost", ".transpose(-3, -2).reshape(*lead, n, -1)",
                ".movedim(-3, -1).flatten(-2)"),
    PLAIN.wrong("W_Q and W_K exchanged", MADE, "k, q, v = ("),
    LAYER.wrong("weights averaged over heads", "(weights @", "(weights.mean(-3, keepdim=True) @"),
    PLAIN.wrong("all matrices transposed", "x @ w,", "x @ w.T,", "@ w_o", "@ w_o.T"),
    PLAIN.wrong("W_V used for the keys", FROM, "(w_q, w_v, w_v)"),
    FUSED.wrong("fused projection cut with q, k, v innermost", "qkv.chunk(3, dim=-1)",
                "qkv.unflatten(-1, (-1, 3)).unbind(-1)"),
    FUSED.wrong("b_qkv left out", "b_qkv is not None", "False"),
    CROSS.wrong("query and context exchanged",
                "context @", "other @", "x @ w_q", "context @ w_q", "other @", "x @"),
    OF_THREE.wrong("key and value exchanged",
                   "(key, w_k), (value, w_v)", "(value, w_k), (key, w_v)"),
    OF_THREE.wrong("value argument ignored", "(value, w_v)", "(key, w_v)"),
    STEP.wrong("only the last eight tokens kept",
               "(key, value)\n", "(key[..., -8:, :], value[..., -8:, :])\n"),
    STEP.wrong("cache overwritten by the new tokens", *NEW,
               ", seen), (key, value)", ", seen), new"),
    STEP.wrong("new tokens appended in front", *FRONT),
    STEP.wrong("own key left out", "seen = causal(query.shape[-2], key.shape[-2])",
               "seen = causal(query.shape[-2], key.shape[-2])\n"
               "    seen = seen if cache is None else seen & (torch.arange(key.shape[-2])"
               " < cache[0].shape[-2])"),
    STEP.wrong("off by one: last token overwritten", "cache[0],", "cache[0][..., :-1, :],",
               "cache[1],", "cache[1][..., :-1, :],"),
    STEP.wrong("several new tokens see each other's future", *UNMASKED),
    TURNING.wrong("rotary not moved on in the cache", "numbers(start,", "numbers(0,"),
    TURN.wrong("rotary in halves for pairs", "x[..., 0::2], x[..., 1::2]", "x.chunk(2, dim=-1)",
               "torch.stack", "torch.cat", ".flatten(-2)", ""),
    TURN.wrong("rotary from position 1", WAVES, "waves(positions + 1, x)"),
    TURN.wrong("positions in bfloat16", WAVES, "waves(positions.to(torch.bfloat16), x)"),
    TURNED.wrong("rotary on the values too", ", value)\n", ", rotary(value, positions))\n"),
    TURNED.wrong("keys not turned", "rotary(key, positions)", "key"),
    BIAS.wrong("linear bias of the wrong sign", "return -", "return "),
    SLOPES.wrong("slopes of heads no power of two by one rule",
                 "2 ** math.floor(math.log2(num_heads))", "num_heads"),
    NUMBERS.wrong("tokens counted with the padding",
                  NUMBERED, "torch.arange(mask.shape[-1]).expand(mask.shape)"),
    NUMBERS.wrong("first text's padding taken for all", NUMBERED,
                  f"(torch.arange(mask.shape[-1]) - {FIRST_PADS}).clamp(min=0).expand(mask.shape)"),
]  # fmt: skip
PAIRS = [
    LAYER.wrong("split by reshape; W_Q and W_K exchanged", HEADS, SPLIT, "q @ k.", "k @ q."),
    LAYER.wrong("merged by reshape; residual inside",
                MERGED, "(weights @ v).reshape(*lead, n, -1)", "return ", "return x + "),
    FUSED.wrong("fused cut as k, q, v; b_qkv left out",
                "q, k, v = qkv", "k, q, v = qkv", "b_qkv is not None", "False"),
    STEP.wrong("cache not extended; future seen", *NEW, *UNMASKED,
               "value), (key, value)\n", "value), new if cache is None else cache\n"),
    TURN.wrong("turned backwards; from position 1", WAVES, "waves(-1 - positions, x)"),
    BIAS.wrong("wrong sign; wrong slopes", "return -slopes(num_heads)",
               "return 2.0 ** -torch.arange(1.0, num_heads + 1)"),
]  # fmt: skip
