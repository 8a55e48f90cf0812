"""The numbers of the chapter on depth."""

import math
from statistics import median

import numpy as np
import torch
from printed_lines import line, lines
from printed_pages import AtLeast, AtMost
from worked_by_torch import Run, causal, example, normalised, standard_deviations, tensor

CAT, MAT, IT, LAST = range(4)
START, A, B, AGAIN = range(4)


PICK = torch.eye(4).double()


class Stack:
    """Random blocks, drawn as in the chapter, with the norm before, after or nowhere."""

    def __init__(self, seed, place):
        self.rng, self.place = np.random.default_rng(seed), place
        self.last_matrices, self.spreads = [], []

    def draw(self, *shape):
        return tensor(self.rng.normal(size=shape))

    def block(self, x):
        w_q, w_k, w_v = self.draw(3, 4, 32, 8) / 32**0.5
        w_o, w_in, w_out = (self.draw(*s) / s[0] ** 0.5 for s in ((32, 32), (32, 64), (64, 32)))
        self.last_matrices.append(w_out.requires_grad_())
        given = {"w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o}
        x = self.behind_a_sum(x + Run(given | {"embeddings": self.read(x)}).output)
        return self.behind_a_sum(x + (self.read(x) @ w_in).relu() @ w_out)

    def read(self, x):
        return normalised(x) if self.place == "before" else x

    def behind_a_sum(self, x):
        if self.place != "after":
            return x
        self.spreads.append(standard_deviations(x).mean().detach())
        return normalised(x)


def compare_sizes(page):
    ends = {place: [] for place in ("nowhere", "before")}
    for place, found in ends.items():
        for seed in range(30):
            stack = Stack(seed, place)
            x = stack.draw(8, 32)
            for _ in range(24):
                x = stack.block(x).detach()
            found.append(float(x.square().mean().sqrt()))
    grown = [n / 1e4 for n in (min(ends["nowhere"]), max(ends["nowhere"]), median(ends["nowhere"]))]
    rounded = math.floor(grown[0]), math.ceil(grown[1]), round(grown[2])
    page.says(
        "At the end the RMS is between # and #, with a median of #", [1e4 * n for n in rounded]
    )
    least, most = (10 * end(ends["before"]) for end in (min, max))
    page.says("it grows to between ", math.floor(least) / 10, math.ceil(most) / 10)


def compare_the_block(page):
    """Compare the lines of the block around *it was tired*, whose run is the explorer's."""
    s = page.runs["it-tired-block"]
    page.says("is multiplied by # and the second by #", s.w_out[:, 4])
    page.table("tbl-depth-fed", s.stream_normed[:, [0, 1, 3]].T, s.active.T, s.fed[:, 4])


def compare_two_layers(page):
    """Let *it* attend to the last word in the first layer, and to its noun in the second."""
    nouns = {"w_v": PICK[None, :, :2], "w_o": PICK[:2]}
    hears = nouns | {"w_q": 2 * PICK[None, :, 2:3], "w_k": PICK[None, :, 3:]}
    resembles = nouns | {"w_q": 2 * PICK[None, :, :2], "w_k": PICK[None, :, :2]}
    words = example("it-tired")["embeddings"]
    soft = torch.cat([words[:3], tensor([[0, 1, 0, 2]])])
    firsts = [Run(hears | {"embeddings": x}) for x in (words, soft)]
    seconds = [Run(resembles | {"embeddings": s.stream}) for s in firsts]
    page.table("tbl-depth-soft", *(s.weights[0, IT] for s in firsts + seconds))
    tired, _of_soft = firsts
    heard = lines(tired, f"weights.0.{IT}.{LAST}", f"head_outputs.0.{IT}.0")
    kept = [[2, s.head_outputs[0, CAT, 0], s.stream[CAT, 0]] for s in firsts]
    met = [line(s, f"scores.0.{IT}.{CAT}") for s in seconds]
    score = 2, 2, tired.scores[0, IT, LAST]
    page.says("score: #×# =", score, heard, tired.stream[IT, 1], kept, met)


def compare_induction(page):
    """Compute an induction head for *A B A*: a previous-token head, then a match."""
    eye = torch.eye(10)
    what, where, before, following = eye[:, :2], eye[:, 2:6], eye[:, 6:8], eye[:, 8:]
    asks = torch.zeros(10, 4)
    asks[3:6, :3] = 10 * torch.eye(3)
    x = torch.zeros(4, 10)
    x[:, 2:6] = torch.eye(4)
    x[[A, B, AGAIN], [0, 1, 0]] = 1
    given = {"w_q": asks[None], "w_k": where[None], "w_v": what[None], "w_o": before.T}
    first = Run(given | {"embeddings": x}, causal(4))
    given = {"w_q": 8 * what[None], "w_k": before[None], "w_v": what[None], "w_o": following.T}
    second = Run(given | {"embeddings": first.stream}, causal(4))
    for i, s in enumerate((first, second), 1):
        page.runs |= {f"a-b-a-{i}": s, f"letters-a-b-a-{i}": s}
    page.figure("fig-depth-a-b-a", first.weights, second.weights)
    page.table("tbl-depth-before", second.embeddings[:, [0, 1, 6, 7]])
    page.says("the exponential of # is #", 5, math.exp(5), first.exponentials[0, B, 0])


def compare_two_tokens(page):
    """Pass two tokens of one number three times through a head whose matrices are all 1."""
    one = torch.ones(1, 1, 1)
    matrices = {"w_q": one, "w_k": one, "w_v": one, "w_o": one[0]}
    s = Run(matrices | {"embeddings": tensor([[0.5], [-0.5]])})
    row = lines(s, "row_sums.0.0", "weights.0.0.0", "head_outputs.0.0.0")
    apart = []
    for _ in range(3):
        apart.append(2 * s.output[0, 0])
        s = Run(matrices | {"embeddings": s.output})
    scores = [[0.5, number, number / 2] for number in (0.5, -0.5)]
    page.says("For the first token: the scores are ", scores, row, apart, 0.5, 0.5 + apart[0] / 2)
    page.runs["two-far-tokens"] = Run(matrices | {"embeddings": tensor([[1.0], [-1]])})


def size_of(x):
    """Return the square root of the largest column sum times the largest row sum."""
    return (x.abs().sum(-2).max() * x.abs().sum(-1).max()).sqrt()


def residual_of(x):
    return size_of(x - x.mean(0))


def digits_of(x):
    """Return a number as the page prints it: an integer, or digits and a power of ten."""
    if x > 1e-3:
        return [x]
    power = math.floor(math.log10(x))
    return [x / 10.0**power, 10, -power]  # the sign stands apart


def compare_collapse(page):
    """Stack the layer of *it was tired* without and with the residual stream."""
    given = example("it-tired")
    asks = given["w_q"] @ given["w_k"].mT
    hands_on = given["w_v"] @ given["w_o"].view(2, 2, 4)
    lengths = [torch.linalg.svdvals(m)[:, 0] for m in (asks, hands_on)]
    kappa = (lengths[0] * lengths[1]).sum() / (4 * 2**0.5)

    def stacked(x, layers, kept=0):
        found = [x]
        for _ in range(layers):
            found.append(kept * found[-1] + Run(given | {"embeddings": found[-1]}).output)
        return found

    def apart(x):
        return torch.cdist(x, x, compute_mode="donot_use_mm_for_euclid_dist").max()

    def at_most(distance):
        moved = torch.tanh(lengths[0] * distance**2 / (4 * 2**0.5))
        return (lengths[1] * moved).sum() * distance

    rows, printed = stacked(given["embeddings"], 4), []
    for before, x in zip([None, *rows], rows, strict=False):
        bounds = [] if before is None else [at_most(apart(before))]
        for number in (apart(x), *bounds, residual_of(x), residual_of(x) / size_of(x)):
            printed += digits_of(float(number))
    page.table("tbl-depth-collapse", printed)
    page.says("agree to nine decimal places: (", rows[4][0], apart(rows[4]) / apart(rows[3]) ** 3)
    page.says(
        "and of Head 2 in the second, is (", torch.stack(lengths, 1), 4, 2, kappa, kappa**-0.5
    )
    kept = stacked(given["embeddings"], 3, kept=1)
    page.says("the residual grows from # to #", 3, residual_of(kept[3]))


def compare_gradients(page):
    """Backpropagate random gradients through random stacks with autograd."""
    every, sums = {"before": [], "after": []}, []
    for place, found in every.items():
        for seed in range(30):
            stack, lengths = Stack(seed, place), []
            for blocks in (6, 12, 24):
                first, d_output = stack.draw(2, 8, 32)
                streams, stack.spreads = [first.requires_grad_()], []
                for _ in range(blocks):
                    streams.append(stack.block(streams[-1]))
                    streams[-1].retain_grad()
                (stack.read(streams[-1]) * d_output).sum().backward()
                lengths.append(stack.last_matrices[-1].grad.norm())
            sums += [torch.stack(stack.spreads)] if stack.spreads else []
            found.append(torch.stack(lengths + [x.grad.norm() for x in streams]))
        every[place] = torch.stack(found)
    middle = {place: lengths.quantile(0.5, dim=0) for place, lengths in every.items()}
    page.table("tbl-depth-last", middle["before"][:3], middle["after"][:3])
    before, after = middle["before"][3:], middle["after"][3:]
    sums = torch.stack(sums)
    divided = 1000 * round(float(sums.prod(dim=1).quantile(0.5)) / 1000)
    ends = sums[:, [0, -2]].quantile(0.5, dim=0), before[[24, 0]]
    page.says("With post-norm its length is ", after[[24, 14, 0]], divided, ends)
    at_first = [every[place][:, 3] for place in ("after", "before")]
    bounds = [[AtLeast(x.min()), AtMost(x.max())] for x in at_first]
    page.says("seed: it is at least # and at most #", bounds)
    y, g = tensor([7, -7, 1, -1]) / 5, tensor([1, 0, 0, 0])
    back = (g - g.mean() - y * (g * y).mean()) / 5
    rows = [[g[i], 0.25, y[i].abs(), 0.35, 5, back[i]] for i in range(4)]
    page.says("is 1.4 ÷ # =", 4, (g * y).mean(), rows, 0, 1, back.norm())
    page.says("to the power of 24, which is #", 1.1**24)


def compare_circuits(page):
    given = example("it-tired")
    asks, hands_on = given["w_q"][0] @ given["w_k"][0].T, given["w_v"][0] @ given["w_o"][:2]
    page.table("tbl-depth-circuits", asks, hands_on)
