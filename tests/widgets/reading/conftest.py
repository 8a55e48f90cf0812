"""Fixtures of the reading tests: a small book, built once, and readers who open it."""

import pytest
from reading_book import Reader, build_book
from shared_folders import fill_shared_folder


@pytest.fixture(scope="session")
def book(tmp_path_factory):
    return fill_shared_folder(tmp_path_factory, "reading", build_book) / "html"


@pytest.fixture
def reader(book, browser):
    """Return a function that makes a reader with a window width, a theme and other options."""
    readers = []

    def make(*, width=1280, theme="light", **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        readers.append(Reader(book, context, theme))
        return readers[-1]

    yield make
    for each in readers:
        each.context.close()
        assert each.errors == []
        outside = [url for url in each.requests if not url.startswith(("file:", "data:", "about:"))]
        assert outside == []


@pytest.fixture
def kinds(reader):
    """Return the page with a box of several fields, a row, a goal and a prediction."""
    return reader().open("kinds")


@pytest.fixture
def page(reader):
    return reader().open()
