"""The explorer's element: every number as a table, the inputs as JSON, a figure for print."""

import json
from dataclasses import replace

import numpy as np
import pytest
from bs4 import BeautifulSoup
from helpers import MASK, example, raises, with_block

from mha import example_names, figures, load_example, short, shown, trace
from mha.audit.judging import Prints
from mha.runs.places import Place
from mha.runs.stages import STAGES, as_data
from mha.widgets.explorer import explorer

BY_HEAD = (
    *("query", "key", "value", "scores", "scaled_scores", "weights", "head_outputs"),
    "head_contributions",
)


def soup(run, **options):
    return BeautifulSoup(explorer(run, **options).html, "html.parser")


def data(run, **options):
    return json.loads(soup(run, **options).script.string)


def numbers(table):
    return [[cell.get_text() for cell in row.find_all("td")] for row in table.tbody.find_all("tr")]


@pytest.mark.parametrize("name", example_names())
def test_every_result_stands_in_a_table_that_says_what_it_shows(name):
    run = trace(load_example(name))
    page = soup(run)
    for stage in BY_HEAD:
        array = getattr(run, stage)
        tables = page.find_all("table", attrs={"data-stage": stage})
        heads = [] if array is None else [str(head) for head in range(run.num_heads)]
        assert [table["data-head"] for table in tables] == heads
        if heads:
            read = [
                [[float(x.replace("−", "-")) for x in row] for row in numbers(t)] for t in tables
            ]
            np.testing.assert_allclose(read, array, rtol=0, atol=0.5e-4 + 1e-12)
    for stage in ("concat", "output"):
        array = getattr(run, stage)
        tables = page.find_all("table", attrs={"data-stage": stage})
        expected = [] if array is None else [[[shown(float(x)) for x in row] for row in array]]
        assert [numbers(table) for table in tables] == expected
    tables = page.find_all("table")
    assert len(tables) > 8
    for table in tables:
        assert table.caption.get_text()
        assert all(th["scope"] in ("row", "col", "colgroup") for th in table.find_all("th"))
        assert all(th.get_text() for th in table.find_all("th"))


@pytest.mark.parametrize("name", example_names())
def test_json_holds_the_inputs_to_the_last_bit_and_no_result(name):
    held = data(trace(load_example(name)))
    worked = load_example(name)
    stages = ("w_q", "w_k", "w_v", "w_o") if worked.layer else ("query", "key", "value")
    start = {} if worked.embeddings is None else {"embeddings": worked.embeddings}
    arrays = start | {stage: getattr(worked.layer or worked, stage) for stage in stages}
    arrays = {stage: array for stage, array in arrays.items() if array is not None}
    assert held["inputs"].keys() == arrays.keys()
    for stage, array in arrays.items():
        assert np.array_equal(held["inputs"][stage], array)
    assert held["tokens"] == list(worked.tokens)
    assert held["heads"] == list(worked.head_names)
    assert held["focus"] == worked.focus
    assert held["scale"] == worked.scale
    assert held["masks"] is None
    assert held["prints"] == {}


def test_a_float_mask_has_null_for_minus_infinity():
    mask = np.where(MASK, 0.5, -np.inf)
    assert data(trace(example(mask=mask)))["masks"] == [
        [[0.5 if allowed else None for allowed in row] for row in MASK]
    ]


def test_no_token_can_end_the_script_or_make_an_element():
    tokens = ["</script><b>", "&lt;", "<!--", "a", "b"]
    run = trace(example(tokens=tokens, title="<i>"))
    page = soup(run)
    assert json.loads(page.script.string)["tokens"] == tokens
    assert page.find("b") is None
    assert page.find("i") is None
    labels = page.find("table", attrs={"data-stage": "weights"}).find_all("th", scope="row")
    assert [label.get_text() for label in labels] == tokens


@pytest.mark.parametrize("name", ["apple", "cat-sat", "the-cat-sat", "the-cat-sat-end"])
def test_what_the_source_prints_is_held_by_its_address(name):
    prints = Prints(name)
    held = data(trace(load_example(name)), prints=prints)["prints"]
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


def test_errors_are_one_sentence():
    run = trace(load_example("cat-sat"))
    with raises(TypeError, "run is a WorkedExample; a Trace is wanted"):
        explorer(run.example)
    sentence = "name is 'Cat sat'; lower-case letters, digits and hyphens are wanted"
    with raises(ValueError, sentence):
        explorer(run, name="Cat sat")


NORMS = ["before", "after", "nowhere"]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_of_a_block_every_number_stands_in_a_table(rng, norm, activation):
    run = trace(with_block(rng, norm, activation))
    page = soup(run)
    for name in as_data(in_block=True):
        array = STAGES[name].array(run)
        tables = page.find_all("table", attrs={"data-stage": name})
        if array is None:
            assert tables == [], name
            continue
        array = array[None] if STAGES[name].rows == "once" else array
        rows = array if array.ndim == 2 else array[:, None]
        write = short if STAGES[name].is_matrix else shown
        (table,) = tables
        assert numbers(table) == [[write(float(x)) for x in row] for row in rows]
        assert len(table.thead.find_all("th")) == rows.shape[1] + 1


@pytest.mark.parametrize("norm", NORMS)
def test_json_tells_what_stands_around_the_attention(rng, norm):
    run = trace(with_block(rng, norm, "gelu"))
    held = data(run)
    assert held["block"] == {
        "norm": norm, "activation": "gelu", "eps": {"first": 0.5, "second": 0.5}
    }  # fmt: skip
    assert np.array_equal(getattr(run, held["end"]), run.result)
    learned = {name for name in as_data(in_block=True) if STAGES[name].is_matrix}
    rows = {name for name in learned if name.startswith(("first", "second"))}
    assert learned & set(held["inputs"]) == (learned - rows if norm == "nowhere" else learned)
    for name in learned & set(held["inputs"]):
        assert np.array_equal(held["inputs"][name], STAGES[name].array(run))
