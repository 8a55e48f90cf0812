"""The numbers of the recorded heads as scripts."""

import base64

import numpy as np

from mha.core.checks import Array
from mha.examples.recorded import recorded_head, recorded_maps, recorded_sentences
from mha.widgets.data_scripts import data_script


def maps_script() -> str:
    """Return a script with the weights of all heads for all sentences, in thousandths.

    The low bytes of all numbers come first, then the high bytes, because that compresses better.

    Examples
    --------
    >>> maps_script()[:40]
    'define("heads-maps",["exports"],e=>{e.de'
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
        "low": _encode(low),
        "high": _encode(high),
    }
    return data_script("heads-maps", data)


def head_file(layer: int, head: int) -> str:
    """Return the file name of a recorded head's script.

    Examples
    --------
    >>> head_file(1, 5)
    'head-1-5.js'
    """
    return f"head-{layer}-{head}.js"


def head_script(layer: int, head: int) -> str:
    """Return a script with the queries, keys and values of a recorded head for every token.

    Examples
    --------
    >>> head_script(1, 5)[:40]
    'define("head-1-5",["exports"],e=>{e.defa'
    """
    runs = [recorded_head(layer, head, sentence) for sentence in recorded_sentences()]
    arrays = [
        np.concatenate([getattr(run, name)[0] for run in runs])
        for name in ("query", "key", "value")
    ]
    return data_script(head_file(layer, head).removesuffix(".js"), _encode(np.stack(arrays)))


def _encode(array: Array) -> str:
    """Return the bytes of an array in base64, in little-endian order."""
    little = array.astype(array.dtype.newbyteorder("<"))
    return base64.b64encode(little.tobytes()).decode()
