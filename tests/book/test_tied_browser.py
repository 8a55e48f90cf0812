"""Numbers of the text that follow the strip, on the built pages: by hand, and against `mha`.

What a page says is read off it; what it should say is computed here from the same inputs.
"""

import json
import re

import numpy as np
import pytest
from accessible import violations
from book_site import rest, soup, until
from hand import middle, swipe
from playwright.sync_api import expect
from runs_of_pages import example_of, run_of
from seeds import SEED

import mha
from mha import Place, trace_blocks
from mha.views.arithmetic import written_out

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGES = {
    "mechanism/what-attention-does": 30,
    "mechanism/self-attention": 20,
    "mechanism/multi-head-attention": 30,
    "examples/cat-sat": 25,
    "transformer/depth": 20,
}
"""Pages, and the fewest numbers of each that are tied."""

UNARY = {"exp": np.exp, "sqrt": np.sqrt, "abs": abs}
BINARY = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": lambda a, b: a / b, "max": max, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
}  # fmt: skip


def runs_of(page):
    """Return the runs of a page's explorers by name, as they are now, computed by `mha`."""
    found = page.evaluate(
        """() => JSON.stringify([...document.querySelectorAll("mha-explorer")]
            .filter(({ explorer }) => explorer)
            .map(({ explorer: { data, state } }) => ({ data, edits: state.edits })))"""
    )
    runs = {}
    for one in json.loads(found):
        data = one["data"]
        for where, value in one["edits"].items():
            stage, *index = where.split(".")
            array = data["inputs"][stage]
            for i in index[:-1]:
                array = array[int(i)]
            array[int(index[-1])] = value
        runs[data["name"]] = run_of(data)
    return runs


def worth(formula, run):
    stack = []
    for part in formula.split():
        if part in UNARY:
            stack.append(UNARY[part](stack.pop()))
        elif part in BINARY:
            right, left = stack.pop(), stack.pop()
            stack.append(BINARY[part](left, right))
        else:
            stack.append(Place.parse(part).value(run) if "." in part[1:] and part[0].isalpha()
                         else float(part))  # fmt: skip
    return stack[0]


def wanted(formula, how, run):
    """Return what a tied number should say, None for a claim in words."""
    if how.startswith("holds"):
        return None
    name, places = how.split(":")
    if name == "line":
        return str(written_out(mha.origin(run, Place.parse(formula)), int(places)))
    return str(getattr(mha, name)(worth(formula, run), int(places)))


# Without those in a quiz or a box that says as a whole that its numbers are the book's.
SAID = """() => [...document.querySelectorAll("data[data-of]")]
    .filter((data) => !data.closest("[class*=tag_of-]")).map((data) => {
  const copy = data.cloneNode(true);
  copy.querySelectorAll("sup").forEach((sup) => sup.prepend("^"));
  return [data.dataset.of, data.value, data.dataset.as, copy.textContent, data.className];
})"""


@pytest.fixture
def tied(opened):
    """Return a function that opens a page whose numbers are tied."""

    def open_page(name, width=1280, is_tied=True, **options):
        page = opened(name, width=width, **options)
        page.keyboard.press("Shift")  # a reader does something
        if is_tied:
            until(page, "document.querySelector('data .at, data.at') !== null")
        return page

    return open_page


def settled(page):
    """Wait until what is out of sight has followed too."""
    rest(page, 400)


