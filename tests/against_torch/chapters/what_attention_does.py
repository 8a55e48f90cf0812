"""The numbers of the chapter on what attention does."""

import torch
from worked_by_torch import (
    dot,
    example,
    explorer,
    face,
    mixed,
    row_sum,
    run,
    share,
    tensor,
    with_sums,
)  # fmt: skip

THE, RIVER, BANK = range(3)


def numbers(page):
    """Compare all of them in tables and figures, and those of the sums by hand."""
    given = example("river-bank")
    x = given["embeddings"]
    s = run(given, scale=1.0)
    money = run(given | {"embeddings": x[:, [1, 0]] + 0.0}, scale=1.0)
    bare = {name: s[name] for name in ("query", "key", "value")}
    page.explorer("fig-river-bank-explorer", explorer(run(bare, scale=1.0)), face(s, BANK))
    page.table("tbl-river-bank-words", x, x[RIVER].flip(0))
    page.table("tbl-river-bank-query-key-value", s["query"], s["key"], s["value"])
    page.table("tbl-river-bank-weights", with_sums(s["weights"]))
    page.figure("fig-river-bank-plane", s["scores"][0, BANK])
    page.figure("fig-money-bank-plane", money["scores"][0, BANK])
    page.says("times column, twice: ", *(dot(x[BANK], given["w_q"][0, :, c]) for c in (0, 1)))
    scores = [dot(s["query"][0, BANK], s["key"][0, key]) for key in (THE, RIVER, BANK)]
    page.says("score of the key: the: ", scores)
    page.says("which is the fourth sum, ", row_sum(s, BANK))
    page.says("by one or two.) the: ", *(share(s, BANK, key) for key in (THE, RIVER, BANK)))
    page.says(
        "We say that bank attends to river with a weight of #, to itself with # and to the with #",
        s["weights"][0, BANK, [RIVER, BANK, THE]],
    )
    page.says("the first number of the output, ", mixed(s, BANK, 0))
    twice = (2 * s["scores"][0, BANK]).softmax(0)
    page.says(
        "and river gets # of the attention instead of #", twice[RIVER], s["weights"][0, BANK, RIVER]
    )
    page.says("bank itself falls to #", twice[BANK])
    page.says("gives # of its attention to bank", s["weights"][0, RIVER, BANK])
    for query in ((2, 0), (2.5, 0), (1, 1)):
        weight = (tensor(query) @ s["key"][0].T).softmax(0)[RIVER]
        words = {
            (2, 0): "The query (2, 0) gives #",
            (2.5, 0): "(2.5, 0) gives #",
            (1, 1): "the scores 0, 6, 2 and #",
        }
        page.says(words[query], weight)
    page.says(
        "# of its attention, but of the output’s first number only #",
        s["weights"][0, BANK, BANK],
        s["weights"][0, BANK, BANK] * s["value"][0, BANK, 0] / s["head_outputs"][0, BANK, 0],
    )
    torch.testing.assert_close(s["weights"], money["weights"])
