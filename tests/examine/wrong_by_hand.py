"""Attention with one bug each, written without the package: what the examination has to recognise.

Each stands under the name that it is to be given, most as a change of the text of a right function.
Nothing of `mha` is used.
"""

import numpy as np
from unseen import Unseen

INF = np.inf


def changed(function, changes):
    """Return a function once for each change of its text: each first of two is the second."""
    right = Unseen(function, "")
    return {name: right.wrong(name, *texts).function for name, texts in changes.items()}


# ---- Attention ----


def t(x):
    return np.moveaxis(x, -1, -2)


def soft(s, axis=-1):
    """Return the softmax, with zeros where nothing is left."""
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


def plain(q, k, v):
    s = q @ t(k) / q.shape[-1] ** 0.5
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


def with_mask(q, k, v, mask=None):
    s = dots(q, k)
    if mask is not None:
        s = np.where(mask, s, -INF) if mask.dtype == bool else s + mask
    return soft(s) @ v


def causally(q, k, v, is_causal=False):
    return soft(masked(dots(q, k), causal(q, k) if is_causal else None)) @ v


def dropped(q, k, v):
    w = soft(dots(q, k))
    return (w * (np.random.default_rng().random(w.shape) > 0.3) / 0.7) @ v


def capped(q, k, v, softcap=None):
    s = np.einsum("...id,...jd->...ij", q, k)
    s = s if softcap is None else np.tanh(s / softcap) * softcap
    return soft(s / q.shape[-1] ** 0.5) @ v


def tiled(q, k, v, enable_gqa=False):
    if enable_gqa:
        k, v = np.concatenate([k, k, k], -3), np.concatenate([v, v, v], -3)
    return soft(dots(q, k)) @ v


def hiding_queries(q, k, v, key_padding_mask=None):
    if key_padding_mask is None:
        return soft(dots(q, k)) @ v
    heads = (None,) * (key_padding_mask.ndim > 1)
    return soft(masked(dots(q, k), key_padding_mask[(..., *heads, slice(None), None)])) @ v


def many(q):
    """Return the widths of all heads together."""
    return q.shape[-1] * (q.shape[-3] if q.ndim > 2 else 1)


TOP, SUM = ".max(axis=-1, keepdims=True)", ".sum(axis=-1, keepdims=True)"
WEIGHTS, HIDDEN = f"e / e{SUM}", "np.where(mask, s, -INF)"
ATTENTION = {
    **changed(plain, {
        "wrong axis": ("axis=-1", "axis=-2"),
        "no shift": (f" - s{TOP}", ""),
        "wrong root": ("q.shape[-1]", "many(q)"),
        "columns mixed": (WEIGHTS, f"t({WEIGHTS})"),
        "no scale": (" / q.shape[-1] ** 0.5", ""),
        "scaled twice": (" ** 0.5", ""),
        "multiplied by the root": ("/ q.shape", "* q.shape"),
        "root of the number of keys": ("q.shape[-1]", "k.shape[-2]"),
        "a view for a transpose": ("t(k)", "k.reshape(t(k).shape)"),
        "queries and keys exchanged": ("q @ t(k)", "k @ t(q)"),
        "keys and values exchanged": ("t(k)", "t(v)", "@ v", "@ k"),
        "keys mixed": ("@ v", "@ k"),
        "axis from the front": ("axis=-1", "axis=1"),
        "one sum for all rows": (TOP, ".max()", SUM, ".sum()"),
        "softmax twice": (WEIGHTS, f"soft({WEIGHTS})"),
        "one shift for all rows": (TOP, ".max()"),
        "powers of two": ("np.exp", "np.exp2"),
        "not divided by the sum": (f" / e{SUM}", ""),
        "weights averaged over heads": (WEIGHTS, f"np.mean({WEIGHTS}, -3, keepdims=True)"),
    }),
    **changed(with_mask, {
        "late bias": ("else s + mask", "else s",
                      "soft(s)", "(soft(s) + (0 if mask is None or mask.dtype == bool else mask))"),
        "late mask": (HIDDEN, "s",
                      "soft(s)", "(soft(s) * (1 if mask is None or mask.dtype != bool else mask))"),
        "mask unused": ("mask is not None", "False"),
        "mask of numbers unused": ("s + mask", "s"),
        "mask turned over": ("    if mask is not None:\n",
                             "    if mask is not None:\n        mask = t(mask)\n"),
        "mask multiplied": ("-INF", "0"),
        "mask added as 0 and 1": (HIDDEN, "s + mask"),
        "a tiny number for a large one": ("-INF", "-1e-09"),
        "zero times infinity": (HIDDEN, "s - ~mask * INF"),
        "mask scaled": ("dots(q, k)", "q @ t(k)", "soft(s)", "soft(s / q.shape[-1] ** 0.5)"),
        "NaN for nothing seen": ("return soft(s)",
                                 f"e = np.exp(s - s{TOP})\n    return {WEIGHTS}"),
        "average for nothing seen": ("-INF", "np.finfo(s.dtype).min"),
        "mask lifted for nothing seen":
            (HIDDEN, "s + (mask - s.dtype.type(1)) * s.dtype.type(1e9)"),
    }),
    **changed(causally, {
        "diagonal hidden": ("causal(q, k)", "causal(q, k, -1)"),
        "one key ahead": ("causal(q, k)", "causal(q, k, 1)"),
        "causal mask turned over": ("causal(q, k)", "~causal(q, k, -1)"),
        "causal mask reversed": ("causal(q, k)", "~causal(q, k)"),
        "is_causal unused": ("if is_causal", "if False"),
    }),
    "dropout left on": dropped,
    "scale unused": lambda q, k, v, scale=None: soft(dots(q, k)) @ v,
    "scale beside the root": lambda q, k, v, scale=1.0: soft(dots(q, k) * scale) @ v,
    "softcap before the scale": capped,
    "groups tiled": tiled,
    "padding hides queries": hiding_queries,
    "padding unused": lambda q, k, v, key_padding_mask=None: soft(dots(q, k)) @ v,
}  # fmt: skip


