"""Attention with one bug each, after public reports on libraries and kernels, and its correct twin.

All code was written for these tests. The argument of each function in this file says whether its
result is to have the bug.
"""

import numpy as np
from bug_reports import NARROWED, Reports
from by_hand import INF, dots, soft, t
from independent_cases import A, D, L, P

CASES = Reports(A)


@CASES.add("facebookresearch/xformers#103", "is_causal unused")
def causal_mask_without_a_mask(bug):
    """Apply the causal mask only where there is another mask."""

    def scaled_dot_product(q, k, v, att_mask=None, causal=False):
        n, m = q.shape[-2], k.shape[-2]
        seen = np.ones((n, m), bool) if att_mask is None else att_mask
        if causal and not (bug and att_mask is None):
            seen = seen & np.tri(n, m, dtype=bool)
        return soft(np.where(seen, dots(q, k), -INF)) @ v

    return scaled_dot_product


@CASES.add("AI-Hypercomputer/maxtext#1370", "multiplied by the root")
def scale_with_another_sign(bug):
    """Multiply by the root of the width where the scores were to be divided by it."""

    def attention(query, key, value):
        softmax_scale = query.shape[-1] ** (0.5 if bug else -0.5)
        return soft(query @ t(key) * softmax_scale) @ value

    return attention


@CASES.add("jax-ml/jax#27224", NARROWED)
def last_block_of_zeros(bug):
    """Fill the last block of keys with zeros, and attend to them."""

    def flash(q, k, v, block=4):
        m = k.shape[-2]
        more = [(0, 0)] * (k.ndim - 2) + [(0, -m % block), (0, 0)]
        scores = dots(q, np.pad(k, more))
        if not bug:
            scores = np.where(np.arange(scores.shape[-1]) < m, scores, -INF)
        return soft(scores) @ np.pad(v, more)

    return flash


@CASES.add("vllm-project/vllm#55204", NARROWED, P, layout="halves")
def sine_filled_with_ones(bug):
    """Fill the sines of components that are not rotated with 1, not with 0."""

    def rope(x, positions):
        half = x.shape[-1] // 2
        used = max(1, half // 2)
        angles = np.asarray(positions)[:, None] * 1e4 ** (-np.arange(used) / used)
        rest = ((0, 0), (0, half - used))
        if not bug:  # rotate the first components alone
            a, b = x[..., :used], x[..., used : 2 * used]
            cos, sin = np.cos(angles), np.sin(angles)
            return np.concatenate([a * cos - b * sin, b * cos + a * sin, x[..., 2 * used :]], -1)
        cos, sin = (np.pad(f(angles), rest, constant_values=1) for f in (np.cos, np.sin))
        a, b = x[..., :half], x[..., half:]
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)

    return rope


@CASES.add("InseeFrLab/torchTextClassifiers#92", "if True in a mask means masked")
def mask_of_labels_inverted(bug):
    """Invert a mask that already says which tokens may be attended to."""

    def label_attention(query, key, value, attention_mask=None):
        scores = dots(query, key)
        if attention_mask is not None:
            scores = np.where(attention_mask ^ bug, scores, -INF)
        return soft(scores) @ value

    return label_attention


@CASES.add("unslothai/unsloth#4078", "padding counted", P)
def one_row_of_positions(bug):
    """Give all sequences the positions of the cache, whatever their padding."""

    def position_ids(attention_mask):
        if bug:
            return np.broadcast_to(np.arange(attention_mask.shape[-1]), attention_mask.shape)
        return np.where(attention_mask, np.cumsum(attention_mask, -1) - 1, 1)

    return position_ids


@CASES.add("juho-lee/set_transformer#18", "wrong root", L)
def root_of_all_heads(bug):
    """Divide by the root of the width of all heads together."""

    def multihead_block(x, context, w_q, w_k, w_v, w_o, num_heads):
        def split(wide):
            return np.stack(np.split(wide, num_heads, -1), -3)

        q, k, v = split(x @ w_q), split(context @ w_k), split(context @ w_v)
        width = x.shape[-1] if bug else q.shape[-1]
        heads = soft(q @ t(k) / np.sqrt(width)) @ v
        return np.concatenate(np.moveaxis(heads, -3, 0), -1) @ w_o

    return multihead_block


@CASES.add("nerdai/llms-from-scratch-rs#30", "wrong axis", L)
def softmax_over_rows(bug):
    """Take the softmax along the queries, after a causal mask."""

    def causal_attention(x, w_query, w_key, w_value):
        n = x.shape[-2]
        scores = dots(x @ w_query, x @ w_key)
        scores = np.where(np.tri(n, dtype=bool), scores, -INF)
        return soft(scores, -2 if bug else -1) @ (x @ w_value)

    return causal_attention


@CASES.add("Dao-AILab/flash-attention#2082", NARROWED)
def maximum_of_a_masked_block(bug):
    """Keep 0 as the maximum of a row after a fully masked block, beginning with the last block."""

    def attention(q, k, v, is_causal=False):
        n, m = q.shape[-2], k.shape[-2]
        scores = dots(q, k)
        if is_causal:
            scores = np.where(np.tri(n, m, dtype=bool), scores, -INF)
        top = np.full((*scores.shape[:-1], 1), -INF, scores.dtype)
        total, out = np.zeros_like(top), np.zeros((*q.shape[:-1], v.shape[-1]), scores.dtype)
        for start in reversed(range(0, m, 4)):
            block = scores[..., start : start + 4]
            new = np.maximum(top, block.max(-1, keepdims=True))
            safe = np.where(new == -INF, 0, new)
            old, powers = np.exp(top - safe), np.exp(block - safe)
            total = total * old + powers.sum(-1, keepdims=True)
            out = out * old + powers @ v[..., start : start + 4, :]
            top = safe if bug else new
        return out / np.where(total == 0, 1, total)

    return attention


@CASES.add("mlx-node/mlx-node#24", "causal mask dropped once cached", D)
def causal_only_without_cache(bug):
    """Mask only where there are as many queries as keys."""

    def step(q, k, v, kv_cache=None):
        if kv_cache is not None:
            k, v = (np.concatenate(pair, -2) for pair in zip(kv_cache, (k, v), strict=True))
        n, m = q.shape[-2], k.shape[-2]
        scores = dots(q, k)
        if n == m or not bug:
            scores = np.where(np.tri(n, m, m - n, dtype=bool), scores, -INF)
        return soft(scores) @ v, (k, v)

    return step


@CASES.add("gittensor-ai-lab/sparkinfer#3", "if the first query has the position of the first key")
def mask_from_the_first_key(bug):
    """Count the queries from 0, though they are the last tokens of a longer sequence."""

    def flash_prefill(q, k, v, causal=True):
        n, m = q.shape[-2], k.shape[-2]
        scores = dots(q, k)
        if causal:
            end = np.arange(n)[:, None] + (0 if bug else m - n)
            scores = np.where(np.arange(m) <= end, scores, -INF)
        return soft(scores) @ v

    return flash_prefill


@CASES.add("PSAL-POSTECH/ONNXim#34", NARROWED)
def head_divided_by_groups(bug):
    """Divide the number of a head by the number of groups, not of heads per group."""

    def attention(q, k, v, num_key_value_groups=1):
        heads, groups = q.shape[-3] if q.ndim > 2 else 1, k.shape[-3] if k.ndim > 2 else 1
        if num_key_value_groups > 1:
            divisor = groups if bug else num_key_value_groups
            index = np.minimum(np.arange(heads) // divisor, groups - 1)
            k, v = k[..., index, :, :], v[..., index, :, :]
        return soft(dots(q, k)) @ v

    return attention
