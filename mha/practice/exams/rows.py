"""Calculations of one row of attention, and of a layer of two heads, for exams."""

import numpy as np

from mha.core.checks import Array
from mha.practice.exams.problem import Problem
from mha.practice.exams.shared import (
    DIFFICULTY,
    MAX_EXPONENT,
    SHARES,
    as_texts,
    distinct_rows,
    divisor_slips,
    draw_even_run,
    draw_exponents,
    draw_words,
    one_table,
    output_steps,
    pick_numbers,
    softmax_steps,
    sum_slips,
    vector_table,
)
from mha.practice.exams.steps import Slip, Step, solve, with_operands
from mha.practice.random_inputs import draw_short_example, without_trivial_factors
from mha.runs.record import trace
from mha.runs.rounding import dimensions

SPREAD = "The spread of a dot product grows as the root of the width, and the root removes that."
"""The reason for the scale."""


def attention_row(rng: np.random.Generator) -> Problem:
    """Return the output of one query by scaled dot-product attention."""
    words, asked = draw_words(rng, 3), int(rng.integers(3))
    run = draw_even_run(rng, words, asked)
    query = as_texts(run.query[0, asked])
    keys, values = ([as_texts(row) for row in array[0]] for array in (run.key, run.value))
    word, d_k = words[asked], len(query)
    scores = tuple(
        Step(f"score {w}", f"score of *{word}* with *{w}*", "products", (query, key), 0)
        for w, key in zip(words, keys, strict=True)
    )
    scaled = tuple(
        Step(f"scaled {w}", f"scaled score for *{w}*", "root", ((f"score {w}",), (str(d_k),)), 1)
        for w in words
    )
    steps = (
        *scores,
        *scaled,
        *softmax_steps(words, [step.name for step in scaled], 2),
        *output_steps(words, values, 4),
    )
    not_zero = [step for step in scaled if solve(steps).values[step.operands[0][0]] != "0"]
    by_width, by_count = (
        tuple(with_operands(step, step.operands[0], (number,), kind=kind) for step in not_zero)
        for number, kind in ((str(d_k), "quotient"), (str(len(words)), "root"))
    )
    scale = f"Scores are divided by the root of the width of a key, √{d_k}."
    slips = (
        Slip(f"The scores are divided by {d_k}, the width itself.", scale, SPREAD, by_width),
        Slip(f"The scores are divided by √{len(words)}, the root of the number of keys.", scale,
             SPREAD, by_count),
        *sum_slips(steps, words),
        *divisor_slips(steps, words),
        *(
            Slip(f"The score with *{words[i]}* is computed with the key of *{words[j]}*.",
                 "The score of a query with a word is its dot product with the key of this word.",
                 "The weight from this score multiplies the value of the same word.",
                 (with_operands(scores[i], query, keys[j]),))
            for i, j in ((asked, (asked + 1) % 3), ((asked + 1) % 3, (asked + 2) % 3))
        ),
    )  # fmt: skip
    return Problem(
        "One row of attention",
        f"A head has three tokens. Compute the output of *{word}* by scaled dot-product attention"
        " without a mask.",
        (
            f"Compute the scores of *{word}* with all three keys.",
            "Scale the scores.",
            "Compute the exponentials and their sum.",
            "Compute the weights.",
            "Compute both components of the output.",
        ),
        (
            vector_table(f"Query of {word}", "q", [word], [query]),
            vector_table("Keys", "k", words, keys),
            vector_table("Values", "v", words, values),
        ),
        steps,
        slips,
    )


