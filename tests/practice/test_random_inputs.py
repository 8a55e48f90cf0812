"""Random inputs: short, the same for the same seed, and refusals."""

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mha import trace
from mha.practice.random_inputs import LEVELS, MAX_TOKENS, draw_short_example
from mha.runs.rounding import short


def decimals(*arrays):
    """Return the number of decimals of the longest number, as the book shows it."""
    texts = [short(float(x), 12) for array in arrays for x in np.ravel(array)]
    return max(len(text.partition(".")[2]) for text in texts)


def are_apart(array):
    """Return whether no two tokens have the same row."""
    heads = array if array.ndim == 3 else array[None]
    return all(len(np.unique(head.round(9), axis=0)) == len(head) for head in heads)


@pytest.mark.parametrize("difficulty", LEVELS)
@given(
    seed=st.integers(0, 2**32),
    num_tokens=st.integers(2, 5),
    d_model=st.sampled_from([2, 3, 5]),
    d_k=st.sampled_from([1, 4]),
    num_heads=st.integers(1, 3),
)
def test_drawn_numbers_are_short(difficulty, seed, num_tokens, d_model, d_k, num_heads):
    if d_k == 1:
        num_tokens = min(num_tokens, 3)  # there are few whole numbers to tell tokens apart by
    sizes = {"num_tokens": num_tokens, "d_model": d_model, "d_k": d_k, "num_heads": num_heads}
    rng = np.random.default_rng(seed)
    run = trace(draw_short_example(rng, **sizes, d_v=3, with_output=True, difficulty=difficulty))
    whole = 0 if difficulty == "easy" else 1
    assert run.query.shape == (num_heads, num_tokens, d_k)
    assert run.output.shape == (num_tokens, d_model)
    layer, rows = run.example.layer, (run.embeddings, run.query, run.key, run.value)
    assert decimals(*rows, layer.w_o) <= whole
    assert decimals(layer.w_q, layer.w_k, layer.w_v) == 0
    products = run.query[:, :, None] * run.key[:, None]
    assert decimals(products, run.scores) <= 2 * whole
    assert decimals(run.scaled_scores) <= 2 * whole + (d_k == 4)
    assert np.abs(run.scaled_scores).max() <= 6 + 1e-9
    assert (np.diff(np.sort(run.scores), axis=-1) > 1e-9).all()
    assert all((np.abs(array) > 1e-9).any(axis=-1).all() for array in rows)
    assert (run.shifts == 0).all()
    assert all(are_apart(array) for array in rows)
    assert all((np.abs(array) > 1e-9).any(axis=-2).all() for array in (*rows, layer.w_o))
    projected = (run.query, run.key, run.value)
    assert all((np.ptp(array, axis=-2) > 1e-9).all() for array in projected)
    assert d_k == 1 or are_apart(run.weights.round(3))
    heads = [columns for array in projected for columns in array.swapaxes(-1, -2)]
    assert all((np.abs(run.scores) > 1e-9).any(axis=axis).all() for axis in (-1, -2))
    assert d_model == 1 or are_apart(layer.w_o)
    directions = [run.embeddings] if num_tokens <= 4 else []
    for columns in (*heads, layer.w_o.T, *directions):
        for pair in combinations(columns, 2):
            assert np.linalg.matrix_rank(pair, tol=1e-9) == 2
    causal = trace(replace(run.example, is_causal=True))
    assert d_k == 1 or all(are_apart(r.head_outputs.round(2)) for r in (run, causal))
    assert (run.weights.max(axis=-1) >= (2 - 1e-9) * run.weights.min(axis=-1)).all()


def test_difficulties_differ_in_sign_and_decimals():
    easy, medium, hard = (
        [
            draw_short_example(np.random.default_rng(s), difficulty=name).embeddings
            for s in range(31)
        ]
        for name in ("easy", "medium", "hard")
    )
    assert (decimals(*easy), decimals(*medium), decimals(*hard)) == (0, 1, 1)
    assert np.min(medium) >= 0 > np.min(hard)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"difficulty": "odd"}, "difficulty is 'odd'; one of easy, medium, hard is wanted"),
        ({"d_k": 2}, "d_k is 2; 1 or 4 is wanted, whose roots are whole numbers"),
        ({"num_tokens": 1}, f"num_tokens is 1; 2 to {MAX_TOKENS} are wanted"),
        ({"num_tokens": 7, "d_model": 1, "d_k": 1, "difficulty": "easy"},
         "no short numbers were found for num_tokens=7, d_model=1, d_k=1;"),
    ],
)  # fmt: skip
def test_impossible_random_inputs_are_refused(rng, options, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        draw_short_example(rng, **options)
