"""Modules and functions of PyTorch, JAX and Keras with one bug each, after public reports.

All code was written for these tests. "our own" marks a bug that is not from a report. The argument
of each function in this file says whether its result is to have the bug.
"""

import math

import jax
import jax.numpy as jnp
import keras
import torch
import torch.nn.functional as F  # noqa: N812
from bug_reports import NARROWED, Reports
from independent_cases import A, D, L
from keras import ops
from torch import nn

CASES = Reports(A)


def split(x, num_heads):
    b, n, width = x.shape
    return x.view(b, n, num_heads, width // num_heads).transpose(1, 2)


def merged(x):
    return x.transpose(1, 2).flatten(-2)


def later(n):
    """Return a mask that is True where a key is later than the query."""
    return torch.ones(n, n, dtype=torch.bool).triu(1)


class Projected(nn.Module):
    """Four projections with the usual names, and methods that the cases override."""

    def __init__(self, hidden_size=16, num_heads=4, num_kv_heads=4):
        super().__init__()
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        width = hidden_size // num_heads * num_kv_heads
        self.q_proj = nn.Linear(hidden_size, hidden_size, bias=False)
        self.k_proj = nn.Linear(hidden_size, width, bias=False)
        self.v_proj = nn.Linear(hidden_size, width, bias=False)
        self.o_proj = nn.Linear(hidden_size, hidden_size, bias=False)

    def heads(self, x):
        return (
            split(self.q_proj(x), self.num_heads),
            split(self.k_proj(x), self.num_kv_heads),
            split(self.v_proj(x), self.num_kv_heads),
        )


# ---- Bugs that are reported ----


@CASES.add("vllm-project/vllm#11979", "merged by reshape")
def merge_without_transpose(bug):
    """Merge heads without a transpose, in a layer whose masks are added."""

    class BertAttention(Projected):
        def forward(self, hidden_states, attention_mask=None, output_attentions=False):
            q, k, v = self.heads(hidden_states)
            scores = q @ k.mT / math.sqrt(q.shape[-1])
            if attention_mask is not None:
                scores = scores + attention_mask
            weights = scores.softmax(-1)
            out = weights @ v
            out = self.o_proj(out.reshape(hidden_states.shape) if bug else merged(out))
            return (out, weights) if output_attentions else (out,)

    return BertAttention()


@CASES.add("onnx/onnx#7274", "groups tiled")
def groups_tiled(bug):
    """Tile the shared keys instead of repeating each."""

    class Grouped(Projected):
        def forward(self, hidden_states):
            q, k, v = self.heads(hidden_states)
            times = self.num_heads // self.num_kv_heads
            if bug:
                k, v = k.repeat(1, times, 1, 1), v.repeat(1, times, 1, 1)
            else:
                k, v = k.repeat_interleave(times, 1), v.repeat_interleave(times, 1)
            return self.o_proj(merged(F.scaled_dot_product_attention(q, k, v, is_causal=True)))

    return Grouped(num_kv_heads=2)


@CASES.add("huggingface/transformers#17437", "half precision")
def softmax_in_half_precision(bug):
    """Take the softmax of float16."""

    class Half(Projected):
        def forward(self, hidden_states):
            q, k, v = self.heads(hidden_states)
            scores = q @ k.mT / math.sqrt(q.shape[-1])
            weights = (scores.half() if bug else scores).softmax(-1).to(q.dtype)
            return self.o_proj(merged(weights @ v))

    return Half()


@CASES.add("lucidrains/x-transformers#160", "if True in a mask means masked")
def mask_inverted(bug):
    """Invert the mask before PyTorch's function, where True means attend."""

    class Inverted(Projected):
        def forward(self, x, mask=None):
            q, k, v = self.heads(x)
            if mask is not None:
                b, n, _ = x.shape
                mask = mask[:, None, None, :].expand(b, self.num_heads, n, -1)
                mask = ~mask if bug else mask
            return self.o_proj(merged(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)))

    return Inverted()


