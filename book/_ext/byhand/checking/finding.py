"""One fault of a source: where it is, what is wrong, and what is wanted."""

from typing import NamedTuple


class Finding(NamedTuple):
    """A fault of a source.

    Attributes
    ----------
    file : str
        Relative to the project.
    line : int
        Counted from 1.
    message : str
        What is wrong; then, after a semicolon, what is wanted.

    Examples
    --------
    >>> print(Finding("book/index.md", 3, "the page has no title; one line `# Title` is wanted"))
    book/index.md:3: the page has no title; one line `# Title` is wanted
    """

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"
