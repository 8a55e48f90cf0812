"""The search in a real Chromium, on the built pages, opened as files."""

import json
import tomllib

import pytest
from accessible import violations
from book_site import SITE, path, soup, until
from search_questions import MORE, QUESTIONS, TERMS, TRANSFORMER, UNTUNED

from byhand.search import RANKING
from byhand.search.sections import read_sections

pytestmark = [pytest.mark.book, pytest.mark.browser]

START = "mechanism/self-attention"
ALL = QUESTIONS | MORE | UNTUNED | TRANSFORMER | TERMS
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


@pytest.fixture(scope="module")
def answers(browser):
    """Return what every question finds first."""
    context = browser.new_context()
    seen = Opened(context, "notation", "light")
    seen.search("")
    yield {question: first_found(seen.page, question) for question in ALL}
    context.close()


def test_of_eighteen_questions_seventeen_find_a_right_section_first(answers):
    assert len(QUESTIONS) == 18
    wrong = {q: answers[q] for q, right in QUESTIONS.items() if answers[q] not in right}
    assert len(wrong) <= 1, wrong


def test_the_five_that_used_to_fail_find_theirs(answers):
    for question in list(QUESTIONS)[:5]:
        assert answers[question] in QUESTIONS[question]


@pytest.mark.parametrize("questions", [TRANSFORMER, TERMS], ids=["transformer", "terms"])
def test_each_name_of_the_field_is_found_first_where_it_is_explained(answers, questions):
    wrong = {q: answers[q] for q, right in questions.items() if answers[q] not in right}
    assert not wrong


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


@pytest.mark.parametrize(("questions", "least"), [(MORE, 7), (UNTUNED, 9)], ids=["more", "untuned"])
def test_of_the_other_questions_no_fewer_than_once_find_theirs_first(answers, questions, least):
    wrong = {q: answers[q] for q, right in questions.items() if answers[q] not in right}
    assert len(questions) - len(wrong) >= least, wrong


def test_every_section_that_a_question_or_the_ranking_names_exists():
    text = (SITE / "_static" / "search-index.js").read_text(encoding="utf-8")
    index = json.loads(text.partition("=")[2].rstrip(";\n"))
    pages = [address.removesuffix(".html") for address, *_ in index["pages"]]
    sections = {f"{pages[page]}#{anchor}".rstrip("#") for page, anchor, *_ in index["sections"]}
    named = {name for right in ALL.values() for name in right}
    assert named | set(tomllib.loads(RANKING.read_text(encoding="utf-8"))["asked"]) <= sections


def test_nothing_of_the_index_or_the_library_is_loaded_before_the_search_is_opened(opened):
    seen = opened()
    seen.page.wait_for_timeout(200)
    assert seen.loaded() == []
    seen.search("softmax")
    assert seen.loaded() == ON_OPENING
    seen.page.keyboard.press("Escape")
    seen.search("key")
    assert seen.loaded() == ON_OPENING


def test_the_search_asks_for_files_alone_and_says_nothing_in_the_console(opened):
    seen = opened()
    before = list(seen.messages)
    assert seen.search("softmax")
    assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []
    assert seen.messages == before


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1280)])
def test_axe_finds_no_violation_in_the_open_dialog(opened, theme, width):
    seen = opened(theme=theme, width=width)
    assert len(seen.search("attention mask")) == 10
    assert violations(seen.page) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


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


def test_a_screen_reader_hears_how_many_sections_were_found(opened):
    seen = opened()
    status = seen.page.locator("#search-dialog [role=status]")
    seen.search("softmax")
    assert status.inner_text() == "The 10 best sections"
    seen.page.get_by_role("combobox", name="Search the book").fill("xylophone")
    assert status.inner_text().startswith("No section found")
    assert (
        seen.page.get_by_role("combobox", name="Search the book").get_attribute("aria-expanded")
        == "false"
    )
    seen.page.get_by_role("combobox", name="Search the book").fill("")
    assert status.inner_text() == ""


def test_results_show_the_found_words_and_their_chapter(opened):
    seen = opened()
    assert seen.search("causal mask")
    first = seen.page.locator(".search-result").first
    assert first.locator(".search-chapter").inner_text().endswith("Softmax")
    marked = {text.lower() for text in first.locator("mark").all_inner_texts()}
    assert {"causal", "mask"} <= marked
    assert all(len(t) < 200 for t in seen.page.locator(".search-excerpt").all_inner_texts())


@pytest.mark.parametrize(
    ("typed", "heading"),
    [("temper", "Temperature"), ("temprature", "Temperature"), ("ENTROPY", "Entropy")],
)
def test_beginnings_and_slips_of_the_pen_find_their_section(opened, typed, heading):
    assert opened().search(typed)[0] == heading


def test_the_chapters_stand_before_the_audit(opened):
    seen = opened()
    seen.search("softmax row sum weights")
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


@pytest.mark.parametrize("width", [390, 1280])
def test_the_icon_stands_beside_the_word(opened, width):
    seen = opened("search", width=width)
    button = seen.page.locator("article .search-open-field")
    icon = button.locator("svg").bounding_box()
    word = button.locator(".search-open-text").bounding_box()
    assert icon["x"] + icon["width"] <= word["x"]


def test_focus_and_the_chosen_result_are_outlined_in_forced_colours(opened):
    seen = opened(forced_colors="active")
    style = "e => [getComputedStyle(e).outlineStyle, getComputedStyle(e).outlineWidth]"
    button = seen.page.locator("button.search-open:visible").first
    button.focus()
    seen.page.keyboard.press("Shift+Tab")
    seen.page.keyboard.press("Tab")
    assert button.evaluate(style) == ["solid", "3px"]
    seen.search("softmax")
    assert seen.page.get_by_role("combobox", name="Search the book").evaluate(style) == [
        "solid",
        "3px",
    ]
    chosen = seen.page.locator(".search-result[aria-selected=true]")
    assert chosen.evaluate(style) == ["solid", "2px"]


def test_without_scripts_there_is_a_link_in_place_of_the_button(opened):
    seen = opened(java_script_enabled=False)
    assert seen.page.locator("button.search-open:visible").count() == 0
    seen.page.locator("a.search-contents:visible").first.click()
    assert seen.page.locator("article li a").count() > 10


def test_a_phone_shows_the_dialog_over_its_whole_width(opened):
    seen = opened(width=390)
    seen.search("softmax")
    box = seen.page.locator("#search-dialog").bounding_box()
    assert (box["x"], box["width"]) == (0, 390)
