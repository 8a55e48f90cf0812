"""A block shows every number of every head: in a notebook, on a page and on paper."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from helpers import MASK, example, projected
from written_tables import body, parsed, written

from byhand.press import markup
from byhand.tables import paper
from byhand.tables.element import repeats
from byhand.tables.page import inside
from mha import example_names, load_example, tables, trace
from mha.audit.judging import Prints
from mha.views import blocks
from mha.views.colours import head_colour

RUNS = {name: trace(load_example(name)) for name in example_names()}
AWKWARD = ["<end>", "<b>", "a & b", "x < y", "</td>"]


def parts_of(block):
    """Return the parts of a block as the book has them."""
    return parsed(block)["parts"]


def texts(rows):
    """Return the texts of a written table's rows, cell by cell."""
    return tuple(tuple("".join(cell.itertext()) for cell in row) for row in rows)


def tints(part):
    """Return the weights that tint the cells of each row; None for a cell without a tint."""
    rows = [row.iterfind("td") for row in written(part).iterfind("tbody/tr")]
    styles = [[cell.find("span[@style]") for cell in row] for row in rows]
    return [
        [None if e is None else float(e.get("style").partition("--weight: ")[2]) for e in row]
        for row in styles
    ]


@pytest.mark.parametrize("run", [*RUNS.values(), trace(example(mask=MASK, tokens=AWKWARD))],
                         ids=[*RUNS, "awkward"])  # fmt: skip
def test_every_number_of_every_head_stands_in_a_notebook_on_a_page_and_on_paper(run):
    block = blocks.stage_block(run, "weights")
    wanted = [tables.stage_table(run, "weights", head=head).rows for head in range(run.num_heads)]
    html = ElementTree.fromstring(block._repr_html_())  # holds it to closed tags and escaped text
    assert [texts(table.iterfind("tbody/tr")) for table in html.iter("table")] == wanted
    node = parsed(block)
    for head, (part, rows) in enumerate(zip(node["parts"], wanted, strict=True)):
        assert tuple(body(part)) == rows
        shown = tints(part)  # a weight is tinted by what it is, and a sum is not
        np.testing.assert_allclose([row[:-1] for row in shown], run.weights[head], atol=6e-5)
        assert {row[-1] for row in shown} == {None}
        names = (*run.tokens, "Sum")
        if run.num_heads == 1:  # one head needs no name
            assert texts(written(part).iterfind("thead/tr")) == (("Query \\ key", *names),)
            continue
        lines = list(written(part, part.title).iterfind("thead/tr"))
        assert texts(lines) == (("Query \\ key", run.head_names[head]), names)
        corner, above = lines[0]
        assert (corner.get("rowspan"), above.get("colspan")) == ("2", str(len(names)))
    code = paper.content(node)
    numbers = re.findall(r"\[(?:#strong\[)?(\d+\\?\.\d+)\]", code)
    shown = sorted(number.replace("\\", "") for number in numbers)
    assert shown == sorted(text for rows in wanted for row in rows for text in row[1:])
    for head in run.head_names if run.num_heads > 1 else ():
        assert code.count(f"[{markup.text(head)}]") == 1


def test_small_heads_share_a_line_of_the_paper_and_wide_ones_do_not():
    sizes = {}
    for name in ("the-cat-sat", "apple"):
        groups = paper.groups_that_fit(parts_of(blocks.stage_block(RUNS[name], "weights")))
        sizes[name] = [len(group) for group in groups]
    assert sizes == {"the-cat-sat": [2], "apple": [2, 1]}


def test_a_part_s_label_leads_to_the_block():
    labels = ["tbl-k-1", "t-2"]
    block = blocks.stage_block(RUNS["the-cat-sat"], "key", name="tbl-k", labels=labels)
    node = parsed(block)
    assert node["names"] == ["tbl-k", "tbl-k-1", "t-2"]
    assert node["ids"] == ["tbl-k"]
    assert node[0].astext() == "Keys"
    assert {node.document.nameids[name] for name in node["names"]} == {"tbl-k"}
    assert [part.name for part in node["parts"]] == labels


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
    assert [repeats(row, i) for row in node.in_rows() for i in range(3)] == [False, True, True] * 2
    one = blocks.stage_block(RUNS["cat-sat"], "query", "key", "value")
    assert [table.caption for table in one.tables] == ["Queries", "Keys", "Values"]


def test_a_notebook_tints_by_the_head_s_colour():
    block = blocks.stage_block(RUNS["the-cat-sat"], "weights")
    tints = re.findall(r"in srgb, (#\w+) ([\d.]+)%", block._repr_html_())
    shares = [float(share) for _, share in tints]
    np.testing.assert_allclose(shares, 55 * RUNS["the-cat-sat"].weights.ravel(), atol=0.01)
    assert [colour for colour, _ in tints] == [head_colour(0)] * 9 + [head_colour(1)] * 9


def test_what_a_source_prints_stands_beside_each_number():
    run = RUNS["apple"]
    block = blocks.stage_block(run, "query", prints=Prints("apple"))
    shown = [inside(part).count('class="printed') for part in parts_of(block)]
    assert shown == [20, 20, 20]
    assert block._repr_html_().count('class="printed') == 60


def test_mixing_weighted_values_and_contributions_are_blocks(rng):
    run = trace(projected(rng))
    heads = range(run.num_heads)
    for block, wanted in (
        (blocks.mixing_block(run, 1), [tables.mixing_table(run, 1, head=h) for h in heads]),
        (blocks.weighted_block(run), [tables.weighted_values_table(run, head=h) for h in heads]),
        (blocks.contributions_block(run, tokens=[0, 2]),
         [tables.contribution_table(run, token) for token in (0, 2)]),
    ):  # fmt: skip
        assert [tuple(body(part)) for part in parts_of(block)] == [t.rows for t in wanted]
