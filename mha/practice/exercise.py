"""Numeric exercises: one number of a run to compute by hand.

The operands, the calculation, the answer and the solution of an exercise follow from the number's
origin. The operands are printed with enough decimals that an exact calculation with the printed
numbers rounds to the right answer.
"""

import math
from dataclasses import dataclass
from decimal import Decimal

from mha.practice.calculations import Calculation, calculation, compute_printed, exponential_origins
from mha.practice.exercise_wording import ACTIVATIONS, WORDINGS
from mha.runs.operations import Origin
from mha.runs.origins import is_given, origin
from mha.runs.places import Place
from mha.runs.record import Trace
from mha.runs.rounding import PLACES, dimensions, is_tie, percent, short, shown
from mha.runs.running_softmax import RUNNING_STAGES
from mha.views.arithmetic import Arithmetic, write_arithmetic
from mha.views.signs import sign

MAX_PLACES = 16
"""The most decimals of an operand: float64 has no more."""

ROUND_OFF = Decimal("1e-12")
"""The largest difference between an answer in float64 and its exact value."""


@dataclass(frozen=True)
class Given:
    """One group of operands as a question gives it.

    Parameters
    ----------
    label : str
        The name of the operands; a word between asterisks is a token.
    values : tuple of float
        Unrounded, as in the trace.
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
        """The numbers without their label, in brackets if there are several."""
        texts = [short(value, self.places) for value in self.values]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def __str__(self) -> str:
        return f"{self.label}: {self.numbers}"


@dataclass(frozen=True)
class NumericExercise:
    """One number of a run, to be computed by the reader.

    Parameters
    ----------
    origin : Origin
        The number's place and how it is computed.
    question : str
        The task; a word between asterisks is a token.
    givens : tuple of Given
        The operands.
    kind : str
        The kind of calculation, a key of `mha.practice.calculations.FORMULAS`.
    answer : float
        Unrounded, as the origin gives it.
    places : int
        Decimals asked for.
    percent : bool
        Whether the answer, a share, is asked for in percent.
    hints : tuple of str
        A hint on the operands and one on the last step.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> print(numeric_exercise(trace(load_example("the-cat-sat")), "scores", 1, 2))
    Compute the score of *cat* with *sat* in Head 1. Given: query of *cat*: (1, 1.2); \
