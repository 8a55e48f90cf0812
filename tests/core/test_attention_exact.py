"""Scores against exact arithmetic."""

from fractions import Fraction

import numpy as np
from helpers import (
    D_K,
    KEYS,
    QUERIES,
    inputs,
)

from mha import (
    attention_scores,
)


def test_scores_of_whole_numbers_are_exact(rng):
    query, key = rng.integers(-99, 99, (QUERIES, D_K)), rng.integers(-99, 99, (KEYS, D_K))
    exact = [[sum(int(a) * int(b) for a, b in zip(q, k, strict=True)) for k in key] for q in query]
    np.testing.assert_array_equal(attention_scores(query, key), exact)


def test_scores_against_rational_numbers(rng):
    query, key, _ = inputs(rng)
    exact = [
        [float(sum(Fraction(a) * Fraction(b) for a, b in zip(q, k, strict=True))) for k in key]
        for q in query.tolist()
    ]
    np.testing.assert_allclose(attention_scores(query, key), exact, rtol=1e-13, atol=1e-14)
