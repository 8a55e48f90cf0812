"""Every instrument ignores a meaningless address, and is accessible.

Each is opened alone, as a page of the book opens it.
"""

from dataclasses import dataclass

import pytest
from accessible import violations
from explorer_pages import reopen
from playwright.sync_api import expect
from worked_runs import CAUSAL, GPT3, LETTERS, ON_A_SHEET, TIRED, TWO_LAYERS

from mha import load_example, trace
from mha.widgets.bugs import bugs_game
from mha.widgets.cache import growing_cache
from mha.widgets.cost import cost_calculator
from mha.widgets.heads import decoder_heads
from mha.widgets.latent import latent_widths
from mha.widgets.letters import two_layers
from mha.widgets.model import language_model
from mha.widgets.own import work_your_own
from mha.widgets.pencil import red_pencil
from mha.widgets.tiles import moving_tile
from mha.widgets.variants_explorer import variants_explorer

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class Instrument:
    """An instrument, and hostile texts for its address."""

    made: object
    begins: str
    hostile: tuple
    without_script: str = ""
    """The text that is shown without a script."""
    opened: str = ""
    """An address that opens a part of the instrument."""
    is_whole: str = ""
    """A selector of an element that is visible once the instrument is complete."""
    stays: str = "mha-instrument"
    """A selector of the parts that a hostile address must not change."""


INSTRUMENTS = {
    "bugs": Instrument(
        bugs_game(), "bugs=museum&seed=7",
        ("case=99&sentence=<b>", "case=__proto__&sentence=x&guess=9"),
    ),
    "cache": Instrument(
        growing_cache(CAUSAL), "cache=the-cat-sat-end",
        ("text=0_9&step=-1", "text=" + "_".join("0" * 9) + "&step=999"),
        "sat\t24\t72\t216",
    ),
    "cost": Instrument(
        cost_calculator({"GPT-3": GPT3}, tokens=2048), "cost=model",
        ("groups=7", "layers=0&tokens=-5&width=1e9&texts=<b>&bytes=9999999999"),
    ),
    "heads": Instrument(
        decoder_heads("The capital of France is", " is", " France",
                      heads=((24, 5), (19, 9))), "heads=decoder",
        ("word=99&key=-1&sentence=0&head=31.1-0.3&own=50",
         "head=1.10-__proto__.1&name=constructor", "name=separator", "word=1e3&name=<img src=x>"),
        opened="sentence=3&word=5&key=4&head=24.5-19.9", is_whole="÷ √64",
    ),
    "latent": Instrument(
        latent_widths(TIRED, [0, 1, 3, 2], width=3, head=1), "latent=it-tired",
        ("width=0&query=9&head=2", "width=5&query=-1&head=<b>", "width=1e9&head=__proto__"),
        "3\t6\t3\t3", is_whole="Width 3: 6 bytes per token",
    ),
    "letters": Instrument(
        two_layers(*TWO_LAYERS, **LETTERS), "letters=b-a",
        ("text=AAA", "text=<b>", "text=Ax&first=__proto__", "text=" + "A" * 5000), "last A gives",
        opened="text=AA&first=off",
    ),
    "model": Instrument(
        language_model("ba ke saw mo nu . ba"), "model=names",
        ("off=9.9&at=1e9", "text=<img src=x>&head=__proto__"),
    ),
    "own": Instrument(
        work_your_own(), "own=example",
        ("words=%3Cscript%3Ealert(1)%3C/script%3E%20" + "x" * 40 + "&seed=-1&heads=9&width=e"
         "&inner=0&embeddings.9.9=1&__proto__=1&constructor=1&at=weights.9.9.9&scale=x",
         "words=" + "a%20" * 4000 + "&numbers=constructor&seed=99999999999&positions=2"
         "&output=true&embeddings.0.0=1e999&w_q.7.0.0=2&query.0.0.0=1&order=0.0.1&padding=77"),
        "tired", stays=".own-word",
    ),
    "pencil": Instrument(
        red_pencil("apple-walkthrough"), "pencil=sources",
        ("document=constructor&at=<img src=x onerror=alert(1)>",
         "document=apple-walkthrough&corrected=999999-1.-.5-.--" + "1" * 5000, "at=%",
         "document=apple-walkthrough&at=110:query.9.9.9"),
        opened="document=back-to-cats-slides&at=105:key.0.3.2",
    ),
    "sheet": Instrument(
        variants_explorer(TIRED.tokens, ON_A_SHEET, focus=3), "sheet=since-2023",
        ("on=%3Cimg%3E&query=%00&key=1",
         "on=__proto__&query=99&key.9.9=1&key.0.0=1e999&constructor.0.0=1"),
        stays=".sheet-tables",
    ),
    "tiles": Instrument(
        moving_tile(trace(load_example("cat-sat-on-it"))), "tiles=cat-sat-on-it",
        ("size=0&edits=3_x", "size=99&edits=99_1&plain=yes&step=x"), "The\t6.10",
    ),
}  # fmt: skip

