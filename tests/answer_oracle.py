"""An independent check of typed answers: the value of a text, the verdict, the known mistake.

Pages parse and judge answers in TypeScript (`typed-numbers.ts` and `answers.ts` in
`mha/widgets/src/engine`). The browser tests compare the scripts with these functions, which are
written in another language and share no code with them.
"""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from mha.practice.exercise import NumericExercise, half_unit
from mha.practice.mistakes import Mistake
from mha.runs.rounding import rounded, shown

LONGEST = 200
"""The most characters of an answer; a longer text is unreadable."""

_SPACE = " \t\n\r\f\v\u00a0\u2000-\u200a\u202f\u205f\u3000"
_SPACES = re.compile(f"[{_SPACE}]")
_AROUND = re.compile(f"^[{_SPACE}]+|[{_SPACE}]+\\Z")
_PLAIN = re.compile(r"[+-]?(?:\d+(?:[.,](\d*))?|[.,](\d+))", re.ASCII)
_TOKEN = re.compile(
    # A space between digits separates thousands; elsewhere it separates two numbers, an error.
    rf"[{_SPACE}]*((?:\d{{1,3}}(?:[{_SPACE}]\d{{3}})+(?!\d)|\d+)(?:[.,]\d*)?(?:e[-+]?\d+)?"
    r"|[.,]\d+(?:e[-+]?\d+)?|sqrt|exp|e|[-+*/^()√])",
    re.ASCII,
)
_SAME: dict[int, str | int] = {
    **{0xFF01 + i: 0x21 + i for i in range(94)},  # full-width forms
    **dict.fromkeys([*range(0x2010, 0x2014), 0x2212, 0xFE63], "-"),
    **str.maketrans("×·÷", "**/"),
}


@dataclass(frozen=True)
class ParsedAnswer:
    """The value of an answer, and its number of decimals as typed, None for a calculation."""

    number: float
    decimals: int | None


def parse_answer(text: str, *, percent: bool = False) -> ParsedAnswer | None:
    """Return the value of a number or a calculation, or None if the text is neither.

    A number has a decimal point or comma, as ``0.25`` or ``1e-3`` has. A calculation has
    ``+ - * / ^``, brackets, ``sqrt``, ``√``, ``exp`` and ``e``. Spaces may separate thousands, and
    a percent sign may follow. With `percent`, a bare number is a percentage.
    """
    if len(text) > LONGEST:
        return None
    plain = _AROUND.sub("", text.translate(_SAME).lower().replace("**", "^"))
    body = _AROUND.sub("", plain.removesuffix("%"))
    try:
        number = _Parser(body).parse()
    except (ArithmeticError, ValueError):
        return None
    # A percent sign divides by 100, unless the exercise asks for a percentage already.
    is_share = plain.endswith("%") and not percent
    alone = _PLAIN.fullmatch(_SPACES.sub("", body))
    decimals = len(alone[1] or alone[2] or "") + 2 * is_share if alone else None
    return ParsedAnswer(number / 100 if is_share else number, decimals)


def _tokens(text: str) -> list[str]:
    """Return the operators, names and numbers of a text, the last one first."""
    found, end = [], 0
    while end < len(text):
        match = _TOKEN.match(text, end)
        if match is None:
            raise ValueError(text[end])
        found.append(_SPACES.sub("", match[1]))
        end = match.end()
    return found[::-1]


class _Parser:
    """A recursive-descent parser, which takes each token once."""

    def __init__(self, text: str):
        self.left = _tokens(text)

    def parse(self) -> float:
        """Return the value of the whole text."""
        value = self._sum()
        if self.left:
            raise ValueError(self.left[-1])
        return value

    def _take(self, wanted: str) -> str:
        """Return the next token if it is among those wanted, else an empty text."""
        return self.left.pop() if self.left and self.left[-1] in wanted else ""

    def _sum(self) -> float:
        value = self._product()
        while sign := self._take("+-"):
            other = self._product()
            value = _finite(value + other if sign == "+" else value - other)
        return value

    def _product(self) -> float:
        value = self._signed()
        while sign := self._take("*/"):
            other = self._signed()
            value = _finite(value * other if sign == "*" else value / other)
        return value

    def _signed(self) -> float:
        sign = -1 if self._take("+-") == "-" else 1
        base = self._number()
        return sign * (_finite(math.pow(base, self._signed())) if self._take("^") else base)

    def _number(self) -> float:
        token = self.left.pop() if self.left else ""
        if token == "(":
            value = self._sum()
            if not self._take(")"):
                raise ValueError("(")
            return value
        if token in _FUNCTIONS:
            return _finite(_FUNCTIONS[token](self._number()))
        if token == "e":
            return math.e
        return _finite(float(token.replace(",", ".")))


_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "√": math.sqrt,
    "sqrt": math.sqrt,
    "exp": math.exp,
}


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise OverflowError("no finite number")
    return value


# ---- The verdict ----

Verdict = Literal["right", "near", "wrong", "unreadable"]

NEAR_UNITS = 2
"""The largest error of a "near" answer, in units of the last decimal asked for."""

LAST_DIGIT_UNITS = 5
"""The largest error of a wrong last digit, in units of the last decimal asked for."""


def judge_answer(exercise: NumericExercise, text: str) -> Verdict:
    """Return the verdict on an answer to an exercise.

    "right" is within half a unit of the last decimal asked for. "near" is an early rounding, with
    the right sign: within two units and with all decimals, or rounded correctly to fewer decimals.
    """
    answer = parse_answer(text, percent=exercise.percent)
    if answer is None:
        return "unreadable"
    distance = abs(answer.number - exercise.expected)
    unit = 10.0**-exercise.places
    dust = abs(exercise.expected) * 1e-13  # float64's round-off, which `shown` ignores too
    if distance <= half_unit(exercise.places) + dust:
        return "right"
    needs_rounding = (
        abs(exercise.expected - rounded(exercise.expected, exercise.places)) > 1e-9 * unit
    )
    if not needs_rounding or answer.number * exercise.expected < 0:
        return "wrong"
    decimals = answer.decimals
    if decimals is None or decimals >= exercise.places:
        return "near" if distance <= NEAR_UNITS * unit else "wrong"
    return "near" if decimals > 0 and distance <= half_unit(decimals) else "wrong"


def recognise_mistake(
    exercise: NumericExercise, answer: ParsedAnswer, known: Iterable[Mistake]
) -> str | None:
    """Return the name of the mistake that leads to a wrong answer, or None if there is none.

    The name is "last-digit" if the answer has as many decimals as are asked for, differs by at most
    `LAST_DIGIT_UNITS` units of the last one, and agrees in all other digits.
    """
    slack = half_unit(exercise.places)
    for mistake in known:
        if abs(answer.number - mistake.value) <= slack * mistake.tolerance_factor:
            return mistake.name
    is_close = abs(answer.number - exercise.expected) <= LAST_DIGIT_UNITS * 10.0**-exercise.places
    if exercise.places == 0 or answer.decimals != exercise.places or not is_close:
        return None
    first, second = (shown(x, exercise.places)[:-1] for x in (answer.number, exercise.expected))
    return "last-digit" if first == second else None
