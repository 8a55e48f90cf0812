"""The list of a class, as a teacher writes it or as Moodle and Canvas export it.

Nothing is guessed: a list whose first line reads like a header, and is none of `FORMS`, is refused.
Where a list has a column of roles, only students get a worksheet; the others are named.
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

LONGEST = 80
"""Letters that a name or an id may have."""

MOST = 300
"""Students that a class may have."""

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
"""What parts the cells of a line."""

Person = tuple[int, str, str, str]  # a line's number, the name, the id and the role
Row = tuple[int, list[str]]  # a line's number, and its cells
Cells = tuple[int, dict[str, str]]  # the same by the columns' names


@dataclass(frozen=True)
class Form:
    """What the columns of a list are called; capitals do not count.

    Parameters
    ----------
    name : tuple of str
        The columns that make a name, in the order in which it is written.
    ids : tuple of str
        The id is in the first of these that is not empty throughout; there may be none.
    """

    name: tuple[str, ...]
    ids: tuple[str, ...]


_IN_MOODLE = ("id number", "username", "email address")

MOODLE = (
    Form(("first name", "last name"), _IN_MOODLE),
    Form(("first name", "surname"), _IN_MOODLE),
    Form(("full name",), _IN_MOODLE),
)
CANVAS = Form(("student",), ("sis user id", "sis login id", "id"))
FORMS = (*MOODLE, CANVAS, Form(("name",), ("id",)))
"""The lists that are understood: participants and grades of Moodle, Canvas's gradebook, ours."""

ABOVE, TESTERS = "points possible", ("student, test", "test student")
"""The last row that Canvas has above the students, and the student that it adds for trials."""

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

OF_HEADERS = re.compile(
    r"\b(?:(?:sur|user|vor|nach)?names?|students?|ids?|numbers?|e?-?mail|class|schüler|voornaam"
    r"|achternaam|förnamn|efternamn|nom|prénom|nombre|apellidos?|nome|cognome|imię|nazwisko|имя"
    r"|фамилия|姓名|名前|氏名|이름)\b"
)
"""Words by which a first line is known as a header, in small letters."""


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
        first line names the columns, as one of `FORMS`; without one, the first column is the name
        and the second, if any, the id. A person whose role is empty is a student.

    Returns
    -------
    ClassList

    Raises
    ------
    ValueError
        If there is no such list, naming its line where a line is at fault.
    """
    students: list[Student] = []
    others: list[tuple[str, str]] = []
    taken: dict[str, int] = {}
    for line, name, known_by, role in _read(path.name, _text(path)):
        if not _is_student(role):
            others.append((name, role))
            continue
        student = Student(len(students) + 1, name, known_by)
        _check(f"line {line} of {path.name}", student, taken)
        taken[student.known_by] = line
        students.append(student)
    if not students:
        roles = ", ".join(sorted({role for _, role in others}))
        named = f"; its roles are {in_one_line(roles)}, and Student is wanted" if others else ""
        raise ValueError(f"{path.name} names no student{named}")
    if len(students) > MOST:
        raise ValueError(f"{path.name} names {len(students)} students; at most {MOST} are wanted")
    return ClassList(path.name, tuple(students), tuple(others))


def _is_student(role: str) -> bool:
    """Tell whether one of a person's roles is that of a student."""
    roles = [part.strip().casefold() for part in role.split(",")]
    return not role or not STUDENT_ROLES.isdisjoint(roles)


def _text(path: Path) -> str:
    """Return what a file says, in the encoding that it has."""
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
    """Tell whether a text read as Windows-1252 is one: other alphabets turn into odd letters."""
    beyond = [c for c in text if not c.isascii() and c not in "‘’“”«»–ªº\xa0"]
    return all(map(str.isalpha, beyond)) and not re.search(r"[^\x00-\x7f]{3}", text)


def _read(file: str, text: str) -> Iterator[Person]:
    """Yield each person of a list."""
    for separator in SEPARATORS:
        rows = _rows(file, text, separator)
        header = [cell.casefold() for cell in rows[0][1]] if rows else []
        for form in FORMS:
            if set(form.name) <= set(header):
                return _by_header(file, form, header, rows[1:])
    return _without_header(file, text)


def _rows(file: str, text: str, separator: str) -> list[Row]:
    """Return the lines that are not empty, as cells."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        rows = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num} of {file}: {error}") from None
    return [(line, row) for line, row in rows if any(row)]


def _by_header(
    file: str, form: Form, header: Sequence[str], rows: Sequence[Row]
) -> Iterator[Person]:
    """Yield the people of a list whose columns have names."""
    _check_lengths(file, rows, len(header))
    table = [(line, dict(zip(header, row, strict=False))) for line, row in rows]
    if form is CANVAS:
        table = list(_of_canvas(table))
    filled = (column for column in form.ids if any(cells.get(column) for _, cells in table))
    column = next(filled, "")
    for line, cells in table:
        parts = [cells.get(part, "") for part in form.name]
        role = next(filter(None, (cells.get(name) for name in ROLES)), "")
        yield line, " ".join(filter(None, parts)), cells.get(column, ""), role


def _of_canvas(table: Sequence[Cells]) -> Iterator[Cells]:
    """Yield the students of a gradebook, with the given name before the family name."""
    above = [i for i, (_, cells) in enumerate(table) if cells["student"].casefold() == ABOVE]
    for line, cells in table[above[0] + 1 if above else 0 :]:
        family, _, given = cells["student"].partition(", ")
        turned = f"{given} {family}" if given and "," not in given else cells["student"]
        role = {"role": "Canvas's test user"} if cells["student"].casefold() in TESTERS else {}
        yield line, cells | {"student": turned} | role


def _without_header(file: str, text: str) -> Iterator[Person]:
    """Yield the people of a list of names, or of names and ids."""
    found = [separator for separator in SEPARATORS if separator in text.strip().partition("\n")[0]]
    if len(found) > 1:
        both = " and ".join(SEPARATORS[separator] for separator in found)
        raise ValueError(f"the first line of {file} has {both}; a header with {WANTED}")
    rows = _rows(file, text, found[0] if found else ",")
    first = rows[0][1] if rows else []
    is_header = any(OF_HEADERS.search(cell.casefold()) for cell in first)
    has_no_id = "".join(first[1:2]) and not re.search(r"[\d@]", first[1])
    if is_header or has_no_id or len(first) > 2:
        columns = in_one_line(", ".join(cell[:20] for cell in first[:6]))
        more = ", …" * (len(first) > 6)
        raise ValueError(f"{file} begins with {columns}{more}; the columns {WANTED}")
    _check_lengths(file, rows, 2)
    for line, row in rows:
        yield line, row[0], "".join(row[1:2]), ""


def _check_lengths(file: str, rows: Sequence[Row], most: int) -> None:
    """Raise where a line has more cells than there are columns."""
    for line, row in rows:
        if any(row[most:]):
            raise ValueError(
                f"line {line} of {file} has {len(row)} cells, more than the {most} that it may"
                " have; a cell with a comma in it stands between quotes"
            )


def _check(where: str, student: Student, taken: dict[str, int]) -> None:
    """Raise unless a student can be told from the others."""
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
