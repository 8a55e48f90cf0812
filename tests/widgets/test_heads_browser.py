"""The recorded heads in Chromium: the browser's numbers and the controls."""

from functools import partial

import numpy as np
import pytest
from explorer_pages import reopen
from playwright.sync_api import expect
from ports import in_browser

from mha import trace
from mha.examples.head_names import RULES, SHAPES, fit_head_name
from mha.examples.recorded import (
    recorded_head,
    recorded_heads,
    recorded_maps,
    recorded_next_tokens,
    recorded_sentences,
)
from mha.runs.rounding import percent, shown
from mha.widgets.assets import text_of
from mha.widgets.data_scripts import read_data
from mha.widgets.heads import best_head, decoder_heads
from mha.widgets.heads_data import head_file

pytestmark = pytest.mark.browser

CLOSE = 1e-12
SENTENCES = recorded_sentences()
ANIMAL, _, FRANCE = SENTENCES[:3]
LAYERS, HEADS = recorded_maps(ANIMAL).weights.shape[:2]
COUNT = sum(len(recorded_maps(sentence).tokens) for sentence in SENTENCES)
DEFAULT = "Which tokens does it (9) attend to? Above: layer 14, head 9; below: layer 19, head 9."


@pytest.fixture
def opened(open_instrument):
    """Return a function that opens the heads, at an address and in a window."""
    made = decoder_heads(ANIMAL, " it", " animal", heads=((14, 9), (19, 9)))
    return partial(open_instrument, made.html, height=1000)


def number(sentence):
    return SENTENCES.index(sentence) + 1


TESTED = """([name, pair]) => {
  const { cellsOf, holds, recordedMaps } = modules.headsNames;
  const { heads, layers, tokens } = modules.headsMaps;
  const mapOf = recordedMaps();
  return tokens.map((_, i) => [...Array(heads * layers).keys()].map(
    (head) => holds(name, cellsOf(name, tokens[i], pair), mapOf(i, head))));
}"""

MAPS = """() => {
  const { recordedMaps } = modules.headsNames;
  const { heads, layers, tokens } = modules.headsMaps;
  const mapOf = recordedMaps();
  return tokens.map((_, i) => [...Array(heads * layers).keys()].map((head) => mapOf(i, head)));
}"""

WEIGHTS = """([packed, count, from, angles]) => {
  const { halvesOf } = modules.bytes;
  const [query, key, value] = halvesOf(packed, [3, count, 64])
    .map((matrix) => [matrix.slice(from, from + angles.length)]);
  return modules.attention.trace({ query, key, value, angles, isCausal: true }).weights[0];
}"""


def test_the_browser_reads_the_recorded_maps(arithmetic_page):
    for sentence, found in zip(SENTENCES, arithmetic_page.evaluate(MAPS), strict=True):
        weights = recorded_maps(sentence).weights
        assert np.allclose(np.reshape(found, weights.shape), weights, rtol=0, atol=CLOSE)


def test_every_name_holds_of_every_map_as_far_as_in_the_package(arithmetic_page):
    cases = [[name, ["", ""]] for name in (*RULES, *SHAPES)]
    cases += [["pair", [" it", " animal"]], ["pair", [" is", " France"]]]
    found = in_browser(arithmetic_page, TESTED, cases)
    silent = 0
    for (name, pair), by_sentence in zip(cases, found, strict=True):
        for sentence, by_head in zip(SENTENCES, by_sentence, strict=True):
            maps = recorded_maps(sentence)
            for (layer, head), got in zip(np.ndindex(LAYERS, HEADS), by_head, strict=True):
                own = fit_head_name(name, maps.tokens, maps.weights[layer, head], pair=tuple(pair))
                silent += own is None
                assert (got is None) == (own is None)
                if own is not None:
                    assert got["share"] == pytest.approx(own.share, abs=CLOSE)
                    assert (got["obeyed"], got["rows"]) == (own.largest_in_rule, own.rows)
    assert 0 < silent < len(cases) * len(SENTENCES) * LAYERS * HEADS / 2


def test_a_head_gives_the_weights_that_the_package_computes(arithmetic_page):
    for layer, head in recorded_heads():
        packed = read_data(text_of(head_file(layer, head)))
        start = 0
        for sentence in SENTENCES:
            run = trace(recorded_head(layer, head, sentence))
            asked = [packed, COUNT, start, run.angles.tolist()]
            found = arithmetic_page.evaluate(WEIGHTS, asked)
            assert np.allclose(found, run.weights[0], rtol=0, atol=CLOSE)
            start += len(run.tokens)


