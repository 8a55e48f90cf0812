"""Faults in files that a build runs or reads late: one sentence each, and the last book stays."""

import re
import shutil

import pytest
import small_project
from small_project import build, published, write_contents, write_pages

PAGES = {"index": "# A book\n\n```{code-cell}\nx = 6 * 7\n```\n\nIt is {eval}`x`.\n"}
LAYOUT = "book/_templates/layout.html"
RANKING = "book/_ext/byhand/search/ranking.toml"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a built book of one page."""
    project = tmp_path_factory.mktemp("book")
    small_project.copy_without_pages(project)
    write_pages(project, PAGES)
    write_contents(project, list(PAGES))
    done = build(project)
    assert done.returncode == 0, done.stderr
    return project


def refused(built, folder, change, **variables):
    """Return the error output of a build after a change, which must leave the last book."""
    book = shutil.copytree(built, folder / "book", symlinks=True)
    before = published(book)
    change(book)
    done = build(book, **variables)
    assert done.returncode == 1, done.stderr
    assert published(book) == before
    assert str(book) not in done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


# The fault, its file, what is appended or replaced, and the message with file, line and cause.
# {} is the number of the last line.
IN_FILES = [
    ("a mistyped import of a package", "mha/core/softmax.py", "import numpy as np",
     "import nunpy as np",
     r"mha/core/softmax\.py:{line}: this import fails: no module named 'nunpy'"),
    ("a mistyped import of a module", "mha/core/softmax.py", "import numpy as np",
     "import numpy as np\nfrom mha.core import cheks",
     r"mha/core/softmax\.py:{line}: this import fails: cannot import name 'cheks' from 'mha"),
    ("a module that is not Python", "mha/core/softmax.py", "", "def f(:",
     r"mha/core/softmax\.py:{}: this is not Python: invalid syntax"),
    ("a script that is not Python", "scripts/html_book.py", "", "def f(:",
     r"scripts/html_book\.py:{}: this is not Python: invalid syntax"),
    ("rules of the checks that are no TOML", "book/_ext/byhand/checking/patterns.toml", "", "[x",
     r"book/_ext/byhand/checking/patterns\.toml:{}: this is not TOML: Expected '\]'"),
    ("a template with an unknown name", LAYOUT, "", "{% block footer %}{{ a.b.c }}{% endblock %}",
     r"book/_templates/layout\.html:{}: this template fails: 'a' is undefined"),
    ("search words for an unknown section", RANKING, "[asked]", '[asked]\n"index#lost" = "it"',
     r"book/_ext/byhand/search/ranking\.toml:{line}: index has no section #lost"),
]  # fmt: skip


@pytest.mark.parametrize("fault", IN_FILES, ids=lambda fault: fault[0])
def test_a_fault_in_a_file_of_the_build_is_one_sentence(built, tmp_path, fault):
    _, name, old, new, message = fault
    text = (built / name).read_text(encoding="utf-8")
    assert old in text
    faulty = text.replace(old, new, 1) if old else f"{text}\n{new}\n"
    last = faulty.rstrip("\n").count("\n") + 1
    line = faulty[: faulty.index(new)].count("\n") + new.count("\n") + 1
    told = refused(built, tmp_path, lambda book: (book / name).write_text(faulty, "utf-8"))
    wanted = message.replace("{}", str(last)).replace("{line}", str(line))
    assert re.search(wanted, told), told
    assert len(told.splitlines()) <= 2, told


def test_a_full_disk_is_called_so(built, tmp_path):
    def fill(book):
        write_pages(book, {"index": PAGES["index"].replace("7", "8")})
        (book / "_build" / "results" / "index.new").symlink_to("/dev/full")

    told = refused(built, tmp_path, fill)
    wanted = r"error: the book was not built: no space is left on the disk of _build\n"
    assert re.fullmatch(wanted, told), told


def test_a_page_that_is_saved_during_a_build_is_named_instead_of_its_false_errors(built, tmp_path):
    def save_while_it_runs(book):
        saves = "import os\nos.utime('index.md')\nassert False"
        text = PAGES["index"].replace("x = 6 * 7", saves)
        write_pages(book, {"index": text, "other": "# Two\n\nSee {ref}`nowhere`.\n"})
        write_contents(book, ["index", "other"])

    told = refused(built, tmp_path, save_while_it_runs).splitlines()
    assert len(told) == 2, told
    assert "book/other.md:14: WARNING: undefined label: 'nowhere'" in told[0]
    assert told[1] == "error: book/index.md changed while the book was built; build again"


def test_a_page_that_cannot_be_read_is_named(built, tmp_path):
    def lose(book):
        (book / "book" / "lost.md").symlink_to(book / "nowhere.md")

    told = refused(built, tmp_path, lose)
    assert "book/lost.md:1: this file cannot be read: No such file or directory\n" in told


def test_warnings_of_packages_and_another_mha_change_nothing(built, tmp_path):
    book = shutil.copytree(built, tmp_path / "book")
    before = published(book)
    other = tmp_path / "other" / "mha"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("raise ValueError", encoding="utf-8")
    path = f"{book}:{other.parent}"
    done = build(book, "--all", PYTHONWARNINGS="error", PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    assert published(book) == before
