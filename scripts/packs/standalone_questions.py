"""Self-contained questions: each includes the tables, figures and formulas that it names.

The numbers of the book's tables mean nothing to the reader of a single question. In a question its
tables are Table A and Table B, its figures Figure A, its formulas (A). If a question names a table,
figure or page that it does not contain, the command ends with the file and line. `bank.toml` lists
the givens that questions need but do not name, the questions that are complete without, and those
that are not exported. `byhand.checking.bank` finds a question in words that has no entry.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from html import escape
from pathlib import Path
from string import ascii_uppercase

from bs4 import BeautifulSoup, Tag
from docutils import nodes
from environment import ROOT, fail
from sphinx import addnodes
from sphinx_runs import doctree_of

from byhand.checking.marking_schemes import Scheme, schemes_of
from byhand.checking.sources import Project
from byhand.document import BOOK
from byhand.press.embedding import with_fonts
from byhand.quiz.elements import quiz
from packs import figures
from packs.pages import Page, Question, emphasised, rounding, select_one, self_contained
from packs.pages import questions as of_page

BANK = tomllib.loads((Path(__file__).parent / "bank.toml").read_text(encoding="utf-8"))
UNEXPLAINED = frozenset(BANK["unexplained"])
LABEL_OF_GIVEN = re.compile(r"(?:tbl|fig|equation)-.*")
"""How a table, a figure or a formula is labelled."""

PICTURE = re.compile(r'(?<=src=")[\w-]+\.svg(?=")')

PLACES = re.compile(
    r"\b(?:tables?|figures?|formulas?|blocks?|sections?|chapters?|examples?) (?:above|below)\b"
    r"|\b(?:this|the|last|next|previous) (?:page|notebook)\b|\bnotebook of\b"
    r"|\b(?:this|last|next|previous|the) (?:chapter|section)\b|\bwork it here\b"
    r"|\b(?:Tables?|Figs?\.|Figures?|Equations?|Exercises?|Algorithms?|Listings?|Examples?|Sections?"
    r"|Chapters?)\s\d+\.\d+|\b(?:Exercise|Question|Chapter)\s\d+"
)
"""References to other parts of a page or of the book, which no exported question may have."""

BY_TITLE = re.compile(r"\(\0[^\0]*\0\)\s?|\s?\(\0[^\0]*\0\)|\0")
"""A bracketed reference by title, between null characters; dropped if no book is published."""


class Book:
    """The tables, figures and formulas of the pages, and the book's address."""

    def __init__(self, pages: Sequence[Page], address: str) -> None:
        self.address = address
        self.pictures: dict[str, str] = {}
        self.holders = {
            str(holder["id"]): page
            for page in pages
            for holder in page.article.find_all(id=LABEL_OF_GIVEN)
        }

    def thing(self, label: str, names: "Names") -> str:
        """Return a table, figure or formula as HTML, with its name in the question and its caption.

        Raises LookupError if no page has it.
        """
        if label not in self.holders:
            raise LookupError(label)
        page, name = self.holders[label], names.name_of(label)
        holder = select_one(page.article, f'[id="{label}"]')
        if label.startswith("equation-"):
            return f"<p>{name} {self_contained(select_one(holder, 'math'))}</p>"
        shown = self._picture(page, label) if label.startswith("fig-") else _tables(holder)
        caption, _ = _resolved(_caption(holder), self, names)
        title = f"<strong>{name}</strong> {caption}".rstrip()
        return f"<p>{title}</p>{shown}"

    def _picture(self, page: Page, label: str) -> str:
        name = label.removeprefix("fig-")
        drawing = dict(figures.of_page(page))[name]
        self.pictures[f"{name}.svg"] = with_fonts(drawing)
        described = re.search(r'aria-label="([^"]*)"', drawing)
        return f'<p><img alt="{described[1] if described else ""}" src="{name}.svg"/></p>'


class Names:
    """The names of tables, figures and formulas in one question, given in order of first use."""

    def __init__(self) -> None:
        self.labels: dict[str, list[str]] = {"table": [], "figure": [], "formula": []}

    def name_of(self, label: str) -> str:
        """Return the name of a table, figure or formula: Table A, Figure A or (A)."""
        kind = {"t": "table", "f": "figure", "e": "formula"}[label[0]]
        taken = self.labels[kind]
        if label not in taken:
            taken.append(label)
        letter = ascii_uppercase[taken.index(label)]
        return f"({letter})" if kind == "formula" else f"{kind.title()} {letter}"


def _caption(holder: Tag) -> str:
    """Return the caption of a table or figure.

    A part has that of its group if all parts are of one stage. In a group of several stages the
    header of each part names its own.
    """
    if holder.select_one(".caption-text") is None:
        group = holder.find_parent("figure") or holder
        stages = {str(part["data-at"]).partition(".")[0] for part in group.select("[data-at]")}
        if len(stages) > 1:
            return ""
        holder = group
    return self_contained(select_one(holder, ".caption-text"))


def _tables(holder: Tag) -> str:
    tables = [copy(table) for table in holder.select("table") or [holder]]
    for table in tables:
        for caption in table.find_all("caption"):
            caption.decompose()
    return "".join(map(self_contained, tables))


