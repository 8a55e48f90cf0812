"""The built pages as files: complete, self-contained, and equal to the results of `mha`."""

import json
import re
import tomllib
import unicodedata
from collections import Counter
from functools import cache
from posixpath import dirname, join, normpath
from urllib.parse import unquote, urlparse

import book_site as site
import chains
import numpy as np
import pytest
import yaml
from fontTools.ttLib import TTFont
from helpers import parse_number
from page_texts import LEAKS, page_text
from runs_of_pages import run_of

import mha
from byhand.chapter.checked_blocks import torch_version
from byhand.site.assets import SCRIPTS
from byhand.site.policy import HEADERS, policy
from mha import example_names, load_example, tables, trace

pytestmark = pytest.mark.book

PAGES = site.toc_pages()
WORKED = [name for name in example_names() if f"examples/{name}" in PAGES]
CHAPTERS = [name for name in PAGES if name.startswith(("mechanism/", "transformer/"))]
CHAPTERS += [f"examples/{name}" for name in WORKED]
CONFIG = yaml.safe_load((site.ROOT / "_config.yml").read_text(encoding="utf-8"))
BASE_URL = CONFIG["html"]["baseurl"]
# The stages of a trace that the pages show, in order of the computation.
STAGES = (
    *("embeddings", "query", "key", "value", "scores", "scaled_scores", "exponentials"),
    *("weights", "head_outputs", "concat", "output"),
)
NUMBER = re.compile(r"\d+(?:\.\d+)*")


def test_nothing_beside_the_pages_claims_an_address_and_hosts_are_told_the_policy():
    written = (site.SITE / "_headers").read_text(encoding="utf-8")
    assert written == HEADERS.format(policy=policy())
    for name in ("sitemap.xml", "_static/card.png"):
        assert (site.SITE / name).exists() == bool(BASE_URL)
    files = (path.relative_to(site.SITE).as_posix() for path in site.SITE.rglob("*.html"))
    built = {name.removesuffix(".html") for name in files if not name.startswith("_static/")}
    assert built == {*PAGES, "search", "notices"}


ITALICS = (*range(0x1D434, 0x1D468), *range(0x1D6E2, 0x1D71C))
OF_MARKUP = (r"\{[a-z:]+\}", r"\\x[0-9a-f]{2}", r"\$[A-Za-z\\]", r"np\.float64")


@pytest.mark.parametrize("name", [*PAGES, "search", "notices"])
def test_a_page_is_complete(name):
    """Check everything that one parse of a page can show."""
    page, found = site.path(name), site.soup(name)
    states_its_policy_and_no_address(page, found)
    its_own_scripts_come_in_their_order_and_are_waited_for_by_nothing(found)
    links = found.find_all("a")
    addresses = [link["href"] for link in links if link.has_attr("href")]
    assert len(addresses) > 5
    assert [address for address in addresses if not leads_somewhere(page, address)] == []
    # A browser ends the outer one before the inner, and leaves a link without words.
    assert not [link for link in links if link.find("a")]
    ids = Counter(element["id"] for element in found.find_all(id=True))
    # sphinx-exercise gives every exercise's body the same id.
    allowed = {"exercise-content", "solution-content"}
    assert {i for i, count in ids.items() if count > 1} <= allowed
    article = found.find("article")
    text = "".join(
        text for text in article.strings if not text.find_parent(["pre", "code", "annotation"])
    )
    assert [leak for leak in (*LEAKS, *OF_MARKUP) if re.search(leak, text)] == []
    assert [c for c in article.select("figcaption") if not c.select_one(".caption-number")] == []
    drawings = article.select(".drawing > svg")
    assert len(article.select(".drawing")) == len(drawings)
    for drawing in drawings:
        assert drawing["role"] == "img"
        assert len(drawing["aria-label"].split()) >= 5
    for image in article.find_all("img"):
        assert image.get("alt", "").strip()
        assert "/" not in image["alt"]
    heads_and_numbers_are_set_as_what_they_say(article)
    assert not ({*map(ord, article.get_text())} | italics(article)) - drawn_by_every_page()
    for exercise in article.select("div.exercise"):  # with its solution right below
        assert "solution" in exercise.find_next_sibling()["class"]
        seen, heard = exercise.select_one(".difficulty").children
        assert seen["aria-hidden"] == "true"
        assert heard.get_text() == f"difficulty {seen.get_text().count('•')} of 3"
    formulas_have_names_and_stay_with_the_mark_behind_them(article)


