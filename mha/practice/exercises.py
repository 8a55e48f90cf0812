"""Numeric exercises: one number of a trace to compute by hand, and fresh numbers to compute with.

An exercise is a view of a trace: its answer is read from there, its worked answer is the line of
`mha.views.arithmetic`. The page's script checks answers by the same rules as `verdict` does.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Literal

import numpy as np

from mha.views.arithmetic import Arithmetic, arithmetic
from mha.core.checks import Array, as_count
from mha.core.multihead import MultiHeadWeights
from mha.runs.rounding import PLACES, dimensions, percent, short, shown
from mha.runs.record import Trace
from mha.runs.worked import WorkedExample

WORDS = ("two", "red", "foxes", "saw", "an", "owl", "fly", "by")
"""What drawn examples are about."""

TRIES, CANDIDATES = 100, 400
"""How many embeddings are tried, and how many matrices for each, before giving up."""

SMALLEST, LARGEST_SCALED = 1e-9, 6.0
"""What counts as zero among short numbers, and the largest scaled score that is drawn."""


# ---- Fresh numbers ----


@dataclass(frozen=True)
class _Level:
    """Where a difficulty draws its numbers from."""

    embeddings: Array
    matrices: Array
    outputs: Array


def _tenths(low: int, high: int) -> Array:
    return np.arange(low, high + 1) / 10


LEVELS = {
    "easy": _Level(np.arange(0.0, 3.0), np.arange(-1.0, 2.0), np.arange(-1.0, 3.0)),
    "medium": _Level(_tenths(0, 9), np.arange(-1.0, 3.0), _tenths(0, 9)),
    "hard": _Level(_tenths(-12, 12), np.arange(-2.0, 3.0), _tenths(-9, 9)),
}
"""Difficulties: whole numbers, positive tenths, signed tenths with larger matrices."""


def draw_example(
    rng: np.random.Generator,
    *,
    num_tokens: int = 3,
    d_model: int = 2,
    d_k: int = 4,
    d_v: int = 2,
    num_heads: int = 1,
    with_output: bool = False,
    difficulty: str = "medium",
) -> WorkedExample:
    """Draw an example whose numbers are short enough to be worked by hand.

    Parameters
    ----------
    rng : numpy.random.Generator
    num_tokens : int, default 3
        From 2 to 8.
    d_model : int, default 2
    d_k : int, default 4
        1 or 4, whose roots are whole numbers. With 1, few tokens can be told apart.
    d_v : int, default 2
    num_heads : int, default 1
    with_output : bool, default False
        Whether there is an output projection back to d_model.
    difficulty : str, default "medium"
        "easy": whole numbers. "medium": embeddings with one decimal, none below zero. "hard":
        signed embeddings with one decimal and larger matrices. Entries of w_o have at most one
        decimal, other matrices are whole.

    Returns
    -------
    WorkedExample
        Up to float64's round-off, its embeddings, queries, keys and values have at most one
        decimal, scores at most two, scaled scores at most three. No scaled score is beyond ±6, no
        two scores of a row are equal, and no token's embedding, query, key or value is all zeros.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as described, or no such numbers are found.

    Examples
    --------
    >>> from mha import trace
    >>> run = trace(draw_example(np.random.default_rng(1), difficulty="easy"))
    >>> bool((run.scores == run.scores.round()).all())
    True
    """
    if difficulty not in LEVELS:
        raise ValueError(f"difficulty is {difficulty!r}; one of {', '.join(LEVELS)} is wanted")
    if d_k not in (1, 4):
        raise ValueError(f"d_k is {d_k}; 1 or 4 is wanted, whose roots are whole numbers")
    counts = {"d_model": d_model, "d_v": d_v, "num_heads": num_heads}
    for name, count in counts.items():
        as_count(name, count)
    if not 2 <= as_count("num_tokens", num_tokens) <= len(WORDS):
        raise ValueError(f"num_tokens is {num_tokens}; 2 to {len(WORDS)} are wanted")
    level = LEVELS[difficulty]
    for _ in range(TRIES):
        embeddings = rng.choice(level.embeddings, (num_tokens, d_model))
        if not _says_something(embeddings):
            continue
        heads = [_draw_head(rng, level, embeddings, d_k, d_v) for _ in range(num_heads)]
        drawn = [head for head in heads if head is not None]
        if len(drawn) == num_heads:
            w_o = rng.choice(level.outputs, (num_heads * d_v, d_model))
            return _drawn_example(embeddings, drawn, w_o if with_output else None)
    raise ValueError(
        f"no short numbers were found for num_tokens={num_tokens}, d_model={d_model}, d_k={d_k};"
        " fewer tokens, a larger d_model or a higher difficulty is wanted"
    )


def _draw_head(
    rng: np.random.Generator, level: _Level, embeddings: Array, d_k: int, d_v: int
) -> tuple[Array, Array, Array] | None:
    """Return one head's w_q, w_k and w_v that fit the embeddings, or None if none was drawn."""
    d_model = embeddings.shape[1]
    w_q, w_k = rng.choice(level.matrices, (2, CANDIDATES, d_model, d_k))
    w_v = rng.choice(level.matrices, (CANDIDATES, d_model, d_v))
    query, key = embeddings @ w_q, embeddings @ w_k
    scores = np.sort(query @ key.swapaxes(1, 2))
    no_ties = (np.diff(scores) > SMALLEST).all(axis=(1, 2))
    no_extremes = np.abs(scores).max(axis=(1, 2)) <= LARGEST_SCALED * math.sqrt(d_k)
    fits = no_ties & no_extremes & _says_something(query) & _says_something(key)
    values_fit = _says_something(embeddings @ w_v)
    if not fits.any() or not values_fit.any():
        return None
    chosen = fits.argmax()
    return w_q[chosen], w_k[chosen], w_v[values_fit.argmax()]


