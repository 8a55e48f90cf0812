"""The contents of the book: its parts and pages, as `_toc.yml` orders them."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import yaml
from sphinx_external_toc.parsing import parse_toc_data

TOC = Path(__file__).resolve().parents[3] / "_toc.yml"

SCREEN_ONLY_CHAPTERS = ("reference/package", "teaching", "downloads")
"""The chapters that the printed book leaves out; a reader for a course has those that it names."""


@dataclass(frozen=True)
class Part:
    """A part of the book, counted from 1."""

    number: int
    caption: str
    pages: tuple[str, ...]  # the names of its chapters
    # the pages below a chapter, its `sections` in the file: they are for the screen alone
    below: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class Contents:
    """The table of contents: the first page and the parts."""

    root: str  # the name of the first page, which belongs to no part
    parts: tuple[Part, ...]

    @property
    def chapters(self) -> tuple[str, ...]:
        """The names of the chapters of all parts, such as "mechanism/softmax"."""
        return tuple(page for part in self.parts for page in part.pages)

    @property
    def printed_parts(self) -> tuple[Part, ...]:
        """The parts with the pages that the printed book contains."""
        return tuple(
            replace(
                part, pages=tuple(page for page in part.pages if page not in SCREEN_ONLY_CHAPTERS)
            )
            for part in self.parts
        )

    @property
    def pages(self) -> tuple[str, ...]:
        """The names of all pages, each chapter followed by the pages below it."""
        return (
            self.root,
            *(
                page
                for part in self.parts
                for chapter in part.pages
                for page in (chapter, *part.below.get(chapter, ()))
            ),
        )


def read_contents(file: Path = TOC) -> Contents:
    """Return the table of contents from a file in Jupyter Book's format.

    Examples
    --------
    >>> contents = read_contents()
    >>> contents.pages[:2]
    ('index', 'mechanism/what-attention-does')
    >>> contents.parts[0].caption
    'The mechanism'
    """
    return _contents(file.read_text(encoding="utf-8"))


@cache
def _contents(text: str) -> Contents:
    site = parse_toc_data(yaml.safe_load(text))
    parts = [
        Part(
            number,
            tree.caption or "",
            tuple(tree.files()),
            {page: tuple(site[page].child_files()) for page in tree.files() if site[page].subtrees},
        )
        for number, tree in enumerate(site.root.subtrees, 1)
    ]
    return Contents(site.root.docname, tuple(parts))
