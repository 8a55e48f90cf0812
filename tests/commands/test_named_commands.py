"""The commands in the host's workflows and on the page for teachers can be run."""

import re
import shlex
import subprocess
from pathlib import Path

import building
import pytest
import yaml
from book_site import ROOT, source
from command_lines import make_parser
from packs import notebooks

from byhand.checking.sources import Page
from mha.grade import __main__ as grade

BUILD, GRADE = ["python3", "scripts/build.py"], ".venv/bin/python -m mha.grade "
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def parse_build_command(command):
    """Return the parsed arguments of a build.py command line, or None for another command."""
    words = shlex.split(command)
    return make_parser("building").parse_args(words[2:]) if words[:2] == BUILD else None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_workflow_uses_what_has_a_version_starts_what_exists_and_hides_no_failure(file):
    workflow = yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader)
    assert workflow["permissions"] == {"contents": "read"}
    jobs = workflow["jobs"].values()
    for job in jobs:
        assert re.search(r"\d$", job["runs-on"])
        assert re.fullmatch(r"debian:\d+", job.get("container", "debian:12"))
        # Where something may be written, nothing of the project runs.
        assert "permissions" not in job or "container" not in job
    steps = [step for job in jobs for step in job["steps"]]
    assert any("run" in step or "deploy" in step["uses"] for step in steps)
    for step in steps:
        uses, command = step.get("uses", "actions/a@v1"), step.get("run", "")
        assert re.fullmatch(r"actions/[a-z-]+@v\d+(\.\d+)*", uses)  # the host's own
        assert "||" not in command
        assert "${{" not in command  # a title or branch of a stranger could be a command
        if not parse_build_command(command) and command.startswith("python3"):
            assert command == "python3 scripts/test.py"


# ---- The term of a teacher, for a small class ----

PAGE = Page("book/teaching.md", source("teaching"))
(LIST,) = (block for block in PAGE.blocks if block.argument == "sh")
SECRET, *COMMANDS = LIST.code.strip().replace("\\\n", "").splitlines()


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
        read = parse_build_command(command)
        building.prepare(read)


def test_each_lesson_that_speaks_of_a_worksheet_has_a_command():
    spoken = set(re.findall(r"worksheet\s+of\s+lesson\s+(\d+)", PAGE.text))
    options = [shlex.split(command) for command in COMMANDS if "--lesson" in command]
    assert {line[line.index("--lesson") + 1] for line in options} == spoken
