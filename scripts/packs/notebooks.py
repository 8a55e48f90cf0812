"""A notebook for students with blanks to fill and a checker, and what grades it with pytest."""

import json
from pathlib import Path
from typing import Any

from mha.practice.steps import STEPS, Step

STUDENTS, GRADER = "attention-step-by-step.ipynb", "test_attention.py"
HIDDEN_SEED = 20_000
"""What grades a notebook draws other numbers than its checker: so far from its seed."""

INTRODUCTION = """\
# Attention, step by step

Write each function where it says `...`, run its cell, then the cell below it, which tells whether
it is right. NumPy is enough: `@` is the product of two matrices, `.T` exchanges rows and columns.
You have {count} functions to write; the last takes those before it.
"""

GRADING = '''\
"""Grades a notebook of a student: a test a function, on numbers that the notebook does not show.

    SUBMISSION=notebook.ipynb pytest test_attention.py

Cells run one after another; one that stops is left out, so that what comes after it still counts.
A notebook is a program: grade those of strangers where they can do no harm.
"""

import os
from contextlib import suppress

import nbformat
import pytest

from mha.practice.steps import BY_NAME, check

SUBMISSION = os.environ.get("SUBMISSION", "{students}")


@pytest.fixture(scope="module")
def written():
    """Return what a notebook's cells define."""
    names = {{}}
    for cell in nbformat.read(SUBMISSION, as_version=4).cells:
        if cell.cell_type == "code":
            with suppress(Exception):
                exec(cell.source, names)
    return names


@pytest.mark.parametrize("name", BY_NAME)
def test_the_function_is_right(written, name):
    assert callable(written.get(name)), f"{{name}} is not written"
    said = check(written[name], seed={seed})
    assert said.startswith("Right"), said
'''


def blanks(step: Step) -> str:
    """Return the function of a step with its body left out."""
    parameters = ", ".join(step.parameters)
    return f'def {step.name}({parameters}):\n    """Return {step.does}"""\n    ...'


def notebook(seed: int) -> dict[str, Any]:
    """Return the notebook for students, in the format of Jupyter."""
    cells = [
        _cell("markdown", INTRODUCTION.format(count=len(STEPS))),
        _cell("code", "import numpy as np\n\nfrom mha.practice.steps import check"),
    ]
    for number, step in enumerate(STEPS, 1):
        cells.append(_cell("markdown", f"## {number}. `{step.name}`\n\nReturn {step.does}"))
        cells.append(_cell("code", blanks(step)))
        cells.append(_cell("code", f"check({step.name}, seed={seed})"))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {
        "cells": [{"id": f"cell-{i}", **cell} for i, cell in enumerate(cells)],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _cell(kind: str, source: str) -> dict[str, Any]:
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source, **code}


def write(seed: int, folder: Path) -> list[Path]:
    """Write the notebook and what grades it, and return the files."""
    students, grader = folder / STUDENTS, folder / GRADER
    text = json.dumps(notebook(seed), ensure_ascii=False, indent=1)
    students.write_text(text + "\n", encoding="utf-8")
    grading = GRADING.format(students=STUDENTS, seed=seed + HIDDEN_SEED)
    grader.write_text(grading, encoding="utf-8")
    return [students, grader]
