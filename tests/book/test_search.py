"""The search index: its sections, their names and texts, and their ranking factors."""

import re
import tomllib

import pytest
from book_site import SITE, toc_pages
from lxml import html as markup

from byhand.search import RANKING, Page, factor_of, index_of
from byhand.search.formulas import in_one_line
from byhand.search.sections import read_names, read_sections
from mha.widgets.data_scripts import read_data

# Signs of TeX and Markdown, which no page shows, and of MyST and exponents in plain text, which
# docstrings may have: `{head}`, `**options`.
SOURCE = re.compile(r"\\[A-Za-z\\{]|[$`]")
NOT_IN_CHAPTERS = re.compile(r"\^|\{[a-z][\w:-]*\}|:::|\]\(|\*\*\S")


@pytest.fixture(scope="module")
def index():
    text = (SITE / "_static" / "search-index.js").read_text(encoding="utf-8")
    return read_data(text)


@pytest.mark.book
def test_the_index_has_every_page_and_every_section_that_the_ranking_names(index):
    ranking = tomllib.loads(RANKING.read_text(encoding="utf-8"))
    pages = [address.removesuffix(".html") for address, *_ in index["pages"]]
    assert pages == toc_pages()
    names = {
        f"{pages[page]}#{anchor}".rstrip("#"): found
        for page, anchor, *_, found in index["sections"]
    }
    assert [s for s, words in ranking["asked"].items() if words not in names.get(s, "")] == []
    factors = [factor_of(page, ranking["pages"]) for page in ("sources/", "examples/", "mech/")]
    assert factors == sorted(set(factors))  # chapters before examples, and both before the audit
    assert not (SITE / "searchindex.js").exists()  # Sphinx's own


@pytest.mark.book
def test_no_entry_of_the_index_has_tex_or_markdown_in_it(index):
    texts = [(address, title) for address, title, *_ in index["pages"]]
    for page, _, heading, body, *_ in index["sections"]:
        texts += [(index["pages"][page][0], text) for text in (heading, body)]
    found = []
    for address, text in texts:
        patterns = [SOURCE] if address.startswith("reference/") else [SOURCE, NOT_IN_CHAPTERS]
        for match in (match for pattern in patterns for match in pattern.finditer(text)):
            found.append((address, text[max(0, match.start() - 40) :][:90]))
    assert found == []
    assert any("W⁽O⁾" in text for _, text in texts)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>a</p><p>b<em>c</em></p>", "a bc"),
        ("<table class='numbers table'><caption>Of words</caption><td>1</td></table>", "Of words"),
        ("<table class='numbers words'><tr><td>a</td><td>b</td></tr></table>", "a; b"),
        ("<ul><li>a</li><li>b.</li><li>c</li></ul><p>d</p>", "a; b. c; d"),
        ("<p>so:</p><div><span class='eqno'>(5.1)</span></div><p>By (5.1)</p>", "so: By (5.1)"),
        ("<figure><svg><text>x</text></svg><figcaption>a line</figcaption></figure>", "a line"),
        ("<math><msubsup><mi>W</mi><mi>h</mi><mi>O</mi></msubsup></math>", "W₍h₎⁽O⁾"),
        ("<p>e<sup>−1</sup> and q<sub>1</sub></p>", "e⁽−1⁾ and q₍1₎"),
        ("<p>so <math display='block'><mi>x</mi></math></p>", "so"),
        ("<p>More, and <code>code</code> in it.</p><pre>hidden = 1</pre>", "More, and code in it."),
    ],
)
def test_the_text_of_a_section(html, text):
    sections = read_sections(f"<section id='s'><h2>H</h2>{html}</section>after")
    assert [(s.heading, s.text) for s in sections] == [("H", text)]


def sub(base, index):
    return f"<msub><mi>{base}</mi><mi>{index}</mi></msub>"


