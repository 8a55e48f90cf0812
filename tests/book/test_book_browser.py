"""The built book in a real Chromium, opened as files: no server, no network."""

import re

import page_checks as checks
import pytest
from accessible import violations
from book_site import rest, toc_pages, until
from playwright.sync_api import expect

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGES = toc_pages()
LOOKED_AT = ["index", "mechanism/self-attention", "examples/apple"]
SIZES = {"phone": 390, "desktop": 1280}
SCREENS = [
    (name, theme, width)
    for name in [*PAGES, "search", "notices"]
    for theme in ("light", "dark")
    for width in SIZES.values()
    # Theme and width have their own rules of style: together they are looked at on a few pages.
    if name in LOOKED_AT or (theme == "dark") == (width == SIZES["desktop"])
]

# Notes how far things move while a page loads, and each theme that the page has had, with whether
# its body, and so anything to be seen, was there yet.
WATCH = """
window.moved = 0;
window.themes = [];
new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
  window.moved += entry.hadRecentInput ? 0 : entry.value;
})).observe({ type: "layout-shift", buffered: true });
new MutationObserver(() => window.themes.push([
  document.documentElement.dataset.theme, document.body !== null,
])).observe(document, { attributes: true, subtree: true, attributeFilter: ["data-theme"] });
"""


def faults(page):
    """Return what the console warned of."""
    return [text for kind, text in page.said if kind in ("error", "warning")]


@pytest.mark.parametrize(("name", "theme", "width"), SCREENS)
def test_page_loads_from_a_file_without_errors_fits_and_is_accessible(opened, name, theme, width):
    """All that can be told of a page as it is opened: it is opened once a screen, not once a test.

    What axe adds to the page comes late; the folds are opened where nothing else has been changed.
    """
    page = opened(name, width=width, theme=theme, watch=WATCH)
    outside = [url for url in page.requests if not url.startswith(("file:", "data:"))]
    assert outside == []
    assert faults(page) == []
    assert page.evaluate("document.documentElement.dataset.theme") == theme
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if name in LOOKED_AT:
        assert page.evaluate("document.fonts.ready.then(() => window.moved)") <= 0.02
    if width == SIZES["phone"] and name in PAGES:
        checks.nothing_is_cut_but_what_scrolls(page)
        checks.text_of_twice_the_size_widens_nothing(page)
    if width == SIZES["desktop"] and name in PAGES:
        checks.is_light_and_not_long(page, name)
        checks.its_code_is_folded_and_its_assertions_too(page, name)
        checks.the_sums_of_its_strips_hold(page, name)
    found = violations(page)
    assert found == []
    stops = page.locator("a.headerlink").evaluate_all("all => all.map((a) => a.tabIndex)")
    assert set(stops) <= {-1}  # signs beside headings would be many
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    checks.open_every_fold(page)
    checks.no_word_is_small(page)
    checks.no_word_of_a_drawing_covers_another(page)
    if width == SIZES["desktop"] and name.startswith(("mechanism/", "transformer/")):
        checks.open_code_is_whole(page)


def test_an_exercise_answer_opens_by_keyboard(opened):
    page = opened("mechanism/self-attention")
    button = page.locator(".solution button.toggle-button").first
    body = page.locator(".solution.dropdown").first
    before = body.bounding_box()["height"]
    button.focus()
    page.keyboard.press("Enter")
    opened = f"document.querySelector('.solution.dropdown').offsetHeight > {before} + 20"
    until(page, opened)


def test_everything_reads_without_javascript(opened):
    page = opened("mechanism/self-attention", java_script_enabled=False)
    assert page.locator("article math").count() > 20
    expect(page.locator("table.numbers").first).to_be_visible()
    expect(page.locator(".drawing svg").first).to_be_visible()
    expect(page.get_by_text("Neither. The second components")).to_be_visible()


def unfold_all_numbers(page):
    """Open the fold; its tables are put in as it opens."""
    page.locator("details.all-numbers > summary").click(position={"x": 4, "y": 12})
    page.locator("#tbl-apple-query-1").wait_for()


