"""The origin of a number in the explorer, and the steps of one query, in Chromium."""

import re
from dataclasses import replace

import chains
import numpy as np
import pytest
from accessible import violations
from book_site import advance_clock
from helpers import MASK, example
from playwright.sync_api import expect
from worked_runs import parts, with_parts

from mha import origin, trace
from mha.audit.judging import Prints
from mha.runs.places import Place
from mha.runs.rounding import short, shown
from mha.views.arithmetic import factor
from mha.views.signs import sign

pytestmark = pytest.mark.browser


# Every number is selected: its place, the panel's lines, and the places that are lit.
SELECTED = """() => {
  const place = (button) => {
    const { stage, head } = button.closest("table").dataset;
    const [row, column] = [button.closest("tr").sectionRowIndex, button.closest("td").cellIndex];
    return [stage, Number(head ?? 0), row, column - 1];
  };
  const text = (selector) => document.querySelector(selector)?.textContent ?? "";
  const lines = (list) => [...list?.querySelectorAll("li") ?? []].map((li) => li.textContent);
  return [...document.querySelectorAll("table .cell")].map((button) => {
    button.click();
    const [sum, shares] = document.querySelectorAll(".panel .sum");
    return [place(button), text(".panel .value"), text(".panel p:nth-of-type(2)"), lines(sum),
      lines(shares), text(".how"), [...document.querySelectorAll(".cell.source")].map(place)];
  });
}"""


def place_in(run, stage, head, row, column):
    """Return the place of a table cell. The column after the exponentials has their sum."""
    if stage == "exponentials" and column == len(run.tokens):
        return Place("row_sums", head, row)
    return Place.of(stage, head, row, column)


def printed_chains(lines):
    """Return the chains of a sum in the panel, both its products and its total. Each must hold."""
    *items, total = (" ".join(re.sub(r"[^\W\d_]{2,}", " ", line).split()) for line in lines)
    steps = [re.split(" [=≈] ", item)[-1] for item in items]
    found = chains.hold(" ; ".join([*items, f"{' + '.join(steps)} {total}"]))
    assert len(found) == 1 + sum("=" in item or "≈" in item for item in items), lines
    return found


MASKED = trace(
    example(mask=np.where(MASK, np.linspace(-0.75, 0.5, MASK.size).reshape(MASK.shape), -np.inf))
)
"""A run with an additive mask, in which the third query is fully masked."""


# What some numbers of a block are, in words.
RULES = {
    "start_means": "divided by their count",
    "stream_spreads": "mean squared deviation",
    "stream_normed": "divided by the standard deviation",
    "stream": "plus the output of its attention",
    "hidden": "plus the bias",
    "active": "share of the normal distribution",
    "fed": "plus the bias",
    "total": "plus the output of the feed-forward layer",
}


@pytest.mark.parametrize("run", ["cat-sat", "the-cat-sat", MASKED, "block"])
def test_every_number_has_a_sum_that_holds_and_comes_to_it_and_lights_what_it_is_from(
    view, rng, run
):
    seen = view(with_parts(parts(rng), activation="gelu") if run == "block" else run).open()
    run, shares = seen.run, 0
    for cell, value, rule, lines, of_heads, how, lit in seen.page.evaluate(SELECTED):
        found = origin(run, place_in(run, *cell))
        assert value.split()[0] == shown(found.number)
        hidden = mask_phrase(run, found.place)
        if hidden:
            assert rule.startswith(f"Masked: the query may {hidden}"), found.place
        else:
            sources = {operand.place for operand in found.operands if operand.place}
            assert {place_in(run, *place) for place in lit} == sources, found.place
            assert (rule == "An input: you can change it.") == (found.operation == "given")
            assert RULES.get(found.place.stage, "") in rule, found.place
        assert bool(lines) == (found.operation != "given" and not hidden), found.place
        if lines:
            assert found.operation == "spread" or printed_chains(lines), found.place
            left, equals, right = re.split(" ([=≈]) ", how.partition(": ")[2])
            assert (equals, right) == (sign(left, right), short(found.number)), how
            assert lines[-1].split()[-1] == value.split()[0], (found.place, lines)
        if of_heads:
            wanted = run.head_contributions[:, found.place.row, found.place.column]
            assert [line.split(": ")[1] for line in of_heads] == [factor(float(x)) for x in wanted]
            shares += 1
    assert shares == (0 if run.output is None else run.output.size)


