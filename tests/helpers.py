"""Array sizes, exact error messages and random examples that several test files use."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mha import MultiHeadWeights, WorkedExample
from mha.core.feed_forward import FeedForward
from mha.core.norm import Norm
from mha.core.transformer import Block
from mha.runs.stages import OF_WORDS

# Distinct primes: a swapped axis has the wrong length.
BATCH, HEADS, QUERIES, KEYS, D_K, D_V, D_MODEL, D_OUT = 2, 3, 5, 7, 11, 13, 17, 19
D_FF = 23

# The third token may attend to none, the fourth to the first alone.
MASK = np.ones((QUERIES, QUERIES), bool)
MASK[2] = False
MASK[3, 1:] = False


def raises(error, sentence):
    """Expect `error` with exactly this message."""
    return pytest.raises(error, match=f"^{re.escape(sentence)}$")


def parse_number(text):
    """Return the number that a text prints. The text may have a typographic minus sign."""
    return float(text.replace("−", "-").replace("∞", "inf"))


def inputs(rng, *leading, dtype=np.float64):
    """Return a random query, key and value with the given leading axes."""
    shapes = (QUERIES, D_K), (KEYS, D_K), (KEYS, D_V)
    return tuple(rng.normal(size=(*leading, *shape)).astype(dtype) for shape in shapes)


def finite(limit, width=64):
    """Return a strategy for numbers from -limit to limit."""
    return st.floats(-limit, limit, width=width, allow_subnormal=False)


def arrays(shape, limit=10, dtype=np.float64):
    """Return a strategy for arrays of numbers from -limit to limit."""
    return hnp.arrays(dtype, shape, elements=finite(limit, width=8 * np.dtype(dtype).itemsize))


def central_differences(loss, x, step=1e-6):
    """Return the gradient of `loss` at `x`, one entry at a time."""
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[index] += step
        down[index] -= step
        gradient[index] = (loss(up) - loss(down)) / (2 * step)
    return gradient


def example(**parts):
    """Return an example of one head that starts from query, key and value, with changed `parts`."""
    parts = {
        "name": "made-up",
        "title": "Made up",
        "source": "this test",
        "tokens": [f"token{i}" for i in range(QUERIES)],
        "head_names": ["only"],
        "query": np.linspace(-1, 1, QUERIES * D_K).reshape(QUERIES, D_K),
        "key": np.linspace(2, -1, QUERIES * D_K).reshape(QUERIES, D_K),
        "value": np.linspace(0, 3, QUERIES * D_V).reshape(QUERIES, D_V),
    } | parts
    return WorkedExample(**parts)


def random_layer(rng, heads=HEADS, groups=None, *, w_o=True, biases=False, **sizes):
    """Return a layer of random numbers, small enough that no softmax saturates."""
    d_model, d_k, d_v, d_out = (
        sizes.get(name, usual)
        for name, usual in (("d_model", D_MODEL), ("d_k", D_K), ("d_v", D_V), ("d_out", D_OUT))
    )
    groups = heads if groups is None else groups
    shapes = {"q": (heads, d_model, d_k), "k": (groups, d_model, d_k), "v": (groups, d_model, d_v)}
    parts = {f"w_{name}": rng.normal(size=shape) / 4 for name, shape in shapes.items()}
    if w_o:
        shapes["o"] = (heads * d_v, d_out)
        parts["w_o"] = rng.normal(size=shapes["o"])
    if biases:
        rows = {name: (*shape[:-2], shape[-1]) for name, shape in shapes.items()}
        parts |= {f"b_{name}": rng.normal(size=shape) for name, shape in rows.items()}
    return MultiHeadWeights(**parts)


def example_from_embeddings(rng, **parts):
    """Return an example with heads that starts from embeddings."""
    layer = random_layer(rng)
    start = dict.fromkeys(("query", "key", "value")) | {
        "embeddings": rng.normal(size=(QUERIES, D_MODEL)),
        "layer": layer,
        "head_names": [f"Head {i + 1}" for i in range(HEADS)],
    }
    return example(**start | parts)


def example_with_positions(rng, **parts):
    """Return an example with heads, positional encodings and rotated queries of even width."""
    places = {
        "layer": random_layer(rng, d_k=2 * D_K),
        "positions": rng.normal(size=(QUERIES, D_MODEL)),
        "angles": rng.uniform(-9, 9, size=(QUERIES, D_K)),
    }
    return example_from_embeddings(rng, **places | parts)


def example_with_stage(rng, stage):
    """Return an example whose run has `stage`: a block whose keys are processed two at a time."""
    if stage in OF_WORDS:
        return example_with_vocabulary(rng)
    norm = "after" if stage.startswith("total_") else "before"
    return example_with_block(rng, norm, keys_at_once=2)


def example_with_vocabulary(rng):
    """Return an example of a block without a feed-forward layer, and an unembedding."""
    start = example_with_block(rng)
    block = replace(start.block, feed_forward=None, first=Norm(), second=Norm())
    unembedding = rng.normal(size=(D_MODEL, 23)) / 4
    return replace(start, block=block, layer=None, unembedding=unembedding,
                   vocabulary=[f"word{i}" for i in range(23)])  # fmt: skip


def example_with_block(rng, norm="before", activation="relu", **parts):
    """Return an example of a Transformer block, with positional encodings and rotation angles."""
    start = example_with_positions(rng)
    w_o = rng.normal(size=(HEADS * D_V, D_MODEL)) / 4
    layer = MultiHeadWeights(start.layer.w_q, start.layer.w_k, start.layer.w_v, w_o)
    w_in, w_out = rng.normal(size=(D_MODEL, D_FF)), rng.normal(size=(D_FF, D_MODEL))
    biases = rng.normal(size=D_FF), rng.normal(size=D_MODEL)
    feed = FeedForward(w_in, biases[0], w_out, biases[1], activation)
    first, second = (Norm(*rng.normal(size=(2, D_MODEL)), eps=0.5) for _ in range(2))
    block = Block(layer, feed, norm, first, second)
    return replace(start, **{"layer": None, "block": block} | parts)
