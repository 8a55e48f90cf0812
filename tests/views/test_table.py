"""A table says the same in every format, and any matrix can be one."""

import re
from dataclasses import replace
from html import escape
from xml.etree import ElementTree

import numpy as np
import pytest
from all_tables import all_tables, cells, labels
from docutils import nodes
from docutils.core import publish_doctree
from helpers import MASK, example, finite, raises
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from myst_parser.docutils_ import Parser

from mha import example_names, load_example, shown, trace
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


@given(ARRAYS)
def test_every_row_is_as_long_as_the_header(array):
    table = array_table(
        array, rows=["r"] * len(array), columns=["c"] * array.shape[1], caption="Any"
    )
    assert {len(row) for row in table.rows} == {len(table.header)}
    assert table.marked == frozenset()


def test_all_of_several_largest_are_marked():
    table = array_table(
        [[1, 2, 2], [0, 0, 0], [0.3, 0.1 + 0.2, 0.2]],
        rows="abc",
        columns="xyz",
        caption="Ties",
        mark_max=True,
    )
    assert table.marked == {(0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)}


def test_labels_that_do_not_fit_are_refused():
    sentence = "array has shape (2, 3) for 2 rows and 2 columns; one label each is wanted"
    with raises(ValueError, sentence):
        array_table(np.ones((2, 3)), rows="ab", columns="xy", caption="Wrong")
    sentence = "array has shape (3,) for 1 rows and 3 columns; one label each is wanted"
    with raises(ValueError, sentence):
        array_table(np.ones(3), rows="a", columns="xyz", caption="Flat")


# HTML


def html(table):
    """Parse a table's HTML as XML, which holds it to closed tags and escaped text."""
    return ElementTree.fromstring(table._repr_html_())


def text_of(element):
    return "".join(element.itertext())


@pytest.mark.parametrize("run", [RUN, MASKED, AWKWARD], ids=["heads", "masked", "awkward"])
def test_html_has_a_caption_and_scoped_headers(run):
    for table in all_tables(run):
        root = html(table)
        assert [child.tag for child in root] == ["caption", "thead", "tbody"]
        assert text_of(root[0]) == table.caption
        header = list(root.iterfind("thead/tr/th"))
        assert tuple(map(text_of, header)) == table.header
        assert {th.get("scope") for th in header} == {"col"}
        rows = list(root.iterfind("tbody/tr"))
        assert [tuple(map(text_of, row)) for row in rows] == list(table.rows)
        for i, row in enumerate(rows):
            assert [cell.tag for cell in row] == ["th"] + ["td"] * (len(row) - 1)
            assert row[0].get("scope") == "row"
            marked = {j for j, cell in enumerate(row[1:]) if cell.find("strong/u") is not None}
            assert marked == {j for k, j in table.marked if k == i}


# Markdown


def parsed(table):
    """Return what MyST makes of a table's Markdown; a warning is an error."""
    extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath", "smartquotes"]
    document = publish_doctree(
        table._repr_markdown_(),
        parser=Parser(),
        settings_overrides={
            "myst_enable_extensions": extensions,
            "report_level": 2,
            "halt_level": 2,
        },
    )
    (node,) = document.children
    assert isinstance(node, nodes.table)
    assert not list(node.findall(nodes.raw))
    return node


def plain(caption):
    """Return a caption's text as MyST shows it: without marks, its apostrophes curly."""
    return re.sub(r"[*`]", "", caption).replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", example_names())
def test_markdown_is_a_list_table_of_the_same_text(name):
    for table in all_tables(trace(load_example(name))):
        check_markdown(table)


@pytest.mark.parametrize("run", [MASKED, AWKWARD], ids=["masked", "awkward"])
def test_markdown_of_masks_and_awkward_tokens(run):
    for table in all_tables(run):
        check_markdown(table)


def check_markdown(table):
    node = parsed(table)
    assert node.next_node(nodes.title).astext() == plain(table.caption)
    long = any(len(row[0]) > 18 for row in table.rows)
    wanted = ["numbers", *["words"] * table.words, *["long-labels"] * long]
    assert node["classes"] == wanted
    header, *rows = node.findall(nodes.row)
    assert isinstance(header.parent, nodes.thead)
    assert tuple(entry.astext() for entry in header) == table.header
    assert [tuple(entry.astext() for entry in row) for row in rows] == list(table.rows)
    assert node.next_node(nodes.colspec)["stub"] == 1
    for i, row in enumerate(rows):
        for j, entry in enumerate(row.children[1:]):
            marks = [n for n in entry.findall(nodes.inline) if n["classes"] == ["max"]]
            assert bool(marks) == ((i, j) in table.marked)
            assert all(m.next_node(nodes.strong).astext() == m.astext() for m in marks)


