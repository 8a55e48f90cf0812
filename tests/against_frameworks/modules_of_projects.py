"""Attention modules as public projects have them, and the bug that a report found in each.

They were rewritten in PyTorch after the reports by engineers who had not seen the table of bugs,
with the layouts and the names of the projects. A step with a cache is called by a wrapper, in the form that `mha.examine` gives.
"""

# ruff: noqa: C408, C417, E501, N801, N806, N812, RUF059

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F
from independent_cases import EXAMINE, A, Case, D, L

from mha.examine import Report


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rope(x, positions, base=10000.0):
    dim = x.shape[-1]
    inv_freq = 1.0 / (base ** (torch.arange(0, dim, 2, dtype=torch.float32) / dim))
    angles = positions[..., None].to(torch.float32) * inv_freq
    angles = torch.cat((angles, angles), dim=-1)
    return x * angles.cos().to(x.dtype) + rotate_half(x) * angles.sin().to(x.dtype)


class llms_from_scratch_1061(nn.Module):
    def __init__(self, d_in, d_out, num_heads, context_length, dropout=0.0, qkv_bias=False):
        super().__init__()
        assert d_out % num_heads == 0
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.d_out = d_out
        self.qkv = nn.Linear(d_in, 3 * d_out, bias=qkv_bias)
        self.proj = nn.Linear(d_out, d_out)
        self.dropout = dropout
        self.register_buffer(
            "mask", torch.triu(torch.ones(context_length, context_length), diagonal=1)
        )

    def forward(self, x):
        batch_size, num_tokens, _ = x.shape
        qkv = self.qkv(x).view(batch_size, num_tokens, 3, self.num_heads, self.head_dim)
        queries, keys, values = qkv.permute(2, 0, 3, 1, 4)
        attn_mask = self.mask[:num_tokens, :num_tokens].bool()
        use_dropout = 0.0 if not self.training else self.dropout
        context_vec = F.scaled_dot_product_attention(
            queries, keys, values, attn_mask=~attn_mask, dropout_p=use_dropout, is_causal=False
        )
        context_vec = (
            context_vec.transpose(1, 2).contiguous().view(batch_size, num_tokens, self.d_out)
        )
        return self.proj(context_vec)


