"""The numbers of the chapter on order."""

import math

import torch
from printed_lines import line, lines
from worked_by_torch import Run, causal, example, sinusoidal_positions

CAT_SAT, END = example("cat-sat"), example("the-cat-sat-end")


def quarters(n):
    """Return angles that grow by a quarter turn per token."""
    return math.pi / 2 * torch.arange(n)[:, None].expand(n, 2).double()


def compare_what_a_swap_moves(page):
    page.says("gives itself the same #", Run(CAT_SAT).weights[0, 0, 0])
    page.says("the sine of the last is only #", sinusoidal_positions(61, 8)[-1, 6])


def compare_positions_that_are_added(page):
    positions, swap = sinusoidal_positions(4, 4), [0, 2, 1, 3]
    placed = Run(END | {"embeddings": END["embeddings"] + positions, "positions": positions})
    placed.placed = placed.embeddings
    page.runs["the-cat-sat-end-placed"] = placed
    page.says("The first number of cat is now ", line(placed, "placed.1.0"))
    other = END | {"embeddings": END["embeddings"][swap]}
    moved = Run(other | {"embeddings": other["embeddings"] + positions})
    for_cat = [Run(END).weights[0, 1, 0], Run(other).weights[0, 2, 0]]
    page.table("tbl-order-added", for_cat, placed.weights[0, 1, 0], moved.weights[0, 2, 0])


def compare_positions_that_are_turned(page):
    back = Run({name: array[:, [1, 0]] for name, array in CAT_SAT.items()}, angles=quarters(2))
    average = lines(back, "head_outputs.0.0.0", "head_outputs.0.0.1")
    page.says("and all four scores are ", back.scores[0, 0, 0], average)
    three = {name: array[:, [0, 1, 0]] for name, array in CAT_SAT.items()}
    scores = Run(three, angles=quarters(3)).scores[0, 0]
    page.says("The scores of the first cat are #, # and #", scores)


def compare_distances_that_are_subtracted(page):
    football, places = example("play-football"), torch.arange(3)
    distance = (places[:, None] - places).abs()
    near = page.runs["football-near"] = Run(football, causal(3) - distance / 2)
    page.says("for I: ", lines(near, *(f"scaled_scores.0.2.{key}" for key in range(3))))
    page.says("divides its exponential by , which is #", math.exp(0.5))
    sides = page.runs["football-both-sides"] = Run(football, -distance / 2)
    scores = [f"scaled_scores.0.1.{key}" for key in range(3)]
    page.says("play loses nothing. ", lines(sides, *scores, "row_sums.0.1"))
