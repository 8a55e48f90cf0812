"""The numbers of the chapter on a model small enough to read.

The stories are those of `mha.examples.names`, which draws a language and computes no attention.
"""

import itertools
import math

import numpy as np
import torch
from printed_pages import AtLeast, AtMost, lower
from torch.nn import functional
from worked_by_torch import EXAMPLES, causal, line, norm, run, turned

from mha.examples.names import WORDS, draw_stories, second_syllables

WIDTH, HEADS, BASE = 32, 2, 100.0
D_K = WIDTH // HEADS
SHAPES = {"embedding": (36, 32), "unembedding": (32, 36)} | {
    f"w_{name}{block}": (32, 32) if name == "o" else (HEADS, 32, D_K)
    for block in (1, 2) for name in "qkvo"
}  # fmt: skip
STORY = "ba ke saw mo nu . mo"
KE, NU, LAST = WORDS.index("ke"), WORDS.index("nu"), 6


def kept_models():
    """Return the arrays of each checkpoint, in double precision."""
    models = []
    for row in np.load(EXAMPLES / "names" / "checkpoints.npy"):
        numbers = torch.tensor(row).double()
        parts = numbers.split([math.prod(shape) for shape in SHAPES.values()])
        models.append({n: p.reshape(s) for (n, s), p in zip(SHAPES.items(), parts, strict=True)})
    return models


def angles_of(n, base=BASE):
    """Return by which angles the positions of a text turn."""
    speeds = base ** (-torch.arange(0, D_K, 2, dtype=torch.float64) / D_K)
    return torch.arange(n, dtype=torch.float64)[:, None] * speeds


def read(arrays, stories, cut=None):
    """Return everything that the model computes for stories, each block's stages by their names.

    Parameters
    ----------
    cut : (int, int), optional
        A head of block 1 whose part of the stream the keys of a head of block 2 do without.
    """
    x, blocks = arrays["embedding"][stories], []
    n = x.shape[-2]
    for number in (1, 2):
        _, spread, normed = norm(x)
        given = {
            name: normed[..., None, :, :] @ arrays[f"w_{name[0]}{number}"]
            for name in ("query", "key", "value")
        }
        if cut and number == 2:
            part = blocks[0]["head_contributions"][..., cut[0], :, :]
            own = (part - part.mean(-1, keepdim=True)) / spread[..., None]
            given["key"][..., cut[1], :, :] -= own @ arrays["w_k2"][cut[1]]
        block = run(given | {"w_o": arrays[f"w_o{number}"]}, causal(n).to(x.dtype), angles_of(n))
        blocks.append(block | {"x": x, "spread": spread})
        x = x + block["output"]
    _, spread, normed = norm(x)
    return blocks, spread, normed @ arrays["unembedding"]


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
    came = indices(f"{STORY} nu")[1:]
    costs = [-chances[i, word].log() for i, word in enumerate(came)]
    page.table("tbl-names-predictions", *([chances[i].max(), c] for i, c in enumerate(costs)))
    page.figure("fig-names-bars", first["weights"][0, 4], second["weights"][1, LAST])
    page.figure("fig-names-two-heads", lower(first["weights"][0], second["weights"][1]))
    _prediction(page, model, first, second, spread, logits)
    notes = _notes(page, model, first, second)
    page.says("One story is no proof. In # stories", len(fresh))
    page.table(
        "tbl-names-heads",
        *([whole[name][b][h] for name in ("behind", "previous")] for b in (0, 1) for h in (0, 1)),
    )
    _turned_off(page, model, fresh, whole)
    _two_stories(page, model)
    _born(page, models, fresh)
    _fails(page, model, notes)
    _sure_of_new(page, model, fresh)
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
    as_between = counting[2].exp(), whole["repeated"].exp()
    page.says("which costs ≈ #", math.log(15), whole["repeated"], as_between)
    page.says("costs # nats a word, counting #", whole["loss"], counting[0])
    powers = [cost.exp() for cost in (whole["loss"], counting[0], whole["repeated"], whole["new"])]
    page.says("to the power of each: ", powers)