def formulas_have_names_and_stay_with_the_mark_behind_them(article):
    for equation in article.select("div.math"):
        (box,) = equation.select(".math-scroll:has(> math[display=block])")
        number = equation.select_one(".eqno")
        name = number.get_text().strip("()#") if number else ""
        assert box["aria-label"] == f"Equation {name}".strip()
        assert (box["role"], box["tabindex"]) == ("group", "0")  # keys can scroll it
        assert number is None or number.select_one("a.headerlink")["href"] == f"#{equation['id']}"
    for long in article.select("span.math-wide"):
        if re.match(r"[.,;:)?]", str(long.next_sibling)):
            assert "math-held" in long.parent["class"]


def its_own_scripts_come_in_their_order_and_are_waited_for_by_nothing(found):
    scripts = found.select("script[src]")
    names = [script["src"].rpartition("/")[2].partition("?")[0] for script in scripts]
    own = [(SCRIPTS.index(n), s) for n, s in zip(names, scripts, strict=True) if n in SCRIPTS]
    assert [place for place, _ in own] == sorted(place for place, _ in own)
    assert all(script.has_attr("defer") for _, script in own)
    # A page that is opened as a file may not load modules.
    assert not [script for script in scripts if script.get("type") == "module"]


def states_its_policy_and_no_address(page, found):
    text = page.read_text(encoding="utf-8")
    policies = found.select('head > meta[http-equiv="Content-Security-Policy"]')
    assert [meta["content"] for meta in policies] == [policy()]
    first = min(text.index(tag) for tag in ("<script", "<link", "<style", "<title"))
    assert text.index("Content-Security-Policy") < first  # before anything runs
    if not BASE_URL:
        claimed = "link[rel=canonical], meta[property='og:url'], meta[property='og:image']"
        assert found.head.select(claimed) == []
    foot = text.rpartition("extra_footer")[2]
    assert re.search(r'href="[^"]*(?:notices\.html|#)">Notices</a>', foot)


@cache
def drawn_by_every_page():
    """Return the characters that a page shows without a special font."""
    texts = [{*TTFont(file).getBestCmap()} for file in (site.STATIC / "fonts").glob("*.woff2")]
    formulas = TTFont(site.STATIC / "math" / "STIXTwoMath-book.woff2").getBestCmap()
    return {*set.intersection(*texts), *formulas, *map(ord, "\n\t\r")}


def italics(article):
    """Return the italic characters that a browser shows for single letters in formulas."""
    alone = {letter.get_text() for letter in article.select("mi:not([mathvariant=normal])")}
    return {code for code in ITALICS if unicodedata.normalize("NFKD", chr(code)) in alone}


def heads_and_numbers_are_set_as_what_they_say(article):
    heads = article.select("thead th, caption, h1, h2, h3, h4")
    texts = [
        "".join(text for text in head.strings if not text.find_parent(["math", "code"]))
        for head in heads
        if not head.find_parent("mha-explorer")
    ]
    # A raw underscore, and a difference that may break.
    assert [t for t in texts if re.search(r"\w_\w|\w \N{MINUS SIGN} \w", t)] == []
    for table in article.select("table.numbers:not(.stage-part *)"):
        names = [" ".join(head.get_text().split()) for head in table.select("thead th")]
        assert [n for n in set(names) if n and names.count(n) > 1] == []
    numbers = [number.get_text() for number in article.select(".eqno, a[href*='equation-']")]
    assert [number for number in numbers if re.search(r"\(\([\d.]+\)\)", number)] == []


