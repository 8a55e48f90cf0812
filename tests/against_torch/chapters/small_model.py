"""The numbers of the chapter on a model small enough to read.

The stories are those of `mha.examples.names`, which draws a language and computes no attention.
"""

import json
import math
from pathlib import Path

import numpy as np
import torch
from printed_pages import AtMost
from torch.nn import functional
from worked_by_torch import EXAMPLES, causal, share, turned

from mha.examples.names import WORDS, draw_stories, second_syllables

WIDTH, HEADS, BASE = 32, 2, 100.0
D_K = WIDTH // HEADS
SHAPES = {"embedding": (36, 32), "unembedding": (32, 36)} | {
    f"w_{name}{block}": (32, 32) if name == "o" else (HEADS, 32, D_K)
    for block in (1, 2) for name in "qkvo"
}  # fmt: skip
STORY = "ba ke saw mo nu . ba"
KE, NU, LAST = WORDS.index("ke"), WORDS.index("nu"), 6


def kept_models():
    """Return the arrays of each checkpoint, in double precision."""
    models = []
    for row in np.load(EXAMPLES / "names" / "checkpoints.npy"):
        numbers = torch.tensor(row).double()
        parts = numbers.split([math.prod(shape) for shape in SHAPES.values()])
        models.append({n: p.reshape(s) for (n, s), p in zip(SHAPES.items(), parts, strict=True)})
    return models


def read(arrays, stories, cut=None):
    """Return everything that the model computes for stories, each block's stages by their names.

    Parameters
    ----------
    cut : (int, int), optional
        A head of block 1 whose part of the stream the keys of a head of block 2 do without.
    """
    x, blocks = arrays["embedding"][stories], []
    n = x.shape[-2]
    speeds = BASE ** (-torch.arange(0, D_K, 2, dtype=torch.float64) / D_K)
    angles = torch.arange(n, dtype=torch.float64)[:, None] * speeds
    for number in (1, 2):
        centred = x - x.mean(-1, keepdim=True)
        spread = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        normed = functional.layer_norm(x, (WIDTH,))[..., None, :, :]
        query, key, value = (normed @ arrays[f"w_{name}{number}"] for name in "qkv")
        if cut and number == 2:
            part = blocks[0]["parts"][..., cut[0], :, :]
            own = (part - part.mean(-1, keepdim=True)) / spread
            key = key.clone()
            key[..., cut[1], :, :] -= own @ arrays["w_k2"][cut[1]]
        scores = turned(query, angles) @ turned(key, angles).mT / D_K**0.5
        scaled = scores + causal(n)
        weights = scaled.softmax(-1)
        parts = (weights @ value) @ arrays[f"w_o{number}"].unflatten(0, (HEADS, D_K))
        blocks.append(
            {
                "x": x,
                "spread": spread,
                "turned_query": turned(query, angles),
                "scaled_scores": scaled,
                "exponentials": scaled.exp(),
                "row_sums": scaled.exp().sum(-1),
                "weights": weights,
                "parts": parts,
                "angles": angles,
            }
        )
        x = x + parts.sum(-3)
    spread = ((x - x.mean(-1, keepdim=True)).square().mean(-1, keepdim=True) + 1e-5).sqrt()
    logits = functional.layer_norm(x, (WIDTH,)) @ arrays["unembedding"]
    return blocks, spread, logits


def without(arrays, *heads):
    """Return a model with heads turned off: block and head, counted from 0."""
    found = dict(arrays)
    for block, head in heads:
        w_o = found[f"w_o{block + 1}"].clone()
        w_o[head * D_K : (head + 1) * D_K] = 0
        found[f"w_o{block + 1}"] = w_o
    return found


def measured(arrays, stories, cut=None):
    """Return the costs of words, and what heads give behind earlier occurrences and to the last."""
    _blocks, _, logits = read(arrays, stories[:, :-1], cut)
    losses = functional.cross_entropy(
        logits.flatten(0, 1), stories[:, 1:].flatten(), reduction="none"
    )
    losses = losses.reshape(len(stories), -1)
    full, _, _ = read(arrays, stories, cut)
    asked = second_syllables(stories.numpy())
    story, place = asked.repeated
    seen = torch.tensor(asked.behind)[:, None]
    return {
        "loss": losses.mean(),
        "new": losses[asked.new].mean(),
        "repeated": losses[asked.repeated].mean(),
        "behind": [(b["weights"][story, :, place] * seen).sum(-1).mean(0) for b in full],
        "previous": [b["weights"][story, :, asked.last, asked.last - 1].mean(0) for b in full],
    }


