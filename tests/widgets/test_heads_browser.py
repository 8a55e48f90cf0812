"""The recorded heads in Chromium: the browser's numbers and the controls."""

from functools import partial

import numpy as np
import pytest
from explorer_pages import reopen
from playwright.sync_api import expect
from ports import in_browser

from mha import attention_weights
from mha.examples.head_names import RULES, SHAPES, fit_head_name
from mha.examples.recorded import recorded_head, recorded_heads, recorded_maps, recorded_sentences
from mha.runs.rounding import percent, shown
from mha.widgets.assets import text_of
from mha.widgets.data_scripts import read_data
from mha.widgets.heads import best_head, real_heads
from mha.widgets.heads_data import head_file

pytestmark = pytest.mark.browser

CLOSE = 1e-12
SENTENCES = recorded_sentences()
TIRED = SENTENCES[2]
RIVER = SENTENCES[5]


@pytest.fixture
def opened(open_instrument):
    """Return a function that opens the heads, at an address and in a window."""
    return partial(
        open_instrument, real_heads(TIRED, "it", "cat", heads=((4, 2), (6, 12))).html, height=1000
    )


def thousandths(sentence, layer, head):
    return np.round(recorded_maps(sentence).weights[layer, head], 3)


WEIGHTS = """([packed, ids]) => {
  const [query, key, value] = modules.bytes.matricesOf(packed, [3, 50, 32])
    .map((matrix) => ids.map((i) => matrix[i]));
  return modules.attention.trace({ query: [query], key: [key], value: [value] }).weights[0];
}"""


TESTED = """([name, pair]) => {
  const { cellsOf, holds, recordedMaps } = modules.headsNames;
  const { tokens } = modules.headsMaps;
  const mapOf = recordedMaps();
  return tokens.map((_, i) => [...Array(72).keys()].map(
    (head) => holds(name, cellsOf(name, tokens[i], pair), mapOf(i, head))));
}"""


def test_every_name_holds_of_every_map_as_far_as_in_the_package(arithmetic_page):
    cases = [[name, ["", ""]] for name in (*RULES, *SHAPES)]
    cases += [["pair", ["it", "cat"]], ["pair", ["the", "river"]], ["pair", ["i", "soft"]]]
    found = in_browser(arithmetic_page, TESTED, cases)
    silent = 0
    for (name, pair), by_sentence in zip(cases, found, strict=True):
        for sentence, by_head in zip(SENTENCES, by_sentence, strict=True):
            tokens = recorded_maps(sentence).tokens
            for (layer, head), got in zip(np.ndindex(6, 12), by_head, strict=True):
                own = fit_head_name(
                    name, tokens, thousandths(sentence, layer, head), pair=tuple(pair)
                )
                silent += own is None
                assert (got is None) == (own is None)
                if own is not None:
                    assert got["share"] == pytest.approx(own.share, abs=CLOSE)
                    assert (got["obeyed"], got["rows"]) == (own.largest_in_rule, own.rows)
    assert 0 < silent < 9 * 6 * 72 / 2


def test_a_head_works_any_order_of_tokens_as_the_package_does(opened, arithmetic_page, rng):
    page = opened()
    for layer, head in recorded_heads():
        runs = [recorded_head(layer, head, sentence) for sentence in SENTENCES]
        query, key = (
            np.concatenate([getattr(r, name)[0] for r in runs]) for name in ("query", "key")
        )
        ids = rng.integers(0, len(query), size=rng.integers(2, 13))
        own = ".".join(map(str, ids))
        reopen(page, f"#heads=real&sentence=1&word=2&key=1&head={layer}.{head}-1.1&own={own}")
        steps = page.locator(".heads-step .number")
        expect(steps.last).to_be_enabled()
        weights = attention_weights(query[ids], key[ids])
        packed = read_data(text_of(head_file(layer, head)))
        got = arithmetic_page.evaluate(WEIGHTS, [packed, ids.tolist()])
        assert np.allclose(got, weights, rtol=0, atol=CLOSE)
        cells = page.locator(".heads-story .number.head-0").all_inner_texts()
        assert cells == [f"{x:.3f}" for x in weights[1]]
        assert steps.last.inner_text() == f"{weights[1, 0]:.4f}"


