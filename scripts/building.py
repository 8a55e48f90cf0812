"""The command `build.py`: the pages, the printed book, readers, worksheets and packs."""

import argparse
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import printing
import whole_site
import without_solutions
from environment import BUILD, fail, step
from epub import book as epub
from html_book import HTML, build_html
from packs import command as packs
from packs import worksheets

from mha.command_line import Parser, in_one_line


def main() -> None:
    """Read the arguments, build, and print where the result is."""
    arguments = _parser().parse_args()
    with _told_if_not_writable():
        documents = arguments.documents(arguments) if "documents" in arguments else []
        if arguments.watch:
            from preview.watching import watch

            watch(arguments.port)
            return
        if arguments.what == "worksheet":
            worksheets.make(arguments)
            return
        if arguments.what == "packs":
            packs.check(arguments)
        if "to" in arguments:
            arguments.to.mkdir(parents=True, exist_ok=True)  # or told before the pages are built
        if arguments.what != "packs" or packs.needs_pages(arguments):
            with step("Building the HTML book"):
                build_html(fresh=arguments.all)
        if arguments.what == "packs":
            packs.make(arguments)
        elif arguments.what == "epub":
            epub.make(arguments)
        elif arguments.what == without_solutions.NAME:
            without_solutions.make()
        elif arguments.what == "site":
            whole_site.make()
        elif documents:
            printing.print_all(documents, arguments.to)
        else:
            print(f"The book is in {HTML / 'index.html'}")


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(
        prog="build.py",
        description="Build the HTML book into _build/html, print it, or make worksheets. Only"
        " pages that changed, or whose numbers may have changed, are computed again. A failed"
        " build leaves the last good book where it is.",
    )
    explained = "compute every page again"
    parser.add_argument("--all", action="store_true", help=explained)
    parser.add_argument(
        "--watch",
        action="store_true",
        help="serve the book, and show each edit when it is saved, until Ctrl-C",
    )
    parser.add_argument(
        "--port", type=_port, default=8000, help="where --watch serves; default: 8000; 0: any free"
    )
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--all", action="store_true", help=explained, default=argparse.SUPPRESS)
    what = parser.add_subparsers(dest="what", metavar="what", title="what to build")
    what.add_parser("html", parents=[common], help="the pages, into _build/html; the default")
    what.add_parser(
        without_solutions.NAME,
        parents=[common],
        help="the pages with no solution in any file, into _build/html-without-solutions",
    )
    what.add_parser(
        "site",
        parents=[common],
        help="what is published, into _build/site: the pages, and all that is to be downloaded",
    )
    printing.add_commands(what, common)
    epub.add_command(what, common)
    worksheets.add_command(what)
    packs.add_command(what, common)
    return parser


def _port(text: str) -> int:
    """Return a port's number."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to 65535 is wanted")
    return int(text)


@contextmanager
def _told_if_not_writable() -> Iterator[None]:
    """End with one sentence where a file or folder cannot be written."""
    try:
        yield
    except shutil.Error as error:  # several files at once, each with its reason
        _, target, reason = error.args[0][0]
        fail(f"{target} cannot be written: {reason}")
    except OSError as error:
        name = in_one_line(str(error.filename or BUILD))
        fail(f"{name} cannot be written: {error.strerror or error}")
