"""Attention whose scale, softmax or mask is wrong, by someone who had not seen the table."""

import math

import numpy as np
from unseen import DIVIDES, FOUR_AXES, HIDES, NO_NUMBERS, A, Unseen
from wrong_by_hand import masked as hide
from wrong_by_hand import soft as softmax


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


MASKED = Unseen(masked, A)
PADDED = Unseen(padded, A, conditions=(FOUR_AXES,))
CAPPED = Unseen(softcapped, A)
HIDDEN, ROOT, SOFT = "hide(scores, mask)", "math.sqrt(query.shape[-1])", "softmax(scores)"
PRODUCT = "key) * scale"
CAP = "    if softcap is not None:\n        scores = softcap * np.tanh(scores / softcap)\n"
HIDE = "    if mask is not None:\n        scores = hide(scores, mask)\n"
REAL = "key_padding_mask[:, None, None, :]"


def by_truth(new):
    """Return what is done instead where a mask holds True and False."""
    return f"{new} if mask.dtype == bool else scores + mask"


RIGHT = [
    MASKED,
    PADDED,
    CAPPED,
    CAPPED.wrong("scale divides where it should multiply",
                 "1.0 / math", "math", PRODUCT, "key) / scale", conditions=(DIVIDES,)),
    MASKED.wrong("mask inverted",
                 HIDDEN, by_truth("np.where(mask, -np.inf, scores)"), conditions=(HIDES,)),
    MASKED.wrong("a mask of numbers read as truth values",
                 HIDDEN, "hide(scores, mask.astype(bool))", conditions=(NO_NUMBERS,)),
]  # fmt: skip
WRONG = [
    CAPPED.wrong("scores in float16", "query, key)", "query.astype('e'), key.astype('e'))",
                 "* scale", "* np.float16(scale)", CAP, "    scores = scores.astype(query.dtype)\n",
                 ", softcap=None", ""),
    CAPPED.wrong("softcap after the mask, so that the hidden is seen", CAP + HIDE, HIDE + CAP),
    MASKED.wrong("mask multiplied into the scores", HIDDEN, "scores * mask"),
    PADDED.wrong("padding mask's batch lies against the heads",
                 REAL, "key_padding_mask[:, None, :]"),
    PADDED.wrong("finfo.tiny for finfo.min", "-np.inf", "np.finfo(scores.dtype).tiny"),
]  # fmt: skip
PAIRS = [
    MASKED.wrong("mask inverted; empty rows the average",
                 HIDDEN, by_truth("np.where(mask, -1e9, scores)")),
    MASKED.wrong("softmax over queries; root of the key count",
                 SOFT, "softmax(scores, axis=-2)", ROOT, "math.sqrt(key.shape[-2])"),
    PADDED.wrong("padding after softmax; divided twice", ROOT, "query.shape[-1]",
                 "-np.inf", "scores", SOFT,
                 f"softmax(scores) * (1 if key_padding_mask is None else {REAL})"),
    CAPPED.wrong("softcap before scale; scale ignored", " * scale", "",
                 HIDE, f"    scores /= {ROOT}\n{HIDE}"),
]  # fmt: skip
