"""What is to be printed: the whole book, or a reader of some of its chapters.

A command makes a `Document`; the Sphinx that it starts finds it again in a file that an environment
variable names. Without one, the whole book is meant.
"""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

VARIABLE = "BOOK_DOCUMENT"  # holds the path of a JSON file with the fields of a Document
BOOK = "Attention by Hand"
BIBLIOGRAPHY = "bibliography"  # the page that comes with every document


@dataclass(frozen=True)
class Document:
    """One PDF to make.

    Parameters
    ----------
    name : str
        What it is called while it is made: letters a to z, digits and hyphens.
    file : str
        The file's name, without an ending, if it has other letters.
    title, subtitle : str
    paper : "a4" or "letter"
    chapters : tuple of str, optional
        Names of the pages to print, in this order; all of them if left out.
    solutions : "appendix", "none" or "only"
    code : bool
        Whether code is printed; without it a line says where it is.
    course, instructor, date : str
        For the title page of a reader; empty strings are left out.
    edition : "print" or "accessible"
    """

    name: str = "attention-by-hand"
    file: str = ""
    title: str = BOOK
    subtitle: str = "Multi-head attention, on sentences small enough to check with a pencil"
    paper: str = "a4"
    chapters: tuple[str, ...] | None = None
    solutions: str = "appendix"
    code: bool = True
    course: str = ""
    instructor: str = ""
    date: str = ""
    edition: str = "print"

    @classmethod
    def load(cls) -> "Document":
        """Return the document that the environment names, or else the whole book."""
        path = os.environ.get(VARIABLE)
        if not path:
            return cls()
        fields = json.loads(Path(path).read_text(encoding="utf-8"))
        if fields["chapters"] is not None:
            fields["chapters"] = tuple(fields["chapters"])
        return cls(**fields)

    def save(self, path: Path) -> dict[str, str]:
        """Write the fields to a file, and return the variable by which `load` finds them."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")
        return {VARIABLE: str(path)}

    @property
    def is_reader(self) -> bool:
        """Tell whether chapters are left out."""
        return self.chapters is not None
