"""The built pages as files: complete, self-contained, and showing what `mha` computes."""

import re
from collections import Counter
from copy import copy
from functools import cache
from urllib.parse import unquote, urlparse

import book_site as site
import pytest
from helpers import STAGES

from mha import example_names, load_example, shown, tables, trace

pytestmark = pytest.mark.book

PAGES = site.toc_pages()
WORKED = [name for name in example_names() if f"examples/{name}" in PAGES]
CHAPTERS = [name for name in PAGES if name.startswith(("mechanism/", "transformer/"))]
CHAPTERS += [f"examples/{name}" for name in WORKED]
LOADING = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}


@pytest.mark.parametrize("name", [*PAGES, "search"])
def test_nothing_is_loaded_from_another_origin(name):
    for element in site.soup(name).find_all(list(LOADING)):
        address = element.get(LOADING[element.name], "")
        assert not urlparse(address).scheme, element
        assert not address.startswith("//"), element


def test_style_sheets_load_nothing_from_another_origin():
    sheets = list(site.SITE.rglob("*.css"))
    assert len(sheets) > 5
    for sheet in sheets:
        text = sheet.read_text(encoding="utf-8")
        for address in re.findall(r"(?:url\(|@import\s+)[\"']?([^\"')]+)", text):
            assert address.startswith("data:") or not urlparse(address).scheme, (sheet, address)


@pytest.mark.parametrize("name", PAGES)
def test_internal_links_lead_somewhere(name):
    page = site.path(name)
    links = [a["href"] for a in site.soup(name).find_all("a", href=True)]
    assert len(links) > 5
    broken = [link for link in links if not leads_somewhere(page, link)]
    assert broken == []


@pytest.mark.parametrize("kind", ["algorithm", "proposition"])
def test_boxes_are_numbered_by_chapter_and_an_algorithm_names_its_code(kind):
    boxes = [box for name in PAGES for box in site.soup(name).select(f".numbered-box.{kind}")]
    titles = [" ".join(box.select_one(".admonition-title").get_text().split()) for box in boxes]
    assert len(titles) > 6
    assert all(re.match(rf"{kind.capitalize()} \d+\.\d+ \w", title) for title in titles), titles
    if kind == "algorithm":
        links = [[a["href"] for a in box.select("a[href]")] for box in boxes]
        assert all(any("reference/" in link for link in each) for each in links)


def leads_somewhere(page, link):
    """Tell whether a link of a page leads to a file, and to a place in it; others are not asked."""
    parts = urlparse(link)
    if parts.scheme:
        return True
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file() or not parts.fragment or target.suffix != ".html":
        return target.is_file()
    ids = re.findall(r'\bid="([^"]+)"', target.read_text(encoding="utf-8"))
    # A state such as #pencil=sources&at=… leads to the element pencil-sources.
    return re.sub(r"^([a-z]+)=([a-z0-9-]+).*$", r"\1-\2", unquote(parts.fragment)) in ids


@pytest.mark.parametrize("name", PAGES)
def test_no_leaked_repr_raw_tex_or_unresolved_reference(name):
    article = copy(site.soup(name).find("article"))
    for code in article.find_all(["pre", "code", "annotation"]):
        code.decompose()
    text = article.get_text()
    for leak in (
        r"0x[0-9a-f]{6}",
        r"<mha\.",
        r"<IPython",
        r"\\(frac|mathrm|sqrt)",
        r"\?\?",
        r"\{(eval|ref|numref|eq|cite:[pt]|given)\}",
        r"np\.float64",
        r"\\x[0-9a-f]{2}",
        r"\$[A-Za-z\\]",
    ):
        assert not re.search(leak, text), leak


@pytest.mark.parametrize("name", PAGES)
def test_no_link_stands_in_a_link(name):
    # A browser ends the outer one before the inner, and leaves a link without words.
    links = site.soup(name).find_all("a")
    assert links
    assert not [link for link in links if link.find("a")]


@pytest.mark.parametrize("name", PAGES)
def test_ids_are_unique(name):
    ids = Counter(element["id"] for element in site.soup(name).find_all(id=True))
    # sphinx-exercise gives every exercise's body the same id.
    repeated = {i for i, count in ids.items() if count > 1} - {
        "exercise-content",
        "solution-content",
    }
    assert not repeated


