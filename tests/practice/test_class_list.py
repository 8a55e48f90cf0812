"""The list of a class: as teachers write it, as Moodle and Canvas export it, what is refused."""

import csv
import io

import pytest

from mha.practice.worksheets import Student
from mha.practice.worksheets.class_list import read_class

SCRIPTS = (
    ("Zoë Anaïs Łucja Ñusta", "Noether Çelik"),
    ("Софья Иван Ольга Юрий", "Ковалевская Ляпунов"),
    ("Υπατία Άννα Νίκος Ζωή", "Παππάς Δημητρίου"),
    ("שרה דוד נועה יעל", "כהן לוי"),
    ("مريم علي ليلى عمر", "الخوارزمي حداد"),
    ("रमन आर्या मीरा कविता", "शर्मा गुप्ता"),
    ("明 华 芳 静", "李 王"),
    ("지민 서연 민준 하은", "김 박"),
)
CLASS = [
    (given, family, f"s{script}{i}{j}")
    for i in range(4)
    for j in range(2)
    for script, names in enumerate(SCRIPTS)
    for given, family in [(names[0].split()[i], names[1].split()[j])]
][:60]
"""Sixty students: the given name, the family name, the id."""


def table(rows, separator=","):
    """Return rows as a program writes them."""
    file = io.StringIO()
    csv.writer(file, delimiter=separator).writerows(rows)
    return file.getvalue()


FORMS = {
    "ours": (
        table([("name", "id"), *((f"{g} {f}", i) for g, f, i in CLASS)]),
        "utf-8",
    ),
    "ours, by a spreadsheet": (
        table([("ID", "Mark", "Name"), *((i, 1, f"{g} {f}") for g, f, i in CLASS)], ";"),
        "utf-8-sig",
    ),
    "no header": (table([(f"{g} {f}", i) for g, f, i in CLASS], "\t"), "utf-16"),
    "Moodle's participants": (
        table(
            [("First name", "Last name", "ID number", "Email address", "Groups")]
            + [(g, f, i, f"{i}@example.org", "") for g, f, i in CLASS]
        ),
        "utf-8",
    ),
    "Moodle's grades, before 4": (
        table(
            [("Surname", "First name", "ID number", "Institution", "Email address", "Quiz (Real)")]
            + [(f, g, "", "", i, "7,50") for g, f, i in CLASS],
            ";",
        ),
        "utf-16-be",
    ),
    "Canvas's gradebook": (
        table(
            [("Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Quiz 1 (12)")]
            + [("", "", "", "", "", "Manual Posting"), ("    Points Possible", *[""] * 4, "10")]
            + [(f"{f}, {g}", 17, i, i.upper(), "One", "7.5") for g, f, i in CLASS]
            + [("Student, Test", 99, "", "", "One", "")]
        ),
        "utf-8",
    ),
}


def class_list(folder, text, encoding="utf-8"):
    path = folder / "class.csv"
    marks = "\ufeff" if encoding == "utf-16-be" else ""
    path.write_bytes((marks + text).encode(encoding))
    return path


@pytest.mark.parametrize("form", FORMS)
def test_sixty_students_in_eight_scripts_in_each_form(tmp_path, form):
    found = read_class(class_list(tmp_path, *FORMS[form]))
    assert found == tuple(Student(n, f"{g} {f}", i) for n, (g, f, i) in enumerate(CLASS, 1))


@pytest.mark.parametrize(
    ("text", "encoding", "wanted"),
    [
        ("name\nZoë Müller\n", "cp1252", "Zoë Müller"),
        ("First name;Surname\nJosé;Peña\n", "latin-1", "José Peña"),
        ("Bo\n\n", "utf-8", "Bo"),
        ("Student,ID\n'King, Jr., Martin',1\n".replace("'", '"'), "utf-8", "King, Jr., Martin"),
        ("First name,Last name\n,Pelé\n", "utf-8", "Pelé"),
        ("Full name,Email address\nBo Ek,b@example.org\n", "utf-8", "Bo Ek"),
    ],
)
def test_a_name_is_read_as_it_is_written(tmp_path, text, encoding, wanted):
    assert read_class(class_list(tmp_path, text, encoding))[0].name == wanted


NO_HEADER = "the columns name and id are wanted, First name and Last name as in Moodle"


@pytest.mark.parametrize(
    ("text", "encoding", "sentence"),
    [
        ("", "utf-8", "class.csv names no student"),
        ("id,mail\n1,x\n", "utf-8", f"class.csv begins with id, mail; {NO_HEADER}"),
        ("Név;Kód\nBo;b1\n", "utf-8", f"class.csv begins with Név, Kód; {NO_HEADER}"),
        ("Noether, Emmy\n", "utf-8", f"class.csv begins with Noether, Emmy; {NO_HEADER}"),
        (
            "a,1,b,c,d,e,f\n",
            "utf-8",
            f"class.csv begins with a, 1, b, c, d, e, …; {NO_HEADER}",
        ),
        (
            "Noether, Emmy;e17\n",
            "utf-8",
            "the first line of class.csv has commas and semicolons; a header with name and id",
        ),
        (
            "name\nNoether, Emmy\n",
            "utf-8",
            "line 2 of class.csv has 2 cells, more than the 1 that it may have; a cell with a",
        ),
        ("name,id\n,e17\n", "utf-8", "line 2 of class.csv has no name"),
        (
            "Bo\nCy\nBo\n",
            "utf-8",
            "line 3 of class.csv has 'Bo', as line 1 has; ids that differ are wanted",
        ),
        ("name\nСофья\n", "cp1251", "class.csv is not in UTF-8, UTF-16 or Windows-1252; save it"),
        ("name\nBo\n", "utf-16-le", "class.csv is not in UTF-8, UTF-16 or Windows-1252; save it"),
        (f"name\n{'x' * 81}\n", "utf-8", "line 2 of class.csv has 'xxxxxxxxxxxxxxxxxxxx'…"),
        ("\n".join(map(str, range(301))), "utf-8", "class.csv names 301 students; at most 300"),
    ],
)
def test_a_list_that_cannot_be_is_told_with_its_line(tmp_path, text, encoding, sentence):
    with pytest.raises(ValueError, match=r"class\.csv") as raised:
        read_class(class_list(tmp_path, text, encoding))
    assert str(raised.value).startswith(sentence)