class nanogpt_240(nn.Module):
    def __init__(self, n_embd, n_head, block_size, dropout=0.0, bias=True):
        super().__init__()
        assert n_embd % n_head == 0
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=bias)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=bias)
        self.attn_dropout = nn.Dropout(dropout)
        self.resid_dropout = nn.Dropout(dropout)
        self.n_head, self.n_embd, self.dropout = n_head, n_embd, dropout

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(
            q, k, v, attn_mask=None, dropout_p=self.dropout if self.training else 0, is_causal=True
        )
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class tinyllm_18(nn.Module):
    def __init__(self, d_model, n_heads, max_seq_len):
        super().__init__()
        self.n_heads, self.head_dim = n_heads, d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, d_model, bias=False)
        self.v_proj = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        blocked = torch.triu(torch.ones(max_seq_len, max_seq_len, dtype=torch.bool), diagonal=1)
        self.register_buffer("causal_mask", blocked)

    def forward(self, x, cache=None):
        B, T_new, C = x.shape
        q = self.q_proj(x).view(B, T_new, self.n_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(B, T_new, self.n_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(B, T_new, self.n_heads, self.head_dim).transpose(1, 2)
        if cache is not None:
            if cache:
                k = torch.cat([cache["k"], k], dim=2)
                v = torch.cat([cache["v"], v], dim=2)
            cache["k"], cache["v"] = k, v
        T_total = k.size(2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_dim)
        scores = scores.masked_fill(
            self.causal_mask[T_total - T_new : T_total, :T_total], float("-inf")
        )
        out = torch.softmax(scores, dim=-1) @ v
        return self.out_proj(out.transpose(1, 2).reshape(B, T_new, C))


class lag_llama_81(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.n_head, self.n_embd = n_head, n_embd
        self.q_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.kv_proj = nn.Linear(n_embd, 2 * n_embd, bias=False)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.reset_cache()

    def reset_cache(self):
        self.kv_cache = None

    def forward(self, x, use_kv_cache=False):
        B, T, C = x.size()
        q = self.q_proj(x)
        k, v = self.kv_proj(x).split(self.n_embd, dim=2)
        if use_kv_cache:
            if self.kv_cache is not None:
                k = torch.cat([self.kv_cache[0], k], dim=1)
                v = torch.cat([self.kv_cache[1], v], dim=1)
            self.kv_cache = k, v
        k = k.view(B, -1, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, -1, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, -1, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(
            q, k, v, attn_mask=None, dropout_p=0.0, is_causal=q.size(2) == k.size(2)
        )
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class infinigen_5(nn.Module):
    def __init__(self, embed_dim, num_heads, max_len):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.max_len = max_len
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)
        self.past_key_value = None
        self.src_s = 0

    def _shape(self, t, bsz):
        return t.view(bsz, -1, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, hidden):
        bsz, tgt_len, dim = hidden.shape
        q = self._shape(self.q_proj(hidden), bsz) * self.head_dim**-0.5
        k = self._shape(self.k_proj(hidden), bsz)
        v = self._shape(self.v_proj(hidden), bsz)
        if self.past_key_value is None:
            self.past_key_value = hidden.new_zeros(
                2, bsz, self.num_heads, self.max_len, self.head_dim
            )
            self.past_key_value[0, :, :, :tgt_len] = k
            self.past_key_value[1, :, :, :tgt_len] = v
        else:
            self.past_key_value[0, :, :, self.src_s] = k[:, :, 0]
            self.past_key_value[1, :, :, self.src_s] = v[:, :, 0]
        self.src_s += tgt_len
        keys = self.past_key_value[0, :, :, : self.src_s]
        values = self.past_key_value[1, :, :, : self.src_s]
        scores = q @ keys.transpose(-1, -2)
        if tgt_len > 1:
            future = torch.ones(tgt_len, tgt_len, dtype=torch.bool, device=hidden.device).triu(1)
            scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ values
        return self.out_proj(out.transpose(1, 2).reshape(bsz, tgt_len, dim))


def moeut_6(q, k, v, past=None):
    """Causal attention with rotary, (B, H, T, D); past is (k, v) of earlier tokens, keys not rotated."""
    if past is not None:
        k = torch.cat([past[0], k], dim=2)
        v = torch.cat([past[1], v], dim=2)
    present = (k, v)
    q_offset = k.shape[2] - q.shape[2]
    pos_k = torch.arange(k.shape[2], device=k.device)
    pos_q = torch.arange(q.shape[2], device=q.device)
    scores = rope(q, pos_q + q_offset) @ rope(k, pos_k).transpose(-1, -2)
    scores = scores * (q.shape[-1] ** -0.5)
    hidden = pos_k[None, :] > pos_q[:, None] + (k.shape[2] - q.shape[2])
    scores = scores.masked_fill(hidden, float("-inf"))
    return scores.softmax(-1) @ v, present


class train_llm_from_scratch_3(nn.Module):
    def __init__(self, n_head, n_embed, context_length):
        super().__init__()
        head_size = n_embed // n_head
        self.key = nn.ModuleList(nn.Linear(n_embed, head_size, bias=False) for _ in range(n_head))
        self.query = nn.ModuleList(nn.Linear(n_embed, head_size, bias=False) for _ in range(n_head))
        self.value = nn.ModuleList(nn.Linear(n_embed, head_size, bias=False) for _ in range(n_head))
        self.proj = nn.Linear(n_embed, n_embed)
        self.register_buffer("tril", torch.tril(torch.ones(context_length, context_length)))

    def head(self, x, i):
        B, T, C = x.shape
        k = self.key[i](x)
        q = self.query[i](x)
        scale_factor = 1 / math.sqrt(k.size(-1))
        attn_weights = q @ k.transpose(-2, -1) * scale_factor
        attn_weights = attn_weights.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        attn_weights = F.softmax(attn_weights, dim=-1)
        return attn_weights @ self.value[i](x)

    def forward(self, x):
        x = torch.cat([self.head(x, i) for i in range(len(self.key))], dim=-1)
        return self.proj(x)


class fuxictr_30(nn.Module):
    def __init__(self, input_dim, attention_dim, num_heads):
        super().__init__()
        self.attention_dim, self.num_heads = attention_dim, num_heads
        self.W_q = nn.Linear(input_dim, attention_dim * num_heads, bias=False)
        self.W_k = nn.Linear(input_dim, attention_dim * num_heads, bias=False)
        self.W_v = nn.Linear(input_dim, attention_dim * num_heads, bias=False)

    def forward(self, query, key, value):
        query, key, value = self.W_q(query), self.W_k(key), self.W_v(value)
        batch_size = query.size(0)
        query = query.view(batch_size, -1, self.num_heads, self.attention_dim).transpose(1, 2)
        key = key.view(batch_size, -1, self.num_heads, self.attention_dim).transpose(1, 2)
        value = value.view(batch_size, -1, self.num_heads, self.attention_dim).transpose(1, 2)
        scores = torch.matmul(query, key.transpose(-1, -2)) / self.attention_dim**0.5
        output = torch.matmul(scores.softmax(dim=-1), value)
        output = (
            output.transpose(1, 2)
            .contiguous()
            .view(batch_size, -1, self.num_heads * self.attention_dim)
        )
        return output


class transformer_neural_network_4(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.qkv_layer = nn.Linear(d_model, 3 * d_model)
        self.linear_layer = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        batch_size, sequence_length, d_model = x.size()
        qkv = self.qkv_layer(x)
        qkv = qkv.reshape(batch_size, sequence_length, self.num_heads, 3 * self.head_dim)
        qkv = qkv.permute(0, 2, 1, 3)
        q, k, v = qkv.chunk(3, dim=-1)
        scaled = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.size(-1))
        if mask is not None:
            scaled = scaled + mask
        values = torch.matmul(F.softmax(scaled, dim=-1), v)
        values = values.permute(0, 2, 1, 3)
        values = values.reshape(batch_size, sequence_length, self.num_heads * self.head_dim)
        return self.linear_layer(values)


class x_transformers_182(nn.Module):
    def __init__(self, dim, heads, dim_head):
        super().__init__()
        self.heads, self.scale = heads, dim_head**-0.5
        self.to_q = nn.Linear(dim, heads * dim_head, bias=False)
        self.to_k = nn.Linear(dim, heads * dim_head, bias=False)
        self.to_v = nn.Linear(dim, heads * dim_head, bias=False)
        self.to_out = nn.Linear(heads * dim_head, dim, bias=False)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (
            t.view(b, n, self.heads, -1).transpose(1, 2)
            for t in (self.to_q(x), self.to_k(x), self.to_v(x))
        )
        positions = torch.arange(n, device=x.device)
        q, k = (rope(t, positions) for t in (q, k))
        sim = torch.einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        causal = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        attn = sim.masked_fill(causal, -torch.finfo(sim.dtype).max).softmax(dim=-1)
        out = torch.einsum("b h i j, b h j d -> b h i d", attn, v)
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))


class transformers_44397(nn.Module):
    def __init__(
        self,
        hidden_size,
        num_heads,
        layer_idx,
        scale_attn_weights=True,
        scale_attn_by_inverse_layer_idx=False,
    ):
        super().__init__()
        self.embed_dim, self.num_heads = hidden_size, num_heads
        self.head_dim = hidden_size // num_heads
        self.scaling = self.head_dim**-0.5 if scale_attn_weights else 1.0
        if scale_attn_by_inverse_layer_idx:
            self.scaling = self.scaling / float(layer_idx + 1)
        self.c_attn_weight = nn.Parameter(
            torch.randn(hidden_size, 3 * hidden_size) * hidden_size**-0.5
        )
        self.c_attn_bias = nn.Parameter(torch.zeros(3 * hidden_size))
        self.c_proj_weight = nn.Parameter(torch.randn(hidden_size, hidden_size) * hidden_size**-0.5)
        self.c_proj_bias = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, hidden_states):
        B, T, C = hidden_states.shape
        qkv = hidden_states @ self.c_attn_weight + self.c_attn_bias
        query, key, value = (
            t.view(B, T, self.num_heads, self.head_dim).transpose(1, 2)
            for t in qkv.split(self.embed_dim, dim=2)
        )
        attn_output = F.scaled_dot_product_attention(
            query, key, value, is_causal=True, scale=self.scaling
        )
        attn_output = attn_output.transpose(1, 2).reshape(B, T, C)
        return attn_output @ self.c_proj_weight + self.c_proj_bias