@CASES.add("hyunwoongko/transformer#40", "padding masks queries")
def padding_on_queries(bug):
    """Put the new axis of a mask behind the queries, not before the keys."""

    class MultiHead(nn.Module):
        def __init__(self, d_model=16, n_head=4):
            super().__init__()
            self.n_head = n_head
            self.w_q, self.w_k = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
            self.w_v, self.w_concat = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)

        def forward(self, q, k, v, mask=None):
            projected = (self.w_q(q), self.w_k(k), self.w_v(v))
            q, k, v = (split(x, self.n_head) for x in projected)
            scores = q @ k.mT / math.sqrt(q.size(-1))
            if mask is not None:
                if mask.dim() == 2:
                    mask = mask[:, None, :, None] if bug else mask[:, None, None, :]
                scores = scores.masked_fill(mask == 0, -10000)
            return self.w_concat(merged(scores.softmax(-1) @ v))

    return MultiHead()


@CASES.add("huggingface/pytorch-image-models#2236", NARROWED)
def infinity_after_softmax(bug):
    """Write -inf into the weights, after the softmax."""

    class Eva(Projected):
        def forward(self, x, attn_mask=None):
            q, k, v = self.heads(x)
            weights = q @ k.mT * q.shape[-1] ** -0.5
            if bug:
                weights = weights.softmax(-1)
            if attn_mask is not None:
                attn_mask = attn_mask[:, None, None, :] if attn_mask.dim() == 2 else attn_mask
                weights = weights.masked_fill(~attn_mask.bool(), float("-inf"))
            if not bug:
                weights = weights.softmax(-1)
            return self.o_proj(merged(weights @ v))

    return Eva()


@CASES.add("karpathy/ng-video-lecture#6", "wrong root")
def scale_of_the_channels(bug):
    """Divide by the root of the channels, in a single head without an output projection."""

    class Head(nn.Module):
        def __init__(self, head_size=8, n_embd=32, block_size=256):
            super().__init__()
            self.key = nn.Linear(n_embd, head_size, bias=False)
            self.query = nn.Linear(n_embd, head_size, bias=False)
            self.value = nn.Linear(n_embd, head_size, bias=False)
            self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

        def forward(self, x):
            _, n, width = x.shape
            k, q = self.key(x), self.query(x)
            scores = q @ k.mT * (width if bug else k.shape[-1]) ** -0.5
            scores = scores.masked_fill(self.tril[:n, :n] == 0, float("-inf"))
            return scores.softmax(-1) @ self.value(x)

    return Head()


@CASES.add("nari-labs/dia#230", NARROWED)
def mask_of_the_first_key(bug):
    """Add the mask's number of the first key to the scores of all keys."""

    class Cross(Projected):
        def forward(self, hidden_states, key_value_states=None, attention_mask=None):
            context = hidden_states if key_value_states is None else key_value_states
            q, _, _ = self.heads(hidden_states)
            _, k, v = self.heads(context)
            scores = q @ k.mT * q.shape[-1] ** -0.5
            if attention_mask is not None:
                scores = scores + (attention_mask[..., :1] if bug else attention_mask)
            return self.o_proj(merged(scores.softmax(-1) @ v)), None

    return Cross()


@CASES.add("DaoyuanLi2816/Molecule-Generator#22", "if axes are (n, batch, d_model)")
def batch_first_forgotten(bug):
    """Pass sequences first to a layer that expects tokens first."""

    class Encoder(nn.Module):
        def __init__(self, embed=16, heads=4):
            super().__init__()
            self.attention = nn.MultiheadAttention(embed, heads, batch_first=not bug)

        def forward(self, x):
            return self.attention(x, x, x)[0]

    return Encoder()


@CASES.add("pytorch/pytorch#103963", "if no query is fully masked, or its row is ignored")
def rows_of_nan(bug):
    """Return NaN for a fully masked row."""

    def attention(q, k, v, attn_mask=None):
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if attn_mask is not None:
            is_boolean = attn_mask.dtype == torch.bool
            scores = (scores.masked_fill(~attn_mask, float("-inf")) if is_boolean
                      else scores + attn_mask)  # fmt: skip
        weights = scores.softmax(-1)
        return (weights if bug else weights.nan_to_num(0.0)) @ v

    return attention


