"""The numbers of the chapter on attention since 2023."""

import math

import torch
from printed_lines import dot
from printed_pages import flatten
from worked_by_torch import Run, causal, example, tensor

X = tensor([[1, 0, 1, 0], [0, 1, 0, 1]])
DOWN = tensor([[1, 0], [0, 1], [1, 0], [0, 1]])
W_UK, W_UV = tensor([[1, 1], [0, 1]]), tensor([[1, 1.5], [2.5, 3.5]])
ASKING = tensor([[1, 0], [0, 1], [0, 0], [0, 0]])
PLACES = tensor([[1, 0], [1, 0], [0, 0], [0, 0]])
TURNS = [tensor([[1, 0], [0, 1]]), tensor([[0, 1], [-1, 0]])]  # rows times a quarter turn each


def compare_latent_vectors(page):
    latent, query = X @ DOWN, X @ ASKING
    key, value = latent @ W_UK, latent @ W_UV
    turned = torch.stack([(row @ PLACES) @ turn for row, turn in zip(X, TURNS, strict=True)])
    page.table("tbl-since-matrices", torch.cat([DOWN, ASKING, PLACES], dim=1))
    page.table("tbl-since-latent", torch.cat([latent, key, value], dim=1))
    page.says("and the second of the key: ", dot(X[0], DOWN[:, 0]), dot(latent[0], W_UK[:, 1]))
    contents, places = query @ key.T, turned @ turned.T
    page.says("contents: ", dot(query[1], key[1]))
    page.says("score: ", contents[1, 1], places[1, 1], contents[1, 1] + places[1, 1])
    scores = (contents + places) / 2
    weights, powers = scores[1].softmax(dim=-1), scores[1].exp()
    shares = torch.stack([powers, powers.sum().expand(2), weights], 1)
    page.says("The score of sat with cat is ", contents[1, 0] + places[1, 0], places[1, 0], shares)
    page.says("With a threshold of 1, the score # of sat with itself", scores[1, 1])
    assert scores.max() == scores[1, 1] == 3 / 2  # so the factor is two thirds
    met = query @ W_UK.T
    page.says(
        "and the same content parts as before: ", dot(query[1], W_UK[0]), dot(query[1], W_UK[1])
    )
    page.says("with cat: 1×2", flatten(dot(met[1], latent[0]))[2:])
    mixed = weights @ latent
    page.says("The weighted sum of the latent vectors is (#, #)", mixed)
    page.says("with two bytes per number, # bytes per token and layer instead of #", 1152, 65536)
    page.says("Grouped queries would take equally many with # groups", 576 / 256)
    page.says("it takes # operations for each byte", 2 * 128 * (576 + 512) / 1152)
    both = Run(example("it-tired"))
    columns = torch.cat([*both.key, *both.value], dim=1)
    page.says("They form a matrix of # columns", columns.shape[1])
    page.says("the number of its independent columns, is only #", torch.linalg.matrix_rank(columns))
    page.says("has three groups of three heads, so it stores # numbers", 2 * 3 * 64, 2 * 9 * 64)
    assert torch.allclose(mixed @ W_UV, weights @ value)


def compare_other_scores(page):
    s = page.runs["it-tired-causal"] = Run(example("it-tired"), causal(4))
    query, key, value, plain = s.query[0], s.key[0], s.value[0], s.scaled_scores[0]
    scaled = query @ key.T / math.sqrt(2)
    spread = (query[2].square().mean() + 1e-6).sqrt()
    page.says("has the root mean square ", 3, 3, 1, 1, 2, spread, 3, spread, 3 / spread)
    capped = 2 * torch.tanh(scaled / 2)
    page.says("has the scaled scores # with cat, # and #", scaled[2, :3])
    weights, sums = s.weights[0], s.row_sums[0]
    held = (capped + causal(4)).softmax(-1)
    page.says("its weight for cat falls from # to #", weights[2, 0], held[2, 0])
    page.says("The exponentials of the scores of it add up to #", sums[2])
    page.says("cat, whose only score is 0, keeps #", 1 / (1 + sums[0]))
    opened = 1, 1, 2, torch.sigmoid(tensor([-2.0]))
    page.says("first number of the output of tired is ", (weights @ value)[3, 0], opened)
    top = plain[3].masked_fill(plain[3] < plain[3].topk(2).values[-1], -math.inf).softmax(-1)
    page.says("The other scores are #, # and, with itself, #", plain[3, 1:], top[0], weights[3, 0])
    normed = torch.nn.functional.rms_norm(torch.stack([query, key]), (2,), eps=1e-6)
    scores = normed[0] @ normed[1].T / math.sqrt(2) + causal(4)
    page.says("cat and tired get # each", scores.softmax(-1)[3, 0])


def compare_states_numbers_and_memory(page):
    plain = Run(example("cat-sat"))
    key, value = plain.key[0], plain.value[0]
    first, second = (k[:, None] * v for k, v in zip(key, value, strict=True))
    states = torch.cat([first, first + second, first / 2 + second], dim=1)
    page.table("tbl-since-state", states)
    page.says("twice the value of sat, , is (#, #)", 2 * value[1])
    old, new = tensor([2, 3]), tensor([5, 7])
    page.says("the row becomes (#, #), the new value", new)
    page.says("it becomes (#, #), halfway", (old + new) / 2)
    products = tensor([[1.0], [-1.0]]) @ tensor([[3.0, -1, 0, 1]])
    page.says("The tokens’ scores are #, #, # and #: for mat", tensor([1, 2]) @ products.relu())
    of_indexer, of_key, long = 64 * 128, 128 * (512 + 64 + 512), 131072
    page.says("each earlier token takes # multiplications", of_indexer)
    costs = (long * of_key / 1e9, 2048 * of_key / 1e9, long * of_indexer / 1e9)
    page.says("attention to all: #", costs[0])
    page.says("attention to the chosen: #", costs[1])
    page.says("the indexer: #", costs[2])
    step = 7 / 127
    page.says("and the step is this over #, #", 127, step)
    page.says("read again: ", round(5 / step), step, round(5 / step) * step)
    page.says("which is #.", math.log(3))
    page.says("is read as #", torch.tensor(5.3).to(torch.float8_e4m3fn))
    each, mib = 2 * 8 * 64 * 2, 2**20
    held = 18, 128, each, 18 * 128 * each, 18 * 128 * each / mib
    of_text = 18 * each * (131072 + 128) / 2**30, 36 * each * 131072 / 2**30
    page.says("of two bytes: ", each, 128, 36, 36 * each, 18, 18 * each, 18, held, 131072, of_text)
    page.says("two groups: ", 12 * 2 * 2 * 256 * 2, 36 * 32 * 128 * 128 * 2, 36)
    card = 12 * 2 * 1024, 48, 16, 1024, 48 * 16 * 1024, 48 * 16 // (12 * 2)
    page.says("The cache takes ", 12, 2, 2 * 256 * 2, card)
    bounds = [4 * math.log(128 / (2 * math.pi * turns)) / math.log(10000) for turns in (32, 1)]
    page.says("tokens it is # for 32 turns, and # for one", *bounds)
    page.says("the second speed is multiplied by #", 1 - 0.75 / bounds[1])
    grown = [(0.1 * math.log(factor) + 1) ** 2 for factor in (4, 32)]
    page.says("scores by its square: # for a factor of 4, #", *grown)
