"""Layers that are wrong, by someone who had not seen the table."""

import math

import numpy as np
from unseen import L, Unseen
from wrong_unseen_attention import hide, softmax
from wrong_unseen_order import causal, turn_halves, turn_pairs


def linear(x, weight, bias=None):
    y = x @ weight
    return y if bias is None else y + bias


def split_heads(x, num_heads):
    return x.reshape(*x.shape[:-1], num_heads, -1).swapaxes(-2, -3)


def merge_heads(x):
    x = x.swapaxes(-2, -3)
    return x.reshape(*x.shape[:-2], -1)


def attend(q, k, v, is_causal=False, mask=None):
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if is_causal:
        scores = hide(scores, causal(*scores.shape[-2:]))
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores) @ v


# ---- Right ----


def batched_layer(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    flat = x.ndim == 2
    x = x[None] if flat else x
    b, n, _ = x.shape
    q = (x @ w_q).reshape(b, n, num_heads, -1).transpose(0, 2, 1, 3)
    k = (x @ w_k).reshape(b, n, num_heads, -1).transpose(0, 2, 1, 3)
    v = (x @ w_v).reshape(b, n, num_heads, -1).transpose(0, 2, 1, 3)
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = hide(scores, mask)
    out = np.einsum("bhqk,bhkd->bqhd", softmax(scores), v).reshape(b, n, -1) @ w_o
    return out[0] if flat else out


def layer_with_biases(
    x, w_q, w_k, w_v, w_o, num_heads, b_q=None, b_k=None, b_v=None, b_o=None, is_causal=False
):
    q = split_heads(linear(x, w_q, b_q), num_heads)
    k = split_heads(linear(x, w_k, b_k), num_heads)
    v = split_heads(linear(x, w_v, b_v), num_heads)
    return linear(merge_heads(attend(q, k, v, is_causal)), w_o, b_o)


def fused_layer(x, w_qkv, w_o, num_heads, b_qkv=None, b_o=None, is_causal=False):
    q, k, v = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (split_heads(t, num_heads) for t in (q, k, v))
    return linear(merge_heads(attend(q, k, v, is_causal)), w_o, b_o)


def grouped_layer(x, w_q, w_k, w_v, w_o, num_heads, num_groups, is_causal=False):
    q = split_heads(x @ w_q, num_heads)
    k = split_heads(x @ w_k, num_groups).repeat(num_heads // num_groups, axis=-3)
    v = split_heads(x @ w_v, num_groups).repeat(num_heads // num_groups, axis=-3)
    return merge_heads(attend(q, k, v, is_causal)) @ w_o


def cross_layer(x, w_q, w_k, w_v, w_o, num_heads, context=None, mask=None):
    source = x if context is None else context
    q = split_heads(x @ w_q, num_heads)
    k, v = split_heads(source @ w_k, num_heads), split_heads(source @ w_v, num_heads)
    return merge_heads(attend(q, k, v, mask=mask)) @ w_o


def layer_of_three(x, w_q, w_k, w_v, w_o, num_heads, key=None, value=None):
    key = x if key is None else key
    value = key if value is None else value
    q, k = split_heads(x @ w_q, num_heads), split_heads(key @ w_k, num_heads)
    v = split_heads(value @ w_v, num_heads)
    return merge_heads(attend(q, k, v)) @ w_o


def rotary_layer(x, w_q, w_k, w_v, w_o, num_heads, angles=None, is_causal=False):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    if angles is not None:
        q, k = turn_pairs(q, angles), turn_pairs(k, angles)
    return merge_heads(attend(q, k, v, is_causal)) @ w_o


# ---- Heads ----


def split_by_reshape(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    flat = x.ndim == 2
    x = x[None] if flat else x
    b, n, _ = x.shape
    q = (x @ w_q).reshape(b, num_heads, n, -1)
    k = (x @ w_k).reshape(b, num_heads, n, -1)
    v = (x @ w_v).reshape(b, num_heads, n, -1)
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = hide(scores, mask)
    out = np.einsum("bhqk,bhkd->bqhd", softmax(scores), v).reshape(b, n, -1) @ w_o
    return out[0] if flat else out


def merged_by_reshape(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    flat = x.ndim == 2
    x = x[None] if flat else x
    b, n, _ = x.shape
    q = (x @ w_q).reshape(b, n, num_heads, -1).transpose(0, 2, 1, 3)
    k = (x @ w_k).reshape(b, n, num_heads, -1).transpose(0, 2, 1, 3)
    v = (x @ w_v).reshape(b, n, num_heads, -1).transpose(0, 2, 1, 3)
    scores = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = hide(scores, mask)
    out = (softmax(scores) @ v).reshape(b, n, -1) @ w_o
    return out[0] if flat else out


def merged_head_last(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    flat = x.ndim == 2
    x = x[None] if flat else x
    b, n, _ = x.shape
    q = (x @ w_q).reshape(b, n, num_heads, -1).transpose(0, 2, 1, 3)
    k = (x @ w_k).reshape(b, n, num_heads, -1).transpose(0, 2, 1, 3)
    v = (x @ w_v).reshape(b, n, num_heads, -1).transpose(0, 2, 1, 3)
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = hide(scores, mask)
    out = np.einsum("bhqk,bhkd->bqdh", softmax(scores), v).reshape(b, n, -1) @ w_o
    return out[0] if flat else out


def strided_heads(x, w_q, w_k, w_v, w_o, num_heads, is_causal=False):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    d_k = q.shape[-1] // num_heads
    heads = []
    for h in range(num_heads):
        scores = q[..., h::num_heads] @ k[..., h::num_heads].swapaxes(-1, -2)
        scores = scores / math.sqrt(d_k)
        if is_causal:
            scores = hide(scores, causal(*scores.shape[-2:]))
        heads.append(softmax(scores) @ v[..., h::num_heads])
    return np.concatenate(heads, axis=-1) @ w_o


def layer_weights_averaged(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = hide(scores, mask)
    weights = softmax(scores).mean(axis=-3)
    out = np.einsum("...qk,...hkd->...hqd", weights, v)
    return merge_heads(out) @ w_o


def layer_groups_tiled(x, w_q, w_k, w_v, w_o, num_heads, num_groups, is_causal=False):
    q = split_heads(x @ w_q, num_heads)
    k = np.tile(split_heads(x @ w_k, num_groups), (num_heads // num_groups, 1, 1))
    v = np.tile(split_heads(x @ w_v, num_groups), (num_heads // num_groups, 1, 1))
    return merge_heads(attend(q, k, v, is_causal)) @ w_o


# ---- Projections ----


def query_and_key_weights_exchanged(x, w_q, w_k, w_v, w_o, num_heads, is_causal=False):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_k, w_q, w_v))
    return merge_heads(attend(q, k, v, is_causal)) @ w_o


def matrices_transposed(
    x, w_q, w_k, w_v, w_o, num_heads, b_q=None, b_k=None, b_v=None, b_o=None, is_causal=False
):
    q = split_heads(linear(x, w_q.T, b_q), num_heads)
    k = split_heads(linear(x, w_k.T, b_k), num_heads)
    v = split_heads(linear(x, w_v.T, b_v), num_heads)
    return linear(merge_heads(attend(q, k, v, is_causal)), w_o.T, b_o)


def key_weights_for_values(x, w_q, w_k, w_v, w_o, num_heads, is_causal=False):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_k))
    return merge_heads(attend(q, k, v, is_causal)) @ w_o


def output_tied_to_value_weights(x, w_q, w_k, w_v, w_o, num_heads, is_causal=False):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    return merge_heads(attend(q, k, v, is_causal)) @ w_v.T


def fused_value_key_query(x, w_qkv, w_o, num_heads, b_qkv=None, b_o=None, is_causal=False):
    v, k, q = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (split_heads(t, num_heads) for t in (q, k, v))
    return linear(merge_heads(attend(q, k, v, is_causal)), w_o, b_o)


def fused_per_head(x, w_qkv, w_o, num_heads, b_qkv=None, b_o=None, is_causal=False):
    qkv = linear(x, w_qkv, b_qkv)
    q, k, v = np.split(split_heads(qkv, num_heads), 3, axis=-1)
    return linear(merge_heads(attend(q, k, v, is_causal)), w_o, b_o)


def query_bias_left_out(
    x, w_q, w_k, w_v, w_o, num_heads, b_q=None, b_k=None, b_v=None, b_o=None, is_causal=False
):
    q = split_heads(x @ w_q, num_heads)
    k = split_heads(linear(x, w_k, b_k), num_heads)
    v = split_heads(linear(x, w_v, b_v), num_heads)
    return linear(merge_heads(attend(q, k, v, is_causal)), w_o, b_o)


def output_bias_left_out(
    x, w_q, w_k, w_v, w_o, num_heads, b_q=None, b_k=None, b_v=None, b_o=None, is_causal=False
):
    q = split_heads(linear(x, w_q, b_q), num_heads)
    k = split_heads(linear(x, w_k, b_k), num_heads)
    v = split_heads(linear(x, w_v, b_v), num_heads)
    return merge_heads(attend(q, k, v, is_causal)) @ w_o


def values_before_projection(x, w_q, w_k, w_v, w_o, num_heads, is_causal=False):
    q, k, v = split_heads(x @ w_q, num_heads), split_heads(x @ w_k, num_heads), x
    v = split_heads(v, num_heads)
    return merge_heads(attend(q, k, v, is_causal)) @ w_o


def output_without_projection(x, w_q, w_k, w_v, w_o, num_heads, is_causal=False):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    return merge_heads(attend(q, k, v, is_causal))


def residual_inside(x, w_q, w_k, w_v, w_o, num_heads, is_causal=False):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    return x + merge_heads(attend(q, k, v, is_causal)) @ w_o


# ---- What attends to what, and positions ----


def context_for_queries(x, w_q, w_k, w_v, w_o, num_heads, context=None, mask=None):
    source = x if context is None else context
    q = split_heads(source @ w_q, num_heads)
    k, v = split_heads(x @ w_k, num_heads), split_heads(x @ w_v, num_heads)
    return merge_heads(attend(q, k, v, mask=mask)) @ w_o


def keys_and_values_exchanged(x, w_q, w_k, w_v, w_o, num_heads, key=None, value=None):
    key = x if key is None else key
    value = key if value is None else value
    q, k = split_heads(x @ w_q, num_heads), split_heads(value @ w_k, num_heads)
    v = split_heads(key @ w_v, num_heads)
    return merge_heads(attend(q, k, v)) @ w_o


def context_projections_exchanged(x, w_q, w_k, w_v, w_o, num_heads, context=None, mask=None):
    source = x if context is None else context
    q = split_heads(x @ w_q, num_heads)
    v, k = split_heads(source @ w_k, num_heads), split_heads(source @ w_v, num_heads)
    return merge_heads(attend(q, k, v, mask=mask)) @ w_o


def value_argument_unused(x, w_q, w_k, w_v, w_o, num_heads, key=None, value=None):
    key = x if key is None else key
    q = split_heads(x @ w_q, num_heads)
    k, v = split_heads(key @ w_k, num_heads), split_heads(key @ w_v, num_heads)
    return merge_heads(attend(q, k, v)) @ w_o


def rotary_on_values_too(x, w_q, w_k, w_v, w_o, num_heads, angles=None, is_causal=False):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    if angles is not None:
        q, k, v = (turn_pairs(t, angles) for t in (q, k, v))
    return merge_heads(attend(q, k, v, is_causal)) @ w_o


# ---- Two at once ----


def exchanged_and_model_root(x, w_q, w_k, w_v, w_o, num_heads, is_causal=False):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_k, w_q, w_v))
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(x.shape[-1])
    if is_causal:
        scores = hide(scores, causal(*scores.shape[-2:]))
    return merge_heads(softmax(scores) @ v) @ w_o


def transposed_and_residual(x, w_q, w_k, w_v, w_o, num_heads, is_causal=False):
    q, k, v = (split_heads(x @ w.T, num_heads) for w in (w_q, w_k, w_v))
    return x + merge_heads(attend(q, k, v, is_causal)) @ w_o.T


def fused_order_and_bias(x, w_qkv, w_o, num_heads, b_qkv=None, b_o=None, is_causal=False):
    k, q, v = np.split(linear(x, w_qkv, b_qkv), 3, axis=-1)
    q, k, v = (split_heads(t, num_heads) for t in (q, k, v))
    return merge_heads(attend(q, k, v, is_causal)) @ w_o


def halves_and_keys_unturned(x, w_q, w_k, w_v, w_o, num_heads, angles=None, is_causal=False):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    if angles is not None:
        q = turn_halves(q, angles)
    return merge_heads(attend(q, k, v, is_causal)) @ w_o


RIGHT = [
    Unseen(batched_layer, L),
    Unseen(layer_with_biases, L),
    Unseen(fused_layer, L),
    Unseen(grouped_layer, L),
    Unseen(cross_layer, L),
    Unseen(layer_of_three, L),
    Unseen(rotary_layer, L),
]
WRONG = [
    Unseen(split_by_reshape, L, "heads split by reshape alone"),
    Unseen(merged_by_reshape, L, "heads merged by reshape alone"),
    Unseen(merged_head_last, L, "heads merged in another order"),
    Unseen(strided_heads, L, "heads are every num_heads-th column"),
    Unseen(layer_weights_averaged, L, "weights averaged over heads"),
    Unseen(layer_groups_tiled, L, "groups tiled"),
    Unseen(query_and_key_weights_exchanged, L, "W_Q and W_K exchanged"),
    Unseen(matrices_transposed, L, "matrices transposed"),
    Unseen(key_weights_for_values, L, "W_K used for the values"),
    Unseen(output_tied_to_value_weights, L, "W_V transposed used for W_O"),
    Unseen(fused_value_key_query, L, "fused projection cut as v, k, q"),
    Unseen(fused_per_head, L, "fused projection cut head by head"),
    Unseen(query_bias_left_out, L, "b_q left out"),
    Unseen(output_bias_left_out, L, "b_o left out"),
    Unseen(values_before_projection, L, "values before their projection"),
    Unseen(output_without_projection, L, "output without W_O"),
    Unseen(residual_inside, L, "residual added inside"),
    Unseen(context_for_queries, L, "query and context exchanged"),
    Unseen(keys_and_values_exchanged, L, "key and value exchanged"),
    Unseen(context_projections_exchanged, L, "keys and values exchanged in cross-attention"),
    Unseen(value_argument_unused, L, "values made from the keys' source"),
    Unseen(rotary_on_values_too, L, "rotary on the values too"),
]
PAIRS = [
    Unseen(exchanged_and_model_root, L, "W_Q and W_K exchanged; root of d_model"),
    Unseen(transposed_and_residual, L, "matrices transposed; residual added"),
    Unseen(fused_order_and_bias, L, "fused cut as k, q, v; b_o left out"),
    Unseen(halves_and_keys_unturned, L, "rotary in halves; keys not turned"),
]
