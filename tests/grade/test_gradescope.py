"""The autograder for Gradescope: its archive, and its runs in Gradescope's documented folders.

The folders are those that `setup.sh` leaves; its downloads need a network and are not tried here.
"""

import io
import json
import os
import re
import subprocess
import sys
import zipfile

import pytest
from autograder_folders import (
    ALLOWED,
    Autograder,
    cheating_notebooks,
    hostile_notebooks,
    wrong_notebooks,
)
from hostile import DISRUPTIVE, KINDS, REACHED
from packs import autograders
from student_submissions import STYLES, WRONG, filled_notebook, notebook
from wheel_only import run

from mha.grade.gradescope import LIMITS
from mha.grade.grading import grade
from mha.grade.sandbox import Sandbox
from mha.grade.submissions import Submission
from mha.practice.notebook_steps import STEPS
from mha.widgets.own import WHEEL

pytestmark = pytest.mark.slow

IN_A_CONTAINER = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="Gradescope's containers run as root"
)
SOME_DISRUPTIVE = (
    *("fork-bomb", "thread-bomb", "memory", "stack", "forged-lines", "forged-words"),
    *("deep-answer", "no-answer", "signals", "restarts", "lone-surrogates", "forged-report"),
    *("raising-str", "odd-arrays", "patched-modules", "large-file"),
)
"""Disruptive notebooks that end soon; each of the others costs a minute."""

KEYS = {
    *("output", "output_format", "score", "tests", "visibility", "stdout_visibility"),
    *("execution_time", "extra_data", "leaderboard", "test_output_format", "test_name_format"),
}
OF_A_TEST = {
    *("score", "max_score", "status", "name", "name_format", "number", "output"),
    *("output_format", "tags", "visibility", "extra_data"),
}
"""The keys that Gradescope documents for results, and for a test."""


@pytest.fixture(scope="module")
def archive():
    return autograders.files()[autograders.GRADESCOPE]


@pytest.fixture(scope="module")
def autograder(archive):
    made = Autograder(archive)
    yield made
    made.delete()


@pytest.fixture(scope="module")
def results(autograder):
    """Return the results of all kinds of notebooks by name."""
    package = str(autograder.top / "source" / "package" / "mha")
    submissions = {
        **STYLES,
        **wrong_notebooks(),
        **cheating_notebooks(package),
        **hostile_notebooks(package),
        **{f"disruptive-{name}": notebook(*DISRUPTIVE[name]) for name in SOME_DISRUPTIVE},
    }
    return autograder.grade_all(submissions)


def points(result):
    """Return the points of each step, by name."""
    return {test["name"]: test["score"] for test in result["tests"] if "score" in test}


def test_the_archive_has_the_two_programs_at_its_top_and_no_secret(archive):
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        assert {*files.namelist()} == {
            *("setup.sh", "run_autograder", "requirements.txt", "README.md", WHEEL)
        }
        for name in ("setup.sh", "run_autograder"):
            assert files.getinfo(name).external_attr >> 16 == 0o755
            text = files.read(name).decode()
            assert text.startswith("#!/usr/bin/env bash\n")
            assert "{{" not in text
            subprocess.run(["bash", "-n"], input=text, text=True, check=True)
        wanted = files.read("requirements.txt").decode()
    assert {*re.findall(r"^(\w+)==", wanted, re.MULTILINE)} == {"numpy"}
    assert wanted.count("--hash=sha256:") > 50
    assert not re.search("https?:", wanted)


@IN_A_CONTAINER
def test_the_results_have_the_form_that_gradescope_documents(results):
    for name, result in results.items():
        assert result is not None, name
        assert result.keys() <= KEYS
        assert result["score"] == sum(points(result).values())
        assert [*points(result)] == [step.name for step in STEPS]
        for test in result["tests"]:
            assert test.keys() <= OF_A_TEST
            assert test["output_format"] == "text"
            assert test["output"].isprintable()
            assert test["visibility"] == ("visible" if "score" in test else "hidden")
            assert test.get("max_score", 1) == 1
            assert test.get("status", "passed") in ("passed", "failed")


@IN_A_CONTAINER
@pytest.mark.parametrize("name", STYLES)
def test_a_right_notebook_has_all_points(results, name):
    assert results[name]["score"] == len(STEPS), results[name]


@IN_A_CONTAINER
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_step_costs_its_point_and_gets_the_remark_of_mha_grade(results, name, tmp_path):
    step, code, said = WRONG[name]
    result = results[name]
    assert [s for s, score in points(result).items() if not score] == [step]
    path = tmp_path / "a.ipynb"
    path.write_text(filled_notebook(**{step: code}), encoding="utf-8")
    ours = grade(Submission("a", "", path), b"a key", LIMITS, Sandbox([tmp_path]).start)
    assert points(result) == {each.name: ours.points_of(each.name) for each in STEPS}
    remarks = {test["name"]: test["output"] for test in result["tests"]}
    assert said in remarks[step]
    numbers = re.compile(r"[−-]?\d+(\.\d+)?(e[+−]?\d+)?|[−-]?∞|nan")
    for each in STEPS:
        theirs = numbers.sub("#", remarks[each.name].partition('"')[0])
        assert theirs.strip() == numbers.sub("#", ours.remarks[each.name].sentence).strip()


@IN_A_CONTAINER
@pytest.mark.parametrize("kind", [*cheating_notebooks(""), *(f"hostile-{kind}" for kind in KINDS)])
def test_a_cheating_or_hostile_notebook_has_no_point(results, kind):
    assert results[kind]["score"] == 0, results[kind]


@IN_A_CONTAINER
@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_notebook_reaches_only_what_the_pack_says_is_visible(results, kind):
    said = results[f"hostile-{kind}"]["output"]
    assert "Code cell 1 " not in said
    names = list(KINDS[kind])
    reached = {
        names[int(number) - 2]
        for number, words in re.findall(r"Code cell (\d+) ([^\n]*)", said)
        if REACHED in words
    }
    # "walk" looks for two names on the whole machine, which here is no container.
    assert reached - {"walk"} <= ALLOWED


@IN_A_CONTAINER
@pytest.mark.parametrize("name", SOME_DISRUPTIVE)
def test_a_disruptive_notebook_has_a_result_without_points(results, name):
    assert results[f"disruptive-{name}"]["score"] == 0


@IN_A_CONTAINER
def test_a_submission_without_a_notebook_has_a_result_with_the_reason(autograder):
    result, ran = autograder.grade(None, "nothing")
    assert ran.returncode == 0
    assert result["output"] == "The folder has no notebook; one is wanted."
    assert (result["score"], len(result["tests"])) == (0, len(STEPS))


def test_outside_gradescope_the_command_ends_with_one_sentence(wheel_only, tmp_path):
    command = [wheel_only, "-m", "mha.grade.gradescope"]
    assert "/autograder" in json.dumps(failed(command, tmp_path))
    assert "run_autograder of the pack" in " ".join(run(*command, "--help", cwd=tmp_path).split())


def failed(command, folder):
    """Return the sentence with which a command fails."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    return line


@IN_A_CONTAINER
def test_a_package_that_the_student_could_read_stops_the_grading(archive):
    made = Autograder(archive)
    try:
        copied = made.site / "mha"
        (made.top / "source" / "package" / "mha").rename(copied)
        for path in (copied, *copied.rglob("*")):
            path.chmod(0o755)
        result, ran = made.grade(filled_notebook(), "a")
    finally:
        made.delete()
    assert result is None
    assert "notebooks cannot run as another user: files are visible" in ran.stderr