# ---- A layer ----


def parted(a, h):
    """Return the heads of tokens, one after the other."""
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


def fused(x, w_qkv, w_o, num_heads):
    q, k, v = (parted(a, num_heads) for a in np.split(x @ w_qkv, 3, -1))
    return joined(soft(dots(q, k)) @ v) @ w_o


def by_heads(a, h):
    cut = a.reshape(*a.shape[:-1], h, 3, -1)
    return [cut[..., i, :].reshape(*a.shape[:-1], -1) for i in range(3)]


PARTED, FLAT = "parted(a, num_heads)", ".reshape(*o.shape[:-3], o.shape[-2], -1)"
LAYER = {
    **changed(layer, {
        "reshape": (PARTED, "a.reshape(*a.shape[:-2], num_heads, a.shape[-2], -1)"),
        "heads dealt out":
            (PARTED, "np.stack([a[..., i::num_heads] for i in range(num_heads)], -3)"),
        "merged by reshape": ("joined(o)", f"o{FLAT}"),
        "merged alternating": ("joined(o)", f"np.moveaxis(o, -3, -1){FLAT}"),
        "W_Q and W_K exchanged": ("x @ w_q", "x @ w_k", "context @ w_k", "context @ w_q"),
        "W_K and W_V exchanged": ("w_k + b_k, context @ w_v", "w_v + b_k, context @ w_k"),
        "W_V and W_O exchanged": ("@ w_v", "@ w_o", "@ w_o + b_o", "@ w_v + b_o"),
        "matrices turned over": ("w_q +", "w_q.T +", "w_k +", "w_k.T +", "w_v +", "w_v.T +",
                                 "w_o +", "w_o.T +"),
        "W_O turned over": ("w_o +", "w_o.T +"),
        "W_O left out": (" @ w_o + b_o", ""),
        "biases left out": (" + b_q", "", " + b_k", "", " + b_v", "", " + b_o", ""),
        "bias of queries left out": (" + b_q", ""),
        "bias of values left out": (" + b_v", ""),
        "bias of the output left out": (" + b_o", ""),
        "context unused": ("x if context is None else context", "x"),
        "context asks": ("context @", "x @", "x @ w_q", "context @ w_q"),
        "values of the tokens that ask": ("context @ w_v", "x @ w_v"),
        "keys of the tokens that ask": ("context @ w_k", "x @ w_k"),
    }),
    **changed(fused, {
        "fused as key, query, value": ("q, k, v = (", "k, q, v = ("),
        "fused as value, key, query": ("q, k, v = (", "v, k, q = ("),
        "fused as query, value, key": ("q, k, v = (", "q, v, k = ("),
        "fused by heads": ("np.split(x @ w_qkv, 3, -1)", "by_heads(x @ w_qkv, num_heads)"),
    }),
}  # fmt: skip


# ---- Positions ----


