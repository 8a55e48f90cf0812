"""The explorer of a block in Chromium: the lines around the attention, step by step."""

import pytest
from accessible import violations
from book_site import advance_clock
from playwright.sync_api import expect
from strips import sums_hold
from worked_runs import parts, with_parts

from mha import Place
from mha.runs.rounding import short, shown
from mha.runs.stages import STAGES
from mha.widgets.explorer import explorer

pytestmark = pytest.mark.browser

STEPS = [name for name, kind in STAGES.items() if kind.in_block and not kind.is_parameter]
LEARNED = [name for name, kind in STAGES.items() if kind.in_block and kind.is_parameter]


def in_tables(seen, run):
    """Assert that the page shows the numbers of a run and of its block."""
    seen.assert_shows(run)
    seen.assert_shows(run, [name for name in STEPS if getattr(run, name) is not None])
    for name in LEARNED:
        array = STAGES[name].array(run)
        wanted = [] if array is None else [short(float(x)) for x in array.flat]
        assert [text.rstrip("*") for text in seen.texts(name)] == wanted, name


def lines(seen):
    """Return the lines around the strip, as names with numbers."""
    return seen.page.locator(".around .end-row").evaluate_all(
        "all => all.map(e => [...e.querySelectorAll('.soft, .number')]"
        ".map(n => n.value || n.textContent))"
    )


BLOCKS = [
    ("before", "relu", {"width": 390}),
    ("after", "gelu", {"theme": "dark"}),
    ("nowhere", "gelu", {}),
]


@pytest.mark.parametrize(("norm", "activation", "options"), BLOCKS)
def test_a_block_stands_there_step_by_step_and_is_changed_and_reset(
    view, rng, norm, activation, options
):
    arrays = parts(rng)
    seen = view(with_parts(arrays, norm, activation), **options).wait_until_live()
    assert seen.page.evaluate("window.placeAtFirst - place()") == 0
    seen.open()
    advance_clock(
        seen.page, 600
    )  # beyond the half second after a click in which a shift does not count
    seen.page.locator("#after").scroll_into_view_if_needed()
    seen.page.locator("table:visible").nth(2).scroll_into_view_if_needed()
    advance_clock(seen.page, 200)
    assert seen.page.evaluate("window.shift") == 0
    in_tables(seen, seen.run)
    every_step_stands_there_in_order(seen, norm, activation)
    seen.page.locator(".body .fold > summary").evaluate_all("all => all.forEach(s => s.click())")
    seen.cell("total", 1, 2).click()
    if options:
        assert violations(seen.page) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    for address, value in CHANGES.items():
        place = Place.parse(address)
        arrays[place.stage][place.index] = value
    changes_in_the_address_are_worked_through(seen, with_parts(arrays, norm, activation))
    seen.page.get_by_role("button", name="Reset").click()
    in_tables(seen, seen.run)
    assert "#" not in seen.settled_url()


def every_step_stands_there_in_order(seen, norm, activation):
    normed = ["of these", "normalised"]
    active = {"relu": "those above 0 (ReLU)", "gelu": "active (GELU)"}[activation]
    wanted = ["plus the input", "pre-activations", active, "feed-forward output"]
    wanted.append("plus the stream")
    if norm == "before":
        wanted = ["input", *normed, *wanted[:1], *normed, *wanted[1:]]
    if norm == "after":
        wanted = [*wanted[:1], *normed, *wanted[1:], *normed]
    found = lines(seen)
    assert [label for label, *_ in found] == wanted
    assert found[-1][1:] == [shown(float(x)) for x in seen.run.result[1]]
    seen.page.locator(".chip").nth(2).click()
    seen.settle()
    assert lines(seen)[-1][1:] == [shown(float(x)) for x in seen.run.result[2]]
    sums_hold(seen.page)


def test_numbers_of_a_block_have_their_names_beside_them(open_element, rng):
    run = with_parts(parts(rng), "after")
    names, asks = ["a", "b", "c", "d"], ["is it a?", "is it b?", "is it c?"]
    seen = open_element(explorer(run, axes=names, asks=asks).html)
    found = seen.page.locator(".around .end-row")
    found.first.wait_for()
    assert found.all_inner_texts().count("".join(names)) == 2
    hidden = seen.page.locator(".around .end-row", has_text="pre-activations").inner_text()
    assert all(name in hidden for name in asks)
    right = "all => all.map((one) => one.getBoundingClientRect().right)"
    first = seen.page.locator(".around .end-row").filter(has_text="plus the input")
    edges = first.locator(".number").evaluate_all(right)  # each stands below its name
    assert edges == pytest.approx(found.first.locator("span > span").evaluate_all(right), abs=8)


CHANGES = {
    "embeddings.0.1": 2.0, "w_q.1.0.0": 0.5, "w_o.3.2": -1.0, "w_in.1.2": -1.0, "w_out.2.0": 1.5,
    "b_in.0": 3.0, "b_out.3": 0.25, "first_gain.1": 2.0, "first_bias.3": -1.0,
    "second_gain.2": 0.0, "second_bias.0": -0.5,
}  # fmt: skip


def changes_in_the_address_are_worked_through(seen, run):
    address = "#explore=made-up&" + "&".join(f"{a}={v}" for a, v in CHANGES.items())
    seen.page.evaluate("(address) => { location.hash = address; }", address)
    expect(seen.page.locator(".cell.changed").first).to_be_attached()
    in_tables(seen, run)
    kept = seen.settled_url().partition("#")[2]
    assert all(a in kept for a in CHANGES)
