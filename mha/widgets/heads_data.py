"""The numbers of the recorded heads as scripts."""

from __future__ import annotations

import base64

import numpy as np

from mha.core.checks import Array
from mha.examples.recorded import (
    recorded_head,
    recorded_heads,
    recorded_maps,
    recorded_next_tokens,
    recorded_sentences,
    recorded_settings,
)
from mha.widgets.data_scripts import data_script

FIRST_LONG_NUMBER = 250
"""A byte from here on is the first of two."""


def maps_script() -> str:
    """Return a script with the weights of all heads, and with the next tokens after each sentence.

    Weights are in thousandths, without those of later tokens, which are 0. Most take one byte.

    Examples
    --------
    >>> maps_script()[:40]
    'define("heads-maps",["exports"],e=>{e.de'
    """
    sentences = recorded_sentences()
    maps = [recorded_maps(sentence) for sentence in sentences]
    lower = [found.weights[..., *np.tril_indices(len(found.tokens))] for found in maps]
    data = {
        "sentences": sentences,
        "tokens": [found.tokens for found in maps],
        "layers": maps[0].weights.shape[0],
        "heads": maps[0].weights.shape[1],
        "base": recorded_settings()["base"],
        "packed": pack_thousandths(np.concatenate([found.ravel() for found in lower])),
        "next": [_next_tokens(sentence) for sentence in sentences],
    }
    return data_script("heads-maps", data)


def pack_thousandths(weights: Array) -> str:
    """Return weights from 0 to 1 in thousandths, as bytes in base64.

    A number below 250 is one byte. A larger number is two: 250 plus its multiple of 256, and the
    remainder.

    Examples
    --------
    >>> list(base64.b64decode(pack_thousandths(np.array([0.25, 0.007, 1.0]))))
    [250, 250, 7, 253, 232]
    """
    numbers = np.rint(1000 * weights).astype(int)
    parts = np.stack(
        [
            np.where(numbers < FIRST_LONG_NUMBER, numbers, FIRST_LONG_NUMBER + numbers // 256),
            numbers % 256,
        ],
        -1,
    )
    kept = np.stack([np.ones_like(numbers), numbers >= FIRST_LONG_NUMBER], -1).astype(bool)
    return _encode(parts[kept].astype(np.uint8))


def head_file(layer: int, head: int) -> str:
    """Return the file name of a recorded head's script.

    Examples
    --------
    >>> head_file(24, 5)
    'head-24-5.js'
    """
    return f"head-{layer}-{head}.js"


def head_script(layer: int, head: int) -> str:
    """Return a script with the queries, keys and values of a head for every token, in 16 bits.

    Examples
    --------
    >>> head_script(24, 5)[:40]
    'define("head-24-5",["exports"],e=>{e.def'
    """
    runs = [recorded_head(layer, head, sentence) for sentence in recorded_sentences()]
    arrays = [
        np.concatenate([getattr(run, name)[0] for run in runs])
        for name in ("query", "key", "value")
    ]
    numbers = _encode(np.stack(arrays).astype(np.float16))
    return data_script(head_file(layer, head).removesuffix(".js"), numbers)


def _next_tokens(sentence: str) -> dict[str, object]:
    """Return next tokens, and their probabilities in the whole model and without each head."""
    whole = recorded_next_tokens(sentence)
    others = [recorded_next_tokens(sentence, without=head) for head in recorded_heads()]
    rows = [[found.probability(token) for token in whole.tokens] for found in (whole, *others)]
    return {"tokens": whole.tokens, "probabilities": np.round(rows, 5).tolist()}


def _encode(array: Array) -> str:
    """Return the bytes of an array in base64, in little-endian order."""
    little = array.astype(array.dtype.newbyteorder("<"))
    return base64.b64encode(little.tobytes()).decode()
