"""The command lines of the commands in this folder: options and help.

Only the standard library is imported here, so that help is printed and a misspelt option is refused
before the environment exists. The modules of the commands are imported later, inside it.
"""

import argparse
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environment import AUTOGRADERS, BUILD, FRAMEWORKS, ROOT, Commands

HTML = BUILD / "html"
FOLDERS = {name: BUILD / name for name in ("pdf", "epub", "packs", "worksheets", "exams")}
"""The default folder of each command's results; the option --to names another one."""

PACKS = ("questions", "cards", "slides", "figures", "notebooks", "cartridge", "autograders")
WORKSHEET_TITLE = "Attention by hand"
EXAM_TITLE, EXAM_MINUTES = "Exam on attention", 60


def _module_of_mha(file: str) -> Any:
    """Return a module of `mha` that imports the standard library alone.

    It is loaded from its file: an import by name would load the package too, and with it NumPy.
    """
    path = ROOT / "mha" / file
    spec = importlib.util.spec_from_file_location(f"alone_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


Parser: type[argparse.ArgumentParser] = _module_of_mha("command_line.py").Parser


@dataclass(frozen=True)
class CommandLine:
    """The name, the description and the options of a command."""

    prog: str
    description: str
    add_options: Callable[[argparse.ArgumentParser], None] = lambda _: None
    epilog: str | None = None


def make_parser(module: str) -> argparse.ArgumentParser:
    """Return the parser of the command in a module of this folder."""
    line = COMMAND_LINES[module]
    parser = Parser(prog=line.prog, description=line.description, epilog=line.epilog)
    line.add_options(parser)
    return parser


def check_arguments(module: str) -> None:
    """Print the help of a command on request, or end with an error for a wrong option."""
    parser = make_parser(module)
    if module == "testing":  # pytest reads the other options
        parser.parse_known_args()
    else:
        parser.parse_args()


# ---- build.py ----


def _add_build_options(parser: argparse.ArgumentParser) -> None:
    """Add the options and the subcommands of `build.py`.

    Each subcommand sets `module`, a module of this folder. Its function `prepare` takes the
    arguments and returns a function that makes the result, or ends with a sentence if it cannot be
    made. `needs_pages` returns from the arguments whether the pages are built first.
    """
    parser.set_defaults(module="html_book", needs_pages=lambda _: True)
    help_of_all = "compute every page again"
    parser.add_argument("--all", action="store_true", help=help_of_all)
    parser.add_argument(
        "--watch",
        action="store_true",
        help="serve the book, and show each edit when it is saved, until Ctrl-C",
    )
    parser.add_argument(
        "--port",
        type=int,
        default=8000,
        help="port of --watch; default: 8000; 0 means any free port",
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--all", action="store_true", help=help_of_all, default=argparse.SUPPRESS)
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
    _add_exam(what)
    _add_packs(what, common)


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
        description="Print a reader for a course. Numbers of chapters, tables and exercises are"
        " those of the whole book. A reference to an omitted part of the book names it.",
    )
    _add_options_of_a_reader(course)
    for command in (pdf, course):
        command.add_argument(
            "--no-code",
            dest="code",
            action="store_false",
            help="omit the code; a line in its place tells where to find it",
        )
        command.set_defaults(module="printing")


def _add_options_of_a_reader(course: argparse.ArgumentParser) -> None:
    course.add_argument(
        "--chapters",
        required=True,
        metavar="A,B",
        help="chapters, such as self-attention,scaling,cat-sat, in this order",
    )
    course.add_argument(
        "--title",
        default="Attention by Hand: a reader",
        help="the title, from which the file is named; default: %(default)s",
    )
    for name in ("--course", "--instructor", "--date"):
        course.add_argument(name, default="", help="printed on the title page")
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
        description="Make worksheets with different numbers for each student, short enough to"
        " compute by hand; a key with every step; and the answers alone, as PDF, and as CSV and"
        " JSON for programs. In one edition of the book, the same seed gives the same sheets.",
    )
    _module_of_mha("practice/worksheets/options.py").add_options(command)
    command.add_argument("--title", default=WORKSHEET_TITLE, help=f"default: {WORKSHEET_TITLE}")
    for name in ("--course", "--date"):
        command.add_argument(name, default="", help="printed on each page")
    command.add_argument(
        "--each", action="store_true", help="make a PDF for each student instead of one for all"
    )
    command.set_defaults(module="packs.worksheets", needs_pages=lambda _: False)


def _add_exam(what: Commands) -> None:
    command = what.add_parser(
        "exam",
        parents=[_paper(), _option_to("exams")],
        help="an exam with fresh numbers in two parallel forms, and its marking scheme",
        description="Make an exam on chosen chapters: Forms A and B with the same kinds of"
        " questions, points and minutes and different numbers (a question in words is in both forms"
        " if its chapter has no second one like it); a scheme with points for"
        " each line, the numbers that follow from known mistakes, and the parts of a full answer in"
        " words; and a formula sheet. Each exam has a question on the card of a published model."
        " The files are PDF, Markdown and JSON. In one edition of the book, the same seed gives the"
        " same exam.",
    )
    command.add_argument(
        "--chapters",
        required=True,
        metavar="A,B",
        help="chapters of the questions, such as softmax,order",
    )
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--seed",
        type=int,
        help="a number of your choice. Anyone who knows it can draw the exam and its scheme;"
        " --secret prevents that",
    )
    source.add_argument(
        "--secret",
        type=Path,
        metavar="FILE",
        help="a file that only you have, used instead of a seed",
    )
    command.add_argument(
        "--minutes",
        type=int,
        default=EXAM_MINUTES,
        help="minutes of the exam, 30 to 180; default: %(default)s, with six to eight questions",
    )
    command.add_argument("--title", default=EXAM_TITLE, help=f"default: {EXAM_TITLE}")
    for name in ("--course", "--date"):
        command.add_argument(name, default="", help="printed on each page")
    command.add_argument(
        "--force", action="store_true", help="replace files that have other contents"
    )
    command.set_defaults(module="packs.exams", needs_pages=lambda _: False)


