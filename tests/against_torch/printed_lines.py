"""The numbers that a page prints of a run, in lines of arithmetic and in tables of a stage."""

import torch


def dot(a, b):
    """Return the numbers of a printed sum of products: the factors, the products and the sum."""
    products = a * b
    return [torch.stack([a, b], 1), products if len(a) > 1 else [], products.sum()]


def place(s, address):
    """Return the number at an address such as weights.0.1.2."""
    stage, *index = address.split(".")
    return getattr(s, stage)[tuple(map(int, index))]


def line(s, address):
    """Return the numbers of the printed line of arithmetic for an address."""
    stage, *index = address.split(".")
    value = place(s, address)
    match stage, *map(int, index):
        case "query" | "key" | "value", head, i, j:
            return dot(s.embeddings[i], getattr(s, f"w_{stage[0]}")[head, :, j])
        case "turned_query" | "turned_key", head, i, j:
            cos, sin = s.angles[i, j // 2].cos(), s.angles[i, j // 2].sin()
            pair = getattr(s, stage.removeprefix("turned_"))[head, i].unflatten(0, (-1, 2))[j // 2]
            return dot(pair, torch.stack([sin, cos] if j % 2 else [cos, -sin]))
        case "scores", head, i, j:
            return dot(s.turned_query[head, i], s.turned_key[head, j])
        case "scaled_scores", head, i, j:
            added = s.mask.expand_as(s.scores[head])[i, j]
            return [s.scores[head, i, j], s.query.shape[-1], [added] if added else [], value]
        case "exponentials", head, i, j:
            return [s.scaled_scores[head, i, j], value]
        case "row_sums", head, i:
            return [s.exponentials[head, i], value]
        case "weights", head, i, j:
            return [s.exponentials[head, i, j], s.row_sums[head, i], value]
        case "head_outputs", head, i, j:
            return dot(s.weights[head, i], s.value[head, :, j])
        case "head_contributions", head, i, j:
            return dot(s.head_outputs[head, i], s.w_o_of_heads[head, :, j])
        case "placed", i, j:
            return [value - s.positions[i, j], s.positions[i, j], value]
        case "output", i, j:
            return dot(s.concat[i], s.w_o[:, j])
        case "stream", i, j:
            return [s.embeddings[i, j], s.output[i, j], value]
        case "stream_means", i:
            return [s.stream[i], s.stream.shape[-1], value]
        case "stream_spreads", i:
            off = s.stream[i] - s.stream_means[i]
            return [torch.stack([off, off], 1), len(off), value]
        case "stream_normed", i, j:
            return [s.stream[i, j], s.stream_means[i], s.stream_spreads[i], value]
        case "hidden", i, j:
            row, column, bias = s.stream_normed[i], s.w_in[:, j], s.b_in[j]
            bias = [bias] if bias else []
            return [torch.stack([row, column], 1), bias, row * column, bias, value]
        case "active", i, j:
            return [0, s.hidden[i, j], value]
        case "fed", i, j:
            return dot(s.active[i], s.w_out[:, j])
    raise ValueError(address)


def lines(s, *addresses):
    """Return the numbers of several printed lines."""
    return [line(s, address) for address in addresses]


def with_sums(weights):
    """Return each row of weights followed by its sum, as a block of tables prints them."""
    return torch.cat([weights, weights.sum(-1, keepdim=True)], -1)


def stage_table(s, stage, head):
    """Return a stage's table, of one head if it has heads. Sums follow the exponentials."""
    array = getattr(s, stage)
    array = with_sums(array) if stage == "exponentials" else array
    return array[int(head or 0)] if array.ndim == 3 else array


def explorer_table(s, row, head=0):
    """Return the table above an explorer: one query, with one row per key."""
    stages = s.scores, s.scaled_scores, s.exponentials, s.weights
    weights, value = s.weights[head, row], s.value[head]
    columns = torch.stack([array[head, row] for array in stages], 1)
    return torch.cat([s.turned_key[head], columns, value, weights[:, None] * value[:, :1]], 1)
