"""Runs and sizes that several tests of explorers and instruments use."""

from dataclasses import replace

import numpy as np
from helpers import example

import mha
from mha import load_example, trace
from mha.core.costs import ModelSizes, layer_sizes
from mha.core.feed_forward import FeedForward
from mha.core.norm import Norm
from mha.core.transformer import Block
from mha.runs.record import trace_blocks

GPT3 = ModelSizes(96, layer_sizes(12288, 96), 4 * 12288)
CAUSAL = trace(replace(load_example("the-cat-sat-end"), is_causal=True))

TIRED = trace(load_example("it-tired"))
ON_A_SHEET = {
    "query": TIRED.query[0], "key": TIRED.key[0], "value": TIRED.value[0],
    "angles": np.arange(4.0)[:, None], "causal": np.tri(4), "window": np.tri(4) - np.tri(4, k=-2),
    "gate": np.array([[0, 2], [1, -1], [2, 0], [-2, 1.0]]), "decay": np.full((4, 1), 0.5),
    "other_key": TIRED.key[1], "other_value": TIRED.value[1],
    "down": np.tile(np.eye(2) / 2, (2, 1)), "up_key": np.eye(2), "up_value": np.eye(2),
}  # fmt: skip
"""The inputs of the sheet of newer models."""

# Two layers on letters; text that follows them, tests/book/test_live_numbers_browser.py.
EYE = np.eye(7)
WHAT, BEFORE, FOLLOWING = slice(0, 2), slice(3, 5), slice(5, 7)
TEXT = mha.WorkedExample(
    name="b-a", title="B A", source="This book", tokens=("first B", "last A"),
    head_names=("Head 1",),
    embeddings=EYE[[1, 0]], is_causal=True,
    layer=mha.MultiHeadWeights([EYE[:, :1]], [EYE[:, :1]], [EYE[:, WHAT]], EYE[BEFORE]),
)  # fmt: skip
SECOND = mha.MultiHeadWeights([EYE[:, WHAT]], [EYE[:, BEFORE]], [EYE[:, WHAT]], EYE[FOLLOWING])
LETTERS = {"letters": "AB", "what": WHAT, "before": BEFORE, "following": FOLLOWING, "name": "b-a"}
TWO_LAYERS = trace_blocks(TEXT, [Block(layer, norm="nowhere") for layer in (TEXT.layer, SECOND)])


def parts(rng):
    """Return the arrays of a small block by the names of their stages."""
    sizes = {
        "embeddings": (3, 4), "w_q": (2, 4, 2), "w_k": (2, 4, 2), "w_v": (2, 4, 2), "w_o": (4, 4),
        "w_in": (4, 3), "b_in": 3, "w_out": (3, 4), "b_out": 4,
    }  # fmt: skip
    sizes |= {f"{which}_{name}": 4 for which in ("first", "second") for name in ("gain", "bias")}
    arrays = {name: rng.normal(size=size).round(2) for name, size in sizes.items()}
    # Numbers like those of the examples: a line of them, with a key, fits on a phone.
    return arrays | {"embeddings": np.abs(arrays["embeddings"]).round()}


def with_parts(arrays, norm="before", activation="relu"):
    """Return the run of a block with these arrays."""
    embeddings, *rest = arrays.values()
    layer, feed = mha.MultiHeadWeights(*rest[:4]), FeedForward(*rest[4:8], activation)
    block = Block(layer, feed, norm, Norm(*rest[8:10]), Norm(*rest[10:]))
    start = dict.fromkeys(("query", "key", "value")) | {"embeddings": embeddings}
    words = {"tokens": ["the", "cat", "sat"], "head_names": ["Head 1", "Head 2"]}
    return trace(example(**start | words, block=block, focus=1))