def turned(x, places, base=10000.0, sign=1, per=2, layout="pairs"):
    """Turn pairs of components as complex numbers."""
    d = x.shape[-1]
    angle = np.asarray(places)[..., None] * base ** (-per * np.arange(d // 2) / d)
    z = np.exp(sign * 1j * angle)
    if layout == "halves":
        z = (x[..., : d // 2] + 1j * x[..., d // 2 :]) * z
        out = np.concatenate([z.real, z.imag], -1)
    else:
        z = (x[..., ::2] + 1j * x[..., 1::2]) * z
        out = np.stack([z.real, z.imag], -1).reshape(x.shape)
    return out.astype(x.dtype)


def muddled(x, positions):
    d = x.shape[-1]
    angle = positions[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    cos, sin = (np.concatenate([f(angle)] * 2, -1) for f in (np.cos, np.sin))
    partner = np.empty_like(x)
    partner[..., ::2], partner[..., 1::2] = -x[..., 1::2], x[..., ::2]
    return (x * cos + partner * sin).astype(x.dtype)


def rotary(query, key, value, positions):
    return soft(dots(turned(query, positions), turned(key, positions))) @ value


def alibi(slope, sign=-1):
    def function(num_heads, num_queries, num_keys):
        i, j = np.ogrid[:num_queries, :num_keys]
        return sign * np.array(slope(num_heads))[:, None, None] * (i - j)

    return function


def true_slopes(h):
    p = 2 ** int(np.log2(h))
    first = [2 ** (-8 * i / p) for i in range(1, p + 1)]
    return first + [2 ** (-4 * i / p) for i in range(1, 2 * (h - p) + 1, 2)]


POSITIONS = {
    "halves for pairs": lambda x, positions: turned(x, positions, layout="halves"),
    "two layouts in one": muddled,
    "positions from 1": lambda x, positions: turned(x, positions + 1),
    "turned backwards": lambda x, positions: turned(x, positions, sign=-1),
    "exponent by ones": lambda x, positions: turned(x, positions, per=1),
    "degrees for radians": lambda x, positions: turned(x, positions * np.pi / 180),
    **changed(rotary, {
        "values turned": ("@ value", "@ turned(value, positions)"),
        "queries turned alone": ("turned(key, positions)", "key"),
    }),
    "slopes halved": alibi(lambda h: [1 / 2 ** i for i in range(1, h + 1)]),
    "slopes reversed": alibi(lambda h: true_slopes(h)[::-1]),
    "slopes from 1": alibi(lambda h: [2 ** (-8 * i / h) for i in range(h)]),
    "slopes of any number of heads": alibi(lambda h: [2 ** (-8 * i / h) for i in range(1, h + 1)]),
    "bias upwards": alibi(true_slopes, sign=1),
    "padding counted": lambda attention_mask:
        np.arange(attention_mask.shape[-1]) + np.zeros(attention_mask.shape, int),
}  # fmt: skip


# ---- Steps with a cache, which turn by themselves ----


def step(query, key, value, cache):
    n = query.shape[-2]
    past, keys, values = cache or (0, key[..., :0, :], value[..., :0, :])
    places = past + np.arange(n)
    keys = np.concatenate([keys, turned(key, places)], -2)
    values = np.concatenate([values, value], -2)
    s = dots(turned(query, places), keys)
    i, j = np.ogrid[:n, : s.shape[-1]]
    return soft(np.where(j <= i + keys.shape[-2] - n, s, -INF)) @ values, (past + n, keys, values)


LONGER_K = "np.concatenate([keys, turned(key, places)], -2)"
LONGER_V = "np.concatenate([values, value], -2)"
DECODING = changed(step, {
    "off by one": ("turned(query, places)", "turned(query, places + 1)"),
    "positions begin anew": ("past + np", "np"),
    "cache overwritten": (LONGER_K, "turned(key, places)", LONGER_V, "value"),
    "cache not extended": (LONGER_K, "keys if past else turned(key, places)",
                           LONGER_V, "values if past else value"),
    "cache behind": ("[keys, turned(key, places)]", "[turned(key, places), keys]",
                     "[values, value]", "[value, values]"),
    "own key not seen": ("places), keys)", "places), keys[..., : past or n, :])",
                         "@ values", "@ values[..., : past or n, :]"),
    "cache aligned top left": ("i + keys.shape[-2] - n", "i"),
    "later tokens of a step seen": ("i + keys.shape[-2] - n", "i + 99"),
    "keys turned again": ("places), keys)", "places), turned(keys, np.arange(keys.shape[-2])))"),
})  # fmt: skip
