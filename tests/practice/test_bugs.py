"""Each bug fails a property that the correct code has, and the page shows its line."""

import re
from pathlib import Path

import numpy as np
import pytest

from mha import MultiHeadWeights, linear_biases, multi_head_attention, rotate_by
from mha.core.attention import scaled_dot_product_attention
from mha.core.heads import merge_heads
from mha.core.masks import causal_mask
from mha.practice.attention_parts import RATE, RIGHT_NAN_ROWS, Options, attend, decode, head_outputs
from mha.practice.bugs import BUGS, TABLE
from mha.practice.properties import failed_properties

PAGE = Path(__file__).resolve().parents[2] / "book" / "transformer" / "bugs.md"
OF_THE_PAGE = 17  # the seed of the figure there, whose asserts say which property catches what


@pytest.mark.parametrize("seed", range(3))
def test_the_same_properties_catch_a_bug_whatever_the_numbers_and_none_the_right_code(seed):
    for parts in (RIGHT_NAN_ROWS, *BUGS.values()):
        found, on_page = (
            failed_properties(parts, np.random.default_rng(s)) for s in (seed, OF_THE_PAGE)
        )
        assert found == on_page
        assert any(found) is (parts is not RIGHT_NAN_ROWS)


def test_the_page_shows_the_wrong_line_and_the_right_one_of_each_bug():
    text = PAGE.read_text(encoding="utf-8")
    wrong, right = (re.findall(rf"^- {word}: `(.*)`$", text, re.M) for word in ("wrong", "right"))
    assert list(zip(wrong, right, strict=True)) == [
        (bug.line, bug.right_line) for bug in TABLE if bug.name in BUGS
    ]


# ---- The right parts are those of the package ----


def test_attention_and_heads_of_the_right_parts_are_the_package_s(rng):
    query, key, value = rng.normal(size=(3, 2, 5, 4))
    allowed, bias = causal_mask(5, 5), linear_biases(2, 5, 5, is_causal=False)
    angles = rng.normal(size=(5, 2))
    _, found = attend(
        query, key, value, RIGHT_NAN_ROWS, Options(allowed=allowed, bias=bias, angles=angles)
    )
    turned = rotate_by(query, angles), rotate_by(key, angles)
    mask = np.where(allowed, bias, -np.inf)
    wanted = scaled_dot_product_attention(*turned, value, mask=mask)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    x, matrices = rng.normal(size=(5, 7)), rng.normal(size=(3, 3, 7, 4))
    wide = matrices.swapaxes(1, 2).reshape(3, 7, 12)
    wanted = multi_head_attention(x, MultiHeadWeights(*matrices))
    np.testing.assert_allclose(merge_heads(head_outputs(x, wide, 3)), wanted, rtol=1e-10)


def test_writing_is_a_causal_pass_and_dropout_draws_anew_at_each_token(rng):
    query, key, value = rng.normal(size=(3, 5, 4))
    angles = rng.normal(size=(6, 2))
    turned = rotate_by(query, angles[:5]), rotate_by(key, angles[:5])
    wanted = scaled_dot_product_attention(*turned, value, is_causal=True)
    np.testing.assert_allclose(decode(query, key, value, angles), wanted, rtol=1e-10)
    np.testing.assert_allclose(
        decode(query, key, value, angles, RIGHT_NAN_ROWS, rng), wanted, rtol=1e-10
    )
    left_on = BUGS["dropout left on"]
    once, again = (decode(query, key, value, angles, left_on, rng) for _ in range(2))
    assert not np.allclose(once, again)


def test_dropout_keeps_the_mean_while_a_model_learns(rng):
    query, key, value = rng.normal(size=(3, 5, 4))
    many = np.broadcast_to(query, (20000, 5, 4))
    weights, _ = attend(many, key, value, RIGHT_NAN_ROWS, Options(rng=rng, training=True))
    unused, _ = attend(query, key, value, RIGHT_NAN_ROWS, Options(rng=rng))
    np.testing.assert_allclose(weights.mean(axis=0), unused, atol=0.01)
    assert np.isclose((weights == 0).mean(), RATE, atol=0.002)
