"""An independent solver of printed worksheets, which compares its results with the key.

It has only the text of both: the given tables, the tasks and the rounding rules. Given numbers are
read as exact decimals and computed with as fractions; powers of e have fifty digits.
"""

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np

TABLE = re.compile(r"^\*\*(.*?)(?:, Head\s(\d+))?\*\*\n\n.*\n.*\n((?:\|.*\n?)+)", re.MULTILINE)
WIDTH = re.compile(r"square root of the key's width, which is (\d+)\.")
ROUNDED = re.compile(r"Round only in tasks? ([\d, and]+): write down (\d+) decimals")
ASKED = (
    *("Queries", "Keys", "Values", "Scores", "Scaled scores", "Masked scores", "Exponentials"),
    *("Attention weights", "Output of the layer", "Output"),
)
"""The beginnings of the tasks."""

PROJECTIONS = {
    "Queries": "Query projection",
    "Keys": "Key projection",
    "Values": "Value projection",
}
NAMES = {
    "Scores: each query times each key": "Scores",
    "Exponentials of the scaled scores, and their row sums": "Exponentials",
    "Exponentials of the masked scores, and their row sums": "Exponentials",
    "Output: values mixed by the weights": "Output",
    "Output after the output projection": "Output of the layer",
}
"""Short names of the tables with longer captions."""


def number(text):
    """Return a printed number as an exact fraction, None for minus infinity."""
    return None if text == "−∞" else Fraction(text.replace("−", "-"))


def tables(text):
    """Return every table of a text by its name and head, as printed cells."""
    found = {}
    for name, head, lines in TABLE.findall(text):
        rows = [re.split(r" \| ", line.strip("| "))[1:] for line in lines.splitlines()]
        found[NAMES.get(name, name), int(head or 1)] = rows
    return found


def tasks(sheet):
    """Return the tasks by number."""
    asked = re.findall(rf"^(\d+)\\\. ({'|'.join(ASKED)})", sheet, re.MULTILINE)
    return {int(task): name for task, name in asked}


def rounded(sheet):
    """Return the tasks with rounded answers, and their numbers of decimals."""
    match = ROUNDED.search(sheet)
    if match is None:
        assert "All answers are short: do not round." in sheet
        return set(), 0
    return set(map(int, re.findall(r"\d+", match[1]))), int(match[2])


@np.vectorize(otypes=[object])
@cache
def power(exponent):
    """Return e to the power of a fraction or of minus infinity."""
    if exponent is None:
        return Fraction(0)
    with localcontext(prec=50):
        return Fraction((Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())


def worked(sheet, written=lambda value, name: value):
    """Return every table of a sheet, given or asked for, computed in the order of the tasks.

    `written` maps a number to the value that the pupil continues with, exact or rounded.
    """
    given = tables(sheet.partition("### Your turn")[0])
    known = {at: np.array([list(map(number, row)) for row in given[at]], object) for at in given}
    heads = sorted({head for _, head in tables(sheet)})

    def kept(numbers, name):
        each = (x if x is None else written(x, name) for x in numbers.flat)
        return np.fromiter(each, object).reshape(numbers.shape)

    for name in tasks(sheet).values():
        for head in [1] if name == "Output of the layer" else heads:
            found = kept(computed(name, head, heads, known, sheet), name)
            if name == "Exponentials":
                found = np.column_stack([found, kept(found.sum(axis=1), name)])
            known[name, head] = found
    return known


def computed(name, head, heads, known, sheet):
    """Return one table, computed from the tables before it."""
    match name:
        case "Queries" | "Keys" | "Values":
            return known["Embeddings", 1] @ known[PROJECTIONS[name], head]
        case "Scores":
            return known["Queries", head] @ known["Keys", head].T
        case "Scaled scores":
            return known["Scores", head] / {"1": 1, "4": 2}[WIDTH.search(sheet)[1]]
        case "Masked scores":
            scores = known["Scaled scores", head]
            return np.where(np.tri(len(scores), dtype=bool), scores, None)
        case "Exponentials":
            masked = known.get(("Masked scores", head))
            return power(known["Scaled scores", head] if masked is None else masked)
        case "Attention weights":
            powers = known["Exponentials", head]
            return powers[:, :-1] / powers[:, -1:]
        case "Output":
            values = known["Values", head]
            return known["Attention weights", head][:, : len(values)] @ values
        case "Output of the layer":
            beside = np.hstack([known["Output", each] for each in heads])
            return beside @ known["Output projection", 1]


def answers(sheet, key, written=lambda value, name: value):
    """Yield every answer of a key: its task, the printed number, and the computed number."""
    known, keyed = worked(sheet, written), tables(key)
    for task, name in tasks(sheet).items():
        for head in (head for each, head in known if each == name):
            exact = known[name, head]
            cells = np.array(keyed[name, head])[:, : exact.shape[1]]  # of weights without the sum
            for printed, number_of_it in zip(cells.flat, exact.flat, strict=True):
                yield task, printed, number_of_it


def wrong(sheet, key):
    """Return the number of answers in a key, and the wrong ones.

    A rounded number is right within half a unit of its last decimal, any other only if it is exact.
    """
    rough, places = rounded(sheet)
    count, found = 0, []
    for task, printed, exact in answers(sheet, key):
        count += 1
        if exact is None or number(printed) is None:
            is_right = exact is number(printed)
        else:
            off = abs(number(printed) - exact)
            decimals = len(printed.partition(".")[2])
            # Only an exact number may have fewer decimals: where a whole table needs no more.
            is_short = task in rough and decimals != places and off > Fraction(1, 10**12)
            is_right = off <= (Fraction(1, 2 * 10**places) if task in rough else 0) and not is_short
        if not is_right:
            found.append(f"task {task}: {printed} is printed, {exact} is right")
    return count, found
