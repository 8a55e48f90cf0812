"""Correct attention, layers, cache steps and positions, written without the package.

The tests make bugs of these functions by replacing a piece of their text.
"""

import numpy as np

INF = np.inf

# ---- Attention ----


def t(x):
    return np.moveaxis(x, -1, -2)


def soft(s, axis=-1):
    """Return the softmax, with zeros in a fully masked row."""
    top = s.max(axis=axis, keepdims=True)
    e = np.exp(s - np.where(np.isinf(top), 0, top))
    z = e.sum(axis=axis, keepdims=True)
    return e / np.where(z == 0, 1, z)


def dots(q, k):
    return np.einsum("...id,...jd->...ij", q, k) / q.shape[-1] ** 0.5


def masked(s, mask):
    if mask is None:
        return s
    return np.where(mask, s, -INF) if mask.dtype == bool else s + mask


def causal(q, k, ahead=0):
    i, j = np.ogrid[: q.shape[-2], : k.shape[-2]]
    return j <= i + ahead


def near(q, k, width):
    i, j = np.ogrid[: q.shape[-2], : k.shape[-2]]
    return abs(i - j) < width


def with_sink(scores, sink):
    top = np.maximum(scores.max(axis=-1, keepdims=True), sink)
    shares = np.exp(scores - top)
    return shares / (shares.sum(axis=-1, keepdims=True) + np.exp(sink - top))


def at_the_end(q, k):
    """Return the causal mask that aligns the last query with the last key."""
    return causal(q, k, k.shape[-2] - q.shape[-2])


def many(q):
    """Return the total width of all heads."""
    return q.shape[-1] * (q.shape[-3] if q.ndim > 2 else 1)


def plain(q, k, v):
    s = q @ t(k) / q.shape[-1] ** 0.5
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


def loops(query, key, value):
    """Compute attention of one head in loops over queries and keys."""
    rows = []
    for q in query:
        s = [sum(a * b for a, b in zip(q, k, strict=True)) / len(q) ** 0.5 for k in key]
        e = [np.exp(x - max(s)) for x in s]
        rows.append(sum(x * v for x, v in zip(e, value, strict=True)) / sum(e))
    return np.array(rows, query.dtype)


def with_mask(q, k, v, mask=None):
    s = dots(q, k)
    if mask is not None:
        s = np.where(mask, s, -INF) if mask.dtype == bool else s + mask
    return soft(s) @ v


def causally(q, k, v, is_causal=False):
    return soft(masked(dots(q, k), causal(q, k) if is_causal else None)) @ v


