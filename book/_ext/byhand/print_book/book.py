"""The document to print: parts, chapters, solutions, bibliography and index."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node

from byhand.contents import Contents, Part, read_contents
from byhand.document import BIBLIOGRAPHY, BOOK, Document
from byhand.edition import edition
from byhand.press.markup import array, drawing, string, text
from byhand.print_book import references, terms
from byhand.print_book.references import Target, number_of_chapter
from byhand.print_book.writer import Writer
from byhand.quiz.elements import QUESTION, quiz, quiz_answer

logger = logging.getLogger(__name__)

FRONT = "About this book"
# What a source prints beside a number is shown on demand; a button leads to another page. A cell
# has its tags as classes.
SCREEN_ONLY = {"printed", "screen-only", "tag_screen-only", "sd-btn"}
OBJECT = re.compile(r"^<[\w.]+( object)?( at 0x[0-9a-f]+)?>$")
MAX_ENDING_LENGTH = 1600  # characters of a last section, or exercise, that is kept on one page
# Characters of the last entries of an appendix: its last page has at least eight lines.
MIN_APPENDIX_ENDING_LENGTH, MAX_APPENDIX_ENDING_LENGTH = 900, 2800
ANSWERS = "Answers to the questions and boxes"
Solutions = dict[str, list[solution_node]]
Answers = dict[str, list[nodes.Element]]


def source(app: Sphinx, document: Document) -> str:
    """Return the Typst source of a document, from the pages that `app` has read."""
    clear_bibliographies(app.env)
    return "\n".join(Book(app.env, app.builder, app.config, document).pieces())


def clear_bibliographies(env: BuildEnvironment) -> None:
    """Remove from each bibliography the works of the document before.

    Sphinx keeps the nodes of a bibliography, and adds to them each time that its page is resolved.
    """
    for bibliography in env.domaindata["cite"]["bibliographies"].values():
        for work in bibliography.citation_nodes.values():
            work.clear()


class Book:
    """The pages of a document, prepared for print."""

    def __init__(
        self, env: BuildEnvironment, builder: Builder, config: Config, document: Document
    ) -> None:
        self.env, self.config, self.document = env, config, document
        self.parts = chosen_parts(read_contents(), document)
        names = [page for part in self.parts for page in part.pages]
        self.front = [] if document.is_reader else [config.root_doc]
        self.pages = {n: printable_page(env, builder, n, document) for n in [*self.front, *names]}
        drawings = (n for page in self.pages.values() for n in page.findall(nodes.raw))
        self.cover = next((node for node in drawings if "drawing" in node), None)
        self.solutions = take_solutions(self.pages)
        for page in self.pages.values():
            mark_ending(page)
        everything = [*self.pages.items(), *self.all_solutions()]
        references.remove_uncited_tables(everything)
        self.answers = take_answers(self.pages)  # after the call above, which removes some boxes
        everything += self.all_answers()
        known = references.names_in(everything) if document.solutions != "appendix" else set()
        if document.solutions == "only":
            self.pages = {BIBLIOGRAPHY: self.pages[BIBLIOGRAPHY]}
        if document.solutions == "none":
            self.solutions, self.answers = {}, {}
        roots = [*self.pages.items(), *self.all_solutions(), *self.all_answers()]
        self.wanted = references.resolve(env, roots, names, known)
        keep_cited(self.pages[BIBLIOGRAPHY], self.wanted)
        self.entries = terms.mark(p for n, p in self.pages.items() if n != BIBLIOGRAPHY)

    def all_solutions(self) -> list[tuple[str, solution_node]]:
        """Return all solutions, each with its page."""
        return [(page, node) for page, of_page in self.solutions.items() for node in of_page]

    def all_answers(self) -> list[tuple[str, nodes.Element]]:
        """Return all answers to questions and boxes, each with its page."""
        return [(page, node) for page, of_page in self.answers.items() for node in of_page]

    def pieces(self) -> Iterator[str]:
        """Yield the Typst source in pieces."""
        yield '#import "/book.typ": *'
        yield self.opening()
        yield from (self.writer(name).write(self.pages[name]) for name in self.front)
        for part in self.parts:
            shown = [name for name in part.pages if name in self.pages and name != BIBLIOGRAPHY]
            numbered = [name for name in shown if number_of_chapter(self.env, name)]
            is_part = bool(part.caption and numbered)
            if is_part:
                yield f"#part({string(str(part.number))})[{text(part.caption)}]"
            for name in shown:
                opens = is_part and name == shown[0]
                writer = self.writer(name, 1 + is_part, opens_part=opens)
                yield writer.write(self.pages[name])
        yield from self.key()
        yield from self.appendix()
        if next(self.pages[BIBLIOGRAPHY].findall(nodes.citation), None) is not None:
            title, works = self.writer(BIBLIOGRAPHY).heading_and_content(self.pages[BIBLIOGRAPHY])
            yield f"{title}#small-columns[\n{works}]"
        if self.entries:
            entries = (f"({string(entry)}, {string(see)})" for entry, see in self.entries)
            yield f"#index{array(entries)}"

    def writer(self, page: str, level: int = 1, *, opens_part: bool = False) -> Writer:
        """Return a writer for a page."""
        solutions = {
            node["target_label"]: (page, node["label"]) for page, node in self.all_solutions()
        }
        return Writer(self.env, page, level, self.wanted, solutions, opens_part=opens_part)

    def opening(self) -> str:
        """Return the title page, the imprint and the contents."""
        document = self.document
        people = [document.course, document.instructor, document.date]
        if not document.is_reader:
            people = [self.config.author]
        lines = [str(edition()), *filter(None, [self.config.html_baseurl])]
        figure = f"[#{drawing(self.cover['drawing'], self.cover['alt'])}]" if self.cover else "none"
        fields = {
            "title": string(document.title),
            "subtitle": string(document.subtitle),
            "author": string(self.config.author),
            "paper": string({"a4": "a4", "letter": "us-letter"}[document.paper]),
            "people": array(map(string, filter(None, people))),
            "edition": array(map(string, lines)),
            "copyright": string(f"{self.config.copyright} {self.config.author}"),
            "is-reader": "true" if document.is_reader else "false",
            "figure": figure,
        }
        return f"#show: book.with({', '.join(f'{k}: {v}' for k, v in fields.items())})"

    def key(self) -> Iterator[str]:
        """Yield the answers to questions and boxes by chapter."""
        if not self.answers:
            return
        yield f'#chapter(1, "", ())[{ANSWERS}]\n#small-columns[\n'
        *_, last = self.answers
        for page, of_page in self.answers.items():
            yield f"#chapter-of[{text(self.heading(page))}]"
            ending = start_of_ending(of_page) if page == last else len(of_page)
            yield from map(self.writer(page).write_key, of_page[:ending])
            yield from kept_together(map(self.writer(page).write_key, of_page[ending:]))
        yield "]"

    def appendix(self) -> Iterator[str]:
        """Yield all solutions by chapter."""
        if not self.solutions:
            return
        yield '#chapter(1, "", ())[Solutions]\n#small[\n'
        *_, last = self.solutions
        for page, of_page in self.solutions.items():
            yield f'#titled(2, 1, "", (), false)[{text(self.heading(page))}]'
            ending = start_of_ending(of_page) if page == last else len(of_page)
            yield from map(self.writer(page).write, of_page[:ending])
            yield from kept_together(map(self.writer(page).write, of_page[ending:]))
        yield "]"

    def heading(self, page: str) -> str:
        """Return the title of a chapter in an appendix."""
        number, title = number_of_chapter(self.env, page), self.env.titles[page].astext()
        return f"Chapter {number}, {title}" if number else title


def printable_page(
    env: BuildEnvironment, builder: Builder, name: str, document: Document
) -> nodes.document:
    """Return a page prepared for print: references resolved, content for screens removed.

    If the document omits code, a line gives its location. Output that cannot be printed gives a
    warning with file and line.
    """
    page = env.get_doctree(name)
    env.resolve_references(page, name, builder)
    for node in list(page.findall(nodes.Element)):
        if SCREEN_ONLY.intersection(node.get("classes", [])) and node.parent is not None:
            node.parent.remove(node)
    place_of_code = f"Code: on the page “{page.next_node(nodes.title).astext()}” of {BOOK}."
    for block in list(page.findall(nodes.literal_block)):
        text = block.astext().strip()
        if "output" not in block["classes"]:
            if not document.code:
                block.replace_self(nodes.paragraph("", "", nodes.emphasis("", place_of_code)))
        elif OBJECT.match(text):
            logger.warning("this cell's output has no print form: %s", text, location=block)
    if name == env.config.root_doc:
        page.next_node(nodes.title).children = [nodes.Text(FRONT)]
    return page


def chosen_parts(contents: Contents, document: Document) -> list[Part]:
    """Return the parts with the pages of a document; the bibliography is always included.

    If the pages are not in the book's order, there are no parts.
    """
    if document.chapters is None:
        return list(contents.printed_parts)
    wanted = (*document.chapters, BIBLIOGRAPHY)
    kept = [
        replace(part, pages=tuple(page for page in part.pages if page in wanted))
        for part in contents.parts
    ]
    if tuple(page for part in kept for page in part.pages) == wanted:
        return [part for part in kept if part.pages]
    return [Part(number=0, caption="", pages=wanted, below={})]


def take_solutions(pages: dict[str, nodes.document]) -> Solutions:
    """Remove the solutions from pages, and return them by page."""
    taken: Solutions = {}
    for name, page in pages.items():
        for solution in list(page.findall(solution_node)):
            solution.parent.remove(solution)
            taken.setdefault(name, []).append(solution)
    return taken


def mark_ending(page: nodes.document) -> None:
    """Mark the last section of a chapter and the exercise before it, if they are short.

    Typst keeps marked content on one page, so that the chapter's last page has enough lines.
    """
    top = page.next_node(nodes.section)
    sections = [child for child in top.children if isinstance(child, nodes.section)]
    if len(sections) < 2 or len(sections[-1].astext()) > MAX_ENDING_LENGTH:
        return
    sections[-1]["ends"] = True
    kinds = (exercise_node, exercise_enumerable_node)
    exercises = [node for node in sections[-2].findall() if isinstance(node, kinds)]
    if exercises and len(exercises[-1].astext()) <= MAX_ENDING_LENGTH:
        exercises[-1]["ends"] = True


def start_of_ending(entries: Sequence[nodes.Element]) -> int:
    """Return the index from which an appendix's last entries are kept on one page.

    They are as few as have the text of about eight lines, or none if they are too long.
    """
    characters = 0
    for index in reversed(range(len(entries))):
        characters += len(entries[index].astext())
        if characters > MAX_APPENDIX_ENDING_LENGTH:
            return index + 1
        if characters >= MIN_APPENDIX_ENDING_LENGTH:
            return index
    return 0


def kept_together(written: Iterable[str]) -> Iterator[str]:
    """Yield Typst source that stays on one page."""
    yield "#ending["
    yield from written
    yield "]"


def take_answers(pages: dict[str, nodes.document]) -> Answers:
    """Remove the answers to questions and boxes from pages, and return them by page.

    Each answer gets the title of its question. Boxes get numbers, which they have only on paper.
    """
    taken: Answers = {}
    for name, page in pages.items():
        boxes = 0
        for node in list(page.findall(is_answer)):
            before = node.parent[node.parent.index(node) - 1]
            if isinstance(node, quiz_answer):
                around = node.parent
                while not isinstance(around, quiz):
                    around = around.parent
                node["of"] = QUESTION.format(around["number"])
            else:
                boxes += 1
                title = before.next_node(nodes.title)
                title += nodes.Text(f" {boxes}")
                node["of"] = title.astext()
            node.parent.remove(node)
            taken.setdefault(name, []).append(node)
    return taken


def is_answer(node: nodes.Node) -> bool:
    """Return whether a node is the answer to a question or a box."""
    is_of_box = isinstance(node, nodes.admonition) and "your-turn-answer" in node["classes"]
    return is_of_box or isinstance(node, quiz_answer)


def keep_cited(bibliography: nodes.document, wanted: set[Target]) -> None:
    """Remove works from the bibliography that this document does not cite."""
    for work in list(bibliography.findall(nodes.citation)):
        if not any((BIBLIOGRAPHY, identifier) in wanted for identifier in work["ids"]):
            work.parent.remove(work)
