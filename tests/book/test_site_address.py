"""The book's address stands in one place, and the pages work below any other."""

import re
import shutil
import tomllib
from types import SimpleNamespace
from xml.etree import ElementTree

import book_site as site
import pytest
import yaml
from bs4 import BeautifulSoup
from playwright.sync_api import expect
from served_site import serving_below_a_path
from small_project import build, copy_without_pages, published, write_contents, write_pages
from sphinx.errors import ExtensionError

import mha
from byhand.site.address import check_address

ADDRESS = "https://example.org/books/attention/"
PAGES = {
    "index": "# A book\n\n```{lead}\nIts *first* sentence.\n```\n",
    "one": "# One & two\n\nText.\n",
}


def said_of_address(html):
    """Return the canonical link, and the properties of the card."""
    page = BeautifulSoup(html, "html.parser")
    links = [link["href"] for link in page.select("link[rel=canonical]")]
    return links, {meta["property"]: meta["content"] for meta in page.select("meta[property]")}


def test_with_an_address_every_page_names_its_own(tmp_path):
    copy_without_pages(tmp_path)
    shutil.copy(site.ROOT / "book" / "screenshot.png", tmp_path / "book")
    write_pages(tmp_path, PAGES)
    write_contents(tmp_path, list(PAGES))
    config = tmp_path / "_config.yml"
    line = re.compile(r'^  baseurl: ".*"$', re.MULTILINE)
    config.write_text(line.sub(f'  baseurl: "{ADDRESS}"', config.read_text("utf-8")), "utf-8")
    done = build(tmp_path)
    assert done.returncode == 0, done.stderr
    files = published(tmp_path)
    for name, title, sentence in [
        ("index", "A book", "Its first sentence."),
        ("one", "One & two", ""),
    ]:
        links, card = said_of_address(files[f"{name}.html"])
        assert links == [f"{ADDRESS}{name}.html"]
        assert card["og:url"] == f"{ADDRESS}{name}.html"
        assert title in card["og:title"]
        assert sentence in card["og:description"]
        picture = card["og:image"].removeprefix(ADDRESS)
        assert files[picture].startswith(b"\x89PNG")
    places = re.findall("<loc>(.*)</loc>", files["sitemap.xml"].decode("utf-8"))
    ElementTree.fromstring(files["sitemap.xml"])
    assert places == [f"{ADDRESS}index.html", f"{ADDRESS}one.html"]


REFUSED = "https://, a host and a last / are wanted"


@pytest.mark.parametrize("address", ["http://example.org/", "https://example.org/book", "book"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(ExtensionError, match=f"is '{address}'; {REFUSED}$"):
        check_address(None, SimpleNamespace(html_baseurl=address))


def test_the_citation_agrees_with_the_project_and_with_the_address():
    citation = yaml.safe_load((site.ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    config = yaml.safe_load((site.ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert citation["version"] == mha.__version__
    assert citation["title"].startswith(config["title"])
    assert [author["name"] for author in citation["authors"]] == [config["author"]]
    assert citation.get("url", "") == config["html"]["baseurl"]
    urls = tomllib.loads((site.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert urls.get("urls", {}).get("Homepage", "") == config["html"]["baseurl"]


# ---- Below another address: `test_content_policy.py` opens every page so ----


@pytest.fixture
def served():
    """Serve the built book below a path of a server on this machine; return its address."""
    with serving_below_a_path(site.SITE) as address:
        yield address


@pytest.mark.book
@pytest.mark.browser
def test_search_and_explorer_work_below_a_path(served, browser):
    page, wrong = browser.new_page(), []
    page.on("response", lambda r: r.status < 400 or wrong.append((r.status, r.url)))
    page.on("request", lambda r: r.url.startswith((served, "data:")) or wrong.append(r.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"{served}search.html?q=softmax")
    result = page.locator("a.search-result[href*='mechanism/softmax.html']").first
    result.wait_for()
    result.click()
    page.wait_for_load_state("load")
    assert page.url.startswith(f"{served}mechanism/softmax.html")
    page.goto(f"{served}examples/cat-sat.html")
    explorer = page.locator("mha-explorer")
    explorer.scroll_into_view_if_needed()
    explorer.locator(".strip").wait_for()
    before = explorer.inner_text()
    field = explorer.locator("input[type=number], input[type=text]").first
    field.scroll_into_view_if_needed()
    field.fill("3")
    field.press("Enter")
    expect(explorer).not_to_have_text(before, use_inner_text=True)
    assert wrong == []
    page.close()
