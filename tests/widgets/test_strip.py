"""The strip: one query on one screen, operated by mouse, touch and keyboard in Chromium."""

import re
from dataclasses import replace

import numpy as np
import pytest
from book_site import advance_clock
from helpers import parse_number
from playwright.sync_api import expect
from pointer import FRAME, drag, middle, swipe
from strips import sums_hold

from mha import Place, example_names, load_example, origin, trace
from mha.runs.rounding import shown
from mha.widgets.explorer import explorer
from mha.widgets.explorer_tasks import (
    head_unnoticed,
    weight_reaches,
    weights_alike,
)

pytestmark = pytest.mark.browser

FURTHEST = "all => Math.max(...all.map((one) => one.getBoundingClientRect().right))"

CUT = """() => [...document.querySelectorAll(".strip .number:not(:focus)")]
  .filter((e) => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
  .map((e) => e.value ?? e.textContent)"""

COLUMNS = ("scores", "scaled_scores", "exponentials", "weights")


def assert_shows(seen, run, row, head=0, component=0):
    """Assert that the strip shows one query of a run."""
    for stage in COLUMNS:
        found = [parse_number(text) for text in seen.numbers(stage)]
        # Where a sum ends in a 5 that is not shown, the last digit depends on the order of adding.
        np.testing.assert_allclose(found, getattr(run, stage)[head, row], atol=0.50001e-4, rtol=0)
    parts = run.weights[head, row] * run.value[head, :, component]
    assert seen.numbers("part") == [shown(float(x)) for x in parts]
    outputs = seen.page.locator(".sums .result").all_text_contents()
    assert outputs == [shown(float(x)) for x in run.head_outputs[head, row]]
    assert len(sums_hold(seen.page)) == 2 + (run.output is not None)


@pytest.mark.parametrize("name", example_names())
def test_an_explorer_starts_in_place_and_shows_the_numbers_of_the_trace(view, name):
    seen = view(name)
    assert seen.page.evaluate("window.placeAtFirst > 200")
    seen.wait_until_live()
    assert seen.page.evaluate("window.placeAtFirst - place()") == 0
    advance_clock(seen.page, 200)
    assert seen.page.evaluate("window.shift") == 0
    is_on_one_screen(seen)
    sources_and_all_that_is_moved_light_up(seen)
    assert_shows(seen, seen.run, seen.run.example.focus or 0)
    for head, name_of_head in enumerate(seen.run.head_names):
        if seen.run.num_heads > 1:
            seen.choose(name_of_head)
        for query in range(len(seen.run.tokens)):
            seen.page.locator(".chip").nth(query).click()
            assert_shows(seen, seen.run, query, head)
    nothing_lies_over_another_thing_and_the_drawing_is_kept(seen)


def is_on_one_screen(seen):
    """Assert that everything from the title to the heads' shares is visible and uncut."""
    assert seen.page.locator(".strip").bounding_box()["height"] <= 680
    assert seen.page.locator(".one").bounding_box()["height"] <= 448
    assert seen.page.locator(".strip .number:visible").evaluate_all(FURTHEST) <= 1280
    assert seen.page.evaluate(CUT) == []


# The space between neighbouring headings of the strip, in pixels.
BETWEEN_HEADINGS = """() => {
  const boxes = [...document.querySelectorAll(".heading .head")].filter((e) => e.checkVisibility())
    .map((e) => {
      const range = document.createRange();
      range.selectNodeContents(e);
      return range.getBoundingClientRect();
    }).filter((box) => box.width).sort((a, b) => a.left - b.left);
  return boxes.slice(1).map((box, i) => box.left - boxes[i].right);
}"""


