"""A layer of one's own: its run is that of the plain functions, and every view works on it."""

import numpy as np
import pytest
from helpers import raises

from mha import (
    MultiHeadWeights,
    Place,
    arithmetic,
    figures,
    multi_head_attention,
    origin,
    rotary_angles,
    tables,
    trace_layer,
)

N, HEADS, D_MODEL, D_K, D_V, D_OUT = 5, 6, 11, 4, 3, 7
TOKENS = ("the", " cat", "\n", " ", "sat")


def layer(rng, groups=HEADS, dtype=float):
    shapes = ((HEADS, D_MODEL, D_K), (groups, D_MODEL, D_K), (groups, D_MODEL, D_V))
    matrices = [rng.normal(size=shape).astype(dtype) for shape in (*shapes, (HEADS * D_V, D_OUT))]
    return MultiHeadWeights(*matrices)


def in_float64(own):
    return MultiHeadWeights(*(m.astype(float) for m in (own.w_q, own.w_k, own.w_v, own.w_o)))


@pytest.mark.parametrize("groups", [1, 2, HEADS])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_output_is_that_of_the_plain_function_to_the_last_bit(rng, groups, dtype):
    x = rng.normal(size=(N, D_MODEL)).astype(dtype)
    own = layer(rng, groups, dtype)
    angles = rotary_angles(np.arange(N), D_K).astype(dtype)
    hidden = rng.random((HEADS, N, N)) < 0.7
    for options in (
        {},
        {"is_causal": True},
        {"mask": hidden},
        {"mask": rng.normal(size=(N, N)), "is_causal": True},
        {"angles": angles},
    ):
        run = trace_layer(own, x, **options)
        wanted = multi_head_attention(x.astype(float), in_float64(own), **options)
        np.testing.assert_array_equal(run.output, wanted)
        assert run.weights.dtype == np.float64


def test_every_view_works_on_it(rng):
    x = rng.normal(size=(N, D_MODEL))
    run = trace_layer(layer(rng, 2), x, tokens=TOKENS, is_causal=True)
    assert run.tokens == ("the", " cat", "\\n", "␣", "sat")
    assert run.head_names[5] == "Head 6"
    for stage in ("key", "scores", "weights", "output"):
        found = origin(run, Place.of(stage, 4, 3, 2))
        assert found.evaluate() == pytest.approx(found.number, rel=1e-12)
        assert arithmetic(run, stage, 3, 2, head=4).result
    assert len(tables.stage_table(run, "weights", head=5).rows) == N
    assert figures.weight_maps(run).alt


def test_rows_without_a_name_are_counted(rng):
    assert trace_layer(layer(rng), np.ones((3, D_MODEL))).tokens == ("1", "2", "3")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"layer": np.eye(2)}, "layer is a ndarray; a MultiHeadWeights is wanted"),
        (
            {"x": np.ones((2, N, D_MODEL))},
            "x has shape (2, 5, 11); one sequence, (n, 11), is wanted",
        ),
        ({"x": np.ones((N, 2))}, "x has shape (5, 2); one sequence, (n, 11), is wanted"),
        ({"tokens": ["a"]}, "tokens has 1 names for 5 rows of x; one each is wanted"),
        (
            {"mask": np.ones((2, 2), bool)},
            "mask has shape (2, 2); one that broadcasts to the scores' (6, 5, 5) is wanted",
        ),
    ],
)
def test_what_does_not_fit_is_refused(rng, changed, message):
    arguments = {"layer": layer(rng), "x": np.ones((N, D_MODEL))} | changed
    with raises((TypeError, ValueError), message):
        trace_layer(arguments.pop("layer"), arguments.pop("x"), **arguments)