def first_output(rng: np.random.Generator) -> Problem:
    """Return the output of one query if scores are not scaled: width 2, small whole numbers."""
    words = draw_words(rng, 3)
    while True:
        query = rng.choice([-2.0, -1.0, 1.0, 2.0], 2)
        keys = rng.choice(np.arange(-1.0, 3.0), (3, 2))
        values = rng.choice(np.arange(0.0, 6.0), (3, 2))
        scores = keys @ query
        apart = np.diff(np.sort(scores)).min() > 0 and np.abs(scores).max() <= MAX_EXPONENT
        if apart and (np.ptp(values, axis=0) > 1).all() and len(np.unique(values, axis=0)) == 3:
            break
    word = words[int(rng.integers(3))]
    rows = [as_texts(row) for row in keys]
    steps = (
        *(
            Step(
                f"score {w}", f"score of *{word}* with *{w}*", "products", (as_texts(query), key), 0
            )
            for w, key in zip(words, rows, strict=True)
        ),
        *softmax_steps(words, [f"score {w}" for w in words], 1),
        *output_steps(words, [as_texts(row) for row in values], 3),
    )
    return Problem(
        "What a word takes from its neighbours",
        f"The query of *{word}* meets three keys. The scores are not scaled here. Compute the"
        f" output of *{word}*.",
        (
            "Compute the three scores.",
            "Compute the exponentials and their sum.",
            "Compute the weights.",
            "Compute both components of the output.",
        ),
        (
            vector_table(f"Query of {word}", "q", [word], [as_texts(query)]),
            vector_table("Keys", "k", words, rows),
            vector_table("Values", "v", words, [as_texts(row) for row in values]),
        ),
        steps,
        (*sum_slips(steps, words), *divisor_slips(steps, words)),
    )


def projected_score(rng: np.random.Generator) -> Problem:
    """Return a score from two embeddings: query, key, dot product, scale."""
    words = draw_words(rng, 3)
    drawn = draw_short_example(rng, with_output=True, difficulty=DIFFICULTY, sentence=words)
    run = trace(without_trivial_factors(rng, drawn, DIFFICULTY, keep_scores=False))
    first, second = (int(i) for i in rng.choice(3, 2, replace=False))
    layer, x = run.example.layer, run.embeddings
    assert layer is not None
    assert x is not None
    w_q, w_k = layer.w_q[0], layer.w_k[0]
    width = w_q.shape[1]

    def projected(symbol: str, kind: str, token: int, matrix: Array, part: int) -> tuple[Step, ...]:
        return tuple(
            Step(f"{symbol} {i}", f"{name}, component {i + 1} of the {kind} of *{words[token]}*",
                 "products", (as_texts(x[token]), as_texts(matrix[:, i])), part)
            for i, name in enumerate(dimensions(symbol, width))
        )  # fmt: skip

    queries = projected("q", "query", first, w_q, 0)
    keys = projected("k", "key", second, w_k, 1)
    names = tuple(step.name for step in queries), tuple(step.name for step in keys)
    steps = (
        *queries,
        *keys,
        Step("score", f"score of *{words[first]}* with *{words[second]}*", "products", names, 2),
        Step("scaled", "scaled score", "root", (("score",), (str(width),)), 2),
    )
    labels = [f"x{sub}" for sub in "₁₂"]
    return Problem(
        "From embeddings to a score",
        f"Compute the scaled score of the query of *{words[first]}* with the key of"
        f" *{words[second]}*.",
        (
            f"Compute the query of *{words[first]}*.",
            f"Compute the key of *{words[second]}*.",
            "Compute their score, and scale it.",
        ),
        (
            vector_table("Embeddings", "x", [words[first], words[second]],
                     [as_texts(x[first]), as_texts(x[second])]),
            vector_table("Query projection", "q", labels, [as_texts(row) for row in w_q]),
            vector_table("Key projection", "k", labels, [as_texts(row) for row in w_k]),
        ),
        steps,
        (
            Slip(f"The score is divided by {width}, the width itself.",
                 f"Scores are divided by the root of the width of a key, √{width}.", SPREAD,
                 (with_operands(steps[-1], *steps[-1].operands, kind="quotient"),)),
        ),
    )  # fmt: skip