def _says_something(rows: Array) -> Array:
    """Tell of each matrix whether none of its rows is all zeros."""
    return np.asarray((np.abs(rows) > SMALLEST).any(axis=-1).all(axis=-1))


def _drawn_example(
    embeddings: Array, heads: Sequence[tuple[Array, Array, Array]], w_o: Array | None
) -> WorkedExample:
    w_q, w_k, w_v = (np.stack(matrices) for matrices in zip(*heads, strict=True))
    return WorkedExample(
        name="fresh-numbers",
        title="Fresh numbers",
        tokens=WORDS[: len(embeddings)],
        head_names=tuple(f"Head {i + 1}" for i in range(len(heads))),
        source="drawn at random",
        embeddings=embeddings,
        layer=MultiHeadWeights(w_q, w_k, w_v, w_o),
    )


# ---- One number to compute ----


@dataclass(frozen=True)
class Given:
    """Numbers that a question gives.

    Parameters
    ----------
    label : str
        What they are; a word between asterisks is a token.
    values : tuple of float
        As the trace has them.
    places : int, default 4
        The most decimals shown.

    Examples
    --------
    >>> print(Given("query of *cat*", (1.0, -0.5)))
    query of *cat*: (1, −0.5)
    """

    label: str
    values: tuple[float, ...]
    places: int = PLACES

    @property
    def numbers(self) -> str:
        """The numbers alone, in brackets where there are several."""
        texts = [short(value, self.places) for value in self.values]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def __str__(self) -> str:
        return f"{self.label}: {self.numbers}"


@dataclass(frozen=True)
class NumericExercise:
    """One number of a trace, to be computed by the reader.

    Parameters
    ----------
    stage : str
        One of `mha.views.arithmetic.STAGES`.
    head, row, column : int
        Counted from 0.
    question : str
        What to compute; a word between asterisks is a token.
    givens : tuple of Given
        The numbers that it takes.
    kind : str
        How they are combined; a key of `FORMULAS`.
    answer : float
        Unrounded, from the trace.
    places : int
        Decimals asked for.
    percent : bool
        Whether the answer, a share, is asked for in percent.
    hints : tuple of str
        From the operands to the last step.
    worked : Arithmetic
    """

    stage: str
    head: int
    row: int
    column: int
    question: str
    givens: tuple[Given, ...]
    kind: str
    answer: float
    places: int
    percent: bool
    hints: tuple[str, ...]
    worked: Arithmetic

    @property
    def asked(self) -> float:
        """The number to enter: the answer, times 100 where a percentage is asked for."""
        return 100 * self.answer if self.percent else self.answer

    @property
    def worked_line(self) -> str:
        """The calculation on one line, in percent at last where a percentage is asked for."""
        in_percent = f" = {percent(self.answer, self.places)}" if self.percent else ""
        return f"{self.worked}{in_percent}"

    @property
    def rounding(self) -> str:
        """The sentence that says what rounding is asked for."""
        return _rounding(self.places, self.percent)

    def __str__(self) -> str:
        """Return the question with its numbers, as a worksheet prints it."""
        givens = "; ".join(map(str, self.givens))
        return f"{self.question} Given: {givens}. {self.rounding}"


