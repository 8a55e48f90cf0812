"""The sections of a written page: what stands under each heading, as plain words."""

import re
import unicodedata
from dataclasses import dataclass

from lxml import html

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
INLINE = frozenset(  # no space stands around them
    {"a", "b", "cite", "code", "data", "em", "i", "kbd", "mark", "q", "small", "span", "strong"}
    | {"sub", "sup"}
)
# What a reader does not search for: code and the fold that it is in, drawings, what can be pressed,
# the TeX of a formula, how long a page takes.
SILENT_TAGS = frozenset(
    {"button", "form", "label", "nav", "noscript", "pre", "script", "select", "style", "svg"}
    | {"template", "textarea"}
)
SILENT_CLASSES = frozenset(
    {"aims-minutes", "caption-number", "cell_input", "code-fold", "headerlink", "highlight"}
    | {"section-number", "toctree-wrapper"}
)
LATE = "late"  # the class of a <noscript> that holds a section until a reader opens it
# Tables of numbers: only their captions have words. Others are the Markdown's, or marked as words.
WORDS = "words"
PLAIN_TABLE = frozenset({"table", "docutils", "align-default", "colwidths-auto"})
# What stands between the parts of a formula when it is written in one line.
BETWEEN = {"msub": "_", "munder": "_", "msup": "^", "mover": "^", "mfrac": "/"}
BETWEEN |= {"msubsup": "_^", "munderover": "_^"}
LONGEST_FORMULA = 24  # characters; longer ones are left out
INVISIBLE = re.compile("[\u2061-\u2064\u200b]")


@dataclass(frozen=True)
class Section:
    """What stands under one heading, without the sections within."""

    anchor: str  # the section's id, empty for the one that begins the page
    heading: str
    text: str


def read_sections(page: str) -> list[Section]:
    """Return the sections of the article on a page of HTML, in their order."""
    document = html.document_fromstring(page)
    leave_words(document)
    found: list[Section] = []
    for section in reversed(list(document.iter("section"))):  # those within first
        heading = next(section.iter(*HEADINGS), None)
        if heading is not None:  # else it is part of the section that it stands in
            title = taken_out(heading)
            text = taken_out(section)
            if section.get("id") and title:
                found.insert(0, Section(section.get("id"), title, text))
    return [Section("", first.heading, first.text) for first in found[:1]] + found[1:]


def leave_words(document: html.HtmlElement) -> None:
    """Leave of a page what is read, with a space around each block."""
    for math in list(document.iter("math")):
        math.tail = f"{formula(math)} {math.tail or ''}"
        math.drop_tree()
    for element in list(document.iter()):
        if is_silent(element):
            element.drop_tree()
    for table in list(document.iter("table")):
        if is_of_numbers(table):
            captions = [taken_out(caption) for caption in table.iter("caption", "figcaption")]
            table.clear()
            table.text = " ".join(captions)
    for element in document.iter():
        if element.tag not in INLINE:
            element.text, element.tail = f" {element.text or ''}", f" {element.tail or ''}"


def taken_out(element: html.HtmlElement) -> str:
    """Remove an element from a page, and return its words."""
    words = re.sub(r" ([,.;:)])", r"\1", " ".join(element.text_content().split()))
    element.drop_tree()
    return words


def is_silent(element: html.HtmlElement) -> bool:
    """Tell whether an element's words are no part of what a reader looks for."""
    if not isinstance(element.tag, str):
        return True
    # A name with a hyphen is a custom element: something to work with, not to read.
    is_code = element.tag in SILENT_TAGS and LATE not in element.classes
    return is_code or "-" in element.tag or bool(SILENT_CLASSES & set(element.classes))


def is_of_numbers(table: html.HtmlElement) -> bool:
    """Tell whether of a table only the captions are read."""
    return bool(set(table.classes) - PLAIN_TABLE) and WORDS not in table.classes


def formula(math: html.HtmlElement) -> str:
    """Return a formula of a sentence in one line, or nothing for a long or a displayed one."""
    text = INVISIBLE.sub("", unicodedata.normalize("NFKC", in_line(math)))
    is_short = len(text) <= LONGEST_FORMULA and math.get("display") != "block"
    return text if is_short else ""


def in_line(element: html.HtmlElement) -> str:
    """Return what a formula, or a part of one, says in one line."""
    signs = ["", *BETWEEN.get(element.tag, "")]
    parts = [(element.text or "").strip()]
    for i, child in enumerate(element):
        parts += [signs[i] if i < len(signs) else "", in_line(child), (child.tail or "").strip()]
    return "√" * (element.tag in ("msqrt", "mroot")) + "".join(parts)