@CASES.add("openai/gpt-2#122", "mask multiplied")
def small_constant_of_a_mask(bug):
    """Subtract 1e-10 instead of 1e10 from masked scores, after a product with a 0/1 mask."""

    def attention(query, key, value, mask=None):
        scores = query @ key.mT / math.sqrt(query.size(-1))
        if mask is not None:
            scores = scores * mask - (1 - mask.to(scores.dtype)) * (1e-10 if bug else 1e10)
        return scores.softmax(-1) @ value

    return attention


@CASES.add("espnet/espnet#1273", "mask unused")
def result_of_masked_fill_dropped(bug):
    """Drop the result of `masked_fill`, which does not change its tensor."""

    class Espnet(nn.Module):
        def __init__(self, n_head=4, n_feat=16):
            super().__init__()
            self.h = n_head
            self.linear_q, self.linear_k = nn.Linear(n_feat, n_feat), nn.Linear(n_feat, n_feat)
            self.linear_v, self.linear_out = nn.Linear(n_feat, n_feat), nn.Linear(n_feat, n_feat)

        def forward(self, query, key, value, mask=None):
            projected = (self.linear_q(query), self.linear_k(key), self.linear_v(value))
            q, k, v = (split(x, self.h) for x in projected)
            scores = q @ k.mT / math.sqrt(q.shape[-1])
            if mask is not None:
                masked = scores.masked_fill(mask.unsqueeze(1).eq(0), float("-inf"))
                scores = scores if bug else masked
            return self.linear_out(merged(scores.softmax(-1) @ v))

    return Espnet()


@CASES.add("ArrowLuo/CLIP4Clip#22", "masks tiled over the heads")
def masks_tiled(bug):
    """Tile the masks, though the heads of a sequence follow each other."""

    class Tiled(nn.Module):
        def __init__(self, d_model=16, n_head=4):
            super().__init__()
            self.n_head = n_head
            self.attn = nn.MultiheadAttention(d_model, n_head, batch_first=True)

        def forward(self, x, attn_mask=None):
            if attn_mask is not None:
                attn_mask = (attn_mask.repeat(self.n_head, 1, 1) if bug
                             else attn_mask.repeat_interleave(self.n_head, 0))  # fmt: skip
            return self.attn(x, x, x, need_weights=False, attn_mask=attn_mask)[0]

    return Tiled()


@CASES.add("line/lighthouse#77", "masks tiled over the heads")
def padding_tiled(bug):
    """Tile a padding mask, though the heads of a sequence follow each other."""

    class Tiled(nn.Module):
        def __init__(self, d_model=16, nhead=4):
            super().__init__()
            self.nhead = nhead
            self.self_attn = nn.MultiheadAttention(d_model, nhead, batch_first=True)

        def forward(self, src, src_key_padding_mask=None):
            mask = None
            if src_key_padding_mask is not None:
                mask = src_key_padding_mask[:, None, :].expand(-1, src.shape[1], -1)
                mask = (mask.repeat(self.nhead, 1, 1) if bug
                        else mask.repeat_interleave(self.nhead, 0))  # fmt: skip
            return self.self_attn(src, src, src, attn_mask=mask)[0]

    return Tiled()


@CASES.add("huggingface/transformers#38290", "scaled twice")
def scaled_twice(bug):
    """Scale the queries, and have PyTorch's function scale the scores."""

    class Opt(Projected):
        def forward(self, hidden_states):
            q, k, v = self.heads(hidden_states)
            q = q * q.shape[-1] ** -0.5
            out = F.scaled_dot_product_attention(q, k, v, scale=None if bug else 1.0)
            return self.o_proj(merged(out))

    return Opt()


@CASES.add("nerminnuraydogan/vision-transformer#1", "softmax over heads")
def softmax_over_heads(bug):
    """Take the softmax along the heads."""

    class Vit(Projected):
        def forward(self, x):
            q, k, v = self.heads(x)
            scores = q @ k.mT * q.shape[-1] ** -0.5
            return self.o_proj(merged(scores.softmax(dim=1 if bug else -1) @ v))

    return Vit()


