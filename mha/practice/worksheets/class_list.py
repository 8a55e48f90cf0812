"""The list of a class, as a teacher writes it or as Moodle and Canvas export it.

A list whose first line looks like a header, but is in none of `FORMATS`, is refused: a guess could
mix up names and ids. In a list with a column of roles, only students get a worksheet.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mha.command_line import in_one_line
from mha.practice.worksheets.students import Student

MAX_NAME_LENGTH = 80
"""The most letters of a name or an id."""

MAX_STUDENTS = 300
"""The most students of a class."""

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
"""The characters that separate cells, and their names."""

Person = tuple[int, str, str, str]  # a line's number, the name, the id and the role
Row = tuple[int, list[str]]  # a line's number, and its cells
Cells = tuple[int, dict[str, str]]  # the same by the columns' names


@dataclass(frozen=True)
class ListFormat:
    """The column names of a list, in lower case; capitals are ignored.

    Parameters
    ----------
    name : tuple of str
        The columns of the parts of a name, in the order of writing.
    ids : tuple of str
        The id is in the first of these columns that is not empty; there may be none.
    """

    name: tuple[str, ...]
    ids: tuple[str, ...]


_IN_MOODLE = ("id number", "username", "email address")

MOODLE = (
    ListFormat(("first name", "last name"), _IN_MOODLE),
    ListFormat(("first name", "surname"), _IN_MOODLE),
    ListFormat(("full name",), _IN_MOODLE),
)
CANVAS = ListFormat(("student",), ("sis user id", "sis login id", "id"))
FORMATS = (*MOODLE, CANVAS, ListFormat(("name",), ("id",)))
"""The known formats: participants and grades of Moodle, the gradebook of Canvas, our own."""

ROW_ABOVE, TEST_STUDENTS = "points possible", ("student, test", "test student")
"""The last row above the students in a gradebook of Canvas, and names of its test student."""

ROLES = ("roles", "role", "course role", "course roles")
"""The column of a person's roles, separated by commas, as in Moodle's list of participants."""

STUDENT_ROLES = {
    *("student", "learner", "participant", "pupil"),
    *("student/in", "teilnehmer", "teilnehmer/in", "teilnehmerin"),
    *("élève", "étudiant", "étudiante", "étudiant·e"),
    *("alumno", "aluno", "estudante", "estudiante", "studente"),
    *("cursist", "leerling", "opiskelija", "studerende"),
    *("diák", "hallgató", "öğrenci", "φοιτητής", "студент"),
    *("תלמיד", "طالب", "学生", "學生", "학생"),
}
"""The role of a student, in small letters, in English and in translations of Moodle and Canvas."""

WANTED = "name and id are wanted, First name and Last name as in Moodle, or Student as in Canvas"

HEADER_WORDS = re.compile(
    r"\b(?:(?:sur|user|vor|nach)?names?|students?|ids?|numbers?|e?-?mail|class|schüler|voornaam"
    r"|achternaam|förnamn|efternamn|nom|prénom|nombre|apellidos?|nome|cognome|imię|nazwisko|имя"
    r"|фамилия|姓名|名前|氏名|이름)\b"
)
"""Words that mark a first line as a header, in lower case."""


@dataclass(frozen=True)
class ClassList:
    """The students of a list, and the people on it who are not students.

    Parameters
    ----------
    file : str
        The name of the list's file.
    students : tuple of Student
    others : tuple of pairs of str
        The name and the role of each person whose role is not a student's.
    """

    file: str
    students: tuple[Student, ...]
    others: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Return a sentence on the number of students and on the people who are not students.

        Its example is a name with an accent, if there is one, which would show a wrong encoding.
        """
        of_accent = (student for student in self.students if not student.name.isascii())
        example = next(of_accent, self.students[0])
        count = "1 student" if len(self.students) == 1 else f"{len(self.students)} students"
        with_id = f", with the id {example.id}" if example.id else ""
        sentence = f"{in_one_line(self.file)} names {count}, such as {example.name}{with_id}"
        if not self.others:
            return sentence
        people = in_one_line(", ".join(f"{name} ({role})" for name, role in self.others))
        if len(self.others) == 1:
            return f"{sentence}; 1 person is left out, who is not a student: {people}"
        return f"{sentence}; {len(self.others)} people are left out, who are not students: {people}"


def read_class(path: Path) -> ClassList:
    """Return the students of a list, and the other people on it.

    Parameters
    ----------
    path : pathlib.Path
        A table as CSV in UTF-8, UTF-16 or Windows-1252, parted by commas, semicolons or tabs. Its
        first line names the columns, as one of `FORMATS`; without one, the first column is the name
        and the second, if any, the id. A person whose role is empty is a student.

    Returns
    -------
    ClassList

    Raises
    ------
    ValueError
        If the list cannot be read; the message names the line at fault, if there is one.
    """
    students: list[Student] = []
    others: list[tuple[str, str]] = []
    taken: dict[str, int] = {}
    for line, name, known_by, role in _read(path.name, _decode(path)):
        if not _is_student(role):
            others.append((name, role))
            continue
        student = Student(len(students) + 1, name, known_by)
        _check(f"line {line} of {path.name}", student, taken)
        taken[student.identifier] = line
        students.append(student)
    if not students:
        roles = ", ".join(sorted({role for _, role in others}))
        named = f"; its roles are {in_one_line(roles)}, and Student is wanted" if others else ""
        raise ValueError(f"{path.name} names no student{named}")
    if len(students) > MAX_STUDENTS:
        raise ValueError(
            f"{path.name} names {len(students)} students; at most {MAX_STUDENTS} are wanted"
        )
    return ClassList(path.name, tuple(students), tuple(others))


