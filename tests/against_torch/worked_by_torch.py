"""Runs of the book's examples by PyTorch: what a page prints of each, from the inputs alone."""

import math
import tomllib
from pathlib import Path

import torch
from printed_pages import flat

EXAMPLES = Path(__file__).parents[2] / "mha" / "examples"


def tensor(numbers):
    """Return numbers in double precision."""
    return torch.tensor(numbers, dtype=torch.float64)


def example(name):
    """Return an example's inputs: its embeddings and heads, or its queries, keys and values."""
    given = tomllib.loads((EXAMPLES / f"{name}.toml").read_text(encoding="utf-8"))
    found = {k: tensor(given[k]) for k in ("embeddings", "w_o") if k in given}
    if "heads" in given:
        for name in ("w_q", "w_k", "w_v"):
            found[name] = torch.stack([tensor(head[name]) for head in given["heads"]])
    else:
        found |= {k: tensor(given[k])[None] for k in ("query", "key", "value")}
    return found


def causal(n):
    """Return what is added to scores to hide later tokens."""
    return torch.zeros(n, n, dtype=torch.float64).masked_fill(
        torch.ones(n, n, dtype=torch.bool).triu(1), -math.inf
    )


def turned(x, angles):
    """Return pairs of numbers, taken for complex ones, times others of length one."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    turns = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(pairs * turns.to(pairs.dtype)).flatten(-2)


def run(given, mask=0.0, angles=None, scale=None):
    """Return every stage of attention, shape (..., num_heads, n, ...) where a stage has heads.

    Parameters
    ----------
    given : dict of tensor
        Of `example`.
    mask : tensor, default 0
        Added to the scaled scores.
    angles : tensor, shape (n, d_k / 2), optional
        By which queries and keys are turned.
    scale : float, default 1 / sqrt(d_k)
    """
    s = given | ({"mask": mask} if isinstance(mask, torch.Tensor) else {})
    if "w_q" in s:
        x = s["embeddings"]
        s["query"], s["key"], s["value"] = x @ s["w_q"], x @ s["w_k"], x @ s["w_v"]
    query, key = s["query"], s["key"]
    if angles is not None:
        query, key = turned(query, angles), turned(key, angles)
        s |= {"angles": angles, "turned_query": query, "turned_key": key}
    s["scores"] = query @ key.mT
    s["scaled_scores"] = s["scores"] * (scale or 1 / math.sqrt(query.shape[-1])) + mask
    powers = s["scaled_scores"].exp()
    s["row_sums"] = powers.sum(-1)
    s["exponentials"] = powers
    s["weights"] = s["scaled_scores"].softmax(-1)
    s["head_outputs"] = s["weights"] @ s["value"]
    s["concat"] = s["head_outputs"].transpose(-3, -2).flatten(-2)
    if "w_o" in s:
        s["output"] = s["concat"] @ s["w_o"]
        parts = s["w_o"].unflatten(0, (s["value"].shape[-3], -1))
        s["head_contributions"] = s["head_outputs"] @ parts
        if "embeddings" in s:
            s["stream"] = s["embeddings"] + s["output"]
    return s


def explorer(s):
    """Return the stages of a run as an explorer's tables have them, by stage and head."""
    found = {}
    for name, array in s.items():
        by_head = array if array.ndim == 3 else array[None]
        for head, numbers in enumerate(by_head):
            found[name, head] = numbers
    for head, sums in enumerate(s["row_sums"]):
        found["exponentials", head] = torch.cat([s["exponentials"][head], sums[:, None]], 1)
    return found


def face(s, row, head=0, keys="key"):
    """Return the table above an explorer: one query, a row for each key."""
    value, weights = s["value"][head], s["weights"][head, row]
    return [
        [s[keys][head, j], *(s[name][head, row, j] for name in (
            "scores", "scaled_scores", "exponentials", "weights"
        )), value[j], weights[j] * value[j, 0]]
        for j in range(len(value))
    ]  # fmt: skip


def with_sums(weights):
    """Return rows of weights with the sum behind each, as a block of tables prints them."""
    return torch.cat([weights, weights.sum(-1, keepdim=True)], -1)


def dot(a, b):
    """Return the numbers of a printed sum of products: the factors, the products, the sum."""
    factors, products = torch.stack([a, b], 1), a * b
    return flat(factors, products if len(a) > 1 else [], products.sum())


