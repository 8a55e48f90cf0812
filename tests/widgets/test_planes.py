"""Planes: dragging by mouse, finger, keys and sliders, and the query for a chosen weight."""

import json
import re
from dataclasses import replace

import numpy as np
import pointer
import pytest
from accessible import violations
from helpers import parse_number
from playwright.sync_api import expect
from pointer import middle, swipe
from ports import CLOSE
from seeds import SEED

from mha import linear_biases, load_example, trace
from mha.core.softmax import softmax
from mha.runs.rounding import shown
from mha.widgets.explorer import explorer
from mha.widgets.slope import slope_explorer, weights_at_slope
from mha.widgets.width import WIDTHS, compare_scaling, draw_tenths, largest_weight, width_explorer

pytestmark = pytest.mark.browser

BANK = trace(load_example("river-bank"))
GIVEN = trace(replace(
    BANK.example, embeddings=None, layer=None, query=BANK.query, key=BANK.key, value=BANK.value,
))  # fmt: skip
QUARTER = np.pi / 2 * np.array([[0, 0], [1, 1]])
TURNED = trace(replace(load_example("cat-sat"), angles=QUARTER))

NUMBERS = """() => {
  const { numbers, state } = document.querySelector("mha-explorer").explorer;
  return { ...numbers, inputs: null, edits: state.edits };
}"""


def numbers(seen):
    return {key: np.array(x) for key, x in seen.page.evaluate(NUMBERS).items() if key != "inputs"}


def assert_agreement(seen, example):
    """Assert that the package computes all of the page's numbers from its inputs."""
    found = numbers(seen)
    names = ("embeddings", "angles", "query", "key", "value")
    given = {name: found[name] for name in names if getattr(example, name) is not None}
    if example.layer is not None:
        matrices = {name: found[name] for name in ("w_q", "w_k", "w_v")}
        given["layer"] = replace(example.layer, **matrices)
    run = trace(replace(example, **given))
    for stage in ("query", "key", "value", "scores", "weights", "head_outputs"):
        np.testing.assert_allclose(found[stage], getattr(run, stage), rtol=CLOSE, atol=CLOSE)
    return run


def tip(seen, name):
    return seen.page.locator(f'.tip[aria-label^="{name}, "]')


def at_rest(node):
    """Wait until a plane has finished its animation to a new scale."""
    node.wait_for()
    node.evaluate("""async (node) => {
      const at = () => { const { x, y } = node.getBoundingClientRect(); return `${x} ${y}`; };
      let last = "";
      while (last !== at()) {
        last = at();
        await new Promise((then) => setTimeout(then, 120));
      }
    }""")


def drag(seen, node, across, down):
    """Drag by mouse, and assert that the dragged element stays under the pointer."""
    node.scroll_into_view_if_needed()
    at_rest(node)
    pointer.drag(seen.page, *middle(node), across, down, node=node)


def pull(seen, token, share):
    bar = seen.page.locator(".pulls").first.get_by_label(token, exact=True)
    bar.evaluate(
        "(bar, share) => { bar.value = share; bar.dispatchEvent(new Event('input'));"
        " bar.dispatchEvent(new Event('change')); }", share,
    )  # fmt: skip


def test_a_finger_drags_a_tip_and_anywhere_else_scrolls_the_page(open_element):
    html = explorer(GIVEN, view="plane", axes=("water", "money")).html
    seen = open_element(html, width=390, has_touch=True, is_mobile=True)
    page = seen.page
    ways = {"Query of bank": (30, -110), "Key of river": (-60, 30), "Value of river": (-105, -60)}
    for name, (across, down) in ways.items():
        node = tip(seen, name)
        scroll_to_tip(page, node)
        scrolled, before = page.evaluate("scrollY"), numbers(seen)["head_outputs"]
        swipe(page, *middle(node), across, down, node=node)
        assert page.evaluate("scrollY") == scrolled
        assert (numbers(seen)["head_outputs"] != before).any()
        assert_agreement(seen, GIVEN.example)
    area = page.locator(".frame").last.bounding_box()
    swipe(page, area["x"] + 8, area["y"] + area["height"] - 8, 0, -150)
    page.wait_for_function("from => scrollY > from + 50", arg=scrolled)


