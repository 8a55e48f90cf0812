"""Who gets a worksheet: students by number, or by the list of a class."""

import csv
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LONGEST = 80
"""Letters that a name or an id may have."""

MOST = 300
"""Students that a class may have."""


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


def read_class(path: Path) -> tuple[Student, ...]:
    """Return the students of a list.

    Parameters
    ----------
    path : pathlib.Path
        A table as CSV in UTF-8, parted by commas, semicolons or tabs. Its first line may name the
        columns, ``name`` and ``id``; else the first is the name and the second, if any, the id.

    Returns
    -------
    tuple of Student

    Raises
    ------
    ValueError
        If there is no such list, naming its line where a line is at fault.
    """
    students = tuple(_students(path.name, _rows(path)))
    if not students:
        raise ValueError(f"{path.name} names no student")
    if len(students) > MOST:
        raise ValueError(f"{path.name} names {len(students)} students; at most {MOST} are wanted")
    return students


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return the lines that are not empty, with their numbers, as cells."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is not in UTF-8; save it as “CSV UTF-8”") from None
    first = text.partition("\n")[0]
    reader = csv.reader(text.splitlines(), delimiter=max(",;\t", key=first.count))
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num} of {path.name}: {error}") from None
    return [(line, row) for line, row in rows if any(row)]


def _students(file: str, rows: Sequence[tuple[int, list[str]]]) -> Iterator[Student]:
    """Yield the students of the lines."""
    header = [cell.casefold() for cell in rows[0][1]] if rows else []
    has_header = "name" in header or "id" in header
    if has_header and "name" not in header:
        raise ValueError(f"{file} has the columns {', '.join(header)}; name and id are wanted")
    name_at, id_at = (header.index("name") if has_header else 0), 1
    if has_header:
        id_at = header.index("id") if "id" in header else len(header)
    taken: dict[str, int] = {}
    for number, (line, row) in enumerate(rows[has_header:], 1):
        cells = [*row, *[""] * (max(name_at, id_at) + 1)]
        student = Student(number, cells[name_at], cells[id_at])
        _check(file, line, student, taken)
        taken[student.known_by] = line
        yield student


def _check(file: str, line: int, student: Student, taken: dict[str, int]) -> None:
    """Raise unless a student can be told from the others."""
    where = f"line {line} of {file}"
    if not student.name:
        raise ValueError(f"{where} has no name")
    for text in (student.name, student.id):
        if len(text) > LONGEST or not text.isprintable():
            raise ValueError(f"{where} has {text[:20]!r}…; at most {LONGEST} letters are wanted")
    if student.known_by in taken:
        before = taken[student.known_by]
        raise ValueError(
            f"{where} has {student.known_by!r}, as line {before} has; ids that differ are wanted"
        )
