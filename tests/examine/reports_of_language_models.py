"""Attention with one bug each, after public reports on language models, and its correct twin.

All code was written for these tests. The argument of each function in this file says whether its
result is to have the bug.
"""

import math

import numpy as np
from bug_reports import NARROWED, Reports
from independent_cases import A, D, L, P

CASES = Reports(A)


def softmax(x, axis=-1):
    x = x - np.max(x, axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


def angles_of(positions, d, base=10000.0):
    inv = base ** (-np.arange(0, d, 2) / d)
    return np.asarray(positions)[..., None] * inv


def rotate_pairs(x, angles):
    x1, x2 = x[..., 0::2], x[..., 1::2]
    c, s = np.cos(angles), np.sin(angles)
    return np.stack([x1 * c - x2 * s, x1 * s + x2 * c], -1).reshape(x.shape)


def rotate_halves(x, angles):
    h = x.shape[-1] // 2
    x1, x2 = x[..., :h], x[..., h:]
    c, s = np.cos(angles), np.sin(angles)
    return np.concatenate([x1 * c - x2 * s, x2 * c + x1 * s], -1)


def attend(q, k, v):
    n, m = q.shape[-2], k.shape[-2]
    s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    return softmax(np.where(np.tri(n, m, m - n, dtype=bool), s, -np.inf)) @ v


@CASES.add("karpathy/ng-video-lecture#6", "wrong root", L)
def scale_by_embedding_width(bug):
    """Divide by the root of the width of the layer, not of a head."""

    def head_attention(x, w_q, w_k, w_v, w_o, num_heads, is_causal=True):
        b, n, width = x.shape

        def split(w):
            return (x @ w).reshape(b, n, num_heads, -1).transpose(0, 2, 1, 3)

        q, k, v = split(w_q), split(w_k), split(w_v)
        wei = q @ k.swapaxes(-2, -1) * (width if bug else k.shape[-1]) ** -0.5
        if is_causal:
            wei = np.where(np.tril(np.ones((n, n))) == 0, -np.inf, wei)
        wei = softmax(wei)
        return (wei @ v).transpose(0, 2, 1, 3).reshape(b, n, -1) @ w_o

    return head_attention


@CASES.add("tenstorrent/tt-metal#56789", "root of the number of heads", L)
def scale_by_number_of_heads(bug):
    """Divide by the root of the number of heads."""

    def clip_attention(hidden, w_q, w_k, w_v, w_o, num_heads):
        b, n, width = hidden.shape
        d = width // num_heads
        q = (hidden @ w_q).reshape(b, n, num_heads, d).transpose(0, 2, 1, 3)
        k = (hidden @ w_k).reshape(b, n, num_heads, d).transpose(0, 2, 3, 1)
        v = (hidden @ w_v).reshape(b, n, num_heads, d).transpose(0, 2, 1, 3)
        p = softmax(q @ k / math.sqrt(num_heads if bug else d))
        return (p @ v).transpose(0, 2, 1, 3).reshape(b, n, width) @ w_o

    return clip_attention


@CASES.add("onnx/onnx#7865", "softcap after the mask")
def softcap_after_mask(bug):
    """Cap the scores after the mask, which makes -inf the cap."""

    def attention(q, k, v, attn_mask=None, softcap=None):
        s = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])

        def masked(s):
            if attn_mask is None:
                return s
            return np.where(attn_mask, s, -np.inf) if attn_mask.dtype == bool else s + attn_mask

        if bug:
            s = masked(s)
        if softcap:
            s = softcap * np.tanh(s / softcap)
        if not bug:
            s = masked(s)
        return softmax(s) @ v

    return attention


@CASES.add("huggingface/pytorch-image-models#2236", NARROWED)
def mask_after_softmax(bug):
    """Write -inf into the weights, after the softmax."""

    def eva_attention(q, k, v, attn_mask=None):
        attn = (q * q.shape[-1] ** -0.5) @ k.swapaxes(-2, -1)
        if bug:
            attn = softmax(attn)
        if attn_mask is not None:
            attn = np.where(attn_mask, attn, -np.inf)
        if not bug:
            attn = softmax(attn)
        return attn @ v

    return eva_attention


