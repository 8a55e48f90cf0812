"""The numbers of the chapter on real heads, from the recorded matrices and maps."""

import gzip
import json
import math

import numpy as np
import torch
from printed_lines import line
from printed_pages import AtLeast, AtMost
from worked_by_torch import EXAMPLES, Run, tensor

FOLDER = EXAMPLES / "sentence-encoder"
RIVER_BANK, FOOTBALL, APPLE = "The bank near the river", "I play football", "I bought apple to eat"
TIRED, SOFT = (f"The cat sat on the mat because it was {word}" for word in ("tired", "soft"))
HEADS = ((1, 3), (1, 5), (2, 9), (4, 2), (6, 12))


class Recorded:
    """The recorded maps of all sentences, and the heads that can be recomputed."""

    def __init__(self):
        maps = json.loads(gzip.decompress((FOLDER / "attention-maps.json.gz").read_bytes()))
        self.sentences = list(maps)
        self.tokens = {s: m["tokens"] for s, m in maps.items()}
        self.maps = {s: tensor(m["attn"]) for s, m in maps.items()}

    def head(self, layer, head, sentence):
        """Return the stages of a head for a sentence."""
        with np.load(FOLDER / f"L{layer}H{head}.npz") as file:
            p = {name: torch.tensor(file[name]).double() for name in file.files}
        x = p[f"x{self.sentences.index(sentence)}"]
        return Run(
            {
                name: (x @ p[f"w_{name[0]}"] + p[f"b_{name[0]}"])[None]
                for name in ("query", "key", "value")
            }
        )

    def map(self, layer, head, sentence):
        """Return the recorded weights."""
        return self.maps[sentence][layer - 1, head - 1]

    def weight(self, layer, head, asking, heard, sentence):
        """Return the recorded weight of one query token for one key token."""
        tokens = self.tokens[sentence]
        return self.map(layer, head, sentence)[tokens.index(asking), tokens.index(heard)]

    def answers(self, sentence, word):
        """Return the best scaled score of each token of all sentences for a word, in order."""
        asking = self.head(1, 5, sentence).query[0, self.tokens[sentence].index(word)]
        found = {}
        for other in self.sentences:
            scores = self.head(1, 5, other).key[0] @ asking / math.sqrt(32)
            for token, score in zip(self.tokens[other], scores, strict=True):
                found[token] = max(score, found.get(token, -math.inf))
        return dict(sorted(found.items(), key=lambda item: -item[1]))


R = Recorded()


def compare_what_is_recorded(page):
    heads = [(head, sentence) for head in HEADS for sentence in R.sentences]
    off = max((R.head(*h, s).weights[0] - R.map(*h, s)).abs().max() for h, s in heads)
    layers, heads = R.maps[TIRED].shape[:2]
    page.says("The model has # layers", layers, heads, heads * 32, 32)
    page.says("for # sentences, as the model", len(R.sentences), len(HEADS), AtMost(off))


def compare_bank(page):
    s, bank, river = R.head(1, 5, RIVER_BANK), 2, 5
    row, scaled = s.weights[0, bank], s.scaled_scores[0, bank]
    stages = s.scores, s.scaled_scores, s.exponentials, s.weights
    page.table("tbl-real-heads-bank", torch.stack([stage[0, bank] for stage in stages], 1))
    page.says("the sum of all seven: ", line(s, f"weights.0.{bank}.{river}"))
    page.runs["layer-1-head-5"] = s
    page.says("A scaled score of # where", scaled[river], scaled[0], row[river])
    page.says("river gives bank #", s.weights[0, river, bank])
    page.says("bank finds river with #", row[river])
    more, times = scaled[river] - scaled[0], row[river] / row[0]
    page.says("Only the difference of the two scores counts. It is ", more, times)
    of_bank, of_play = R.answers(RIVER_BANK, "bank"), R.answers(FOOTBALL, "play")
    best = list(zip(of_bank.values(), of_play.values(), strict=True))[:5]
    page.table("tbl-real-heads-answers", best)
    swapped = scaled.clone()
    swapped[river] = list(of_bank.values())[1]
    with_eat = swapped.softmax(0)[river], row[river], river
    football = R.head(1, 5, FOOTBALL).weights[0, 2, 3]
    apples = [R.weight(1, 5, verb, "apple", APPLE) for verb in ("eat", "bought")]
    page.says("Of # different tokens", len(of_bank), with_eat, football, apples)


