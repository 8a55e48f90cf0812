"""Notebooks for students with blanks to fill: one with a checker, and one to be graded.

The first checks itself with `mha`, so it brings the package, and the package has the right steps.
The second needs NumPy alone and has nothing of them; `python -m mha.grade` grades both, on numbers
that are in no file.
"""

from collections.abc import Callable
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4

from mha.practice.steps import STEPS, Step
from mha.widgets.own import WHEEL

STUDENTS, GRADED = "attention-step-by-step.ipynb", "attention-graded.ipynb"

text: Callable[[str], NotebookNode] = v4.new_markdown_cell
code: Callable[[str], NotebookNode] = v4.new_code_cell

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


def notebook(seed: int, site: str = "") -> NotebookNode:
    """Return the notebook that checks itself.

    Without the address of the published site it installs a wheel that lies beside it.
    """
    where = "it comes from the site of the book" if site else f"lay `{WHEEL}` beside this notebook"
    wheel = f"{site}downloads/{WHEEL}" if site else WHEEL
    cells = [
        text(INTRODUCTION.format(count=len(STEPS), checked=CHECKED)),
        text(INSTALLING.format(where=where)),
        code(f"%pip install -q {wheel}"),
        code("import numpy as np\n\nfrom mha.practice.steps import check"),
    ]
    for number, step in enumerate(STEPS, 1):
        cells += [*_blank(number, step), code(f"check({step.name}, seed={seed})")]
    return _notebook(cells)


def graded_notebook() -> NotebookNode:
    """Return the notebook that needs NumPy alone."""
    introduction = INTRODUCTION.format(count=len(STEPS), checked="")
    cells = [text(introduction), code("import numpy as np")]
    for number, step in enumerate(STEPS, 1):
        cells += _blank(number, step)
    return _notebook(cells)


def _blank(number: int, step: Step) -> list[NotebookNode]:
    title = f"## {number}. `{step.name}`\n\nReturn {step.does}"
    return [text(title), code(blanks(step))]


def _notebook(cells: list[NotebookNode]) -> NotebookNode:
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same each time
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})  # type: ignore[no-untyped-call]


def write(seed: int, folder: Path, site: str = "") -> list[Path]:
    """Write the notebooks, and return the files."""
    made = {STUDENTS: notebook(seed, site), GRADED: graded_notebook()}
    for name, contents in made.items():
        nbformat.write(contents, folder / name)  # type: ignore[no-untyped-call]
    return [folder / name for name in made]