@CASES.add("huggingface/transformers#41443", "if a mask is added to the scores")
def bool_mask_added(bug):
    """Add a boolean mask as 0 and 1."""

    def eager_attention_forward(query, key, value, attention_mask=None, scaling=None):
        scaling = query.shape[-1] ** -0.5 if scaling is None else scaling
        weights = np.matmul(query, key.swapaxes(-1, -2)) * scaling
        if attention_mask is not None:
            if not bug and attention_mask.dtype == bool:
                attention_mask = np.where(attention_mask, 0.0, -np.inf)
            weights = weights + attention_mask
        return softmax(weights) @ value, None

    return eager_attention_forward


@CASES.add("harvard-edge/cs249r_book#1785", NARROWED)
def additive_mask_as_binary(bug):
    """Pass a causal mask of 0 and -inf where 1 and 0 are expected."""

    def tiny_attention(query, key, value, is_causal=False):
        scores = query @ np.swapaxes(key, -2, -1) / query.shape[-1] ** 0.5
        if is_causal:
            n, m = scores.shape[-2:]
            mask = np.triu(np.full((n, m), -np.inf), 1) if bug else np.tril(np.ones((n, m)))
            mask = mask.astype(query.dtype)
            with np.errstate(invalid="ignore"):
                scores = scores + (1 - mask) * -1e9
        return softmax(scores) @ value

    return tiny_attention


