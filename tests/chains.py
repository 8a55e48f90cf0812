"""A reader of printed calculations: finds every chain of arithmetic in a text, and computes it.

It knows nothing of `mha`. A chain is what stands between words: steps made of numbers and the
signs + − × ÷ / √ ^ %, with = or ≈ between them. Each number is read as the exact decimal that is
printed. An equals sign must hold exactly. ≈ must not be exact, and the number after it must differ
by at most half a unit of its last digit from the value of the printed numbers before it.
"""

import ast
import operator
import re
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise

DIGITS = 60
SAME = Fraction(1, 10**45)  # error of irrational numbers with this many digits
GROUPED = r"\d{1,3}(?:[,\u202f\u00a0]\d{3})+(?![\d])"
NUMBER = rf"{GROUPED}|\d+(?:\.\d+)?"
NAME = r"cos|sin|tanh"
TOKEN = re.compile(rf"{NUMBER}|e(?=\s?\^)|{NAME}|[-+−–×·⋅÷/√^()%∞=≈]")
WORD = rf"(?<![^\W\d_])(?:e(?=\s?\^)|(?:{NAME})(?=[ (]))"
RUN = re.compile(rf"(?:(?:{NUMBER}|{WORD}|[-+−×·⋅÷/√^()%∞=≈])\s*)+")

SIGNS = {
    "−": "-", "×": "*", "÷": "/", "^": "**", "√": "~", "∞": "infinity",
    "cos": "cos**", "sin": "sin**", "tanh": "tanh**",
}  # fmt: skip
"""Python's text for a sign: ~ is evaluated as √ is, before products and after powers."""
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}

FUNCTION = re.compile(r"\b(?:log|ln)\s*\(?[\d.]+\)?")  # is not read


@dataclass(frozen=True)
class Number:
    """A printed number: its value, and the unit of its last digit."""

    value: Fraction
    unit: Fraction
    decimals: int
    is_percent: bool = False


@dataclass(frozen=True)
class Chain:
    """A printed calculation: steps of numbers and operators, and the signs between the steps."""

    text: str
    steps: tuple[tuple[Number | str, ...], ...]
    relations: tuple[str, ...]

    def faults(self, *, is_column=False):
        """Return a sentence for each equality of two steps that does not hold.

        If `is_column`, the numbers are rounded separately, each in its own cell, and may differ
        from the printed sum by as much as this rounding explains.
        """
        pairs = zip(pairwise(self.steps), self.relations, strict=True)
        found = [
            fault for (left, right), sign in pairs
            for fault in self._of(left, sign, right, is_column)
        ]  # fmt: skip
        return found if is_column else [*found, *self._far(self.steps[0], self.steps[-1])]

    def _of(self, left, sign, right, is_column):
        off = abs(value_of(left) - value_of(right))
        is_exact = off <= SAME
        if sign == "=" and not is_exact:
            yield f"{self.text}: off by {float(off):.2g} where = stands"
        if sign == "≈" and is_exact:
            yield f"{self.text}: ≈ stands where it is exact"
        if sign == "≈":
            lefts, rights = terms_of(left), terms_of(right)
            if len(rights) == 1 and not is_column:
                yield from self._far(left, right)
            elif len(lefts) == len(rights) and not is_column:
                for one, other in zip(lefts, rights, strict=True):
                    yield from self._far(one, other)
            elif off > self._slack(left) + self._slack(right):
                yield f"{self.text}: off by {float(off):.2g}, more than rounding explains"

    def _far(self, step, rounded):
        """Yield a sentence if a step does not round to the printed number after it.

        The exact value of the step, computed from its printed numbers, may differ from the number
        by half a unit of its last digit.
        """
        numbers = [one for one in rounded if one not in ("−", "(", ")")]
        if len(numbers) == 1 and isinstance(numbers[0], Number):
            off = abs(value_of(step) - value_of(rounded)) / numbers[0].unit
            if off > Fraction(1, 2):
                yield f"{self.text}: off by {float(off):.2g} units of the last digit"

    def _slack(self, step):
        """Return the largest error that the rounding of its numbers causes in a step."""
        most = max(n.decimals for s in self.steps for n in s if isinstance(n, Number))
        total, is_alone = Fraction(0), sum(isinstance(n, Number) for n in step) == 1
        for i, number in enumerate(step):
            is_rounded = isinstance(number, Number) and (
                is_alone or number.is_percent or 2 <= number.decimals == most
            )
            if is_rounded:
                moved = [
                    value_of((*step[:i], replace(number, value=number.value + by), *step[i + 1 :]))
                    for by in (-number.unit / 2, number.unit / 2)
                ]
                total += max(abs(value - value_of(step)) for value in moved)
        return total * Fraction(102, 100)  # two roundings at once are a little more


def read(text):
    """Return every chain of a text."""
    found = []
    for match in RUN.finditer(FUNCTION.sub(";", text)):
        if "=" in match[0] or "≈" in match[0]:
            found += _chains_of(match[0])
    return found


def hold(text, *, is_column=False):
    """Assert that every chain of a text holds as it is printed, and return the chains."""
    found = read(text)
    assert [fault for chain in found for fault in chain.faults(is_column=is_column)] == []
    return found