class transformers_47946(nn.Module):
    """GPT-2 cross-attention."""

    def __init__(self, hidden_size, num_heads):
        super().__init__()
        self.split_size, self.num_heads = hidden_size, num_heads
        self.q_attn = nn.Linear(hidden_size, hidden_size)
        self.c_attn = nn.Linear(hidden_size, 2 * hidden_size)
        self.c_proj = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden_states, encoder_hidden_states, encoder_attention_mask=None):
        B, T, C = hidden_states.shape
        S = encoder_hidden_states.shape[1]
        if encoder_attention_mask is not None:
            encoder_attention_mask = encoder_attention_mask[:, None, None, :].to(torch.bool)
        query = self.q_attn(hidden_states).view(B, T, self.num_heads, -1).transpose(1, 2)
        key, value = (
            t.view(B, S, self.num_heads, -1).transpose(1, 2)
            for t in self.c_attn(encoder_hidden_states).split(self.split_size, dim=2)
        )
        attn_output = F.scaled_dot_product_attention(
            query, key, value, attn_mask=encoder_attention_mask
        )
        return self.c_proj(attn_output.transpose(1, 2).reshape(B, T, C))


def transformers_41228(query, key, value, sliding_window=1):
    """Continuous batching attention; query (1, H, Lq, D) holds the last Lq of the Lk positions of key."""
    seqlen_q, seqlen_k = query.size(2), key.size(2)
    min_value = torch.finfo(query.dtype).min
    minus_inf = torch.full((seqlen_q, seqlen_k), min_value, dtype=query.dtype, device=query.device)
    causal_diagonal = seqlen_k - seqlen_q + 1
    masked = torch.triu(minus_inf, diagonal=causal_diagonal)
    if sliding_window > 1:
        sliding_diagonal = seqlen_k - seqlen_q - sliding_window
        masked = masked + torch.tril(minus_inf, diagonal=sliding_diagonal)
    scores = query @ key.transpose(-1, -2) / math.sqrt(query.size(-1)) + masked
    return torch.softmax(scores, dim=-1) @ value


