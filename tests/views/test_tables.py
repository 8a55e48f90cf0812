"""Tables have the trace's numbers, and agree in a notebook, on a page and in print."""

import re
from dataclasses import replace
from html import escape
from xml.etree import ElementTree

import numpy as np
import pytest
from docutils import nodes
from helpers import MASK, QUERIES, example, example_from_embeddings, finite, parse_number, raises
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.myst_role import myst_role_plugin
from written_tables import body, parsed, written

from byhand.press import markup
from byhand.tables import paper
from byhand.tables.element import repeats
from byhand.tables.page import table_html
from mha import Place, example_names, load_example, trace
from mha.audit.judging import Prints
from mha.core.distributions import entropy, total_variation
from mha.core.seeds import SeedRuns
from mha.runs.rounding import shown
from mha.runs.stages import STAGES
from mha.views import blocks, figures, tables
from mha.views.colours import head_colour
from mha.views.table import Table, array_table, escape_markdown, escape_tags, places_needed
from mha.views.walkthrough import walkthrough

RUNS = {name: trace(load_example(name)) for name in example_names()}
RUN = RUNS["the-cat-sat"]
MASKED = trace(example(mask=MASK))
# Tokens that Markdown or HTML might take for their own.
AWKWARD = trace(example(tokens=["<end>", "<b>", "a & b", "x < y", "</td>"], mask=MASK))


UNEVEN = [
    trace(example_from_embeddings(np.random.default_rng(3), mask=mask)) for mask in (None, MASK)
]


def cells(table):
    """Return the texts of a table's rows without their labels."""
    return [row[1:] for row in table.rows]


def labels(table):
    """Return the labels of the rows."""
    return tuple(row[0] for row in table.rows)


# The numbers

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
    assert (table.header, labels(table)) == (("Token", *columns), tuple(rows))
    decimals = places_needed(array, places)
    assert decimals <= places
    for (i, j), x in np.ndenumerate(array):
        text = table.rows[i][j + 1]
        assert text == shown(x, decimals)
        # Fewer decimals suffice if the number is the same as with all of them.
        if np.isfinite(x):
            full, short = map(parse_number, (shown(x, places), text))
            assert short == pytest.approx(full, rel=1e-11, abs=1e-11)
        largest = array[i].max()
        assert ((i, j) in table.marked) == (np.isfinite(largest) and largest - x <= 1e-12)


def test_labels_that_do_not_fit_are_refused():
    sentence = "array has shape (2, 3) for 2 rows and 2 columns; one label each is wanted"
    with raises(ValueError, sentence):
        array_table(np.ones((2, 3)), rows="ab", columns="xy", caption="Wrong")


def texts(array):
    """Return a matrix of numbers as `array_table` prints them."""
    rows, columns = ([""] * size for size in array.shape)
    return cells(array_table(array, rows=rows, columns=columns, caption=""))


def stages(run):
    """Yield each stage and head for which a run has a table, with the array."""
    for name, kind in STAGES.items():
        array = kind.array(run)
        if array is None or "column" not in kind.axes:
            continue
        if kind.per_head:
            yield from ((name, head, array[head]) for head in range(run.num_heads))
        else:
            yield name, 0, array


