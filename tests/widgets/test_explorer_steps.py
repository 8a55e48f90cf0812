"""What happens in steps: its bar, and the calculation of one query, in a real Chromium."""

import chains
import pytest
from accessible import violations
from book_site import rest
from playwright.sync_api import expect

from mha import short

pytestmark = pytest.mark.browser

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
    seen = view("cat-sat", reduced_motion=motion).live()
    in_steps(seen)
    bar = seen.page
    bar.evaluate(WATCHED)
    rest(bar, 200)
    assert bar.evaluate("shown") == [[0, 1]]  # never by itself
    play = bar.get_by_role("button", name="Play")
    play.click()
    bar.wait_for_function("bar.at === last && !bar.isPlaying")
    fractions = {fraction for at, fraction in bar.evaluate("shown") if at == 2}
    assert fractions == {1} or (motion != "reduce" and len(fractions) > 1)
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
    back.press("End")
    assert bar.evaluate("bar.at === last")


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
    seen = view(name).live()
    in_steps(seen)
    run, row = seen.run, seen.run.example.focus or 0
    found = seen.page.evaluate(STEPS)
    lines = [line.split(": ")[-1] for line, _, _ in found[1:]]
    assert [fault for line in lines for one in chains.read(line) for fault in one.faults()] == []
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
    assert seen.errors == []


def test_the_steps_follow_a_change_are_in_the_address_and_are_put_away(view):
    seen = view("cat-sat").live()
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
    again = view("cat-sat", address="#" + address.partition("#")[2], width=390).live()
    expect(again.page.locator(".steps-line")).to_have_text(line.text_content())
    box = again.page.locator(".steps").bounding_box()  # on a phone it is in sight
    assert box["y"] + box["height"] <= 900
    assert box["width"] <= 390
    again.go("#explore=cat-sat&causal=1&step=4").live()
    expect(again.page.locator(".steps-line")).to_contain_text("Masked")
    button.click()
    expect(line).to_be_hidden()
    assert seen.page.locator(".strip .covered").count() == 0
    seen.page.get_by_role("button", name="Undo").click()
    seen.settle()
    assert "#" not in seen.settled_url()
