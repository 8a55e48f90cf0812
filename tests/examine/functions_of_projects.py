"""Attention of public projects, rewritten in NumPy, and the bug that a report found in each.

They were rewritten after the reports by engineers who had not seen the table of bugs, in the forms
of the projects. Some take arrays in another form than `mha.examine` gives: a wrapper passes them on.
"""

# ruff: noqa: D401, D403, E501, N803, N806, RUF005, RUF059

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from independent_cases import EXAMINE, A, Case, D, L

from mha.examine import Report


def softmax(x, axis=-1):
    x = x - np.max(x, axis=axis, keepdims=True)
    e = np.exp(x)
    return e / np.sum(e, axis=axis, keepdims=True)


def onnx_8068(Q, K, V, nonpad_kv_seqlen=None, is_causal=1, scale=None):
    batch_size, num_heads, q_len, head_size = Q.shape
    kv_len = K.shape[2]
    if scale is None:
        scale = 1.0 / np.sqrt(head_size)
    attn_bias = np.zeros((batch_size, 1, q_len, kv_len), dtype=Q.dtype)
    if nonpad_kv_seqlen is not None:
        padded = np.arange(kv_len)[None, :] >= nonpad_kv_seqlen[:, None]
        attn_bias = np.where(padded[:, None, None, :], -np.inf, attn_bias)
    if is_causal:
        past = np.zeros(batch_size, dtype=np.int64)
        if nonpad_kv_seqlen is not None:
            past = nonpad_kv_seqlen.astype(np.int64) - q_len
        rows = np.arange(q_len)[None, :, None] + past[:, None, None]
        cols = np.arange(kv_len)[None, None, :]
        attn_bias = np.where((cols > rows)[:, None], -np.inf, attn_bias)
    scores = np.matmul(Q * scale, np.swapaxes(K, -1, -2)) + attn_bias
    return np.matmul(softmax(scores), V)


def onnx_7867(Q, K, V, attn_mask=None, softcap=0.0, scale=None):
    if scale is None:
        scale = 1.0 / np.sqrt(Q.shape[-1])
    qk_matmul_output = np.matmul(Q, np.swapaxes(K, -1, -2)) * scale
    if attn_mask is None:
        attn_bias = np.zeros(qk_matmul_output.shape[-2:], dtype=Q.dtype)
    elif attn_mask.dtype == np.bool_:
        attn_bias = np.where(attn_mask, 0.0, -np.inf)
    else:
        attn_bias = attn_mask
    if softcap > 0.0:
        qk_matmul_output = softcap * np.tanh(qk_matmul_output / softcap)
    qk_with_bias = qk_matmul_output + attn_bias
    return np.matmul(softmax(qk_with_bias), V)


def mlx_3071(queries, keys, values):
    """ALiBi attention of an encoder, queries (B, num_heads, L, D)."""
    B, num_heads, q_len, D = queries.shape
    k_len = keys.shape[2]

    def create_alibi_slope(num_heads):
        def pow2(n):
            start = 2.0 ** (-(2.0 ** -(math.log2(n) - 3)))
            return [start * start**i for i in range(n)]

        if math.log2(num_heads).is_integer():
            slopes = pow2(num_heads)
        else:
            low = 2 ** math.floor(math.log2(num_heads))
            slopes = pow2(low) + pow2(2 * low)[0::2][: num_heads - low]
        return np.array(slopes).reshape(-1, 1, 1)

    x1 = np.arange(q_len)
    x2 = np.arange(k_len)
    distance = -np.abs(x1[:, None] - x2[None, :])
    mask = create_alibi_slope(num_heads) * distance[None]
    scores = (queries * D**-0.5) @ keys.transpose(0, 1, 3, 2)
    return softmax(scores + mask[None]) @ values


def flaggems_424(q, k, v, sm_scale, BLOCK_N=4):
    """Blockwise forward pass with running maximum, q (Z, H, M, D)."""
    LOG2E = 1.44269504
    N_CTX = k.shape[2]
    acc = np.zeros(q.shape[:3] + (v.shape[-1],))
    m_i = np.full(q.shape[:3], -np.inf)
    l_i = np.zeros(q.shape[:3])
    qk_scale = sm_scale
    for start_n in range(0, N_CTX, BLOCK_N):
        key = k[:, :, start_n : start_n + BLOCK_N]
        value = v[:, :, start_n : start_n + BLOCK_N]
        qk = q @ key.transpose(0, 1, 3, 2)
        qk = qk * qk_scale * LOG2E
        m_ij = np.maximum(m_i, qk.max(-1))
        p = np.exp2(qk - m_ij[..., None])
        alpha = np.exp2(m_i - m_ij)
        l_i = l_i * alpha + p.sum(-1)
        acc = acc * alpha[..., None] + p @ value
        m_i = m_ij
    return acc / l_i[..., None]


def axlearn_842(q_proj, k_proj, v_proj, attention_logit_biases=None):
    """Grouped-query attention, q_proj (batch, target, num_heads, per_head)."""
    num_heads = q_proj.shape[2]
    num_kv_heads = k_proj.shape[2]
    reps = num_heads // num_kv_heads
    k_proj = np.repeat(k_proj, reps, axis=2)
    v_proj = np.repeat(v_proj, reps, axis=2)
    q_proj = q_proj * q_proj.shape[-1] ** -0.5
    logits = np.einsum("btnh,bsnh->bnts", q_proj, k_proj)
    if attention_logit_biases is not None:
        logits = logits + attention_logit_biases
    probs = softmax(logits)
    return np.einsum("bnts,bsnh->btnh", probs, v_proj)


def maxtext_3138(inputs, params):
    """Causal attention layer, inputs (batch, length, embed), kernels (embed, heads, head_dim)."""
    query = np.einsum("bte,ehd->bthd", inputs, params["query"])
    key = np.einsum("bte,ehd->bthd", inputs, params["key"])
    value = np.einsum("bte,ehd->bthd", inputs, params["value"])
    head_dim = query.shape[-1]
    query = query * head_dim**-0.5

    def flash_attention(q, k, v, scale):
        length = q.shape[1]
        logits = scale * np.einsum("bthd,bshd->bhts", q, k)
        causal = np.tril(np.ones((length, length), dtype=bool))
        logits = np.where(causal, logits, -0.7 * np.finfo(np.float32).max)
        return np.einsum("bhts,bshd->bthd", softmax(logits), v)

    out = flash_attention(query, key, value, scale=1.0)
    return np.einsum("bthd,hde->bte", out, params["out"])


def ollama_13893(q_nope, q_pe, kv_latent, k_pe, w_kb, w_vb):
    """Absorbed latent attention; q_nope (tokens, heads, d_nope), q_pe (tokens, heads, d_rope)."""
    n_tokens = q_nope.shape[0]
    n_past = kv_latent.shape[0]
    q_absorbed = np.einsum("thn,hnl->thl", q_nope, w_kb)
    query = np.concatenate([q_absorbed, q_pe], axis=-1)
    key = np.concatenate([kv_latent, k_pe], axis=-1)
    kq_scale = 1.0 / math.sqrt(q_nope.shape[-1] + q_pe.shape[-1])
    kq = np.einsum("thc,sc->hts", query, key) * kq_scale
    future = np.arange(n_past)[None, :] > np.arange(n_tokens)[:, None] + n_past - n_tokens
    kq = np.where(future[None], -np.inf, kq)
    kqv = np.einsum("hts,sl->thl", softmax(kq), kv_latent)
    return np.einsum("thl,hlv->thv", kqv, w_vb)


