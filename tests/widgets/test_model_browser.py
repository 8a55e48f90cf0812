"""The trained model in Chromium: the browser's numbers and the controls.

The page is opened as a file: its numbers come as a script, which a file may load.
"""

import itertools

import numpy as np
import pytest
from explorer_pages import reopen
from playwright.sync_api import expect
from pointer import swipe
from ports import in_browser

from mha import Place, origin
from mha.core.language import run_model
from mha.examples.names import WORDS, draw_story
from mha.examples.trained import load_model
from mha.runs.logit_attribution import logit_shares, trace_text
from mha.runs.stages import STAGES
from mha.widgets.model import language_model

pytestmark = pytest.mark.browser

TRAINED = load_model("names")
STORY = "ba ke saw mo nu . ba"
CLOSE = 1e-9
HEADS = [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.fixture
def model_page(open_instrument, modules):
    page = open_instrument(language_model(STORY).html, width=1000, height=1200)
    page.add_script_tag(path=modules)
    page.locator(".panel-more summary").click()
    return page


RUN = """([step, words, off, cut]) => {
  const { checkpoint, run, sharesAt } = modules.modelArithmetic;
  const data = modules.modelNumbers;
  const found = run(checkpoint(data, step), words, { off, cut });
  const [first, second] = found.blocks.map(({ numbers }) => numbers);
  return {
    weights: [first.weights, second.weights], logits: second.logits,
    probabilities: second.probabilities, stream: first.stream,
    shares: sharesAt(found, words.length - 1),
  };
}"""


def test_random_stories_agree_with_the_package_with_heads_off_and_cut(model_page, rng):
    cases, wanted = [], []
    for step, checkpoint in enumerate(TRAINED.checkpoints):
        for number in range(6):
            story = draw_story(rng, int(rng.integers(1, 33)))
            off = [bool(number % 2 and rng.random() < 0.3) for _ in HEADS]
            model = checkpoint.without(*itertools.compress(HEADS, off))
            cut = number >= 4
            run = run_model(model, model.indices(story), cut=(0, 1) if cut else None)
            cases.append([step, model.indices(story).tolist(), off, cut])
            wanted.append((model, story, cut, run))
    found = in_browser(model_page, RUN, cases)
    for got, (model, story, cut, run) in zip(found, wanted, strict=True):
        assert np.allclose(got["logits"], run.logits, rtol=0, atol=CLOSE)
        for weights, passed in zip(got["weights"], run.passes, strict=True):
            assert np.allclose(weights, passed.weights, rtol=0, atol=CLOSE)
        if not cut:
            runs = trace_text(model, story)
            assert np.allclose(got["probabilities"], runs[-1].probabilities, rtol=0, atol=CLOSE)
            shares = logit_shares(runs, len(story) - 1)
            assert np.allclose(got["shares"], shares.shares, rtol=0, atol=CLOSE)
        assert np.allclose(np.sum(got["shares"], axis=0), run.logits[-1], rtol=0, atol=CLOSE)


ORIGINS = """([words, block, at]) => {
  const { checkpoint, originIn, run, sharesAt } = modules.modelArithmetic;
  const data = modules.modelNumbers;
  const found = run(checkpoint(data, data.steps.length - 1), words, {});
  sharesAt(found, words.length - 1);
  const from = originIn(found, block, modules.places.parse(at));
  return { operation: from.operation, number: modules.operations.evaluate(from),
    terms: from.terms.map((term) => term.map(({ place, value }) =>
      [place && modules.places.address(place), value])) };
}"""


def test_numbers_come_from_where_the_package_says(model_page):
    runs = trace_text(TRAINED.model, STORY)
    words = TRAINED.model.indices(STORY).tolist()
    for block, run in enumerate(runs):
        computed = [
            name
            for name, stage in STAGES.items()
            if getattr(run, name, None) is not None and not stage.is_parameter
        ]
        for name in computed:
            place = Place.of(name, 1, 5, 3)
            own = origin(run, place)
            found = model_page.evaluate(ORIGINS, [words, block, str(place)])
            assert found["operation"] == own.operation, name
            assert found["number"] == pytest.approx(own.evaluate(), abs=CLOSE)
            places = [[str(o.place) if o.place else None for o in term] for term in own.terms]
            assert [[at for at, _ in term] for term in found["terms"]] == places, name


def test_a_word_is_drawn_by_the_probabilities_of_its_temperature(model_page, rng):
    for temperature in 10 * (0.5, 1.0, 3.0):
        logits, chance = rng.normal(size=7), float(rng.random())
        likely = np.exp(logits / temperature)
        wanted = int(np.searchsorted((likely / likely.sum()).cumsum(), chance, side="right"))
        asked = [logits.tolist(), temperature, chance]
        assert (
            model_page.evaluate("asked => modules.modelArithmetic.nextWord(...asked)", asked)
            == wanted
        )


def test_a_reader_turns_a_head_off_writes_and_undoes_it(model_page):
    page = model_page
    chance = page.locator(".model-next .number").first
    words = page.locator(".model-story .model-word")
    typed = page.get_by_label("Type a story")
    write, read, undo = (
        page.get_by_role("button", name=name) for name in ("Write a word", "Read", "Undo")
    )
    expect(chance).to_have_text("94.5 %")
    page.get_by_role("checkbox", name="block 1, head 2 is on").uncheck()
    expect(page.get_by_label("Contributions to the logit of")).to_have_value(str(WORDS.index("ke")))
    typed.fill("Ta wi met")
    for is_off, then in ((1, "Undo"), (0, "Redo"), (1, "Undo")):
        met = TRAINED.costs[-1, 0, is_off, 0, 0, 0, 1]
        expect(page.locator(".model-key")).to_contain_text(f"repeated names {met:.2f}")
        page.get_by_role("button", name=then).click()
    expect(typed).to_have_value("Ta wi met")
    expect(chance).to_have_text("94.5 %")
    page.get_by_role("checkbox", name="Take the likeliest").check()
    write.click()  # goes on from what is typed
    expect(words).to_have_count(4)
    undo.click()
    undo.click()
    expect(words).to_have_count(7)
    write.click()
    expect(words.last).to_have_text("ke")
    page.get_by_text("All 36 words").click()
    page.get_by_role("button", name="Append lamp").click()
    expect(words.last).to_have_text("lamp")
    page.get_by_role("button", name="Remove a word").click()
    # What was refused gives way to the story that is shown, and to a reset.
    for act, count in (("Write a word", 9), ("Reset", 7), ("Reset", 7)):
        typed.fill("ba kex")
        read.click()
        page.get_by_role("button", name=act).click()
        expect(words).to_have_count(count)
        expect(page.locator(".error")).to_be_empty()
        expect(typed).not_to_have_value("ba kex")
    typed.fill("Ta wi met ri lo. TA")
    read.click()
    expect(page.locator(".model-next button").first).to_have_text("wi")
    typed.fill("ba ke was happy . " * 6 + "ba")
    write.click()
    write.dispatch_event("click")
    expect(words).to_have_count(32)
    expect(page.locator(".model-status")).to_contain_text("A story has at most 32 words here")


def test_on_a_phone_what_is_said_moves_no_word_and_a_long_story_is_there_whole(open_instrument):
    page = open_instrument(language_model(STORY).html, width=390, has_touch=True)
    words, next_ = page.locator(".model-story .model-word"), page.locator(".model-next")
    small = page.locator(".model-overview li")
    typed, error = page.get_by_label("Type a story"), page.locator(".error")
    read = page.get_by_role("button", name="Read")
    room = typed.bounding_box()
    for refused in ("ba ke saw " + "w" * 60, "ba " * 33, ""):
        typed.fill(refused)
        read.tap()
        expect(error).to_contain_text("The previous story stays below.")
        assert typed.get_attribute("aria-describedby") == error.get_attribute("id")
        box = error.bounding_box()
        assert box["y"] + box["height"] < typed.bounding_box()["y"]  # over nothing
        assert typed.bounding_box() == room
        typed.fill("ba ke saw")
        expect(error).to_be_hidden()
    expect(words).to_have_count(7)
    place = "(e) => e.getBoundingClientRect().top + scrollY"
    words.nth(1).tap()
    before = next_.evaluate(place)
    next_.locator("button").first.tap()  # what followed the word is cut off
    expect(page.locator(".model-status")).to_contain_text("Undo brings back what followed")
    assert next_.evaluate(place) == before
    page.get_by_role("button", name="Undo").tap()
    expect(words).to_have_count(7)
    expect(small.first).to_be_hidden()  # seven words have room
    story = [*("ta wi met ri lo . ba ke thanked mo nu . " * 3).split()[:31], "ta"]
    typed.fill(" ".join(story))
    read.tap()
    expect(small).to_have_text(story)
    expect(words.last).to_be_in_viewport(ratio=1)
    expect(words.first).not_to_be_in_viewport()
    frame, whole = page.locator(".model-frame"), page.locator(".model-drawing").bounding_box()
    middle = whole["y"] + whole["height"] - 20
    page.touchscreen.tap(whole["x"] + 3, middle)
    expect(words.first).to_be_in_viewport(ratio=1)
    assert frame.bounding_box()["x"] == pytest.approx(whole["x"], abs=1)
    swipe(page, whole["x"] + 20, middle, whole["width"] - 25, steps=4)
    expect(words.last).to_be_in_viewport(ratio=1)
    end = frame.bounding_box()
    assert end["x"] + end["width"] == pytest.approx(whole["x"] + whole["width"], abs=1)
    assert next_.evaluate(place) == before


def test_each_number_leads_back_to_what_the_model_has_learned(model_page):
    page = model_page
    line, what = page.locator(".model-line"), page.locator(".model-what")
    links = line.locator("button")
    share = page.locator(".model-next .number").first
    share.click()
    expect(line).to_have_text("2427.1239 ÷ 2567.3583 ≈ 0.9454")
    seen = [what.inner_text()]
    while links.count() and len(seen) < 40:
        links.first.click()
        expect(what).not_to_have_text(seen[-1])
        seen.append(what.inner_text())
    assert seen[0].startswith("Probability of ke")
    assert any("block 1" in name for name in seen)
    assert seen[-1].startswith("Embedding of ba (7)")
    expect(line).to_contain_text("embedding table, in the row of ba")
    page.get_by_role("button", name="Back", exact=True).click()
    expect(what).to_have_text(seen[-2])
    page.locator(".model-shares .number").first.click()
    expect(links).to_have_count(64)
    links.last.click()  # of the unembedding's rows; the story has seven words
    expect(what).to_have_text("Unembedding, 32 of ke")
    expect(line).to_contain_text("The model has learned this number.")
    # At another temperature the arithmetic gives the number that is shown.
    page.locator(".model-temperature input").fill("2")
    expect(share).not_to_have_text("94.5 %")
    share.click()
    over, total = (float(text) for text in line.inner_text().split(" ≈ ")[0].split(" ÷ "))
    assert f"{100 * over / total:.1f}\u00a0%" == share.inner_text()
    links.first.click()
    links.first.click()
    expect(what).to_contain_text("divided by the temperature")
    assert line.inner_text().replace(" ≈ ", " = ").split(" = ")[0].endswith("÷ 2")


def test_the_training_the_keys_and_the_address(model_page):
    page = model_page
    curve = page.locator(".model-pad").bounding_box()
    page.mouse.click(curve["x"] + curve["width"] / 6, curve["y"] + curve["height"] / 2)
    expect(page.locator(".time-says")).to_contain_text("After step 100")
    assert float(page.locator(".model-next .number").first.inner_text().split()[0]) < 60
    head = page.locator(".model-map").last
    head.press("ArrowUp")
    expect(head).to_have_attribute("aria-valuenow", "6")
    page.get_by_role("checkbox", name="Cut the path").check()
    page.get_by_role("button", name="Share").click()
    shown = page.locator(".model-next").inner_text()
    reopen(page, page.evaluate("location.hash"))
    expect(page.locator(".model-word[aria-pressed=true]")).to_have_text(".")
    expect(page.get_by_role("checkbox", name="Cut the path")).to_be_checked()
    expect(page.locator(".model-next")).to_have_text(shown, use_inner_text=True)


# The words beside the rows and below the columns of each map, and how far each is from its row or
# column, in rows or columns.
LABELS = """maps => maps.map((map) => {
  const { top, left, bottom, width, height } = map.querySelector("canvas").getBoundingClientRect();
  const rows = [...map.querySelectorAll(".along-rows span")].map((label, i, all) => {
    const box = label.getBoundingClientRect();
    return { word: label.textContent, is_outside: box.right <= left + 1,
      off: (((box.top + box.bottom) / 2 - top) / height) * all.length - i - 0.5 };
  });
  const columns = [...map.querySelectorAll(".along-columns span")].map((label, i, all) => {
    const box = label.getBoundingClientRect();
    return { word: label.textContent, is_outside: box.top >= bottom - 1,
      off: (((box.left + box.right) / 2 - left) / width) * all.length - i - 0.5 };
  });
  return [rows, columns];
})"""


def test_the_rows_and_columns_of_each_map_are_labelled_with_their_words(model_page):
    maps = model_page.locator(".words-around")
    expect(maps).to_have_count(len(HEADS))
    for sides in maps.evaluate_all(LABELS):
        for labels in sides:
            assert [label["word"] for label in labels] == STORY.split()
            assert all(label["is_outside"] for label in labels)
            assert max(abs(label["off"]) for label in labels) < 0.5
    model_page.locator(".model-map").last.press("ArrowUp")
    main = model_page.locator(".along-rows .main")
    expect(main).to_have_text([STORY.split()[-2]] * len(HEADS))
