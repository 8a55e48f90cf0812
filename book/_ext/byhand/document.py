"""What is to be printed: the whole book, or a reader of some of its chapters."""

from dataclasses import dataclass

BOOK = "Attention by Hand"
BIBLIOGRAPHY = "bibliography"  # the page that comes with every document


@dataclass(frozen=True)
class Document:
    """One PDF to make.

    Parameters
    ----------
    name : str
        The file's name, without an ending.
    title, subtitle : str
    paper : "a4" or "letter"
    chapters : tuple of str, optional
        Names of the pages to print, in this order; all of them if left out.
    solutions : "appendix", "none" or "only"
    code : bool
        Whether code is printed; without it a line says where it is.
    course, instructor, date : str
        For the title page of a reader; empty strings are left out.
    """

    name: str = "attention-by-hand"
    title: str = BOOK
    subtitle: str = "Multi-head attention, on sentences small enough to check with a pencil"
    paper: str = "a4"
    chapters: tuple[str, ...] | None = None
    solutions: str = "appendix"
    code: bool = True
    course: str = ""
    instructor: str = ""
    date: str = ""

    @property
    def is_reader(self) -> bool:
        """Tell whether chapters are left out."""
        return self.chapters is not None
