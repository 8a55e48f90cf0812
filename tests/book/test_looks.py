"""How the pages look, as far as a machine can hold it: nothing is small, cut or covered."""

import book_site as site
import pytest
from page_checks import no_word_of_a_drawing_covers_another

pytestmark = pytest.mark.book

GAPS = """all => all.filter((e) => e.checkVisibility()).map((e) => {
  const below = e.nextElementSibling?.getBoundingClientRect();
  return below ? below.top - e.getBoundingClientRect().bottom : 99;
})"""


@pytest.mark.browser
@pytest.mark.parametrize("name", ["mechanism/self-attention", "examples/apple", "notation"])
def test_a_page_is_as_wide_as_the_screen_without_a_margin_and_with_large_letters(opened, name):
    page = opened(name, folds=True)
    for width, size in ((1000, 100), (1100, 100), (1190, 100), (768, 200), (1280, 200)):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate(f"document.documentElement.style.fontSize = '{size}%'")
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
@pytest.mark.parametrize("name", ["mechanism/scaling", "examples/cat-sat-on-it"])
def test_on_paper_a_drawing_is_smaller_and_whole(opened, name):
    page = opened(name, folds=True)
    width = "all => all.map((svg) => svg.getBoundingClientRect().width)"
    before = page.locator(".drawing > svg").evaluate_all(width)
    page.emulate_media(media="print")
    after = page.locator(".drawing > svg").evaluate_all(width)
    assert 400 < max(after) < 0.8 * max(before)
    no_word_of_a_drawing_covers_another(page)


@pytest.mark.browser
def test_a_caption_is_as_wide_as_its_line_and_makes_nothing_wider(opened):
    page = opened("mechanism/scaling", folds=True)
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
    page = opened("mechanism/scaling", width=width, folds=True)
    # The words of a figure of the full measure stand beside it where there is a margin.
    beside = ".tag_full-width *" if width > 1200 else ".none"
    drawings = page.locator(f".bd-article figure > .drawing:not({beside})")
    assert min(drawings.evaluate_all(GAPS)) >= 0
    padding = "all => all.map((e) => parseFloat(getComputedStyle(e).paddingTop))"
    assert min(page.locator(".drawing + figcaption").evaluate_all(padding)) >= 10
    folded = ".bd-article details.code-fold"
    assert min(page.locator(folded).evaluate_all(GAPS)) >= 10


# How far the labels of rows stand from the line of their numbers.
OFF_THE_LINE = """rows => rows.filter((row) => row.checkVisibility()).map((row) => {
  const [label, number] = ["th", "td"].map((cell) => {
    const texts = document.createTreeWalker(row.querySelector(cell), NodeFilter.SHOW_TEXT);
    while (texts.nextNode() && !texts.currentNode.data.trim());
    const mark = document.createElement("span");
    mark.style.display = "inline-block";
    texts.currentNode.parentElement.insertBefore(mark, texts.currentNode);
    const line = mark.getBoundingClientRect().bottom;
    mark.remove();
    return line;
  });
  return Math.abs(label - number);
})"""


@pytest.mark.browser
@pytest.mark.parametrize("name", ["examples/cat-sat", "examples/work-your-own"])
def test_labels_stand_on_the_line_of_their_numbers(opened, name):
    rows = opened(name, folds=True).locator(".bd-article .stage-part tbody tr")
    assert max(rows.evaluate_all(OFF_THE_LINE)) < 0.5


@pytest.mark.browser
def test_fractions_of_neighbouring_lines_do_not_touch(opened):
    page = opened("transformer/learning", width=390, folds=True)
    boxes = page.locator(".bd-article mfrac:visible").evaluate_all(
        "all => all.map((e) => e.getBoundingClientRect()).map((r) => [r.top, r.bottom])"
    )
    gaps = [b[0] - a[1] for a in boxes for b in boxes if a[1] - 5 < b[0] < a[1] + 20]
    assert min(gaps) > 2


@pytest.mark.browser
def test_a_table_on_a_phone_breaks_its_labels_before_it_scrolls(opened):
    page = opened("examples/overview", width=390, folds=True)
    for table in ("sizes", "shapes"):
        held = page.locator(f"#tbl-example-overview-{table}")
        whole = "e => [e, e.parentElement].every((b) => b.scrollWidth <= b.clientWidth)"
        assert held.evaluate(whole), table


@pytest.mark.browser
def test_the_contents_mark_the_open_page_alone_and_take_their_whole_width(opened):
    links = opened("reference/layer", folds=True).locator("nav.bd-links li > a")
    styles = links.evaluate_all(
        "all => all.map(getComputedStyle).map((s) => [s.fontWeight, parseFloat(s.paddingRight)])"
    )
    assert [weight for weight, _ in styles].count("600") == 1
    assert max(padding for _, padding in styles) < 20


def test_the_list_of_all_chapters_has_their_whole_titles():
    listed = [link.get_text() for link in site.soup("search").select("article li a")]
    assert "The cat sat <end>: most is not near" in listed
