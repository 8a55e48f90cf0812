"""Builds of a small book after edits: strict, never destructive, and without needless work.

After any edit the build publishes the same bytes as a clean build, or keeps the last good book.
"""

import os
import re
import shutil
import sys
from functools import partial

import html_book
import pytest
import small_project
from processes import processes_in, wait_until
from small_project import build, log, published, started, write_contents, write_pages

from byhand.digests import ROOT, files_in
from byhand.reading import results
from byhand.site.notices import third_party

EXERCISE = """\
```{exercise} First
:label: exc-first

Compute the score of *cat* with *sat*.
```
"""
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
from mha import load_example, tables, trace
from mha.runs.rounding import shown
run = trace(load_example("cat-sat"))
tables.stage_table(run, "scores", name="tbl-scores")
```

The first weight is {eval}`shown(run.weights[0, 0, 0])`.

"""
    + EXERCISE,
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

```{code-cell}
with open("note.txt") as file:
    note = file.read()
```

It says {eval}`note`.
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


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a built book of four pages."""
    project = tmp_path_factory.mktemp("book")
    small_project.copy_without_pages(project)
    write_pages(project, PAGES)
    write_contents(project, list(PAGES))
    (project / "book" / "note.txt").write_text("first", encoding="utf-8")
    done = build(project)
    assert done.returncode == 0, done.stderr
    return project


@pytest.fixture
def book(built, tmp_path):
    """Return a copy of the built book, with the cached results of the build."""
    return shutil.copytree(built, tmp_path / "book")


def edit(book, name, old, new):
    """Replace the first occurrence of a text in a file. The text must be present."""
    text = (book / name).read_text(encoding="utf-8")
    assert old in text, (name, old)
    (book / name).write_text(text.replace(old, new, 1), encoding="utf-8")


def append(book, name, text):
    """Append a paragraph to a file."""
    with (book / name).open("a", encoding="utf-8") as file:
        file.write(f"\n{text}\n")


def published_text(book, name):
    """Return the text of a published page."""
    html = published(book)[f"{name}.html"].decode("utf-8")
    return " ".join(re.sub(r"<[^>]*>", "", html).split())


def executed_pages(book):
    """Build the book, and return the pages whose cells were executed."""
    done = build(book)
    assert done.returncode == 0, done.stderr
    return sorted(re.findall(r"(\w+)\.md: its cells have run", log(book)))


def different_from_a_clean_build(book, scratch):
    """Return the names of the published files that a build from nothing does not make alike."""
    shutil.copytree(book, scratch, ignore=shutil.ignore_patterns("_build"))
    assert build(scratch).returncode == 0
    found, wanted = published(book), published(scratch)
    names = found.keys() | wanted.keys()
    return sorted(name for name in names if found.get(name) != wanted.get(name))


def failed_build(book, before):
    """Return the error output of a build that fails and keeps the last good book."""
    done = build(book)
    assert done.returncode == 1
    assert "error: the book was not built" in done.stderr
    assert str(book) not in done.stderr
    assert published(book) == before
    return done.stderr


NEW_CELL = """\
```{code-cell}
from mha import load_example, tables, trace
tables.stage_table(trace(load_example("cat-sat")), "weights", name="tbl-weights")
```

A new one is {numref}`tbl-weights`.
"""


def test_changed_pages_are_computed_and_the_book_equals_a_clean_build(book, tmp_path):
    before = published(book)
    (book / "_build" / "html" / "two.html").write_text("wrong", encoding="utf-8")
    assert executed_pages(book) == []
    assert published(book) == before  # a page changed by hand is put right

    edit(book, "book/one.md", "# One\n", "# One\n\n```{math}\n:label: eq-earlier\na = b\n```\n")
    edit(book, "book/one.md", 'load_example("cat-sat"))', 'load_example("play-football"))')
    os.utime(book / "book" / "one.md", (0, 0))  # a file's date says nothing
    edit(book, "book/three.md", "# Three", "# Last")
    append(book, "book/three.md", "(more)=\n## A section more\n\nSee {ref}`more`.")
    append(book, "book/index.md", "Six by seven is {eval}`6 * 7`.")
    edit(book, "book/two.md", ", {ref}`page-one` and {ref}`exc-first`", " and {ref}`page-one`")
    edit(book, "book/one.md", EXERCISE, "")
    append(book, "book/two.md", NEW_CELL)
    assert executed_pages(book) == ["index", "one", "two"]
    assert "0 added, 4 changed, 0 removed" in log(book)
    assert "Six by seven is 42." in published_text(book, "index")
    assert "exc-first" not in published(book)["one.html"].decode("utf-8")
    assert "A new one is Table 2.1." in published_text(book, "two")
    assert different_from_a_clean_build(book, tmp_path / "scratch") == []


def test_pages_that_show_nothing_of_an_edit_are_kept_and_all_others_are_written(book, tmp_path):
    assert executed_pages(book) == []  # read in this folder
    edit(book, "book/three.md", "speaks of zebras", "is on ibexes")
    edit(book, "book/one.md", "# One\n", "# One\n\nA line more.\n")
    edit(book, "book/one.md", "shown(run.weights[0, 0, 0])", "shown(run.weights[0, 0, 1])")
    assert executed_pages(book) == ["one"]
    written = re.findall(r"writing output.*m(\w+)\x1b", log(book))
    assert written == ["one", "three"]  # after the first page, which Sphinx always writes
    assert different_from_a_clean_build(book, tmp_path / "scratch") == []
    # The reference lists the pages that use a name.
    assert "In the book: " not in published_text(book, "three")
    append(book, "book/one.md", "The function is `softmax`.")
    assert executed_pages(book) == []
    assert "In the book: One." in published_text(book, "three")


FAILS = "\n```{code-cell}\nassert not run.weights.any()\n```\n"
FAILED = "this cell failed: assert not run.weights.any() raised"
NOTES = "Notes\n    -----\n    New.\n\n    Parameters\n"


def test_a_fault_is_reported_and_the_last_good_book_stays_until_it_is_fixed(book):
    before = published(book)
    assert b"zebra" in before["_static/search-index.js"]
    append(book, "book/three.md", "The weight is 0.73.")
    assert re.match(
        r"book/three\.md:\d+: 0\.73 is typed into the prose", failed_build(book, before)
    )
    edit(book, "book/three.md", "The weight is 0.73.", "")

    append(book, "book/one.md", FAILS)
    edit(book, "book/one.md", "eq-first", "eq-renamed")
    edit(book, "book/one.md", "(page-one)=\n", "")
    for _ in range(2):  # a second try must not pass because the first one remembered the page
        told = failed_build(book, before)
        assert re.match(rf"book/one\.md:\d+: WARNING: {re.escape(FAILED)}", told), told
        assert "eq-first" not in told  # which may follow from the cell
    edit(book, "book/one.md", FAILS, "")
    told = failed_build(book, before)
    assert re.search(r"book/two\.md:14: WARNING: .*eq-first", told), told
    assert "book/two.md:14: WARNING: undefined label: 'page-one'" in told  # an unedited page

    edit(book, "book/one.md", "eq-renamed", "eq-first")
    edit(book, "book/one.md", "# One\n", "(page-one)=\n# One\n")
    (book / "book" / "note.txt").write_text("second", encoding="utf-8")
    edit(book, "book/references.bib", "Attention Is All", "Attention Is Almost All")
    edit(book, "book/index.md", " and ends with {ref}`the-end`", "")
    (book / "book" / "three.md").unlink()
    write_pages(book, {"four": "# Four\n\nIt leads to {ref}`page-one`.\n"})
    write_contents(book, ["index", "one", "four", "two"])
    assert executed_pages(book) == ["two"]
    assert "It says second." in published_text(book, "two")
    assert "It leads to One." in published_text(book, "four")
    assert "almost all you need" in published_text(book, "two").lower()
    assert b"zebra" not in published(book)["_static/search-index.js"]
    assert "three.html" not in published(book)


def test_a_changed_dependency_of_cells_or_pages_is_computed_again(book):
    edit(book, "mha/core/softmax.py", "Parameters\n", NOTES)
    edit(book, "mha/runs/rounding.py", "PLACES = 4", "PLACES = 2")
    edit(book, "mha/audit/sources/mha-tutorial.json", '"line": 3', '"line": 2')
    edit(book, "_config.yml", "title: ", "title: Another ")
    append(book, "book/_static/book.css", ".another { top: 0; }")
    edit(book, "book/_templates/layout.html", "<link ", '<meta name="another"><link ')
    assert executed_pages(book) == ["one", "two"]
    assert "The first weight is 0.73." in published_text(book, "one")
    assert "first number stands in line 2." in published_text(book, "two")
    assert "Another Attention by Hand" in published_text(book, "one")
    assert "Notes New." in published_text(book, "three")
    assert b".another" in published(book)["_static/book.css"]
    assert b'<meta name="another">' in published(book)["three.html"]


@pytest.mark.parametrize("length", [0, 30])
def test_damaged_results_of_the_last_build_count_as_missing(book, length):
    assert executed_pages(book) == []
    good = published(book)
    for folder in ("state", "results"):
        files = [path for path in (book / "_build" / folder).rglob("*") if path.is_file()]
        assert files, folder
        for path in files:
            path.write_bytes(path.read_bytes()[:length])
    assert executed_pages(book) == ["one", "two"]
    assert published(book) == good


WAITS = """
```{code-cell}
import os
from time import sleep

