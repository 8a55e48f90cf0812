"""Fixtures that open explorers and instruments on pages of their own in Chromium."""

import shutil

import pytest
from book_site import STATIC
from explorer_pages import View, example_explorer, page_html
from shared_folders import fill_shared_folder

from mha.widgets.assets import publish
from mha.widgets.explorer import explorer


@pytest.fixture(scope="session")
def static(tmp_path_factory):
    """Return a folder with the book's fonts, and with its scripts and styles as published."""

    def make(folder):
        publish(folder)
        shutil.copytree(STATIC / "fonts", folder / "fonts")
        for name in ("tokens.css", "fonts.css"):
            shutil.copy(STATIC / name, folder)

    return fill_shared_folder(tmp_path_factory, "static", make)


@pytest.fixture
def view(browser, static, tmp_path):
    """Return a function that opens an explorer on a page, in a theme and at a width.

    No script of the page may fail, and no network request is made.
    """
    views = []

    def put(run, *, theme="light", width=1280, address="", is_new=False, **options):
        run, body = example_explorer(run) if isinstance(run, str) else (run, explorer(run).html)
        file = tmp_path / f"page{len(views)}.html"
        file.write_text(page_html(body, static.as_uri(), theme), encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        context.set_default_timeout(10_000)
        if not is_new:  # who comes again sees no first movement
            context.add_init_script(
                "if (location.protocol === 'file:')"
                " localStorage.setItem('attention-by-hand.moved', 'yes')"
            )
        runs_scripts = options.get("java_script_enabled", True)
        views.append(View(context.new_page(), run, file, runs_scripts=runs_scripts))
        return views[-1].go(address)

    yield put
    for seen in views:
        seen.page.context.close()
    for seen in views:
        assert seen.errors == []
        assert all(url.startswith((static.as_uri(), seen.file.as_uri())) for url in seen.requests)


@pytest.fixture
def open_element(view, static):
    """Return a function that opens an element on a page."""

    def on_page(html, **options):
        seen = view("cat-sat", **options)
        theme = options.get("theme", "light")
        seen.file.write_text(page_html(html, static.as_uri(), theme), encoding="utf-8")
        seen.page.reload()
        return seen.wait_until_live()

    return on_page


@pytest.fixture
def open_instrument(browser, static, tmp_path):
    """Return a function that opens an instrument on its own page. No script of it may fail."""
    pages, errors = [], []

    def opened(html, address="", *, width=1280, height=900, **options):
        file = tmp_path / "page.html"
        file.write_text(page_html(html, static.as_uri()), encoding="utf-8")
        page = browser.new_page(viewport={"width": width, "height": height}, **options)
        pages.append(page)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(file.as_uri() + address)
        if options.get("java_script_enabled", True):
            page.locator("mha-instrument.live").wait_for()
        return page

    yield opened
    assert errors == []
    for page in pages:
        page.close()


@pytest.fixture(scope="session")
def arithmetic_page(browser, modules):
    """Return a page with `modules`. Tests must not change it."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(modules.with_name("page.html").as_uri())  # the progress belongs to an address
    page.add_script_tag(path=modules)
    yield page
    context.close()
