"""The numbers of the chapter on multi-head attention that are of no run of its explorer."""

import torch
from printed_pages import AtMost
from worked_by_torch import example, run, tensor

CAT, MAT, IT, TIRED = range(4)


def numbers(page):
    """Compare the concatenation, sums of products, one average in place of two, and costs."""
    given = example("it-tired")
    s = run(given)
    page.figure("fig-it-tired-concat", s["concat"].T)
    page.table(
        "tbl-it-tired-stream", given["embeddings"][IT], s["head_contributions"][:, IT],
        s["stream"][IT],
    )  # fmt: skip
    weighted = s["weights"][..., None] * s["value"][:, None]
    sums = torch.cat([weighted, s["head_outputs"][:, :, None]], 2)
    page.table("tbl-it-tired-weighted", sums)
    page.table(
        "tbl-it-tired-share", *([s["head_contributions"][:, i], s["output"][i]] for i in range(4))
    )
    _one_average(page, given, s)
    _costs(page)


def _one_average(page, given, s):
    w_q, w_k = torch.zeros(4, 2).double(), torch.zeros(4, 2).double()
    w_q[2] = tensor([6, 3])
    w_k[[0, 3]] = torch.eye(2).double()
    single = {"w_q": w_q[None], "w_k": w_k[None], "w_v": torch.eye(4).double()[None]}
    x = given["embeddings"]
    toy = x + torch.outer(tensor([1, 0, 0, -1]), tensor([0, 1, 0, 0]))
    rows, hears = [], []
    for sentence in (x, toy):
        output = run(single | {"embeddings": sentence})["concat"]
        rows += [sentence[[CAT, TIRED]], output[IT]]
        hears.append(run(given | {"embeddings": sentence + output})["output"][IT])
    page.table("tbl-heads-same-average", *rows)
    other = run(given | {"embeddings": toy})["output"][IT]
    apart = [AtMost((a - b).abs().max()) for a, b in ((s["output"][IT], other), hears)]
    page.says("Their outputs differ by up to ", apart)


def _costs(page):
    """Operations: two for each product of a number with a number."""
    d = 512
    table = [
        [2 * n * d * d / 1e9] * 3 + [2 * n * n * d / 1e9] * 2 + [2 * n * d * d / 1e9]
        for n in (128, 1024, 8192)
    ]
    page.table("tbl-heads-costs", *zip(*([*row, sum(row)] for row in table), strict=True))
