"""The numbers of the chapter on multi-head attention."""

import torch
from printed_pages import AtMost
from worked_by_torch import (
    dot,
    example,
    explorer,
    face,
    mixed,
    row_sum,
    run,
    scaled,
    share,
    tensor,
    with_sums,
)

CAT, MAT, IT, TIRED = range(4)


def numbers(page):
    """Compare those of tables and figures, and of the example by hand."""
    given = example("it-tired")
    s = run(given)
    page.explorer(
        "fig-it-tired-explorer",
        {k: v for k, v in explorer(s).items() if k[0] != "stream"},
        face(s, IT),
    )
    x, heads = given["embeddings"], range(2)
    page.table("tbl-it-tired-words", x)
    page.table("tbl-it-tired-w-q", given["w_q"])
    page.table(
        "tbl-it-tired-query-key-value", *(s[n][h] for h in heads for n in ("query", "key", "value"))
    )
    page.table("tbl-it-tired-weights", with_sums(s["weights"]))
    page.figure("fig-it-tired-concat", s["concat"].T)
    page.table("tbl-it-tired-w-o", given["w_o"])
    page.table("tbl-it-tired-stream", x[IT], s["head_contributions"][:, IT], s["stream"][IT])
    page.table("tbl-it-tired-w-k-w-v", *(given[n][h] for h in heads for n in ("w_k", "w_v")))
    page.table("tbl-it-tired-scores", s["scores"])
    page.table("tbl-it-tired-scaled", s["scaled_scores"])
    page.table("tbl-it-tired-exponentials", with_sums(s["exponentials"]))
    page.table(
        "tbl-it-tired-weighted",
        *(
            [s["weights"][h, i, :, None] * s["value"][h], s["head_outputs"][h, i]]
            for h in heads
            for i in range(4)
        ),
    )
    page.table("tbl-it-tired-outputs", s["head_outputs"])
    page.table(
        "tbl-it-tired-share", *([s["head_contributions"][:, i], s["output"][i]] for i in range(4))
    )
    page.table("tbl-it-tired-output", s["output"])
    _by_hand(page, given, s)
    _one_average(page, given, s)
    _costs(page)


def _by_hand(page, given, s):
    x = given["embeddings"]
    page.says("In Head 1: ", dot(x[IT], given["w_q"][0, :, 0]), dot(x[IT], given["w_q"][0, :, 1]))
    scores = [dot(s["query"][0, IT], s["key"][0, key]) for key in (CAT, MAT, TIRED)]
    page.says("In Head 1 it meets cat: ", scores)
    page.says(
        "For cat in Head 1: ",
        scaled(s, IT, CAT),
        s["scaled_scores"][0, IT, CAT],
        s["exponentials"][0, IT, CAT],
        row_sum(s, IT),
        share(s, IT, CAT),
    )
    who, how = s["weights"][0, IT, CAT], s["weights"][1, IT, TIRED]
    page.says(
        "it attends to cat with a weight of # in Head 1, and to tired with # in Head 2. "
        "In one row that would be #",
        who,
        how,
        who + how,
    )
    page.says("Head 1 gives it animal: ", mixed(s, IT, 0), mixed(s, IT, 1))
    page.says("The first number of the output for it: ", dot(s["concat"][IT], given["w_o"][:, 0]))


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
    page.says("Their outputs differ by up to #", AtMost((s["output"][IT] - other).abs().max()))
    page.says("now differ for it by up to #", AtMost((hears[0] - hears[1]).abs().max()))


def _costs(page):
    """Operations: two for each product of a number with a number."""
    d = 512
    table = [
        [2 * n * d * d / 1e9] * 3 + [2 * n * n * d / 1e9] * 2 + [2 * n * d * d / 1e9]
        for n in (128, 1024, 8192)
    ]
    page.table("tbl-heads-costs", *zip(*([*row, sum(row)] for row in table), strict=True))
