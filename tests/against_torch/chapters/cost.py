"""The numbers of the chapter on cost."""

import math

import torch
from printed_pages import AtLeast, AtMost
from worked_by_torch import example, run, tensor

GIB = 2**30
LONG = 2**17
MODELS = (  # layers, width, heads, key-value heads, parameters of a feed-forward layer, as named
    (96, 12288, 96, 96, 2 * 12288 * 4 * 12288, 175.0),
    (80, 8192, 64, 64, 3 * 8192 * (8 * 8192 // 3), 65.2),
    (80, 8192, 64, 8, 3 * 8192 * 28672, 70),
    (126, 16384, 128, 8, 3 * 16384 * 53248, 405),
)


def numbers(page):
    """Compare all of them."""
    _models(page)
    _blocks(page)
    _shared(page)
    fq = torch.nn.functional.elu(tensor([[1, 0, 1, 0], [0, 1, 0, 1]])) + 1
    page.says("with itself and # with sat", (fq @ fq.T)[0, 1])
    page.says("the softmax gives cat #", tensor([1.0, 0]).softmax(0)[0])


def _models(page):
    counted, caches = [], []
    for layers, width, heads, groups, inner, named in MODELS:
        d_k = width // heads
        attention = 2 * width * width + 2 * width * groups * d_k
        both = layers * attention, layers * inner
        # scores and mixing take 4 N n h d_k operations, the matrices 2 a parameter
        equal = 2 * sum(both) / (4 * layers * heads * d_k)
        billions = [count / 1e9 for count in (*both, sum(both))]
        counted.append([layers, width, heads, groups, *billions, named, math.floor(equal)])
        cache = layers * groups * 2 * d_k * 2
        caches.append([cache // 1024, LONG * cache / GIB, 2 * sum(both) / GIB])
    page.table("tbl-cost-models", *zip(*counted, strict=True))
    least = min(row[6] / row[7] for row in counted)
    page.says("leave out the embeddings, come to # or more", AtLeast(least))
    page.table("tbl-cost-cache", caches)
    page.says("which for GPT-3 is # tokens; at #", 6 * 12288, 2048, 2048 / (2048 + 6 * 12288))
    # a layer's weights take h n n numbers, its keys and values 2 n h d_k, its matrices 4 d d
    outgrow = 2 * 128, math.isqrt(4 * 8192**2 // 64)
    n, d, heads, groups, d_k = 5, 12, 6, 2, 2
    projections = 2 * n * d * d_k * (heads + 2 * groups) + 2 * n * heads * d_k * d
    operations = projections + 4 * heads * n * n * d_k
    page.says("outgrow its keys and values at ", outgrow, d, heads, groups, operations, n)
    weights = 64 * LONG**2 * 2 / GIB
    page.says("reads up to # tokens", LONG)
    page.says("one layer’s # heads, at two bytes", 64, weights, weights // caches[2][2])
    forward = 64 * 4 * 1024**2 * 16 * 64
    page.says("scores and mixing of # such texts take #", 64, forward / 1e9)
    page.says("each, read or written #", 40.3e9 / (64 * 16 * 1024**2 * 2))


def _blocks(page):
    # 5 is read first, with 1 behind it: a sum of 1 + 2/5, and then of 1/5 more
    before, one = torch.log(tensor([5, 2])), torch.log(tensor([1]))
    largest = before.max()
    sum_before, power = (before - largest).exp().sum(), (one - largest).exp()
    page.says("exponentials of the block: (#, #) sum", 1, power, 1, sum_before, 1)
    page.says("Worked answer 1×", sum_before, power, sum_before, power, sum_before + power)
    page.says("All # scores of # queries and # keys", 60 * 60, 60, 60, 6 * 6)
    tile = 4 * (256 * 1024 + 256 * (2 + 128))
    page.says("take at most # MiB", AtMost(tile / 2**20), 4 * LONG**2 / GIB, LONG)
    page.says("and the output #, not #", (4 + 8) / 1.6, tensor([1, 2, 5]) @ tensor([4, 2, 8]) / 8)


def _sharing(given, heads, names=("w_k", "w_v")):
    new = {name: given[name].clone() for name in names}
    for matrices in new.values():
        matrices[heads] = matrices[heads].mean(0)
    return run(given | new)


def _shared(page):
    apple, cat_sat = example("apple"), example("the-cat-sat")
    own = run(apple)
    two = _sharing(apple, [1, 2])
    changed = [_sharing(apple, [1, 2], ["w_k"]), two, _sharing(apple, [0, 1, 2])]
    moved = [
        [float((s[name] - own[name]).abs().max()) for name in ("weights", "head_outputs")]
        for s in changed
    ]
    matrices, keys = ((s[1] - s[2]).abs().max() for s in (apple["w_k"], own["key"]))
    page.says("differ by ", matrices, 2, 3, AtMost(keys), 3 * (4 + 4))
    kept = 4 * (2 + 3), 4 * (2 + 2), 4 * (1 + 1)
    page.table("tbl-cost-apple", *([k, *map(AtMost, m)] for k, m in zip(kept, moved, strict=True)))
    page.runs["apple-shared"] = two
    page.says("no weight moves by more than ", *map(AtMost, (*moved[1], moved[0][1])))
    page.table("tbl-cost-cat-sat", cat_sat["w_k"].permute(1, 2, 0))
    alike = page.runs["the-cat-sat-shared"] = _sharing(cat_sat, [0, 1])
    page.figure("fig-cost-cat-sat", run(cat_sat)["weights"], alike["weights"])
