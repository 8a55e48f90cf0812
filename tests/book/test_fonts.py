"""The book's vendored typefaces: what they are, and that they have what the pages show."""

import re
from functools import cache

import pytest
from book_site import ROOT, soup, toc_pages
from fontTools.ttLib import TTFont

STATIC = ROOT / "book" / "_static"
FONTS = STATIC / "fonts"
MATH = STATIC / "math"


@cache
def characters(file):
    return set(TTFont(file).getBestCmap())  # reading it needs brotli


def code_points(text):
    """Yield the numbers of ranges such as "20-7E, A0"; a line after # is a comment."""
    for first, last in re.findall(r"([0-9A-F]+)(?:-([0-9A-F]+))?", re.sub("#.*", "", text)):
        yield from range(int(first, 16), int(last or first, 16) + 1)


def test_typefaces_have_the_characters_of_their_list():
    listed = set(code_points((FONTS / "book.unicodes.txt").read_text("utf-8")))
    text = characters(FONTS / "stix-two-text.woff2")
    assert text <= listed
    assert {*range(0x20, 0x7F), *range(0xA0, 0x100)} <= text


@pytest.mark.book
@pytest.mark.parametrize("name", toc_pages())
def test_a_page_shows_no_character_that_no_font_of_every_page_has(name):
    shown = set(soup(name).find("article").get_text()) - set("\n\t\r")
    there = characters(MATH / "STIXTwoMath-book.woff2") | set.intersection(
        *(characters(file) for file in FONTS.glob("*.woff2"))
    )
    assert {char for char in shown if ord(char) not in there} == set()
