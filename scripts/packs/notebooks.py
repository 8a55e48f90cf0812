"""Notebooks for students with blanks: one that checks itself, and one to be graded.

The first checks itself with `mha`, so it comes with the package, which contains the right steps.
The second needs only NumPy and contains no right step; `python -m mha.grade` grades both with
numbers that are in no file. Both are made from `notebook.md`.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from environment import ROOT
from jinja2 import Environment
from nbformat import NotebookNode

from byhand.edition import edition
from mha.practice.notebook_steps import STEPS
from mha.widgets.own import WHEEL

STUDENTS, GRADED = "attention-step-by-step.ipynb", "attention-graded.ipynb"
TEMPLATE = Path(__file__).with_name("notebook.md")


def notebook(**given: Any) -> NotebookNode:
    """Return a notebook from the template's variables."""
    from myst_nb.core.read import read_myst_markdown_notebook  # it loads half of Sphinx

    template = Environment(trim_blocks=True).from_string(TEMPLATE.read_text(encoding="utf-8"))
    made = read_myst_markdown_notebook(template.render(steps=STEPS, **given))
    for number, cell in enumerate(made.cells):
        cell["id"] = f"cell-{number}"  # the same each time
        cell["metadata"] = {}
    made.nbformat, made.nbformat_minor = 4, 5
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made["metadata"] = {"kernelspec": kernel}
    return made


def files(seed: int, site: str = "") -> dict[str, bytes]:
    """Return the notebooks by file name.

    Without the address of the published site the first notebook installs the wheel in the same
    folder.
    """
    made = {
        STUDENTS: notebook(checked=True, seed=seed, site=site, wheel=WHEEL),
        GRADED: notebook(checked=False),
    }
    return {
        name: f"{nbformat.writes(contents)}\n".encode()  # type: ignore[no-untyped-call]
        for name, contents in made.items()
    }


def wheel() -> bytes:
    """Return the package as a wheel, dated with the edition; the first notebook installs it."""
    variables = {**os.environ, "SOURCE_DATE_EPOCH": str(int(edition().begins.timestamp()))}
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "flit_core.wheel", "--outdir", folder, str(ROOT)]
        subprocess.run(command, env=variables, check=True, capture_output=True)
        return (Path(folder) / WHEEL).read_bytes()
