"""The same sources give the same bytes: in another folder, for another user, at another time."""

import os
import shutil
from pathlib import Path

import printed_book
import pytest
from book_site import ROOT
from small_project import run

BOXES = """
# Boxes

```{code-cell}
from mha.chapters import *

run, show = open_example("the-cat-sat")
print({"one", "two", "three", "four", "five"})
```

```{code-cell}
show.stage("weights", name="tbl-the-cat-sat-weights-{head}")
```

```{code-cell}
show.turn("scores", 1, 2, head=0)
```

```{code-cell}
show.explorer(name="fig-the-cat-sat-explorer")
```
"""
COMMANDS = (
    ("html",),
    ("course", "--chapters", "beta,boxes", "--title", "Übung"),
    ("pdf",),
    ("epub",),
    ("worksheet", "--seed", "3", "--students", "1"),
    ("packs", "--variants", "1"),
)
MADE = ("html", "pdf", "epub", "worksheets", "packs")
LONG_AGO = 1_000_000_000  # in 2001

# What build.py does, one command after the other: each begins without what Sphinx has registered.
BUILD = f"""\
import sys
sys.path[:0] = ["scripts", "book/_ext"]
import building
from sphinx.util.docutils import docutils_namespace
for command in {COMMANDS!r}:
    sys.argv = ["build.py", *command]
    with docutils_namespace():
        building.main()
"""
PACKAGE = """\
import os
from flit_core.buildapi import build_wheel
from mha.audit.__main__ import main
os.mkdir("made")
build_wheel("made")
main(["--json", "made/audit.json"])
"""

# Python runs this wherever it starts: from then on it reaches nothing but this machine.
OFFLINE = """\
import socket

def refused(self, address, connect=socket.socket.connect):
    if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
        raise OSError(f"offline: {address[0]} cannot be reached")
    return connect(self, address)

def unnamed(host, *rest, find=socket.getaddrinfo, **more):
    if host not in (None, "", "127.0.0.1", "::1", "localhost"):
        raise OSError(f"offline: {host} has no address")
    return find(host, *rest, **more)

socket.socket.connect, socket.getaddrinfo = refused, unnamed
"""


def of_someone_else(project, home):
    """Return what the environment of another user on another machine, offline, may say."""
    (home / "sitecustomize.py").write_text(OFFLINE, encoding="utf-8")
    return {
        "PYTHONPATH": f"{project}{os.pathsep}{home}",
        "PYTHONHASHSEED": "4711",
        "LC_ALL": "C",
        "LANG": "tr_TR.UTF-8",
        "TZ": "Pacific/Auckland",
        "USER": "someone",
        "LOGNAME": "someone",
        "HOME": str(home),
        "COLUMNS": "40",
    }


def copied(project, folder):
    """Copy a project; its files are from another time."""
    shutil.copytree(project, folder, ignore=shutil.ignore_patterns("_build", "__pycache__"))
    for path in folder.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    return folder


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """Return the same small project in two folders, and a home for someone else."""
    here = tmp_path_factory.mktemp("here")
    printed_book.small_book(here)
    printed_book.write(here, "boxes", BOXES)
    contents = printed_book.TOC.replace(
        "      - file: beta", "      - file: beta\n      - file: boxes"
    )
    (here / "_toc.yml").write_text(contents, encoding="utf-8")
    for name in ("LICENSE", "README.md"):
        shutil.copy(ROOT / name, here / name)
    there = tmp_path_factory.mktemp("there")
    home = there / "home"
    home.mkdir()
    project = copied(here, there / "Ein Büchlein mit Räumen")
    return here, project, of_someone_else(project, home)


def made(folder, code, variables, *folders):
    """Run a program in a project; return what it says, and every file that it has made."""
    own = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = run(code, cwd=folder, env={**os.environ, **own, **variables})
    assert done.returncode == 0, done.stderr
    paths = [path for name in folders for path in (folder / name).rglob("*") if path.is_file()]
    return done.stdout, {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def are_the_same(first, second):
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []


@pytest.mark.pdf
def test_what_two_build_is_byte_identical_and_pages_name_no_folder_user_or_date(places):
    here, there, someone = places
    folders = [f"_build/{kind}" for kind in MADE]
    _, first = made(here, BUILD, {}, *folders)
    _, second = made(there, BUILD, someone, *folders)
    are_the_same(first, second)
    kinds = {Path(name).suffix for name in first}
    assert kinds >= {".html", ".pdf", ".epub", ".md", ".gift", ".zip", ".svg", ".ipynb"}
    pages = {name: data for name, data in second.items() if name.startswith("_build/html/")}
    for secret in (str(here), str(there), "Büchlein", "someone", "Auckland"):
        assert [name for name, data in pages.items() if secret.encode() in data] == []


def test_the_wheel_and_the_audit_are_byte_identical(places):
    here, there, someone = places
    dated = {"SOURCE_DATE_EPOCH": "1700000000"}
    said, first = made(here, PACKAGE, dated, "made")
    said_there, second = made(there, PACKAGE, {**someone, **dated}, "made")
    assert said == said_there
    are_the_same(first, second)
    assert {Path(name).suffix for name in first} == {".whl", ".json"}
