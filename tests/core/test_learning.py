"""Training, writing, fits and measures over seeds. The gradients are in test_gradients.py."""

import math
from itertools import islice

import numpy as np
import pytest
from helpers import arrays
from hypothesis import given
from hypothesis import strategies as st

import mha
from mha.core.language import draw_model, run_model
from mha.core.learning import cross_entropy
from mha.core.norm import layer_norm
from mha.core.pattern_fitting import centred_log, fit_patterns, pattern_projections
from mha.core.rank_collapse import apart_at_most, circuits, rows_apart
from mha.core.seeds import SeedRuns, interval_rank, over_seeds
from mha.core.transformer import transformer

# ---- Answers ----


def test_the_loss_is_the_mean_negative_log_probability_of_the_answers():
    loss, _ = cross_entropy(np.log([[1.0, 3.0], [2.0, 2.0], [5.0, 1.0]]), [1, -1, 1])
    assert loss == pytest.approx((-math.log(3 / 4) - math.log(1 / 6)) / 2, rel=1e-12)
    far, d_scores = cross_entropy([[1e5, 0.0], [1e5, 0.0]], [0, 1])
    assert far == 5e4
    np.testing.assert_array_equal(d_scores, [[0, 0], [0.5, -0.5]])


# ---- A model that writes ----

WORDS = ("ant", "bee", "cow", "dog", "elk", "fox", "gnu")
TEXT = "ant bee cow ant bee elk gnu gnu ant"


@pytest.fixture
def model():
    return draw_model(np.random.default_rng(5), WORDS, 12, num_blocks=2, num_heads=3, base=50.0)


def test_a_model_is_embedding_blocks_unembedding_and_decodes_with_a_cache(model):
    text = TEXT.split()
    x, angles = model.embedding[model.indices(text)], model.angles(len(text))
    read = layer_norm(transformer(x, model.blocks, is_causal=True, angles=angles))
    np.testing.assert_allclose(model.logits(text), read @ model.unembedding, atol=1e-12)
    for written in islice(model.write(TEXT), 13):
        logits = model.logits(text)
        np.testing.assert_allclose(written.probabilities, mha.softmax(logits[-1]), atol=1e-12)
        assert written.word == WORDS[int(logits[-1].argmax())]
        assert [len(cache) for cache in written.caches] == [len(text)] * 2
        text.append(written.word)


def test_sampling_with_temperature(model):
    logits = model.logits(TEXT)[-1]
    for temperature in (0.3, 1, 7.0):
        first = next(model.write(TEXT, temperature=temperature))
        np.testing.assert_allclose(
            first.probabilities, mha.softmax(logits / temperature), rtol=1e-9
        )
    texts = [
        [word.word for word in islice(model.write(TEXT, rng=np.random.default_rng(seed)), 17)]
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]
    drawn = np.random.default_rng(3)
    words = [next(model.write(TEXT, rng=drawn)).word for _ in range(500)]
    shares = [words.count(word) / 500 for word in WORDS]
    np.testing.assert_allclose(shares, mha.softmax(logits), atol=0.08)


def test_a_head_that_is_turned_off_adds_nothing(model):
    ids = model.indices(TEXT)
    whole, off = (run_model(each, ids).passes for each in (model, model.without((0, 1), (1, 2))))
    np.testing.assert_array_equal(whole[0].weights, off[0].weights)
    assert not np.allclose(whole[1].weights, off[1].weights)
    bare = model.without(*np.ndindex(2, 3))
    embedded = layer_norm(model.embedding[ids])
    np.testing.assert_allclose(bare.logits(TEXT), embedded @ model.unembedding, atol=1e-12)


def test_a_cut_removes_one_head_s_output_from_the_keys_of_a_later_head(model):
    ids = model.indices(TEXT)
    whole = run_model(model, ids)
    cuts = [run_model(model, ids, cut=(head, 1)) for head in range(3)]
    first, second = whole.passes[1], cuts[0].passes[1]
    for same in ("query", "value", "x"):
        np.testing.assert_array_equal(getattr(first, same), getattr(second, same))
    np.testing.assert_array_equal(first.key[[0, 2]], second.key[[0, 2]])
    # Without all three heads of the first block the key is that of the embedding alone.
    left = first.key[1] - sum(first.key[1] - cut.passes[1].key[1] for cut in cuts)
    x = model.embedding[ids]
    normed = (x - x.mean(axis=1, keepdims=True)) / whole.spreads[1][:, None]
    alone = mha.rotate_by(normed @ model.blocks[1].attention.w_k[1], model.angles(len(ids)))
    np.testing.assert_allclose(left, alone, atol=1e-10)


# ---- Patterns: exact by the closed form, approximate by a narrow head and by a fit ----


@given(st.data())
def test_a_head_of_width_n_minus_one_gives_any_positive_pattern(data):
    n = data.draw(st.integers(2, 5))
    pattern = mha.softmax(data.draw(arrays((n, n), limit=4)))
    x = np.eye(n) + data.draw(arrays((n, n), limit=0.15))  # diagonally dominant, so invertible
    w_q, w_k = pattern_projections(pattern, x, n - 1)
    assert w_q.shape == w_k.shape == (n, n - 1)
    np.testing.assert_allclose(mha.attention_weights(x @ w_q, x @ w_k), pattern, rtol=0, atol=1e-9)
    np.testing.assert_allclose(centred_log(pattern).sum(axis=-1), 0, atol=1e-13)


