"""Who gets a worksheet: a student, by number or by name."""

import zlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Student:
    """One student of a class.

    Parameters
    ----------
    number : int
        Counted from 1, in the order of the list.
    name, id : str, default ""
        As the list of the class has them.

    Examples
    --------
    >>> str(Student(3)), str(Student(3, "Emmy Noether", "e17"))
    ('3', '3: Emmy Noether, e17')
    """

    number: int
    name: str = ""
    id: str = ""

    @property
    def known_by(self) -> str:
        """What tells the student from all others, empty without a list."""
        return self.id or self.name

    @property
    def drawn_by(self) -> int:
        """What the numbers are drawn from, beside the seed.

        Of a list it is the id, or the name: who joins the class changes no other sheet.
        """
        return zlib.crc32(self.known_by.encode()) if self.known_by else self.number

    def __str__(self) -> str:
        named = ", ".join(filter(None, (self.name, self.id)))
        return f"{self.number}: {named}" if named else str(self.number)
