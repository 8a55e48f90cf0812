"""Each argument that is refused is named as its caller knows it, in all public mathematics."""

import re

import numpy as np
import pytest
from helpers import raises
from sound_arguments import BESIDE, DRAWING, MORE, SOUND

import mha

ANY_NUMBER = ("pairs_to_halves", "halves_to_pairs", "split_heads", "merge_heads")
CASES = [(name, argument) for name, given in SOUND.items() for argument in given]


def called(name, **given):
    drawn = {"rng": np.random.default_rng(1)} if name in DRAWING else {}
    return getattr(mha, name)(**given, **MORE.get(name, {}), **drawn)


def kinds(kind):
    return [(n, a) for n, a in CASES if isinstance(SOUND[n][a], kind)]


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
    if argument in ("lengths", "positions", "sink") or name == "to_bfloat16":
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
        with raises(ValueError, f"{argument} is {bad}; a number above 0 is wanted"):
            called(name, **SOUND[name] | {argument: bad})
    with raises(TypeError, f"{argument} has dtype <U1; float32, float64 or integers are wanted"):
        called(name, **SOUND[name] | {argument: "a"})
    with raises(TypeError, f"{argument} has shape (2,); one number is wanted"):
        called(name, **SOUND[name] | {argument: [2.0, 3.0]})
    assert np.isfinite(called(name, **SOUND[name] | {argument: 0.5})).all()


# What is no array: switches, and things of a kind

SWITCHES = [
    *((name, "enable_gqa") for name in SOUND if name.startswith("scaled_dot")),
    *((name, "enable_gqa") for name in ("attention_weights", "blockwise_attention")),
    *((name, "is_causal") for name in SOUND if name.startswith(("scaled_dot", "multi_head"))),
    *((name, "is_causal") for name in ("attention_weights", "blockwise_attention")),
    *((name, "is_causal") for name in ("transformer", "linear_biases")),
]


@pytest.mark.parametrize(("name", "switch"), SWITCHES)
def test_a_switch_is_true_or_false(name, switch):
    for bad in ("no", 1, None):
        with raises(TypeError, f"{switch} is {bad!r}; true or false is wanted"):
            called(name, **SOUND[name], **{switch: bad})
    assert called(name, **SOUND[name], **{switch: np.False_}) is not None


@pytest.mark.parametrize(
    ("name", "argument", "wanted"),
    [
        ("draw_layer", "rng", "a Generator"),
        ("fit_patterns", "rng", "a Generator"),
        ("online_softmax", "so_far", "a RunningSoftmax"),
        ("RunningSoftmax.merged", "other", "a RunningSoftmax"),
        ("origin", "run", "a Trace"),
        ("origin", "place", "a Place"),
        ("Place.value", "run", "a Trace"),
    ],
)
def test_a_thing_is_of_its_kind(name, argument, wanted):
    given = (BESIDE.get(name) or SOUND[name]) | {argument: "seven"}
    owner, _, method = name.rpartition(".")
    with raises(TypeError, f"{argument} is a str; {wanted} is wanted"):
        getattr(getattr(mha, owner) if owner else mha, method)(**given)
