"""A reference says the number of what it leads to, as that has it itself."""

import re
from posixpath import dirname, join, normpath

import book_site as site
import pytest

pytestmark = pytest.mark.book

NUMBER = re.compile(r"\d+(?:\.\d+)*")


def test_a_reference_says_the_number_that_stands_where_it_leads():
    compared = 0
    for name in site.toc_pages():
        for said in site.soup(name).select("a.reference > .std-numref"):
            page, _, label = said.parent["href"].partition("#")
            there = normpath(join(dirname(name), page)).removesuffix(".html") if page else name
            goal = site.soup(there).find(id=label)
            own = goal.select_one(".caption-number, .section-number, .admonition-title")
            assert own is not None, (name, label)
            numbers = NUMBER.findall(own.get_text())
            assert NUMBER.findall(said.get_text())[-1] == numbers[0], (name, label)
            compared += 1
    assert compared > 100
