"""The built book in Chromium, opened as files: no server, no network."""

from itertools import product

import page_checks as checks
import pytest
from accessible import violations
from book_site import advance_clock, toc_pages, until
from playwright.sync_api import expect
from pypdf import PdfReader

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGES = toc_pages()
LOOKED_AT = ["index", "mechanism/self-attention", "examples/apple"]
ON_A_PHONE = {"width": 390, "height": 900}
ON_A_DESK = {"width": 1280, "height": 900}
# Widths in pixels, and sizes of letters in per cent. The margin has its full width from 1280 px on.
MARGIN_OPENS = ((1210, 100), (1250, 100))
WITHOUT_A_MARGIN = ((1000, 100), (1100, 100), (1190, 100), (768, 200), (1280, 200))

# The axe rules whose results differ between a light page on a phone and a dark one on a desktop.
OTHERWISE = ["color-contrast", "scrollable-region-focusable", "button-name", "link-name"]
SCROLLED_BY_KEYS = """[...document.querySelectorAll("pre")].every(
  (code) => code.scrollWidth <= code.clientWidth || code.tabIndex === 0)"""
MOVED = "document.fonts.ready.then(() => window.moved)"

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


def console_warnings(page):
    """Return the warnings and errors of the console."""
    return [text for kind, text in page.said if kind in ("error", "warning")]