def _add_packs(what: Commands, common: argparse.ArgumentParser) -> None:
    command = what.add_parser(
        "packs",
        parents=[common, _option_to("packs")],
        help="course materials for teachers: " + ", ".join(PACKS),
        description="Make course materials for teachers from the book. No other command has to come"
        " first: the pages are built before the packs, unless only slides or autograders are made;"
        " nothing is computed twice. On two cores the pages took three minutes, and all packs but"
        " the figures five more, mostly for the slides and the cartridge.",
    )
    command.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=list(PACKS),
        metavar="A,B",
        help=f"the packs to make, of {', '.join(PACKS)}; default: all",
    )
    command.add_argument(
        "--chapters",
        type=lambda text: text.split(","),
        default=[],
        metavar="A,B",
        help="the chapters of the slides and the cartridge, such as self-attention; default: all."
        " Questions with fresh numbers belong to no chapter and are always in the cartridge",
    )
    command.add_argument(
        "--cartridge",
        choices=["1.1", "1.3"],
        default="1.3",
        help="the version of the cartridge's format; 1.1 is for Moodle; default: 1.3",
    )
    command.add_argument("--seed", type=int, default=1, help="seed of fresh numbers; default: 1")
    command.add_argument(
        "--variants", type=int, default=6, help="fresh questions of each kind; default: 6"
    )
    command.add_argument(
        "--site",
        metavar="ADDRESS",
        help="address of the published book, for links in questions, cards and the cartridge, and"
        " for the notebooks; default: that in _config.yml",
    )
    # These have their own sources; the other packs are made from the built pages.
    command.set_defaults(
        module="packs.command",
        needs_pages=lambda arguments: not {*arguments.only} <= {"slides", "autograders"},
    )


def _paper() -> argparse.ArgumentParser:
    """Return a parent parser with the option --paper."""
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--paper", choices=["a4", "letter"], default="a4", help="default: a4")
    return options


def _option_to(name: str) -> argparse.ArgumentParser:
    """Return a parent parser with the option --to."""
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument(
        "--to",
        type=Path,
        default=FOLDERS[name],
        metavar="FOLDER",
        help=f"folder of the results; default: {FOLDERS[name].relative_to(ROOT)}",
    )
    return options


# ---- The other commands ----


def _add_check_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "chapter",
        nargs="*",
        help="a page, such as mechanism/softmax or its file; all sources by default",
    )
    parser.add_argument(
        "--fix",
        action="store_true",
        help="first write the pages as Jupyter saves them: order of the keys in the headers of"
        " cells, blank lines around cells; then check",
    )


def _add_test_options(parser: argparse.ArgumentParser) -> None:
    runs = {
        "--quick": "run the checks that each commit should pass, in about a minute, and print"
        " which tests are omitted",
        "--no-book": "omit the tests that need the built book or a browser",
        "--no-browser": "build the book; omit the tests that need a browser or the printed book",
        "--torch": "only compare the mathematics, and the numbers that pages print, with PyTorch's,"
        f" which no other run does: makes .frameworks, an environment of {FRAMEWORKS.size},"
        " and takes --draws besides pytest's arguments",
        "--frameworks": "only read, compare and examine the attention layers of PyTorch,"
        " transformers, Keras and Flax, in the same environment",
        "--autograders": "only grade notebooks with Otter-Grader, in an environment of its own,"
        f" .autograders, of {AUTOGRADERS.size}",
    }
    group = parser.add_mutually_exclusive_group()
    for name, explained in runs.items():
        group.add_argument(name, action="store_true", help=explained)


def _add_training_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--write",
        action="store_true",
        help="write the numbers, and the results of three other seeds, to mha/examples/names; this"
        " takes four times as long",
    )


COMMAND_LINES = {
    "building": CommandLine(
        "build.py",
        "Build the HTML book into _build/html, print it, or make worksheets and exams. Only pages"
        " that changed, or whose numbers may have changed, are computed again. A failed build"
        " leaves the last good book where it is.",
        _add_build_options,
    ),
    "checking": CommandLine(
        "check.py",
        "Check the book's sources in a few seconds without running them: Markdown, data, files,"
        " cells, claims, wording, and what each chapter has. The build begins with the same"
        " checks; it also reports links that lead nowhere.",
        _add_check_options,
    ),
    "testing": CommandLine(
        "test.py",
        "Run everything: unit tests, doctests, properties, linters, the chapters' assertions and"
        " the built book in real browsers.",
        _add_test_options,
        epilog="Any other argument goes to pytest, such as -k softmax, a file of tests, or"
        " --last-failed. The book is built, and the PDF printed, only if a chosen test needs it.",
    ),
    "model_training": CommandLine(
        "train_model.py",
        "Train the book's model of names anew, in two minutes, and report whether the result is as"
        " the chapter describes it.",
        _add_training_options,
    ),
    "learning_over_seeds": CommandLine(
        "learn_over_seeds.py",
        "Train the layer of the chapter on learning from many seeds, and write the results to"
        " mha/examples/learning-runs.json.",
    ),
}
"""The command line of each command, by the module that runs it."""
