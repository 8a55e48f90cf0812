"""Fixtures that open pages of the built book as files, in a window and a theme."""

import pytest
from book_site import path
from page_checks import open_every_fold

THEME = "localStorage.setItem('mode', '{0}'); localStorage.setItem('theme', '{0}')"


@pytest.fixture
def opened(browser):
    """Return a function that opens a page of the book. No script of the page may fail."""
    contexts, errors = [], []

    def open_page(
        name, address="", *, width=1280, height=900, theme=None, watch="", folds=False, **options
    ):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.requests, page.said = [], []
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("console", lambda message: page.said.append((message.type, message.text)))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.add_init_script(watch + (THEME.format(theme) if theme else ""))
        page.goto(path(name).as_uri() + address)
        page.wait_for_load_state("load")
        if folds:
            open_every_fold(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []
