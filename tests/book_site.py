"""The built book: the paths and the contents of its pages."""

import re
import time
from functools import cache

from bs4 import BeautifulSoup

from byhand.contents import read_contents
from byhand.digests import ROOT

FRONT = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

"""  # what a chapter begins with
SITE = ROOT / "_build" / "html"
STATIC = ROOT / "book" / "_static"
CELL = re.compile(r"^(`{3,})\{code-cell\}[^\n]*\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
OPTIONS = re.compile(r"\A(?:---\n.*?^---\n|(?::[\w-]+:[^\n]*\n)+)", re.DOTALL | re.MULTILINE)


def toc_pages():
    """Return the names of all pages in the table of contents, such as "mechanism/softmax"."""
    return list(read_contents().pages)


def printed_pages():
    """Return the names of the pages that are also in the printed book."""
    contents = read_contents()
    return [contents.root, *(page for part in contents.printed_parts for page in part.pages)]


def notebooks():
    """Return the names of the pages that are notebooks."""
    return [name for name in toc_pages() if "{code-cell}" in source(name)]


def source(name):
    """Return the Markdown of a page."""
    return (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")


def cells(text):
    """Return the options and the code of each cell of a page."""
    for cell in CELL.finditer(text):
        options = OPTIONS.match(cell[2])
        start = options.end() if options else 0
        yield cell[2][:start], cell[2][start:]


def path(name):
    """Return the path of a built page, and fail if the page is not built."""
    file = SITE / f"{name}.html"
    assert file.is_file(), f"{file.relative_to(ROOT)} is missing; run: python3 scripts/build.py"
    return file


@cache
def soup(name):
    """Return a built page, parsed once. A test that changes it works on a copy."""
    return BeautifulSoup(path(name).read_text(encoding="utf-8"), "html.parser")


def until(page, expression, *, seconds=30):
    """Wait until a JavaScript expression is true on a page of the book.

    Its policy forbids what the browser's own way of waiting would need after the first look.
    """
    end = time.monotonic() + seconds
    while not page.evaluate(f"Boolean({expression})"):
        assert time.monotonic() < end, f"{expression} did not come true"
        page.wait_for_timeout(20)


def advance_clock(page, milliseconds):
    """Advance the page's own clock, so that its timers have run and their changes are drawn."""
    page.evaluate(
        "(ms) => new Promise((done) => setTimeout("
        "() => requestAnimationFrame(() => setTimeout(done)), ms))",
        milliseconds,
    )


def copy_storage(page):
    """Copy the stored data of this page to the next page.

    Each file of a folder has a process of its own, and Chromium without a profile on disk now and
    then shows the next one less than what was stored.
    """
    stored = page.evaluate("JSON.stringify({ ...localStorage })")
    page.add_init_script(
        f"try {{ localStorage.clear(); Object.assign(localStorage, {stored}); }} catch (error) {{}}"
    )
