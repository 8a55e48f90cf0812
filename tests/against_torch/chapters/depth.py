"""The numbers of the chapter on depth."""

import math

import numpy as np
import torch
from worked_by_torch import (
    causal,
    dot,
    example,
    explorer,
    face,
    mixed,
    norm,
    row_sum,
    run,
    scaled,
    share,
    tensor,
    with_sums,
)

CAT, MAT, IT, LAST = range(4)
START, A, B, AGAIN = range(4)


def numbers(page):
    """Compare all of them."""
    _sizes(page)
    _block(page)
    _two_layers(page)
    _induction(page)
    it_tired = example("it-tired")
    page.table(
        "tbl-depth-circuits",
        it_tired["w_q"][0] @ it_tired["w_k"][0].T,
        it_tired["w_v"][0] @ it_tired["w_o"][:2],
    )


def _sizes(page):
    """Send numbers through random blocks, drawn as the chapter says."""
    ends = {place: [] for place in ("nowhere", "before")}
    for place, found in ends.items():
        for seed in range(30):
            rng = np.random.default_rng(seed)
            x = tensor(rng.normal(size=(8, 32)))
            for _ in range(24):
                x = _random_block(rng, x, place)
            found.append(x.square().mean().sqrt())
    grown = torch.stack(ends["nowhere"])
    page.says(
        "At the end the RMS is between # and #, with a median of #",
        grown.min() // 1e4 * 1e4,
        -(-grown.max() // 1e4) * 1e4,
        10**4 * round(float(grown.quantile(0.5)) / 10**4),
    )
    page.says(
        "it grows to between # and #",
        math.floor(10 * min(ends["before"])) / 10,
        math.ceil(10 * max(ends["before"])) / 10,
    )


def _random_block(rng, x, place):
    w_q, w_k, w_v = (tensor(w) for w in rng.normal(size=(3, 4, 32, 8)) / 32**0.5)
    w_o, w_in, w_out = (
        tensor(rng.normal(size=s)) / s[0] ** 0.5 for s in ((32, 32), (32, 64), (64, 32))
    )
    reads = norm(x)[2] if place == "before" else x
    x = x + run({"embeddings": reads, "w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o})["output"]
    reads = norm(x)[2] if place == "before" else x
    return x + (reads @ w_in).relu() @ w_out


def _block(page):
    """Work the block around *it was tired*: a fifth number, and a feed-forward layer."""
    given = example("it-tired")
    given["embeddings"] = torch.nn.functional.pad(given["embeddings"], (0, 1))
    given |= {
        name: torch.nn.functional.pad(given[name], (0, 0, 0, 1)) for name in ("w_q", "w_k", "w_v")
    }
    given["w_o"] = torch.nn.functional.pad(given["w_o"], (0, 1))
    s = run(given)
    w_in = tensor([[1, -1], [0, 1], [0, 0], [1, 0], [0, 0]])
    b_in, w_out = tensor([-2, 0]), tensor([[0, 0, 0, 0, 5], [0, 0, 0, 0, -1]])
    means, spreads, normed = norm(s["stream"])
    hidden = normed @ w_in + b_in
    active = hidden.relu()
    fed = active @ w_out
    total = normed + fed
    t_means, t_spreads, t_normed = norm(total)
    block = {
        "stream": s["stream"],
        "stream_means": means,
        "stream_spreads": spreads,
        "stream_normed": normed,
        "w_in": w_in,
        "b_in": b_in,
        "w_out": w_out,
        "hidden": hidden,
        "active": active,
        "fed": fed,
        "total": total,
        "total_means": t_means,
        "total_spreads": t_spreads,
        "total_normed": t_normed,
    }
    stages = explorer(s) | {(name, 0): array for name, array in block.items()}
    page.explorer("explore-it-tired-block", stages, face(s, IT))
    page.says("The animal of it: ", 0, s["output"][IT, 0], s["stream"][IT, 0])
    page.says("numbers of it are now ", s["stream"][IT])
    page.says("Normalise them: mean: (", s["stream"][IT], 5, means[IT])
    off = s["stream"][IT] - means[IT]
    page.says("spread: √((", *([x, x] for x in off), 5, spreads[IT], spreads[IT])
    for name, column in (("animal", 0), ("state", 3)):
        page.says(
            f"{name}: (#", s["stream"][IT, column], means[IT], spreads[IT], normed[IT, column]
        )
    first, second = ([*dot(normed[IT], w_in[:, i])] for i in (0, 1))
    page.says("only where both are there: ", *first[:10], -2, *first[10:15], -2, hidden[IT, 0])
    page.says("= 0.38 max(#, #) =", 0, hidden[IT, 0], active[IT, 0])
    page.says("takes animal from thing: ", *second[:15], hidden[IT, 1])
    page.says("= −2.31 max(#, #) =", 0, hidden[IT, 1], active[IT, 1])
    page.says("the second −1: ", dot(active[IT], w_out[:, 4]))
    page.says("the active numbers of mat: ", active[MAT], 5, w_out[:, 4])
    page.says("Worked answer 0×", *dot(active[MAT], w_out[:, 4])[1:])
    page.table("tbl-depth-fed", normed[:, [0, 1, 3]].T, active.T, fed[:, 4])


def _two_layers(page):
    """Let *it* hear the last word, and then find its noun."""
    pick = torch.eye(4, dtype=torch.float64)
    hears = {
        "w_q": 2 * pick[None, :, 2:3],
        "w_k": pick[None, :, 3:],
        "w_v": pick[None, :, :2],
        "w_o": pick[:2],
    }
    resembles = {
        "w_q": 2 * pick[None, :, :2],
        "w_k": pick[None, :, :2],
        "w_v": pick[None, :, :2],
        "w_o": pick[:2],
    }
    words = example("it-tired")["embeddings"]
    soft = torch.cat([words[:3], tensor([[0, 1, 0, 2]])])
    firsts = [run(hears | {"embeddings": x}) for x in (words, soft)]
    seconds = [run(resembles | {"embeddings": s["stream"]}) for s in firsts]
    page.table("tbl-depth-soft", *(s["weights"][0, IT] for s in firsts + seconds))
    tired, _of_soft = firsts
    page.says("score: #×# =", 2, 2, tired["scores"][0, IT, LAST])
    page.says("= 4 weight: ", share(tired, IT, LAST))
    page.says("it hears of animal ", mixed(tired, IT, 0), tired["stream"][IT, 1])
    page.says(
        "with soft, that makes ",
        *([2, s["head_outputs"][0, CAT, 0], s["stream"][CAT, 0]] for s in firsts),
    )
    for word, s in (("tired", seconds[0]), ("soft", seconds[1])):
        page.says(f"cat, if {word}: ", dot(s["query"][0, IT], s["key"][0, CAT]))
    heard = run(resembles | {"embeddings": seconds[0]["embeddings"].round(decimals=2)})
    page.explorer("fig-depth-explorer", explorer(heard), face(heard, IT))


def _induction(page):
    """Work *A B A*: who stood before me, and who stood behind one like me."""
    eye = torch.eye(10, dtype=torch.float64)
    what, where, before, following = eye[:, :2], eye[:, 2:6], eye[:, 6:8], eye[:, 8:]
    asks = torch.zeros(10, 4, dtype=torch.float64)
    asks[3:6, :3] = 10 * torch.eye(3)
    x = torch.zeros(4, 10, dtype=torch.float64)
    x[:, 2:6] = torch.eye(4)
    x[[A, B, AGAIN], [0, 1, 0]] = 1
    first = run(
        {
            "embeddings": x,
            "w_q": asks[None],
            "w_k": where[None],
            "w_v": what[None],
            "w_o": before.T,
        },
        causal(4),
    )
    second = run(
        {
            "embeddings": first["stream"],
            "w_q": 8 * what[None],
            "w_k": before[None],
            "w_v": what[None],
            "w_o": following.T,
        },
        causal(4),
    )
    page.figure("fig-depth-a-b-a", first["weights"], second["weights"])
    page.table("tbl-depth-before", second["embeddings"][:, [0, 1, 6, 7]])
    for i, s in enumerate((first, second), 1):
        page.table(f"tbl-a-b-a-{i}-lane", s["query"], s["key"], s["value"])
        page.table(f"tbl-a-b-a-{i}-scores", s["scores"])
        page.table(f"tbl-a-b-a-{i}-weights", with_sums(s["weights"]))
        page.table(f"tbl-a-b-a-{i}-outputs", s["head_outputs"])
    page.says("the second token, ", dot(first["query"][0, B], first["key"][0, A]))
    page.says("the exponential of # is #", 5, math.exp(5))
    page.says("have the exponential #: ", 1, share(first, B, A))
    page.says("stood before it: ", _all(first, B, 0))
    page.says("The last A meets B: ", dot(second["query"][0, AGAIN], second["key"][0, B]))
    page.says("the scaled score ", scaled(second, AGAIN, B))
    page.says(
        "its exponential e",
        second["scaled_scores"][0, AGAIN, B],
        second["exponentials"][0, AGAIN, B],
    )
    page.says("the sum of the row ", row_sum(second, AGAIN))
    page.says("and the weight ", share(second, AGAIN, B))
    page.says("A follows: ", _all(second, AGAIN, 0))
    page.says("B follows: ", _all(second, AGAIN, 1))
    page.says("B, with #", second["head_outputs"][0, AGAIN, 1])
    page.says("and gives A #", second["stream"][A, 8])


def _all(s, row, column):
    """Return the numbers of a component of an output, with the keys that are hidden."""
    return dot(s["weights"][0, row], s["value"][0, :, column])
