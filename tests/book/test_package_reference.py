"""The reference of the package: complete, equal to the docstrings, and linked with the chapters."""

import inspect
import re
from collections import Counter

import book_site as site
import pytest

from byhand.contents import read_contents
from byhand.reference import anchor_of, names_on
from byhand.reference.docstrings import read_entries, read_sections
from byhand.reference.names import public_names

NAMES = list(public_names())
PAGES = [page for part in read_contents().parts for pages in part.below.values() for page in pages]
CALLED = [name for name in NAMES if name.kind in ("function", "class")]


def test_every_public_name_is_explained_once():
    explained = Counter(name for page in PAGES for name in names_on(site.source(page)))
    assert explained == Counter(name.short for name in NAMES)
    assert len(NAMES) > 90


@pytest.mark.parametrize("name", CALLED, ids=lambda name: name.short)
def test_a_docstring_is_whole(name):
    """It describes each parameter and has an example; in `mha.core` also shapes and errors."""
    sections = read_sections(name.docstring)
    assert sections[""].strip()
    parameters = [p for p in inspect.signature(name.thing).parameters if p != "self"]
    if "Parameters" in sections:
        said = read_entries(sections["Parameters"], named=True)
        assert sorted(n.lstrip("*") for entry in said for n in entry.names) == sorted(parameters)
    else:
        assert len(parameters) <= 3
    if name.kind == "function":
        assert ">>>" in sections["Examples"]
    if ".core." in name.thing.__module__:
        if "array" in sections["Parameters"]:
            assert re.search(r"\bshape|broadcastable to|\baxis\b", sections["Parameters"])
        if name.kind == "function":
            assert sections["Raises"]
            assert sections["Returns"]


@pytest.mark.book
@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_how_each_of_its_names_is_called_and_its_parts(page):
    known = {name.short: name for name in NAMES}
    for short in names_on(site.source(page)):
        name = known[short]
        section = site.soup(page).find("section", id=anchor_of(name))
        assert section.find("h3").get_text().rstrip("#") == short
        lines = section.find_all("p", class_="api-where", recursive=False)
        is_moved = name.home not in ("mha", "mha.chapters") and "." not in short
        wanted = [f"from {name.home} import {short}"] * is_moved
        assert [line.get_text() for line in lines] == wanted
        parts = section.find_all("p", class_="rubric", recursive=False)
        wanted = {heading for heading in read_sections(name.docstring) if heading}
        assert {part.get_text().replace("From", "References") for part in parts} == wanted
        if name in CALLED:
            assert section.select("details.code-fold pre")
            called = section.select_one(".api-signature").get_text()
            assert all(
                parameter in called for parameter in inspect.signature(name.thing).parameters
            )


@pytest.mark.book
def test_chapters_lead_to_the_reference_it_leads_back_and_lists_every_name():
    known = {name.short: name for name in NAMES}
    for page, name in [
        ("multi-head-attention", "split_heads"),  # a name in the text
        ("softmax", "softmax"),  # code that the page shows
    ]:
        links = site.soup(f"mechanism/{page}").select("article a.api-link")
        targets = {link["href"].partition("#")[2] for link in links}
        assert anchor_of(known[name]) in targets
    entry = site.soup("reference/attention").find(id=anchor_of(known["softmax"]))
    back = [link["href"] for link in entry.select(".api-used a")]
    assert "../mechanism/softmax.html" in back
    overview = site.soup("reference/package")
    rows = overview.select(".names-of-the-package tr td:first-child a")
    listed = [re.sub(r"\s", "", row.get_text()) for row in rows]
    assert sorted(listed) == sorted(name.short for name in NAMES)
    assert not overview.select(".only-on-paper")