def scale_or_not(rng: np.random.Generator) -> Problem:
    """Return the largest weight of a row with the scale and without it."""
    words, d_k = draw_words(rng, 3), int(rng.choice([9, 16]))
    root = round(d_k**0.5)
    scaled = draw_exponents(rng, 3, -1.0, 1.5)
    scores = as_texts(scaled * root)
    largest = words[int(scaled.argmax())]
    steps = (
        *(
            Step(f"scaled {w}", f"scaled score for *{w}*", "root", ((score,), (str(d_k),)), 0)
            for w, score in zip(words, scores, strict=True)
        ),
        *softmax_steps(words, [f"scaled {w}" for w in words], 1),
        *(
            Step(f"raw power {w}", f"exponential of the score for *{w}*", "power", ((score,),), 3)
            for w, score in zip(words, scores, strict=True)
        ),
        Step("raw sum", "sum of these exponentials", "sum",
             (tuple(f"raw power {w}" for w in words),), 3),
        Step("raw weight", f"weight of *{largest}* without the scale", "quotient",
             ((f"raw power {largest}",), ("raw sum",)), 3),
    )  # fmt: skip
    return Problem(
        "With the scale and without it",
        f"A query has three scores; keys have the width d_k = {d_k}.",
        (
            "Scale the scores.",
            "Compute the exponentials of the scaled scores, and their sum.",
            "Compute the weights.",
            f"Compute the weight of *{largest}* from the scores without the scale: the"
            " exponentials, their sum and the weight.",
        ),
        (one_table("Scores of the query", ("key", *words), ("score", *scores)),),
        steps,
    )


def masked_row(rng: np.random.Generator) -> Problem:
    """Return the weights of a row under a causal mask, then an output."""
    words = draw_words(rng, 4)
    scores = as_texts(draw_exponents(rng, 4, -2.0, 2.5))
    values = pick_numbers(rng, range(1, 10), 4)
    *seen, hidden = words
    steps = (
        *softmax_steps(words, (*scores[:3], "−∞"), 0),
        *output_steps(words, [(value,) for value in values], 2),
    )
    power, total = (step for step in steps if step.name in (f"power {hidden}", "sum"))
    mask = "A mask adds −∞ to the score of a hidden key, so its exponential is 0."
    return Problem(
        "A row under a causal mask",
        f"The third of four tokens, *{words[2]}*, attends under a causal mask. The table has the"
        " scaled scores of its query before the mask, and one number of each value.",
        (
            "Compute the exponentials of the four masked scores, and their sum; e to the −∞ is 0.",
            "Compute the four weights.",
            "Compute the output.",
        ),
        (
            one_table("Scaled scores and values", ("key", *words), ("scaled score", *scores),
                 ("value", *values)),
        ),
        steps,
        (
            Slip(f"The mask is forgotten: the row has the exponential for *{hidden}*.", mask,
                 "A model predicts the later tokens, so no row may depend on them.",
                 (with_operands(power, (scores[3],)),)),
            Slip("The masked score is 0, not −∞.", mask,
                 "A score of 0 has the exponential 1, so the key would have a weight.",
                 (with_operands(power, ("0",)),)),
            Slip(f"The sum has the exponential for *{hidden}*: the mask acts after the softmax.",
                 "A mask acts before the softmax, so the sum has no exponential of a hidden key.",
                 "With another sum the weights of the row do not add up to 1.",
                 (with_operands(total, (*total.operands[0][:3], as_power(scores[3]))),)),
            Slip(f"The sum lacks the exponential for *{words[0]}*.",
                 "Under a causal mask a token attends to itself and to all earlier tokens.",
                 "Earlier tokens are known when the next one is predicted.",
                 (with_operands(total, total.operands[0][1:]),)),
            *divisor_slips(steps, seen),
        ),
    )  # fmt: skip


def as_power(exponent: str) -> str:
    """Return e to a printed exponent, as printed."""
    step = Step("power", "", "power", ((exponent,),))
    return solve([step]).values["power"]