@dataclass(frozen=True)
class _Wording:
    """How a stage's question is asked: templates that are filled with the cell's names."""

    question: str
    givens: tuple[str, ...]


WORDINGS = {
    "query": _Wording(
        "Compute {q}, component {n} of the query of {row}{head}.",
        ("embedding of {row}", "column {n} of the query projection"),
    ),
    "key": _Wording(
        "Compute {k}, component {n} of the key of {row}{head}.",
        ("embedding of {row}", "column {n} of the key projection"),
    ),
    "value": _Wording(
        "Compute {v}, component {n} of the value of {row}{head}.",
        ("embedding of {row}", "column {n} of the value projection"),
    ),
    "scores": _Wording(
        "Compute the score of {row} with {column}{head}.",
        ("query of {row}", "key of {column}"),
    ),
    "scaled_scores": _Wording(
        "Compute the scaled score of {row} with {column}{head}.",
        ("score", "{factor}"),
    ),
    "exponentials": _Wording(
        "Compute the exponential of the scaled score of {row} with {column}{head}.",
        ("scaled score",),
    ),
    "row_sums": _Wording(
        "Compute the row sum of {row}{head}.",
        ("exponentials of the row, keys {tokens}",),
    ),
    "weights": _Wording(
        "Compute the weight that {row} gives to {column}{head}.",
        ("scaled scores of the row, keys {tokens}",),
    ),
    "head_outputs": _Wording(
        "Compute {z}, component {n} of the output of {row}{head}.",
        ("weights of {row}, keys {tokens}", "component {n} of the values of these tokens"),
    ),
    "head_contributions": _Wording(
        "Compute this head's share of {y}, component {n} of the output of {row}{head}.",
        ("the head's output for {row}", "column {n} of the head's rows of the output projection"),
    ),
    "output": _Wording(
        "Compute {y}, component {n} of the output of {row}.",
        ("concatenation of {row}", "column {n} of the output projection"),
    ),
}
"""Questions and the names of their operands."""

HINTS = {
    "products": ("Multiply pair by pair: {expression}", "Add the products: {products}"),
    "root": ("The root of {d_k} is {root}.", "Divide: {score} ÷ {root}"),
    "times": ("Scaling multiplies the score.", "Multiply: {score} × {scale}"),
    "power": (
        "The number e is about {e}, and e^0 is 1.",
        "The answer lies between e^{low} = {low_power} and e^{high} = {high_power}",
    ),
    "sum": ("Add one number after the other.", "All but the last add up to {partial}. Add {last}"),
    "share": (
        "The exponentials are {exponentials}",
        "Their sum is {sum}. Divide {top} by it.",
    ),
}
"""Hints of each kind of calculation: the operands first, then the last step."""

LABELS = {
    "title": "Your turn",
    "answer": "Your answer",
    "check": "Check",
    "hint": "Hint",
    "fresh": "New numbers",
    "worked": "Worked answer",
    "rounding": "Answer to {places} decimals.",
    "rounding_one": "Answer to one decimal.",
    "rounding_none": "Answer with a whole number.",
    "rounding_percent": "Answer in percent, to {places} decimals.",
    "rounding_percent_one": "Answer in percent, to one decimal.",
    "rounding_percent_none": "Answer in percent, with a whole number.",
    "print_line": "Answer:",
}
"""What the box says; what it says while it is used stands in the page's strings."""

BLANK = r"\_" * 20
"""Where the answer is written in print, as Markdown."""


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))


FORMULAS: dict[str, Callable[[Sequence[Sequence[float]], int], float]] = {
    "products": lambda givens, column: _dot(*givens),
    "root": lambda givens, column: givens[0][0] / math.sqrt(givens[1][0]),
    "times": lambda givens, column: givens[0][0] * givens[1][0],
    "power": lambda givens, column: math.exp(givens[0][0]),
    "sum": lambda givens, column: math.fsum(givens[0]),
    "share": lambda givens, column: (
        math.exp(givens[0][column]) / math.fsum(map(math.exp, givens[0]))
    ),
}
"""How each kind of calculation combines what is given, for numbers as they are shown."""