@pytest.mark.parametrize("d_k", [1, 2, 3])
def test_a_narrow_head_drops_the_smallest_singular_values(rng, d_k):
    pattern, x = mha.softmax(rng.normal(size=(5, 5))), rng.normal(size=(5, 5))
    w_q, w_k = pattern_projections(pattern, x, d_k)
    wanted = centred_log(pattern)
    drawn = mha.attention_scores(x @ w_q, x @ w_k) / np.sqrt(d_k)
    sizes = np.linalg.svd(wanted, compute_uv=False)
    left_out = np.linalg.svd(wanted - drawn, compute_uv=False)
    np.testing.assert_allclose(left_out[: 5 - d_k], sizes[d_k:], atol=1e-10)
    np.testing.assert_allclose(left_out[5 - d_k :], 0, atol=1e-10)


@pytest.mark.parametrize("has_embeddings", [False, True])
def test_a_fitted_pattern_is_that_of_its_matrices_and_wider_heads_fit_better(rng, has_embeddings):
    target = mha.softmax(2 * rng.normal(size=(2, 5, 5)))
    x, losses = rng.normal(size=(5, 5)) if has_embeddings else None, []
    for d_k in (1, 2, 4):
        found = fit_patterns(target, 5, d_k, rng, embeddings=x, steps=300, restarts=3)
        assert found.w_q.shape == found.w_k.shape == (2, 5, d_k)
        weights = mha.attention_weights(found.embeddings @ found.w_q, found.embeddings @ found.w_k)
        np.testing.assert_allclose(found.weights, weights, rtol=1e-12)
        divergence = (target * np.log(target / weights)).sum(axis=-1).mean(axis=-1)
        np.testing.assert_allclose(found.divergence, divergence, rtol=1e-9, atol=1e-12)
        losses.append(divergence.sum())
    assert losses[0] > 2 * losses[1] > 4 * losses[2]
    assert losses[2] < 0.02


# ---- Rank collapse: how fast attention alone makes rows equal ----


@given(st.integers(0, 9999), st.integers(1, 5), st.integers(1, 4), st.sampled_from([0.01, 0.3, 3]))
def test_the_distance_of_rows_after_a_layer_is_within_the_bound(seed, n, d_k, size):
    rng = np.random.default_rng(seed)
    shapes = (4, 3, d_k), (2, 3, d_k), (2, 3, 2), (8, 3)
    layer = mha.MultiHeadWeights(*(rng.normal(size=shape) for shape in shapes))
    x = 5 * rng.normal(size=3) + size * rng.normal(size=(n, 3))
    apart = rows_apart(mha.multi_head_attention(x, layer))
    assert apart <= apart_at_most(rows_apart(x), layer) * (1 + 1e-9) + 1e-13


def test_two_tokens_of_width_one_reach_the_bound():
    layer = mha.MultiHeadWeights(*np.ones((3, 1, 1, 1)))
    for apart in (0.1, 1.0, 3.0):
        found = rows_apart(mha.multi_head_attention([[apart / 2], [-apart / 2]], layer))
        assert found == pytest.approx(apart_at_most(apart, layer), rel=1e-12)


def test_the_circuits_give_scores_and_contributions(rng):
    shapes = (4, 5, 2), (2, 5, 2), (2, 5, 3), (12, 7)
    layer = mha.MultiHeadWeights(*(rng.normal(size=shape) for shape in shapes))
    asks, hands_on = circuits(layer)
    x = rng.normal(size=(3, 5))
    weights = mha.softmax(np.einsum("id,hde,je->hij", x, asks, x) / np.sqrt(2))
    found = np.einsum("hij,jd,hde->ie", weights, x, hands_on)
    np.testing.assert_allclose(found, mha.multi_head_attention(x, layer), rtol=1e-10)
    assert circuits(mha.MultiHeadWeights(*np.ones((3, 2, 5, 4))))[1].shape == (2, 5, 8)


# ---- Over seeds ----


def test_each_seed_is_measured_once_and_kept_in_its_order():
    runs = over_seeds(lambda rng: rng.normal(size=(2, 3)), range(5))
    wanted = [np.random.default_rng(seed).normal(size=(2, 3)) for seed in range(5)]
    np.testing.assert_array_equal(runs.values, wanted)
    np.testing.assert_array_equal(runs.median, np.median(wanted, axis=0))
    assert SeedRuns(np.arange(7.0)).share(lambda values: values > 4) == "2 of 7"


@pytest.mark.parametrize("num_seeds", [6, 11, 30, 101])
def test_the_interval_holds_the_median_of_all_seeds_19_times_in_20(num_seeds):
    rank = interval_rank(num_seeds)

    def missed(r):
        return 2 * sum(math.comb(num_seeds, k) for k in range(r + 1)) / 2**num_seeds

    assert missed(rank) <= 0.05 < missed(rank + 1)
    rng = np.random.default_rng(7)
    low, high = SeedRuns(rng.exponential(size=(num_seeds, 4000))).interval
    held = (low <= math.log(2)) & (math.log(2) <= high)
    assert abs(held.mean() - (1 - missed(rank))) < 0.02
