"""The build, on a book of one page: strict, exact about what broke, never destructive."""

import re
import shutil
import sys
import time
from pathlib import Path

import pytest
from book_site import FRONT
from small_project import build, copy_without_pages, published, started, write_contents

PAGE = (
    FRONT
    + """\
# A page

```{code-cell}
from mha import shown, softmax
weights = softmax([1.0, 0.0])
```

The weight is {eval}`shown(weights[0])`.
"""
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a copy of the project with a book of one page, built."""
    project = tmp_path_factory.mktemp("project")
    copy_without_pages(project)
    write_contents(project, ["index"])
    write(project, PAGE)
    assert build(project).returncode == 0
    return project


@pytest.fixture
def project(built, tmp_path):
    """Return a fresh copy of the built project."""
    return shutil.copytree(built, tmp_path / "copy")


def write(project, text):
    (project / "book" / "index.md").write_text(text, encoding="utf-8")


def page(project):
    return (project / "_build" / "html" / "index.html").read_text(encoding="utf-8")


def article(project):
    return re.search(r"<article.*?</article>", page(project), re.DOTALL).group()


BROKEN = {
    "\nThe weight is 0.73.\n": "book/index.md:21: 0.73 is typed into the prose",
    "\n```{code-cell}\n:tags: [remove-input, remove-output]\n\nassert not weights.any()\n```\n": (
        "book/index.md:24: WARNING: this cell failed: assert not weights.any() raised"
    ),
}


def test_a_broken_page_is_named_the_last_good_book_stays_and_a_mended_one_is_built(project):
    before = published(project)
    for text, said in (*BROKEN.items(), list(BROKEN.items())[-1]):
        # A second try must not pass because the first one remembered the page.
        write(project, PAGE + text)
        done = build(project)
        assert done.returncode == 1
        assert said in done.stderr
        assert "error: the book was not built" in done.stderr
        assert str(project) not in done.stderr
        assert published(project) == before
    write(project, PAGE + "\nThe weight is {given}`0.73`.\n")
    assert build(project).returncode == 0
    assert "0.73</span>." in article(project)


WAITS = """
```{code-cell}
import os
from pathlib import Path
from threading import Event

Path("processes").write_text(f"{os.getpid()} {os.getppid()}")
Event().wait(50)
```
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing ends with its parent")
def test_a_build_that_is_killed_leaves_no_process(project):
    before = published(project)
    write(project, PAGE + WAITS)
    building = started(project)
    noted = project / "book" / "processes"
    patiently(lambda: noted.is_file() and len(noted.read_text().split()) == 2)
    building.kill()
    building.wait()
    processes = [int(number) for number in noted.read_text().split()]
    patiently(lambda: not any(is_alive(process) for process in processes))
    assert published(project) == before


def patiently(is_so, seconds=60):
    """Wait until something is so; fail if it does not come about."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.1)


def is_alive(process):
    """Tell whether a process runs; one that nobody has asked for its end does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state[0] != "Z"
