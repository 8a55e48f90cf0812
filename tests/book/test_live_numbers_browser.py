"""Numbers of the text that follow the strip on the built pages, compared with `mha`.

The tests read the shown numbers from the page, and compute the expected ones from its inputs.
"""

import json
import operator
import re

import chains
import numpy as np
import pytest
from accessible import violations
from book_site import advance_clock, soup, until
from playwright.sync_api import expect
from pointer import middle, swipe
from runs_of_pages import example_of, run_of
from seeds import SEED

import mha
from mha import Place
from mha.runs import rounding
from mha.runs.record import trace_blocks
from mha.runs.rounding import percent, shown
from mha.views.arithmetic import write_arithmetic

pytestmark = [pytest.mark.book, pytest.mark.browser]

PAGES = {
    "mechanism/what-attention-does": 30,
    "mechanism/self-attention": 20,
    "mechanism/multi-head-attention": 30,
    "examples/cat-sat": 25,
    "examples/the-cat-sat": 20,
    "transformer/depth": 20,
}
"""Pages, and the minimal number of live numbers on each."""

UNARY = {"exp": np.exp, "sqrt": np.sqrt, "abs": abs}
BINARY = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "max": max,
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
            array = data["inputs"][stage] = np.array(data["inputs"][stage], float)
            array[*map(int, index)] = value
        runs[data["name"]] = run_of(data)
    return runs


def formula_value(formula, run):
    stack = []
    for part in formula.split():
        if part in UNARY:
            stack.append(UNARY[part](stack.pop()))
        elif part in BINARY:
            right, left = stack.pop(), stack.pop()
            stack.append(BINARY[part](left, right))
        elif part[0].isalpha():
            stack.append(Place.parse(part).value(run))
        else:
            stack.append(float(part))
    return stack[0]


def expected_text(formula, how, run):
    """Return the expected text of a live number."""
    name, places = how.split(":")
    if name == "line":
        return str(write_arithmetic(mha.origin(run, Place.parse(formula)), int(places)))
    return str(getattr(rounding, name)(formula_value(formula, run), int(places)))


# Except those in a quiz or a box, which has one notice that all its numbers are the book's.
SAID = """() => [...document.querySelectorAll("data[data-of]")]
    .filter((data) => !data.closest("[class*=tag_of-]")).map((data) => {
  const copy = data.cloneNode(true);
  copy.querySelectorAll("sup").forEach((sup) => sup.prepend("^"));
  return [data.dataset.of, data.value, data.dataset.as, copy.textContent, data.className];
})"""


OWN = """() => [...document.querySelectorAll(".now")]
    .filter((mark) => mark.textContent === "°")
    .map((mark) => mark.closest("[id]").id)"""

# Texts covered by the small strip, or a note that it leaves the window; null if there is no strip.
COVERED = """() => {
  const strip = document.querySelector(".small-strip:not([hidden])");
  if (!strip || getComputedStyle(strip).visibility === "hidden") return null;
  const box = strip.getBoundingClientRect();
  if (box.top < 0 || box.bottom > innerHeight + 1) return ["reaches out of the window"];
  if (strip.classList.contains("at-foot")) {
    const there = document.elementFromPoint(box.left + 30, box.top + 12);
    return box.height > 96 || !strip.contains(there) ? [box.height, there?.outerHTML] : [];
  }
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  const covered = [];
  while (walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const parent = walker.currentNode.parentElement;
    // Clipped text is not visible.
    const end = parent.closest(".gives-way")?.getBoundingClientRect().bottom ?? innerHeight;
    const meets = (one) => one.width && one.top < Math.min(end, box.bottom)
      && one.bottom > box.top && one.right > box.left && one.left < box.right;
    if (parent.checkVisibility() && [...range.getClientRects()].some(meets))
      covered.push(walker.currentNode.data.slice(0, 40));
  }
  return covered;
}"""


@pytest.fixture
def live_page(opened, with_modules):
    """Return a function that opens a page with live numbers."""

    def open_page(name, *, is_tied=True, **options):
        page = with_modules(opened(name, **options))
        page.keyboard.press("Shift")  # a reader does something
        if is_tied:
            until(page, "document.querySelector('data .at, data.at') !== null")
        return page

    return open_page


def wait_until_settled(page):
    """Wait until the elements outside the window are updated too."""
    advance_clock(page, 400)


def edit(page, where, value):
    """Change a number of the page's first explorer, and wait until all numbers are updated."""
    page.evaluate("([at, value]) => document.querySelector('mha-explorer').explorer"
                  ".edit(modules.places.parse(at), value)", [where, value])  # fmt: skip
    wait_until_settled(page)


