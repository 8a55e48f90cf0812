"""The numbers of the chapter on what attention does that are of no run of its explorer."""

import torch
from worked_by_torch import example, run, tensor

RIVER, BANK = 1, 2


def numbers(page):
    """Compare what other words, other queries and a louder one would give."""
    given = example("river-bank")
    x = given["embeddings"]
    s = run(given, scale=1.0)
    money = run(given | {"embeddings": x[:, [1, 0]] + 0.0}, scale=1.0)
    page.table("tbl-river-bank-words", x, x[RIVER].flip(0))
    page.figure("fig-river-bank-plane", s["scores"][0, BANK])
    page.figure("fig-money-bank-plane", money["scores"][0, BANK])
    for words, query in (
        ("The query (2, 0) gives #", (2, 0)),
        ("(2.5, 0) gives #", (2.5, 0)),
        ("the scores 0, 6, 2 and #", (1, 1)),
    ):
        page.says(words, (tensor(query) @ s["key"][0].T).softmax(0)[RIVER])
    torch.testing.assert_close(s["weights"], money["weights"])
