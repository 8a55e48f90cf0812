"""Attention with one bug each, written without the package: what the examination has to recognise.

Each stands under the name that it is to be given. Nothing of `mha` is used.
"""

import numpy as np

INF = np.inf


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


def softened(s, mask, change):
    """Return scores under a mask of numbers as is meant, under one of truths as `change` has it."""
    if mask is None or mask.dtype != bool:
        return masked(s, mask)
    return change(s, mask)


def causal(q, k, ahead=0):
    i, j = np.ogrid[: q.shape[-2], : k.shape[-2]]
    return j <= i + ahead


def cut_off(s, allowed, use):
    return np.where(allowed, s, -INF) if use else s


def dropped(q, k, v):
    w = soft(dots(q, k))
    return (w * (np.random.default_rng().random(w.shape) > 0.3) / 0.7) @ v


def capped(q, k, v, softcap=None):
    s = np.einsum("...id,...jd->...ij", q, k)
    s = s if softcap is None else np.tanh(s / softcap) * softcap
    return soft(s / q.shape[-1] ** 0.5) @ v


def added_late(q, k, v, mask=None):
    w = soft(masked(dots(q, k), mask if mask is not None and mask.dtype == bool else None))
    return (w if mask is None or mask.dtype == bool else w + mask) @ v


def of_queries(real):
    return real[:, None, :, None] if real.ndim > 1 else real[:, None]


def many(q):
    """Return the widths of all heads together."""
    return q.shape[-1] * (q.shape[-3] if q.ndim > 2 else 1)


ATTENTION = {
    "wrong axis": lambda q, k, v: soft(dots(q, k), axis=-2) @ v,
    "no shift": lambda q, k, v: (e := np.exp(dots(q, k))) / e.sum(-1, keepdims=True) @ v,
    "wrong root": lambda q, k, v: soft(q @ t(k) / many(q) ** 0.5) @ v,
    "late bias": added_late,
    "late mask": lambda q, k, v, mask=None: (
        (
            soft(dots(q, k)) * mask
            if mask is not None and mask.dtype == bool
            else soft(masked(dots(q, k), mask))
        )
        @ v
    ),
    "columns mixed": lambda q, k, v: t(soft(dots(q, k))) @ v,
    "dropout left on": dropped,
    "no scale": lambda q, k, v: soft(q @ t(k)) @ v,
    "scaled twice": lambda q, k, v: soft(dots(q, k) / q.shape[-1] ** 0.5) @ v,
    "multiplied by the root": lambda q, k, v: soft(q @ t(k) * q.shape[-1] ** 0.5) @ v,
    "root of the number of keys": lambda q, k, v: soft(q @ t(k) / k.shape[-2] ** 0.5) @ v,
    "a view for a transpose": lambda q, k, v:
        soft(q @ k.reshape(t(k).shape) / q.shape[-1] ** 0.5) @ v,
    "scale unused": lambda q, k, v, scale=None: soft(dots(q, k)) @ v,
    "scale beside the root": lambda q, k, v, scale=1.0: soft(dots(q, k) * scale) @ v,
    "softcap before the scale": capped,
    "queries and keys exchanged": lambda q, k, v: soft(dots(k, q)) @ v,
    "keys and values exchanged": lambda q, k, v: soft(dots(q, v)) @ k,
    "keys mixed": lambda q, k, v: soft(dots(q, k)) @ k,
    "groups tiled": lambda q, k, v, enable_gqa=False: (
        soft(dots(q, np.concatenate([k, k, k], -3))) @ np.concatenate([v, v, v], -3)
        if enable_gqa
        else soft(dots(q, k)) @ v
    ),
    "axis from the front": lambda q, k, v: soft(dots(q, k), axis=1) @ v,
    "one sum for all rows": lambda q, k, v:
        (e := np.exp((s := dots(q, k)) - s.max())) / e.sum() @ v,
    "softmax twice": lambda q, k, v: soft(soft(dots(q, k))) @ v,
    "one shift for all rows": lambda q, k, v:
        (e := np.exp((s := dots(q, k)) - s.max())) / e.sum(-1, keepdims=True) @ v,
    "powers of two": lambda q, k, v: (
        soft(dots(q, k) * np.float32(np.log(2))) @ v
        if q.dtype == np.float32
        else soft(dots(q, k) * np.log(2)) @ v
    ),
    "not divided by the sum": lambda q, k, v:
        np.exp((s := dots(q, k)) - s.max(-1, keepdims=True)) @ v,
    "weights averaged over heads": lambda q, k, v: np.mean(soft(dots(q, k)), -3, keepdims=True) @ v,
    "mask unused": lambda q, k, v, mask=None: soft(dots(q, k)) @ v,
    "mask of numbers unused": lambda q, k, v, mask=None: (
        soft(softened(dots(q, k), mask if mask is None or mask.dtype == bool else None, masked)) @ v
    ),
    "mask turned over": lambda q, k, v, mask=None:
        soft(masked(dots(q, k), None if mask is None else t(mask))) @ v,
    "mask multiplied": lambda q, k, v, mask=None:
        soft(softened(dots(q, k), mask, lambda s, m: np.where(m, s, 0))) @ v,
    "mask added as 0 and 1": lambda q, k, v, mask=None:
        soft(dots(q, k) if mask is None else dots(q, k) + mask) @ v,
    "a tiny number for a large one": lambda q, k, v, mask=None:
        soft(softened(dots(q, k), mask, lambda s, m: np.where(~m, -1e-09, s))) @ v,
    "zero times infinity": lambda q, k, v, mask=None:
        soft(softened(dots(q, k), mask, lambda s, m: s - ~m * INF)) @ v,
    "mask scaled": lambda q, k, v, mask=None: soft(masked(q @ t(k), mask) / q.shape[-1] ** 0.5) @ v,
    "padding hides queries": lambda q, k, v, key_padding_mask=None: (
        soft(masked(dots(q, k), None if key_padding_mask is None else of_queries(key_padding_mask)))
        @ v
    ),
    "padding unused": lambda q, k, v, key_padding_mask=None: soft(dots(q, k)) @ v,
    "NaN for nothing seen": lambda q, k, v, mask=None: (
        (
            (e := np.exp((s := masked(dots(q, k), mask)) - s.max(-1, keepdims=True)))
            / e.sum(-1, keepdims=True)
        )
        @ v
    ),
    "average for nothing seen": lambda q, k, v, mask=None:
        soft(softened(dots(q, k), mask, lambda s, m: np.where(m, s, np.finfo(s.dtype).min))) @ v,
    "mask lifted for nothing seen": lambda q, k, v, mask=None: (
        soft(softened(dots(q, k), mask, lambda s, m: s + (m - s.dtype.type(1)) * s.dtype.type(1e9)))
        @ v
    ),
    "diagonal hidden": lambda q, k, v, is_causal=False:
        soft(cut_off(dots(q, k), causal(q, k, -1), is_causal)) @ v,
    "one key ahead": lambda q, k, v, is_causal=False:
        soft(cut_off(dots(q, k), causal(q, k, 1), is_causal)) @ v,
    "causal mask turned over": lambda q, k, v, is_causal=False:
        soft(cut_off(dots(q, k), ~causal(q, k, -1), is_causal)) @ v,
    "causal mask reversed": lambda q, k, v, is_causal=False:
        soft(cut_off(dots(q, k), ~causal(q, k), is_causal)) @ v,
    "is_causal unused": lambda q, k, v, is_causal=False: soft(dots(q, k)) @ v,
}  # fmt: skip