def scroll_to_tip(page, node):
    """Scroll a tip to where a finger has room, and wait until it stops moving."""
    node.wait_for()
    node.evaluate("node => scrollTo(0, scrollY + node.getBoundingClientRect().top - 400)")
    at_rest(node)


def test_dragging_a_computed_vector_or_a_row_changes_the_matrix_least(open_element):
    seen = open_element(explorer(BANK, view="plane").html, reduced_motion="reduce")
    node = tip(seen, "Query of bank")
    node.wait_for()
    assert tip(seen, "Key of the").count() == 0  # an embedding of zeros
    drag(seen, node, -40, -80)
    run = assert_agreement(seen, BANK.example)
    moved = run.query[0, 2] - BANK.query[0, 2]
    x = BANK.embeddings[2]
    change = run.example.layer.w_q[0] - BANK.example.layer.w_q[0]
    np.testing.assert_allclose(change, np.outer(x, moved) / (x @ x), atol=1e-7)
    caption = seen.page.locator(".plane figcaption").nth(1)
    expect(caption).to_have_text("Also moved, but not drawn: the query of river.")
    seen.page.get_by_role("button", name="Undo").click()
    expect(caption).to_have_text("The query and the keys")
    drag(seen, tip(seen, "Embedding of bank"), 50, -40)
    assert_agreement(seen, BANK.example)
    for to, matrix in (("to queries", "query"), ("to keys", "key"), ("to values", "value")):
        seen.page.get_by_label(to, exact=True).check()
        row = tip(seen, f"Row 2 of the {matrix} matrix")
        before = numbers(seen)[f"w_{matrix[0]}"]
        drag(seen, row, -45, 30)
        run = assert_agreement(seen, BANK.example)
        moved = getattr(run.example.layer, f"w_{matrix[0]}")
        assert (moved[0, 1] != before[0, 1]).all(), "both entries of the row"
        np.testing.assert_array_equal(moved[0, 0], before[0, 0])
    assert seen.page.locator(".plane:visible").last.inner_text().startswith("The values")


def test_a_weight_is_dragged_and_the_nearest_possible_weight_is_reported(open_element):
    key = np.array([[[0, 0], [2, 1], [1, 0.5]]])  # that of bank lies between the others
    run = trace(replace(GIVEN.example, key=key))
    seen = open_element(explorer(run, view="plane").html)
    tip(seen, "Query of bank").wait_for()
    says, bars = seen.page.locator(".plane-says"), seen.page.locator(".pulls li")
    pull(seen, "river", 90)
    after = assert_agreement(seen, run.example)
    assert abs(after.weights[0, 2, 1] - 0.9) < 0.0005
    expect(bars.nth(1).locator("span")).to_have_text("90.0\u00a0%")
    way = np.hypot(*(after.query - run.query)[0, 2])
    expect(says).to_contain_text(f"a distance of {way:.2f}")
    # A key that lies outside, pulled to both ends, and the one that has no more than a third.
    for token, share, words, nearest in (
        (1, 100, "river exactly 100 %: a weight is never", 99),
        (1, 0, "river exactly 0 %: a weight is never", 1),
        (2, 90, "bank 90 %: its key lies among the others. It can have 33.4 % at most", 33),
    ):
        pull(seen, run.tokens[token], share)
        expect(says).to_contain_text(f"No query gives {words}")
        assert abs(100 * assert_agreement(seen, run.example).weights[0, 2, token] - nearest) < 0.05
        assert bars.nth(token).locator("span").inner_text() == f"{nearest}.0\u00a0%"
        assert bars.nth(token).locator("input").input_value() == str(nearest)
    another_hand_moves_by_keys_and_sliders(seen, run.example)
    assert says.inner_text() == ""  # it no longer holds


