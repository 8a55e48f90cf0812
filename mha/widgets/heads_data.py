"""The numbers of the recorded heads as scripts."""

import base64

import numpy as np

from mha.core.checks import Array
from mha.examples.recorded import recorded_head, recorded_maps, recorded_sentences
from mha.widgets.data_scripts import data_script


def maps_script() -> str:
    """Return the weights of all heads for all sentences, in thousandths as they were recorded.

    The low bytes of all come first, then the high ones, which packs smaller.

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
        "low": _packed(low),
        "high": _packed(high),
    }
    return data_script("heads-maps", data)


def head_file(layer: int, head: int) -> str:
    """Return the name of the file of a recorded head's script.

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
    >>> head_script(1, 5)[:40]
    'define("head-1-5",["exports"],e=>{e.defa'
    """
    runs = [recorded_head(layer, head, sentence) for sentence in recorded_sentences()]
    arrays = [
        np.concatenate([getattr(run, name)[0] for run in runs])
        for name in ("query", "key", "value")
    ]
    return data_script(head_file(layer, head).removesuffix(".js"), _packed(np.stack(arrays)))


def _packed(array: Array) -> str:
    """Return an array's bytes as text, the lowest byte of a number first."""
    little = array.astype(array.dtype.newbyteorder("<"))
    return base64.b64encode(little.tobytes()).decode()
