"""Attention whose scale, softmax or mask is wrong, by someone who had not seen the table."""

import math

import numpy as np
from unseen import DIVIDES, FOUR_AXES, HIDES, NO_NUMBERS, A, Unseen


def softmax(scores, axis=-1):
    top = np.max(scores, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0).astype(scores.dtype)
    raised = np.exp(scores - top)
    total = raised.sum(axis=axis, keepdims=True)
    return raised / np.where(total == 0, 1, total)


def hide(scores, mask):
    mask = np.asarray(mask)
    if mask.dtype == bool:
        return np.where(mask, scores, -np.inf)
    return scores + mask


# ---- Right ----


def masked(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores) @ value


def padded(query, key, value, key_padding_mask=None):
    scores = np.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])
    if key_padding_mask is not None:
        scores = np.where(key_padding_mask[:, None, None, :], scores, -np.inf)
    return np.einsum("...qk,...kd->...qd", softmax(scores), value)


def softcapped(query, key, value, mask=None, scale=None, softcap=None):
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = np.einsum("...qd,...kd->...qk", query, key) * scale
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores) @ value


# ---- The scale, the softmax ----


def root_of_model_width(query, key, value, mask=None):
    heads = query.shape[-3] if query.ndim > 2 else 1
    d_model = heads * query.shape[-1]
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(d_model)
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores) @ value


def divided_twice(query, key, value, mask=None):
    d_k = query.shape[-1]
    query = query / math.sqrt(d_k)
    scores = query @ np.moveaxis(key, -1, -2) / math.sqrt(d_k)
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores) @ value


def not_divided(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2)
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores) @ value


def multiplied_by_root(query, key, value, mask=None):
    d_k = query.shape[-1]
    scores = query @ key.swapaxes(-1, -2) * math.sqrt(d_k)
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores) @ value


def scale_as_divisor(query, key, value, mask=None, scale=None):
    scale = scale if scale is not None else math.sqrt(query.shape[-1])
    scores = query @ key.swapaxes(-1, -2) / scale
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores) @ value


def half_precision_inside(query, key, value, mask=None, scale=None):
    kept = query.dtype
    if scale is None:
        scale = 1.0 / math.sqrt(query.shape[-1])
    query, key = query.astype(np.float16), key.astype(np.float16)
    scores = np.einsum("...qd,...kd->...qk", query, key) * np.float16(scale)
    scores = scores.astype(kept)
    if mask is not None:
        scores = hide(scores, mask)
    return np.einsum("...qk,...kd->...qd", softmax(scores), value)


def softmax_over_queries(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores, axis=-2) @ value


def softmax_over_axis_one(query, key, value, mask=None, scale=None):
    if scale is None:
        scale = query.shape[-1] ** -0.5
    scores = np.einsum("...qd,...kd->...qk", query, key) * scale
    if mask is not None:
        scores = hide(scores, mask)
    return np.einsum("...qk,...kd->...qd", softmax(scores, axis=1), value)


def softmax_twice(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = hide(scores, mask)
    weights = softmax(scores)
    return softmax(weights) @ value


def no_shift(query, key, value):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    weights = np.exp(scores)
    return weights / weights.sum(axis=-1, keepdims=True) @ value


def dropout_left_on(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = hide(scores, mask)
    weights = softmax(scores)
    keep = np.random.default_rng().random(weights.shape) >= 0.1
    return (weights * keep / 0.9).astype(value.dtype) @ value


def softcap_before_scale(query, key, value, mask=None, scale=None, softcap=None):
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = np.einsum("...qd,...kd->...qk", query, key)
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    scores = scores * scale
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores) @ value


def softcap_after_mask(query, key, value, mask=None, scale=None, softcap=None):
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = np.einsum("...qd,...kd->...qk", query, key) * scale
    if mask is not None:
        scores = hide(scores, mask)
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    return softmax(scores) @ value


# ---- Masks ----


def mask_multiplied(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores * mask
    return softmax(scores) @ value


def hidden_scores_zero(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, 0.0) if mask.dtype == bool else scores + mask
    return softmax(scores) @ value


def mask_after_softmax(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None and mask.dtype != bool:
        scores, mask = scores + mask, None
    weights = softmax(scores)
    if mask is not None:
        weights = np.where(mask, weights, 0.0)
    return weights @ value


def mask_added_as_numbers(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores + mask.astype(scores.dtype)
    return softmax(scores) @ value


def mask_inverted(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, -np.inf, scores) if mask.dtype == bool else scores + mask
    return softmax(scores) @ value


def mask_turned_over(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = hide(scores, mask.swapaxes(-1, -2))
    return softmax(scores) @ value


def padding_on_queries(query, key, value, key_padding_mask=None):
    scores = np.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])
    if key_padding_mask is not None:
        scores = np.where(key_padding_mask[:, None, :, None], scores, -np.inf)
    return np.einsum("...qk,...kd->...qd", softmax(scores), value)


def padding_against_heads(query, key, value, key_padding_mask=None):
    scores = np.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])
    if key_padding_mask is not None:
        scores = np.where(key_padding_mask[:, None, :], scores, -np.inf)
    return np.einsum("...qk,...kd->...qd", softmax(scores), value)


def tiny_minus(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e-9) if mask.dtype == bool else scores + mask
    return softmax(scores) @ value


def smallest_float_is_not_lowest(query, key, value, key_padding_mask=None):
    scores = np.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])
    if key_padding_mask is not None:
        low = np.finfo(scores.dtype).tiny
        scores = np.where(key_padding_mask[:, None, None, :], scores, low)
    return np.einsum("...qk,...kd->...qd", softmax(scores), value)


