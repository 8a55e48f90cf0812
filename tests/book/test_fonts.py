"""The book's vendored typefaces: what they are, and that they have what the pages show."""

import hashlib
import re
from functools import cache

import pytest
from book_site import ROOT, soup, toc_pages
from fontTools.ttLib import TTFont

STATIC = ROOT / "book" / "_static"
FONTS = STATIC / "fonts"

# The lowered digits of the tables' column heads, which become mathematics, and letters of names
# and signs in quoted code: whatever font the reader's system has.
FROM_THE_SYSTEM = set("₀₁₂₃₄₅₆₇₈₉Łł★▶►")


@cache
def characters(file):
    return set(TTFont(file).getBestCmap())  # reading it needs brotli


def test_readme_names_each_font_with_its_hash_and_licence():
    readme = (FONTS / "README.md").read_text(encoding="utf-8")
    files = sorted(FONTS.glob("*.woff2"))
    assert len(files) == 4
    for file in files:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        assert re.search(rf"^ +{digest}  {re.escape(file.name)}$", readme, re.MULTILINE)
        version = re.search(r"Version ([\d.]+)", TTFont(file)["name"].getDebugName(5))[1]
        row = next(line for line in readme.splitlines() if line.startswith(f"| `{file.name}`"))
        assert version in row
    for licence in FONTS.glob("OFL-*.txt"):
        assert "SIL OPEN FONT LICENSE" in licence.read_text(encoding="utf-8").upper()
    assert len(list(FONTS.glob("OFL-*.txt"))) == 3


def test_all_four_weigh_less_than_the_icon_font_that_they_replace():
    assert sum(file.stat().st_size for file in FONTS.glob("*.woff2")) < 150_000


def test_the_style_sheet_declares_just_these_files():
    style = (STATIC / "fonts.css").read_text(encoding="utf-8")
    assert set(re.findall(r'url\("fonts/([^"]+)"\)', style)) == {
        file.name for file in FONTS.glob("*.woff2")
    }
    assert style.count("font-display: swap") == 4
    for stack in re.findall(r"--font-\w+: ([^;]+);", style):
        assert stack.split(", ")[1] == '"STIX Two Math Book"'  # the signs that the first lacks


@pytest.mark.book
@pytest.mark.parametrize("name", toc_pages())
def test_a_page_shows_no_character_that_no_vendored_font_has(name):
    shown = set(soup(name).find("article").get_text()) - set("\n\t\r")
    formulas = STATIC / "math" / "STIXTwoMath-book.woff2"
    there = characters(formulas) | set.intersection(
        *(characters(file) for file in FONTS.glob("*.woff2"))
    )
    assert {char for char in shown if ord(char) not in there} <= FROM_THE_SYSTEM