def numeric_exercise(
    run: Trace,
    stage: str,
    row: int,
    column: int = 0,
    head: int = 0,
    *,
    places: int | None = None,
    percent: bool = False,
) -> NumericExercise:
    """Return the exercise to compute one number of a trace.

    The operands are shown with enough decimals that who computes with them as shown is right.

    Parameters
    ----------
    run : Trace
    stage : str
        One of `mha.views.arithmetic.STAGES`.
    row : int
        The token that the number belongs to: the query's, from the scores on.
    column : int, default 0
        The dimension, or the key's token from the scores to the weights. A row sum has none.
    head : int, default 0
        Counted from 0. The output has none.
    places : int, optional
        Decimals asked for. By default 2, or what an exact answer of up to 4 decimals has; 0 for
        percentages.
    percent : bool, default False
        Ask for the number, a share, in percent.

    Returns
    -------
    NumericExercise

    Raises
    ------
    TypeError, ValueError
        If the run has no such number, or it cannot be worked by hand.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> exercise = numeric_exercise(trace(load_example("the-cat-sat")), "scores", 1, 2)
    >>> print(exercise)
    Compute the score of *cat* with *sat* in Head 1. Given: query of *cat*: (1, 1.2); \
key of *sat*: (1.4, 1.2). Answer to 2 decimals.
    >>> print(exercise.worked)
    1×1.4 + 1.2×1.2 = 1.4 + 1.44 = 2.84
    """
    worked = arithmetic(run, stage, row, column, head=head)
    _refuse_hopeless(run, stage, row, column, head)
    answer = _answer(run, stage, row, column, head)
    places = _places(places, 100 * answer if percent else answer, percent)
    kind, operands = _operands(run, stage, row, column, head)
    names = _names(run, row, column, head, stage)
    wording = WORDINGS[stage]
    labels = [label.format(**names) for label in wording.givens]
    shown_places = _operand_places(kind, operands, column, answer, places + 2 * percent)
    return NumericExercise(
        stage=stage,
        head=head,
        row=row,
        column=column,
        question=wording.question.format(**names),
        givens=tuple(
            Given(label, values, shown_places)
            for label, values in zip(labels, operands, strict=True)
        ),
        kind=kind,
        answer=answer,
        places=places,
        percent=percent,
        hints=tuple(hint.format(**_fields(kind, operands, column)) for hint in HINTS[kind]),
        worked=worked,
    )


def _answer(run: Trace, stage: str, row: int, column: int, head: int) -> float:
    index = {"row_sums": (head, row), "output": (row, column)}.get(stage, (head, row, column))
    return float(getattr(run, stage)[index])


def _refuse_hopeless(run: Trace, stage: str, row: int, column: int, head: int) -> None:
    """Raise where a mask or a huge score leaves nothing to compute by hand."""
    if stage in ("scaled_scores", "exponentials", "weights", "row_sums"):
        allowed = np.isfinite(run.scaled_scores[head, row])
        if not (allowed.any() if stage == "row_sums" else allowed[column]):
            raise ValueError(f"{stage} is masked at row {row}; a cell that may attend is wanted")
        if stage != "scaled_scores" and run.shifts[head, row] != 0:
            raise ValueError(
                f"row {row} of head {head} has scores beyond 80; scores that can be worked by hand"
                " are wanted"
            )


def _places(places: int | None, asked: float, percent: bool) -> int:
    """Return how many decimals are asked for."""
    if places is None:
        if percent:
            return 0
        exact = short(asked, PLACES) != shown(asked, PLACES)
        return max(2, len(short(asked, PLACES).partition(".")[2])) if exact else 2
    if isinstance(places, bool) or not isinstance(places, int) or not 0 <= places <= 6:
        raise ValueError(f"places is {places!r}; a whole number from 0 to 6 is wanted")
    return places


