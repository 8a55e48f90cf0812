"""How the pages look, as far as a machine can hold it: nothing is small, cut or covered."""

import re

import book_site as site
import pytest
from book_site import path

PAGES = site.toc_pages()

pytestmark = pytest.mark.book

# Texts below 12 pixels. Indices and exponents of mathematics are small by their nature.
SMALL = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const element = text.parentElement;
    const skipped = "math, script, style, noscript, .reading-unseen, dialog:not([open])";
    if (!text.data.trim() || element.closest(skipped) || !element.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    if (range.getBoundingClientRect().width < 2) continue;  // for those who listen
    const drawn = element.closest("svg") && element.getScreenCTM();
    const scale = drawn ? Math.hypot(drawn.a, drawn.b) : 1;  // of a turned word, too
    const size = parseFloat(getComputedStyle(element).fontSize) * scale;
    if (size < 11.99) found.push(`${size} ${text.data.trim().slice(0, 40)}`);
  }
  return found;
}"""

# Words of a drawing that leave it, and pairs of words of which one covers the other. A turned word
# has a box of another kind.
MEETING = """() => [...document.querySelectorAll(".drawing > svg")].flatMap((svg) => {
  const whole = svg.getBoundingClientRect();
  const words = [...svg.querySelectorAll("text:not([transform])")]
    .filter((text) => text.checkVisibility() && text.textContent.trim())
    .map((text) => [text.textContent, text.getBoundingClientRect()])
    .filter(([, box]) => box.width > 0);
  const out = words.filter(([, box]) => box.left < whole.left - 1 || box.right > whole.right + 1
    || box.top < whole.top - 2 || box.bottom > whole.bottom + 4).map(([text]) => text);
  const meet = words.flatMap(([a, one], i) => words.slice(i + 1).filter(([, other]) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 2
    && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 8
  ).map(([b]) => `${a} | ${b}`));
  return [...out, ...meet];
})"""

GAPS = """all => all.filter((e) => e.checkVisibility()).map((e) => {
  const below = e.nextElementSibling?.getBoundingClientRect();
  return below ? below.top - e.getBoundingClientRect().bottom : 99;
})"""


@pytest.fixture
def opened(browser):
    """Return a function that opens a page at a width, with all its folds."""
    contexts = []

    def open_page(name, *, width, size="100%"):
        context = browser.new_context(viewport={"width": width, "height": 900})
        contexts.append(context)
        page = context.new_page()
        page.goto(path(name).as_uri())
        page.wait_for_load_state("load")
        page.add_style_tag(content=f"html {{ font-size: {size} }}")
        page.evaluate("document.querySelectorAll('details').forEach((fold) => fold.open = true)")
        site.until(page, "!document.querySelector('details > noscript')")
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.browser
@pytest.mark.parametrize("name", [*PAGES, "search"])
def test_on_a_phone_no_text_is_small_and_no_word_covers_another(opened, name):
    page = opened(name, width=390)
    assert page.evaluate(SMALL) == []
    assert page.evaluate(MEETING) == []


@pytest.mark.browser
@pytest.mark.parametrize("name", PAGES)
def test_on_a_desk_no_word_of_a_drawing_covers_another(opened, name):
    assert opened(name, width=1280).evaluate(MEETING) == []


@pytest.mark.browser
@pytest.mark.parametrize("width", [1000, 1100, 1190])
@pytest.mark.parametrize("name", ["mechanism/self-attention", "examples/apple"])
def test_what_is_wide_stays_in_the_page_where_there_is_no_margin(opened, name, width):
    page = opened(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
@pytest.mark.parametrize("width", [768, 1280])
@pytest.mark.parametrize("name", ["mechanism/self-attention", "mechanism/scaling", "notation"])
def test_text_of_twice_the_size_leaves_the_page_as_wide_as_the_screen(opened, name, width):
    page = opened(name, width=width, size="200%")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
@pytest.mark.parametrize("name", ["mechanism/scaling", "examples/cat-sat-on-it"])
def test_on_paper_a_drawing_is_smaller_and_whole(opened, name):
    page = opened(name, width=1280)
    width = "all => all.map((svg) => svg.getBoundingClientRect().width)"
    before = page.locator(".drawing > svg").evaluate_all(width)
    page.emulate_media(media="print")
    after = page.locator(".drawing > svg").evaluate_all(width)
    assert 400 < max(after) < 0.8 * max(before)
    assert page.evaluate(MEETING) == []


@pytest.mark.browser
def test_a_caption_is_as_wide_as_its_line_and_makes_nothing_wider(opened):
    page = opened("mechanism/scaling", width=1280)
    caption, table, scrolls = page.locator("#tbl-scaling-scores, table.numbers").first.evaluate(
        """table => [table.caption.getBoundingClientRect().width,
                     table.rows[0].getBoundingClientRect().width,
                     table.parentElement.scrollWidth > table.parentElement.clientWidth]"""
    )
    assert caption > 2 * table
    assert not scrolls


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_figures_captions_and_folded_code_keep_their_distance(opened, width):
    page = opened("mechanism/scaling", width=width)
    assert min(page.locator(".bd-article figure > .drawing").evaluate_all(GAPS)) >= 0
    padding = "all => all.map((e) => parseFloat(getComputedStyle(e).paddingTop))"
    assert min(page.locator(".drawing + figcaption").evaluate_all(padding)) >= 10
    folded = ".bd-article div.cell:has(> details.code-fold:only-child)"
    assert min(page.locator(folded).evaluate_all(GAPS)) >= 10


@pytest.mark.parametrize("name", [*PAGES, "search"])
def test_no_markup_is_left_in_the_text(name):
    texts = site.soup(name).find("article").find_all(string=True)
    read = "".join(text for text in texts if not text.find_parent(["code", "pre", "script"]))
    assert re.findall(r"\{[a-z:]+\}", read) == []


def test_the_list_of_all_chapters_has_their_whole_titles():
    listed = [link.get_text() for link in site.soup("search").select("article li a")]
    assert "The cat sat <end>: most is not near" in listed