@pytest.mark.parametrize("name", PAGES)
def test_every_tied_number_is_what_the_package_gives_and_the_small_strip_covers_nothing(tied, name):
    page = tied(name)
    the_small_strip_stands_while_its_numbers_are_read_and_covers_nothing(page)
    for fold in page.locator("details.all-numbers > summary").all():
        fold.click(position={"x": 4, "y": 12})
    settled(page)
    printed = page.evaluate(SAID)
    assert len(printed) >= PAGES[name]
    drawn = np.random.default_rng(SEED).normal(size=40).round(1).tolist()
    page.evaluate(
        """(drawn) => document.querySelectorAll("mha-explorer").forEach(({ explorer }) => {
          const fields = explorer?.strip.numbers.filter(({ given }) => given) ?? [];
          fields.forEach((one, i) => i % 2 || explorer.strip.edit(one, drawn[i % drawn.length]));
        })""",
        drawn,
    )
    settled(page)
    runs, said, compared = runs_of(page), page.evaluate(SAID), 0
    for of, formula, how, text, classes in said:
        if of not in runs or "|" in formula or how.startswith(("holds", "at_", "own")):
            continue
        assert text == wanted(formula, how, runs[of]), (formula, how)
        compared += 1
        before = next(old[3] for old in printed if old[:3] == [of, formula, how])
        assert ("moved" in classes) == (text != before)
    assert compared >= 10
    assert any("moved" in one[4] for one in said)
    page.evaluate(
        """document.querySelectorAll("mha-explorer").forEach(({ explorer }) => explorer?.reset())"""
    )
    settled(page)
    assert page.evaluate(SAID) == printed
    page.set_viewport_size({"width": 390, "height": 900})
    the_small_strip_stands_while_its_numbers_are_read_and_covers_nothing(page)
    centre(page, page.locator("data[data-of]:visible").nth(5))
    rest(page, 300)
    if page.locator(".small-strip:visible").count():
        page.get_by_role("button", name="Put the small strip away").click()
        assert page.locator(".small-strip:visible").count() == 0


def edit(page, where, value):
    """Change a number of the page's first explorer, and wait until all has followed."""
    page.evaluate("([at, value]) => document.querySelector('mha-explorer').explorer"
                  ".edit(mhaPlaces.parse(at), value)", [where, value])  # fmt: skip
    settled(page)


def reset(page):
    page.evaluate("document.querySelector('mha-explorer').explorer.reset()")
    settled(page)


def test_tables_follow_and_what_does_not_says_that_it_has_the_books_numbers(tied):
    page = tied("mechanism/what-attention-does")
    settled(page)
    assert page.evaluate(OWN) == []
    printed = page.evaluate(SAID)
    edit(page, "query.0.0.0", 2)
    # No weight is marked as the largest of a row that it no longer is.
    cells = page.locator("#tbl-river-bank-weights td").all_inner_texts()
    rows = [[*map(mha.shown, row), "1.0000"] for row in runs_of(page)["river-bank"].weights[0]]
    assert [text.replace("∗", "") for text in cells] == [text for row in rows for text in row]
    assert "follows" in page.locator("#tbl-river-bank-weights table").get_attribute("class")
    reset(page)
    edit(page, "query.0.2.0", 3)
    marked = {*page.evaluate(OWN)}
    # A figure, a box, a quiz, a sentence; but no table that follows, and nothing of another kind.
    assert {"fig-river-bank-plane", "tbl-river-bank-words", "one-output-that-moved"} <= marked
    assert {"turn-river-bank-key-1-3-1-title", "quiz-river-bank-louder-title"} <= marked
    assert "tbl-river-bank-weights" not in marked
    panels = page.locator("#fig-river-bank-moved g[data-at] text:first-of-type")
    titles = [text.split(" (") for text in panels.all_text_contents()]
    assert ["the river bank"] in titles  # follows, and its neighbour does not
    assert ["the money bank", "the book’s numbers)"] in titles
    words = page.locator("data.own", has_text="The query of bank is the same")
    assert words.evaluate("e => getComputedStyle(e).textDecorationLine") == "none"
    # Print has the numbers of the book.
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(OWN) == []
    assert page.evaluate(SAID) == printed
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert {*page.evaluate(OWN)} == marked
    assert page.evaluate(SAID) != printed
    reset(page)
    assert page.evaluate(OWN) == []
    assert page.locator("data.own").count() == 0


def centre(page, locator):
    """Bring an element to the middle of the screen."""
    locator.evaluate("e => e.scrollIntoView({ block: 'center', behavior: 'instant' })")
    rest(page, 150)


def drag_without_letting_go(page, x, y, across):
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + across, y, steps=8)