key of *sat*: (1.4, 1.2). Answer to 2 decimals.
    """

    origin: Origin
    question: str
    givens: tuple[Given, ...]
    kind: str
    answer: float
    places: int
    percent: bool
    hints: tuple[str, ...]

    @property
    def place(self) -> Place:
        """The place of the number in the run."""
        return self.origin.place

    @property
    def column(self) -> int:
        """The index of the operand whose share is asked for; 0 for other calculations."""
        return (self.place.column or 0) if self.kind == "share" else 0

    @property
    def worked(self) -> Arithmetic:
        """The solution as a line of arithmetic."""
        return write_arithmetic(self.origin)

    @property
    def expected(self) -> float:
        """The number to enter: the answer, times 100 if a percentage is asked for."""
        return 100 * self.answer if self.percent else self.answer

    @property
    def worked_line(self) -> str:
        """The solution on one line, ending in percent if a percentage is asked for."""
        if not self.percent:
            return str(self.worked)
        in_percent = percent(self.answer, self.places)
        return f"{self.worked} {sign(self.worked.result, in_percent)} {in_percent}"

    @property
    def rounding(self) -> str:
        """The sentence on the rounding of the answer."""
        forms = ROUNDINGS_IN_PERCENT if self.percent else ROUNDINGS
        return forms[min(self.places, 2)].format(places=self.places)

    def __str__(self) -> str:
        """Return the question with its numbers, as a worksheet prints it."""
        givens = "; ".join(map(str, self.givens))
        return f"{self.question} Given: {givens}. {self.rounding}"


ROUNDINGS = (
    "Answer with a whole number.",
    "Answer to one decimal.",
    "Answer to {places} decimals.",
)
ROUNDINGS_IN_PERCENT = (
    "Answer in percent, with a whole number.",
    "Answer in percent, to one decimal.",
    "Answer in percent, to {places} decimals.",
)
"""The sentences on rounding to no decimal, to one, and to more."""


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
    """Return the exercise to compute one number of a run.

    Parameters
    ----------
    run : Trace
    stage : str
        A key of `mha.practice.exercise_wording.WORDINGS`.
    row, column, head : int
        Counted from 0; an axis that the stage does not have is ignored.
    places : int, optional
        Decimals asked for. By default 2, or those of an exact answer with 3 or 4 decimals; in
        percent, the fewest with which the answer is not halfway between two roundings.
    percent : bool, default False
        Ask for the number, a share, in percent.

    Returns
    -------
    NumericExercise

    Raises
    ------
    TypeError, ValueError
        If the run has no such number, or the number cannot be computed by hand.

    Examples
    --------
    >>> from mha import load_example, trace
    >>> print(numeric_exercise(trace(load_example("cat-sat")), "scores", 0, 1).worked)
    1×0 + 0×1 + 1×0 + 0×1 = 0 + 0 + 0 + 0 = 0
    """
    return _exercise(run, _place(run, stage, head, row, column), places, percent)


def _place(run: Trace, stage: str, head: int, row: int, column: int) -> Place:
    """Return the place of a number; refuse a stage without an exercise."""
    if stage not in WORDINGS:
        raise ValueError(f"stage is {stage!r}; one of {', '.join(WORDINGS)} is wanted")
    if is_given(run, stage):
        raise ValueError(
            f"{run.example.name} starts at its {stage}; an example with embeddings is wanted"
        )
    return Place.of(stage, head, row, column)


def _exercise(run: Trace, place: Place, places: int | None, percent: bool) -> NumericExercise:
    """Return the exercise to compute the number at a place."""
    found = origin(run, place)
    _check_computable(run, found)
    by_hand = calculation(run, found)
    answer = found.evaluate()
    places = _decimals(places, 100 * answer if percent else answer, percent)
    column = (place.column or 0) if by_hand.kind == "share" else 0
    shown_places = _operand_places(by_hand, column, answer, places + 2 * percent)
    wording, names = WORDINGS[place.stage], _name_fields(run, place) | _bias_fields(found)
    labels = wording.givens[: len(by_hand.operands)]
    return NumericExercise(
        origin=found,
        question=wording.question.format(**names),
        givens=tuple(
            Given(label.format(**names), values, shown_places)
            for label, values in zip(labels, by_hand.operands, strict=True)
        ),
        kind=by_hand.kind,
        answer=answer,
        places=places,
        percent=percent,
        hints=by_hand.hints,
    )


def _bias_fields(found: Origin) -> dict[str, str]:
    """Return the template fields on a bias, if there is one, and on an activation."""
    added = found.constant("bias") is not None
    return {
        "bias": ", then the bias" if added else "",
        "one": ", then 1" if added else "",
        "activation": ACTIVATIONS.get(found.operation, ""),
    }


def _check_computable(run: Trace, found: Origin) -> None:
    """Raise if a mask or a huge score makes the number impossible to compute by hand."""
    place, exponents = found.place, [found.evaluate()]
    takes_powers = place.stage in ("exponentials", "row_sums", "weights")
    powers = exponential_origins(run, found) if takes_powers else ()
    if powers:
        asked = [power for power in powers if place.column in (None, power.place.column)]
        exponents = [power.operands[0].value for power in asked]
    running = place.stage in ("running_factors", "running_exponentials", "running_outputs")
    if running and (
        found.operands[0].value == -math.inf or found.evaluate() == 0 == found.operands[-1].value
    ):
        exponents = [-math.inf]  # no block was read before, or a mask hides all of it
    if not any(map(math.isfinite, exponents)):
        raise ValueError(
            f"{place.stage} is masked at row {place.row}; a cell that may attend is wanted"
        )
    if any(power.constant("shift") for power in powers):
        raise ValueError(
            f"row {place.row} of head {place.head} has scores beyond 80; smaller scores"
            " are wanted, so that exponentials can be computed by hand"
        )


def _decimals(places: int | None, asked: float, percent: bool) -> int:
    """Return the number of decimals asked for: the given one, or the default."""
    if places is None:
        if percent:
            return next(decimals for decimals in range(PLACES) if not is_tie(asked, decimals))
        exact = short(asked, PLACES) != shown(asked, PLACES)
        return max(2, len(short(asked, PLACES).partition(".")[2])) if exact else 2
    if isinstance(places, bool) or not isinstance(places, int) or not 0 <= places <= 6:
        raise ValueError(f"places is {places!r}; a whole number from 0 to 6 is wanted")
    return places


def _name_fields(run: Trace, place: Place) -> dict[str, str]:
    """Return the template fields on tokens, head and component."""
    assert place.row is not None
    names = {
        "row": f"*{run.tokens[place.row]}*",
        "tokens": ", ".join(f"*{token}*" for token in run.tokens),
        "head": "",
        "factor": "d_k" if run.example.scale is None else "scale",
        "turned": "" if run.angles is None else "rotated ",
    }
    if place.head is not None and run.num_heads > 1:
        names["head"] = f" in {run.head_names[place.head]}"
    if place.column is None:
        return names
    names |= _block_fields(run, place)
    if place.stage_entry.by_key:
        return names | {"column": f"*{run.tokens[place.column]}*"}
    number = place.column + 1
    component = dimensions(place.stage_entry.symbol, number)[-1]
    vocabulary = run.example.vocabulary
    word = component if vocabulary is None else f"*{vocabulary[place.column]}*"
    return names | {"n": str(number), "component": component, "word": word}


def _block_fields(run: Trace, place: Place) -> dict[str, str]:
    """Return the template fields on the blocks in which keys are read."""
    if place.stage not in RUNNING_STAGES:
        return {}
    assert place.column is not None
    d_v = run.value.shape[-1]
    joined = place.stage in ("running_mixtures", "running_outputs")
    block, component = divmod(place.column, d_v) if joined else (place.column, 0)
    words = {
        "before": "largest before, then ",
        "factor_and": "factor, then ",
        "sum_and": "sum before, then ",
        "mixture_and": "mixture before, then ",
    }
    return {
        **(words if block else dict.fromkeys(words, "")),
        "of_block": str(block + 1),
        "part": str(component + 1),
    }


def _operand_places(by_hand: Calculation, column: int, answer: float, places: int) -> int:
    """Return the fewest decimals of printed operands with which the answer can be found.

    A reader who computes exactly with the printed operands obtains no tie and rounds to the same
    number as the key. If the answer itself is a tie, both roundings count as right.
    """
    wanted = shown(answer, places)
    for shown_places in range(PLACES, MAX_PLACES):
        given = [[short(x, shown_places) for x in values] for values in by_hand.operands]
        found = compute_printed(by_hand.kind, given, column)
        if shown(float(found), places) == wanted and not is_tie(found, places):
            return shown_places
        if is_tie(answer, places) and abs(found - Decimal(answer)) < ROUND_OFF:
            return shown_places
    return MAX_PLACES


def half_unit(places: int) -> float:
    """Return half a unit of a decimal place, plus a margin for float64's rounding.

    Examples
    --------
    >>> round(half_unit(2), 6)
    0.005
    """
    return 0.5 * 10.0**-places * (1 + 1e-9)
