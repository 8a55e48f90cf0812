"""The numbers that a built page prints, compared with independent values to the last digit."""

import re
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from xml.etree.ElementTree import TreeBuilder

import torch

PAGES = Path(__file__).parents[2] / "_build" / "html"
NUMBER = re.compile(
    r"(?<![\d.,])[−-]?(?:∞|\d+(?:,\d{3})*(?:\.\d+)?)(?P<percent>\N{NO-BREAK SPACE}%)?"
)
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
NO_SENTENCE = {"script", "style", "pre", "svg", "table", "mha-explorer", "annotation", "math"}
WITHIN = {"a", "code", "data", "em", "math", "q", "span", "strong", "sub", "sup", "tspan"}
LEFT_OVER = 1e-9
"""The relative error that float arithmetic may cause."""


class AtMost(float):
    """A number that the page rounds up."""


class AtLeast(float):
    """A number that the page rounds down."""


class Trained(float):
    """The result of a long training: the order of a processor's sums may change its last digit."""


def agrees(text, value):
    """Return whether a printed number is a value rounded to the printed decimals."""
    bare = text.removesuffix("\N{NO-BREAK SPACE}%")
    exact = float(value) if bare == text else 100 * float(value)
    bare = bare.replace("−", "-").replace(",", "").replace("∞", "inf")
    if float(bare) == exact:
        return True
    unit = 10.0 ** -len(bare.partition(".")[2])
    over, left = (float(bare) - exact) / unit, LEFT_OVER * max(1, abs(exact)) / unit
    if isinstance(value, AtMost):
        return -left <= over < 1
    if isinstance(value, AtLeast):
        return -1 < over <= left
    return abs(over) <= (1 if isinstance(value, Trained) else 0.5) + left


def flatten(value):
    """Return nested numbers, tensors and sequences as one list, row by row."""
    if isinstance(value, torch.Tensor):
        return value.flatten().tolist()
    return [n for each in value for n in flatten(each)] if hasattr(value, "__iter__") else [value]


def lower_triangles(*maps):
    """Return the rows of maps up to the diagonal."""
    return [row[: i + 1] for rows in maps for i, row in enumerate(rows)]


class Page:
    """A built page: its labelled tables and figures, and its sentences.

    Each of `table`, `figure` and `says` compares numbers, and records differences in `wrong`.
    """

    def __init__(self, name):
        self.root = tree_of((PAGES / f"{name}.html").read_text(encoding="utf-8"))
        self.runs, self.wrong = {}, []
        self.article = next(self.root.iter("article"))
        self.labelled = {e.get("id"): e for e in self.article.iter() if e.get("id")}

    @cached_property
    def sentences(self):
        """The text of the page without tables, drawings, formulas and code."""
        return re.sub(r"[ \n]+", " ", text_of(self.article, lambda e: e.tag in NO_SENTENCE))

    def table(self, label, *values):
        """Compare all numbers of the body of a table, or of a block of tables."""
        self.compare(label, texts_of(self.labelled[label].iter("td")), values)

    def figure(self, label, *values):
        """Compare the numbers in a figure's cells or beside its bars."""
        forms = with_class(self.labelled[label], "g", "f-wide")  # and one for narrow screens
        drawn = forms[0] if forms else self.labelled[label]
        self.compare(label, texts_of(with_class(drawn, "text", "f-number")), values)

    def says(self, words, *values):
        """Compare the numbers of a sentence: at each # in `words`, and after them."""
        values = flatten(values)
        number = f"({NUMBER.pattern.replace('?P<percent>', '?:')})"
        parts = [re.escape(part) for part in words.split("#")]
        behind = rf"\D*?{number}" * (len(values) - len(parts) + 1)
        found = re.search(number.join(parts) + behind, self.sentences)
        if found:
            self.compare(words, " ; ".join(found.groups()), values)
        else:
            self.wrong.append(f"no sentence has {words!r} and {len(values)} numbers")

    def compare(self, what, text, values):
        """Compare the numbers printed in a text with values."""
        printed, values = [found[0] for found in NUMBER.finditer(text)], flatten(values)
        if len(printed) != len(values):
            self.wrong.append(f"{what}: {len(printed)} numbers are printed, {len(values)} worked")
        for own, value in zip(printed, values, strict=False):
            if not agrees(own, value):
                self.wrong.append(f"{what}: {own} is printed, {value} worked")


def tree_of(html):
    """Return the element tree of a page."""
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
    """Return the descendants of an element with a tag and a class."""
    return [each for each in element.iter(tag) if has_class(each, name)]


def has_class(element, name):
    """Return whether an element has a class."""
    return name in element.get("class", "").split()


def text_of(element, left_out=lambda _: False):
    """Return an element's text, with a space around block elements."""
    parts = [element.text or ""]
    for child in element:
        apart = "" if child.tag in WITHIN else " "
        parts += [apart, "" if left_out(child) else text_of(child, left_out), apart]
        parts.append(child.tail or "")
    return "".join(parts)


def texts_of(elements, left_out=lambda _: False):
    """Return the texts of elements, one after the other."""
    return " ; ".join(text_of(each, left_out) for each in elements)