@pytest.mark.parametrize("name", ["it-tired", "apple", "the-cat-sat-end"])
def test_the_query_of_long_vectors_is_above_the_keys_on_a_desk(view, name):
    seen = view(name)
    seen.wait_until_live()
    assert seen.run.embeddings.shape[1] >= 4
    for width in (1040, 1280):
        seen.page.set_viewport_size({"width": width, "height": 900})
        query, keys = (seen.page.locator(one).bounding_box() for one in (".query", ".rows"))
        assert query["y"] + query["height"] <= keys["y"] + 1
        assert query["height"] < 40
        assert min(seen.page.evaluate(BETWEEN_HEADINGS)) >= 16


CHAINS = """() => {
  const { strip } = document.querySelector("mha-explorer").explorer;
  strip.node.scrollIntoView();
  return strip.numbers.filter(({ node }) => node.closest(".one")).map(({ node, where }) => {
    node.focus({ preventScroll: true });
    const lit = strip.numbers.filter((one) => one.node.classList.contains("lit"));
    const away = lit.filter((one) => {
      const { top, bottom } = one.node.getBoundingClientRect();
      return top < 0 || bottom > innerHeight;
    });
    return [where, lit.map((one) => one.where), away.map((one) => one.where)];
  });
}"""


def sources(run, place):
    """Yield a place and all places that its number is computed from, without the matrices."""
    yield place
    for term in origin(run, place).terms:
        for operand in term:
            if operand.place is not None and not operand.place.stage_entry.is_parameter:
                yield from sources(run, operand.place)


def sources_and_all_that_is_moved_light_up(seen):
    """Assert it for every number of one query, which must fit on one screen."""
    found = seen.page.evaluate(CHAINS)
    shown = {where for where, _, _ in found}
    wanted = {where: {str(at) for at in sources(seen.run, Place.parse(where))} for where in shown}
    for where, lit, away in found:
        assert away == [], where
        due = {other for other in shown if other in wanted[where] or where in wanted[other]}
        also = {at for at in shown & set(lit) - due if ":" not in f"{at}{where}"}
        # A part of a sum lights its neighbours, too.
        assert (due - set(lit), also) == (set(), set()), where
    assert len(found) > 20


OVER = """() => {
  const boxes = [...document.querySelectorAll(".one :is(.number, .token, .bar)")]
    .filter((e) => e.checkVisibility()).map((e) => [e, e.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1)
    .filter(([, b]) => a.left + 2 < b.right && b.left + 2 < a.right
      && a.top + 2 < b.bottom && b.top + 2 < a.bottom)
    .map(([other]) => [one, other].map((e) => e.ariaLabel ?? e.className)));
}"""


def nothing_lies_over_another_thing_and_the_drawing_is_kept(seen):
    for width in (390, 600, 812, 1012, 1292, 1280):
        seen.page.set_viewport_size({"width": width, "height": 900})
        assert seen.page.evaluate(OVER) == []
        if width > 1000:  # a window of 1100, 1260 and 1280 pixels
            assert seen.page.locator(":is(.flow, .fan) svg:visible").count() == 2


def changed(run, row, column, value):
    embeddings = run.embeddings.copy()
    embeddings[row, column] = value
    return trace(replace(run.example, embeddings=embeddings))