def temperature_row(rng: np.random.Generator) -> Problem:
    """Return a row of weights at a temperature, and the ratio of two weights."""
    words, temperature = draw_words(rng, 3), str(rng.choice([2, 4, 5]))
    exponents = draw_exponents(rng, 3, -1.5, 1.9)
    scores = as_texts(exponents * int(temperature))
    divided = tuple(
        Step(f"divided {w}", f"score for *{w}* divided by the temperature", "quotient",
             ((score,), (temperature,)), 0)
        for w, score in zip(words, scores, strict=True)
    )  # fmt: skip
    order = np.argsort(exponents)
    low, high = words[int(order[0])], words[int(order[-1])]
    steps = (
        *divided,
        *softmax_steps(words, [step.name for step in divided], 1),
        Step("ratio", f"weight of *{high}* over weight of *{low}*", "quotient",
             ((f"weight {high}",), (f"weight {low}",)), 3),
    )  # fmt: skip
    return Problem(
        "A row of weights at a temperature",
        f"A query has three scaled scores. The temperature is {temperature}.",
        (
            "Divide the scores by the temperature.",
            "Compute the exponentials and their sum.",
            "Compute the weights.",
            f"How many times as large as the weight of *{low}* is that of *{high}*? Compute it"
            " from the weights.",
        ),
        (one_table("Scaled scores", ("key", *words), ("scaled score", *scores)),),
        steps,
    )


def two_heads(rng: np.random.Generator) -> Problem:
    """Return the output of a layer of two heads from weights, values and output projection."""
    words = draw_words(rng, 3)
    word = words[int(rng.integers(3))]
    heads = (1, 2)
    rows = [as_texts(np.array(rng.choice(SHARES)) / 10) for _ in heads]
    values = [distinct_rows(rng, range(1, 7), (3, 2)) for _ in heads]
    w_o = distinct_rows(rng, (-2, 2, 3, 4), (4, 2))
    outputs = tuple(
        Step(f"head {head} {i}", f"component {i + 1} of the output of Head {head}", "products",
             (rows[head - 1], tuple(row[i] for row in values[head - 1])), head - 1)
        for head in heads
        for i in range(2)
    )  # fmt: skip
    names = tuple(step.name for step in outputs)
    steps = (
        *outputs,
        *(
            Step(f"output {i}", f"component {i + 1} of the layer's output", "products",
                 (names, tuple(row[i] for row in w_o)), 2)
            for i in range(2)
        ),
    )  # fmt: skip
    swapped = (*names[2:], *names[:2])
    own = (
        "Each head applies its own weights to its own values.",
        "The weights of a head follow from its own queries and keys, so heads can differ.",
    )
    slips = (
        Slip("The output of Head 2 is placed before that of Head 1.",
             "The outputs of the heads are placed side by side in the order of the heads.",
             "The first rows of the output projection were learned for Head 1, the others for"
             " Head 2.",
             tuple(with_operands(s, swapped, s.operands[1]) for s in steps[4:])),
        Slip("The weights of Head 1 are applied to the values of Head 2.", *own,
             tuple(with_operands(s, rows[0], s.operands[1]) for s in steps[2:4])),
        Slip("The weights of Head 2 are applied to the values of Head 1.", *own,
             tuple(with_operands(s, rows[1], s.operands[1]) for s in steps[:2])),
    )  # fmt: skip
    labels = [f"{name}, Head {head}" for head in heads for name in dimensions("o", 2)]
    return Problem(
        "Two heads and the output projection",
        f"A layer has two heads. Compute the layer's output for *{word}*.",
        (
            "Compute the output of Head 1.",
            "Compute the output of Head 2.",
            "Place both outputs side by side and multiply by the output projection.",
        ),
        (
            one_table(
                f"Weights of {word}", ("head", *words), ("Head 1", *rows[0]), ("Head 2", *rows[1])
            ),
            vector_table("Values of Head 1", "v", words, values[0]),
            vector_table("Values of Head 2", "v", words, values[1]),
            vector_table("Output projection", "y", labels, w_o),
        ),
        steps,
        slips,
    )