# All visible text of an instrument, and the values of its fields.
SAID = """(all) => all.flatMap((node) => [node.innerText,
  ...[...node.querySelectorAll("input, select")].map((e) => `${e.value} ${e.checked}`)])"""


def wait_until_complete(page, one):
    expect(page.locator("mha-instrument")).to_contain_text(one.is_whole)
    page.wait_for_function("document.querySelector('mha-instrument, mha-explorer').isSettled")
    return page.locator(one.stays).evaluate_all(SAID)


@pytest.mark.parametrize("name", INSTRUMENTS)
def test_a_hostile_address_has_no_effect_and_everything_is_accessible(open_instrument, name):
    one = INSTRUMENTS[name]
    phone = {"width": 390, "height": 844, "has_touch": True, "reduced_motion": "reduce"}
    page = open_instrument(one.made.html, f"#{one.begins}", **phone)
    made = page.locator("mha-instrument :is(b, img, script)")
    at_first, many = wait_until_complete(page, one), made.count()
    for hostile in one.hostile:
        reopen(page, f"#{one.begins}&{hostile}")
        assert wait_until_complete(page, one) == at_first, hostile[:80]
        assert made.count() == many, hostile[:80]
    reopen(page, f"#{one.begins}&{one.opened}")
    wait_until_complete(page, one)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for theme, width in (("dark", 390), ("light", 1280)):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        assert violations(page, "mha-instrument") == [], theme


@pytest.mark.parametrize("name", [name for name, one in INSTRUMENTS.items() if one.without_script])
def test_without_a_script_the_numbers_are_shown(open_instrument, name):
    page = open_instrument(INSTRUMENTS[name].made.html, java_script_enabled=False)
    assert INSTRUMENTS[name].without_script in page.locator("mha-instrument").inner_text()


# ---- Two layers on letters ----


def test_a_text_is_changed_and_shared(open_instrument):
    page = open_instrument(two_layers(*TWO_LAYERS, **LETTERS).html, width=390, height=844)
    letters = page.locator("select")
    text = "all => all.map((e) => e.value)"
    assert letters.evaluate_all(text) == ["B", "A"]
    page.get_by_label("Letter 0").select_option("A")
    page.get_by_label("the first layer is on").uncheck()
    # The message agrees with the bars, which show all weights.
    expect(page.get_by_role("status").first).to_contain_text("only its share of the text")
    assert page.locator(".guess .share").all_inner_texts() == ["100\u00a0%", "0\u00a0%", "0\u00a0%"]
    expect(page.locator(".guess").last).to_contain_text("no letter")
    lines = page.locator(".flow").first.locator("line")
    opacities = lines.evaluate_all("all => all.map((e) => Number(getComputedStyle(e).opacity))")
    assert max(opacities) < 0.2  # a layer that is not there is drawn so
    page.get_by_role("button", name="Share").click()
    reopen(page, page.evaluate("location.hash"))
    assert letters.evaluate_all(text) == ["A", "A"]
    expect(page.get_by_label("the first layer is on")).not_to_be_checked()
