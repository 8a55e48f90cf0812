"""The page for teachers: each command of its term can be done, for a small class."""

import re
import shlex
import subprocess
from pathlib import Path

import building
import pytest
from book_site import source
from packs import notebooks

from byhand.checking.sources import Page
from mha.grade import __main__ as grade

PAGE = Page("book/teaching.md", source("teaching"))
(LIST,) = (block for block in PAGE.blocks if block.argument == "sh")
SECRET, *COMMANDS = LIST.code.strip().replace("\\\n", "").splitlines()
BUILD, GRADE = "python3 scripts/build.py ", ".venv/bin/python -m mha.grade "


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_term_can_be_done(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    subprocess.run(SECRET, shell=True, check=True)
    Path("class.csv").write_text("name,id\nEmmy Noether,e17\nשרה כהן,x2\n", encoding="utf-8")
    if command.startswith(GRADE):
        Path("handed-in").mkdir()
        notebook = notebooks.files(1)[notebooks.GRADED]
        Path("handed-in/Emmy Noether.ipynb").write_bytes(notebook)
        grade.main(shlex.split(command.removeprefix(GRADE)))
        assert "Emmy Noether" in Path("handed-in-graded/grades.csv").read_text(encoding="utf-8")
    else:  # what is made of it has tests of its own
        asked = building._parser().parse_args(shlex.split(command.removeprefix(BUILD)))
        asked.plan(asked)


def test_each_lesson_that_speaks_of_a_worksheet_has_a_command():
    spoken = set(re.findall(r"worksheet\s+of\s+lesson\s+(\d+)", PAGE.text))
    options = [shlex.split(command) for command in COMMANDS if "--lesson" in command]
    assert {line[line.index("--lesson") + 1] for line in options} == spoken
