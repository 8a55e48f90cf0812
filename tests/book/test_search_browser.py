"""The search in a real Chromium, on the built pages, opened as files."""

import json
import tomllib

import pytest
from accessible import violations
from book_site import SITE, path, rest, soup, toc_pages, until
from search_questions import QUESTIONS, TRANSFORMER

from byhand.search import RANKING
from byhand.search.sections import read_sections

pytestmark = [pytest.mark.book, pytest.mark.browser]

START = "mechanism/self-attention"
ALL = QUESTIONS | TRANSFORMER
ON_OPENING = ["minisearch.js", "search-index.js", "search-engine.js"]


class Opened:
    """A page, with what it asked for and what it wrote to the console."""

    def __init__(self, context, name, theme):
        self.requests, self.messages = [], []
        self.page = context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("console", lambda m: self.messages.append(m.text))
        self.page.add_init_script(
            f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')"
        )
        self.page.goto(path(name).as_uri())
        self.page.wait_for_load_state("load")

    def loaded(self):
        """Return which of the files that the search needs were asked for, in their order."""
        names = [url.rpartition("/")[2].partition("?")[0] for url in self.requests]
        return [name for name in names if name in ON_OPENING]

    def search(self, question):
        """Open the search and type; return the results' headings."""
        self.page.keyboard.press("Control+k")
        until(self.page, "window.mhaSearch")
        self.page.get_by_role("combobox", name="Search the book").fill(question)
        return self.page.locator(".search-result .search-heading").all_inner_texts()


@pytest.fixture
def opened(browser):
    """Return a function that opens a page."""
    contexts = []

    def open_page(name=START, *, width=1280, theme="light", **options):
        contexts.append(browser.new_context(viewport={"width": width, "height": 800}, **options))
        return Opened(contexts[-1], name, theme)

    yield open_page
    for context in contexts:
        context.close()


def first_found(page, question):
    """Return the address of the section that a question finds first, as `QUESTIONS` has it."""
    found = page.evaluate("q => window.mhaSearch.find(q).map(found => found.address)", question)
    return found[0].replace(".html", "") if found else None


def test_a_question_finds_first_the_section_where_it_is_answered(opened):
    seen = opened("notation")
    seen.search("")
    found = {question: first_found(seen.page, question) for question in ALL}
    wrong = {q: found[q] for q, right in ALL.items() if found[q] not in right}
    assert len(wrong) <= 1, wrong
    assert wrong.keys() <= {*list(QUESTIONS)[5:]}, wrong


def test_each_name_of_the_tables_is_said_and_found_first_where_its_row_leads(opened):
    seen, wrong = opened("notation"), {}
    seen.search("")
    rows = soup("notation").select("#tbl-names tbody tr, #tbl-names-pytorch tbody tr")
    assert len(rows) > 30
    for row in rows:
        link = row.find("a")
        page, label = link["href"].split(".html#")
        anchor = soup(page).select_one(f"section#{label}, section:has(> span#{label})")["id"]
        place = f"{page}#{anchor}"
        sections = read_sections(path(page).read_text(encoding="utf-8"))
        said = next(section.text for section in sections if section.anchor == anchor)
        cells = [cell.get_text().split(",") for cell in row.find_all("td") if not cell.find("a")]
        for name in filter(None, (name.strip() for cell in cells for name in cell)):
            found = first_found(seen.page, name)
            if found != place or name not in said:
                wrong[name] = place, found, name in said
    assert not wrong


def test_every_section_that_a_question_or_the_ranking_names_exists():
    text = (SITE / "_static" / "search-index.js").read_text(encoding="utf-8")
    index = json.loads(text.partition("=")[2].rstrip(";\n"))
    pages = [address.removesuffix(".html") for address, *_ in index["pages"]]
    sections = {f"{pages[page]}#{anchor}".rstrip("#") for page, anchor, *_ in index["sections"]}
    named = {name for right in ALL.values() for name in right}
    contents = toc_pages()
    assert pages == [page for page in contents if page in pages]
    assert len(pages) == len(contents)
    assert not (SITE / "searchindex.js").exists()  # Sphinx's own
    assert named | set(tomllib.loads(RANKING.read_text(encoding="utf-8"))["asked"]) <= sections


def test_the_search_loads_its_files_when_it_is_opened_and_says_nothing_in_the_console(opened):
    seen = opened()
    before = list(seen.messages)
    rest(seen.page, 200)
    assert seen.loaded() == []
    for question in ("softmax", "key"):
        assert seen.search(question)
        assert seen.loaded() == ON_OPENING
        seen.page.keyboard.press("Escape")
    assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []
    assert seen.messages == before


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1280)])
def test_axe_finds_no_violation_in_the_open_dialog(opened, theme, width):
    seen = opened(theme=theme, width=width)
    assert len(seen.search("attention mask")) == 10
    assert violations(seen.page) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    box = seen.page.locator("#search-dialog").bounding_box()
    assert width > 390 or (box["x"], box["width"]) == (0, 390)