def test_an_input_is_dragged_by_mouse_and_finger_and_up_a_finger_scrolls(view):
    seen = view("the-cat-sat", has_touch=True).wait_until_live()
    field = seen.number("Embedding of cat, x₁")
    box = field.bounding_box()
    x, y = box["x"] + 10, box["y"] + 12
    seen.page.mouse.move(x, y)
    seen.page.mouse.down()
    for step in range(1, 5):
        seen.page.mouse.move(x + 10 * step, y)
        # The hand rests: as long as it holds the number, that is one change.
        seen.page.evaluate("{ const n = performance.now(); performance.now = () => n + 2000; }")
    seen.page.mouse.up()
    after = changed(seen.run, 1, 0, 0.5)
    assert_shows(seen, after, 0)
    most = shown(float(np.abs(after.weights - seen.run.weights)[:, 0].max()))
    assert seen.status.startswith(f"The weights of the change by up to {most}")
    seen.page.get_by_role("button", name="Undo").click()
    assert_shows(seen, seen.run, 0)
    drag(seen.page, x, y, 0, -24, steps=6)
    assert_shows(seen, changed(seen.run, 1, 0, 0.3), 0)
    # A quick hand takes it along in one step, beyond its neighbours.
    seen.page.get_by_role("button", name="Reset").click()
    drag(seen.page, x, y, 64, steps=1)
    assert_shows(seen, changed(seen.run, 1, 0, 0.8), 0)
    swipe(seen.page, x, y, -24, steps=8)
    seen.page.evaluate(FRAME)
    assert_shows(seen, changed(seen.run, 1, 0, 0.5), 0)
    seen.page.set_viewport_size({"width": 1280, "height": 500})
    swipe(seen.page, *middle(field), 0, -80, steps=8)
    seen.page.wait_for_function("scrollY > 20")
    assert_shows(seen, changed(seen.run, 1, 0, 0.5), 0)


WAYS_OF_A_DRAG = """([label, by]) => {
  const e = document.querySelector(`.strip [aria-label="${label}"]`);
  e.scrollIntoView({ block: "center" });
  e.setPointerCapture = () => {};
  const place = () => { const b = e.getBoundingClientRect(); return [b.left, b.top]; };
  const [left, top] = place();
  const send = (type, x) => e.dispatchEvent(new PointerEvent(type, { bubbles: true,
    pointerId: 7, clientX: x, clientY: top + 9 }));
  const texts = new Set();
  let most = 0;
  send("pointerdown", left);
  for (let step = 1; step <= 40; step += 1) {
    send("pointermove", left + step * by);
    texts.add(e.value);
    most = Math.max(most, ...place().map((x, i) => Math.abs(x - [left, top][i])));
  }
  send("pointerup", left + 40 * by);
  return [most, texts.size];
}"""


def test_what_is_dragged_stays_under_the_pointer(view):
    seen = view("cat-sat-on-it").wait_until_live()
    for width in (390, 812, 1280):  # cards; the query above; the query beside
        seen.page.set_viewport_size({"width": width, "height": 900})
        for by in (30, -61):  # to −24 and beyond, through numbers of all lengths
            most, texts = seen.page.evaluate(WAYS_OF_A_DRAG, ["Embedding of it, x₃", by])
            assert most <= 1
            assert texts > 20


def test_a_value_that_is_computed_is_dragged_by_the_least_change_of_its_matrix(view):
    seen = view("the-cat-sat").wait_until_live()
    most, _ = seen.page.evaluate(WAYS_OF_A_DRAG, ["Value of cat, v₁, Head 1", 8])
    assert most <= 1
    values = seen.page.locator(".key .at-value input").evaluate_all("all => all.map(e => e.value)")
    assert values == ["0.4", "0.4", "4.6", "0.6", "0.3", "0.3"]
    way = np.linalg.pinv(seen.run.embeddings)[:, 1]
    w_v = np.array(seen.run.example.layer.w_v)
    w_v[0, :, 0] += 4 * way
    layer = replace(seen.run.example.layer, w_v=w_v)
    assert_shows(seen, trace(replace(seen.run.example, layer=layer)), 0)
    assert "Value of cat, v₁, Head 1 is now 4.6: its matrix has changed." in seen.status


AWAY = "document.body.style.paddingBottom = '3000px', scrollTo(0, 3000), drawn()"


def test_a_number_is_animated_once_and_any_action_stops_it(view):
    seen = view("the-cat-sat", width=390, is_new=True)
    field = seen.page.locator(".strip .given").first

    def come_again():
        seen.page.evaluate("scrollTo(0, 0)")  # where a page is left, it is opened
        seen.page.reload()
        seen.wait_until_live()
        field.evaluate("e => e.scrollIntoView({ block: 'center' })")

    for end in (lambda: seen.press("Shift"), lambda: seen.page.evaluate(AWAY)):
        seen.page.evaluate("localStorage.clear()")
        come_again()
        expect(field).not_to_have_value("1")
        field.dispatch_event("pointerleave")
        end()
        assert field.input_value() == "1"
        assert_shows(seen, seen.run, 0)
        assert seen.page.locator(".strip .lit").count() == 0
    come_again()
    advance_clock(seen.page, 1500)
    assert field.input_value() == "1"


