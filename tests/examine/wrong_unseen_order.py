"""Causal masks, caches and positions that are wrong, by someone who had not seen the table."""

import math

import numpy as np
from unseen import FIRST, FOUR_AXES, LAST, ROTARY, A, D, P, Unseen
from wrong_unseen_attention import hide, softmax


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


def attend(query, key, value):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    return softmax(hide(scores, causal(*scores.shape[-2:]))) @ value


def turned(x, first, turn=turn_pairs):
    positions = np.arange(first, first + x.shape[-2])
    return turn(x, positions[:, None] * frequencies(x.shape[-1]))


# ---- Right ----


def all_masks(query, key, value, attn_mask=None, key_padding_mask=None, is_causal=False):
    n, m = query.shape[-2], key.shape[-2]
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
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
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if is_causal:
        scores = hide(scores, causal(*scores.shape[-2:]))
    if mask is not None:
        scores = hide(scores, mask)
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
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    return softmax(scores) @ value


def slopes(num_heads):
    def of_power(n):
        return [2.0 ** (-8.0 * (i + 1) / n) for i in range(n)]

    power = 2 ** math.floor(math.log2(num_heads))
    found = of_power(power)
    if power < num_heads:
        found += of_power(2 * power)[0::2][: num_heads - power]
    return np.array(found)


def linear_bias(num_heads, num_queries, num_keys):
    i = np.arange(num_queries)[:, None] + num_keys - num_queries
    j = np.arange(num_keys)[None, :]
    return -slopes(num_heads)[:, None, None] * np.abs(i - j)


def token_numbers(mask):
    return np.maximum(np.cumsum(mask, axis=-1) - 1, 0)


# ---- Causal masks ----


def causal_only_without_mask(
    query, key, value, attn_mask=None, key_padding_mask=None, is_causal=False
):
    n, m = query.shape[-2], key.shape[-2]
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if attn_mask is not None:
        scores = hide(scores, attn_mask)
    elif is_causal:
        scores = hide(scores, causal(n, m))
    if key_padding_mask is not None:
        scores = hide(scores, key_padding_mask[:, None, None, :])
    return softmax(scores) @ value


def padding_or_causal(query, key, value, key_padding_mask=None, is_causal=False):
    n, m = query.shape[-2], key.shape[-2]
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    allowed = causal(n, m) if is_causal else None
    if key_padding_mask is not None:
        keys = key_padding_mask[:, None, None, :]
        allowed = keys if allowed is None else keys | allowed
    if allowed is not None:
        scores = np.where(allowed, scores, -np.inf)
    return softmax(scores) @ value


def diagonal_hidden(query, key, value, is_causal=False):
    n, m = query.shape[-2], key.shape[-2]
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if is_causal:
        future = np.triu(np.ones((n, m), dtype=bool), k=m - n)
        scores = np.where(future, -np.inf, scores)
    return softmax(scores) @ value


def top_left(query, key, value, is_causal=False):
    n, m = query.shape[-2], key.shape[-2]
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if is_causal:
        scores = np.where(np.tri(n, m, dtype=bool), scores, -np.inf)
    return softmax(scores) @ value


def keys_viewed(query, key, value, is_causal=False):
    n, m = query.shape[-2], key.shape[-2]
    scores = query @ key.reshape(*key.shape[:-2], key.shape[-1], m)
    scores = scores / math.sqrt(query.shape[-1])
    if is_causal:
        scores = np.where(causal(n, m), scores, -np.inf)
    return softmax(scores) @ value


# ---- A cache ----


def cache_overwritten(query, key, value, cache):
    keys, values = key, value
    if cache is not None:
        keys = np.concatenate([cache[0], key], axis=-2)
        values = np.concatenate([cache[1], value], axis=-2)
    return attend(query, keys, values), (key, value)


def appended_in_front(query, key, value, cache):
    if cache is not None:
        key = np.concatenate([key, cache[0]], axis=-2)
        value = np.concatenate([value, cache[1]], axis=-2)
    return attend(query, key, value), (key, value)


def no_mask_among_new_tokens(query, key, value, cache):
    if cache is not None:
        key = np.concatenate([cache[0], key], axis=-2)
        value = np.concatenate([cache[1], value], axis=-2)
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    return softmax(scores) @ value, (key, value)


def window_of_four(query, key, value, cache):
    if cache is not None:
        key = np.concatenate([cache[0], key], axis=-2)
        value = np.concatenate([cache[1], value], axis=-2)
    return attend(query, key, value), (key[..., -4:, :], value[..., -4:, :])


def rotary_not_moved_on(query, key, value, cache):
    query, key = turned(query, 0), turned(key, 0)
    if cache is not None:
        key = np.concatenate([cache[0], key], axis=-2)
        value = np.concatenate([cache[1], value], axis=-2)
    return attend(query, key, value), (key, value)


# ---- Positions ----


def other_layout(x, positions):
    angles = np.asarray(positions)[..., None] * frequencies(x.shape[-1])
    return turn_halves(x, angles)


def from_position_one(x, positions):
    angles = (np.asarray(positions)[..., None] + 1) * frequencies(x.shape[-1])
    return turn_pairs(x, angles)


