"""The five versions of *Your own attention* once more, in PyTorch's words."""

import math

import numpy as np
import torch
from chapters.small_model import BASE, angles_of, kept_models, read
from worked_by_torch import causal, norm, run

import mha
from mha.examples.names import WORDS, draw_stories


def scores_of(query, key, is_causal, is_scaled=True):
    """Return scores, those of later keys hidden."""
    scores = query @ key.mT / (math.sqrt(query.shape[-1]) if is_scaled else 1)
    later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(later, -math.inf) if is_causal else scores


def without_mask(axis, is_scaled):
    """Return attention that takes no mask."""

    def attention(query, key, value, is_causal=False):
        return scores_of(query, key, is_causal, is_scaled).softmax(axis) @ value

    return attention


def true_hides(query, key, value, mask=None, is_causal=False):
    scores = scores_of(query, key, is_causal)
    if mask is not None:
        scores = scores.masked_fill(mask != 0, -math.inf)
    return scores.softmax(-1) @ value


def mended(query, key, value, mask=None, is_causal=False):
    scores = scores_of(query, key, is_causal)
    if mask is not None:
        added = torch.zeros_like(scores)
        is_truth = mask.dtype == torch.bool
        scores = scores + (added.masked_fill(~mask, -math.inf) if is_truth else mask)
    return scores.softmax(-1).nan_to_num() @ value


VERSIONS = without_mask(1, False), without_mask(1, True), without_mask(-1, True), true_hides, mended


def numbers(page):
    """Compare how often each version is right, and the smallest case of the first report."""
    reports = [mha.examine(version, asarray=torch.tensor) for version in VERSIONS]
    page.figure(
        "fig-own-versions",
        [1, 2, 3, 4, 5],
        *(
            [r.cases[kind][0] / r.cases[kind][1] for r in reports if kind in r.cases]
            for kind in reports[-1].cases
        ),
    )
    asked = [sum(n for _, n in report.cases.values()) for report in reports]
    page.says("examine() has # cases, and", asked[0])
    case = reports[0].findings[0].case.handed
    products = case["query"] @ case["key"].T
    page.says("The products with the two keys are # and # there", products[0].tolist())
    given = {name: torch.tensor(case[name])[None] for name in ("query", "key", "value")}
    page.runs["own-first"] = run(given)
    page.says("in each of the # cases", asked[1])
    _names_looked_up(page)


def _names_looked_up(page):
    """Compare what head 2 of block 2 gives to the second syllable, with the base and another."""
    model = kept_models()[-1]
    story = draw_stories(np.random.default_rng(2026), 200, 48)[0][:22]
    ba = story.tolist().index(WORDS.index("ba"))
    block = read(model, torch.tensor(story))[0][1]
    page.says("the last mo gives #", block["weights"][1, -1, ba])
    query, key = (norm(block["x"])[2] @ model[f"w_{name}2"] for name in "qk")
    angles = angles_of(len(story), BASE**2)
    other = run({"query": query, "key": key, "value": key}, causal(len(story)), angles)
    page.says("it gives ba #", other["weights"][1, -1, ba])
