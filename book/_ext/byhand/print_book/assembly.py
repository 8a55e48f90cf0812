"""Put the pages together as one document: parts, chapters, solutions, bibliography."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from docutils import nodes
from docutils.utils import new_document
from sphinx import addnodes
from sphinx.builders.latex import LaTeXBuilder
from sphinx.builders.latex.nodes import footnotemark, footnotetext, thebibliography
from sphinx.environment import BuildEnvironment
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node, solution_node
from sphinxcontrib.bibtex.nodes import raw_latex

from byhand.contents import Contents, Part, read_contents
from byhand.document import BIBLIOGRAPHY, Document
from byhand.print_book import cover, drawings, left_out, numbers, pages, style, terms, typefaces
from byhand.quiz.elements import quiz, quiz_key

FRONT = "About this book"
Solutions = dict[str, list[solution_node]]


class BookBuilder(LaTeXBuilder):
    """Sphinx's LaTeX builder with the book's own order of things."""

    def init_document_data(self) -> None:
        """Take one document, under its own title; Jupyter Book puts the book's in its place."""
        document = Document.load()
        title, author = style.escape(document.title), style.escape(self.config.author)
        self.config.latex_documents = [("index", f"{document.name}.tex", title, author, "manual")]
        super().init_document_data()

    def get_relative_uri(self, from_: str, to: str, typ: str | None = None) -> str:
        """Return an address for every page; what is left out is named in its place afterwards."""
        return f"%{to}"

    def get_contentsname(self, indexfile: str) -> str:
        """Return the heading of the contents; Sphinx takes the first part's caption."""
        return "Contents"

    def assemble_doctree(
        self, indexfile: str, toctree_only: bool, appendices: list[str]
    ) -> nodes.document:
        """Return the whole document, references resolved."""
        document = Document.load()
        parts = chosen(read_contents(), document)
        self.docnames = {page for part in parts for page in part.pages}
        if not document.is_reader:
            self.docnames.add(indexfile)
        book, body = join(self.env, indexfile, parts, document)
        if document.solutions != "none":
            add_key(body)
        with doctrees_kept(self.env):
            self.env.resolve_references(book, indexfile, self)
        pages.fit_for_print(book)
        cover.write(Path(self.outdir), document, self.config, book)
        drawings.place(book, Path(self.outdir))
        solutions = take_solutions(book)
        if document.solutions == "only":
            for chapter in body[1:]:
                if not is_key(chapter):
                    body.remove(chapter)
        if document.solutions != "none":
            add_solutions(self.env, body, solutions)
        if document.solutions == "appendix":
            point_to_solutions(book, solutions)
        put_bibliography_in_its_chapter(book)
        left_out.name_in_place(self.env, book, self.docnames)
        terms.mark(book)
        typefaces.write(Path(self.outdir), book.astext())
        del book["docname"]  # the page that has this name is inside, with its label
        return book


@contextmanager
def doctrees_kept(env: BuildEnvironment) -> Iterator[None]:
    """Read each page's doctree once; Sphinx reads it for every reference that has a number."""
    env.get_doctree = functools.cache(env.get_doctree)  # type: ignore[method-assign]
    yield
    del env.get_doctree


def chosen(contents: Contents, document: Document) -> list[Part]:
    """Return the parts with the pages that a document asks for; the bibliography always comes.

    In another order than the book's the pages stand in no part.
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


def join(
    env: BuildEnvironment, root: str, parts: list[Part], document: Document
) -> tuple[nodes.document, nodes.section]:
    """Return a document of all pages in order, and the section that holds them."""
    book = new_document("<book>", env.get_doctree(root).settings)
    book["docname"] = root
    body = nodes.section()
    body += nodes.title("", document.title)  # Sphinx takes a document's first heading as its title
    book += body
    if not document.is_reader:
        front = content(env, root)
        next(iter(front.findall(nodes.title))).children = [nodes.Text(FRONT)]
        body += front
    for part in parts:
        if part.caption:
            body += latex(
                rf"\setcounter{{part}}{{{part.number - 1}}}\part{{{style.escape(part.caption)}}}"
            )
        for page in part.pages:
            number = numbers.of_chapter(env, page)
            if number:
                body += latex(rf"\setcounter{{chapter}}{{{int(number) - 1}}}")
            body += content(env, page)
    return book, body


def content(env: BuildEnvironment, page: str) -> addnodes.start_of_file:
    """Return what stands on a page, marked as this page's."""
    file = addnodes.start_of_file(docname=page)
    file.extend(env.get_doctree(page).children)
    for toctree in list(file.findall(addnodes.toctree)):
        toctree.parent.remove(toctree)
    return file


