"""Random runs for the tests that compare the browser's port of the package with the package."""

import json

import numpy as np
from helpers import example

from mha import MultiHeadWeights
from mha.core.feed_forward import FeedForward
from mha.core.norm import Norm
from mha.core.transformer import Block
from mha.runs.stages import STAGES

CLOSE = 1e-12
# Below this, the gap between neighbouring numbers is no longer in proportion to their size.
SMALLEST = 1e-290


def random_mask(rng, n):
    """Return no mask, a boolean mask or an additive mask. Some rows are fully masked."""
    kind = rng.integers(4)
    if kind == 0:
        return None
    allowed = rng.random((n, n)) < rng.choice([0.3, 0.8])
    if kind == 1:
        allowed[rng.integers(n)] = False
    return allowed if kind < 3 else np.where(allowed, rng.normal(size=(n, n)), -np.inf)


def mask_as_json(mask):
    """Return a mask as JSON. None replaces minus infinity."""
    if mask is None or mask.dtype == bool:
        return None if mask is None else mask.tolist()
    return [[None if np.isneginf(x) else float(x) for x in row] for row in mask]


def in_browser(page, function, cases):
    """Call a function of the page for each case. A null in a result means minus infinity."""
    code = f"(text) => JSON.stringify(JSON.parse(text).map({function}))"
    return json.loads(page.evaluate(code, json.dumps(cases)))


def infinite(rows):
    return np.array([[-np.inf if x is None else x for x in row] for row in rows])


def assert_near(found, wanted, size):
    """Assert equality within 1e-12 of `size`, the sum of the absolute products."""
    assert np.shape(found) == wanted.shape
    assert (np.abs(np.asarray(found) - wanted) <= CLOSE * size + SMALLEST).all()


def random_example(rng):
    """Return a random example with heads, from embeddings or from query, key and value.

    The numbers are integer multiples of a power of two, so that every score is exact, however
    large. Any difference comes from the arithmetic after the scores.
    """
    n, heads, d_model, d_k, d_v, d_out = map(int, rng.integers(1, 6, size=6))
    size = 2.0 ** rng.choice([-60, -3, 0, 200])

    def whole(*shape):
        return rng.integers(-3, 4, size=shape).astype(float)

    given = {
        "tokens": [f"t{i}" for i in range(n)],
        "head_names": [f"h{i}" for i in range(heads)],
        "mask": random_mask(rng, n),
        "is_causal": bool(rng.random() < 0.3),
        "scale": [None, 1.0, 0.25, 3.0][rng.integers(4)],
    }
    if rng.random() < 0.3:
        query, key = whole(heads, n, d_k) * size, whole(heads, n, d_k) * size
        return example(**given, query=query, key=key, value=whole(heads, n, d_v) / 8)
    layer = MultiHeadWeights(
        whole(heads, d_model, d_k) / 4, whole(heads, d_model, d_k) / 4,
        whole(heads, d_model, d_v) / 8,
        rng.normal(size=(heads * d_v, d_out)) if rng.random() < 0.7 else None,
    )  # fmt: skip
    start = dict.fromkeys(("query", "key", "value"))
    return example(**given | start, embeddings=whole(n, d_model) * size, layer=layer)


def random_block(rng, norm, activation):
    """Return an example with a block of random sizes. Optional parts are missing at random."""
    n, heads, d_model, d_k, d_ff = map(int, rng.integers(1, 6, size=5))
    d_model += 1  # the numbers of a row are to differ

    def row(width):
        return rng.normal(size=width) if rng.random() < 0.6 else None

    shapes = [(heads, d_model, d_k)] * 2 + [(heads, d_model, 3), (3 * heads, d_model)]
    w_in, w_out = rng.normal(size=(d_model, d_ff)), rng.normal(size=(d_ff, d_model))
    feed = FeedForward(w_in, row(d_ff), w_out, row(d_model), activation)
    block = Block(
        MultiHeadWeights(*(rng.normal(size=shape) for shape in shapes)),
        feed if rng.random() < 0.8 else None,
        norm,
        Norm(row(d_model), row(d_model), 10.0 ** rng.integers(-6, 1)),
        Norm(row(d_model), np.eye(d_model)[0]),
    )
    return example(
        **dict.fromkeys(("query", "key", "value")),
        tokens=[f"t{i}" for i in range(n)],
        head_names=[f"h{i}" for i in range(heads)],
        embeddings=rng.normal(size=(n, d_model)) * rng.choice([1.0, 1e3]),
        positions=rng.normal(size=(n, d_model)) if rng.random() < 0.5 else None,
        is_causal=bool(rng.random() < 0.3),
        block=block,
    )


def port_block(worked):
    """Return the block of an example in the port's format, empty if there is no block."""
    block = worked.block
    if block is None:
        return {}
    feed = block.feed_forward
    learned = {name: getattr(feed, name, None) for name in ("w_in", "b_in", "w_out", "b_out")}
    if block.norm != "nowhere":
        norms = {"first": block.first} | ({} if feed is None else {"second": block.second})
        learned |= {f"{key}_gain": norm.gain for key, norm in norms.items()}
        learned |= {f"{key}_bias": norm.bias for key, norm in norms.items()}
    assert all(STAGES[name].in_block for name in learned)
    return {name: array.tolist() for name, array in learned.items() if array is not None} | {
        "block": {
            "norm": block.norm,
            "activation": "relu" if feed is None else feed.activation,
            "eps": {"first": block.first.eps, "second": block.second.eps},
        }
    }


def port_inputs(worked, temperature):
    """Return an example in the port's format."""
    shape = (worked.num_heads, len(worked.tokens), len(worked.tokens))
    layer = worked.layer
    names = ("embeddings", "positions", "angles", "query", "key", "value")
    arrays = {name: getattr(worked, name) for name in names}
    if layer is not None:
        arrays |= {name: getattr(layer, name) for name in ("w_q", "w_k", "w_v", "w_o")}
    mask = worked.mask
    masks = None if mask is None else [mask_as_json(one) for one in np.broadcast_to(mask, shape)]
    given = {name: array.tolist() for name, array in arrays.items() if array is not None}
    return (
        given
        | port_block(worked)
        | {
            "masks": masks,
            "isCausal": worked.is_causal,
            "scale": worked.scale,
            "temperature": temperature,
        }
    )
