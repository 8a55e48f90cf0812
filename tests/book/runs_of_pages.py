"""The runs of a page's explorers, computed by `mha` from the data on the page."""

import numpy as np

from mha import MultiHeadWeights, WorkedExample, trace
from mha.core.feed_forward import FeedForward
from mha.core.transformer import Block
from mha.runs.record import trace_blocks

STARTS = ("embeddings", "positions", "query", "key", "value", "angles")


def example_of(data):
    """Return the example that an explorer's data describe, with its block if it has one."""
    inputs = {name: np.array(array) for name, array in data["inputs"].items()}
    about = {
        "name": "here", "title": "Here", "source": "This book", "tokens": tuple(data["tokens"]),
        "head_names": tuple(data["heads"]), "is_causal": data["isCausal"], "scale": data["scale"],
        "focus": data["focus"], "mask": data["masks"],
    }  # fmt: skip
    about |= {name: inputs[name] for name in STARTS if name in inputs}
    if "embeddings" not in inputs:
        return WorkedExample(**about), None
    layer = MultiHeadWeights(*(inputs.get(name) for name in ("w_q", "w_k", "w_v", "w_o")))
    block, kind = None, data["block"]
    if kind is not None:
        learned = [inputs.get(name) for name in ("w_in", "b_in", "w_out", "b_out")]
        block = Block(layer, FeedForward(*learned) if "w_in" in inputs else None, kind["norm"])
    return WorkedExample(**about, layer=layer), block


def run_of(data):
    """Return the run that an explorer's data describe."""
    example, block = example_of(data)
    return trace_blocks(example, [block])[0] if block else trace(example)