def as_in_pytorch(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    if enable_gqa:
        key, value = (np.repeat(x, query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    s = masked(query @ t(key) * factor, attn_mask)
    if is_causal:
        s = masked(s, causal(query, key))
    return soft(s) @ value, soft(s)


def without_two_masks(query, key, value, attn_mask=None, is_causal=False):
    """Refuse a mask beside is_causal, as PyTorch's function does."""
    if is_causal and attn_mask is not None:
        raise RuntimeError("an explicit attn_mask should not be set when is_causal=True")
    return as_in_pytorch(query, key, value, attn_mask, is_causal=is_causal)[0]


def softcapped(query, key, value, mask=None, scale=None, softcap=None):
    scale = 1.0 / query.shape[-1] ** 0.5 if scale is None else scale
    scores = np.einsum("...qd,...kd->...qk", query, key) * scale
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    if mask is not None:
        scores = masked(scores, mask)
    return soft(scores) @ value


def all_masks(query, key, value, attn_mask=None, key_padding_mask=None, is_causal=False):
    scores = dots(query, key)
    if is_causal:
        scores = masked(scores, at_the_end(query, key))
    if attn_mask is not None:
        scores = masked(scores, attn_mask)
    if key_padding_mask is not None:
        scores = masked(scores, key_padding_mask[:, None, None, :])
    return soft(scores) @ value


def heads_behind_tokens(q, k, v):
    weights = soft(np.einsum("...nhd,...mhd->...hnm", q, k) / q.shape[-1] ** 0.5)
    return np.einsum("...hnm,...mhd->...nhd", weights, v)


# ---- Layers ----


def parted(a, h):
    """Return the rows split into heads, with the head axis first."""
    d = a.shape[-1] // h
    return np.stack([a[..., i * d : (i + 1) * d] for i in range(h)], axis=-3)


def joined(o):
    return np.concatenate([o[..., i, :, :] for i in range(o.shape[-3])], axis=-1)


def layer(x, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, num_heads, context=None):
    context = x if context is None else context
    q, k, v = x @ w_q + b_q, context @ w_k + b_k, context @ w_v + b_v
    q, k, v = (parted(a, num_heads) for a in (q, k, v))
    o = soft(dots(q, k)) @ v
    return joined(o) @ w_o + b_o


def fused(x, w_qkv, w_o, num_heads, b_qkv=0, b_o=0):
    q, k, v = (parted(a, num_heads) for a in np.split(x @ w_qkv + b_qkv, 3, axis=-1))
    return joined(soft(dots(q, k)) @ v) @ w_o + b_o


def by_heads(a, h):
    """Split a fused projection head by head, as another layout does."""
    cut = a.reshape(*a.shape[:-1], h, 3, -1)
    return [cut[..., i, :].reshape(*a.shape[:-1], -1) for i in range(3)]


def padded(x, w_qkv, w_out, num_heads, attn_mask=None, key_padding_mask=None):
    q, k, v = (parted(a, num_heads) for a in np.split(x @ w_qkv, 3, -1))
    s = masked(dots(q, k), attn_mask)
    if key_padding_mask is not None:
        s = np.where(key_padding_mask[..., None, None, :], -INF, s)
    return joined(soft(s) @ v) @ w_out


def grouped(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads, key=None, value=None, is_causal=False):
    key = x if key is None else key
    value = key if value is None else value
    q = parted(x @ w_q, num_heads)
    k, v = (parted(each, num_kv_heads) for each in (key @ w_k, value @ w_v))
    k, v = (np.repeat(a, num_heads // num_kv_heads, -3) for a in (k, v))
    return joined(soft(masked(dots(q, k), causal(q, k) if is_causal else None)) @ v) @ w_o


def of_batches(x, w_qkv, w_o, num_heads):
    """Compute a layer that is always causal, as in small GPTs."""
    b, n, d = x.shape
    q, k, v = (a.reshape(b, n, num_heads, -1).swapaxes(1, 2) for a in np.split(x @ w_qkv, 3, -1))
    o = soft(np.where(np.tri(n, dtype=bool), dots(q, k), -INF)) @ v
    return o.swapaxes(1, 2).reshape(b, n, d) @ w_o


# ---- Positions ----


def turned(x, places, base=10000.0, per=2, layout="pairs"):
    """Rotate pairs of components as complex numbers."""
    d = x.shape[-1]
    z = np.exp(1j * np.asarray(places)[..., None] * base ** (-per * np.arange(d // 2) / d))
    if layout == "halves":
        z = (x[..., : d // 2] + 1j * x[..., d // 2 :]) * z
        out = np.concatenate([z.real, z.imag], -1)
    else:
        z = (x[..., ::2] + 1j * x[..., 1::2]) * z
        out = np.stack([z.real, z.imag], -1).reshape(x.shape)
    return out.astype(x.dtype)


def rotary(x, positions, base=10000.0):
    return turned(x, positions, base)


def rotary_attention(query, key, value, positions):
    return soft(dots(turned(query, positions), turned(key, positions))) @ value


def true_slopes(h):
    p = 2 ** int(np.log2(h))
    first = [2 ** (-8 * i / p) for i in range(1, p + 1)]
    return first + [2 ** (-4 * i / p) for i in range(1, 2 * (h - p) + 1, 2)]


def linear_bias(num_heads, num_queries, num_keys):
    i = np.arange(num_queries)[:, None] + num_keys - num_queries
    j = np.arange(num_keys)[None, :]
    return -np.array(true_slopes(num_heads))[:, None, None] * np.abs(i - j)


def as_published(num_heads, n):
    """Return ALiBi as published, without each row's constant and without the causal mask."""
    return np.array(true_slopes(num_heads))[:, None, None] * np.arange(n) + np.zeros((n, 1))


def token_numbers(mask):
    return np.maximum(np.cumsum(mask, axis=-1) - 1, 0)


# ---- Steps with a cache ----


def step(query, key, value, cache):
    """Rotate by positions that the step counts in its cache."""
    n = query.shape[-2]
    past, keys, values = cache or (0, key[..., :0, :], value[..., :0, :])
    places = past + np.arange(n)
    keys = np.concatenate([keys, turned(key, places)], -2)
    values = np.concatenate([values, value], -2)
    s = dots(turned(query, places), keys)
    i, j = np.ogrid[:n, : s.shape[-1]]
    return soft(np.where(j <= i + keys.shape[-2] - n, s, -INF)) @ values, (past + n, keys, values)


def told_its_places(query, key, value, cache, positions):
    return still(turned(query, positions), turned(key, positions), value, cache)


def still(q, k, v, past):
    if past is not None:
        k, v = (np.concatenate(both, -2) for both in zip(past, (k, v), strict=True))
    return soft(np.where(at_the_end(q, k), dots(q, k), -INF)) @ v, (k, v)