def compare_verbs(page):
    verbs = [("bought", APPLE), ("eat", APPLE), ("play", FOOTBALL)]
    verbs += [("sat", sentence) for sentence in ("The cat sat on it", TIRED, SOFT)]
    most = [R.map(4, 2, s)[R.tokens[s].index(verb)].max() for verb, s in verbs]
    page.table("tbl-real-heads-verbs", most)
    the = [(s, i) for s in R.sentences for i, token in enumerate(R.tokens[s]) if token == "the"]
    hits = sum(int(R.map(4, 2, s)[i].argmax()) == i + 1 for s, i in the)
    page.says("In # of # cases the attends most", hits, len(the))


def compare_a_new_sentence(page):
    """Replace *bank* by *cat*: in layer 1 a vector depends on its token and position alone."""
    bank, cat = R.head(1, 5, RIVER_BANK), R.head(1, 5, TIRED)
    key = bank.key.clone()
    key[0, 2] = cat.key[0, 2]
    s = Run({"query": cat.query[:, [2]], "key": key})
    page.says("cat gives river #, where bank gave it #", s.weights[0, 0, 5], bank.weights[0, 2, 5])


def compare_places(page):
    page.figure("fig-real-heads-places", R.map(1, 3, RIVER_BANK), R.map(2, 9, RIVER_BANK))
    least = min(R.head(1, 3, s).weights[0].diagonal(-1).min() for s in R.sentences)
    after = torch.stack([R.map(2, 9, s).diagonal(1)[1:-1].mean() for s in R.sentences])
    page.says("gives the token before it at least ", AtLeast(least), 2, after.mean())
    before = torch.stack([R.maps[s].diagonal(-1, -2, -1).mean(-1) for s in R.sentences]).mean(0)
    second = before.flatten().topk(2).indices[1]
    layer, head = second // 12, second % 12
    page.says("Layer #, head #, with #", layer + 1, head + 1, before[layer, head])


def compare_it(page):
    tokens = R.tokens[TIRED]
    it, cat, mat = (tokens.index(word) for word in ("it", "cat", "mat"))
    others = [i for i in range(len(tokens)) if i != it]
    page.says("In layer 6, head 12, it gives cat #", R.weight(6, 12, "it", "cat", TIRED))
    page.says("They give it # on average", R.map(6, 12, TIRED)[others, cat].mean())
    page.figure("fig-real-heads-it", R.map(6, 12, TIRED)[:, cat], R.map(4, 2, TIRED)[:, cat])
    to_cat = R.map(4, 2, TIRED)[:, cat]
    page.says("it gives cat #, the other tokens give cat #", to_cat[it], to_cat[others].mean())
    of_it = [[R.map(*head, s)[it] for head in ((6, 12), (4, 2))] for s in (TIRED, SOFT)]
    page.table("tbl-real-heads-it", *(row[[cat, mat]] for rows in of_it for row in rows))
    (_, tired), (_, soft) = of_it
    page.says("barely: # against #, while the weight of [CLS]", soft[[mat, cat]], tired[0], soft[0])


def compare_brackets(page):
    outside = torch.stack([x[:, :, 1:-1][..., [0, -1]].mean((1, 2)) for x in R.maps.values()])
    page.table("tbl-real-heads-outside", outside.mean(0))
    each = outside[:, 5].sum(-1)
    even = sum(1 / len(t) for t in R.tokens.values()) / len(R.tokens)
    alone = torch.stack([R.map(3, 8, s)[1:-1, 0].mean() for s in R.sentences]).mean()
    page.says("every sentence, in layer 6 in # of the six", (each > 0.5).sum(), even, 3, 8, alone)
    lengths = R.head(4, 2, TIRED).value[0].norm(dim=-1)
    page.says("has the length #, the other", lengths[0], lengths[1:].min(), lengths[1:].max())
    page.says("its length is #", lengths[0])
