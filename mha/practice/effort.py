"""The effort of a calculation by hand: its operations, and an estimate of the minutes.

Operations are counted in the printed line of arithmetic. A product with 0, 1 or −1, a sum with 0,
a division by 1 and e^0 are no work, so they do not count. The rates below are assumptions for a
student who has practised each step once. They were not timed with a class.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

SECONDS = {"short products": 5, "long products": 15, "sums": 5, "calculator": 15, "numbers": 8}
"""The seconds of a product of two numbers with one significant digit each, of another product, of
the addition of one term, of one calculator operation (÷, √, e^x) and of writing one number."""

NUMBER = r"−?\d+(?:\.\d+)?"
_TRIVIAL = ("0", "1", "−1")
_PRODUCT = re.compile(rf"\(?({NUMBER})\)? ?× ?(?=\(?({NUMBER}))")
_QUOTIENT = re.compile(rf"(\S+) ÷ (√?{NUMBER})")
_POWER = re.compile(rf"e\^({NUMBER})")
_LARGEST = re.compile(r"max\(([^)]*)\)")
_ZERO = re.compile(r"(?:.*×)?\(?0(?:\.0+)?\)?(?:×.*)?")


@dataclass(frozen=True)
class Effort:
    """The operations of one or more lines of arithmetic.

    Parameters
    ----------
    short_products, long_products, sums, calculator : int
        Products of two numbers with one significant digit each, other products, additions and
        comparisons, and divisions, roots and powers of e.
    numbers : int
        The results to be written down.

    Examples
    --------
    >>> effort_of_lines(["2×3 + 1×(−4) = 6 − 4 = 2", "e^2 ≈ 7.389"])
    Effort(short_products=1, long_products=0, sums=1, calculator=1, numbers=2)
    """

    short_products: int = 0
    long_products: int = 0
    sums: int = 0
    calculator: int = 0
    numbers: int = 0

    def __add__(self, other: "Effort") -> "Effort":
        """Return the effort of both."""
        return Effort(
            self.short_products + other.short_products,
            self.long_products + other.long_products,
            self.sums + other.sums,
            self.calculator + other.calculator,
            self.numbers + other.numbers,
        )

    @property
    def operations(self) -> int:
        """The number of operations; writing a number is none."""
        return self.short_products + self.long_products + self.sums + self.calculator

    @property
    def seconds(self) -> int:
        """The estimated seconds."""
        return (
            self.short_products * SECONDS["short products"]
            + self.long_products * SECONDS["long products"]
            + self.sums * SECONDS["sums"]
            + self.calculator * SECONDS["calculator"]
            + self.numbers * SECONDS["numbers"]
        )

    @property
    def minutes(self) -> int:
        """The estimated minutes, rounded up."""
        return math.ceil(self.seconds / 60)


def effort_of_line(line: str) -> Effort:
    """Return the effort of one line of arithmetic.

    Parameters
    ----------
    line : str
        As `mha.views.arithmetic` writes it. Only the calculation before the first = or ≈ counts.

    Returns
    -------
    Effort

    Examples
    --------
    >>> effort_of_line("0.5×1.2 + 0×3 ≈ 0.6").operations
    1
    >>> effort_of_line("7.389 ÷ 11.107 ≈ 0.665").seconds
    23
    """
    expression = re.split(r" [=≈] ", line, maxsplit=1)[0]
    products = [
        pair for pair in _PRODUCT.findall(expression) if not set(pair).intersection(_TRIVIAL)
    ]
    short = sum(all(_has_one_digit(number) for number in pair) for pair in products)
    terms = re.split(r" [+−] ", expression)
    sums = max(sum(not _ZERO.fullmatch(term) for term in terms) - 1, 0)
    sums += sum(found.count(", ") for found in _LARGEST.findall(expression))
    divisions = sum(
        top != "0" and by not in ("1", "√1") for top, by in _QUOTIENT.findall(expression)
    )
    roots = sum(by not in ("√1", "√4", "√9", "√16") for by in re.findall(r"√\S+", expression))
    powers = sum(exponent != "0" for exponent in _POWER.findall(expression))
    return Effort(short, len(products) - short, sums, divisions + roots + powers, 1)


def effort_of_lines(lines: Iterable[str]) -> Effort:
    """Return the effort of several lines of arithmetic.

    Parameters
    ----------
    lines : iterable of str

    Returns
    -------
    Effort
    """
    total = Effort()
    for line in lines:
        total += effort_of_line(line)
    return total


def _has_one_digit(number: str) -> bool:
    """Return whether a printed number has one significant digit."""
    return len(number.lstrip("−").replace(".", "").strip("0")) <= 1