def another_hand_moves_by_keys_and_sliders(seen, example):
    seen.page.get_by_role("button", name="Reset").click()
    node = tip(seen, "Query of bank")
    node.focus()
    seen.press("ArrowLeft", "ArrowUp", "Shift+ArrowUp")
    expect(node).to_have_attribute("aria-label", re.compile("^Query of bank, 0.9, 1.1: drag it"))
    seen.page.get_by_label("Move", exact=True).select_option("Value of the")
    across = seen.page.get_by_label("Value of the: across")
    across.press("ArrowRight")
    across.press("ArrowRight")
    step = float(across.get_attribute("step"))
    assert step <= 0.1
    seen.page.get_by_label("Value of the: up").press("ArrowRight")
    np.testing.assert_allclose(numbers(seen)["value"][0, 0], [2 * step, step])
    assert_agreement(seen, example)


FIND = """(cases) => JSON.parse(cases).map(({ key, start, which, wanted }) => {
  const explorer = { data: {}, state: { scale: 1, temperature: 1 },
    numbers: { key: [key], mask: [[key.map(() => 0)]] } };
  const weighed = modules.planeWeights.weighing(explorer, 0, 0);
  return modules.planeWeights.nearest(weighed, which, wanted, start);
})"""


def test_the_query_is_the_nearest_that_gives_the_weight(arithmetic_page, rng):
    cases = [
        {"key": rng.normal(size=(rng.integers(2, 6), 2)) * 2, "start": rng.normal(size=2),
         "which": 0, "wanted": float(rng.uniform(0.02, 0.98))} for _ in range(60)
    ]  # fmt: skip
    for case in [case for case in cases[::3] if len(case["key"]) > 2]:
        case["key"][0] = case["key"][1:].mean(axis=0)  # among the others: not every weight is had
    plain = [case | {name: case[name].tolist() for name in ("key", "start")} for case in cases]
    turns = np.linspace(0, 2 * np.pi, 360, endpoint=False)
    rays = np.stack([np.cos(turns), np.sin(turns)], axis=-1)
    missing = 0
    for case, found in zip(cases, arithmetic_page.evaluate(FIND, json.dumps(plain)), strict=True):
        key, start, wanted = case["key"], case["start"], case["wanted"]
        way = 100.0
        if found["query"] is None:
            assert found["most"] < wanted
            missing += 1
        else:
            query = np.array(found["query"])
            assert abs(softmax(key @ query)[0] - wanted) < 1e-7
            way = 0.99 * np.hypot(*(query - start))
        nearer = start + np.geomspace(way / 1e3, way, 200)[:, None, None] * rays
        weights = softmax(nearer @ key.T)[..., 0]
        is_low = softmax(key @ start)[0] < wanted
        assert ((weights < wanted) == is_low).all(), case
    assert 0 < missing < 20


def test_bars_and_lines_of_equal_weight_follow_temperature_and_mask(open_element, modules):
    seen = open_element(explorer(BANK, view="temperature").html)
    seen.page.add_script_tag(path=modules)
    slider = seen.page.locator(".temperature [type=range]").first
    lists = seen.page.locator(".temperature-bars ul")
    lists.first.wait_for()
    assert [one.is_visible() for one in lists.all()] == [True, False, False]  # nothing twice
    slider.focus()
    seen.press(*["ArrowRight"] * 15)
    assert [one.is_visible() for one in lists.all()] == [True, True, False]
    lines = seen.page.evaluate("""() => {
      const { explorer } = document.querySelector("mha-explorer");
      const { weighing, equalLines } = modules.planeWeights;
      return equalLines(weighing(explorer, 0, 2), 1, [0.5, 0.9], [-3, -3], [5, 5]);
    }""")
    for level, line in zip((0.5, 0.9), lines, strict=True):
        points = np.array(line).reshape(-1, 2)
        assert len(points) > 10
        np.testing.assert_allclose(softmax(points @ BANK.key[0].T / 2)[:, 1], level, atol=0.01)
    # The lines are of a key that is not masked.
    box = seen.page.locator(".temperature .choice")
    caption = seen.page.locator(".plane figcaption").first
    expect(caption).to_contain_text("Lines on which a query gives river 50, 75 and 90 %")
    box.filter(has_text="river").click()
    expect(caption).to_contain_text("Lines on which a query gives bank 50")
    scaled = BANK.scaled_scores[0, 2]
    rows = [scaled, scaled / 2, np.where([True, False, True], scaled / 2, -np.inf)]
    values = "(list) => [...list.querySelectorAll('li > span:last-child')].map(e => e.textContent)"
    for list_of, row in zip(lists.all(), rows, strict=True):
        assert list_of.is_visible()
        assert list_of.evaluate(values) == [shown(float(x)) for x in softmax(row)]
    box.filter(has_text="the is").click()
    expect(caption).to_contain_text("Only bank is not masked")
    tops = []
    for value in (0, -78, 100):  # 1, 0.17 and 10
        slider.fill(str(value))
        tops.append(box.first.bounding_box()["y"])
    assert max(tops) == min(tops)