def test_nothing_moves_where_less_motion_is_wanted(view):
    seen = view("the-cat-sat", reduced_motion="reduce", is_new=True).wait_until_live()
    advance_clock(seen.page, 1500)
    assert_shows(seen, seen.run, 0)
    assert seen.page.evaluate("localStorage.length") == 0
    seen.number("Embedding of the, x₁").focus()
    for motion, moves in (("reduce", 0), ("no-preference", 3)):
        seen.page.emulate_media(reduced_motion=motion)
        seen.press("ArrowUp")
        assert seen.page.evaluate("document.getAnimations().length") == moves


def test_scores_that_nothing_scales_stand_there_once_and_what_is_pointed_at_says_what_it_is(view):
    seen = view("river-bank").wait_until_live()
    heads = seen.page.locator(".heading .head:visible")
    assert "unscaled" not in heads.all_inner_texts()
    expect(seen.page.locator(".key .at-scaled_scores").first).not_to_be_visible()
    seen = view("the-cat-sat").wait_until_live()
    expect(seen.page.locator(".key .at-scaled_scores").first).to_be_visible()
    how, lit = seen.page.locator(".how"), seen.page.locator(".strip .lit")
    seen.page.locator(".at-weights .number").nth(1).hover()
    expect(how).to_have_text("Weight that the gives to cat, Head 1: 1.9716 ÷ 8.4718 ≈ 0.2327")
    seen.page.locator(".at-value .number").first.hover()
    expect(how).to_contain_text("Value of the, v₁")
    assert lit.count() > 0
    seen.page.mouse.move(2, 2)
    assert lit.count() == 0
    parts = seen.page.locator(".heading .at-head_outputs")
    expect(parts).to_have_text("output, component 1")
    seen.page.locator(".sums .result").nth(1).click()
    expect(parts).to_have_text("output, component 2")
    assert_shows(seen, seen.run, seen.run.example.focus or 0, component=1)


def test_the_strip_is_one_tab_stop_and_worked_by_the_keyboard(view):
    seen = view("the-cat-sat").wait_until_live()
    stops = seen.page.locator('.strip .number[tabindex="0"]')
    assert stops.count() == 1
    stops.focus()
    seen.press("End", *["ArrowRight"] * 6)
    assert stops.count() == 1
    seen.number("0.3458, Weight that the gives to the, Head 1").focus()
    seen.press("ArrowDown")
    assert "Weight that the gives to cat" in seen.focused()
    seen.number("Embedding of the, x₁").focus()
    seen.press("ArrowUp", "ArrowUp", "ArrowDown")
    assert_shows(seen, changed(seen.run, 0, 0, 1.1), 0)
    seen.press("ArrowRight")
    assert seen.focused() == "Embedding of the, x₂"
    seen.page.keyboard.type("0,25")  # a decimal comma is understood
    assert_shows(seen, trace(replace(seen.run.example, embeddings=[
        [1.1, 0.25, 1, 0], *seen.run.embeddings[1:].tolist()])), 0)  # fmt: skip
    seen.press("Enter")
    assert seen.number("Embedding of the, x₂").input_value() == "0.25"
    seen.press(*["Control+z"] * 4)  # three presses of keys and one typed number are undone
    assert_shows(seen, seen.run, 0)
    assert "The last change is undone." in seen.status
    what_is_no_number_is_refused_in_words_and_given_up_on_leaving(seen)