def test_a_reader_puts_a_name_to_the_test_and_finds_the_head(opened):
    page = opened()
    name, first = page.get_by_label("Test a name"), page.get_by_role("radio").first
    verdict, rule = page.locator(".heads-verdict"), page.locator(".heads-rule")
    name.select_option("before")
    expect(first).to_have_accessible_name("layer 1, head 3 100 %")
    first.click()
    share, layer, head, held = best_head("before")
    assert (layer, head) == (1, 3)
    rows = page.locator(".heads-list tbody tr")
    for row, own in zip(rows.all(), held, strict=True):
        assert f"{percent(own.share, 1)}\t{own.largest_in_rule} of {own.rows}" in row.inner_text()
    expect(verdict).to_contain_text(f"; in all sentences {percent(share, 1)}.")
    expect(verdict).to_contain_text("1.3 in this sentence: 100.0 % of the")
    page.get_by_label("in the order of all sentences").check()
    name.select_option("broad")  # in this sentence it would be layer 1, head 3
    expect(first).to_have_accessible_name("layer 4, head 12 79 %")
    name.select_option("pair")
    expect(rule).to_contain_text("the others give cat")
    expect(verdict).to_contain_text("the largest weight in 0 of 1 row;")
    page.get_by_text("All 72 heads as a table").click()
    table = page.locator(".heads-table tr")
    expect(table).to_have_count(73)
    page.get_by_label("in the order of all sentences").uncheck()
    expect(table.nth(1)).to_contain_text("6.12")
    expect(table.nth(1)).to_contain_text("68.3 %, 1 of 1")


def test_maps_words_and_keys_are_chosen_by_keyboard_and_undone(opened):
    page = opened()
    chosen = page.locator("mha-instrument :is(select, button)").first  # before all else
    chosen.select_option("I play football")
    title = page.locator(".strip-title")
    expect(title).to_contain_text("What does play (3) attend to?")  # the word that tells most
    page.get_by_role("button", name="Undo").click()
    expect(chosen).to_have_value(TIRED)
    expect(title).to_have_text(
        "What does it (9) attend to? Above: layer 4, head 2; below: layer 6, head 12."
    )
    page.get_by_role("radio", checked=True).focus()
    for key, where in (("ArrowRight", "layer 4, head 3"), ("ArrowDown", "layer 5, head 3")):
        page.keyboard.press(key)
        expect(title).to_contain_text(f"Above: {where}")
    expect(page.get_by_role("radio", checked=True)).to_be_focused()
    expect(page.locator(".heads-whole")).to_contain_text("Only the weights of")
    page.get_by_role("button", name="second").click()
    page.get_by_role("radio", name="layer 1, head 5").click()
    expect(title).to_contain_text("Above: layer 5, head 3; below: layer 1, head 5")
    page.get_by_role("button", name="Choose “The bank near the river”").click()
    page.get_by_role("button", name="Token 3: bank").press("Enter")
    cells = page.locator(".heads-story .number.head-1")
    assert cells.all_inner_texts() == [f"{x:.3f}" for x in thousandths(RIVER, 0, 4)[2]]
    expect(cells.nth(5)).to_have_accessible_name("layer 1, head 5: bank (3) gives river (6) 0.720")
    for _ in range(2):
        page.get_by_role("button", name="Undo").click()
    expect(cells).to_have_count(12)


def test_a_weight_is_worked_from_its_products_and_a_head_is_asked_something_else(opened):
    page = opened("#heads=real&sentence=6&word=3&key=6&head=1.5-1.3", width=390)
    run, asked = recorded_head(1, 5, RIVER), recorded_head(1, 5, SENTENCES[0])
    steps = page.locator(".heads-step .number")
    expect(steps).to_have_text(["28.5621", "5.0491", "155.8841", "0.7196"])
    products = run.query[0, 2] * run.key[0, 5]
    bars, line = page.locator(".heads-products"), page.locator(".model-line")
    told = ", ".join(shown(x, 2) for x in products)
    expect(bars).to_have_accessible_name(f"32 products of bank (3) and river (6), in order: {told}")
    bars.click()
    expect(line.locator("button")).to_have_count(64)
    expect(line).to_contain_text("≈ 28.5621")
    line.locator("button").first.click()
    expect(line).to_contain_text(
        "from mha.examples.recorded import recorded_head; "
        'recorded_head(1, 5, "The bank near the river").query[0, 2, 0]'
    )
    page.keyboard.press("Escape")
    words, note = page.locator(".heads-story .model-word"), page.locator(".heads-note")

    def press(name):
        page.get_by_role("button", name=name, exact=True).click()

    press("Move left")
    expect(words).to_have_text(["[CLS]", "bank", "the", "near", "the", "river", "[SEP]"])
    # A moved token keeps its numbers: no weight changes, and the message explains what would.
    expect(steps.last).to_have_text("0.7196")
    expect(note).to_contain_text("Only the order changes")
    expect(page.locator(".heads-rule")).to_contain_text("stay those of the recorded sentence")
    press("Remove")
    expect(words).to_have_text(["[CLS]", "the", "near", "the", "river", "[SEP]"])
    expect(note).to_contain_text("2 of 6 have their recorded position")
    expect(steps.last).not_to_have_text("0.7196")
    press("Repeat")
    expect(words).to_have_text(["[CLS]", "the", "the", "near", "the", "river", "[SEP]"])
    press("Undo")
    press("Move right")
    page.get_by_label("At position 3").select_option(label="4: apple")
    expect(words).to_have_text(["[CLS]", "near", "apple", "the", "river", "[SEP]"])
    query, key = (
        np.insert(getattr(run, name)[0, [0, 3, 4, 5, 6]], 2, getattr(asked, name)[0, 3], axis=0)
        for name in ("query", "key")
    )
    cells = page.locator(".heads-story .number.head-0").all_inner_texts()
    assert cells == [f"{x:.3f}" for x in attention_weights(query, key)[2]]
    press("As recorded")
    expect(note).to_have_text("The tokens have their recorded order.")
    page.get_by_label("At position 3").select_option(label="3: cat")
    # The message is about the row to which it applies.
    expect(note).to_contain_text("1.5 and 1.3: in layer 1")
    press("second")
    press("All 72 maps")
    page.get_by_role("radio", name="layer 6, head 12").click()
    expect(note).to_contain_text("1.5: in layer 1")
    expect(note).to_contain_text("6.12: from layer 2 on")
    # The focus stays on the undo button, though nothing is left to undo.
    undo = page.get_by_role("button", name="Undo")
    while undo.is_enabled():
        undo.press("Enter")
    expect(page.get_by_role("button", name="Redo")).to_be_focused()
    press("Reset")
    expect(page.locator(".strip-title")).to_contain_text("What does it (9) attend to?")


