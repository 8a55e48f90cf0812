"""Class lists: written by teachers, exported by Moodle and Canvas, and refused."""

import csv
import io

import pytest

from mha.practice.worksheets import Student
from mha.practice.worksheets.class_list import read_class

CLASS = [
    ("Zoë Anaïs", "Noether Çelik", "s1"),
    ("Софья", "Ковалевская", "s3"),
    ("مريم", "الخوارزمي", "s6"),
    ("明", "李", "s8"),
]
"""The given name, the family name and the id of students, in four scripts."""


def table(*rows, separator=","):
    """Return rows in a program's export format."""
    file = io.StringIO()
    csv.writer(file, delimiter=separator).writerows(rows)
    return file.getvalue()


FORMS = {
    "ours": table(("name", "id"), *((f"{g} {f}", i) for g, f, i in CLASS)).encode(),
    "ours, by a spreadsheet": table(
        ("ID", "Mark", "Name"), *((i, 1, f"{g} {f}") for g, f, i in CLASS), separator=";"
    ).encode("utf-8-sig"),
    "no header": table(*((f"{g} {f}", i) for g, f, i in CLASS), separator="\t").encode("utf-16"),
    "Moodle's participants": table(
        ("First name", "Last name", "ID number", "Email address", "Groups"),
        *((g, f, i, f"{i}@example.org", "") for g, f, i in CLASS),
    ).encode(),
    "Moodle's grades, before 4": "\ufeff".encode("utf-16-be")
    + table(
        ("Surname", "First name", "ID number", "Institution", "Email address", "Quiz (Real)"),
        *((f, g, "", "", i, "7,50") for g, f, i in CLASS),
        separator=";",
    ).encode("utf-16-be"),
    "Canvas's gradebook": table(
        ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Quiz 1 (12)"),
        ("", "", "", "", "", "Manual Posting"),
        ("    Points Possible", "", "", "", "", "10"),
        *((f"{f}, {g}", 17, i, i.upper(), "One", "7.5") for g, f, i in CLASS),
        ("Student, Test", 99, "", "", "One", ""),
    ).encode(),
}


def students(folder, data):
    return read_class_list(folder, data).students


def read_class_list(folder, data):
    (folder / "class.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_class(folder / "class.csv")


@pytest.mark.parametrize("form", FORMS)
def test_students_in_four_scripts_in_each_form(tmp_path, form):
    wanted = tuple(Student(n, f"{g} {f}", i) for n, (g, f, i) in enumerate(CLASS, 1))
    assert students(tmp_path, FORMS[form]) == wanted


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        ("name\nZoë Müller\n".encode("cp1252"), "Zoë Müller"),
        ("First name;Surname\nJosé;Peña\n".encode("latin-1"), "José Peña"),
        ("Bo\n\n", "Bo"),
        ('Student,ID\n"King, Jr., Martin",1\n', "King, Jr., Martin"),
        ("First name,Last name\n,Pelé\n", "Pelé"),
        ("Full name,Email address\nBo Ek,b@example.org\n", "Bo Ek"),
    ],
)
def test_names_are_read_unchanged(tmp_path, data, wanted):
    assert students(tmp_path, data)[0].name == wanted


ROLES = [
    ("Teacher", False),
    ("Non-editing teacher", False),
    ("Manager", False),
    ("Course creator", False),
    ("Teacher, Course creator", False),
    ("No roles", False),
    ("Trainer/in", False),
    ("Enseignant", False),
    ("Profesor", False),
    ("Docent", False),
    ("Student", True),
    ("student", True),
    ("Student, Tutor", True),
    ("Teilnehmer/in", True),
    ("Étudiant", True),
    ("Estudiante", True),
    ("Студент", True),
    ("学生", True),
    ("", True),
]
"""Roles of Moodle's participants, and whether they make a student."""


@pytest.mark.parametrize("column", ["Roles", "Role"])
@pytest.mark.parametrize(("role", "is_student"), ROLES)
def test_only_students_of_the_participants_get_a_worksheet(tmp_path, column, role, is_student):
    rows = [("Bo", "Ek", "b1", "Student"), ("Ann", "Lee", "a1", role)]
    found = read_class_list(
        tmp_path, table(("First name", "Last name", "ID number", column), *rows)
    )
    assert [one.name for one in found.students] == ["Bo Ek", "Ann Lee"][: 1 + is_student]
    assert found.others == (() if is_student else (("Ann Lee", role),))


def test_the_people_without_a_worksheet_are_counted_and_named(tmp_path):
    people = [("Bo", "Ek", "Student"), ("Ann", "Lee", "Teacher"), ("Cy", "Poe", "Manager")]
    data = table(("First name", "Last name", "Roles"), *people)
    assert str(read_class_list(tmp_path, data)) == (
        "class.csv names 1 student, such as Bo Ek; 2 people are left out, who are not students:"
        " Ann Lee (Teacher), Cy Poe (Manager)"
    )
    assert read_class_list(tmp_path, FORMS["Canvas's gradebook"]).others == (
        ("Test Student", "Canvas's test user"),
    )


NO_HEADER = "; the columns name and id are wanted, First name and Last name as in Moodle"
NO_TEXT = "class.csv is not in UTF-8, UTF-16 or Windows-1252; save it"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("", "class.csv names no student"),
        ("name,role\nBo,Lehrer\nCy,Tutor\n", "class.csv names no student; its roles are Lehrer, T"),
        ("Név;Kód\nBo;b1\n", f"class.csv begins with Név, Kód{NO_HEADER}"),
        ("Noether, Emmy\n", f"class.csv begins with Noether, Emmy{NO_HEADER}"),
        ("a,1,b,c,d,e,f\n", f"class.csv begins with a, 1, b, c, d, e, …{NO_HEADER}"),
        ("A, B;1\n", "the first line of class.csv has commas and semicolons; a header with name"),
        (
            "name\nA, B\n",
            "line 2 of class.csv has 2 cells, more than the 1 that it may have; put q",
        ),
        ("name,id\n,e17\n", "line 2 of class.csv has no name"),
        ("Bo\nCy\nBo\n", "line 3 of class.csv has 'Bo', as line 1 has; ids that differ are wanted"),
        ("name\nСофья\n".encode("cp1251"), NO_TEXT),
        ("name\nBo\n".encode("utf-16-le"), NO_TEXT),
        (f"name\n{'x' * 81}\n", "line 2 of class.csv has 'xxxxxxxxxxxxxxxxxxxx'…"),
        ("\n".join(map(str, range(301))), "class.csv names 301 students; at most 300"),
    ],
)
def test_an_invalid_list_is_reported_with_its_line(tmp_path, data, sentence):
    with pytest.raises(ValueError, match=r"class\.csv") as raised:
        students(tmp_path, data)
    assert str(raised.value).startswith(sentence)
