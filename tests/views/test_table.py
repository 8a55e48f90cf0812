"""A table says the same in every format, and any matrix can be one."""

import re
from dataclasses import replace
from html import escape
from xml.etree import ElementTree

import numpy as np
import pytest
from all_tables import all_tables, cells, labels
from docutils import nodes
from helpers import MASK, example, finite, raises
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from written_tables import body, parsed, written

from byhand.tables.page import inside
from mha import load_example, shown, trace
from mha.views import tables
from mha.views.table import Table, array_table, as_written, no_tags, places_needed

RUN = trace(load_example("the-cat-sat"))
MASKED = trace(example(mask=MASK))
# Tokens that Markdown or HTML might take for their own.
AWKWARD = trace(example(tokens=["<end>", "<b>", "a & b", "x < y", "</td>"], mask=MASK))


# Any array

ARRAYS = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
    elements=finite(1000) | st.integers(-5, 5).map(float) | st.sampled_from([0.5, -0.25, -np.inf]),
)


@given(ARRAYS, st.integers(0, 6))
def test_any_array_as_a_table(array, places):
    rows, columns = [f"r{i}" for i in range(len(array))], [f"c{j}" for j in range(array.shape[1])]
    table = array_table(
        array, rows=rows, columns=columns, caption="Any", places=places, mark_max=True
    )
    assert table.header == ("Token", *columns)
    assert labels(table) == tuple(rows)
    shown_at_most = {len(text.partition(".")[2]) for row in cells(table) for text in row}
    decimals = places_needed(array, places)
    assert shown_at_most <= {0, decimals}
    assert decimals <= places
    for (i, j), x in np.ndenumerate(array):
        text = table.rows[i][j + 1]
        assert text == shown(x, decimals)
        # Fewer decimals lose nothing: the number is the same as with all of them.
        if np.isfinite(x):
            full, short = (float(t.replace("−", "-")) for t in (shown(x, places), text))
            assert short == pytest.approx(full, rel=1e-11, abs=1e-11)
        largest = array[i].max()
        assert ((i, j) in table.marked) == (np.isfinite(largest) and largest - x <= 1e-12)


def test_labels_that_do_not_fit_are_refused():
    sentence = "array has shape (2, 3) for 2 rows and 2 columns; one label each is wanted"
    with raises(ValueError, sentence):
        array_table(np.ones((2, 3)), rows="ab", columns="xy", caption="Wrong")
    sentence = "array has shape (3,) for 1 rows and 3 columns; one label each is wanted"
    with raises(ValueError, sentence):
        array_table(np.ones(3), rows="a", columns="xyz", caption="Flat")


# In a notebook and on a page


def text_of(element):
    return "".join(element.itertext())


def rows_of(root):
    return [tuple(map(text_of, row)) for row in root.iterfind("tbody/tr")]


def cells_with(root, path):
    """Return the rows and columns of a body's cells that hold something, labels apart."""
    rows = enumerate(root.iterfind("tbody/tr"))
    return {
        (i, j) for i, row in rows for j, cell in enumerate(row[1:]) if cell.find(path) is not None
    }


@pytest.mark.parametrize("run", [RUN, MASKED, AWKWARD], ids=["heads", "masked", "awkward"])
def test_every_table_is_whole_in_a_notebook_and_on_a_page(run):
    for table in all_tables(run):
        root = ElementTree.fromstring(table._repr_html_())  # holds it to closed tags
        assert [child.tag for child in root] == ["caption", "thead", "tbody"]
        assert text_of(root[0]) == table.caption
        header = list(root.iterfind("thead/tr/th"))
        assert (tuple(map(text_of, header)), rows_of(root)) == (table.header, list(table.rows))
        assert {th.get("scope") for th in header} == {"col"}
        for row in root.iterfind("tbody/tr"):
            assert [cell.tag for cell in row] == ["th"] + ["td"] * (len(row) - 1)
            assert row[0].get("scope") == "row"
        assert cells_with(root, "strong/u") == table.marked
        node = parsed(table)
        caption = re.sub(r"[*`]", "", table.caption)
        assert node[0].astext() == caption.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
        (part,) = node["parts"]
        long = any(len(row[0]) > 18 for row in table.rows)
        assert part.classes == ["numbers", *["words"] * table.words, *["long-labels"] * long]
        root = written(part)
        assert tuple(map(text_of, root.iterfind("thead/tr/th"))) == table.header
        assert body(part) == list(table.rows)
        assert cells_with(root, "span[@class='max']/strong") == table.marked


def test_a_caption_may_hold_backticks_emphasis_and_formulas():
    table = Table("What `softmax(x < 2)` does to *cat* and $a < b$", ("a", "b"), (("c", "1"),))
    caption = parsed(table)[0]
    assert [n.astext() for n in caption.findall(nodes.literal)] == ["softmax(x < 2)"]
    assert [n.astext() for n in caption.findall(nodes.emphasis)] == ["cat"]
    assert [n.astext() for n in caption.findall(nodes.math)] == ["a < b"]


def test_labels_may_hold_inline_marks_but_no_html():
    table = Table("Marks", ("`<a>`", "$W_1^K$"), (("*cat sat*: <end>", "``<b>`` <i>x</i>"),))
    (part,) = parsed(table)["parts"]
    root = written(part)
    entries = [text_of(cell) for row in root.iter("tr") for cell in row]
    assert entries == ["<a>", "W1K", "cat sat: <end>", "<b> <i>x</i>"]
    assert [text_of(code) for code in root.iter("code")] == ["<a>", "<b>"]
    assert [text_of(word) for word in root.iter("em")] == ["cat sat"]


def test_printed_numbers_in_both_formats():
    table = Table(
        "A", ("t", "x"), (("a", "1"),), frozenset({(0, 0)}), beside={(0, 0): ["≠ 2 < 3", "≈ 1"]}
    )
    beside = '<span class="printed slip">≠ 2 &lt; 3</span> <span class="printed">≈ 1</span>'
    assert beside in table._repr_html_()
    assert f'<td><span class="max"><strong>1</strong></span> {beside}</td>' in inside(
        *parsed(table)["parts"]
    )
    none = Table("A", ("t", "x"), (("a", "1"),), beside={(0, 0): []})
    assert "printed" not in none._repr_html_() + inside(*parsed(none)["parts"])


STRANGE = ("*a*", "$c$", "{eval}`1 + 1`", "<b>x</b>", "[a](b)", "- a", "1. b", "# c", "> d", "&lt;")


@pytest.mark.parametrize("token", STRANGE)
def test_a_token_comes_out_as_it_is_written(token):
    markdown = MarkdownIt("commonmark").use(dollarmath_plugin).use(myst_role_plugin)
    run = trace(replace(load_example("cat-sat"), tokens=(token, "sat")))
    table = tables.stage_table(run, "weights")
    assert (table.rows[0][0], table.header[1]) == (token, token)
    caption = tables.mixing_table(run, 0).caption
    assert f"*{as_written(token)}*" in caption
    tokens = markdown.parse(no_tags(as_written(token)))
    assert [t.type for t in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert {t.type for t in tokens[1].children} <= {"text", "text_special"}
    assert "".join(t.content for t in tokens[1].children) == token
    assert body(*parsed(table)["parts"])[0][0] == token
    assert f'<th scope="row">{escape(token)}</th>' in table._repr_html_()
