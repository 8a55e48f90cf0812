"""The same sources give the same bytes: in another folder, for another user, at another time."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import printed_book
import pytest
from book_site import ROOT
from small_project import build, copy_without_pages, published, write_contents, write_pages

PAGES = {
    "index": """# A book

Some *text* and a formula, $x^2$.

```{code-cell}
from mha.chapters import *

run, show = open_example("the-cat-sat")
cat, sat = 1, 2
```

```{code-cell}
show.stage("weights", name="tbl-the-cat-sat-weights-{head}")
```

```{code-cell}
figures.weight_maps(run)
```

```{code-cell}
show.turn("scores", cat, sat, head=0)
```

```{code-cell}
show.explorer(name="fig-the-cat-sat-explorer")
```
""",
    "second": """# Second

```{code-cell}
print({"one", "two", "three", "four", "five"})
```

See {numref}`Table %s <tbl-the-cat-sat-weights-1>`.
""",
    "mechanism/short": """(short)=
# Short

```{lead}
One sentence.
```

```{aims}
- say what is *short*
- work a row
- tell $q$ from $k$
```

## A section

As {cite:t}`vaswani2017` have it.

```{code-cell}
from mha.chapters import *

run, show = open_example("the-cat-sat")
```

```{code-cell}
---
mystnb:
  figure:
    name: fig-short
    caption: Who attends to whom
---
show.maps()
```

```{code-cell}
show.turn("scores", 1, 2, head=0)
```

## Summary

- It is short.
""",
    "bibliography": "# Bibliography\n\n```{bibliography}\n```\n",
}
MADE = ("pdf", "epub", "worksheets", "packs")
PRINTED = (
    ("course", "--chapters", "short", "--title", "Übung"),
    ("pdf",),
    ("epub",),
    ("worksheet", "--seed", "3", "--students", "1"),
    ("packs", "--variants", "1"),
)
LONG_AGO = 1_000_000_000  # in 2001

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
    copy_without_pages(here)
    for name in ("LICENSE", "README.md"):
        shutil.copy(ROOT / name, here / name)
    (here / "book" / "mechanism").mkdir()
    write_pages(here, PAGES)
    write_contents(here, list(PAGES))
    there = tmp_path_factory.mktemp("there")
    home = there / "home"
    home.mkdir()
    project = copied(here, there / "Ein Büchlein mit Räumen")
    return here, project, of_someone_else(project, home)


def test_two_builds_from_nothing_are_byte_identical_and_name_no_folder_user_or_date(places):
    here, there, someone = places
    done = [build(here), build(there, **someone)]
    assert [one.returncode for one in done] == [0, 0], [one.stderr for one in done]
    first, second = published(here), published(there)
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []
    for secret in (str(here), str(there), "Büchlein", "someone", "Auckland"):
        assert [name for name, data in second.items() if secret.encode() in data] == []


@pytest.mark.pdf
def test_readers_editions_worksheets_and_packs_have_the_same_bytes(places):
    here, there, someone = places
    found = []
    for folder, variables in ((here, {}), (there, someone)):
        for command in PRINTED:
            done = printed_book.build(folder, *command, **variables)
            assert done.returncode == 0, done.stderr
        made = [path for kind in MADE for path in (folder / "_build" / kind).rglob("*.*")]
        names = [path.relative_to(folder).as_posix() for path in made]
        found.append(dict(zip(names, [path.read_bytes() for path in made], strict=True)))
    first, second = found
    assert sorted(first) == sorted(second)
    assert [name for name in first if first[name] != second[name]] == []
    assert {Path(name).suffix for name in first} >= {
        ".pdf",
        ".md",
        ".gift",
        ".zip",
        ".svg",
        ".ipynb",
    }


def run_in(folder, code, variables, *arguments):
    """Run a program in a project, with its own `mha`, and fail with what it says."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), **variables},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


WHEEL = "import sys; from flit_core.buildapi import build_wheel; build_wheel(sys.argv[1])"
AUDIT = "import mha.audit.__main__ as audit; audit.main(['--json', 'audit.json'])"


def test_a_wheel_has_the_same_bytes(places, tmp_path):
    here, there, someone = places
    wheels = []
    for folder, variables in ((here, {}), (there, someone)):
        to = tmp_path / str(len(wheels))
        to.mkdir()
        run_in(folder, WHEEL, {**variables, "SOURCE_DATE_EPOCH": "1700000000"}, str(to))
        (wheel,) = to.iterdir()
        wheels.append((wheel.name, wheel.read_bytes()))
    assert wheels[0] == wheels[1]


def test_the_audit_has_the_same_bytes(places):
    here, there, someone = places
    said = [run_in(here, AUDIT, {}), run_in(there, AUDIT, someone)]
    assert said[0] == said[1]
    assert (here / "audit.json").read_bytes() == (there / "audit.json").read_bytes()