def test_an_address_opens_the_same(opened):
    page = opened("#heads=real&sentence=6&word=2&key=3&head=1.3-2.9&name=before&all=1&own=43.45.44")
    page.get_by_role("button", name="Share").click()
    shared = page.evaluate("location.hash")
    expect(page.locator(".heads-verdict")).to_contain_text("In your order")
    again = opened(shared)
    expect(again.get_by_label("in the order of all sentences")).to_be_checked()
    for part in (".heads-story", ".heads-verdict", ".heads-note", ".heads-strip", ".heads-grid"):
        said = page.locator(part).inner_text()
        expect(again.locator(part)).to_have_text(said, use_inner_text=True)


SEEN = """() => {
  const box = (e) => e.getBoundingClientRect();
  const frame = box(document.querySelector(".heads-two > .model-scroll"));
  const from = box(document.querySelector(".heads-story .model-head")).right;
  const seen = (e) => box(e).left >= from - 1 && box(e).right <= frame.right + 1;
  const cells = [...document.querySelectorAll(".heads-story .number.head-0")];
  const most = cells.reduce((a, b) => (Number(b.textContent) > Number(a.textContent) ? b : a));
  const word = document.querySelector(".heads-story .model-word[aria-pressed=true]");
  const key = cells.find((e) => e.ariaPressed === "true");
  return { most: seen(most), key: seen(key), word: seen(word) };
}"""


def test_on_a_phone_every_map_is_reached_and_what_a_word_gives_most_is_in_sight(opened):
    page = opened(width=390, height=844, has_touch=True)
    assert page.evaluate(SEEN) == {"most": True, "key": True, "word": True}
    page.get_by_role("button", name="Token 3: cat").tap()
    seen = page.evaluate(SEEN)
    assert seen["word"]
    assert seen["key"]
    maps = page.get_by_role("radio")
    expect(maps).to_have_count(14)  # twelve, and the two that are chosen
    assert page.locator(".heads-two > .model-scroll").bounding_box()["height"] < 190
    page.get_by_role("button", name="All 72 maps").tap()
    expect(maps).to_have_count(72)
    box = maps.first.bounding_box()
    assert min(box["width"], box["height"]) >= 80
    page.get_by_role("button", name=f"Choose “{RIVER}”").tap()
    maps.nth(71).tap()
    # The results are visible beside the touched element.
    expect(page.locator(".heads-story [aria-pressed=true]").nth(1)).to_be_in_viewport()
    word = page.locator(".heads-story .model-word[aria-pressed=true]")
    place = int(word.get_attribute("aria-label").split()[1][:-1]) - 1
    cells = page.locator(".heads-story .number.head-0")
    assert cells.all_inner_texts() == [f"{x:.3f}" for x in thousandths(RIVER, 5, 11)[place]]
    # On a wide screen, no tested name moves the chosen elements below it.
    page.set_viewport_size({"width": 1280, "height": 900})
    top = "document.querySelector('.heads-grid').offsetTop"
    before = page.evaluate(top)
    for name in ("before", "pair", "broad", "same"):
        page.get_by_label("Test a name").select_option(name)
        assert page.evaluate(top) == before, name
