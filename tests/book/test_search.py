"""What the book writes for its search: the index by section, the library, the page."""

import json
import re
import tomllib

import pytest
from book_site import ROOT
from bs4 import BeautifulSoup
from one_book import build

from byhand.search import RANKING, factor_of
from byhand.search.sections import read_sections

PAGES = {
    "index": "# A book\n\nIt begins.\n\n```{toctree}\nsecond\nfirst\n```\n",
    "first": """\
# One

Words with $d_k$ and $\\sqrt{2}$.

## Within

More words, and `code` in them.

```python
hidden = 1
```

| sign | meaning |
| --- | --- |
| q | the question |

$$
hidden + \\frac{a}{b}
$$

""",
    "second": "# Two\n\nOther words.\n",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Build a book of three pages, with the theme whose search is replaced."""
    folder = tmp_path_factory.mktemp("search")
    assert make(folder) == ""
    return folder / "html"


def make(folder):
    return build(
        folder,
        PAGES,
        extensions=["myst_nb", "byhand.mathematics.page", "byhand.search", "sphinx_book_theme"],
        html_theme="sphinx_book_theme",
        html_math_renderer="temml",
        html_static_path=[str(ROOT / "book" / "_static")],
        templates_path=[str(ROOT / "book" / "_templates")],
    )


def read_index(book):
    text = (book / "_static" / "search-index.js").read_text(encoding="utf-8")
    found = re.fullmatch(r"window\.mhaSearchIndex=(.*);\n", text, re.DOTALL)
    return json.loads(found[1])


def soup(book, name):
    return BeautifulSoup((book / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


def test_the_index_has_every_section_in_the_order_of_the_contents(book):
    index = read_index(book)
    assert [page[:2] for page in index["pages"]] == [
        ["index.html", "A book"],
        ["second.html", "Two"],
        ["first.html", "One"],
    ]
    assert [section[:3] for section in index["sections"]] == [
        [0, "", "A book"],
        [1, "", "Two"],
        [2, "", "One"],
        [2, "within", "Within"],
    ]
    assert {len(section) for section in index["sections"]} == {6}


def test_a_section_is_its_words_without_code_and_long_formulas(book):
    texts = {section[2]: section[3] for section in read_index(book)["sections"]}
    assert texts["One"] == "Words with d_k and √2."
    assert texts["Within"] == "More words, and code in them. sign meaning q the question"
    assert "hidden" not in json.dumps(texts)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a</p><p>b</p>", "a b"),
        ("a<em>b</em>c", "abc"),
        ("<p>a<p>b", "a b"),
        ("a<br>b<hr/>c", "a b c"),
        ("<table class='numbers table'><caption>Of words</caption><td>1</td></table>", "Of words"),
        ("<table class='numbers words'><tr><td>a</td><td>b</td></tr></table>", "a b"),
        ("<table class='heat'><tr><td>cat</td></tr></table>", ""),
        ("<a-widget><caption>x</caption>y</a-widget>z", "z"),
        ("<figure><svg><text>x</text></svg><figcaption>a line</figcaption></figure>", "a line"),
        ("<math><msubsup><mi>W</mi><mi>h</mi><mi>O</mi></msubsup></math>", "W_h^O"),
        ("<math><mfrac><mn>1</mn><mi>n</mi></mfrac><mo>\u2062</mo><mi>𝐱</mi></math>", "1/nx"),
        ("<math><mi>abcdefghijklmnopqrstuvwxyz</mi></math>", ""),
        ("<section id='box'><p>b</p></section>c", "b c"),
    ],
)
def test_the_words_of_a_piece(html, text):
    sections = read_sections(f"<section id='s'><h2>H</h2>{html}</section>after")
    assert [(s.heading, s.text) for s in sections] == [("H", text)]


def test_no_page_loads_the_index_the_library_or_sphinx_own_search(book):
    for name in [*PAGES, "search"]:
        loaded = " ".join(script.get("src", "") for script in soup(book, name).find_all("script"))
        assert "search.js" in loaded
        for file in ("searchindex", "searchtools", "language_data", "search-index", "minisearch"):
            assert file not in loaded, (name, file)
    assert not (book / "searchindex.js").exists()


def test_every_page_has_one_dialog_and_a_button_that_opens_it(book):
    for name in [*PAGES, "search"]:
        page = soup(book, name)
        assert len(page.select("dialog#search-dialog")) == 1
        assert page.select("button.search-open")
        assert page.select("#pst-search-dialog, form.bd-search, .search-button__button") == []


def test_without_scripts_a_link_leads_to_the_chapters(book):
    link = soup(book, "first").select_one("noscript a.search-contents")
    assert link["href"] == "search.html"
    chapters = soup(book, "search").select("article li a")
    assert [(a["href"], a.get_text()) for a in chapters] == [
        ("index.html", "A book"),
        ("second.html", "Two"),
        ("first.html", "One"),
    ]


def test_the_same_book_gives_the_same_bytes(book, tmp_path):
    make(tmp_path)
    for name in ("search-index.js", "minisearch.js"):
        again = (tmp_path / "html" / "_static" / name).read_bytes()
        assert again == (book / "_static" / name).read_bytes()


def test_the_ranking_names_what_the_book_has():
    ranking = tomllib.loads(RANKING.read_text(encoding="utf-8"))
    names = [str(p.relative_to(ROOT / "book"))[:-3] for p in (ROOT / "book").rglob("*.md")]
    for start in ranking["pages"]:
        assert any(name.startswith(start) for name in names), start
    headings = {
        line.lstrip("# ")
        for name in names
        for line in (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("#")
    }
    for start in ranking["headings"]:
        assert any(heading.startswith(start) for heading in headings), start
    audit = factor_of("sources/what-the-sources-print", ranking["pages"])
    assert audit < factor_of("examples/apple", ranking["pages"])
    assert factor_of("examples/apple", ranking["pages"]) < factor_of("mechanism/softmax", {})
