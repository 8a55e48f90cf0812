"""Calculations by hand as chains of steps, each with its line of arithmetic.

A step is computed from printed numbers: the givens of a question and the printed results of earlier
steps. So each line holds as printed, and a student who makes a slip can be followed through the
later lines: `solve` computes them with the slip.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from mha.practice.calculations import compute_printed
from mha.runs.rounding import is_tie, short
from mha.views.arithmetic import Arithmetic, bracketed_if_negative
from mha.views.signs import chain

PLACES = 3
"""The decimals of a rounded result."""

ALL_DIGITS = 6
"""More decimals than any exact result has."""

Values = Mapping[str, str]
"""The printed results of steps by name."""


@dataclass(frozen=True)
class Step:
    """One line of a calculation by hand.

    Parameters
    ----------
    name : str
        Unique in its calculation; it has a letter.
    label : str
        What is computed; a word between asterisks is a token.
    kind : str
        A key of `mha.practice.calculations.FORMULAS`.
    operands : tuple of tuple of str
        Groups of operands: printed numbers, or names of earlier steps.
    part : int, default 0
        The part of the question that asks for it, counted from 0.
    """

    name: str
    label: str
    kind: str
    operands: tuple[tuple[str, ...], ...]
    part: int = 0


@dataclass(frozen=True)
class Slip:
    """A mistake in a calculation: steps that are computed by a wrong rule.

    Parameters
    ----------
    says : str
        The mistake, as a sentence.
    rule : str
        The rule that it breaks, as a sentence.
    changed : tuple of Step
        The wrong steps, with the names of the right ones.
    """

    says: str
    rule: str
    changed: tuple[Step, ...]


@dataclass(frozen=True)
class Solution:
    """The results of a chain of steps.

    Parameters
    ----------
    steps : tuple of Step
    values : mapping of str to str
        The printed results by name.
    lines : mapping of str to str
        The lines of arithmetic by name.
    has_tie : bool
        Whether a result lies halfway between two roundings.
    """

    steps: tuple[Step, ...]
    values: Values
    lines: Mapping[str, str] = field(repr=False)
    has_tie: bool = False


def solve(steps: Sequence[Step], slip: Slip | None = None) -> Solution:
    """Return the results of a chain of steps, each computed from the printed ones before it.

    Parameters
    ----------
    steps : sequence of Step
    slip : Slip, optional
        A mistake whose wrong steps replace the right ones; later steps continue with its results.

    Returns
    -------
    Solution

    Examples
    --------
    >>> steps = [
    ...     Step("score", "score", "products", (("1", "2"), ("3", "−1"))),
    ...     Step("power", "exponential", "power", (("score",),)),
    ... ]
    >>> list(solve(steps).lines.values())
    ['1×3 + 2×(−1) = 3 + (−2) = 1', 'e^1 ≈ 2.718']
    """
    wrong = {step.name: step for step in slip.changed} if slip else {}
    used = tuple(wrong.get(step.name, step) for step in steps)
    values: dict[str, str] = {}
    lines: dict[str, str] = {}
    has_tie = False
    for step in used:
        printed = [[values.get(name, name) for name in group] for group in step.operands]
        exact = compute_printed(step.kind, printed, 0)
        has_tie |= is_tie(exact, PLACES)
        values[step.name] = as_printed(exact)
        lines[step.name] = write_line(step.kind, printed, values[step.name])
    return Solution(used, values, lines, has_tie)


def solve_unrounded(steps: Sequence[Step]) -> dict[str, Decimal]:
    """Return the results of a chain of steps if no result is rounded.

    Parameters
    ----------
    steps : sequence of Step

    Returns
    -------
    dict of str to Decimal
    """
    values: dict[str, Decimal] = {}
    for step in steps:
        operands = [[str(values.get(name, name)) for name in group] for group in step.operands]
        values[step.name] = compute_printed(step.kind, operands, 0)
    return values


def as_printed(exact: Decimal) -> str:
    """Return a result as it is printed: exact if it is short, else with `PLACES` decimals.

    Examples
    --------
    >>> as_printed(Decimal("0.5")), as_printed(Decimal(1) / 3), as_printed(Decimal(-73728))
    ('0.5', '0.333', '−73728')
    """
    has_more = exact != round(exact, PLACES)
    return short(float(exact), PLACES) if has_more else short(float(exact), ALL_DIGITS)


def changed_names(right: Solution, wrong: Solution) -> tuple[str, ...]:
    """Return the names of the steps whose lines differ in two solutions, in their order.

    Parameters
    ----------
    right, wrong : Solution

    Returns
    -------
    tuple of str
    """
    return tuple(name for name, line in right.lines.items() if wrong.lines[name] != line)


def write_line(kind: str, operands: Sequence[Sequence[str]], result: str) -> str:
    """Return the line of arithmetic of a calculation.

    Parameters
    ----------
    kind : str
        "products", "root", "times", "power", "sum", "mean", "spread", "quotient" or "largest".
    operands : sequence of sequence of str
        As printed.
    result : str
        As printed.

    Returns
    -------
    str

    Examples
    --------
    >>> write_line("root", [["3"], ["4"]], "1.5")
    '3 ÷ √4 = 1.5'
    >>> write_line("products", [["3", "5"], ["1", "−1"]], "−2")
    '3 − 5 = −2'
    >>> write_line("spread", [["2", "−2"]], "2")
    '√((2×2 + (−2)×(−2)) ÷ 2) = 2'
    """
    first = [bracketed_if_negative(number) for number in operands[0]]
    if kind == "products" and list(operands[1]) == ["1", "−1"]:  # a difference
        return chain(f"{operands[0][0]} − {first[1]}", result)
    if kind == "products":
        second = [bracketed_if_negative(number) for number in operands[1]]
        pairs = [f"{a}×{b}" for a, b in zip(first, second, strict=True)]
        worked = [
            bracketed_if_negative(short(float(compute_printed("times", [[a], [b]], 0)), ALL_DIGITS))
            for a, b in zip(*operands, strict=True)
        ]
        return str(Arithmetic(" + ".join(pairs), tuple(worked), result))
    return chain(_EXPRESSIONS[kind](first, [group[0] for group in operands]), result)


def _spread(numbers: Sequence[str], _: Sequence[str]) -> str:
    squares = " + ".join(f"{number}×{number}" for number in numbers)
    return f"√(({squares}) ÷ {len(numbers)})"


_EXPRESSIONS: Mapping[str, Callable[[Sequence[str], Sequence[str]], str]] = {
    "root": lambda first, each: f"{each[0]} ÷ √{each[1]}",
    "times": lambda first, each: " × ".join(map(bracketed_if_negative, each)),
    "power": lambda first, each: f"e^{each[0]}",
    "sum": lambda first, each: " + ".join(first),
    "mean": lambda first, each: f"({' + '.join(first)}) ÷ {len(first)}",
    "spread": _spread,
    "quotient": lambda first, each: f"{first[0]} ÷ {bracketed_if_negative(each[1])}",
    "largest": lambda first, each: f"max({', '.join(n.strip('()') for n in first)})",
}
"""The calculation of each kind as text, from the first group and the first of each group."""


def with_operands(step: Step, *operands: tuple[str, ...], kind: str = "") -> Step:
    """Return a step with other operands, and of another kind if one is given."""
    return replace(step, operands=operands, kind=kind or step.kind)