@pytest.mark.parametrize("name", [*PAGES, "search", "notices"])
def test_a_page_loads_from_a_file_without_errors_fits_and_is_accessible(opened, name):
    """Check everything that needs no interaction, with one load of the page.

    axe changes the page, so it runs late. The folds are opened after all other checks.
    """
    page = opened(name, theme="dark", watch=WATCH)
    outside = [url for url in page.requests if not url.startswith(("file:", "data:"))]
    assert outside == []
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("document.documentElement.scrollWidth") <= ON_A_DESK["width"]
    if name in LOOKED_AT:
        assert page.evaluate(MOVED) <= 0.02
    if name in PAGES:
        checks.is_light_and_not_long(page, name)
        checks.its_code_is_folded_and_its_assertions_too(page, name)
        checks.the_contents_mark_the_open_page_alone(page)
        checks.the_sums_of_its_strips_hold(page, name)
    if name.startswith("mechanism/"):
        checks.one_to_three_figures_own_the_full_measure(page)
    assert violations(page) == []
    stops = page.locator("a.headerlink").evaluate_all("all => all.map((a) => a.tabIndex)")
    assert set(stops) <= {-1}  # signs beside headings would be many
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    page.set_viewport_size(ON_A_PHONE)
    checks.nothing_is_cut_but_what_scrolls(page)
    checks.text_of_twice_the_size_widens_nothing(page)
    until(page, SCROLLED_BY_KEYS)  # the theme sees to it a little later
    assert violations(page, runOnly=OTHERWISE) == []
    checks.open_every_fold(page)
    checks.no_word_is_small_or_covered(page)
    checks.every_target_can_be_hit_and_every_header_has_a_name(page)
    checks.numbers_stand_below_each_other_and_labels_on_their_line(page)
    checks.figures_captions_and_folded_code_keep_their_distance(page)
    checks.formulas_touch_neither_their_number_nor_each_other(page)
    checks.only_what_scrolls_is_a_tab_stop(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= ON_A_PHONE["width"]
    page.set_viewport_size(ON_A_DESK)
    checks.no_word_is_small_or_covered(page)
    checks.numbers_stand_below_each_other_and_labels_on_their_line(page)
    beside = ".tag_full-width *, .tag_beside *"  # figures that have their words beside them
    checks.figures_captions_and_folded_code_keep_their_distance(page, beside=beside)
    if name in PAGES:
        checks.wide_things_use_the_margin(page, name)
    checks.is_as_wide_as_the_screen(page, MARGIN_OPENS)
    if name in (*LOOKED_AT, "notation"):
        checks.is_as_wide_as_the_screen(page, WITHOUT_A_MARGIN)
    assert console_warnings(page) == []


@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_opened_on_a_phone_stays_where_it_is_and_says_what_scrolls(opened, name):
    page = opened(name, width=390, theme="dark", watch=WATCH)
    assert page.evaluate(MOVED) <= 0.02
    advance_clock(page, 200)
    unmarked = page.locator(".bd-article *").evaluate_all(
        """all => all.filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1
               && /auto|scroll/.test(getComputedStyle(e).overflowX)
               && !e.matches(".math-wide")
               && !(e.tabIndex === 0 && getComputedStyle(e).backgroundImage.includes("gradient")))
             .map((e) => e.outerHTML.slice(0, 90))"""
    )
    assert unmarked == []
    checks.only_what_scrolls_is_a_tab_stop(page)
    assert violations(page) == []


def test_everything_reads_without_javascript(opened):
    page = opened("examples/apple", java_script_enabled=False)
    assert page.locator("article math").count() > 20
    expect(page.locator("table.numbers").first).to_be_visible()
    expect(page.locator(".drawing svg").first).to_be_visible()
    expect(page.locator(".solution > section p").first).to_be_visible()
    assert page.locator(".code-switch").count() == 0
    fold = page.locator("details.code-fold:not(.fold *)").nth(1)
    expect(fold.locator(".cell_input").first).not_to_be_visible()
    fold.locator("summary").click()
    expect(fold.locator(".cell_input").first).to_be_visible()
    table = page.locator("#tbl-apple-query-1")
    expect(table).not_to_be_visible()
    page.locator("details.all-numbers > summary").click(position={"x": 4, "y": 12})
    page.locator(".printed-switch input").check()
    expect(table.locator(".printed").first).to_be_visible()
    assert page.locator("button.search-open:visible").count() == 0
    page.set_viewport_size(ON_A_PHONE)
    checks.nothing_is_cut_but_what_scrolls(page)
    page.set_viewport_size(ON_A_DESK)
    assert page.locator("a.search-contents:visible").count() == 2  # in the bar and in the contents
    page.locator("a.search-contents:visible").first.click()
    listed = page.locator("article li a").all_inner_texts()
    assert len(listed) > 10
    assert "The cat sat <end>: the largest weight, the farthest value" in listed  # its whole title


def test_the_switch_shows_what_the_source_prints_and_the_red_pencil_marks_what_is_wrong(opened):
    page = opened("examples/apple")
    page.locator("details.all-numbers > summary").click(position={"x": 4, "y": 12})
    page.locator("#tbl-apple-query-1").wait_for()  # put in as the fold opens
    printed = page.locator("#tbl-apple-query-1 .printed")
    assert printed.count() == 20
    expect(printed.first).not_to_be_visible()
    switch = page.get_by_role("checkbox", name="what the source prints")
    switch.click()
    expect(printed.first).to_be_visible()
    assert printed.all_inner_texts()[8:12] == ["≠ 0.81", "≠ 0.67", "≠ 0.89", "≠ 0.73"]
    checks.wide_things_use_the_margin(page, "examples/apple")
    marked = """all => all.map((e) => [e.textContent.trim()[0], e.classList.contains("slip"),
      getComputedStyle(e).color, getComputedStyle(e).textDecorationLine])"""
    colour = checks.colour_of(page, "--slip")
    found = page.locator(".printed").evaluate_all(marked)
    assert {sign for sign, *_ in found} == {"≠", "≈"}
    for sign, slip, ink, line in found:
        assert slip is (sign == "≠")
        assert (ink == colour) is slip
        assert (line == "underline") is slip
    page.keyboard.press("Space")
    expect(printed.first).not_to_be_visible()


# ---- Type and colour ----


def test_a_page_is_set_in_the_books_own_fonts(opened):
    page = opened("mechanism/self-attention")
    loaded = """document.fonts.ready.then(() => [...document.fonts]
      .filter((face) => face.status === "loaded").map((face) => face.family.replaceAll('"', "")))"""
    text, numbers = "STIX Two Text Book", "Attention Interface Book"
    assert {text, numbers, "STIX Two Math Book"} <= {*page.evaluate(loaded)}
    assert "Font Awesome 6 Free" not in page.evaluate(loaded)
    family = "e => getComputedStyle(e).fontFamily.split(',')[0].replaceAll('\"', '')"
    for selector, wanted in (
        *(("article p", text), ("article h1", text), (".bar-button", numbers)),
        *(("table.numbers td", numbers), ("article pre", "JetBrains Mono Book")),
    ):
        assert page.locator(selector).first.evaluate(family) == wanted


@pytest.mark.parametrize(
    ("system", "chosen"), [("light", None), ("dark", None), ("light", "dark"), ("dark", "light")]
)
def test_the_theme_is_there_before_anything_is_drawn(opened, system, chosen):
    page = opened("index", theme=chosen, watch=WATCH, color_scheme=system)
    themes = page.evaluate("window.themes")
    assert themes[0] == [chosen or system, False]
    assert {theme for theme, _ in themes} == {chosen or system}
    assert page.evaluate("document.documentElement.dataset.mode") == (chosen or "auto")
    assert console_warnings(page) == []


# ---- The frame ----


def test_the_contents_fold_on_a_wide_screen_and_are_a_drawer_on_a_narrow_one(opened):
    page = opened("mechanism/self-attention")
    button = page.get_by_role("button", name="Contents of the book")
    link = page.locator("nav.bd-links a", has_text="Scaling")
    expect(link).to_be_visible()
    button.click()
    expect(link).not_to_be_visible()
    words_of_twice_the_size_are_whole_in_the_drawer(page, button, 1280)
    page.set_viewport_size(ON_A_PHONE)
    expect(link).not_to_be_visible()
    button.focus()
    page.keyboard.press("Enter")
    expect(link).to_be_visible()
    assert page.locator("dialog[open]").get_attribute("aria-label") == "Contents of the book"
    page.keyboard.press("Escape")
    expect(link).not_to_be_visible()
    assert button.evaluate("e => e === document.activeElement")
    words_of_twice_the_size_are_whole_in_the_drawer(page, button, 390)


def words_of_twice_the_size_are_whole_in_the_drawer(page, button, width):
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.locator("nav.bd-links a").first).not_to_be_visible()  # a drawer at either width
    button.click()
    links = page.locator("dialog[open] nav.bd-links a")
    assert links.count() > 10
    assert all(links.evaluate_all("all => all.map(a => a.scrollWidth <= a.clientWidth)"))
    page.keyboard.press("Escape")
    page.evaluate("document.documentElement.style.fontSize = ''")


