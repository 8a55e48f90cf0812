"""A block shows every number of every head: in a notebook, on a page and on paper."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from byhand.stage_blocks import (
    StageBlock,
    groups_that_fit,
    heat,
    in_rows,
    joined,
    mixed,
    own_text,
    stage_block,
    stage_part,
)
from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import directives
from helpers import MASK, example, projected
from myst_parser.docutils_ import Parser
from sphinx.util.docutils import docutils_namespace

from mha import example_names, load_example, tables, trace
from mha.audit.judging import Prints
from mha.views import blocks
from mha.views.colours import head_colour

STAGES = ("query", "scores", "scaled_scores", "exponentials", "weights", "head_outputs")
RUNS = {name: trace(load_example(name)) for name in example_names()}
MASKED = trace(example(mask=MASK))
AWKWARD = trace(example(tokens=["<end>", "<b>", "a & b", "x < y", "</td>"], mask=MASK))


def parsed(block):
    """Return what the book makes of a block's Markdown; a warning is an error."""
    with docutils_namespace():  # what is registered in it is forgotten after it
        directives.register_directive("stage-block", StageBlock)
        document = publish_doctree(
            block._repr_markdown_(),
            parser=Parser(),
            settings_overrides={
                "myst_enable_extensions": ["attrs_inline", "colon_fence", "dollarmath"],
                "report_level": 2,
                "halt_level": 2,
            },
        )
    (node,) = document.children
    assert isinstance(node, stage_block)
    assert not list(node.findall(nodes.raw))
    return node


def body(table):
    """Return the texts of a parsed table's rows."""
    rows = table.next_node(nodes.tbody).children
    return [tuple(own_text(entry) for entry in row) for row in rows]


def header(table):
    """Return the texts of a parsed table's header, line by line."""
    return [tuple(entry.astext() for entry in row) for row in table.next_node(nodes.thead)]


def html(block):
    """Parse a block's HTML as XML, which holds it to closed tags and escaped text."""
    return ElementTree.fromstring(block._repr_html_())


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", RUNS)
def test_every_number_of_every_head_stands_in_both_forms(name, stage):
    run = RUNS[name]
    block = blocks.stage_block(run, stage)
    wanted = [tables.stage_table(run, stage, head=head).rows for head in range(run.num_heads)]
    on_page = [tuple(body(table)) for table in parsed(block).findall(nodes.table)]
    assert on_page == wanted
    in_notebook = [
        tuple(tuple("".join(c.itertext()) for c in row) for row in table.iterfind("tbody/tr"))
        for table in html(block).iter("table")
    ]
    assert in_notebook == wanted


@pytest.mark.parametrize("name", RUNS)
def test_on_paper_the_parts_join_and_no_number_is_lost(name):
    run = RUNS[name]
    block = blocks.stage_block(run, "weights")
    node = parsed(block)
    parts = list(node.findall(stage_part))
    wanted = [[row[1:] for row in table.rows] for table in block.tables]
    groups = [group for row in in_rows(parts, node["columns"]) for group in groups_that_fit(row)]
    assert sum(map(len, groups)) == run.num_heads
    found, names = [], []
    for group in groups:
        size, table = len(group), joined(group)
        rows = body(table)
        assert [row[0] for row in rows] == list(run.tokens)
        width = (len(rows[0]) - 1) // size
        assert table.next_node(nodes.tgroup)["cols"] == len(rows[0])
        assert len(list(table.findall(nodes.colspec))) == len(rows[0])
        for i in range(size):
            found.append([row[1 + i * width : 1 + (i + 1) * width] for row in rows])
        if run.num_heads > 1:
            names += header(table)[0][1:]
            spans = [e.get("morecols", 0) + 1 for e in table.next_node(nodes.row).children[1:]]
            assert spans == [width] * size
    assert found == wanted
    assert names == (list(run.head_names) if run.num_heads > 1 else [])


def test_small_heads_share_a_line_of_the_paper_and_wide_ones_do_not():
    sizes = {}
    for name in ("the-cat-sat", "apple"):
        parts = list(parsed(blocks.stage_block(RUNS[name], "weights")).findall(stage_part))
        sizes[name] = [len(group) for group in groups_that_fit(parts)]
    assert sizes == {"the-cat-sat": [2], "apple": [2, 1]}