@pytest.mark.parametrize("name", site.notebooks())
def test_every_figure_says_what_is_to_be_seen(name):
    article = site.soup(name).find("article")
    assert len(article.select(".drawing")) == len(article.select(".drawing > svg"))
    for drawing in article.select(".drawing > svg"):
        assert drawing["role"] == "img"
        assert len(drawing["aria-label"].split()) >= 5
    for image in article.find_all("img"):
        assert image.get("alt", "").strip()
        assert "/" not in image["alt"]


@pytest.mark.parametrize("name", site.notebooks())
def test_captioned_figures_are_numbered(name):
    captions = site.soup(name).select("article figcaption")
    assert [c for c in captions if not c.select_one(".caption-number")] == []


@cache
def own_text(cell):
    """Return a cell's text without what a source prints beside it."""
    texts = (text for text in cell.strings if not text.find_parent(class_="printed"))
    return "".join(texts).strip()


def printed_rows():
    """Return every table row of the book, as its cells' text between bars."""
    return [
        "|".join(["", *(own_text(cell) for cell in row.find_all("td")), ""])
        for name in site.notebooks()
        for row in site.soup(name).select("article table tr")
    ]


@pytest.mark.parametrize("example", WORKED)
def test_every_intermediate_of_an_example_stands_in_a_table_as_the_package_computes_it(example):
    run = trace(load_example(example))
    printed = printed_rows()
    for stage in STAGES:
        if getattr(run, stage) is None:
            continue
        for head in range(run.num_heads):
            table = tables.stage_table(run, stage, head=head)
            for token, *numbers in table.rows:
                row = "|".join(["", *numbers, ""])
                assert any(row in line for line in printed), (table.caption, token, numbers)


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_exercises_quizzes_and_numbers_to_compute(name):
    page = site.soup(name)
    assert len(page.select("div.exercise")) >= 4
    assert len(page.select("mha-quiz")) >= 3
    assert page.select("mha-your-turn")
    for quiz in page.select("mha-quiz"):
        assert len(quiz.select("input")) >= 2


@pytest.mark.parametrize("example", WORKED)
def test_a_worked_example_has_an_explorer_and_steps(example):
    page = site.soup(f"examples/{example}")
    (explorer,) = page.select("mha-explorer")
    run = trace(load_example(example))
    cells = {cell.get_text(strip=True) for cell in explorer.select("td")}
    for stage in ("query", "key", "value", "scores", "weights", "head_outputs"):
        wanted = {shown(float(x)) for x in getattr(run, stage).flat}
        assert wanted <= cells | {shown(float(c), 4) for c in map(number, cells) if c is not None}
    assert page.select(".steps-start")


def number(text):
    """Return what a cell says as a number, or None."""
    try:
        return float(text.replace("−", "-"))
    except ValueError:
        return None


def without(name, hidden):
    """Return a page's text as a tree of its own, without what a selector names."""
    page = copy(site.soup(name).find("article"))
    for element in page.select(hidden):
        element.extract()
    return page


def test_heads_and_titles_are_set_as_what_they_say():
    for name in PAGES:
        heads = site.soup(name).find("article").select("thead th, caption, h1, h2, h3, h4")
        texts = [
            "".join(text for text in head.strings if not text.find_parent(["math", "code"]))
            for head in heads
            if not head.find_parent("mha-explorer")
        ]
        # A raw underscore, and a difference that may break.
        assert [t for t in texts if re.search(r"\w_\w|\w \N{MINUS SIGN} \w", t)] == [], name


def test_each_column_of_a_table_has_a_name_of_its_own():
    for name in PAGES:
        for table in site.soup(name).select("article table.numbers:not(.stage-part *)"):
            names = [" ".join(head.get_text().split()) for head in table.select("thead th")]
            assert [n for n in set(names) if n and names.count(n) > 1] == [], name


def test_the_number_of_an_equation_stands_in_one_pair_of_brackets():
    for name in PAGES:
        twice = r"\(\([\d.]+\)\)"
        if re.search(twice, site.soup(name).find("article").get_text()):  # perhaps in code alone
            assert re.findall(twice, without(name, "pre, code, math").get_text()) == [], name


def test_a_solution_stands_right_below_its_exercise():
    for name in PAGES:
        for exercise in site.soup(name).select("div.exercise"):
            assert "solution" in exercise.find_next_sibling()["class"], name
