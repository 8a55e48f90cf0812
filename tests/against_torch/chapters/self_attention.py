"""The numbers of the chapter on self-attention."""

import math

import numpy as np
import torch
from worked_by_torch import dot, example, explorer, face, mixed, row_sum, run, share, tensor

CAT, SAT = range(2)
BANK = 2


def numbers(page):
    """Compare all of them in tables and figures, and those of the four steps by hand."""
    given = example("river-bank")
    bank, with_scale = run(given, scale=1.0), run(given)
    page.explorer("fig-self-attention-explorer", explorer(with_scale), face(with_scale, BANK))
    page.table(
        "tbl-self-attention-scaled-bank",
        *([s["scaled_scores"][0, BANK], s["weights"][0, BANK]] for s in (bank, with_scale)),
    )
    both = with_scale["weights"][0, BANK, 1], bank["weights"][0, BANK, 1]
    page.says("bank gives it # of its attention", both[0])
    page.says("river would get # of the attention of bank", both[1])
    page.says("river is still ahead, with # of the attention instead of #", both)
    s = run(example("cat-sat"))
    page.figure("fig-cat-sat-weights", s["weights"])
    page.says(
        "its own and that of sat: ", *(dot(s["query"][0, CAT], s["key"][0, k]) for k in (CAT, SAT))
    )
    page.says(
        "Take exponentials, and add them up: e",
        s["scaled_scores"][0, CAT, CAT],
        s["exponentials"][0, CAT, CAT],
    )
    page.says("row sum: ", row_sum(s, CAT))
    page.says("divided by the sum of its row: ", *(share(s, CAT, k) for k in (CAT, SAT)))
    page.says("weight, component by component: ", mixed(s, CAT, 0), mixed(s, CAT, 1))
    page.says("The first component for cat, #", s["head_outputs"][0, CAT, 0])
    page.says("attends to itself with a weight of # and to sat with #", s["weights"][0, CAT])
    page.says(
        "sat has a weight of # and yet supplies # of the sum",
        s["weights"][0, CAT, SAT],
        s["weights"][0, CAT, SAT] * s["value"][0, SAT, 0] / s["head_outputs"][0, CAT, 0],
    )
    _learned(page)


def _learned(page):
    """Three hundred steps of plain gradient descent, by PyTorch's gradients."""
    rng = np.random.default_rng(10)
    x = tensor(rng.normal(size=(3, 4)))
    goal = x.roll(1, 0)
    w_q, w_k = (tensor(w).requires_grad_() for w in rng.normal(scale=0.5, size=(2, 1, 4, 4)))
    maps = []
    for step in range(301):
        weights = ((x @ w_q) @ (x @ w_k).mT / math.sqrt(4)).softmax(-1)
        if step in (0, 300):
            maps.append(weights.detach())
        loss = (weights @ x - goal).square().mean()
        for w, slope in zip((w_q, w_k), torch.autograd.grad(loss, (w_q, w_k)), strict=True):
            with torch.no_grad():
                w -= 0.5 * slope
    page.figure("fig-learned-weights", *maps)