def test_a_head_s_name_stands_once_above_its_columns():
    node = parsed(blocks.stage_block(RUNS["apple"], "weights"))
    for head, table in enumerate(node.findall(nodes.table)):
        group, names = header(table)
        assert group == ("Query \\ key", RUNS["apple"].head_names[head])
        assert names == (*RUNS["apple"].tokens, "Sum")
        corner, above = table.next_node(nodes.row).children
        assert (corner["morerows"], above["morecols"]) == (1, len(names) - 1)


def test_one_head_needs_no_name():
    node = parsed(blocks.stage_block(RUNS["cat-sat"], "weights", name="tbl-it"))
    (table,) = node.findall(nodes.table)
    assert header(table) == [("Query \\ key", "cat", "sat", "Sum")]
    assert node["names"] == ["tbl-it"]
    assert node[0].astext() == "Attention weights"


def test_a_block_has_one_caption_and_its_tables_none():
    node = parsed(blocks.stage_block(RUNS["apple"], "weights", name="tbl-it"))
    assert [caption.astext() for caption in node.findall(nodes.caption)] == ["Attention weights"]
    assert not list(node.findall(nodes.title))
    assert [table["names"] for table in node.findall(nodes.table)] == [[]] * 3


def test_a_part_s_label_leads_to_the_block():
    labels = ["tbl-k-1", "t-2"]
    block = blocks.stage_block(RUNS["the-cat-sat"], "key", name="tbl-k", labels=labels)
    node = parsed(block)
    assert node["names"] == ["tbl-k", "tbl-k-1", "t-2"]
    assert node["ids"] == ["tbl-k"]
    assert {node.document.nameids[name] for name in node["names"]} == {"tbl-k"}
    assert [part.get("anchor") for part in node.findall(stage_part)] == ["tbl-k-1", "t-2"]


def test_query_key_and_value_share_a_row_and_each_head_has_one():
    run = RUNS["the-cat-sat"]
    block = blocks.stage_block(run, "query", "key", "value")
    assert block.caption == "Queries, keys and values"
    titles = [table.caption for table in block.tables]
    assert titles == [
        f"{stage}, {head}" for head in run.head_names for stage in ("Queries", "Keys", "Values")
    ]
    node = parsed(block)
    assert node["columns"] == 3
    repeats = [part["repeats"] for part in node.findall(stage_part)]
    assert repeats == [False, True, True] * 2
    one = blocks.stage_block(RUNS["cat-sat"], "query", "key", "value")
    assert [table.caption for table in one.tables] == ["Queries", "Keys", "Values"]


def test_what_belongs_to_no_one_head_has_no_colour():
    block = blocks.stage_block(RUNS["the-cat-sat"], "embeddings", "query")
    assert [part.head for part in block.parts] == [None, 0, 1]
    node = parsed(block)
    assert [part.get("head") for part in node.findall(stage_part)] == [None, 0, 1]


def test_one_head_of_several_is_named_in_the_caption():
    block = blocks.stage_block(RUNS["apple"], "scores", heads=[2])
    name = RUNS["apple"].head_names[2].replace(" ", "\N{NO-BREAK SPACE}")
    assert block.caption == f"Scores: each query times each key, {name}"
    assert [part.head for part in block.parts] == [2]


# Heat, maxima, sums, points


@pytest.mark.parametrize("run", [RUNS["apple"], MASKED, AWKWARD], ids=["apple", "masked", "tokens"])
def test_weights_are_tinted_by_the_number_shown_and_their_sums_are_not(run):
    node = parsed(blocks.stage_block(run, "weights"))
    for head, part in enumerate(node.findall(stage_part)):
        assert part["sums"] == 1
        for i, row in enumerate(part.next_node(nodes.tbody).children):
            *cells, total = row.children[1:]
            tints = [cell.next_node(heat) for cell in cells]
            np.testing.assert_allclose(
                [t["weight"] for t in tints], run.weights[head, i], atol=6e-5
            )
            assert {t["head"] for t in tints} == {head}
            assert total.next_node(heat) is None


@pytest.mark.parametrize("stage", ["query", "scores", "scaled_scores", "exponentials"])
def test_what_is_no_share_is_not_tinted(stage):
    block = blocks.stage_block(MASKED, stage)
    assert not list(parsed(block).findall(heat))
    assert "background" not in block._repr_html_()


def test_a_notebook_tints_by_the_head_s_colour():
    block = blocks.stage_block(RUNS["the-cat-sat"], "weights")
    tints = re.findall(r"in srgb, (#\w+) ([\d.]+)%", block._repr_html_())
    shares = [float(share) for _, share in tints]
    np.testing.assert_allclose(shares, 55 * RUNS["the-cat-sat"].weights.ravel(), atol=0.01)
    assert [colour for colour, _ in tints] == [head_colour(0)] * 9 + [head_colour(1)] * 9


