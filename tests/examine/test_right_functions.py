"""What is right is right in any style and convention; a bug that the table lacks, or two, is told.

A right function of several lines is made wrong by a change of its text, as its writer would err.
"""

import numpy as np
import pytest
from unseen import DIVIDES, FIRST, FOUR_AXES, HIDES, LAST, NO_NUMBERS, ROTARY, A, D, L, P, Unseen
from wrong_by_hand import causal, dots, joined, masked, parted, soft, t, true_slopes, turned

import mha

INF = np.inf


def at_the_end(q, k):
    """Return what is seen where the last query has the place of the last key."""
    return causal(q, k, k.shape[-2] - q.shape[-2])


# ---- Attention ----


def loops(query, key, value):
    """Go through queries and keys one by one; of one head."""
    rows = []
    for q in query:
        s = [sum(a * b for a, b in zip(q, k, strict=True)) / len(q) ** 0.5 for k in key]
        e = [np.exp(x - max(s)) for x in s]
        rows.append(sum(x * v for x, v in zip(e, value, strict=True)) / sum(e))
    return np.array(rows, query.dtype)


def as_in_pytorch(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False
):
    if enable_gqa:
        key, value = (np.repeat(x, query.shape[-3] // x.shape[-3], -3) for x in (key, value))
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    s = masked(query @ t(key) * factor, attn_mask)
    if is_causal:
        s = masked(s, causal(query, key))
    return soft(s) @ value, soft(s)


def softcapped(query, key, value, mask=None, scale=None, softcap=None):
    scale = 1.0 / query.shape[-1] ** 0.5 if scale is None else scale
    scores = np.einsum("...qd,...kd->...qk", query, key) * scale
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    if mask is not None:
        scores = masked(scores, mask)
    return soft(scores) @ value


def all_masks(query, key, value, attn_mask=None, key_padding_mask=None, is_causal=False):
    scores = dots(query, key)
    if is_causal:
        scores = masked(scores, at_the_end(query, key))
    if attn_mask is not None:
        scores = masked(scores, attn_mask)
    if key_padding_mask is not None:
        scores = masked(scores, key_padding_mask[:, None, None, :])
    return soft(scores) @ value


CAPPED, MASKS = Unseen(softcapped, A), Unseen(all_masks, A, conditions=(FOUR_AXES, LAST))
ATTENTION = {
    "if arrays have 2 axes": loops,
    FIRST: mha.scaled_dot_product_attention,
    "your function computes float64 with the digits of float32": lambda q, k, v: (
        soft(dots(q.astype(np.float32), k.astype(np.float32))) @ v.astype(np.float32)
    ).astype(q.dtype),
    "your function returns float64 where float32 is handed in": lambda q, k, v:
        (soft(dots(q, k)) @ v).astype(float),
    "if arrays have 4 axes": lambda q, k, v: np.einsum("bhij,bhjd->bhid", soft(dots(q, k)), v),
    HIDES: lambda q, k, v, mask=None:
        soft(masked(dots(q, k), mask if mask is None or mask.dtype != bool else ~mask)) @ v,
    NO_NUMBERS: lambda q, k, v, mask=None:
        soft(dots(q, k) if mask is None else np.where(mask, dots(q, k), -INF)) @ v,
    "if it is causal always": lambda q, k, v: soft(masked(dots(q, k), causal(q, k))) @ v,
    DIVIDES: lambda q, k, v, scale=None: soft(q @ t(k) / (scale or q.shape[-1] ** 0.5)) @ v,
    "if scores are multiplied by 0.3": lambda q, k, v: soft(q @ t(k) * 0.3) @ v,
    "if the scale is 0.5 ÷ √d_k": lambda q, k, v: soft(dots(q, k) / 2) @ v,
}  # fmt: skip
"""What is right by one convention, by what is told of it."""


def heads_behind_tokens(q, k, v):
    weights = soft(np.einsum("...nhd,...mhd->...hnm", q, k) / q.shape[-1] ** 0.5)
    return np.einsum("...hnm,...mhd->...nhd", weights, v)


def causal_if_told_nothing(q, k, v, is_causal=True):
    return soft(masked(dots(q, k), causal(q, k) if is_causal else None)) @ v


# ---- Layers ----


def layer(x, w_q, w_k, w_v, w_o, num_heads, key=None, value=None):
    key = x if key is None else key
    value = key if value is None else value
    q, k, v = (parted(a, num_heads) for a in (x @ w_q, key @ w_k, value @ w_v))
    return joined(soft(dots(q, k)) @ v) @ w_o


def fused(x, w_qkv, w_o, num_heads, b_qkv=0, b_o=0):
    q, k, v = (parted(a, num_heads) for a in np.split(x @ w_qkv + b_qkv, 3, axis=-1))
    return joined(soft(dots(q, k)) @ v) @ w_o + b_o


def padded(x, w_qkv, w_out, num_heads, attn_mask=None, key_padding_mask=None):
    q, k, v = (parted(a, num_heads) for a in np.split(x @ w_qkv, 3, -1))
    s = masked(dots(q, k), attn_mask)
    if key_padding_mask is not None:
        s = np.where(key_padding_mask[..., None, None, :], -INF, s)
    return joined(soft(s) @ v) @ w_out


def grouped(x, w_q, w_k, w_v, w_o, num_heads, num_kv_heads, context=None, is_causal=False):
    c = x if context is None else context
    q = parted(x @ w_q, num_heads)
    k, v = (parted(c @ w, num_kv_heads) for w in (w_k, w_v))
    k, v = (np.repeat(a, num_heads // num_kv_heads, -3) for a in (k, v))
    return joined(soft(masked(dots(q, k), causal(q, k) if is_causal else None)) @ v) @ w_o


def no_output(hidden_states, w_q, w_k, w_v, n_heads, angles=None):
    q, k, v = (parted(hidden_states @ w, n_heads) for w in (w_q, w_k, w_v))
    if angles is not None:
        q, k = mha.rotate_by(q, angles), mha.rotate_by(k, angles)
    return joined(soft(dots(q, k)) @ v)


def of_batches(x, w_qkv, w_o, num_heads):
    """Be causal always, as small GPTs are."""
    b, n, d = x.shape
    q, k, v = (a.reshape(b, n, num_heads, -1).swapaxes(1, 2) for a in np.split(x @ w_qkv, 3, -1))
    o = soft(np.where(np.tri(n, dtype=bool), dots(q, k), -INF)) @ v
    return o.swapaxes(1, 2).reshape(b, n, d) @ w_o


LAYER, FUSED = Unseen(layer, L), Unseen(fused, L)


# ---- Steps with a cache, and positions ----


def step(query, key, value, cache):
    past = 0 if cache is None else cache[0].shape[-2]
    places = past + np.arange(query.shape[-2])
    query, key = turned(query, places), turned(key, places)
    if cache is not None:
        key = np.concatenate([cache[0], key], axis=-2)
        value = np.concatenate([cache[1], value], axis=-2)
    return soft(masked(dots(query, key), at_the_end(query, key))) @ value, (key, value)


def told_its_places(query, key, value, cache, positions):
    return still(turned(query, positions), turned(key, positions), value, cache)


def still(q, k, v, past):
    if past is not None:
        k, v = (np.concatenate(both, -2) for both in zip(past, (k, v), strict=True))
    return soft(np.where(at_the_end(q, k), dots(q, k), -INF)) @ v, (k, v)


def rotary(x, positions, base=10000.0):
    return turned(x, positions, base)


def linear_bias(num_heads, num_queries, num_keys):
    i = np.arange(num_queries)[:, None] + num_keys - num_queries
    j = np.arange(num_keys)[None, :]
    return -np.array(true_slopes(num_heads))[:, None, None] * np.abs(i - j)


def as_published(num_heads, n):
    """Leave out what counts for nothing: a row's constant, and what is later."""
    return np.array(true_slopes(num_heads))[:, None, None] * np.arange(n) + np.zeros((n, 1))


def token_numbers(mask):
    return np.maximum(np.cumsum(mask, axis=-1) - 1, 0)


STEP = Unseen(step, D, options=ROTARY)
TURN, BIAS, NUMBERS = (Unseen(function, P) for function in (rotary, linear_bias, token_numbers))
RIGHT = [
    *(Unseen(function, A, told, (told,)) for told, function in ATTENTION.items()),
    *(CAPPED, MASKS, LAYER, FUSED, STEP, TURN, BIAS, NUMBERS),
    Unseen(as_in_pytorch, A, conditions=(FIRST,)),
    Unseen(causal_if_told_nothing, A, conditions=(FIRST,)),
    Unseen(heads_behind_tokens, A,
           conditions=("if axes are (..., n, num_heads, d_k)", "if arrays have 3 or 4 axes")),
    Unseen(padded, L, conditions=("if True is padding",)),
    Unseen(of_batches, L, conditions=("if arrays have 3 axes", "if it is causal always")),
    *(Unseen(function, L) for function in (grouped, no_output, mha.multi_head_attention)),
    *(Unseen(function, D) for function in (told_its_places, still, mha.decode_step)),
    Unseen(lambda x, positions: turned(x, positions, layout="halves"), P, "halves",
           options={"layout": "halves"}),
    *(Unseen(function, P) for function in (mha.rotate, mha.linear_slopes, as_published)),
    Unseen(lambda mask: (mask.cumsum(-1) - 1) * mask, P, "padding has place 0"),
    Unseen(mha.linear_biases, P, conditions=(FIRST,)),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("one", RIGHT, ids=str)
def test_what_is_right_is_right_and_its_conventions_are_told(one):
    one.expect_right(np.asarray)


# ---- Bugs that the table does not know, and two at once ----

CAP = "    if softcap is not None:\n        scores = softcap * np.tanh(scores / softcap)\n"
HIDE = "    if mask is not None:\n        scores = masked(scores, mask)\n"
ROOT, READ, NUMBERED = "query.shape[-1] ** 0.5", "value @ w_v", "np.cumsum(mask, axis=-1) - 1"

WRONG = [
    CAPPED.wrong("scores in float16", "query, key)", "query.astype('e'), key.astype('e'))",
                 "* scale", "* np.float16(scale)", CAP, "    scores = scores.astype(query.dtype)\n",
                 ", softcap=None", ""),
    CAPPED.wrong("softcap after the mask, so that the hidden is seen", CAP + HIDE, HIDE + CAP),
    MASKS.wrong("padding mask's batch lies against the heads", "[:, None, None, :]", "[:, None]"),
    MASKS.wrong("causal ignored where there is a mask",
                "if is_causal:", "if is_causal and attn_mask is None:"),
    MASKS.wrong("padding and causal mask joined by or", "if is_causal:",
                "if is_causal and key_padding_mask is None:", "key_padding_mask[:, None, None, :]",
                "key_padding_mask[:, None, None, :] | (at_the_end(query, key) & is_causal)"),
    LAYER.wrong("W_K used for the values", READ, "value @ w_k"),
    LAYER.wrong("values before their projection", READ, "value"),
    LAYER.wrong("residual added inside", "return ", "return x + "),
    LAYER.wrong("key and value exchanged", "key @ w_k", "value @ w_k", READ, "key @ w_v"),
    STEP.wrong("cache keeps the last four tokens only",
               ", (key, value)", ", (key[..., -4:, :], value[..., -4:, :])"),
    NUMBERS.wrong("the first text's padding taken for all", NUMBERED,
                  "np.arange(mask.shape[-1]) - np.argmax(np.atleast_2d(mask)[0]) + 0 * mask"),
    NUMBERS.wrong("padding taken to be on the right", NUMBERED,
                  "np.minimum(np.arange(mask.shape[-1]), mask.sum(axis=-1, keepdims=True) - 1)"),
]  # fmt: skip
PAIRS = [
    CAPPED.wrong("softmax over queries; root of the key count",
                 "soft(scores)", "soft(scores, axis=-2)", ROOT, "key.shape[-2] ** 0.5"),
    CAPPED.wrong("softcap before scale; scale ignored", " * scale", "",
                 HIDE, f"    scores /= {ROOT}\n{HIDE}"),
    FUSED.wrong("fused cut as k, q, v; b_o left out", "q, k, v = (", "k, q, v = (", " + b_o", ""),
    STEP.wrong("keys appended in front; no causal mask", "[cache[0], key]", "[key, cache[0]]",
               "at_the_end(query, key)", "None"),
    STEP.wrong("positions begin anew; cache overwritten", "past + np", "np",
               "    if cache", "    new = key, value\n    if cache", ", (key, value)", ", new"),
    TURN.wrong("turned backwards; from position 1", "x, positions, base)", "x, -positions - 1)"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("one", WRONG, ids=str)
def test_a_bug_that_the_table_lacks_is_told(one):
    one.expect_told(np.asarray)


@pytest.mark.slow
@pytest.mark.parametrize("one", PAIRS, ids=str)
def test_two_bugs_are_told_and_neither_is_named_as_if_it_were_alone(one):
    report = one.examined(np.asarray)
    assert not report.ok
    assert all(finding.bug is None for finding in report.findings)
    assert all(finding.case for finding in report.findings if not finding.convention)


def test_no_place_is_read_from_biases_of_the_wrong_sign():
    upwards = BIAS.wrong("linear biases of the wrong sign", "return -", "return ")
    assert [found.bug for found in upwards.examined(np.asarray).findings] == ["bias upwards"]


def test_a_bug_in_the_other_layout_is_named():
    report = mha.examine_positions(rotary, layout="halves")  # which turns neighbours
    assert [finding.bug for finding in report.findings] == ["halves for pairs"]


def test_nan_where_another_bug_leaves_nothing_is_told_beside_it():
    def attention(q, k, v, is_causal=False):
        s = np.where(causal(q, k, -1), dots(q, k), -INF) if is_causal else dots(q, k)
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ v

    found = {finding.bug for finding in mha.examine(attention).findings}
    assert found == {"diagonal hidden", "NaN for nothing seen"}


def test_a_bug_under_another_convention_is_named_with_it():
    def attention(q, k, v, mask=None):
        s = q @ t(k)
        return soft(s if mask is None else masked(s, ~mask if mask.dtype == bool else mask)) @ v

    found = {(finding.bug, finding.convention) for finding in mha.examine(attention).findings}
    assert found == {("no scale", None), (None, HIDES)}
