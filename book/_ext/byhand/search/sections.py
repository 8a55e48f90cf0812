"""The sections of a built page: the words under each heading, and the terms defined there."""

import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Any, TypeAlias

from lxml import html

from byhand.search.formulas import EXPONENT, INDEX, in_one_line

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
INLINE = frozenset(  # no space is added around them
    {"a", "b", "cite", "code", "data", "em", "i", "kbd", "mark", "q", "small", "span", "strong"}
)
# Elements that are not searched: code and the fold that it is in, drawings, what can be pressed,
# the TeX of a formula, how long a page takes.
SILENT_TAGS = frozenset(
    {"button", "form", "label", "nav", "noscript", "pre", "script", "select", "style", "svg"}
    | {"template", "textarea"}
)
SILENT_CLASSES = frozenset(
    {"aims-minutes", "caption-number", "cell_input", "code-fold", "eqno", "headerlink", "highlight"}
    | {"section-number", "toctree-wrapper"}
)
ITEMS = frozenset({"caption", "dd", "dt", "figcaption", "li", "td", "th"})  # end without a stop
LATE = "late"  # the class of a <noscript> that holds a section until a reader opens it
# Tables of numbers: only their captions have words. Others are the Markdown's, or marked as words.
WORDS = "words"
PLAIN_TABLE = frozenset({"table", "docutils", "align-default", "colwidths-auto"})
NAMES = "names"  # the class of a table whose rows have names of a thing and a link to its section
SYMBOLS = "symbols"  # the class of a table whose rows begin with a symbol and its name in code
# Bold words in these elements are labels; they introduce no term.
UNDEFINING_TAGS = frozenset({"table", "figure"})
UNDEFINING_CLASSES = frozenset({"admonition"})
MAX_TERM_LENGTH = 4  # words


@dataclass(frozen=True)
class Section:
    """The words under one heading, without the sections within."""

    anchor: str  # the section's id, empty for the one that begins the page
    heading: str
    text: str
    terms: tuple[str, ...] = ()  # terms that it introduces, in its spelling
    labels: tuple[str, ...] = ()  # further ids that links may lead to


@dataclass(frozen=True)
class Named:
    """A row of a table of names: the address of the section it links to, and the names."""

    address: str
    names: tuple[str, ...]


Words: TypeAlias = tuple[list[Section], list[Named]]
"""The sections of a page, and the rows of its tables of names."""


def read_page(page: str) -> Words:
    """Return the sections of the article on a page of HTML, and the rows of its tables of names."""
    document = html.document_fromstring(page)
    write_formulas(document)
    names = _rows_of_names(document)  # before the words are taken out
    return _take_sections(document), names


def as_data(sections: list[Section], names: list[Named]) -> list[list[Any]]:
    """Return the words of a page as JSON has them."""
    return [[astuple(section) for section in sections], [astuple(row) for row in names]]


def from_data(data: list[list[Any]]) -> Words:
    """Return the words of a page from data that `as_data` made."""
    sections, names = data
    return (
        [
            Section(anchor, heading, text, tuple(terms), tuple(labels))
            for anchor, heading, text, terms, labels in sections
        ],
        [Named(address, tuple(row)) for address, row in names],
    )


def read_sections(page: str) -> list[Section]:
    """Return the sections of the article on a page of HTML, in their order."""
    return read_page(page)[0]


def read_names(page: str) -> list[Named]:
    """Return the rows of a page's tables of names."""
    return read_page(page)[1]


def _take_sections(document: html.HtmlElement) -> list[Section]:
    """Return the sections of the article on a page, and remove its elements."""
    leave_words(document)
    found: list[Section] = []
    for section in reversed(list(document.iter("section"))):  # those within first
        heading = next(section.iter(*HEADINGS), None)
        if heading is not None:  # else it belongs to the section around it
            title = take_out(heading)
            terms = tuple(dict.fromkeys(defined_terms(section)))
            labels = tuple(span.get("id") for span in section.findall("span[@id]"))
            text = take_out(section)
            if section.get("id") and title:
                found.insert(0, Section(section.get("id"), title, text, terms, labels))
    if not found:
        return []
    first = found[0]
    whole = Section("", first.heading, first.text, first.terms, (first.anchor, *first.labels))
    return [whole, *found[1:]]


