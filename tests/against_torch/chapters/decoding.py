"""The numbers of the chapter on masks and decoding."""

import torch
from worked_by_torch import causal, dot, example, explorer, face, mixed, row_sum, run, scaled, share

THE, CAT, SAT, END = range(4)


def numbers(page):
    """Compare all of them."""
    given = example("the-cat-sat-end")
    free, full = run(given), run(given, causal(4))
    page.explorer("fig-decoding-explorer", explorer(full), face(full, CAT))
    page.figure("fig-decoding-steps", *(_lower(full["weights"][0, :n]) for n in (2, 3, 4)))
    page.figure("fig-decoding-masks", *_masks())
    _leak(page, given, free, full)
    _third_step(page, given)
    _counts(page)
    page.says(
        "asked stands there from the start. cat gives The #, cat #, sat # and <end> #; "
        "sat gives them #, #, # and #.",
        free["weights"][0, [CAT, SAT]],
    )
    page.says("(#, #, #, #) Answer to 2 decimals. The", free["scaled_scores"][0, END])
    weights = [share(free, END, key) for key in range(4)]
    page.says("<end> Check Hint Another set Worked answer ", weights)
    page.says("Solution to Exercise 15.3 row sum: ", row_sum(free, END), weights)


def _lower(weights):
    return [row[: i + 1] for i, row in enumerate(weights)]


def _masks():
    lower = torch.ones(4, 4).tril()
    padding = torch.ones(4, 4)
    padding[:, 3] = 0
    return lower, padding, lower * torch.ones(4, 4).triu(-1)


def _leak(page, given, free, full):
    late = free["weights"][0, CAT, :2]
    page.says("cat gives The # and itself #.", late)
    page.says(
        "Strike out the rest, and # is left in all, not 1: the other #", late.sum(), 1 - late.sum()
    )
    x = given["embeddings"].clone()
    x[END] += 1
    other = given | {"embeddings": x}
    page.table(
        "tbl-decoding-leak",
        late,
        run(other)["weights"][0, CAT, :2],
        full["weights"][0, CAT, :2],
        run(other, causal(4))["weights"][0, CAT, :2],
    )


def _third_step(page, given):
    third = run(given | {"embeddings": given["embeddings"][:3]}, causal(3))
    query, key = third["query"][0, SAT], third["key"][0]
    page.says("The scores of sat are with The: ", dot(query, key[THE]))
    page.says("= 1.5555 with cat: ", dot(query, key[CAT]))
    page.says("query of sat: ", query)
    page.says("key of sat: ", key[SAT])
    page.says("Worked answer 0.8×", *dot(query, key[SAT])[1:])
    page.says("Here is The, scaled, and its exponential: ", scaled(third, SAT, THE))
    power = third["exponentials"][0, SAT, THE]
    page.says("0.7778 e", third["scaled_scores"][0, SAT, THE], power)
    page.says("mixed: row sum: ", row_sum(third, SAT))
    for word, key in (("The", THE), ("cat", CAT), ("sat", SAT)):
        page.says(f"weight of {word}: ", share(third, SAT, key))
    page.says("first number of the output: ", mixed(third, SAT, 0))


def _counts(page):
    """Count multiplications: three projections of 4 by 4, and 4 by 4 products with each key."""
    with_cache = [3 * 4 * 4 + 2 * 4 * n for n in range(1, 5)]
    without = [n * count for n, count in enumerate(with_cache, 1)]
    both = torch.tensor([with_cache, without]).T
    page.table("tbl-decoding-count", both, both.sum(0))
    page.says("the cache saves #", 1 - sum(with_cache) / sum(without))
    n = torch.arange(1, 2049)
    steps = 48 + 8 * n
    page.says(
        "Over # tokens each head of such a stack would do # times",
        len(n),
        (n * steps).sum() / steps.sum(),
    )
    page.says("Here that is # numbers for each token", 4 + 4)
    page.says("The # of the projections stay; the # of scores", 48, 80)
