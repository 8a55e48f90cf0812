"""What a reader enters as an answer: a number, or a short calculation that comes to one."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

LONGEST = 200
"""Characters that are read; what is longer is no answer."""

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
class Entered:
    """A number that was entered, and how many decimals it was written with.

    Parameters
    ----------
    number : float
    decimals : int or None
        The number of decimals as typed, or None for a calculation.
    """

    number: float
    decimals: int | None


def read(text: str, *, percent: bool = False) -> Entered | None:
    """Return the number that a text comes to, None where it comes to none.

    Parameters
    ----------
    text : str
        A number with a decimal point or comma, such as ``0.25`` or ``1e-3``, or a calculation with
        ``+ - * / ^``, brackets, ``sqrt``, ``√``, ``exp`` and ``e``. Spaces may separate thousands.
        A percent sign may follow.
    percent : bool, default False
        Whether a bare number is a percentage.

    Returns
    -------
    Entered or None

    Examples
    --------
    >>> [round(read(text).number, 4) for text in ("0,5", "50 %", "1/3.7183*2.7183", "√2", "e^1")]
    [0.5, 0.5, 0.7311, 1.4142, 2.7183]
    >>> read("1" * 80000 + "x") is None
    True
    """
    if len(text) > LONGEST:
        return None
    plain = _AROUND.sub("", text.translate(_SAME).lower().replace("**", "^"))
    body = _AROUND.sub("", plain.removesuffix("%"))
    try:
        number = _Reader(body).whole()
    except (ArithmeticError, ValueError):
        return None
    # A sign says percent; where percent is asked for, a bare number is one.
    is_share = plain.endswith("%") and not percent
    alone = _PLAIN.fullmatch(_SPACES.sub("", body))
    decimals = len(alone[1] or alone[2] or "") + 2 * is_share if alone else None
    return Entered(number / 100 if is_share else number, decimals)


def _tokens(text: str) -> list[str]:
    """Return the signs, names and numbers of a text, from its last to its first."""
    found, end = [], 0
    while end < len(text):
        match = _TOKEN.match(text, end)
        if match is None:
            raise ValueError(text[end])
        found.append(_SPACES.sub("", match[1]))
        end = match.end()
    return found[::-1]


class _Reader:
    """Reads a calculation from its beginning to its end, each token once."""

    def __init__(self, text: str):
        self.left = _tokens(text)

    def whole(self) -> float:
        """Return what all of it comes to."""
        value = self._sum()
        if self.left:
            raise ValueError(self.left[-1])
        return value

    def _take(self, wanted: str) -> str:
        """Return the next token if it is one of those wanted, else nothing."""
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
