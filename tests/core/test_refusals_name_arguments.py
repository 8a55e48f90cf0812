"""Each argument that is refused is named as its caller knows it, in every public function."""

import re

import numpy as np
import pytest
from helpers import raises

import mha

RNG = np.random.default_rng(5)
X = RNG.normal(size=(4, 6))
HEADS = RNG.normal(size=(2, 4, 6))
ROWS = mha.softmax(RNG.normal(size=(4, 4)))
LAYER = mha.MultiHeadWeights(*RNG.normal(size=(3, 2, 6, 4)), RNG.normal(size=(8, 6)))
ATTENTION = {"query": X, "key": X, "value": X}

# Sound arguments of every function that takes arrays or counts.
SOUND = {
    "attention_scores": {"query": X, "key": X},
    "attention_weights": {"query": X, "key": X},
    "scaled_dot_product_attention": ATTENTION,
    "blockwise_attention": {**ATTENTION, "block_size": 2},
    "scaled_dot_product_attention_backward": {**ATTENTION, "d_output": X},
    "multi_head_attention": {"x": X, "context": X},
    "multi_head_attention_backward": {"x": X, "d_output": X, "context": X},
    "decode_step": {"x": X},
    "softmax": {"scores": X},
    "softmax_jacobian": {"weights": ROWS},
    "softmax_backward": {"d_weights": X, "weights": X},
    "entropy": {"weights": ROWS},
    "total_variation": {"first": ROWS, "second": ROWS},
    "centred_log": {"pattern": ROWS},
    "fit_patterns": {
        **{"patterns": ROWS[None], "d_model": 6, "d_k": 2, "steps": 2, "restarts": 1},
        "embeddings": X,
    },
    "pattern_projections": {"pattern": ROWS, "embeddings": np.eye(4), "d_k": 4},
    "split_heads": {"x": X, "num_heads": 2},
    "merge_heads": {"x": HEADS},
    "sinusoidal_positions": {"num_positions": 3, "d_model": 4, "base": 10.0},
    "rotary_angles": {"positions": X[0], "d_k": 4, "base": 10.0},
    "rotate_by": {"x": X, "angles": X[:, :3]},
    "rotate": {"x": X, "positions": X[:, 0], "base": 10.0},
    "pairs_to_halves": {"x": X},
    "halves_to_pairs": {"x": X},
    "linear_slopes": {"num_heads": 2},
    "linear_biases": {"num_heads": 2, "num_queries": 3, "num_keys": 4},
    "causal_mask": {"num_queries": 3, "num_keys": 4},
    "sliding_window_mask": {"num_queries": 3, "num_keys": 4, "window": 1},
    "padding_mask": {"lengths": np.array([1, 2]), "num_keys": 3},
    "layer_sizes": {"d_model": 4, "num_heads": 2, "d_k": 2, "d_v": 2, "d_out": 3},
}
LAYERED = ("multi_head_attention", "multi_head_attention_backward", "decode_step")
ANY_NUMBER = ("pairs_to_halves", "halves_to_pairs", "split_heads", "merge_heads")
CASES = [(name, argument) for name, given in SOUND.items() for argument in given]


def called(name, **given):
    more = {"weights": LAYER} if name in LAYERED else {}
    more |= {"rng": np.random.default_rng(1)} if name == "fit_patterns" else {}
    return getattr(mha, name)(**given, **more)


def kinds(kind):
    return [(n, a) for n, a in CASES if isinstance(SOUND[n][a], kind)]


@pytest.mark.parametrize("name", SOUND)
def test_the_arguments_are_sound(name):
    called(name, **SOUND[name])


@pytest.mark.parametrize(("name", "argument"), kinds(np.ndarray))
def test_words_are_refused_by_name(name, argument):
    words = np.full(SOUND[name][argument].shape, "a")
    with pytest.raises(TypeError, match=f"^{argument} has dtype <U1; .*(floats?|integers)"):
        called(name, **SOUND[name] | {argument: words})


@pytest.mark.parametrize(("name", "argument"), kinds(np.ndarray))
def test_what_is_not_finite_is_refused_by_name(name, argument):
    if name in ANY_NUMBER or argument == "lengths":
        return  # only moved, or counted
    array = SOUND[name][argument].copy()
    array[(0,) * array.ndim] = np.nan
    index = re.escape(str((0,) * array.ndim))
    with pytest.raises(
        ValueError, match=rf"^{argument} holds nan at index {index}; finite numbers"
    ):
        called(name, **SOUND[name] | {argument: array})


@pytest.mark.parametrize(("name", "argument"), kinds(np.ndarray))
def test_an_array_without_axes_is_refused_by_name(name, argument):
    if argument in ("lengths", "positions"):
        called(name, **SOUND[name] | {argument: 2})
        return
    with pytest.raises(ValueError, match=rf"^{argument} has shape \(\)[;,] "):
        called(name, **SOUND[name] | {argument: 2.0})


@pytest.mark.parametrize(("name", "argument"), kinds(int))
def test_what_is_no_count_is_refused_by_name(name, argument):
    for bad, error in ((2.5, TypeError), (True, TypeError), (0, ValueError), (-1, ValueError)):
        sentence = f"{argument} is {bad}; a whole number of at least 1 is wanted"
        with raises(error, sentence):
            called(name, **SOUND[name] | {argument: bad})


@pytest.mark.parametrize(("name", "argument"), kinds(float))
def test_what_is_no_base_is_refused_by_name(name, argument):
    for bad in (0.0, -1.0):
        with raises(ValueError, f"{argument} holds {bad} at index (); a number above 0 is wanted"):
            called(name, **SOUND[name] | {argument: bad})
    with raises(TypeError, f"{argument} has dtype <U1; float32, float64 or integers are wanted"):
        called(name, **SOUND[name] | {argument: "a"})
    assert np.isfinite(called(name, **SOUND[name] | {argument: 0.5})).all()
