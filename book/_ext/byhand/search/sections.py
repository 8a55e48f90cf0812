"""The sections of a written page: what stands under each heading, as plain words."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import html

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
INLINE = frozenset(  # no space stands around them
    {"a", "b", "cite", "code", "em", "i", "kbd", "mark", "q", "small", "span", "strong"}
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
CAPTIONS = frozenset({"caption", "figcaption"})
# What stands between the parts of a formula when it is written in one line.
BETWEEN = {"msub": "_", "munder": "_", "msup": "^", "mover": "^", "mfrac": "/"}
BETWEEN |= {"msubsup": "_^", "munderover": "_^"}
LONGEST_FORMULA = 24  # characters; longer ones are left out
INVISIBLE = re.compile("[\u2061-\u2064\u200b]")


@dataclass(frozen=True)
class Section:
    """What stands under one heading, without the sections within.

    Parameters
    ----------
    anchor : str
        The section's id, empty for the one that begins the page.
    heading, text : str
    """

    anchor: str
    heading: str
    text: str


def read_sections(page: str) -> list[Section]:
    """Return the sections of the article on a page, in their order.

    Parameters
    ----------
    page : str
        A whole page, or the article alone, as HTML.

    Examples
    --------
    >>> read_sections('<section id="a"><h1>A<a class="headerlink">#</a></h1><p>One.</p>'
    ...               '<section id="b"><h2><span class="section-number">1. </span>B</h2>'
    ...               '<p>By <math><msub><mi>d</mi><mi>k</mi></msub></math>.</p><pre>x</pre>'
    ...               '</section></section>')
    [Section(anchor='', heading='A', text='One.'), Section(anchor='b', heading='B', text='By d_k.')]
    """
    found: list[Section] = []
    for section in html.document_fromstring(page).iter("section"):
        heading = heading_of(section)
        if section.get("id") and heading is not None:
            anchor = section.get("id") if found else ""
            found.append(Section(anchor, _tidy(words(heading)), _tidy(words(section))))
    return [section for section in found if section.heading]


def heading_of(section: html.HtmlElement) -> html.HtmlElement | None:
    """Return a section's own heading; one without is part of the section that it stands in."""
    first = next(section.iter(*HEADINGS), None)
    is_own = first is not None and next(first.iterancestors("section")) is section
    return first if is_own else None


def words(element: html.HtmlElement, *, captions: bool = False) -> Iterator[str]:
    """Yield the text of an element, and of those in it that are read with it.

    Parameters
    ----------
    element : HtmlElement
    captions : bool
        Whether only the captions in it are read.
    """
    yield "" if captions else element.text or ""
    for child in element:
        if child.tag == "math":
            yield "" if captions else f"{formula(child)} "
        elif is_read(child):
            inside = words(child, captions=reads_captions(child, around=captions))
            yield from inside if child.tag in INLINE else (" ", *inside, " ")
        yield "" if captions else child.tail or ""


def is_read(element: html.HtmlElement) -> bool:
    """Tell whether an element's words belong to the section that it stands in."""
    if not isinstance(element.tag, str) or (
        element.tag in HEADINGS and heading_of(next(element.iterancestors("section"))) is element
    ):
        return False
    if element.tag == "section" and heading_of(element) is not None:
        return False
    silent = element.tag in SILENT_TAGS and LATE not in element.classes
    # A name with a hyphen is a custom element: something to work with, not to read.
    return not (silent or "-" in element.tag or SILENT_CLASSES & set(element.classes))


def reads_captions(element: html.HtmlElement, *, around: bool) -> bool:
    """Tell whether only the captions in an element are read: a table of numbers, or part of one."""
    if element.tag == "table" and set(element.classes) - PLAIN_TABLE:
        return WORDS not in element.classes
    return around and element.tag not in CAPTIONS


def formula(math: html.HtmlElement) -> str:
    """Return a formula of a sentence in one line, or nothing for a long or a displayed one."""
    text = INVISIBLE.sub("", unicodedata.normalize("NFKC", in_line(math)))
    is_short = len(text) <= LONGEST_FORMULA and math.get("display") != "block"
    return text if is_short else ""


def in_line(element: html.HtmlElement) -> str:
    """Return what a formula, or a part of one, says in one line."""
    if element.tag == "annotation":
        return ""
    signs = ["", *BETWEEN.get(element.tag, "")]
    parts = [(element.text or "").strip()]
    for i, child in enumerate(element):
        parts += [signs[i] if i < len(signs) else "", in_line(child), (child.tail or "").strip()]
    return "√" * (element.tag in ("msqrt", "mroot")) + "".join(parts)


def _tidy(pieces: Iterator[str]) -> str:
    return re.sub(r" ([,.;:)])", r"\1", " ".join("".join(pieces).split()))