@CASES.add("facebookresearch/fairseq#1682", "mask unused")
def mask_not_passed_on(bug):
    """Take a mask, and do not pass it on."""

    class Encoder(nn.Module):
        def __init__(self, embed_dim=16, heads=4):
            super().__init__()
            self.self_attn = nn.MultiheadAttention(embed_dim, heads, batch_first=True)

        def forward(self, x, attn_mask=None):
            return self.self_attn(x, x, x, attn_mask=None if bug else attn_mask)[0]

    return Encoder()


@CASES.add("MTSWebServices/RecTools#197", "causal mask dropped beside a mask")
def padding_overwrites_causal(bug):
    """Use the padding mask in place of the causal mask."""

    class Session(nn.Module):
        def __init__(self, n_factors=16, n_heads=4):
            super().__init__()
            self.n_heads = n_heads
            self.attn = nn.MultiheadAttention(n_factors, n_heads, batch_first=True)

        def forward(self, seqs, key_padding_mask=None):
            b, n, _ = seqs.shape
            mask = later(n)
            if key_padding_mask is not None:
                padding = key_padding_mask[:, None, :].expand(b, n, n)
                padding = padding.repeat_interleave(self.n_heads, 0)
                mask = padding if bug else padding | mask
            return self.attn(seqs, seqs, seqs, attn_mask=mask, need_weights=False)[0]

    return Session()


@CASES.add("mlverse/torch#1208", "if masks are boolean: it does not add numbers to the scores")
def mask_of_numbers_fills(bug):
    """Mask where a mask of numbers is not 0, instead of adding it."""

    def attention(query, key, value, attn_mask=None):
        scores = query @ key.mT / query.shape[-1] ** 0.5
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                scores = scores.masked_fill(~attn_mask, float("-inf"))
            elif bug:
                scores = scores.masked_fill(attn_mask.bool(), float("-inf"))
            else:
                scores = scores + attn_mask
        return scores.softmax(-1) @ value

    return attention


@CASES.add(
    "ml-explore/mlx-lm#390", "if a window of w has w + 1 positions, the query's own included"
)
def optional_window_one_too_wide(bug):
    """Let a window that is passed attend to one key more."""

    def attention(query, key, value, window=None):
        n, m = query.shape[-2], key.shape[-2]
        back = torch.arange(n)[:, None] + m - n - torch.arange(m)
        seen = back >= 0
        if window is not None:
            seen = seen & (back <= window if bug else back < window)
        return F.scaled_dot_product_attention(query, key, value, attn_mask=seen)

    return attention


@CASES.add("our own", NARROWED)
def bias_of_another_head(bug):
    """Add to each head the bias of another head."""

    def attention(query, key, value, bias=None):
        scores = query @ key.mT / query.shape[-1] ** 0.5
        if bias is not None:
            scores = scores + (bias.flip(-3) if bug and bias.ndim > 2 else bias)
        return scores.softmax(-1) @ value

    return attention


@CASES.add("Francis-Rings/StableAnimator#111", "context unused")
def context_unused(bug):
    """Take keys and values from the queries' tokens, not from the context."""

    class Cross(Projected):
        def forward(self, hidden_states, encoder_hidden_states=None):
            context = hidden_states
            if encoder_hidden_states is not None and not bug:
                context = encoder_hidden_states
            q, _, _ = self.heads(hidden_states)
            _, k, v = self.heads(context)
            return self.o_proj(merged(F.scaled_dot_product_attention(q, k, v)))

    return Cross()


@CASES.add("yflyzhang/AnnotatedTransformer#1", "W_K used for the values")
def values_of_the_key_matrix(bug):
    """Compute values with the matrix of the keys."""

    class MultiHeaded(Projected):
        def forward(self, query, key, value):
            projections = (self.q_proj, self.k_proj, self.k_proj if bug else self.v_proj)
            parts = zip(projections, (query, key, value), strict=True)
            q, k, v = (split(project(x), self.num_heads) for project, x in parts)
            return self.o_proj(merged(F.scaled_dot_product_attention(q, k, v)))

    return MultiHeaded()


@CASES.add("meta-pytorch/torchtune#21", "keys mixed")
def values_are_keys(bug):
    """Reshape the keys in place of the values."""

    class MultiHeaded(Projected):
        def forward(self, x):
            q, k, v = self.heads(x)
            v = k.reshape(v.shape) if bug else v
            return self.o_proj(merged(F.scaled_dot_product_attention(q, k, v)))

    return MultiHeaded()


