"""After any edit, the build publishes byte for byte what a build from nothing would.

One small book of four pages is edited, step by step, and built each time as it stands; beside it
the same files are built from nothing.
"""

import os
import re
import shutil

import pytest
from small_project import (
    build,
    copy_without_pages,
    log,
    published,
    write_contents,
    write_pages,
)

PAGES = {
    "index": "# A book\n\nIt begins with {doc}`one` and ends with {ref}`the-end`.\n",
    "one": """\
(page-one)=
# One

```{math}
:label: eq-first
a = b
```

```{code-cell}
from mha import load_example, shown, tables, trace
run = trace(load_example("cat-sat"))
tables.stage_table(run, "scores", name="tbl-scores")
```

The first weight is {eval}`shown(run.weights[0, 0, 0])`.

```{exercise} First
:label: exc-first

Compute the score of *cat* with *sat*.
```
""",
    "two": """\
# Two

See {eq}`eq-first`, {numref}`tbl-scores`, {ref}`page-one` and {ref}`exc-first`.

```{code-cell}
from mha.audit.sources import load_source
line = load_source("mha-tutorial")[0].line
```

The tutorial's first number stands in line {eval}`line`. Attention is due to {cite}`vaswani2017`.

```{bibliography}
```
""",
    "three": """\
(the-end)=
# Three

The last page speaks of zebras.

```{api}
softmax
```
""",
}
NAMES = list(PAGES)


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """Return a built book of four pages."""
    project = tmp_path_factory.mktemp("book")
    copy_without_pages(project)
    write_pages(project, PAGES)
    write_contents(project, NAMES)
    done = build(project)
    assert done.returncode == 0, done.stderr
    return project


@pytest.fixture
def book(started, tmp_path):
    """Return a copy of the built book, with all that the build keeps."""
    return shutil.copytree(started, tmp_path / "book")


def edit(book, name, old, new):
    """Replace a piece of a file once, which must be there."""
    text = (book / name).read_text(encoding="utf-8")
    assert old in text, (name, old)
    (book / name).write_text(text.replace(old, new, 1), encoding="utf-8")


def append(book, name, text):
    """Add a paragraph to the end of a file."""
    with (book / name).open("a", encoding="utf-8") as file:
        file.write(f"\n{text}\n")


def said(book, name):
    """Return the text of a published page."""
    html = published(book)[f"{name}.html"].decode("utf-8")
    return " ".join(re.sub(r"<[^>]*>", "", html).split())


def holds(book, tmp_path):
    """Assert that the book as it stands is, byte for byte, what a build from nothing gives."""
    kept = build(book)
    assert kept.returncode == 0, kept.stderr
    scratch = tmp_path / "scratch"
    shutil.copytree(book, scratch, ignore=shutil.ignore_patterns("_build"))
    assert build(scratch).returncode == 0
    found, wanted = published(book), published(scratch)
    shutil.rmtree(scratch)
    assert found.keys() == wanted.keys()
    assert [name for name in wanted if found[name] != wanted[name]] == []


NOTES = "Notes\n    -----\n    New.\n\n    Parameters\n"
BEFORE = "# One\n\n```{math}\n:label: eq-earlier\na = b\n```\n"


def pages_and_what_all_of_them_load(book):
    """Change what other pages count on, and add a page and a cell."""
    edit(book, "book/one.md", "# One\n", BEFORE)
    edit(book, "book/three.md", "# Three", "# Last")
    append(book, "book/three.md", "(more)=\n## A section more\n\nSee {ref}`more`.")
    append(book, "book/two.md", "```{code-cell}\nn = 7\n```\n\nThe size is {eval}`n`.")
    edit(book, "book/references.bib", "2017}", "1917}")
    edit(book, "book/_static/scroll.js", '"use strict";', '"use strict"; /* x */')
    append(book, "book/_static/book.css", ".new { top: 0 }")
    write_pages(book, {"four": "# Four\n\nIt leads to {ref}`page-one`.\n"})
    write_contents(book, ["index", "three", "one", "four", "two"])


def package_data_and_settings(book):
    """Change what cells are computed from, and take a page out."""
    edit(book, "mha/core/softmax.py", "Parameters\n", NOTES)
    edit(book, "mha/runs/rounding.py", "PLACES = 4", "PLACES = 2")
    edit(book, "mha/audit/sources/mha-tutorial.json", '"line": 3', '"line": 2')
    edit(book, "mha/examples/cat-sat.toml", "[5, ", "[8, ")
    edit(book, "_config.yml", "title: ", "title: Another ")
    edit(book, "book/index.md", " and ends with {ref}`the-end`", "")
    edit(book, "_toc.yml", "      - file: three\n", "")
    (book / "book" / "three.md").unlink()


def test_after_any_edit_the_book_is_what_a_build_from_nothing_gives(book, tmp_path):
    assert b"zebra" in published(book)["_static/search-index.js"]
    pages_and_what_all_of_them_load(book)
    holds(book, tmp_path)
    package_data_and_settings(book)
    holds(book, tmp_path)
    assert b"zebra" not in published(book)["_static/search-index.js"]
    # What no build from nothing would give is refused, though nothing else has changed.
    before = published(book)
    edit(book, "book/one.md", "eq-first", "eq-renamed")
    edit(book, "book/one.md", "(page-one)=\n", "")
    os.utime(book / "book" / "one.md", (0, 0))  # a file's date says nothing
    done = build(book)
    assert "0 added, 1 changed, 0 removed" in log(book)
    assert done.returncode == 1
    assert re.search(r"two\.md:14: WARNING: .*eq-first", done.stderr), done.stderr
    for name in ("two", "four"):
        assert f"{name}.md:14: WARNING: undefined label: 'page-one'" in done.stderr
    assert published(book) == before


# ---- What runs ----


def ran(book):
    """Build the book, and return the pages whose cells have run."""
    assert build(book).returncode == 0
    return re.findall(r"(\w+)\.md: its cells have run", log(book))


def test_what_was_changed_is_computed_and_nothing_else(book):
    results = (book / "_build" / "results").rglob("*.json")
    assert {path.stem for path in results} == {"one", "two"}
    wanted = published(book)["two.html"]
    (book / "_build" / "html" / "two.html").write_text("wrong", encoding="utf-8")
    edit(book, "book/one.md", "The first weight is", "The very first weight is")
    assert ran(book) == []
    assert published(book)["two.html"] == wanted  # a page changed by hand is put right
    assert "The very first weight is 0.7311." in said(book, "one")
    edit(book, "book/one.md", "The very", "Of {eval}`len(run.tokens)` tokens the very")
    append(book, "book/index.md", "Six by seven is {eval}`6 * 7`.")
    (book / "book" / "note.txt").write_text("first", encoding="utf-8")
    cell = "```{code-cell}\nwith open('note.txt') as file:\n    note = file.read()\n```"
    append(book, "book/three.md", f"{cell}\n\nIt says {{eval}}`note`.")
    assert sorted(ran(book)) == ["index", "one", "three"]
    assert "Of 2 tokens the very first weight" in said(book, "one")
    assert "Six by seven is 42." in said(book, "index")
    assert "It says first." in said(book, "three")
    edit(book, "book/one.md", 'load_example("cat-sat"))', 'load_example("play-football"))')
    (book / "book" / "note.txt").write_text("second", encoding="utf-8")
    assert sorted(ran(book)) == ["one", "three"]
    assert "It says second." in said(book, "three")
