"""A new example needs a data file and a chapter: the guide's example, in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
import textwrap

import pytest
from book_site import FRONT, ROOT, cells

from byhand.checking import check_sources

NAME = "dogs-bark"
GUIDE = (ROOT / "docs" / "writing.md").read_text(encoding="utf-8")
INDENTED = re.compile(r"(?:^    .*\n|^\n(?=    ))+", re.MULTILINE)


def copy_of_the_project(folder):
    """Copy the package, the book and its settings, and add the data file of the guide."""
    unwanted = shutil.ignore_patterns("__pycache__", "_build")
    for name in ("mha", "book"):
        shutil.copytree(ROOT / name, folder / name, ignore=unwanted)
    for name in ("pyproject.toml", "_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, folder / name)
    data = re.search(r"```toml\n(.*?)```", GUIDE, re.DOTALL)[1]
    (folder / "mha" / "examples" / f"{NAME}.toml").write_text(data, encoding="utf-8")


def forms_of_the_guide():
    """Return the guide's blocks for a page, one after another, with labels of their own."""
    blocks = [textwrap.dedent(block) for block in INDENTED.findall(GUIDE)]
    parts = ("{exercise}", "{asked}", "{quiz}", "show.turn", "mystnb", "cite:t", "{claim}")
    (*found,) = (next(block for block in blocks if part in block) for part in parts)
    text = "\n".join(found).replace("NAME", NAME).replace("cat-sat-who", f"{NAME}-who")
    return text.replace("{claim}`shift`", "")  # the book has this claim already


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("{given}`64`", "64.5", "64.5"),
        ("```{solution-end}\n```", "", "solution"),
    ],
)
def test_the_checks_accept_the_forms_of_the_guide_and_refuse_faults(old, new, message, tmp_path):
    copy_of_the_project(tmp_path)
    page = f"{FRONT}(example-{NAME})=\n# Dogs bark\n\n{forms_of_the_guide()}"
    assert old in page
    file = f"book/examples/{NAME}.md"
    (tmp_path / file).write_text(page.replace(old, new), encoding="utf-8")
    toc = (tmp_path / "_toc.yml").read_text(encoding="utf-8")
    other = "      - file: examples/work-your-own"
    toc = toc.replace(other, f"      - file: examples/{NAME}\n{other}")
    (tmp_path / "_toc.yml").write_text(toc, encoding="utf-8")
    found = check_sources(tmp_path)
    assert {finding.file for finding in found} == ({file} if message else set())
    assert all(message in finding.message for finding in found)


def test_the_chapter_of_the_guide_works_and_the_overview_lists_it(tmp_path):
    copy_of_the_project(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    opening, views = (block.replace("NAME", NAME) for block in blocks[:2])
    lines = [re.sub(r"  #.*", "", line) for line in views.splitlines()]
    printed_types = [f"print(type({line}).__name__)" for line in lines]
    beside = "print([table.printed for table in show.stage('weights', 'query').tables])"
    text = (tmp_path / "book" / "examples" / "overview.md").read_text(encoding="utf-8")
    overview = ["display = repr", *(code for _, code in cells(text))]
    listed = "print(*[e.name for e in more], len(runs))"
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([opening, *printed_types, beside, *overview, listed])],
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
