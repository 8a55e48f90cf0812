"""The numbers of the chapter on a model people use, from the recorded arrays of the model."""

import json
import math

import numpy as np
import torch
from printed_lines import line
from printed_pages import AtLeast, AtMost
from worked_by_torch import EXAMPLES, Run, causal, example, tensor

FOLDER = EXAMPLES / "smollm2"
TEXTS = json.loads((FOLDER / "texts.json").read_text(encoding="utf-8"))
SETTINGS = TEXTS["settings"]
LAYERS, HEADS, GROUPS = (SETTINGS[f"num_{name}"] for name in ("layers", "heads", "groups"))
WIDTH, D_K, D_FF = (SETTINGS[name] for name in ("d_model", "d_k", "d_ff"))
ANIMAL, CAT, FRANCE, MARY, _, TWICE = range(6)
ANIMAL_KEY, STREET_KEY, IT = 1, 6, 8
TOKENS = [[token.strip() for token in entry["tokens"]] for entry in TEXTS["sentences"]]


class Recorded:
    """The recorded arrays, and the heads that can be recomputed."""

    def __init__(self):
        with np.load(FOLDER / "numbers.npz") as file:
            self.arrays = {name: tensor(file[name].astype(float)) for name in file.files}

    def map(self, layer, head, sentence):
        """Return the recorded weights of a head."""
        n = len(TOKENS[sentence])
        full = torch.zeros(n, n, dtype=torch.float64)
        rows, columns = torch.tril_indices(n, n)
        full[rows, columns] = self.arrays[f"maps{sentence}"][layer - 1, head - 1] / 1000
        return full

    def head(self, layer, head, sentence):
        """Return the stages of a head for a sentence."""
        start, n = sum(map(len, TOKENS[:sentence])), len(TOKENS[sentence])
        with np.load(FOLDER / f"L{layer}H{head}.npz") as file:
            query, key, value = tensor(file["qkv"][:, start : start + n].astype(float))[:, None]
        given = {"query": query, "key": key, "value": value}
        speeds = SETTINGS["base"] ** (-torch.arange(0, D_K, 2).double() / D_K)
        return Run(given, causal(n), torch.arange(n)[:, None] * speeds)

    def chance(self, sentence, token, without=None):
        """Return the probability of a next token, with all heads or without one."""
        run = 0 if without is None else 1 + TEXTS["heads"].index(list(without))
        column = TEXTS["sentences"][sentence]["next"].index(token)
        return self.arrays[f"next{sentence}"][run, column]

    def mean(self, score):
        """Return a score of all heads, averaged over the sequences."""
        return self.arrays[score].mean(0)


R = Recorded()


