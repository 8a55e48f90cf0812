"""The build of the pages, which replaces the last book only when it is complete.

The invariant: after any edit, the published bytes are those of a build from nothing, or the build
fails as that one would. Three results are kept, each with a digest of all its inputs: the results
of a page's cells (`byhand.reading`); the parsed and the written pages, while only pages have
changed; and the whole book, while no input has changed. A kept result that is damaged counts as
missing. Which written pages an edit affects, Sphinx does not know; `byhand.site.affected` does.
"""

import argparse
import fcntl
import json
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

from command_lines import HTML
from environment import BUILD, ROOT
from sphinx_runs import DOCTREES, NEXT, PAGES, STATE, build_pages

from byhand.digests import KEPT, digest_of, files_in

RECORD = STATE / "made-from.json"  # digests of the published book and of its inputs
MADE_FROM = (
    "book",
    "mha",
    "scripts",
    "_config.yml",
    "_toc.yml",
    "CITATION.cff",
    "requirements.lock",
    "requirements-frameworks.lock",  # pages name the version of PyTorch
    "pyproject.toml",
    "tests/axe/LICENSE",  # the page of notices shows it and the next one
    "tests/gift_pegjs/LICENSE",
)
PAGE = re.compile(r"book/(?!_).*(?<!\.slides)\.md")
OF_ALL_PAGES = shutil.ignore_patterns("_*")  # files that each build writes: scripts, styles


def prepare(arguments: argparse.Namespace) -> Callable[[], None]:
    """Return a function that prints the path of the pages; they are built before it is called."""
    return lambda: print(f"The book is in {HTML / 'index.html'}")


def build_html(*, fresh: bool = False) -> None:
    """Build into NEXT; on success publish its pages, and make the rest the new STATE."""
    with one_at_a_time():
        before, html, parsed = last_record(), _published(), _parsed()
        digest, without_pages, pages = inputs_digest(), inputs_digest(pages=False), page_digests()
        if fresh:
            before = {}
            shutil.rmtree(KEPT, ignore_errors=True)
        elif {"made_from": digest, "html": html, "parsed": parsed}.items() <= before.items():
            return
        shutil.rmtree(NEXT, ignore_errors=True)
        known = {}
        # The last build's data and pages are valid only if nothing but pages has changed since.
        if before.get("around") == without_pages and before.get("parsed") == parsed:
            known = before["pages"]
            shutil.copytree(STATE / DOCTREES, NEXT / DOCTREES)
            if before.get("html") == html:
                shutil.copytree(HTML, PAGES, ignore=OF_ALL_PAGES, copy_function=shutil.copyfile)
        build_pages(lambda: _check({name for name in pages if known.get(name) == pages[name]}))
        (PAGES / ".buildinfo").unlink()  # Sphinx's note to itself
        replace(HTML, PAGES)
        replace(STATE, NEXT)
        record: dict[str, Any] = {"made_from": digest, "html": _published(), "parsed": _parsed()}
        if inputs_digest() == digest:  # nothing was saved while it was read
            record |= {"around": without_pages, "pages": pages}
        RECORD.write_text(json.dumps(record), encoding="utf-8")


def last_record() -> dict[str, Any]:
    """Return the digests of the last good build; nothing if their file is missing or damaged."""
    try:
        record = json.loads(RECORD.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _check(unchanged: Collection[str]) -> None:
    """End with all findings in the sources, if there is one.

    The last build has checked the `unchanged` pages, with the same checks.
    """
    # Sphinx has begun by now, and need not wait for these.
    from checking import refuse

    from byhand.checking import check_sources

    findings = check_sources(ROOT, draft=True, unchanged=unchanged)
    refuse(findings, "the book was not built")


def leads_to(link: str, page: str) -> tuple[str, str]:
    """Return the file and the label of a link between pages, relative to the file of a page.

    Examples
    --------
    >>> leads_to("../a/b.html#c", "d/e.html"), leads_to("#c", "d/e.html")
    (('a/b.html', 'c'), ('d/e.html', 'c'))
    """
    path, _, label = link.partition("#")
    return normpath(join(dirname(page), path)) if path else page, label


def inputs_digest(root: Path = ROOT, *, pages: bool = True) -> str:
    """Return a digest of all inputs of the book, or of all but its pages.

    The digest depends on the folder too. Sphinx discards everything that it read in another folder,
    so after a move the printed book cannot be made from the state of the last build.
    """
    names = (path.relative_to(root).as_posix() for path in files_in(MADE_FROM, root))
    wanted = [name for name in names if pages or not PAGE.fullmatch(name)]
    return digest_of(wanted, root=root, salt=f"{sys.version} {root}")


def page_digests() -> dict[str, str]:
    """Return a digest of each page, by its file."""
    names = (path.relative_to(ROOT).as_posix() for path in files_in(["book"]))
    return {name: digest_of([name]) for name in names if PAGE.fullmatch(name)}


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Wait until no other build of this book runs."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another build of this book is under way; waiting for it to end.", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _published() -> str:
    """Return a digest of the published book, so that a book changed by hand is replaced."""
    return digest_of([HTML.name], root=HTML.parent)


def _parsed() -> str:
    """Return a digest of the parsed pages, from which the printed book is made too."""
    return digest_of(["."], root=STATE / DOCTREES)


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield the path of a new folder that replaces `target` on success."""
    new = target.with_name(f"{target.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    yield new
    replace(target, new)


def replace(target: Path, new: Path) -> None:
    """Move folder `new` to `target`, and delete the old one."""
    old = target.with_name(target.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if target.is_dir():
        target.rename(old)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)