def reset(page):
    page.evaluate("document.querySelectorAll('mha-explorer').forEach((e) => e.explorer?.reset())")
    wait_until_settled(page)


def scroll_to_centre(page, locator):
    """Scroll an element to the middle of the window."""
    locator.evaluate("e => e.scrollIntoView({ block: 'center', behavior: 'instant' })")
    advance_clock(page, 150)


def the_small_strip_stands_while_its_numbers_are_read_and_covers_nothing(page):
    height = page.evaluate("document.documentElement.scrollHeight")
    stood = 0
    for top in range(0, height, 1000):
        page.evaluate("(top) => scrollTo({ top, behavior: 'instant' })", top)
        advance_clock(page, 60)
        covered = page.evaluate(COVERED)
        stood += covered is not None
        assert not covered, top
    assert stood > 1
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")


@pytest.mark.parametrize("name", PAGES)
def test_every_tied_number_is_what_the_package_gives_and_the_small_strip_covers_nothing(
    live_page, name
):
    page = live_page(name)
    the_small_strip_stands_while_its_numbers_are_read_and_covers_nothing(page)
    for fold in page.locator("details.all-numbers > summary").all():
        fold.click(position={"x": 4, "y": 12})
    wait_until_settled(page)
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
    wait_until_settled(page)
    runs, said, compared = runs_of(page), page.evaluate(SAID), 0
    for of, formula, how, text, classes in said:
        if of not in runs or "|" in formula or how.startswith(("holds", "at_", "own")):
            continue
        assert text == expected_text(formula, how, runs[of]), (formula, how)
        compared += 1
        before = next(old[3] for old in printed if old[:3] == [of, formula, how])
        assert ("moved" in classes) == (text != before)
    assert compared >= 10
    assert any("moved" in one[4] for one in said)
    reset(page)
    assert page.evaluate(SAID) == printed
    page.set_viewport_size({"width": 390, "height": 900})
    the_small_strip_stands_while_its_numbers_are_read_and_covers_nothing(page)
    scroll_to_centre(page, page.locator("data[data-of]:visible").nth(5))
    advance_clock(page, 300)
    if page.locator(".small-strip:visible").count():
        page.get_by_role("button", name="Hide the small strip").click()
        assert page.locator(".small-strip:visible").count() == 0


# The lines of arithmetic in the text that follow the strip, and those that are shown for each
# number of the strip that is not given; words of two letters or more are removed.
LINES = """() => {
  const { explorer } = document.querySelector("mha-explorer");
  const { data, state, numbers, strip } = explorer;
  const prose = [...document.querySelectorAll("data[data-as^=line]")].map((data) => {
    const copy = data.cloneNode(true);
    copy.querySelectorAll("sup").forEach((sup) => sup.prepend("^"));
    return copy.textContent;
  });
  const worked = strip.numbers.filter(({ given }) => !given)
    .map(({ at }) => modules.explorerOrigins.worked(data, state, numbers, at));
  return [prose, worked].map((lines) =>
    lines.map((line) => line.replace(/\\p{L}{2,}/gu, (word) => (word === "max" ? word : ""))));
}"""


@pytest.mark.parametrize("name", ["mechanism/multi-head-attention", "examples/cat-sat"])
def test_lines_that_follow_random_edits_hold_as_they_are_printed(live_page, name):
    page = live_page(name)
    rng, first = np.random.default_rng(SEED), page.evaluate(LINES)
    assert min(map(len, first)) >= 2
    for places in (1, 2, 3, 4):
        drawn = rng.normal(scale=1.5, size=60).round(places).tolist()
        page.evaluate(
            """(drawn) => {
              const { strip } = document.querySelector("mha-explorer").explorer;
              const fields = strip.numbers.filter(({ given }) => given);
              fields.forEach((one, i) => strip.edit(one, drawn[i]));
            }""",
            drawn,
        )
        wait_until_settled(page)
        found = page.evaluate(LINES)
        assert found != first
        assert list(map(len, found)) == list(map(len, first))
        for line in [*found[0], *found[1]]:
            assert len(chains.hold(line)) == 1, line


