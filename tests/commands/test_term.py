"""The page for teachers: each command of its term runs, on a small class."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import building
import printed_book
import pytest
from book_site import ROOT, source
from packs import command as packs
from packs import notebooks

from byhand.checking.sources import Page

pytestmark = [pytest.mark.book, pytest.mark.pdf]
PAGE = Page("book/teaching.md", source("teaching"))
(LIST,) = (block for block in PAGE.blocks if block.argument == "sh")
SECRET, *COMMANDS = LIST.code.strip().replace("\\\n", "").splitlines()
BUILD, GRADE = "python3 scripts/build.py ", ".venv/bin/python -m mha.grade "


@pytest.fixture
def term(tmp_path, monkeypatch):
    """Return a folder with a secret, a list of two, and what one of them handed in."""
    monkeypatch.chdir(tmp_path)
    subprocess.run(SECRET, shell=True, check=True)
    (tmp_path / "class.csv").write_text("name,id\nEmmy Noether,e17\nשרה כהן,x2\n", encoding="utf-8")
    (tmp_path / "handed-in").mkdir()
    (tmp_path / "pack").mkdir()
    made = notebooks.files(1)
    for name, data in made.items():
        (tmp_path / "pack" / name).write_bytes(data)
    (tmp_path / "handed-in" / "Emmy Noether.ipynb").write_bytes(made[notebooks.GRADED])
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_term_runs(command, term, monkeypatch):
    made = term / "made"
    if command.startswith(GRADE):
        line = [sys.executable, "-m", "mha.grade", *shlex.split(command.removeprefix(GRADE))]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run([*line, "--to", made], check=True, env=environment)
    else:
        build(shlex.split(command.removeprefix(BUILD)), made, monkeypatch)
    assert any(path.is_file() for path in made.rglob("*"))


def build(arguments, made, monkeypatch):
    """Run build.py into a folder; on the pages that are built where no Sphinx has to be loaded."""
    to = ["--to", str(made)]
    if arguments[0] == "course":
        done = printed_book.build(ROOT, *arguments, *to)
        assert done.returncode == 0, done.stderr
        return
    monkeypatch.setattr(building, "build_html", lambda **_: None)
    for pack in ("questions", "cards", "slides"):  # each has tests of its own
        monkeypatch.setitem(packs.PACKS, pack, lambda *_: {})
    monkeypatch.setattr("without_solutions.FOLDER", made)  # this, too
    monkeypatch.setattr(
        "without_solutions.write", lambda _, folder: shutil.copytree("pack", folder)
    )
    to *= arguments[0] != "without-solutions"
    monkeypatch.setattr(sys, "argv", ["build.py", *arguments, *to])
    building.main()


def test_each_lesson_that_speaks_of_a_worksheet_has_a_command():
    spoken = set(re.findall(r"worksheet\s+of\s+lesson\s+(\d+)", PAGE.text))
    options = [shlex.split(command) for command in COMMANDS if "--lesson" in command]
    assert {line[line.index("--lesson") + 1] for line in options} == spoken
