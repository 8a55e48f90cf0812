"""Questions that stand alone: each with the tables, figures and formulas that it names.

A question that names what it has not stops the pack, with its file and line. `bank.toml` lists what
questions take without naming it, and the questions that cannot do without their page.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from html import escape
from pathlib import Path

import yaml
from bs4 import BeautifulSoup, Tag
from docutils import nodes
from environment import ROOT, fail
from sphinx import addnodes
from sphinx_runs import doctree_of

from byhand.document import BOOK
from byhand.quiz.elements import quiz
from packs import figures
from packs.pages import Page, Question, marked, one, rounding, standing_alone
from packs.pages import questions as of_page

BANK = tomllib.loads((Path(__file__).parent / "bank.toml").read_text(encoding="utf-8"))
UNEXPLAINED = frozenset(BANK["unexplained"])
THING = re.compile(r"(?:tbl|fig|equation)-.*")
"""How a table, a figure or a formula is labelled."""

PICTURE = re.compile(r'(?<=src=")[\w-]+\.svg(?=")')

PLACES = re.compile(
    r"\b(?:tables?|figures?|formulas?|blocks?|sections?|chapters?|examples?) (?:above|below)\b"
    r"|\b(?:this|the|last|next|previous) (?:page|notebook)\b|\bnotebook of\b"
    r"|\b(?:this|last|next|previous) (?:chapter|section)\b|\bwork it here\b"
)
"""Words for what stands elsewhere on a page. Numbers of tables are links there, and no words."""


class Book:
    """What questions refer to: the things on the pages, and the book's address."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self.address = base_address()
        self.pictures: dict[str, str] = {}
        self.holders = {
            str(holder["id"]): page for page in pages for holder in page.article.find_all(id=THING)
        }

    def things(self, label: str, name: str) -> list[str]:
        """Return what a text calls by a name, as HTML, and what its caption names.

        Raises LookupError where no page has it.
        """
        if label not in self.holders:
            raise LookupError(name)
        html, more = _resolved(self._thing(self.holders[label], label, name), self)
        return [html, *more]

    def _thing(self, page: Page, label: str, name: str) -> str:
        """Return a table, figure or formula below its name and caption."""
        holder = one(page.article, f'[id="{label}"]')
        if label.startswith("equation-"):
            return f"<p>{name} {standing_alone(one(holder, 'math'))}</p>"
        shown = self._picture(page, label) if label.startswith("fig-") else _tables(holder)
        group = holder if holder.select_one(".caption-text") else holder.find_parent("figure")
        caption = one(group or holder, ".caption-text")
        number = caption.find_previous_sibling(class_="caption-number")
        name = name if name != label or number is None else number.get_text(strip=True)
        return f"<p><strong>{escape(name)}</strong> {standing_alone(caption)}</p>{shown}"

    def _picture(self, page: Page, label: str) -> str:
        name = label.removeprefix("fig-")
        self.pictures[f"{name}.svg"] = drawing = dict(figures.of_page(page))[name]
        said = re.search(r'aria-label="([^"]*)"', drawing)
        return f'<p><img alt="{said[1] if said else ""}" src="{name}.svg"/></p>'


def _tables(holder: Tag) -> str:
    tables = [copy(table) for table in holder.select("table") or [holder]]
    for table in tables:
        for caption in table.find_all("caption"):
            caption.decompose()
    return "".join(map(standing_alone, tables))


def questions(pages: Sequence[Page]) -> Iterator[Question]:
    """Yield the questions of the pages that stand alone, each with all that it takes."""
    book = Book(pages)
    for page in pages:
        doctree = doctree_of(page.name)
        asked: dict[str, list[Asked]] = dict(doctree.get("asked", {}))
        for question in of_page(page):
            label = question.label
            if label in BANK["left-out"]:
                continue
            whole = _whole(question, book, doctree)
            yield from _asked(whole, asked.pop(label)) if label in asked else [whole]
        for label, [(line, *_), *_] in asked.items():
            fail(f"book/{page.name}.md:{line}: {label} is no exercise that the question bank has")