def _operands(
    run: Trace, stage: str, row: int, column: int, head: int
) -> tuple[str, tuple[tuple[float, ...], ...]]:
    """Return the kind of calculation and the numbers that it takes."""
    layer = run.example.layer
    if stage in ("query", "key", "value"):
        assert run.embeddings is not None
        matrix = getattr(layer, f"w_{stage[0]}")
        return "products", _floats(run.embeddings[row], matrix[head, :, column])
    if stage == "scores":
        return "products", _floats(run.query[head, row], run.key[head, column])
    if stage == "scaled_scores":
        score = _floats(run.scores[head, row, column : column + 1])
        if run.example.scale is None:
            return "root", (*score, (float(run.query.shape[-1]),))
        return "times", (*score, (float(run.example.scale),))
    if stage == "exponentials":
        return "power", _floats(run.scaled_scores[head, row, column : column + 1])
    if stage == "row_sums":
        return "sum", _floats(run.exponentials[head, row])
    if stage == "weights":
        return "share", _floats(run.scaled_scores[head, row])
    if stage == "head_outputs":
        return "products", _floats(run.weights[head, row], run.value[head, :, column])
    assert layer is not None
    assert layer.w_o is not None
    d_v = run.value.shape[-1]
    block = slice(None) if stage == "output" else slice(head * d_v, (head + 1) * d_v)
    return "products", _floats(run.concat[row, block], layer.w_o[block, column])


def _floats(*arrays: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(x) for x in array) for array in arrays)


def _names(run: Trace, row: int, column: int, head: int, stage: str) -> dict[str, str]:
    """Return what the wordings speak of."""
    in_head = f" in {run.head_names[head]}" if run.num_heads > 1 else ""
    by_key = stage in ("scores", "scaled_scores", "exponentials", "weights")
    names = {
        "row": f"*{run.tokens[row]}*",
        "column": f"*{run.tokens[column]}*" if by_key else "",
        "tokens": ", ".join(f"*{token}*" for token in run.tokens),
        "head": in_head,
        "n": str(column + 1),
        "factor": "d_k" if run.example.scale is None else "scale",
    }
    return names | {symbol: dimensions(symbol, column + 1)[-1] for symbol in "qkvzy"}


def _operand_places(
    kind: str,
    operands: tuple[tuple[float, ...], ...],
    column: int,
    answer: float,
    places: int,
) -> int:
    """Return how many decimals of the operands lead to an answer that counts as right."""
    for shown_places in range(PLACES, 16):
        rounded = [[round(x, shown_places) for x in values] for values in operands]
        reached = round(FORMULAS[kind](rounded, column), places)
        if abs(reached - answer) <= _half_unit(places):
            return shown_places
    return 16


def _fields(kind: str, operands: tuple[tuple[float, ...], ...], column: int) -> dict[str, str]:
    """Return what the hints are filled with."""
    first = operands[0]
    if kind == "products":
        pairs = list(zip(*operands, strict=True))
        return {
            "expression": " + ".join(f"{_factor(a)}×{_factor(b)}" for a, b in pairs),
            "products": " + ".join(_factor(a * b) for a, b in pairs),
        }
    if kind == "root":
        (d_k,) = operands[1]
        return {"score": short(first[0]), "d_k": short(d_k), "root": short(math.sqrt(d_k))}
    if kind == "times":
        return {"score": _factor(first[0]), "scale": short(operands[1][0])}
    if kind == "power":
        low = math.floor(first[0])
        return {
            "e": shown(math.e),
            "low": short(low),
            "low_power": short(math.exp(low)),
            "high": short(low + 1),
            "high_power": short(math.exp(low + 1)),
        }
    if kind == "sum":
        return {"partial": shown(math.fsum(first[:-1])), "last": shown(first[-1])}
    powers = [math.exp(x) for x in first]
    return {
        "exponentials": ", ".join(shown(x) for x in powers),
        "sum": shown(math.fsum(powers)),
        "top": shown(powers[column]),
    }


def _factor(value: float) -> str:
    """Return a number as part of a sum: in brackets where it is negative."""
    text = short(value)
    return f"({text})" if text.startswith("−") else text


def _rounding(places: int, percent: bool) -> str:
    kind = "rounding_percent" if percent else "rounding"
    name = {0: f"{kind}_none", 1: f"{kind}_one"}.get(places, kind)
    return LABELS[name].format(places=places)


# ---- Checking an answer ----

Verdict = Literal["right", "near", "wrong", "unreadable"]

NUMBER = r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)"
ANSWER = re.compile(rf"({NUMBER})(?:/({NUMBER}))?(%?)", re.ASCII)


