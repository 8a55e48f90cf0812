"""What is watched: each test fails when its file, or what else counts, is no longer looked at.

The names stand here once more, apart from the lists that the build keeps.
"""

import shutil

import html_book
import pytest
from book_site import ROOT

from byhand.reading import results

COMPUTED_FROM = [
    "mha/core/softmax.py",
    "mha/examples/cat-sat.toml",
    "mha/audit/sources/mha-tutorial.json",
    "mha/widgets/static/origins.js",
    "requirements.lock",
    "_config.yml",
    "book/_ext/byhand/reading/running.py",
    "book/_ext/byhand/reading/cell_outputs.py",
]
MADE_FROM = [
    *COMPUTED_FROM,
    "book/index.md",
    "book/references.bib",
    "book/_static/book.css",
    "book/_static/scroll.js",
    "book/_templates/layout.html",
    "book/_ext/byhand/contents.py",
    "scripts/html_book.py",
    "_toc.yml",
    "pyproject.toml",
]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a copy of all sources."""
    folder = tmp_path_factory.mktemp("sources")
    for name in ("book", "mha", "scripts"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("_config.yml", "_toc.yml", "requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def notices(made_from, project, name):
    """Tell whether a digest changes with a file, and comes back with it."""
    file = project / name
    text, before = file.read_bytes(), made_from(project)
    file.write_bytes(text + b"\n")
    changed = made_from(project)
    file.write_bytes(text)
    assert made_from(project) == before
    return changed != before


@pytest.mark.parametrize("name", MADE_FROM)
def test_the_book_depends_on(project, name):
    assert notices(html_book.made_from, project, name)


@pytest.mark.parametrize("name", COMPUTED_FROM)
def test_what_cells_gave_depends_on(project, name):
    assert notices(results.made_from, project, name)


def test_prose_counts_for_no_cell(project):
    assert not notices(results.made_from, project, "book/index.md")
    assert not notices(results.made_from, project, "book/_static/book.css")