def numbered(score, count=3):
    """Return layer, head and score of the heads with the highest scores."""
    found = score.flatten().topk(count)
    return [
        (int(at) // HEADS + 1, int(at) % HEADS + 1, x)
        for x, at in zip(found.values, found.indices, strict=True)
    ]


def length_and_sinks(sentence):
    """Return the lengths over the median of the later ones, and the sinks, of each layer."""
    norms = R.arrays[f"norms{sentence}"][:-1]
    n = len(TOKENS[sentence])
    # The first key of each row but the first, in the lower triangle row by row.
    firsts = [row * (row + 1) // 2 for row in range(1, n)]
    weights = R.arrays[f"maps{sentence}"][..., firsts].mean(-1) / 1000
    return norms / norms[:, 1:].quantile(0.5, dim=1, keepdim=True), (weights > 0.5).sum(1)


def compare_sizes(page):
    hand = example("it-tired")
    numbers = sum(hand[name].numel() for name in ("w_q", "w_k", "w_v", "w_o"))
    kept = 2 * GROUPS * D_K * LAYERS * 2
    layer = 2 * WIDTH**2 + 2 * WIDTH * GROUPS * D_K + 3 * WIDTH * D_FF
    rest = SETTINGS["vocabulary_size"] * WIDTH + (2 * LAYERS + 1) * WIDTH
    page.table(
        "tbl-real-heads-sizes",
        *(1, 2, LAYERS, 4, 32, WIDTH, 2, 2, HEADS, 2, 2, GROUPS, 2, 16, D_K, D_FF),
        *(100, SETTINGS["base"], 36, SETTINGS["vocabulary_size"]),
        *(numbers, 10496, LAYERS * layer + rest),
    )
    page.says("a token takes # bytes in all layers", kept)
    page.says("at two bytes per number, instead of #", 3 * kept)
    chances = R.chance(ANIMAL, " far"), R.chance(ANIMAL, " close")
    page.says("writes far with a probability of #, or close with #", chances)
    heads = [(head, s) for head in TEXTS["heads"] for s in range(len(TOKENS))]
    off = max((R.head(*head, s).weights[0] - R.map(*head, s)).abs().max() for head, s in heads)
    page.says("from the model’s by more than #", AtMost(off))


def compare_sinks(page):
    sinks = int((R.mean("first") > 0.5).sum())
    each = [(x > 0.5).sum() for x in R.arrays["first"]]
    page.says(
        "In # of the # heads the first token gets", sinks, LAYERS * HEADS, min(each), max(each)
    )
    page.says("and # in all four", (R.arrays["first"] > 0.5).all(0).sum())
    each = [length_and_sinks(number)[1].sum() for number in range(len(TOKENS))]
    page.says("On the # sentences there are # to # such heads", len(TOKENS), min(each), max(each))
    lengths = R.arrays[f"norms{ANIMAL}"][13]
    first, others = lengths[0], lengths[1:].max()
    page.says(
        "our sentence is # times as long as any other, # against at most #",
        first / others,
        first,
        others,
    )
    values = R.head(14, 9, ANIMAL).value[0].norm(dim=-1)
    page.says(
        "its length is #, and that of any other value at least #",
        values[0],
        AtLeast(values[1:].min()),
    )
    gains = R.arrays[f"largest{ANIMAL}"][13, 2:]
    page.says("The learned gain of this component (#; the median is #)", gains)
    added = R.arrays[f"added{ANIMAL}"][TEXTS["heads"].index([14, 9])]
    page.says("the two are # and at least #", added[0], AtLeast(added[1:].min()))
    least = R.head(19, 9, ANIMAL).weights[0, 1:, 0].min()
    page.says("gives the first token at least #", AtLeast(least))
    lengths, sinks = length_and_sinks(ANIMAL)
    bounds = [
        [(x[a:b].min(), x[a:b].max()) for x in (lengths[:, 0], sinks)]
        for a, b in ((0, 2), (2, 10), (10, 12), (12, 30))
    ]
    page.table("tbl-real-heads-lengths", bounds)
    ratios, _ = length_and_sinks(CAT)
    page.says("Both are more than # times as long", AtLeast(ratios[3:9, [0, 4]].min()))
    maps = R.arrays[f"maps{CAT}"][3:9] / 1000  # rows of lower triangles
    starts = [row * (row + 1) // 2 for row in range(5, 9)]
    first, second = (maps[..., [at + key for at in starts]].mean((1, 2)) for key in (0, 4))
    page.says("the gets # to # of the weight", second.min(), second.max())
    page.says("and the first token # to #", first.min(), first.max())
    ratios, sinks = length_and_sinks(FRANCE)
    page.says("the ratio is #, but # heads have a sink", ratios[10, 0], sinks[10])
    ratios, _ = length_and_sinks(TWICE)
    page.says("on eight words read twice it is #", ratios[27, 0])


def compare_scores(page):
    best = zip(numbered(R.mean("before")), numbered(R.mean("after")), strict=True)
    page.table("tbl-real-heads-scores", *best)
    losses = R.arrays["losses"]
    page.says("mean loss of a word is # nats", losses[:, :24].mean(), losses[:, 25:].mean())
    page.says("tokens equally likely it would be #", math.log(SETTINGS["vocabulary_size"]))
    page.says("words alone #", math.log(25))
    page.says("(without the first word; # in the last third)", losses[:, 41:].mean())
    whole, alone = R.chance(TWICE, " apple"), R.arrays["alone"][1]
    removed = (17, 1), (19, 7), (2, 5), (2, 4), (30, 2)
    rows = [[x[layer - 1, head - 1] for x in (R.mean("before"), R.mean("after"), alone)]
            for layer, head in removed]  # fmt: skip
    page.table("tbl-real-heads-apple", whole, rows)
    found = alone[18, 6], whole, alone[16, 0]
    page.says("Without the induction head the model gives apple # instead of #", found)
    page.says("But # heads bring apple below", (alone < 0.45).sum())
    page.says("(# heads change the probability by less than", ((alone - whole).abs() < 0.05).sum())
    induction = R.mean("after").flatten()
    five = induction.topk(5).indices
    best, *others = (x.mean(0).flatten()[five] for x in R.arrays["after_without"])
    ends = [(x.min(), x.max()) for x in (induction[five], best)]
    page.says("the five highest are # to #", ends[0])
    page.says("without layer 17, head 1, # to #", ends[1])
    off = (torch.stack(others) - induction[five]).abs().max()
    page.says("none of the five changes by more than #", AtMost(off))


def compare_it(page):
    s = R.head(14, 9, ANIMAL)
    page.runs["layer-14-head-9"] = s
    row = s.weights[0, IT]
    query, key = s.turned_query[0, IT], s.turned_key[0, ANIMAL_KEY]
    products = query * key
    order = products.argsort(descending=True)
    ends = [*order[:3].tolist(), *order[-3:].tolist()]
    other = s.turned_key[0, STREET_KEY]
    others = query * other
    rows = [(query[c], key[c], products[c], other[c], others[c]) for c in ends]
    pairs = torch.stack([products, others])
    rest = pairs.sum(1) - pairs[:, ends].sum(1)
    page.table("tbl-real-heads-products", rows, rest, pairs.sum(1))
    most, gaps = order[0], products - others
    page.says("Component # contributes # to the difference of #", most + 1, gaps[most], gaps.sum())
    page.says("component #, the third in the table, favours street", order[2] + 1, order[-2] + 1)
    stages = s.scores, s.scaled_scores, s.exponentials, s.weights
    page.figure("fig-real-heads-bars", row[: IT + 1])
    page.table("tbl-real-heads-it", torch.stack([x[0, IT, : IT + 1] for x in stages], 1))
    page.says("weight: ", line(s, f"weights.0.{IT}.{ANIMAL_KEY}"))
    scores, other = s.scaled_scores[0, IT], ANIMAL_KEY + 1
    more, times = scores[ANIMAL_KEY] - scores[other], row[ANIMAL_KEY] / row[other]
    page.says("Only the difference of the two scores counts. It is ", more, times)
    page.says("didn #, cross #", s.weights[0, [2, 4], ANIMAL_KEY])
    page.says("than it, also give animal # and #", s.weights[0, [9, 10], ANIMAL_KEY])


def compare_shared_keys(page):
    finder, idle = (R.head(19, head, TWICE) for head in (7, 9))
    columns = [0, 7, 8, 15]
    page.table("tbl-real-heads-shared", [s.weights[0, -1, columns] for s in (finder, idle)])
    page.says("with the same keys, gives the first token #", idle.weights[0, -1, 0])
    page.says("first three numbers of the last key are (#", finder.key[0, -1, :3])
    page.says("those of the last query (#", finder.query[0, -1, :3])
    page.says("in head 7 and (#", idle.query[0, -1, :3])
    groups = (18, 4), (18, 5), (18, 6), (19, 7), (19, 8), (19, 9)
    rows = [
        (
            layer,
            math.ceil(head / 3),
            *(R.mean(name)[layer - 1, head - 1] for name in ("after", "first")),
        )
        for layer, head in groups
    ]
    page.table("tbl-real-heads-groups", rows)


def compare_paris(page):
    key = TOKENS[FRANCE].index("France")
    shares = R.arrays[f"shares{FRANCE}"][0]
    # The embedding is first; each block has shares of its heads, then of its feed-forward layer.
    by_head = shares[1:].unflatten(0, (LAYERS, HEADS + 1))[:, :HEADS]
    alone = R.arrays["alone"][0]
    rows = [
        (R.map(layer, head, FRANCE)[-1, key], by_head[layer - 1, head - 1],
         alone[layer - 1, head - 1]) for layer, head in ((24, 5), (30, 2), (17, 1), (14, 9), (1, 5))
    ]  # fmt: skip
    page.table("tbl-real-heads-paris", rows)
    page.says("The model writes Paris with #", R.chance(FRANCE, " Paris"))
    page.says("Its share, #", by_head.max())
    page.says("has almost no share, #, but", by_head[0, 4], alone[0, 4])
    page.says("head 2, has a share of #, but without it", by_head[29, 1], alone[29, 1])
    *feed_forward, _, kept = R.arrays["kept_layer"]
    page.says("(its share rises from # to #)", feed_forward)
    page.says("If the output of this layer is kept, Paris falls to #", kept)
    spared = ((alone - R.chance(FRANCE, " Paris")).abs() < 0.05).sum()
    page.says("For # of the # heads the probability changes", spared, LAYERS * HEADS)


def compare_pairs(page):
    weights = R.arrays["pairs"]
    won = (weights[..., 0] > weights[..., 1]).sum(1)
    given, exchanged = (weights[..., 0] > weights[..., 1]).unbind(2)
    subject, same = (given & exchanged).sum(1), (given & ~exchanged).sum(1)
    page.table("tbl-real-heads-pairs", torch.stack([*won.unbind(1), subject, same], 1))
    page.says("than the object in # of # pairs", won[0, 0], weights.shape[1])
    page.says("In both orders the subject wins in #", subject[0], weights.shape[1], same[0])
    ratios = (weights[0, ..., 0] / weights[0, ..., 1]).log()
    first, actor = ratios.mean(1), (ratios[:, 0] - ratios[:, 1]) / 2
    page.says("subject gets # times the weight of the object", first.mean().exp())
    page.says("and the likelier actor # times that", actor.mean().exp())
    page.says("they get more in # and # pairs", (first > 0).sum(), (actor > 0).sum())
    page.says("wins in both orders in # pairs after because", same[2], same[4], subject[3])
    less = R.chance(ANIMAL, " far", (14, 9))
    page.says("the probability of far changes from # to #", R.chance(ANIMAL, " far"), less)


def compare_distances(page):
    s = R.head(14, 9, ANIMAL)
    q, k = (
        torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        for x in (s.query[0, IT], s.key[0, ANIMAL_KEY])
    )
    speeds = SETTINGS["base"] ** (-torch.arange(0, D_K, 2).double() / D_K)
    turned = torch.polar(torch.ones(65, D_K // 2).double(), torch.arange(65)[:, None] * speeds)
    terms = (q * k.conj() * turned).real / math.sqrt(D_K)
    fast, slow = terms[:, :16].sum(1), terms[:, 16:].sum(1)
    some = [0, 1, 4, IT - ANIMAL_KEY, 16, 32, 64]
    page.table("tbl-real-heads-distance", fast[some], slow[some], (fast + slow)[some])
    ends = slow.min(), slow.max(), fast.min(), fast.max()
    page.says("The slow pairs contribute between # and #", ends)


def compare_exercises(page):
    mary = [R.chance(MARY, " Mary", at) for at in (None, (30, 2))]
    alone = R.mean("first")[18, 8], R.chance(ANIMAL, " far", (19, 9)), R.chance(ANIMAL, " far")
    page.says("Even when the words are random, the head gives the first one #", alone)
    page.says("The probability of Mary falls from # to #", mary)
    shares = R.arrays[f"shares{MARY}"][:, 1:].unflatten(1, (LAYERS, HEADS + 1))[:, -1, 1]
    page.says("compared with the mean of all words, is #", shares[0])
    page.says("the largest of all heads; in the logit of the it is #", shares[1])
    rows = torch.arange(8, 16)
    score = [
        R.map(layer, head, TWICE)[rows, rows - 7].mean()
        for layer in range(1, LAYERS + 1)
        for head in range(1, HEADS + 1)
    ]
    maps = torch.stack(score)
    (layer, head, highest), (_, _, second), _ = numbered(maps)
    page.says("Layer #, head #, with #", layer, head, highest, second)
