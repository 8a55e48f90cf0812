"""Faulty attention after public bug reports: each a correct function and one change.

Every row has the repository and the number of the report, except for two of our own. It also has
the bug's name in the table of `mha.practice.bugs`, or "" if the table lacks the bug and the report
has to narrow it.
"""

import numpy as np
from by_hand import INF, causal, dots, soft, t
from independent_cases import A, Case, D, L, P


def heads(query, key, value, mask=None):
    """Compute attention with a mask that is boolean or additive."""
    d = query.shape[-1]
    scores = query @ t(key) / d**0.5
    if mask is not None:
        scores = np.where(mask, scores, -1e9) if mask.dtype == bool else scores + mask
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ value


def tiny_gpt(q, k, v):
    """Compute attention that is always causal, as in nanoGPT."""
    n = q.shape[-2]
    att = (q @ t(k)) * (1.0 / np.sqrt(k.shape[-1]))
    bias = np.tril(np.ones((n, n)))
    att = np.where(bias == 0, -INF, att)
    att = soft(att, -1)
    return att @ v


def grouped(query, key, value):
    """Share keys among neighbouring heads, with the number of groups from the shapes."""
    if query.ndim > 2 and query.shape[-3] != key.shape[-3]:
        times = query.shape[-3] // key.shape[-3]
        key, value = np.repeat(key, times, -3), np.repeat(value, times, -3)
    return soft(dots(query, key)) @ value


def capped(query, key, value, softcap=None, mask=None):
    scores = dots(query, key)
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    if mask is not None:
        scores = np.where(mask, scores, -INF) if mask.dtype == bool else scores + mask
    return soft(scores) @ value


def scaled(query, key, value, scale=None):
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    return soft(query @ t(key) * factor) @ value


def padded(query, key, value, key_padding_mask=None):
    scores = dots(query, key)
    if key_padding_mask is not None:
        hidden = key_padding_mask[:, None, None, :]
        scores = np.where(hidden, -INF, scores)
    return soft(scores) @ value


def merged_heads(x, w_q, w_k, w_v, w_o, num_heads, mask=None):
    """Merge heads into the batch axis, and repeat the mask of each sequence."""
    b, n, _ = x.shape
    split = [np.stack(np.split(x @ w, num_heads, -1), 1) for w in (w_q, w_k, w_v)]
    q, k, v = (a.reshape(b * num_heads, n, -1) for a in split)
    scores = dots(q, k)
    if mask is not None:
        if mask.ndim < 3:
            mask = np.broadcast_to(mask, (b, n, n))
        mask = np.repeat(mask, num_heads, axis=0)
        scores = np.where(mask, scores, -1e9)
    out = (soft(scores) @ v).reshape(b, num_heads, n, -1)
    return out.swapaxes(1, 2).reshape(b, n, -1) @ w_o


def views(x, w_q, w_k, w_v, w_o, num_heads):
    b, n, _ = x.shape
    q, k, v = ((x @ w).reshape(b, n, num_heads, -1).swapaxes(1, 2) for w in (w_q, w_k, w_v))
    out = soft(dots(q, k)) @ v
    return out.swapaxes(1, 2).reshape(b, n, -1) @ w_o


def blocks(query, key, value, block=16):
    """Process keys block by block, with a running sum."""
    top = np.full((*query.shape[:-1], 1), -INF)
    total, out = 0.0, 0.0
    for start in range(0, key.shape[-2], block):
        s = dots(query, key[..., start : start + block, :])
        new = np.maximum(top, s.max(-1, keepdims=True))
        old, e = np.exp(top - new), np.exp(s - new)
        total = total * old + e.sum(-1, keepdims=True)
        out = out * old + e @ value[..., start : start + block, :]
        top = new
    return out / total


def causal_or_not(query, key, value, attn_mask=None, use_causal_mask=False):
    scores = dots(query, key)
    if attn_mask is not None:
        scores = np.where(attn_mask, scores, -INF)
    if use_causal_mask:
        scores = np.where(causal(query, key), scores, -INF)
    return soft(scores) @ value


