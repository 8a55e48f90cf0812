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
    raises,
    with_places,
)

from mha import (
    Trace,
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


def test_positions_are_added_and_angles_turn(rng):
    start = with_places(rng)
    record = trace(start)
    np.testing.assert_array_equal(record.placed, start.embeddings + start.positions)
    replace = dataclasses.replace
    plain = trace(replace(start, embeddings=record.placed, positions=None, angles=None))
    for name in ("query", "key", "value"):
        np.testing.assert_array_equal(getattr(record, name), getattr(plain, name))
    for before, after in zip((plain.query, plain.key), record.meeting, strict=True):
        pairs = (before[..., ::2] + 1j * before[..., 1::2]) * np.exp(1j * start.angles)
        np.testing.assert_allclose(after[..., ::2], pairs.real, atol=1e-12)
        np.testing.assert_allclose(after[..., 1::2], pairs.imag, atol=1e-12)
    query, key = record.meeting
    np.testing.assert_array_equal(record.scores, attention_scores(query, key))
    assert np.abs(record.scores - plain.scores).max() > 1
    np.testing.assert_array_equal(record.weights, attention_weights(query, key))
    assert plain.meeting == (plain.query, plain.key)


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


def test_the_mask_is_what_is_added_to_the_scaled_scores(rng):
    later = np.triu(np.full((QUERIES, QUERIES), -np.inf), 1)
    terms = rng.normal(size=(HEADS, 1, QUERIES))
    for masks, wanted in (
        ({}, np.zeros((QUERIES, QUERIES))),
        ({"mask": MASK}, np.where(MASK, 0, -np.inf)),
        ({"is_causal": True}, later),
        ({"mask": terms, "is_causal": True}, terms + later),
    ):
        record = trace(projected(rng, **masks))
        np.testing.assert_array_equal(
            record.mask, np.broadcast_to(wanted, (HEADS, QUERIES, QUERIES))
        )
        plain = record.scores * (1 / np.sqrt(D_K))
        np.testing.assert_array_equal(record.scaled_scores, plain + record.mask)


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


@pytest.mark.parametrize("name", ["w_q", "w_k", "w_v"])
def test_a_projection_that_overflows_is_refused(rng, name):
    start = projected(rng)
    huge = np.full_like(getattr(start.layer, name), 1e308)
    layer = dataclasses.replace(start.layer, **{name: huge})
    sentence = "embeddings and the weights overflow float64 when multiplied; smaller numbers are"
    with raises(ValueError, f"{sentence} wanted"):
        trace(dataclasses.replace(start, layer=layer))


# Nothing can be changed


@pytest.mark.parametrize("name", example_names())
def test_a_trace_is_read_only(name):
    record = trace(load_example(name))
    for field in dataclasses.fields(record):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field.name, None)
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                value[(0,) * value.ndim] = 1
    assert isinstance(record, Trace)
    assert isinstance(record.tokens, tuple)


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