def test_a_fully_masked_row_has_zeros_without_a_tint_or_a_mark():
    node = parsed(blocks.stage_block(MASKED, "weights"))
    for part in node.findall(stage_part):
        row = part.next_node(nodes.tbody).children[2]
        numbers = [own_text(entry) for entry in row.children[1:]]
        assert {float(number) for number in numbers} == {0.0}
        assert {tint["weight"] for tint in row.findall(heat)} == {0.0}
        assert not list(row.findall(nodes.strong)) or MASKED.weights[0, 2].max() == 0


@pytest.mark.parametrize("stage", ["scores", "scaled_scores", "weights"])
def test_each_row_s_largest_number_is_marked(stage):
    run = RUNS["cat-sat-on-it"]
    node = parsed(blocks.stage_block(run, stage))
    for head, part in enumerate(node.findall(stage_part)):
        array = getattr(run, stage)[head]
        for i, row in enumerate(part.next_node(nodes.tbody).children):
            marked = [
                j
                for j, entry in enumerate(row.children[1:])
                if any(n["classes"] == ["max"] for n in entry.findall(nodes.inline))
            ]
            assert marked == np.flatnonzero(np.isclose(array[i], array[i].max())).tolist()


def test_sums_stand_where_they_belong():
    run = RUNS["apple"]
    for stage, title, sums in (
        ("weights", "Sum", run.weights.sum(axis=-1)),
        ("exponentials", "Row sum", run.row_sums),
    ):
        for head, table in enumerate(parsed(blocks.stage_block(run, stage)).findall(nodes.table)):
            assert header(table)[-1][-1] == title
            found = [float(row[-1]) for row in body(table)]
            np.testing.assert_allclose(found, sums[head], atol=6e-5)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", RUNS)
def test_the_numbers_of_a_column_have_equally_many_decimals(name, stage):
    for table in parsed(blocks.stage_block(RUNS[name], stage)).findall(nodes.table):
        for column in list(zip(*body(table), strict=True))[1:]:
            assert len({len(text.partition(".")[2]) for text in column if "∞" not in text}) <= 1


def test_what_a_source_prints_stands_beside_each_number():
    run = RUNS["apple"]
    block = blocks.stage_block(run, "query", prints=Prints("apple"))
    counts = [
        sum("printed" in n["classes"] for n in table.findall(nodes.inline))
        for table in parsed(block).findall(nodes.table)
    ]
    assert counts == [20, 20, 20]
    assert block._repr_html_().count('class="printed') == 60
    tinted = blocks.stage_block(run, "weights", prints=Prints("apple"))
    weights = [n["weight"] for n in parsed(tinted).findall(heat)]
    np.testing.assert_allclose(weights, run.weights.ravel(), atol=6e-5)


# Other blocks


def test_mixing_weighted_values_and_contributions_are_blocks(rng):
    run = trace(projected(rng))
    mixing = blocks.mixing_block(run, 1, name="tbl-m")
    weighted = blocks.weighted_block(run)
    for head in range(run.num_heads):
        assert mixing.tables[head].rows == tables.mixing_table(run, 1, head=head).rows
        assert weighted.tables[head].rows == tables.weighted_values_table(run, head=head).rows
    shares = blocks.contributions_block(run, tokens=[0, 2])
    assert [t.rows for t in shares.tables] == [
        tables.contribution_table(run, token).rows for token in (0, 2)
    ]
    for block in (mixing, weighted, shares):
        node = parsed(block)
        found = [tuple(body(table)) for table in node.findall(nodes.table)]
        assert found == [table.rows for table in block.tables]


def test_tokens_that_look_like_markup_are_text():
    node = parsed(blocks.stage_block(AWKWARD, "weights"))
    for table in node.findall(nodes.table):
        assert [row[0] for row in body(table)] == list(AWKWARD.tokens)
    assert parsed(blocks.mixing_block(AWKWARD, 0))[0].astext().endswith("<end>")
    html(blocks.mixing_block(AWKWARD, 0))


def test_on_paper_a_tint_is_the_head_s_colour_thinned():
    assert mixed("#0b6ea8", 0) == "FFFFFF"
    assert mixed("#0b6ea8", 1) == "0B6EA8"
    lights = [int(mixed("#c2570c", share / 10)[2:4], 16) for share in range(11)]
    assert lights == sorted(lights, reverse=True)
