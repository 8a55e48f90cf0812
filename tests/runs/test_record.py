"""A trace holds every intermediate, equal to the plain functions, and cannot be changed."""

import dataclasses

import numpy as np
import pytest
from helpers import (
    D_K,
    HEADS,
    MASK,
    QUERIES,
    example,
    projected,
)

from mha import (
    attention_scores,
    attention_weights,
    example_names,
    load_example,
    merge_heads,
    scaled_dot_product_attention,
    trace,
)
from mha.core.attention import masked_scores, scaled_scores
from mha.runs.record import continued


def examples(rng):
    return [
        load_example("cat-sat"),
        load_example("the-cat-sat"),
        example(),
        example(mask=MASK, scale=0.3),
        example(mask=np.where(MASK, 0.5, -np.inf), is_causal=True),
        projected(rng),
        projected(rng, mask=MASK, is_causal=True),
        projected(rng, mask=rng.random((HEADS, QUERIES, QUERIES)) < 0.5, scale=-2),
    ]


# Shapes and contents


@pytest.mark.parametrize("index", range(8))
def test_values_equal_the_plain_functions_bit_for_bit_and_exponentials_make_the_weights(rng, index):
    start = examples(rng)[index]
    record = trace(start)
    query, key, value = record.query, record.key, record.value
    masks = {"mask": start.mask, "is_causal": start.is_causal}
    options = masks | {"scale": start.scale}
    scores = attention_scores(query, key)
    same = np.testing.assert_array_equal
    same(record.scores, scores)
    same(
        record.scaled_scores,
        masked_scores(scaled_scores(scores, query.shape[-1], start.scale), *masks.values()),
    )
    same(record.weights, attention_weights(query, key, **options))
    same(record.head_outputs, scaled_dot_product_attention(query, key, value, **options))
    same(record.concat, merge_heads(record.head_outputs))
    same(record.shifts, np.zeros_like(record.shifts))
    same(record.exponentials, np.exp(record.scaled_scores))
    same(record.row_sums, record.exponentials.sum(axis=-1))
    kept = record.row_sums > 0
    shares = record.exponentials[kept] / record.row_sums[kept][..., None]
    np.testing.assert_allclose(record.weights[kept], shares, rtol=1e-13)
    assert (record.weights[~kept] == 0).all()


# Large scores


@pytest.mark.parametrize(
    ("largest", "shift"), [(79.0, 0), (-79.0, 0), (80.0, 0), (81.0, 81), (-81.0, -81)]
)
def test_a_row_is_shifted_only_when_its_exponentials_may_leave_the_range(largest, shift):
    query, key = [[largest], [1.0]], [[1.0], [1.0]]
    record = trace(example(tokens=["a", "b"], query=query, key=key, value=[[2.0], [3.0]], scale=1))
    np.testing.assert_array_equal(record.shifts, [[shift, 0]])
    np.testing.assert_array_equal(record.exponentials[0, 1], np.exp([1.0, 1.0]))
    np.testing.assert_allclose(record.weights, np.full((1, 2, 2), 0.5))


@pytest.mark.parametrize("largest", [1e4, 1e300, 1.7e308])
def test_huge_scores_neither_overflow_nor_warn(largest):
    query, key = [[largest], [-largest], [1.0]], [[1.0], [-1.0], [0.5]]
    record = trace(example(tokens=["a", "b", "c"], query=query, key=key, value=np.eye(3), scale=1))
    np.testing.assert_array_equal(record.shifts, [[largest, largest, 0]])
    np.testing.assert_array_equal(record.exponentials[0, :2], [[1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(record.row_sums[0, :2], [1, 1])
    np.testing.assert_array_equal(record.weights[0, :2], [[1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(record.head_outputs, record.weights)


# Nothing can be changed


def test_an_example_copies_what_it_is_given():
    query, mask = np.ones((QUERIES, D_K)), MASK.copy()
    start = example(query=query, mask=mask)
    query[:], mask[:] = 7, False
    assert (start.query == 1).all()
    np.testing.assert_array_equal(start.mask, MASK)
    for array in (start.query, start.key, start.value, start.mask):
        with pytest.raises(ValueError, match="read-only"):
            array[(0,) * array.ndim] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        start.name = "other"
    assert start.tokens == tuple(f"token{i}" for i in range(QUERIES))


@pytest.mark.parametrize("name", example_names())
def test_a_trace_is_read_only(name):
    record = trace(load_example(name))
    assert isinstance(record.tokens, tuple)
    for field in dataclasses.fields(record):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field.name, None)
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray):
            assert not value.flags.writeable


# Going on from other numbers


def test_a_run_goes_on_from_the_numbers_that_it_is_given(rng):
    run = trace(projected(rng))
    w_o = run.example.layer.w_o
    exponentials = rng.random(run.weights.shape) + 0.5
    found = continued(run, exponentials=exponentials)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(found.weights, weights, rtol=1e-14)
    np.testing.assert_allclose(found.row_sums, exponentials.sum(axis=-1), rtol=1e-14)
    np.testing.assert_allclose(found.head_outputs, weights @ run.value, rtol=1e-12)
    np.testing.assert_allclose(found.output, found.concat @ w_o, rtol=1e-12)
    np.testing.assert_allclose(found.head_contributions.sum(axis=0), found.output, rtol=1e-12)
    for name in ("query", "scores", "scaled_scores", "mask"):
        np.testing.assert_array_equal(getattr(found, name), getattr(run, name))


def test_a_row_without_exponentials_has_no_weights():
    run = trace(load_example("cat-sat"))
    found = continued(run, exponentials=np.array([[[0.0, 0.0], [1.0, 3.0]]]))
    np.testing.assert_array_equal(found.weights, [[[0, 0], [0.25, 0.75]]])
