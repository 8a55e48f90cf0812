"""The command `build.py`: the pages, the printed book, readers, worksheets and packs."""

import argparse
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from environment import BUILD, Commands, fail, step
from html_book import HTML, build_html

from byhand.press.pdf import PressError
from mha.command_line import Parser, in_one_line

PAGES_ALONE = {"html", "--all"}
"""A command line of these asks for nothing but the pages."""


def main() -> None:
    """Read the arguments, build, and print where the result is."""
    arguments = _parser(pages_alone=set(sys.argv[1:]) <= PAGES_ALONE).parse_args()
    with _told_in_one_sentence():
        if arguments.watch:
            from preview.watching import watch

            watch(arguments.port)
            return
        make = arguments.plan(arguments)
        if "to" in arguments:
            arguments.to.mkdir(parents=True, exist_ok=True)  # or told before the pages are built
        if arguments.needs_pages(arguments):
            with step("Building the HTML book"):
                build_html(fresh=arguments.all)
        make()


def _parser(*, pages_alone: bool = False) -> argparse.ArgumentParser:
    """Return the parser; of the pages alone it does not wait for what other commands need.

    Each command has a `plan`: given the arguments it ends with a sentence where there is no such
    thing, else it returns what makes it once the pages are built, if it `needs_pages`.
    """
    parser: argparse.ArgumentParser = Parser(
        prog="build.py",
        description="Build the HTML book into _build/html, print it, or make worksheets. Only"
        " pages that changed, or whose numbers may have changed, are computed again. A failed"
        " build leaves the last good book where it is.",
    )
    told = f"The book is in {HTML / 'index.html'}"
    parser.set_defaults(plan=lambda _: lambda: print(told), needs_pages=lambda _: True)
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
    what.add_parser("html", parents=[common], help="the pages, into _build/html; the default")
    if not pages_alone:
        _add_commands(what, common)
    return parser


def _add_commands(what: Commands, common: argparse.ArgumentParser) -> None:
    """Add every other command."""
    import printing
    import whole_site
    import without_solutions
    from epub import book as epub
    from packs import command as packs
    from packs import worksheets

    for module in (without_solutions, whole_site, printing, epub, worksheets, packs):
        module.add_command(what, common)


@contextmanager
def _told_in_one_sentence() -> Iterator[None]:
    """End with one sentence where something cannot be printed, or a file not be written."""
    try:
        yield
    except PressError as error:
        fail(str(error))
    except shutil.Error as error:  # several files at once, each with its reason
        _, target, reason = error.args[0][0]
        fail(f"{target} cannot be written: {reason}")
    except OSError as error:
        name = in_one_line(str(error.filename or BUILD))
        fail(f"{name} cannot be written: {error.strerror or error}")