# ---- A layer ----


def parted(a, h):
    """Return the heads of tokens, one after the other."""
    d = a.shape[-1] // h
    return np.stack([a[..., i * d : (i + 1) * d] for i in range(h)], axis=-3)


def joined(o):
    return np.concatenate([o[..., i, :, :] for i in range(o.shape[-3])], axis=-1)


def layer(
    use=lambda *w: w, part=parted, join=joined, lend=lambda *b: b, read=lambda x, c: (x, c, c)
):
    """Return a layer of which something is done otherwise."""

    def function(x, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, num_heads, context=None):
        w_q, w_k, w_v, w_o = use(w_q, w_k, w_v, w_o)
        b_q, b_k, b_v, b_o = lend(b_q, b_k, b_v, b_o)
        xq, xk, xv = read(x, x if context is None else context)
        q, k, v = xq @ w_q + b_q, xk @ w_k + b_k, xv @ w_v + b_v
        q, k, v = (part(a, num_heads) for a in (q, k, v))
        concat = join(soft(dots(q, k)) @ v)
        return concat if w_o is None else concat @ w_o + b_o

    return function


def fused(cut):
    """Return a layer whose first matrix is cut so."""

    def function(x, w_qkv, w_o, num_heads):
        q, k, v = (parted(a, num_heads) for a in cut(x @ w_qkv, num_heads))
        return joined(soft(dots(q, k)) @ v) @ w_o

    return function


def thirds(a, order):
    n = a.shape[-1] // 3
    return [a[..., i * n : (i + 1) * n] for i in order]


def by_heads(a, h):
    cut = a.reshape(*a.shape[:-1], h, 3, -1)
    return [cut[..., i, :].reshape(*a.shape[:-1], -1) for i in range(3)]