def press_and_hold(page, button):
    """Press a button for a while, in which it has to stay under the pointer."""
    page.mouse.move(*middle(button), steps=5)
    page.mouse.down()
    rest(page, 150)
    page.mouse.up()
    settled(page)


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1100, 800), (1280, 800)])
def test_a_number_of_the_first_screen_is_scrubbed_and_a_reset_is_near(opened, width, height):
    page = opened("mechanism/what-attention-does", width=width, height=height,
                  has_touch=width == 390)  # fmt: skip
    number = page.locator("p data[role=spinbutton]").first
    number.wait_for()  # without any doing of the reader
    assert number.inner_text() == "3"
    circles = page.locator("#fig-river-bank-moved circle")
    zero, river = (circles.nth(i).bounding_box() for i in (0, 1))
    assert river["y"] + river["height"] < height
    small = page.locator(".small-strip:visible")
    assert small.count() == 0
    before, (x, y) = number.bounding_box(), middle(number)
    if width == 390:
        swipe(page, x, y, -40, steps=10)
    else:
        drag_without_letting_go(page, x, y, -40)
    assert number.inner_text() == "2.5"
    now = number.bounding_box()
    assert abs(now["x"] - before["x"]) <= 1
    assert abs(now["y"] - before["y"]) <= 1
    page.mouse.up()
    half = (river["x"] - zero["x"]) / 3 / 2
    assert abs(river["x"] - circles.nth(1).bounding_box()["x"] - half) < 1
    outcome = page.locator("p data[value='head_outputs.0.2.0']").first.inner_text()
    assert outcome == mha.shown(runs_of(page)["river-bank"].head_outputs[0, 2, 0], 2)
    number.press("ArrowDown")
    assert number.inner_text() == "2.4"
    assert number.get_attribute("aria-valuenow") == "2.4"
    assert number.get_attribute("title") == "In the book: 3"
    edits = page.evaluate("document.querySelector('mha-explorer').explorer.state.edits")
    assert edits == {"value.0.1.0": 2.4}
    centre(page, number)
    assert small.count() == 1
    assert violations(page) == []
    small.get_by_role("button", name="Reset").click()
    settled(page)
    assert number.inner_text() == "3"
    assert page.locator("data.moved").count() == 0
    if width == 390:
        a_small_strip_that_is_used_stays_where_it_covers_a_figure(page, number)
    steps_open_below_a_strip_that_stays_where_it_is(page)


def a_small_strip_that_is_used_stays_where_it_covers_a_figure(page, number):
    number.press("ArrowDown")
    small = page.locator(".small-strip")
    figure = page.locator("figure:not(:has(table)):has(svg:visible):not(:has(mha-explorer))").first
    figure.evaluate("e => scrollBy({ top: e.getBoundingClientRect().top - innerHeight / 2,"
                    " behavior: 'instant' })")  # fmt: skip
    rest(page, 150)
    assert figure.bounding_box()["y"] + figure.bounding_box()["height"] > small.bounding_box()["y"]
    expect(small).to_be_visible()  # the number has the focus
    page.mouse.move(200, 300)
    rest(page, 150)
    press_and_hold(page, small.get_by_role("button", name="Reset"))
    assert number.inner_text() == "3"
    page.mouse.move(200, 300)
    page.evaluate("document.activeElement.blur()")
    page.mouse.wheel(0, 1)
    expect(small).to_be_hidden()


def test_a_number_at_the_end_of_a_line_stays_there_while_it_is_dragged(tied):
    page = tied("mechanism/self-attention", 390)
    number = page.locator("p data[role=spinbutton]").first
    centre(page, number)
    x, y = middle(number)
    assert x > 340
    drag_without_letting_go(page, x, y, -40)
    assert number.inner_text() == "2.5"
    assert abs(middle(number)[0] - x) <= 1
    page.mouse.up()


def steps_open_below_a_strip_that_stays_where_it_is(page):
    button = page.get_by_role("button", name="Step by step")
    centre(page, button)
    before = page.locator(".strip").bounding_box()
    button.click()
    page.locator(".steps .time-bar").wait_for()
    rest(page, 150)
    assert page.locator(".strip").bounding_box() == before
    expect(button).to_be_in_viewport()