def test_arrows_choose_and_enter_goes_to_the_section(opened):
    seen = opened()
    seen.search("temperature")
    results = seen.page.locator("#search-results")
    field, options = (
        seen.page.get_by_role("combobox", name="Search the book"),
        results.get_by_role("option"),
    )
    chosen = "[...document.querySelectorAll('[aria-selected=true]')].map(o => o.id)"

    def active():
        """Return the place of the chosen option, of which the field must know."""
        assert seen.page.evaluate(chosen) == [field.get_attribute("aria-activedescendant")]
        return int(field.get_attribute("aria-activedescendant").rpartition("-")[2])

    assert field.get_attribute("aria-expanded") == "true"
    last = options.count() - 1
    steps = [("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", last), ("ArrowDown", 0)]
    assert active() == 0
    for key, place in steps:
        seen.page.keyboard.press(key)
        assert active() == place
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_url("**/mechanism/softmax.html#temperature")


def test_a_section_of_the_same_page_is_gone_to_and_the_dialog_closes(opened):
    seen = opened("mechanism/softmax")
    seen.search("temperature")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_url("**/mechanism/softmax.html#temperature")
    assert seen.page.locator("#search-dialog[open]").count() == 0
    top = seen.page.locator("#temperature").evaluate("e => e.getBoundingClientRect().top")
    assert -50 < top < 300


@pytest.mark.parametrize("width", [390, 1280])
def test_focus_goes_into_the_dialog_and_back_to_the_button(opened, width):
    seen = opened(width=width)
    button = seen.page.locator("button.search-open:visible").first
    button.focus()
    seen.page.keyboard.press("Enter")
    assert seen.page.get_by_role("combobox", name="Search the book").evaluate(
        "e => e === document.activeElement"
    )
    seen.page.keyboard.press("Escape")
    assert button.evaluate("e => e === document.activeElement")
    button.click()
    seen.page.get_by_role("button", name="Close").click()
    assert button.evaluate("e => e === document.activeElement")


def test_a_slash_opens_the_search_but_not_where_one_types(opened):
    seen = opened()
    dialog = seen.page.locator("#search-dialog")
    seen.page.keyboard.press("/")
    assert dialog.evaluate("e => e.open")
    seen.page.keyboard.press("/")
    assert seen.page.get_by_role("combobox", name="Search the book").input_value() == "/"
    seen.page.keyboard.press("Escape")
    seen.page.evaluate("document.querySelector('article').prepend(document.createElement('input'))")
    seen.page.locator("article > input").press("/")
    assert not dialog.evaluate("e => e.open")


def test_what_is_typed_is_found_told_and_marked(opened):
    seen = opened()
    status = seen.page.locator("#search-dialog [role=status]")
    seen.search("")
    field = seen.page.get_by_role("combobox", name="Search the book")
    headings = seen.page.locator(".search-result .search-heading")
    for typed, heading in (  # beginnings, slips of the pen
        *(("temper", "Temperature"), ("temprature", "Temperature"), ("ENTROPY", "Entropy")),
    ):
        field.fill(typed)
        assert headings.first.inner_text() == heading
    field.fill("softmax")
    assert status.inner_text() == "The 10 best sections"
    field.fill("xylophone")
    assert status.inner_text().startswith("No section found")
    assert field.get_attribute("aria-expanded") == "false"
    field.fill("")
    assert status.inner_text() == ""
    field.fill("causal mask")
    first = seen.page.locator(".search-result").first
    assert first.locator(".search-chapter").inner_text().endswith("Softmax")
    marked = {text.lower() for text in first.locator("mark").all_inner_texts()}
    assert {"causal", "mask"} <= marked
    assert all(len(t) < 200 for t in seen.page.locator(".search-excerpt").all_inner_texts())
    field.fill("softmax row sum weights")  # the chapters stand before the audit
    chapters = seen.page.locator(".search-chapter").all_inner_texts()
    audit = [i for i, name in enumerate(chapters) if "What the sources print" in name]
    mechanism = [i for i, name in enumerate(chapters) if name.endswith(("Softmax", "-attention"))]
    assert mechanism
    assert not audit or min(audit) > min(mechanism)


def test_an_address_with_a_question_opens_the_search(opened):
    seen = opened("search")
    seen.page.goto(seen.page.url + "?q=equivariance")
    first = seen.page.locator(".search-result").first
    first.wait_for()
    assert first.get_attribute("href").endswith("self-attention.html#order-does-not-matter")


def test_without_scripts_there_is_a_link_in_place_of_the_button(opened):
    seen = opened(java_script_enabled=False)
    assert seen.page.locator("button.search-open:visible").count() == 0
    seen.page.locator("a.search-contents:visible").first.click()
    assert seen.page.locator("article li a").count() > 10