WIDE = """([tenths, widths]) => widths.map((width) =>
  [modules.stripWidth.arrowsOf(tenths)[width - 1], modules.stripWidth.atWidth(tenths, width)])"""


def test_arrows_spread_and_weights_follow_the_width_as_in_the_package(arithmetic_page, rng):
    tenths = draw_tenths(rng, keys=5)
    found = arithmetic_page.evaluate(WIDE, [tenths.tolist(), WIDTHS])
    for width, (arrows, both) in zip(WIDTHS, found, strict=True):
        query, keys = tenths[0, :width] / 10, tenths[1:, :width] / 10
        np.testing.assert_allclose(arrows["query"], [np.linalg.norm(query), 0])
        tips = np.array(arrows["keys"])
        np.testing.assert_allclose(np.hypot(*tips.T), np.linalg.norm(keys, axis=1))
        np.testing.assert_allclose(tips[:, 0] * arrows["query"][0], keys @ query, rtol=1e-11)
        for one, (spread, exact) in zip(both, compare_scaling(tenths, width), strict=True):
            np.testing.assert_allclose(one["spread"], spread, rtol=1e-12)
            np.testing.assert_allclose(one["weights"], exact, rtol=1e-11, atol=1e-300)


# Two sliders, one straight after the other.
ANGLE_THEN_FIRST = """() => {
  const [angle, , first] = document.querySelectorAll(".dial input[type=range]");
  for (const [slider, value] of [[angle, 29], [first, 9]])
    Object.assign(slider, { value }).dispatchEvent(new Event("input", { bubbles: true }));
}"""


def test_the_dial_turns_by_angle_position_and_finger(open_element):
    seen = open_element(
        explorer(TURNED, view="dial").html, width=390, has_touch=True, is_mobile=True
    )
    angle, other = (
        seen.page.get_by_label(f"angle of a position, components {pair}")
        for pair in ("1 and 2", "3 and 4")
    )
    angle.wait_for()
    angle.fill("-90")
    assert seen.page.locator(".dial .slider > span").all_inner_texts()[:2] == ["−90°", "−90°"]
    run = assert_agreement(seen, TURNED.example)
    np.testing.assert_allclose(run.scores[0, 0], [2, 2])
    before = run.scores
    seen.page.get_by_label("first position").fill("7")
    run = assert_agreement(seen, TURNED.example)
    np.testing.assert_allclose(run.scores, before, atol=1e-9)  # only how far apart counts
    says = seen.page.locator(".dial-says")
    expect(says).to_contain_text("rotated by 7 × −90° = −630° more. The angles between query and")
    # The message is about this slider alone, however soon it is moved after the other one.
    status = seen.page.locator(".strip [role=status]")
    seen.page.evaluate(ANGLE_THEN_FIRST)
    expect(status).to_contain_text("at position 9.")
    expect(status).to_contain_text("No weight of cat changes, nor does its output.")
    angle.fill("-90")
    seen.page.get_by_label("first position").fill("0")
    assert seen.page.locator(".dial").bounding_box()["height"] < 844 - 48  # below the page's bar
    node = tip(seen, "Rotated key of sat").first
    seen.page.locator(".dial").scroll_into_view_if_needed()
    for turn in (lambda: swipe(seen.page, *middle(node), 45, -40), lambda: node.press("ArrowUp")):
        before = numbers(seen)["angles"][1, 0]
        turn()
        assert numbers(seen)["angles"][1, 0] != before
        assert_agreement(seen, TURNED.example)
    alike = seen.page.get_by_label("all pairs alike")
    angle.fill("-40")
    alike.uncheck()  # and the second pair turns slower
    np.testing.assert_allclose(np.degrees(numbers(seen)["angles"][1]), [-40, -4])
    other.fill("30")
    np.testing.assert_allclose(np.degrees(numbers(seen)["angles"][1]), [-40, 30])
    assert_agreement(seen, TURNED.example)
    again = open_element(
        explorer(TURNED, view="dial").html, address="#" + seen.settled_url().split("#")[1]
    )
    expect(again.page.get_by_label("all pairs alike")).not_to_be_checked()
    expect(again.page.get_by_label("angle of a position, components 3")).to_have_value("30")
    again.page.get_by_label("all pairs alike").check()
    np.testing.assert_allclose(np.degrees(numbers(again)["angles"][1]), -40)
    # The order that positions tell is changed beside the arrows, as the chapter asks.
    again.page.locator(".dial").get_by_role("button", name="Last word first").click()
    assert again.state["order"] == [1, 0]
    assert again.page.locator(".dial li i").first.inner_text() == "sat"


