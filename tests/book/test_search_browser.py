"""The search in Chromium, on the built pages, opened as files."""

import tomllib
from functools import cache
from pathlib import Path

import pytest
from accessible import violations
from book_site import advance_clock, path, soup, toc_pages, until

from byhand.search.sections import read_sections
from byhand.terms import load

pytestmark = [pytest.mark.book, pytest.mark.browser]

START = "mechanism/self-attention"
QUESTIONS = tomllib.loads(Path(__file__).with_name("search_questions.toml").read_text("utf-8"))
# The smallest shares of questions with a right section first, and among the first three. Ranking
# was adjusted without the second part of the table.
SHARES = {"tuned": (0.87, 0.95), "held_out": (0.72, 0.87)}
# Each of these finds a right section first, whatever the shares are.
ALWAYS_FIRST = (
    "difference between query, key and value",
    "what is a token",
    "what is the residual stream",
    "why multiple heads instead of one big head",
    "attention vs RNN or convolution",
)
ON_OPENING = ["search-engine.js", "search-index.js"]
FOUND = """(questions) => {
  const input = document.querySelector(".search-input");
  return questions.map((question) => {
    input.value = question;
    input.dispatchEvent(new Event("input"));
    const links = [...document.querySelectorAll(".search-result")];
    return links.map((link) => link.getAttribute("href"));
  });
}"""


def loaded(page):
    """Return the requested files of the search, in the order of the requests."""
    names = [url.rpartition("/")[2].partition("?")[0] for url in page.requests]
    return [name for name in names if name in ON_OPENING]


def search(page, question):
    """Open the search, type a question, and return the headings of the results."""
    page.keyboard.press("Control+k")
    until(page, "!document.querySelector('.search-status').textContent.includes('loaded')")
    page.get_by_role("combobox", name="Search the book").fill(question)
    return page.locator(".search-result .search-heading").all_inner_texts()


def sections_found(page, questions):
    """Return the sections that each question finds, as page name and anchor."""
    found = page.evaluate(FOUND, list(questions))
    root = page.evaluate("document.documentElement.dataset.content_root")
    names = (
        [short(address.removeprefix(root).replace(".html", "")) for address in all_of]
        for all_of in found
    )
    return dict(zip(questions, names, strict=True))


def short(address):
    """Return an address without the folder of its page, except for the reference."""
    return address if address.startswith("reference/") else address.rpartition("/")[2]


@pytest.mark.parametrize("part", SHARES)
def test_most_questions_of_students_find_a_section_that_answers_them_first(opened, part):
    page = opened("notation")
    search(page, "")
    questions = QUESTIONS[part]
    assert len(questions) > 30
    found = sections_found(page, questions)
    missed = {q: found[q][:3] for q, right in questions.items() if found[q][0] not in right}
    lost = {q: three for q, three in missed.items() if not set(three) & set(questions[q])}
    first, three = (1 - len(some) / len(questions) for some in (missed, lost))
    assert first >= SHARES[part][0], missed
    assert three >= SHARES[part][1], lost


@pytest.mark.parametrize("question", ALWAYS_FIRST)
def test_a_definition_or_comparison_finds_first_a_section_that_answers_it(opened, question):
    page = opened("notation")
    search(page, "")
    found = sections_found(page, [question])[question]
    assert found[0] in QUESTIONS["tuned"][question], found[:3]


def test_a_term_of_the_printed_index_finds_a_section_that_introduces_it_among_the_first_three(
    opened,
):
    introducing = {}
    for name in set(toc_pages()) - {"notation"}:  # which has all symbols again
        for section in read_sections(path(name).read_text(encoding="utf-8")):
            place = short(f"{name}#{section.anchor}".rstrip("#"))
            for term in section.terms:
                introducing.setdefault(term.lower(), set()).add(place)
    right = {
        f"what is {spelling}": set().union(*(introducing.get(s, ()) for s in term.spellings))
        for term in load()[0]
        for spelling in term.spellings
    }
    right = {question: places for question, places in right.items() if places}
    assert len(right) > 100
    page = opened("notation")
    search(page, "")
    found = sections_found(page, right)
    assert {q: found[q][:3] for q, places in right.items() if not places & {*found[q][:3]}} == {}
    first = sum(found[q][0] in places for q, places in right.items())
    assert first / len(right) > 0.9


def test_a_name_of_the_tables_finds_first_the_section_that_its_row_links_to(opened):
    page = opened("notation")
    search(page, "")
    rows = soup("notation").select("#tbl-names tbody tr, #tbl-names-pytorch tbody tr")
    assert len(rows) > 30
    wrong = {}
    for row in rows:
        link = row.find("a")
        chapter, label = link["href"].split(".html#")
        anchor = soup(chapter).select_one(f"section#{label}, section:has(> span#{label})")["id"]
        place, said = f"{chapter.rpartition('/')[2]}#{anchor}", words_of(chapter)[anchor]
        cells = [cell.get_text().split(",") for cell in row.find_all("td") if not cell.find("a")]
        names = [name.strip() for cell in cells for name in cell if name.strip()]
        for name, places in sections_found(page, names).items():
            if places[0] != place or name not in said:
                wrong[name] = place, places[0], name in said
    assert not wrong


@cache
def words_of(chapter):
    """Return the indexed words of each section of a page."""
    sections = read_sections(path(chapter).read_text(encoding="utf-8"))
    return {section.anchor: section.text for section in sections}


