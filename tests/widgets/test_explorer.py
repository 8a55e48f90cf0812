"""The explorer's element: every number as a table, the inputs as JSON, a figure for print."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from bs4 import BeautifulSoup
from helpers import example, with_block
from playwright.sync_api import expect

from mha import figures, load_example, shown, trace
from mha.audit.judging import Prints
from mha.runs.places import Place
from mha.runs.stages import STAGES, as_data
from mha.widgets.explorer import explorer

NORMS = ("before", "after", "nowhere")


def soup(run, **options):
    return BeautifulSoup(explorer(run, **options).html, "html.parser")


def numbers(table):
    rows = [[cell.get_text() for cell in row.find_all("td")] for row in table.tbody.find_all("tr")]
    return [[float(text.replace("−", "-")) for text in row] for row in rows]


@pytest.mark.parametrize("name", ["cat-sat", "the-cat-sat", *NORMS])
def test_every_number_stands_in_a_table_that_says_what_it_shows(rng, name):
    run = trace(with_block(rng, name, "gelu") if name in NORMS else load_example(name))
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


def test_what_is_no_run_and_no_name_is_refused():
    run = trace(load_example("cat-sat"))
    with pytest.raises(TypeError, match=r"^run is a WorkedExample; a Trace is wanted"):
        explorer(run.example)
    with pytest.raises(ValueError, match=r"^name is 'Cat sat'; lower-case letters"):
        explorer(run, name="Cat sat")
