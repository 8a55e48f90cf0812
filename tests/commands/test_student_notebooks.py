"""The notebook for students runs with its blanks and with its answers, and pytest grades it."""

import inspect
import os
import re
import subprocess
import sys

import nbformat
import pytest
from book_site import ROOT
from packs import notebooks

from mha.practice.steps import STEPS

ANSWERS = {
    "project": "x @ w",
    "dot_products": "query @ key.T",
    "scale": "scores / np.sqrt(d_k)",
    "causal": "np.where(np.tri(len(scores), dtype=bool), scores, -np.inf)",
    "weights": "np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)",
    "mix": "weights @ value",
    "attention": "mix(weights(scale(dot_products(query, key), key.shape[1])), value)",
}


def blank():
    return nbformat.from_dict(notebooks.notebook(7))


def filled(made, answers):
    """Return a notebook whose blanks are filled in."""
    for cell in made.cells:
        if match := re.match(r"def (\w+)\(", cell.source):
            cell.source = cell.source.replace("    ...", f"    return {answers[match[1]]}")
    return made


def checked(made):
    """Return what the notebook's checks say, a text a step."""
    names, said = {}, []
    for cell in made.cells:
        if cell.cell_type != "code":
            continue
        if cell.source.startswith("check("):
            said.append(eval(cell.source, names))
        else:
            exec(cell.source, names)
    return said


def graded(folder, made):
    """Return what pytest says of a notebook."""
    nbformat.write(made, folder / notebooks.STUDENTS)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", notebooks.GRADER],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


def test_a_notebook_with_blanks_runs_and_nothing_in_it_is_right():
    made = blank()
    nbformat.validate(made)
    said = checked(made)
    assert len(said) == len(STEPS)
    assert all(text.startswith("Not yet: ") for text in said)


def test_a_filled_notebook_is_right():
    said = checked(filled(blank(), ANSWERS))
    assert [text.partition(":")[0] for text in said] == ["Right"] * len(STEPS)


def test_no_answer_stands_in_the_files(tmp_path):
    for path in notebooks.write(7, tmp_path):
        text = path.read_text(encoding="utf-8")
        assert not any(answer in text for answer in ANSWERS.values())
        assert all(inspect.getsource(step.right) not in text for step in STEPS)


@pytest.mark.slow
def test_pytest_grades_each_function_on_its_own(tmp_path):
    notebooks.write(7, tmp_path)
    assert "7 passed" in graded(tmp_path, filled(blank(), ANSWERS))
    wrong = filled(blank(), ANSWERS | {"mix": "1 / 0"})
    said = graded(tmp_path, wrong)
    assert "2 failed, 5 passed" in said
    assert "mix stops with ZeroDivisionError" in said
    assert "7 failed" in graded(tmp_path, blank())
    broken = blank()
    broken.cells[3].source = "def project(x w): broken"
    assert "project is not written" in graded(tmp_path, broken)


def test_the_same_seed_gives_the_same_files(tmp_path):
    first = [path.read_bytes() for path in notebooks.write(7, tmp_path)]
    assert [path.read_bytes() for path in notebooks.write(7, tmp_path)] == first
    assert first != [path.read_bytes() for path in notebooks.write(8, tmp_path)]