def test_tables_follow_and_what_does_not_says_that_it_has_the_books_numbers(live_page):
    page = live_page("mechanism/what-attention-does")
    wait_until_settled(page)
    assert page.evaluate(OWN) == []
    printed = page.evaluate(SAID)
    edit(page, "query.0.0.0", 2)
    # No weight is marked as the largest of a row that it no longer is.
    cells = page.locator("#tbl-river-bank-weights td").all_inner_texts()
    rows = [[*map(shown, row), "1.0000"] for row in runs_of(page)["river-bank"].weights[0]]
    assert [text.replace("∗", "") for text in cells] == [text for row in rows for text in row]
    assert "follows" in page.locator("#tbl-river-bank-weights table").get_attribute("class")
    reset(page)
    edit(page, "query.0.2.0", 3)
    marked = {*page.evaluate(OWN)}
    # A figure, a box, a quiz, a sentence; but no live table, and no other kind of element.
    assert {"fig-river-bank-plane", "tbl-river-bank-words", "one-output-that-moved"} <= marked
    assert {"turn-river-bank-key-1-3-1-title", "quiz-river-bank-louder-title"} <= marked
    assert "tbl-river-bank-weights" not in marked
    panels = page.locator("#fig-river-bank-moved g[data-at] text:first-of-type")
    titles = panels.all_text_contents()
    assert "the river bank" in titles  # follows, and its neighbour does not
    assert "the money bank°" in titles
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


def is_dragged_and_stays(page, number):
    """Drag a number by mouse five steps to the left. The number must not move on the page."""
    left, (x, y) = number.bounding_box()["x"], middle(number)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 40, y, steps=8)
    assert number.inner_text() == "2.5"
    assert abs(number.bounding_box()["x"] - left) <= 1
    page.mouse.up()


VALUE_OF_RIVER = "p:has(+ .cell #fig-river-bank-moved) [role=spinbutton]"


@pytest.mark.parametrize(("width", "height"), [(390, 844), (1100, 800), (1280, 800)])
def test_a_number_above_its_figure_is_scrubbed_and_a_reset_is_near(live_page, width, height):
    page = live_page("mechanism/what-attention-does", width=width, height=height,
                has_touch=width == 390)  # fmt: skip
    number = page.locator(VALUE_OF_RIVER).first
    number.evaluate(
        "e => scrollBy({ top: e.getBoundingClientRect().top - 180, behavior: 'instant' })"
    )
    wait_until_settled(page)
    assert number.inner_text() == "3"
    circles = page.locator("#fig-river-bank-moved circle")
    zero, river = (circles.nth(i).bounding_box() for i in (0, 1))
    assert river["y"] + river["height"] < height
    small = page.locator(".small-strip:visible")
    if width == 390:
        swipe(page, *middle(number), -40, steps=10)
        assert number.inner_text() == "2.5"
    else:
        is_dragged_and_stays(page, number)
    half = (river["x"] - zero["x"]) / 3 / 2
    assert abs(river["x"] - circles.nth(1).bounding_box()["x"] - half) < 1
    outcome = page.locator(
        "p:has(+ .cell #fig-river-bank-moved) data[value='head_outputs.0.2.0']"
    ).inner_text()
    assert outcome == shown(runs_of(page)["river-bank"].head_outputs[0, 2, 0], 2)
    number.press("ArrowDown")
    assert number.inner_text() == "2.4"
    assert number.get_attribute("aria-valuenow") == "2.4"
    assert number.get_attribute("title") == "In the book: 3"
    edits = page.evaluate("document.querySelector('mha-explorer').explorer.state.edits")
    assert edits == {"value.0.1.0": 2.4}
    scroll_to_centre(page, number)
    assert small.count() == 1
    assert violations(page) == []
    small.get_by_role("button", name="Reset").click()
    wait_until_settled(page)
    assert number.inner_text() == "3"
    assert page.locator("data.moved").count() == 0
    # Steps open below a strip that stays where it is.
    button = page.get_by_role("button", name="Step by step")
    scroll_to_centre(page, button)
    before = page.locator(".strip").bounding_box()
    button.click()
    page.locator(".steps .time-bar").wait_for()
    advance_clock(page, 150)
    assert page.locator(".strip").bounding_box() == before
    expect(button).to_be_in_viewport()


def test_the_axes_of_a_figure_grow_with_its_points_and_come_back(live_page):
    page = live_page("mechanism/what-attention-does")
    number = page.locator(VALUE_OF_RIVER).first
    panel = page.locator("#fig-river-bank-moved [data-at]").first
    place = """(panel) => {
      const river = panel.querySelectorAll("circle")[1].getAttribute("cx");
      const ticks = [...panel.querySelectorAll('[data-axis="0"] text')]
        .map((e) => [e.textContent, Number(e.getAttribute("x"))]);
      return [Number(river), Object.fromEntries(ticks), panel.textContent];
    }"""
    river, ticks, said = panel.evaluate(place)
    assert river == ticks["3"]
    for _ in range(10):
        number.press("ArrowUp")
    wait_until_settled(page)
    river, ticks, text = panel.evaluate(place)
    assert (number.inner_text(), list(ticks)[-1]) == ("4", "4")
    assert river == pytest.approx(ticks["4"], abs=0.2)
    assert "(4" not in text
    for _ in range(10):
        number.press("ArrowDown")
    wait_until_settled(page)
    assert panel.evaluate(place)[2] == said


