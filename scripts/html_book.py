"""Build the pages: only a book that is built to its end takes the place of the one before."""

import shutil
from pathlib import Path

from environment import BUILD
from sphinx_runs import NEXT, STATE, jupyter_book, run_logged

HTML = BUILD / "html"


def build_html(*, fresh: bool = False) -> None:
    """Build into NEXT; only if that succeeds, make it the new STATE and publish its pages."""
    _restore(STATE)
    _restore(HTML)
    shutil.rmtree(NEXT, ignore_errors=True)
    if STATE.is_dir() and not fresh:
        shutil.copytree(STATE, NEXT)
    run_logged(jupyter_book("html"), BUILD / "build.log", "the book")
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