class pytorch_image_models_2236(nn.Module):
    def __init__(self, dim, num_heads, attn_drop=0.0, proj_drop=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=False)
        self.q_bias = nn.Parameter(torch.zeros(dim))
        self.v_bias = nn.Parameter(torch.zeros(dim))
        self.register_buffer("k_bias", torch.zeros(dim), persistent=False)
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)
        self.proj_drop = nn.Dropout(proj_drop)

    def forward(self, x, attn_mask=None):
        B, N, C = x.shape
        qkv_bias = torch.cat((self.q_bias, self.k_bias, self.v_bias))
        qkv = (
            F.linear(x, self.qkv.weight, qkv_bias)
            .reshape(B, N, 3, self.num_heads, -1)
            .permute(2, 0, 3, 1, 4)
        )
        q, k, v = qkv.unbind(0)
        q = q * self.scale
        attn = q @ k.transpose(-2, -1)
        if attn_mask is not None:
            attn = attn.masked_fill(~attn_mask[:, None, None, :], float("-inf"))
        attn = attn.softmax(dim=-1)
        attn = self.attn_drop(attn)
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj_drop(self.proj(x))


class machine_learning_13(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.head_dim = n_heads, d_model // n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.linear_proj = nn.Linear(d_model, d_model)

    def _project(self, layer, x):
        return layer(x).view(x.size(0), -1, self.n_heads, self.head_dim).permute(0, 2, 1, 3)

    def forward(self, query, key, value, mask=None):
        Q, K, V = (
            self._project(self.query, query),
            self._project(self.key, key),
            self._project(self.value, value),
        )
        energy = torch.matmul(Q, K.transpose(2, 3)) / math.sqrt(self.head_dim)
        if mask is not None:
            energy = energy.masked_fill(mask == 0, -1e10)
        attention = torch.softmax(energy, dim=-1)
        output = torch.matmul(attention, V).transpose(1, 2).contiguous()
        output = output.view(query.size(0), -1, self.n_heads * self.head_dim)
        linear_proj = self.linear_proj(output)
        return linear_proj


class vit_pytorch_65(nn.Module):
    def __init__(self, dim, heads=8, dim_head=64, dropout=0.0):
        super().__init__()
        inner_dim = dim_head * heads
        self.heads = heads
        self.scale = dim_head**-0.5
        self.to_qkv = nn.Linear(dim, inner_dim * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner_dim, dim), nn.Dropout(dropout))

    def forward(self, x):
        b, n, _ = x.shape
        h = self.heads
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = map(lambda t: t.reshape(b, n, h, -1).transpose(1, 2), qkv)
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        attn = dots.softmax(dim=-1)
        out = torch.einsum("bhij,bhjd->bhid", attn, v)
        out = out.transpose(1, 2).reshape(b, n, -1)
        return self.to_out(out)


