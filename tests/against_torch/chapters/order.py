"""The numbers of the chapter on order."""

import math

import torch
from worked_by_torch import causal, example, line, lines, run, tensor


def clocks(n, width):
    """Return the sines and cosines of positions."""
    speeds = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.arange(n, dtype=torch.float64)[:, None] * speeds
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


def swapped(given, i, j):
    """Return an example in which two tokens have changed places."""
    order = list(range(len(given["embeddings"] if "embeddings" in given else given["query"][0])))
    order[i], order[j] = order[j], order[i]
    tokens = {"embeddings": 0, "query": 1, "key": 1, "value": 1}
    return {
        k: v.index_select(tokens[k], torch.tensor(order)) if k in tokens else v
        for k, v in given.items()
    }


def numbers(page):
    """Compare all of them."""
    cat_sat, end = example("cat-sat"), example("the-cat-sat-end")
    quarter = math.pi / 2 * tensor([[0, 0], [1, 1]])
    plain = run(cat_sat)
    back = run(swapped(cat_sat, 0, 1), angles=quarter)
    page.says("gives itself the same #", plain["weights"][0, 0, 0])
    page.says("the last has moved by #", clocks(61, 8)[-1, 6])
    _added(page, end)
    _rotated(page, back, plain)
    _biased(page)


def _added(page, end):
    positions = clocks(4, 4)
    placed = run(end | {"embeddings": end["embeddings"] + positions})
    placed |= {"positions": positions, "placed": placed["embeddings"]}
    page.runs["the-cat-sat-end-placed"] = placed
    page.says("Its first number here is ", line(placed, "placed.1.0"))
    other = swapped(end, 1, 2)
    moved = run(other | {"embeddings": other["embeddings"] + positions})
    cat_first = [s["weights"][0, 1, 0] for s in (run(end), placed)]
    sat_first = [s["weights"][0, 2, 0] for s in (run(other), moved)]
    page.table("tbl-order-added", *zip(cat_first, sat_first, strict=True))


def _rotated(page, back, plain):
    average = lines(back, "head_outputs.0.0.0", "head_outputs.0.0.1")
    page.says("and all four scores are ", back["scores"][0, 0, 0], average)
    three = run(
        {k: plain[k][:, [0, 1, 0]] for k in ("query", "key", "value")},
        angles=math.pi / 2 * tensor([[0, 0], [1, 1], [2, 2]]),
    )
    page.says("The scores of the first cat are #, # and #", three["scores"][0, 0])


def _biased(page):
    football = example("play-football")
    distance = (tensor([[0], [1], [2]]) - tensor([0, 1, 2])).abs()
    near = page.runs["football-near"] = run(football, causal(3) - distance / 2)
    page.says("for I: ", lines(near, *(f"scaled_scores.0.2.{key}" for key in range(3))))
    page.says("divides its exponential by , which is #", math.exp(0.5))
    sides = page.runs["football-both-sides"] = run(football, -distance / 2)
    scores = [f"scaled_scores.0.1.{key}" for key in range(3)]
    page.says("play loses nothing. ", lines(sides, *scores, "row_sums.0.1"))
