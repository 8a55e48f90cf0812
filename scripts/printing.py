"""The commands that print the whole book and readers of chosen chapters.

Pages are not read or computed again: Sphinx loads the state of the last build, and Typst prints it.
"""

import argparse
import gc
import io
import re
import sys
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from environment import BUILD, fail, step
from sphinx_runs import DOCTREES, STATE, application, plain

from byhand.contents import read_contents
from byhand.document import BIBLIOGRAPHY, Document
from byhand.press.pdf import press, unprintable

PRINT = BUILD / "print"  # Typst sources
NOTATION = "notation"
MAX_NAME_LENGTH = 60  # letters of a file's name
TITLE_PAGE = ("title", "course", "instructor", "date")  # fields of a reader's title page


def prepare(arguments: argparse.Namespace) -> Callable[[], None]:
    """Return the function that prints the whole book, or a reader, as the command asks."""
    if arguments.what == "course":
        documents = _reader(arguments)
    else:
        documents = [whole_book(arguments.paper, code=arguments.code)]
    return lambda: print_all(documents, arguments.to)


def write_file(target: Path, made: bytes) -> Path:
    """Write a file in one step, so that no program opens half of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    waiting = target.with_name(f".{target.name}.new")
    waiting.write_bytes(made)
    return waiting.replace(target)


def whole_book(paper: str, *, code: bool = True) -> Document:
    """Return the whole book as a document; its file name states options that differ."""
    suffix = "" if paper == "a4" else "-" + paper
    suffix += "" if code else "-short"
    book = Document(paper=paper, code=code)
    return replace(book, name=book.name + suffix)


def _reader(arguments: argparse.Namespace) -> list[Document]:
    file = file_name(arguments.title)
    if not file:
        fail(f"--title is {arguments.title!r}; a title with a letter or a digit is wanted")
    chapters = chosen_chapters(arguments.chapters)
    title_page = {name: getattr(arguments, name) for name in TITLE_PAGE}
    refuse_unprintable({f"--{name}": text for name, text in title_page.items()})
    if NOTATION in read_contents().chapters and NOTATION not in chapters:
        print(
            f"note: this reader omits {NOTATION}, which explains the symbols and how"
            f" numbers are rounded; add it to --chapters to have it",
            file=sys.stderr,
        )
    reader = Document(
        name=file,
        paper=arguments.paper,
        chapters=chapters,
        code=arguments.code,
        solutions="appendix" if arguments.solutions == "appendix" else "none",
        **title_page,
    )
    if arguments.solutions != "separate":
        return [reader]
    title = f"{arguments.title}: solutions"
    return [reader, replace(reader, name=f"{file}-solutions", title=title, solutions="only")]


def file_name(title: str) -> str:
    """Return a title as a file name: letters of any script, digits and hyphens.

    Examples
    --------
    >>> file_name("Fünf Köpfe: Übung!"), file_name("注意力 2"), file_name("!")
    ('fünf-köpfe-übung', '注意力-2', '')
    """
    words = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", title).lower()).strip("-")
    return words[:MAX_NAME_LENGTH].rstrip("-")


def chosen_chapters(names: str) -> tuple[str, ...]:
    """Return the pages of a list of chapters, each named by its address."""
    by_name = {
        page.rpartition("/")[2]: page for page in read_contents().chapters if page != BIBLIOGRAPHY
    }
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in by_name and name not in by_name.values()]
    if unknown or not chosen:
        wrong = f"there is no chapter {unknown[0]}" if unknown else "--chapters names no chapter"
        fail(f"{wrong}; the chapters are: {', '.join(by_name)}")
    pages = [by_name.get(name, name) for name in chosen]
    twice = next(
        (name for name, page in zip(chosen, pages, strict=True) if pages.count(page) > 1), None
    )
    if twice:
        fail(f"--chapters names {twice} twice")
    return tuple(pages)


def print_all(documents: list[Document], folder: Path) -> None:
    """Make all documents, and put them into `folder` only when all are made."""
    with step(f"Printing {' and '.join(f'{document.name}.pdf' for document in documents)}"):
        made = typeset(documents)
    for name, pdf in made.items():
        print(f"The PDF is {write_file(folder / name, pdf)}")


def typeset(documents: list[Document]) -> dict[str, bytes]:
    """Return the PDFs of documents by name; their sources stay in PRINT."""
    made = {}
    for document, source in zip(documents, sources(documents), strict=True):
        (PRINT / f"{document.name}.typ").write_text(source, encoding="utf-8")
        made[f"{document.name}.pdf"] = press(source)
    return made


def sources(documents: list[Document]) -> list[str]:
    """Return the Typst source of each document; end with Sphinx's warnings if there are any."""
    from byhand.print_book import book

    gc.disable()  # a fifth of the time goes into looking for garbage among nodes that are needed
    warnings = io.StringIO()
    app = application("typst", PRINT, STATE / DOCTREES, status=None, warning=warnings)
    written = [book.source(app, document) for document in documents]
    gc.freeze()  # nor does Python look through all of them when it ends
    if message := plain(warnings.getvalue()).strip():
        print(message, file=sys.stderr)
        fail(f"{documents[0].name}.pdf was not printed")
    return written


def refuse_unprintable(texts: Mapping[str, str]) -> None:
    """End with the name of the first text that has a character without a font."""
    if found := unprintable(texts):
        name, character = found
        fail(
            f"{name} has {character} (U+{ord(character):04X}), and no font here has that"
            " character; install one that has, or write other letters"
        )
