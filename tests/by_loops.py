"""Every number of a worked example by loops over its inputs: what runs and audit are held against.

Nothing here comes from a run or from `mha.runs.origins`, which the audit itself asks.
"""

import math
from functools import cache

import numpy as np
from helpers import loop_product

from mha import load_example


@cache
def stages_by_loops(name):
    """Return `every_stage` of one of the book's worked examples."""
    return every_stage(load_example(name))


def every_stage(example):
    """Return each stage of an example by name, as nested lists; additive masks alone are known."""
    stages = start(example)
    query, key, value = stages["query"], stages["key"], stages["value"]
    stages["root"] = math.sqrt(len(query[0][0]))
    scale = 1 / stages["root"] if example.scale is None else example.scale
    stages["scores"] = [
        loop_product(q, list(zip(*k, strict=True))) for q, k in zip(query, key, strict=True)
    ]
    shape = np.shape(stages["scores"])
    mask = np.broadcast_to(0.0 if example.mask is None else example.mask, shape).tolist()
    scaled = [
        [[scale * s + m for s, m in zip(*rows, strict=True)] for rows in zip(*head, strict=True)]
        for head in zip(stages["scores"], mask, strict=True)
    ]
    powers = [[[math.exp(s) for s in row] for row in head] for head in scaled]
    sums = [[math.fsum(row) for row in head] for head in powers]
    weights = [
        [[e / total if total else 0.0 for e in row] for row, total in zip(*head, strict=True)]
        for head in zip(powers, sums, strict=True)
    ]
    stages |= {"scaled_scores": scaled, "exponentials": powers, "row_sums": sums}
    stages |= {"weights": weights, "percentages": in_percent(example, weights)}
    mixed = [loop_product(w, v) for w, v in zip(weights, value, strict=True)]
    beside = [[x for row in rows for x in row] for rows in zip(*mixed, strict=True)]
    stages |= {"head_outputs": mixed, "concat": beside}
    if example.layer is not None and example.layer.w_o is not None:
        stages["output"] = loop_product(beside, stages["w_o"])
    return stages


def start(example):
    """Return what an example starts from, and its queries, keys and values."""
    if example.layer is None:
        return {name: getattr(example, name).tolist() for name in ("query", "key", "value")}
    layer, x = example.layer, example.embeddings.tolist()
    names = [name for name in ("w_q", "w_k", "w_v", "w_o") if getattr(layer, name) is not None]
    stages = {"embeddings": x} | {name: getattr(layer, name).tolist() for name in names}
    for name, matrix in (("query", "w_q"), ("key", "w_k"), ("value", "w_v")):
        stages[name] = [loop_product(x, head) for head in stages[matrix]]
    return stages


def in_percent(example, weights):
    """Return weights in percent: those that a source draws, where it draws them."""
    drawn = example.target_weights
    shown = weights if drawn is None else drawn.tolist()
    return [[[100 * w for w in row] for row in head] for head in shown]


def number_at(stages, place):
    """Return the number at a place, or the term of a sum of products."""
    if place.term is not None:
        left, right = factors(stages, place)
        return left * right
    found = stages[place.stage]
    for i in place.index:
        found = found[i]
    return found


def factors(stages, place):
    """Return the two factors of one term of a sum of products."""
    stage, i = place.stage, place.term
    if stage == "output":
        return stages["concat"][place.row][i], stages["w_o"][i][place.column]
    head, row, column = place.index
    if stage == "scores":
        return stages["query"][head][row][i], stages["key"][head][column][i]
    if stage == "head_outputs":
        return stages["weights"][head][row][i], stages["value"][head][i][column]
    matrix = {"query": "w_q", "key": "w_k", "value": "w_v"}[stage]
    return stages["embeddings"][row][i], stages[matrix][head][i][column]