def test_pointing_lights_the_place_in_the_strip_and_reset_stays_under_the_pointer(tied):
    page = tied("mechanism/self-attention")
    line = page.locator("data[value='weights.0.0.1'][data-as^=line]").first
    centre(page, line)
    line.locator(".at").last.hover()
    lit = "document.querySelector('#explore-cat-sat .center')?.ariaLabel"
    assert page.evaluate(lit) == "0.2689, Weight that cat gives to sat"
    page.mouse.move(2, 400)
    assert page.evaluate(lit) is None
    word = page.locator(".says-key").first
    centre(page, word)
    word.hover()
    assert page.locator(".strip[data-part=key]").count() > 0
    page.locator("p data[role=spinbutton]").first.press("ArrowUp")
    button = page.locator(".small-strip.in-margin").get_by_role("button", name="Reset")
    expect(button).to_be_visible()
    rest(page, 150)
    press_and_hold(page, button)
    assert page.locator("data.moved").count() == 0


def test_a_claim_that_no_longer_holds_is_grey_and_says_what_is(tied):
    page = tied("examples/cat-sat")
    claim = page.locator("data", has_text="more than a quarter").first
    assert "fails" not in (claim.get_attribute("class") or "")
    edit(page, "query.0.0.0", 3)
    assert "fails" in claim.get_attribute("class")
    share = mha.percent(runs_of(page)["cat-sat"].weights[0, 0, 1])
    assert claim.evaluate("e => e.nextSibling.textContent") == f" (now {share})"
    reset(page)
    assert "fails" not in claim.get_attribute("class")


def test_no_sentence_sets_a_number_of_the_reader_beside_one_of_the_book(tied):
    page = tied("examples/the-cat-sat")
    edit(page, "embeddings.1.0", 1.2)
    edit(page, "embeddings.2.2", -2.5)  # by which the preferences turn round
    run = runs_of(page)["the-cat-sat"]
    says = page.locator("p", has_text="The largest weight of cat in Head 1 goes from").inner_text()
    rows = [row[1] for head in (0, 1) for row in (run.weights[head], mha.softmax(run.scores[head]))]
    assert re.findall(r"\d+\s%", says) == [mha.percent(row.max()) for row in rows]
    assert (np.argsort(-run.weights[0]) != [2, 0, 1]).any()
    failing = page.locator("data.fails").all_inner_texts()
    assert "Head 1 attends most to sat and least to cat" in failing
    # A quiz that says as a whole that it has the book's numbers has no other.
    title = page.locator("#quiz-the-cat-sat-louder-title")
    assert "(the book’s numbers)" in title.inner_text()
    inside = "e => e.closest('[class*=tag_of-]').querySelectorAll('data.moved').length"
    assert title.evaluate(inside) == 0


def test_arcs_and_the_small_strip_follow_the_readers_run_on_a_desk_and_on_a_phone(tied):
    page = tied("mechanism/multi-head-attention", has_touch=True)
    number = page.locator("p data[role=spinbutton]").first
    number.focus()
    for _ in range(12):
        number.press("ArrowDown")  # cat is less of an animal
    run = runs_of(page)["it-tired"]
    assert run.embeddings[0, 0] < 1
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        arcs = page.locator("#fig-it-tired-arcs svg:visible [data-weight]")
        expect(arcs).to_have_count(2 * 2 * len(run.tokens))
        for part in arcs.all():
            weight = run.weights[*map(int, part.get_attribute("data-weight").split())]
            if part.locator("text").count():
                expect(part.locator("text")).to_have_text(mha.percent(weight))
            elif weight >= 0.01:
                wide = float(part.locator("path").get_attribute("stroke-width").removesuffix("px"))
                assert abs(wide - max(0.6, 16 * weight)) < 0.01
    reset(page)
    edit(page, "embeddings.3.3", 1)
    centre(page, page.locator("#tbl-it-tired-stream"))
    strip = page.locator(".small-strip:visible")
    strip.wait_for()
    assert "Head 2" in strip.inner_text()  # whose weights changed
    for part in [*strip.locator(".weight").all(), strip.get_by_role("button", name="Reset")]:
        box = part.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    page.evaluate("document.querySelector('mha-explorer').explorer"
                  ".change({ off: [false, true] }, '')")  # fmt: skip
    expect(strip).to_contain_text("Head 1")
    share = page.locator("data[value^='head_contributions.1.']").first
    expect(share).to_have_class(re.compile(r"\boff\b"))
    assert share.evaluate("e => e.nextSibling.textContent") == " (off)"
    strip.get_by_role("button", name="Reset").click()
    expect(page.locator("data.off")).to_have_count(0)