def mlc_llm_3426(q, k, v, casual_mask=None):
    """Attention of an encoder, q (batch, seq, heads, head_dim), k and v with kv heads."""

    def _attention_sequence_prefill(q, k, v, mask=None, sm_scale=1.0):
        group = q.shape[2] // k.shape[2]
        k = np.repeat(k, group, axis=2)
        v = np.repeat(v, group, axis=2)
        s = np.einsum("bqhd,bkhd->bhqk", q, k) * sm_scale
        if mask is not None:
            s = s + mask
        return np.einsum("bhqk,bkhd->bqhd", softmax(s), v)

    b, s, h_q, d = q.shape
    output = _attention_sequence_prefill(q, k, v, casual_mask, sm_scale=d**-0.5)
    return output.reshape(b, s, h_q * d)


def tt_metal_56789(hidden_states, state_dict, num_heads, causal_attention_mask=None):
    """CLIP text attention, hidden_states (batch, seq, embed), weights stored (out, in)."""
    batch_size, seq_length, embed_dim = hidden_states.shape
    head_size = embed_dim // num_heads
    scale = 1.0 / math.sqrt(head_size)

    def project(name):
        y = hidden_states @ state_dict[name + ".weight"].T + state_dict[name + ".bias"]
        return y.reshape(batch_size, seq_length, num_heads, head_size).transpose(0, 2, 1, 3)

    query, key, value = project("q_proj"), project("k_proj"), project("v_proj")
    attention_scores = query @ key.transpose(0, 1, 3, 2) * scale
    if causal_attention_mask is not None:
        attention_scores = attention_scores + causal_attention_mask
    context = softmax(attention_scores) @ value
    context = context.transpose(0, 2, 1, 3).reshape(batch_size, seq_length, embed_dim)
    return context @ state_dict["out_proj.weight"].T + state_dict["out_proj.bias"]


def attention_is_all_you_need_keras_36(q, k, v, w_qs, w_ks, w_vs, w_o, n_head, mask=None):
    """Multi-head attention with heads folded into the batch axis."""

    def fold(x, w):
        y = x @ w
        b, length, _ = y.shape
        y = y.reshape(b, length, n_head, -1).transpose(2, 0, 1, 3)
        return y.reshape(n_head * b, length, -1)

    batch, len_q = q.shape[:2]
    qs, ks, vs = fold(q, w_qs), fold(k, w_ks), fold(v, w_vs)
    attn = qs @ ks.transpose(0, 2, 1) / np.sqrt(qs.shape[-1])
    if mask is not None:
        mask = np.tile(mask, (n_head, 1, 1))
        attn = attn + (-1e10) * (1.0 - mask)
    head = softmax(attn) @ vs
    head = head.reshape(n_head, batch, len_q, -1).transpose(1, 2, 0, 3)
    return head.reshape(batch, len_q, -1) @ w_o


def attention_is_all_you_need_keras_16(q, k, v, mask=None):
    """q (batch, len_q, d_k), mask (batch, len) with 1 at real tokens."""
    temper = np.sqrt(k.shape[-1])
    attn = np.einsum("bqd,bkd->bqk", q, k) / temper
    if mask is not None:
        mmask = -1e10 * (1.0 - mask[:, None, :])
        attn = attn + mmask
    attn = softmax(attn)
    return np.einsum("bqk,bkd->bqd", attn, v)


def llms_from_scratch_cn_54(xs, w_query, w_key, w_value, w_out, num_heads):
    """Causal attention with one head per stacked weight, xs (b, num_tokens, d_in)."""
    b, num_tokens, _ = xs.shape
    head_dim = w_query.shape[1] // num_heads
    mask = np.triu(np.ones((num_tokens, num_tokens), dtype=bool), k=1)
    context = []
    for h in range(num_heads):
        cols = slice(h * head_dim, (h + 1) * head_dim)
        queries, keys, values = xs @ w_query[:, cols], xs @ w_key[:, cols], xs @ w_value[:, cols]
        attn_scores = queries @ keys.transpose(0, 2, 1)
        masked = np.where(mask, -np.inf, attn_scores / math.sqrt(head_dim))
        attn_weights = softmax(masked, axis=-1)
        context.append(attn_weights @ values)
    return np.concatenate(context, axis=-1) @ w_out


def infinitensor_209(input_k_cache, input_v_cache, input_q, input_k, input_v, position_id):
    """One decoding step; caches (batch, heads, max_seq, head_dim), new q, k, v (batch, heads, 1, head_dim)."""
    input_k_cache = input_k_cache.copy()
    input_v_cache = input_v_cache.copy()
    input_k_cache[:, :, position_id] = input_k[:, :, 0]
    input_v_cache[:, :, position_id] = input_v[:, :, 0]
    seq_length = position_id + 1
    keys = input_k_cache[:, :, :seq_length]
    values = input_v_cache[:, :, :seq_length]
    P = input_q @ keys.transpose(0, 1, 3, 2) / np.sqrt(input_q.shape[-1]).astype(input_q.dtype)
    P = np.exp(P - P.max(axis=-1, keepdims=True))
    P = P / P.sum(axis=-1, keepdims=True)
    return P @ values


def attentionisoffbyone_2(q, k, v):
    """Attention with softmax-one: exp(x_i) / (1 + sum_j exp(x_j))."""

    def softmax_one(x, axis=-1):
        x_max = x.max(axis=axis, keepdims=True)
        exp_x = np.exp(x - x_max)
        return exp_x / (np.exp(-x_max) + exp_x.sum(axis=axis, keepdims=True))

    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    return softmax_one(scores) @ v


def rten_1321(query, key, value, mask):
    """mask bool (batch, 1, len_q, len_k), True = attend."""
    scale = 1.0 / math.sqrt(query.shape[-1])
    scores = np.matmul(query, np.swapaxes(key, -1, -2)) * scale
    scores = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        probs = softmax(scores)
    probs = np.where(np.isnan(probs), 0.0, probs)
    return np.matmul(probs, value)


def vllm_omni_5865(query, key, value, attention_mask):
    """Unpadded attention of image queries to text keys; query (batch, len_q, heads, dim)."""
    batch_size, query_length = query.shape[:2]
    softmax_scale = query.shape[-1] ** -0.5
    output = np.zeros_like(query)
    for b in range(batch_size):
        indices_k = np.flatnonzero(attention_mask[b])
        indices_q = np.arange(query_length)
        q = query[b, indices_q]
        k, v = key[b, indices_k], value[b, indices_k]
        scores = np.einsum("qhd,khd->hqk", q, k) * softmax_scale
        output[b, indices_q] = np.einsum("hqk,khd->qhd", softmax(scores), v)
    return output


