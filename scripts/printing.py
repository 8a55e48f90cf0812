"""The commands that print: the whole book, and readers of some of its chapters."""

import argparse
import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import typesetting
from environment import BUILD, ROOT, fail, step

from byhand.contents import read_contents
from byhand.document import BIBLIOGRAPHY, Document

FOLDER = BUILD / "pdf"


def add_commands(
    what: "argparse._SubParsersAction[argparse.ArgumentParser]", common: argparse.ArgumentParser
) -> None:
    """Add the commands `pdf` and `course`."""
    parents = [common, options_of_print(FOLDER)]
    pdf = what.add_parser(
        "pdf",
        parents=parents,
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
        parents=parents,
        help="a reader of chosen chapters as a PDF",
        description="Print a reader for a course. Everything keeps the number that it has in the"
        " whole book, and what the reader leaves out is named where it is referred to.",
    )
    _add_options_of_a_reader(course)
    course.set_defaults(documents=_reader)


def options_of_print(folder: Path) -> argparse.ArgumentParser:
    """Return what everything that is printed can be asked for: the paper, and another folder."""
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--paper", choices=["a4", "letter"], default="a4", help="default: a4")
    options.add_argument(
        "--to",
        type=Path,
        default=folder,
        metavar="FOLDER",
        help=f"where the result goes; default: {folder.relative_to(ROOT)}",
    )
    return options


def _add_options_of_a_reader(course: argparse.ArgumentParser) -> None:
    course.add_argument(
        "--chapters", required=True, metavar="A,B", help="such as self-attention,scaling,cat-sat"
    )
    course.add_argument("--title", default="Attention by Hand: a reader")
    for name in ("--course", "--instructor", "--date"):
        course.add_argument(name, default="", help="for the title page")
    course.add_argument(
        "--solutions",
        choices=["none", "appendix", "separate"],
        default="appendix",
        help="leave them out, append them (default), or print them as a PDF of their own",
    )


def _whole_book(arguments: argparse.Namespace) -> list[Document]:
    suffix = "" if arguments.paper == "a4" else "-" + arguments.paper
    book = Document(paper=arguments.paper)
    if arguments.accessible:
        book = replace(book, name=f"{book.name}-accessible", edition="accessible")
    return [replace(book, name=book.name + suffix)]


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
    by_name = {
        page.rpartition("/")[2]: page for page in read_contents().chapters if page != BIBLIOGRAPHY
    }
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in chosen if name not in by_name and name not in by_name.values()]
    if unknown or not chosen:
        wrong = f"there is no chapter {unknown[0]}" if unknown else "--chapters names no chapter"
        fail(f"{wrong}; the chapters are: {', '.join(by_name)}")
    return tuple(by_name.get(name, name) for name in chosen)


def print_all(documents: list[Document], folder: Path) -> None:
    """Make all documents, and only when all are made, put them into `folder`."""
    typesetting.find_tex()
    typesetting.find_weasyprint()  # sets the texts of figures in every edition
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for document in documents:
        with step(f"Printing {document.name}.pdf"):
            made.append(typesetting.typeset(document))
    for pdf in made:
        print(f"The PDF is {typesetting.publish(pdf, folder)}")
