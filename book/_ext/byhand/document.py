"""The request for a printed document: the whole book, or a reader of chosen chapters."""

from dataclasses import dataclass

BOOK = "Attention by Hand"
BIBLIOGRAPHY = "bibliography"  # the page that every document includes


@dataclass(frozen=True)
class Document:
    """The title, the chapters and the options of one PDF."""

    name: str = "attention-by-hand"  # the file's name, without an ending
    title: str = BOOK
    subtitle: str = "Multi-head attention, on sentences small enough to check with a pencil"
    paper: str = "a4"  # "a4" or "letter"
    # names of the pages to print, in this order; all of them if left out
    chapters: tuple[str, ...] | None = None
    solutions: str = "appendix"  # "appendix", "none" or "only"
    code: bool = True  # whether code is printed; without it a line says where it is
    course: str = ""  # for the title page of a reader; empty strings are left out
    instructor: str = ""
    date: str = ""

    @property
    def is_reader(self) -> bool:
        """Return whether the document has chosen chapters instead of the whole book."""
        return self.chapters is not None
