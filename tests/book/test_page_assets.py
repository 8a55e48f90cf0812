"""A page loads the scripts and styles that stand beside the widgets' Python."""

import pytest
from book_site import ROOT
from bs4 import BeautifulSoup
from one_book import build

from byhand.page_assets import SCRIPTS, STYLES
from mha.widgets.assets import LATE_PARTS, published


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Build a book of one page with the book's own scripts."""
    folder = tmp_path_factory.mktemp("assets")
    warnings = build(
        folder,
        {"index": "# A page\n\nText.\n"},
        extensions=["myst_nb", "byhand.page_assets"],
        html_static_path=[str(ROOT / "book" / "_static")],
    )
    assert warnings == ""
    return folder / "html"


def test_a_page_loads_every_script_in_its_order_and_waits_for_none(book):
    page = BeautifulSoup((book / "index.html").read_text(encoding="utf-8"), "html.parser")
    loaded = [s for s in page.find_all("script", src=True) if s.has_attr("defer")]
    names = [script["src"].partition("?")[0] for script in loaded]
    assert names == [f"_static/{name}" for name in SCRIPTS]
    assert all((book / name).is_file() for name in names)
    # A page that is opened as a file may not load modules.
    assert not any(script.get("type") == "module" for script in page.find_all("script"))


def test_a_page_loads_the_style_sheets_in_their_order(book):
    page = BeautifulSoup((book / "index.html").read_text(encoding="utf-8"), "html.parser")
    linked = [link["href"].partition("?")[0] for link in page.select("link[rel=stylesheet]")]
    ours = [f"_static/{name}" for name in STYLES]
    assert [address for address in linked if address in ours] == ours
    assert all((book / name).is_file() for name in ours)


def test_the_widgets_files_are_published_as_they_are_loaded(book):
    for name, text in published().items():
        assert (book / "_static" / name).read_text(encoding="utf-8") == text
    assert set(published()) >= {"stages.js", "explorer.js", "explorer.css"}
    assert list((book / "_static").glob("*.d.ts")) == []


def test_every_script_of_the_widgets_is_loaded_or_asked_for_later():
    scripts = {name for name in published() if name.endswith(".js")}
    assert scripts - set(LATE_PARTS) <= set(SCRIPTS)
    assert not set(LATE_PARTS) & set(SCRIPTS)
    assert all(f'later("{name}")' in published()["explorer.js"] for name in LATE_PARTS)
