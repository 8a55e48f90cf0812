"""The numbers of the chapter on a model small enough to read.

The stories are those of `mha.examples.names`, which draws a language and computes no attention.
"""

import itertools
import math

import numpy as np
import torch
from names_by_torch import D_K, HEADS, WIDTH, WORDS, indices, kept_models, read, without_heads
from printed_lines import line
from printed_pages import AtLeast, AtMost, lower_triangles
from torch.nn import functional
from worked_by_torch import rotated

from mha.examples.names import draw_stories, second_syllables

STORY = "ba ke saw mo nu . mo"
UNFIT, BOTH_BA = "ba ke met mo nu . ta", "ba ke saw ba nu . ba"
KE, NU, LAST = WORDS.index("ke"), WORDS.index("nu"), 6

MODELS = kept_models()
MODEL = MODELS[-1]
FRESH = torch.tensor(draw_stories(np.random.default_rng(2026), 200, 48))
ASKED = second_syllables(FRESH.numpy())
(FIRST, SECOND), SPREAD, LOGITS = read(MODEL, indices(STORY))


def measure(arrays, cut=None):
    """Return the word losses, and the mean induction and previous-token weights of heads."""
    blocks, _, logits = read(arrays, FRESH, cut)
    losses = functional.cross_entropy(logits[:, :-1].mT, FRESH[:, 1:], reduction="none")
    (story, place), seen = ASKED.repeated, torch.tensor(ASKED.behind)[:, None]
    return {
        "losses": [losses.mean(), losses[ASKED.new].mean(), losses[ASKED.repeated].mean()],
        "behind": [(b.weights[story, :, place] * seen).sum(-1).mean(0) for b in blocks],
        "previous": [b.weights[story, :, ASKED.last, ASKED.last - 1].mean(0) for b in blocks],
    }


WHOLE = measure(MODEL)


def next_word(arrays, story, cut=None):
    """Return the probability of each word to come next."""
    return read(arrays, indices(story), cut)[2][-1].softmax(0)


def compare_the_language(page):
    page.says("The language has # words: # syllables", len(WORDS), 16)
    told = torch.tensor(draw_stories(np.random.default_rng(10), 2000, 48))
    page.says("in # stories, how often", len(told))
    pairs = torch.full((36, 36), 0.01)
    ones = torch.ones(told[:, 1:].numel())
    pairs.index_put_((told[:, :-1].flatten(), told[:, 1:].flatten()), ones, accumulate=True)
    costs = -(pairs / pairs.sum(1, keepdim=True)).log()[FRESH[:, :-1], FRESH[:, 1:]]
    counting = costs.mean(), costs[ASKED.new].mean(), costs[ASKED.repeated].mean()
    loss, new, repeated = WHOLE["losses"]
    page.table("tbl-names-losses", counting, WHOLE["losses"])
    page.says("which costs ≈ #", math.log(15), repeated, counting[2].exp(), repeated.exp())
    page.says("costs # nats with the whole model, and # with counting", loss, counting[0])
    powers = [cost.exp() for cost in (loss, counting[0], repeated, new)]
    page.says("are the exponentials of the costs: ", powers)


def compare_sizes(page):
    table, block = MODEL["embedding"].numel(), 4 * MODEL["w_o1"].numel()
    page.says("The two tables have # numbers each", table, block, 2 * (table + block))
    page.says("has a row of # numbers for each word", WIDTH, D_K)
    page.says("the softmax of all # logits", len(WORDS))
    page.says("Each new word adds # numbers", 2 * HEADS * 2 * D_K)
    page.says("The model was saved in # states", len(MODELS))