def _sizes(page, model):
    table, block = model["embedding"].numel(), 4 * model["w_o1"].numel()
    page.says("at the ends have # numbers each", table, block, 2 * (table + block))
    page.says("has a row of # numbers for each word", WIDTH, D_K)
    page.says("the softmax of all # logits", len(WORDS))
    page.says("Each word adds # numbers", 2 * HEADS * 2 * D_K)


def _prediction(page, model, first, second, spread, logits):
    row = [second[name][1, LAST] for name in ("scaled_scores", "exponentials", "weights")]
    page.table("tbl-names-row", torch.stack(row, 1))
    nu = line(second, f"weights.1.{LAST}.4")
    page.says("The exponentials add up to ", second["row_sums"][1, LAST], nu)
    page.runs["names-2"] = second
    parts = [
        first["x"][LAST],
        *first["head_contributions"][:, LAST],
        *second["head_contributions"][:, LAST],
    ]
    shares = torch.stack([(p - p.mean()) / spread[LAST] for p in parts]) @ model["unembedding"]
    both, ends = shares[:, [NU, KE]], logits[LAST, [NU, KE]]
    page.table("tbl-names-parts", both, ends)
    page.says("ends the other name: ", both[:, 0], ends[0])
    gives, takes = AtLeast(shares[2, :16].min()), AtLeast(-shares[2, 16:].max())
    page.says("it adds at least ", gives, 16, takes, both[4])
    powers, chance = logits[LAST].exp(), logits[LAST].softmax(0)[NU]
    shares = 36, powers[NU], powers.sum(), chance
    page.says("over the sum of all ", shares, -chance.log(), 1, chance, 1 / chance)
    rest, ratio = both[:4].sum(0), (ends[0] - ends[1]).exp()
    page.says("The other four parts give it ", rest[0], rest, (rest[1] - rest[0]).exp())
    page.says("the logits of nu and ke are # and #", ends)
    page.says("to the difference, # times. At temperature", ratio, 2, ratio.sqrt())


def _score_parts(model, first, second):
    """Return what each part of the keys adds to the scores of the last word, a row a key."""
    written = (first["x"], *first["head_contributions"])
    held = [(part - part.mean(-1, keepdim=True)) / second["spread"][:, None] for part in written]
    keys = [turned(part @ model["w_k2"][1], first["angles"]) for part in held]
    return torch.stack([key @ second["turned_query"][1, -1] / D_K**0.5 for key in keys], 1)


def _notes(page, model, first, second):
    parts = _score_parts(model, first, second)
    notes = parts[:, 1]
    page.table("tbl-names-score-parts", torch.cat([parts, parts.sum(1, keepdim=True)], 1))
    page.says("nu gives mo, the word before it, #", first["weights"][0, 4, 3])
    others = notes[[i for i in range(7) if i != 4]]
    page.says("The note of block 1, head 1, decides it: ", notes[4], AtMost(others.max()))
    page.says("come second, with the same #", notes[1])
    page.says("and theirs give ", notes[[3, 4, 2]])
    return notes


def _turned_off(page, model, fresh, whole):
    cut, other = measured(model, fresh, (0, 1)), measured(model, fresh, (1, 1))
    heads = ((1, 1), (1, 0), (0, 0), (0, 1))
    lost = [measured(without(model, head), fresh) for head in heads]
    page.table(
        "tbl-names-off",
        *(
            [f["loss"], f["new"], f["repeated"], f["behind"][1][1]]
            for f in (whole, cut, other, *lost)
        ),
    )
    costs = cut["repeated"], math.log(15), whole["repeated"]
    page.says("a name that was met costs on average ", costs)


def _next(arrays, story, cut=None):
    return read(arrays, indices(story), cut)[2][-1].softmax(0)


