"""The numbers of the museum of bugs: each wrong line once more, in PyTorch's words.

Which property catches which bug is in `tests/practice/test_bugs.py`.
"""

import math

import numpy as np
import torch
from printed_pages import AtLeast, AtMost
from worked_by_torch import causal, example, run, tensor, turned

THE, CAT, SAT, END = range(4)


def in_halves(x, angles):
    """Turn each number with the one that stands half a width on."""
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)


def attention(bug, query, key, value, *, hidden=None, bias=0.0, angles=None, width=None, rng=None):
    """Return weights and outputs of attention with one wrong line.

    Parameters
    ----------
    hidden : tensor of bool, optional
        True where a query must not attend.
    angles : tensor, optional
    width : int, default d_k
        Of the embeddings.
    rng : numpy.random.Generator, optional
        Of dropout.
    """
    if angles is not None:
        turn = in_halves if bug == "halves for pairs" else turned
        query, key = turn(query, angles), turn(key, angles)
        value = turn(value, angles[:, : value.shape[-1] // 2]) if bug == "values turned" else value
    divisor = width if bug == "wrong root" and width else query.shape[-1]
    scores = query @ key.mT / math.sqrt(divisor)
    scores = scores if bug == "late bias" else scores + bias
    if hidden is not None and bug != "late mask":
        scores = scores.masked_fill(~hidden if bug == "True reversed" else hidden, -math.inf)
    weights = scores.softmax(-2 if bug == "wrong axis" else -1)
    if bug == "late bias":
        weights = weights + bias
    if bug == "late mask" and hidden is not None:
        weights = weights.masked_fill(hidden, 0)
    if bug == "dropout left on" and rng is not None:
        weights = weights * tensor(rng.random(weights.shape) >= 0.1) / 0.9
    return weights, (weights.mT if bug == "columns mixed" else weights) @ value


def step_by_step(query, key, value, angles, ahead=0):
    """Return the outputs of one head that meets its tokens one at a time.

    Queries are turned as if they stood so many places `ahead`.
    """
    keys, rows = turned(key, angles[: len(key)]), []
    for t in range(len(query)):
        asking = turned(query[t : t + 1], angles[t + ahead])
        rows.append(attention("", asking, keys[: t + 1], value[: t + 1])[1])
    return torch.cat(rows)


def numbers(page):
    """Compare all of them."""
    of_end, two, football = (
        run(example(n)) for n in ("the-cat-sat-end", "the-cat-sat", "play-football")
    )
    cat_sat = example("cat-sat")
    _softmax(page, of_end, two, football)
    _mask(page, of_end)
    page.table("tbl-bugs-wide", two["query"].transpose(0, 1))
    page.says("It takes # and #, which belong to the", two["query"][1, THE])
    moved = attention("columns mixed", *_inputs(of_end))[1] - of_end["head_outputs"]
    page.says("no output is off by more than #", AtMost(moved.abs().max()))
    _positions(page, cat_sat)
    draws = np.random.default_rng(29)
    outputs = torch.stack(
        [attention("dropout left on", *_inputs(of_end), rng=draws)[1] for _ in range(2000)]
    )
    off = (outputs - of_end["head_outputs"]).abs()
    page.says("is worked # times with dropout", len(outputs))
    average = (outputs.mean(0) - of_end["head_outputs"]).abs().max()
    half = off.flatten(1).amax(1).quantile(0.5)
    page.says("No number of the average is off by more than ", AtMost(average), AtLeast(half))


def _inputs(s):
    return s["query"], s["key"], s["value"]


def _softmax(page, of_end, two, football):
    weights, output = attention("wrong axis", *_inputs(of_end))
    meant = of_end["head_outputs"]
    off = AtMost((output - meant).abs().max())
    page.says("The rows add up to ", weights[0].sum(-1), meant.min(), meant.max(), off)
    scores = 27**2 * tensor([2, 0]) / 2
    page.says("# times as large. The scaled scores of cat are then # and #", 27, scores)
    largest = [
        max(n for n in range(1000) if torch.tensor(float(n)).to(kind).exp().isfinite())
        for kind in (torch.float64, torch.float16)
    ]
    page.says("up to a scaled score of # in double precision, and of #", largest)
    even = attention("wrong root", *_inputs(two), width=4)[0]
    page.says("In Head 2 the gives cat # and not #", even[1, THE, CAT], two["weights"][1, THE, CAT])
    far = (tensor([[0], [1], [2]]) - tensor([0, 1, 2])).abs()
    late = attention("late bias", *_inputs(football), bias=-far / 2)[0]
    page.says("play gets # and football #", late[0, 0, 1:])


def _mask(page, of_end):
    hidden = causal(4).isinf()
    late = attention("late mask", *_inputs(of_end), hidden=hidden)[0][0]
    page.says("It gives itself #, and cat, which", late[THE, THE], late[CAT].sum())
    page.runs["the-cat-sat-end-hidden"] = run(example("the-cat-sat-end"), causal(4))
    reversed_mask = attention("True reversed", *_inputs(of_end), hidden=hidden)[0][0]
    page.says("The gives itself #, and sat", reversed_mask[THE, THE])


def _positions(page, cat_sat):
    inputs = [cat_sat[n] for n in ("query", "key", "value")]
    quarters = math.pi / 2 * torch.arange(3, dtype=torch.float64)[:, None] * torch.ones(2)
    steps = [step_by_step(*(x[0] for x in inputs), quarters, ahead) for ahead in (0, 1)]
    full = attention("", *inputs, angles=quarters[:2])
    scores = turned(inputs[0], quarters[:2]) @ turned(inputs[1], quarters[:2]).mT
    page.says("In the full pass sat scores # with cat and # with itself", scores[0, 1])
    page.says("average of the values, (", steps[1][1], steps[0][1])
    with_values = attention("values turned", *inputs, angles=quarters[:2])[1]
    page.says("and cat gets (#, #) in place of (#, #)", with_values[0, 0], full[1][0, 0])
    halves = attention("halves for pairs", *inputs, angles=quarters[:2])[0]
    page.says("cat gives itself # and not #", halves[0, 0, 0], full[0][0, 0, 0])
