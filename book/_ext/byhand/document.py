"""What is to be printed: the whole book, or a reader of some of its chapters."""

from dataclasses import dataclass

BOOK = "Attention by Hand"
BIBLIOGRAPHY = "bibliography"  # the page that comes with every document


@dataclass(frozen=True)
class Document:
    """One PDF to make."""

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
        """Tell whether chapters are left out."""
        return self.chapters is not None
