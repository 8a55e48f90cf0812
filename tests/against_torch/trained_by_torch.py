"""Layers that answer questions about tokens, trained in parallel with PyTorch and Adam."""

from itertools import count

import torch
from torch.nn import functional
from worked_by_torch import Run


def answer_scores(layers, x, questions):
    """Return the scores of each question's choices, and the weights, shape (layers, texts, ...).

    Parameters
    ----------
    layers : list of tensor
        The matrices w_q, w_k, w_v and w_o, each of all layers.
    x : tensor, shape (texts, n, d_model)
    questions : int
    """
    *projections, w_o = layers
    inputs = [torch.einsum("tnd,lhdk->lthnk", x, w) for w in projections]
    s = Run(dict(zip(("query", "key", "value"), inputs, strict=True)) | {"w_o": w_o[:, None]})
    return s.output.unflatten(-1, (questions, -1)), s.weights


def losses(scores, answers):
    """Return the mean cross-entropy of each layer over the questions that have an answer."""
    rows = answers.expand(scores.shape[:-1])
    costs = functional.cross_entropy(
        scores.flatten(0, -2), rows.flatten(), ignore_index=-1, reduction="none"
    )
    return costs.reshape(len(scores), -1).sum(1) / (answers >= 0).sum()


def training_steps(layers, x, answers, batch=64, rate=0.03):
    """Yield without end each step's batch losses, and the layers after the step."""
    layers = [w.clone().requires_grad_() for w in layers]
    adam = torch.optim.Adam(layers, lr=rate, betas=(0.9, 0.99))
    for step in count():
        rows = torch.arange(step * batch, (step + 1) * batch) % len(x)
        found = losses(answer_scores(layers, x[rows], answers.shape[-1])[0], answers[rows])
        adam.zero_grad()
        found.sum().backward()
        adam.step()
        yield found.detach(), [w.detach().clone() for w in layers]
