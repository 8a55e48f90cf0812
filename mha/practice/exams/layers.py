"""Calculations of positions, norms, gradients, predictions and online softmax, for exams."""

import numpy as np

from mha.practice.exams.problem import Problem
from mha.practice.exams.shared import (
    SHARES,
    as_texts,
    distinct_rows,
    draw_exponents,
    draw_words,
    negated,
    one_table,
    pick_numbers,
    softmax_steps,
    vector_table,
)
from mha.practice.exams.steps import Slip, Step, with_operands
from mha.runs.rounding import dimensions

ROTATIONS = {0: ("1", "0"), 1: ("0.6", "0.8"), 2: ("−0.28", "0.96"), 3: ("−0.936", "0.352")}
"""Cosine and sine of the angle at each position, if one position rotates by the angle of the
right-angled triangle with the sides 3, 4 and 5."""


def rotated_score(rng: np.random.Generator) -> Problem:
    """Return a score of a rotated query with a rotated key."""
    words = draw_words(rng, 3)
    early, late = sorted(int(i) for i in rng.choice([1, 2, 3], 2, replace=False))
    vectors = distinct_rows(rng, (-5, -4, -3, -2, 2, 3, 4, 5), (2, 2))
    query, key = vectors

    def rotated(
        symbol: str, word: str, vector: tuple[str, ...], at: int, part: int
    ) -> tuple[Step, ...]:
        cos, sin = ROTATIONS[at]
        kind = "query" if symbol == "q" else "key"
        return (
            Step(f"{symbol} 1", f"component 1 of the rotated {kind} of *{word}*", "products",
                 (vector, (cos, negated(sin))), part),
            Step(f"{symbol} 2", f"component 2 of the rotated {kind} of *{word}*", "products",
                 (vector, (sin, cos)), part),
        )  # fmt: skip

    steps = (
        *rotated("q", words[1], query, late, 0),
        *rotated("k", words[0], key, early, 1),
        Step("score", f"score of *{words[1]}* with *{words[0]}*", "products",
             (("q 1", "q 2"), ("k 1", "k 2")), 2),
    )  # fmt: skip
    back = rotated("k", words[0], key, early, 1)
    cos, sin = ROTATIONS[early]
    distance = "Then the score depends only on the distance of the two positions."
    slips = (
        Slip(f"The key of *{words[0]}* is rotated in the wrong direction.",
             "Query and key are rotated in the same direction, each by its own position.",
             distance,
             (with_operands(back[0], key, (cos, sin)),
              with_operands(back[1], key, (negated(sin), cos)))),
        Slip(f"The key of *{words[0]}* is not rotated.",
             "Both are rotated, the query by its position and the key by its own.", distance,
             (with_operands(back[0], (key[0],), kind="sum"),
              with_operands(back[1], (key[1],), kind="sum"))),
    )  # fmt: skip
    return Problem(
        "A score with rotary positions",
        f"Rotary positions rotate (a, b) into (a cos − b sin, a sin + b cos). *{words[1]}* is at"
        f" position {late} and *{words[0]}* at position {early}.",
        (
            f"Rotate the query of *{words[1]}*.",
            f"Rotate the key of *{words[0]}*.",
            "Compute the score.",
        ),
        (
            vector_table("Before the rotation", "x",
                         [f"query of {words[1]}", f"key of {words[0]}"], vectors),
            one_table("Rotation at each position", ("position", "cos", "sin"),
                 *((str(at), *pair) for at, pair in ROTATIONS.items())),
        ),
        steps,
        slips,
    )  # fmt: skip


