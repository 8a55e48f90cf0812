"""A user's own layer: its run agrees with the plain functions, and every view shows it."""

import re

import numpy as np
import pytest
from helpers import parse_number, random_layer

import mha
from mha.runs.record import continue_from
from mha.runs.rounding import short, shown

N, HEADS, D_MODEL, D_K, D_V, D_OUT = 5, 6, 11, 4, 3, 7


def layer(rng, groups=HEADS, *, has_biases=False):
    sizes = {"d_model": D_MODEL, "d_k": D_K, "d_v": D_V, "d_out": D_OUT}
    return random_layer(rng, HEADS, groups, biases=has_biases, **sizes)


OPTIONS = {
    "plain": lambda rng: {},
    "causal": lambda rng: {"is_causal": True},
    "a mask a head": lambda rng: {"mask": rng.random((HEADS, N, N)) < 0.7},
    "added and causal": lambda rng: {"mask": rng.normal(size=(N, N)), "is_causal": True},
    "added": lambda rng: {"mask": rng.normal(size=(N, N)), "is_causal": False},
    "turned": lambda rng: {"angles": mha.rotary_angles(np.arange(N) + 3, D_K)},
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_layer_is_traced_as_it_computes(rng, name):
    x, options = rng.normal(size=(N, D_MODEL)), OPTIONS[name](rng)
    for groups in (1, 2, HEADS):
        for has_biases in (False, True):
            own = layer(rng, groups, has_biases=has_biases)
            run = mha.trace_layer(own, x, **options)
            np.testing.assert_array_equal(run.output, mha.multi_head_attention(x, own, **options))
    bias = np.arange(8.0 * HEADS).reshape(8, HEADS) / 7
    for parts in ({"is_causal": True, "base": 10.0}, {"relative_bias": bias, "scale": 1.0}):
        of_model = mha.AttentionLayer(layer(rng, 2, has_biases=True), **parts)
        run = mha.trace_layer(of_model, x, **options)
        np.testing.assert_allclose(run.output, of_model(x, **options), rtol=1e-14, atol=1e-14)


GAINS = np.linspace(0.5, 2.0, D_K * HEADS).reshape(HEADS, D_K)
REFINED = {
    "a cap": {"softcap": 1.5, "is_causal": True},
    "sinks": {"sinks": np.linspace(-2.0, 2.0, HEADS)},
    "large sinks": {"sinks": np.linspace(-200.0, 200.0, HEADS)},
    "a window": {"window": 2, "is_causal": True},
    "ALiBi": {"alibi": True, "is_causal": True},
    "parts that rotate": {"speeds": [0.7]},
    "norms of heads": {"query_norm": GAINS[0], "key_norm": GAINS[1], "eps": 0.1, "base": 10.0},
    "norms of all heads": {"query_norm": GAINS, "key_norm": GAINS[:2], "eps": 0.1},
    "all": {
        "query_norm": GAINS[0], "softcap": 2.0, "sinks": np.linspace(-2.0, 2.0, HEADS),
        "speeds": [0.7], "window": 3, "is_causal": True, "scale": 0.8,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", REFINED)
def test_a_layer_of_a_newer_model_is_traced_as_it_computes(rng, name):
    x, parts = rng.normal(size=(N, D_MODEL)), REFINED[name]
    own = mha.AttentionLayer(layer(rng, 2, has_biases=True), **parts)
    run = mha.trace_layer(own, x)
    np.testing.assert_allclose(run.output, own(x), rtol=1e-12, atol=1e-14)
    plain = mha.trace_layer(own.weights, x)
    assert not np.allclose(run.output, plain.output, atol=1e-3)
    same = continue_from(run, exponentials=np.asarray(run.exponentials))
    np.testing.assert_allclose(same.weights, run.weights, rtol=1e-12, atol=1e-300)


def test_steps_of_newer_models_are_shown_in_lines_and_tables(rng):
    x, all_parts = rng.normal(size=(N, D_MODEL)), REFINED["all"]
    own = mha.AttentionLayer(layer(rng), key_norm=GAINS[1], **all_parts)
    run = mha.trace_layer(own, x)
    assert re.fullmatch(r"2 × tanh\(\S+ × 0.8 ÷ 2\) ≈ \S+",
                        str(mha.arithmetic(run, "scaled_scores", 2, 1, head=3)))  # fmt: skip
    sums = str(mha.arithmetic(run, "row_sums", 2, head=5))
    last = sums.partition(" ≈ ")[0].rpartition(" + ")[2]
    assert np.isclose(parse_number(last), np.exp(2.0), atol=1e-4)
    normed = str(mha.arithmetic(run, "normed_key", 2, 1, head=3))
    assert re.fullmatch(rf"\S+ ÷ \S+ × {short(GAINS[1, 1])} ≈ \S+", normed)
    assert len(mha.tables.stage_table(run, "normed_query", head=1).rows) == N
    assert run.weights.sum(axis=-1).max() < 1
    with pytest.raises(
        ValueError, match=r"^run has norms of queries .* which no explorer computes"
    ):
        mha.explorer(run)


def test_biases_are_shown_where_they_are_added(rng):
    own = layer(rng, 2, has_biases=True)
    run = mha.trace_layer(own, rng.normal(size=(N, D_MODEL)))
    assert str(mha.origin(run, mha.Place("query", 4, 3, 2)).operands[-1].place) == "b_q.4.2"
    last = str(mha.arithmetic(run, "query", 3, 2, head=4)).partition(" ≈ ")[0].rpartition(" + ")[2]
    assert np.isclose(parse_number(last.strip("()")), own.b_q[4, 2], atol=1e-4)
    assert mha.tables.stage_table(run, "b_k", head=4).rows[0][1] == shown(own.b_k[1, 0])
    rows = mha.tables.contribution_table(run, 3, places=12).rows
    assert [row[0] for row in rows] == [*run.head_names, "Bias", "Output"]
    assert rows[-2][1:] == tuple(shown(x, 12) for x in own.b_o)
    assert "Bias" in mha.figures.output_shares(run).alt


def test_a_line_of_many_products_is_cut_and_says_what_it_leaves_out(rng):
    x, wide = rng.normal(size=(2, 97)), mha.MultiHeadWeights(*rng.normal(size=(3, 1, 97, 2)))
    run = mha.trace_layer(wide, x)
    line = str(mha.arithmetic(run, "query", 1, 0))
    products = sorted(x[1] * wide.w_q[0, :, 0], key=abs)
    assert line.count("×") == 8
    more = re.search(r" \+ \(89 more, together (\S+)\) ≈ ", line)
    assert np.isclose(parse_number(more[1]), sum(products[:-8]), atol=1e-4)
    assert line.endswith(f" ≈ {short(run.query[0, 1, 0])}")


def test_a_run_is_kept_in_float64_and_its_tokens_can_be_seen_or_are_counted(rng):
    tokens = ("the", " cat", "\n", " ", "sat")
    x = rng.normal(size=(N, D_MODEL)).astype(np.float32)
    narrow = (array.astype(np.float32) for array in layer(rng).arrays.values())
    run = mha.trace_layer(mha.MultiHeadWeights(*narrow), x, tokens=tokens, is_causal=True)
    assert {run.query.dtype, run.weights.dtype, run.output.dtype} == {np.dtype(np.float64)}
    assert run.tokens == ("the", " cat", "\\n", "·", "sat")
    assert run.head_names[5] == "Head 6"
    assert len(mha.tables.stage_table(run, "weights", head=5).rows) == N
    assert mha.figures.weight_maps(run).alt
    assert mha.trace_layer(layer(rng), x).tokens == ("1", "2", "3", "4", "5")