def compare_one_story(page):
    chances = LOGITS.softmax(-1)
    costs = functional.cross_entropy(LOGITS, indices(f"{STORY} nu")[1:], reduction="none")
    page.table("tbl-names-predictions", zip(chances.amax(1), costs, strict=True))
    page.figure("fig-names-bars", FIRST.weights[0, 4], SECOND.weights[1, LAST])
    page.figure("fig-names-two-heads", lower_triangles(FIRST.weights[0], SECOND.weights[1]))
    stages = SECOND.scaled_scores, SECOND.exponentials, SECOND.weights
    page.table("tbl-names-row", torch.stack([stage[1, LAST] for stage in stages], 1))
    nu = line(SECOND, f"weights.1.{LAST}.4")
    page.says("The exponentials add up to ", SECOND.row_sums[1, LAST], nu)
    page.runs["names-2"] = SECOND


def compare_parts_of_the_logits(page):
    heads = [block.head_contributions[:, LAST] for block in (FIRST, SECOND)]
    parts = torch.cat([FIRST.x[[LAST]], *heads])
    shares = (parts - parts.mean(-1, keepdim=True)) / SPREAD[LAST] @ MODEL["unembedding"]
    both, ends = shares[:, [NU, KE]], LOGITS[LAST, [NU, KE]]
    page.table("tbl-names-parts", both, ends)
    page.says("the second syllable of the other name: ", both[:, 0], ends[0])
    gives, takes = AtLeast(shares[2, :16].min()), AtLeast(-shares[2, 16:].max())
    page.says("it adds at least ", gives, 16, takes, both[4])
    powers, chance = LOGITS[LAST].exp(), LOGITS[LAST].softmax(0)[NU]
    of_all = 36, powers[NU], powers.sum(), chance
    page.says("divided by the sum of all ", of_all, -chance.log(), 1, chance, 1 / chance)
    rest, ratio = both[:4].sum(0), (ends[0] - ends[1]).exp()
    page.says("The other four parts give it ", rest[0], rest, (rest[1] - rest[0]).exp())
    page.says("the logits of nu and ke are # and #", ends)
    page.says(
        "to the difference of the logits; its value is #. At temperature", ratio, 2, ratio.sqrt()
    )


def score_parts(first, second):
    """Return the contribution of each part of the keys to the last word's scores, by key."""
    written = torch.stack([first.x, *first.head_contributions])
    held = (written - written.mean(-1, keepdim=True)) / second.spread[:, None]
    keys = rotated(held @ MODEL["w_k2"][1], first.angles)
    return (keys @ second.turned_query[1, -1] / D_K**0.5).T


def compare_notes(page):
    parts = score_parts(FIRST, SECOND)
    notes = parts[:, 1]
    page.table("tbl-names-score-parts", torch.cat([parts, parts.sum(1, keepdim=True)], 1))
    page.says("nu gives mo, the word before it, #", FIRST.weights[0, 4, 3])
    others = AtMost(notes[[0, 1, 2, 3, 5, 6]].max())
    page.says("The note of block 1, head 1, decides: ", notes[4], others)
    page.says("give the next largest numbers, both #", notes[1])
    page.says("and theirs give ", notes[[3, 4, 2]])


def compare_heads_and_what_is_turned_off(page):
    page.says("One story is no proof. In # stories", len(FRESH))
    each = [torch.cat(WHOLE[name]) for name in ("behind", "previous")]
    page.table("tbl-names-heads", torch.stack(each, 1))
    cut = measure(MODEL, (0, 1))
    heads = ((1, 1), (1, 0), (0, 0), (0, 1))
    lost = [measure(without_heads(MODEL, head)) for head in heads]
    found = WHOLE, cut, measure(MODEL, (1, 1)), *lost
    page.table("tbl-names-off", [[f["losses"], f["behind"][1][1]] for f in found])
    costs = cut["losses"][2], math.log(15), WHOLE["losses"][2]
    page.says("a repeated name costs on average ", costs)
    alone = measure(without_heads(MODEL, (0, 0), (0, 1)))
    page.says("no names. Repeated names then cost #", alone["losses"][2])