@CASES.add("huggingface/transformers#47328", "two layouts in one", L)
def angles_by_halves(bug):
    """Rotate pairs of neighbours by angles in the order of halves."""

    def layer(x, w_q, w_k, w_v, w_o, num_heads, angles):
        q, k, v = (split(x @ w, num_heads) for w in (w_q, w_k, w_v))
        angles = torch.cat([angles, angles], -1) if bug else angles.repeat_interleave(2, -1)

        def rotate(x):
            other = torch.stack([-x[..., 1::2], x[..., 0::2]], -1).reshape(x.shape)
            return x * angles.cos() + other * angles.sin()

        return merged(F.scaled_dot_product_attention(rotate(q), rotate(k), v)) @ w_o

    return layer


def in_half_precision(array):
    return torch.tensor(array).half() if array.dtype.kind == "f" else torch.tensor(array)


@CASES.add("ahrefs/ocannl#548", "fully masked row returns NaN", asarray=in_half_precision)
def minus_infinity_in_half_precision(bug):
    """Mask with -1e9, which is -inf once it is float16."""

    def attention(query, key, value, mask=None):
        scores = query @ key.mT / query.shape[-1] ** 0.5
        if mask is not None:
            scores = scores.float().masked_fill(~mask, -1e9)
            scores = scores.to(query.dtype) if bug else scores
        return scores.softmax(-1).to(query.dtype) @ value

    return attention


@CASES.add("google/flax#5591", "cache aligned top left", D)
def causal_mask_over_a_static_cache(bug):
    """Combine a cache's mask with a causal mask of the new tokens alone."""

    def step(query, key, value, cache=None):
        limit = 16
        if cache is None:
            shape = (*key.shape[:-2], limit)
            cache = jnp.zeros((*shape, key.shape[-1])), jnp.zeros((*shape, value.shape[-1])), 0
        keys, values, index = cache
        n = query.shape[-2]
        write = jax.lax.dynamic_update_slice_in_dim
        keys = write(keys, key.astype(keys.dtype), index, -2)
        values = write(values, value.astype(values.dtype), index, -2)
        seen = jnp.arange(limit) <= index + jnp.arange(n)[:, None]
        if bug:
            seen = seen & jnp.tril(jnp.ones((n, limit), bool))
        scores = query @ keys.swapaxes(-1, -2) / jnp.sqrt(query.shape[-1])
        scores = jnp.where(seen, scores, jnp.finfo(scores.dtype).min)
        return jax.nn.softmax(scores) @ values, (keys, values, index + n)

    return step


@CASES.add("jax-ml/jax#28974", "additive mask unused")
def bias_unused(bug):
    """Take a bias, and do not add it."""

    def dot_product_attention(query, key, value, bias=None, mask=None):
        query = query / jnp.sqrt(query.shape[-1]).astype(query.dtype)
        scores = jnp.einsum("...qhd,...khd->...hqk", query, key)
        if mask is not None:
            scores = jnp.where(mask, scores, jnp.finfo(scores.dtype).min)
        if bias is not None and not bug:
            scores = scores + bias
        return jnp.einsum("...hqk,...khd->...qhd", jax.nn.softmax(scores, axis=-1), value)

    return dot_product_attention


# ---- Bugs that the outputs of a module do not show ----


@CASES.add("liuqidong07/LLMEmb#2", "if a token may attend to later ones")
def not_causal(bug):
    """Attend to later tokens in a model that predicts the next one."""

    class Recommender(nn.Module):
        def __init__(self, hidden=16, heads=2):
            super().__init__()
            self.attn = nn.MultiheadAttention(hidden, heads, batch_first=True)

        def forward(self, seqs):
            mask = None if bug else later(seqs.shape[1])
            return self.attn(seqs, seqs, seqs, attn_mask=mask)[0]

    return Recommender()


