"""The commands that print: the whole book, and readers of some of its chapters."""

import argparse
import re
import unicodedata
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import typesetting
from environment import BUILD, ROOT, fail, step

BOOK = "attention-by-hand"
UNCHOSEN = "bibliography"  # comes with every document


@dataclass(frozen=True)
class Document:
    """A PDF to make; its fields are those of print_book's Job in `book/_ext`."""

    name: str = BOOK
    title: str = "Attention by Hand"
    paper: str = "a4"
    chapters: tuple[str, ...] | None = None
    solutions: str = "appendix"
    course: str = ""
    instructor: str = ""
    date: str = ""
    edition: str = "print"


ACCESSIBLE = Document(name=f"{BOOK}-accessible", edition="accessible")


def add_commands(what: argparse._SubParsersAction, common: argparse.ArgumentParser) -> None:
    """Add the commands `pdf` and `course`."""
    shared = argparse.ArgumentParser(add_help=False, parents=[common])
    shared.add_argument("--paper", choices=["a4", "letter"], default="a4", help="default: a4")
    shared.add_argument(
        "--to",
        type=Path,
        default=BUILD / "pdf",
        metavar="FOLDER",
        help="where the PDF goes; default: _build/pdf",
    )
    pdf = what.add_parser(
        "pdf",
        parents=[shared],
        help="the whole book as a PDF",
        description="Print the whole book: contents, parts, numbered equations, figures, tables"
        " and exercises, solutions in an appendix, bibliography and index. The pages are built"
        " first; nothing is computed twice.",
    )
    pdf.add_argument(
        "--accessible",
        action="store_true",
        help="a tagged edition, for screen readers: alternative texts, reading order, language",
    )
    pdf.set_defaults(documents=_whole_book)
    course = what.add_parser(
        "course",
        parents=[shared],
        help="a reader of chosen chapters as a PDF",
        description="Print a reader for a course. Everything keeps the number that it has in the"
        " whole book, and what the reader leaves out is named where it is referred to.",
    )
    course.add_argument(
        "--chapters", required=True, metavar="A,B", help="such as self-attention,scaling,cat-sat"
    )
    course.add_argument("--title", default="Attention by Hand: a reader")
    course.add_argument("--course", default="", help="for the title page")
    course.add_argument("--instructor", default="", help="for the title page")
    course.add_argument("--date", default="", help="for the title page")
    course.add_argument(
        "--solutions",
        choices=["none", "appendix", "separate"],
        default="appendix",
        help="leave them out, append them (default), or print them as a PDF of their own",
    )
    course.set_defaults(documents=_reader)


def _whole_book(arguments: argparse.Namespace) -> list[Document]:
    suffix = "" if arguments.paper == "a4" else "-" + arguments.paper
    book = ACCESSIBLE if arguments.accessible else Document()
    return [replace(book, name=book.name + suffix, paper=arguments.paper)]


def _reader(arguments: argparse.Namespace) -> list[Document]:
    name = _file_name(arguments.title)
    if not name:
        fail(f"--title is {arguments.title!r}; a title with a letter or a digit is wanted")
    reader = Document(
        name=name,
        title=arguments.title,
        paper=arguments.paper,
        chapters=_chosen_chapters(arguments.chapters),
        course=arguments.course,
        instructor=arguments.instructor,
        date=arguments.date,
        solutions="appendix" if arguments.solutions == "appendix" else "none",
    )
    if arguments.solutions != "separate":
        return [reader]
    solutions = replace(
        reader, name=f"{name}-solutions", title=f"{arguments.title}: solutions", solutions="only"
    )
    return [reader, solutions]


def _file_name(title: str) -> str:
    """Return a title as a file's name: letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def _chosen_chapters(names: str) -> tuple[str, ...]:
    """Return the pages that a list of chapters means; a chapter is named as its page's address."""
    toc = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    pages = re.findall(r"^\s*- file: (\S+)$", toc, re.MULTILINE)
    by_name = {page.rpartition("/")[2]: page for page in pages if page != UNCHOSEN}
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in by_name and name not in by_name.values()]
    if unknown or not chosen:
        wrong = f"there is no chapter {unknown[0]}" if unknown else "--chapters names no chapter"
        fail(f"{wrong}; the chapters are: {', '.join(by_name)}")
    return tuple(by_name.get(name, name) for name in chosen)


def print_all(python: str, documents: list[Document], folder: Path) -> None:
    """Make all documents, and only when all are made, put them into `folder`."""
    typesetting.find_tex()
    if any(document.edition == "accessible" for document in documents):
        typesetting.find_weasyprint()
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for document in documents:
        with step(f"Printing {document.name}.pdf"):
            made.append(typesetting.typeset(python, asdict(document)))
    for pdf in made:
        print(f"The PDF is {typesetting.publish(pdf, folder)}")
