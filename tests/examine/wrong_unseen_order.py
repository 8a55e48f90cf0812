"""Causal masks, caches and positions that are wrong, by someone who had not seen the table."""

import math

import numpy as np
from unseen import FIRST, FOUR_AXES, LAST, ROTARY, A, D, P, Unseen
from wrong_by_hand import masked as hide
from wrong_by_hand import soft as softmax
from wrong_by_hand import true_slopes


def causal(n, m):
    return np.tril(np.ones((n, m), dtype=bool), k=m - n)


def frequencies(d, base=10000.0):
    return base ** (-np.arange(0, d, 2) / d)


def turn_pairs(x, angles):
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=-1)
    return turned.reshape(x.shape)


def turn_halves(x, angles):
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    left, right = np.split(x, 2, axis=-1)
    return np.concatenate([left * cos - right * sin, left * sin + right * cos], axis=-1)


def dots(query, key):
    return query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])


def attend(query, key, value):
    scores = dots(query, key)
    return softmax(hide(scores, causal(*scores.shape[-2:]))) @ value


def turned(x, first, turn=turn_pairs):
    positions = np.arange(first, first + x.shape[-2])
    return turn(x, positions[:, None] * frequencies(x.shape[-1]))


def all_masks(query, key, value, attn_mask=None, key_padding_mask=None, is_causal=False):
    n, m = query.shape[-2], key.shape[-2]
    scores = dots(query, key)
    if is_causal:
        scores = hide(scores, causal(n, m))
    if attn_mask is not None:
        scores = hide(scores, attn_mask)
    if key_padding_mask is not None:
        scores = hide(scores, key_padding_mask[:, None, None, :])
    return softmax(scores) @ value


def grouped(query, key, value, mask=None, is_causal=False, enable_gqa=False):
    if enable_gqa and query.ndim > 2:
        times = query.shape[-3] // key.shape[-3]
        key, value = np.repeat(key, times, axis=-3), np.repeat(value, times, axis=-3)
    scores = dots(query, key)
    if is_causal:
        scores = hide(scores, causal(*scores.shape[-2:]))
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores) @ value


def causal_attention(query, key, value, is_causal=False):
    n, m = query.shape[-2], key.shape[-2]
    scores = dots(query, key)
    if is_causal:
        scores = hide(scores, causal(n, m))
    return softmax(scores) @ value


def step(query, key, value, cache):
    if cache is not None:
        key = np.concatenate([cache[0], key], axis=-2)
        value = np.concatenate([cache[1], value], axis=-2)
    return attend(query, key, value), (key, value)


def rotary_step(query, key, value, cache):
    past = 0 if cache is None else cache[0].shape[-2]
    query, key = turned(query, past), turned(key, past)
    if cache is not None:
        key = np.concatenate([cache[0], key], axis=-2)
        value = np.concatenate([cache[1], value], axis=-2)
    return attend(query, key, value), (key, value)


def rotary(x, positions):
    angles = np.asarray(positions)[..., None] * frequencies(x.shape[-1])
    return turn_pairs(x, angles)


def rotary_attention(query, key, value, positions):
    query, key = rotary(query, positions), rotary(key, positions)
    scores = dots(query, key)
    return softmax(scores) @ value


def linear_bias(num_heads, num_queries, num_keys):
    i = np.arange(num_queries)[:, None] + num_keys - num_queries
    j = np.arange(num_keys)[None, :]
    return -np.array(true_slopes(num_heads))[:, None, None] * np.abs(i - j)


def token_numbers(mask):
    return np.maximum(np.cumsum(mask, axis=-1) - 1, 0)


MASKS = Unseen(all_masks, A, conditions=(FOUR_AXES, LAST))
GROUPED = Unseen(grouped, A, conditions=(LAST,))
CAUSAL = Unseen(causal_attention, A, conditions=(LAST,))
STEP, TURNING = Unseen(step, D), Unseen(rotary_step, D, options=ROTARY)
TURN, TURNED = Unseen(rotary, P), Unseen(rotary_attention, P)
BIAS, NUMBERS = Unseen(linear_bias, P), Unseen(token_numbers, P)
SEEN = "causal(n, m)"
REPEAT = "np.repeat(key, times, axis=-3), np.repeat(value, times, axis=-3)"
TILE = "np.tile(key, (times, 1, 1)), np.tile(value, (times, 1, 1))"
FRONT = "np.concatenate([cache[0], key], axis=-2)", "np.concatenate([key, cache[0]], axis=-2)"
LOST = "attend(query, key, value), (key, value)", "attend(query, key, value), new"
KEPT = "    if cache is not None", "    new = (key, value)\n    if cache is not None"
UNMASKED = "attend(query, key, value)", "softmax(dots(query, key)) @ value"
NUMBERED = "np.maximum(np.cumsum(mask, axis=-1) - 1, 0)"

RIGHT = [
    MASKS,
    GROUPED,
    CAUSAL,
    STEP,
    TURNING,
    TURN,
    TURNED,
    BIAS,
    NUMBERS,
    CAUSAL.wrong("causal mask aligned top-left",
                 SEEN, "np.tri(n, m, dtype=bool)", conditions=(FIRST,)),
    BIAS.wrong("linear biases aligned top-left",
               " + num_keys - num_queries", "", conditions=(FIRST,)),
]  # fmt: skip
WRONG = [
    MASKS.wrong("causal ignored where there is a mask",
                "if is_causal:", "if is_causal and attn_mask is None:"),
    MASKS.wrong("padding and causal mask joined by or", "if is_causal:",
                "if is_causal and key_padding_mask is None:", "key_padding_mask[:, None, None, :]",
                "key_padding_mask[:, None, None, :] | (causal(n, m) & is_causal)"),
    STEP.wrong("cache keeps the last four tokens only",
               ", (key, value)", ", (key[..., -4:, :], value[..., -4:, :])"),
    BIAS.wrong("linear biases of the wrong sign", "return -", "return "),
    NUMBERS.wrong("the first text's padding taken for all", NUMBERED,
                  "np.maximum(np.arange(mask.shape[-1]) - np.argmax(np.atleast_2d(mask)[0]),"
                  " np.zeros(mask.shape, int))"),
    NUMBERS.wrong("padding taken to be on the right", NUMBERED, "np.minimum(np.arange("
                  "mask.shape[-1]), np.maximum(mask.sum(axis=-1, keepdims=True) - 1, 0))"),
]  # fmt: skip
PAIRS = [
    GROUPED.wrong("groups tiled; not divided", REPEAT, TILE, "dots(query, key)",
                  "query @ key.swapaxes(-1, -2)"),
    STEP.wrong("keys appended in front; no causal mask", *FRONT, *UNMASKED),
    TURNING.wrong("rotary not moved on; cache overwritten",
                  "past), turned(key, past)", "0), turned(key, 0)", *KEPT, *LOST),
    TURN.wrong("halves for pairs; from position 1",
               "turn_pairs", "turn_halves", "(positions)", "(positions + 1)"),
]  # fmt: skip