def _rows_of_names(document: html.HtmlElement) -> list[Named]:
    tables = [table for table in document.iter("table") if NAMES in table.classes]
    rows = [row for table in tables for row in table.iterfind("tbody/tr")]
    found = []
    for row in rows:
        links = [link.get("href") for link in row.iter("a")]
        cells = [cell for cell in row.iterfind("td") if cell.find(".//a") is None]
        names = [name for cell in cells for name in names_in(cell)]
        found.append(Named(links[0], tuple(names)))
    return found


def names_in(cell: html.HtmlElement) -> list[str]:
    """Return the names in the cell of a table, which are separated by commas."""
    names = (" ".join(name.split()) for name in cell.text_content().split(","))
    return [name for name in names if name]


def leave_words(document: html.HtmlElement) -> None:
    """Remove all but the text of a page without formulas, and put a space around each block."""
    for element in list(document.iter()):
        if is_silent(element):
            element.drop_tree()
    for table in list(document.iter("table")):
        if is_of_numbers(table):
            captions = [take_out(caption) for caption in table.iter("caption", "figcaption")]
            table.clear()
            table.text = " ".join(captions)
    for element in document.iter():
        if element.tag in ITEMS and re.search(r"[^\s.,:;?!]\s*$", element.text_content()):
            element.tail = f"; {element.tail or ''}"
        if element.tag not in INLINE:
            element.text, element.tail = f" {element.text or ''}", f" {element.tail or ''}"


def write_formulas(document: html.HtmlElement) -> None:
    """Replace each formula, index and exponent of a page with text."""
    for math in list(document.iter("math")):
        math.tail = f"{in_one_line(math)} {math.tail or ''}"
        math.drop_tree()
    for form, tag in ((INDEX, "sub"), (EXPONENT, "sup")):
        for script in list(document.iter(tag)):
            text = "".join(script.text_content().split())
            script.tail = f"{form.format(text) if text else ''}{script.tail or ''}"
            script.drop_tree()


def defined_terms(section: html.HtmlElement) -> Iterator[str]:
    """Yield the terms that a section introduces: its bold words, and the symbols of its tables.

    Bold words that begin a paragraph and end in a full stop, a colon or a question mark are a
    run-in heading, not a term.
    """
    for bold in section.iter("strong"):
        paragraph = bold.getparent()
        term = " ".join(bold.text_content().split()).strip(" ,;")
        is_label = any(
            element.tag in UNDEFINING_TAGS or UNDEFINING_CLASSES & set(element.classes)
            for element in bold.iterancestors()
        )
        begins = not (paragraph.text or "").strip() and paragraph.index(bold) == 0
        is_heading = begins and term.endswith((".", ":", "?"))
        if not is_label and not is_heading and len(term.split()) <= MAX_TERM_LENGTH:
            yield term
    for table in section.iter("table"):
        if SYMBOLS in table.classes:
            for row in table.iterfind("tbody/tr"):
                for cell in row.findall("td")[:2]:
                    yield from names_in(cell)


def take_out(element: html.HtmlElement) -> str:
    """Remove an element from a page, and return its text."""
    words = re.sub(r" ([,.;:)])", r"\1", " ".join(element.text_content().split())).rstrip(";")
    element.drop_tree()
    return words


def is_silent(element: html.HtmlElement) -> bool:
    """Return whether the search ignores an element's words."""
    if not isinstance(element.tag, str):
        return True
    # A name with a hyphen is a custom element: something to work with, not to read.
    is_code = element.tag in SILENT_TAGS and LATE not in element.classes
    return is_code or "-" in element.tag or bool(SILENT_CLASSES & set(element.classes))


def is_of_numbers(table: html.HtmlElement) -> bool:
    """Return whether a table has numbers. The search reads only the caption of these tables."""
    return bool(set(table.classes) - PLAIN_TABLE) and WORDS not in table.classes
