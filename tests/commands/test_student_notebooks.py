"""The notebooks for students run with their blanks and with their answers, and can be graded."""

import json
import re
import sys

import nbformat
import pytest
from handed_in import RIGHT
from packs import notebooks

from mha.grade.grading import grade
from mha.grade.notebook_process import Limits
from mha.grade.sandbox import Sandbox
from mha.grade.submissions import Submission
from mha.practice.steps import STEPS


def made_of(site):
    """Return the notebooks as they are read, the one that checks itself first."""
    files = notebooks.files(7, site)
    return [nbformat.reads(made.decode(), as_version=4) for made in files.values()]


MADE = made_of("")


def filled(made):
    """Return a notebook whose blanks are filled in."""
    made = nbformat.from_dict(made)
    for cell in made.cells:
        if match := re.match(r"def (\w+)\(", cell.source):
            assert cell.source.endswith("    ...")
            cell.source = RIGHT[match[1]]
    return made


def said_by_checks(made):
    """Return what the notebook's checks say, a text a step."""
    names, said = {}, []
    for cell in nbformat.from_dict(made).cells:
        if cell.cell_type != "code" or cell.source.startswith("%pip"):
            continue
        if cell.source.startswith("check("):
            said.append(eval(cell.source, names))
        else:
            exec(cell.source, names)
    return said


def test_a_notebook_runs_with_its_blanks_and_with_its_answers():
    for made in MADE:
        nbformat.validate(nbformat.from_dict(made))
    blank, right = said_by_checks(MADE[0]), said_by_checks(filled(MADE[0]))
    assert [text.partition(" returns ")[2] for text in blank] == ["nothing."] * len(STEPS)
    assert [text.partition(":")[0] for text in right] == ["Right"] * len(STEPS)
    assert said_by_checks(MADE[1]) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="a sandbox needs Linux")
def test_both_notebooks_are_graded_as_they_come_back(tmp_path):
    path, start = tmp_path / "a.ipynb", Sandbox([tmp_path]).start
    for made in MADE:
        for contents, points in ((made, 0), (filled(made), len(STEPS))):
            path.write_text(json.dumps(contents), encoding="utf-8")
            one = grade(Submission("a", "", path), b"5", Limits(), start)
            assert (one.points, one.faults, one.imports) == (points, [], [])


def test_no_answer_stands_in_the_files_and_what_is_graded_needs_numpy_alone():
    lines = [line.strip() for step in RIGHT.values() for line in step.splitlines()[1:]]
    bodies = [line.removeprefix("return ") for line in lines]
    own, graded_one = (made.decode() for made in notebooks.files(8).values())
    assert [body for body in bodies if body in own + graded_one] == []
    assert "seed=8" in own
    assert re.search("mha|seed", graded_one) is None


def test_the_first_code_cell_installs_the_wheel_of_the_site_or_one_beside_it(wheel):
    site = "https://a.example/book/"
    for made, place in ((made_of(site)[0], f"{site}downloads/"), (MADE[0], "")):
        first = next(cell for cell in made.cells if cell.cell_type == "code")
        assert first.source == f"%pip install -q {place}{wheel.name}"
