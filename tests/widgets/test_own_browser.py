"""An example of the reader's own in Chromium: numbers, controls and stored state."""

import json
import re

import chains
import numpy as np
import pytest
from explorer_pages import CLIPBOARD, page_html
from helpers import parse_number
from playwright.sync_api import expect
from pointer import swipe
from ports import in_browser
from seeds import SEED

from mha import trace
from mha.examples import example_from
from mha.practice.exercise import numeric_exercise
from mha.runs.places import Place
from mha.runs.random_examples import KINDS, VOCABULARY, draw_example
from mha.widgets.assets import files_of
from mha.widgets.boxes import your_turn
from mha.widgets.explorer_tables import sections
from mha.widgets.own import ASKED_STAGES, WHEEL, work_your_own

pytestmark = pytest.mark.browser

STRANGE = ("zebra", "猫が", "كتاب", "Πόλις", "naïve", "don't", "a<b>", '"x"', "🙂", "Tea,")
WORDS = (*VOCABULARY, *STRANGE)


class Page:
    """The page of the instrument."""

    def __init__(self, page):
        self.page = page

    def field(self, label):
        return self.page.get_by_label(label, exact=True).first

    def press(self, name):
        self.page.locator(".own").get_by_role("button", name=name, exact=True).first.click()

    def press_download(self, name):
        """Press a button of the part with the downloads."""
        if not self.page.locator(".own-take").is_visible():
            self.press("Save or share")
        self.press(name)

    def is_enabled(self, name):
        button = self.page.locator(".own").get_by_role("button", name=name, exact=True).first
        return button.get_attribute("aria-disabled") == "false"

    def type(self, words):
        self.field("Your sentence").fill(words)
        self.field("Your sentence").press("Enter")

    def settle(self):
        """Wait until everything is drawn."""
        self.page.wait_for_function(
            "document.querySelector('mha-instrument, mha-explorer').isSettled"
        )

    def words(self):
        self.settle()
        return self.page.locator(".own-word i").all_inner_texts()

    def numbers(self, stage):
        self.settle()
        code = "(stage) => document.querySelector('.own mha-explorer').explorer.numbers[stage]"
        return np.array(self.page.evaluate(code, stage))

    def shares(self):
        """Return the percentages of the bars of the chosen word, one row per head."""
        self.settle()
        texts = [row.locator(".own-share").all_inner_texts()
                 for row in self.page.locator(".own-word").all()]  # fmt: skip
        return np.array([[int(text.split()[0]) for text in word] for word in texts]).T

    def url(self):
        self.page.wait_for_function(
            "location.href === document.querySelector('.own mha-explorer').explorer.link()"
        )
        return self.page.url.partition("#")[2]

    def assert_shows(self, **given):
        """Assert that the page shows the numbers that the package computes."""
        run = trace(draw_example(**given))
        assert tuple(self.words()) == run.tokens
        assert np.allclose(self.numbers("weights"), run.weights, rtol=0, atol=1e-12)
        return run


@pytest.fixture(scope="module")
def html(static):
    """Return the instrument's HTML, after the boxes of a page of the book."""
    names = ["loader.js", *files_of("boxes")]
    scripts = [f'<script src="{static.as_uri()}/{name}"></script>' for name in names]
    style = f'<link rel="stylesheet" href="{static.as_uri()}/boxes.css">'
    return style + "".join(scripts) + work_your_own().html


@pytest.fixture
def own(open_instrument, html):
    """Return a function that opens the instrument at a width, with a state in its address."""
    return lambda address="", **options: Page(open_instrument(html, address, **options))


# ---- The numbers are the package's ----


def random_settings(rng):
    """Return random settings in the form of the arguments of `draw_example`."""
    return {
        "words": [str(word) for word in rng.choice(WORDS, rng.integers(1, 13))],
        "seed": int(rng.integers(2**32)),
        "numbers": str(rng.choice(KINDS)),
        "d_model": int(rng.integers(2, 7)),
        "num_heads": int(rng.integers(1, 5)),
        "d_k": int(rng.integers(1, 5)),
        "positions": bool(rng.random() < 0.4),
        "output": bool(rng.random() < 0.6),
        "is_causal": bool(rng.random() < 0.3),
    }