def _two_stories(page, model):
    blind = without(model, (1, 1))
    variants = ((model, None), (model, (0, 1)), (blind, None), (without(model, (0, 0)), None))
    page.table(
        "tbl-names-two",
        *(
            [_next(arrays, STORY, cut)[NU], _next(arrays, "ba ke saw mo nu . ba", cut)[KE]]
            for arrays, cut in variants
        ),
    )
    ended = _next(without(model, (0, 1)), STORY)[indices("walked .")]
    page.says("with walked or the full stop (# together)", ended.sum())
    syllables = [word for word in WORDS[:16] if word not in ("mo", "nu")]
    names = [(a, b) for a in syllables for b in syllables if a != b]
    texts = torch.stack([indices(f"{a} {b} saw mo nu . {a}") for a, b in names])
    lucky = (read(blind, texts)[2][:, -1].argmax(1) == texts[:, 1]).sum()
    page.says("The first person could have # names here", len(names), lucky)


def _born(page, models, fresh):
    page.says("The model was kept in # states", len(models))
    early, late = models[3], models[7]  # after 250 and 500 steps
    asked = second_syllables(fresh.numpy())
    story, place = (torch.tensor(x) for x in asked.repeated)
    told = [fresh[s, :p] for s, p in zip(story, place, strict=True)]
    own = torch.stack([torch.isin(torch.arange(36), words) for words in told])
    own[:, 16:] = False
    own[torch.arange(len(own)), fresh[story, place]] = False
    known = []
    for arrays in (early, late):
        chances = read(arrays, fresh)[2][story, place].softmax(-1)
        right = chances[torch.arange(len(own)), fresh[story, place + 1]]
        of_own = (chances * own).sum(1)
        known.append((of_own.mean(), (right / of_own).mean()))
    later = [measured(arrays, fresh) for arrays in (early, late)]
    page.table(
        "tbl-names-born",
        *(
            [*k, m["repeated"], m["previous"][0][0], m["behind"][1][1]]
            for k, m in zip(known, later, strict=True)
        ),
    )


def _sure_of_new(page, model, fresh):
    story, place = (torch.tensor(x) for x in second_syllables(fresh.numpy()).new)
    chances = read(model, fresh[:, :-1])[2][story, place].softmax(-1)
    came = fresh[story, place + 1]
    before = torch.tensor([int((story[:i] == s).sum()) for i, s in enumerate(story)])
    each = [before == number for number in range(3)]
    sure = [chances[one].max(-1).values.mean() for one in each]
    right = [[(chances[one].argmax(-1) == came[one]).sum(), one.sum()] for one in each]
    costs = functional.cross_entropy(chances[each[2]].log(), came[each[2]])
    page.says("In the # new stories the likeliest word has", len(fresh), sure, right, costs)


def _fails(page, model, notes):
    stories = ("ba ke met mo nu . ta", "ba ke saw ba nu . ba")
    page.table("tbl-names-fails", *(_next(model, story).topk(3).values for story in stories))
    (first, second), _, _ = read(model, indices(stories[0]))
    unfit = _score_parts(model, first, second)[:, 1]
    score, weight = (second[name][1, LAST, 4] for name in ("scaled_scores", "weights"))
    nu = _next(model, stories[0])[NU]
    page.says("The model says nu, with ", nu, AtMost(unfit.max()), notes[4], score, weight)
    (_, second), spread, _ = read(model, indices(stories[1]))
    part = second["head_contributions"][0, LAST]
    takes = (part - part.mean()) / spread[LAST] @ model["unembedding"][:, [KE, NU]]
    drawn = torch.tensor(list(itertools.permutations(range(16), 3)))
    saw, stop = (torch.full((len(drawn),), WORDS.index(word)) for word in ("saw", "."))
    a, b, c = drawn.T
    ends = read(model, torch.stack([a, b, saw, a, c, stop, a], 1))[2][:, -1]
    each = torch.arange(len(drawn))
    first = (ends[each, b] > ends[each, c]).double().mean()
    ke, keys = _next(model, stories[1])[KE], second["weights"][1, LAST, [1, 4]]
    page.says("It says ke with ", ke, keys, 1, 2, -takes, len(drawn), first)
    blind = without(model, (1, 1))
    page.says("nu falls from # to #", nu, _next(blind, stories[0])[NU])