def place(s, address):
    """Return the number that stands at an address such as weights.0.1.2."""
    stage, *index = address.split(".")
    return s[stage][tuple(map(int, index))]


def line(s, address):
    """Return the numbers of the printed line of arithmetic that ends at a place of a run."""
    stage, *index = address.split(".")
    value = place(s, address)
    match stage, *map(int, index):
        case "query" | "key" | "value", head, i, j:
            return dot(s["embeddings"][i], s[f"w_{stage[0]}"][head, :, j])
        case "turned_query" | "turned_key", head, i, j:
            angle = s["angles"][i, j // 2]
            factors = [angle.sin(), angle.cos()] if j % 2 else [angle.cos(), -angle.sin()]
            pair = s[stage.removeprefix("turned_")][head, i].unflatten(0, (-1, 2))[j // 2]
            return dot(pair, torch.stack(factors))
        case "scores", head, i, j:
            query, key = (s.get(f"turned_{name}", s[name])[head] for name in ("query", "key"))
            return dot(query[i], key[j])
        case "scaled_scores", head, i, j:
            term = [s["mask"][i, j]] if "mask" in s and s["mask"][i, j] else []
            return [s["scores"][head, i, j], s["query"].shape[-1], *term, value]
        case "exponentials", head, i, j:
            return [s["scaled_scores"][head, i, j], value]
        case "row_sums", head, i:
            return [s["exponentials"][head, i], value]
        case "weights", head, i, j:
            return [s["exponentials"][head, i, j], s["row_sums"][head, i], value]
        case "head_outputs", head, i, j:
            return dot(s["weights"][head, i], s["value"][head, :, j])
        case "head_contributions", head, i, j:
            mine = s["w_o"].unflatten(0, (len(s["value"]), -1))[head]
            return dot(s["head_outputs"][head, i], mine[:, j])
        case "placed", i, j:
            return [value - s["positions"][i, j], s["positions"][i, j], value]
        case "output", i, j:
            return dot(s["concat"][i], s["w_o"][:, j])
        case "stream", i, j:
            return [s["embeddings"][i, j], s["output"][i, j], value]
        case "stream_means", i:
            return [s["stream"][i], s["stream"].shape[-1], value]
        case "stream_spreads", i:
            off = s["stream"][i] - s["stream_means"][i]
            return [(x, x) for x in off] + [len(off), value]
        case "stream_normed", i, j:
            return [s["stream"][i, j], s["stream_means"][i], s["stream_spreads"][i], value]
        case "hidden", i, j:
            row, column, bias = s["stream_normed"][i], s["w_in"][:, j], s["b_in"][j]
            bias = [bias] if bias else []
            return [torch.stack([row, column], 1), bias, row * column, bias, value]
        case "active", i, j:
            return [0, s["hidden"][i, j], value]
        case "fed", i, j:
            return dot(s["active"][i], s["w_out"][:, j])
    raise ValueError(address)


def lines(s, *addresses):
    """Return the numbers of several printed lines."""
    return [line(s, address) for address in addresses]


def norm(x, eps=1e-5):
    """Return means, spreads and normalised rows."""
    means = x.mean(-1)
    spreads = ((x - means[..., None]) ** 2).mean(-1).add(eps).sqrt()
    return means, spreads, torch.nn.functional.layer_norm(x, x.shape[-1:], eps=eps)


def run_of(data):
    """Return the run that an explorer's data start, with what stands around its attention."""
    given = {name: tensor(array) for name, array in data["inputs"].items()}
    placed = given.pop("positions", 0)
    angles, x = given.pop("angles", None), given.get("embeddings")
    given |= {} if x is None else {"embeddings": x + placed}
    mask = causal(len(data["tokens"])) if data["isCausal"] else 0.0
    s = run(given, mask, angles, data["scale"])
    if not data["block"] or data["block"]["norm"] == "nowhere":
        return s
    assert data["block"]["norm"] == "after"
    s |= dict(
        zip(("stream_means", "stream_spreads", "stream_normed"), norm(s["stream"]), strict=True)
    )
    s["hidden"] = s["stream_normed"] @ s["w_in"] + s["b_in"]
    s["active"] = s["hidden"].relu()
    s["fed"] = s["active"] @ s["w_out"]
    s["total"] = s["stream_normed"] + s["fed"]
    return s | dict(
        zip(("total_means", "total_spreads", "total_normed"), norm(s["total"]), strict=True)
    )