def indices(text):
    """Return a text's places in the vocabulary."""
    return torch.tensor([WORDS.index(word) for word in text.split()])


def numbers(page):
    """Compare all of them."""
    models = kept_models()
    model, fresh = models[-1], torch.tensor(draw_stories(np.random.default_rng(2026), 200, 48))
    whole = measured(model, fresh)
    _language(page, fresh, whole)
    _sizes(page, model)
    (first, second), spread, logits = read(model, indices(STORY))
    chances = logits.softmax(-1)
    came = indices(f"{STORY} ke")[1:]
    costs = [-chances[i, word].log() for i, word in enumerate(came)]
    page.table("tbl-names-predictions", *([chances[i].max(), c] for i, c in enumerate(costs)))
    page.figure("fig-names-bars", first["weights"][0, 1], second["weights"][1, LAST])
    page.figure("fig-names-two-heads", *_triangles(first["weights"][0], second["weights"][1]))
    _prediction(page, model, first, second, spread, logits)
    _notes(page, model, first, second, whole, fresh)
    _turned_off(page, model, fresh, whole)
    _born(page, models, fresh)
    _fails(page, model, whole)
    alone = measured(without(model, (0, 0), (0, 1)), fresh)
    page.says("much else: names met cost #", alone["repeated"])


def _language(page, fresh, whole):
    page.says("The language has # words: # syllables", len(WORDS), 16)
    told = torch.tensor(draw_stories(np.random.default_rng(10), 2000, 48))
    page.says("in # stories, how often", len(told))
    pairs = torch.full((36, 36), 0.01, dtype=torch.float64)
    ones = torch.ones(told[:, 1:].numel(), dtype=torch.float64)
    pairs.index_put_((told[:, :-1].flatten(), told[:, 1:].flatten()), ones, accumulate=True)
    costs = -(pairs / pairs.sum(1, keepdim=True)).log()[fresh[:, :-1], fresh[:, 1:]]
    asked = second_syllables(fresh.numpy())
    counting = costs.mean(), costs[asked.new].mean(), costs[asked.repeated].mean()
    page.table("tbl-names-losses", *counting, whole["loss"], whole["new"], whole["repeated"])
    page.says("which costs ≈ #", math.log(15))
    page.says("a name that it has met costs #", whole["repeated"])
    page.says(
        "hesitates as between # words, the model as between #",
        counting[2].exp(),
        whole["repeated"].exp(),
    )
    page.says("costs # nats a word, counting #", whole["loss"], counting[0])
    page.says("to the power of each: # and #", whole["loss"].exp(), counting[0].exp())


def _sizes(page, model):
    table, block = model["embedding"].numel(), 4 * model["w_o1"].numel()
    page.table("tbl-names-sizes", 36, 32, table, 32, 32, block, 32, 36, table, 2 * (table + block))
    page.says("has a row of # numbers for each word", WIDTH)
    page.says("with two heads each, # wide", D_K)
    page.says("the softmax of all # logits", len(WORDS))
    page.says("Each word adds # numbers", 2 * HEADS * 2 * D_K)
    page.table("tbl-names-cache", *([n, 2 * HEADS * 2 * D_K * n] for n in range(6, 10)))


def _triangles(*maps):
    return [row[: i + 1] for weights in maps for i, row in enumerate(weights)]


