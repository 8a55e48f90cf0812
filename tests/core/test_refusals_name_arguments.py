"""Each argument that is refused is named as its caller knows it, in all public mathematics."""

import inspect
import re

import numpy as np
import pytest
from helpers import raises
from sound_arguments import DRAWING, HEADS, LAYER, MORE, ROWS, SOUND

import mha
from mha.core.attention import repeat_heads
from mha.core.checks import as_index
from mha.core.gradients import _to_the_matrices, _to_the_tokens

ANY_NUMBER = ("pairs_to_halves", "halves_to_pairs", "split_heads", "merge_heads")
CASES = [(name, argument) for name, given in SOUND.items() for argument in given]


def called(name, **given):
    drawn = {"rng": np.random.default_rng(1)} if name in DRAWING else {}
    return getattr(mha, name)(**given, **MORE.get(name, {}), **drawn)


def kinds(kind):
    return [(n, a) for n, a in CASES if isinstance(SOUND[n][a], kind)]


def test_no_function_of_the_mathematics_is_missing():
    public = {name: getattr(mha, name) for name in mha.__all__}
    assert set(SOUND) == {
        name
        for name, found in public.items()
        if inspect.isfunction(found) and found.__module__.startswith("mha.core.")
    }


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
    with raises(TypeError, f"{argument} has shape (2,); one number is wanted"):
        called(name, **SOUND[name] | {argument: [2.0, 3.0]})
    assert np.isfinite(called(name, **SOUND[name] | {argument: 0.5})).all()


HUGE_LAYER = mha.MultiHeadWeights(*np.ones((3, 2, 3, 3)), 1e300 * np.ones((6, 3)))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mha.total_variation([[1], [1, 2]], ROWS), "first is ragged; rows of one length"),
        (lambda: mha.total_variation(ROWS, [[1], [1, 2]]), "second is ragged; rows of one length"),
        (lambda: mha.pairs_to_halves([1.0, 2, 3]), "the width of x is 3; an even number is wanted"),
        (lambda: mha.halves_to_pairs([1.0, 2, 3]), "the width of x is 3; an even number is wanted"),
        (
            lambda: mha.rotate_by(np.ones((2, 5, 4)), np.ones((2, 5, 3))),
            "angles has 3 columns for x of width 4; one a pair is wanted",
        ),
        (
            lambda: repeat_heads("key", HEADS, np.ones((5, 6))),
            "query has shape (5, 6); at least 3 axes are wanted",
        ),
        (
            lambda: repeat_heads("key", np.ones((5, 6)), HEADS),
            "key has shape (5, 6); at least 3 axes are wanted",
        ),
        (
            lambda: mha.KeyValueCache(HEADS, np.ones((4, 6))),
            "value has shape (4, 6); at least 3 axes are wanted",
        ),
        (
            lambda: mha.KeyValueCache(np.ones((4, 6)), HEADS),
            "key has shape (4, 6); at least 3 axes are wanted",
        ),
        (
            lambda: mha.KeyValueCache(HEADS, HEADS).extended([np.nan], HEADS),
            "key holds nan at index (0,); finite numbers are wanted",
        ),
        (
            lambda: mha.KeyValueCache(HEADS, HEADS).extended(HEADS, [np.nan]),
            "value holds nan at index (0,); finite numbers are wanted",
        ),
        (lambda: mha.decode_step(np.ones(6), LAYER), "x has shape (6,); at least 2 axes are"),
        (
            lambda: mha.decode_step(np.ones((2, 5)), LAYER),
            "x has width 5 but the weights have d_model=6; they must match",
        ),
        (
            lambda: mha.decode_step(1e10 * np.ones((2, 3)), HUGE_LAYER),
            "the heads' outputs and w_o overflow float64 when multiplied; smaller numbers are",
        ),
        (
            lambda: mha.multi_head_attention(1e10 * np.ones((2, 3)), HUGE_LAYER),
            "the heads' outputs and w_o overflow float64 when multiplied; smaller numbers are",
        ),
    ],
)
def test_what_is_refused_further_in_is_named_too(call, sentence):
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
        call()


@pytest.mark.parametrize("value", [-1, 2, 3])
def test_an_index_lies_within(value):
    with raises(ValueError, f"head is {value}; an index from 0 to 1 is wanted"):
        as_index("head", value, 2)


@pytest.mark.parametrize("value", [True, np.True_, 1.0, None, "1"])
def test_an_index_is_whole(value):
    with raises(TypeError, f"head is {value!r}; an index from 0 to 1 is wanted"):
        as_index("head", value, 2)


def test_indices():
    assert [as_index("head", value, 2) for value in (0, np.int8(1))] == [0, 1]
    assert type(as_index("head", np.int8(1), 2)) is int


@pytest.mark.parametrize(
    ("large", "matrix", "tokens", "is_cross", "names"),
    [
        ("query", 1e10, 0, False, "d_query and w_q"),
        ("key", 1e10, 0, False, "d_key and w_k"),
        ("value", 1e10, 0, False, "d_value and w_v"),
        ("query", 0, 1e10, False, "x and d_query"),
        ("key", 0, 1e10, False, "x and d_key"),
        ("value", 0, 1e10, False, "x and d_value"),
        ("key", 0, 1e10, True, "context and d_key"),
        ("value", 0, 1e10, True, "context and d_value"),
    ],
)
def test_a_gradient_that_overflows_says_where(large, matrix, tokens, is_cross, names):
    gradients = dict.fromkeys(("query", "key", "value"), np.zeros((2, 3, 3)))
    gradients[large] = np.full((2, 3, 3), 1e300)
    back = mha.AttentionGradients(**gradients)
    layer = mha.MultiHeadWeights(*np.full((3, 2, 3, 3), float(matrix)))
    x = np.full((3, 3), float(tokens))
    with raises(
        ValueError, f"{names} overflow float64 when multiplied; smaller numbers are wanted"
    ):
        _to_the_tokens(back, layer, is_cross=is_cross)
        _to_the_matrices(back, x, x, None, is_cross=is_cross)


def test_gradients_that_overflow_together_say_so():
    large = np.full((1, 1, 1), 1e308)
    layer = mha.MultiHeadWeights(*np.ones((3, 1, 1, 1)))
    for gradients, names in (
        ((0 * large, large, large), "the gradients by key and value"),
        ((large, large / 2, large / 2), "the gradients by query, key and value"),
    ):
        back = mha.AttentionGradients(*gradients)
        with raises(ValueError, f"{names} overflow float64 when added; smaller numbers are wanted"):
            _to_the_tokens(back, layer, is_cross=False)


@pytest.mark.parametrize("narrow", ["key", "value"])
def test_a_cache_keeps_keys_and_values_in_one_dtype_and_read_only(narrow):
    parts = {"key": HEADS, "value": HEADS} | {narrow: HEADS.astype(np.float32)}
    cache = mha.KeyValueCache(**parts)
    for array in (cache.key, cache.value):
        assert array.dtype == np.float64
        assert not array.flags.writeable