def cached_step(rng: np.random.Generator) -> Problem:
    """Return the output of a new token from a cache, and the growth of the cache."""
    words = draw_words(rng, 3)
    run = draw_even_run(rng, words, 2)
    query = as_texts(run.query[0, 2])
    keys, values = ([as_texts(row) for row in array[0]] for array in (run.key, run.value))
    d_k, d_v = len(keys[0]), len(values[0])
    scaled = tuple(f"scaled {w}" for w in words)
    steps = (
        *(
            Step(f"score {w}", f"score of *{words[2]}* with *{w}*", "products", (query, key), 0)
            for w, key in zip(words, keys, strict=True)
        ),
        *(
            Step(name, f"scaled score for *{w}*", "root", ((f"score {w}",), (str(d_k),)), 0)
            for w, name in zip(words, scaled, strict=True)
        ),
        *softmax_steps(words, scaled, 1),
        output_steps(words, [row[:1] for row in values], 3)[0],
        Step(
            "growth", "numbers that this token adds to the cache", "sum", ((str(d_k), str(d_v)),), 4
        ),
    )
    cached, new = words[:2], words[2]
    return Problem(
        "One step with a cache",
        f"A model writes one token at a time. The cache has the keys and values of"
        f" *{cached[0]}* and *{cached[1]}*. The new token is *{new}*.",
        (
            f"Compute the scaled scores of *{new}* with all keys that it may attend to.",
            "Compute the exponentials and their sum.",
            "Compute the weights.",
            "Compute the first component of the output.",
            "How many numbers does this token add to the cache of this head?",
        ),
        (
            vector_table("Cached keys", "k", cached, keys[:2]),
            vector_table("Cached values", "v", cached, values[:2]),
            vector_table("Query of the new token", "q", [new], [query]),
            vector_table("Key of the new token", "k", [new], keys[2:]),
            vector_table("Value of the new token", "v", [new], values[2:]),
        ),
        steps,
    )


def sink_row(rng: np.random.Generator) -> Problem:
    """Return a row of weights with a sink, and the output."""
    words = draw_words(rng, 3)
    drawn = as_texts(draw_exponents(rng, 4, -1.5, 2.5))
    scores, sink = drawn[:3], drawn[3]
    values = pick_numbers(rng, range(1, 10), 3)
    plain = softmax_steps(words, scores, 0)
    powers = [step for step in plain if step.kind == "power"]
    names = (*(step.name for step in powers), "power sink")
    steps = (
        *powers,
        Step("power sink", "exponential of the sink", "power", ((sink,),), 0),
        Step("sum", "sum of the exponentials and the sink", "sum", (names,), 0),
        *(step for step in plain if step.name.startswith("weight ")),
        Step("total", "sum of the weights", "sum", (tuple(f"weight {w}" for w in words),), 2),
        *output_steps(words, [(value,) for value in values], 3),
    )
    total = next(step for step in steps if step.name == "sum")
    slips = (
        Slip("The sum lacks the exponential of the sink.",
             "The exponential of the sink is part of the sum.",
             "So the weights of the keys add up to less than 1, and a row can attend to nothing.",
             (with_operands(total, names[:-1]),)),
        Slip("The score of the sink is added, not its exponential.",
             "A sink adds its exponential to the sum, like any other score.",
             "A score can be negative, and an exponential cannot.",
             (with_operands(total, (*names[:-1], sink)),)),
        *divisor_slips(steps, words),
    )  # fmt: skip
    return Problem(
        "A softmax with a sink",
        f"A head has a learned sink with the score {sink}. The sink has no value: it only adds its"
        " exponential to the sum of each row.",
        (
            "Compute the exponentials of the three scores and of the sink, and the sum of all"
            " four.",
            "Compute the weights of the three keys.",
            "Compute the sum of these weights.",
            "Compute the output.",
        ),
        (
            one_table("Scaled scores and values", ("key", *words), ("scaled score", *scores),
                 ("value", *values)),
        ),
        steps,
        slips,
    )  # fmt: skip
