"""Autograders: an archive for Gradescope, and an assignment for Otter-Grader.

Both grade the notebooks of `packs.notebooks` with the steps and mistakes of `mha.grade`. They have
no secret: each run draws new numbers. The forms are those that Gradescope documents, and those of
Otter-Grader 7.
"""

import json
import re
from pathlib import Path
from typing import Any

from environment import ROOT
from jinja2 import Environment, FileSystemLoader

from byhand.press.archives import pack
from mha.grade.gradescope import LIMITS
from mha.grade.otter_plugin import VARIABLE, Judge
from mha.practice.notebook_steps import STEPS
from mha.widgets.own import WHEEL
from packs.notebooks import GRADED, STUDENTS, wheel

GRADESCOPE, OTTER = "attention-gradescope.zip", "attention-otter.zip"
PLUGIN = f"{Judge.__module__}.{Judge.__qualname__}"
FOLDER = "/autograder/source/files"
"""The folder into which Otter's containers unpack the files of an assignment."""

TEMPLATES = Environment(loader=FileSystemLoader(Path(__file__).parent), keep_trailing_newline=True)
TEMPLATES.globals |= {
    "wheel": WHEEL,
    "graded": GRADED,
    "students": STUDENTS,
    "plugin": PLUGIN,
    "points": len(STEPS),
    "seconds": LIMITS.seconds,
    "in_all": LIMITS.in_all,
    "megabytes": LIMITS.megabytes,
    "variable": VARIABLE,
}


def files() -> dict[str, bytes]:
    """Return both archives by file name."""
    made = wheel()
    programs = ("setup.sh", "run_autograder")
    for_gradescope = {name: _render(name) for name in programs}
    for_gradescope["requirements.txt"] = numpy_requirement().encode()
    for_gradescope |= {"README.md": _render("gradescope.md"), WHEEL: made}
    for_otter = {f"tests/q{n}_{step.name}.py": _test(step) for n, step in enumerate(STEPS, 1)}
    config = {"plugins": [PLUGIN], "show_all_public": True, "show_stdout": False}
    for_otter["otter_config.json"] = f"{json.dumps(config, indent=2)}\n".encode()
    for_otter["requirements.txt"] = f"mha @ file://{FOLDER}/{WHEEL}\n".encode()
    for_otter |= {"README.md": _render("otter.md"), WHEEL: made}
    return {
        GRADESCOPE: pack(for_gradescope, programs=programs),
        OTTER: pack(for_otter),
    }


def numpy_requirement() -> str:
    """Return the lines of the lock for NumPy, with the digests of its files."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    found = re.findall(r"^numpy==.*\n(?: .*\n)*", lock, re.MULTILINE)
    return "".join(re.sub(r"(?m)^ +#.*\n", "", each) for each in found)


def _test(step: Any) -> bytes:
    return _render("otter_test.txt", step=step)


def _render(name: str, **given: Any) -> bytes:
    return TEMPLATES.get_template(name).render(given).encode()
