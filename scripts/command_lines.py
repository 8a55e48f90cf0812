"""The command lines of `build.py`, `check.py`, `test.py` and `train_model.py`: options and help.

Standard library only, so that a command explains itself, or refuses a misspelt option, before any
environment is there. The modules that do the work are imported later, inside the environment.
"""

import argparse
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

from environment import BUILD, FRAMEWORKS, ROOT, Commands

HTML = BUILD / "html"
FOLDERS = {name: BUILD / name for name in ("pdf", "epub", "packs", "worksheets")}
"""Where a command puts its results, unless --to names another folder."""

PACKS = ("questions", "cards", "slides", "figures", "notebooks")
WORKSHEET_TITLE = "Attention by hand"


def _module_of_mha(file: str) -> Any:
    """Return a module of `mha` that needs the standard library alone.

    It is loaded by its file: importing it by its name would import the package, and so NumPy.
    """
    path = ROOT / "mha" / file
    spec = importlib.util.spec_from_file_location(f"alone_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


Parser: type[argparse.ArgumentParser] = _module_of_mha("command_line.py").Parser


def read(module: str) -> None:
    """Print the help of a command that is asked for it, or refuse what its parser does not know."""
    parser = PARSERS[module]()
    if module == "testing":
        parser.parse_known_args()
    else:
        parser.parse_args()


# ---- build.py ----


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of `build.py`.

    Each command has a `module`, whose function `plan` takes the arguments: it ends with a sentence
    where they cannot be met, else it returns a function that makes the result, which is called once
    the pages are built, if the command `needs_pages`.
    """
    parser = Parser(
        prog="build.py",
        description="Build the HTML book into _build/html, print it, or make worksheets. Only"
        " pages that changed, or whose numbers may have changed, are computed again. A failed"
        " build leaves the last good book where it is.",
    )
    parser.set_defaults(module="html_book", needs_pages=lambda _: True)
    explained = "compute every page again"
    parser.add_argument("--all", action="store_true", help=explained)
    parser.add_argument(
        "--watch",
        action="store_true",
        help="serve the book, and show each edit when it is saved, until Ctrl-C",
    )
    parser.add_argument(
        "--port", type=int, default=8000, help="where --watch serves; default: 8000; 0: any free"
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--all", action="store_true", help=explained, default=argparse.SUPPRESS)
    what = parser.add_subparsers(dest="what", metavar="what", title="what to build")
    what.add_parser(
        "html",
        parents=[common],
        help="the pages, into _build/html; the default",
        description="Build the pages of the book, in _build/html. The path printed last is the"
        " page to open.",
    )
    _add_without_solutions(what, common)
    _add_site(what, common)
    _add_pdf_and_course(what, common)
    _add_epub(what, common)
    _add_worksheet(what)
    _add_packs(what, common)
    return parser


def _add_without_solutions(what: Commands, common: argparse.ArgumentParser) -> None:
    command = what.add_parser(
        "without-solutions",
        parents=[common],
        help="the pages with no solution in any file",
        description="Build the pages without solutions, in _build/html-without-solutions.",
    )
    command.set_defaults(module="without_solutions")


def _add_site(what: Commands, common: argparse.ArgumentParser) -> None:
    command = what.add_parser(
        "site",
        parents=[common],
        help="the published site, into _build/site: the pages and all downloads",
        description="Build the published site, in _build/site: the pages, the PDF on both papers,"
        " the EPUB, the packs except the figures, the package and the sources.",
    )
    command.set_defaults(module="whole_site")


def _add_pdf_and_course(what: Commands, common: argparse.ArgumentParser) -> None:
    parents = [common, _paper(), _option_to("pdf")]
    pdf = what.add_parser(
        "pdf",
        parents=parents,
        help="the whole book as a PDF",
        description="Print the whole book: contents, parts, numbered equations, figures, tables"
        " and exercises, solutions in an appendix, bibliography and index. The pages are built"
        " first; nothing is computed twice.",
    )
    course = what.add_parser(
        "course",
        parents=parents,
        help="a reader of chosen chapters as a PDF",
        description="Print a reader for a course. Everything keeps the number that it has in the"
        " whole book, and what the reader leaves out is named where it is referred to.",
    )
    _add_options_of_a_reader(course)
    for command in (pdf, course):
        command.add_argument(
            "--no-code",
            dest="code",
            action="store_false",
            help="a short edition: a line says where the code is",
        )
        command.set_defaults(module="printing")


def _add_options_of_a_reader(course: argparse.ArgumentParser) -> None:
    course.add_argument(
        "--chapters",
        required=True,
        metavar="A,B",
        help="such as self-attention,scaling,cat-sat, in this order",
    )
    course.add_argument(
        "--title",
        default="Attention by Hand: a reader",
        help="names the file too; default: %(default)s",
    )
    for name in ("--course", "--instructor", "--date"):
        course.add_argument(name, default="", help="for the title page")
    course.add_argument(
        "--solutions",
        choices=["none", "appendix", "separate"],
        default="appendix",
        help="leave them out, append them (default), or print them as a PDF of their own, with"
        " the answers to questions and boxes",
    )


def _add_epub(what: Commands, common: argparse.ArgumentParser) -> None:
    command = what.add_parser(
        "epub",
        parents=[common, _option_to("epub")],
        help="the whole book as an EPUB, for readers of electronic books",
        description="Make an EPUB 3 of the whole book: formulas as MathML, figures, tables,"
        " questions and exercises with their answers at the end, no script. The pages are built"
        " first; nothing is computed twice.",
    )
    command.set_defaults(module="epub.book")


def _add_worksheet(what: Commands) -> None:
    command = what.add_parser(
        "worksheet",
        parents=[_paper(), _option_to("worksheets")],
        help="worksheets with fresh numbers for each student, and their key",
        description="Make worksheets: for each student other numbers, short enough to be worked by"
        " hand, a key with every step, and the answers alone, as PDF and for programs as CSV and"
        " JSON. With one edition of the book, the same seed gives the same sheets.",
    )
    _module_of_mha("practice/worksheets/options.py").add_options(command)
    command.add_argument("--title", default=WORKSHEET_TITLE, help=f"default: {WORKSHEET_TITLE}")
    for name in ("--course", "--date"):
        command.add_argument(name, default="", help="stands on each page")
    command.add_argument(
        "--each", action="store_true", help="a PDF for each student, not one for all"
    )
    command.set_defaults(module="packs.worksheets", needs_pages=lambda _: False)


def _add_packs(what: Commands, common: argparse.ArgumentParser) -> None:
    command = what.add_parser(
        "packs",
        parents=[common, _option_to("packs")],
        help="for teachers: " + ", ".join(PACKS),
        description="Make what a teacher takes from the book into a course. The pages are built"
        " first, unless slides alone are wanted; nothing is computed twice.",
    )
    command.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=list(PACKS),
        metavar="A,B",
        help=f"of {', '.join(PACKS)}; default: all",
    )
    command.add_argument(
        "--chapters",
        type=lambda text: text.split(","),
        default=[],
        metavar="A,B",
        help="whose slides, such as self-attention; default: all",
    )
    command.add_argument("--seed", type=int, default=1, help="of fresh numbers; default: 1")
    command.add_argument(
        "--variants", type=int, default=6, help="fresh questions of each kind; default: 6"
    )
    command.add_argument(
        "--site",
        metavar="ADDRESS",
        help="where the book is published, for the notebooks; default: the address in _config.yml",
    )
    # Slides have sources of their own; the other packs are made of the built pages.
    command.set_defaults(module="packs.command", needs_pages=lambda asked: asked.only != ["slides"])


def _paper() -> argparse.ArgumentParser:
    """Return the option of everything that is printed."""
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--paper", choices=["a4", "letter"], default="a4", help="default: a4")
    return options


def _option_to(name: str) -> argparse.ArgumentParser:
    """Return the option that names another folder for the results."""
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument(
        "--to",
        type=Path,
        default=FOLDERS[name],
        metavar="FOLDER",
        help=f"where the result goes; default: {FOLDERS[name].relative_to(ROOT)}",
    )
    return options


# ---- check.py, test.py, train_model.py ----


def check_parser() -> argparse.ArgumentParser:
    """Return the parser of `check.py`."""
    parser = Parser(
        prog="check.py",
        description="Check the book's sources in a few seconds, executing nothing: Markdown, data,"
        " cells, claims, wording. The build does the same while it begins, and tells in the end"
        " what leads nowhere.",
    )
    parser.add_argument(
        "chapter",
        nargs="*",
        help="a page, such as mechanism/softmax or its file; all sources by default",
    )
    return parser


def test_parser() -> argparse.ArgumentParser:
    """Return the parser of `test.py`."""
    parser = Parser(
        prog="test.py",
        description="Run everything: unit tests, doctests, properties, linters, the chapters'"
        " assertions and the built book in real browsers.",
        epilog="Any other argument goes to pytest, such as -k softmax or --last-failed.",
    )
    runs = {
        "--quick": "what a commit should have passed, in about a minute; says what it leaves out",
        "--no-book": "leave out what needs the built book or a browser",
        "--torch": "only compare the mathematics, and the numbers that pages print, with PyTorch's,"
        f" which no other run does: makes .frameworks, an environment of {FRAMEWORKS.gigabytes} GB,"
        " and takes --draws besides pytest's arguments",
        "--frameworks": "only read, compare and examine the attention layers of PyTorch,"
        " transformers, Keras and Flax, in the same environment",
    }
    group = parser.add_mutually_exclusive_group()
    for name, explained in runs.items():
        group.add_argument(name, action="store_true", help=explained)
    return parser


def train_parser() -> argparse.ArgumentParser:
    """Return the parser of `train_model.py`."""
    parser = Parser(
        prog="train_model.py",
        description="Train the book's model of names anew, in two minutes, and say whether it came"
        " out as the chapter says.",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="keep the numbers in mha/examples/names, with what three other seeds give; it takes"
        " four times as long",
    )
    return parser


def seeds_parser() -> argparse.ArgumentParser:
    """Return the parser of `learn_over_seeds.py`."""
    return Parser(
        prog="learn_over_seeds.py",
        description="Train the layer of the chapter on learning from many seeds, and keep the"
        " results in mha/examples/learning-runs.json.",
    )


PARSERS: dict[str, Callable[[], argparse.ArgumentParser]] = {
    "building": build_parser,
    "checking": check_parser,
    "testing": test_parser,
    "model_training": train_parser,
    "learning_over_seeds": seeds_parser,
}
"""The parser of each command, by the module that does its work."""
