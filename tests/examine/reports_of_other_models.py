"""Attention with one bug each, after public reports on other models, and its correct twin.

The models process images, sound, molecules and tables, or the reports are on general libraries.
All code was written for these tests; "our own" marks a bug that is not from a report. The
argument of each function in this file says whether its result is to have the bug.
"""

import numpy as np
from bug_reports import NARROWED, Reports
from by_hand import INF, dots, soft, t
from independent_cases import A, D, L, P

CASES = Reports(A)


def heads_of(x, num_heads):
    *batch, n, width = x.shape
    return x.reshape(*batch, n, num_heads, width // num_heads).swapaxes(-3, -2)


def merged(x):
    x = x.swapaxes(-3, -2)
    return x.reshape(*x.shape[:-2], -1)


def rotated(x, positions):
    d = x.shape[-1]
    angles = np.asarray(positions)[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return np.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape)


@CASES.add("our own", NARROWED)
def fourth_root_once(bug):
    """Divide the queries by the fourth root of the head width, and not the keys."""

    def attention(query, key, value):
        scale = query.shape[-1] ** -0.25
        key = key if bug else key * scale
        return soft(query * scale @ t(key)) @ value

    return attention


@CASES.add("labmlai/annotated_deep_learning_paper_implementations#146", "wrong axis")
def softmax_over_queries(bug):
    """Take the softmax along the queries, in a layout in which heads are last."""

    def attention(q, k, v):
        scores = np.einsum("...ihd,...jhd->...ijh", q, k) * q.shape[-1] ** -0.5
        weights = soft(scores, -3 if bug else -2)
        return np.einsum("...ijh,...jhd->...ihd", weights, v)

    return attention


@CASES.add("gazelle93/Transformer-Various-Positional-Encoding#1", NARROWED, L)
def merge_heads_before_batch(bug):
    """Split as (batch, heads), and merge as (heads, batch)."""

    def layer(x, w_q, w_k, w_v, w_o, num_heads):
        b, n, _ = x.shape
        q, k, v = (heads_of(x @ w, num_heads).reshape(b * num_heads, n, -1)
                   for w in (w_q, w_k, w_v))  # fmt: skip
        out = soft(dots(q, k)) @ v
        if bug:
            out = out.reshape(num_heads, b, n, -1).swapaxes(0, 1)
        else:
            out = out.reshape(b, num_heads, n, -1)
        return merged(out) @ w_o

    return layer


@CASES.add("lsdefine/attention-is-all-you-need-keras#36", NARROWED, L)
def mask_repeated_by_sequence(bug):
    """Repeat each sequence's mask, though the heads come before the batch."""

    def layer(x, w_q, w_k, w_v, w_o, num_heads, key_padding_mask=None):
        b, n, _ = x.shape

        def split(wide):
            wide = wide.reshape(b, n, num_heads, -1).transpose(2, 0, 1, 3)
            return wide.reshape(num_heads * b, n, -1)

        q, k, v = split(x @ w_q), split(x @ w_k), split(x @ w_v)
        scores = dots(q, k)
        if key_padding_mask is not None:
            mask = (np.repeat(key_padding_mask, num_heads, 0) if bug
                    else np.tile(key_padding_mask, (num_heads, 1)))  # fmt: skip
            scores = np.where(mask[:, None, :], -INF, scores)
        out = (soft(scores) @ v).reshape(num_heads, b, n, -1).transpose(1, 2, 0, 3)
        return out.reshape(b, n, -1) @ w_o

    return layer


@CASES.add("georg-wolflein/good-features#1", "mask multiplied")
def mask_multiplied(bug):
    """Multiply the scores by the mask before the softmax."""

    def attention(query, key, value, mask=None):
        scores = dots(query, key)
        if mask is not None:
            scores = scores * mask if bug else np.where(mask, scores, -INF)
        return soft(scores) @ value

    return attention


@CASES.add("fla-org/flash-linear-attention#766", "off by one after a cache", D)
def query_one_position_ahead(bug):
    """Count a new token as seen before its query is rotated."""

    def step(query, key, value, cache=None):
        past = 0 if cache is None else cache[0].shape[-2]
        new = np.arange(query.shape[-2])
        key = rotated(key, past + new)
        query = rotated(query, past + new + (bug and past > 0))
        if cache is not None:
            key = np.concatenate([cache[0], key], -2)
            value = np.concatenate([cache[1], value], -2)
        seen = np.arange(key.shape[-2]) <= past + new[:, None]
        return soft(np.where(seen, dots(query, key), -INF)) @ value, (key, value)

    return step


@CASES.add("facebookresearch/xformers#841", NARROWED, P)
def rotary_over_heads_last(bug):
    """Rotate by the number of the head, in the layout (n, heads, width)."""

    def attention(query, key, value, positions):
        def rotate(x):
            if bug:
                return rotated(x, np.arange(x.shape[-2]))
            return rotated(x.swapaxes(-2, -3), positions).swapaxes(-2, -3)

        q, k, v = (x.swapaxes(-2, -3) for x in (rotate(query), rotate(key), value))
        return (soft(dots(q, k)) @ v).swapaxes(-2, -3)

    return attention


@CASES.add("mlfoundations/open_lm#4", NARROWED, P)
def rotary_over_heads_first(bug):
    """Rotate by the number of the head, in the layout (heads, n, width)."""

    def attention(query, key, value, positions):
        def rotate(x):
            if bug:
                return rotated(x.swapaxes(-2, -3), np.arange(x.shape[-3])).swapaxes(-2, -3)
            return rotated(x, positions)

        return soft(dots(rotate(query), rotate(key))) @ value

    return attention


@CASES.add("labmlai/annotated_deep_learning_paper_implementations#251", "values turned", P)
def values_rotated(bug):
    """Rotate the values as well."""

    def attention(query, key, value, positions):
        query, key = rotated(query, positions), rotated(key, positions)
        if bug:
            value = rotated(value, positions)
        return soft(dots(query, key)) @ value

    return attention


def slopes(num_heads):
    def of_a_power(n):
        return [2.0 ** (-8 * (head + 1) / n) for head in range(n)]

    near = 2 ** int(np.log2(num_heads))
    return np.array(of_a_power(near) + of_a_power(2 * near)[::2][: num_heads - near])


@CASES.add("meta-pytorch/attention-gym#86", "bias grows with distance", P)
def linear_bias_of_other_sign(bug):
    """Add the distance of a key instead of subtracting it."""

    def bias(num_heads, num_queries, num_keys):
        queries = np.arange(num_queries)[:, None] + num_keys - num_queries
        distance = np.arange(num_keys) - queries
        return slopes(num_heads)[:, None, None] * (-distance if bug else distance)

    return bias


@CASES.add("lucidrains/x-transformers#103", "if the first query has the position of the first key",
           P)  # fmt: skip
def linear_bias_without_memory(bug):
    """Count the positions of the queries after a memory from 0."""

    def bias(num_heads, num_queries, num_keys):
        queries = np.arange(num_queries)[:, None] + (0 if bug else num_keys - num_queries)
        return -slopes(num_heads)[:, None, None] * np.abs(np.arange(num_keys) - queries)

    return bias


@CASES.add("google-research/tabfm#40", NARROWED)
def first_mask_row_of_a_chunk(bug):
    """Use the mask of a chunk's first query for all its queries."""

    def attention(query, key, value, mask=None, chunk=2):
        outputs = []
        for start in range(0, query.shape[-2], chunk):
            rows = slice(start, start + (1 if bug else chunk))
            scores = dots(query[..., start : start + chunk, :], key)
            if mask is not None:
                whole = np.broadcast_to(
                    mask, (*mask.shape[:-2], query.shape[-2], key.shape[-2])
                )[..., rows, :]  # fmt: skip
                scores = np.where(whole, scores, -INF) if mask.dtype == bool else scores + whole
            outputs.append(soft(scores) @ value)
        return np.concatenate(outputs, -2)

    return attention


def online(query, key, value, floor):
    """Compute attention over blocks of four keys, with a running maximum from `floor`."""
    top = np.full((*query.shape[:-1], 1), floor, query.dtype)
    total, out = np.zeros_like(top), np.zeros((*query.shape[:-1], value.shape[-1]), query.dtype)
    for start in range(0, key.shape[-2], 4):
        scores = dots(query, key[..., start : start + 4, :])
        new = np.maximum(top, scores.max(-1, keepdims=True))
        old, powers = np.exp(top - new), np.exp(scores - new)
        total = total * old + powers.sum(-1, keepdims=True)
        out = out * old + powers @ value[..., start : start + 4, :]
        top = new
    return out / np.where(total == 0, 1, total)


@CASES.add("flashinfer-ai/flashinfer#4401", "if no score is below about -50000")
def running_maximum_from_a_floor(bug):
    """Begin the running maximum at -50000, which lower scores do not reach."""
    return lambda query, key, value: online(query, key, value, -5e4 if bug else -INF)


@CASES.add("flashinfer-ai/flashinfer#4401", NARROWED)
def running_maximum_from_zero(bug):
    """Begin the running maximum at 0, so that very low scores underflow."""
    return lambda query, key, value: online(query, key, value, 0.0 if bug else -INF)


@CASES.add("awslabs/slapo#46", "fused by heads", L)
def fused_matrix_by_heads(bug):
    """Split a fused matrix head by head."""

    def layer(x, w_qkv, w_o, num_heads):
        *batch, n, _ = x.shape
        wide = x @ w_qkv
        if bug:
            wide = wide.reshape(*batch, n, num_heads, 3, -1)
            q, k, v = (wide[..., part, :].swapaxes(-3, -2) for part in range(3))
        else:
            q, k, v = (heads_of(part, num_heads) for part in np.split(wide, 3, -1))
        return merged(soft(dots(q, k)) @ v) @ w_o

    return layer


@CASES.add("pinellolab/DNA-Diffusion#235", "W_K used for the values", L)
def values_of_the_key_matrix(bug):
    """Compute values with the matrix of the keys."""

    def layer(x, context, w_q, w_k, w_v, w_o, num_heads):
        q, k = heads_of(x @ w_q, num_heads), heads_of(context @ w_k, num_heads)
        v = heads_of(context @ (w_k if bug else w_v), num_heads)
        return merged(soft(dots(q, k)) @ v) @ w_o

    return layer


@CASES.add("lucidrains/memory-compressed-attention#2", NARROWED)
def future_plus_infinity(bug):
    """Write infinity, not minus infinity, into the scores of later keys."""

    def attention(query, key, value, is_causal=False):
        scores = dots(query, key)
        if is_causal:
            future = ~np.tri(*scores.shape[-2:], dtype=bool)
            scores = np.where(future, INF if bug else -INF, scores)
        return soft(scores) @ value

    return attention


@CASES.add("our own", "masks tiled over the heads", L)
def lengths_tiled(bug):
    """Tile the lengths, though the heads come after the batch."""

    def layer(x, w_q, w_k, w_v, w_o, num_heads, valid_lens=None):
        b, n, _ = x.shape
        q, k, v = (heads_of(x @ w, num_heads).reshape(b * num_heads, n, -1)
                   for w in (w_q, w_k, w_v))  # fmt: skip
        scores = dots(q, k)
        if valid_lens is not None:
            lengths = np.tile(valid_lens, num_heads) if bug else np.repeat(valid_lens, num_heads)
            scores = np.where(np.arange(n) < lengths[:, None, None], scores, -1e6)
        return merged((soft(scores) @ v).reshape(b, num_heads, n, -1)) @ w_o

    return layer


@CASES.add("cneuralnetwork/solving-ml-papers#1", NARROWED)
def root_of_the_value_width(bug):
    """Divide by the root of the values' width."""

    def attention(query, key, value):
        width = (value if bug else key).shape[-1]
        return soft(query @ t(key) / width**0.5) @ value

    return attention


@CASES.add("JingyunLiang/SwinIR#61", NARROWED)
def minus_one_hundred(bug):
    """Mask by adding -100, which is too small beside large scores, as a report noticed."""

    def attention(query, key, value, mask=None):
        scores = dots(query, key)
        if mask is not None:
            scores = scores + np.where(mask, 0, -1e2 if bug else -INF).astype(scores.dtype)
        return soft(scores) @ value

    return attention


@CASES.add("guoqingbao/candle-vllm#52", NARROWED)
def query_groups_interleaved(bug):
    """Group queries 0 2 and 1 3, and do not put them back in order."""

    def attention(query, key, value, enable_gqa=False):
        if not enable_gqa:
            return soft(dots(query, key)) @ value
        *batch, heads, n, d = query.shape
        groups = key.shape[-3]
        if bug:
            q = query.reshape(*batch, heads // groups, groups, n, d).swapaxes(-4, -3)
        else:
            q = query.reshape(*batch, groups, heads // groups, n, d)
        out = soft(dots(q, key[..., None, :, :])) @ value[..., None, :, :]
        return out.reshape(*batch, heads, n, -1)

    return attention


@CASES.add("ParadoxZW/LLaVA-UHD-Better#3", NARROWED)
def one_key_too_few(bug):
    """Attend to one key less than a sequence's length, as if its first token did not count."""

    def attention(queries, keys, values, valid_lens=None):
        scores = dots(queries, keys)
        if valid_lens is not None:
            axes = (1,) * (scores.ndim - valid_lens.ndim)
            lengths = valid_lens.reshape(valid_lens.shape + axes)
            j = np.arange(scores.shape[-1])
            scores = np.where(j < lengths - bug, scores, -1e6)
        return soft(scores) @ values

    return attention


@CASES.add("our own", "late mask", L)
def late_mask_of_two_axes(bug):
    """Multiply the weights by a mask of (batch, n), after the softmax."""

    def layer(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        q, k, v = (heads_of(x @ w, num_heads) for w in (w_q, w_k, w_v))
        scores, real = dots(q, k), True
        if mask is not None:
            assert mask.shape == x.shape[:2], "the mask has the axes (batch, n)"
            real = mask[:, None, None, :]
        weights = soft(scores) * real if bug else soft(np.where(real, scores, -INF))
        return merged(weights @ v) @ w_o

    return layer