@pytest.mark.parametrize("width", [820, 900, 1024, 1100, 1280])
@pytest.mark.parametrize("name", ["mechanism/what-attention-does", "mechanism/self-attention"])
def test_two_planes_are_on_one_screen(opened, name, width):
    page = opened(name, width=width, height=768)
    page.locator("mha-explorer").first.scroll_into_view_if_needed()
    planes = page.locator("mha-explorer").first.locator(".plane:visible")
    planes.nth(1).wait_for()
    boxes = [plane.bounding_box() for plane in planes.all()]
    ends = [box["y"] + box["height"] for box in boxes]
    assert max(ends) - min(box["y"] for box in boxes) < 400
    assert min(box["width"] for box in boxes) > 290


def test_pointing_lights_the_place_in_the_strip_and_what_is_pressed_stays_there(live_page):
    page = live_page("mechanism/self-attention", width=390)
    number = page.locator("p data[role=spinbutton]").first
    for width in range(390, 319, -5):
        page.set_viewport_size({"width": width, "height": 900})
        scroll_to_centre(page, number)
        if middle(number)[0] > width - 50:  # at the end of its line
            break
    else:
        pytest.fail("at no width is the number at the end of its line")
    is_dragged_and_stays(page, number)
    page = live_page("mechanism/self-attention")
    line = page.locator("data[value='weights.0.0.1'][data-as^=line]").first
    scroll_to_centre(page, line)
    line.locator(".at").last.hover()
    lit = "document.querySelector('#explore-cat-sat .center')?.ariaLabel"
    assert page.evaluate(lit) == "0.2689, Weight that cat gives to sat"
    page.mouse.move(2, 400)
    assert page.evaluate(lit) is None
    word = page.locator(".says-key").first
    scroll_to_centre(page, word)
    word.hover()
    assert page.locator(".strip[data-part=key]").count() > 0
    far = "p data[role=spinbutton][value='value.0.0.0']"  # from its strip
    page.locator(far).press("ArrowUp")
    button = page.locator(".small-strip.in-margin").get_by_role("button", name="Reset")
    expect(button).to_be_visible()
    advance_clock(page, 150)
    page.mouse.move(*middle(button), steps=5)
    page.mouse.down()
    advance_clock(page, 150)  # in which the button has to stay under the pointer
    page.mouse.up()
    wait_until_settled(page)
    assert page.locator("data.moved").count() == 0


def test_a_claim_that_no_longer_holds_is_grey_and_says_what_is(live_page):
    page = live_page("examples/cat-sat")
    claim = page.locator("data", has_text="more than a quarter").first
    assert "fails" not in (claim.get_attribute("class") or "")
    edit(page, "query.0.0.0", 3)
    assert "fails" in claim.get_attribute("class")
    share = percent(runs_of(page)["cat-sat"].weights[0, 0, 1])
    assert claim.evaluate("e => e.nextSibling.textContent") == f" (now {share})"
    reset(page)
    assert "fails" not in claim.get_attribute("class")


def test_arcs_and_the_small_strip_follow_the_readers_run_on_a_desk_and_on_a_phone(live_page):
    page = live_page("mechanism/multi-head-attention", has_touch=True)
    number = page.locator("p data[role=spinbutton]").first
    number.focus()
    for _ in range(12):
        number.press("ArrowDown")  # cat is less of an animal
    wait_until_settled(page)
    run = runs_of(page)["it-tired"]
    assert run.embeddings[0, 0] < 1
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        arcs = page.locator("#fig-it-tired-arcs svg:visible [data-weight]")
        expect(arcs).to_have_count(2 * 2 * len(run.tokens))
        for part in arcs.all():
            weight = run.weights[*map(int, part.get_attribute("data-weight").split())]
            if part.locator("text").count():
                expect(part.locator("text")).to_have_text(percent(weight))
            elif weight >= 0.01:
                wide = float(part.locator("path").get_attribute("stroke-width").removesuffix("px"))
                assert abs(wide - max(0.6, 16 * weight)) < 0.01
    reset(page)
    edit(page, "embeddings.3.3", 1)
    scroll_to_centre(page, page.locator("#tbl-it-tired-stream"))
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


