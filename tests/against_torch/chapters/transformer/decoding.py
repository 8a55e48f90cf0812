"""The numbers of the chapter on masks and decoding."""

import math

import torch
from printed_lines import line, lines
from printed_pages import lower_triangles
from worked_by_torch import Run, causal, example, sinusoidal_positions, tensor

THE, CAT, SAT, END = range(4)
GIVEN = example("the-cat-sat-end")
FREE, FULL = Run(GIVEN), Run(GIVEN, causal(4))


def compare_masks(page):
    page.figure("fig-decoding-steps", lower_triangles(*(FULL.weights[0, :n] for n in (3, 4))))
    is_causal, padding = torch.ones(4, 4).tril(), torch.ones(4, 4)
    padding[:, 3] = 0
    page.figure("fig-decoding-masks", is_causal, padding, is_causal.triu(-1))


def compare_what_leaks(page):
    late = FREE.weights[0, CAT, :2]
    page.says("cat gives The ", late, late.sum(), 1, 1 - late.sum())
    x = GIVEN["embeddings"].clone()
    x[END] += 1
    other = GIVEN | {"embeddings": x}
    runs = FREE, Run(other), FULL, Run(other, causal(4))
    page.table("tbl-decoding-leak", [s.weights[0, CAT, :2] for s in runs])


def compare_the_third_step(page):
    third = Run(GIVEN | {"embeddings": GIVEN["embeddings"][:3]}, causal(3))
    page.runs["the-cat-sat-so-far"] = third
    page.says("The scores of sat are with The: ", lines(third, "scores.0.2.0", "scores.0.2.1"))
    weights = [f"weights.0.2.{key}" for key in range(3)]
    of_the = "scaled_scores.0.2.0", "exponentials.0.2.0"
    row = lines(third, *of_the, "row_sums.0.2", *weights, "head_outputs.0.2.0")
    page.says("The scaled score of The and its exponential are ", row)


def compare_counts(page):
    """Count multiplications: three projections of 4 by 4, and 4 by 4 products with each key."""
    n = torch.arange(1, 2049)
    steps = 48 + 8 * n
    both = torch.stack([steps, n * steps], 1)[:4]
    page.table("tbl-decoding-count", both, both.sum(0))
    with_cache, without = both.sum(0)
    times = (n * steps).sum() / steps.sum()
    page.says("For four tokens the cache saves ", 1 - with_cache / without)
    page.says("For # tokens each head of a stack needs # times", len(n), times)
    page.says("Here that is # numbers for each token", 4 + 4)
    page.says("The # of the projections are constant; the # of scores", 48, 80)


def head_matrices(strength, asks, hands_over):
    """Return the matrices of a head, from its query per token and its scale of the values."""
    w_q = torch.zeros(5, 4)
    for who, what in asks.items():
        w_q[who, what] = strength
    w_k = torch.eye(5)[:, :4]
    return {"w_q": w_q[None], "w_k": w_k[None], "w_v": tensor(hands_over).diag()[None]}