def empty_rows_nan(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = hide(scores, mask)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ value


def empty_rows_average(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e9) if mask.dtype == bool else scores + mask
    return softmax(scores) @ value


def numbers_read_as_truth(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask.astype(bool), scores, -np.inf)
    return softmax(scores) @ value


# ---- Two at once ----


def inverted_and_average(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, -1e9, scores) if mask.dtype == bool else scores + mask
    return softmax(scores) @ value


def wrong_axis_and_wrong_root(query, key, value, mask=None):
    scores = query @ key.swapaxes(-1, -2) / math.sqrt(key.shape[-2])
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores, axis=-2) @ value


def late_padding_and_twice_divided(query, key, value, key_padding_mask=None):
    d = query.shape[-1]
    scores = np.einsum("...qd,...kd->...qk", query, key) / math.sqrt(d) / math.sqrt(d)
    weights = softmax(scores)
    if key_padding_mask is not None:
        weights = weights * key_padding_mask[:, None, None, :]
    return np.einsum("...qk,...kd->...qd", weights, value)


def early_softcap_and_ignored_scale(query, key, value, mask=None, scale=None, softcap=None):
    scores = np.einsum("...qd,...kd->...qk", query, key)
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    scores = scores / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = hide(scores, mask)
    return softmax(scores) @ value


RIGHT = [
    Unseen(masked, A),
    Unseen(padded, A, conditions=(FOUR_AXES,)),
    Unseen(softcapped, A),
    Unseen(scale_as_divisor, A, "scale divides where it should multiply", (DIVIDES,)),
    Unseen(mask_inverted, A, "mask inverted", (HIDES,)),
    Unseen(numbers_read_as_truth, A, "a mask of numbers read as truth values", (NO_NUMBERS,)),
]
WRONG = [
    Unseen(root_of_model_width, A, "divided by the root of the model's width"),
    Unseen(divided_twice, A, "scores divided twice by the root"),
    Unseen(not_divided, A, "scores not divided"),
    Unseen(multiplied_by_root, A, "scores multiplied by the root"),
    Unseen(half_precision_inside, A, "scores in float16"),
    Unseen(softmax_over_queries, A, "softmax over the queries"),
    Unseen(softmax_over_axis_one, A, "softmax over axis 1"),
    Unseen(softmax_twice, A, "softmax twice"),
    Unseen(no_shift, A, "no shift by the maximum"),
    Unseen(dropout_left_on, A, "dropout of weights left on"),
    Unseen(softcap_before_scale, A, "softcap before the scale"),
    Unseen(softcap_after_mask, A, "softcap after the mask, so that the hidden is seen"),
    Unseen(mask_multiplied, A, "mask multiplied into the scores"),
    Unseen(hidden_scores_zero, A, "hidden scores set to zero"),
    Unseen(mask_after_softmax, A, "mask applied after the softmax"),
    Unseen(mask_added_as_numbers, A, "mask added as 0 and 1"),
    Unseen(mask_turned_over, A, "mask transposed"),
    Unseen(padding_on_queries, A, "padding mask given to the queries"),
    Unseen(padding_against_heads, A, "padding mask's batch lies against the heads"),
    Unseen(tiny_minus, A, "-1e-9 for -1e9"),
    Unseen(smallest_float_is_not_lowest, A, "finfo.tiny for finfo.min"),
    Unseen(empty_rows_nan, A, "rows that see nothing are NaN"),
    Unseen(empty_rows_average, A, "rows that see nothing are the average"),
]
PAIRS = [
    Unseen(inverted_and_average, A, "mask inverted; empty rows the average"),
    Unseen(wrong_axis_and_wrong_root, A, "softmax over queries; root of the key count"),
    Unseen(late_padding_and_twice_divided, A, "padding after softmax; divided twice"),
    Unseen(early_softcap_and_ignored_scale, A, "softcap before scale; scale ignored"),
]