def what_is_no_number_is_refused_in_words_and_given_up_on_leaving(seen):
    field = seen.number("Embedding of cat, x₂")
    field.click()
    field.fill("two")
    told = seen.page.locator(".strip .field-error")
    assert told.inner_text() == "“two” is not a number. Type one such as 0.5, −2 or 1/3."
    assert field.get_attribute("aria-describedby") == told.get_attribute("id")
    below, above = told.bounding_box(), field.bounding_box()
    assert 0 <= below["y"] - above["y"] - above["height"] < 12
    assert below["x"] <= above["x"] + above["width"]
    assert field.get_attribute("aria-invalid") == "true"
    seen.page.locator(".chip").first.click()
    assert_shows(seen, seen.run, 0)
    assert field.input_value() == shown(seen.run.embeddings[1, 1], 0)
    assert field.get_attribute("aria-invalid") is None
    assert told.inner_text() == ""


def test_a_huge_number_leaves_room_for_the_output_and_reset_takes_its_room_back(view):
    seen = view("the-cat-sat").wait_until_live()
    strip = seen.page.locator(".strip")
    head = seen.page.locator(".strip .heading .at-exponentials")
    wide = "e => [...e.querySelectorAll('.number')].map((n) => n.offsetWidth)"
    for width in (1280, 390):
        seen.page.set_viewport_size({"width": width, "height": 900})
        before = strip.evaluate(wide)
        for number in ("1000", "1e3", "-987.654321"):
            seen.number("Embedding of the, x₁").fill(number)
            seen.press("Enter")
            assert seen.page.locator(".result").evaluate_all(FURTHEST) <= width
            assert seen.page.evaluate(CUT) == []
            expect(head).to_have_text("− max,\nexp")
            assert head.evaluate("e => e.scrollWidth <= e.clientWidth")
            seen.page.get_by_role("button", name="Reset").click()
            expect(head).to_have_text("exp")
            assert strip.evaluate(wide) == before
    # On a phone the answer is in sight beside a number of the first key.
    strip.evaluate("(e) => scrollTo(0, scrollY + e.getBoundingClientRect().top - 600)")
    seen.page.locator(".key .at-exponentials .number").first.click()
    expect(seen.page.locator(".strip .how")).to_be_in_viewport(ratio=1)


def test_masked_numbers_highlight_nothing_and_the_sentence_is_about_the_shown_row(view):
    run = trace(replace(load_example("the-cat-sat"), is_causal=True))
    seen = view(run).wait_until_live()
    seen.page.locator(".chip").nth(1).click()
    seen.number("Embedding of sat, x₁").focus()
    lit = seen.page.locator(".strip .lit")
    names = " ".join(lit.evaluate_all("all => all.map((e) => e.ariaLabel ?? '')"))
    assert "Score of query cat with key sat" in names
    assert not {"Weight", "Row sum", "Mixture", "Output"} & set(names.split())
    seen.press("ArrowUp")
    assert seen.status == (
        "No weight of cat changes, nor does its output. Embedding of sat, x₁ is now 1.1."
    )
    # The bar switches the mask, without the settings; a phone reads what is hidden as such.
    label = seen.page.locator(".key .at-scaled_scores").last
    expect(label).to_have_attribute("data-label", "hidden")
    seen.page.get_by_role("button", name="Reset").click()
    seen.page.get_by_label("Causal: no later keys").uncheck()
    expect(label).to_have_attribute("data-label", re.compile("÷"))
    assert_shows(seen, trace(load_example("the-cat-sat")), 0)


FLOW = """() => {
  const all = (selector) => [...document.querySelectorAll(`.flow ${selector}`)];
  // Of a ribbon's outline: M0 top C .. .. turn end right top V bottom C .. .. 0 bottom.
  const ribbons = all(".ribbon").map((e) => e.getAttribute("d").match(/-?[\\d.]+/g).map(Number))
    .map((n) => ({ left: n.at(-1) - n[1], right: n[6], top: n[7], bottom: n[8] }));
  const blocks = all(".part").map((e) =>
    Object.fromEntries(["x", "y", "height"].map((name) => [name, Number(e.getAttribute(name))])));
  const gauge = Number(all(".gauge")[0].getAttribute("height"));
  return { ribbons, blocks, gauge, full: all(".full")[0].textContent };
}"""