def test_the_slope_of_a_linear_bias_is_dragged(open_element):
    run = trace(replace(load_example("play-football"), is_causal=True))
    seen = open_element(explorer(BANK).html + slope_explorer(run, 2).html)
    scores = run.scaled_scores[0, 2]
    slider = seen.page.get_by_label("slope", exact=True)
    slider.scroll_into_view_if_needed()
    drag(seen, tip(seen, "slope"), 0, 60)
    slope = float(slider.input_value())
    assert slope > 0.6
    for wanted in (slope, 0.25, 0):
        slider.fill(str(wanted))
        shares = seen.page.locator(".of-slope ul").last.locator("li > :last-child")
        weights = [float(text) for text in shares.all_text_contents()]
        exact = weights_at_slope(scores, wanted)
        np.testing.assert_allclose(weights, exact, atol=5.1e-5)
        bias = 2 * wanted * linear_biases(8, 3, 3)[0, 2]
        np.testing.assert_allclose(exact, softmax(scores + bias), rtol=CLOSE)


TIRED = trace(load_example("it-tired"))
MEANINGS = ("animal", "thing", "pronoun", "state")


def opened_cloud(put):
    seen = put(explorer(TIRED, view="plane", axes=MEANINGS).html)
    seen.page.get_by_text("As arrows").click()
    tip(seen, "Query of it, Head 1").wait_for()
    return seen


def test_one_cloud_of_embeddings_is_behind_the_planes_of_both_heads(open_element):
    seen = opened_cloud(open_element)
    cat, tired = tip(seen, "Embedding of cat"), tip(seen, "Embedding of tired")
    drag(seen, cat, 24, 0)  # along the axis of the first number
    run = assert_agreement(seen, TIRED.example)
    moved = run.example.embeddings[0]
    assert moved[0] > 2.2
    np.testing.assert_array_equal(moved[1:], 0)
    assert seen.page.locator(".cloud figcaption").first.inner_text().startswith("cat: animal")
    drag(seen, tired, -30, -45)
    run = assert_agreement(seen, TIRED.example)
    assert 1 <= (run.example.embeddings[3] != TIRED.embeddings[3]).sum() <= 2
    assert (run.key[1, 3] != TIRED.key[1, 3]).any()
    tired.focus()
    seen.press("ArrowRight")
    assert numbers(seen)["embeddings"][3, 0] == pytest.approx(run.example.embeddings[3, 0] + 0.1)
    lit = "nodes => nodes.map((node) => node.textContent.split(' ')[0])"
    assert seen.page.locator("text.lit").evaluate_all(lit) == ["tired"] * 3  # cloud and planes
    cloud = seen.page.locator(".cloud figure").first
    seen.page.get_by_label("Head 2: to keys", exact=True).check()
    row = tip(seen, "Row 4 of the key matrix, Head 2")
    at_rest(row)
    drag(seen, row, 20, -30)
    run = assert_agreement(seen, TIRED.example)
    assert (run.example.layer.w_k[1, 3] != TIRED.example.layer.w_k[1, 3]).all()
    np.testing.assert_array_equal(run.example.layer.w_k[0], TIRED.example.layer.w_k[0])
    says = f"tired ({shown(run.key[1, 3, 0], 2)}, {shown(run.key[1, 3, 1], 2)})"
    assert says in cloud.locator("text").all_text_contents()
    pull(seen, "it", 90)  # by the matrix of queries
    assert abs(assert_agreement(seen, TIRED.example).weights[0, 2, 2] - 0.9) < 0.0005


