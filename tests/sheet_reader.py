"""A little program of its own that works a printed worksheet, and compares it with the printed key.

It has nothing but the text of both: the given tables, what is asked, how it is to be rounded. Given
numbers are read as the decimals that are printed and calculated with as fractions; powers of e have
fifty digits.
"""

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import chain

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
    lines = sheet.partition("### Your turn")[2].splitlines()
    found = {int(line[1]): line[0] for line in map(_task, lines) if line}
    return found


def _task(line):
    match = re.match(r"(\d+)\\\. (.*)", line)
    if match is None:
        return None
    names = sorted(ASKED, key=len, reverse=True)
    return next(name for name in names if match[2].startswith(name)), match[1]


def rounded(sheet):
    """Return the tasks that are to be rounded, and to how many decimals."""
    match = ROUNDED.search(sheet)
    if match is None:
        assert "All answers are short: do not round." in sheet
        return set(), 0
    return set(map(int, re.findall(r"\d+", match[1]))), int(match[2])


def heads(found):
    return sorted({head for _, head in found})


class Worked:
    """A sheet worked from its own text.

    `written` says what a pupil goes on with: the number itself, or what it is rounded to.
    """

    def __init__(self, sheet, written=lambda value, name: value):
        given = tables(sheet.partition("### Your turn")[0])
        self.asked = tasks(sheet)
        self.width = WIDTH.search(sheet)
        self.is_masked = "Masked scores" in sheet
        self.heads = heads(tables(sheet))
        self.written = written
        self.known = {}
        for (name, head), cells in given.items():
            body = [row[:-1] if name in SUMMED else row for row in cells]
            self.known[name, head] = [[number(cell) for cell in row] for row in body]
        self.given_sums = {
            head: [number(row[-1]) for row in cells]
            for (name, head), cells in given.items()
            if name == "Exponentials"
        }

    def matrix(self, name, head):
        """Return a table of numbers: given, or computed from those before."""
        if name in ("Embeddings", "Output projection", "Output of the layer"):
            head = 1
        if (name, head) not in self.known:
            assert name in self.asked.values() or name == "Exponentials", f"{name} is not given"
            own = getattr(self, "_" + name.lower().replace(" ", "_"), None)
            exact = own(head) if own else self._projected(name, head)
            self.known[name, head] = [
                [x if x is None else self.written(x, name) for x in row] for row in exact
            ]
        return self.known[name, head]

    def sums(self, head):
        """Return the row sums of the exponentials."""
        rows = self.matrix("Exponentials", head)
        return [self.written(sum(row), "Exponentials") for row in rows]

    def _projected(self, name, head):
        source, by = (self.matrix(needed, head) for needed in ASKED[name])
        return product(source, by)

    def _scores(self, head):
        query, key = self.matrix("Queries", head), self.matrix("Keys", head)
        return product(query, [list(column) for column in zip(*key, strict=True)])

    def _scaled_scores(self, head):
        root = {"1": 1, "4": 2}[self.width[1]]
        return [[x / root for x in row] for row in self.matrix("Scores", head)]

    def _exponentials(self, head):
        scores = "Masked scores" if self.is_masked else "Scaled scores"
        return [[power(x) for x in row] for row in self.matrix(scores, head)]

    def _masked_scores(self, head):
        rows = self.matrix("Scaled scores", head)
        return [[x if j <= i else None for j, x in enumerate(row)] for i, row in enumerate(rows)]

    def _attention_weights(self, head):
        rows = self.matrix("Exponentials", head)
        sums = self.given_sums.get(head) or self.sums(head)
        return [[x / total for x in row] for row, total in zip(rows, sums, strict=True)]

    def _output_of_the_layer(self, head):
        parts = [self.matrix("Output", each) for each in self.heads]
        beside = [list(chain(*rows)) for rows in zip(*parts, strict=True)]
        return product(beside, self.matrix("Output projection", 1))


def product(left, right):
    """Return the product of two matrices of fractions."""
    columns = list(zip(*right, strict=True))
    return [
        [sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0)) for column in columns]
        for row in left
    ]


@cache
def power(exponent):
    """Return e to a fraction, or to minus infinity."""
    if exponent is None:
        return Fraction(0)
    with localcontext(prec=50):
        exact = Decimal(exponent.numerator) / Decimal(exponent.denominator)
        return Fraction(exact.exp())


def answers(sheet, key, worked=None):
    """Yield of every answer of a key: its task, what is printed, and what the sheet says it is."""
    worked, keyed = worked or Worked(sheet), tables(key)
    once = ("Output of the layer",)
    for task, name in worked.asked.items():
        for head in [1] if name in once else worked.heads:
            cells, numbers = keyed[name, head], worked.matrix(name, head)
            if name == "Exponentials":
                sums = worked.sums(head)
                numbers = [[*row, x] for row, x in zip(numbers, sums, strict=True)]
            elif name == "Attention weights":
                cells = [row[:-1] for row in cells]
            for printed, exact in zip(chain(*cells), chain(*numbers), strict=True):
                yield int(task), printed, exact


def wrong(sheet, key):
    """Return how many answers a key has, and those that are wrong.

    A number that is to be rounded is right within half a unit of its last decimal, any other only
    if it is exact.
    """
    rough, places = rounded(sheet)
    count, found = 0, []
    for task, printed, exact in answers(sheet, key):
        count += 1
        half = Fraction(1, 2 * 10**places) if task in rough else 0
        decimals = len(printed.partition(".")[2])
        if exact is None or number(printed) is None:
            if exact is not number(printed):
                found.append(f"task {task}: {printed} is printed, {exact} is right")
            continue
        off = abs(number(printed) - exact)
        # Only an exact number may have fewer decimals: where a whole table needs no more.
        too_few = task in rough and decimals != places and off > Fraction(1, 10**12)
        if off > half or too_few:
            found.append(f"task {task}: {printed} is printed, {float(exact):.6f} is right")
    return count, found