def compare_two_stories(page):
    blind = without_heads(MODEL, (1, 1))
    variants = (MODEL, None), (MODEL, (0, 1)), (blind, None), (without_heads(MODEL, (0, 0)), None)
    rows = [
        (next_word(arrays, STORY, cut)[NU], next_word(arrays, "ba ke saw mo nu . ba", cut)[KE])
        for arrays, cut in variants
    ]
    page.table("tbl-names-two", rows)
    ended = next_word(without_heads(MODEL, (0, 1)), STORY)[indices("walked .")]
    page.says("with walked or the full stop (# together)", ended.sum())
    syllables = [word for word in WORDS[:16] if word not in ("mo", "nu")]
    names = list(itertools.permutations(syllables, 2))
    texts = torch.stack([indices(f"{a} {b} saw mo nu . {a}") for a, b in names])
    lucky = (read(blind, texts)[2][:, -1].argmax(1) == texts[:, 1]).sum()
    page.says("In stories like this the first person could have # names", len(names), lucky)


def compare_two_checkpoints(page):
    story, place = map(torch.tensor, ASKED.repeated)
    each, came = torch.arange(len(story)), FRESH[story, place + 1]
    told = [FRESH[s, :p] for s, p in zip(story, place, strict=True)]
    own = torch.stack([torch.isin(torch.arange(36), words) for words in told])
    own[:, 16:] = False
    own[each, FRESH[story, place]] = False
    rows = []
    for arrays in (MODELS[3], MODELS[7]):  # after 250 and 500 steps
        chances, later = read(arrays, FRESH)[2][story, place].softmax(-1), measure(arrays)
        of_own = (chances * own).sum(1)
        known = of_own.mean(), (chances[each, came] / of_own).mean()
        rows.append([known, later["losses"][2], later["previous"][0][0], later["behind"][1][1]])
    page.table("tbl-names-born", rows)


def compare_failures(page):
    page.table("tbl-names-fails", [next_word(MODEL, s).topk(3).values for s in (UNFIT, BOTH_BA)])
    blocks, _, _ = read(MODEL, indices(UNFIT))
    most, note = AtMost(score_parts(*blocks)[:, 1].max()), score_parts(FIRST, SECOND)[4, 1]
    given = blocks[1].scaled_scores[1, LAST, 4], blocks[1].weights[1, LAST, 4]
    nu = next_word(MODEL, UNFIT)[NU]
    page.says("The model predicts nu, with ", nu, most, note, given)
    (_, second), spread, _ = read(MODEL, indices(BOTH_BA))
    part = second.head_contributions[0, LAST]
    takes = (part - part.mean()) / spread[LAST] @ MODEL["unembedding"][:, [KE, NU]]
    drawn = list(itertools.permutations(WORDS[:16], 3))
    texts = torch.stack([indices(f"{a} {b} saw {a} {c} . {a}") for a, b, c in drawn])
    ends = read(MODEL, texts)[2][:, -1].gather(1, texts[:, [1, 4]])
    first = (ends[:, 0] > ends[:, 1]).double().mean()
    ke, keys = next_word(MODEL, BOTH_BA)[KE], second.weights[1, LAST, [1, 4]]
    page.says("The model predicts ke with ", ke, keys, 1, 2, -takes, first, len(drawn))
    page.says("nu falls from # to #", nu, next_word(without_heads(MODEL, (1, 1)), UNFIT)[NU])


def compare_how_sure_of_new_names(page):
    story, place = map(torch.tensor, ASKED.new)
    logits, came = read(MODEL, FRESH[:, :-1])[2][story, place], FRESH[story, place + 1]
    before = torch.tensor([int((story[:i] == s).sum()) for i, s in enumerate(story)])
    each = [before == number for number in range(3)]
    sure = [logits[one].softmax(-1).amax(-1).mean() for one in each]
    right = [[(logits[one].argmax(-1) == came[one]).sum(), one.sum()] for one in each]
    costs = functional.cross_entropy(logits[each[2]], came[each[2]])
    page.says("In the # new stories the likeliest word has", len(FRESH), sure, right, costs)