def _prediction(page, model, first, second, spread, logits):
    row = {name: second[name][1, LAST] for name in ("scaled_scores", "exponentials", "weights")}
    page.table("tbl-names-row", torch.stack(list(row.values()), 1))
    page.says("The exponentials add up to #", second["row_sums"][1, LAST])
    page.says("So the weight of ke is ", share(second, LAST, 1, head=1))
    page.says("keys ba, ke, saw, mo, nu, ., ba: ", row["scaled_scores"])
    page.says("set Worked answer ", share(second, LAST, 0, head=1))
    parts = [first["x"][LAST], *first["parts"][:, LAST], *second["parts"][:, LAST]]
    shares = torch.stack([(p - p.mean()) / spread[LAST] for p in parts]) @ model["unembedding"]
    both = shares[:, [KE, NU]]
    page.table("tbl-names-parts", both, logits[LAST, [KE, NU]])
    page.says("ends the other name: ", both[:, 0], logits[LAST, KE])
    page.says("says “a syllable”, with # and #", both[2])
    page.says("is the last part, # against #", both[4])
    powers, chance = logits[LAST].exp(), logits[LAST].softmax(0)[KE]
    page.says("over the sum of all #: ", 36, powers[KE], powers.sum(), chance)
    page.says("minus the logarithm of #, which is # nats", chance, -chance.log())
    page.says("one over the probability, ", 1, chance, 1 / chance)
    page.says("it cost #", -logits[0].log_softmax(0)[KE])
    rest, ratio = both[:4].sum(0), (logits[LAST, KE] - logits[LAST, NU]).exp()
    page.says(
        "four parts add up to # and #: it is # times as likely, in place of # times",
        rest,
        (rest[0] - rest[1]).exp(),
        ratio,
    )
    page.says("the logits of ke and nu are # and #", logits[LAST, [KE, NU]])
    page.says(
        "to the difference, # times. At temperature # the difference is halved, which is the "
        "root of that: #",
        ratio,
        2,
        ratio.sqrt(),
    )


def _notes(page, model, first, second, whole, fresh):
    page.says("ke gives ba, the word before it, #", first["weights"][0, 1, 0])
    notes = [first["x"], *first["parts"]]
    keys = [
        turned(
            (p - p.mean(-1, keepdim=True)) / second["spread"] @ model["w_k2"][1], first["angles"]
        )
        for p in notes
    ]
    parts = torch.stack([key @ second["turned_query"][1, LAST] / D_K**0.5 for key in keys], 1)
    page.table("tbl-names-score-parts", torch.cat([parts, parts.sum(1, keepdim=True)], 1))
    page.says(
        "The note of head 1 decides it: # for ke, and not more than #",
        parts[1, 1],
        AtMost(parts[2:, 1].max()),
    )
    page.says("the part of the embedding, which is #", parts[0, 0])
    page.says("The slip costs #", second["weights"][1, LAST, 0])
    page.says("In # stories that no training", len(fresh))
    page.says("the syllable # of its weight", whole["behind"][1][1])
    page.says(
        "No other head gives them more than #",
        AtMost(max(*whole["behind"][0], whole["behind"][1][0])),
    )


def _turned_off(page, model, fresh, whole):
    cut, other = measured(model, fresh, (0, 1)), measured(model, fresh, (1, 1))
    lost = [measured(without(model, head), fresh) for head in ((1, 1), (1, 0), (0, 0))]
    page.table(
        "tbl-names-off",
        *([f["repeated"], f["new"], f["behind"][1][1]] for f in (whole, cut, other, *lost)),
    )
    page.says(
        "a name that was met costs # in place of #, and a new one #",
        cut["repeated"],
        whole["repeated"],
        cut["new"],
    )
    page.says("the loss of all words rises to #", lost[1]["loss"])


def _born(page, models, fresh):
    record = json.loads(Path(EXAMPLES / "names" / "training.json").read_text(encoding="utf-8"))
    page.says("The model was kept at # steps", len(models))
    early, late = (measured(models[record["steps"].index(step)], fresh) for step in (250, 500))
    page.says("names met fall from # to #", early["repeated"], late["repeated"])
    page.says("earlier occurrences goes from # to #", early["behind"][1][1], late["behind"][1][1])
    page.says("on the word before from # to #", early["previous"][0][0], late["previous"][0][0])


def _fails(page, model, whole):
    def asks(story, arrays=model):
        return read(arrays, indices(story))[2][-1].softmax(0)

    stories = (
        "ba ke met mo nu . ta",
        "ba ke saw ba nu . ba",
        "ba ba met mo nu . ba",
        "ba ke met mo nu . ke",
    )
    page.table("tbl-names-fails", *(asks(story).topk(3).values for story in stories))
    page.says("The model says nu, with #", asks(stories[0])[NU])
    page.says("So new names cost it #, more than an even guess, #", whole["new"], math.log(15))
    page.says("It says ke with #", asks(stories[1])[KE])
    page.says(
        "nu falls from # to #", asks(stories[0])[NU], asks(stories[0], without(model, (1, 1)))[NU]
    )
