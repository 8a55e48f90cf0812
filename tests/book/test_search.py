"""What the search knows of the pages: their sections, and which of them stand first."""

import json
import tomllib

import pytest
from book_site import SITE, toc_pages

from byhand.search import RANKING, factor_of
from byhand.search.sections import read_sections


@pytest.mark.book
def test_every_page_is_known_and_every_section_that_the_ranking_names():
    text = (SITE / "_static" / "search-index.js").read_text(encoding="utf-8")
    index = json.loads(text.partition("=")[2].rstrip(";\n"))
    ranking = tomllib.loads(RANKING.read_text(encoding="utf-8"))
    pages = [address.removesuffix(".html") for address, *_ in index["pages"]]
    assert pages == toc_pages()
    sections = {f"{pages[page]}#{anchor}".rstrip("#") for page, anchor, *_ in index["sections"]}
    assert set(ranking["asked"]) <= sections
    factors = [factor_of(page, ranking["pages"]) for page in ("sources/", "examples/", "mech/")]
    assert factors == sorted(set(factors))  # what teaches stands before the audit
    assert not (SITE / "searchindex.js").exists()  # Sphinx's own


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a</p><p>b<em>c</em></p>", "a bc"),
        ("<table class='numbers table'><caption>Of words</caption><td>1</td></table>", "Of words"),
        ("<table class='numbers words'><tr><td>a</td><td>b</td></tr></table>", "a b"),
        ("<figure><svg><text>x</text></svg><figcaption>a line</figcaption></figure>", "a line"),
        ("<math><msubsup><mi>W</mi><mi>h</mi><mi>O</mi></msubsup></math>", "W_h^O"),
        ("<p>More, and <code>code</code> in it.</p><pre>hidden = 1</pre>", "More, and code in it."),
    ],
)
def test_the_words_that_are_found_of_a_section(html, text):
    sections = read_sections(f"<section id='s'><h2>H</h2>{html}</section>after")
    assert [(s.heading, s.text) for s in sections] == [("H", text)]