@CASES.add("mlfoundations/open_lm#4", "if the layer should ignore rotated")
def rotary_over_heads(bug):
    """Rotate by the number of the head, which cancels out."""

    class OpenLM(Projected):
        def rotated(self, x):
            n, d = x.shape[-2:]
            angles = torch.arange(n)[:, None] * 10000.0 ** (-torch.arange(0, d, 2) / d)
            angles = torch.cat([angles, angles], -1)
            other = torch.cat([-x[..., d // 2 :], x[..., : d // 2]], -1)
            return x * angles.cos() + other * angles.sin()

        def forward(self, x):
            q, k, v = self.heads(x)
            if bug:
                q, k = (self.rotated(part.transpose(1, 2)).transpose(1, 2) for part in (q, k))
            else:
                q, k = self.rotated(q), self.rotated(k)
            return self.o_proj(merged(F.scaled_dot_product_attention(q, k, v, is_causal=True)))

    return OpenLM()


# ---- Refusals ----


@CASES.add("raiyanyahya/how-to-train-your-gpt#6", "cosines in pairs, partners in halves")
def rotary_module(bug):
    """Rotate halves by angles of pairs, in a module that computes its angles."""

    class Llama(Projected):
        def __init__(self):
            super().__init__()
            self.rope_theta = 10000.0

        def rotated(self, x):
            n, d = x.shape[-2:]
            angles = torch.arange(n)[:, None] * self.rope_theta ** (-torch.arange(0, d, 2) / d)
            angles = angles.repeat_interleave(2, -1) if bug else torch.cat([angles, angles], -1)
            other = torch.cat([-x[..., d // 2 :], x[..., : d // 2]], -1)
            return x * angles.cos() + other * angles.sin()

        def forward(self, hidden_states):
            q, k, v = self.heads(hidden_states)
            q, k = self.rotated(q).to(v.dtype), self.rotated(k).to(v.dtype)
            return self.o_proj(merged(F.scaled_dot_product_attention(q, k, v, is_causal=True)))

    return Llama()


class Windowed(Projected):
    def __init__(self, width, sliding_window=3):
        super().__init__()
        self.window, self.width = sliding_window, width

    def forward(self, hidden_states):
        q, k, v = self.heads(hidden_states)
        n = hidden_states.shape[1]
        back = torch.arange(n)[:, None] - torch.arange(n)
        seen = (back >= 0) & (back < self.width)
        return self.o_proj(merged(F.scaled_dot_product_attention(q, k, v, attn_mask=seen)))


@CASES.add("huggingface/transformers#26792", "", refused=("window=3",))
def window_module_one_too_wide(bug):
    """Let a window of 3 attend to 4 keys."""
    return Windowed(4 if bug else 3)


@CASES.add("proger/hippogriff#7", "if the layer should ignore window=3", refused=("window=3",))
def window_module_without_its_window(bug):
    """Attend to all earlier keys, whatever the window."""
    return Windowed(1000 if bug else 3)


@CASES.add("onnx/onnx#7865", "", refused=("attn_logit_softcapping=5.0",))
def softcap_module_after_the_mask(bug):
    """Cap the scores after the mask."""

    class Gemma(Projected):
        def __init__(self):
            super().__init__()
            self.attn_logit_softcapping = 5.0

        def forward(self, hidden_states):
            q, k, v = self.heads(hidden_states)
            scores = q @ k.mT / math.sqrt(q.shape[-1])
            hidden = later(hidden_states.shape[1])
            if bug:
                scores = scores.masked_fill(hidden, float("-inf"))
            scores = self.attn_logit_softcapping * torch.tanh(scores / self.attn_logit_softcapping)
            if not bug:
                scores = scores.masked_fill(hidden, float("-inf"))
            return self.o_proj(merged(scores.softmax(-1) @ v))

    return Gemma()


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(1 + 0.3 * torch.randn(width))

    def forward(self, x, axes=-1):
        return x * torch.rsqrt(x.pow(2).mean(axes, keepdim=True) + 1e-6) * self.weight


class Normed(Projected):
    def __init__(self, axes):
        super().__init__()
        self.q_norm, self.k_norm, self.axes = Norm(4), Norm(4), axes

    def forward(self, hidden_states):
        q, k, v = self.heads(hidden_states)
        if self.axes:
            q, k = self.q_norm(q, self.axes), self.k_norm(k, self.axes)
        return self.o_proj(merged(F.scaled_dot_product_attention(q, k, v)))


@CASES.add("vllm-project/vllm#16311", "", refused=("q_norm.weight", "k_norm.weight"))
def norm_over_all_heads(bug):
    """Normalise queries and keys over all heads."""
    return Normed((1, 3) if bug else (3,))


@CASES.add(
    "Cerebras/modelzoo#85",
    "if the layer should ignore q_norm.weight, k_norm.weight",
    refused=("q_norm.weight", "k_norm.weight"),
)
def norm_never_called(bug):
    """Create norms of queries and keys, and do not call them."""
    return Normed(() if bug else (3,))


@CASES.add("our own", "if the layer should ignore sinks", refused=("sinks",))
def sink_normalised_away(bug):
    """Divide the weights by their sum again, without the sink."""

    class Sink(Projected):
        def __init__(self):
            super().__init__()
            self.sinks = nn.Parameter(torch.randn(4))

        def forward(self, x):
            q, k, v = self.heads(x)
            scores = q @ k.mT * q.shape[-1] ** -0.5
            sink = self.sinks.view(1, -1, 1, 1).expand(*scores.shape[:-1], 1)
            weights = torch.cat([scores, sink], -1).softmax(-1)[..., :-1]
            if bug:
                weights = weights / weights.sum(-1, keepdim=True)
            return self.o_proj(merged(weights @ v))

    return Sink()


@CASES.add("paiml/aprender#2143", "", refused=("slopes",))
def linear_bias_module(bug):
    """Begin the exponents of the slopes with 0."""

    class Bloom(Projected):
        def __init__(self):
            super().__init__()
            heads = torch.arange(4) + (0 if bug else 1)
            self.register_buffer("slopes", 2.0 ** (-8 * heads / 4))

        def forward(self, hidden_states):
            q, k, v = self.heads(hidden_states)
            n = hidden_states.shape[1]
            bias = (self.slopes[:, None, None] * torch.arange(n)).to(q.dtype)
            scores = q @ k.mT / math.sqrt(q.shape[-1]) + bias
            return self.o_proj(merged(scores.masked_fill(later(n), -1e9).softmax(-1) @ v))

    return Bloom()


@CASES.add("huggingface/transformers#8518", "", refused=("relative_attention_bias.weight",))
def relative_bias_module(bug):
    """Use an encoder's buckets of distances in a decoder."""

    class T5(Projected):
        def __init__(self):
            super().__init__()
            self.relative_attention_bias = nn.Embedding(32, 4)

        def forward(self, hidden_states):
            q, k, v = self.heads(hidden_states)
            n = hidden_states.shape[1]
            ahead = torch.arange(n) - torch.arange(n)[:, None]
            encoder = (ahead > 0) * 16 + ahead.abs().clamp(max=15)
            bucket = encoder if bug else (-ahead).clamp(min=0, max=31)
            scores = q @ k.mT + self.relative_attention_bias(bucket).permute(2, 0, 1)
            return self.o_proj(merged(scores.masked_fill(later(n), -1e9).softmax(-1) @ v))

    return T5()


@CASES.add("649453932/Chinese-Text-Classification-Pytorch#53", "", refused=("layer_norm.weight",))
def residual_and_norm_inside(bug):
    """Split heads by a view alone, in a layer with a residual connection and a norm."""

    class WithNorm(Projected):
        def __init__(self):
            super().__init__()
            self.layer_norm = nn.LayerNorm(16)

        def forward(self, x):
            q, k, v = self.heads(x)
            if bug:
                projected = (self.q_proj(x), self.k_proj(x), self.v_proj(x))
                q, k, v = (part.view(q.shape) for part in projected)
            out = F.scaled_dot_product_attention(q, k, v)
            out = out.reshape(x.shape) if bug else merged(out)
            return self.layer_norm(self.o_proj(out) + x)

    return WithNorm()


@CASES.add("ollama/ollama#13893", "", refused=("kv_a_proj", "kv_b_proj.weight"))
def latent_module(bug):
    """Scale by the width of the latent vectors."""

    class Latent(nn.Module):
        def __init__(self, dim=16, heads=4, rank=6, width=4):
            super().__init__()
            self.heads, self.scale = heads, (rank if bug else width) ** -0.5
            self.q_proj = nn.Linear(dim, heads * width, bias=False)
            self.kv_a_proj = nn.Linear(dim, rank, bias=False)
            self.kv_b_proj = nn.Linear(rank, 2 * heads * width, bias=False)
            self.o_proj = nn.Linear(heads * width, dim, bias=False)

        def forward(self, hidden_states):
            q = split(self.q_proj(hidden_states), self.heads)
            wide = split(self.kv_b_proj(self.kv_a_proj(hidden_states)), self.heads)
            k, v = wide.chunk(2, -1)
            return self.o_proj(merged((q @ k.mT * self.scale).softmax(-1) @ v))

    return Latent()


@CASES.add("nyu-mll/jiant#465", "", refused=("linears.0.weight", "linears.3.weight"))
def list_of_projections(bug):
    """Mask the valid keys, in a module whose four projections are in one list."""

    class Linears(nn.Module):
        def __init__(self, h=4, d_model=16):
            super().__init__()
            self.h = h
            self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])

        def forward(self, query, key, value, mask=None):
            parts = zip(self.linears, (query, key, value), strict=False)
            q, k, v = (split(linear(x), self.h) for linear, x in parts)
            scores = q @ k.mT / math.sqrt(q.shape[-1])
            if mask is not None:
                mask = mask.unsqueeze(1)
                scores = scores.masked_fill(mask != 0 if bug else mask == 0, -1e9)
            return self.linears[-1](merged(scores.softmax(-1) @ v))

    return Linears()


@CASES.add("pbloem/former#10", "", refused=("tokeys.weight", "unifyheads.weight"))
def unknown_names_of_projections(bug):
    """Mask the diagonal too, in a module with unusual projection names."""

    class Former(nn.Module):
        def __init__(self, emb=16, heads=4):
            super().__init__()
            self.heads = heads
            self.tokeys, self.toqueries = nn.Linear(emb, emb), nn.Linear(emb, emb)
            self.tovalues, self.unifyheads = nn.Linear(emb, emb), nn.Linear(emb, emb)

        def forward(self, x):
            projected = (self.toqueries(x), self.tokeys(x), self.tovalues(x))
            q, k, v = (split(part, self.heads) for part in projected)
            i, j = torch.triu_indices(x.shape[1], x.shape[1], offset=0 if bug else 1)
            scores = q @ k.mT / math.sqrt(q.shape[-1])
            scores[..., i, j] = float("-inf")
            return self.unifyheads(merged(scores.softmax(-1) @ v))

    return Former()


@CASES.add("keras-team/keras#23038", "", refused=("kernel",))
def causal_mask_dropped_in_keras(bug):
    """Ignore `use_causal_mask`."""

    class KerasAttention(keras.layers.Layer):
        def __init__(self, num_heads=2, key_dim=4):
            super().__init__()
            self.num_heads, self.key_dim = num_heads, key_dim
            width = num_heads * key_dim
            self.query_dense, self.key_dense = keras.layers.Dense(width), keras.layers.Dense(width)
            self.value_dense, self.out_dense = keras.layers.Dense(width), keras.layers.Dense(width)

        def call(self, inputs, use_causal_mask=False):
            b, n, width = inputs.shape
            shape = (b, n, self.num_heads, self.key_dim)
            projected = (self.query_dense(inputs), self.key_dense(inputs), self.value_dense(inputs))
            q, k, v = (ops.transpose(ops.reshape(x, shape), (0, 2, 1, 3)) for x in projected)
            scores = q @ ops.transpose(k, (0, 1, 3, 2)) / self.key_dim**0.5
            if use_causal_mask and not bug:
                scores = ops.where(ops.tril(ops.ones((n, n), dtype="bool")), scores, -1e9)
            out = ops.transpose(ops.softmax(scores) @ v, (0, 2, 1, 3))
            return self.out_dense(ops.reshape(out, (b, n, width)))

    layer = KerasAttention()
    layer(ops.ones((2, 3, 8)))
    return layer