def test_the_switch_shows_what_the_source_prints_by_mouse_and_by_keyboard(opened):
    page = opened("examples/apple")
    unfold_all_numbers(page)
    printed = page.locator("#tbl-apple-query-1 .printed")
    assert printed.count() == 20
    expect(printed.first).not_to_be_visible()
    switch = page.get_by_role("checkbox", name="what the source prints")
    switch.click()
    expect(printed.first).to_be_visible()
    assert printed.all_inner_texts()[8:12] == ["≠ 0.81", "≠ 0.67", "≠ 0.89", "≠ 0.73"]
    page.keyboard.press("Space")
    expect(printed.first).not_to_be_visible()


def test_the_switch_works_without_javascript(opened):
    page = opened("examples/apple", java_script_enabled=False)
    unfold_all_numbers(page)
    page.locator(".printed-switch input").check()
    expect(page.locator("#tbl-apple-query-1 .printed").first).to_be_visible()


# ---- Type and colour ----


def test_a_page_is_set_in_the_books_own_fonts(opened):
    page = opened("mechanism/self-attention")
    drawn = page.evaluate(
        """() => document.fonts.ready.then(() => [...document.fonts]
             .filter((face) => face.status === "loaded")
             .map((face) => face.family.replaceAll('"', "")))"""
    )
    text, numbers = "STIX Two Text Book", "Source Sans 3 Book"
    assert {text, numbers, "STIX Two Math Book"} <= set(drawn)
    assert "Font Awesome 6 Free" not in drawn
    family = "e => getComputedStyle(e).fontFamily.split(',')[0].replaceAll('\"', '')"
    for selector, wanted in (
        *(("article p", text), ("article h1", text), (".bar-button", numbers)),
        *(("table.numbers td", numbers), ("article pre", "JetBrains Mono Book")),
    ):
        assert page.locator(selector).first.evaluate(family) == wanted
    boxes = page.locator("math").evaluate_all(
        "all => all.map(m => m.getBoundingClientRect().height)"
    )
    assert len(boxes) > 20
    assert min(boxes) > 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_first_visit_has_the_systems_theme_before_anything_is_drawn(opened, scheme):
    page = opened("index", watch=WATCH, color_scheme=scheme)
    assert faults(page) == []
    assert {theme for theme, _ in page.evaluate("window.themes")} == {scheme}
    assert page.evaluate("window.themes")[0] == [scheme, False]
    assert page.evaluate("document.documentElement.dataset.mode") == "auto"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chosen_theme_is_there_before_anything_is_drawn(opened, theme):
    other = {"light": "dark", "dark": "light"}[theme]
    page = opened("index", theme=theme, watch=WATCH, color_scheme=other)
    assert page.evaluate("window.themes")[0] == [theme, False]
    assert {seen for seen, _ in page.evaluate("window.themes")} == {theme}


# ---- The frame ----


def test_the_contents_are_a_drawer_on_a_narrow_screen(opened):
    page = opened("mechanism/self-attention", width=390)
    button = page.get_by_role("button", name="Contents of the book")
    link = page.locator("nav.bd-links a", has_text="Scaling")
    expect(link).not_to_be_visible()
    button.focus()
    page.keyboard.press("Enter")
    expect(link).to_be_visible()
    assert page.locator("dialog[open]").get_attribute("aria-label") == "Contents of the book"
    page.keyboard.press("Escape")
    expect(link).not_to_be_visible()
    assert button.evaluate("e => e === document.activeElement")


def test_the_contents_fold_on_a_wide_screen(opened):
    page = opened("mechanism/self-attention")
    link = page.locator("nav.bd-links a", has_text="Scaling")
    expect(link).to_be_visible()
    page.get_by_role("button", name="Contents of the book").click()
    expect(link).not_to_be_visible()


@pytest.mark.parametrize("width", SIZES.values(), ids=SIZES)
def test_text_of_twice_the_size_breaks_no_word_of_the_contents(opened, width):
    page = opened("examples/apple", width=width)
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.locator("nav.bd-links a").first).not_to_be_visible()  # a drawer at either width
    page.get_by_role("button", name="Contents of the book").click()
    links = page.locator("dialog[open] nav.bd-links a")
    assert links.count() > 10
    assert all(links.evaluate_all("all => all.map(a => a.scrollWidth <= a.clientWidth)"))