def layer_norm(rng: np.random.Generator) -> Problem:
    """Return the numbers of a token after attention is added, and their normalised values."""
    word = draw_words(rng, 1)[0]
    while True:
        before = rng.choice(np.arange(-4.0, 8.0), 4)
        added = rng.choice([-3.0, -2.0, 2.0, 3.0, 4.0], 4)
        total = before + added
        if total.mean().is_integer() and len(np.unique(total)) > 2 and total.std() > 1:
            break
    names = [f"sum {i}" for i in range(4)]
    away = [f"away {i}" for i in range(4)]
    steps = (
        *(
            Step(
                name, f"number {i + 1} of the stream", "sum", (as_texts((before[i], added[i])),), 0
            )
            for i, name in enumerate(names)
        ),
        Step("mean", "mean of the four numbers", "mean", (tuple(names),), 1),
        *(
            Step(
                name,
                f"number {i + 1} minus the mean",
                "products",
                ((names[i], "mean"), ("1", "−1")),
                1,
            )
            for i, name in enumerate(away)
        ),
        Step("spread", "standard deviation", "spread", (tuple(away),), 1),
        *(
            Step(f"normed {i}", f"normalised number {i + 1}", "quotient", ((name,), ("spread",)), 2)
            for i, name in enumerate(away)
        ),
    )
    return Problem(
        "Residual sum and layer normalisation",
        f"A layer adds its output to the stream of *{word}*; then the stream is normalised, without"
        " gain, bias or ε.",
        (
            "Add the layer's output to the stream.",
            "Compute the mean of the four numbers, their differences from it, and the standard"
            " deviation: the root of the mean of the squared differences.",
            "Compute the four normalised numbers.",
        ),
        (
            one_table(f"The stream of {word}", ("", *dimensions("x", 4)),
                      ("before the layer", *as_texts(before)),
                 ("output of the layer", *as_texts(added))),
        ),
        steps,
    )  # fmt: skip


def score_gradient(rng: np.random.Generator) -> Problem:
    """Return the gradient of three scores, and the scores after one step of descent."""
    words = draw_words(rng, 3)
    weights = as_texts(np.array(rng.choice(SHARES)) / 10)
    values, slope = pick_numbers(rng, range(1, 10), 3), str(rng.choice([2, 3]))
    scores = as_texts(draw_exponents(rng, 3))
    by_weight = tuple(f"d weight {w}" for w in words)
    steps = (
        *(
            Step(name, f"derivative with respect to the weight of *{w}*", "times",
                 ((value,), (slope,)), 0)
            for name, w, value in zip(by_weight, words, values, strict=True)
        ),
        Step("average", "average of these derivatives, weighted by the weights", "products",
             (weights, by_weight), 1),
        *(
            Step(f"away {w}", f"derivative for *{w}* minus the average", "sum",
                 ((name, "minus average"),), 2)
            for name, w in zip(by_weight, words, strict=True)
        ),
        *(
            Step(f"d score {w}", f"derivative with respect to the score of *{w}*", "times",
                 ((weight,), (f"away {w}",)), 2)
            for w, weight in zip(words, weights, strict=True)
        ),
    )  # fmt: skip
    steps = tuple(_with_difference(step) for step in steps)
    rate = "0.1"
    update = tuple(
        Step(f"new {w}", f"new score of *{w}*", "products",
             ((score, f"d score {w}"), ("1", f"−{rate}")), 3)
        for w, score in zip(words, scores, strict=True)
    )  # fmt: skip
    return Problem(
        "The gradient of a row of scores",
        f"The output of a query is the sum of weight times value. The derivative of the loss with"
        f" respect to this output is {slope}.",
        (
            "Compute the derivative of the loss with respect to each weight: the value times the"
            " derivative with respect to the output.",
            "Compute the average of these derivatives, weighted by the weights.",
            "Compute the derivative with respect to each score: the weight times the difference of"
            " its derivative from the average.",
            f"Take one step of gradient descent with the learning rate {rate}: compute the new"
            " scores.",
        ),
        (
            one_table("The row", ("key", *words), ("score", *scores), ("weight", *weights),
                 ("value", *values)),
        ),
        (*steps, *update),
    )  # fmt: skip


def _with_difference(step: Step) -> Step:
    """Return a step that subtracts the average; its line is a sum of two products."""
    if step.operands[-1] and step.operands[0][-1] == "minus average":
        return with_operands(step, (step.operands[0][0], "average"), ("1", "−1"), kind="products")
    return step


