"""Attention, a norm and a layer of several heads without NumPy, number by number."""

import math
from fractions import Fraction


def loop_weights(query, key, scale, allowed):
    """Return the attention weights of two matrices as lists, computed in loops.

    `allowed(i, j)` tells whether query i may attend to key j.
    """
    rows = []
    for i, q in enumerate(query):
        scores = [scale * math.fsum(a * b for a, b in zip(q, k, strict=True)) for k in key]
        kept = [s for j, s in enumerate(scores) if allowed(i, j)]
        exponentials = [
            math.exp(s - max(kept)) if allowed(i, j) else 0.0 for j, s in enumerate(scores)
        ]
        total = math.fsum(exponentials) or 1.0
        rows.append([e / total for e in exponentials])
    return rows


def loop_product(left, right):
    """Return the product of two matrices as lists, computed in loops."""
    columns = list(zip(*right, strict=True))
    return [
        [math.fsum(float(a * b) for a, b in zip(row, column, strict=True)) for column in columns]
        for row in left
    ]


def loop_norm(row, gain, bias, eps):
    """Return a normalised row, its mean and its variance as exact fractions."""
    numbers = [Fraction(float(x)) for x in row]
    mean = sum(numbers) / len(numbers)
    variance = sum((x - mean) ** 2 for x in numbers) / len(numbers)
    spread = math.sqrt(variance + Fraction(eps))
    return [
        float(x - mean) / spread * float(g) + float(b)
        for x, g, b in zip(numbers, gain, bias, strict=True)
    ]


def loop_added(rows, row):
    """Return some rows with a row added to each. None adds nothing."""
    if row is None:
        return rows
    return [[a + float(b) for a, b in zip(each, row, strict=True)] for each in rows]


def loop_layer(x, context, layer, allowed):
    """Return a layer's output as lists, computed head by head.

    `allowed(head, i, j)` tells whether query i may attend to key j.
    """
    found = [[] for _ in x]
    for head in range(layer.num_heads):
        group = head // (layer.num_heads // layer.num_groups)
        query, key, value = (
            loop_added(loop_product(rows, w[i].tolist()), None if b is None else b[i])
            for rows, w, b, i in (
                (x, layer.w_q, layer.b_q, head),
                (context, layer.w_k, layer.b_k, group),
                (context, layer.w_v, layer.b_v, group),
            )
        )
        scale = 1 / math.sqrt(layer.d_k)
        weights = loop_weights(query, key, scale, lambda i, j, head=head: allowed(head, i, j))
        for row, mixed in zip(found, loop_product(weights, value), strict=True):
            row.extend(mixed)
    return found if layer.w_o is None else loop_added(loop_product(found, layer.w_o), layer.b_o)