class transformer_from_scratch_6(nn.Module):
    def __init__(self, hidden_dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv_dim = hidden_dim // num_heads
        self.qkv_proj = nn.Linear(hidden_dim, 3 * num_heads * self.qkv_dim, bias=False)
        self.o_proj = nn.Linear(num_heads * self.qkv_dim, hidden_dim, bias=False)

    def forward(self, x, src_padding_mask=None):
        batch_size, seq_len, hidden_dim = x.size()
        qkv = self.qkv_proj(x).reshape(batch_size, seq_len, self.num_heads, 3 * self.qkv_dim)
        q, k, v = qkv.permute(0, 2, 1, 3).chunk(3, dim=-1)
        logits = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        if src_padding_mask is not None:
            logits = logits.masked_fill(src_padding_mask[:, None, None, :] == 0, float("-inf"))
        values = torch.matmul(F.softmax(logits, dim=-1), v)
        values = values.permute(0, 2, 1, 3).reshape(batch_size, seq_len, hidden_dim)
        return self.o_proj(values)


class pytorch_image_models_1978(nn.Module):
    def __init__(self, dim, num_heads=8, qkv_bias=True, attn_drop=0.1, proj_drop=0.0):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.attn_drop = nn.Dropout(attn_drop)
        self.proj = nn.Linear(dim, dim)
        self.proj_drop = nn.Dropout(proj_drop)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        x = F.scaled_dot_product_attention(
            q, k, v, dropout_p=self.attn_drop.p if self.training else 0.0
        )
        x = x.transpose(1, 2).reshape(B, N, C)
        return self.proj_drop(self.proj(x))


class transformers_38290(nn.Module):
    def __init__(self, embed_dim=64, num_heads=4, bias=True):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.scaling = self.head_dim**-0.5
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)

    def forward(self, hidden_states):
        bsz, tgt_len, _ = hidden_states.size()
        query_states = self.q_proj(hidden_states) * self.scaling
        query_states = query_states.view(bsz, -1, self.num_heads, self.head_dim).transpose(1, 2)
        key_states = (
            self.k_proj(hidden_states).view(bsz, -1, self.num_heads, self.head_dim).transpose(1, 2)
        )
        value_states = (
            self.v_proj(hidden_states).view(bsz, -1, self.num_heads, self.head_dim).transpose(1, 2)
        )
        attn_output = F.scaled_dot_product_attention(
            query_states, key_states, value_states, is_causal=True, scale=1.0
        )
        attn_output = attn_output.transpose(1, 2).reshape(bsz, tgt_len, -1)
        return self.out_proj(attn_output)


class transformer_various_positional_encoding_1(nn.Module):
    def __init__(self, d_model=32, num_heads=4):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.wo = nn.Linear(d_model, d_model)

    def reshape_from_feed(self, batch_size, _tensor):
        _tensor = _tensor.view(batch_size, -1, self.num_heads, self.head_dim).permute(0, 2, 1, 3)
        return _tensor.contiguous().view(batch_size * self.num_heads, -1, self.head_dim)

    def reshape_to_concat(self, batch_size, _tensor):
        _tensor = _tensor.permute(0, 2, 1, 3)
        return _tensor.contiguous().view(batch_size, -1, self.num_heads * self.head_dim)

    def forward(self, query, key, value):
        batch_size = query.size(0)
        query = self.reshape_from_feed(batch_size, self.wq(query))
        key = self.reshape_from_feed(batch_size, self.wk(key))
        value = self.reshape_from_feed(batch_size, self.wv(value))
        attn_score = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(self.head_dim)
        output = torch.bmm(F.softmax(attn_score, dim=-1), value)
        output = output.view(batch_size, self.num_heads, -1, self.head_dim)
        output = self.reshape_to_concat(batch_size, output)
        return self.wo(output)


