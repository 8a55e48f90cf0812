"""The students of a class, known by number or by name."""

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
        As in the list of the class.

    Examples
    --------
    >>> str(Student(3)), str(Student(3, "Emmy Noether", "e17"))
    ('3', '3: Emmy Noether, e17')
    """

    number: int
    name: str = ""
    id: str = ""

    @property
    def identifier(self) -> str:
        """The id, or the name if there is no id; empty without a list."""
        return self.id or self.name

    @property
    def entropy(self) -> int:
        """A number for the random generator, which differs from student to student.

        It is a hash of the identifier, so that a new student in the list changes no other sheet.
        """
        return zlib.crc32(self.identifier.encode()) if self.identifier else self.number

    def __str__(self) -> str:
        named = ", ".join(filter(None, (self.name, self.id)))
        return f"{self.number}: {named}" if named else str(self.number)
