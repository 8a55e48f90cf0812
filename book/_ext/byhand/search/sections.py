"""The sections of a written page: what stands under each heading, as plain words."""

import re
import unicodedata
from dataclasses import dataclass, field
from html.parser import HTMLParser

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
)
INLINE = frozenset(
    {
        "a",
        "b",
        "cite",
        "code",
        "em",
        "i",
        "kbd",
        "mark",
        "q",
        "small",
        "span",
        "strong",
        "sub",
        "sup",
    }
)
# What a reader does not search for: code and the fold that it is in, drawings, what can be pressed,
# the TeX of a formula, how long a page takes.
SILENT_TAGS = frozenset(
    {"annotation", "button", "form", "label", "nav", "noscript", "pre", "script", "select", "style"}
    | {"svg", "template", "textarea"}
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
BETWEEN = {"msub": "_", "msup": "^", "munder": "_", "mover": "^", "mfrac": "/"}
BETWEEN_THREE = {"msubsup": "_^", "munderover": "_^"}
LONGEST_FORMULA = 24  # characters; longer ones are left out
INVISIBLE = re.compile("[\u2061-\u2064\u200b]")


@dataclass
class Section:
    """What stands under one heading, without the sections within.

    Parameters
    ----------
    anchor : str
        The section's id, empty for the one that begins the page.
    heading, text : str
    """

    anchor: str
    heading: str = ""
    text: str = ""
    parts: "list[str | Section]" = field(default_factory=list, repr=False)
    headed: bool = field(default=False, repr=False)  # its heading has come to its end

    def tidy(self) -> None:
        """Put the text together; a section without a heading is part of the one it stands in."""
        texts = []
        for part in self.parts:
            if isinstance(part, str):
                texts.append(part)
                continue
            part.tidy()
            if not part.heading:
                texts.append(f" {part.text} ")
        self.heading = _tidy(self.heading)
        self.text = _tidy("".join(texts))


@dataclass
class _Element:
    tag: str
    heard: str  # "yes", "captions" within a table of numbers, or "no"
    section: Section | None = None
    children: int = 0
    formula: list[str] = field(default_factory=list)


def read_sections(html: str) -> list[Section]:
    """Return the sections of the article on a page, in their order.

    Parameters
    ----------
    html : str
        A whole page, or the article alone.

    Examples
    --------
    >>> read_sections('<section id="a"><h1>A<a class="headerlink">#</a></h1><p>One.</p>'
    ...               '<section id="b"><h2><span class="section-number">1. </span>B</h2>'
    ...               '<p>By <math><msub><mi>d</mi><mi>k</mi></msub></math>.</p><pre>x</pre>'
    ...               '</section></section>')
    [Section(anchor='', heading='A', text='One.'), Section(anchor='b', heading='B', text='By d_k.')]
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    for section in reader.sections:
        section.tidy()
    return [section for section in reader.sections if section.heading]


def _tidy(text: str) -> str:
    return re.sub(r" ([,.;:)])", r"\1", " ".join(text.split()))


class _Reader(HTMLParser):
    """Walk through a page once and give each piece of text to the section it stands in."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.sections: list[Section] = []
        self.open: list[_Element] = [_Element("", "yes")]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element, or note an empty one."""
        given = {name: value or "" for name, value in attrs}
        self._separate(tag)
        if tag in VOID:
            return
        element = _Element(tag, self._heard(tag, given))
        if tag == "section" and given.get("id"):
            element.section = Section(given["id"] if self.sections else "")
            if above := self._section():
                above.parts.append(element.section)
            self.sections.append(element.section)
        self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that closes itself, as those of MathML and SVG may."""
        self._separate(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and those in it that the page left open."""
        if not any(element.tag == tag for element in self.open):
            return
        while True:
            element = self.open.pop()
            if element.tag in HEADINGS and (section := self._section()):
                section.headed = True
            if element.tag == "math":
                self._end_formula(element)
            if element.tag == tag:
                break
        if tag not in INLINE and not self._formula():
            self._add(" ")

    def handle_data(self, data: str) -> None:
        """Add text to the section, the heading or the formula that is open."""
        if self.open[-1].heard != "yes":
            return
        if (math := self._formula()) is not None:
            math.formula.append(data.strip())
        else:
            self._add(data)

    def _heard(self, tag: str, given: dict[str, str]) -> str:
        """Return whether the text of an element counts."""
        classes = set(given.get("class", "").split())
        above = self.open[-1].heard
        if above == "captions" and tag in CAPTIONS:
            return "yes"
        block = tag == "math" and given.get("display") == "block"
        # A name with a hyphen is a custom element: something to work with, not to read.
        silent = tag in SILENT_TAGS and not (tag == "noscript" and LATE in classes)
        if block or silent or "-" in tag or classes & SILENT_CLASSES:
            return "no"
        if above == "yes" and tag == "table" and classes - PLAIN_TABLE and WORDS not in classes:
            return "captions"
        return above

    def _formula(self) -> _Element | None:
        return next((e for e in reversed(self.open) if e.tag == "math"), None)

    def _separate(self, tag: str) -> None:
        """Write what belongs between an element and the one before it."""
        above = self.open[-1]
        above.children += 1
        math = self._formula()
        if math is None:
            if tag not in INLINE and tag != "math":
                self._add(" ")
            return
        if above.tag in BETWEEN and above.children == 2:
            math.formula.append(BETWEEN[above.tag])
        elif above.tag in BETWEEN_THREE and above.children > 1:
            math.formula.append(BETWEEN_THREE[above.tag][above.children - 2])
        if tag in ("msqrt", "mroot"):
            math.formula.append("√")

    def _end_formula(self, element: _Element) -> None:
        text = INVISIBLE.sub("", unicodedata.normalize("NFKC", "".join(element.formula)))
        if element.heard == "yes" and len(text) <= LONGEST_FORMULA:
            self._add(text)

    def _section(self) -> Section | None:
        return next((e.section for e in reversed(self.open) if e.section), None)

    def _add(self, text: str) -> None:
        section = self._section()
        if section is None:
            return
        if any(element.tag in HEADINGS for element in self.open) and not section.headed:
            section.heading += text
        else:
            section.parts.append(text)
