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
AWKWARD = trace(example(mask=MASK, tokens=["<end>", "<b>", "a & b", "x < y", "</td>"]))


def texts(rows):
    """Return the texts of a written table's rows, cell by cell."""
    return tuple(tuple("".join(cell.itertext()) for cell in row) for row in rows)


@pytest.mark.parametrize("run", [*RUNS.values(), AWKWARD], ids=[*RUNS, "awkward"])
def test_every_number_of_every_head_stands_in_a_notebook_on_a_page_and_on_paper(run):
    block = blocks.stage_block(run, "weights")
    wanted = [tables.stage_table(run, "weights", head=head).rows for head in range(run.num_heads)]
    notebook = block._repr_html_()
    html = ElementTree.fromstring(notebook)  # holds it to closed tags and escaped text
    assert [texts(table.iterfind("tbody/tr")) for table in html.iter("table")] == wanted
    tints = re.findall(r"in srgb, (#\w+) ([\d.]+)%", notebook)  # of the weights, not of their sum
    assert [colour for colour, _ in tints] == [
        head_colour(head) for head in range(run.num_heads) for _ in run.weights[0].flat
    ]
    np.testing.assert_allclose([float(x) for _, x in tints], 55 * run.weights.ravel(), atol=0.01)
    node = parsed(block)
    assert len(node["parts"]) == run.num_heads
    for head, part in enumerate(node["parts"]):
        rows, weights = wanted[head], run.weights[head]
        assert tuple(body(part)) == rows
        shares = re.findall(r"--weight: ([\d.]+)", inside(part))
        np.testing.assert_allclose(list(map(float, shares)), weights.ravel(), atol=6e-5)
        names = (*run.tokens, "Sum")
        if run.num_heads == 1:  # one head needs no name
            assert texts(written(part).iterfind("thead/tr")) == (("Query \\ key", *names),)
            continue
        above, below = written(part, part.title).iterfind("thead/tr")
        assert texts([above, below]) == (("Query \\ key", part.title), names)
        assert (above[0].get("rowspan"), above[1].get("colspan")) == ("2", str(len(names)))
    code = paper.content(node)
    numbers = re.findall(r"\[(?:#strong\[)?(\d+\\?\.\d+)\]", code)
    on_paper = sorted(number.replace("\\", "") for number in numbers)
    assert on_paper == sorted(text for rows in wanted for row in rows for text in row[1:])
    for head in run.head_names if run.num_heads > 1 else ():
        assert code.count(f"[{markup.text(head)}]") == 1


def test_small_heads_share_a_line_of_the_paper_and_wide_ones_do_not():
    sizes = {}
    for name in ("the-cat-sat", "apple"):
        parts = parsed(blocks.stage_block(RUNS[name], "weights"))["parts"]
        sizes[name] = [len(group) for group in paper.groups_that_fit(parts)]
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
    assert [table.caption for table in block.tables] == [
        f"{stage}, {head}" for head in run.head_names for stage in ("Queries", "Keys", "Values")
    ]
    node = parsed(block)
    assert node["columns"] == 3
    assert [repeats(row, i) for row in node.in_rows() for i in range(3)] == [False, True, True] * 2
    one = blocks.stage_block(RUNS["cat-sat"], "query", "key", "value")
    assert [table.caption for table in one.tables] == ["Queries", "Keys", "Values"]


def test_what_a_source_prints_stands_beside_each_number():
    block = blocks.stage_block(RUNS["apple"], "query", prints=Prints("apple"))
    printed = [inside(part).count('class="printed') for part in parsed(block)["parts"]]
    assert printed == [20, 20, 20]
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
        assert [tuple(body(part)) for part in parsed(block)["parts"]] == [t.rows for t in wanted]
