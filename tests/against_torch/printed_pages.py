"""What a built page prints, held against numbers that were worked elsewhere, to the last digit."""

import json
import re
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import TreeBuilder

import torch

PAGES = Path(__file__).parents[2] / "_build" / "html"
NUMBER = re.compile(
    r"(?<![\d.,])[−-]?(?:∞|\d+(?:,\d{3})*(?:\.\d+)?)(?P<percent>\N{NO-BREAK SPACE}%)?"
)
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
NO_SENTENCE = {"script", "style", "pre", "svg", "table", "mha-explorer", "annotation", "math"}
WITHIN = {"a", "code", "data", "em", "math", "q", "span", "strong", "sub", "sup"}
LEFT_OVER = 1e-9
"""What float arithmetic may leave over, as a share."""


class AtMost(NamedTuple):
    """A number that the page rounds up."""

    value: float


class AtLeast(NamedTuple):
    """A number that the page rounds down."""

    value: float


def agrees(text, value):
    """Return whether a printed number is a value, rounded to as many decimals as are printed."""
    bare = text.removesuffix("\N{NO-BREAK SPACE}%")
    times = 1 if bare == text else 100
    bare = bare.replace("−", "-").replace(",", "").replace("∞", "inf")
    unit = 10.0 ** -len(bare.partition(".")[2])
    printed, exact = float(bare), times * float(getattr(value, "value", value))
    if printed == exact:
        return True
    over = (printed - exact) / unit
    left = LEFT_OVER * max(1, abs(exact)) / unit
    if isinstance(value, AtMost):
        return -left <= over < 1
    if isinstance(value, AtLeast):
        return -1 < over <= left
    return abs(over) <= 0.5 + left


def flat(*values):
    """Return numbers, tensors and lists of them as one list, row by row."""
    numbers = []
    for value in values:
        if isinstance(value, torch.Tensor):
            numbers += value.flatten().tolist()
        elif isinstance(value, (list, tuple)) and not isinstance(value, (AtMost, AtLeast)):
            numbers += flat(*value)
        else:
            numbers.append(value)
    return numbers


def lower(*maps):
    """Return maps without what stands above their diagonals."""
    return [row[: i + 1] for rows in maps for i, row in enumerate(rows)]


class Page:
    """A built page: its labelled tables and figures, and its sentences.

    Each of `table`, `figure` and `says` compares, and remembers what is wrong.
    """

    def __init__(self, name):
        file = PAGES / f"{name}.html"
        self.root = tree_of(file.read_text(encoding="utf-8"))
        self.runs, self.wrong = {}, []

    @cached_property
    def article(self):
        return next(self.root.iter("article"))

    @cached_property
    def sentences(self):
        return re.sub(r"[ \n]+", " ", "".join(_sentence_text(self.article)))

    @cached_property
    def labelled(self):
        return {e.get("id"): e for e in self.article.iter() if e.get("id")}

    def started(self):
        """Yield each explorer with the data that its run starts from."""
        for element in self.root.iter("mha-explorer"):
            data = json.loads(next(element.iter("script")).text)
            if "inputs" in data:  # others show numbers of other kinds
                yield element, data

    def table(self, label, *values):
        """Compare all numbers of the body of a table, or of a block of tables."""
        cells = list(self.labelled[label].iter("td"))
        self.compare(label, " ; ".join(map(text_of, cells)), values)

    def figure(self, label, *values):
        """Compare the numbers that a figure writes into its cells or beside its bars."""
        forms = with_class(self.labelled[label], "g", "f-wide")  # and one for narrow screens
        texts = with_class(forms[0] if forms else self.labelled[label], "text", "f-number")
        self.compare(label, " ; ".join(map(text_of, texts)), values)

    def says(self, words, *values):
        """Compare the numbers of a sentence: at each # of some words of it, and behind them."""
        values = flat(*values)
        number = f"({NUMBER.pattern.replace('?P<percent>', '?:')})"
        parts = [re.escape(part) for part in words.split("#")]
        behind = (rf"\D*?{number}" for _ in values[len(parts) - 1 :])
        found = re.search(number.join(parts) + "".join(behind), self.sentences)
        if not found:
            self.wrong.append(f"no sentence has {words!r} and {len(values)} numbers")
            return
        self.compare(words, " ; ".join(found.groups()), values)

    def compare(self, what, text, values):
        """Compare the numbers of a text."""
        printed, values = numbers_of(text), flat(values)
        if len(printed) != len(values):
            self.wrong.append(f"{what}: {len(printed)} numbers are printed, {len(values)} worked")
        for own, value in zip(printed, values, strict=False):
            if not agrees(own, value):
                self.wrong.append(f"{what}: {own} is printed, {value} worked")


def tree_of(html):
    """Return a page as elements."""
    builder = TreeBuilder()

    class Parser(HTMLParser):
        def handle_starttag(self, tag, attributes):
            builder.start(tag, {name: value or "" for name, value in attributes})
            if tag in VOID:
                builder.end(tag)

        def handle_endtag(self, tag):
            if tag not in VOID:
                builder.end(tag)

        def handle_data(self, data):
            builder.data(data)

    Parser().feed(html)
    return builder.close()


def with_class(element, tag, name):
    """Return an element's parts of a kind and a class."""
    return [each for each in element.iter(tag) if name in each.get("class", "").split()]


def text_of(element, without=None):
    """Return an element's text, without the parts of a class."""
    parts = [element.text or ""]
    for child in element:
        if without not in child.get("class", "").split():
            parts.append(text_of(child, without))
        parts.append(child.tail or "")
    return "".join(parts).strip()


def numbers_of(text):
    """Return the numbers of a text as they are printed."""
    return [found[0] for found in NUMBER.finditer(text)]


def _sentence_text(element):
    """Yield the text of an element without tables, drawings, formulas and code."""
    yield element.text or ""
    for child in element:
        apart = "" if child.tag in WITHIN else " "
        if child.tag not in NO_SENTENCE:
            yield apart
            yield from _sentence_text(child)
        yield apart + (child.tail or "")