def test_the_scripts_of_the_data_are_small():
    names = ["heads-maps.js", *(head_file(*head) for head in recorded_heads())]
    assert sum(len(text_of(name).encode()) for name in names) < 600_000


def test_a_reader_puts_a_name_to_the_test_and_finds_the_head(opened):
    page = opened()
    name, verdict = page.get_by_label("Test a name"), page.locator(".heads-verdict")
    name.select_option("before")
    words = len(recorded_maps(ANIMAL).tokens)
    maps = recorded_maps(ANIMAL).weights
    shares = np.diagonal(maps, -1, axis1=-2, axis2=-1).mean(axis=-1)
    order = np.argsort(-shares.ravel(), kind="stable")[:5]
    best = page.get_by_role("group", name="Fits best").get_by_role("button")
    expect(best).to_have_text([
        f"{i // HEADS + 1}.{i % HEADS + 1} {percent(shares.ravel()[i], 0)}" for i in order
    ])  # fmt: skip
    share, layer, head, held = best_head("before")
    page.get_by_role("radio", name=f"layer {layer}, head {head} ", exact=False).first.click()
    rows = page.locator(".heads-list tbody tr")
    for row, own in zip(rows.all(), held, strict=True):
        assert f"{percent(own.share, 1)}\t{own.largest_in_rule} of {own.rows}" in row.inner_text()
    expect(verdict).to_contain_text(f"; in all sentences {percent(share, 1)}.")
    expect(verdict).to_contain_text(f" of {words - 1} rows")
    name.select_option("induction")  # no token of this sentence is repeated
    expect(verdict).to_contain_text("no row counted")
    expect(best).to_have_count(0)  # no head is called the best
    expect(page.locator(".heads-best")).to_contain_text("In this sentence no row counts.")
    name.select_option("pair")
    expect(page.locator(".heads-rule")).to_contain_text("The weight that it gives animal")
    page.get_by_text("All 270 heads as a table").click()
    table = page.locator(".heads-table tr")
    expect(table).to_have_count(271)
    expect(table.nth(1)).to_contain_text("14.9")


def test_maps_tokens_and_keys_are_chosen_by_keyboard_and_undone(opened):
    page = opened()
    chosen = page.locator("mha-instrument :is(select, button)").first  # before all else
    title = page.locator(".strip-title")
    expect(title).to_have_text(DEFAULT)
    chosen.select_option(FRANCE)
    expect(title).to_contain_text("Which tokens does is (5) attend to?")  # the last token
    page.get_by_role("button", name="Undo").click()
    expect(title).to_have_text(DEFAULT)
    page.get_by_role("radio", checked=True).focus()
    for key, where in (("ArrowRight", "layer 15, head 9"), ("ArrowUp", "layer 15, head 8")):
        page.keyboard.press(key)
        expect(title).to_contain_text(f"Above: {where}")
    expect(page.get_by_role("radio", checked=True)).to_be_focused()
    expect(page.locator(".heads-whole")).to_contain_text("Only the weights of")
    page.get_by_role("button", name="second", exact=True).click()
    page.get_by_role("radio", name="layer 24, head 5 ").click()
    expect(title).to_contain_text("Above: layer 15, head 8; below: layer 24, head 5")
    page.get_by_role("button", name=f"Choose “{FRANCE}”").click()
    page.get_by_role("button", name="Token 5: is").press("Enter")
    cells = page.locator(".heads-story .number.head-1")
    row = recorded_maps(FRANCE).weights[23, 4, 4]
    assert cells.all_inner_texts() == [f"{x:.3f}" for x in row]
    expect(cells.nth(3)).to_have_accessible_name(
        f"layer 24, head 5: is (5) gives France (4) {row[3]:.3f}"
    )
    page.get_by_role("button", name="Reset").click()
    expect(title).to_have_text(DEFAULT)