# The page's results for settings: the example, its tables as text, and the downloads.
MADE = """([given, word, isAll]) => {
  const { d_model: width, d_k: inner, is_causal: isCausal } = given;
  const settings = { ...given, width, inner, heads: given.num_heads };
  const knowledge = JSON.parse(document.querySelector("mha-instrument > script").textContent);
  const { drawExample } = modules.ownDraw;
  const { Sheet } = modules.ownSheet;
  const { taken, toml, notebook } = modules.ownFiles;
  const { exerciseOf, askable } = modules.ownAsks;
  const { compute, startOf } = modules.explorerState;
  const { sectionsOf } = modules.explorerSections;
  const { heads, inputs } = drawExample(settings, knowledge);
  const data = { tokens: settings.words, heads, inputs, focus: word, masks: null, block: null,
    isCausal, scale: null, prints: {}, view: "strip", name: "own", keyWidth: settings.inner };
  const state = startOf(data);
  const example = taken({ data, state });
  const sheet = new Sheet(example, knowledge.titles, isAll).node();
  const rows = (part) => [...sheet.querySelectorAll(`${part} tr[data-stage]`)].map((row) => [
    row.dataset.stage, Number(row.dataset.head ?? -1), Number(row.dataset.row),
    [...row.querySelectorAll("td")].map((cell) => cell.textContent)]);
  const numbers = compute(data, state);
  const exercises = Object.keys(knowledge.asked).flatMap((stage) => {
    const places = askable(numbers, stage, word);
    return places.length ? [places[(7 * settings.seed) % places.length]] : [];
  }).map((at) => [modules.places.address(at), exerciseOf(data, numbers, at, knowledge)]);
  return { heads, inputs, sections: sectionsOf(data, knowledge.titles), exercises,
    toml: toml(example, settings.seed), notebook: notebook(example, settings.seed, knowledge.wheel),
    sheet: rows(".own-page"), key: rows(".own-key"),
    lines: [...sheet.querySelectorAll(".own-lines li")].map((line) =>
      [...line.childNodes].map(({ nodeName, textContent }) =>
        (nodeName === "SUP" ? `^${textContent}` : textContent)).join("")) };
}"""


