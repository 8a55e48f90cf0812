"""Notebooks for students with blanks to fill: one with a checker, and one to be graded.

The first checks itself with `mha`, so it brings the package, and the package has the right steps.
The second needs NumPy alone and has nothing of them; `python -m mha.grade` grades both, on numbers
that are in no file.
"""

import json
from pathlib import Path
from typing import Any

from mha.practice.steps import STEPS, Step
from mha.widgets.own import WHEEL

STUDENTS, GRADED = "attention-step-by-step.ipynb", "attention-graded.ipynb"

INTRODUCTION = """\
# Attention, step by step

Write each function where it says `...`{checked}.
NumPy is enough: `@` is the product of two matrices, `.T` exchanges rows and columns. Leave what a
function is given as it is: change a copy, or make a new array. Round nothing. You have {count}
functions to write; the last takes those before it.
"""

CHECKED = ", run its cell, then the cell below it, which tells whether it is right"

INSTALLING = """\
The next cell installs `mha`, which checks your functions; {where}. Who grades the notebook runs it
without `mha`: write the steps with NumPy alone.
"""


def blanks(step: Step) -> str:
    """Return the function of a step with its body left out."""
    parameters = ", ".join(step.parameters)
    return f'def {step.name}({parameters}):\n    """Return {step.does}"""\n    ...'


def notebook(seed: int, site: str = "") -> dict[str, Any]:
    """Return the notebook that checks itself, in the format of Jupyter.

    Without the address of the published site it installs a wheel that lies beside it.
    """
    where = "it comes from the site of the book" if site else f"lay `{WHEEL}` beside this notebook"
    wheel = f"{site}downloads/{WHEEL}" if site else WHEEL
    cells = [
        _cell("markdown", INTRODUCTION.format(count=len(STEPS), checked=CHECKED)),
        _cell("markdown", INSTALLING.format(where=where)),
        _cell("code", f"%pip install -q {wheel}"),
        _cell("code", "import numpy as np\n\nfrom mha.practice.steps import check"),
    ]
    for number, step in enumerate(STEPS, 1):
        cells += [*_blank(number, step), _cell("code", f"check({step.name}, seed={seed})")]
    return _notebook(cells)


def graded_notebook() -> dict[str, Any]:
    """Return the notebook that needs NumPy alone, in the format of Jupyter."""
    introduction = INTRODUCTION.format(count=len(STEPS), checked="")
    cells = [_cell("markdown", introduction), _cell("code", "import numpy as np")]
    for number, step in enumerate(STEPS, 1):
        cells += _blank(number, step)
    return _notebook(cells)


def _blank(number: int, step: Step) -> list[dict[str, Any]]:
    title = f"## {number}. `{step.name}`\n\nReturn {step.does}"
    return [_cell("markdown", title), _cell("code", blanks(step))]


def _notebook(cells: list[dict[str, Any]]) -> dict[str, Any]:
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


def write(seed: int, folder: Path, site: str = "") -> list[Path]:
    """Write the notebooks, and return the files."""
    made = {STUDENTS: notebook(seed, site), GRADED: graded_notebook()}
    for name, contents in made.items():
        text = json.dumps(contents, ensure_ascii=False, indent=1)
        (folder / name).write_text(text + "\n", encoding="utf-8")
    return [folder / name for name in made]
