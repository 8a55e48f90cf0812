"""The numbers of the chapter on self-attention that are not part of its explorers' runs."""

import math

import numpy as np
import torch
from worked_by_torch import Run, example, tensor

BANK = 2


def compare_with_and_without_the_scale(page):
    given = example("river-bank")
    runs = Run(given, scale=1.0), Run(given)
    rows = [(s.scaled_scores[0, BANK], s.weights[0, BANK]) for s in runs]
    page.table("tbl-self-attention-scaled-bank", rows)
    page.figure("fig-cat-sat-weights", Run(example("cat-sat")).weights)


def compare_what_is_learned(page):
    """Run 300 steps of plain gradient descent with PyTorch's gradients."""
    rng = np.random.default_rng(10)
    x = tensor(rng.normal(size=(3, 4)))
    w = [tensor(w).requires_grad_() for w in rng.normal(scale=0.5, size=(2, 1, 4, 4))]
    descent, maps = torch.optim.SGD(w, lr=0.5), []
    for _ in range(301):
        weights = ((x @ w[0]) @ (x @ w[1]).mT / math.sqrt(4)).softmax(-1)
        maps.append(weights.detach())
        descent.zero_grad()
        (weights @ x - x.roll(1, 0)).square().mean().backward()
        descent.step()
    page.figure("fig-learned-weights", maps[0], maps[-1])