def _chains_of(run):
    """Return the chains in a run of symbols. A step that cannot be parsed splits the run."""
    tokens = _numbers(TOKEN.findall(run))
    steps, relations = [[]], []
    for token in tokens:
        if token in ("=", "≈"):
            relations.append(token)
            steps.append([])
        else:
            steps[-1].append(token)
    chains, current, signs = [], [], []
    for i, step in enumerate(steps):
        # The first and the last step may have words around them, which are skipped.
        ahead, behind = i == 0 or not current, i == len(steps) - 1
        taken = _fitting(step, ahead, behind)
        if taken is not None and current:
            signs.append(relations[i - 1])
        if taken is not None:
            current.append(taken)
        if taken is None or behind or len(taken) < len(step):
            if len(current) > 1:
                chains.append(Chain(" ".join(run.split()), tuple(current), tuple(signs)))
            current, signs = [], []
    return chains


def _fitting(step, ahead, behind):
    """Return the longest part of a step that is a calculation: all, its end or its beginning."""
    size = len(step)
    candidates = [step]
    if ahead:
        candidates += [step[i:] for i in range(1, size)]
    if behind:
        candidates += [step[:i] for i in range(size - 1, 0, -1)]
    for candidate in candidates:
        try:
            value_of(candidate)
        except (ValueError, ZeroDivisionError):
            continue
        return tuple(candidate)
    return None


def _numbers(tokens):
    """Return the tokens with each printed number, and its percent sign, as a `Number`."""
    found = []
    for token in tokens:
        if token == "%":
            if found and isinstance(found[-1], Number):
                last = found.pop()
                found.append(Number(last.value / 100, last.unit / 100, last.decimals, True))
        elif token[0].isdigit():
            plain = re.sub(r"[^\d.]", "", token)
            decimals = len(plain.partition(".")[2])
            found.append(Number(Fraction(plain), Fraction(1, 10**decimals), decimals))
        else:
            found.append({"-": "−", "–": "−", "·": "×", "⋅": "×", "/": "÷"}.get(token, token))
    return found


# ---- Computing ----


def value_of(step):
    """Return the value of a step, irrational numbers to many digits. Raise if it has none."""
    signs = [
        f"n{i}" if isinstance(one, Number) else SIGNS.get(one, one) for i, one in enumerate(step)
    ]
    try:
        read = ast.parse(" ".join(signs), mode="eval")
    except SyntaxError:
        raise ValueError("this is no calculation") from None
    return _value(read.body, step)


def _value(node, step):
    """Return the value of one syntax node of a step."""
    match node:
        case ast.Name(name) if name[0] == "n":
            return step[int(name[1:])].value
        case ast.UnaryOp(ast.USub(), operand):
            return -_value(operand, step)
        case ast.UnaryOp(ast.Invert(), operand):
            return _decimal(_value(operand, step), Decimal.sqrt)
        case ast.BinOp(ast.Name("e"), ast.Pow(), ast.UnaryOp(ast.USub(), ast.Name("infinity"))):
            return Fraction(0)
        case ast.BinOp(ast.Name(name), ast.Pow(), argument) if name in FUNCTIONS:
            return _decimal(_value(argument, step), FUNCTIONS[name])
        case ast.BinOp(base, ast.Pow(), exponent):
            power = _value(exponent, step)
            if power.denominator != 1 or abs(power) > 100:
                raise ValueError("a power that is not whole is not read")
            return _value(base, step) ** int(power)
        case ast.BinOp(left, sign, right):
            return OPERATORS[type(sign)](_value(left, step), _value(right, step))
    raise ValueError("this is no calculation")


def _tanh(x):
    grown = (2 * x).exp()
    return (grown - 1) / (grown + 1)


def _sine(x):
    """Return the sine of an angle: a series if it is small, else by the triple-angle formula."""
    if abs(x) > Decimal("0.1"):
        third = _sine(x / 3)
        return 3 * third - 4 * third**3
    total = term = x
    for n in range(2, DIGITS, 2):
        term *= -x * x / (n * (n + 1))
        total += term
    return total


def _cosine(x):
    return 1 - 2 * _sine(x / 2) ** 2


FUNCTIONS = {"e": Decimal.exp, "cos": _cosine, "sin": _sine, "tanh": _tanh}


def _decimal(value, function):
    if abs(value) > 10**6 or (function is Decimal.sqrt and value < 0):
        raise ValueError(f"{value} is not read here")
    with localcontext(prec=DIGITS):
        return Fraction(function(Decimal(value.numerator) / Decimal(value.denominator)))


def terms_of(step):
    """Return the signed terms of a sum or a difference."""
    terms, depth = [[]], 0
    for i, one in enumerate(step):
        if one in ("+", "−") and depth == 0 and i and step[i - 1] not in (*"×÷√^",):
            terms.append([one] if one == "−" else [])
        else:
            depth += (one == "(") - (one == ")")
            terms[-1].append(one)
    return [tuple(term) for term in terms]


def sheet_text(markdown):
    """Return Markdown with the formulas of exponents as plain text."""
    return re.sub(r"\$e\^\{([^}]*)\}\$", r"e^\1", markdown)