def test_an_order_s_changes_are_noted_in_place_and_a_note_splits_no_text(live_page):
    page = live_page("mechanism/softmax")
    edit(page, "embeddings.2.0", -1)
    expect(page.locator("main")).to_contain_text("is (2.38, 0.26)°. With")
    page = live_page("transformer/order")
    edit(page, "query.0.0.0", -1)
    said = "0 and 1°, with their signs.)"
    expect(page.locator("main")).to_contain_text(said)
    reset(page)
    page.get_by_role("button", name="Last word first").first.click()
    wait_until_settled(page)
    expect(page.locator("mha-explorer .strip > .strip-title")).to_contain_text("in sat cat?")
    # Words that are exchanged no longer have their positions.
    at = page.locator("data.own", has_text="has position 0, sat position 1")
    expect(at).to_have_count(1)
    mark = at.locator("xpath=following-sibling::*[1]")
    expect(mark).to_have_text("°")
    expect(mark).to_have_attribute("aria-label", "The book’s numbers")
    assert page.locator("data.fails", has_text="does not change").count() == 1
    scroll_to_centre(page, page.locator("data.moved").first)
    expect(page.locator(".small-changed")).to_contain_text("Marked ∗")


def test_the_small_strip_speaks_of_no_stars_and_has_room_beside_the_contents(live_page):
    page = live_page("transformer/decoding")
    page.get_by_label("Causal: no later keys").first.uncheck()
    page.locator("#fig-decoding-cache").scroll_into_view_if_needed()
    wait_until_settled(page)
    assert page.locator("data.moved").count() == 0
    expect(page.locator(".small-changed")).to_contain_text("These are your numbers.")
    reset(page)
    edit(page, "embeddings.2.0", 1.9)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    wait_until_settled(page)
    strip = page.locator(".small-strip.in-margin:visible")
    button = strip.get_by_role("button", name="Reset").bounding_box()
    assert button["y"] + button["height"] < 800
    contents = page.locator("nav.page-toc.gives-way").bounding_box()
    assert contents["y"] + contents["height"] < strip.bounding_box()["y"]
    expect(strip).to_contain_text("These are your numbers.")  # no star is on the screen
    assert not page.evaluate(COVERED)
    strip.get_by_role("button", name="Hide the small strip").click()
    expect(page.locator("nav.page-toc.gives-way")).to_have_count(0)


def test_what_is_typed_into_stays_though_text_above_it_takes_another_line(live_page):
    page = live_page("transformer/depth")
    one = page.locator("#explore-it-tired-second-layer .vector input").first
    scroll_to_centre(page, one)
    one.scroll_into_view_if_needed()
    one.click()
    page.evaluate("e => scrollBy(0, document.activeElement.getBoundingClientRect().top - 330)")
    wait_until_settled(page)
    before = page.evaluate("document.activeElement.getBoundingClientRect().top")
    page.keyboard.type("0.03")
    wait_until_settled(page)
    assert page.locator(".now", has_text="°").count() > 0
    assert abs(page.evaluate("document.activeElement.getBoundingClientRect().top") - before) < 1


# ---- Depth ----


def test_the_second_layer_follows_the_letters_or_fails(live_page):
    page = live_page("transformer/depth")
    page.locator("mha-instrument.live .letters").wait_for()
    box = page.locator(".letters").bounding_box()
    assert box["y"] + box["height"] < 2 * 900  # within two screens
    letters = page.locator(".letters select")
    status = page.locator(".letters .status")
    assert "The last A attends to B, which comes after an A: the guess is B" in status.inner_text()
    wait_until_settled(page)
    said, captions = page.evaluate(SAID), page.locator(".as-at-first")
    assert captions.count() == 0
    letters.nth(0).select_option("B")
    assert "the second layer finds nothing" in status.inner_text()
    # A caption states that it describes the figure's first state.
    figure = captions.evaluate_all("all => all.map((one) => one.closest('figure').id)")
    assert figure == ["fig-depth-a-b-a"]
    expect(page.locator("data.own", has_text="The last A attends to B")).to_have_count(1)
    wait_until_settled(page)
    of = "letters-a-b-a-2"
    data = json.loads(soup("transformer/depth").select_one("#letters-a-b-a > script").string)
    first, second = data["layers"]
    first["inputs"]["embeddings"][1][:2] = [0, 1]
    example, block = example_of(first)
    run = trace_blocks(example, [block, example_of(second)[1]])[1]
    compared = 0
    for name, formula, how, text, _ in page.evaluate(SAID):
        if name == of and not how.startswith("holds"):
            assert text == expected_text(formula, how, run)
            compared += 1
    assert compared >= 6
    page.get_by_role("button", name="Reset").first.click()
    wait_until_settled(page)
    assert page.evaluate(SAID) == said
    expect(captions).to_have_count(0)