def mask_phrase(run, place):
    """Return the panel's phrase for a masked number, or "" if there is something to compute."""
    if place.stage not in ("scaled_scores", "exponentials", "row_sums", "weights"):
        return ""
    allowed = np.isfinite(run.mask[place.head, place.row])
    if not allowed.any():
        return "attend to no key"
    return "" if place.column is None or allowed[place.column] else "not attend to this key"


def test_tables_and_panel_are_worked_by_keyboard_alone(view):
    seen = view("the-cat-sat").open()
    seen.cell("output", 0, 0).focus()
    path = ["Output of the, y₁"]
    seen.press("ArrowDown", "Enter")
    for stage in ("Concatenation of cat", "Mixture for cat", "Weight that cat gives",
                  "Exponential of query cat", "Scaled score of query cat", "Score of query cat",
                  "Query of cat", "Embedding of cat"):  # fmt: skip
        seen.press("Enter", "Enter")
        path.append(seen.focused())
        assert stage in path[-1], path
    assert "Embedding of cat, x₁: 0" in seen.panel
    for _ in range(8):
        seen.press("Escape")
    assert "Output of cat, y₁" in seen.focused()
    seen.press("Escape")
    assert "Select a number" in seen.panel
    assert seen.page.locator(".cell.source").count() == 0
    arrow_keys_stay_in_the_table_which_is_one_tab_stop(seen)
    an_embedding_is_changed(seen)


def arrow_keys_stay_in_the_table_which_is_one_tab_stop(seen):
    stops = seen.page.locator("table").evaluate_all(
        "all => all.map(t => t.querySelectorAll('.cell[tabindex=\"0\"]').length)"
    )
    assert set(stops) == {1}
    seen.cell("embeddings", 0, 0).focus()
    for keys, focused in (
        ("ArrowUp ArrowLeft End", "0, Embedding of the, x₄"),
        ("ArrowDown ArrowDown ArrowDown Home", "1, Embedding of sat, x₁"),
        ("Tab Shift+Tab", "1, Embedding of sat, x₁"),
    ):
        seen.press(*keys.split())
        assert seen.focused() == focused


def an_embedding_is_changed(seen):
    seen.cell("embeddings", 0, 0).focus()
    seen.press("ArrowRight", "ArrowDown", "Enter", "Enter")
    assert seen.page.evaluate("document.activeElement.value") == "1"
    seen.press("Control+A")
    seen.page.keyboard.insert_text("−0.75")
    embeddings = seen.run.embeddings.copy()
    embeddings[1, 1] = -0.75
    changed = trace(replace(seen.run.example, embeddings=embeddings))
    seen.assert_shows(
        changed, ("query", "key", "value", "weights", "head_outputs", "concat", "output")
    )
    assert seen.cell("embeddings", 1, 1).text_content() == "−0.75"
    moves = np.abs(changed.weights - seen.run.weights)[:, 0].max(axis=1)
    moved = f"{shown(float(moves.max()))} in Head {moves.argmax() + 1}"
    ended = shown(float(np.abs(changed.output - seen.run.output)[0].max()))
    assert seen.status == (
        f"The weights of the change by up to {moved}, its output by up to {ended}."
        " Embedding of cat, x₂ is now −0.75."
    )
    assert "changed" in seen.cell("embeddings", 1, 1).get_attribute("class")
    assert "It was 1 at first." in seen.panel
    seen.press("Escape")
    assert seen.focused().startswith("−0.75, Embedding of cat, x₂")


def test_a_mask_stays_in_its_place(view):
    seen = view(MASKED).open()
    seen.choose("Scaled scores")
    seen.cell("scaled_scores", 0, 0, 1).click()
    assert "The score times the scale, plus the mask's number." in seen.panel
    seen.choose("Weights")
    seen.page.get_by_label("Move token0 later").click()
    given, order = MASKED.example, [1, 0, 2, 3, 4]
    moved = {name: getattr(given, name)[:, order] for name in ("query", "key", "value")}
    seen.assert_shows(trace(replace(given, tokens=[given.tokens[i] for i in order], **moved)))