def test_the_search_loads_its_files_when_it_is_opened_and_says_nothing_in_the_console(opened):
    page = opened(START)
    before = list(page.said)
    advance_clock(page, 200)
    assert loaded(page) == []
    for question in ("softmax", "key"):
        assert search(page, question)
        assert loaded(page) == ON_OPENING
        page.keyboard.press("Escape")
    assert [url for url in page.requests if not url.startswith(("file:", "data:"))] == []
    assert page.said == before
    axe_finds_nothing_in_the_open_dialog(page)


def axe_finds_nothing_in_the_open_dialog(page):
    for theme, width in (("light", 390), ("dark", 1280)):
        page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
        page.set_viewport_size({"width": width, "height": 900})
        assert len(search(page, "attention mask")) == 10
        assert violations(page, "#search-dialog") == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = page.locator("#search-dialog").bounding_box()
        assert width > 390 or (box["x"], box["width"]) == (0, 390)
        page.keyboard.press("Escape")


def test_arrows_choose_and_enter_goes_to_the_section_also_of_the_same_page(opened):
    page = opened(START)
    search(page, "temperature")
    field = page.get_by_role("combobox", name="Search the book")
    last = page.locator("#search-results").get_by_role("option").count() - 1
    chosen = "[...document.querySelectorAll('[aria-selected=true]')].map(o => o.id)"
    assert field.get_attribute("aria-expanded") == "true"
    steps = [("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", last), ("ArrowDown", 0)]
    for key, place in steps:
        page.keyboard.press(key)
        active = field.get_attribute("aria-activedescendant")
        assert page.evaluate(chosen) == [active]
        assert active.endswith(f"-{place}")
    page.keyboard.press("Enter")
    page.wait_for_url("**/mechanism/softmax.html#temperature")
    search(page, "entropy")
    page.keyboard.press("Enter")
    page.wait_for_url("**/mechanism/softmax.html#entropy")
    assert page.locator("#search-dialog[open]").count() == 0
    top = page.locator("#entropy").evaluate("e => e.getBoundingClientRect().top")
    assert -50 < top < 300


def test_focus_goes_into_the_dialog_and_back_and_a_slash_opens_it_where_nobody_types(opened):
    page = opened(START)
    field = page.get_by_role("combobox", name="Search the book")
    is_focused = "e => e === document.activeElement"
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        button = page.locator("button.search-open:visible").first
        button.focus()
        page.keyboard.press("Enter")
        assert field.evaluate(is_focused)
        page.keyboard.press("Escape")
        assert button.evaluate(is_focused)
        button.click()
        page.get_by_role("button", name="Close").click()
        assert button.evaluate(is_focused)
    dialog = page.locator("#search-dialog")
    page.keyboard.press("/")
    assert dialog.evaluate("e => e.open")
    page.keyboard.press("/")
    assert field.input_value() == "/"
    page.keyboard.press("Escape")
    page.evaluate("document.querySelector('article').prepend(document.createElement('input'))")
    page.locator("article > input").press("/")
    assert not dialog.evaluate("e => e.open")


def test_what_is_typed_is_found_told_and_marked(opened):
    page = opened(START)
    status = page.locator("#search-dialog [role=status]")
    search(page, "")
    field = page.get_by_role("combobox", name="Search the book")
    headings = page.locator(".search-result .search-heading")
    for typed in ("temper", "temprature", "TEMPERATURE"):  # beginnings, slips of the pen
        field.fill(typed)
        assert headings.first.inner_text() == "Temperature"
    field.fill("softmax")
    assert status.inner_text() == "The 10 best sections"
    field.fill("xylophone")
    assert status.inner_text().startswith("No section found")
    assert field.get_attribute("aria-expanded") == "false"
    field.fill("")
    assert status.inner_text() == ""
    field.fill("causal mask")
    first = page.locator(".search-result").first
    assert first.locator(".search-chapter").inner_text().endswith("Softmax")
    marked = {text.lower() for text in first.locator("mark").all_inner_texts()}
    assert {"causal", "mask"} <= marked
    assert all(len(t) < 200 for t in page.locator(".search-excerpt").all_inner_texts())


def test_formulas_of_a_result_are_set_with_indices_and_exponents(opened):
    page = opened(START)
    search(page, "W^O concatenated")
    results = page.locator(".search-result")
    texts = " ".join(results.all_inner_texts())
    assert not set("₍₎⁽⁾^$\\") & set(texts)
    assert "O" in page.locator(".search-result sup").all_inner_texts()
    search(page, "d_k")
    assert "k" in page.locator(".search-result mark > sub").all_inner_texts()


def test_on_a_phone_the_first_screen_shows_the_best_section_with_its_chapter(opened):
    page = opened(START)
    page.set_viewport_size({"width": 390, "height": 844})
    search(page, "what is a token")
    first = page.locator(".search-result").first
    box = first.bounding_box()
    assert box["y"] > 0
    assert box["y"] + box["height"] < 422  # the upper half, which a keyboard leaves free
    assert first.locator(".search-heading").inner_text() == "Where attention is in a Transformer"
    assert first.locator(".search-chapter").inner_text().endswith("What attention does")


def test_an_address_with_a_question_opens_the_search(opened):
    page = opened("search", "?q=equivariance")
    first = page.locator(".search-result").first
    first.wait_for()
    assert first.get_attribute("href").endswith("self-attention.html#order-does-not-matter")
