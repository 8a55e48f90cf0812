"""The numbers of the chapter on self-attention that are of no run of its explorers."""

import math

import numpy as np
import torch
from worked_by_torch import example, run, tensor

BANK = 2


def numbers(page):
    """Compare a run with and without the scale, and the matrices that are learned."""
    given = example("river-bank")
    bank, with_scale = run(given, scale=1.0), run(given)
    page.table(
        "tbl-self-attention-scaled-bank",
        *([s["scaled_scores"][0, BANK], s["weights"][0, BANK]] for s in (bank, with_scale)),
    )
    page.figure("fig-cat-sat-weights", run(example("cat-sat"))["weights"])
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
