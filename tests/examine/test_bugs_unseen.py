"""Bugs that the table does not know, and two at once, are told; their sound twins are right."""

import numpy as np
import pytest
from unseen import DIVIDES, FOUR_AXES, LAST, NO_NUMBERS, ROTARY, A, D, L, P, Unseen
from wrong_by_hand import dots, joined, masked, parted, soft, true_slopes, turned


def causal(n, m):
    return np.tril(np.ones((n, m), dtype=bool), k=m - n)


def attend(query, key, value):
    scores = dots(query, key)
    return soft(masked(scores, causal(*scores.shape[-2:]))) @ value


def softcapped(query, key, value, mask=None, scale=None, softcap=None):
    scale = 1.0 / query.shape[-1] ** 0.5 if scale is None else scale
    scores = np.einsum("...qd,...kd->...qk", query, key) * scale
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    if mask is not None:
        scores = masked(scores, mask)
    return soft(scores) @ value


def all_masks(query, key, value, attn_mask=None, key_padding_mask=None, is_causal=False):
    n, m = query.shape[-2], key.shape[-2]
    scores = dots(query, key)
    if is_causal:
        scores = masked(scores, causal(n, m))
    if attn_mask is not None:
        scores = masked(scores, attn_mask)
    if key_padding_mask is not None:
        scores = masked(scores, key_padding_mask[:, None, None, :])
    return soft(scores) @ value


def layer(x, w_q, w_k, w_v, w_o, num_heads, key=None, value=None):
    key = x if key is None else key
    value = key if value is None else value
    q, k, v = (parted(a, num_heads) for a in (x @ w_q, key @ w_k, value @ w_v))
    return joined(soft(dots(q, k)) @ v) @ w_o


def fused_layer(x, w_qkv, w_o, num_heads, b_qkv=0, b_o=0):
    q, k, v = (parted(a, num_heads) for a in np.split(x @ w_qkv + b_qkv, 3, axis=-1))
    return joined(soft(dots(q, k)) @ v) @ w_o + b_o


def step(query, key, value, cache):
    past = 0 if cache is None else cache[0].shape[-2]
    places = past + np.arange(query.shape[-2])
    query, key = turned(query, places), turned(key, places)
    if cache is not None:
        key = np.concatenate([cache[0], key], axis=-2)
        value = np.concatenate([cache[1], value], axis=-2)
    return attend(query, key, value), (key, value)


def rotary(x, positions):
    return turned(x, positions)


def linear_bias(num_heads, num_queries, num_keys):
    i = np.arange(num_queries)[:, None] + num_keys - num_queries
    j = np.arange(num_keys)[None, :]
    return -np.array(true_slopes(num_heads))[:, None, None] * np.abs(i - j)


def token_numbers(mask):
    return np.maximum(np.cumsum(mask, axis=-1) - 1, 0)


CAPPED, MASKS = Unseen(softcapped, A), Unseen(all_masks, A, conditions=(FOUR_AXES, LAST))
LAYER, FUSED, STEP = Unseen(layer, L), Unseen(fused_layer, L), Unseen(step, D, options=ROTARY)
TURN, BIAS, NUMBERS = (Unseen(function, P) for function in (rotary, linear_bias, token_numbers))
CAP = "    if softcap is not None:\n        scores = softcap * np.tanh(scores / softcap)\n"
HIDE = "    if mask is not None:\n        scores = masked(scores, mask)\n"
ROOT, READ, NUMBERED = "query.shape[-1] ** 0.5", "value @ w_v", "np.cumsum(mask, axis=-1) - 1"
UPWARDS = BIAS.wrong("linear biases of the wrong sign", "return -", "return ")

RIGHT = [
    *(CAPPED, MASKS, LAYER, FUSED, STEP, TURN, BIAS, NUMBERS),
    CAPPED.wrong("scale divides where it should multiply", "1.0 / query", "query", "key) * scale",
                 "key) / scale", conditions=(DIVIDES,)),
    CAPPED.wrong("a mask of numbers read as truth values", "masked(scores, mask)",
                 "masked(scores, mask.astype(bool))", conditions=(NO_NUMBERS,)),
]  # fmt: skip
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
                "key_padding_mask[:, None, None, :] | (causal(n, m) & is_causal)"),
    LAYER.wrong("W_K used for the values", READ, "value @ w_k"),
    LAYER.wrong("values before their projection", READ, "value"),
    LAYER.wrong("residual added inside", "return ", "return x + "),
    LAYER.wrong("key and value exchanged", "key @ w_k", "value @ w_k", READ, "key @ w_v"),
    STEP.wrong("cache keeps the last four tokens only",
               ", (key, value)", ", (key[..., -4:, :], value[..., -4:, :])"),
    UPWARDS,
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
               "attend(query, key, value)", "soft(dots(query, key)) @ value"),
    STEP.wrong("positions begin anew; cache overwritten", "past + np", "np",
               "    if cache", "    new = key, value\n    if cache", ", (key, value)", ", new"),
    TURN.wrong("turned backwards; from position 1", "positions)\n", "-positions - 1)\n"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("one", [*WRONG, *PAIRS], ids=str)
def test_a_bug_or_a_pair_is_told(one):
    one.expect_told(np.asarray)


@pytest.mark.slow
@pytest.mark.parametrize("one", PAIRS, ids=str)
def test_no_bug_of_two_is_named_as_if_it_were_alone(one):
    assert all(finding.bug is None for finding in one.examined(np.asarray).findings)


@pytest.mark.slow
@pytest.mark.parametrize("one", RIGHT, ids=str)
def test_a_twin_or_another_convention_is_right(one):
    one.expect_right(np.asarray)


def test_no_place_is_read_from_biases_of_the_wrong_sign():
    assert [finding.bug for finding in UPWARDS.examined(np.asarray).findings] == ["bias upwards"]
