"""The trained model of names in PyTorch: two blocks of two heads, with the stored weights."""

import math

import numpy as np
import torch
from worked_by_torch import EXAMPLES, Run, causal, normalised, rotation_angles, standard_deviations

from mha.examples.names import WORDS

WIDTH, HEADS, BASE = 32, 2, 100.0
D_K = WIDTH // HEADS
SHAPES = {"embedding": (36, 32), "unembedding": (32, 36)} | {
    f"w_{name}{block}": (32, 32) if name == "o" else (HEADS, 32, D_K)
    for block in (1, 2) for name in "qkvo"
}  # fmt: skip


def kept_models():
    """Return the arrays of each checkpoint, in double precision."""
    models = []
    for row in np.load(EXAMPLES / "names" / "checkpoints.npy"):
        parts = torch.tensor(row).double().split([math.prod(shape) for shape in SHAPES.values()])
        models.append({n: p.reshape(s) for (n, s), p in zip(SHAPES.items(), parts, strict=True)})
    return models


def read(arrays, stories, cut=None):
    """Return everything that the model computes for stories: blocks, last norm's spread, logits.

    Parameters
    ----------
    cut : (int, int), optional
        A head of block 1 whose part of the stream the keys of a head of block 2 do without.
    """
    x, blocks, n = arrays["embedding"][stories], [], stories.shape[-1]
    for number in (1, 2):
        given = {f"w_{name}": arrays[f"w_{name}{number}"] for name in "qkvo"}
        given |= {
            "embeddings": normalised(x)[..., None, :, :],
            "x": x,
            "spread": standard_deviations(x),
        }
        block = Run(given, causal(n), rotation_angles(n, D_K, BASE))
        if cut and number == 2:
            part = blocks[0].head_contributions[..., cut[0], :, :]
            own = (part - part.mean(-1, keepdim=True)) / block.spread[..., None]
            block.key[..., cut[1], :, :] -= own @ block.w_k[cut[1]]
        blocks.append(block)
        x = x + block.output
    return blocks, standard_deviations(x), normalised(x) @ arrays["unembedding"]


def without_heads(arrays, *heads):
    """Return a model with heads turned off: block and head, counted from 0."""
    found = dict(arrays)
    for block, head in heads:
        w_o = found[f"w_o{block + 1}"].clone()
        w_o[head * D_K : (head + 1) * D_K] = 0
        found[f"w_o{block + 1}"] = w_o
    return found


def indices(text):
    """Return the indices of a text's tokens in the vocabulary."""
    return torch.tensor([WORDS.index(word) for word in text.split()])