def compare_six_words(page):
    """Compute an encoder and a decoder with three heads of different queries."""
    source, target = torch.eye(5)[1:4], torch.eye(5)[:3]
    source[1, 4] = 1
    reads, recalls, inquires = (
        head_matrices(4, {1: 2, 2: 3, 3: 3}, [0, 0, 0, 0, 1]),
        head_matrices(4, {0: 0, 1: 0, 2: 1}, [0, -1, -1, -1, 0]),
        head_matrices(6, {0: 1, 1: 2, 2: 3}, [3, 3, 3, 3, 3]),
    )

    def asked(heard, so_far):
        key, value = heard @ inquires["w_k"], heard @ inquires["w_v"]
        return Run({"query": so_far @ inquires["w_q"], "key": key, "value": value})

    def chances(heard, so_far):
        said = so_far + asked(heard, so_far).concat
        return (said @ tensor(out).T).softmax(-1)

    out = [[0, 1, 0, 0, 1], [0, 1, 0, 0, -1], [0, 0, 1, 0, 1], [0, 0, 1, 0, -1], [0, 0, 0, 1, 0]]
    reading = Run(reads | {"embeddings": source})
    writing = Run(recalls | {"embeddings": target}, causal(3))
    reading.stream, writing.stream = (s.embeddings + s.concat for s in (reading, writing))
    heard, so_far = reading.stream, writing.stream
    asking = asked(heard, so_far)
    page.runs["the-cat-sat-read"] = reading
    page.runs["de-kat-zat-so-far"] = writing
    page.runs["de-kat-zat-asks"] = asking
    page.figure(
        "fig-decoding-three", reading.weights, lower_triangles(writing.weights[0]), asking.weights
    )
    score, weight = lines(reading, "scaled_scores.0.0.1", "weights.0.0.1")
    now = 0, heard[0, 4], heard[0, 4]
    page.says("The scaled score of The with cat is ", score, 0, weight, now)
    row = line(writing, "weights.0.2.1")
    page.says("kat gives De the weight ", row, 0, so_far[2, 1], so_far[2, 1])
    asks = "scaled_scores.0.0.0", "row_sums.0.0", "weights.0.0.0", "head_outputs.0.0.4"
    page.says("so their genders are three times ", heard[:, 4], lines(asking, *asks))
    usual = chances(heard, so_far)
    page.table("tbl-decoding-words", usual)
    unread, without_looking_back = chances(source, so_far)[0], chances(heard, target)[2, 4]
    page.says("writes De with ", unread[:2], without_looking_back, usual[2, 4])
    words, kept = [(n, 3) for n in (1, 2, 3)], [n * (4 + 5) for n in (1, 2, 3)]
    page.table("tbl-decoding-when", 3, [0] * 4, words, 0, kept, [27] * 4)
    page.table("tbl-decoding-asks-w-q", inquires["w_q"])
    page.table("tbl-decoding-asks-scores", asking.scores)
    page.table("tbl-decoding-asks-weights", asking.weights)
    page.table("tbl-decoding-said", so_far + asking.concat)


def compare_passes(page):
    """Count the arithmetic and the memory reads of passes: of the six words, and of Llama 3 70B."""
    matrices, key_and_value = 5 * (4 + 4 + 5), 4 + 5
    read = [matrices + 3 * key_and_value, 5 * key_and_value]
    read += [matrices + n * key_and_value + 5 * 4 + 3 * key_and_value for n in (1, 2, 3)]
    first = matrices, 3 * key_and_value, read[0]
    page.says("words, # + # = # numbers", first, matrices, key_and_value, 20, 27, read[2])
    pairs = zip([3, 3, 1, 1, 1], read, strict=True)
    page.table("tbl-decoding-reads", [(2 * n * each, each, 2 * n) for n, each in pairs])
    d, inner, layers, tokens = 8192, 28672, 80, 1000
    parameters = layers * (2 * d * d + 2 * d * d // 8 + 3 * d * inner)
    kept = layers * 2 * d // 8 * 2 * tokens

    def token(n):
        return 2 * parameters + layers * 4 * n * d

    passes = [(sum(token(n) for n in range(1, tokens + 1)), 2 * parameters + kept)]
    passes += [(n * token(tokens), 2 * parameters + n * kept) for n in (1, 64, 512)]
    waits = [
        (work / 1e12, read / 1e9, work / read, work / 1e12, read / 4e9) for work, read in passes
    ]
    page.table("tbl-decoding-waits", waits)
    first, one, many, _ = (max(work / 1e15, read / 4e12) for work, read in passes)
    times = first, one, tokens, first / one, 64, many / one - 1
    page.says("time to first token (TTFT), is at least ", times, 64, 512, 512 * kept / 1e9)


def compare_padding(page):
    """Compute a batch of two padded sequences: padding on either side, and its errors."""
    x, later, positions = GIVEN["embeddings"], causal(4), sinusoidal_positions(6, 4)
    filler = torch.ones(2, 4)
    hidden = torch.zeros(4)
    hidden[:2] = -math.inf
    called = torch.arange(1, 5)
    seen = [(later == 0) & real for real in (hidden < 0, hidden == 0, called > 0)]
    page.figure("fig-decoding-batch", [(called, torch.cat([called[:, None], m], 1)) for m in seen])

    def row(words, at, index, mask):
        return Run(GIVEN | {"embeddings": words + positions[at]}, mask).head_outputs[0, index]

    left, right = torch.cat([filler, x[:2]]), torch.cat([x[:2], filler])
    page.table(
        "tbl-decoding-padding",
        row(x[:2], [0, 1], 1, causal(2)),
        row(right, [0, 1, 0, 0], 1, later + hidden.flip(0)),
        row(left, [0, 0, 0, 1], 3, later + hidden),
        row(right, [0, 1, 0, 0], 3, later + hidden.flip(0)),
        row(left, [0, 0, 0, 1], 3, later),
        row(left, [0, 1, 2, 3], 3, later + hidden),
    )