def base_address() -> str:
    """Return the address of the published book, empty if it has none."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return str(config["html"]["baseurl"] or "")


# ---- What a question names ----


def _whole(question: Question, book: Book, doctree: nodes.document) -> Question:
    """Return a question with the things that it names, and a link to its page."""
    try:
        text, named = _resolved(question.text, book, _labels(doctree, question))
        parts = [_resolved(part, book) for part in _replies(question)]
        needs = BANK["needs"].get(question.label, ())
        needed = [thing for need in needs for thing in _needed(need, book)]
        things = dict.fromkeys([*named, *needed])
        said = {thing: None for _, found in parts for thing in found if thing not in things}
        check("".join([text, *(part for part, _ in parts)]))
    except LookupError as error:
        quizzes = (node for node in doctree.findall(quiz) if node["label"] == question.label)
        line = doctree.ids.get(question.label, next(quizzes, doctree)).line or 1
        place = f"book/{question.page}.md:{line}"
        fail(f"{place}: {question.name} names {error}, which the question has not")
    replies = iter([part for part, _ in parts])
    options = tuple(
        replace(option, text=next(replies), feedback=next(replies)) for option in question.options
    )
    where = f"{question.page}.html#{question.label}"
    chapter = escape(question.chapter)
    origin = f'<a href="{book.address}{where}">{chapter}</a>' if book.address else chapter
    feedback = f"{next(replies)}{''.join(said)}<p>From {BOOK}: {origin}.</p>"
    if things:
        text = f"{text if text.startswith('<p') else f'<p>{text}</p>'}{''.join(things)}"
    shown = sorted({*PICTURE.findall(text + feedback)})
    files = {name: book.pictures[name] for name in shown}
    return replace(question, text=text, options=options, feedback=feedback, files=files)


def _replies(question: Question) -> Iterator[str]:
    for option in question.options:
        yield from (option.text, option.feedback)
    yield question.feedback


def _labels(doctree: nodes.document, question: Question) -> list[str]:
    """Return the tables and figures that an exercise names: a page's links lead to whole groups."""
    exercise = doctree.ids.get(question.label)
    links = exercise.findall(addnodes.pending_xref) if exercise else ()
    return [link["reftarget"] for link in links if link["reftype"] == "numref"]


def _resolved(html: str, book: Book, labels: Sequence[str] = ()) -> tuple[str, list[str]]:
    """Return HTML whose links lead to the published book, and the things that it names."""
    soup, things, own = BeautifulSoup(html, "html.parser"), [], iter(labels)
    for link in soup.find_all("a"):
        address = str(link["href"])
        label = address.partition("#")[2]
        if THING.fullmatch(label):
            wanted = label if label.startswith("equation-") else next(own, label)
            things += book.things(wanted, link.get_text())
            link.unwrap()
        elif "://" not in address and not book.address:
            link.unwrap()
        elif "://" not in address:
            link["href"] = book.address + address
    return soup.decode(formatter="minimal"), things


def _needed(need: str, book: Book) -> list[str]:
    """Return a thing that the bank's list names for a question, or a sentence that it has."""
    return book.things(need, need) if THING.fullmatch(need) else [f"<p>{escape(need)}</p>"]


def check(html: str) -> None:
    """Raise LookupError, with the words, where HTML speaks of what stands elsewhere."""
    words = " ".join(BeautifulSoup(html, "html.parser").get_text(" ").split())
    found = PLACES.search(words)
    if found:
        raise LookupError(repr(found[0]))


# ---- Numbers that an exercise asks for ----

Asked = tuple[int, str, float, int]
"""A number that an exercise is asked for by ``{asked}``: its line, what it is, itself, decimals."""


def _asked(exercise: Question, asked: Sequence[Asked]) -> Iterator[Question]:
    """Yield an exercise as a question for each number that it is asked for."""
    for i, (_, said, value, wanted) in enumerate(asked, 1):
        places, sentence = rounding(value, wanted)
        what = marked(said)
        yield replace(
            exercise,
            name=f"{exercise.name}-{i}" if len(asked) > 1 else exercise.name,
            asked=what,
            text=f"{exercise.text}<p><strong>Enter:</strong> {what} {sentence}</p>",
            answer=value,
            places=places,
        )
