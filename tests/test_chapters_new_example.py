"""A new example needs a data file and a chapter: the guide's example, in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys

from book_site import ROOT, cells

NAME = "dogs-bark"
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_chapter_of_the_guide_works_and_the_overview_lists_it(tmp_path):
    unwanted = shutil.ignore_patterns("__pycache__", "_build")
    for name in ("mha", "book"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=unwanted)
    for name in ("pyproject.toml", "_toc.yml"):
        shutil.copy(ROOT / name, tmp_path / name)
    data = re.search(r"```toml\n(.*?)```", GUIDE, re.DOTALL)[1]
    (tmp_path / "mha" / "examples" / f"{NAME}.toml").write_text(data, encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    opening, views = (block.replace("NAME", NAME) for block in blocks[:2])
    lines = [re.sub(r"  #.*", "", line) for line in views.splitlines()]
    shown = [f"print(type({line}).__name__)" for line in lines]
    beside = "print([table.beside for table in show.stage('weights', 'query').tables])"
    text = (tmp_path / "book" / "examples" / "overview.md").read_text(encoding="utf-8")
    overview = ["display = repr", *(code for _, code in cells(text))]
    listed = "print(*[e.name for e in more], len(runs))"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([opening, *shown, beside, *overview, listed])],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    *kinds, prints, found = done.stdout.splitlines()
    assert kinds == ["Block", "Block", "Figure", "YourTurn", "Explorer"]
    beside = "{(0, 0): [], (0, 1): [], (1, 0): [], (1, 1): []}"
    assert prints == f"[{beside}, {beside}]"  # it is no example of a document
    *more, compared = found.split()
    assert (NAME in more, compared) == (True, "6")