def keys_not_turned(query, key, value, positions):
    query = rotary(query, positions)
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    return softmax(scores) @ value


def bias_grows_with_distance(num_heads, num_queries, num_keys):
    i = np.arange(num_queries)[:, None] + num_keys - num_queries
    j = np.arange(num_keys)[None, :]
    return slopes(num_heads)[:, None, None] * np.abs(i - j)


def bias_from_top_left(num_heads, num_queries, num_keys):
    i = np.arange(num_queries)[:, None]
    j = np.arange(num_keys)[None, :]
    return -slopes(num_heads)[:, None, None] * np.abs(i - j)


def slopes_of_halves(num_heads):
    return 2.0 ** -np.arange(1, num_heads + 1)


def slopes_one_series(num_heads):
    return 2.0 ** (-8.0 * np.arange(1, num_heads + 1) / num_heads)


def numbers_with_padding(mask):
    return np.broadcast_to(np.arange(mask.shape[-1]), mask.shape).copy()


def numbers_of_first_text(mask):
    first = np.argmax(np.atleast_2d(mask)[0])
    numbers = np.maximum(np.arange(mask.shape[-1]) - first, 0)
    return np.broadcast_to(numbers, mask.shape).copy()


def numbers_on_the_right(mask):
    length = mask.sum(axis=-1, keepdims=True)
    return np.minimum(np.arange(mask.shape[-1]), np.maximum(length - 1, 0))


# ---- Two at once ----


def tiled_and_not_scaled(query, key, value, mask=None, is_causal=False, enable_gqa=False):
    if enable_gqa and query.ndim > 2:
        times = query.shape[-3] // key.shape[-3]
        key, value = np.tile(key, (times, 1, 1)), np.tile(value, (times, 1, 1))
    scores = query @ key.swapaxes(-1, -2)
    if is_causal:
        scores = hide(scores, causal(*scores.shape[-2:]))
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores) @ value


def front_and_no_mask(query, key, value, cache):
    if cache is not None:
        key = np.concatenate([key, cache[0]], axis=-2)
        value = np.concatenate([cache[1], value], axis=-2)
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    return softmax(scores) @ value, (key, value)


def not_moved_on_and_overwritten(query, key, value, cache):
    query, keys, values = turned(query, 0), turned(key, 0), value
    fresh = (keys, values)
    if cache is not None:
        keys = np.concatenate([cache[0], keys], axis=-2)
        values = np.concatenate([cache[1], values], axis=-2)
    return attend(query, keys, values), fresh


def halves_from_one(x, positions):
    angles = (np.asarray(positions)[..., None] + 1) * 10000.0 ** (
        -np.arange(0, x.shape[-1], 2) / x.shape[-1]
    )
    return turn_halves(x, angles)


RIGHT = [
    Unseen(all_masks, A, conditions=(FOUR_AXES, LAST)),
    Unseen(grouped, A, conditions=(LAST,)),
    Unseen(step, D),
    Unseen(rotary_step, D, options=ROTARY),
    Unseen(rotary, P),
    Unseen(rotary_attention, P),
    Unseen(slopes, P),
    Unseen(linear_bias, P),
    Unseen(token_numbers, P),
    Unseen(top_left, A, "causal mask aligned top-left", (FIRST,)),
    Unseen(bias_from_top_left, P, "linear biases aligned top-left", (FIRST,)),
]
WRONG = [
    Unseen(causal_only_without_mask, A, "causal ignored where there is a mask"),
    Unseen(padding_or_causal, A, "padding and causal mask joined by or"),
    Unseen(diagonal_hidden, A, "diagonal hidden under the causal mask"),
    Unseen(keys_viewed, A, "keys viewed where axes should be exchanged"),
    Unseen(cache_overwritten, D, "cache overwritten by the new tokens"),
    Unseen(appended_in_front, D, "new tokens in front of the cache"),
    Unseen(no_mask_among_new_tokens, D, "new tokens see each other's future"),
    Unseen(window_of_four, D, "cache keeps the last four tokens only"),
    Unseen(rotary_not_moved_on, D, "rotary always from zero", options=ROTARY),
    Unseen(other_layout, P, "halves turned for pairs"),
    Unseen(from_position_one, P, "from position 1"),
    Unseen(keys_not_turned, P, "keys not turned"),
    Unseen(bias_grows_with_distance, P, "linear biases of the wrong sign"),
    Unseen(slopes_of_halves, P, "slopes halve whatever the number of heads"),
    Unseen(slopes_one_series, P, "one series for heads that are no power of two"),
    Unseen(numbers_with_padding, P, "numbers counted with the padding"),
    Unseen(numbers_of_first_text, P, "the first text's padding taken for all"),
    Unseen(numbers_on_the_right, P, "padding taken to be on the right"),
]
PAIRS = [
    Unseen(tiled_and_not_scaled, A, "groups tiled; not divided"),
    Unseen(front_and_no_mask, D, "keys appended in front; no causal mask"),
    Unseen(
        not_moved_on_and_overwritten, D, "rotary not moved on; cache overwritten", options=ROTARY
    ),
    Unseen(halves_from_one, P, "halves for pairs; from position 1"),
]
