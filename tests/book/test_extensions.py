"""The book's own Sphinx package, apart from a build: see test_build.py for the whole."""

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from book_site import ROOT
from docutils import nodes
from docutils.utils import new_document

import byhand
from byhand.contents import read_contents
from byhand.digests import digest_of, files_in
from byhand.print_book.pages import leave_out_screen_only

PACKAGE = Path(byhand.__file__).parent


def test_the_package_loads_every_part_that_it_has():
    app, loaded = Mock(), set()

    def load(name):
        loaded.add(name)
        importlib.import_module(name).setup(app)

    app.setup_extension = load
    byhand.setup(app)
    modules = [module.name for module in pkgutil.walk_packages(byhand.__path__, "byhand.")]
    assert loaded == {m for m in modules if hasattr(importlib.import_module(m), "setup")}


def test_the_commands_import_the_package_without_sphinx():
    code = "import sys, byhand.contents, byhand.document; print('sphinx' in sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_contents_are_those_of_the_file(tmp_path):
    toc = tmp_path / "_toc.yml"
    toc.write_text(
        "format: jb-book\nroot: start\nparts:\n"
        "  - {caption: One, chapters: [{file: a/b}, {file: c}]}\n"
        "  - {caption: Two, chapters: [{file: d, sections: [{file: d/e}]}, {file: f}]}\n",
        encoding="utf-8",
    )
    contents = read_contents(toc)
    assert contents.pages == ("start", "a/b", "c", "d", "d/e", "f")
    assert contents.chapters == ("a/b", "c", "d", "f")
    assert [(p.number, p.caption, p.pages, p.below) for p in contents.parts] == [
        (1, "One", ("a/b", "c"), {}),
        (2, "Two", ("d", "f"), {"d": ("d/e",)}),
    ]
    toc.write_text("root: alone\n", encoding="utf-8")
    assert read_contents(toc).pages == ("alone",)


CHANGES = ("mha", "_config.yml")
COUNTED = ["mha/a.py", "mha/examples/b.toml", "mha/audit/c.json", "mha/widgets/d.js", "_config.yml"]
IGNORED = ["README.md", "mha/__pycache__/a.pyc", "mha/.a.py.swp"]


@pytest.fixture
def files(tmp_path):
    for name in (*COUNTED, *IGNORED):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", COUNTED)
def test_a_digest_changes_with_every_file_and_name(files, name):
    before = digest_of(CHANGES, root=files)
    assert digest_of(CHANGES, root=files) == before
    (files / name).write_text("two", encoding="utf-8")
    assert digest_of(CHANGES, root=files) != before
    (files / name).write_text("one", encoding="utf-8")
    assert digest_of(CHANGES, root=files) == before
    assert digest_of(CHANGES, root=files, salt="other") != before
    (files / name).rename(files / f"{name}.renamed")
    assert digest_of(CHANGES, root=files) != before


@pytest.mark.parametrize("name", IGNORED)
def test_a_digest_does_not_change_with_what_does_not_count(files, name):
    before = digest_of(CHANGES, root=files)
    (files / name).write_text("two", encoding="utf-8")
    assert digest_of(CHANGES, root=files) == before


def test_every_file_of_the_package_counts():
    command = ["git", "ls-files", "-co", "--exclude-standard", "mha"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    files = {ROOT / name for name in done.stdout.splitlines() if (ROOT / name).is_file()}
    assert {".py", ".toml", ".json"} <= {file.suffix for file in files}
    assert files <= set(files_in(["mha"]))


def test_paper_has_no_cell_that_is_tagged_for_the_screen_alone():
    cells = [nodes.container(classes=["cell", *tags]) for tags in ([], ["tag_screen-only"])]
    page = new_document("page")
    page += cells
    leave_out_screen_only(page)
    assert page.children == cells[:1]