@CASES.add("jsbaan/transformer-from-scratch#6", "merged by reshape", L)
def merge_without_permute(bug):
    """Merge heads by a reshape alone."""

    def multi_head(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        b, n, d = x.shape

        def heads(w):
            return (x @ w).reshape(b, n, num_heads, d // num_heads).transpose(0, 2, 1, 3)

        s = heads(w_q) @ heads(w_k).transpose(0, 1, 3, 2) / math.sqrt(d // num_heads)
        if mask is not None:
            s = np.where(mask == 0, -np.inf, s)
        values = softmax(s) @ heads(w_v)
        if not bug:
            values = values.transpose(0, 2, 1, 3)
        return values.reshape(b, n, d) @ w_o

    return multi_head


@CASES.add("karpathy/nanoGPT#331", "later tokens of a step visible", D)
def prefill_not_causal(bug):
    """Mask nothing, with or without a cache."""

    def forward(q, k, v, cache=None):
        cache = cache or {"k": None, "v": None}
        new = q.shape[-2]
        if cache["k"] is not None:
            k = np.concatenate([cache["k"], k], -2)
            v = np.concatenate([cache["v"], v], -2)
        scores = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1])
        total = k.shape[-2]
        if not bug:
            hidden = np.triu(np.ones((total, total), bool), 1)[total - new :]
            scores = np.where(hidden, -np.inf, scores)
        return softmax(scores) @ v, {"k": k, "v": v}

    return forward


@CASES.add("Blaizzy/mlx-vlm#1983", "positions restart at 0", D)
def decode_at_position_zero(bug):
    """Rotate each new token as position 0."""

    def step(q, k, v, cache=None):
        offset = 0 if cache is None else cache[0].shape[-2]
        ids = np.arange(q.shape[-2]) + (0 if bug else offset)
        q, k = (
            rotate_pairs(q, angles_of(ids, q.shape[-1])),
            rotate_pairs(k, angles_of(ids, q.shape[-1])),
        )
        if cache is not None:
            k, v = np.concatenate([cache[0], k], -2), np.concatenate([cache[1], v], -2)
        return attend(q, k, v), (k, v)

    return step


@CASES.add("jundot/omlx#2363", "one position for all new tokens after a cache", D)
def window_at_one_position(bug):
    """Rotate all new tokens after a cache by the first one's position."""

    def step(q, k, v, cache=None):
        start = 0 if cache is None else cache[0].shape[-2]
        n = q.shape[-2]
        ids = np.arange(start, start + n)
        if bug and cache is not None:
            ids = np.full(n, start)
        angles = angles_of(ids, q.shape[-1])
        q, k = rotate_halves(q, angles), rotate_halves(k, angles)
        if cache is not None:
            k, v = np.concatenate([cache[0], k], -2), np.concatenate([cache[1], v], -2)
        return attend(q, k, v), (k, v)

    return step


@CASES.add("RobertCsordas/moeut#6", NARROWED, D)
def query_offset_before_concat(bug):
    """Count the positions of queries from 0, and those of keys from the cache's length."""

    def step(q, k, v, cache=None):
        q_offset = 0 if cache is None else cache[0].shape[-2]
        k_ids = np.arange(k.shape[-2]) + q_offset
        q_ids = np.arange(q.shape[-2]) + (0 if bug else q_offset)
        k = rotate_pairs(k, angles_of(k_ids, k.shape[-1]))
        q = rotate_pairs(q, angles_of(q_ids, q.shape[-1]))
        if cache is not None:
            k, v = np.concatenate([cache[0], k], -2), np.concatenate([cache[1], v], -2)
        return attend(q, k, v), (k, v)

    return step


@CASES.add("skyzh/tiny-llm#46", NARROWED, D)
def offset_grows_twice(bug):
    """Increase the offset by all tokens instead of the new ones."""

    def step(q, k, v, cache=None):
        old_k, old_v, offset = cache if cache else (None, None, 0)
        n = q.shape[-2]
        angles = angles_of(np.arange(offset, offset + n), q.shape[-1])
        q, k = rotate_pairs(q, angles), rotate_pairs(k, angles)
        if old_k is not None:
            k, v = np.concatenate([old_k, k], -2), np.concatenate([old_v, v], -2)
        return attend(q, k, v), (k, v, offset + (k.shape[-2] if bug else n))

    return step


@CASES.add("lucidrains/rotary-embedding-torch#11", NARROWED, D)
def rotary_memo_without_offset(bug):
    """Cache angles by the number of tokens, whatever their offset."""

    def step(q, k, v, cache=None):
        memo, old_k, old_v = cache if cache else ({}, None, None)
        n, offset = q.shape[-2], 0 if old_k is None else old_k.shape[-2]
        name = f"{n}" if bug else f"{n} from {offset}"
        if name not in memo:
            memo[name] = angles_of(np.arange(offset, offset + n), q.shape[-1])
        q, k = rotate_pairs(q, memo[name]), rotate_pairs(k, memo[name])
        if old_k is not None:
            k, v = np.concatenate([old_k, k], -2), np.concatenate([old_v, v], -2)
        return attend(q, k, v), (memo, k, v)

    return step


@CASES.add("EleutherAI/gpt-neox#363", NARROWED, D)
def keys_rotated_again(bug):
    """Keep rotated keys in the cache, and rotate them again."""

    def step(q, k, v, cache=None):
        if cache is not None:
            k, v = np.concatenate([cache[0], k], -2), np.concatenate([cache[1], v], -2)
        n, m = q.shape[-2], k.shape[-2]
        angles = angles_of(np.arange(m), q.shape[-1])
        rotated = rotate_pairs(k, angles)
        q = rotate_pairs(q, angles[m - n :])
        return attend(q, rotated, v), (rotated if bug else k, v)

    return step


@CASES.add("pie-project/pie#603", NARROWED, P, layout="halves")
def partial_rotary_head_width(bug):
    """Rotate a part of each head with the pairs and frequencies of the whole."""

    def rope_partial(x, positions):
        d = x.shape[-1]
        rot = max(2, d // 4 * 2)
        width = d if bug else rot
        inv = 10000.0 ** (-2 * np.arange(rot // 2) / width)
        angles = np.asarray(positions)[..., None] * inv
        off = width // 2
        if not bug:
            return np.concatenate([rotate_halves(x[..., :rot], angles), x[..., rot:]], -1)
        out = x.copy()
        i = np.arange(rot // 2)
        a, b = x[..., i], x[..., i + off]
        out[..., i] = a * np.cos(angles) - b * np.sin(angles)
        out[..., i + off] = b * np.cos(angles) + a * np.sin(angles)
        return out

    return rope_partial


@CASES.add("ml-explore/mlx#3071", "slopes for any number of heads", P)
def alibi_not_power_of_two(bug):
    """Use one geometric sequence for any number of heads."""

    def get_slopes(num_heads):
        def power_of_2(n):
            start = 2 ** (-(2 ** -(math.log2(n) - 3)))
            return [start * start**i for i in range(n)]

        if bug:
            x = (2**8) ** (1 / num_heads)
            return np.power(x, -np.arange(1.0, num_heads + 1))
        if math.log2(num_heads).is_integer():
            return np.array(power_of_2(num_heads))
        near = 2 ** math.floor(math.log2(num_heads))
        return np.array(power_of_2(near) + list(get_slopes(2 * near))[0::2][: num_heads - near])

    return get_slopes


@CASES.add("paiml/aprender#2143", "slopes from 1", P)
def alibi_exponent_off_by_one(bug):
    """Begin the exponents of the slopes with 0."""

    def compute_slopes(num_heads):
        def slopes(n):
            return [2.0 ** (-8.0 * (h + (0 if bug else 1)) / n) for h in range(n)]

        near = 2 ** int(math.log2(num_heads))
        return np.array(slopes(near) + slopes(2 * near)[0::2][: num_heads - near])

    return compute_slopes


@CASES.add("keras-team/keras-hub#2862", NARROWED, D)
def alibi_over_query_length(bug):
    """Build linear biases for the queries' length, not the cache's."""

    def step(q, k, v, cache=None):
        h = q.shape[-3]
        if cache is not None:
            k, v = np.concatenate([cache[0], k], -2), np.concatenate([cache[1], v], -2)
        n, m = q.shape[-2], k.shape[-2]
        slopes = 2.0 ** (-8.0 * np.arange(1, h + 1) / h)
        span = n if bug else m
        bias = slopes[:, None, None] * (np.arange(span) - (span - 1))
        s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
        s = s + bias
        s = np.where(np.tri(n, m, m - n, dtype=bool), s, -np.inf)
        return softmax(s) @ v, (k, v)

    return step


@CASES.add("PrimeIntellect-ai/prime-rl#2681", "groups tiled")
def groups_repeated_along_tokens(bug):
    """Repeat keys along the axis of tokens, so that a reshape tiles the heads."""

    def attention(q, k, v, n_rep=1):  # axes are (batch, n, num_heads, d)
        if n_rep > 1:
            axis = -3 if bug else -2
            k, v = np.repeat(k, n_rep, axis=axis), np.repeat(v, n_rep, axis=axis)
        if k.shape[-2] != q.shape[-2]:  # a kernel that divides the numbers by shape alone
            k = k.reshape(*q.shape[:-3], -1, q.shape[-2], k.shape[-1])
            v = v.reshape(*q.shape[:-3], -1, q.shape[-2], v.shape[-1])
        s = np.einsum("...qhd,...khd->...hqk", q, k) / q.shape[-1] ** 0.5
        return np.einsum("...hqk,...khd->...qhd", softmax(s), v)

    return attention


@CASES.add(
    "ml-explore/mlx-lm#390", "if a query is meant to attend to 4 positions, its own included"
)
def window_one_too_wide(bug):
    """Let a window of 3 attend to 4 keys."""

    def windowed(query, key, value, window=3):
        n, m = query.shape[-2], key.shape[-2]
        i, j = np.arange(n)[:, None] + (m - n), np.arange(m)
        seen = (j <= i) & (j >= i - window if bug else j > i - window)
        s = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
        return softmax(np.where(seen, s, -np.inf)) @ value

    return windowed


@CASES.add("huggingface/transformers#41228", NARROWED)
def window_diagonal_sign(bug):
    """Add the window to the diagonal instead of subtracting it."""

    def windowed(query, key, value, is_causal=True, sliding_window=4):
        n, m = query.shape[-2], key.shape[-2]
        masked = np.where(np.tri(n, m, m - n, dtype=bool), 0, -np.inf)
        if bug:
            masked = np.where(np.tri(n, m, m - n + sliding_window, dtype=bool), masked, 0)
        else:
            masked = np.where(np.tri(n, m, m - n - sliding_window, dtype=bool), -np.inf, masked)
        s = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1]) + masked
        return softmax(s) @ value

    return windowed


@CASES.add("kyegomez/AttentionIsOFFByOne#5", NARROWED)
def softmax_one_shifted(bug):
    """Add 1 to the sum after the maximum was subtracted from the scores."""

    def attention(q, k, v):
        s = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
        top = s.max(-1, keepdims=True)
        e = np.exp(s - top)
        one = 1.0 if bug else np.exp(-top)
        return e / (one + e.sum(-1, keepdims=True)) @ v

    return attention


@CASES.add("pytorch/torchtitan#2211", NARROWED)
def sink_without_maximum(bug):
    """Subtract the maximum from the scores and not from the sink."""

    def attention(query, key, value, sinks=None):
        s = query @ key.swapaxes(-1, -2) * query.shape[-1] ** -0.5
        h = s.shape[-3] if s.ndim > 2 else 1
        sink = np.zeros((h, 1, 1)) if sinks is None else np.reshape(sinks, (h, 1, 1))
        top = s.max(-1, keepdims=True)
        e = np.exp(s - top)
        extra = np.exp(sink) if bug else np.exp(sink - top)
        return e / (e.sum(-1, keepdims=True) + (extra if s.ndim > 2 else extra[0])) @ value

    return attention


@CASES.add("karpathy/minGPT#75", "if no score is below about -10000")
def masked_bias_1e4(bug):
    """Mask with -10000, which lower scores do not reach."""

    def causal_self_attention(q, k, v):
        n, m = q.shape[-2], k.shape[-2]
        att = q @ k.swapaxes(-2, -1) / math.sqrt(k.shape[-1])
        att = np.where(np.tri(n, m, dtype=bool), att, -1e4 if bug else -np.inf)
        return softmax(att) @ v

    return causal_self_attention


@CASES.add("pytorch/pytorch#60940", "half precision")
def half_precision_scores(bug):
    """Compute the scores in float16."""

    def attention(q, k, v):
        kind = np.float16 if bug else np.float32
        root = np.asarray(math.sqrt(q.shape[-1]), kind)
        s = q.astype(kind) @ k.swapaxes(-1, -2).astype(kind) / root
        return softmax(s.astype(np.float32)).astype(q.dtype) @ v

    return attention


@CASES.add("Kamichanw/SeekDeeper#9", NARROWED, L)
def weights_not_used(bug):
    """Merge the values, not the output of the heads."""

    def vit_layer(x, w_q, w_k, w_v, w_o, num_heads):
        b, n, _ = x.shape
        q, k, v = ((x @ w).reshape(b, n, num_heads, -1).swapaxes(1, 2) for w in (w_q, w_k, w_v))
        att = softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5)
        y = att @ v
        y = (v if bug else y).swapaxes(1, 2).reshape(b, n, -1)
        return y @ w_o

    return vit_layer


@CASES.add("pytorch/pytorch#109072", "mask unused")
def bool_mask_ignored(bug):
    """Use a mask only if it has numbers."""

    def sdpa_docs(q, k, v, attn_mask=None):
        bias = np.zeros((q.shape[-2], k.shape[-2]), q.dtype)
        if attn_mask is not None:
            if attn_mask.dtype == bool:
                filled = np.where(attn_mask, 0.0, -np.inf)
                if not bug:
                    bias = bias + filled
            else:
                bias = bias + attn_mask
        w = q @ k.swapaxes(-2, -1) / math.sqrt(q.shape[-1]) + bias
        return softmax(w) @ v

    return sdpa_docs


@CASES.add("facebookresearch/xformers#1185", "causal mask dropped beside a mask")
def block_mask_loses_causal(bug):
    """Attend within a document, and no longer causally."""

    def attention(q, k, v, doc_ids=None, is_causal=True):
        n, m = q.shape[-2], k.shape[-2]
        s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
        seen = np.tri(n, m, m - n, dtype=bool)
        if doc_ids is not None:
            same = doc_ids[..., :, None] == doc_ids[..., None, :]
            seen = same if bug else seen & same
        return softmax(np.where(seen, s, -np.inf)) @ v

    return attention


@CASES.add("ml-explore/mlx-examples#1013", "mask scaled")
def bias_before_scale(bug):
    """Add a bias before the scores are scaled."""

    def attention(q, k, v, bias=None):
        s, root = q @ k.swapaxes(-1, -2), q.shape[-1] ** 0.5
        if not bug:
            s = s / root
        if bias is not None:
            s = s + bias
        if bug:
            s = s / root
        return softmax(s) @ v

    return attention


@CASES.add("vllm-project/vllm-omni#5865", NARROWED, L)
def keys_mask_on_queries(bug):
    """Zero the outputs of queries by the keys' padding mask."""

    def cross(x, context, w_q, w_k, w_v, w_o, num_heads, key_padding_mask=None):
        b, n, m = x.shape[0], x.shape[1], context.shape[1]
        q = (x @ w_q).reshape(b, n, num_heads, -1).swapaxes(1, 2)
        k = (context @ w_k).reshape(b, m, num_heads, -1).swapaxes(1, 2)
        v = (context @ w_v).reshape(b, m, num_heads, -1).swapaxes(1, 2)
        s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
        if key_padding_mask is not None:
            s = np.where(key_padding_mask[:, None, None, :], s, -1e9)
        out = (softmax(s) @ v).swapaxes(1, 2).reshape(b, n, -1) @ w_o
        if bug and key_padding_mask is not None:  # queries unpadded with the keys' mask
            keep = np.zeros((b, n), bool)
            keep[:, : min(n, m)] = key_padding_mask[:, -n:][:, : min(n, m)]
            out = np.where(keep[:, :, None], out, 0)
        return out

    return cross


@CASES.add("ml-explore/mlx-lm#1914", NARROWED, D)
def rotating_cache_never_evicts(bug):
    """Keep all keys in the cache of a window."""

    class Cache:
        def __init__(self):
            self.k = self.v = None

    def step(q, k, v, cache=None, window=4):
        cache = cache or Cache()
        n = q.shape[-2]
        if cache.k is not None:
            k, v = np.concatenate([cache.k, k], -2), np.concatenate([cache.v, v], -2)
        m = k.shape[-2]
        i = np.arange(n)[:, None] + (m - n)
        j = np.arange(m)
        s = q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
        seen = (j <= i) if bug else (j <= i) & (j > i - window)
        out = softmax(np.where(seen, s, -np.inf)) @ v
        cache.k, cache.v = (k, v) if bug else (k[..., -window:, :], v[..., -window:, :])
        return out, cache

    return step


@CASES.add("tenstorrent/tt-forge-onnx#422", NARROWED, D)
def unused_cache_slots_seen(bug):
    """Attend to empty slots of a static cache at a single new token."""

    def step(q, k, v, cache=None, max_len=64):
        if cache is None:
            shape = (*k.shape[:-2], max_len, k.shape[-1])
            cache = [np.zeros(shape), np.zeros((*v.shape[:-2], max_len, v.shape[-1])), 0]
        ks, vs, at = cache[0].copy(), cache[1].copy(), cache[2]
        n = q.shape[-2]
        ks[..., at : at + n, :], vs[..., at : at + n, :] = k, v
        s = q @ ks.swapaxes(-1, -2) / q.shape[-1] ** 0.5
        i, j = np.arange(n)[:, None] + at, np.arange(max_len)
        seen = np.full((n, max_len), True) if bug and n == 1 else j <= i
        s = np.where(seen, s, -np.inf)
        return softmax(s) @ vs, [ks, vs, at + n]

    return step