@pytest.mark.parametrize("kind", ["algorithm", "proposition"])
def test_boxes_are_numbered_by_chapter_and_an_algorithm_names_its_code(kind):
    boxes = [box for name in PAGES for box in site.soup(name).select(f".numbered-box.{kind}")]
    titles = [" ".join(box.select_one(".admonition-title").get_text().split()) for box in boxes]
    assert len(titles) > 6
    assert all(re.match(rf"{kind.capitalize()} \d+\.\d+ \w", title) for title in titles), titles
    if kind == "algorithm":
        links = [[a["href"] for a in box.select("a[href]")] for box in boxes]
        assert all(any("reference/" in link for link in each) for each in links)


def test_a_reference_says_the_number_that_stands_where_it_leads():
    compared = 0
    for name in PAGES:
        for said in site.soup(name).select("a.reference > .std-numref"):
            target, _, label = said.parent["href"].partition("#")
            there = normpath(join(dirname(name), target)).removesuffix(".html") if target else name
            goal = site.soup(there).find(id=label)
            own = goal.select_one(".caption-number, .section-number, .admonition-title").get_text()
            assert NUMBER.findall(said.get_text())[-1] == NUMBER.findall(own)[0], (name, label)
            compared += 1
    assert compared > 100


def test_every_line_of_the_pages_holds_as_it_is_printed():
    read = [one for name in PAGES for one in chains.read(page_text(site.soup(name)))]
    wrong = "0.48 + 0.04 + 0.6 + 0.06 = 0.81"  # quoted, because a source prints it
    assert {one.text for one in read if one.faults()} == {wrong}
    signs = [sign for one in read for sign in one.relations]
    assert len(read) >= 250  # or the reader finds no lines any more
    assert min(signs.count("="), signs.count("≈")) >= 60


def leads_somewhere(page, link):
    """Return whether a link leads to an existing file and anchor. External links count as valid."""
    parts = urlparse(link)
    if parts.scheme:
        return True
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file() or not parts.fragment or target.suffix != ".html":
        return target.is_file()
    # A state such as #pencil=sources&at=… leads to the element pencil-sources.
    return re.sub(r"^([a-z]+)=([a-z0-9-]+).*$", r"\1-\2", unquote(parts.fragment)) in ids_of(target)


@cache
def ids_of(page):
    return {*re.findall(r'\bid="([^"]+)"', page.read_text(encoding="utf-8"))}


def own_text(cell):
    """Return a cell's text without the number of the source that is printed beside it."""
    texts = (text for text in cell.strings if not text.find_parent(class_="printed"))
    return "".join(texts).strip()


@cache
def tables_of_runs():
    """Return the numbers of all tables with a `data-at` attribute, by that attribute."""
    found = {}
    for name in site.notebooks():
        for table in site.soup(name).select("article table[data-at]"):
            rows = [[own_text(cell) for cell in row("td")] for row in table.select("tbody tr")]
            found.setdefault(table["data-at"], []).append(rows)
    return found