WATCH = """() => {
  window.way = [];
  const look = () => {
    const cat = document.querySelector(".cloud .of-point circle:not(.foot)");
    window.way.push(cat.getBoundingClientRect().x);
    requestAnimationFrame(look);
  };
  look();
}"""


def test_the_cloud_glides_to_what_a_head_makes_of_it(open_element):
    seen = opened_cloud(open_element)
    cat = seen.page.locator(".cloud .of-point circle:not(.foot)").first
    at_rest(cat)
    seen.page.evaluate(WATCH)
    seen.page.get_by_label("Head 1: to queries", exact=True).check()
    seen.page.wait_for_function("window.way.at(-1) < window.way[0] - 1")
    at_rest(cat)  # cat asks nothing in Head 1: it comes to zero
    start, *way, end = seen.page.evaluate("window.way")
    assert any(end < between < start for between in way)
    seen.page.locator(".one-head").nth(1).get_by_role("radio").check()
    expect(seen.page.get_by_label("Head 2: to queries", exact=True)).to_be_checked()


def test_a_plane_keeps_its_scale_while_it_is_held_and_glides_after(open_element):
    seen = open_element(explorer(GIVEN, view="plane").html, width=390)
    ticks = """() => [...document.querySelectorAll(".tick")]
      .map((one) => `${one.textContent} ${one.getAttribute("x")}`)"""
    node = tip(seen, "Query of bank")
    node.scroll_into_view_if_needed()
    at_rest(node)
    before = seen.page.evaluate(ticks)
    mouse = seen.page.mouse
    for across, is_in_sight in (-5, True), (-120, False):
        x, y = middle(node)
        mouse.move(x, y)
        mouse.down()
        for step in range(1, 7):
            mouse.move(x + across * step, y - 6 * step)
            assert seen.page.evaluate(ticks) == before
        mouse.up()
        at_rest(node)
        assert (seen.page.evaluate(ticks) == before) == is_in_sight


# Names of a plane that cover another name, a number, or a tip by more than their edge.
COVERED = """(edge) => [...document.querySelectorAll(".plane-area")].flatMap((area) => {
  const box = (node) => {
    const { left, top, right, bottom } = node.getBoundingClientRect();
    const high = node.tagName === "text" ? 3 : 0;  // above and below the letters
    return { name: node.textContent, left, right, top: top + high, bottom: bottom - high };
  };
  const seen = [...area.querySelectorAll("text")]
    .filter((one) => one.style.display !== "none").map(box);
  const points = [...area.parentNode.querySelectorAll(".tip")].map((node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    return { name: "a tip", left: x - 6, right: x + 6, top: y - 6, bottom: y + 6 };
  });
  return seen.flatMap((one, i) => [...seen.slice(i + 1), ...points].filter((other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > edge
    && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > edge)
    .map((other) => `${one.name} on ${other.name}`));
})"""