def test_ribbons_are_as_wide_as_the_weights_and_the_stack_as_high_as_the_output(view):
    seen = view("river-bank").wait_until_live()
    weights = seen.run.weights[0, 2]
    field = seen.number("Value of river, v₁")
    for first, full in ((3, "5"), (30, "50")):
        field.fill(str(first))
        seen.press("Enter")
        value = seen.run.value[0].copy()
        value[1, 0] = first
        parts = weights * value[:, 0]
        flow = seen.page.evaluate(FLOW)
        assert flow["full"] == full
        widths = [ribbon["left"] for ribbon in flow["ribbons"]]
        np.testing.assert_allclose(np.divide(widths, 26), weights, atol=0.03)
        heights = np.divide([block["height"] for block in flow["blocks"]], flow["gauge"])
        np.testing.assert_allclose(heights, parts / float(full), atol=5e-4)
        for ribbon, block in zip(flow["ribbons"], flow["blocks"], strict=True):
            assert ribbon["right"] == pytest.approx(block["x"], abs=0.15)
            if block["height"] > 1:  # a part of nothing has a ribbon that is seen
                assert ribbon["top"] == pytest.approx(block["y"], abs=0.15)
                assert ribbon["bottom"] == pytest.approx(block["y"] + block["height"], abs=0.15)


# ---- Tasks ----

TASKS = (
    weight_reaches("Give cat 90 % of the weight of sat.", query=1, key=0, least=0.9,
                   solution={"query.0.1.0": 7}),
    weights_alike("Make *sat* hear both alike.", query=1, within=0.01,
                  solution={"query.0.1.0": 1, "query.0.1.2": 1}),
)  # fmt: skip


def test_a_task_says_that_it_is_reached(open_element):
    seen = open_element(explorer(trace(load_example("cat-sat")), tasks=TASKS).html)
    tasks = seen.page.locator(".tasks li")
    seen.page.locator(".chip").nth(1).click()
    field = seen.number("Query of sat, q₁")
    field.fill("1")
    assert tasks.nth(1).inner_text() == "○ Make sat hear both alike."
    seen.number("Query of sat, q₃").fill("1")
    assert tasks.nth(1).inner_text() == "✓ Reached: Make sat hear both alike."
    assert seen.status.startswith("Reached: Make sat hear both alike.")
    field.fill("9")
    assert tasks.nth(0).inner_text().startswith("✓ Reached:")
    # What was reached is remembered, and says that it holds no longer.
    assert tasks.nth(1).inner_text() == "✓ Reached before: Make sat hear both alike."
    seen.page.get_by_role("button", name="Reset").click()
    assert [text[:1] for text in tasks.all_inner_texts()] == ["○"] * 2
    seen.page.locator(".chip").nth(1).click()
    seen.number("Query of sat, q₁").fill("1")
    third = seen.number("Query of sat, q₃")
    for value in ("1", "0.5"):  # passed on the way, before anything is said
        third.fill(value)
    assert tasks.nth(1).inner_text() == "✓ Reached before: Make sat hear both alike."
    assert "Reached" not in seen.status


def test_a_head_without_influence_is_found(open_element):
    run = trace(load_example("the-cat-sat"))
    share = float(np.abs(run.head_contributions[0]).max())
    task = head_unnoticed("Switch off the head that is missed least.", below=share + 0.01)
    seen = open_element(explorer(run, tasks=(task,)).html)
    seen.choose("Head 2 on")
    assert seen.page.locator(".tasks .reached").count() == 0
    seen.choose("Head 1 on")
    assert seen.page.locator(".tasks .reached").count() == 1
