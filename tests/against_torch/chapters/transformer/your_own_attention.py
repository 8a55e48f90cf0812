"""The five versions of *Your own attention*, written again in PyTorch."""

import math

import numpy as np
import torch
from names_by_torch import BASE, D_K, WORDS, kept_models, read
from worked_by_torch import Run, causal, rotation_angles

import mha
from mha.examples.names import draw_stories


def scores_of(query, key, is_causal, is_scaled=True):
    """Return the scores, with later keys masked if `is_causal`."""
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
        is_truth = mask.dtype == torch.bool
        scores = scores.masked_fill(~mask, -math.inf) if is_truth else scores + mask
    return scores.softmax(-1).nan_to_num() @ value


VERSIONS = without_mask(1, False), without_mask(1, True), without_mask(-1, True), true_hides, mended


def compare_versions(page):
    """Compare how often each version is correct, and the smallest case of the first report."""
    reports = [mha.examine(version, asarray=torch.tensor) for version in VERSIONS]
    rows = [
        [r.cases[kind][0] / r.cases[kind][1] for r in reports if kind in r.cases]
        for kind in reports[-1].cases
    ]
    page.figure("fig-own-versions", [1, 2, 3, 4, 5], rows)
    asked = [sum(n for _, n in report.cases.values()) for report in reports]
    page.says("examine() has # cases, and", asked[0])
    page.says("in each of the # cases", asked[1])
    case = reports[0].findings[0].case.arguments
    s = Run({name: torch.tensor(case[name])[None] for name in ("query", "key", "value")})
    page.says("the products with the two keys are # and # in both", s.scores[0, 0])
    page.runs["own-first"] = s


def compare_names_looked_up(page):
    """Compare the weights of head 2 of block 2 on the second syllable, for two RoPE bases."""
    story = draw_stories(np.random.default_rng(2026), 200, 48)[0][:22]
    ba = story.tolist().index(WORDS.index("ba"))
    block = read(kept_models()[-1], torch.tensor(story))[0][1]
    page.says("the last mo gives #", block.weights[1, -1, ba])
    inputs = {"query": block.query, "key": block.key, "value": block.value}
    other = Run(inputs, causal(len(story)), rotation_angles(len(story), D_K, BASE**2))
    page.says("gives ba only #", other.weights[1, -1, ba])