@pytest.mark.parametrize(("theme", "width"), [("light", 390), ("dark", 1280)])
def test_names_cover_neither_each_other_nor_tips_and_axe_finds_nothing(open_element, theme, width):
    made = explorer(trace(replace(BANK.example, name="made")), view="plane").html
    warm = explorer(trace(replace(BANK.example, name="warm")), view="temperature").html
    cloud = explorer(TIRED, view="plane", axes=MEANINGS).html
    wide = width_explorer(np.random.default_rng(SEED)).html
    arrows, dial = explorer(GIVEN, view="plane").html, explorer(TURNED, view="dial").html
    seen = open_element(
        arrows + made + warm + cloud + dial + wide,
        theme=theme,
        width=width,
        reduced_motion="reduce",
    )
    for element in seen.page.locator("mha-explorer").all():
        element.scroll_into_view_if_needed()
    seen.page.get_by_text("As arrows").click()
    expect(seen.page.locator(".plane-area")).to_have_count(12)
    at_rest(tip(seen, "Query of it, Head 1"))
    assert seen.page.evaluate(COVERED, 1) == []
    assert violations(seen.page) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_plane_has_room_for_the_width_and_an_arrow_is_pulled_longer(open_element):
    tenths = draw_tenths(np.random.default_rng(SEED), keys=8)
    query, keys = tenths[0, :64] / 10, tenths[1:, :64] / 10
    even = largest_weight("Give no key more than 13 %.", scaled=True, high=0.13)
    largest = {width: compare_scaling(tenths, width)[1][1].max() for width in WIDTHS}
    low = sorted(largest.values())[-3]
    task = largest_weight("Find *three* widths.", scaled=True, low=float(low))
    # And a goal that no width reaches: `width_explorer` would refuse it.
    made = width_explorer(np.random.default_rng(SEED), tasks=(task,)).html
    whole = made.replace('"tasks":[{', f'"tasks": [{json.dumps(even.as_data())},{{')
    seen = open_element(whole, has_touch=True)
    says, output = seen.page.locator(".width-says"), seen.page.locator("output")
    slider, mark = (
        seen.page.locator(f".with-width {one}") for one in ("input", ".tasks li >> nth=1")
    )
    expect(mark).to_have_text("○ Find three widths.")
    scores = seen.page.locator(".width-bars ul").first.locator("li > :nth-child(2)")
    tip_of_query, reach = tip(seen, "query"), []
    for width in (4, 512, 64):
        slider.fill(str(width))
        at_rest(tip_of_query)
        # How far the query reaches on the screen.
        zero = seen.page.locator(".plane .of-arrow .main:visible").bounding_box()["x"]
        reach.append(middle(tip_of_query)[0] - zero)
        best = int((tenths[1:, :width] @ tenths[0, :width]).argmax()) + 1
        chosen = seen.page.locator(".width-bars [aria-pressed=true]").first.inner_text()
        names = " ".join(seen.page.locator(".plane text").all_text_contents())
        assert (f"k{best} gets most" in names) == (chosen != f"k{best}")
    assert max(reach) < 3 * min(reach)
    drag(seen, tip_of_query, 60, 0)
    long = float(tip_of_query.get_attribute("aria-label").split(", ")[1])
    times = long / np.linalg.norm(query)
    assert times > 1.5
    expect(output).to_have_text("64")
    assert scores.all_inner_texts() == [shown(x, 2) for x in times * keys @ query]
    seen.page.get_by_role("button", name="k3").first.click()
    key = tip(seen, "k3")
    at_rest(key)
    swipe(seen.page, *middle(key), 40, -25, node=key)
    across, up = map(float, key.get_attribute("aria-label").split(":")[0].split(", ")[1:])
    assert up != 0
    assert scores.nth(2).inner_text() == shown(across * long, 2)
    assert scores.nth(0).inner_text() == shown(times * keys[0] @ query, 2)
    # As printed, the product agrees with the score up to one unit of the last digit.
    line = re.search(r"≈ ([\d.]+) × ([\d.]+) ≈ (−?[\d.]+):", says.inner_text()).groups()
    assert line[:2] == (shown(across), shown(long))
    one, other, score = map(parse_number, line)
    assert abs(one * other - score) < 0.0075
    key.focus()
    seen.press("ArrowRight")
    assert scores.nth(2).inner_text() == shown((across + 0.1) * long, 2)
    # A query of no length gives all alike, which is no goal that is reached.
    tip_of_query.focus()
    for _ in range(100):
        seen.press("Shift+ArrowLeft")
    assert scores.all_inner_texts() == ["0.00"] * 8
    assert seen.page.locator(".with-width .tasks li").first.inner_text()[0] == "○"
    seen.page.get_by_role("button", name="as drawn").click()
    assert scores.all_inner_texts() == [shown(x, 2) for x in keys @ query]
    for width, text in ((64, "Reached before:"), (max(largest, key=largest.get), "Reached:")):
        slider.fill(str(width))
        expect(mark).to_have_text(f"✓ {text} Find three widths.")
        heads = seen.page.locator(".width-bars div > p:first-child").all_inner_texts()
        for (spread, _), head in zip(compare_scaling(tenths, width), heads, strict=True):
            assert f"deviation {shown(spread, 2)}" in head
