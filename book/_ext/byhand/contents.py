"""The contents of the book: its parts and pages, as `_toc.yml` orders them."""

from dataclasses import dataclass
from pathlib import Path

import yaml

TOC = Path(__file__).resolve().parents[3] / "_toc.yml"


@dataclass(frozen=True)
class Part:
    """A part of the book, counted from 1, and the names of its pages."""

    number: int
    caption: str
    pages: tuple[str, ...]


@dataclass(frozen=True)
class Contents:
    """The whole book.

    Parameters
    ----------
    root : str
        The name of the first page, which belongs to no part.
    parts : tuple of Part
    """

    root: str
    parts: tuple[Part, ...]

    @property
    def chapters(self) -> tuple[str, ...]:
        """The names of the pages of all parts, such as "mechanism/softmax"."""
        return tuple(page for part in self.parts for page in part.pages)

    @property
    def pages(self) -> tuple[str, ...]:
        """The names of all pages, the first one included."""
        return (self.root, *self.chapters)


def read_contents(file: Path = TOC) -> Contents:
    """Return what a table of contents in Jupyter Book's form says.

    Parameters
    ----------
    file : Path, default the book's own `_toc.yml`

    Examples
    --------
    >>> contents = read_contents()
    >>> contents.pages[:2]
    ('index', 'mechanism/what-attention-does')
    >>> contents.parts[0].caption
    'The mechanism'
    """
    toc = yaml.safe_load(file.read_text(encoding="utf-8"))
    parts = [
        Part(number, part.get("caption", ""), tuple(entry["file"] for entry in part["chapters"]))
        for number, part in enumerate(toc.get("parts", ()), 1)
    ]
    return Contents(toc["root"], tuple(parts))