LOG = "<mrow><mi>log</mi><mo>\u2061</mo></mrow>"
ROOT = f"<msqrt>{sub('d', 'k')}</msqrt>"
SUM = "<mi>a</mi><mo>+</mo><mi>b</mi>"


@pytest.mark.parametrize(
    ("mathml", "text"),
    [
        (f"<mn>1</mn><mi>/</mi>{ROOT}", "1/√d₍k₎"),
        (f"<mfrac><mn>1</mn>{ROOT}</mfrac>", "1/√d₍k₎"),
        (f"<mfrac><mrow>{SUM}</mrow><mn>2</mn></mfrac>", "(a + b)/2"),
        ("<mfrac><mn>1</mn><mrow><mn>2</mn><mi>d</mi></mrow></mfrac>", "1/(2d)"),
        (f"<mfrac><mn>1</mn><mn>2</mn></mfrac>{sub('x', '1')}", "(1/2)x₍1₎"),
        (f"<msqrt>{SUM}</msqrt>", "√(a + b)"),
        (f"<mn>2</mn>{LOG}<mi>x</mi>", "2 log x"),
        (f"{LOG}<mfrac><mn>4</mn><mn>5</mn></mfrac>", "log(4/5)"),
        ("<mi>a</mi><mo>=</mo><mo form='prefix'>−</mo><mi>b</mi>", "a = −b"),
        ("<mo>(</mo><mi>n</mi><mo>,</mo><mi>m</mi><mo>)</mo>", "(n, m)"),
        (f"<msup><mi>e</mi><mrow>{sub('s', 'i')}<mo>−</mo><mi>b</mi></mrow></msup>", "e⁽s₍i₎−b⁾"),
        ("<msup><mi>f</mi><mo>′</mo></msup>", "f′"),
        ("<mover><mi>s</mi><mo>¯</mo></mover>", "s\u0304"),
        ("<mi>x</mi><mo>+</mo>" * 20, "…"),
    ],
)
def test_the_line_of_a_formula(mathml, text):
    assert in_one_line(markup.fragment_fromstring(f"<math>{mathml}</math>")) == text


def test_a_section_introduces_its_bold_words_and_the_symbols_of_its_table():
    page = """<section id='s'><h2>H</h2>
        <p>A list of numbers is an <strong>embedding</strong>.</p>
        <p><strong>Order.</strong> It counts.</p>
        <p><strong>YaRN</strong> slows pairs.</p>
        <p>This is <strong>one sentence that is set in bold</strong>.</p>
        <div class='admonition'><p>the <strong>Input:</strong></p></div>
        <table class='words'><tr><td>a <strong>cell</strong></td></tr></table>
        <table class='words symbols'><tbody><tr><td><math><msub><mi>d</mi><mi>k</mi></msub></math>,
        <math><mi>n</mi></math></td><td><code>d_k</code></td><td>a width</td></tr></tbody></table>
        </section>"""
    [section] = read_sections(page)
    assert section.terms == ("embedding", "YaRN", "d₍k₎", "n", "d_k")


def test_a_section_is_named_by_its_terms_their_spellings_and_the_tables_of_names():
    chapter = """<section id='c'><h1>C</h1><section id='s'><span id='label'></span><h2>S</h2>
        <p>This is the <strong>key-value cache</strong>.</p></section></section>"""
    names = """<section id='n'><h1>N</h1><table class='words names'><tbody><tr>
        <td><a href='part/c.html#label'>cache</a></td><td>KV store, k cache</td>
        <td><code>past_key_values</code></td></tr></tbody></table></section>"""
    assert read_names(names)[0].names == ("KV store", "k cache", "past_key_values")
    index = index_of({"part/c": Page("part/c.html", chapter), "n": Page("n.html", names)})
    of_section = {anchor: found for _, anchor, *_, found in index["sections"]}
    wanted = "key-value cache, kv cache, cache, KV store, k cache, past_key_values"
    assert of_section["s"] == wanted
