"""The numbers of *What attention does* that are not part of its explorer's run."""

import torch
from worked_by_torch import Run, example, tensor

RIVER, BANK = 1, 2


def compare_other_words_and_queries(page):
    given = example("river-bank")
    x = given["embeddings"]
    s = page.runs["river-bank"] = Run(given, scale=1.0)
    money = Run(given | {"embeddings": x[:, [1, 0]]}, scale=1.0)
    page.table("tbl-river-bank-words", x, x[RIVER].flip(0))
    page.figure("fig-river-bank-plane", s.scores[0, BANK])
    page.figure("fig-money-bank-plane", money.scores[0, BANK])
    shares = (tensor([[2, 0], [2.5, 0], [1, 1]]) @ s.key[0].T).softmax(-1)[:, RIVER]
    page.says("The query (2, 0) gives river #", shares[0])
    page.says("(2.5, 0) gives it #", shares[1])
    page.says("the scores 0, 6, 2 and a weight of #", shares[2])
    torch.testing.assert_close(s.weights, money.weights)