def cached(query, key, value, cache):
    """Cache keys and values, and let each new token attend to the earlier tokens."""
    past = 0 if cache is None else cache[0].shape[-2]
    if cache is not None:
        key = np.concatenate([cache[0], key], -2)
        value = np.concatenate([cache[1], value], -2)
    i, j = np.arange(query.shape[-2])[:, None], np.arange(key.shape[-2])
    scores = np.where(j <= i + past, dots(query, key), -INF)
    return soft(scores) @ value, (key, value)


def rope(x, positions):
    d = x.shape[-1]
    freqs = positions[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    cos, sin = np.repeat(np.cos(freqs), 2, -1), np.repeat(np.sin(freqs), 2, -1)
    other = np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
    return (x * cos + other * sin).astype(x.dtype)


def lengths(query, key, value, valid_lens=None):
    """Mask keys by the number of valid keys in each sequence."""
    scores = dots(query, key)
    if valid_lens is not None:
        real = np.arange(key.shape[-2]) < valid_lens[:, None]
        scores = np.where(real[:, None, None, :], scores, -1e6)
    return soft(scores) @ value


def position_ids(attention_mask):
    ids = np.cumsum(attention_mask, axis=-1) - 1
    return np.where(attention_mask == 0, 1, ids)


HEADS, GPT, GROUPED, CAPPED = (Case(f, A) for f in (heads, tiny_gpt, grouped, capped))
SCALED, PADDED, BLOCKS, CAUSAL = (Case(f, A) for f in (scaled, padded, blocks, causal_or_not))
MERGED, VIEWS, LENGTHS = Case(merged_heads, L), Case(views, L), Case(lengths, A)
CACHED, ROPE, IDS = Case(cached, D), Case(rope, P), Case(position_ids, P)

TWINS = [HEADS, GPT, GROUPED, CAPPED, SCALED, PADDED, BLOCKS, CAUSAL, MERGED, VIEWS, LENGTHS,
         CACHED, ROPE, IDS]  # fmt: skip

SUM = ".sum(axis=-1, keepdims=True)"
OTHER = "np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)"
SPLIT = "(x @ w).reshape(b, n, num_heads, -1).swapaxes(1, 2)"
TIMES = "np.repeat(key, times, -3), np.repeat(value, times, -3)"
WILD = {
    "fastNLP#254": ("softmax over axis 2", HEADS,
        (".max(axis=-1", ".max(axis=2", SUM, SUM.replace("-1", "2"))),
    "PetrochukM/PyTorch-NLP#2": ("softmax over the first axis", HEADS,
        (".max(axis=-1", ".max(axis=0", SUM, SUM.replace("-1", "0"))),
    "nerminnuraydogan/vision-transformer#1": ("wrong axis", GPT,
        ("soft(att, -1)", "soft(att, -2)")),
    "Graylab/DL4Proteins-notebooks#12": ("wrong root", GPT,
        ("k.shape[-1]", "(k.shape[-1] * (k.shape[-3] if k.ndim > 2 else 1))")),
    "mlc-ai/mlc-llm#3426": ("no scale", HEADS, (" / d**0.5", "")),
    "esceptico/perceiver-io#9": ("multiplied by the root", HEADS, ("d**0.5", "d**-0.5")),
    "SKaiNET-developers/SKaiNET#860": ("all scores 0", SCALED,
        ("scale=None", "scale=0.0",
         "query.shape[-1] ** -0.5 if scale is None else scale", "scale")),
    "awslabs/gluonts#1401": ("-1e-9 for -1e9", HEADS, ("-1e9", "1e-9 * -1")),
    "rasbt/LLMs-from-scratch#1061": ("causal mask reversed", GPT, ("bias == 0", "bias == 1")),
    "rasbt/LLMs-from-scratch#279": ("late mask", GPT,
        ("np.where(bias == 0, -INF, att)", "att", "soft(att, -1)", "np.tril(soft(att, -1))")),
    "pytorch/tutorials#2250": ("diagonal hidden", GPT, ("np.ones((n, n))", "np.ones((n, n)), -1")),
    "karpathy/nanoGPT#170": ("causal mask transposed", GPT, ("np.tril", "np.triu")),
    "kzl/decision-transformer#30": ("one key ahead", GPT,
        ("np.ones((n, n))", "np.ones((n, n)), 1")),
    "facebookresearch/xformers#103": ("is_causal unused", CAUSAL,
        ("if use_causal_mask:", "if use_causal_mask and attn_mask is not None:")),
    "keras-team/keras#23038": ("is_causal unused", CAUSAL, ("if use_causal_mask:", "if False:")),
    "onnx/onnx#7274": ("groups tiled", GROUPED,
        (TIMES, "np.concatenate([key] * times, -3), np.concatenate([value] * times, -3)")),
    "unslothai/unsloth-zoo#593": ("scores in place of the softcap", CAPPED,
        ("= softcap * np", "= scores * np")),
    "kekzl/imp#688": ("softcap unused", CAPPED, ("if softcap is not None:", "if False:")),
    "lucidrains/x-transformers#172": ("padding masks queries", PADDED,
        ("None, None, :]", "None, :, None]")),
    "lsdefine/attention-is-all-you-need-keras#36": ("masks tiled over the heads", MERGED,
        ("np.repeat(mask, num_heads, axis=0)", "np.concatenate([mask] * num_heads)")),
    "line/lighthouse#77": ("first sequence's mask for all", MERGED,
        ("np.repeat(mask, num", "np.repeat(mask[:1], b * num")),
    "reczoo/FuxiCTR#30": ("split and merged by reshape", VIEWS,
        (SPLIT, "(x @ w).reshape(b, num_heads, n, -1)",
         "out.swapaxes(1, 2).reshape", "out.reshape")),
    "hyunwoongko/transformer#15": ("reshape", VIEWS,
        (SPLIT, "(x @ w).reshape(b, num_heads, n, -1)")),
    "jsbaan/transformer-from-scratch#6": ("merged by reshape", VIEWS,
        ("out.swapaxes(1, 2).reshape", "out.reshape")),
    "harvardnlp/annotated-transformer#17": ("attention over the heads", VIEWS,
        (".swapaxes(1, 2) for", " for", "out.swapaxes(1, 2)", "out")),
    "pytorch/pytorch#108108": ("cache aligned top left", CACHED, ("i + past", "i")),
    "lucidrains/x-transformers#187": ("causal mask dropped once cached", CACHED,
        ("j <= i + past", "(j <= i + past) | (past > 0)")),
    "raiyanyahya/how-to-train-your-gpt#6": ("cosines in pairs, partners in halves", ROPE,
        (OTHER, "np.concatenate([-x[..., d // 2 :], x[..., : d // 2]], -1)")),
    "lucidrains/RETRO-pytorch#12": ("exponent doubled", ROPE, ("(np.arange(0, d, 2) / d)",
                                                               "(2 * np.arange(0, d, 2) / d)")),
    "unslothai/unsloth#3795": ("padding counted", IDS, ("np.cumsum(attention_mask, axis=-1) - 1",
        "np.arange(attention_mask.shape[-1]) + 0 * attention_mask")),
    "our own: the last block is lost": ("", BLOCKS,
        ("range(0, key.shape[-2], block)",
         "range(0, key.shape[-2] // block * block or 1, block)")),
    "our own: one length for all sequences": ("", LENGTHS,
        ("valid_lens[:, None]", "(valid_lens.max() + 0 * valid_lens[:, None])")),
}  # fmt: skip
"""By report: the bug's name, the correct function, and the change."""


def faulty():
    """Return the faulty functions, each with the expected bug name."""
    return [(name, twin.wrong(origin, *texts)) for origin, (name, twin, texts) in WILD.items()]