def verdict(exercise: NumericExercise, text: str) -> Verdict:
    """Say how an entered answer stands to the exercise's.

    Parameters
    ----------
    exercise : NumericExercise
    text : str
        A number with a decimal point or comma, or a fraction, with or without a percent sign.
        Spaces do not count; a hyphen and a true minus sign are the same.

    Returns
    -------
    str
        "right": within half a unit of the last decimal asked for. "near": a slip of rounding, that
        is within two such units, or rightly rounded to fewer decimals. "wrong", or "unreadable".

    Examples
    --------
    >>> from mha import load_example, trace
    >>> exercise = numeric_exercise(trace(load_example("cat-sat")), "weights", 0, 0)
    >>> [verdict(exercise, text) for text in ("0.73", "0,731", "0.74", "0.5", "x")]
    ['right', 'right', 'near', 'wrong', 'unreadable']
    """
    parsed = _parse(text, exercise.percent)
    if parsed is None:
        return "unreadable"
    number, decimals = parsed
    distance = abs(number - exercise.asked)
    unit = 10.0**-exercise.places
    if distance <= _half_unit(exercise.places):
        return "right"
    needs_rounding = abs(exercise.asked - round(exercise.asked, exercise.places)) > 1e-9 * unit
    rounded_too_much = 0 < decimals < exercise.places and distance <= _half_unit(decimals)
    if needs_rounding and (distance <= 2 * unit or rounded_too_much):
        return "near"
    return "wrong"


def is_right(exercise: NumericExercise, text: str) -> bool:
    """Tell whether an entered answer is within half a unit of the last decimal asked for.

    Parameters
    ----------
    exercise : NumericExercise
    text : str
        As for `verdict`.

    Returns
    -------
    bool

    Examples
    --------
    >>> from mha import load_example, trace
    >>> exercise = numeric_exercise(trace(load_example("cat-sat")), "scores", 0, 0)
    >>> is_right(exercise, " 2 "), is_right(exercise, "4/2"), is_right(exercise, "1,9")
    (True, True, False)
    """
    return verdict(exercise, text) == "right"


def _half_unit(places: int) -> float:
    """Return half a unit of a decimal place, and a little for float64's own rounding."""
    return 0.5 * 10.0**-places * (1 + 1e-9)


def _parse(text: str, percent: bool) -> tuple[float, int] | None:
    """Return the number that was entered and its decimals, or None if there is none."""
    match = ANSWER.fullmatch("".join(text.split()).replace("−", "-"))
    if match is None:
        return None
    top, bottom, sign = match.groups()
    number, divisor = (float(part.replace(",", ".")) for part in (top, bottom or "1"))
    if divisor == 0:
        return None
    # A sign says percent; where percent is asked for, a bare number is one.
    value = number / divisor / (100 if sign and not percent else 1)
    decimals = 0 if bottom else len(re.split("[.,]", top)[-1]) if re.search("[.,]", top) else 0
    return (value, decimals) if math.isfinite(value) else None


# ---- The box on a page ----


