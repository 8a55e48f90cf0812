"""The numbers of the museum of bugs: each wrong line, written again in PyTorch.

`tests/practice/test_bugs.py` tests which property catches which bug.
"""

import math

import numpy as np
import torch
from printed_pages import AtLeast, AtMost
from worked_by_torch import Run, causal, example, rotated, tensor

THE, CAT, SAT, END = range(4)
OF_END, TWO = Run(example("the-cat-sat-end")), Run(example("the-cat-sat"))
HIDDEN = causal(4).isinf()


def compare_softmax(page):
    across = OF_END.scaled_scores.softmax(-2)
    meant = OF_END.head_outputs
    off = AtMost((across @ OF_END.value - meant).abs().max())
    page.says("The rows add up to ", across[0].sum(-1), meant.min(), meant.max(), off)
    scores = 27**2 * tensor([2, 0]) / 2
    page.says("# times as large. The scaled scores of cat are then # and #", 27, scores)
    largest = [
        max(n for n in range(1000) if torch.tensor(n, dtype=kind).exp().isfinite())
        for kind in (torch.float64, torch.float16)
    ]
    page.says("up to a scaled score of # in double precision, and of #", largest)
    even = Run(example("the-cat-sat"), scale=1 / math.sqrt(4)).weights
    page.says("In Head 2 the gives cat # and not #", even[1, THE, CAT], TWO.weights[1, THE, CAT])
    far = (torch.arange(3)[:, None] - torch.arange(3)).abs()
    late = Run(example("play-football")).weights - far / 2
    page.says("play gets # and football #", late[0, 0, 1:])


def compare_masks(page):
    late = OF_END.weights[0].masked_fill(HIDDEN, 0)
    page.says("The gives itself #, and cat, which", late[THE, THE], late[CAT].sum())
    page.runs["the-cat-sat-end-hidden"] = Run(example("the-cat-sat-end"), causal(4))
    reversed_mask = OF_END.scaled_scores[0].masked_fill(~HIDDEN, -math.inf).softmax(-1)
    page.says("The gives itself #, and sat", reversed_mask[THE, THE])


def compare_shapes(page):
    page.table("tbl-bugs-wide", TWO.query.transpose(0, 1))
    page.says("The line takes # and #, which belong to the", TWO.query[1, THE])
    moved = OF_END.weights.mT @ OF_END.value - OF_END.head_outputs
    page.says("no output is off by more than #", AtMost(moved.abs().max()))


def compare_positions(page):
    given = example("cat-sat")
    quarters = math.pi / 2 * torch.arange(3)[:, None].expand(3, 2).double()
    right = Run(given, angles=quarters[:2])
    page.says("In the full pass sat has the score # with cat and # with itself", right.scores[0, 1])
    asking = {"query": rotated(given["query"], quarters[1:])}
    ahead = Run(given | asking | {"key": rotated(given["key"], quarters[:2])}, causal(2))
    step = Run(given, causal(2), quarters[:2])
    page.says("average of the values, (", ahead.head_outputs[0, 1], step.head_outputs[0, 1])
    value = given["value"]
    with_values = right.weights @ rotated(value, quarters[:2, : value.shape[-1] // 2])
    page.says("and cat gets (#, #) in place of (#, #)", with_values[0, 0], right.head_outputs[0, 0])
    # each component is rotated with the one half a width later
    halves = {name: given[name].unflatten(-1, (2, -1)).mT.flatten(-2) for name in ("query", "key")}
    halved = Run(given | halves, angles=quarters[:2])
    page.says("cat gives itself # and not #", halved.weights[0, 0, 0], right.weights[0, 0, 0])


def compare_dropout(page):
    kept = tensor(np.random.default_rng(29).random((2000, *OF_END.weights.shape))) >= 0.1
    off = (OF_END.weights * kept / 0.9) @ OF_END.value - OF_END.head_outputs
    page.says("is computed # times with dropout", len(off))
    average = off.mean(0).abs().max()
    half = off.abs().flatten(1).amax(1).quantile(0.5)
    page.says("No number of the average is off by more than ", AtMost(average), AtLeast(half))
