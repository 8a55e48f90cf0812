"""Folded sections, for content that a first reading can skip.

A section whose heading begins with ``Deeper: `` is a closed ``<details>`` with the heading as its
summary. Sections that begin with ``All numbers`` or ``In PyTorch`` are folded too, and their
elements are built only when they are opened: the page holds them in a ``<noscript>``, which is text
to a browser with scripts and is shown by one without. `folds.ts` builds and opens them.

Labels, numbers, contents and search treat them as any section. On paper ``Deeper`` is open,
`print_book.references` keeps the tables of ``All numbers`` that something cites, and ``In PyTorch``
is omitted.
"""

import re
from collections.abc import Iterator
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node

from byhand.quiz.elements import quiz

logger = logging.getLogger(__name__)

DEEPER, ALL_NUMBERS, IN_PYTORCH = "Deeper: ", "All numbers", "In PyTorch"
KINDS = {DEEPER: "deeper", ALL_NUMBERS: "all-numbers", IN_PYTORCH: "in-pytorch"}
"""The class of a section on the screen, by what its heading begins with."""

NOW, LATER = ('<div class="fold-body">', "</div>"), ('<noscript class="late">', "</noscript>")
LATE = re.compile(r'<noscript class="late">(.*?)</noscript>', re.DOTALL)
ID = re.compile(r'\bid="([^"]+)"')
ANSWERED = (exercise_node, exercise_enumerable_node, solution_node, quiz)


def fold_sections(app: Sphinx, doctree: nodes.document, name: str) -> None:
    """Fold sections on the screen; on paper remove "In PyTorch"."""
    for section, beginning in list(folded_sections(doctree)):
        if beginning != DEEPER:
            warn_of_questions(section, beginning)
        if beginning == IN_PYTORCH:
            section["classes"].append("screen-only")
        if app.builder.format == "html":
            fold(section, beginning)


def folded_sections(document: nodes.Element) -> Iterator[tuple[nodes.section, str]]:
    """Yield the sections of a document that fold, each with the beginning of its heading."""
    for section in document.findall(nodes.section):
        if beginning := fold_kind(section):
            yield section, beginning


def fold_kind(section: nodes.Element) -> str:
    """Return `DEEPER`, `ALL_NUMBERS` or `IN_PYTORCH`; "" if the section does not fold."""
    title = section.next_node(nodes.title)
    if title is None or title.parent is not section:
        return ""
    return next((start for start in KINDS if title.astext().startswith(start)), "")


def fold(section: nodes.section, beginning: str) -> None:
    """Wrap a section's content; the heading remains the section's child, as writers expect."""
    between, after = NOW if beginning == DEEPER else LATER
    place = section.index(section.next_node(nodes.title))
    section.insert(place + 1, raw_html(f"</summary>{between}\n"))
    section.insert(place, raw_html(f'<details class="fold {KINDS[beginning]}"><summary>'))
    section += raw_html(f"{after}</details>\n")


def raw_html(text: str) -> nodes.raw:
    """Return a node of raw HTML."""
    return nodes.raw("", text, format="html")


def warn_of_questions(section: nodes.section, beginning: str) -> None:
    """Warn of exercises, questions and dropdowns inside a section."""
    for node in section.findall(nodes.Element):
        if isinstance(node, ANSWERED) or "dropdown" in node.get("classes", []):
            logger.warning(
                "an exercise, a question or a dropdown cannot be inside “%s”",
                beginning,
                location=node,
            )


def finish_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """Refuse a nested ``<noscript>``, and remove links into lazy folds from the contents."""
    late = LATE.findall(context.get("body", ""))
    if any("<noscript" in text for text in late):
        message = "a <noscript> cannot be inside “All numbers” or “In PyTorch”"
        logger.warning(message, location=(pagename, None))
    if late and context.get("toc"):
        waiting = set(ID.findall("".join(late)))
        context["toc"] = contents_without(context["toc"], waiting)


def contents_without(toc: str, ids: set[str]) -> str:
    """Return a page's contents without the entries that link to some ids.

    The theme's script, which marks where the reader is, stops at an entry that leads nowhere.

    Examples
    --------
    >>> contents_without('<ul><li><a href="#a">A</a><ul><li><a href="#b">B</a></li></ul></li></ul>',
    ...                  {"b"})
    '<ul><li><a href="#a">A</a></li></ul>'
    """
    soup = BeautifulSoup(toc, "html.parser")
    for link in soup.find_all("a", href=lambda href: href and href[1:] in ids):
        entry = link.find_parent("li")
        if entry is not None:
            entry.decompose()
    for empty in [found for found in soup.find_all("ul") if not found.find("li")]:
        empty.decompose()
    return str(soup)
