"""The same sources give the same bytes in another folder, for another user, at another time.

This also holds for a project that is moved after a build, with its cached results.
"""

import os
import shutil
from pathlib import Path

import printed_book
import pytest
from book_site import ROOT
from small_project import environment, run, write_pages

BOXES = """
# Boxes

```{code-cell}
from mha.chapters import *

run, show = open_example("the-cat-sat")
print({"one", "two", "three", "four", "five"})
```

```{code-cell}
show.turn("scores", 1, 2, head=0)
```

```{code-cell}
---
mystnb:
  figure:
    caption: One query.
    name: fig-the-cat-sat-explorer
---
show.explorer(name="fig-the-cat-sat-explorer")
```
"""
COMMANDS = ("html", "course --chapters beta,boxes --title Übung", "pdf", "epub",
            "worksheet --seed 3 --students 1", "packs --variants 1")  # fmt: skip
LONG_AGO = 1_000_000_000  # in 2001

# What build.py does, one command after the other: each begins without what Sphinx has registered.
# Then the wheel, as of a date, and what the audit says and writes.
MAKE = """\
import contextlib, os, sys
sys.path[:0] = ["scripts", "book/_ext"]
import building
from flit_core.buildapi import build_wheel
from mha.audit.__main__ import main
from sphinx.util.docutils import docutils_namespace
commands = sys.argv[1:]
for command in commands:
    sys.argv = ["build.py", *command.split()]
    with docutils_namespace():
        building.main()
os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
os.makedirs("_build/package", exist_ok=True)
build_wheel("_build/package")
with open("_build/package/said.txt", "w") as file, contextlib.redirect_stdout(file):
    main(["--json", "_build/package/audit.json"])
"""
MADE = ("html", "pdf", "epub", "worksheets", "packs", "package")

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


def foreign_environment(project, home):
    """Return the environment variables of another user on another machine, offline."""
    (home / "sitecustomize.py").write_text(OFFLINE, encoding="utf-8")
    own = {"PYTHONPATH": f"{project}{os.pathsep}{home}", "PYTHONHASHSEED": "4711", "COLUMNS": "40"}
    own |= {"LC_ALL": "C", "LANG": "tr_TR.UTF-8", "TZ": "Pacific/Auckland"}
    return own | {"USER": "user-4711", "LOGNAME": "user-4711", "HOME": str(home)}


def make_all(folder, commands=COMMANDS, **variables):
    """Build all outputs of a project, and return the bytes of each file by name."""
    done = run(MAKE, *commands, cwd=folder, env=environment(folder, **variables))
    assert done.returncode == 0, done.stderr
    paths = [path for name in MADE for path in (folder / "_build" / name).rglob("*.*")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.pdf
def test_two_builds_are_byte_identical_and_name_no_folder_user_or_date(tmp_path):
    here, home = tmp_path / "here", tmp_path / "home"
    home.mkdir()
    printed_book.small_book(here)
    write_pages(here, {"boxes": BOXES})
    beta = "      - file: beta"
    contents = printed_book.TOC.replace(beta, f"{beta}\n      - file: boxes")
    (here / "_toc.yml").write_text(contents, encoding="utf-8")
    for name in ("LICENSE", "README.md"):
        shutil.copy(ROOT / name, here / name)
    there = tmp_path / "Ein Büchlein mit Räumen"
    shutil.copytree(here, there, ignore=shutil.ignore_patterns("__pycache__"))
    for path in there.rglob("*"):
        os.utime(path, (LONG_AGO, LONG_AGO))
    someone = foreign_environment(there, home)
    first, second = make_all(here), make_all(there, **someone)
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []
    kinds = {".html", ".pdf", ".epub", ".md", ".gift", ".zip", ".svg", ".ipynb", ".whl", ".json"}
    assert {Path(name).suffix for name in first} > kinds
    pages = {name: data for name, data in second.items() if name.startswith("_build/html/")}

    moved = here.rename(tmp_path / "moved")
    for name in ("pdf", "epub", "worksheets", "packs"):
        shutil.rmtree(moved / "_build" / name)
    html, *others = COMMANDS  # the first command after the move is one that prints
    third = make_all(moved, [*others, html, "without-solutions"])
    assert sorted(third) == sorted(first)
    assert [name for name in first if first[name] != third[name]] == []
    for secret in (str(here), str(there), "Büchlein", "user-4711", "Auckland"):
        assert [name for name, data in pages.items() if secret.encode() in data] == []
