"""What the recorded heads are looked at with in a browser: their numbers, as scripts.

A page that is opened as a file may load a script, and nothing else.
"""

import base64
import json

import numpy as np

from mha.core.checks import Array
from mha.examples.recorded import recorded_head, recorded_maps, recorded_sentences


def maps_script() -> str:
    """Return the weights of all heads for all sentences, in thousandths as they were recorded.

    The low bytes of all come first, then the high ones, which packs smaller.

    Examples
    --------
    >>> maps_script()[:30]
    'window.mhaHeads={"sentences":['
    """
    sentences = recorded_sentences()
    maps = [recorded_maps(sentence) for sentence in sentences]
    whole = np.concatenate([np.rint(1000 * found.weights).ravel() for found in maps])
    low, high = whole.astype("<u2").view(np.uint8).reshape(-1, 2).T
    data = {
        "sentences": sentences,
        "tokens": [found.tokens for found in maps],
        "layers": maps[0].weights.shape[0],
        "heads": maps[0].weights.shape[1],
        "low": _packed(low),
        "high": _packed(high),
    }
    return f"window.mhaHeads={json.dumps(data, separators=(',', ':'))};\n"


def head_file(layer: int, head: int) -> str:
    """Return what the script of a recorded head is called.

    Examples
    --------
    >>> head_file(1, 5)
    'head-1-5.js'
    """
    return f"head-{layer}-{head}.js"


def head_script(layer: int, head: int) -> str:
    """Return the queries, keys and values that a recorded head makes of every recorded token.

    Examples
    --------
    >>> head_script(1, 5)[:27]
    'window.mhaHeads["1.5"]="ACA'
    """
    runs = [recorded_head(layer, head, sentence) for sentence in recorded_sentences()]
    arrays = [
        np.concatenate([getattr(run, name)[0] for run in runs])
        for name in ("query", "key", "value")
    ]
    return f'window.mhaHeads["{layer}.{head}"]="{_packed(np.stack(arrays))}";\n'


def _packed(array: Array) -> str:
    """Return an array's bytes as text, the lowest byte of a number first."""
    little = array.astype(array.dtype.newbyteorder("<"))
    return base64.b64encode(little.tobytes()).decode()
