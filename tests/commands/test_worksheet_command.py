"""The worksheet command: sheets, key and answers as PDF, the same for the same seed."""

import contextlib
import io
import re
import subprocess
import sys

import building
import printed_book
import pytest

from mha.practice.worksheets import TASKS, Seed, Student, draw_worksheet
from mha.practice.worksheets.model_worksheet import ModelSheet

pytestmark = pytest.mark.pdf

NAMES = [f"answers-23.{kind}" for kind in ("csv", "json", "pdf")]
NAMES += [f"{name}-23.{kind}" for name in ("key", "worksheets") for kind in ("md", "pdf")]
ARGUMENTS = ["--seed", "23", "--difficulty", "hard", "--course", "Algebra", "--date", "Week 1"]
ARGUMENTS += ["--stages", ",".join(stage for stage in TASKS if stage not in ("mask", "output"))]


def make(folder, *arguments):
    """Run the command for a folder, and return its exit status: None if it succeeded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["build.py", "worksheet", "--to", str(folder), *arguments])
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                building.main()
        except SystemExit as stopped:
            return stopped.code
    return None


def rows_of(pdf):
    """Return the rows of the tagged tables of a PDF, each as a list of cells."""
    done = subprocess.run(["pdfinfo", "-struct-text", pdf], capture_output=True, check=True)
    rows, at = [], 0
    for line in done.stdout.decode(errors="replace").splitlines():
        word, indent = line.strip(), len(line) - len(line.lstrip())
        if word == "TR":
            rows.append([])
            at = indent
        elif rows and indent > at and re.match("T[HD]", word):
            rows[-1].append("")
        elif rows and indent > at and word.startswith('"'):
            rows[-1][-1] += word[1:-1]
        elif indent <= at:
            at = 10**9
    return rows


def text_of(pdf):
    """Return the text of a PDF with single spaces, one string per page."""
    pages = printed_book.text_of(pdf, "-layout")
    return [re.sub(r"[ \n]+", " ", page) for page in pages]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sheets")
    (folder / "class.csv").write_text("name,id\nEmmy Noether,e17\nשרה כהן,x2\n")
    assert make(folder, *ARGUMENTS, "--class", str(folder / "class.csv")) is None
    (folder / "class.csv").unlink()
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    return folder


def test_a_student_has_two_pages_and_each_says_whose_it_is(made):
    found = text_of(made / "worksheets-23.pdf")
    assert len(found) == 4
    names = ("Emmy Noether", "e17"), ("שרה כהן", "x2")
    for i, page in enumerate(found):
        name, number = names[i // 2]
        said = re.sub("[\u202a-\u202e]", "", page)  # poppler's marks of directions
        assert f"Worksheet {i // 2 + 1}: {name}, {number} (seed 23, hard) · page" in said
        assert f"page {i % 2 + 1} of 2" in page
        assert "Attention by hand · Algebra · Week 1" in page
    titles = "|".join(text.partition(":")[0].partition(" of ")[0] for text in TASKS.values())
    asked = re.findall(rf"(\d)\. (?:{titles})[: ]", found[0] + found[1])
    assert sorted(set(asked)) == list("12345678")
    assert "A calculator with the key ex is allowed in tasks 6, 7 and 8" in found[0]


def test_the_key_on_paper_has_every_step_and_how_to_mark(made):
    first, *rest = printed_book.text_of(made / "key-23.pdf")
    assert "How to mark" in first
    text = printed_book.squeezed("".join(rest))
    key = (made / "key-23.md").read_text(encoding="utf-8").replace("$e^{-", "e−")
    key = key.replace("$e^{", "e").replace("}$", "")
    steps = [printed_book.squeezed(line[2:]) for line in key.splitlines() if line[:2] == "- "]
    assert [step for step in steps if step not in text] == []


# Letters of HTML and TeX; in a sheet's words, title and names they are text.
STRANGE = ("</script>", "<b>a'</b>", "*a*", "$c$", "\\d_e^f", "&lt;", "#%~{")
SAID = '<u>"Ex&" \\em $1$</u>'


def test_user_texts_are_escaped_on_paper_with_one_file_per_student(tmp_path):
    students = "name,id\n<i>Ada</i> & *Bo*,</b>\nEmmy Noether,e17\n"
    (tmp_path / "class.csv").write_text(students, encoding="utf-8")
    told = make(tmp_path, "--seed", "3", "--class", str(tmp_path / "class.csv"), "--title", SAID,
                "--course", SAID, "--date", "</style>", "--difficulty", "hard", "--each",
                "--paper", "letter", "--sentence", " ".join(STRANGE))  # fmt: skip
    assert told is None
    answers, key, own, other = sorted(path.name for path in tmp_path.glob("*.pdf"))
    assert (answers, key) == ("answers-3.pdf", "key-3.pdf")
    assert other == "worksheet-3-002-emmy-noether-e17.pdf"
    assert own.startswith("worksheet-3-001-i-ada-i-bo")
    for name in (own, key, answers):
        said = "".join(text_of(tmp_path / name))
        assert f"{SAID} · {SAID} · </style>" in said
        assert "<i>Ada</i> & *Bo*" in said
        assert min(said.count(token) for token in STRANGE) >= 4


def test_the_printed_sheet_is_the_drawn_sheet(made):
    students = (Student(1, "Emmy Noether", "e17"), Student(2, "שרה כהן", "x2"))
    sheets = [draw_worksheet(23, student, difficulty="hard") for student in students]
    given, answers = [], []
    for task in (task for one in sheets for task in one.tasks):
        for table in task.given:
            given += [table.header, *table.rows]
        for table in task.tables:
            given += [table.header, *((row[0], *[""] * (len(row) - 1)) for row in table.rows)]
            answers += [table.header, *table.rows]
    assert rows_of(made / "worksheets-23.pdf") == [list(row) for row in given]
    for name in ("key-23.pdf", "answers-23.pdf"):
        rows = rows_of(made / name)
        assert [row[0] for row in rows[:9]] == ["Task", *"12345678"]
        assert rows[9:] == [list(row) for row in answers]


def test_the_tasks_from_the_trained_model_follow_the_others(tmp_path):
    (tmp_path / "secret").write_text("s" * 32)
    arguments = ["--secret", str(tmp_path / "secret"), "--lesson=9", "--students=1", "--stages=key"]
    assert make(tmp_path, *arguments, "--model") is None
    asked = ModelSheet(Seed(lesson=9, secret=b"s" * 32), Student(1))
    name = f"check-{asked.seed.check}.pdf"
    own, tasks = text_of(tmp_path / f"lesson-09-worksheets-{name}")
    assert f"Worksheet 1 (lesson 9, check {asked.seed.check}, easy) · page 1 of 2" in own
    assert "Head A" not in own
    assert f"A trained model reads: {' '.join(asked.story)} …" in tasks
    assert tasks.count("Head ") == 4
    (page,) = text_of(tmp_path / f"lesson-09-key-{name}")[1:]
    for line in asked.answers[:3]:
        assert line.replace("*", "") in page
