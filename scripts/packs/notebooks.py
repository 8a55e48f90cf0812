"""Notebooks to download: two with blanks for students, and one that runs a published model.

The first checks itself with `mha`, so it comes with the package, which contains the right steps.
The second needs only NumPy and contains no right step; `python -m mha.grade` grades both with
numbers that are in no file. Both are made from `notebook.md`. The third, from `model_notebook.md`,
opens a head of SmolLM2 on a sentence of the reader's.
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
MODEL = "your-sentence-in-smollm2.ipynb"
TEMPLATE, MODEL_TEMPLATE = (
    Path(__file__).with_name(name) for name in ("notebook.md", "model_notebook.md")
)


def notebook(source: Path = TEMPLATE, **given: Any) -> NotebookNode:
    """Return a notebook from a template and its variables."""
    from myst_nb.core.read import read_myst_markdown_notebook  # it loads half of Sphinx

    template = Environment(trim_blocks=True).from_string(source.read_text(encoding="utf-8"))
    made = read_myst_markdown_notebook(template.render(steps=STEPS, **given))
    for number, cell in enumerate(made.cells):
        cell["id"] = f"cell-{number}"  # the same each time
        cell["metadata"] = {}
    made.nbformat, made.nbformat_minor = 4, 5
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made["metadata"] = {"kernelspec": kernel}
    return made


def files(seed: int, site: str = "") -> dict[str, bytes]:
    """Return the students' notebooks by file name.

    Without the address of the published site the first notebook installs the wheel in the same
    folder.
    """
    return {
        STUDENTS: _written(notebook(checked=True, seed=seed, site=site, wheel=WHEEL)),
        GRADED: _written(notebook(checked=False)),
    }


def model_files(site: str = "") -> dict[str, bytes]:
    """Return the notebook that runs SmolLM2, by its file name; `site` as in `files`."""
    return {MODEL: _written(notebook(MODEL_TEMPLATE, site=site, wheel=WHEEL))}


def _written(made: NotebookNode) -> bytes:
    """Return a notebook as a file's bytes."""
    return f"{nbformat.writes(made)}\n".encode()  # type: ignore[no-untyped-call]


def wheel() -> bytes:
    """Return the package as a wheel, dated with the edition; the first notebook installs it."""
    variables = {**os.environ, "SOURCE_DATE_EPOCH": str(int(edition().begins.timestamp()))}
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "flit_core.wheel", "--outdir", folder, str(ROOT)]
        subprocess.run(command, env=variables, check=True, capture_output=True)
        return (Path(folder) / WHEEL).read_bytes()