LAYER = {
    "reshape": layer(part=lambda a, h: a.reshape(*a.shape[:-2], h, a.shape[-2], -1)),
    "heads dealt out": layer(part=lambda a, h: np.stack([a[..., i::h] for i in range(h)], -3)),
    "merged by reshape": layer(join=lambda o: o.reshape(*o.shape[:-3], o.shape[-2], -1)),
    "merged alternating": layer(
        join=lambda o: np.moveaxis(o, -3, -1).reshape(*o.shape[:-3], o.shape[-2], -1)
    ),
    "W_Q and W_K exchanged": layer(lambda q, k, v, o: (k, q, v, o)),
    "W_K and W_V exchanged": layer(lambda q, k, v, o: (q, v, k, o)),
    "W_V and W_O exchanged": layer(lambda q, k, v, o: (q, k, o, v)),
    "matrices turned over": layer(lambda *w: [a.T for a in w]),
    "W_O turned over": layer(lambda q, k, v, o: (q, k, v, o.T)),
    "W_O left out": layer(lambda q, k, v, o: (q, k, v, None)),
    "fused as key, query, value": fused(lambda a, h: thirds(a, (1, 0, 2))),
    "fused as value, key, query": fused(lambda a, h: thirds(a, (2, 1, 0))),
    "fused as query, value, key": fused(lambda a, h: thirds(a, (0, 2, 1))),
    "fused by heads": fused(by_heads),
    "biases left out": layer(lend=lambda *b: (0, 0, 0, 0)),
    "bias of queries left out": layer(lend=lambda q, k, v, o: (0, k, v, o)),
    "bias of values left out": layer(lend=lambda q, k, v, o: (q, k, 0, o)),
    "bias of the output left out": layer(lend=lambda q, k, v, o: (q, k, v, 0)),
    "context unused": layer(read=lambda x, c: (x, x, x)),
    "context asks": layer(read=lambda x, c: (c, x, x)),
    "values of the tokens that ask": layer(read=lambda x, c: (x, c, x)),
    "keys of the tokens that ask": layer(read=lambda x, c: (x, x, c)),
}  # fmt: skip


# ---- Positions, and steps with a cache ----


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


def rotary_attention(turn_key=True, turn_value=False):
    def function(query, key, value, positions):
        key = turned(key, positions) if turn_key else key
        value = turned(value, positions) if turn_value else value
        return soft(dots(turned(query, positions), key)) @ value

    return function


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
    "values turned": rotary_attention(turn_value=True),
    "queries turned alone": rotary_attention(turn_key=False),
    "slopes halved": alibi(lambda h: [1 / 2 ** i for i in range(1, h + 1)]),
    "slopes reversed": alibi(lambda h: true_slopes(h)[::-1]),
    "slopes from 1": alibi(lambda h: [2 ** (-8 * i / h) for i in range(h)]),
    "slopes of any number of heads": alibi(lambda h: [2 ** (-8 * i / h) for i in range(1, h + 1)]),
    "bias upwards": alibi(true_slopes, sign=1),
    "padding counted": lambda attention_mask:
        np.arange(attention_mask.shape[-1]) + np.zeros(attention_mask.shape, int),
}  # fmt: skip


def step(place=lambda old, n: old, query_on=0, keep=None, seen=None, diagonal=None, again=False):
    """Return a step of which something is done otherwise; it turns by itself."""

    def function(query, key, value, cache):
        n = query.shape[-2]
        count, keys, values = (0, None, None) if cache is None else cache
        places = place(count, n) + np.arange(n)
        new_key = turned(key, places)
        if keys is None or keep == "new":
            keys, values = new_key, value
        elif keep != "first":
            order = -1 if keep == "behind" else 1
            keys = np.concatenate([keys, new_key][::order], -2)
            values = np.concatenate([values, value][::order], -2)
        used_k, used_v = (keys, values) if not seen or count == 0 else seen(keys, values, n)
        if again:
            used_k = turned(used_k, np.arange(used_k.shape[-2]))
        s = dots(turned(query, places + query_on), used_k)
        i, j = np.ogrid[:n, : used_k.shape[-2]]
        shift = keys.shape[-2] - n if diagonal is None else diagonal
        return soft(np.where(j <= i + shift, s, -INF)) @ used_v, (count + n, keys, values)

    return function


DECODING = {
    "off by one": step(query_on=1),
    "positions begin anew": step(place=lambda old, n: 0),
    "cache overwritten": step(keep="new"),
    "cache not extended": step(keep="first"),
    "cache behind": step(keep="behind"),
    "own key not seen": step(seen=lambda k, v, n: (k[..., :-n, :], v[..., :-n, :])),
    "cache aligned top left": step(diagonal=0),
    "later tokens of a step seen": step(diagonal=99),
    "keys turned again": step(again=True),
}  # fmt: skip