@pytest.mark.parametrize(
    "build",
    [
        lambda name: tables.stage_table(RUN, "weights", name=name),
        lambda name: tables.stage_table(RUN, "query", name=name),
        lambda name: tables.stage_table(RUN, "w_q", name=name),
        lambda name: tables.mixing_table(RUN, 0, name=name),
        lambda name: tables.weighted_values_table(RUN, name=name),
        lambda name: tables.entropy_table(RUN, name=name),
        lambda name: tables.strongest_table(RUN, name=name),
        lambda name: tables.disagreement_table(RUN, name=name),
        lambda name: tables.contribution_table(RUN, 0, name=name),
        lambda name: tables.shape_table(RUN, name=name),
    ],
)
def test_a_label_can_be_cited(build):
    assert parsed(build("tbl-made-up"))["names"] == ["tbl-made-up"]
    assert parsed(build(None))["names"] == []


def test_a_caption_may_hold_backticks_emphasis_and_formulas():
    table = Table("What `softmax(x < 2)` does to *cat* and $a < b$", ("a", "b"), (("c", "1"),))
    title = parsed(table).next_node(nodes.title)
    assert [n.astext() for n in title.findall(nodes.literal)] == ["softmax(x < 2)"]
    assert [n.astext() for n in title.findall(nodes.emphasis)] == ["cat"]
    assert [n.astext() for n in title.findall(nodes.math)] == ["a < b"]


def test_labels_may_hold_inline_marks_but_no_html():
    table = Table("Marks", ("`<a>`", "$W_1^K$"), (("*cat sat*: <end>", "``<b>`` <i>x</i>"),))
    node = parsed(table)
    entries = [entry.astext() for entry in node.findall(nodes.entry)]
    assert entries == ["<a>", "W_1^K", "cat sat: <end>", "<b> <i>x</i>"]
    assert [n.astext() for n in node.findall(nodes.literal)] == ["<a>", "<b>"]
    assert [n.astext() for n in node.findall(nodes.emphasis)] == ["cat sat"]


def test_printed_numbers_in_both_formats():
    table = Table(
        "A", ("t", "x"), (("a", "1"),), frozenset({(0, 0)}), beside={(0, 0): ["≠ 2 < 3", "≈ 1"]}
    )
    html, markdown = table._repr_html_(), table._repr_markdown_()
    assert '<span class="printed slip">≠ 2 &lt; 3</span> <span class="printed">≈ 1</span>' in html
    assert "  - [**1**]{.max} [≠ 2 \\< 3]{.printed .slip} [≈ 1]{.printed}" in markdown
    none = Table("A", ("t", "x"), (("a", "1"),), beside={(0, 0): []})
    assert "printed" not in none._repr_html_() + none._repr_markdown_()


STRANGE = ("*a*", "$c$", "{eval}`1 + 1`", "<b>x</b>", "[a](b)", "- a", "1. b", "# c", "> d", "&lt;")


@pytest.mark.parametrize("token", STRANGE)
def test_a_token_comes_out_as_it_is_written(token):
    markdown = MarkdownIt("commonmark").use(dollarmath_plugin).use(myst_role_plugin)
    run = trace(replace(load_example("cat-sat"), tokens=(token, "sat")))
    table = tables.stage_table(run, "weights")
    starts = [line[4:] for line in table._repr_markdown_().splitlines() if line[:4] == "* - "]
    assert (table.rows[0][0], table.header[1]) == (token, token)
    caption = tables.mixing_table(run, 0).caption
    assert f"*{as_written(token)}*" in caption
    for text in (no_tags(as_written(token)), starts[1]):
        tokens = markdown.parse(text)
        assert [t.type for t in tokens] == ["paragraph_open", "inline", "paragraph_close"]
        assert {t.type for t in tokens[1].children} <= {"text", "text_special"}
        assert "".join(t.content for t in tokens[1].children) == token
    assert f'<th scope="row">{escape(token)}</th>' in table._repr_html_()
