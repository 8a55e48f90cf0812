"""Patterns: the closed form reproduces them, a narrow head and a fit come as near as they can."""

import numpy as np
import pytest
from helpers import arrays
from hypothesis import given
from hypothesis import strategies as st

from mha import (
    attention_scores,
    attention_weights,
    centred_log,
    fit_patterns,
    pattern_projections,
    softmax,
)


@st.composite
def patterns(draw):
    """Return a strategy for positive square matrices whose rows sum to 1."""
    n = draw(st.integers(2, 5))
    return softmax(draw(arrays((n, n), limit=4)))


@st.composite
def patterns_with_embeddings(draw):
    """Return a strategy for patterns with diagonally dominant, so invertible, embeddings."""
    pattern = draw(patterns())
    return pattern, np.eye(len(pattern)) + draw(arrays(pattern.shape, limit=0.15))


# The centred logarithm


@given(patterns())
def test_the_centred_logarithm_draws_the_pattern(pattern):
    scores = centred_log(pattern)
    np.testing.assert_allclose(softmax(scores), pattern, rtol=1e-13)
    np.testing.assert_allclose(scores.sum(axis=-1), 0, atol=1e-13)


# The closed form


@given(patterns_with_embeddings())
def test_a_head_of_width_n_minus_one_draws_any_positive_pattern(drawn):
    pattern, x = drawn
    w_q, w_k = pattern_projections(pattern, x, len(pattern) - 1)
    assert w_q.shape == w_k.shape == (len(pattern), len(pattern) - 1)
    np.testing.assert_allclose(attention_weights(x @ w_q, x @ w_k), pattern, rtol=0, atol=1e-9)


@pytest.mark.parametrize("d_k", [1, 2, 3])
def test_a_narrow_head_leaves_out_the_smallest_singular_values(rng, d_k):
    pattern, x = softmax(rng.normal(size=(5, 5))), rng.normal(size=(5, 5))
    w_q, w_k = pattern_projections(pattern, x, d_k)
    wanted = centred_log(pattern)
    drawn = attention_scores(x @ w_q, x @ w_k) / np.sqrt(d_k)
    sizes = np.linalg.svd(wanted, compute_uv=False)
    left_out = np.linalg.svd(wanted - drawn, compute_uv=False)
    np.testing.assert_allclose(left_out[: 5 - d_k], sizes[d_k:], atol=1e-10)
    np.testing.assert_allclose(left_out[5 - d_k :], 0, atol=1e-10)
    assert left_out[0] > 0.1


# The fit


def fit(d_model=5, d_k=2, num_heads=1, **options):
    """Fit to patterns of five tokens."""
    target = softmax(2 * np.random.default_rng(5).normal(size=(num_heads, 5, 5)))
    options = {"steps": 300, "restarts": 3} | options
    return target, fit_patterns(target, d_model, d_k, np.random.default_rng(2), **options)


@pytest.mark.parametrize("given_embeddings", [False, True])
def test_a_wider_head_fits_better(rng, given_embeddings):
    x = rng.normal(size=(5, 5)) if given_embeddings else None
    losses = [fit(d_k=d_k, embeddings=x)[1].divergence[0] for d_k in (1, 2, 4)]
    assert losses[0] > 2 * losses[1] > 4 * losses[2]
    assert losses[2] < 0.01


@pytest.mark.parametrize("given_embeddings", [False, True])
def test_the_fit_is_what_its_matrices_draw(rng, given_embeddings):
    x = rng.normal(size=(5, 3)) if given_embeddings else None
    target, found = fit(num_heads=2, d_model=3, embeddings=x)
    assert found.embeddings.shape == (5, 3)
    assert found.w_q.shape == found.w_k.shape == (2, 3, 2)
    weights = attention_weights(found.embeddings @ found.w_q, found.embeddings @ found.w_k)
    np.testing.assert_allclose(found.weights, weights, rtol=1e-12)
    divergence = (target * np.log(target / weights)).sum(axis=-1).mean(axis=-1)
    np.testing.assert_allclose(found.divergence, divergence, rtol=1e-9, atol=1e-15)
    assert (found.divergence < 0.5).all()


# At the edges


def test_a_pattern_that_is_met_at_once_and_one_that_is_never_met():
    still = {"steps": 1, "restarts": 1}
    even, uneven = np.full((1, 2, 2), 0.5), [[[0.5, 0.5], [0.2, 0.8]]]
    rng = np.random.default_rng(3)
    met = fit_patterns(even - 1e-10, 2, 1, rng, embeddings=np.zeros((2, 2)), **still)
    assert met.divergence == [0.0]
    with np.errstate(all="raise", under="ignore"):
        astray = fit_patterns(uneven, 2, 1, np.random.default_rng(0),
                              embeddings=1e4 * np.eye(2), **still)  # fmt: skip
    assert astray.divergence == [np.inf]