def test_the_panel_follows_temperature_scale_and_the_largest_numbers(view):
    seen = view("cat-sat", width=390).open()
    seen.page.get_by_label("Temperature").fill("0.5")
    seen.choose("Scaled scores")
    seen.cell("scaled_scores", 0, 0, 0).click()
    assert "2 × (0.5 ÷ temperature 0.5)" in " ".join(seen.panel.split())
    seen.page.get_by_label("Other scale").fill("50")
    seen.choose("Exponentials")
    seen.cell("exponentials", 0, 0, 0).click()
    assert "minus 200.0000, the largest score of its row" in seen.panel
    assert "e ^ ( 200 − 200.0000)" in " ".join(seen.panel.split())
    seen.page.get_by_role("button", name="Reset").click()
    seen.cell("value", 0, 0, 0).click()
    seen.page.get_by_label("Change to").fill("-1e3")
    assert seen.cell("value", 0, 0, 0).text_content() == "−1000"
    assert "Value of cat, v₁: −1000.0000" in seen.panel
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
    seen.cell("key", 0, 0, 0).click()
    for text in ("1000.5", "1e308", "1e400"):
        seen.page.get_by_label("Change to").fill(text)
        says = f"“{text}” is out of range. Type a number from −1000 to 1000."
        assert says in seen.panel
    assert seen.cell("key", 0, 0, 0).inner_text() == "1"


# ---- What the source prints ----


def test_the_source_prints_stand_beside_the_numbers_while_nothing_is_changed(view):
    seen = view("the-cat-sat").open()
    seen.choose("Show what the source prints")
    marks = seen.page.locator('table[data-stage="output"] .source-print').all_text_contents()
    assert len(marks) == seen.run.output.size
    (text, is_so), *_ = Prints("the-cat-sat")(Place("output", row=0, column=0))
    assert marks[0].startswith(f"{'≈' if is_so else '≠'} {text.replace('-', '−')}")
    assert violations(seen.page) == []
    seen.cell("query", 0, 0, 0).click()
    assert "the source prints ≈ 0.1" in seen.panel
    seen.choose("Causal: no later keys")
    assert seen.page.locator(".source-print").count() == 0
    assert "the source prints" not in seen.panel
    paused = seen.page.get_by_label("Show what the source prints (reset first)")
    assert paused.is_disabled()
    seen.choose("Causal: no later keys")
    assert seen.page.locator(".source-print").count() > 50
    seen.choose("Show what the source prints")
    assert seen.page.locator(".source-print").count() == 0


# ---- Step by step ----

# What a bar shows, and how much of it has happened.
WATCHED = """async () => {
  const { bar } = await document.querySelector("mha-explorer").explorer.controls.steps;
  const { show } = bar;
  Object.assign(window, { bar, shown: [], last: bar.count - 1 });
  bar.show = (...told) => { window.shown.push(told); show(...told); };
  bar.pace = 80;
  bar.refresh();
}"""


def in_steps(seen):
    button = seen.page.get_by_role("button", name="Step by step")
    button.click()
    seen.page.locator(".steps .time-bar").wait_for()
    return button


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_bar_plays_pauses_and_goes_by_mouse_and_keys(view, motion):
    seen = view("cat-sat", reduced_motion=motion).wait_until_live()
    in_steps(seen)
    bar = seen.page
    bar.evaluate(WATCHED)
    advance_clock(bar, 200)
    assert bar.evaluate("shown") == [[0, 1]]  # never by itself
    play = bar.get_by_role("button", name="Play")
    play.click()
    bar.wait_for_function("bar.at === last && !bar.isPlaying")
    fractions = {fraction for at, fraction in bar.evaluate("shown") if at}
    assert (fractions == {1}) == (motion == "reduce"), fractions
    assert bar.evaluate("shown").pop() == [bar.evaluate("last"), 1]
    bar.evaluate("bar.pace = 60_000")
    play.click()  # again from the first one
    bar.get_by_role("button", name="Pause").click()
    assert bar.evaluate("bar.at < last && !bar.isPlaying")
    slider = bar.get_by_role("slider")
    for key, at in (("End", "last"), ("ArrowLeft", "last - 1"), ("Home", 0), ("ArrowRight", 1)):
        slider.press(key)
        assert bar.evaluate(f"bar.at === {at}"), key
    for is_playing in (True, False):
        bar.keyboard.press("Space")
        assert bar.evaluate("bar.isPlaying") == is_playing
    bar.evaluate("bar.pace = 80; bar.go(1)")
    back, on = (bar.get_by_role("button", name=f"One step {way}") for way in ("back", "on"))
    on.click()
    bar.wait_for_function("bar.at === 2 && !bar.isPlaying")
    back.click()
    back.click()
    expect(back).to_have_attribute("aria-disabled", "true")
    for key, at in (("End", "last"), ("Home", 0)):
        back.press(key)
        assert bar.evaluate(f"bar.at === {at}"), key