OWN = """() => [...document.querySelectorAll(".now")]
    .filter((mark) => mark.textContent.includes("the book’s numbers"))
    .map((mark) => mark.closest("[id]").id)"""


NESTED = """() => [...document.querySelectorAll("data + .now, p > .now")].filter((mark) => {
  const before = document.createRange();
  before.setStart(mark.closest("p, li, td, .caption-text") ?? mark.parentNode, 0);
  before.setEndBefore(mark);
  const count = (sign) => before.toString().split(sign).length;
  return count("(") > count(")") && !/^ \\[.*\\]$/.test(mark.textContent);
}).map((mark) => mark.parentNode.textContent)"""


@pytest.mark.parametrize(
    ("name", "place", "said"),
    [
        ("mechanism/softmax", "embeddings.2.0", "it was (2.38, 0.26) (the book’s numbers). A"),
        ("transformer/order", "query.0.0.0", "0 and 1 [the book’s numbers], with their signs.)"),
    ],
)
def test_a_remark_about_a_number_in_brackets_doubles_none(tied, name, place, said):
    page = tied(name)
    edit(page, place, -1)
    expect(page.locator("main")).to_contain_text(said)
    assert page.evaluate(NESTED) == []


def test_what_an_order_changes_is_said_where_it_is(tied):
    page = tied("transformer/order")
    page.get_by_role("button", name="Last word first").first.click()
    settled(page)
    expect(page.locator("mha-explorer .strip > .strip-title")).to_contain_text("in sat cat?")
    # Words that change places no longer stand at their positions.
    at = page.locator("data.own", has_text="stands at position 0, sat at position 1")
    expect(at).to_have_count(1)
    assert at.evaluate("e => e.nextSibling.textContent") == " (the book’s numbers)"
    assert page.locator("data.fails", has_text="stays as it is").count() == 1
    centre(page, page.locator("data.moved").first)
    expect(page.locator(".small-changed")).to_contain_text("Marked ∗")


def test_the_small_strip_speaks_of_no_stars_and_has_room_beside_the_contents(tied):
    page = tied("transformer/decoding")
    page.get_by_label("Causal: no later keys").first.uncheck()
    page.locator("#fig-decoding-cache").scroll_into_view_if_needed()
    settled(page)
    assert page.locator("data.moved").count() == 0
    expect(page.locator(".small-changed")).to_contain_text("These are your numbers.")
    reset(page)
    edit(page, "embeddings.2.0", 1.9)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    settled(page)
    strip = page.locator(".small-strip.in-margin:visible")
    button = strip.get_by_role("button", name="Reset").bounding_box()
    assert button["y"] + button["height"] < 800
    contents = page.locator("nav.page-toc.gives-way").bounding_box()
    assert contents["y"] + contents["height"] < strip.bounding_box()["y"]
    expect(strip).to_contain_text("These are your numbers.")  # no star is on the screen
    assert not page.evaluate(COVERED)
    strip.get_by_role("button", name="Put the small strip away").click()
    expect(page.locator("nav.page-toc.gives-way")).to_have_count(0)


def test_what_is_typed_into_stays_though_text_above_it_takes_another_line(tied):
    page = tied("transformer/depth")
    one = page.locator("#explore-it-tired-second-layer .vector input").first
    centre(page, one)
    one.scroll_into_view_if_needed()
    one.click()
    page.evaluate("e => scrollBy(0, document.activeElement.getBoundingClientRect().top - 330)")
    settled(page)
    before = page.evaluate("document.activeElement.getBoundingClientRect().top")
    page.keyboard.type("0.03")
    settled(page)
    assert page.locator(".now", has_text="(the book’s numbers)").count() > 0
    assert abs(page.evaluate("document.activeElement.getBoundingClientRect().top") - before) < 1
    second = page.locator("#explore-it-tired-second-layer")  # whose numbers have most digits
    expect(second.locator(".at-weights").first).to_be_visible()
    assert second.evaluate("e => e.scrollWidth - e.clientWidth") == 0