def test_a_weight_is_computed_from_its_products(opened):
    page = opened(
        f"#heads=decoder&sentence={number(FRANCE)}&word=5&key=4&head=24.5-19.9", width=390
    )
    run = trace(recorded_head(24, 5, FRANCE))
    steps = page.locator(".heads-step .number")
    stages = (run.scores, run.scaled_scores, run.exponentials, run.weights)
    expect(steps).to_have_text([shown(stage[0, 4, 3]) for stage in stages])
    products = run.turned_query[0, 4] * run.turned_key[0, 3]
    bars, line = page.locator(".heads-products"), page.locator(".model-line")
    told = ", ".join(shown(x, 2) for x in products)
    expect(bars).to_have_accessible_name(f"64 products of is (5) and France (4), in order: {told}")
    bars.click()
    expect(line.locator("button")).to_have_count(128)
    expect(line).to_contain_text(f"≈ {shown(run.scores[0, 4, 3])}")
    line.locator("button").first.click()  # a rotated number, which has two terms
    line.locator("button").first.click()
    expect(line).to_contain_text(
        "from mha.examples.recorded import recorded_head; "
        'recorded_head(24, 5, "The capital of France is").query[0, 4, 0]'
    )
    page.keyboard.press("Escape")
    # A later token has no weight.
    page.get_by_role("button", name="Token 1: The").click()
    expect(steps.last).to_have_text("0.0000")


def test_next_tokens_are_those_with_and_without_the_first_head(opened):
    page = opened(f"#heads=decoder&sentence={number(FRANCE)}&word=5&key=4&head=24.5-19.9")
    whole, less = recorded_next_tokens(FRANCE), recorded_next_tokens(FRANCE, without=(24, 5))
    lines = page.locator(".heads-next tbody tr")
    expect(lines).to_have_count(7)
    first = lines.first
    expect(first.locator("th")).to_have_text("Paris")
    expect(first.locator("td")).to_have_text([
        percent(found.probability(" Paris"), 1) for found in (whole, less)
    ])  # fmt: skip
    expect(lines.last.locator("th")).to_have_text("all others")
    page.get_by_role("radio", name="layer 24, head 4 ").click()
    expect(page.locator(".heads-next")).to_contain_text("Choose a head that is recorded in full")
    expect(first.locator("td").last).to_have_text("")


def test_an_address_opens_the_same(opened):
    page = opened("#heads=decoder&sentence=3&word=4&key=3&head=24.5-19.7&name=before")
    page.get_by_role("button", name="Share").click()
    shared = page.evaluate("location.hash")
    again = opened(shared)
    for part in (".strip-title", ".heads-story", ".heads-verdict", ".heads-strip", ".heads-next"):
        said = page.locator(part).inner_text()
        expect(again.locator(part)).to_have_text(said, use_inner_text=True)


@pytest.mark.parametrize("address", [
    "#heads=real&sentence=6&word=3&key=6&head=1.5-1.3&own=43.45.44",  # of an earlier edition
    "#heads=decoder&sentence=99&word=0&key=x&head=31.1-2.10&name=separator",
])  # fmt: skip
def test_an_address_that_does_not_exist_opens_the_default_view(opened, address):
    page = opened()
    reopen(page, address)
    expect(page.locator(".strip-title")).to_have_text(DEFAULT)


def test_on_a_phone_the_maps_scroll_and_the_chosen_token_is_in_sight(opened):
    page = opened(width=390, height=844, has_touch=True)
    maps = page.get_by_role("radio")
    expect(maps).to_have_count(LAYERS * HEADS)
    box = maps.first.bounding_box()
    assert min(box["width"], box["height"]) >= 24
    assert page.locator(".heads-two > .model-scroll").bounding_box()["height"] < 190
    frame, chosen = (one.bounding_box() for one in (
        page.locator(".heads-frame"), page.get_by_role("radio", checked=True)))  # fmt: skip
    assert frame["x"] < chosen["x"] < frame["x"] + frame["width"] - chosen["width"]
    shown_tokens = page.locator(".heads-story .model-word")
    for seen in (shown_tokens.first, page.locator(".heads-story .model-word[aria-pressed=true]")):
        expect(seen).to_be_in_viewport(ratio=1)  # the sink of the second head, and the token
    maps.last.tap()
    expect(page.locator(".strip-title")).to_contain_text(f"Above: layer {LAYERS}, head {HEADS}")
    expect(page.locator(".heads-story .model-word[aria-pressed=true]")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # On a wide screen, no tested name moves the chosen elements below it.
    page.set_viewport_size({"width": 1280, "height": 900})
    top = "document.querySelector('.heads-grid').offsetTop"
    before = page.evaluate(top)
    for name in ("before", "pair", "broad", "same"):
        page.get_by_label("Test a name").select_option(name)
        assert page.evaluate(top) == before, name