def questions(pages: Sequence[Page], address: str = "") -> Iterator[Question]:
    """Yield the self-contained questions of the pages.

    Links lead to the book at `address`; without an address there are none.
    """
    book, schemes = Book(pages, address), schemes_of(Project(ROOT))
    for page in pages:
        doctree = doctree_of(page.name)
        asked: dict[str, list[Asked]] = dict(doctree.get("asked", {}))
        for question in of_page(page):
            label = question.label
            if label in BANK["left-out"]:
                continue
            whole = _with_scheme(_self_contained(question, book, doctree), schemes.get(label))
            yield from _asked(whole, asked.pop(label)) if label in asked else [whole]
        for label, [(line, *_), *_] in asked.items():
            fail(f"book/{page.name}.md:{line}: {label} is no exercise that the question bank has")


def _with_scheme(question: Question, scheme: Scheme | None) -> Question:
    """Return a question with its marking scheme, if it has one."""
    return replace(question, marks=scheme.marks) if scheme else question


# ---- What a question names ----


def _self_contained(question: Question, book: Book, doctree: nodes.document) -> Question:
    """Return a question with the tables, figures and formulas it needs, and a link to its page."""
    names = Names()
    try:
        text, named = _resolved(question.text, book, names, _labels(doctree, question.label))
        solved = _labels(doctree, question.label, of_solution=True)
        parts = [
            _resolved(part, book, names, solved if part is question.feedback else ())
            for part in _replies(question)
        ]
        needs = BANK["needs"].get(question.label, ())
        wanted = dict.fromkeys([*named, *needs])
        things = [_needed(need, book, names) for need in wanted]
        in_replies = dict.fromkeys(label for _, labels in parts for label in labels)
        reply_things = [book.thing(label, names) for label in in_replies if label not in wanted]
        refuse_references("".join([text, *(part for part, _ in parts), *things, *reply_things]))
    except LookupError as error:
        quizzes = (node for node in doctree.findall(quiz) if node["label"] == question.label)
        line = doctree.ids.get(question.label, next(quizzes, doctree)).line or 1
        place = f"book/{question.page}.md:{line}"
        fail(f"{place}: {question.name} names {error}, which the question does not have")
    replies = iter([part for part, _ in parts])
    options = tuple(
        replace(option, text=next(replies), feedback=next(replies)) for option in question.options
    )
    address = f"{book.address}{question.page}.html#{question.label}"
    chapter = escape(question.chapter)
    origin = f'<a href="{address}">{chapter}</a>' if book.address else chapter
    feedback = f"{next(replies)}{''.join(reply_things)}<p>From {BOOK}: {origin}.</p>"
    if things:
        text = f"{text if text.startswith('<p') else f'<p>{text}</p>'}{''.join(things)}"
    shown = sorted({*PICTURE.findall(text + feedback)})
    files = {name: book.pictures[name] for name in shown}
    return replace(question, text=text, options=options, feedback=feedback, files=files)


def _replies(question: Question) -> Iterator[str]:
    for option in question.options:
        yield from (option.text, option.feedback)
    yield question.feedback


def _labels(doctree: nodes.document, label: str, *, of_solution: bool = False) -> list[str]:
    """Return the labels of the tables and figures that an exercise or its solution names.

    They are read from the source, because the links on the page lead to whole groups of tables.
    """
    solutions = (n for n in doctree.findall(nodes.Element) if n.get("target_label") == label)
    source = next(solutions, None) if of_solution else doctree.ids.get(label)
    links = source.findall(addnodes.pending_xref) if source else ()
    return [link["reftarget"] for link in links if link["reftype"] == "numref"]


def _resolved(
    html: str, book: Book, names: Names, labels: Sequence[str] = ()
) -> tuple[str, list[str]]:
    """Return HTML with the question's names for tables, figures and formulas, and their labels.

    Other links lead to the published book.
    """
    soup, things, own = BeautifulSoup(html, "html.parser"), [], iter(labels)
    for link in soup.find_all("a"):
        address = str(link["href"])
        label = address.partition("#")[2]
        if LABEL_OF_GIVEN.fullmatch(label):
            things.append(label if label.startswith("equation-") else next(own, label))
            link.replace_with(names.name_of(things[-1]))
        elif "://" not in address and not book.address:
            link.insert_before("\0")
            link.insert_after("\0")
            link.unwrap()
        elif "://" not in address:
            link["href"] = book.address + address
    return BY_TITLE.sub("", soup.decode(formatter="minimal")), things


def _needed(need: str, book: Book, names: Names) -> str:
    """Return the HTML of a given from `bank.toml`: a labelled table or figure, or a sentence."""
    return book.thing(need, names) if LABEL_OF_GIVEN.fullmatch(need) else f"<p>{need}</p>"


def refuse_references(html: str) -> None:
    """Raise LookupError with the words of HTML that refer to something outside it."""
    words = " ".join(BeautifulSoup(html, "html.parser").get_text(" ").split())
    found = PLACES.search(words)
    if found:
        raise LookupError(repr(found[0]))


# ---- Numbers that an exercise asks for ----

Asked = tuple[int, str, float, int]
"""A number that an exercise is asked for by ``{asked}``: its line, what it is, itself, decimals."""


def _asked(exercise: Question, asked: Sequence[Asked]) -> Iterator[Question]:
    """Yield a question for each number that an exercise asks for."""
    for i, (_, words, value, wanted) in enumerate(asked, 1):
        places, sentence = rounding(value, wanted)
        number_asked = emphasised(words)
        yield replace(
            exercise,
            name=f"{exercise.name}-{i}" if len(asked) > 1 else exercise.name,
            asked=number_asked,
            text=f"{exercise.text}<p><strong>Enter:</strong> {number_asked} {sentence}</p>",
            answer=value,
            places=places,
        )
