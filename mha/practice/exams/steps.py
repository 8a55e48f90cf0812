"""Calculations by hand as chains of steps, each with its line of arithmetic.

A step is computed from printed numbers: the givens of a question and the printed results of earlier
steps. So each line holds as printed, and a student who makes a slip can be followed through the
later lines: `solve` computes them with the slip.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal
from functools import cached_property

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
    rule, reason : str
        The rule that it breaks and why the rule holds, as sentences.
    changed : tuple of Step
        The wrong steps, with the names of the right ones.
    """

    says: str
    rule: str
    reason: str
    changed: tuple[Step, ...]


@dataclass(frozen=True)
class Solution:
    """The results of a chain of steps.

    Parameters
    ----------
    steps : tuple of Step
    values : mapping of str to str
        The printed results by name.
    has_tie : bool
        Whether a result lies halfway between two roundings.
    """

    steps: tuple[Step, ...]
    values: Values
    has_tie: bool = False

    @cached_property
    def lines(self) -> Mapping[str, str]:
        """The lines of arithmetic by name."""
        return {
            step.name: write_line(step.kind, _printed(step, self.values), self.values[step.name])
            for step in self.steps
        }


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
    has_tie = False
    for step in used:
        exact = compute_printed(step.kind, _printed(step, values), 0)
        has_tie |= is_tie(exact, PLACES)
        values[step.name] = as_printed(exact)
    return Solution(used, values, has_tie)


def _printed(step: Step, values: Values) -> list[list[str]]:
    """Return the operands of a step as printed."""
    return [[values.get(name, name) for name in group] for group in step.operands]


def largest_errors(solution: Solution, given: Collection[str] = ()) -> dict[str, Decimal]:
    """Return how far right answers can be from the printed results, in whole last decimals.

    A student may continue with the rounded result or with all digits, at each step anew. A formula
    rises or falls with each operand, so its extremes are at ends of the operands' ranges.

    Parameters
    ----------
    solution : Solution
    given : collection of str, default ()
        The names of steps whose results the question prints.

    Returns
    -------
    dict of str to Decimal
        0 for a result that every student finds as printed.

    Examples
    --------
    >>> steps = [Step("a", "", "power", (("1",),)), Step("b", "", "times", (("a",), ("100",)))]
    >>> {name: str(error) for name, error in largest_errors(solve(steps)).items()}
    {'a': '0.001', 'b': '0.029'}
    """
    unit = Decimal(1).scaleb(-PLACES)
    ranges: dict[str, tuple[Decimal, Decimal]] = {}
    errors: dict[str, Decimal] = {}
    for step in solution.steps:
        printed = as_decimal(solution.values[step.name])
        low, high = _range_of(step, solution, ranges)
        off = max(high - printed, printed - low)
        errors[step.name] = off.quantize(unit, ROUND_CEILING) if off > unit / 10**6 else Decimal(0)
        if step.name not in given:
            ranges[step.name] = (
                min(low, as_decimal(as_printed(low)), printed),
                max(high, as_decimal(as_printed(high)), printed),
            )
    return errors


def _range_of(
    step: Step, solution: Solution, ranges: Mapping[str, tuple[Decimal, Decimal]]
) -> tuple[Decimal, Decimal]:
    """Return the smallest and the largest result of a step for operands in their ranges."""
    groups = _printed(step, solution.values)
    at_low, at_high = ([*map(list, groups)] for _ in range(2))
    for i, group in enumerate(step.operands):
        for j, name in enumerate(group):
            if name in ranges:
                ends = sorted(
                    map(str, ranges[name]), key=lambda end: _with(step, groups, i, j, end)
                )
                at_low[i][j], at_high[i][j] = ends
    return compute_printed(step.kind, at_low, 0), compute_printed(step.kind, at_high, 0)


def _with(step: Step, groups: Sequence[Sequence[str]], i: int, j: int, number: str) -> Decimal:
    """Return the result of a step with one operand replaced."""
    changed = [*map(list, groups)]
    changed[i][j] = number
    return compute_printed(step.kind, changed, 0)


def as_decimal(printed: str) -> Decimal:
    """Return a printed number as an exact decimal.

    Examples
    --------
    >>> as_decimal("−0.5"), as_decimal("−∞")
    (Decimal('-0.5'), Decimal('-Infinity'))
    """
    return Decimal(printed.replace("−", "-").replace("∞", "Infinity"))


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
    """Return the names of the steps whose results differ in two solutions, in their order.

    Parameters
    ----------
    right, wrong : Solution

    Returns
    -------
    tuple of str
    """
    return tuple(name for name, value in right.values.items() if wrong.values[name] != value)


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
    "sum": lambda first, each: " + ".join(first) if len(first) > 1 else each[0],
    "mean": lambda first, each: f"({' + '.join(first)}) ÷ {len(first)}",
    "spread": _spread,
    "quotient": lambda first, each: f"{first[0]} ÷ {bracketed_if_negative(each[1])}",
    "largest": lambda first, each: f"max({', '.join(n.strip('()') for n in first)})",
}
"""The calculation of each kind as text, from the first group and the first of each group."""


def with_operands(step: Step, *operands: tuple[str, ...], kind: str = "") -> Step:
    """Return a step with other operands, and of another kind if one is given."""
    return replace(step, operands=operands, kind=kind or step.kind)
