"""The explorer's HTML: every number in a table, the inputs as JSON, a figure for print.

Also the state of an explorer in the page's address, in Chromium.
"""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from book_site import advance_clock
from bs4 import BeautifulSoup
from explorer_pages import CLIPBOARD
from helpers import example, example_with_block, parse_number
from playwright.sync_api import expect

from mha import figures, load_example, trace
from mha.audit.judging import Prints
from mha.runs.places import Place
from mha.runs.rounding import shown
from mha.runs.stages import STAGES, as_data
from mha.widgets.explorer import explorer

NORMS = ("before", "after", "nowhere")


def soup(run, **options):
    return BeautifulSoup(explorer(run, **options).html, "html.parser")


def numbers(table):
    rows = [[cell.get_text() for cell in row.find_all("td")] for row in table.tbody.find_all("tr")]
    return [[parse_number(text) for text in row] for row in rows]


@pytest.mark.parametrize("name", ["cat-sat", "the-cat-sat", *NORMS])
def test_every_number_stands_in_a_table_that_says_what_it_shows(rng, name):
    run = trace(example_with_block(rng, name, "gelu") if name in NORMS else load_example(name))
    tables = soup(run).find_all("table")
    for stage in as_data() | as_data(in_block=True):
        array = STAGES[stage].array(run)
        if stage == "exponentials":  # their sums stand beside them
            array = np.concatenate([array, run.row_sums[..., None]], axis=-1)
        held = [table for table in tables if table.get("data-stage") == stage]
        if array is None or stage in ("root", "row_sums", "percentages"):
            assert held == [], stage
            continue
        heads = map(str, range(run.num_heads)) if "head" in STAGES[stage].axes else [None]
        assert [table.get("data-head") for table in held] == list(heads), stage
        found = np.array([numbers(table) for table in held])
        assert found.shape[-1] == (array.shape[-1] if STAGES[stage].columns else 1), stage
        np.testing.assert_allclose(found.ravel(), array.ravel(), rtol=0, atol=0.5e-4 + 1e-12)
    for table in tables:
        assert table.caption.get_text()
        assert all(th["scope"] in ("row", "col", "colgroup") for th in table.find_all("th"))
        assert all(th.get_text() for th in table.find_all("th"))


@pytest.mark.browser
def test_every_number_can_be_opened_without_javascript(view):
    seen = view("the-cat-sat", java_script_enabled=False)
    seen.page.locator(".all > summary").click()
    for fold in seen.page.locator(".body .fold > summary").all():
        fold.click()
    for table in seen.page.locator("table[data-stage]").all():
        expect(table.locator("td").first).to_be_visible()
    row = seen.run.example.focus or 0
    keys = zip(seen.run.tokens, seen.run.weights[0, row], strict=True)
    wanted = [re.compile(f"^{token}.*{shown(float(weight))}") for token, weight in keys]
    expect(seen.page.locator(".before tbody tr")).to_have_text(wanted)


def test_no_token_can_end_the_script_or_make_an_element():
    tokens = ["</script><b>", "&lt;", "<!--", "a", "b"]
    run = trace(example(tokens=tokens, title="<i>"))
    page = soup(run)
    assert json.loads(page.script.string)["tokens"] == tokens
    assert page.find("b") is None
    assert page.find("i") is None
    labels = page.find("table", attrs={"data-stage": "weights"}).find_all("th", scope="row")
    assert [label.get_text() for label in labels] == tokens


@pytest.mark.parametrize("name", ["apple", "the-cat-sat"])
def test_what_the_source_prints_is_held_by_its_address(name):
    prints = Prints(name)
    held = json.loads(soup(trace(load_example(name)), prints=prints).script.string)["prints"]
    assert len(held) > 15
    for address, texts in held.items():
        place = Place.parse(address)
        found = list(prints(place))
        if place.stage == "weights" and place.term is None:
            percentages = prints(replace(place, stage="percentages"))
            found += [(f"{text} %", agrees) for text, agrees in percentages]
        assert [tuple(text) for text in texts] == found
        assert found


def test_print_form_is_the_figure_with_its_alternative_text():
    run = trace(load_example("the-cat-sat"))
    figure = figures.lanes(run)
    bundle, metadata = explorer(run, figure=figure).on_page()
    assert bundle["image/svg+xml"] == figure.svg
    assert metadata == {"image/svg+xml": {"alt": figure.alt}}
    assert bundle["text/plain"] == "Explorer: The cat sat"
    assert bundle["text/html"].startswith("<mha-explorer")


# ---- The address ----

UNREADABLE = (
    "scale=wide&temperature=0&causal=2&padding=7&order=0.0.1&off=9&focus=5&map=sums&query=9"
    "&at=weights.9.9.9&embeddings.0.9=1&nothing=1&constructor=1"
    "&temperature=-1&order=0.1&embeddings.0.0=x&query.0.0.0=1&__proto__=1&edit=1"
    "&causal=constructor&scale=toString&constructor.0.0=1&at=__proto__&outcome=4&component=2",
    f"scale={'1' * 80_000}x&embeddings.0.0=1e{'9' * 5_000}&padding={'9' * 4_000}&tokens=%3Cb%3E"
    "&own=%3Cscript%3E&scale=%22%7B%5B&at=%E0%A4%A",
)


@pytest.mark.browser
def test_an_address_that_cannot_be_read_is_left_out(view):
    seen = view("the-cat-sat", address="#explore=the-cat-sat&prints=1").wait_until_live()
    assert seen.page.evaluate("window.shift") == 0
    state = seen.state
    for address in UNREADABLE:
        seen.page.goto("about:blank")
        seen.go(f"#explore=the-cat-sat&{address}&prints=1").wait_until_live()
        assert seen.state == state
        scripts = seen.page.locator("head script").count() + 1
        assert seen.page.locator("script, b").count() == scripts, address
        seen.open()
        assert seen.status == (
            "This explorer could not read a part of the address and ignored it."
        ), address
        seen.assert_shows(seen.run)


@pytest.mark.browser
def test_a_new_address_is_taken_over_anchors_still_work_and_the_link_is_copied(view):
    seen = view("the-cat-sat", address="#after")
    advance_clock(seen.page, 200)
    seen.page.evaluate("location.hash = '#explore=the-cat-sat&causal=1'")
    seen.wait_until_live()
    advance_clock(seen.page, 200)
    assert seen.page.evaluate("window.shift") < 1e-4  # digits may begin elsewhere in their field
    seen.open()
    causal = trace(replace(seen.run.example, is_causal=True))
    seen.assert_shows(causal)
    seen.page.evaluate("location.hash = '#after'")
    assert seen.page.evaluate("document.querySelector('#after').matches(':target')")
    seen.assert_shows(causal)
    assert seen.settled_url().endswith("#after")
    seen.page.evaluate("location.hash = '#explore=another-example&causal=0'")
    seen.assert_shows(causal)
    # The link is copied, or shown in a field.
    link = seen.file.as_uri() + "#explore=the-cat-sat&causal=1"
    share = seen.page.get_by_role("button", name="Share", exact=True)
    seen.page.evaluate(CLIPBOARD, "resolve")
    share.click()
    assert seen.page.evaluate("window.copied") == link
    assert seen.status == "The link is copied."
    seen.page.evaluate(CLIPBOARD, "reject")
    share.click()
    assert seen.page.get_by_label("Link to this state").input_value() == link
    assert seen.page.evaluate("getSelection().toString()") == link
    assert seen.status == "Copy the link from the field."