@pytest.mark.parametrize("example", WORKED)
def test_every_intermediate_of_an_example_stands_in_a_table_as_the_package_computes_it(example):
    run = trace(load_example(example))
    for stage in STAGES:
        if getattr(run, stage) is None or (stage == "concat" and run.num_heads == 1):
            continue  # of one head it is the output that stands there
        for head in range(run.num_heads):
            table = tables.stage_table(run, stage, head=head)
            wanted = [numbers for _, *numbers in table.rows]
            found = tables_of_runs().get(table.at, [])
            page = f"book/examples/{example}.md"
            assert found, f'{page}: no table shows {table.at}; show.stage("{stage}") is wanted'
            wrong = [rows for rows in found if rows != wanted]
            assert wrong == [], f"{page}: a table shows {table.at} as {wrong}; {wanted} is wanted"


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_exercises_quizzes_and_numbers_to_compute(name):
    page = site.soup(name)
    for selector, what, least in (
        ("div.exercise", "exercises", 4),
        ("mha-quiz", "quizzes", 3),
        ("mha-your-turn", "boxes that ask for a number", 1),
    ):
        count = len(page.select(selector))
        assert count >= least, f"book/{name}.md: {count} {what}; at least {least} are wanted"
    for quiz in page.select("mha-quiz"):
        assert len(quiz.select(".quiz-feedback")) == len(quiz.select("input")) >= 2
        assert "::" not in quiz.get_text()
        if quiz.has_attr("data-predict"):
            fold = quiz.find_next_sibling()  # of the blocks that follow
            assert (fold.name, fold["id"]) == ("details", f"{quiz['id']}-revealed")
            assert len(fold.find_all(True, recursive=False)) > 1
    if name.startswith("examples/"):
        rows = len(page.select("mha-explorer table"))
        wanted = "an explorer, show.explorer(...), is wanted"
        assert rows > 8, f"book/{name}.md: explorers with {rows} tables; {wanted}"
        assert page.select(".steps-start"), f"book/{name}.md: {{read-in-steps}} is wanted"
    else:
        text = site.source(name)
        assert text.count("\n## In PyTorch\n") == text.count("\n```{pytorch}\n") == 1
        assert page.get_text().count(f"Run with PyTorch {torch_version()}, on a CPU.") == 1
        named = re.findall(r"version \{given\}`([\d.]+)` of PyTorch", text)
        assert set(named) <= {torch_version()}


def test_the_page_for_teachers_has_every_exercise_and_the_minutes_of_each_chapter():
    table = site.soup("teaching").find(id="exercise-times").find_next("table")
    listed = [link["href"].partition("#")[2] for link in table.select("a[href*='#ex-']")]
    labels = re.compile(r"^`{3,}\{exercise(?:-start)?\}\n:label: (ex-\S+)$", re.MULTILINE)
    assert sorted(listed) == sorted(x for name in PAGES for x in labels.findall(site.source(name)))
    for row in table.select("tbody tr"):
        told = site.soup(row.a["href"].partition(".html")[0]).select_one(".aims-minutes")
        if told is not None:
            minutes = row.select("td")[-1].get_text(strip=True)
            assert told.get_text().endswith(f"and {minutes} for the exercises")


def test_the_tables_inside_an_explorer_have_the_numbers_of_its_run():
    compared = 0
    for element in (one for name in PAGES for one in site.soup(name).select("mha-explorer")):
        data = json.loads(element.script.string)
        said = [cell.get_text() for cell in element.table("td")]
        if "inputs" not in data:
            continue  # of a width alone: its columns are in tests/widgets
        run = run_of(data)
        row, keys = run.example.focus or 0, run.score_factors[1][0]
        steps = (run.scores, run.scaled_scores, run.exponentials, run.weights)
        parts = run.weights[0, row] * run.value[0, :, 0]
        wanted = np.column_stack([keys, *(step[0, row] for step in steps), run.value[0], parts])
        found = [parse_number(text) for text in re.findall(r"[\d.∞−]+", " ".join(said))]
        np.testing.assert_allclose(found, wanted.ravel(), rtol=0, atol=0.5e-4 + 1e-12)
        compared += 1
    assert compared >= 12


def test_the_citation_agrees_with_the_project_and_with_the_address():
    citation = yaml.safe_load((site.ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == mha.__version__
    assert citation["title"].startswith(CONFIG["title"])
    assert [author["name"] for author in citation["authors"]] == [CONFIG["author"]]
    assert citation.get("url", "") == BASE_URL
    project = tomllib.loads((site.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project.get("urls", {}).get("Homepage", "") == BASE_URL