def tables_of(run):
    """Yield each table of a run, with the expected texts and row labels."""
    tokens, heads, n = run.tokens, run.head_names, len(run.tokens)
    weights, value, outputs = run.weights, run.value, run.head_outputs
    sums = {"exponentials": run.row_sums, "weights": weights.sum(axis=-1)}
    for stage, head, array in stages(run):
        table, rows = tables.stage_table(run, stage, head=head), texts(array)
        if stage in sums:
            totals = map(float, sums[stage][head])
            rows = [(*row, shown(total)) for row, total in zip(rows, totals, strict=True)]
        yield table, rows, labels(table) if STAGES[stage].is_parameter else tokens
    for head in range(run.num_heads):
        mixed = weights[head][..., None] * value[head]  # a query, a key, a dimension
        for token in range(n):
            last = [weights[head, token].sum(), *outputs[head, token]]
            rows = np.vstack([np.column_stack([weights[head, token], mixed[token]]), last])
            yield tables.mixing_table(run, token, head=head), texts(rows), (*tokens, "Sum")
        grouped = np.array([row for i in range(n) for row in (*mixed[i], outputs[head, i])])
        names = [name for i in tokens for name in (*(f"{i} ← {key}" for key in tokens), i)]
        yield tables.weighted_values_table(run, head=head), texts(grouped), tuple(names)
    spread = np.vstack([entropy(weights).T, np.full(run.num_heads, np.log(n))])
    yield tables.entropy_table(run), texts(spread), (*tokens, "equal weights")
    apart = np.array([[total_variation(a, b).mean() for b in weights] for a in weights])
    yield tables.disagreement_table(run), texts(apart), heads
    for token in range(n if run.output is not None else 0):
        rows = np.vstack([run.head_contributions[:, token], run.output[token]])
        yield tables.contribution_table(run, token), texts(rows), (*heads, "Output")


@pytest.mark.parametrize("run", [*RUNS.values(), *UNEVEN], ids=[*RUNS, "uneven", "masked"])
def test_every_table_has_the_numbers_of_the_run_and_its_labels(run):
    for table, rows, names in tables_of(run):
        assert (cells(table), labels(table)) == (rows, names), table.caption
    assert tables.entropy_table(run).header == ("Query", *run.head_names)
    assert tables.disagreement_table(run).header[1:] == run.head_names
    marked = {s for s, head, _ in stages(run) if tables.stage_table(run, s, head=head).marked}
    assert marked == {"scores", "scaled_scores", "weights"}


def test_columns_are_keys_or_dimensions():
    for stage, header in {
        "scores": ("Query \\ key", *RUN.tokens),
        "exponentials": ("Query \\ key", *RUN.tokens, "Row sum"),
        "concat": ("Token", "z₁", "z₂", "z₃", "z₄"),
    }.items():
        assert tables.stage_table(RUN, stage).header == header


# The numbers that a source prints


def prints(place):
    """Return a printed number for every place: correct in the first column, else wrong."""
    return [(str(place), place.index[-1] == 0)]


def test_the_source_s_number_is_below_each_number():
    run = UNEVEN[0]
    for stage, head, array in stages(run):
        where = (head,) if STAGES[stage].per_head else ()
        places = {(i, j): Place.at(stage, *where, i, j) for i, j in np.ndindex(array.shape)}
        if stage == "exponentials":
            places |= {(i, QUERIES): Place("row_sums", head, i) for i in range(QUERIES)}
        wanted = {
            at: [f"{'≠' if place.index[-1] else '≈'} {place}"] for at, place in places.items()
        }
        assert tables.stage_table(run, stage, head=head, prints=prints).printed == wanted
    # Of a mixture, the weights, terms and sums.
    run = RUNS["play-football"]
    wanted = {(k, 0): f"weights.0.2.{k}" for k in range(3)}
    wanted |= {(k, j + 1): f"head_outputs.0.2.{j}:{k}" for k in range(3) for j in range(2)}
    wanted |= {(3, j + 1): f"head_outputs.0.2.{j}" for j in range(2)}
    printed = tables.mixing_table(run, 2, prints=prints).printed
    assert {cell: texts[0].split()[1] for cell, texts in printed.items()} == wanted
    assert tables.mixing_table(run, 2).printed == {}


# In a notebook and on a page


def text_of(element):
    return "".join(element.itertext())


def rows_of(root, path):
    """Return the texts of a table's rows, cell by cell."""
    return tuple(tuple(map(text_of, row)) for row in root.iterfind(path))


def cells_with(root, path):
    """Return the rows and columns of the body cells that match a path, without labels."""
    rows = enumerate(root.iterfind("tbody/tr"))
    return {
        (i, j) for i, row in rows for j, cell in enumerate(row[1:]) if cell.find(path) is not None
    }