def test_the_keyboards_place_is_marked_and_an_answer_opens_by_it(opened):
    page = opened("mechanism/self-attention")
    page.keyboard.press("Tab")  # from here on focus is the keyboard's
    places = (".bar-button", ".search-open-field", "nav.bd-links a")
    for forced, selector in product(("none", "active"), places):
        page.emulate_media(forced_colors=forced)
        page.locator(selector).locator("visible=true").first.focus()
        style, width = page.evaluate(
            """() => { const style = getComputedStyle(document.activeElement);
                       return [style.outlineStyle, parseFloat(style.outlineWidth)]; }"""
        )
        assert (style, width >= 2) == ("solid", True), (selector, forced)
    before = page.locator(".solution.dropdown").first.bounding_box()["height"]
    page.locator(".solution button.toggle-button").first.focus()
    page.keyboard.press("Enter")
    until(page, f"document.querySelector('.solution.dropdown').offsetHeight > {before} + 20")


def test_a_page_prints_on_few_sheets_without_controls_and_with_small_whole_drawings(
    opened, tmp_path
):
    page = opened("examples/the-cat-sat")
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    sheets = PdfReader(tmp_path / "page.pdf").pages
    assert 1 <= len(sheets) <= 12
    said = " ".join("".join(sheet.extract_text() for sheet in sheets).split())
    assert "How strong is the preference of each row" in said  # folded away on the screen
    assert "Weighted values and head outputs" not in said
    assert "open it there to print it" in said
    assert "assert " not in said
    width = "all => all.map((svg) => svg.getBoundingClientRect().width)"
    before = page.locator(".drawing > svg").evaluate_all(width)
    page.emulate_media(media="print")
    for selector in (
        *(".bd-header-article", ".bd-sidebar-primary", ".cell_input", "#jb-print-toc"),
        "details.code-fold > summary",
    ):
        expect(page.locator(selector).first).not_to_be_visible()
    expect(page.locator("article h1").first).to_be_visible()
    after = page.locator(".drawing > svg").evaluate_all(width)
    assert 400 < max(after) < 0.8 * max(before)
    assert page.evaluate(checks.MEETING) == []