@pytest.mark.parametrize("forced", ["none", "active"])
def test_the_keyboards_place_is_marked(opened, forced):
    page = opened("notation", forced_colors=forced)
    page.keyboard.press("Tab")  # from here on focus is the keyboard's
    for selector in (".bar-button", ".search-open-field", "nav.bd-links a"):
        page.locator(selector).locator("visible=true").first.focus()
        style, width = page.evaluate(
            """() => { const style = getComputedStyle(document.activeElement);
                       return [style.outlineStyle, parseFloat(style.outlineWidth)]; }"""
        )
        assert (style, width >= 2) == ("solid", True), selector


def test_an_aside_stands_in_the_margin_and_folds_into_the_text(opened):
    page = opened("mechanism/self-attention")
    page.evaluate(
        """() => document.querySelector("article p").insertAdjacentHTML(
             "beforebegin", "<aside class='margin sidebar'><p>An aside.</p></aside>")"""
    )
    for width, beside in ((1280, True), (1100, False), (390, False)):
        page.set_viewport_size({"width": width, "height": 900})
        aside = page.locator("aside.margin").bounding_box()
        text = page.locator("article p:not(aside p)").first.bounding_box()
        assert (aside["x"] >= text["x"] + text["width"]) is beside
        assert aside["x"] + aside["width"] <= width


@pytest.mark.parametrize("name", LOOKED_AT)
def test_what_goes_on_sideways_shows_a_shadow_and_is_a_tab_stop(opened, name):
    page = opened(name, width=390)
    rest(page, 200)
    unmarked = page.locator(".bd-article *").evaluate_all(
        """all => all.filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1
               && /auto|scroll/.test(getComputedStyle(e).overflowX)
               && !e.matches(".math-wide")
               && !(e.tabIndex === 0 && getComputedStyle(e).backgroundImage.includes("gradient")))
             .map((e) => e.outerHTML.slice(0, 90))"""
    )
    assert unmarked == []
    stops = page.locator(".math-scroll, .drawing").evaluate_all(
        "all => all.map(e => [e.scrollWidth > e.clientWidth, e.tabIndex === 0])"
    )
    assert all(scrolls == stop for scrolls, stop in stops)  # and nothing else stops the keyboard


def test_the_red_pencil_marks_what_a_source_prints_wrongly_and_nothing_else(opened):
    page = opened("examples/apple")
    unfold_all_numbers(page)
    page.locator(".printed-switch input").check()
    marked = """all => all.map((e) => [e.textContent.trim()[0], e.classList.contains("slip"),
      getComputedStyle(e).color, getComputedStyle(e).textDecorationLine])"""
    colour = page.evaluate(
        """() => { const e = document.body.appendChild(document.createElement("i"));
                   e.style.color = "var(--slip)"; return getComputedStyle(e).color; }"""
    )
    found = page.locator(".printed").evaluate_all(marked)
    assert {sign for sign, *_ in found} == {"≠", "≈"}
    for sign, slip, ink, line in found:
        assert slip is (sign == "≠")
        assert (ink == colour) is slip
        assert (line == "underline") is slip


def test_an_equations_number_covers_nothing_of_it(opened):
    page = opened("mechanism/self-attention", width=390)
    overlaps = page.locator("div.math:has(> .eqno)").evaluate_all(
        """all => all.map((box) => {
             const [number, formula] = [".eqno", ".math-scroll"].map((part) =>
               box.querySelector(part).getBoundingClientRect());
             return number.left < formula.right && formula.left < number.right
                 && number.top < formula.bottom && formula.top < number.bottom;
           })"""
    )
    assert len(overlaps) > 1
    assert not any(overlaps)


def test_a_page_prints_on_few_sheets_and_its_controls_stay_on_the_screen(opened):
    page = opened("mechanism/self-attention")
    sheets = len(re.findall(rb"/Type\s*/Page\b(?!s)", page.pdf(format="A4")))
    assert 1 <= sheets <= 12
    page.emulate_media(media="print")
    for selector in (
        ".bd-header-article",
        ".bd-sidebar-primary",
        ".cell_input",
        "#jb-print-toc",
        "details.code-fold > summary",
    ):
        expect(page.locator(selector).first).not_to_be_visible()
    assert [line for line in page.evaluate(checks.LINES) if line.startswith("assert ")] == []
    expect(page.locator("article h1").first).to_be_visible()
