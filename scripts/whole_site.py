"""The command that makes the site: the pages and all downloads.

A page names a downloadable file with the role ``{on-site}``. Built pages show the name only,
because they must not link to files that do not exist. On the site each name is a link with the
file's size, and notes for pages without downloads are omitted.
"""

import argparse
import os
import re
import shutil
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import printing
from command_lines import HTML, PACKS, make_parser
from environment import BUILD, ROOT, fail, step
from epub import book as epub
from html_book import MADE_FROM, one_at_a_time, replacing
from packs import command as packs

import mha
from byhand.chapter.roles import NAMED, NOTICE
from byhand.digests import files_in
from byhand.press.archives import pack
from mha.widgets.own import WHEEL

FOLDER = BUILD / "site"
DOWNLOADS = "downloads"
SOURCES = (
    *MADE_FROM,
    *("CONTRIBUTING.md", "LICENSE", "README.md", "docs", "jupytext.toml", "tests"),
    *(f"requirements-{name}.lock" for name in ("autograders", "frameworks", "release", "test")),
)
LEFT_OUT = "figures"
"""The pack that the site has not: each figure stands on its page."""


def prepare(arguments: argparse.Namespace) -> Callable[[], None]:
    """Return the function that makes the site."""
    return make


def make() -> None:
    """Make the site from the built pages, and publish it when it is whole."""
    with one_at_a_time(), replacing(FOLDER) as waiting:
        shutil.copytree(HTML, waiting)
        (waiting / DOWNLOADS).mkdir()
        # Messages would name a folder that is renamed at the end.
        with step("Making the downloads"), redirect_stdout(StringIO()):
            make_downloads(waiting / DOWNLOADS)
        link_downloads(waiting)
    print(f"The site is in {FOLDER}")


def make_downloads(folder: Path) -> None:
    """Make all downloads."""
    printing.print_all([printing.whole_book(paper) for paper in ("a4", "letter")], folder)
    epub.make(folder)
    wanted = ",".join(name for name in PACKS if name != LEFT_OUT)
    packs.make(make_parser("building").parse_args(["packs", "--only", wanted, "--to", str(folder)]))
    # Notebooks that a page makes install the wheel from this address.
    (folder / "notebooks" / WHEEL).rename(folder / WHEEL)
    archive_sources(folder / f"attention-by-hand-{mha.__version__}-source.zip")


def archive_sources(file: Path) -> None:
    """Write an archive of all files of the commands; same sources, same bytes."""
    paths = {f"{file.stem}/{path.relative_to(ROOT).as_posix()}": path for path in files_in(SOURCES)}
    file.write_bytes(pack({name: path.read_bytes() for name, path in paths.items()}))


def link_downloads(site: Path) -> None:
    """Turn the names of downloads into links; end if a page names a file that does not exist."""
    files = {path.name: path for path in sorted((site / DOWNLOADS).rglob("*")) if path.is_file()}
    for page in site.rglob("*.html"):

        def linked(found: re.Match[str], page: Path = page) -> str:
            name = found[1]
            if name not in files:
                fail(f"{page.relative_to(site)} names {name}, which is not among the downloads")
            address = os.path.relpath(files[name], page.parent)
            return f'<a class="on-site" href="{address}" download>{name}</a> ({_size(files[name])})'

        before = page.read_text(encoding="utf-8")
        after = NAMED.sub(linked, NOTICE.sub("", before))
        if after != before:
            page.write_text(after, encoding="utf-8")


def _size(file: Path) -> str:
    """Return the size of a file, such as "6.1 MB" or "87 kB", without a breaking space."""
    size = file.stat().st_size
    text = f"{size / 10**6:.1f} MB" if size >= 10**6 else f"{size / 10**3:.0f} kB"
    return text.replace(" ", "\N{NO-BREAK SPACE}")
