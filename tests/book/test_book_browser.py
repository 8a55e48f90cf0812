"""The built book in a real Chromium, opened as files: no server, no network."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from book_site import path, toc_pages

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGES = toc_pages()
SIZES = {"phone": 390, "desktop": 1280}


class View:
    """One page on one screen, with everything that it asked for and complained of."""

    def __init__(self, context, name, theme):
        self.requests, self.errors = [], []
        self.page = context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.add_init_script(
            f"localStorage.setItem('mode', '{theme}'); localStorage.setItem('theme', '{theme}')"
        )
        self.page.goto(path(name).as_uri())
        self.page.wait_for_load_state("load")


@pytest.fixture
def view(browser):
    """Return a function that opens a page at a width, in a theme."""
    contexts = []

    def open_page(name, *, width=1280, theme="light", **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        return View(context, name, theme)

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("width", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", [*PAGES, "search"])
def test_page_loads_from_a_file_without_errors_and_fits(view, name, theme, width):
    seen = view(name, width=width, theme=theme)
    assert [url for url in seen.requests if not url.startswith(("file:", "data:"))] == []
    assert seen.errors == []
    assert seen.page.evaluate("document.documentElement.dataset.theme") == theme
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", [*PAGES, "search"])
def test_axe_finds_no_violation(view, name, theme, width):
    violations = Axe().run(view(name, width=width, theme=theme).page).response["violations"]
    assert [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in violations] == []


def test_mathematics_is_drawn_in_the_vendored_font(view):
    page = view("mechanism/self-attention").page
    assert page.evaluate(
        "document.fonts.ready.then(() => document.fonts.check('16px \"STIX Two Math Book\"'))"
    )
    boxes = page.locator("math").evaluate_all(
        "all => all.map(m => m.getBoundingClientRect().height)"
    )
    assert len(boxes) > 20
    assert min(boxes) > 5


def test_figures_take_the_colour_of_the_text(view):
    colours = {}
    for theme in ("light", "dark"):
        page = view("mechanism/self-attention", theme=theme).page
        ink = page.locator(".drawing svg [style*='fill: currentColor']").first
        colours[theme] = ink.evaluate("e => getComputedStyle(e).fill")
        text = page.locator(".drawing").first.evaluate("e => getComputedStyle(e).color")
        assert colours[theme] == text
    assert colours["light"] != colours["dark"]


def test_an_exercise_answer_opens_by_keyboard(view):
    page = view("mechanism/self-attention").page
    button = page.locator(".solution button.toggle-button").first
    body = page.locator(".solution.dropdown").first
    before = body.bounding_box()["height"]
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_timeout(300)
    assert body.bounding_box()["height"] > before + 20


def test_everything_reads_without_javascript(view):
    page = view("mechanism/self-attention", java_script_enabled=False).page
    assert page.locator("article math").count() > 20
    assert page.locator("table.numbers").first.is_visible()
    assert page.locator(".drawing svg").first.is_visible()
    assert page.get_by_text("Neither. The second components").is_visible()


def test_what_scrolls_can_be_reached_by_keyboard_and_nothing_else_stops_it(view):
    page = view("mechanism/self-attention", width=390).page
    page.wait_for_timeout(200)
    stops = page.locator(".math-scroll, .drawing").evaluate_all(
        "all => all.map(e => [e.scrollWidth > e.clientWidth, e.tabIndex === 0])"
    )
    assert len(stops) > 3
    assert all(scrolls == stop for scrolls, stop in stops)


def test_the_switch_shows_what_the_source_prints_by_mouse_and_by_keyboard(view):
    page = view("examples/apple").page
    printed = page.locator("#tbl-apple-query-1 .printed")
    assert printed.count() == 20
    assert not printed.first.is_visible()
    switch = page.get_by_role("checkbox", name="what the source prints")
    switch.click()
    assert printed.first.is_visible()
    assert printed.all_inner_texts()[8:12] == ["≠ 0.81", "≠ 0.67", "≠ 0.89", "≠ 0.73"]
    page.keyboard.press("Space")
    assert not printed.first.is_visible()


def test_the_switch_works_without_javascript(view):
    page = view("examples/apple", java_script_enabled=False).page
    page.locator(".printed-switch input").check()
    assert page.locator("#tbl-apple-query-1 .printed").first.is_visible()
