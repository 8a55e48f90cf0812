"""A little program of its own that works a printed worksheet, and compares it with the printed key.

It has nothing but the text of both: the given tables, what is asked, how it is to be rounded. Given
numbers are read as the decimals that are printed and calculated with as fractions; powers of e have
fifty digits.
"""

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np

TITLE = re.compile(r"^\*\*(.*)\*\*$")
ROW = re.compile(r"^\| (?!---)(.*) \|$")
HEAD = re.compile(r", Head\s(\d+)$")
WIDTH = re.compile(r"square root of the key's width, which is (\d+)\.")
ROUNDED = re.compile(r"Round in tasks? ([\d, and]+) alone: write down (\d+) decimals")

ASKED = {
    "Queries": ("Embeddings", "Query projection"),
    "Keys": ("Embeddings", "Key projection"),
    "Values": ("Embeddings", "Value projection"),
    "Scores": ("Queries", "Keys"),
    "Scaled scores": ("Scores", "Keys"),
    "Masked scores": ("Scaled scores",),
    "Exponentials": ("Scaled scores",),
    "Attention weights": ("Exponentials",),
    "Output": ("Attention weights", "Values"),
    "Output of the layer": ("Output", "Output projection"),
}
"""What each table is computed from."""

TITLES = {
    "Scores: each query times each key": "Scores",
    "Exponentials of the scaled scores, and their row sums": "Exponentials",
    "Exponentials of the masked scores, and their row sums": "Exponentials",
    "Output: values mixed by the weights": "Output",
    "Output after the output projection": "Output of the layer",
}
SUMMED = ("Exponentials", "Attention weights")
"""Tables whose last column is a sum."""


def number(text):
    """Return a printed number as the fraction that it is, None for minus infinity."""
    if text.strip() == "−∞":
        return None
    return Fraction(text.strip().replace("−", "-"))


def tables(text):
    """Return every table of a text by its name and head: the cells as they are printed."""
    found, rows = {}, []
    for line in text.splitlines():
        if title := TITLE.match(line):
            name = title[1]
            head = HEAD.search(name)
            name = HEAD.sub("", name)
            rows = found[TITLES.get(name, name), int(head[1]) if head else 1] = []
        elif row := ROW.match(line):
            rows.append([cell.strip() for cell in re.split(r" \| ", row[1])][1:])
    return {key: rows[1:] for key, rows in found.items()}


def tasks(sheet):
    """Return what is asked, by the task's number."""
    names = sorted(ASKED, key=len, reverse=True)
    asked = re.findall(r"^(\d+)\\\. (.*)", sheet.partition("### Your turn")[2], re.MULTILINE)
    return {int(task): next(n for n in names if text.startswith(n)) for task, text in asked}


def rounded(sheet):
    """Return the tasks that are to be rounded, and to how many decimals."""
    match = ROUNDED.search(sheet)
    if match is None:
        assert "All answers are short: do not round." in sheet
        return set(), 0
    return set(map(int, re.findall(r"\d+", match[1]))), int(match[2])


@np.vectorize(otypes=[object])
@cache
def power(exponent):
    """Return e to a fraction, or to minus infinity."""
    if exponent is None:
        return Fraction(0)
    with localcontext(prec=50):
        return Fraction((Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())


def matrix_of(cells):
    """Return printed cells as an array of fractions."""
    return np.array([[number(cell) for cell in row] for row in cells], object)


class Worked:
    """A sheet worked from its own text.

    `written` says what a pupil goes on with: the number itself, or what it is rounded to.
    """

    def __init__(self, sheet, written=lambda value, name: value):
        given = tables(sheet.partition("### Your turn")[0])
        self.asked = tasks(sheet)
        self.width = WIDTH.search(sheet)
        self.is_masked = "Masked scores" in sheet
        self.heads = sorted({head for _, head in tables(sheet)})
        self.written = written
        self.known, self.given_sums = {}, {}
        for (name, head), cells in given.items():
            numbers = matrix_of(cells)
            if name == "Exponentials":
                self.given_sums[head] = numbers[:, -1]
            self.known[name, head] = numbers[:, :-1] if name in SUMMED else numbers

    def matrix(self, name, head):
        """Return a table of numbers: given, or computed from those before."""
        if name in ("Embeddings", "Output projection", "Output of the layer"):
            head = 1
        if (name, head) not in self.known:
            assert name in self.asked.values() or name == "Exponentials", f"{name} is not given"
            self.known[name, head] = self._written(self._computed(name, head), name)
        return self.known[name, head]

    def sums(self, head):
        """Return the row sums of the exponentials."""
        return self._written(self.matrix("Exponentials", head).sum(axis=1), "Exponentials")

    def _written(self, numbers, name):
        each = (x if x is None else self.written(x, name) for x in numbers.flat)
        return np.fromiter(each, object).reshape(numbers.shape)

    def _computed(self, name, head):
        match name:
            case "Scores":
                return self.matrix("Queries", head) @ self.matrix("Keys", head).T
            case "Scaled scores":
                return self.matrix("Scores", head) / {"1": 1, "4": 2}[self.width[1]]
            case "Masked scores":
                rows = self.matrix("Scaled scores", head)
                return np.where(np.tri(len(rows), dtype=bool), rows, None)
            case "Exponentials":
                scores = "Masked scores" if self.is_masked else "Scaled scores"
                return power(self.matrix(scores, head))
            case "Attention weights":
                powers = self.matrix("Exponentials", head)
                sums = self.given_sums[head] if head in self.given_sums else self.sums(head)
                return powers / sums[:, None]
            case "Output of the layer":
                beside = np.hstack([self.matrix("Output", each) for each in self.heads])
                return beside @ self.matrix("Output projection", 1)
        source, by = (self.matrix(needed, head) for needed in ASKED[name])
        return source @ by


def answers(sheet, key, worked=None):
    """Yield of every answer of a key: its task, what is printed, and what the sheet says it is."""
    worked, keyed = worked or Worked(sheet), tables(key)
    for task, name in worked.asked.items():
        for head in [1] if name == "Output of the layer" else worked.heads:
            cells, numbers = np.array(keyed[name, head]), worked.matrix(name, head)
            if name == "Exponentials":
                numbers = np.column_stack([numbers, worked.sums(head)])
            elif name == "Attention weights":
                cells = cells[:, :-1]
            for printed, exact in zip(cells.flat, numbers.flat, strict=True):
                yield task, printed, exact


def wrong(sheet, key):
    """Return how many answers a key has, and those that are wrong.

    A number that is to be rounded is right within half a unit of its last decimal, any other only
    if it is exact.
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
