"""The search in a real Chromium, on the built pages, opened as files."""

from functools import cache

import pytest
from accessible import violations
from book_site import path, rest, soup, until

from byhand.search.sections import read_sections

pytestmark = [pytest.mark.book, pytest.mark.browser]

START = "mechanism/self-attention"
# What a student types, and the sections where a teacher would look: their page and, after "#",
# their anchor. Of the first five, Sphinx's own search found none first.
QUESTIONS = {
    "why divide by sqrt": "scaling scaling#why-dot-products-grow scaling#the-cure",
    "attention mask": "softmax#masks",
    "what is a key": "what-attention-does#three-arrows-for-each-word "
    "self-attention#from-one-word-to-all-of-them",
    "entropy": "softmax#entropy",
    "output projection": "multi-head-attention#the-output-projection "
    "multi-head-attention#a-sum-over-heads",
    "multi head": "multi-head-attention multi-head-attention#several-heads",
    "gradient of softmax": "softmax#deeper-the-jacobian-or-how-each-weight-changes-with-each-score "
    "softmax#back-through-the-softmax",
    "overflow exp": "softmax#large-scores",
    "dot product as similarity": "self-attention#from-one-word-to-all-of-them",
    "number of parameters": "multi-head-attention#what-it-costs "
    "multi-head-attention#the-number-of-heads-is-free-almost",
    "RoPE": "order#second-way-rotate-with-the-position",
    "ALiBi": "order#third-way-a-price-for-distance",
    "KV cache": "decoding#one-token-at-a-time",
    "induction head": "depth#a-b-a-what-comes-next",
    "backpropagation by hand": "learning#the-way-back",
    "dropout": "bugs#dropout-left-on",
    "pytest": "your-own-attention#two-lines-that-stay",
}
QUESTIONS = {question: right.split() for question, right in QUESTIONS.items()}
ON_OPENING = ["minisearch.js", "search-index.js", "search-engine.js"]


def loaded(page):
    """Return which of the files that the search needs were asked for, in their order."""
    names = [url.rpartition("/")[2].partition("?")[0] for url in page.requests]
    return [name for name in names if name in ON_OPENING]


def search(page, question):
    """Open the search and type; return the results' headings."""
    page.keyboard.press("Control+k")
    until(page, "window.mhaSearch")
    page.get_by_role("combobox", name="Search the book").fill(question)
    return page.locator(".search-result .search-heading").all_inner_texts()


def first_found(page, question):
    """Return the section that a question finds first: its page without its part, and its anchor."""
    found = page.evaluate("q => window.mhaSearch.find(q).map(found => found.address)", question)
    return found[0].rpartition("/")[2].replace(".html", "") if found else None


def test_a_question_and_each_name_of_the_tables_find_first_where_they_are_answered(opened):
    page = opened("notation")
    search(page, "")
    found = {question: first_found(page, question) for question in QUESTIONS}
    assert {q: found[q] for q, right in QUESTIONS.items() if found[q] not in right} == {}
    rows = soup("notation").select("#tbl-names tbody tr, #tbl-names-pytorch tbody tr")
    assert len(rows) > 30
    wrong = {}
    for row in rows:
        link = row.find("a")
        chapter, label = link["href"].split(".html#")
        anchor = soup(chapter).select_one(f"section#{label}, section:has(> span#{label})")["id"]
        place, said = f"{chapter.rpartition('/')[2]}#{anchor}", words_of(chapter)[anchor]
        cells = [cell.get_text().split(",") for cell in row.find_all("td") if not cell.find("a")]
        for name in filter(None, (name.strip() for cell in cells for name in cell)):
            first = first_found(page, name)
            if first != place or name not in said:
                wrong[name] = place, first, name in said
    assert not wrong


@cache
def words_of(chapter):
    """Return the words that the search knows of each section of a page."""
    sections = read_sections(path(chapter).read_text(encoding="utf-8"))
    return {section.anchor: section.text for section in sections}


def test_the_search_loads_its_files_when_it_is_opened_and_says_nothing_in_the_console(opened):
    page = opened(START)
    before = list(page.said)
    rest(page, 200)
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


def test_an_address_with_a_question_opens_the_search(opened):
    page = opened("search", "?q=equivariance")
    first = page.locator(".search-result").first
    first.wait_for()
    assert first.get_attribute("href").endswith("self-attention.html#order-does-not-matter")
