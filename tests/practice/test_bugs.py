"""Each bug is caught by a property that holds of the right code, and the page shows its line."""

import re
from pathlib import Path

import numpy as np
import pytest

from mha import MultiHeadWeights, linear_biases, merge_heads, multi_head_attention, rotate_by
from mha.core.attention import scaled_dot_product_attention
from mha.core.masks import causal_mask
from mha.practice.bugs import BUGS, lines
from mha.practice.parts import RATE, RIGHT, Options, attend, heads, write
from mha.practice.properties import caught

PAGE = Path(__file__).resolve().parents[2] / "book" / "transformer" / "bugs.md"
LETTERS = "ABCDEFGHIJ"
CAUGHT = {
    "wrong axis": "ACDG",
    "no shift": "B",
    "wrong root": "F",
    "late bias": "ABC",
    "late mask": "ACDG",
    "True reversed": "ACDG",
    "reshape": "E",
    "columns mixed": "CDG",
    "off by one": "G",
    "values turned": "H",
    "halves for pairs": "I",
    "dropout left on": "ABCDEFGHJ",
}


@pytest.mark.parametrize("bug", [*BUGS, "none"])
@pytest.mark.parametrize("seed", [0, 1, 17])  # the last is that of the page
def test_a_bug_fails_on_its_properties_and_on_no_other(bug, seed):
    found = caught(BUGS.get(bug, RIGHT), np.random.default_rng(seed))
    letters = "".join(a for a, fails in zip(LETTERS, found, strict=True) if fails)
    assert letters == CAUGHT.get(bug, "")


@pytest.mark.parametrize("bug", BUGS)
def test_the_page_shows_the_wrong_line_and_the_right_one(bug):
    text = PAGE.read_text(encoding="utf-8")
    says = re.findall(r"^- says: `(.*)`$", text, re.MULTILINE)
    meant = re.findall(r"^- meant: `(.*)`$", text, re.MULTILINE)
    place = list(BUGS).index(bug)
    assert (says[place], meant[place]) == lines(bug)
    assert len(says) == len(meant) == len(BUGS)


# ---- The right parts are those of the package ----


def test_attention_of_the_right_parts_is_the_package_s(rng):
    query, key, value = rng.normal(size=(3, 2, 5, 4))
    allowed, bias = causal_mask(5, 5), linear_biases(2, 5, 5, is_causal=False)
    angles = rng.normal(size=(5, 2))
    _, found = attend(query, key, value, RIGHT, Options(allowed=allowed, bias=bias, angles=angles))
    wanted = scaled_dot_product_attention(
        rotate_by(query, angles),
        rotate_by(key, angles),
        value,
        mask=np.where(allowed, bias, -np.inf),
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_heads_of_the_right_parts_are_the_package_s(rng):
    x, matrices = rng.normal(size=(5, 7)), rng.normal(size=(3, 3, 7, 4))
    wide = matrices.swapaxes(1, 2).reshape(3, 7, 12)
    wanted = multi_head_attention(x, MultiHeadWeights(*matrices))
    np.testing.assert_allclose(merge_heads(heads(x, wide, 3)), wanted, rtol=1e-10)


def test_writing_is_a_causal_pass(rng):
    query, key, value = rng.normal(size=(3, 5, 4))
    angles = rng.normal(size=(6, 2))
    turned = rotate_by(query, angles[:5]), rotate_by(key, angles[:5])
    wanted = scaled_dot_product_attention(*turned, value, is_causal=True)
    np.testing.assert_allclose(write(query, key, value, angles), wanted, rtol=1e-10)


def test_dropout_keeps_the_mean_while_a_model_learns(rng):
    query, key, value = rng.normal(size=(3, 5, 4))
    many = np.broadcast_to(query, (20000, 5, 4))
    weights, _ = attend(many, key, value, RIGHT, Options(draws=rng, training=True))
    unused, _ = attend(query, key, value, RIGHT, Options(draws=rng))
    np.testing.assert_allclose(weights.mean(axis=0), unused, atol=0.01)
    assert np.isclose((weights == 0).mean(), RATE, atol=0.002)


@pytest.mark.parametrize("seed", range(3))
def test_dropout_draws_anew_at_each_token_that_is_written(seed):
    rng = np.random.default_rng(seed)
    inputs, angles = rng.normal(size=(3, 11, 4)), rng.normal(size=(12, 2))
    once, again = (write(*inputs, angles, BUGS["dropout left on"], rng) for _ in range(2))
    assert not np.allclose(once, again)
    np.testing.assert_array_equal(write(*inputs, angles, RIGHT, rng), write(*inputs, angles))