@pytest.mark.parametrize("run", [RUN, MASKED, AWKWARD], ids=["heads", "masked", "awkward"])
def test_every_table_is_whole_in_a_notebook_and_on_a_page(run):
    told = tables.strongest_table(run), tables.shape_table(run)
    seeds = {"a": SeedRuns(run.weights[0, :, 0])}
    of_seeds = tables.seeds_table(seeds, caption="Runs", corner="Of")
    for table in (*(table for table, *_ in tables_of(run)), *told, of_seeds):
        root = ElementTree.fromstring(table._repr_html_())  # holds it to closed tags
        assert [child.tag for child in root] == ["caption", "thead", "tbody"]
        assert text_of(root[0]) == table.caption
        assert rows_of(root, "thead/tr") == (table.header,)
        assert rows_of(root, "tbody/tr") == table.rows
        assert {th.get("scope") for th in root.iterfind("thead/tr/th")} == {"col"}
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
        assert rows_of(root, "thead/tr") == (table.header,)
        assert body(part) == list(table.rows)
        assert cells_with(root, "span[@class='max']/strong") == table.marked


def test_captions_and_labels_may_hold_inline_marks_but_no_html():
    caption = "What `softmax(x < 2)` does to *cat* and $a < b$"
    table = Table(caption, ("`<a>`", "$W_1^K$"), (("*cat sat*: <end>", "``<b>`` <i>x</i>"),))
    node = parsed(table)
    marks = {nodes.literal: "softmax(x < 2)", nodes.emphasis: "cat", nodes.math: "a < b"}
    for kind, text in marks.items():
        assert [n.astext() for n in node[0].findall(kind)] == [text]
    root = written(*node["parts"])
    entries = [text_of(cell) for row in root.iter("tr") for cell in row]
    assert entries == ["<a>", "W1K", "cat sat: <end>", "<b> <i>x</i>"]
    assert [text_of(code) for code in root.iter("code")] == ["<a>", "<b>"]
    assert [text_of(word) for word in root.iter("em")] == ["cat sat"]


def test_printed_numbers_in_both_formats():
    table = Table(
        "A", ("t", "x"), (("a", "1"),), frozenset({(0, 0)}), printed={(0, 0): ["≠ 2 < 3", "≈ 1"]}
    )
    spans = '<span class="printed slip">≠ 2 &lt; 3</span> <span class="printed">≈ 1</span>'
    assert spans in table._repr_html_()
    assert f'<td><span class="max"><strong>1</strong></span> {spans}</td>' in table_html(
        *parsed(table)["parts"]
    )
    with pytest.warns(DeprecationWarning, match=r"Table\.beside is now Table\.printed"):
        assert table.beside is table.printed


STRANGE = ("*a*", "$c$", "{eval}`1 + 1`", "<b>x</b>", "[a](b)", "- a", "1. b", "# c", "> d", "&lt;")