def emlx_121(q, k_new, v_new, k_cache, v_cache, base=10000.0):
    """Cached step, all tensors (batch, time, heads, dim); the cache holds rotated keys."""
    B, T, H, D = q.shape
    offset = k_cache.shape[1]
    inv_freq = base ** (-np.arange(0, D, 2) / D)
    position = offset + np.arange(T)[:, None] + np.zeros((1, H))
    theta = position[:, :, None] * inv_freq
    cos, sin = np.cos(theta), np.sin(theta)

    def rope(x):
        x1, x2 = x[..., : D // 2], x[..., D // 2 :]
        return np.concatenate([x1 * cos - x2 * sin, x1 * sin + x2 * cos], axis=-1)

    keys = np.concatenate([k_cache, rope(k_new)], axis=1)
    values = np.concatenate([v_cache, v_new], axis=1)
    scores = np.einsum("bthd,bshd->bhts", rope(q), keys) / np.sqrt(D)
    visible = np.arange(offset + T)[None, :] <= np.arange(T)[:, None] + offset
    scores = np.where(visible, scores, -np.inf)
    return np.einsum("bhts,bshd->bthd", softmax(scores), values), keys, values


def tiny_llm_46(prompt, next_tokens, wq, wk, wv, wo, n_heads, base=10000.0):
    """Prefill with the prompt (batch, P, embed), then one cached step per column of next_tokens (batch, N, embed)."""
    b, _, embed = prompt.shape
    d = embed // n_heads
    inv_freq = base ** (-np.arange(0, d, 2) / d)
    cache = {"k": np.zeros((b, n_heads, 0, d)), "v": np.zeros((b, n_heads, 0, d))}

    def step(y, offset):
        length = y.shape[1]

        def heads(w):
            return (y @ w).reshape(b, length, n_heads, d).transpose(0, 2, 1, 3)

        def rope(x):
            a = (offset + np.arange(length))[:, None] * inv_freq
            x1, x2 = x[..., : d // 2], x[..., d // 2 :]
            return np.concatenate(
                [x1 * np.cos(a) - x2 * np.sin(a), x1 * np.sin(a) + x2 * np.cos(a)], -1
            )

        q = rope(heads(wq))
        cache["k"] = np.concatenate([cache["k"], rope(heads(wk))], axis=2)
        cache["v"] = np.concatenate([cache["v"], heads(wv)], axis=2)
        s = q @ cache["k"].transpose(0, 1, 3, 2) / math.sqrt(d)
        total = s.shape[-1]
        s = np.where(
            np.arange(total)[None, :] > np.arange(total - length, total)[:, None], -np.inf, s
        )
        return (softmax(s) @ cache["v"]).transpose(0, 2, 1, 3).reshape(b, length, embed) @ wo

    tokens = prompt
    outputs = [step(tokens, 0)]
    offset = prompt.shape[1]
    for i in range(next_tokens.shape[1]):
        tokens = next_tokens[:, i : i + 1]
        outputs.append(step(tokens, offset))
        offset += tokens.shape[1]
    return np.concatenate(outputs, axis=1)


def omlx_2363(queries, keys, values, cache_k, cache_v, starts, base=10000.0):
    """Verify window of L tokens; queries (B, H, L, D), cache (B, H, P, D) with rotated keys, starts (B,)."""
    B, H, L, D = queries.shape
    inv_freq = base ** (-np.arange(0, D, 2) / D)
    position_ids = starts[:, None] + np.arange(L)[None, :]
    angles = position_ids[:, None, :, None] * inv_freq
    cos = np.concatenate([np.cos(angles)] * 2, axis=-1)
    sin = np.concatenate([np.sin(angles)] * 2, axis=-1)

    def rotate_half(x):
        return np.concatenate([-x[..., D // 2 :], x[..., : D // 2]], axis=-1)

    queries = queries * cos + rotate_half(queries) * sin
    keys = keys * cos + rotate_half(keys) * sin
    keys = np.concatenate([cache_k, keys], axis=2)
    values = np.concatenate([cache_v, values], axis=2)
    scores = (queries * D**-0.5) @ keys.transpose(0, 1, 3, 2)
    past = cache_k.shape[2]
    mask = np.arange(past + L)[None, :] <= past + np.arange(L)[:, None]
    return softmax(np.where(mask, scores, -1e30)) @ values


def mlx_lm_390(queries, keys, values, window_size, offset=0):
    """Sliding-window causal attention, queries (B, H, N, D), keys (B, H_kv, offset + N, D)."""
    B, H, N, D = queries.shape
    rinds = np.arange(offset + N)[None, :]
    linds = np.arange(offset, offset + N)[:, None]
    mask = linds >= rinds
    mask = mask & (linds < rinds + window_size)
    n_repeats = H // keys.shape[1]
    q = queries.reshape(B, keys.shape[1], n_repeats, N, D) * D**-0.5
    scores = q @ keys[:, :, None].swapaxes(-1, -2)
    scores = np.where(mask, scores, -np.inf)
    out = softmax(scores) @ values[:, :, None]
    return out.reshape(B, H, N, -1)


def tensorflow_35859(query_input, value_input, token_embedding, cnn_kernel, cnn_bias):
    """Token ids (batch, Tq) and (batch, Tv); shared embedding and shared 'same' convolution of width 4."""

    def cnn_layer(x):
        width = cnn_kernel.shape[0]
        before = (width - 1) // 2
        padded = np.pad(x, ((0, 0), (before, width - 1 - before), (0, 0)))
        taps = [padded[:, i : i + x.shape[1]] @ cnn_kernel[i] for i in range(width)]
        return sum(taps) + cnn_bias

    query_embeddings = token_embedding[query_input]
    value_embeddings = token_embedding[value_input]
    query_seq_encoding = cnn_layer(query_embeddings)
    value_seq_encoding = cnn_layer(value_embeddings)
    scores = query_seq_encoding @ value_seq_encoding.transpose(0, 2, 1)
    return softmax(scores) @ value_seq_encoding


def nntile_347(x, q_proj, k_proj, v_proj, o_proj, n_head, n_head_kv):
    """Causal grouped-query attention from Hugging Face weights (out, in), x (batch, seq, embed)."""
    batch, seq, n_emb = x.shape
    head_size = q_proj.shape[0] // n_head
    kv_group_size = n_head // n_head_kv
    q = (x @ q_proj.T).reshape(batch, seq, n_head_kv, kv_group_size, head_size)
    k = (x @ k_proj.T).reshape(batch, seq, n_head_kv, head_size)
    v = (x @ v_proj.T).reshape(batch, seq, n_head_kv, head_size)
    scores = np.einsum("bihgd,bjhd->bhgij", q, k) / math.sqrt(head_size)
    scores = np.where(np.tril(np.ones((seq, seq), dtype=bool)), scores, -np.inf)
    context = np.einsum("bhgij,bjhd->bihgd", softmax(scores), v)
    o_weight = o_proj.reshape(n_emb, n_head_kv, kv_group_size, head_size)
    return np.einsum("bihgd,ehgd->bie", context, o_weight)


def annotated_deep_learning_paper_implementations_146(x, p, n_heads=4):
    batch_size, n_channels, height, width = x.shape
    x = x.reshape(batch_size, n_channels, -1).transpose(0, 2, 1)
    qkv = x @ p["projection_w"] + p["projection_b"]
    qkv = qkv.reshape(batch_size, -1, n_heads, qkv.shape[-1] // n_heads)
    q, k, v = np.split(qkv, 3, axis=-1)
    scale = q.shape[-1] ** -0.5
    attn = np.einsum("bihd,bjhd->bijh", q, k) * scale
    attn = np.exp(attn - attn.max(axis=2, keepdims=True))
    attn = attn / attn.sum(axis=2, keepdims=True)
    res = np.einsum("bijh,bjhd->bihd", attn, v)
    res = res.reshape(batch_size, height * width, -1)
    res = res @ p["output_w"] + p["output_b"]
    res = res + x
    return res.transpose(0, 2, 1).reshape(batch_size, n_channels, height, width)


def detr_247(q, k, v, mask=None, num_heads=8):
    b, nq, hidden = q.shape
    h, w = k.shape[-2:]
    c = hidden // num_heads
    normalize_fact = float(c) ** -0.5
    qh = q.reshape(b, nq, num_heads, c)
    kh = k.reshape(b, num_heads, c, h, w)
    vh = v.reshape(b, num_heads, c, h, w)
    weights = np.einsum("bqnc,bnchw->bqnhw", qh * normalize_fact, kh)
    if mask is not None:
        weights = np.where(mask[:, None, None], -np.inf, weights)
    flat = weights.reshape(b, nq, num_heads, -1)
    flat = np.exp(flat - flat.max(axis=-1, keepdims=True))
    flat = flat / flat.sum(axis=-1, keepdims=True)
    weights = flat.reshape(weights.shape)
    out = np.einsum("bqnhw,bnchw->bqnc", weights, vh)
    return out.reshape(b, nq, hidden)


def fuxictr_30(x, p, num_heads=2):
    batch_size, num_fields, _ = x.shape
    query = x @ p["W_q"]
    key = x @ p["W_k"]
    value = x @ p["W_v"]
    attention_dim = query.shape[-1] // num_heads
    query = query.reshape(batch_size, num_fields, num_heads, attention_dim).transpose(0, 2, 1, 3)
    key = key.reshape(batch_size, num_fields, num_heads, attention_dim).transpose(0, 2, 1, 3)
    value = value.reshape(batch_size, num_fields, num_heads, attention_dim).transpose(0, 2, 1, 3)
    scores = np.matmul(query, key.transpose(0, 1, 3, 2)) / attention_dim**0.5
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    attention = scores / scores.sum(-1, keepdims=True)
    output = np.matmul(attention, value)
    output = output.transpose(0, 2, 1, 3).reshape(batch_size, -1, num_heads * attention_dim)
    return np.maximum(output + x @ p["W_res"], 0)


def attention_is_all_you_need_keras_36_again(q, k, v, mask=None, n_head=4):
    def to_heads(t):
        s = t.shape
        t = t.reshape(s[0], s[1], n_head, s[2] // n_head)
        t = t.transpose(2, 0, 1, 3)
        return t.reshape(-1, s[1], s[2] // n_head)

    qs, ks, vs = to_heads(q), to_heads(k), to_heads(v)
    attn = np.matmul(qs, ks.transpose(0, 2, 1)) / np.sqrt(qs.shape[-1])
    if mask is not None:
        mask = np.tile(mask, (n_head, 1))
        attn = attn + (-1e10) * (1 - mask[:, None, :])
    attn = np.exp(attn - attn.max(-1, keepdims=True))
    attn = attn / attn.sum(-1, keepdims=True)
    head = np.matmul(attn, vs)
    s = head.shape
    head = head.reshape(n_head, -1, s[1], s[2]).transpose(1, 2, 0, 3)
    return head.reshape(-1, s[1], n_head * s[2])


def onnx_7297(Q, K, V, past_key=None, past_value=None, is_causal=True):
    if past_key is not None:
        K = np.concatenate((past_key, K), axis=2)
        V = np.concatenate((past_value, V), axis=2)
    q_len, kv_len = Q.shape[2], K.shape[2]
    qk = np.matmul(Q, K.transpose(0, 1, 3, 2)) / np.sqrt(Q.shape[-1])
    if is_causal:
        past_len = 0 if past_key is None else past_key.shape[2]
        keep = np.tril(np.ones((q_len, kv_len), dtype=bool), k=past_len)
        qk = np.where(keep, qk, -np.inf)
    e = np.exp(qk - qk.max(axis=-1, keepdims=True))
    Y = np.matmul(e / e.sum(axis=-1, keepdims=True), V)
    return Y, K, V


def flax_5591(query, key, value, cache, is_causal=True):
    cur = cache["cache_index"]
    max_length = cache["cached_key"].shape[1]
    cache["cached_key"][:, cur : cur + 1] = key
    cache["cached_value"][:, cur : cur + 1] = value
    cache["cache_index"] = cur + 1
    key, value = cache["cached_key"], cache["cached_value"]
    mask = (np.arange(max_length) <= cur)[None, None, None, :]
    depth = query.shape[-1]
    weights = np.einsum("bqhd,bkhd->bhqk", query / np.sqrt(depth), key)
    weights = np.where(mask, weights, np.finfo(weights.dtype).min)
    weights = np.exp(weights - weights.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.einsum("bhqk,bkhd->bqhd", weights, value)


def keras_23038(
    query, key, value, attention_mask=None, use_causal_mask=False, return_attention_scores=False
):
    def softmax(s):
        s = np.exp(s - s.max(axis=-1, keepdims=True))
        return s / s.sum(axis=-1, keepdims=True)

    inverse_sqrt = 1.0 / np.sqrt(query.shape[-1])
    t, s = query.shape[1], key.shape[1]
    causal_only = use_causal_mask and attention_mask is None
    if use_causal_mask and not causal_only:
        attention_mask = np.logical_and(attention_mask, np.tril(np.ones((t, s), bool))[None])
    if not return_attention_scores:
        scores = np.einsum("btnh,bsnh->bnts", query * inverse_sqrt, key)
        if causal_only:
            scores = np.where(np.tril(np.ones((t, s), bool)), scores, -1e9)
        elif attention_mask is not None:
            scores = np.where(attention_mask[:, None], scores, -1e9)
        return np.einsum("bnts,bsnh->btnh", softmax(scores), value)
    if causal_only:
        attention_mask = np.tril(np.ones((t, s), bool))[None]
    scores = np.einsum("btnh,bsnh->bnts", query * inverse_sqrt, key)
    if attention_mask is not None:
        scores = np.where(attention_mask[:, None], scores, -1e9)
    scores = softmax(scores)
    return np.einsum("bnts,bsnh->btnh", scores, value), scores


def pytorch_image_models_2236(q, k, v, attn_mask=None):
    scale = q.shape[-1] ** -0.5
    q = q * scale
    attn = q @ k.swapaxes(-2, -1)
    if attn_mask is not None:
        attn_mask = attn_mask[:, None, None, :]
        attn = np.where(attn_mask, attn, -np.inf)
    attn = np.exp(attn - attn.max(axis=-1, keepdims=True))
    attn = attn / attn.sum(axis=-1, keepdims=True)
    return attn @ v


def perceiver_io_9(inputs_kv, inputs_q, p, num_heads=4, attention_mask=None):
    def transform_for_scores(x):
        b, n, c = x.shape
        return x.reshape(b, n, num_heads, c // num_heads).transpose(0, 2, 1, 3)

    keys = transform_for_scores(inputs_kv @ p["key_w"] + p["key_b"])
    queries = transform_for_scores(inputs_q @ p["query_w"] + p["query_b"])
    values = transform_for_scores(inputs_kv @ p["value_w"] + p["value_b"])
    qk_head_dim = queries.shape[-1]
    scale = qk_head_dim**-0.5
    attention = queries @ keys.swapaxes(-2, -1) * scale
    if attention_mask is not None:
        attention = np.where(
            attention_mask[:, None, None, :] == 0, np.finfo(attention.dtype).min, attention
        )
    attention = np.exp(attention - attention.max(axis=-1, keepdims=True))
    attention = attention / attention.sum(axis=-1, keepdims=True)
    weighted = (attention @ values).transpose(0, 2, 1, 3)
    weighted = weighted.reshape(weighted.shape[0], weighted.shape[1], -1)
    return weighted @ p["project_w"] + p["project_b"]


def self_attention_gan_11(x, p):
    m_batchsize, C, width, height = x.shape
    flat = x.reshape(m_batchsize, C, width * height)
    proj_query = (p["query_w"] @ flat + p["query_b"][:, None]).transpose(0, 2, 1)
    proj_key = p["key_w"] @ flat + p["key_b"][:, None]
    energy = np.matmul(proj_query, proj_key)
    attention = np.exp(energy - energy.max(axis=-1, keepdims=True))
    attention = attention / attention.sum(axis=-1, keepdims=True)
    proj_value = p["value_w"] @ flat + p["value_b"][:, None]
    out = np.matmul(proj_value, attention.transpose(0, 2, 1))
    out = out.reshape(m_batchsize, C, width, height)
    return p["gamma"] * out + x


def self_attention_gan_tensorflow_3(x, p):
    def hw_flatten(t):
        return t.reshape(t.shape[0], -1, t.shape[-1])

    f = x @ p["f_conv"]
    g = x @ p["g_conv"]
    h = x @ p["h_conv"]
    s = np.matmul(hw_flatten(g), hw_flatten(f).swapaxes(-2, -1))
    beta = np.exp(s - s.max(axis=-1, keepdims=True))
    beta = beta / beta.sum(axis=-1, keepdims=True)
    o = np.matmul(beta, hw_flatten(h))
    o = o.reshape(x.shape)
    return p["gamma"] * o + x


def assignment1_basics_22(q, k, v, theta=10000.0, token_positions=None):
    d_k = q.shape[-1]
    seq_len = q.shape[-2]
    if token_positions is None:
        token_positions = np.arange(seq_len)
    idx = np.arange(1, d_k // 2 + 1)
    inv_freq = 1.0 / theta ** (2 * (idx - 1) / d_k)
    angles = token_positions[:, None] * inv_freq[None, :]
    cos, sin = np.cos(angles), np.sin(angles)

    def rope(x):
        x1, x2 = x[..., 0::2], x[..., 1::2]
        out = np.empty_like(x)
        out[..., 0::2] = x1 * cos - x2 * sin
        out[..., 1::2] = x1 * sin + x2 * cos
        return out

    scores = rope(q) @ rope(k).swapaxes(-2, -1) / np.sqrt(d_k)
    scores = np.where(np.tril(np.ones((seq_len, seq_len), dtype=bool)), scores, -np.inf)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (scores / scores.sum(axis=-1, keepdims=True)) @ v


def mlx_lm_1699(x, p, cache, n_heads=2, base=10000.0):
    B, L, _ = x.shape

    def rope(t, offset):
        half = t.shape[-1] // 2
        inv_freq = base ** (-np.arange(half) / half)
        pos = offset[:, None] + np.arange(t.shape[2])[None, :]
        ang = pos[:, None, :, None] * inv_freq
        t1, t2 = t[..., :half], t[..., half:]
        return np.concatenate(
            [t1 * np.cos(ang) - t2 * np.sin(ang), t1 * np.sin(ang) + t2 * np.cos(ang)], axis=-1
        )

    def heads(t):
        return t.reshape(B, L, n_heads, -1).transpose(0, 2, 1, 3)

    queries, keys, values = heads(x @ p["q"]), heads(x @ p["k"]), heads(x @ p["v"])
    offset = cache["offset"].copy()
    keys = rope(keys, offset)
    if cache["keys"] is not None:
        keys = np.concatenate([cache["keys"], keys], axis=2)
        values = np.concatenate([cache["values"], values], axis=2)
    cache["keys"], cache["values"] = keys, values
    cache["offset"] += L
    queries = rope(queries, offset)
    S = keys.shape[2]
    scores = queries @ keys.swapaxes(-1, -2) * queries.shape[-1] ** -0.5
    scores = np.where(np.arange(S)[None, :] <= np.arange(S - L, S)[:, None], scores, -np.inf)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    out = (scores / scores.sum(axis=-1, keepdims=True)) @ values
    return out.transpose(0, 2, 1, 3).reshape(B, L, -1) @ p["o"]


def onnxim_34(q, k, v, num_heads=8, num_kv_heads=4, causal=False):
    heads_per_kv = num_heads // num_kv_heads
    out = np.zeros_like(q)
    for head_idx in range(0, num_heads, heads_per_kv):
        kv_head_idx = head_idx // heads_per_kv
        for h in range(head_idx, head_idx + heads_per_kv):
            scores = q[:, h] @ k[:, kv_head_idx].swapaxes(-1, -2) / np.sqrt(q.shape[-1])
            if causal:
                scores = np.where(np.tril(np.ones(scores.shape[-2:], dtype=bool)), scores, -np.inf)
            scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
            out[:, h] = (scores / scores.sum(axis=-1, keepdims=True)) @ v[:, kv_head_idx]
    return out


# ---- The arrays of a case, in the form that a project takes ----


def four_axes(x):
    return x.reshape((1,) * (4 - x.ndim) + x.shape)


def merged(x):
    """Return the heads beside each other, with the axes (batch, n, num_heads * d_k)."""
    return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1)


def heads_like(wide, query):
    """Return concatenated outputs in the axes of the queries."""
    batch, n, _ = wide.shape
    return wide.reshape(batch, n, -1, query.shape[-1]).swapaxes(1, 2).reshape(query.shape)


def buffers(key, value):
    """Return empty arrays for 16 keys and values, and the number of cached tokens."""
    arrays = (np.zeros((*x.shape[:2], 16, x.shape[-1]), x.dtype) for x in (key, value))
    return (*arrays, 0)


def rotated(x, first):
    """Return vectors of (batch, n, num_heads, d_k) rotated by halves, from a first position on."""
    half = x.shape[-1] // 2
    angles = (first + np.arange(x.shape[1]))[:, None, None] * 10000.0 ** (-np.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate(
        [a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)], -1
    )


def each_head(attention):
    """Return attention of arrays with any axes, from attention of arrays (n, d_k)."""

    def of_all(query, key, value):
        if query.ndim > 2:
            return np.stack([of_all(*each) for each in zip(query, key, value, strict=True)])
        return attention(query, key, value)

    return of_all


def static_cache(function):
    def step(query, key, value, cache):
        q, k, v = map(four_axes, (query, key, value))
        keys, values, count = cache or buffers(k, v)
        keys, values, stop = keys.copy(), values.copy(), count + q.shape[2]
        keys[:, :, count:stop], values[:, :, count:stop] = k, v
        output = function(q, keys, values, np.array([stop]))
        return output.reshape(query.shape), (keys, values, stop)

    return step


def cache_of_one_token(function):
    def step(query, key, value, cache):
        q, k, v = map(four_axes, (query, key, value))
        keys, values, count = cache or buffers(k, v)
        keys, values, rows = keys.copy(), values.copy(), []
        for i in range(q.shape[2]):
            one = slice(i, i + 1)
            rows.append(function(keys, values, q[:, :, one], k[:, :, one], v[:, :, one], count))
            keys[:, :, count], values[:, :, count] = k[:, :, i], v[:, :, i]
            count += 1
        return np.concatenate(rows, 2).reshape(query.shape), (keys, values, count)

    return step


def cache_with_index(function):
    def step(query, key, value, cache):
        q, k, v = (four_axes(x).swapaxes(1, 2) for x in (query, key, value))
        keys, values, count = cache or (
            x.swapaxes(1, 2) if np.ndim(x) else x
            for x in buffers(k.swapaxes(1, 2), v.swapaxes(1, 2))
        )
        state = {"cached_key": keys.copy(), "cached_value": values.copy(), "cache_index": count}
        ones = (slice(i, i + 1) for i in range(q.shape[1]))
        rows = [function(q[:, one], k[:, one], v[:, one], state) for one in ones]
        output = np.concatenate(rows, 1).swapaxes(1, 2).reshape(query.shape)
        return output, (state["cached_key"], state["cached_value"], state["cache_index"])

    return step


def grown_cache(function):
    def step(query, key, value, cache):
        q, k, v = map(four_axes, (query, key, value))
        output, keys, values = function(q, k, v, *(cache or (None, None)))
        return output.reshape(query.shape), (keys, values)

    return step


def rotated_cache_tokens_first(function):
    def step(query, key, value, cache):
        q, k, v = (four_axes(x).swapaxes(1, 2) for x in (query, key, value))
        keys, values = cache or (k[:, :0], v[:, :0])
        output = function(q, k, v, keys, values)[0].swapaxes(1, 2).reshape(query.shape)
        keys = np.concatenate([keys, rotated(k, keys.shape[1])], 1)
        return output, (keys, np.concatenate([values, v], 1))

    return step


def rotated_cache_heads_first(function):
    def step(query, key, value, cache):
        q, k, v = map(four_axes, (query, key, value))
        keys, values = cache or (k[:, :, :0], v[:, :, :0])
        count = keys.shape[2]
        output = function(q, k, v, keys, values, np.full(len(q), count)).reshape(query.shape)
        new = rotated(k.swapaxes(1, 2), count).swapaxes(1, 2)
        return output, (np.concatenate([keys, new], 2), np.concatenate([values, v], 2))

    return step


def cache_with_offset(function):
    def step(query, key, value, cache):
        q, k, v = map(four_axes, (query, key, value))
        x, width = np.concatenate([merged(q), merged(k), merged(v)], -1), merged(q).shape[-1]
        matrices = dict(zip("qkv", np.split(np.eye(3 * width), 3, -1), strict=True))
        state = {
            name: each if each is None else each.copy()
            for name, each in (
                cache or {"keys": None, "values": None, "offset": np.zeros(len(q), int)}
            ).items()
        }
        output = function(x, {**matrices, "o": np.eye(width)}, state, q.shape[1])
        return heads_like(output, query), state

    return step


def kernels_by_head(function):
    def layer(x, w_q, w_k, w_v, w_o, num_heads):
        query, key, value = (w.reshape(len(w), num_heads, -1) for w in (w_q, w_k, w_v))
        out = w_o.reshape(num_heads, -1, w_o.shape[-1])
        return function(x, {"query": query, "key": key, "value": value, "out": out})

    return layer


def state_dict(function):
    def layer(x, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, num_heads, mask=None):
        names = "q_proj", "k_proj", "v_proj", "out_proj"
        arrays = {f"{n}.weight": w.T for n, w in zip(names, (w_q, w_k, w_v, w_o), strict=True)}
        arrays |= {f"{n}.bias": b for n, b in zip(names, (b_q, b_k, b_v, b_o), strict=True)}
        return function(x, arrays, num_heads, mask)

    return layer


def three_inputs(function):
    def layer(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
        return function(x, x, x, w_q, w_k, w_v, w_o, num_heads, mask)

    return layer


def prompt_and_next_tokens(function):
    def layer(x, w_q, w_k, w_v, w_o, num_heads):
        batch = x if x.ndim > 2 else x[None]
        count = (batch.shape[1] + 1) // 2
        parts = batch[:, :count], batch[:, count:]
        return function(*parts, w_q, w_k, w_v, w_o, num_heads).reshape(x.shape)

    return layer


def stored_transposed(function):
    def layer(x, w_q, w_k, w_v, w_o, num_heads, num_groups):
        return function(x, w_q.T, w_k.T, w_v.T, w_o.T, num_heads, num_groups)

    return layer


def latent_keys(function):
    """Return attention whose last component of queries and keys is rotary, the rest latent."""

    @each_head
    def attention(query, key, value):
        width, latent = query.shape[-1] - 1, np.concatenate([key[:, :-1], value], -1)
        one = np.eye(latent.shape[-1])[None]
        q, q_rotary, k_rotary = query[:, None, :-1], query[:, None, -1:], key[:, -1:]
        return function(q, q_rotary, latent, k_rotary, one[:, :width], one[..., width:])[:, 0]

    return attention


def embedded_tokens(function):
    """Return attention of an embedding whose rows are the queries, and keys beside values."""

    @each_head
    def attention(query, key, value):
        n, m, d_k, d_v = *map(len, (query, key)), query.shape[-1], value.shape[-1]
        asking = np.concatenate([query * d_k**-0.5, np.zeros((n, d_v))], -1)
        table = np.concatenate([asking, np.concatenate([key, value], -1)])
        kernel = np.eye(d_k + d_v)[None]
        return function(np.arange(n)[None], n + np.arange(m)[None], table, kernel, 0)[0, :, d_k:]

    return attention


def pixels(function):
    def layer(x, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, num_heads):
        batch, n, width = x.shape
        by_heads = [
            np.concatenate([a.reshape(*a.shape[:-1], num_heads, -1) for a in three], -1)
            for three in ((w_q, w_k, w_v), (b_q, b_k, b_v))
        ]
        arrays = {"projection_w": by_heads[0].reshape(width, -1), "output_w": w_o,
                  "projection_b": by_heads[1].ravel(), "output_b": b_o}  # fmt: skip
        output = function(x.swapaxes(1, 2).reshape(batch, width, n, 1), arrays, num_heads)
        return output.reshape(batch, width, n).swapaxes(1, 2) - x  # without the residual

    return layer


def feature_maps(function):
    def attention(query, key, value, key_padding_mask=None):
        q, k, v = map(four_axes, (query, key, value))
        maps = (x.swapaxes(2, 3).reshape(len(x), -1, 1, x.shape[2]) for x in (k, v))
        mask = None if key_padding_mask is None else key_padding_mask[:, None]
        return heads_like(function(merged(q), *maps, mask, q.shape[1]), query)

    return attention


def concatenated_heads(function):
    def attention(query, key, value, key_padding_mask=None):
        arrays = map(four_axes, (query, key, value))
        mask = None if key_padding_mask is None else 1.0 * key_padding_mask
        heads = four_axes(query).shape[1]
        return heads_like(function(*map(merged, arrays), mask, heads), query)

    return attention


def without_negative_outputs(function):
    def layer(x, w_q, w_k, w_v, num_heads):
        ones, last = np.ones((*x.shape[:-1], 1)), np.zeros((1, w_q.shape[1]))
        matrices = {f"W_{n}": np.vstack([w, last]) for n, w in zip("qkv", (w_q, w_k, w_v),
                                                                   strict=True)}  # fmt: skip
        residual = np.vstack([0 * w_q, last + 100])
        arrays = {**matrices, "W_res": residual}
        return function(np.concatenate([x, ones], -1), arrays, num_heads) - 100

    return layer


def queries_after_keys(function):
    def layer(x, context, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, num_heads, key_padding_mask=None):
        arrays = {"query_w": w_q, "key_w": w_k, "value_w": w_v, "project_w": w_o,
                  "query_b": b_q, "key_b": b_k, "value_b": b_v, "project_b": b_o}  # fmt: skip
        mask = None if key_padding_mask is None else 1 * key_padding_mask
        return function(context, x, arrays, num_heads, mask)

    return layer


def image_channels(function):
    """Return attention of pixels whose channels are queries, keys and values."""

    @each_head
    def attention(query, key, value):
        d_k, d_v = query.shape[-1], value.shape[-1]
        x = np.concatenate([query * d_k**-0.5, key, value], -1).T[None, :, :, None]
        one, zeros = np.eye(x.shape[1]), np.zeros(x.shape[1])
        arrays = {"query_w": one[:d_k], "key_w": one[d_k : 2 * d_k], "gamma": 1.0,
                  "value_w": np.vstack([one[2 * d_k :], 0 * one[: 2 * d_k]]),
                  "query_b": zeros[:d_k], "key_b": zeros[:d_k], "value_b": zeros}  # fmt: skip
        return (function(x, arrays) - x)[0, :d_v, :, 0].T

    return attention


def image_rows(function):
    """Return attention of pixels in a column, whose channels are queries, keys and values."""

    @each_head
    def attention(query, key, value):
        d_k, d_v = query.shape[-1], value.shape[-1]
        x = np.concatenate([query * d_k**-0.5, key, value], -1)[None, :, None]
        one = np.eye(x.shape[-1])
        arrays = {"g_conv": one[:, :d_k], "f_conv": one[:, d_k : 2 * d_k], "gamma": 1.0,
                  "h_conv": np.hstack([one[:, 2 * d_k :], 0 * one[:, : 2 * d_k]])}  # fmt: skip
        return (function(x, arrays) - x)[0, :, 0, :d_v]

    return attention


# ---- The reports ----


@dataclass(frozen=True)
class Reported:
    """A public report: its bug's name in the table, and the changes that bring the bug back.

    The name is empty if the table lacks the bug, so that the report of `mha.examine` narrows it.
    """

    origin: str
    bug: str
    twin: Callable[..., Any]
    texts: tuple[str, ...]
    kind: str = A
    wrapper: Callable[..., Any] = lambda function: function
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.origin

    def examine(self, function: Callable[..., Any]) -> Report:
        return EXAMINE[self.kind](self.wrapper(function), **self.options)

    def examine_twin(self) -> Report:
        return self.examine(self.twin)

    def examine_faulty(self) -> Report:
        return self.examine(Case(self.twin, self.kind).wrong(self.origin, *self.texts).function)


REPORTS = [
    Reported(
        "onnx/onnx#8068",
        "cache aligned top left",
        onnx_8068,
        (
            (
                "past = np.zeros(batch_size, dtype=np.int64)\n"
                "        if nonpad_kv_seqlen is not None:\n"
                "            past = nonpad_kv_seqlen.astype(np.int64) - q_len"
            ),
            "past = np.zeros(batch_size, dtype=np.int64)",
        ),
        D,
        static_cache,
    ),
    Reported(
        "onnx/onnx#7867",
        "softcap after the mask",
        onnx_7867,
        (
            "attn_bias = attn_mask",
            ("attn_bias = attn_mask\n    qk_with_bias = qk_matmul_output + attn_bias"),
            (
                "qk_matmul_output = softcap * np.tanh(qk_matmul_output / softcap)\n"
                "    qk_with_bias = qk_matmul_output + attn_bias"
            ),
            "qk_with_bias = softcap * np.tanh(qk_with_bias / softcap)",
        ),
    ),
    Reported(
        "ml-explore/mlx#3071",
        "slopes for any number of heads",
        mlx_3071,
        (
            (
                "def pow2(n):\n"
                "            start = 2.0 ** (-(2.0 ** -(math.log2(n) - 3)))\n"
                "            return [start * start**i for i in range(n)]\n"
                "\n"
                "        if math.log2(num_heads).is_integer():\n"
                "            slopes = pow2(num_heads)\n"
                "        else:\n"
                "            low = 2 ** math.floor(math.log2(num_heads))\n"
                "            slopes = pow2(low) + pow2(2 * low)[0::2][: num_heads - low]"
            ),
            (
                "x = (2**8) ** (1 / num_heads)\n"
                "        slopes = [x**-i for i in range(1, num_heads + 1)]"
            ),
        ),
    ),
    Reported(
        "flagos-ai/FlagGems#424",
        "",
        flaggems_424,
        (
            "qk = qk * qk_scale * LOG2E",
            ("qk_scale *= LOG2E\n        qk = qk * qk_scale"),
        ),
    ),
    Reported(
        "apple/axlearn#842",
        "groups tiled",
        axlearn_842,
        (
            (
                "k_proj = np.repeat(k_proj, reps, axis=2)\n"
                "    v_proj = np.repeat(v_proj, reps, axis=2)"
            ),
            (
                "k_proj = np.tile(k_proj, (1, 1, reps, 1))\n"
                "    v_proj = np.tile(v_proj, (1, 1, reps, 1))"
            ),
        ),
    ),
    Reported(
        "AI-Hypercomputer/maxtext#3138",
        "scaled twice",
        maxtext_3138,
        (
            "out = flash_attention(query, key, value, scale=1.0)",
            "out = flash_attention(query, key, value, scale=head_dim**-0.5)",
        ),
        L,
        kernels_by_head,
    ),
    Reported(
        "ollama/ollama#13893",
        "",
        ollama_13893,
        (
            "kq_scale = 1.0 / math.sqrt(q_nope.shape[-1] + q_pe.shape[-1])",
            "kq_scale = 1.0 / math.sqrt(query.shape[-1])",
        ),
        wrapper=latent_keys,
    ),
    Reported(
        "mlc-ai/mlc-llm#3426",
        "no scale",
        mlc_llm_3426,
        (
            "output = _attention_sequence_prefill(q, k, v, casual_mask, sm_scale=d**-0.5)",
            "output = _attention_sequence_prefill(q, k, v, casual_mask)",
        ),
    ),
    Reported(
        "tenstorrent/tt-metal#56789",
        "root of the number of heads",
        tt_metal_56789,
        (
            "scale = 1.0 / math.sqrt(head_size)",
            "scale = 1.0 / math.sqrt(num_heads)",
        ),
        L,
        state_dict,
    ),
    Reported(
        "lsdefine/attention-is-all-you-need-keras#36",
        "",
        attention_is_all_you_need_keras_36,
        (
            "mask = np.tile(mask, (n_head, 1, 1))",
            "mask = np.repeat(mask, n_head, axis=0)",
        ),
        L,
        three_inputs,
    ),
    Reported(
        "lsdefine/attention-is-all-you-need-keras#16",
        "padding masks queries",
        attention_is_all_you_need_keras_16,
        (
            "mmask = -1e10 * (1.0 - mask[:, None, :])",
            "mmask = -1e10 * (1.0 - mask[:, :, None])",
        ),
    ),
    Reported(
        "datawhalechina/llms-from-scratch-cn#54",
        "wrong axis or softmax axis counted from the front",
        llms_from_scratch_cn_54,
        (
            "attn_weights = softmax(masked, axis=-1)",
            "attn_weights = softmax(masked, axis=1)",
        ),
        L,
    ),
    Reported(
        "InfiniTensor/InfiniTensor#209",
        "no shift",
        infinitensor_209,
        (
            "P = np.exp(P - P.max(axis=-1, keepdims=True))",
            "P = np.exp(P)",
        ),
        D,
        cache_of_one_token,
    ),
    Reported(
        "kyegomez/AttentionIsOFFByOne#2",
        "",
        attentionisoffbyone_2,
        (
            "return exp_x / (np.exp(-x_max) + exp_x.sum(axis=axis, keepdims=True))",
            "return exp_x / (1 + exp_x.sum(axis=axis, keepdims=True))",
        ),
    ),
    Reported(
        "robertknight/rten#1321",
        "fully masked row returns NaN",
        rten_1321,
        (
            ("probs = softmax(scores)\n    probs = np.where(np.isnan(probs), 0.0, probs)"),
            "probs = softmax(scores)",
        ),
        options={"strict": True},
    ),
    Reported(
        "vllm-project/vllm-omni#5865",
        "",
        vllm_omni_5865,
        (
            "indices_q = np.arange(query_length)",
            "indices_q = np.flatnonzero(attention_mask[b, -query_length:])",
        ),
    ),
    Reported(
        "elixir-nx/emlx#121",
        "",
        emlx_121,
        (
            "position = offset + np.arange(T)[:, None] + np.zeros((1, H))",
            "position = offset + np.arange(T)[:, None] + np.arange(H)[None, :]",
        ),
        D,
        rotated_cache_tokens_first,
    ),
    Reported(
        "skyzh/tiny-llm#46",
        "",
        tiny_llm_46,
        (
            (
                "tokens = next_tokens[:, i : i + 1]\n"
                "        outputs.append(step(tokens, offset))\n"
                "        offset += tokens.shape[1]"
            ),
            (
                "offset += tokens.shape[1]\n"
                "        tokens = next_tokens[:, i : i + 1]\n"
                "        outputs.append(step(tokens, offset))"
            ),
        ),
        L,
        prompt_and_next_tokens,
    ),
    Reported(
        "jundot/omlx#2363",
        "",
        omlx_2363,
        (
            "position_ids = starts[:, None] + np.arange(L)[None, :]",
            "position_ids = np.broadcast_to(starts[:, None], (B, L))",
        ),
        D,
        rotated_cache_heads_first,
    ),
    Reported(
        "ml-explore/mlx-lm#390",
        "",
        mlx_lm_390,
        (
            "mask = mask & (linds < rinds + window_size)",
            "mask = mask & (linds <= rinds + window_size)",
        ),
    ),
    Reported(
        "tensorflow/tensorflow#35859",
        "",
        tensorflow_35859,
        (
            "value_embeddings = token_embedding[value_input]",
            "value_embeddings = token_embedding[query_input]",
        ),
        wrapper=embedded_tokens,
    ),
    Reported(
        "nntile/nntile#347",
        "",
        nntile_347,
        (
            "o_weight = o_proj.reshape(n_emb, n_head_kv, kv_group_size, head_size)",
            "o_weight = o_proj.reshape(n_emb, kv_group_size, n_head_kv, head_size).transpose(0, 2, 1, 3)",
        ),
        L,
        stored_transposed,
    ),
    Reported(
        "labmlai/annotated_deep_learning_paper_implementations#146",
        "wrong axis or softmax axis counted from the front",
        annotated_deep_learning_paper_implementations_146,
        (
            (
                "attn = np.exp(attn - attn.max(axis=2, keepdims=True))\n"
                "    attn = attn / attn.sum(axis=2, keepdims=True)"
            ),
            (
                "attn = np.exp(attn - attn.max(axis=1, keepdims=True))\n"
                "    attn = attn / attn.sum(axis=1, keepdims=True)"
            ),
        ),
        L,
        pixels,
    ),
    Reported(
        "facebookresearch/detr#247",
        "",
        detr_247,
        (
            "flat = weights.reshape(b, nq, num_heads, -1)",
            "flat = weights.reshape(b, nq, -1)",
        ),
        wrapper=feature_maps,
    ),
    Reported(
        "reczoo/FuxiCTR#30",
        "split and merged by reshape",
        fuxictr_30,
        (
            (
                "query = query.reshape(batch_size, num_fields, num_heads, attention_dim).transpose(0, 2, 1, 3)\n"
                "    key = key.reshape(batch_size, num_fields, num_heads, attention_dim).transpose(0, 2, 1, 3)\n"
                "    value = value.reshape(batch_size, num_fields, num_heads, attention_dim).transpose(0, 2, 1, 3)\n"
                "    scores = np.matmul(query, key.transpose(0, 1, 3, 2)) / attention_dim**0.5"
            ),
            (
                "query = query.reshape(batch_size * num_heads, -1, attention_dim)\n"
                "    key = key.reshape(batch_size * num_heads, -1, attention_dim)\n"
                "    value = value.reshape(batch_size * num_heads, -1, attention_dim)\n"
                "    scores = np.matmul(query, key.transpose(0, 2, 1)) / attention_dim**0.5"
            ),
            "output = output.transpose(0, 2, 1, 3).reshape(batch_size, -1, num_heads * attention_dim)",
            "output = output.reshape(batch_size, -1, num_heads * attention_dim)",
        ),
        L,
        without_negative_outputs,
    ),
    Reported(
        "lsdefine/attention-is-all-you-need-keras#36",
        "",
        attention_is_all_you_need_keras_36_again,
        (
            "mask = np.tile(mask, (n_head, 1))",
            "mask = np.repeat(mask, n_head, axis=0)",
        ),
        wrapper=concatenated_heads,
    ),
    Reported(
        "onnx/onnx#7297",
        "cache aligned top left",
        onnx_7297,
        (
            (
                "past_len = 0 if past_key is None else past_key.shape[2]\n"
                "        keep = np.tril(np.ones((q_len, kv_len), dtype=bool), k=past_len)"
            ),
            "keep = np.tril(np.ones((q_len, kv_len), dtype=bool), k=0)",
        ),
        D,
        grown_cache,
    ),
    Reported(
        "google/flax#5591",
        "",
        flax_5591,
        (
            'weights = np.einsum("bqhd,bkhd->bhqk", query / np.sqrt(depth), key)',
            (
                'weights = np.einsum("bqhd,bkhd->bhqk", query / np.sqrt(depth), key)\n'
                "    if is_causal:\n"
                "        tril = np.tril(np.ones((query.shape[1], key.shape[1]), dtype=bool))\n"
                "        mask = np.logical_and(mask, tril)"
            ),
        ),
        D,
        cache_with_index,
    ),
    Reported(
        "keras-team/keras#23038",
        "is_causal unused",
        keras_23038,
        (
            (
                'return np.einsum("bnts,bsnh->btnh", softmax(scores), value)\n'
                "    if causal_only:\n"
                "        attention_mask = np.tril(np.ones((t, s), bool))[None]"
            ),
            'return np.einsum("bnts,bsnh->btnh", softmax(scores), value)',
        ),
    ),
    Reported(
        "huggingface/pytorch-image-models#2236",
        "",
        pytorch_image_models_2236,
        (
            (
                "if attn_mask is not None:\n"
                "        attn_mask = attn_mask[:, None, None, :]\n"
                "        attn = np.where(attn_mask, attn, -np.inf)\n"
                "    attn = np.exp(attn - attn.max(axis=-1, keepdims=True))\n"
                "    attn = attn / attn.sum(axis=-1, keepdims=True)"
            ),
            (
                "attn = np.exp(attn - attn.max(axis=-1, keepdims=True))\n"
                "    attn = attn / attn.sum(axis=-1, keepdims=True)\n"
                "    if attn_mask is not None:\n"
                "        attn_mask = attn_mask[:, None, None, :]\n"
                "        attn = np.where(attn_mask, attn, -np.inf)"
            ),
        ),
    ),
    Reported(
        "esceptico/perceiver-io#9",
        "multiplied by the root",
        perceiver_io_9,
        (
            "attention = queries @ keys.swapaxes(-2, -1) * scale",
            "attention = queries @ keys.swapaxes(-2, -1) / scale",
        ),
        L,
        queries_after_keys,
    ),
    Reported(
        "heykeetae/Self-Attention-GAN#11",
        "columns mixed",
        self_attention_gan_11,
        (
            "out = np.matmul(proj_value, attention.transpose(0, 2, 1))",
            "out = np.matmul(proj_value, attention.transpose(0, 1, 2))",
        ),
        wrapper=image_channels,
    ),
    Reported(
        "taki0112/Self-Attention-GAN-Tensorflow#3",
        "",
        self_attention_gan_tensorflow_3,
        (
            "s = np.matmul(hw_flatten(g), hw_flatten(f).swapaxes(-2, -1))",
            "s = np.matmul(g, f.swapaxes(-2, -1))",
            "o = np.matmul(beta, hw_flatten(h))",
            "o = np.matmul(beta, h)",
        ),
        wrapper=image_rows,
    ),
    Reported(
        "stanford-cs336/assignment1-basics#22",
        "",
        assignment1_basics_22,
        (
            "inv_freq = 1.0 / theta ** (2 * (idx - 1) / d_k)",
            "inv_freq = 1.0 / theta ** ((2 * idx - 1) / d_k)",
        ),
    ),
    Reported(
        "ml-explore/mlx-lm#1699",
        "",
        mlx_lm_1699,
        (
            'offset = cache["offset"].copy()',
            'offset = cache["offset"]',
        ),
        D,
        cache_with_offset,
    ),
    Reported(
        "PSAL-POSTECH/ONNXim#34",
        "",
        onnxim_34,
        (
            "kv_head_idx = head_idx // heads_per_kv",
            "kv_head_idx = head_idx // num_kv_heads",
        ),
    ),
]
