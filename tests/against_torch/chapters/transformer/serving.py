"""The numbers of the chapter on serving."""

import json

import numpy as np
import torch
from names_by_torch import WORDS, indices, kept_models, read
from worked_by_torch import EXAMPLES

from mha.examples.names import draw_stories

MODELS = kept_models()
TRAINING = json.loads((EXAMPLES / "names" / "training.json").read_text(encoding="utf-8"))
STORY = "ba ke saw mo nu . mo"
PROMPT = "ba ke saw mo nu . ba ke"
FLOPS, BYTES = 1e15, 4e12
LARGE, SMALL = (80, 8192, 28672), (32, 4096, 14336)
"""Layers, width and inner width of two models with heads of width 128 and 8 key-value heads."""


def matrices(sizes):
    """Return the number of entries of all matrices of a model."""
    layers, width, inner = sizes
    return layers * (2 * width * width + 2 * width * 8 * 128 + 3 * width * inner)


def operations(sizes, keys):
    """Return the operations of a token that sees some keys."""
    layers, width, _ = sizes
    return 2 * matrices(sizes) + 4 * layers * width * keys


def cached(sizes, tokens):
    """Return the bytes of the keys and values of some tokens."""
    return sizes[0] * 2 * 8 * 128 * 2 * tokens


def times(sizes, texts, rows=1):
    """Return the seconds in which a step reads its bytes, and those in which it computes."""
    read_bytes = 2 * matrices(sizes) + texts * cached(sizes, 1000)
    return read_bytes / BYTES, texts * rows * operations(sizes, 1000) / FLOPS


def compare_shared_prompts(page):
    (_, second), _, _ = read(MODELS[-1], indices(PROMPT))
    page.runs["serving-names-2"] = second
    alone = sum(operations(LARGE, n) for n in range(1, 1101))
    rest = sum(operations(LARGE, n) for n in range(1001, 1101))
    share = (alone - rest + 64 * rest) / (64 * alone)
    page.says("the prefill of all prompts takes # of the operations", share)
    reading = (2 * matrices(LARGE) + cached(LARGE, 1100)) / BYTES
    page.says("time to first token can be # ms instead of #", 1e3 * reading, 1e3 * alone / FLOPS)
    page.says("rows need only # ms of arithmetic", 1e3 * rest / FLOPS)
    page.says("The # GB of the common cache", cached(LARGE, 1000) / 1e9)


def compare_pages(page):
    slot = cached(LARGE, 1)
    needed = 1000, 1000, 16, 1000 / 16, 63, 8
    page.says("# tokens need # ÷ # = # pages, so # are taken, and #", needed)
    page.says("keys and values take # KiB", slot / 1024)
    page.says("so # MiB is wasted", 8 * slot / 2**20)
    page.says("# tokens would waste # GiB", 8192, (8192 - 1000) * slot / 2**30)


def compare_chunks(page):
    rows = []
    for texts in (64, 512):
        reading, computing = times(LARGE, texts)
        free = int((reading - computing) * FLOPS // operations(LARGE, 1000))
        rows.append([1e3 * reading, 1e3 * computing, free])
    page.table("tbl-serving-chunks", rows)
    reading, computing, free = rows[0]
    page.says("texts: while the memory is read, ", reading, computing, reading - computing)
    each = 1e3 * operations(LARGE, 1000) / FLOPS
    page.says("A token of the prompt takes # ms, so # tokens", each, free)


def pair_counts():
    """Return the share of each word among those that follow another, in 2,000 stories."""
    stories = torch.tensor(draw_stories(np.random.default_rng(10), 2000, 48))
    pairs = torch.full((36, 36), 0.01)
    ones = torch.ones(stories[:, 1:].numel())
    pairs.index_put_((stories[:, :-1].flatten(), stories[:, 1:].flatten()), ones, accumulate=True)
    return pairs / pairs.sum(1, keepdim=True)


SHARES = pair_counts()


def compare_one_guess(page):
    q, p = SHARES[WORDS.index("mo")], read(MODELS[-1], indices(STORY))[2][-1].softmax(0)
    columns = torch.stack([q, p, torch.minimum(p, q), (p - q).clamp(min=0)], 1)
    shown = [WORDS.index(word) for word in ("nu", "ke", ".")]
    nu, _, stop = shown
    others = [i for i in range(36) if i not in shown]
    page.table("tbl-serving-rule", columns[shown], columns[others].sum(0), columns.sum(0))
    rejected, instead = columns[:, 3].sum(), columns[nu, 3] / columns[:, 3].sum()
    page.says(
        "The full stop is accepted with the probability ", p[stop], q[stop], p[stop] / q[stop]
    )
    page.says("After a rejection nu is drawn with ", columns[nu, 3], rejected, instead)
    page.says("So nu is written with probability ", q[nu], rejected, instead, p[nu])
    page.says("The sum of the third column, #, is", columns[:, 2].sum())
    page.says("of the cases; its target probability is ", p[nu])


def compare_drafts(page):
    stories = torch.tensor(draw_stories(np.random.default_rng(2026), 200, 48))
    target = read(MODELS[-1], stories)[2].softmax(-1)
    steps = [TRAINING["steps"].index(step) for step in (250, 500)]
    drafts = [SHARES[stories], *(read(MODELS[i], stories)[2].softmax(-1) for i in steps), target]
    rates = [torch.minimum(target, draft).sum(-1).mean() for draft in drafts]
    words = [sum(a**i for i in range(5)) for a in rates]
    page.says("acceptance rate is # if the draft counts pairs", rates[0])
    page.says("counts pairs, and # if the draft is the target", rates[2])
    page.says("proposals then writes about # and # words", words[0], words[2])


def compare_times(page):
    words = sum(0.8**i for i in range(5))
    rows = []
    for texts in (1, 512):
        guessed = 4 * max(times(SMALL, texts)) + max(times(LARGE, texts, rows=5))
        rows.append([1e3 * max(times(LARGE, texts)), 1e3 * guessed / words])
    page.says("Then a pass writes # tokens", words)
    page.says("then takes at least # ms instead of #", reversed(rows[0]))
    page.says("For # texts it takes # ms instead of #", 512, reversed(rows[1]))
