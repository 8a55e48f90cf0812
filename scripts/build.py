"""Build the book."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 (this is where an older Python is told so)
    version = ".".join(map(str, sys.version_info[:2]))
    sys.exit("error: Python 3.11 or newer is wanted, but this is " + version)

import argparse
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import environment
import printing
import worksheets
from environment import BUILD, NEXT, STATE, fail, step
from sphinx_log import run_logged

HTML = BUILD / "html"


def main() -> None:
    """Read the arguments, build, and print where the result is."""
    arguments = _parser().parse_args()
    documents = arguments.documents(arguments) if "documents" in arguments else []
    python = environment.python()
    with _told_if_not_writable():
        if arguments.what == "worksheet":
            worksheets.make(python, arguments)
            return
        with step("Building the HTML book"):
            build_html(python, fresh=arguments.all)
        if documents:
            printing.print_all(python, documents, arguments.to)
        else:
            print(f"The book is in {HTML / 'index.html'}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="build.py",
        description="Build the HTML book into _build/html, print it, or make worksheets. Only"
        " pages that changed, or whose numbers may have changed, are computed again. A failed"
        " build leaves the last good book where it is.",
    )
    explained = "compute every page again"
    parser.add_argument("--all", action="store_true", help=explained)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--all", action="store_true", help=explained, default=argparse.SUPPRESS)
    what = parser.add_subparsers(dest="what", metavar="what", title="what to build")
    what.add_parser("html", parents=[common], help="the pages, into _build/html; the default")
    printing.add_commands(what, common)
    worksheets.add_command(what)
    return parser


@contextmanager
def _told_if_not_writable() -> Iterator[None]:
    """End with one sentence where a file or folder cannot be written."""
    try:
        yield
    except OSError as error:
        fail(f"{error.filename} cannot be written: {error.strerror}")


def build_html(python: str, *, fresh: bool = False) -> None:
    """Build into NEXT; only if that succeeds, make it the new STATE and publish its pages."""
    _restore(STATE)
    _restore(HTML)
    shutil.rmtree(NEXT, ignore_errors=True)
    if STATE.is_dir() and not fresh:
        shutil.copytree(STATE, NEXT)
    run_logged(environment.jupyter_book(python, "html"), BUILD / "build.log", "the book")
    _replace(STATE, NEXT)
    pages = BUILD / "html.new"
    shutil.rmtree(pages, ignore_errors=True)
    shutil.copytree(
        STATE / "_build" / "html", pages, ignore=shutil.ignore_patterns(".buildinfo", "reports")
    )
    _replace(HTML, pages)


def _old(target: Path) -> Path:
    return target.with_name(target.name + ".old")


def _replace(target: Path, new: Path) -> None:
    """Put folder `new` in the place of `target`."""
    shutil.rmtree(_old(target), ignore_errors=True)
    if target.is_dir():
        target.rename(_old(target))
    new.rename(target)
    shutil.rmtree(_old(target), ignore_errors=True)


def _restore(target: Path) -> None:
    """Undo a replacement that was interrupted half-way."""
    if _old(target).is_dir() and not target.is_dir():
        _old(target).rename(target)


if __name__ == "__main__":
    main()