class transformers_47328(nn.Module):
    def __init__(self, dim=32, heads=2, dim_head=16, base=10000.0):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(dim, heads * dim_head)
        self.to_k = nn.Linear(dim, heads * dim_head)
        self.to_v = nn.Linear(dim, heads * dim_head)
        self.to_out = nn.Linear(heads * dim_head, dim)
        self.inv_freq = [base ** (-2 * i / dim_head) for i in range(dim_head // 2)]

    def rotary_embed(self, x):
        t = torch.arange(x.shape[1], device=x.device, dtype=x.dtype)
        freqs = t[:, None] * torch.tensor(self.inv_freq, device=x.device, dtype=x.dtype)
        emb = torch.repeat_interleave(freqs, 2, dim=-1)
        return emb.cos(), emb.sin()

    @staticmethod
    def rotate_half_codec(x):
        x = x.reshape(*x.shape[:-1], -1, 2)
        x1, x2 = x.unbind(dim=-1)
        return torch.stack((-x2, x1), dim=-1).flatten(-2)

    def forward(self, x, mask=None):
        batch_size = x.shape[0]
        query, key, value = (
            proj(x)
            .view(batch_size, -1, self.heads, proj.out_features // self.heads)
            .transpose(1, 2)
            for proj in (self.to_q, self.to_k, self.to_v)
        )
        cos, sin = self.rotary_embed(x)
        query = query * cos + self.rotate_half_codec(query) * sin
        key = key * cos + self.rotate_half_codec(key) * sin
        attn_mask = None if mask is None else mask[:, None, None, :]
        x = F.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask)
        return self.to_out(x.transpose(1, 2).reshape(batch_size, -1, self.to_out.in_features))


# ---- A cache, in the form that a project takes ----


def four_axes(x):
    return x.reshape((1,) * (4 - x.ndim) + x.shape).double()


def merged(x):
    """Return the heads beside each other, with the axes (batch, n, num_heads * d_k)."""
    return x.transpose(1, 2).flatten(2)


def cut(wide, query):
    """Return the first heads of concatenated outputs, in the axes of the queries."""
    batch, heads, n, d_k = four_axes(query).shape
    output = wide[..., : heads * d_k].reshape(batch, n, heads, d_k).transpose(1, 2)
    return output.reshape(query.shape).to(query.dtype)


def set_linear(layer, matrix):
    layer.weight.data = matrix.T.contiguous()
    if layer.bias is not None:
        layer.bias.data = torch.zeros(len(layer.weight), dtype=torch.float64)


def tokens_of(query, key, value):
    """Return tokens that hold queries, keys and values, and the matrices that select these.

    The width is three times that of the heads, so a layer has three times as many heads. The
    others are zero.
    """
    arrays = [merged(four_axes(x)) for x in (query, key, value)]
    width = arrays[0].shape[-1]
    one, zeros = torch.eye(3 * width).double(), torch.zeros(3 * width, 2 * width).double()
    parts = (one[:, i * width : (i + 1) * width] for i in range(3))
    return torch.cat(arrays, -1), [torch.cat([part, zeros], 1) for part in parts]


def dict_cache(cls):
    def step(query, key, value, cache):
        x, matrices = tokens_of(query, key, value)
        module = cls(x.shape[-1], 3 * four_axes(query).shape[1], 32).double()
        for name, matrix in zip(("q_proj", "k_proj", "v_proj"), matrices, strict=True):
            set_linear(getattr(module, name), matrix)
        set_linear(module.out_proj, torch.eye(x.shape[-1]).double())
        state = dict(cache or {})
        return cut(module(x, state), query), state

    return step


def own_cache(cls):
    def step(query, key, value, cache):
        x, matrices = tokens_of(query, key, value)
        module = cls(x.shape[-1], 3 * four_axes(query).shape[1]).double()
        set_linear(module.q_proj, matrices[0])
        set_linear(module.kv_proj, torch.cat(matrices[1:], 1))
        set_linear(module.c_proj, torch.eye(x.shape[-1]).double())
        module.kv_cache = cache
        return cut(module(x, True), query), module.kv_cache

    return step


def own_static_cache(cls):
    def step(query, key, value, cache):
        x, matrices = tokens_of(query, key, value)
        module = cls(x.shape[-1], 3 * four_axes(query).shape[1], 32).double()
        for name, matrix in zip(("q_proj", "k_proj", "v_proj"), matrices, strict=True):
            set_linear(getattr(module, name), matrix)
        set_linear(module.out_proj, torch.eye(x.shape[-1]).double())
        if cache and x.shape[1] > 1:
            raise ValueError("after the prompt one token at a time is wanted")
        if cache:
            module.past_key_value, module.src_s = cache[0].clone(), cache[1]
        return cut(module(x), query), (module.past_key_value, module.src_s)

    return step


def keys_not_rotated(function):
    def step(query, key, value, cache):
        arrays = (x.reshape((1,) * (4 - x.ndim) + x.shape) for x in (query, key, value))
        output, present = function(*arrays, cache)
        return output.reshape(query.shape), present

    return step


def third_of_three_layers(cls):
    """Return a layer whose queries are multiplied by 3, since it divides scores by its number."""

    def layer(x, w_q, w_k, w_v, w_o, num_heads):
        module = cls(x.shape[-1], num_heads, 2, scale_attn_by_inverse_layer_idx=True).double()
        module.c_attn_weight.data = torch.cat([3 * w_q, w_k, w_v], 1).double()
        module.c_proj_weight.data = w_o.double()
        return module(x.double()).to(x.dtype)

    return layer


# ---- The reports ----


@dataclass(frozen=True)
class Reported:
    """A public report: its bug's name in the table, and the changes that bring the bug back.

    The name is empty if the table lacks the bug, so that the report of `mha.examine` narrows it.
    `sizes` are the arguments of a module.
    """

    origin: str
    bug: str
    twin: Callable[..., Any]
    texts: tuple[str, ...]
    sizes: Mapping[str, Any] | None = None
    kind: str = A
    wrapper: Callable[..., Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.origin

    def examine(self, function: Callable[..., Any]) -> Report:
        if self.wrapper is not None:
            wrapped = self.wrapper(function)
            return EXAMINE[self.kind](wrapped, asarray=torch.tensor, **self.options)
        is_module = self.sizes is not None
        return EXAMINE[self.kind](function(**self.sizes).eval() if is_module else function)

    def examine_twin(self) -> Report:
        return self.examine(self.twin)

    def examine_faulty(self) -> Report:
        return self.examine(Case(self.twin, self.kind).wrong(self.origin, *self.texts).function)


REPORTS = [
    Reported(
        "rasbt/LLMs-from-scratch#1061",
        "causal mask reversed",
        llms_from_scratch_1061,
        (
            "queries, keys, values, attn_mask=~attn_mask, dropout_p=use_dropout, is_causal=False",
            "queries, keys, values, attn_mask=attn_mask, dropout_p=use_dropout, is_causal=False",
        ),
        dict(d_in=16, d_out=16, num_heads=4, context_length=12),
    ),
    Reported(
        "karpathy/nanoGPT#240",
        "",
        nanogpt_240,
        (
            "q, k, v, attn_mask=None, dropout_p=self.dropout if self.training else 0, is_causal=True",
            "q, k, v, attn_mask=None, dropout_p=self.dropout, is_causal=True",
        ),
        dict(n_embd=16, n_head=4, block_size=12, dropout=0.2),
    ),
    Reported(
        "Mikyx-1/TinyLLM#18",
        "later tokens of a step visible",
        tinyllm_18,
        (
            (
                "scores = scores.masked_fill(\n"
                '            self.causal_mask[T_total - T_new : T_total, :T_total], float("-inf")\n'
                "        )"
            ),
            (
                "if cache is None:\n"
                '            scores = scores.masked_fill(self.causal_mask[:T_new, :T_new], float("-inf"))'
            ),
        ),
        kind=D,
        wrapper=dict_cache,
    ),
    Reported(
        "time-series-foundation-models/lag-llama#81",
        "cache aligned top left",
        lag_llama_81,
        (
            (
                "y = F.scaled_dot_product_attention(\n"
                "            q, k, v, attn_mask=None, dropout_p=0.0, is_causal=q.size(2) == k.size(2)\n"
                "        )"
            ),
            "y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=True)",
        ),
        kind=D,
        wrapper=own_cache,
        options={"leave_out": ["several new tokens after a cache"]},
    ),
    Reported(
        "snu-comparch/InfiniGen#5",
        "",
        infinigen_5,
        (
            "self.past_key_value[1, :, :, self.src_s] = v[:, :, 0]",
            "self.past_key_value[1, :, :, self.src_s] = k[:, :, 0]",
        ),
        kind=D,
        wrapper=own_static_cache,
    ),
    Reported(
        "RobertCsordas/moeut#6",
        "",
        moeut_6,
        (
            (
                "if past is not None:\n"
                "        k = torch.cat([past[0], k], dim=2)\n"
                "        v = torch.cat([past[1], v], dim=2)\n"
                "    present = (k, v)\n"
                "    q_offset = k.shape[2] - q.shape[2]"
            ),
            (
                "q_offset = k.shape[2] - q.shape[2]\n"
                "    if past is not None:\n"
                "        k = torch.cat([past[0], k], dim=2)\n"
                "        v = torch.cat([past[1], v], dim=2)\n"
                "    present = (k, v)"
            ),
        ),
        kind=D,
        wrapper=keys_not_rotated,
    ),
    Reported(
        "FareedKhan-dev/train-llm-from-scratch#3",
        "wrong root or scaled twice",
        train_llm_from_scratch_3,
        (
            "scale_factor = 1 / math.sqrt(k.size(-1))",
            "scale_factor = 1 / math.sqrt(C)",
        ),
        dict(n_head=4, n_embed=16, context_length=12),
    ),
    Reported(
        "reczoo/FuxiCTR#30",
        "split and merged by reshape",
        fuxictr_30,
        (
            (
                "query = query.view(batch_size, -1, self.num_heads, self.attention_dim).transpose(1, 2)\n"
                "        key = key.view(batch_size, -1, self.num_heads, self.attention_dim).transpose(1, 2)\n"
                "        value = value.view(batch_size, -1, self.num_heads, self.attention_dim).transpose(1, 2)"
            ),
            (
                "query = query.view(batch_size * self.num_heads, -1, self.attention_dim)\n"
                "        key = key.view(batch_size * self.num_heads, -1, self.attention_dim)\n"
                "        value = value.view(batch_size * self.num_heads, -1, self.attention_dim)"
            ),
            (
                "output = (\n"
                "            output.transpose(1, 2)\n"
                "            .contiguous()\n"
                "            .view(batch_size, -1, self.num_heads * self.attention_dim)\n"
                "        )"
            ),
            "output = output.view(batch_size, -1, self.num_heads * self.attention_dim)",
        ),
        dict(input_dim=16, attention_dim=4, num_heads=4),
    ),
    Reported(
        "ajhalthor/Transformer-Neural-Network#4",
        "merged by reshape",
        transformer_neural_network_4,
        (
            (
                "values = torch.matmul(F.softmax(scaled, dim=-1), v)\n"
                "        values = values.permute(0, 2, 1, 3)"
            ),
            "values = torch.matmul(F.softmax(scaled, dim=-1), v)",
        ),
        dict(d_model=16, num_heads=4),
    ),
    Reported(
        "lucidrains/x-transformers#182",
        "",
        x_transformers_182,
        (
            "q, k = (rope(t, positions) for t in (q, k))",
            "q, k, v = (rope(t, positions) for t in (q, k, v))",
        ),
        dict(dim=16, heads=4, dim_head=8),
    ),
    Reported(
        "huggingface/transformers#44397",
        "",
        transformers_44397,
        (
            (
                "attn_output = F.scaled_dot_product_attention(\n"
                "            query, key, value, is_causal=True, scale=self.scaling\n"
                "        )"
            ),
            "attn_output = F.scaled_dot_product_attention(query, key, value, is_causal=True)",
        ),
        kind=L,
        wrapper=third_of_three_layers,
    ),
    Reported(
        "huggingface/transformers#47946",
        "padding unused",
        transformers_47946,
        (
            "S = encoder_hidden_states.shape[1]",
            ("S = encoder_hidden_states.shape[1]\n        encoder_attention_mask = None"),
        ),
        dict(hidden_size=16, num_heads=4),
    ),
    Reported(
        "huggingface/transformers#41228",
        "",
        transformers_41228,
        (
            (
                "sliding_diagonal = seqlen_k - seqlen_q - sliding_window\n"
                "        masked = masked + torch.tril(minus_inf, diagonal=sliding_diagonal)"
            ),
            (
                "sliding_diagonal = seqlen_k - seqlen_q + sliding_window\n"
                "        masked = torch.tril(masked, diagonal=sliding_diagonal)"
            ),
        ),
    ),
    Reported(
        "huggingface/pytorch-image-models#2236",
        "",
        pytorch_image_models_2236,
        (
            (
                "if attn_mask is not None:\n"
                '            attn = attn.masked_fill(~attn_mask[:, None, None, :], float("-inf"))\n'
                "        attn = attn.softmax(dim=-1)"
            ),
            (
                "attn = attn.softmax(dim=-1)\n"
                "        if attn_mask is not None:\n"
                '            attn = attn.masked_fill(~attn_mask[:, None, None, :], float("-inf"))'
            ),
        ),
        dict(dim=16, num_heads=4),
    ),
    Reported(
        "ethen8181/machine-learning#13",
        "W_O left out",
        machine_learning_13,
        (
            "return linear_proj",
            "return output",
        ),
        dict(d_model=16, n_heads=4),
    ),
    Reported(
        "lucidrains/vit-pytorch#65",
        "wrong root",
        vit_pytorch_65,
        (
            "self.scale = dim_head**-0.5",
            "self.scale = dim**-0.5",
        ),
        dict(dim=48, heads=4, dim_head=16),
    ),
    Reported(
        "jsbaan/transformer-from-scratch#6",
        "merged by reshape",
        transformer_from_scratch_6,
        (
            "values = values.permute(0, 2, 1, 3).reshape(batch_size, seq_len, hidden_dim)",
            "values = values.reshape(batch_size, seq_len, hidden_dim)",
        ),
        dict(hidden_dim=64, num_heads=4),
    ),
    Reported(
        "huggingface/pytorch-image-models#1978",
        "",
        pytorch_image_models_1978,
        (
            (
                "x = F.scaled_dot_product_attention(\n"
                "            q, k, v, dropout_p=self.attn_drop.p if self.training else 0.0\n"
                "        )"
            ),
            "x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p)",
        ),
        dict(dim=64, num_heads=4, attn_drop=0.3),
    ),
    Reported(
        "huggingface/transformers#38290",
        "scaled twice",
        transformers_38290,
        (
            "query_states, key_states, value_states, is_causal=True, scale=1.0",
            "query_states, key_states, value_states, is_causal=True",
        ),
        dict(embed_dim=64, num_heads=4),
    ),
    Reported(
        "gazelle93/Transformer-Various-Positional-Encoding#1",
        "",
        transformer_various_positional_encoding_1,
        (
            "output = output.view(batch_size, self.num_heads, -1, self.head_dim)",
            "output = output.view(self.num_heads, batch_size, -1, self.head_dim)",
        ),
        dict(d_model=32, num_heads=4),
    ),
    Reported(
        "huggingface/transformers#47328",
        "two layouts in one",
        transformers_47328,
        (
            "emb = torch.repeat_interleave(freqs, 2, dim=-1)",
            "emb = torch.cat((freqs, freqs), dim=-1)",
        ),
        dict(dim=32, heads=2, dim_head=16),
    ),
]
