"""The book's address stands in one place; `test_content_policy.py` opens pages below another."""

import re
import shutil
import tomllib
from types import SimpleNamespace
from xml.etree import ElementTree

import book_site as site
import pytest
import yaml
from bs4 import BeautifulSoup
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
