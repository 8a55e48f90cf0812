"""Drawing of numbers for calculations of exams, and steps that several kinds of them share."""

from collections.abc import Sequence

import numpy as np

from mha.core.checks import Array
from mha.practice.exams.steps import Slip, Step, solve, with_operands
from mha.practice.random_inputs import SENTENCES, draw_short_example
from mha.runs.record import Trace, trace
from mha.runs.rounding import dimensions, short
from mha.views.table import Table

MAX_EXPONENT, MIN_EXPONENT_DIFFERENCE = 5, 0.4
"""The largest size of an exponent, and the smallest difference of two exponents of a row."""

MIN_WEIGHT = 0.02
"""The smallest weight of a row that a drawn run has."""

DIFFICULTY = "easy"
"""The difficulty of drawn examples, a key of `mha.practice.random_inputs.LEVELS`."""

SHARES = [[5, 3, 2], [2, 5, 3], [3, 2, 5], [2, 6, 2], [6, 2, 2], [4, 3, 3], [3, 4, 3], [7, 2, 1]]
"""Rows of weights in tenths."""


def draw_words(rng: np.random.Generator, count: int) -> tuple[str, ...]:
    """Return the first words of a random sentence."""
    return SENTENCES[rng.integers(len(SENTENCES))][:count]


def draw_even_run(rng: np.random.Generator, words: Sequence[str], row: int) -> Trace:
    """Return a run in which no weight of a row is close to 0, and no exponential is large."""
    while True:
        run = trace(draw_short_example(rng, difficulty=DIFFICULTY, sentence=words))
        largest = np.abs(run.scaled_scores[0, row]).max()
        if largest < MAX_EXPONENT and run.weights[0, row].min() > MIN_WEIGHT:
            return run


def as_texts(numbers: Array | Sequence[float]) -> tuple[str, ...]:
    """Return numbers as printed."""
    return tuple(short(float(number)) for number in numbers)


def pick_numbers(rng: np.random.Generator, numbers: Sequence[float], count: int) -> tuple[str, ...]:
    """Return different numbers in random order, as printed."""
    return as_texts(rng.choice(np.array(numbers, float), count, replace=False))


def draw_exponents(
    rng: np.random.Generator, count: int, low: float = -2.0, high: float = 3.0
) -> Array:
    """Return numbers with one decimal, not 0 or 1, `MIN_EXPONENT_DIFFERENCE` or more apart."""
    tenths = np.arange(round(10 * low), round(10 * high) + 1) / 10
    usable = tenths[~np.isin(tenths, (0.0, 1.0))]
    while True:
        found = rng.choice(usable, count, replace=False)
        if np.diff(np.sort(found)).min() > MIN_EXPONENT_DIFFERENCE - 1e-9:
            return np.asarray(found)


def distinct_rows(
    rng: np.random.Generator, numbers: Sequence[int], shape: tuple[int, int]
) -> list[tuple[str, ...]]:
    """Return rows of random numbers that all differ, in columns that vary."""
    while True:
        drawn = rng.choice(np.array(numbers, float), shape)
        if len(np.unique(drawn, axis=0)) == shape[0] and (np.ptp(drawn, axis=0) > 0).all():
            return [as_texts(row) for row in drawn]


def negated(text: str) -> str:
    """Return a printed number with the other sign."""
    if text == "0":
        return text
    return text[1:] if text.startswith("−") else f"−{text}"


def one_table(caption: str, header: Sequence[str], *rows: Sequence[str]) -> Table:
    """Return a table of a header and rows of text."""
    return Table(caption, tuple(header), tuple(map(tuple, rows)))


def vector_table(
    caption: str, symbol: str, words: Sequence[str], rows: Sequence[Sequence[str]]
) -> Table:
    """Return the table of one vector per word."""
    header = ("", *dimensions(symbol, len(rows[0])))
    return one_table(caption, header, *((w, *row) for w, row in zip(words, rows, strict=True)))


# ---- Steps ----


def softmax_steps(
    words: Sequence[str], exponents: Sequence[str], part: int, prefix: str = ""
) -> tuple[Step, ...]:
    """Return the steps from scaled scores to weights: exponentials, their sum, quotients."""
    powers = tuple(f"{prefix}power {word}" for word in words)
    total = f"{prefix}sum"
    return (
        *(
            Step(power, f"exponential for *{word}*", "power", ((exponent,),), part)
            for power, word, exponent in zip(powers, words, exponents, strict=True)
        ),
        Step(total, "sum of the exponentials", "sum", (powers,), part),
        *(
            Step(f"{prefix}weight {word}", f"weight of *{word}*", "quotient",
                 ((power,), (total,)), part + 1)
            for power, word in zip(powers, words, strict=True)
        ),
    )  # fmt: skip


def output_steps(
    words: Sequence[str], values: Sequence[Sequence[str]], part: int
) -> tuple[Step, ...]:
    """Return the steps from weights and values to each component of the output."""
    weights = tuple(f"weight {word}" for word in words)
    names = dimensions("o", len(values[0]))
    return tuple(
        Step(f"output {i}", f"{name}, component {i + 1} of the output", "products",
             (weights, tuple(row[i] for row in values)), part)
        for i, name in enumerate(names)
    )  # fmt: skip


def sum_slips(steps: Sequence[Step], words: Sequence[str]) -> tuple[Slip, Slip]:
    """Return two mistakes of the sum of a softmax, which change equally many results."""
    total, power = _named("sum", steps), _named(f"power {words[-1]}", steps)
    powers, exponent = total.operands[0], power.operands[0][0]
    rule = "The sum has one exponential for each key that the query may attend to."
    reason = "With another sum the weights of the row do not add up to 1."
    return (
        Slip(f"The sum lacks the exponential for *{words[-1]}*.", rule, reason,
             (with_operands(total, tuple(name for name in powers if name != power.name)),)),
        Slip(f"The sum has the exponent for *{words[-1]}*, not the exponential.", rule, reason,
             (with_operands(total, tuple(
                 exponent if name == power.name else name for name in powers)),)),
    )  # fmt: skip


def divisor_slips(steps: Sequence[Step], words: Sequence[str]) -> tuple[Slip, Slip]:
    """Return two mistakes of the quotients of a softmax, which change equally many results."""
    powers = {f"power {word}" for word in words}
    largest = max(powers, key=lambda name: float(solve(steps).values[name]))
    rule = "Each exponential is divided by the sum of all exponentials of its row."
    reason = "Only with this divisor do the shares of all exponentials add up to 1."
    weights = [_named(f"weight {word}", steps) for word in words]

    def divided(by: str) -> tuple[Step, ...]:
        return tuple(with_operands(step, step.operands[0], (by,)) for step in weights)

    return (
        Slip("The exponentials are divided by the largest of them.", rule, reason,
             divided(largest)),
        Slip(f"The exponentials are divided by their number, {len(words)}.", rule, reason,
             divided(str(len(words)))),
    )  # fmt: skip


def _named(name: str, steps: Sequence[Step]) -> Step:
    return next(step for step in steps if step.name == name)
