"""Layers that are wrong, by someone who had not seen the table."""

import math

import numpy as np
from unseen import L, Unseen
from wrong_by_hand import masked as hide
from wrong_by_hand import soft as softmax
from wrong_unseen_order import causal, turn_halves, turn_pairs  # noqa: F401  # a wrong one turns so


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


def plain_layer(x, w_q, w_k, w_v, w_o, num_heads, is_causal=False):
    q, k, v = (split_heads(x @ w, num_heads) for w in (w_q, w_k, w_v))
    return merge_heads(attend(q, k, v, is_causal)) @ w_o


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


BATCHED, PLAIN, BIASED, FUSED, GROUPED, CROSS, OF_THREE, ROTARY = (
    Unseen(function, L)
    for function in (batched_layer, plain_layer, layer_with_biases, fused_layer, grouped_layer,
                     cross_layer, layer_of_three, rotary_layer)
)  # fmt: skip
TURNED = "q, k = turn_pairs(q, angles), turn_pairs(k, angles)"
MADE, FROM, REPEAT = "q, k, v =", "(w_q, w_k, w_v)", "repeat(num_heads // num_groups, axis=-3)"

RIGHT = [BATCHED, PLAIN, BIASED, FUSED, GROUPED, CROSS, OF_THREE, ROTARY]
WRONG = [
    BATCHED.wrong("weights averaged over heads",
                  "softmax(scores)",
                  "np.broadcast_to(softmax(scores).mean(axis=1, keepdims=True), scores.shape)"),
    GROUPED.wrong("groups tiled", f"split_heads(x @ w_k, num_groups).{REPEAT}",
                  "np.tile(split_heads(x @ w_k, num_groups), (num_heads // num_groups, 1, 1))",
                  f"split_heads(x @ w_v, num_groups).{REPEAT}",
                  "np.tile(split_heads(x @ w_v, num_groups), (num_heads // num_groups, 1, 1))"),
    PLAIN.wrong("W_K used for the values", FROM, "(w_q, w_k, w_k)"),
    PLAIN.wrong("W_V transposed used for W_O", "@ w_o", "@ w_v.T"),
    PLAIN.wrong("values before their projection",
                FROM, "(w_q, w_k, np.eye(x.shape[-1], dtype=x.dtype))"),
    PLAIN.wrong("residual added inside", "return ", "return x + "),
    OF_THREE.wrong("key and value exchanged",
                   "key @ w_k", "value @ w_k", "value @ w_v", "key @ w_v"),
    OF_THREE.wrong("values made from the keys' source", "value @ w_v", "key @ w_v"),
    ROTARY.wrong("rotary on the values too",
                 TURNED, "q, k, v = (turn_pairs(t, angles) for t in (q, k, v))"),
]  # fmt: skip
PAIRS = [
    PLAIN.wrong("W_Q and W_K exchanged; root of d_model", MADE, "k, q, v =", "attend(q,",
                "attend(q * math.sqrt(1 / num_heads),"),
    PLAIN.wrong("matrices transposed; residual added",
                "x @ w,", "x @ w.T,", "return ", "return x + ", "@ w_o", "@ w_o.T"),
    FUSED.wrong("fused cut as k, q, v; b_o left out",
                "q, k, v = np", "k, q, v = np", "w_o, b_o)\n", "w_o)\n"),
    ROTARY.wrong("rotary in halves; keys not turned", TURNED, "q = turn_halves(q, angles)"),
]  # fmt: skip