# Every step's line, what is covered when it is there, and the number that it gives.
STEPS = """async () => {
  const { explorer } = document.querySelector("mha-explorer");
  const steps = await explorer.controls.steps;
  return steps.results.map((at, i) => {
    steps.bar.go(i);
    const { textContent } = steps.line;
    const covered = document.querySelectorAll(".strip .covered.number").length;
    return [textContent, covered, at && explorer.strip.valueOf(at)];
  });
}"""


@pytest.mark.parametrize("name", ["cat-sat", "the-cat-sat", "cat-sat-on-it"])
def test_each_step_is_a_line_that_holds_and_gives_the_number_of_the_trace(view, name):
    seen = view(name).wait_until_live()
    in_steps(seen)
    run, row = seen.run, seen.run.example.focus or 0
    found = seen.page.evaluate(STEPS)
    lines = [line.split(": ")[-1] for line, _, _ in found[1:]]
    for line in lines:
        chains.hold(line)
    covered = [count for _, count, _ in found]
    assert covered == sorted(covered, reverse=True)
    assert covered[0] > 8
    assert covered[-2] > covered[-1] == 0
    parts = run.weights[0, row] * run.value[0, :, 0]
    wanted = [
        *run.scores[0, row], *run.scaled_scores[0, row], *run.exponentials[0, row],
        run.row_sums[0, row], *run.weights[0, row], *parts, run.head_outputs[0, row, 0],
    ]  # fmt: skip
    if run.output is not None:
        wanted += [run.head_contributions[0, row, 0], run.output[row, 0]]
    numbers = [number for _, _, number in found[1:]]
    assert numbers == pytest.approx(wanted, rel=1e-12, abs=1e-12)
    assert [line.split()[-1] for line in lines] == [short(number) for number in numbers]


def test_the_steps_follow_a_change_are_in_the_address_and_are_put_away(view):
    seen = view("cat-sat").wait_until_live()
    before = seen.page.locator(".strip").bounding_box()
    button = in_steps(seen)
    expect(button).to_have_attribute("aria-expanded", "true")
    assert seen.page.locator(".strip").bounding_box() == before
    slider, line = seen.page.get_by_role("slider"), seen.page.locator(".steps-line")
    slider.press("ArrowRight")
    seen.number("Query of cat, q₁").fill("3")
    expect(line).to_have_text("Score of query cat with key cat: 3 × 1 + 0 × 0 + 1 × 1 + 0 × 0 = 4")
    expect(slider).to_have_attribute("aria-valuetext", line.text_content())
    assert violations(seen.page, ".steps") == []
    address = seen.settled_url()
    again = view("cat-sat", address="#" + address.partition("#")[2], width=390).wait_until_live()
    expect(again.page.locator(".steps-line")).to_have_text(line.text_content())
    box = again.page.locator(".steps").bounding_box()  # on a phone it is in sight
    assert box["y"] + box["height"] <= 900
    assert box["width"] <= 390
    again.go("#explore=cat-sat&causal=1&step=4").wait_until_live()
    expect(again.page.locator(".steps-line")).to_contain_text("Masked")
    button.click()
    expect(line).to_be_hidden()
    assert seen.page.locator(".strip .covered").count() == 0
    seen.page.get_by_role("button", name="Undo").click()
    seen.settle()
    assert "#" not in seen.settled_url()