def latex(text: str) -> nodes.raw:
    """Return a node that is written as it stands."""
    return nodes.raw("", text, format="latex")


def take_solutions(book: nodes.document) -> Solutions:
    """Remove the solutions from their places and return them, page by page."""
    taken: Solutions = {}
    for file in list(book.findall(addnodes.start_of_file)):
        for solution in list(file.findall(solution_node)):
            solution.parent.remove(solution)
            taken.setdefault(file["docname"], []).append(solution)
    return taken


def add_solutions(env: BuildEnvironment, body: nodes.section, solutions: Solutions) -> None:
    """Print all solutions as a chapter, before the bibliography or at the end."""
    title, small = nodes.title("", "Solutions"), latex(r"\begingroup\footnotesize")
    chapter = nodes.section("", title, small, unnumbered=True)
    for page, of_page in solutions.items():
        number, title = numbers.of_chapter(env, page), env.titles[page].astext()
        heading = f"Chapter {number}, {title}" if number else title
        section = nodes.section("", nodes.title("", heading), *of_page, unnumbered=True)
        chapter += addnodes.start_of_file("", section, docname=page)
    if solutions:
        chapter += latex(r"\endgroup")
        body.insert(place_of_appendix(body), chapter)


def add_key(body: nodes.section) -> None:
    """Print the key to the chapters' questions, if there are any, before the bibliography."""
    if next(body.findall(quiz), None) is not None:
        title = nodes.title("", "Answers to the questions")
        begin, end = latex(r"\begin{bookcolumns}{2}\footnotesize"), latex(r"\end{bookcolumns}")
        chapter = nodes.section("", title, begin, quiz_key(), end, unnumbered=True)
        file = addnodes.start_of_file("", chapter, docname="quiz-key", is_key=True)
        body.insert(place_of_appendix(body), file)


def is_key(node: nodes.Node) -> bool:
    """Tell whether a node is the key to the questions."""
    return isinstance(node, addnodes.start_of_file) and "is_key" in node


def place_of_appendix(body: nodes.section) -> int:
    """Return where the appendices go: before the bibliography, or at the end."""
    return next((i for i, node in enumerate(body) if is_bibliography(node)), len(body))


def is_bibliography(node: nodes.Node) -> bool:
    """Tell whether a node is the bibliography's page."""
    return isinstance(node, addnodes.start_of_file) and node["docname"] == BIBLIOGRAPHY


def point_to_solutions(book: nodes.document, solutions: Solutions) -> None:
    """Say beside each exercise's title on which page its solution stands."""
    places = {
        solution["target_label"]: f"{page}:{solution['label']}"
        for page, of_page in solutions.items()
        for solution in of_page
    }
    for kind in (exercise_node, exercise_enumerable_node):
        for exercise in book.findall(kind):
            if exercise["label"] in places:
                title = exercise.next_node(nodes.title)
                title += latex(rf"\booksolution{{{places[exercise['label']]}}}")


def put_bibliography_in_its_chapter(book: nodes.document) -> None:
    """Move the entries that the book cites to their chapter; Sphinx collects them at the end."""
    entries = [entry for kind in book.findall(thebibliography) for entry in kind]
    for collected in list(book.findall(thebibliography)):
        collected.parent.remove(collected)
    chapter = next(filter(is_bibliography, book.findall(addnodes.start_of_file)), None)
    if chapter is None:
        return
    links = "".join(node.rawsource for node in book.findall(raw_latex))
    kept = [e for e in entries if any(f"{{cite.{e['docname']}:{i}}}" in links for i in e["ids"])]
    for entry in kept:
        take_addresses_from_the_foot(entry)
    emptied = next(node for node in chapter.findall(nodes.container) if not node.children)
    if kept:
        emptied.replace_self(thebibliography("", *kept))
    else:  # a reader that cites nothing
        emptied.parent.parent.remove(emptied.parent)


def take_addresses_from_the_foot(entry: nodes.Element) -> None:
    """Remove an entry's footnotes: its DOI or address stands in it, and is no number longer."""
    kinds = (nodes.footnote, nodes.footnote_reference, footnotemark, footnotetext)
    for node in [n for n in entry.findall(nodes.Element) if isinstance(n, kinds)]:
        if node.parent is not None:
            node.parent.remove(node)