def _is_student(role: str) -> bool:
    """Return whether one of a person's roles is that of a student."""
    roles = [part.strip().casefold() for part in role.split(",")]
    return not role or not STUDENT_ROLES.isdisjoint(roles)


def _decode(path: Path) -> str:
    """Return the text of a file in one of the known encodings."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    is_marked = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    for encoding in ("utf-16",) if is_marked else ("utf-8-sig", "cp1252"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text and (encoding != "cp1252" or _is_western(text)):
            return text
    raise ValueError(f"{path.name} is not in UTF-8, UTF-16 or Windows-1252; save it as “CSV UTF-8”")


def _is_western(text: str) -> bool:
    """Return whether a text was written in Windows-1252: other encodings turn into odd letters."""
    beyond = [c for c in text if not c.isascii() and c not in "‘’“”«»–ªº\xa0"]
    return all(map(str.isalpha, beyond)) and not re.search(r"[^\x00-\x7f]{3}", text)


def _read(file: str, text: str) -> Iterator[Person]:
    """Yield each person of a list."""
    for separator in SEPARATORS:
        rows = _rows(file, text, separator)
        header = [cell.casefold() for cell in rows[0][1]] if rows else []
        for form in FORMATS:
            if set(form.name) <= set(header):
                return _by_header(file, form, header, rows[1:])
    return _without_header(file, text)


def _rows(file: str, text: str, separator: str) -> list[Row]:
    """Return the cells of each line that is not empty."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num} of {file}: {error}") from None
    return [(line, row) for line, row in rows if any(row)]


def _by_header(
    file: str, form: ListFormat, header: Sequence[str], rows: Sequence[Row]
) -> Iterator[Person]:
    """Yield the people of a list with a header."""
    _check_lengths(file, rows, len(header))
    table = [(line, dict(zip(header, row, strict=False))) for line, row in rows]
    if form is CANVAS:
        table = list(_canvas_students(table))
    filled = (column for column in form.ids if any(cells.get(column) for _, cells in table))
    column = next(filled, "")
    for line, cells in table:
        parts = [cells.get(part, "") for part in form.name]
        role = next(filter(None, (cells.get(name) for name in ROLES)), "")
        yield line, " ".join(filter(None, parts)), cells.get(column, ""), role


def _canvas_students(table: Sequence[Cells]) -> Iterator[Cells]:
    """Yield the students of a gradebook, with the given name before the family name."""
    above = [i for i, (_, cells) in enumerate(table) if cells["student"].casefold() == ROW_ABOVE]
    for line, cells in table[above[0] + 1 if above else 0 :]:
        family, _, given = cells["student"].partition(", ")
        reordered = f"{given} {family}" if given and "," not in given else cells["student"]
        role = (
            {"role": "Canvas's test user"} if cells["student"].casefold() in TEST_STUDENTS else {}
        )
        yield line, cells | {"student": reordered} | role


def _without_header(file: str, text: str) -> Iterator[Person]:
    """Yield the people of a list without a header: names, or names and ids."""
    found = [separator for separator in SEPARATORS if separator in text.strip().partition("\n")[0]]
    if len(found) > 1:
        both = " and ".join(SEPARATORS[separator] for separator in found)
        raise ValueError(f"the first line of {file} has {both}; a header with {WANTED}")
    rows = _rows(file, text, found[0] if found else ",")
    first = rows[0][1] if rows else []
    is_header = any(HEADER_WORDS.search(cell.casefold()) for cell in first)
    has_no_id = "".join(first[1:2]) and not re.search(r"[\d@]", first[1])
    if is_header or has_no_id or len(first) > 2:
        columns = in_one_line(", ".join(cell[:20] for cell in first[:6]))
        ellipsis = ", …" * (len(first) > 6)
        raise ValueError(f"{file} begins with {columns}{ellipsis}; the columns {WANTED}")
    _check_lengths(file, rows, 2)
    for line, row in rows:
        yield line, row[0], "".join(row[1:2]), ""


def _check_lengths(file: str, rows: Sequence[Row], most: int) -> None:
    """Raise if a line has more cells than there are columns."""
    for line, row in rows:
        if any(row[most:]):
            raise ValueError(
                f"line {line} of {file} has {len(row)} cells, more than the {most} that it may"
                " have; put quotes around a cell with a comma in it"
            )


def _check(where: str, student: Student, taken: dict[str, int]) -> None:
    """Raise if a student has no name, a long one, or the identifier of another student."""
    if not student.name:
        raise ValueError(f"{where} has no name")
    for text in (student.name, student.id):
        if len(text) > MAX_NAME_LENGTH or not text.isprintable():
            raise ValueError(
                f"{where} has {text[:20]!r}…; at most {MAX_NAME_LENGTH} letters are wanted"
            )
    if student.identifier in taken:
        before = taken[student.identifier]
        raise ValueError(
            f"{where} has {student.identifier!r}, as line {before} has; ids that differ are wanted"
        )
