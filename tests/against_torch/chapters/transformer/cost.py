"""The numbers of the chapter on cost."""

import math

import torch
from printed_pages import AtLeast, AtMost
from worked_by_torch import Run, example, tensor

GIB = 2**30
LONG = 2**17
MODELS = (  # layers, width, heads, key-value heads, parameters of a feed-forward layer, as named
    (96, 12288, 96, 96, 2 * 12288 * 4 * 12288, 175.0),
    (80, 8192, 64, 64, 3 * 8192 * (8 * 8192 // 3), 65.2),
    (80, 8192, 64, 8, 3 * 8192 * 28672, 70),
    (126, 16384, 128, 8, 3 * 16384 * 53248, 405),
)
APPLE, CAT_SAT = example("apple"), example("the-cat-sat")


def compare_models(page):
    counted, caches = [], []
    for layers, width, heads, groups, inner, named in MODELS:
        d_k = width // heads
        attention, inner = layers * (2 * width * width + 2 * width * groups * d_k), layers * inner
        both = attention + inner
        # scores and mixing take 4 N n h d_k operations, the matrices 2 a parameter
        equal = math.floor(2 * both / (4 * layers * heads * d_k))
        parameters = [attention / 1e9, inner / 1e9, both / 1e9, named]
        counted.append([layers, width, heads, groups, *parameters, equal])
        cache = layers * groups * 2 * d_k * 2
        caches.append([cache // 1024, LONG * cache / GIB, 2 * both / GIB])
    page.table("tbl-cost-models", zip(*counted, strict=True))
    least = min(row[6] / row[7] for row in counted)
    page.says("exclude the embeddings, are # or more", AtLeast(least))
    page.table("tbl-cost-cache", caches)
    page.says("which for GPT-3 is # tokens; at #", 6 * 12288, 2048, 2048 / (2048 + 6 * 12288))
    weights = 64 * LONG**2 * 2 / GIB
    page.says("reads up to # tokens", LONG)
    page.says("one layer’s # heads, at two bytes", 64, weights, weights // caches[2][2])


def compare_counts(page):
    # a layer's weights take h n n numbers, its keys and values 2 n h d_k, its matrices 4 d d
    outgrow = 2 * 128, math.isqrt(4 * 8192**2 // 64)
    n, d, heads, groups, d_k = 5, 12, 6, 2, 2
    projections = 2 * n * d * d_k * (heads + 2 * groups) + 2 * n * heads * d_k * d
    operations = projections + 4 * heads * n * n * d_k
    page.says("exceed its keys and values at ", outgrow, d, heads, groups, operations, n)
    forward = 64 * 4 * 1024**2 * 16 * 64
    page.says("scores and mixing of # texts of this length take #", 64, forward / 1e9)
    page.says("each, read or written #", 40.3e9 / (64 * 16 * 1024**2 * 2))


def compare_blocks(page):
    # 5 is read first, with 1 behind it: a sum of 1 + 2/5, and then of 1/5 more
    sum_before, power = 1 + 2 / 5, 1 / 5
    page.says("exponentials of the block: (#, #) sum", 1, power, 1, sum_before, 1)
    page.says("Worked answer 1×", sum_before, power, sum_before, power, sum_before + power)
    page.says("All # scores of # queries and # keys", 60 * 60, 60, 60, 6 * 6)
    tile = 4 * (256 * 1024 + 256 * (2 + 128))
    page.says("take at most # MiB", AtMost(tile / 2**20), 4 * LONG**2 / GIB, LONG)
    page.says("and the output #, not #", (4 + 8) / 1.6, tensor([1, 2, 5]) @ tensor([4, 2, 8]) / 8)


def compare_without_a_softmax(page):
    fq = torch.nn.functional.elu(tensor([[1, 0, 1, 0], [0, 1, 0, 1]])) + 1
    page.says("with itself and # with sat", (fq @ fq.T)[0, 1])
    page.says("with the softmax, cat gives itself more, #", tensor([1.0, 0]).softmax(0)[0])


def sharing(given, heads, names=("w_k", "w_v")):
    """Return a run in which the given heads share the average of their matrices."""
    new = {name: given[name].clone() for name in names}
    for matrices in new.values():
        matrices[heads] = matrices[heads].mean(0)
    return Run(given | new)


def apart(a, b):
    return AtMost((a - b).abs().max())


def compare_shared_keys_and_values(page):
    own, two = Run(APPLE), sharing(APPLE, [1, 2])
    page.runs["apple-shared"] = two
    moved = [
        [apart(s.weights, own.weights), apart(s.head_outputs, own.head_outputs)]
        for s in (sharing(APPLE, [1, 2], ["w_k"]), two, sharing(APPLE, [0, 1, 2]))
    ]
    matrices = float(apart(*own.w_k[1:]))
    page.says("differ by ", matrices, 2, 3, apart(*own.key[1:]), 3 * (4 + 4))
    kept = 4 * (2 + 3), 4 * (2 + 2), 4 * (1 + 1)
    page.table("tbl-cost-apple", zip(kept, moved, strict=True))
    page.says("no weight changes by more than ", moved[1], moved[0][1])
    page.table("tbl-cost-cat-sat", CAT_SAT["w_k"].permute(1, 2, 0))
    alike = page.runs["the-cat-sat-shared"] = sharing(CAT_SAT, [0, 1])
    page.figure("fig-cost-cat-sat", Run(CAT_SAT).weights, alike.weights)
