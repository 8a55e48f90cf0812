"""Otter-Grader, with the assignment of the pack, gives the points and remarks of `mha.grade`."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from importlib.metadata import version
from io import BytesIO
from pathlib import Path

import pytest
from autograder_folders import cheating_notebooks, hostile_notebooks, wrong_notebooks
from hostile import DISRUPTIVE, KINDS
from otter.api import grade_submission
from packaging.requirements import Requirement
from student_submissions import STYLES, notebook

import mha
from mha.grade.grading import grade
from mha.grade.notebook_process import Limits
from mha.grade.sandbox import Sandbox
from mha.grade.submissions import Submission
from mha.practice.notebook_steps import STEPS

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT = ROOT / "_build" / "packs" / "autograders" / "attention-otter.zip"
"""The assignment that `scripts/test.py --autograders` makes."""

VARIABLES = os.environ | {
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    "PYTHONPATH": str(ROOT),
}
"""Variables of Otter's commands, which start in another folder: programs and `mha` are found."""

PACKAGE = str(Path(mha.__file__).parent)
SUBMISSIONS = {
    **STYLES,
    **wrong_notebooks(),
    **cheating_notebooks(PACKAGE),
    **hostile_notebooks(PACKAGE),
    **{
        f"disruptive-{name}": notebook(*DISRUPTIVE[name])
        for name in ("memory", "forged-lines", "forged-report", "odd-arrays", "patched-modules")
    },
    "changes-otter": notebook(
        "import otter.test_files as files\nfiles.GradingResults.total = 8",
        "import builtins, otter\nbuiltins.AssertionError = type('E', (BaseException,), {})",
        "grade_of_each_step = {n: (True, '') for n in ('scale', 'mix', 'weights', 'attention')}",
    ),
}


@pytest.fixture(scope="module")
def autograder(tmp_path_factory):
    """Unpack the assignment, and make Otter's archive of it with Otter's command."""
    folder = tmp_path_factory.mktemp("otter")
    with zipfile.ZipFile(ASSIGNMENT) as archive:
        archive.extractall(folder)
    (wheel,) = folder.glob("*.whl")
    command = [sys.executable, "-m", "otter", "generate", wheel.name]
    done = subprocess.run(command, cwd=folder, env=VARIABLES, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(BytesIO((folder / "autograder.zip").read_bytes())) as archive:
        names = {*archive.namelist()}
        config = json.loads(archive.read("otter_config.json"))
        environment = archive.read("environment.yml").decode()
    assert {f"tests/q{n}_{step.name}.py" for n, step in enumerate(STEPS, 1)} < names
    assert f"files/{wheel.name}" in names
    assert config["plugins"] == ["mha.grade.otter_plugin.Judge"]
    assert f"mha @ file:///autograder/source/files/{wheel.name}" in environment
    return folder / "autograder.zip"


def test_the_commands_of_the_readme_give_all_points_to_a_right_submission(autograder):
    folder = autograder.parent
    (folder / "submission.ipynb").write_text(STYLES["right-as-asked"], encoding="utf-8")
    (folder / "submissions").mkdir()
    (folder / "submissions" / "ada.ipynb").write_text(STYLES["right-as-asked"], encoding="utf-8")
    readme = (folder / "README.md").read_text(encoding="utf-8")
    install, *commands = re.findall(r"^    (.+)$", readme, re.MULTILINE)
    (required,) = (word for word in shlex.split(install) if word.startswith("otter-grader"))
    assert Requirement(required).specifier.contains(version("otter-grader"))
    for command in commands:
        words = shlex.split(command)
        done = subprocess.run(words, cwd=folder, env=VARIABLES, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)
    scores = json.loads((folder / "results.json").read_text(encoding="utf-8"))["tests"]
    assert sum(test.get("score", 0) for test in scores) == len(STEPS)
    with (folder / "submissions-graded" / "grades.csv").open(encoding="utf-8-sig") as file:
        (row,) = csv.DictReader(file)
    assert row["points"] == row["of"] == str(len(STEPS))


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_otter_gives_the_points_and_the_remark_of_each_step(name, autograder, tmp_path):
    path = tmp_path / "submission.ipynb"
    path.write_text(SUBMISSIONS[name].replace("FOLDER", str(tmp_path)), encoding="utf-8")
    ours = grade(Submission("a", "", path), b"a key", Limits(), Sandbox([tmp_path]).start)
    theirs = grade_submission(str(path), str(autograder), quiet=True)
    assert list(theirs.results) == [step.name for step in STEPS]
    assert {n: found.score for n, found in theirs.results.items()} == {
        step.name: ours.points_of(step.name) for step in STEPS
    }
    assert theirs.possible == len(STEPS)
    for step, found in theirs.results.items():
        said = found.summary()
        kind = ours.remarks[step].sentence.partition(" ")[0]
        assert kind in said or found.score == 1
    if name.startswith("right"):
        assert theirs.total == len(STEPS)
    if name.startswith(("hostile", "changes", "disruptive")) or name in cheating_notebooks(""):
        assert theirs.total == 0
    assert KINDS
