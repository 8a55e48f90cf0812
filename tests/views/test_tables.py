"""Tables hold a trace's numbers as the book prints them, and say the same in every format."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from docutils import nodes
from docutils.core import publish_doctree
from helpers import HEADS, MASK, QUERIES, STAGES, example, finite, projected, raises
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from myst_parser.docutils_ import Parser

from mha import dimensions, entropy, example_names, load_example, shown, total_variation, trace
from mha.views.tables import (
    Table,
    array_table,
    contribution_table,
    disagreement_table,
    entropy_table,
    matrix_table,
    mixing_table,
    places_needed,
    shape_table,
    stage_table,
    strongest_table,
    weighted_values_table,
)

MARKED = {"scores", "scaled_scores", "weights"}
WHOLE = {"embeddings", "concat", "output"}
RUN = trace(load_example("the-cat-sat"))
MASKED = trace(example(mask=MASK))
# Tokens that Markdown or HTML might take for their own.
AWKWARD = trace(example(tokens=["<end>", "<b>", "a & b", "x < y", "</td>"], mask=MASK))


def stages(run):
    """Return each stage and head that a run has a table of, with the array."""
    for stage in STAGES:
        array = getattr(run, stage)
        if stage in WHOLE and array is not None:
            yield stage, 0, array
        elif array is not None:
            yield from ((stage, head, array[head]) for head in range(run.num_heads))


def all_tables(run):
    """Return a table of every kind that fits the run."""
    yield from (stage_table(run, stage, head=head) for stage, head, _ in stages(run))
    if run.example.layer is not None:
        matrices = ["w_q", "w_k", "w_v"] + (["w_o"] if run.output is not None else [])
        yield from (matrix_table(run, matrix, head=run.num_heads - 1) for matrix in matrices)
    yield from (mixing_table(run, token) for token in range(len(run.tokens)))
    yield weighted_values_table(run)
    yield entropy_table(run)
    yield strongest_table(run)
    yield disagreement_table(run)
    yield shape_table(run)
    if run.output is not None:
        yield from (contribution_table(run, token) for token in range(len(run.tokens)))


def decimals_of(array, most=4):
    """Return how many decimals show every number exactly, or `most` where one needs more."""
    exact = (
        d
        for d in range(most + 1)
        if all(abs(x - round(x, d)) <= 1e-12 * max(1, abs(x)) for x in array.ravel().tolist())
    )
    return next(exact, most)


def texts(array):
    """Return a matrix of numbers as the book prints them."""
    finite_ones = array[np.isfinite(array)]
    decimals = decimals_of(finite_ones)
    return [tuple(shown(float(x), decimals) for x in row) for row in array]


def cells(table):
    return [row[1:] for row in table.rows]


def labels(table):
    return tuple(row[0] for row in table.rows)


# The numbers


@pytest.mark.parametrize("name", example_names())
def test_a_stage_shows_the_numbers_of_the_trace(name):
    run = trace(load_example(name))
    seen = set()
    for stage, head, array in stages(run):
        table = stage_table(run, stage, head=head)
        seen.add(stage)
        assert labels(table) == run.tokens
        wanted = texts(array)
        if stage == "exponentials":
            sums = run.row_sums[head]
        elif stage == "weights":
            sums = run.weights[head].sum(axis=-1)
        else:
            assert cells(table) == wanted
            continue
        assert cells(table) == [
            (*row, shown(float(x))) for row, x in zip(wanted, sums, strict=True)
        ]
    assert seen >= set(STAGES) - {"embeddings", "output"}


@pytest.mark.parametrize("name", example_names())
def test_each_row_s_largest_score_and_weight_is_marked(name):
    run = trace(load_example(name))
    for stage, head, array in stages(run):
        marked = stage_table(run, stage, head=head).marked
        if stage in MARKED:
            assert {i for i, _ in marked} == set(range(len(run.tokens)))
            for i, j in np.ndindex(array.shape):
                assert ((i, j) in marked) == (array[i].max() - array[i, j] < 1e-12)
        else:
            assert marked == frozenset()


def test_a_row_of_minus_infinity_has_no_mark():
    table = stage_table(MASKED, "scaled_scores")
    assert cells(table)[2] == ("−∞",) * QUERIES
    assert {i for i, _ in table.marked} == {0, 1, 3, 4}
    assert {j for i, j in table.marked if i == 3} == {0}


def test_all_of_several_largest_are_marked():
    table = array_table(
        [[1, 2, 2], [0, 0, 0], [0.3, 0.1 + 0.2, 0.2]],
        rows="abc",
        columns="xyz",
        caption="Ties",
        mark_max=True,
    )
    assert table.marked == {(0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)}


@pytest.mark.parametrize("places", [0, 2, 6])
def test_places(places):
    table = stage_table(RUN, "weights", head=1, places=places)
    assert cells(table) == [
        tuple(shown(float(x), places) for x in (*row, row.sum())) for row in RUN.weights[1]
    ]


def test_heads_are_told_apart_in_captions_where_there_are_several():
    assert stage_table(RUN, "weights", head=1).caption == "Attention weights, Head\N{NBSP}2"
    assert stage_table(MASKED, "weights").caption == "Attention weights"
    assert stage_table(RUN, "output").caption == "Output after the output projection"


def test_columns_are_keys_or_dimensions():
    assert stage_table(RUN, "scores").header == ("Query \\ key", "the", "cat", "sat")
    assert stage_table(RUN, "weights").header == ("Query \\ key", "the", "cat", "sat", "Sum")
    assert stage_table(RUN, "exponentials").header[-1] == "Row sum"
    assert stage_table(RUN, "embeddings").header == ("Token", "x₁", "x₂", "x₃", "x₄")
    assert stage_table(RUN, "concat").header == ("Token", "z₁", "z₂", "z₃", "z₄")


def test_matrices(rng):
    run = trace(projected(rng))
    weights = run.example.layer
    for head in range(HEADS):
        for matrix, symbol, word in (
            ("w_q", "q", "Query"),
            ("w_k", "k", "Key"),
            ("w_v", "v", "Value"),
        ):
            array = getattr(weights, matrix)[head]
            table = matrix_table(run, matrix, head=head)
            assert cells(table) == texts(array)
            assert labels(table) == dimensions("x", array.shape[0])
            assert table.header == ("From \\ to", *dimensions(symbol, array.shape[1]))
            assert table.caption == f"{word} projection, Head\N{NBSP}{head + 1}"
    table = matrix_table(run, "w_o")
    assert cells(table) == texts(weights.w_o)
    assert labels(table) == dimensions("z", weights.w_o.shape[0])
    assert table.header[1:] == dimensions("y", weights.w_o.shape[1])


def test_a_mixture_and_its_sum(rng):
    run = trace(projected(rng))
    for head, token in [(0, 4), (2, 1)]:
        weights, value = run.weights[head, token], run.value[head]
        rows = [[w, *(w * v)] for w, v in zip(weights, value, strict=True)]
        table = mixing_table(run, token, head=head)
        assert cells(table) == texts(np.array([*rows, [1, *run.head_outputs[head, token]]]))
        assert labels(table) == (*run.tokens, "Sum")
        assert run.tokens[token] in table.caption


@pytest.mark.parametrize("name", example_names())
def test_weighted_values_are_a_block_a_query(name):
    run = trace(load_example(name))
    n = len(run.tokens)
    for head in range(run.num_heads):
        table = weighted_values_table(run, head=head)
        rows = []
        for i in range(n):
            rows += [run.weights[head, i, j] * run.value[head, j] for j in range(n)]
            rows.append(run.head_outputs[head, i])
        assert cells(table) == texts(np.array(rows))
        for i, token in enumerate(run.tokens):
            block = labels(table)[i * (n + 1) : (i + 1) * (n + 1)]
            assert block == (*(f"{token} ← {key}" for key in run.tokens), token)


def test_entropy_with_its_limit(rng):
    run = trace(projected(rng, mask=MASK))
    table = entropy_table(run)
    limit = np.full(HEADS, np.log(QUERIES))
    assert cells(table) == texts(np.vstack([entropy(run.weights).T, limit]))
    assert table.header == ("Query", *run.head_names)
    assert labels(table) == (*run.tokens, "equal weights")


@pytest.mark.parametrize("name", example_names())
def test_the_strongest_key(name):
    run = trace(load_example(name))
    for i, row in enumerate(cells(strongest_table(run))):
        for head, text in enumerate(row):
            weights = run.weights[head, i]
            j = max(range(len(weights)), key=weights.__getitem__)
            assert text == f"{run.tokens[j]} ({shown(weights[j])})"


def test_a_query_that_may_attend_to_none_has_no_strongest_key():
    assert cells(strongest_table(MASKED))[2:4] == [("none",), ("token0 (1.0000)",)]


def test_disagreement(rng):
    run = trace(projected(rng))
    array = np.array([[total_variation(a, b).mean() for b in run.weights] for a in run.weights])
    table = disagreement_table(run)
    assert cells(table) == texts(array)
    assert [row[i] for i, row in enumerate(cells(table))] == ["0.0000"] * HEADS
    assert labels(table) == table.header[1:] == run.head_names


def test_contributions_and_their_sum(rng):
    run = trace(projected(rng))
    for token in range(QUERIES):
        table = contribution_table(run, token)
        rows = [*run.head_contributions[:, token], run.output[token]]
        assert cells(table) == texts(np.array(rows))
        assert labels(table) == (*run.head_names, "Output")


@pytest.mark.parametrize("name", example_names())
def test_shapes_are_those_of_the_trace(name):
    run = trace(load_example(name))
    rows = shape_table(run).rows
    for stage, shape, axes in rows:
        assert shape == str(getattr(run, stage).shape)
        assert axes.count(",") == shape.count(",")
    absent = {stage for stage in ("embeddings", "output") if getattr(run, stage) is None}
    assert {row[0] for row in rows} == set(STAGES) - {"exponentials"} - absent


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
    assert node["classes"] == (["numbers", "words"] if table.words else ["numbers"])
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
        lambda name: stage_table(RUN, "weights", name=name),
        lambda name: stage_table(RUN, "query", name=name),
        lambda name: matrix_table(RUN, "w_q", name=name),
        lambda name: mixing_table(RUN, 0, name=name),
        lambda name: weighted_values_table(RUN, name=name),
        lambda name: entropy_table(RUN, name=name),
        lambda name: strongest_table(RUN, name=name),
        lambda name: disagreement_table(RUN, name=name),
        lambda name: contribution_table(RUN, 0, name=name),
        lambda name: shape_table(RUN, name=name),
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


# Refusals


def test_labels_that_do_not_fit_are_refused():
    sentence = "array has shape (2, 3) for 2 rows and 2 columns; one label each is wanted"
    with raises(ValueError, sentence):
        array_table(np.ones((2, 3)), rows="ab", columns="xy", caption="Wrong")
    sentence = "array has shape (3,) for 1 rows and 3 columns; one label each is wanted"
    with raises(ValueError, sentence):
        array_table(np.ones(3), rows="a", columns="xyz", caption="Flat")


def test_an_unknown_stage_is_refused():
    with raises(ValueError, f"stage is 'row_sums'; one of {', '.join(STAGES)} is wanted"):
        stage_table(RUN, "row_sums")


@pytest.mark.parametrize("stage", ["embeddings", "output"])
def test_a_stage_that_the_run_lacks_is_refused(stage):
    with raises(ValueError, f"cat-sat has no {stage}; another stage is wanted"):
        stage_table(trace(load_example("cat-sat")), stage)


def test_an_unknown_matrix_is_refused():
    with raises(ValueError, "matrix is 'w_x'; one of w_q, w_k, w_v, w_o is wanted"):
        matrix_table(RUN, "w_x")


@pytest.mark.parametrize(("name", "matrix"), [("cat-sat", "w_q"), ("apple", "w_o")])
def test_a_matrix_that_the_example_lacks_is_refused(name, matrix):
    with raises(ValueError, f"{name} has no {matrix}; another matrix is wanted"):
        matrix_table(trace(load_example(name)), matrix)


@pytest.mark.parametrize(
    "build",
    [
        lambda head: stage_table(RUN, "query", head=head),
        lambda head: matrix_table(RUN, "w_q", head=head),
        lambda head: mixing_table(RUN, 0, head=head),
        lambda head: weighted_values_table(RUN, head=head),
    ],
)
@pytest.mark.parametrize(("head", "error"), [(2, ValueError), (-1, ValueError), (0.5, TypeError)])
def test_a_head_that_is_not_there_is_refused(build, head, error):
    with raises(error, f"head is {head}; an index from 0 to 1 is wanted"):
        build(head)


@pytest.mark.parametrize("build", [mixing_table, contribution_table])
def test_a_token_that_is_not_there_is_refused(build):
    with raises(ValueError, "token is 3; an index from 0 to 2 is wanted"):
        build(RUN, 3)


def test_contributions_need_an_output_projection():
    with raises(ValueError, "apple has no w_o; an output projection is wanted"):
        contribution_table(trace(load_example("apple")), 0)


def prints(stage, *place, term=None):
    """Say a print for every number, right in the first column, and two in the second."""
    marks = [(f"{stage[:2]}{'' if term is None else term}", place[-1] == 0)]
    return marks * 2 if place[-1] == 1 else marks


PRINTED = trace(load_example("the-cat-sat"), prints=prints)


@pytest.mark.parametrize("stage", sorted(STAGES))
def test_what_the_source_prints_stands_below_each_number(stage):
    table = stage_table(PRINTED, stage, head=1)
    sums = {"exponentials": 1, "weights": 1}.get(stage, 0)
    columns = len(table.header) - 1 - sums
    for i in range(3):
        assert table.beside[i, 0] == [f"≈ {stage[:2]}"]
        assert table.beside[i, 1] == [f"≠ {stage[:2]}"] * 2
        assert {j for row, j in table.beside if row == i} >= set(range(columns))
    assert ((0, columns) in table.beside) == (stage == "exponentials")
    assert stage_table(trace(load_example("the-cat-sat")), stage).beside == {}


def test_printed_weighted_values_are_those_of_their_key():
    asked = []

    def remember(stage, *place, term=None):
        asked.append((stage, *place, term))
        return [(str(len(asked)), True)]

    run = trace(load_example("play-football"), prints=remember)
    table = weighted_values_table(run)
    for i, query in enumerate(run.tokens):
        for k in range(4):
            for j in range(2):
                text = table.beside[4 * i + k, j][0].removeprefix("≈ ")
                wanted = ("head_outputs", 0, i, j, k if k < 3 else None)
                assert asked[int(text) - 1] == wanted, query
    asked.clear()
    table = mixing_table(run, 2)
    assert asked[int(table.beside[1, 0][0].removeprefix("≈ ")) - 1] == ("weights", 0, 2, 1, None)
    assert asked[int(table.beside[1, 2][0].removeprefix("≈ ")) - 1] == ("head_outputs", 0, 2, 1, 1)
    assert asked[int(table.beside[3, 1][0].removeprefix("≈ ")) - 1] == (
        "head_outputs",
        0,
        2,
        0,
        None,
    )


def test_printed_numbers_in_both_formats():
    table = Table(
        "A", ("t", "x"), (("a", "1"),), frozenset({(0, 0)}), beside={(0, 0): ["≠ 2 < 3", "≈ 1"]}
    )
    html, span = table._repr_html_(), '<span class="printed">'
    assert f"<strong><u>1</u></strong> {span}≠ 2 &lt; 3</span> {span}≈ 1</span>" in html
    assert "  - [**1**]{.max} [≠ 2 \\< 3]{.printed} [≈ 1]{.printed}" in table._repr_markdown_()
    none = Table("A", ("t", "x"), (("a", "1"),), beside={(0, 0): []})
    assert "printed" not in none._repr_html_() + none._repr_markdown_()