@dataclass(frozen=True)
class YourTurn:
    """An exercise as a box on a page, with an answer field, hints and new numbers.

    Parameters
    ----------
    exercise : NumericExercise
    name : str
        The box's id, one of its kind on the page; progress is kept by it.
    variants : bool, default True
        Offer new numbers.
    """

    exercise: NumericExercise
    name: str
    variants: bool = True

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """Return HTML for a notebook, and Markdown that holds an HTML and a print form."""
        return {
            "text/html": self._html(),
            "text/markdown": self._markdown(),
            "text/plain": str(self.exercise),
        }

    def _markdown(self) -> str:
        """Return MyST that shows the box in HTML, and the question with a line in print."""
        exercise = self.exercise
        question = [
            _markdown(exercise.question),
            "\n".join(f"- {_markdown(str(given))}" for given in exercise.givens),
            f"{exercise.rounding} {LABELS['print_line']} {BLANK}",
        ]
        lines = ["~~~~{raw} html", self._html(), "~~~~", ""]
        lines += ["~~~~{only} latex", f"~~~{{admonition}} {LABELS['title']}"]
        lines += ["\n\n".join(question), "~~~", "~~~~"]
        return "\n".join(lines)

    def _html(self) -> str:
        """Return the box; without a script the question and the worked answer read as they are."""
        exercise, name = self.exercise, escape(self.name)
        givens = "".join(
            f"<li>{_marked_up(given.label)}:"
            f' <span class="your-turn-given">{given.numbers}</span></li>'
            for given in exercise.givens
        )
        fresh = (
            '<button type="button" class="reading-button your-turn-fresh">'
            f"{LABELS['fresh']}</button>"
            if self.variants
            else ""
        )
        return (
            f'<mha-your-turn id="{name}" role="group" aria-labelledby="{name}-title">'
            f'<p class="your-turn-title" id="{name}-title">{LABELS["title"]}'
            ' <span class="reading-done"></span></p>'
            f'<p class="your-turn-question" id="{name}-question">'
            f"{_marked_up(exercise.question)}</p>"
            f'<ul class="your-turn-givens" id="{name}-givens">{givens}</ul>'
            f'<p class="your-turn-rounding" id="{name}-rounding">{exercise.rounding}</p>'
            '<form class="your-turn-form" novalidate>'
            f'<label for="{name}-answer">{LABELS["answer"]}</label> '
            f'<input id="{name}-answer" type="text" inputmode="decimal" autocomplete="off"'
            f' spellcheck="false" size="9" aria-describedby="{name}-question'
            f' {name}-givens {name}-rounding">'
            f'<button type="submit" class="reading-button">{LABELS["check"]}</button>'
            '<button type="button" class="reading-button your-turn-hint">'
            f"{LABELS['hint']}</button>{fresh}"
            '<div class="your-turn-feedback" role="status"></div>'
            '<ol class="your-turn-hints" aria-live="polite"></ol></form>'
            f'<details class="your-turn-worked"><summary>{LABELS["worked"]}</summary>'
            f"<p>{_marked_up(exercise.worked_line)}</p></details>"
            f'<script type="application/json">{self._json()}</script></mha-your-turn>'
        )

    def _json(self) -> str:
        """Return what the script computes with. The answer is not among it."""
        exercise = self.exercise
        data = {
            "kind": exercise.kind,
            "givens": [_finite(given.values) for given in exercise.givens],
            "shownPlaces": exercise.givens[0].places,
            "column": exercise.column if exercise.kind == "share" else 0,
            "places": exercise.places,
            "percent": exercise.percent,
            "hints": HINTS[exercise.kind],
            "draw": _draws(exercise) if self.variants else None,
        }
        return json.dumps(data, ensure_ascii=False).replace("</", "<\\/")


def your_turn(
    run: Trace,
    stage: str,
    row: int,
    column: int = 0,
    head: int = 0,
    *,
    places: int | None = None,
    percent: bool = False,
    name: str | None = None,
    variants: bool = True,
) -> YourTurn:
    """Return an exercise as a box for a page.

    Parameters
    ----------
    run : Trace
    stage, row, column, head, places, percent
        As for `numeric_exercise`.
    name : str, optional
        The box's id, one of its kind on the page. By default the example, the stage and the cell.
    variants : bool, default True
        Offer new numbers, drawn in the browser.

    Returns
    -------
    YourTurn

    Raises
    ------
    TypeError, ValueError
        As for `numeric_exercise`, or if `name` is no id.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> your_turn(trace(load_example("cat-sat")), "scores", 0, 1).name
    'turn-cat-sat-scores-1-1-2'
    """
    exercise = numeric_exercise(run, stage, row, column, head, places=places, percent=percent)
    if name is None:
        cell = f"{head + 1}-{row + 1}-{column + 1}"
        name = f"turn-{run.example.name}-{stage.replace('_', '-')}-{cell}"
    if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ValueError(f"name is {name!r}; lower-case words joined by hyphens are wanted")
    return YourTurn(exercise, name, variants)


def _finite(values: Iterable[float]) -> list[float | None]:
    """Return numbers for JSON, which has no infinity: a masked score is null."""
    return [value if math.isfinite(value) else None for value in values]


def _draws(exercise: NumericExercise) -> list[str]:
    """Return from where the script draws each of the operands anew."""
    whole = all(value == round(value) for given in exercise.givens for value in given.values)
    ordinary = "whole" if exercise.stage != "head_outputs" and whole else "tenths"
    return {
        "products": ["shares" if exercise.stage == "head_outputs" else ordinary, ordinary],
        "root": ["scores", "same"],
        "times": ["scores", "same"],
        "power": ["exponents"],
        "sum": ["exponentials"],
        "share": ["exponents"],
    }[exercise.kind]


def _marked_up(text: str) -> str:
    """Return HTML in which tokens are emphasised and exponents raised."""
    raised = re.sub(r"\^([^\s,]+)", r"<sup>\1</sup>", escape(text))
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", raised)


def _markdown(text: str) -> str:
    """Return Markdown in which a token such as <end> is text."""
    return re.sub(r"\^([^\s,]+)", r"{sup}`\1`", text.replace("<", r"\<"))