os.close(os.open("begun", os.O_CREAT))
sleep(300)
```
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing ends with its parent")
def test_a_build_that_is_killed_leaves_no_process(book):
    before = published(book)
    append(book, "book/one.md", WAITS)
    building = started(book)
    wait_until((book / "book" / "begun").is_file)
    building.kill()
    building.wait()
    wait_until(lambda: not processes_in(book), seconds=60)
    assert published(book) == before


# ---- What is watched: files that the book depends on, and those that cells count on, too ----

COMPUTED_FROM = [
    *("mha/core/softmax.py", "mha/examples/cat-sat.toml", "mha/audit/sources/mha-tutorial.json"),
    *("mha/widgets/src/engine/origins.ts", "requirements.lock", "_config.yml"),
    *("book/_ext/byhand/reading/page_runner.py", "book/_ext/byhand/reading/pages.py"),
]
READ_FROM = [
    *("book/index.md", "book/references.bib", "book/_static/book.css", "book/_static/layout.css"),
    *("book/_templates/layout.html", "book/_ext/byhand/contents.py", "scripts/html_book.py"),
    *("_toc.yml", "pyproject.toml", "CITATION.cff"),
]


@pytest.mark.parametrize("name", [*COMPUTED_FROM, *READ_FROM])
def test_dependencies_of_the_book_and_of_its_cells(built, name):
    digests = (
        html_book.inputs_digest,
        partial(html_book.inputs_digest, pages=False),
        results.inputs_digest,
    )
    before = [digest_of_inputs(built) for digest_of_inputs in digests]
    text = (built / name).read_bytes()
    (built / name).write_bytes(text + b"\n")
    after = [digest_of_inputs(built) for digest_of_inputs in digests]
    noticed = [digest != was for digest, was in zip(after, before, strict=True)]
    (built / name).write_bytes(text)
    assert [digest_of_inputs(built) for digest_of_inputs in digests] == before
    assert noticed == [True, name != "book/index.md", name in COMPUTED_FROM]


def test_the_licences_that_the_page_of_notices_shows_are_inputs_of_the_book():
    assert {ROOT / file["text"] for file in third_party()[0]} <= set(files_in(html_book.MADE_FROM))
