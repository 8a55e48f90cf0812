"""The numbers of the chapter on multi-head attention that are not part of its explorer's run."""

import torch
from printed_pages import AtMost
from worked_by_torch import Run, example, tensor

CAT, MAT, IT, TIRED = range(4)
GIVEN = example("it-tired")


def compare_the_heads_and_their_shares(page):
    s = Run(GIVEN)
    page.figure("fig-it-tired-concat", s.concat.T)
    stream = s.embeddings[IT], s.head_contributions[:, IT], s.stream[IT]
    page.table("tbl-it-tired-stream", stream)
    weighted = s.weights[..., None] * s.value[:, None]
    page.table("tbl-it-tired-weighted", torch.cat([weighted, s.head_outputs[:, :, None]], 2))
    shares = torch.cat([s.head_contributions, s.output[None]])
    page.table("tbl-it-tired-share", shares.transpose(0, 1))


def compare_one_average_in_place_of_two(page):
    w_q, w_k = torch.zeros(4, 2), torch.zeros(4, 2)
    w_q[2] = tensor([6, 3])
    w_k[[0, 3]] = torch.eye(2)
    single = {"w_q": w_q[None], "w_k": w_k[None], "w_v": torch.eye(4)[None]}
    x, toy = GIVEN["embeddings"], GIVEN["embeddings"].clone()
    toy[CAT, 1] += 1
    toy[TIRED, 1] -= 1
    rows = []
    for sentence in (x, toy):
        output = Run(single | {"embeddings": sentence}).concat
        rows += [sentence[[CAT, TIRED]], output[IT]]
    page.table("tbl-heads-same-average", rows)
    two_heads = [Run(GIVEN | {"embeddings": sentence}).output[IT] for sentence in (x, toy)]
    w_k[1, 0] = -0.4  # another single head, whose keys read *thing* too
    other = single | {"w_k": w_k[None]}
    one_head = [Run(other | {"embeddings": sentence}).concat[IT] for sentence in (x, toy)]
    apart = [AtMost((a - b).abs().max()) for a, b in (two_heads, one_head)]
    page.says("The outputs of our layer for it differ by up to ", apart)


def compare_costs(page):
    """Count operations: two for each product of a number with a number."""
    n, d = tensor([128, 1024, 8192]), 512
    projection, products = 2 * n * d * d / 1e9, 2 * n * n * d / 1e9
    costs = [*[projection] * 3, products, products, projection]
    page.table("tbl-heads-costs", costs, sum(costs))