def test_words_about_an_instrument_without_a_run_say_that_they_have_the_books_numbers(tied):
    page = tied("transformer/since-2023", is_tied=False)
    words = page.locator("[class*=tag_of-sheet]")
    said = page.locator("[class*=tag_of-sheet] > .as-at-first")
    live = page.locator("mha-instrument.live .sheet-live")
    page.locator("mha-instrument").first.scroll_into_view_if_needed()
    live.get_by_role("checkbox").first.check()
    expect(page.locator("#fig-since-explorer .as-at-first")).to_have_count(
        0
    )  # nothing of it is false
    expect(said).to_have_count(0)  # a switch leaves the numbers that the text works with
    live.locator("input.given").first.fill("2.3")
    expect(said).to_have_count(words.count())
    assert words.count() >= 6
    assert {*said.all_text_contents()} == {" (the book’s numbers)"}
    live.get_by_role("button", name="As at first").click()
    expect(said).to_have_count(0)
    page = tied("transformer/small-model", is_tied=False)
    page.locator("mha-instrument").first.scroll_into_view_if_needed()
    page.locator(".model-head input").first.uncheck()
    expect(page.locator("#tbl-names-losses .as-at-first")).to_have_count(1)


COVERED = """() => {
  const strip = document.querySelector(".small-strip:not([hidden])");
  if (!strip || getComputedStyle(strip).visibility === "hidden") return null;
  const box = strip.getBoundingClientRect();
  const isFoot = strip.classList.contains("at-foot");
  if (box.top < 0 || box.bottom > innerHeight + 1) return ["reaches out of the window"];
  if (isFoot) {
    const there = document.elementFromPoint(box.left + 30, box.top + 12);
    return box.height > 96 || !strip.contains(there) ? [box.height, there?.outerHTML] : [];
  }
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const covered = [];
  while (walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const list = walker.currentNode.parentElement.closest(".gives-way");
    // What is cut off is not seen.
    const end = list ? list.getBoundingClientRect().bottom : innerHeight;
    for (const one of range.getClientRects()) {
      if (one.top >= end) continue;
      if (one.width && one.right > box.left && one.left < box.right && one.bottom > box.top
        && one.top < box.bottom && walker.currentNode.parentElement.checkVisibility())
        covered.push(walker.currentNode.data.slice(0, 40));
    }
  }
  return covered;
}"""


def the_small_strip_stands_while_its_numbers_are_read_and_covers_nothing(page):
    height = page.evaluate("document.documentElement.scrollHeight")
    stood = 0
    for top in range(0, height, 1400):
        page.evaluate("(top) => scrollTo({ top, behavior: 'instant' })", top)
        rest(page, 60)
        covered = page.evaluate(COVERED)
        stood += covered is not None
        assert not covered, top
    assert stood > 1
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")


# ---- Depth ----


def test_the_second_layer_follows_the_letters_or_fails(tied):
    page = tied("transformer/depth")
    page.locator("mha-instrument.live .letters").wait_for()
    box = page.locator(".letters").bounding_box()
    assert box["y"] + box["height"] < 2 * 900  # within two screens
    letters = page.locator(".letters select")
    status = page.locator(".letters .status")
    assert "The last A finds B, which stood after an A: the guess is B" in status.inner_text()
    settled(page)
    said, captions = page.evaluate(SAID), page.locator(".as-at-first")
    assert captions.count() == 0
    letters.nth(0).select_option("B")
    assert "the second layer has found nothing" in status.inner_text()
    # A caption says that it is of the figure as first shown.
    figure = captions.evaluate_all("all => all.map((one) => one.closest('figure').id)")
    assert figure == ["fig-depth-a-b-a"]
    expect(page.locator("data.own", has_text="The last A meets B")).to_have_count(1)
    settled(page)
    of = "letters-a-b-a-2"
    data = json.loads(soup("transformer/depth").select_one("#letters-a-b-a > script").string)
    first, second = data["layers"]
    first["inputs"]["embeddings"][1][:2] = [0, 1]
    example, block = example_of(first)
    run = trace_blocks(example, [block, example_of(second)[1]])[1]
    compared = 0
    for name, formula, how, text, _ in page.evaluate(SAID):
        if name == of and not how.startswith("holds"):
            assert text == wanted(formula, how, run)
            compared += 1
    assert compared >= 6
    page.get_by_role("button", name="Reset").first.click()
    settled(page)
    assert page.evaluate(SAID) == said
    expect(captions).to_have_count(0)
