"""An example of one's own is a data file and a chapter: the guide's, in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys

import pytest
from book_site import ROOT
from test_chapters_cells import cells

NAME = "dogs-bark"
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = ("mha", "book", "pyproject.toml", "_toc.yml")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a copy of the project that has the guide's example."""
    folder = tmp_path_factory.mktemp("project")
    for name in FILES:
        if (ROOT / name).is_dir():
            unwanted = shutil.ignore_patterns("__pycache__", "_build")
            shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
        else:
            shutil.copy(ROOT / name, folder / name)
    data = re.search(r"```toml\n(.*?)```", GUIDE, re.DOTALL)[1]
    (folder / "mha" / "examples" / f"{NAME}.toml").write_text(data, encoding="utf-8")
    return folder


def run(project, *arguments):
    """Run Python in the copy, on its own `mha`, and return what it prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_no_example_of_a_document_and_needs_no_entry_of_the_audit(project):
    code = f"from mha.chapters import *; run, show = open_example({NAME!r});"
    code += "print([table.beside for table in show.stage('weights', 'query').tables])"
    empty = "{(0, 0): [], (0, 1): [], (1, 0): [], (1, 1): []}"
    assert run(project, "-c", code).strip() == f"[{empty}, {empty}]"


def test_the_chapter_of_the_guide_works(project):
    blocks = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    opening, views = (block.replace("NAME", NAME) for block in blocks[:2])
    lines = [re.sub(r"  #.*", "", line) for line in views.splitlines()]
    shown = [f"print(type({line}).__name__)" for line in lines]
    out = run(project, "-c", "\n".join([opening, *shown]))
    assert out.split() == ["Block", "Block", "Figure", "YourTurn", "Explorer"]


def test_the_overview_lists_it_and_still_holds(project):
    text = (project / "book" / "examples" / "overview.md").read_text(encoding="utf-8")
    code = "\n".join(code for _, code in cells(text))
    out = run(project, "-c", f"display = print\n{code}\nprint(*[e.name for e in more], len(runs))")
    *more, compared = out.splitlines()[-1].split()
    assert NAME in more
    assert compared == "6"
