"""An independent oracle: every number of a worked example, computed from its inputs.

Nothing here comes from a run or from `mha.runs.origins`, which the audit itself asks.
"""

from functools import cache

import numpy as np

from mha import load_example

SOURCES = {"query": "w_q", "key": "w_k", "value": "w_v"}


@cache
def stages_by_loops(name):
    """Return each stage of an example of the book by name. Masks must be additive."""
    example = load_example(name)
    stages = inputs_and_projections(example)
    query, key, value = stages["query"], stages["key"], stages["value"]
    stages["root"] = root = np.sqrt(query.shape[-1])
    scale = 1 / root if example.scale is None else example.scale
    stages["scores"] = np.einsum("hid,hjd->hij", query, key)
    stages["scaled_scores"] = scale * stages["scores"]
    if example.mask is not None:
        stages["scaled_scores"] = stages["scaled_scores"] + example.mask
    stages["exponentials"] = powers = np.exp(stages["scaled_scores"])
    stages["row_sums"] = sums = powers.sum(axis=-1)
    stages["weights"] = weights = powers / np.where(sums, sums, 1)[..., None]
    # A source may draw other weights than it computes.
    drawn = example.target_weights
    stages["percentages"] = 100 * (weights if drawn is None else drawn)
    stages["head_outputs"] = np.einsum("hij,hjd->hid", weights, value)
    stages["concat"] = np.concatenate(list(stages["head_outputs"]), axis=-1)
    if "w_o" in stages:
        stages["output"] = np.einsum("nc,cd->nd", stages["concat"], stages["w_o"])
    return stages


def inputs_and_projections(example):
    """Return an example's inputs, and its queries, keys and values."""
    if example.layer is None:
        return {name: getattr(example, name) for name in SOURCES}
    layer, x = example.layer, example.embeddings
    matrices = {name: getattr(layer, name) for name in (*SOURCES.values(), "w_o")}
    stages = {name: matrix for name, matrix in matrices.items() if matrix is not None}
    for name, matrix in SOURCES.items():
        stages[name] = np.einsum("nm,hmd->hnd", x, stages[matrix])
    return stages | {"embeddings": x}


def number_at(stages, place):
    """Return the number at a place, which may be one term of a sum of products."""
    if place.term is None:
        return stages[place.stage][place.index]
    left, right = factors(stages, place)
    return left * right


def factors(stages, place):
    """Return the two factors of one term of a sum of products."""
    stage, i = place.stage, place.term
    if stage == "output":
        return stages["concat"][place.row, i], stages["w_o"][i, place.column]
    head, row, column = place.index
    if stage == "scores":
        return stages["query"][head, row, i], stages["key"][head, column, i]
    if stage == "head_outputs":
        return stages["weights"][head, row, i], stages["value"][head, i, column]
    return stages["embeddings"][row, i], stages[SOURCES[stage]][head, i, column]
