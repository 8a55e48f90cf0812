"""What is watched: files that the book depends on, and those that cells count on, too."""

import shutil
from functools import partial

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
    "book/_ext/byhand/reading/pages.py",
]
READ_FROM = [
    "book/index.md",
    "book/references.bib",
    "book/_static/book.css",
    "book/_static/scroll.js",
    "book/_templates/layout.html",
    "book/_ext/byhand/contents.py",
    "scripts/html_book.py",
    "_toc.yml",
    "pyproject.toml",
    "CITATION.cff",
]


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a copy of all sources."""
    folder = tmp_path_factory.mktemp("sources")
    for name in ("book", "mha", "scripts"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("_config.yml", "_toc.yml", "requirements.lock", "pyproject.toml", "CITATION.cff"):
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.mark.parametrize("name", [*COMPUTED_FROM, *READ_FROM])
def test_what_the_book_and_what_its_cells_depend_on(project, name):
    digests = html_book.made_from, partial(html_book.made_from, pages=False), results.made_from
    before = [made_from(project) for made_from in digests]
    file = project / name
    text = file.read_bytes()
    file.write_bytes(text + b"\n")
    noticed = [made_from(project) != was for made_from, was in zip(digests, before, strict=True)]
    file.write_bytes(text)
    assert [made_from(project) for made_from in digests] == before
    assert noticed == [True, name != "book/index.md", name in COMPUTED_FROM]