@pytest.fixture(scope="module")
def cases(browser, static, modules, html, tmp_path_factory):
    """Return 50 random settings with a word each: the package's run and the page's results."""
    file = tmp_path_factory.mktemp("own") / "page.html"
    file.write_text(page_html(html, static.as_uri()), encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    page.locator("mha-instrument.live").wait_for()
    page.add_script_tag(path=modules)
    rng = np.random.default_rng(SEED)
    given = [random_settings(rng) for _ in range(50)]
    words = [int(rng.integers(len(one["words"]))) for one in given]
    cases = enumerate(zip(given, words, strict=True))
    asked = [[one, word, i % 2 == 0] for i, (one, word) in cases]
    found = in_browser(page, MADE, asked)
    page.close()
    runs = [trace(draw_example(**one)) for one in given]
    return list(zip(runs, words, found, strict=True))


def test_the_same_settings_give_the_same_numbers_and_tables(cases):
    for run, _, found in cases:
        example, layer = run.example, run.example.layer
        arrays = {"embeddings": example.embeddings, "positions": example.positions}
        arrays |= {name: getattr(layer, name) for name in ("w_q", "w_k", "w_v", "w_o")}
        wanted = {name: array.tolist() for name, array in arrays.items() if array is not None}
        assert found["inputs"] == wanted
        assert tuple(found["heads"]) == example.head_names
        if not example.is_causal:
            assert found["sections"] == "".join(sections(run))


def test_data_file_and_notebook_give_the_same_numbers_again(cases):
    for i, (run, word, found) in enumerate(cases):
        loaded = example_from("own", found["toml"])
        again = trace(loaded)
        assert (again.tokens, again.head_names, loaded.focus) == (run.tokens, run.head_names, word)
        runs = [again] if i > 5 else [again, run_of_notebook(found["notebook"])]
        for made in runs:
            assert np.array_equal(made.weights, run.weights)
            assert np.array_equal(made.concat, run.concat)


def run_of_notebook(text):
    """Run the cells of a notebook, and return the run that they make."""
    cells = json.loads(text)["cells"]
    install, *code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    assert install == f"%pip install -q {WHEEL}"
    assert f"put `{WHEEL}` beside" in cells[0]["source"]
    space = {"display": lambda item: None, "print": lambda text: None}
    for source in code:
        exec(source, space)
    return space["run"]


def test_a_printed_sheet_gives_its_numbers_leaves_the_others_and_its_key_is_right(cases):
    for i, (run, word, found) in enumerate(cases):
        layer = run.example.layer
        joined = np.concatenate([run.exponentials, run.row_sums[..., None]], axis=-1)
        hidden = np.where(np.isneginf(run.scaled_scores), -np.inf, run.scores)
        due = {"exponentials": joined, "scores": hidden, "positions": run.example.positions}
        due |= {name: getattr(layer, name) for name in ("w_q", "w_k", "w_v", "w_o")}
        # An empty cell is for the reader.
        blanks = [row for row in found["sheet"] if not all(row[-1])]
        assert [row[:3] for row in found["key"]] == [row[:3] for row in blanks]
        given = [(row, 1e-12) for row in found["sheet"] if all(row[-1])]
        for (stage, head, row, texts), close in (*given, *((row, 5.1e-5) for row in found["key"])):
            array = due[stage] if stage in due else getattr(run, stage)
            wanted = array[row] if head < 0 else array[head, row]
            numbers = [parse_number(text) for text in texts]
            assert np.allclose(numbers, wanted, rtol=0, atol=close), stage
        for stage, _, row, _ in blanks:
            assert i % 2 == 0 or row == word or stage in ("key", "value", "placed")
        stages = {stage for stage, *_ in found["key"]}
        assert stages >= {"query", "scores", "weights", "head_outputs"}
        assert stages & {"output", "concat"} or (run.num_heads == 1 and run.output is None)
        assert {"embeddings", "w_q", "w_k", "w_v"} <= {row[0] for row, _ in given}


def test_the_lines_of_a_key_hold_and_come_to_its_numbers(cases):
    of_head = ("query", "scores", "scaled_scores", "exponentials", "row_sums", "weights")
    for run, word, found in cases:
        # A masked number has no line.
        seen = np.isfinite(run.scaled_scores[0, word])
        by_key = ("scores", "scaled_scores", "exponentials", "weights")
        wanted = [
            np.atleast_1d(getattr(run, stage)[head, word])[seen if stage in by_key else ...]
            for head in range(run.num_heads)
            for stage in (*of_head, "head_outputs")
        ]
        wanted = np.concatenate([*wanted, *([] if run.output is None else [run.output[word]])])
        worked = [line.partition(": ")[2] for line in found["lines"]]
        for line, number in zip(worked, wanted, strict=True):
            read = chains.hold(line)
            assert read, line
            for one in read:
                assert abs(float(chains.value_of(one.steps[-1])) - number) < 5.1e-5, line


def test_a_box_asks_what_the_packages_box_asks(cases):
    stages = set()
    for run, _, found in cases:
        assert len(found["exercises"]) >= 8
        for address, asked in found["exercises"]:
            at = Place.parse(address)
            stages.add(at.stage)
            index = {"row": at.row, "column": at.column or 0, "head": at.head or 0}
            wanted = numeric_exercise(run, at.stage, **index)
            assert asked["question"] == wanted.question
            assert asked["labels"] == [given.label for given in wanted.givens]
            assert asked["rounding"] == wanted.rounding
            task = json.loads(your_turn(run, at.stage, **index)._json())["tasks"][0]
            for name in ("kind", "column", "places", "percent", "hints", "shownPlaces"):
                assert asked["task"][name] == task[name], name
            for mine, its in zip(asked["task"]["givens"], task["givens"], strict=True):
                np.testing.assert_allclose(
                    np.array(mine, dtype=float), np.array(its, dtype=float), rtol=0, atol=1e-9
                )
    assert stages == set(ASKED_STAGES)


# ---- Actions of a reader ----


def test_a_reader_changes_words_and_their_numbers_works_one_and_keeps_files(own):
    seen = own(width=390, has_touch=True)
    seen.assert_shows(words="the tired cat drinks tea")
    assert (seen.shares() == [[5, 5, 81, 5, 5], [20] * 5]).all()
    a_finger_draws_a_slider_and_the_page_stays(seen)
    sliders_and_fields_change_what_a_word_attends_to(seen)
    a_sentence_is_typed_and_a_word_chosen(seen)
    seen.type("the tired cat drinks tea")
    a_box_asks_and_checks(seen)
    for name, ending in (("Data file for the book (TOML)", "toml"), ("Notebook (.ipynb)", "ipynb")):
        with seen.page.expect_download() as kept:
            seen.press_download(name)
        assert kept.value.suggested_filename == f"the-tired-cat-drinks-tea.{ending}"
        assert "tired" in kept.value.path().read_text(encoding="utf-8")
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


def a_finger_draws_a_slider_and_the_page_stays(seen):
    slider = seen.page.get_by_label("tired: animal")
    slider.scroll_into_view_if_needed()
    box, top = slider.bounding_box(), seen.page.evaluate("scrollY")
    x, y = box["x"] + 0.07 * box["width"], box["y"] + box["height"] / 2
    swipe(seen.page, x, y, 0.63 * box["width"], steps=7)
    assert seen.numbers("embeddings")[1].tolist() == [1.5, 0, 1, 0]
    assert slider.bounding_box() == box
    assert seen.page.evaluate("scrollY") == top
    seen.page.get_by_role("button", name="Undo").tap()
    seen.assert_shows(words="the tired cat drinks tea")


def sliders_and_fields_change_what_a_word_attends_to(seen):
    seen.page.locator(".own-word", has_text="drinks").click()
    slider = seen.page.get_by_label("drinks: state")
    before = seen.shares()
    slider.focus()
    slider.press("ArrowRight")
    slider.press("ArrowRight")
    assert seen.numbers("embeddings")[3].tolist() == [0, 0, 1, 1]
    assert seen.field("state").input_value() == "1"
    assert seen.shares()[0, 2] == round(100 * seen.numbers("weights")[0, 3, 2]) > 70
    seen.field("state").fill("-0.25")
    assert seen.numbers("embeddings")[3, 2] == -0.25
    assert "embeddings.3.2=-0.25" in seen.url()
    while seen.is_enabled("Undo"):
        seen.press("Undo")
    assert (seen.shares() == before).all()


def a_sentence_is_typed_and_a_word_chosen(seen):
    seen.type("the hungry dog")
    run = seen.assert_shows(words="the hungry dog")
    seen.page.locator(".own-word", has_text="hungry").click()
    assert (seen.shares() == np.round(100 * run.weights[:, 1])).all()
    assert "words=the+hungry+dog" in seen.url()
    # While it is typed it follows at each pause.
    seen.field("Your sentence").press("End")
    seen.field("Your sentence").press_sequentially(" ran")
    expect(seen.page.locator(".own-word")).to_have_count(4)
    seen.page.locator(".own-vocabulary > summary").click()
    seen.press("milk")
    seen.assert_shows(words="the hungry dog ran milk")


def a_box_asks_and_checks(seen):
    box = seen.page.locator("mha-your-turn")
    # A word with a zero query has scores of 0, so the box asks for another word's score.
    seen.page.locator(".own-word").first.click()
    seen.press("Ask")
    box.locator("summary").click()
    answer = box.locator(".your-turn-worked p")
    assert answer.inner_text().split()[-1] != "0"
    seen.page.locator(".own-word").nth(1).click()
    seen.field("Ask me for").select_option("a weight")
    seen.press("Ask for another")
    expect(box).to_contain_text("Compute the weight that tired gives to")
    box.locator("summary").click()
    box.locator("input").fill(answer.inner_text().split()[-1])
    box.get_by_role("button", name="Check").click()
    expect(box.locator(".your-turn-feedback")).to_contain_text("Right")
    seen.press("Ask for another")
    expect(box.locator("input")).to_have_value("")


def test_every_choice_draws_what_the_package_draws(own):
    seen = own(width=390)
    seen.page.locator(".own-choices > summary").click()
    given = {"words": "the tired cat drinks tea"}
    more = seen.page.get_by_role("button", name="Heads: one more")
    before = more.bounding_box()
    choices = (
        (lambda: seen.field("whole").check(), {"numbers": "whole"}),
        (lambda: seen.press("Draw others"), {"seed": 2}),
        (lambda: seen.field("Seed").fill("4294967295"), {"seed": 2**32 - 1}),
        (lambda: seen.press("Heads: one more"), {"num_heads": 3}),
        (lambda: seen.press("Numbers per word: one more"), {"d_model": 5}),
        (lambda: seen.press("Numbers per head: one less"), {"d_k": 1}),
        (lambda: seen.field("Numbers per head").fill("3"), {"d_k": 3}),
        (lambda: seen.field("Positions added").check(), {"positions": True}),
        (lambda: seen.page.get_by_label("Output projection").uncheck(), {"output": False}),
        (lambda: seen.field("No later words (causal)").check(), {"is_causal": True}),
    )
    for choose, patch in choices:
        choose()
        seen.assert_shows(**(given := given | patch))
        assert more.bounding_box() == before, patch  # no control moves under the pointer
    expect(seen.page.locator(".own-vocabulary")).to_be_hidden()  # only meanings have words
    again = own("#" + seen.url())
    again.assert_shows(**given)
    expect(again.page.locator(".strip .end-row.joined")).to_have_count(1)
    seen.field("one decimal").check()
    seen.assert_shows(**(given | {"numbers": "tenths"}))
    seen.page.keyboard.press("Control+z")
    seen.assert_shows(**given)


WRONG = (
    ("Your sentence", "  ", "Type a word"),
    ("Your sentence", "a " * 13, "These are 13 words; 12 are allowed."),
    ("Your sentence", "x" * 17, "has 17 characters; a word has at most 16."),
    ("Seed", "4294967296", "“4294967296” is out of range. Type a number from 0 to 4,294,967,295."),
    ("Seed", "1,5", "“1,5” is not a whole number. Type one from 0 to 4,294,967,295."),
    ("Heads", "15", "“15” is out of range. Type a number from 1 to 4."),  # by way of 1
    ("Numbers per word", "1.5", "“1.5” is not a whole number. Type one from 2 to 6."),
    ("Numbers per head", "", "Type a whole number from 1 to 4."),
)


def test_an_invalid_input_is_reported_at_its_field_and_moves_nothing(own):
    seen = own()
    strip = seen.page.locator(".own .strip")
    before = strip.bounding_box()
    for label, text, says in WRONG:
        field = seen.field(label)
        field.fill("")
        field.press_sequentially(text)
        field.blur()
        assert field.get_attribute("aria-invalid") == "true"
        told = field.get_attribute("aria-describedby").split()[-1]
        assert says in seen.page.locator(f"#{told}").inner_text()
        assert strip.bounding_box() == before
        seen.assert_shows(words="the tired cat drinks tea")
        field.fill({"Your sentence": "cat", "Numbers per word": "4"}.get(label, "2"))
        seen.type("the tired cat drinks tea")
        seen.field("Seed").fill("1")
        seen.field("Seed").blur()
        assert field.get_attribute("aria-invalid") == "false"


def test_random_values_and_meanings_are_explained_and_the_key_word_is_chosen(own):
    seen = own()
    says = seen.page.locator(".own-says .soft")
    seen.field("Your sentence").fill("")
    # The sentence is read at each pause. Words without meaning are not kept for being first.
    for word in ("the", "hungry", "cat"):
        seen.field("Your sentence").press_sequentially(f" {word}")
        expect(seen.page.locator(".own-word").last).to_contain_text(word)
    expect(seen.page.get_by_role("button", pressed=True)).to_contain_text(
        re.compile("^hungry|^cat")
    )
    heads = seen.page.locator(".own-legend").all_inner_texts()
    seen.type("the was hungry cat hund")
    expect(says).to_have_text(
        "The heads join meanings of these words. "
        "The list has no meanings for \u2068hund\u2069: their numbers are random."
    )
    seen.page.locator(".own-word", has_text="random").click()
    expect(seen.page.locator(".own-sliders")).to_contain_text("Change the random numbers of hund")
    assert seen.page.locator(".own-legend").all_inner_texts() == heads
    seen.type("she was hungry tea")
    turned = seen.page.locator(".own-legend").all_inner_texts()
    assert turned != heads
    expect(seen.page.locator("mha-explorer .status")).to_contain_text(", ".join(turned))
    expect(says).to_contain_text("A meaning of \u2068she\u2069 needs 5 numbers per word.")


@pytest.mark.parametrize("width", [1280, 390])
def test_downloads_are_reachable_cover_nothing_and_move_nothing(own, width):
    seen = own(width=width, has_touch=True)
    place, take = seen.page.locator(".own-chosen"), seen.page.locator(".own-take")
    seen.page.locator("mha-explorer .tools").scroll_into_view_if_needed()
    opener = seen.page.get_by_role("button", name="Save or share")
    expect(opener).to_be_in_viewport()
    opener.tap()
    expect(seen.page.get_by_role("button", name="Print a worksheet")).to_be_in_viewport()
    seen.page.get_by_role("button", name="Copy the link").press("Escape")
    expect(take).to_be_hidden()
    expect(opener).to_be_focused()
    seen.page.locator(".own").evaluate("(e) => e.scrollIntoView()")
    before = place.bounding_box()
    opener.tap()
    assert place.bounding_box() == before
    over = take.bounding_box()
    for name in (".own-sentence-field", ".own-word-row", ".own-legend >> nth=-1"):
        under = seen.page.locator(name).bounding_box()
        assert any(
            one[side] + one[size] <= other[side]
            for one, other in ((over, under), (under, over))
            for side, size in (("x", "width"), ("y", "height"))
        ), name
    # If the browser refuses to copy, the link is shown in a field, and no button moves.
    notebook = seen.page.get_by_role("button", name="Notebook (.ipynb)")
    top = notebook.evaluate("(e) => e.offsetTop")
    seen.page.evaluate(CLIPBOARD, "reject")
    seen.press("Copy the link")
    link = seen.page.get_by_label("Link to this state").input_value()
    assert link == seen.page.evaluate("window.copied")
    assert notebook.evaluate("(e) => e.offsetTop") == top
    seen.page.locator(".own-word").last.tap()
    expect(take).to_be_hidden()
    # The space for messages about words is reserved.
    for words in ("hungry " + "x" * 900, "she he they hungry aaaaaaaaaaaa bbbbbbbbb"):
        seen.type(words)
        assert place.bounding_box()["y"] == before["y"], words


def test_one_word_and_any_script_are_sentences(own):
    seen = own()
    long = " ".join(f"extraordinary{letter}" for letter in "abcdefghijkl")
    family = "👩\u200d👩\u200d👧 \U0001f408\u200d⬛ می\u200cخواهم"
    for words in ("cat", "猫 が 寝た", "القط نام", family, long, "the the Cat cat, the",
                  "<b>bold</b> &amp; \u200bx"):  # fmt: skip
        seen.type(words)
        seen.assert_shows(words=words.replace("\u200b", ""), num_heads=2)
        if words.startswith("القط"):
            first, second = (word.bounding_box() for word in seen.page.locator(".own-word").all())
            assert first["x"] > second["x"]
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert seen.page.locator(".own b, .own-word script").count() == 0


EDIT = """(edits) => { const { explorer } = document.querySelector(".own mha-explorer");
  for (const [at, value] of edits) explorer.edit(modules.places.parse(at), value); }"""


def test_changes_are_kept_where_their_numbers_are_and_undone_one_by_one(own, with_modules):
    seen = own()
    with_modules(seen.page)
    seen.page.evaluate(EDIT, [["embeddings.2.1", 1.5], ["w_q.0.0.0", 0.5], ["w_o.0.3", 0.25]])
    seen.type("hungry cat the")
    assert seen.numbers("embeddings")[1].tolist() == [1, 1.5, 0, 0]
    assert seen.numbers("w_q")[0, 0, 0] == 0.5
    seen.press("Numbers per head: one more")
    assert seen.numbers("embeddings")[1, 1] == 1.5
    assert "w_q.0.0.0" not in seen.url()
    for _ in range(2):
        seen.press("Undo")
    assert seen.words() == ["the", "tired", "cat", "drinks", "tea"]
    assert seen.numbers("w_o")[0, 3] == 0.25
    for _ in range(3):
        seen.press("Undo")
    seen.assert_shows(words="the tired cat drinks tea")
    assert not seen.is_enabled("Undo")
    for _ in range(5):
        seen.press("Redo")
    assert seen.numbers("query").shape == (2, 3, 3)
    what_was_left_for_something_else_is_not_done_again(seen)
    # The reader's numbers that can no longer be computed are discarded.
    seen = own()
    seen.type("the cat")
    with_modules(seen.page)
    seen.page.evaluate(EDIT, [["embeddings.1.0", 1e200], ["w_k.0.0.0", 2], ["w_q.0.3.0", 1e120]])
    assert seen.numbers("w_q")[0, 3, 0] == 1e120
    seen.field("Positions added").check()
    assert np.isfinite(seen.numbers("weights")).all()


def what_was_left_for_something_else_is_not_done_again(seen):
    seen.press("Undo")
    seen.page.evaluate(EDIT, [["embeddings.0.0", 4]])
    assert seen.is_enabled("Undo")
    assert not seen.is_enabled("Redo")
    # Nor can the explorer redo an edit of another sentence.
    seen.press("Undo")
    seen.type("the cat")
    seen.press("Undo")
    seen.press("Redo")
    assert seen.words() == ["the", "cat"]
    assert not seen.is_enabled("Redo")


# ---- Printing and storage ----


def test_hidden_and_repeated_words_are_distinguished(own):
    seen = own("#own=example&words=the+hungry+dog+drinks+the+milk&causal=1")
    seen.page.locator(".own-word", has_text="drinks").click()
    shares = seen.page.locator(".own-word").nth(4).locator(".own-share")
    assert shares.all_inner_texts() == ["hidden", "hidden"]
    seen.page.evaluate("window.print = () => {}")
    seen.press_download("Print a worksheet with its key")
    sheet = seen.page.locator(".own-sheet")
    rows = sheet.locator(".own-page tr[data-stage=key][data-head='0'] th").all_text_contents()
    assert rows == ["the₁", "hungry", "dog", "drinks"]  # settings without effect are not shown
    score = sheet.locator(".own-key tr[data-stage=scores]").first.locator("td").all_text_contents()
    assert score[-2:] == ["−∞", "−∞"]
    text = sheet.locator(".own-key").text_content()
    assert "s(the₁): " in text
    assert "s(the₅): " not in text
    assert text.count("Masked") == 1


def test_settings_of_the_explorer_are_in_the_downloads(own):
    seen = own()
    seen.page.locator("details.settings > summary").click()
    seen.page.get_by_label("Temperature").fill("2")
    seen.page.get_by_label("the is padding").check()
    seen.page.get_by_label("Move tea earlier").click()
    with seen.page.expect_download() as kept:
        seen.press_download("Data file for the book (TOML)")
    run = trace(example_from("own", kept.value.path().read_text(encoding="utf-8")))
    assert run.tokens == ("the", "tired", "cat", "tea", "drinks")
    assert np.allclose(run.weights, seen.numbers("weights"), rtol=0, atol=1e-12)
    assert (run.weights[:, :, 0] == 0).all()


def test_a_sheet_is_printed_alone_its_key_apart_and_no_table_torn_or_cut(own):
    pymupdf = pytest.importorskip("pymupdf")
    words = "+".join(f"{letter}xtraordinary{letter}x" for letter in "bcdefghijk")
    sizes = "heads=3&width=5&inner=4&positions=1&numbers=tenths"
    seen = own(f"#own=example&words=aaa+{words}+zzz&{sizes}")
    seen.page.evaluate("window.print = () => { window.printed = true; }")
    seen.press("Save or share")
    seen.field("all words").check()
    seen.press("Print a worksheet with its key")
    assert seen.page.evaluate("window.printed")
    longest = max(seen.page.locator(".own-key td").all_inner_texts(), key=len)
    seen.page.evaluate(
        "document.querySelectorAll('.own-lines').forEach((lines) =>"
        " { lines.previousElementSibling.remove(); lines.remove(); })"
    )
    with pymupdf.open(stream=seen.page.pdf(format="A5")) as document:
        texts = [page.get_text() for page in document]
        for page in document:
            cut = [word for *box, word, _, _, _ in page.get_text("words")
                   if box[2] > page.rect.x1 or box[3] > page.rect.y1]  # fmt: skip
            assert cut == []
    for text in texts:  # each table has a row of the first word, and one of the last
        assert text.split().count("aaa") == text.split().count("zzz")
    first = next(i for i, text in enumerate(texts) if "Attention by hand: Key" in text)
    assert 2 <= first < len(texts)
    assert "Attention by hand" in texts[0]
    assert "Your sentence" not in "".join(texts)
    assert longest in "".join(texts[first:])
    assert longest not in "".join(texts[:first])
    seen.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert seen.page.locator(".own-sheet").count() == 0


def test_bars_are_visible_in_forced_colours(own):
    bar = own(forced_colors="active").page.locator(".own-track > span:last-child").nth(4)
    assert "linear-gradient" in bar.evaluate("(e) => getComputedStyle(e).backgroundImage")


# ---- The book's own sentences, and punctuation ----

BOOKS = ("the river bank", "the money bank", "I bought apple to eat", "I play football",
         "the cat slept because it was tired", "dog bites man", "we drink tea")  # fmt: skip


@pytest.mark.parametrize("words", BOOKS)
def test_the_book_s_own_sentences_work_at_once(own, words):
    seen = own()
    seen.type(words)
    run = seen.assert_shows(words=words)
    assert seen.page.locator(".own-word", has_text="random").count() == 0
    assert not np.allclose(run.weights, 1 / len(run.tokens))
    width = str(run.embeddings.shape[1])
    expect(seen.field("Numbers per word")).to_have_value(width)


def test_the_width_rises_to_what_the_words_need_and_says_so(own):
    seen = own()
    seen.type("the river bank")
    width = seen.field("Numbers per word")
    expect(width).to_have_value("6")
    expect(seen.page.locator("mha-explorer .status")).to_contain_text(
        "A word now has 6 numbers, because a meaning needs them."
    )
    expect(seen.page.locator(".own-says .soft")).to_contain_text(
        "A meaning of \u2068river\u2069, \u2068bank\u2069 needs 6 numbers per word."
    )
    width.fill("4")
    error = seen.page.locator(f"#{width.get_attribute('aria-describedby')}")
    expect(error).to_have_text("“4” is too few: a meaning of river, bank needs 6 numbers per word.")
    less = seen.page.get_by_role("button", name="Numbers per word: one less")
    assert less.get_attribute("aria-disabled") == "true"
    seen.assert_shows(words="the river bank")
    seen.press("Undo")
    seen.assert_shows(words="the tired cat drinks tea")
    seen.press("Redo")
    seen.assert_shows(words="the river bank")
    # An older link, with fewer numbers, opens with as many as its words need.
    again = own("#own=example&words=the+river+bank&width=4")
    again.assert_shows(words="the river bank")


def test_punctuation_is_left_out_of_words(own):
    seen = own()
    typed = "Who reads the book, you? It didn’t cost 3.5!"
    seen.type(typed)
    seen.assert_shows(words=typed)
    assert seen.words() == ["Who", "reads", "the", "book", "you", "It", "didn’t", "cost", "3.5"]
    assert seen.field("Your sentence").input_value() == typed
    seen.type("?!")
    expect(seen.page.locator(".own-says .error")).to_contain_text("Type a word")


def test_each_edit_of_a_size_is_one_step(own):
    seen = own()
    width = seen.field("Numbers per word")
    for text in ("6", "5", "4"):  # as fast as can be
        width.fill(text)
    for value in ("5", "6", "4"):
        seen.press("Undo")
        expect(width).to_have_value(value)
    assert not seen.is_enabled("Undo")
    width.fill("3")
    error = seen.page.locator(f"#{width.get_attribute('aria-describedby')}")
    expect(error).to_have_text("“3” is too few: a meaning of drinks needs 4 numbers per word.")


def test_a_box_that_is_asked_for_is_not_answered_by_one_of_an_earlier_visit(own):
    seen = own()
    for _ in range(2):
        seen.press("Ask")
        box = seen.page.locator("mha-your-turn")
        done = box.locator(".reading-done")
        expect(done).to_be_empty()
        line = box.locator(".your-turn-worked p").text_content()
        box.get_by_label("Your answer").fill(re.split(" [=≈] ", line)[-1])
        box.get_by_role("button", name="Check").click()
        expect(done).to_have_text("answered")
        seen.page.reload()
        seen.page.locator("mha-instrument.live").wait_for()