def next_word(rng: np.random.Generator) -> Problem:
    """Return a logit as a sum of parts, and the probabilities of three words."""
    words = draw_words(rng, 3)
    while True:
        parts = rng.choice(np.arange(-15, 21) / 10, (3, 3))
        logits = parts.sum(axis=1)
        if (
            np.abs(logits).max() <= 4
            and np.diff(np.sort(logits)).min() > 0.4
            and (parts != 0).all()
        ):
            break
    rows = [as_texts(row) for row in parts]
    steps = (
        *(
            Step(f"logit {w}", f"logit of *{w}*", "sum", (row,), 0)
            for w, row in zip(words, rows, strict=True)
        ),
        *softmax_steps(words, [f"logit {w}" for w in words], 1),
    )
    head = rng.integers(2) + 1
    best = words[int(logits.argmax())]
    left = tuple(x for i, x in enumerate(rows[int(logits.argmax())]) if i != head)
    cut = Step("cut", f"logit of *{best}* without Head {head}", "sum", (left,), 3)
    return Problem(
        "The probability of the next word",
        "Each logit of a small model is the sum of three parts.",
        (
            "Compute the logits.",
            "Compute the exponentials and their sum.",
            "Compute the probability of each word.",
            f"Head {head} is turned off. Compute the logit of *{best}* without it.",
        ),
        (
            one_table("Parts of the logits", ("word", "embedding", "Head 1", "Head 2"),
                 *((w, *row) for w, row in zip(words, rows, strict=True))),
        ),
        tuple(_as_probability(step) for step in (*steps, cut)),
    )  # fmt: skip


def _as_probability(step: Step) -> Step:
    """Return a step whose label says probability where it said weight."""
    label = step.label.replace("weight of", "probability of")
    return Step(step.name, label, step.kind, step.operands, step.part)


def online_softmax(rng: np.random.Generator) -> Problem:
    """Return an output computed in two blocks of keys."""
    words = draw_words(rng, 4)
    while True:
        scores = draw_exponents(rng, 4, -2.0, 3.0)
        if scores[:2].max() < scores[2:].max():  # the second block has the largest score
            break
    texts, values = as_texts(scores), pick_numbers(rng, range(1, 10), 4)
    first, second = texts[:2], texts[2:]

    def below(block: int, name: str, word: str, score: str) -> tuple[Step, Step]:
        largest = f"largest {block}"
        return (
            Step(f"below {name}", f"score of *{word}* minus the largest", "products",
                 ((score, largest), ("1", "−1")), 2 * block),
            Step(f"power {name}", f"exponential for *{word}*", "power",
                 ((f"below {name}",),), 2 * block),
        )  # fmt: skip

    steps = (
        Step("largest 0", "largest score of block 1", "largest", (first,), 0),
        *(step for w, s in zip(words[:2], first, strict=True) for step in below(0, w, w, s)),
        Step("sum 0", "sum after block 1", "sum", ((f"power {words[0]}", f"power {words[1]}"),), 0),
        Step("mixture 0", "mixture after block 1", "products",
             ((f"power {words[0]}", f"power {words[1]}"), values[:2]), 0),
        Step("largest 1", "largest score so far", "largest", (("largest 0", *second),), 1),
        Step("drop", "largest before minus the largest now", "products",
             (("largest 0", "largest 1"), ("1", "−1")), 1),
        Step("factor", "factor for the earlier sum and mixture", "power", (("drop",),), 1),
        *(step for w, s in zip(words[2:], second, strict=True) for step in below(1, w, w, s)),
        Step("sum 1", "sum after block 2", "products",
             (("factor", f"power {words[2]}", f"power {words[3]}"), ("sum 0", "1", "1")), 2),
        Step("mixture 1", "mixture after block 2", "products",
             (("factor", f"power {words[2]}", f"power {words[3]}"), ("mixture 0", *values[2:])), 2),
        Step("output", "output", "quotient", (("mixture 1",), ("sum 1",)), 3),
    )  # fmt: skip
    return Problem(
        "A softmax in two blocks",
        "An output is computed in two blocks of two keys each. Only the largest score so far, the"
        " sum and the mixture (the sum of exponential times value) are kept.",
        (
            "Block 1: compute the largest score, both exponentials after the largest is"
            " subtracted, their sum, and the mixture.",
            "Compute the largest score of all four keys, and the factor for the earlier sum and"
            " mixture.",
            "Block 2: compute both exponentials, then the new sum and the new mixture.",
            "Compute the output.",
        ),
        (
            one_table("Scaled scores and values", ("key", *words), ("block", "1", "1", "2", "2"),
                 ("scaled score", *texts), ("value", *values)),
        ),
        steps,
    )  # fmt: skip
