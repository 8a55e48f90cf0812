"""Tables of a run hold the trace's numbers as the book prints them."""

import numpy as np
import pytest
from all_tables import cells, labels, stages
from helpers import MASK, QUERIES, example, projected

from mha import (
    Place,
    entropy,
    example_names,
    load_example,
    shown,
    total_variation,
    trace,
)
from mha.runs.stages import STAGES
from mha.views.tables import (
    array_table,
    contribution_table,
    disagreement_table,
    entropy_table,
    mixing_table,
    stage_table,
    weighted_values_table,
)

MARKED = {"scores", "scaled_scores", "weights"}
RUN = trace(load_example("the-cat-sat"))
MASKED = trace(example(mask=MASK))


def texts(array):
    """Return a matrix of numbers as `array_table` prints them, which has a test of its own."""
    rows, columns = ([""] * size for size in array.shape)
    return cells(array_table(array, rows=rows, columns=columns, caption=""))


# The numbers


@pytest.mark.parametrize("name", example_names())
def test_a_stage_shows_the_numbers_of_the_trace(name):
    run = trace(load_example(name))
    for stage, head, array in stages(run):
        table = stage_table(run, stage, head=head)
        assert bool(table.marked) == (stage in MARKED)
        if STAGES[stage].is_matrix:
            continue
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


def test_columns_are_keys_or_dimensions():
    assert stage_table(RUN, "scores").header == ("Query \\ key", "the", "cat", "sat")
    assert stage_table(RUN, "weights").header == ("Query \\ key", "the", "cat", "sat", "Sum")
    assert stage_table(RUN, "exponentials").header[-1] == "Row sum"
    assert stage_table(RUN, "embeddings").header == ("Token", "x₁", "x₂", "x₃", "x₄")
    assert stage_table(RUN, "concat").header == ("Token", "z₁", "z₂", "z₃", "z₄")


def tables_with_numbers(run):
    """Yield each table that is no stage's, with its numbers and what stands before each row."""
    tokens, heads, n = run.tokens, run.head_names, len(run.tokens)
    weights, value, outputs = run.weights, run.value, run.head_outputs
    for head in range(run.num_heads):
        mixed = weights[head][..., None] * value[head]  # a query, a key, a dimension
        for token in (1, n - 1):
            rows = np.column_stack([weights[head, token], mixed[token]])
            last = [1, *outputs[head, token]]
            yield mixing_table(run, token, head=head), [*rows, last], (*tokens, "Sum")
        blocks = [row for i in range(n) for row in (*mixed[i], outputs[head, i])]
        pairs = [f"{query} ← {key}" for query in tokens for key in tokens]
        names = [name for i in range(n) for name in (*pairs[i * n : (i + 1) * n], tokens[i])]
        yield weighted_values_table(run, head=head), blocks, tuple(names)
    limit = np.full(run.num_heads, np.log(n))
    yield entropy_table(run), [*entropy(weights).T, limit], (*tokens, "equal weights")
    apart = [[total_variation(a, b).mean() for b in weights] for a in weights]
    yield disagreement_table(run), apart, heads
    for token in range(n):
        rows = [*run.head_contributions[:, token], run.output[token]]
        yield contribution_table(run, token), rows, (*heads, "Output")


@pytest.mark.parametrize("mask", [None, MASK])
def test_other_tables_have_their_numbers_and_labels(rng, mask):
    run = trace(projected(rng, mask=mask))
    for table, numbers, names in tables_with_numbers(run):
        assert (cells(table), labels(table)) == (texts(np.array(numbers)), names), table.caption
    assert entropy_table(run).header == ("Query", *run.head_names)
    assert disagreement_table(run).header[1:] == run.head_names
    assert run.tokens[1] in mixing_table(run, 1).caption


# What a source prints


def prints(place):
    """Say a print for every number: right in the first column, and wrong elsewhere."""
    return [(str(place), place.index[-1] == 0)]


def test_what_the_source_prints_stands_below_each_number(rng):
    run = trace(projected(rng))
    for stage, head, array in stages(run):
        where = (head,) if STAGES[stage].per_head else ()
        places = {(i, j): Place.at(stage, *where, i, j) for i, j in np.ndindex(array.shape)}
        if stage == "exponentials":
            places |= {(i, QUERIES): Place("row_sums", head, i) for i in range(QUERIES)}
        wanted = {
            at: [f"{'≠' if place.index[-1] else '≈'} {place}"] for at, place in places.items()
        }
        assert stage_table(run, stage, head=head, prints=prints).beside == wanted
        assert stage_table(run, stage, head=head).beside == {}


def test_a_printed_mixture_is_its_weights_terms_and_sums():
    run = trace(load_example("play-football"))
    table = mixing_table(run, 2, prints=prints)
    weights = {(k, 0): f"weights.0.2.{k}" for k in range(3)}
    terms = {(k, j + 1): f"head_outputs.0.2.{j}:{k}" for k in range(3) for j in range(2)}
    sums = {(3, j + 1): f"head_outputs.0.2.{j}" for j in range(2)}
    found = {cell: texts[0].split()[1] for cell, texts in table.beside.items()}
    assert found == weights | terms | sums
    assert mixing_table(run, 2).beside == {}