@pytest.mark.parametrize("token", STRANGE)
def test_tokens_are_shown_unchanged(token):
    markdown = MarkdownIt("commonmark").use(dollarmath_plugin).use(myst_role_plugin)
    run = trace(replace(load_example("cat-sat"), tokens=(token, "sat")))
    table = tables.stage_table(run, "weights")
    assert (table.rows[0][0], table.header[1]) == (token, token)
    assert f"*{escape_markdown(token)}*" in tables.mixing_table(run, 0).caption
    tokens = markdown.parse(escape_tags(escape_markdown(token)))
    assert [t.type for t in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert {t.type for t in tokens[1].children} <= {"text", "text_special"}
    assert "".join(t.content for t in tokens[1].children) == token
    assert body(*parsed(table)["parts"])[0][0] == token
    assert f'<th scope="row">{escape(token)}</th>' in table._repr_html_()


# Blocks: every number of every head, on paper too


@pytest.mark.parametrize("run", [*RUNS.values(), AWKWARD], ids=[*RUNS, "awkward"])
def test_every_number_of_every_head_stands_in_a_notebook_on_a_page_and_on_paper(run):
    block = blocks.stage_block(run, "weights")
    wanted = [tables.stage_table(run, "weights", head=head).rows for head in range(run.num_heads)]
    notebook = block._repr_html_()
    html = ElementTree.fromstring(notebook)  # holds it to closed tags and escaped text
    assert [rows_of(table, "tbody/tr") for table in html.iter("table")] == wanted
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
        shares = re.findall(r"--weight: ([\d.]+)", table_html(part))
        np.testing.assert_allclose(list(map(float, shares)), weights.ravel(), atol=6e-5)
        names = (*run.tokens, "Sum")
        if run.num_heads == 1:  # one head needs no name
            assert rows_of(written(part), "thead/tr") == (("Query \\ key", *names),)
            continue
        root = written(part, part.title)
        assert rows_of(root, "thead/tr") == (("Query \\ key", run.head_names[head]), names)
        corner, title = root.find("thead/tr")
        assert (corner.get("rowspan"), title.get("colspan")) == ("2", str(len(names)))
    code = paper.markup_of(node)
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


def test_query_key_and_value_share_a_row_and_each_head_has_one():
    block = blocks.stage_block(RUN, "query", "key", "value")
    assert block.caption == "Queries, keys and values"
    assert [table.caption for table in block.tables] == [
        f"{stage}, {head}" for head in RUN.head_names for stage in ("Queries", "Keys", "Values")
    ]
    node = parsed(block)
    assert node["columns"] == 3
    assert [repeats(row, i) for row in node.in_rows() for i in range(3)] == [False, True, True] * 2
    one = blocks.stage_block(RUNS["cat-sat"], "query", "key", "value")
    assert [table.caption for table in one.tables] == ["Queries", "Keys", "Values"]


def test_the_source_s_number_is_beside_each_number():
    block = blocks.stage_block(RUNS["apple"], "query", prints=Prints("apple"))
    printed = [table_html(part).count('class="printed') for part in parsed(block)["parts"]]
    assert printed == [20, 20, 20]
    assert block._repr_html_().count('class="printed') == 60


def test_mixing_weighted_values_and_contributions_are_blocks():
    run = UNEVEN[0]
    heads = range(run.num_heads)
    for block, wanted in (
        (blocks.mixing_block(run, 1), [tables.mixing_table(run, 1, head=h) for h in heads]),
        (blocks.weighted_block(run), [tables.weighted_values_table(run, head=h) for h in heads]),
        (blocks.contributions_block(run, tokens=[0, 2]),
         [tables.contribution_table(run, token) for token in (0, 2)]),
    ):  # fmt: skip
        assert [tuple(body(part)) for part in parsed(block)["parts"]] == [t.rows for t in wanted]


# A walkthrough


def stages_of(run):
    """Return the names of the tables of a run's stages and matrices, in order."""
    for name, kind in STAGES.items():
        # Shares have a table a token; of one head the concatenation is its own output.
        elsewhere = name == "head_contributions" or (name == "concat" and run.num_heads == 1)
        if kind.array(run) is None or "column" not in kind.axes or elsewhere:
            continue
        heads = range(run.num_heads) if kind.per_head else ()
        yield from [f"{name}.{head}" for head in heads] or [name]


@pytest.mark.parametrize("name", RUNS)
def test_a_walkthrough_shows_every_stage_of_every_head_once_in_order(name):
    run = RUNS[name]
    steps, wanted = list(walkthrough(run)), list(stages_of(run))
    found = [step.at.removeprefix(f"{name} ") for step in steps if getattr(step, "at", "")]
    assert sorted(found) == sorted(wanted)
    assert tables.entropy_table(run) in steps
    assert figures.weight_maps(run) in steps
    assert [stage for stage in found if stage[:2] != "w_"] == [
        stage for stage in wanted if stage[:2] != "w_"
    ]
